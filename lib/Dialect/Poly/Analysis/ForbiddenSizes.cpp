//===- ForbiddenSizes.cpp - Sizes that take accesses out of arrays --------===//
//
// For x[i + 1] with 0 <= i < n, in an array of whose extent e nothing is known,
// the points outside are projected onto the sizes: n >= 1 and n >= e is left.
//
// An index that is not affine is at its extremes where each variable is at its
// own, as it is a monotonic function of each of them: of x[i * m + v] with
// v < m the corners are 0, m - 1, (n - 1) * m and (n - 1) * m + m - 1, and each
// has to be inside. For that,
//
//  * a remainder is a variable, from 0 to less than the divisor,
//  * a variable that occurs in a quotient or in a product with itself, and once
//    more elsewhere, is a variable of its own at each place.
//
//===----------------------------------------------------------------------===//

#include "AccessIndices.h"
#include "espalier/Polyhedral/Box.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// More corners than this are too many to check.
static constexpr unsigned kMaxVariables = 6;

static bool isQuotient(AffineExpr expr) {
  return expr.getKind() == AffineExprKind::FloorDiv ||
         expr.getKind() == AffineExprKind::CeilDiv;
}

static unsigned countUses(AffineExpr expr, AffineExpr of) {
  if (expr == of)
    return 1;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary
             ? countUses(binary.getLHS(), of) + countUses(binary.getRHS(), of)
             : 0;
}

/// Whether `expr` is a linear function of `dim`, whatever its other variables.
static bool isLinearIn(AffineExpr expr, AffineExpr dim) {
  if (countUses(expr, dim) == 0 || expr == dim)
    return true;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  if (expr.getKind() == AffineExprKind::Add)
    return isLinearIn(lhs, dim) && isLinearIn(rhs, dim);
  return expr.getKind() == AffineExprKind::Mul &&
         ((countUses(lhs, dim) == 0 && isLinearIn(rhs, dim)) ||
          (countUses(rhs, dim) == 0 && isLinearIn(lhs, dim)));
}

namespace {
/// The least and the greatest value of a variable, over the sizes.
struct Ends {
  AffineExpr least, most;
};

/// The extremes of an index of one computation. Variables are dimensions: those
/// of the points, the values that are read, then new ones.
class Corners {
public:
  Corners(AccessIndices &indices, ComputeOp compute)
      : indices(indices), compute(compute),
        numOld(compute.getNumDims() + compute.getReads().size()) {}

  /// Values of `expr`, over the sizes, that hold all others between them.
  /// Nothing if there are none that are known, for the reason `why`.
  std::optional<SmallVector<AffineExpr>> find(AffineExpr expr);
  std::string why;

private:
  /// `expr` with variables for remainders; null if a divisor is no size.
  AffineExpr replaceRemainders(AffineExpr expr);
  /// `expr` with a new variable at each place of `dim`.
  AffineExpr splitUses(AffineExpr expr, AffineDimExpr dim);
  AffineExpr addVariable(std::optional<Ends> range);
  std::optional<Ends> getRange(unsigned dim);
  std::nullopt_t fail(const Twine &reason) {
    why = reason.str();
    return std::nullopt;
  }

  AccessIndices &indices;
  ComputeOp compute;
  unsigned numOld;
  /// Of the new variables.
  SmallVector<std::optional<Ends>> ranges;
};

/// Collects the sizes for which a kernel would leave its arrays.
class Finder {
public:
  explicit Finder(KernelOp kernel)
      : kernel(kernel), unstated(getUnstatedExtents(kernel)),
        hasShapes(statesShapes(kernel)), indices(kernel, unstated) {}

  FailureOr<SmallVector<ForbiddenSizes>> run();

private:
  LogicalResult visit(const AccessIndex &index);
  LogicalResult addPoints(const AccessIndex &index, AffineExpr value,
                          AffineExpr extent);
  LogicalResult addCorners(const AccessIndex &index, AffineExpr value,
                           AffineExpr extent);
  /// `points` without dimensions.
  std::optional<SmallVector<IntegerSet>> toSizes(const polyhedral::Set &points,
                                                 unsigned numDims);
  void add(const AccessIndex &index, ArrayRef<IntegerSet> sets);

