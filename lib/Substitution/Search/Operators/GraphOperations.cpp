//===- GraphOperations.cpp - Operations as instances of operators ---------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/Search/GraphOperators.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

static constexpr int64_t kDynamic = ShapedType::kDynamic;
/// Says how many operands of a slice are offsets and how many sizes.
static constexpr llvm::StringLiteral kSegments = "operandSegmentSizes";

RankedTensorType espalier::substitution::withLayout(RankedTensorType type,
                                                    DenseI64ArrayAttr order) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), order);
}

DenseI64ArrayAttr espalier::substitution::getLayout(RankedTensorType type) {
  return dyn_cast_or_null<DenseI64ArrayAttr>(type.getEncoding());
}

bool espalier::substitution::hasLayouts(const OperatorInstance &instance) {
  return getLayout(instance.result) ||
         llvm::any_of(instance.operands, getLayout);
}

DictionaryAttr
espalier::substitution::completeAttributes(StringRef name,
                                           DictionaryAttr attributes) {
  NamedAttrList list(attributes);
  Builder builder(attributes.getContext());
  auto setDefault = [&](StringRef attribute, Attribute value) {
    if (!list.get(attribute))
      list.set(attribute, value);
  };
  list.erase(kSegments);
  if (name == graph::ConvOp::getOperationName())
    setDefault("groups", builder.getI64IntegerAttr(1));
  if (name == graph::ConvOp::getOperationName() ||
      name == graph::MatmulOp::getOperationName())
    setDefault("activation",
               graph::ActivationAttr::get(builder.getContext(),
                                          graph::Activation::None));
  if (name == graph::AvgPoolOp::getOperationName())
    setDefault("count_include_pad", builder.getBoolAttr(false));
  if (name == graph::AvgPoolOp::getOperationName() ||
      name == graph::MaxPoolOp::getOperationName())
    setDefault("ceil_mode", builder.getBoolAttr(false));
  if (name.starts_with("graph.reduce_"))
    setDefault("keepdims", builder.getBoolAttr(false));
  return list.getDictionary(builder.getContext());
}

//===----------------------------------------------------------------------===//
// Slices
//===----------------------------------------------------------------------===//

OperatorInstance espalier::substitution::makeSlice(RankedTensorType operand,
                                                   unsigned axis,
                                                   int64_t offset,
                                                   int64_t size) {
  Builder builder(operand.getContext());
  SmallVector<int64_t> offsets(operand.getRank(), 0),
      steps(operand.getRank(), 1);
  SmallVector<int64_t> sizes(operand.getShape());
  offsets[axis] = offset;
  sizes[axis] = size;
  OperatorInstance slice;
  slice.name = graph::SliceOp::getOperationName();
  slice.attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr("static_offsets",
                            builder.getDenseI64ArrayAttr(offsets)),
       builder.getNamedAttr("static_sizes",
                            builder.getDenseI64ArrayAttr(sizes)),
       builder.getNamedAttr("steps", builder.getDenseI64ArrayAttr(steps))});
  slice.operands = {operand};
  slice.result = RankedTensorType::get(sizes, operand.getElementType());
  return slice;
}

std::optional<AxisSlice>
espalier::substitution::getAxisSlice(const OperatorInstance &instance) {
  if (instance.name != graph::SliceOp::getOperationName() ||
      instance.attributes.size() != 3)
    return std::nullopt;
  auto get = [&](StringRef name) {
    return instance.attributes.getAs<DenseI64ArrayAttr>(name).asArrayRef();
  };
  ArrayRef<int64_t> offsets = get("static_offsets");
  ArrayRef<int64_t> sizes = get("static_sizes"), steps = get("steps");
  ArrayRef<int64_t> whole = instance.operands[0].getShape();
  std::optional<AxisSlice> result;
  for (unsigned dim = 0; dim < whole.size(); ++dim) {
    if (steps[dim] != 1)
      return std::nullopt;
    if (offsets[dim] == 0 && sizes[dim] == whole[dim])
      continue;
    if (result || offsets[dim] == kDynamic || sizes[dim] == kDynamic ||
        sizes[dim] == 0)
      return std::nullopt;
    result = AxisSlice{dim, offsets[dim], sizes[dim]};
  }
  return result;
}

