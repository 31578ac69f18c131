//===- ReadRecurrences.cpp - What a kernel says of its recurrence ---------===//
//
// `poly.recurrence` says along which dimension a computation reads what the
// recurrence has computed before: steps then take the points of another
// dimension as independent. The accesses, and which computations run together,
// say whether that is so; only reads at numbers that are data are left, whose
// order is that of the kernel.
//
//===----------------------------------------------------------------------===//

#include "../StepAttributes.h"
#include "KernelReader.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;

static constexpr StringLiteral kConditions =
    "expects a condition on levels, or on the entries of a row, which a sum "
    "runs over in its last loop";

/// How many pairs of values the condition of `compute` is on.
static unsigned countRanges(poly::ComputeOp compute, unsigned numParams) {
  std::optional<IntegerSet> where = compute.getWhere();
  return where && where->getNumSymbols() > numParams
             ? llvm::divideCeil(where->getNumSymbols() - numParams, 2)
             : 0;
}

/// Whether `dim` runs from one element of a vector, at `place`, to the next:
/// the elements are pair `number` of what the condition is on.
static bool isRangeCondition(poly::ComputeOp compute, unsigned number,
                             unsigned dim, AffineExpr place,
                             unsigned numParams) {
  MLIRContext *context = compute.getContext();
  IntegerSet set = *compute.getWhere();
  SmallVector<poly::ComputeAccess> reads = compute.getReadAccesses();
  unsigned numDims = compute.getNumDims(), first = 2 * number;
  unsigned numSymbols = set.getNumSymbols();
  if (set.getNumConstraints() < first + 2 || reads.size() < first + 2 ||
      numSymbols < numParams + first + 2 || set.isEq(first) ||
      set.isEq(first + 1))
    return false;
  auto isZero = [&](AffineExpr expr) {
    return simplifyAffineExpr(expr, numDims, numSymbols) ==
           getAffineConstantExpr(0, context);
  };
  AffineExpr index = getAffineDimExpr(dim, context);
  AffineExpr begin = getAffineSymbolExpr(numParams + first, context);
  AffineExpr end = getAffineSymbolExpr(numParams + first + 1, context);
  const poly::ComputeAccess &low = reads[first], &high = reads[first + 1];
  return low.array == high.array && low.argument.use_empty() &&
         high.argument.use_empty() && low.map.getNumResults() == 1 &&
         isZero(set.getConstraint(first) - (index - begin)) &&
         isZero(set.getConstraint(first + 1) - (end - 1 - index)) &&
         isZero(low.map.getResult(0) - place) &&
         isZero(high.map.getResult(0) - place - 1);
}

/// Whether the points of a recurrence along `dim` are those of levels.
static bool hasLevels(poly::ComputeOp compute, int64_t dim,
                      unsigned numParams) {
  return compute.getWhere() && dim >= 0 && dim + 1 < compute.getNumDims() &&
         isRangeCondition(compute, 0, dim + 1,
                          getAffineDimExpr(0, compute.getContext()), numParams);
}

LogicalResult KernelReader::readEntries(poly::ComputeOp compute,
                                        Statement &statement) {
  unsigned last = compute.getNumDims() - 1, first = 2 * numOuter;
  auto refuseCondition = [&] { return refuse(compute, kConditions); };
  if (compute.getReads().size() <= first || compute.getNumDims() == 0 ||
      !compute.getReduction())
    return refuseCondition();
  AffineMap map = compute.getReadAccesses()[first].map;
  if (map.getNumResults() != 1 || map.isFunctionOfDim(last) ||
      (numOuter > 0 && map.isFunctionOfDim(0)) ||
      map.getNumSymbols() > parameters.size() ||
      compute.getWriteAccesses().front().map.isFunctionOfDim(last) ||
      !isRangeCondition(compute, numOuter, last, map.getResult(0),
                        parameters.size()))
    return refuseCondition();
  auto starts = arrayOf.find(compute.getReads()[first]);
  if (starts == arrayOf.end())
    return refuseCondition();
  statement.entries = {starts->second, import(map.getResult(0))};
  return success();
}

LogicalResult KernelReader::readAttributes(poly::ComputeOp compute,
                                           Statement &statement) {
  std::optional<int64_t> recurrence;
  for (const std::string &fault :
       {graphtopoly::readAttributes(compute, statement),
        readNumber(compute, kRecurrenceAttr, recurrence)})
    if (!fault.empty())
      return reject(compute, "expects " + fault);
  if (!recurrence && compute.getInterleaved()) {
    if (!isOwn)
      return refuse(compute, "expects no computations that run together");
    fusionGroup.runsTogether = true;
  }
  unsigned numRanges = countRanges(compute, parameters.size());
  if (recurrence) {
    numOuter = hasLevels(compute, *recurrence, parameters.size()) ? 1 : 0;
    if (*recurrence < 0 || *recurrence + numOuter >= compute.getNumDims())
      return reject(compute,
                    "expects poly.recurrence to be a dimension, but got " +
                        Twine(*recurrence));
    if (numOuter == 1 && !arrayOf.contains(compute.getReads()[0]))
      return refuse(compute, "expects a condition on levels");
    if (numOuter == 1)
      statement.levels = arrayOf.lookup(compute.getReads()[0]);
    statement.recurrence = *recurrence;
    statement.recurrenceGroup = group;
  }
  if (!compute.getWhere())
    return success();
  if ((numRanges != numOuter && numRanges != numOuter + 1) ||
      compute.getWhere()->getNumConstraints() != 2 * numRanges)
    return refuse(compute, kConditions);
  return numRanges == numOuter ? success() : readEntries(compute, statement);
}