  KernelOp kernel;
  SmallVector<UnstatedExtent> unstated;
  bool hasShapes;
  AccessIndices indices;
  SmallVector<ForbiddenSizes> forbidden;
  llvm::SmallSetVector<IntegerSet, 8> seen;
};
} // namespace

//===----------------------------------------------------------------------===//
// Corners
//===----------------------------------------------------------------------===//

AffineExpr Corners::addVariable(std::optional<Ends> range) {
  ranges.push_back(range);
  return getAffineDimExpr(numOld + ranges.size() - 1, compute->getContext());
}

AffineExpr Corners::replaceRemainders(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr lhs = replaceRemainders(binary.getLHS());
  AffineExpr rhs = binary.getRHS();
  bool isDivision = isQuotient(expr) || expr.getKind() == AffineExprKind::Mod;
  if (!isDivision)
    rhs = replaceRemainders(rhs);
  if (!lhs || !rhs)
    return {};
  if (!isDivision)
    return getAffineBinaryOpExpr(expr.getKind(), lhs, rhs);
  if (!rhs.isSymbolicOrConstant())
    return {};
  if (isQuotient(expr))
    return getAffineBinaryOpExpr(expr.getKind(), lhs, rhs);
  return addVariable(
      Ends{getAffineConstantExpr(0, compute->getContext()), rhs - 1});
}

AffineExpr Corners::splitUses(AffineExpr expr, AffineDimExpr dim) {
  if (expr == dim)
    return addVariable(getRange(dim.getPosition()));
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr lhs = splitUses(binary.getLHS(), dim);
  return getAffineBinaryOpExpr(expr.getKind(), lhs,
                               splitUses(binary.getRHS(), dim));
}

std::optional<Ends> Corners::getRange(unsigned dim) {
  MLIRContext *context = compute->getContext();
  if (dim >= numOld)
    return ranges[dim - numOld];
  unsigned numDims = compute.getNumDims();
  if (dim >= numDims) {
    AffineExpr bound = indices.getFacts(compute, dim - numDims).bound;
    if (!bound)
      return fail("nothing bounds what is read");
    return Ends{getAffineConstantExpr(0, context), bound - 1};
  }
  polyhedral::Set values = indices.getDomain(compute)
                               .project(dim + 1, numDims - dim - 1)
                               .project(0, dim)
                               .assumeNonnegativeParameters();
  std::optional<polyhedral::Box> box = getBoundingBox(context, values);
  if (!box)
    return fail("nothing bounds '" + compute.getDimName(dim).getValue() + "'");
  AffineExpr least = box->offsets.front();
  return Ends{least, least + box->extents.front() - 1};
}

std::optional<SmallVector<AffineExpr>> Corners::find(AffineExpr expr) {
  expr = replaceRemainders(expr);
  if (!expr)
    return fail("the divisors are not sizes");
  for (unsigned dim = 0, e = numOld; dim < e; ++dim) {
    auto variable =
        cast<AffineDimExpr>(getAffineDimExpr(dim, expr.getContext()));
    if (countUses(expr, variable) > 1 && !isLinearIn(expr, variable))
      expr = splitUses(expr, variable);
  }
  SmallVector<AffineExpr> corners = {expr};
  unsigned numVariables = 0;
  for (unsigned dim = 0; dim < numOld + ranges.size(); ++dim) {
    if (!expr.isFunctionOfDim(dim))
      continue;
    std::optional<Ends> range = getRange(dim);
    if (!range)
      return std::nullopt;
    if (++numVariables > kMaxVariables)
      return fail("it has over " + Twine(kMaxVariables) + " variables");
    AffineExpr variable = getAffineDimExpr(dim, expr.getContext());
    llvm::SmallSetVector<AffineExpr, 16> next;
    for (AffineExpr corner : corners)
      for (AffineExpr end : {range->least, range->most})
        next.insert(simplifyAffineExpr(corner.replace(variable, end),
                                       numOld + ranges.size(),
                                       indices.getNumSymbols()));
    corners = next.takeVector();
  }
  return corners;
}

//===----------------------------------------------------------------------===//
// Finder
//===----------------------------------------------------------------------===//

