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
static constexpr unsigned kMaxBindings = 64;

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

std::vector<ReadValues::Binding> ReadValues::match(const Given &given,
                                                   unsigned point) const {
  std::vector<Binding> bindings{Binding(given.numDims)};
  for (const Access &access : given.values) {
    std::vector<Binding> next;
    auto add = [&](const Binding &binding) {
      if (next.size() < kMaxBindings && !llvm::is_contained(next, binding))
        next.push_back(binding);
    };
    for (const Binding &dims : bindings) {
      for (const Value &value : values) {
        if (value.point != point || value.array != access.array)
          continue;
        Binding bound(dims);
        if (llvm::all_of(
                llvm::zip_equal(access.map.getResults(), value.indices),
                [&](auto pair) {
                  return unify(std::get<0>(pair), std::get<1>(pair),
                               getNumDims(), program.numParams, bound);
                }))
          add(bound);
      }
      add(dims);
    }
    bindings = std::move(next);
  }
  return bindings;
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

void ReadValues::addInstance(const Given &given, const Premises &premises,
                             const Binding &dims,
                             Constraints &constraints) const {
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
  Constraints conclusions;
  forEachConstraint(given.holds, [&](AffineExpr conclusion) {
    AffineExpr expr = bind(conclusion, symbols);
    if (isAffine(expr) &&
        !llvm::is_contained(constraints, expr = simplify(expr)))
      conclusions.push_back(expr);
  });
  if (conclusions.empty())
    return;
  bool holds = true;
  auto require = [&](AffineExpr premise) {
    AffineExpr expr = bind(premise, symbols);
    holds = holds && isAffine(expr) && follows(expr, premises);
  };
  forEachConstraint(given.where, require);
  if (holds && llvm::any_of(given.domain, [&](IntegerSet set) {
        holds = true;
        forEachConstraint(set, require);
        return holds;
      }))
    constraints.append(conclusions);
}

void ReadValues::addGivens(unsigned point, Constraints &constraints) const {
  if (llvm::none_of(values,
                    [&](const Value &value) { return value.point == point; }))
    return;
  Premises premises = getPremises(point);
  for (const Given &given : program.givens)
    for (const Binding &dims : match(given, point))
      addInstance(given, premises, dims, constraints);
}
