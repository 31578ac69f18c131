//===- AssignEntries.cpp - Layouts of sums over entries -------------------===//

#include "LayoutAssigner.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

const LaneOrder *
LayoutAssigner::findEntryOrder(const Statement &statement) const {
  const LaneOrder *order = nullptr;
  const Array &target = program.arrays[statement.target];
  if (statement.reduction || statement.recurrence || target.layout)
    return nullptr;
  forEachAccess(statement, [&](Expr access) {
    auto known = entryOrders.find(access.getTensor().number);
    if (known != entryOrders.end() &&
        program.arrays[known->first].extents == target.extents &&
        countIdentityIndices(program, access) == target.extents.size())
      order = &known->second;
  });
  return order;
}

AffineMap LayoutAssigner::getLaneLayout(
    const Array &array, const LaneOrder &lanes,
    SmallVectorImpl<AffineExpr> &storedExtents) const {
  SmallVector<AffineExpr> results;
  for (unsigned dim : lanes.order) {
    results.push_back(getAffineDimExpr(dim, program.context));
    storedExtents.push_back(array.extents[dim]);
  }
  auto extent = dyn_cast<AffineConstantExpr>(storedExtents.back());
  if (lanes.width && !(extent && extent.getValue() <= lanes.width)) {
    AffineExpr index = results.pop_back_val(), size = storedExtents.back();
    results.insert(results.begin(), index.floorDiv(lanes.width));
    results.push_back(index % lanes.width);
    storedExtents.insert(storedExtents.begin(), size.ceilDiv(lanes.width));
    storedExtents.back() = getAffineConstantExpr(lanes.width, program.context);
  }
  return AffineMap::get(array.extents.size(), 0, results, program.context);
}

void LayoutAssigner::followEntries(Statement &statement,
                                   const LaneOrder &lanes) {
  ArrayId number = statement.target;
  SmallVector<AffineExpr> storedExtents;
  AffineMap layout =
      getLaneLayout(program.arrays[number], lanes, storedExtents);
  if ((program.arrays[number].rowMajor && !layout.isIdentity()) ||
      isReadInSteps(number, lanes.order.back())) {
    // Rows of the caller, and those of a step of a recurrence, would be stored
    // element by element.
    Array own = program.arrays[number];
    own.rowMajor = false;
    own.fusion.reset();
    own.outputs.clear();
    program.arrays[number].order =
        llvm::to_vector(llvm::seq<unsigned>(0, lanes.order.size()));
    copied = number;
    statement.target = number = program.addArray(std::move(own));
  }
  if (Array &array = program.arrays[number]; !layout.isIdentity()) {
    array.layout = layout;
    array.storedExtents = std::move(storedExtents);
  }
  entryOrders[number] = lanes;
}

/// Vectors of a register tile, which lie together: rows of entries read a few
/// lines here and there, which would fall into few sets of the cache if they
/// were as far apart as the operand is wide.
static constexpr int64_t kTileVectors = 4;

/// Sums of fewer entries take less time than to bring their operand and their
/// result into another order.
static constexpr int64_t kMinEntriesToMove = 24;

/// Whether neighbours along index `place` of `array` are neighbours in memory.
static bool liesAlong(const Array &array, unsigned place) {
  return array.layout ? array.layout.getResults().back().isFunctionOfDim(place)
                      : place + 1 == array.extents.size();
}

/// Whether sums over entries are long enough for lanes along another dimension
/// than the operand has innermost, and the operand stays in cache: each row
/// passes all of it, and not one image after the other.
static bool isWorthMoving(const StatementList &program,
                          const Statement &statement, const Array &operand) {
  int64_t bytes = operand.elementType.getIntOrFloatBitWidth() / 8;
  for (AffineExpr extent : operand.extents) {
    auto number = dyn_cast<AffineConstantExpr>(extent);
    if (!number || number.getValue() > program.cacheBytes)
      return false;
    bytes = llvm::SaturatingMultiply<uint64_t>(bytes, number.getValue());
  }
  if (bytes > program.cacheBytes)
    return false;
  auto entries = dyn_cast<AffineConstantExpr>(statement.extents.back());
  auto starts = dyn_cast<AffineConstantExpr>(
      program.arrays[statement.entries->starts].extents.front());
  return entries && starts &&
         entries.getValue() >= kMinEntriesToMove * (starts.getValue() - 1);
}

