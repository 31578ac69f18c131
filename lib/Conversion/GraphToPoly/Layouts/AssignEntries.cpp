//===- AssignEntries.cpp - Layouts of sums over entries -------------------===//

#include "LayoutAssigner.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// The place of `dim` among the indices of `access`, where neighbours along it
/// are neighbours in the array; nothing if it is in none, or in several.
static std::optional<unsigned> findPlace(const StatementList &program,
                                         Expr access, unsigned dim) {
  AffineExpr self = getAffineDimExpr(dim, program.context);
  std::optional<unsigned> found;
  for (auto [place, index] : llvm::enumerate(access.getOperands())) {
    if (!llvm::is_contained(getDims(index), dim))
      continue;
    std::optional<AffineExpr> affine = program.affine(index, [&](Expr) {
      return getAffineSymbolExpr(program.symbols.size(), program.context);
    });
    if (found || !affine ||
        program.simplify(affine->replace(self, self + 1) - *affine) !=
            getAffineConstantExpr(1, program.context))
      return std::nullopt;
    found = place;
  }
  return found;
}

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
  if (program.arrays[number].rowMajor && !llvm::is_sorted(order)) {
    // Rows of the caller would be stored element by element.
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

/// Sums of fewer entries take less time than to bring their operand and their
/// result into another order.
static constexpr int64_t kMinEntriesToMove = 24;

/// How many results each row of entries has; many if that is not known.
static int64_t countPointsOfRow(const StatementList &program,
                                const Statement &statement) {
  int64_t points = 1;
  for (unsigned dim = 0; dim < program.getRank(statement.target); ++dim) {
    auto extent = dyn_cast<AffineConstantExpr>(statement.extents[dim]);
    if (!statement.entries->row.isFunctionOfDim(dim))
      points = llvm::SaturatingMultiply<uint64_t>(
          points, extent ? std::max<int64_t>(extent.getValue(), 0) : INT64_MAX);
  }
  return points;
}

/// Whether sums over entries are long enough for lanes along another dimension
/// than the operand has innermost.
static bool isWorthMoving(const StatementList &program,
                          const Statement &statement) {
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
  // Few points of each row: rows are lanes (`poly-group-entries`).
  if (countPointsOfRow(program, statement) < lanes)
    return assignOther(statement);
  unsigned rank = program.getRank(statement.target);
  SmallVector<Expr> operands;
  for (const Piece &piece : statement.pieces)
    walk(piece.value, [&](Expr e) {
      if (e.getKind() == Expr::Kind::Access && !e.getType().isIntOrIndex())
        operands.push_back(e);
    });
  std::optional<unsigned> best;
  double bestShare = 0;
  for (unsigned dim = 0; dim < rank; ++dim) {
    auto extent = dyn_cast<AffineConstantExpr>(statement.extents[dim]);
    if (statement.entries->row.isFunctionOfDim(dim) ||
        (extent && extent.getValue() <= 1))
      continue;
    bool isPlain = true, isInPlace = true;
    bool isWhole = extent && extent.getValue() % lanes == 0;
    for (Expr operand : operands) {
      if (!llvm::is_contained(getDims(operand), dim))
        continue;
      std::optional<unsigned> place = findPlace(program, operand, dim);
      isPlain &= place.has_value();
      isInPlace &= place && isInRows(operand.getTensor().number, *place);
      isWhole &= place &&
                 operand.getOperands()[*place].getKind() ==
                     Expr::Kind::Variable &&
                 program.arrays[operand.getTensor().number].extents[*place] ==
                     statement.extents[dim];
    }
    if (!isPlain)
      continue;
    double share = 1; // Of the lanes that are used.
    if (extent)
      share = static_cast<double>(extent.getValue()) /
              static_cast<double>(llvm::alignTo(extent.getValue(), lanes));
    if (isInPlace && share >= 0.5)
      share += 1;
    if (isWhole && isWorthMoving(program, statement))
      share += 1;
    if (share >= bestShare) {
      best = dim;
      bestShare = share;
    }
  }
  if (!best)
    return assignOther(statement);
  auto getOrderWithLast = [](unsigned numDims, unsigned last) {
    SmallVector<unsigned> order;
    for (unsigned dim = 0; dim < numDims; ++dim)
      if (dim != last)
        order.push_back(dim);
    order.push_back(last);
    return order;
  };
  if (!program.arrays[statement.target].isLayoutGiven)
    followEntries(statement, getOrderWithLast(rank, *best));
  for (Expr operand : operands) {
    ArrayId source = operand.getTensor().number;
    std::optional<unsigned> place = findPlace(program, operand, *best);
    if (!place || isInRows(source, *place) ||
        program.arrays[source].isLayoutGiven)
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
