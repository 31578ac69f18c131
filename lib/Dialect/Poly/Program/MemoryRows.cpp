//===- MemoryRows.cpp - Rows of what a program's buffers view -------------===//

#include "MemoryRows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace espalier::poly;

void SizeProduct::multiply(OpFoldResult factor) {
  if (std::optional<int64_t> constant = getConstantIntValue(factor)) {
    number *= *constant;
    return;
  }
  auto value = cast<Value>(factor);
  if (auto product = value.getDefiningOp<arith::MulIOp>()) {
    multiply(product.getLhs());
    multiply(product.getRhs());
    return;
  }
  sizes.push_back(value);
  llvm::sort(sizes, [](Value lhs, Value rhs) {
    return lhs.getAsOpaquePointer() < rhs.getAsOpaquePointer();
  });
}

/// The extent of a dimension of an argument, if somebody asks for it.
static OpFoldResult findExtent(Value memory, int64_t dim) {
  for (Operation *user : memory.getUsers())
    if (auto op = dyn_cast<memref::DimOp>(user))
      if (op.getSource() == memory && op.getConstantIndex() == dim)
        return op.getResult();
  return {};
}

/// The extents of memory that no view makes; a null one is not known.
static SmallVector<OpFoldResult> getExtents(Value memory) {
  auto type = cast<MemRefType>(memory.getType());
  auto alloc = memory.getDefiningOp<memref::AllocOp>();
  SmallVector<OpFoldResult> extents;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      extents.push_back(IntegerAttr::get(IndexType::get(type.getContext()),
                                         type.getDimSize(dim)));
    else if (alloc)
      extents.push_back(alloc.getDynamicSizes()[type.getDynamicDimIndex(dim)]);
    else
      extents.push_back(findExtent(memory, dim));
  }
  return extents;
}

/// The product of all `extents` but the first; nothing if one is not known.
static std::optional<SizeProduct> getRow(ArrayRef<OpFoldResult> extents) {
  SizeProduct row;
  if (extents.empty())
    return std::nullopt;
  for (OpFoldResult extent : extents.drop_front()) {
    if (!extent)
      return std::nullopt;
    row.multiply(extent);
  }
  return row;
}

/// The row of a cast to other extents, if its elements lie in order.
static std::optional<SizeProduct> getRow(memref::ReinterpretCastOp cast) {
  SmallVector<OpFoldResult> extents = cast.getMixedSizes();
  SmallVector<OpFoldResult> strides = cast.getMixedStrides();
  if (getConstantIntValue(cast.getMixedOffsets().front()) != 0)
    return std::nullopt;
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    SizeProduct stride;
    stride.multiply(strides[dim]);
    if (getRow(ArrayRef(extents).drop_front(dim)) != stride)
      return std::nullopt;
  }
  return getRow(extents);
}

/// The row of a view of something with elements in order, whose row is given.
static std::optional<SizeProduct> getRow(Operation *view,
                                         std::optional<SizeProduct> row) {
  // Of other extents of the same elements.
  auto getStatic = [&](Value result) -> std::optional<SizeProduct> {
    SizeProduct known;
    auto type = cast<MemRefType>(result.getType());
    if (type.getRank() == 0 ||
        ShapedType::isDynamicShape(type.getShape().drop_front()))
      return std::nullopt;
    for (int64_t extent : type.getShape().drop_front())
      known.number *= extent;
    return known;
  };
  if (isa<memref::CastOp>(view))
    return row;
  if (auto cast = dyn_cast<memref::ReinterpretCastOp>(view))
    return getRow(cast);
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(view))
    return collapse.getReassociationIndices().front().size() == 1
               ? row
               : getStatic(collapse.getResult());
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(view))
    return expand.getReassociationIndices().front().size() == 1
               ? row
               : getStatic(expand.getResult());
  return std::nullopt;
}

MemoryRows espalier::poly::getMemoryRows(Value buffer) {
  auto view = buffer.getDefiningOp<ViewLikeOpInterface>();
  if (!view) {
    auto type = dyn_cast<MemRefType>(buffer.getType());
    if (!type || !type.getLayout().isIdentity() || type.getMemorySpace())
      return {buffer, std::nullopt};
    return {buffer, getRow(getExtents(buffer))};
  }
  MemoryRows source = getMemoryRows(view.getViewSource());
  if (source.row)
    source.row = getRow(view, source.row);
  return source;
}

bool espalier::poly::isOwnMemory(Value memory) {
  if (auto argument = dyn_cast<BlockArgument>(memory))
    return isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return isa<memref::AllocOp, memref::GetGlobalOp>(memory.getDefiningOp());
}
