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

/// Makes `index`, over a statement's dimensions and `symbols`, equal to
/// `target` by binding at most one of `dims`. False if that cannot be.
static bool unify(AffineExpr index, AffineExpr target, unsigned numDims,
                  unsigned numParams, llvm::SmallVector<AffineExpr> &dims,
                  llvm::ArrayRef<AffineExpr> symbols) {
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
  AffineExpr rest =
      simplifyAffineExpr(target - index.replaceDimsAndSymbols(values, symbols),
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
  llvm::SmallVector<AffineExpr> parameters;
  for (unsigned i = 0; i < program.numParams; ++i)
    parameters.push_back(getAffineSymbolExpr(i, program.context));
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
                               getNumDims(), program.numParams, bound,
                               parameters);
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

/// `expr`, of a statement, with these values of its dimensions and symbols;
/// what is open is `unknown`.
static AffineExpr bind(AffineExpr expr, llvm::ArrayRef<AffineExpr> dims,
                       llvm::ArrayRef<AffineExpr> symbols, AffineExpr unknown) {
  llvm::SmallVector<AffineExpr> own;
  for (AffineExpr dim : dims)
    own.push_back(dim ? dim : unknown);
  return expr.replaceDimsAndSymbols(own, symbols);
}

llvm::SmallVector<AffineExpr>
ReadValues::getSymbols(const Given &given, unsigned point,
                       const Binding &dims) const {
  AffineExpr unknown = getAffineSymbolExpr(program.numParams, program.context);
  llvm::SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i < program.numParams; ++i)
    symbols.push_back(getAffineSymbolExpr(i, program.context));
  // What the point does not read says nothing.
  llvm::SmallVector<AffineExpr> parameters = symbols;
  for (const Access &access : given.values) {
    AffineExpr found = unknown;
    for (auto [number, value] : llvm::enumerate(values))
      if (value.point == point && value.array == access.array &&
          llvm::all_of(llvm::zip_equal(access.map.getResults(), value.indices),
                       [&](auto pair) {
                         AffineExpr index =
                             bind(std::get<0>(pair), dims, parameters, unknown);
                         return isAffine(index) &&
                                simplify(index - std::get<1>(pair)) ==
                                    getAffineConstantExpr(0, program.context);
                       }))
        found = getDim(number);
    symbols.push_back(found);
  }
  return symbols;
}

bool ReadValues::satisfies(const Given &given, const Premises &premises,
                           const Binding &dims,
                           llvm::ArrayRef<AffineExpr> symbols) const {
  AffineExpr unknown = getAffineSymbolExpr(program.numParams, program.context);
  bool holds = true;
  auto require = [&](AffineExpr premise) {
    AffineExpr expr = bind(premise, dims, symbols, unknown);
    holds = holds && isAffine(expr) && follows(expr, premises);
  };
  forEachConstraint(given.where, require);
  return holds && llvm::any_of(given.domain, [&](IntegerSet set) {
           holds = true;
           forEachConstraint(set, require);
           return holds;
         });
}

void ReadValues::addInstance(const Given &given, const Premises &premises,
                             const Binding &dims,
                             Constraints &constraints) const {
  AffineExpr unknown = getAffineSymbolExpr(program.numParams, program.context);
  llvm::SmallVector<AffineExpr> symbols =
      getSymbols(given, premises.point, dims);
  Constraints conclusions;
  forEachConstraint(given.holds, [&](AffineExpr conclusion) {
    AffineExpr expr = bind(conclusion, dims, symbols, unknown);
    if (isAffine(expr) &&
        !llvm::is_contained(constraints, expr = simplify(expr)))
      conclusions.push_back(expr);
  });
  if (!conclusions.empty() && satisfies(given, premises, dims, symbols))
    constraints.append(conclusions);
}

llvm::SmallVector<AffineMap>
ReadValues::findSources(unsigned other, AffineMap there, AffineMap here) const {
  const Statement &source = program.statements[other];
  // That it runs is what its `where` says of the values that it reads.
  Given runs{source.numDims, source.domain, source.where, source.values, {}};
  Premises premises = getPremises(0);
  llvm::SmallVector<AffineMap> sources;
  for (Binding dims : match(runs, 0)) {
    llvm::SmallVector<AffineExpr> symbols = getSymbols(runs, 0, dims);
    bool isElement = llvm::all_of(
        llvm::zip_equal(there.getResults(), here.getResults()), [&](auto pair) {
          AffineExpr target = get(std::get<1>(pair), 0);
          bool areKnown = !hasValues(std::get<0>(pair).replaceSymbols(symbols),
                                     program.numParams) &&
                          !hasValues(target, program.numParams);
          return areKnown && unify(std::get<0>(pair), target, getNumDims(),
                                   program.numParams, dims, symbols);
        });
    bool isFunction = isElement && llvm::all_of(dims, [&](AffineExpr dim) {
                        for (unsigned value = 0; dim && value < size(); ++value)
                          if (dim.isFunctionOfDim(numPointDims + value))
                            return false;
                        return dim && !hasValues(dim, program.numParams);
                      });
    if (!isFunction || !satisfies(runs, premises, dims, symbols))
      continue;
    auto function =
        AffineMap::get(numPointDims, program.numParams, dims, program.context);
    if (!llvm::is_contained(sources, function))
      sources.push_back(function);
  }
  return sources;
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