/// Whether the dynamic sizes of a slice are extents of its operand.
static bool hasOwnSizes(graph::SliceOp slice) {
  if (!slice.getOffsets().empty())
    return false;
  auto size = slice.getSizes().begin();
  for (auto [dim, extent] : llvm::enumerate(slice.getStaticSizes())) {
    if (extent != kDynamic)
      continue;
    auto dimOp = (*size++).getDefiningOp<tensor::DimOp>();
    if (!dimOp || dimOp.getSource() != slice.getX() ||
        dimOp.getConstantIndex() != static_cast<int64_t>(dim) ||
        !slice.getX().getType().isDynamicDim(dim))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

std::optional<OperatorInstance>
espalier::substitution::getInstance(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() != 0 ||
      !isa_and_nonnull<graph::GraphDialect>(op->getDialect()))
    return std::nullopt;
  OperatorInstance instance;
  instance.name = op->getName().getStringRef();
  instance.result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!instance.result)
    return std::nullopt;
  auto slice = dyn_cast<graph::SliceOp>(op);
  if (slice && !hasOwnSizes(slice))
    return std::nullopt;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (type)
      instance.operands.push_back(type);
    else if (!slice)
      return std::nullopt;
  }
  instance.attributes =
      completeAttributes(instance.name, op->getAttrDictionary());
  return instance;
}

/// Gives a vector the extents of 1 with which it repeats along all dimensions
/// but one.
static Value expandVector(OpBuilder &builder, Location loc,
                          const OperatorInstance &instance, Value vector) {
  unsigned axis = instance.attributes.getAs<IntegerAttr>("axis").getInt();
  auto type = cast<RankedTensorType>(vector.getType());
  SmallVector<int64_t> sizes(instance.result.getRank() - axis, 1);
  sizes[0] = type.getDimSize(0);
  if (sizes.size() == 1)
    return vector;
  SmallVector<Value> dynamic;
  if (sizes[0] == kDynamic)
    dynamic.push_back(tensor::DimOp::create(builder, loc, vector, 0));
  return graph::ReshapeOp::create(
      builder, loc, RankedTensorType::get(sizes, type.getElementType()), vector,
      dynamic, sizes);
}

Value espalier::substitution::createOperation(OpBuilder &builder, Location loc,
                                              const OperatorInstance &instance,
                                              ValueRange operands) {
  if (instance.name == kInRows)
    return operands[0];
  if (instance.name == kAddVector || instance.name == kMulVector) {
    Value vector = expandVector(builder, loc, instance, operands[1]);
    if (instance.name == kAddVector)
      return graph::AddOp::create(builder, loc, instance.result, operands[0],
                                  vector);
    return graph::MulOp::create(builder, loc, instance.result, operands[0],
                                vector);
  }
  if (instance.name == kPadZeros) {
    auto zero = DenseElementsAttr::get(
        RankedTensorType::get({}, instance.result.getElementType()),
        builder.getFloatAttr(instance.result.getElementType(), 0));
    Value value = graph::ConstantOp::create(builder, loc, zero);
    auto get = [&](StringRef name) {
      return instance.attributes.getAs<DenseI64ArrayAttr>(name).asArrayRef();
    };
    return graph::PadOp::create(builder, loc, instance.result, operands[0],
                                value, get("low"), get("high"));
  }
  OperationState state(loc, instance.name);
  state.addOperands(operands);
  state.addTypes(instance.result);
  state.addAttributes(instance.attributes.getValue());
  if (instance.name == graph::SliceOp::getOperationName()) {
    Value source = operands[0];
    auto sizes = instance.attributes.getAs<DenseI64ArrayAttr>("static_sizes")
                     .asArrayRef();
    int32_t numDynamic = 0;
    for (auto [dim, extent] : llvm::enumerate(sizes)) {
      if (extent != kDynamic)
        continue;
      state.addOperands(
          tensor::DimOp::create(builder, loc, source, dim).getResult());
      ++numDynamic;
    }
    state.addAttribute(kSegments,
                       builder.getDenseI32ArrayAttr({1, 0, numDynamic}));
  }
  return builder.create(state)->getResult(0);
}
