//===- Givens.cpp - Statements on data at a point -------------------------===//
//
// A statement speaks of values at subscripts, such as
//
//   levels[l] <= n < levels[l + 1]   implies   child[n] < levels[l].
//
// Where a point reads child[m], levels[t] and levels[t + 1], matching the reads
// one after the other gives n = m and l = t. If the statement's premise follows
// from what makes the point run, what it says of the values holds there.
//
//===----------------------------------------------------------------------===//

#include "../PairSet.h"

using namespace mlir;
using namespace espalier::polyhedral;

/// So many ways to match a statement's reads are looked at.
static constexpr unsigned kMaxInstances = 64;

/// Makes `index`, over a statement's dimensions, equal to `target` by binding
/// at most one of `dims`. False if that cannot be.
static bool unify(AffineExpr index, AffineExpr target, unsigned numDims,
                  unsigned numParams, llvm::SmallVector<AffineExpr> &dims) {
  std::optional<unsigned> open;
  for (unsigned dim = 0; dim < dims.size(); ++dim) {
    if (dims[dim] || !index.isFunctionOfDim(dim))
      continue;
    if (open)
      return false;
    open = dim;
  }
  llvm::SmallVector<AffineExpr> values(dims);
  AffineExpr zero = getAffineConstantExpr(0, index.getContext());
  for (AffineExpr &value : values)
    if (!value)
      value = zero;
  AffineExpr rest = simplifyAffineExpr(target - index.replaceDims(values),
                                       numDims, numParams);
  if (!open)
    return rest == zero;
  if (getFactor(index, getAffineDimExpr(*open, index.getContext())) != 1)
    return false;
  dims[*open] = rest;
  return true;
}

void ReadValues::match(const Given &given, const Premises &premises,
                       unsigned read, const llvm::SmallVector<AffineExpr> &dims,
                       llvm::SmallVectorImpl<Constraints> &instances) const {
  if (instances.size() >= kMaxInstances)
    return;
  if (read == given.values.size())
    return addInstance(given, premises, dims, instances);
  const Access &access = given.values[read];
  for (const Value &value : values) {
    if (value.point != premises.point || value.array != access.array)
      continue;
    llvm::SmallVector<AffineExpr> bound(dims);
    bool fits =
        llvm::all_of(llvm::zip_equal(access.map.getResults(), value.indices),
                     [&](auto pair) {
                       return unify(std::get<0>(pair), std::get<1>(pair),
                                    getNumDims(), program.numParams, bound);
                     });
    if (fits)
      match(given, premises, read + 1, bound, instances);
  }
  match(given, premises, read + 1, dims, instances);
}

ReadValues::Premises ReadValues::getPremises(unsigned point) const {
  Premises premises{point, {}, {}};
  addConditions(point, premises.always);
  for (AffineExpr &constraint : premises.always)
    constraint = simplify(constraint);
  for (IntegerSet set : getStatement(point).domain)
    forEachConstraint(set, [&, &domain = premises.domains.emplace_back()](
                               AffineExpr constraint) {
      domain.push_back(simplify(get(constraint, point)));
    });
  return premises;
}

bool ReadValues::follows(AffineExpr expr, const Premises &premises) const {
  expr = simplify(expr);
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue() >= 0;
  if (llvm::is_contained(premises.always, expr))
    return true;
  return llvm::all_of(premises.domains, [&](const Constraints &domain) {
    if (llvm::is_contained(domain, expr))
      return true;
    PairSet outside(context, program, getNumDims(), 0);
    outside.add(-expr - 1, /*isEquality=*/false);
    for (AffineExpr constraint :
         llvm::concat<const AffineExpr>(domain, premises.always))
      outside.add(constraint, /*isEquality=*/false);
    return outside.isEmpty().value_or(false);
  });
}

void ReadValues::addInstance(
    const Given &given, const Premises &premises,
    llvm::ArrayRef<AffineExpr> dims,
    llvm::SmallVectorImpl<Constraints> &instances) const {
  AffineExpr unknown = getAffineSymbolExpr(program.numParams, program.context);
  auto bind = [&](AffineExpr expr, llvm::ArrayRef<AffineExpr> symbols) {
    llvm::SmallVector<AffineExpr> own;
    for (AffineExpr dim : dims)
      own.push_back(dim ? dim : unknown);
    return expr.replaceDimsAndSymbols(own, symbols);
  };
  llvm::SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i < program.numParams; ++i)
    symbols.push_back(getAffineSymbolExpr(i, program.context));
  // What the point does not read says nothing.
  llvm::SmallVector<AffineExpr> parameters = symbols;
  for (const Access &access : given.values) {
    AffineExpr found = unknown;
    for (auto [number, value] : llvm::enumerate(values))
      if (value.point == premises.point && value.array == access.array &&
          llvm::all_of(llvm::zip_equal(access.map.getResults(), value.indices),
                       [&](auto pair) {
                         AffineExpr index = bind(std::get<0>(pair), parameters);
                         return isAffine(index) &&
                                simplify(index - std::get<1>(pair)) ==
                                    getAffineConstantExpr(0, program.context);
                       }))
        found = getDim(number);
    symbols.push_back(found);
  }
  bool holds = true;
  auto require = [&](AffineExpr premise) {
    AffineExpr expr = bind(premise, symbols);
    holds = holds && isAffine(expr) && follows(expr, premises);
  };
  forEachConstraint(given.where, require);
  if (!holds || llvm::none_of(given.domain, [&](IntegerSet set) {
        holds = true;
        forEachConstraint(set, require);
        return holds;
      }))
    return;
  Constraints &instance = instances.emplace_back();
  forEachConstraint(given.holds, [&](AffineExpr conclusion) {
    AffineExpr expr = bind(conclusion, symbols);
    if (isAffine(expr))
      instance.push_back(simplify(expr));
  });
}

void ReadValues::addGivens(unsigned point, Constraints &constraints) const {
  if (llvm::none_of(values,
                    [&](const Value &value) { return value.point == point; }))
    return;
  Premises premises = getPremises(point);
  for (const Given &given : program.givens) {
    llvm::SmallVector<AffineExpr> dims(given.numDims);
    llvm::SmallVector<Constraints> instances;
    match(given, premises, 0, dims, instances);
    for (const Constraints &instance : instances)
      for (AffineExpr constraint : instance)
        if (!llvm::is_contained(constraints, constraint))
          constraints.push_back(constraint);
  }
}
