//===- AssignEntries.cpp - Layouts of sums over entries -------------------===//

#include "LayoutAssigner.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

const SmallVector<unsigned> *
LayoutAssigner::findEntryOrder(const Statement &statement) const {
  const SmallVector<unsigned> *order = nullptr;
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

void LayoutAssigner::followEntries(Statement &statement,
                                   ArrayRef<unsigned> order) {
  ArrayId number = statement.target;
  if ((program.arrays[number].rowMajor && !llvm::is_sorted(order)) ||
      isReadInSteps(number, order.back())) {
    // Rows of the caller, and those of a step of a recurrence, would be stored
    // element by element.
    Array own = program.arrays[number];
    own.rowMajor = false;
    own.outputs.clear();
    program.arrays[number].order =
        llvm::to_vector(llvm::seq<unsigned>(0, order.size()));
    copied = number;
    statement.target = number = program.addArray(std::move(own));
  }
  setOrder(program.arrays[number], order);
  entryOrders[number] = llvm::to_vector(order);
}

/// The lanes of a sum over entries lie along a dimension that does not say
/// which entries these are: the dense operand and the result have it innermost.
/// One along which the operand lies already is best, unless it leaves most
/// lanes empty.
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
  for (unsigned dim = 0; dim < rank; ++dim) {
    auto extent = dyn_cast<AffineConstantExpr>(statement.extents[dim]);
    if (statement.entries->row.isFunctionOfDim(dim) ||
        (statement.recurrence &&
         (known == aligned.end() || known->second != dim)) ||
        (extent && extent.getValue() <= 1))
      continue;
    bool isPlain = true, isInPlace = true;
    for (Expr operand : operands) {
      if (!llvm::is_contained(getDims(operand), dim))
        continue;
      std::optional<unsigned> place = findPlace(operand, dim);
      isPlain &= place.has_value();
      isInPlace &= place && isInRows(operand.getTensor().number, *place);
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
    if (share >= bestShare) {
      best = dim;
      bestShare = share;
    }
  }
  // Without lanes, what a step of a recurrence computes stays side by side.
  if (!best)
    return statement.recurrence ? void() : assignOther(statement);
  if (!program.arrays[statement.target].isLayoutGiven && !statement.recurrence)
    followEntries(statement, getOrderWithLast(rank, *best));
  for (Expr operand : operands) {
    ArrayId source = operand.getTensor().number;
    std::optional<unsigned> place = findPlace(operand, *best);
    if (!place || isInRows(source, *place) ||
        program.arrays[source].isLayoutGiven ||
        (statement.recurrence && !isThereBefore(statement, operand)))
      continue;
    Array stored = program.arrays[source];
    SmallVector<unsigned> order =
        getOrderWithLast(program.getRank(source), *place);
    SmallVector<AffineExpr> extents;
    for (unsigned dim : order)
      extents.push_back(stored.extents[dim]);
    storeAs(statement, source,
            AffineMap::getPermutationMap(order, program.context), extents);
  }
}