std::optional<SmallVector<IntegerSet>>
Finder::toSizes(const polyhedral::Set &points, unsigned numDims) {
  return points.project(0, numDims)
      .simplify()
      .toIntegerSets(kernel.getContext());
}

void Finder::add(const AccessIndex &index, ArrayRef<IntegerSet> sets) {
  ForbiddenSizes sizes;
  for (IntegerSet set : sets)
    if (!set.isEmptyIntegerSet() && seen.insert(set))
      sizes.sets.push_back(set);
  if (sizes.sets.empty())
    return;
  ComputeOp compute = index.compute;
  sizes.message = ("expects sizes with which @" + compute.getSymName() + " " +
                   index.verb + "s " + describeArray(index.access.array) +
                   " inside its extent in dimension " + Twine(index.dim))
                      .str();
  forbidden.push_back(std::move(sizes));
}

LogicalResult Finder::addPoints(const AccessIndex &index, AffineExpr value,
                                AffineExpr extent) {
  ComputeOp compute = index.compute;
  unsigned numDims = compute.getNumDims() + compute.getReads().size();
  for (AffineExpr outside : {-value - 1, value - extent}) {
    polyhedral::Set points = indices.findPoints(index, outside);
    std::optional<bool> isEmpty = points.isEmpty();
    if (isEmpty == true)
      continue;
    std::optional<SmallVector<IntegerSet>> sets;
    if (isEmpty)
      sets = toSizes(points, numDims);
    if (!sets)
      return indices.reportUnknown(index, indices.getContext().getError());
    // With any extent there would be a value that is too large.
    bool isAlways = llvm::any_of(*sets, [&](IntegerSet set) {
      return llvm::none_of(set.getConstraints(), [&](AffineExpr constraint) {
        auto symbol = dyn_cast<AffineSymbolExpr>(extent);
        return symbol && constraint.isFunctionOfSymbol(symbol.getPosition());
      });
    });
    if (isAlways && !indices.isBounded(compute, value))
      return indices.report(index, value, extent, points);
    add(index, *sets);
  }
  return success();
}

LogicalResult Finder::addCorners(const AccessIndex &index, AffineExpr value,
                                 AffineExpr extent) {
  ComputeOp compute = index.compute;
  Corners corners(indices, compute);
  auto found = corners.find(value);
  if (!found)
    return indices.reportUnknown(index, corners.why);
  auto running = toSizes(indices.getDomain(compute), compute.getNumDims());
  if (!running)
    return indices.reportUnknown(index, indices.getContext().getError());
  SmallVector<IntegerSet> sets;
  for (AffineExpr corner : *found)
    for (AffineExpr outside : {-corner - 1, corner - extent})
      for (IntegerSet set : *running) {
        SmallVector<AffineExpr> constraints(set.getConstraints());
        SmallVector<bool> isEquality(set.getEqFlags());
        constraints.push_back(
            simplifyAffineExpr(outside, 0, indices.getNumSymbols()));
        isEquality.push_back(false);
        if (!set.isEmptyIntegerSet())
          sets.push_back(IntegerSet::get(0, indices.getNumSymbols(),
                                         constraints, isEquality));
      }
  add(index, sets);
  return success();
}

LogicalResult Finder::visit(const AccessIndex &index) {
  AffineExpr extent = indices.getExtent(index);
  if (!extent)
    return success();
  AffineExpr value = indices.getValue(index);
  if (!indices.isAffine(value) || !indices.isAffine(extent))
    return addCorners(index, value, extent);
  bool isUnstated = llvm::any_of(
      llvm::seq<unsigned>(kernel.getNumParameters(), indices.getNumSymbols()),
      [&](unsigned symbol) { return extent.isFunctionOfSymbol(symbol); });
  if (hasShapes && !isUnstated)
    return success(); // By `poly-verify-accesses`.
  return addPoints(index, value, extent);
}

FailureOr<SmallVector<ForbiddenSizes>> Finder::run() {
  if (failed(indices.forEach(
          [&](const AccessIndex &index) { return visit(index); })))
    return failure();
  return forbidden;
}

FailureOr<SmallVector<ForbiddenSizes>>
espalier::poly::findForbiddenSizes(KernelOp kernel) {
  return Finder(kernel).run();
}
