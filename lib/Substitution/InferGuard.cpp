//===- InferGuard.cpp - Finds what a rule asks of sizes -------------------===//

#include "Typing.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace espalier;
using namespace espalier::substitution;
using polyhedral::Set;

/// The extents of variables and constants of `src`.
static llvm::SmallVector<Var> getSourceExtents(const Sizes &src) {
  llvm::SmallVector<Var> extents;
  for (Var var = 0; var < src.size(); ++var)
    if (src[var].kind == SizeInfo::Kind::Extent)
      extents.push_back(var);
  return extents;
}

/// The values of `extents` that fit a case.
static Set project(const Sizes &sizes, llvm::ArrayRef<Var> extents) {
  Constraints all = sizes.facts.getAll();
  llvm::SmallVector<Var> vars(extents.begin(), extents.end());
  for (Var var : getVars(all))
    if (!llvm::is_contained(extents, var))
      vars.push_back(var);
  return makeSet(sizes.facts.getIntegers(), vars, all)
      .project(extents.size(), vars.size() - extents.size());
}

//===----------------------------------------------------------------------===//
// Constraints as atoms
//===----------------------------------------------------------------------===//

namespace {
/// Multiples of extents and of quotients, and a number.
struct FlatSum {
  llvm::SmallVector<int64_t> coefficients; ///< Of extents.
  /// Of `floor(sum / divisor)`; coefficients in `sum` are below the divisor.
  struct Quotient {
    int64_t coefficient;
    std::shared_ptr<const FlatSum> sum;
    int64_t divisor;
  };
  llvm::SmallVector<Quotient, 1> quotients;
  int64_t constant = 0;

  bool isConstant() const {
    return quotients.empty() &&
           llvm::all_of(coefficients, [](int64_t value) { return value == 0; });
  }
};

/// Adds a product; false if the result does not fit.
bool addProduct(int64_t &sum, int64_t lhs, int64_t rhs) {
  int64_t product;
  return !llvm::MulOverflow(lhs, rhs, product) &&
         !llvm::AddOverflow(sum, product, sum);
}

/// Writes constraints on extents as atoms.
class AtomMaker {
public:
  AtomMaker(const Sizes &sizes, llvm::ArrayRef<Var> extents)
      : sizes(sizes), extents(extents) {}

  GuardAtom make(const polyhedral::LinearConstraint &row) const {
    FlatSum sum;
    sum.coefficients.assign(row.coefficients.begin(), row.coefficients.end());
    sum.constant = row.constant;
    return make(sum, row.isEquality);
  }

  /// Appends the constraints of a set. False if they cannot be written.
  bool append(mlir::IntegerSet set, std::vector<GuardAtom> &atoms) const {
    for (auto [expr, isEquality] :
         llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
      FlatSum sum;
      sum.coefficients.resize(extents.size());
      if (!flatten(expr, 1, sum))
        return false;
      bool isTrivial = sum.isConstant() &&
                       (isEquality ? sum.constant == 0 : sum.constant >= 0);
      if (!isTrivial)
        atoms.push_back(make(sum, isEquality));
    }
    return true;
  }

private:
  bool flatten(mlir::AffineExpr expr, int64_t factor, FlatSum &sum) const;
  bool addQuotient(mlir::AffineBinaryOpExpr quotient, int64_t factor,
                   FlatSum &sum) const;
  GuardAtom make(const FlatSum &sum, bool isEquality) const;
  /// The divisor, and what it must divide, if that is what `sum == 0` says.
  std::optional<GuardAtom> makeDivides(const FlatSum &sum) const;
  /// The positive or the negative part of a sum.
  SizeExpr makeSide(const FlatSum &sum, int64_t sign) const;

  const Sizes &sizes;
  llvm::ArrayRef<Var> extents;
};
} // namespace