namespace {
struct Member {
  poly::ComputeOp compute;
  /// Its loop over the points of the recurrence.
  unsigned dim;
};
} // namespace

/// The index of what `member` writes that is its point of the recurrence.
static std::optional<unsigned> findPoint(Member member) {
  AffineMap map = member.compute.getWriteAccesses().front().map;
  auto index = llvm::find(map.getResults(),
                          getAffineDimExpr(member.dim, map.getContext()));
  if (index == map.getResults().end())
    return std::nullopt;
  return index - map.getResults().begin();
}

/// Whether a read of what `writer` computes is of a point before that of
/// `reader`, or of the same one if it `isThere` already, or at data.
static bool isBefore(const poly::ComputeAccess &read, Member reader,
                     Member writer, bool isThere, unsigned numParams) {
  std::optional<unsigned> point = findPoint(writer);
  if (!point)
    return false;
  AffineExpr index = read.map.getResult(*point);
  auto isData = [&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    return symbol && symbol.getPosition() >= numParams ? WalkResult::interrupt()
                                                       : WalkResult::advance();
  };
  if (index.walk(isData).wasInterrupted())
    return true;
  AffineExpr distance = simplifyAffineExpr(
      index - getAffineDimExpr(reader.dim, read.map.getContext()),
      read.map.getNumDims(), read.map.getNumSymbols());
  auto known = dyn_cast<AffineConstantExpr>(distance);
  return known && known.getValue() < (isThere ? 1 : 0);
}

LogicalResult KernelReader::checkTogether() {
  if (!fusionGroup.runsTogether)
    return success();
  int64_t shared = fusionGroup.sharedDims;
  auto computes = kernel.getComputes();
  for (poly::ComputeOp compute : llvm::drop_begin(computes))
    if (compute.getInterleaved() != shared)
      return reject(compute, "expects computations that run together in " +
                                 Twine(shared) +
                                 " dimensions, as poly.shared_dims says");
  llvm::DenseSet<ArrayId> written;
  for (unsigned number : fusionGroup.statements)
    written.insert(program.statements[number].target);
  for (unsigned number : fusionGroup.statements) {
    const Statement &statement = program.statements[number];
    bool isOfIteration = program.countPoints(statement) >= shared;
    forEachAccess(statement, [&](Expr access) {
      isOfIteration &= !written.contains(access.getTensor().number) ||
                       countIdentityIndices(program, access) >= shared;
    });
    if (!isOfIteration)
      return reject(kernel, "expects each iteration of what runs together to "
                            "read only what it computes itself");
  }
  return success();
}

LogicalResult KernelReader::checkRecurrence() {
  SmallVector<Member> members;
  poly::ComputeOp last; // The computation before.
  for (poly::ComputeOp compute : kernel.getComputes()) {
    auto dim = compute->getAttrOfType<IntegerAttr>(kRecurrenceAttr);
    if (dim) {
      unsigned outer =
          hasLevels(compute, dim.getInt(), kernel.getNumParameters()) ? 1 : 0;
      Member member{compute, unsigned(dim.getInt()) + outer};
      int64_t shared = outer ? 1 : dim.getInt() + 1;
      if (!members.empty() &&
          (members.back().compute != last || members.back().dim != member.dim ||
           compute.getInterleaved() != shared))
        return reject(compute, "expects the computations of a recurrence to "
                               "run together along poly.recurrence");
      members.push_back(member);
    }
    last = compute;
  }
  for (auto [number, reader] : llvm::enumerate(members))
    for (const poly::ComputeAccess &read : reader.compute.getReadAccesses())
      for (auto [other, writer] : llvm::enumerate(members)) {
        poly::ComputeAccess write = writer.compute.getWriteAccesses().front();
        // Of its own element, or of one that is there at the same point.
        bool isOwn = other == number && read.map == write.map;
        if (read.array == write.array && !isOwn &&
            !isBefore(read, reader, writer, other < number,
                      kernel.getNumParameters()))
          return reject(
              reader.compute,
              "expects poly.recurrence to be a dimension along which it reads "
              "what was computed before, but it reads what @" +
                  writer.compute.getSymName() + " computes at " +
                  debugString(read.map));
      }
  return success();
}