/// The lanes of a sum over entries lie along a dimension that does not say
/// which entries these are: the dense operand and the result have it innermost.
/// One along which whole vectors are read, each in a line of its own, is best;
/// else one along which the operand lies already, unless it leaves most lanes
/// empty.
void LayoutAssigner::assignEntries(Statement &statement) {
  int64_t lanes = program.vectorLanes;
  unsigned rank = program.getRank(statement.target);
  SmallVector<Expr> operands;
  for (const Piece &piece : statement.pieces)
    walk(piece.value, [&](Expr e) {
      if (e.getKind() == Expr::Kind::Access && !e.getType().isIntOrIndex())
        operands.push_back(e);
    });
  std::optional<unsigned> best;
  double bestShare = 0;
  auto known = aligned.find(statement.target);
  auto reader = wanted.find(statement.target);
  bool hasPanels = false;
  for (unsigned dim = 0; dim < rank; ++dim) {
    auto extent = dyn_cast<AffineConstantExpr>(statement.extents[dim]);
    if (statement.entries->row.isFunctionOfDim(dim) ||
        (statement.recurrence &&
         (known == aligned.end() || known->second != dim)) ||
        (extent && extent.getValue() <= 1))
      continue;
    bool isPlain = true, isInPlace = true, isWithoutWindow = true;
    bool isPanel = false;
    bool isWhole = extent && extent.getValue() % lanes == 0;
    for (Expr operand : operands) {
      if (!llvm::is_contained(getDims(operand), dim))
        continue;
      std::optional<unsigned> place = findPlace(operand, dim);
      isPlain &= place.has_value();
      const Array &source = program.arrays[operand.getTensor().number];
      isInPlace &= place && liesAlong(source, *place);
      isPanel |= source.layout && !source.layout.isPermutation();
      isWithoutWindow &= place && operand.getOperands()[*place].getKind() ==
                                      Expr::Kind::Variable;
      isWhole &= isWithoutWindow &&
                 source.extents[*place] == statement.extents[dim] &&
                 isWorthMoving(program, statement, source);
    }
    if (!isPlain)
      continue;
    double share = 1; // Of the lanes that are used.
    if (extent)
      share = static_cast<double>(extent.getValue()) /
              static_cast<double>(llvm::alignTo(extent.getValue(), lanes));
    if (isInPlace && share >= 0.5)
      share += 1;
    if (reader != wanted.end() && reader->second == dim && share >= 0.5)
      share += 2;
    if (isWhole)
      share += 1;
    if (share >= bestShare) {
      best = dim;
      bestShare = share;
      hasPanels = isWithoutWindow && (isPanel || !isInPlace);
    }
  }
  // Without lanes, what a step of a recurrence computes stays side by side.
  if (!best)
    return statement.recurrence ? void() : assignOther(statement);
  auto getLanes = [&](unsigned numDims, unsigned last) {
    LaneOrder lanes{getOrderWithLast(numDims, last)};
    lanes.width = hasPanels ? kTileVectors * program.vectorLanes : 0;
    return lanes;
  };
  if (!program.arrays[statement.target].isLayoutGiven && !statement.recurrence)
    followEntries(statement, getLanes(rank, *best));
  for (Expr operand : operands) {
    ArrayId source = operand.getTensor().number;
    std::optional<unsigned> place = findPlace(operand, *best);
    if (!place || liesAlong(program.arrays[source], *place) ||
        program.arrays[source].isLayoutGiven ||
        (statement.recurrence && !isThereBefore(statement, operand)))
      continue;
    SmallVector<AffineExpr> extents;
    AffineMap layout =
        getLaneLayout(program.arrays[source],
                      getLanes(program.getRank(source), *place), extents);
    storeAs(statement, source, layout, extents);
  }
}