bool AtomMaker::flatten(mlir::AffineExpr expr, int64_t factor,
                        FlatSum &sum) const {
  if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expr))
    return addProduct(sum.constant, factor, constant.getValue());
  if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expr))
    return addProduct(sum.coefficients[dim.getPosition()], factor, 1);
  auto binary = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expr);
  if (!binary)
    return false;
  if (binary.getKind() == mlir::AffineExprKind::Add)
    return flatten(binary.getLHS(), factor, sum) &&
           flatten(binary.getRHS(), factor, sum);
  auto number = llvm::dyn_cast<mlir::AffineConstantExpr>(binary.getRHS());
  int64_t scaled = 0;
  if (!number || !addProduct(scaled, factor, number.getValue()))
    return false;
  switch (binary.getKind()) {
  case mlir::AffineExprKind::Mul:
    return flatten(binary.getLHS(), scaled, sum);
  case mlir::AffineExprKind::FloorDiv:
    return addQuotient(binary, factor, sum);
  case mlir::AffineExprKind::Mod: // a - n * floor(a / n)
    return scaled != INT64_MIN && flatten(binary.getLHS(), factor, sum) &&
           addQuotient(binary, -scaled, sum);
  default:
    return false;
  }
}

bool AtomMaker::addQuotient(mlir::AffineBinaryOpExpr quotient, int64_t factor,
                            FlatSum &sum) const {
  int64_t divisor =
      llvm::cast<mlir::AffineConstantExpr>(quotient.getRHS()).getValue();
  auto inner = std::make_shared<FlatSum>();
  inner->coefficients.resize(extents.size());
  if (divisor <= 0 || !flatten(quotient.getLHS(), 1, *inner))
    return false;
  // Whole multiples of the divisor come out, so that the rest is not negative.
  auto takeOut = [&](int64_t &coefficient, int64_t &outer) {
    int64_t whole = llvm::divideFloorSigned(coefficient, divisor);
    coefficient -= whole * divisor;
    return addProduct(outer, factor, whole);
  };
  for (auto [coefficient, outer] :
       llvm::zip_equal(inner->coefficients, sum.coefficients))
    if (!takeOut(coefficient, outer))
      return false;
  if (!takeOut(inner->constant, sum.constant))
    return false;
  for (FlatSum::Quotient &nested : inner->quotients)
    if (nested.coefficient < 0 || nested.coefficient >= divisor)
      return false;
  if (!inner->isConstant()) // Otherwise the quotient is 0.
    sum.quotients.push_back({factor, std::move(inner), divisor});
  return true;
}

SizeExpr AtomMaker::makeSide(const FlatSum &sum, int64_t sign) const {
  std::optional<SizeExpr> side;
  auto add = [&](int64_t coefficient, SizeExpr expr) {
    coefficient *= sign;
    if (coefficient <= 0)
      return;
    bool isNumber = expr.kind == SizeExpr::Kind::Constant;
    if (isNumber)
      expr.constant = coefficient;
    else if (coefficient != 1)
      expr = SizeExpr::get(SizeExpr::Kind::Product, SizeExpr::get(coefficient),
                           std::move(expr));
    side = side ? SizeExpr::get(SizeExpr::Kind::Sum, std::move(*side),
                                std::move(expr))
                : std::move(expr);
  };
  for (auto [var, coefficient] : llvm::zip_equal(extents, sum.coefficients))
    add(coefficient, SizeExpr::get(sizes[var].term));
  for (const FlatSum::Quotient &quotient : sum.quotients)
    add(quotient.coefficient,
        SizeExpr::get(SizeExpr::Kind::Floor, makeSide(*quotient.sum, 1),
                      SizeExpr::get(quotient.divisor)));
  add(sum.constant, SizeExpr::get(0));
  return side ? std::move(*side) : SizeExpr::get(0);
}

