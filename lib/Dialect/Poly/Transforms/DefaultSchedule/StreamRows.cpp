//===- StreamRows.cpp - Products of a matrix that is read once ------------===//
//
// The product of a vector and a matrix takes as long as reading the matrix.
// Register tiles would read it column by column, some vectors of each row, and
// use a part of each page at a time. Memory is faster along rows:
//
//   for k in steps of 4:  for j:  y[j] += x[k] * B[k, j] + .. + x[k + 3] *
//                                         B[k + 3, j]
//
// The sums are read and written once for several rows, and stay in the
// first-level cache.
//
//===----------------------------------------------------------------------===//

#include "ComponentScheduler.h"

using namespace mlir;
using namespace espalier::poly;

/// Rows that are read side by side.
static constexpr int64_t kRowsAtOnce = 4;

std::optional<unsigned> ComponentScheduler::findStreamedRows() const {
  if (!reduction || !vectorDim || !isPanelStreamed() ||
      llvm::is_contained(component.sequential, true) || outer.count > 0)
    return std::nullopt;
  const ComputeShape &main = shape(*reduction);
  std::optional<int64_t> width = getSharedExtent(*vectorDim);
  if (main.getNumDims() != numShared + 1 || !width ||
      llvm::any_of(tile.rows, [](int64_t rows) { return rows > 1; }))
    return std::nullopt;
  for (unsigned dim = 0; dim < numShared; ++dim)
    if (isRestricted(dim) || (dim != *vectorDim && getSharedExtent(dim) != 1))
      return std::nullopt;
  // All others are maps of the sums.
  for (unsigned i = 0; i < component.computes.size(); ++i)
    if (i != *reduction && shape(i).getNumDims() != numShared)
      return std::nullopt;
  unsigned term = numShared;
  const ComputeAccess &panel = main.reads[*getPanel(main)];
  int64_t bytes = getBytes(panel.getType().getElementType());
  std::optional<int64_t> step = getStride(panel, term, lanes);
  std::optional<int64_t> extent = main.getExtent(term);
  if (getStride(panel, *vectorDim, lanes) != 1 || !step || !extent ||
      *step == kUnknownStride || *step * bytes < kPageBytes ||
      *extent % kRowsAtOnce != 0 || *width % lanes != 0 ||
      getChunk() * bytes > target.getL1() / 2 ||
      !fitsStack(MemRefType::get(getChunk(), panel.getType().getElementType())))
    return std::nullopt;
  return term;
}

int64_t ComponentScheduler::getChunk() const {
  int64_t parts = isParallelWorthwhile() ? target.getCores() : 1;
  return llvm::alignTo(llvm::divideCeil(*getSharedExtent(*vectorDim), parts),
                       lanes);
}

void ComponentScheduler::emitStreamedRows(unsigned term) {
  int64_t chunk = getChunk();
  // The sums of one chunk, which a thread has for itself.
  tile.rows.assign(numShared, 1);
  tile.vectors = chunk / lanes;
  placeArrays();
  for (unsigned i : component.computes)
    for (const ComputeAccess &write : shapes[i].writes)
      if (auto array = write.array.getDefiningOp<ArrayOp>();
          array && array.getPlacement() == Placement::Register)
        array.setPlacement(Placement::Stack);

  OpBuilder::InsertionGuard guard(builder);
  unsigned numComputes = component.computes.size();
  AffineExpr column = getAffineDimExpr(*vectorDim, context);
  SmallVector<unsigned> all;
  SmallVector<SmallVector<AffineExpr>> chunks(numComputes);
  for (unsigned position = 0; position < numComputes; ++position) {
    all.push_back(position);
    chunks[position].push_back(column.floorDiv(chunk));
  }
  emitBand(all, chunks,
           getLoop(isParallelWorthwhile() ? LoopKind::Parallel
                                          : LoopKind::Sequential));
  SmallVector<Component> parts;
  for (unsigned i : component.computes)
    parts.push_back({{i}, numShared, component.sequential});
  emitSequence(kernel, shapes, parts, builder, [&](const Component &part) {
    unsigned position = llvm::find(component.computes, part.computes.front()) -
                        component.computes.begin();
    AffineExpr row = getAffineDimExpr(term, context);
    Loops loops;
    if (position == *reduction)
      loops.add(row.floorDiv(kRowsAtOnce), getLoop(LoopKind::Sequential));
    loops.add((column % chunk).floorDiv(lanes), getLoop(LoopKind::Sequential));
    if (position == *reduction)
      loops.add(row % kRowsAtOnce, getLoop(LoopKind::Unroll));
    loops.add(column % lanes, LoopAttr::getVector(context, lanes));
    emitBand(position, loops.results, loops.kinds);
  });
}
