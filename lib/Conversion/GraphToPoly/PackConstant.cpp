//===- PackConstant.cpp - Constants under a layout ------------------------===//

#include "PackConstant.h"
#include "Emit/EmitExpr.h"
#include "StatementList.h"
#include "espalier/Conversion/LoopsToProgram/ProgramBuilder.h"
#include "espalier/Interpreter/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstdlib>

using namespace mlir;

namespace {

/// Calls `copy(source, target)` with the linear positions of every element.
template <typename Copy>
void forEachElement(ArrayRef<int64_t> shape, AffineMap layout,
                    ArrayRef<int64_t> storedShape, Copy copy) {
  int64_t numElements = ShapedType::getNumElements(shape);
  if (numElements == 0)
    return;
  // A layout's results are functions of one dimension each, so the target
  // position is a sum of one table entry per dimension.
  SmallVector<int64_t> storedStrides(storedShape.size(), 1);
  for (int64_t i = int64_t(storedShape.size()) - 2; i >= 0; --i)
    storedStrides[i] = storedStrides[i + 1] * storedShape[i + 1];
  unsigned rank = shape.size();
  MLIRContext *context = layout.getContext();
  SmallVector<SmallVector<int64_t>> offsets(rank);
  for (unsigned dim = 0; dim < rank; ++dim) {
    offsets[dim].assign(shape[dim], 0);
    for (auto [result, stride] :
         llvm::zip(layout.getResults(), storedStrides)) {
      if (!result.isFunctionOfDim(dim))
        continue;
      for (int64_t index = 0; index < shape[dim]; ++index) {
        AffineExpr value =
            result.replace(getAffineDimExpr(dim, context),
                           getAffineConstantExpr(index, context));
        offsets[dim][index] +=
            stride * cast<AffineConstantExpr>(value).getValue();
      }
    }
  }
  SmallVector<int64_t> index(rank, 0);
  for (int64_t source = 0; source < numElements; ++source) {
    int64_t target = 0;
    for (unsigned dim = 0; dim < rank; ++dim)
      target += offsets[dim][index[dim]];
    copy(source, target);
    for (unsigned dim = rank; dim-- > 0;) {
      if (++index[dim] < shape[dim])
        break;
      index[dim] = 0;
    }
  }
}

} // namespace

ElementsAttr espalier::graphtopoly::reshapeConstant(ElementsAttr constant,
                                                    RankedTensorType type) {
  if (auto dense = dyn_cast<DenseElementsAttr>(constant))
    return dense.reshape(type);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return {};
}

ElementsAttr espalier::graphtopoly::getWithoutValues(ElementsAttr constant,
                                                     RankedTensorType type) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(constant);
  if (!resource || resource.getRawHandle().getBlob())
    return {};
  return DenseResourceElementsAttr::get(type, resource.getRawHandle());
}

std::optional<AsmResourceBlob>
espalier::graphtopoly::allocateBlob(size_t size) {
  constexpr size_t kAlignment = 64;
  void *memory = interpreter::allocate(size);
  if (!memory)
    return std::nullopt;
  auto release = [](void *data, size_t, size_t) { std::free(data); };
  return AsmResourceBlob(ArrayRef(static_cast<char *>(memory), size),
                         kAlignment, release, /*dataIsMutable=*/true);
}

ElementsAttr
espalier::graphtopoly::packConstant(ElementsAttr constant, AffineMap layout,
                                    ArrayRef<int64_t> storedShape) {
  auto type = cast<RankedTensorType>(constant.getType());
  Type element = type.getElementType();
  Type stored = getStoredType(element);
  unsigned size = stored.isIndex() ? 8 : stored.getIntOrFloatBitWidth() / 8;
  if (!layout)
    layout =
        AffineMap::getMultiDimIdentityMap(type.getRank(), type.getContext());
  auto storedType = RankedTensorType::get(storedShape, stored);
  bool isSame = layout.isIdentity() && storedShape == type.getShape();
  if (ElementsAttr unknown = getWithoutValues(constant, storedType))
    return unknown;

  ArrayRef<char> data;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(constant)) {
    data = resource.getRawHandle().getBlob()->getData();
    if (isSame)
      return DenseResourceElementsAttr::get(storedType,
                                            resource.getRawHandle());
  } else if (auto dense = dyn_cast<DenseElementsAttr>(constant)) {
    if (isSame && !element.isInteger(1))
      return dense.bitcast(stored);
    if (isSame)
      return cast<DenseIntElementsAttr>(dense).mapValues(
          stored, [](const APInt &bit) { return bit.zext(8); });
    if (!dense.isSplat() && !element.isInteger(1))
      data = dense.getRawData();
  }
  auto blob = allocateBlob(storedType.getNumElements() * size);
  if (!blob)
    return {};
  char *target = blob->getMutableData().data();
  std::fill_n(target, blob->getMutableData().size(), 0);
  if (!data.empty()) {
    const char *source = data.data();
    auto copyAs = [&](auto unit) {
      using T = decltype(unit);
      forEachElement(type.getShape(), layout, storedShape,
                     [&](int64_t from, int64_t to) {
                       std::memcpy(target + to * sizeof(T),
                                   source + from * sizeof(T), sizeof(T));
                     });
    };
    switch (size) {
    case 1:
      copyAs(uint8_t());
      break;
    case 2:
      copyAs(uint16_t());
      break;
    case 4:
      copyAs(uint32_t());
      break;
    default:
      copyAs(uint64_t());
      break;
    }
  } else {
    // Splats and booleans, element by element.
    auto write = [&](int64_t to, const APInt &bits) {
      uint64_t raw = bits.getZExtValue();
      std::memcpy(target + to * size, &raw, size);
    };
    if (isa<FloatType>(element)) {
      auto values = constant.value_begin<APFloat>();
      forEachElement(type.getShape(), layout, storedShape,
                     [&](int64_t from, int64_t to) {
                       write(to, (*(values + from)).bitcastToAPInt());
                     });
    } else {
      auto values = constant.value_begin<APInt>();
      forEachElement(
          type.getShape(), layout, storedShape,
          [&](int64_t from, int64_t to) { write(to, *(values + from)); });
    }
  }
  return DenseResourceElementsAttr::get(storedType, "packed", std::move(*blob));
}