std::optional<GuardAtom> AtomMaker::makeDivides(const FlatSum &sum) const {
  if (sum.quotients.size() != 1)
    return std::nullopt;
  const FlatSum::Quotient &quotient = sum.quotients.front();
  const FlatSum &inner = *quotient.sum;
  if (!inner.quotients.empty() || quotient.coefficient % quotient.divisor != 0)
    return std::nullopt;
  // factor * (a - n * floor(a / n))
  int64_t factor = -(quotient.coefficient / quotient.divisor);
  bool isRemainder =
      sum.constant == factor * inner.constant &&
      llvm::all_of(llvm::zip_equal(sum.coefficients, inner.coefficients),
                   [&](auto pair) {
                     return std::get<0>(pair) == factor * std::get<1>(pair);
                   });
  if (factor == 0 || !isRemainder)
    return std::nullopt;
  GuardAtom atom;
  atom.kind = GuardAtom::Kind::Divides;
  atom.lhs = SizeExpr::get(quotient.divisor);
  atom.rhs = makeSide(inner, 1);
  return atom;
}

GuardAtom AtomMaker::make(const FlatSum &sum, bool isEquality) const {
  if (isEquality)
    if (std::optional<GuardAtom> atom = makeDivides(sum))
      return *atom;
  GuardAtom atom;
  atom.kind = isEquality ? GuardAtom::Kind::Equal : GuardAtom::Kind::AtLeast;
  atom.lhs = makeSide(sum, 1);
  atom.rhs = makeSide(sum, -1);
  return atom;
}

/// Appends what tells `allowed` apart among `expected`, of which it is a part:
/// equalities if they are enough, otherwise what `outline` says, if that is.
/// Returns false if that cannot be found.
static bool addDifference(Set expected, const Set &allowed, const Set &outline,
                          const Sizes &sizes, llvm::ArrayRef<Var> extents,
                          mlir::MLIRContext *context, Guard &guard) {
  auto translate = [&](const polyhedral::LinearConstraint &row) {
    Constraint constraint{Linear(row.constant), row.isEquality};
    for (auto [var, factor] : llvm::zip_equal(extents, row.coefficients))
      constraint.expr += Linear::var(var, factor);
    return constraint;
  };
  AtomMaker maker(sizes, extents);
  std::optional<bool> isWhole = expected.isSubset(allowed);
  auto equalities = allowed.getEqualities();
  if (!isWhole || !equalities)
    return false;
  for (const polyhedral::LinearConstraint &row : *equalities) {
    if (*isWhole)
      return true;
    Set plane = makeSet(sizes.facts.getIntegers(), extents, translate(row));
    std::optional<bool> isKnown = expected.isSubset(plane);
    expected = expected.intersect(plane);
    isWhole = expected.isSubset(allowed);
    if (!isKnown || !isWhole)
      return false;
    if (*isKnown)
      continue;
    guard.add(maker.make(row));
  }
  if (*isWhole)
    return true;
  Set extra = outline.gist(expected);
  if (expected.intersect(extra).isSubset(allowed) != true ||
      allowed.isSubset(extra) != true)
    extra = allowed.gist(expected);
  if (auto rows = extra.getConstraints()) {
    for (const polyhedral::LinearConstraint &row : *rows)
      guard.add(maker.make(row));
    return true;
  }
  auto pieces = extra.toIntegerSets(context);
  if (!pieces)
    return false;
  GuardClause clause;
  for (mlir::IntegerSet piece : *pieces)
    if (!maker.append(piece, clause.emplace_back()))
      return false;
  if (clause.size() > 1) {
    guard.clauses.push_back(std::move(clause));
    return true;
  }
  for (GuardAtom &atom : clause.front())
    guard.add(std::move(atom));
  return true;
}

