//===- RecognizeOperators.cpp - Instances that are rules' operators -------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/Search/GraphOperators.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

/// Without padding it does not matter whether an average counts it.
static DictionaryAttr countPadding(const OperatorInstance &instance) {
  auto low = instance.attributes.getAs<DenseI64ArrayAttr>("pads_low");
  auto high = instance.attributes.getAs<DenseI64ArrayAttr>("pads_high");
  auto isZero = [](int64_t pad) { return pad == 0; };
  if (!instance.attributes.contains("count_include_pad") || !low || !high ||
      !llvm::all_of(low.asArrayRef(), isZero) ||
      !llvm::all_of(high.asArrayRef(), isZero))
    return instance.attributes;
  NamedAttrList attributes(instance.attributes);
  Builder builder(instance.attributes.getContext());
  attributes.set("count_include_pad", builder.getBoolAttr(true));
  return attributes.getDictionary(builder.getContext());
}

bool espalier::substitution::isOperator(const OperatorInstance &instance,
                                        OpKind kind, ArrayRef<Param> params) {
  if (instance.name != getGraphName(kind) || hasLayouts(instance))
    return false;
  Choices choices;
  choices.type = instance.result;
  auto operands = llvm::to_vector(instance.operands);
  if (getInfo(kind).has(kAttributeLast)) {
    for (NamedAttribute attribute : instance.attributes)
      if (auto number = dyn_cast<FloatAttr>(attribute.getValue()))
        choices.number = number;
    operands.push_back(
        RankedTensorType::get({}, instance.result.getElementType()));
  }
  if (!getInfo(kind).takes(operands.size()))
    return false;
  if (getInfo(kind).has(kCut)) {
    std::optional<int64_t> cut = getCut(instance, params);
    if (!cut)
      return false;
    choices.cut = *cut;
  }
  std::optional<OperatorInstance> made = makeOperator(
      kind, params, operands, choices, instance.attributes.getContext());
  return made && made->attributes == countPadding(instance);
}

std::optional<int64_t>
espalier::substitution::getCut(const OperatorInstance &instance,
                               ArrayRef<Param> params) {
  std::optional<AxisSlice> slice = getAxisSlice(instance);
  if (!slice || slice->axis != params[0].first)
    return std::nullopt;
  if (params[1].first == 0)
    return slice->offset == 0 ? std::optional(slice->size) : std::nullopt;
  int64_t whole = instance.operands[0].getDimSize(slice->axis);
  if (whole == ShapedType::kDynamic || slice->offset + slice->size != whole)
    return std::nullopt;
  return slice->offset;
}