/// What assumptions are called.
static void describe(const Typing &typing,
                     llvm::ArrayRef<Assumption> assumptions, Guard &guard) {
  using Kind = SizeTerm::Kind;
  const auto &list = typing.instances.list;
  auto getSize = [&](Kind kind, unsigned number, unsigned axis = 0) {
    SizeTerm term;
    term.kind = kind;
    term.use = number;
    term.node = list[number].id;
    term.axis = axis;
    return SizeExpr::get(term);
  };
  auto addEqual = [&](SizeExpr lhs, SizeExpr rhs) {
    guard.add({GuardAtom::Kind::Equal, std::move(lhs), std::move(rhs)});
  };
  for (const Assumption &assumption : assumptions) {
    unsigned first = assumption.first, second = assumption.second;
    if (assumption.kind == Assumption::Kind::SameIn)
      addEqual(getSize(Kind::InPerGroup, first),
               getSize(Kind::InPerGroup, second));
    if (assumption.kind == Assumption::Kind::SameOut)
      addEqual(getSize(Kind::OutPerGroup, first),
               getSize(Kind::OutPerGroup, second));
    if (assumption.kind == Assumption::Kind::OneGroup)
      addEqual(getSize(Kind::Groups, first), SizeExpr::get(1));
    // Those about constants of src are found as conditions on extents; of dst,
    // they say which sizes to choose.
    if (list[first].isInSrc)
      continue;
    if (assumption.kind == Assumption::Kind::SquareConst)
      addEqual(getSize(Kind::Dim, first, 0), getSize(Kind::Dim, first, 1));
    if (assumption.kind != Assumption::Kind::SquareUse)
      continue;
    if (list[first].node->has(kGroups)) {
      addEqual(getSize(Kind::OutChannels, first),
               getSize(Kind::InChannels, first));
    } else {
      unsigned constant = getConstantFactor(typing.instances, list[first]);
      addEqual(getSize(Kind::Dim, constant, 0),
               getSize(Kind::Dim, constant, 1));
    }
  }
}

//===----------------------------------------------------------------------===//
// Divisions
//===----------------------------------------------------------------------===//

namespace {
/// What `src` and assumptions say of sizes, together with the quotients that
/// only `dst` forms. These must come out even, which is a condition unless it
/// follows.
class SourceSizes {
public:
  explicit SourceSizes(const Typing &typing)
      : sizes(*typing.assumedSizes), typing(typing) {}

  /// Appends the divisions that must come out even. Sizes of constants of `dst`
  /// are left out.
  void addDivisions(Guard &guard) {
    const Sizes &all = typing.sizes;
    for (Var var = typing.srcSizes->size(); var < all.size(); ++var)
      if (all[var].kind == SizeInfo::Kind::Quotient)
        addDivision(var, guard);
    for (const auto &[lhs, rhs] : typing.assumedEqual) {
      auto left = rebuild(lhs), right = rebuild(rhs);
      if (left && right)
        sizes.facts.addEqual(*left, *right);
    }
    sizes.close();
  }

  Sizes sizes;

private:
  void addDivision(Var var, Guard &guard) {
    const SizeInfo &info = typing.sizes[var];
    const ConstraintStore &facts = typing.sizes.facts;
    // Equalities of extents, which will be part of the condition.
    if (facts.simplify(info.b) == Linear(1) ||
        facts.simplify(info.a) == facts.simplify(info.b))
      return;
    auto a = rebuild(info.a), b = rebuild(info.b);
    if (!a || !b) {
      // `dst` makes its constants such that equalities hold.
      if (facts.simplify(Linear::var(var)).getVar() == var)
        guard.add(
            {GuardAtom::Kind::Divides, describe(info.b), describe(info.a)});
      return;
    }
    unsigned count = sizes.size();
    Linear quotient = sizes.getQuotient(*a, *b);
    if (sizes.size() == count)
      return; // It is even already.
    guard.add({GuardAtom::Kind::Divides, describe(info.b), describe(info.a)});
    sizes.facts.addEqual(sizes.getProduct(quotient, *b), *a);
    sizes.close();
  }

  /// A form of the typing, in these sizes. Nothing if it depends on a constant
  /// of `dst`.
  std::optional<Linear> rebuild(const Linear &linear) {
    Linear result(linear.getConstant());
    for (auto [var, coefficient] : linear.getTerms()) {
      std::optional<Linear> part = rebuild(var);
      if (!part)
        return std::nullopt;
      result += *part * coefficient;
    }
    if (linear.isPoisoned())
      return std::nullopt;
    return sizes.facts.simplify(result);
  }

  std::optional<Linear> rebuild(Var var) {
    if (var < typing.srcSizes->size())
      return Linear::var(var);
    const SizeInfo &info = typing.sizes[var];
    if (info.kind == SizeInfo::Kind::Extent)
      return std::nullopt;
    auto a = rebuild(info.a), b = rebuild(info.b);
    if (!a || !b)
      return std::nullopt;
    switch (info.kind) {
    case SizeInfo::Kind::Floor:
    case SizeInfo::Kind::Quotient:
      return sizes.getQuotient(*a, *b);
    case SizeInfo::Kind::Product:
      return sizes.getProduct(*a, *b);
    default:
      return sizes.getMax(*a, *b);
    }
  }

  /// In the words of a guard. Parameters are defined by older ones, so this
  /// ends; equalities that were found later are not used.
  SizeExpr describe(const Linear &linear) {
    std::optional<SizeExpr> sum;
    auto add = [&](SizeExpr summand) {
      sum = sum ? SizeExpr::get(SizeExpr::Kind::Sum, std::move(*sum),
                                std::move(summand))
                : std::move(summand);
    };
    for (auto [var, coefficient] : linear.getTerms()) {
      SizeExpr factor = describe(typing.sizes[var]);
      add(coefficient == 1
              ? std::move(factor)
              : SizeExpr::get(SizeExpr::Kind::Product,
                              SizeExpr::get(coefficient), std::move(factor)));
    }
    if (linear.getConstant() != 0 || !sum)
      add(SizeExpr::get(linear.getConstant()));
    return std::move(*sum);
  }

  SizeExpr describe(const SizeInfo &info) {
    switch (info.kind) {
    case SizeInfo::Kind::Extent:
      return SizeExpr::get(info.term);
    case SizeInfo::Kind::Floor:
    case SizeInfo::Kind::Quotient:
      return SizeExpr::get(SizeExpr::Kind::Floor, describe(info.a),
                           describe(info.b));
    case SizeInfo::Kind::Product:
      return SizeExpr::get(SizeExpr::Kind::Product, describe(info.a),
                           describe(info.b));
    case SizeInfo::Kind::Max:
      return SizeExpr::get(SizeExpr::Kind::Max, describe(info.a),
                           describe(info.b));
    }
    llvm_unreachable("every kind is handled above");
  }

  const Typing &typing;
};
} // namespace

std::optional<Guard> espalier::substitution::getGuard(
    const Typing &typing, const std::vector<Sizes> &cases,
    llvm::ArrayRef<Assumption> assumptions, mlir::MLIRContext *context) {
  Guard guard = typing.instances.rankGuard;
  describe(typing, assumptions, guard);
  SourceSizes source(typing);
  source.addDivisions(guard);

  const Sizes &src = *typing.srcSizes;
  llvm::SmallVector<Var> extents = getSourceExtents(src);
  auto srcCases = source.sizes.getCases();
  if (!srcCases || srcCases->empty() || cases.empty())
    return std::nullopt;
  auto unite = [&](const std::vector<Sizes> &all) {
    Set result = project(all.front(), extents);
    for (const Sizes &sizes : llvm::drop_begin(all))
      result = result.unite(project(sizes, extents));
    return result;
  };
  Set expected = unite(*srcCases), allowed = unite(cases);
  // Without the distinctions that both sides make, conditions are shorter.
  Set outline =
      project(typing.sizes, extents).gist(project(source.sizes, extents));
  if (!addDifference(expected, allowed, outline, src, extents, context, guard))
    return std::nullopt;
  return guard;
}

bool espalier::substitution::isDegenerate(const Typing &typing,
                                          const std::vector<Sizes> &cases) {
  const Sizes &src = *typing.srcSizes;
  for (const Instance &instance : typing.instances.list)
    for (const Linear &extent : instance.shape) {
      Constraint isOne = Constraint::equal(extent, 1);
      bool isForced =
          instance.isInSrc && llvm::all_of(cases, [&](const Sizes &sizes) {
            return sizes.facts.implies(isOne);
          });
      if (isForced && !src.facts.implies(isOne))
        return true;
    }
  return false;
}
