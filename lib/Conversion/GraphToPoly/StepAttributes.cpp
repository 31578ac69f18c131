//===- StepAttributes.cpp - What steps have decided, as attributes --------===//

#include "StepAttributes.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Builders.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;

/// The extent of the memory along an index of an array, or its quotient or
/// remainder, without padding.
static AffineExpr getStoredExtent(AffineExpr index,
                                  ArrayRef<AffineExpr> extents) {
  if (auto dim = dyn_cast<AffineDimExpr>(index))
    return extents[dim.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(index);
  AffineExpr width = binary.getRHS();
  if (index.getKind() == AffineExprKind::Mod)
    return width;
  unsigned dim = cast<AffineDimExpr>(binary.getLHS()).getPosition();
  return extents[dim].ceilDiv(width);
}

DictionaryAttr
espalier::graphtopoly::takeAttributes(const StatementList &program,
                                      Array &array) {
  Builder builder(program.context);
  NamedAttrList facts;
  if (array.layout) {
    facts.set(kLayoutAttr, AffineMapAttr::get(array.layout));
    SmallVector<int64_t> padding;
    for (auto [index, stored] :
         llvm::zip_equal(array.layout.getResults(), array.storedExtents)) {
      AffineExpr extent = getStoredExtent(index, array.extents);
      auto rest = cast<AffineConstantExpr>(program.simplify(stored - extent));
      padding.push_back(rest.getValue());
    }
    if (llvm::any_of(padding, [](int64_t number) { return number != 0; }))
      facts.set(kPaddingAttr, builder.getDenseI64ArrayAttr(padding));
  }
  if (!array.order.empty())
    facts.set(kOrderAttr, builder.getDenseI64ArrayAttr(
                              llvm::to_vector_of<int64_t>(array.order)));
  if (array.fusion)
    facts.set(kFusionAttr,
              builder.getStringAttr(poly::stringifyFusion(*array.fusion)));
  array.layout = {};
  array.storedExtents.clear();
  return facts.getDictionary(program.context);
}

void espalier::graphtopoly::setAttributes(poly::ComputeOp compute,
                                          const Statement &statement) {
  Builder builder(compute.getContext());
  if (statement.recurrence)
    compute->setAttr(kRecurrenceAttr,
                     builder.getI64IntegerAttr(*statement.recurrence));
  if (statement.keepsRowMajor)
    compute->setAttr(kKeepsRowMajorAttr, builder.getUnitAttr());
  if (statement.format)
    compute->setAttr(poly::kEntriesAttr,
                     builder.getStringAttr(statement.format->str()));
  if (statement.algorithm)
    compute->setAttr(
        kAlgorithmAttr,
        builder.getStringAttr(poly::stringifyAlgorithm(*statement.algorithm)));
}

void espalier::graphtopoly::setAttributes(poly::KernelOp kernel,
                                          const FusionGroup &fusionGroup) {
  kernel->setAttr(
      kSharedDimsAttr,
      Builder(kernel.getContext()).getI64IntegerAttr(fusionGroup.sharedDims));
}

/// Reads an attribute that has no value; returns what is wrong with it.
static std::string readFlag(Operation *op, StringRef name, bool &flag) {
  Attribute attr = op->getAttr(name);
  flag = bool(attr);
  if (!attr || isa<UnitAttr>(attr))
    return "";
  return (name + " without a value, but got " + debugString(attr)).str();
}

std::string espalier::graphtopoly::readNumber(Operation *op, StringRef name,
                                              std::optional<int64_t> &number) {
  Attribute attr = op->getAttr(name);
  auto integer = dyn_cast_or_null<IntegerAttr>(attr);
  if (attr && (!integer || !integer.getType().isSignlessInteger(64)))
    return (name + " to be a 64-bit integer, but got " + debugString(attr))
        .str();
  if (integer)
    number = integer.getInt();
  return "";
}

static std::string readLayout(DictionaryAttr facts, Array &array) {
  Attribute layout = facts.get(kLayoutAttr), padding = facts.get(kPaddingAttr);
  if (!layout)
    return padding ? "poly.padding beside poly.layout" : "";
  auto map = dyn_cast<AffineMapAttr>(layout);
  if (!map)
    return "poly.layout to map the indices of the array";
  array.layout = map.getValue();
  SmallVector<int64_t> shape;
  for (AffineExpr extent : array.extents) {
    auto known = dyn_cast<AffineConstantExpr>(extent);
    shape.push_back(known ? known.getValue() : ShapedType::kDynamic);
  }
  if (std::string fault = poly::checkLayout(array.layout, shape);
      !fault.empty())
    return "poly.layout " + fault;
  for (AffineExpr index : array.layout.getResults())
    array.storedExtents.push_back(getStoredExtent(index, array.extents));
  if (!padding)
    return "";
  auto numbers = dyn_cast<DenseI64ArrayAttr>(padding);
  if (!numbers || numbers.size() != int64_t(array.storedExtents.size()) ||
      llvm::any_of(numbers.asArrayRef(), [](int64_t number) {
        return number < 0 || number > poly::kMaxIndexNumber;
      }))
    return "poly.padding to have a number from 0 to 2^31 for each index of the "
           "memory";
  for (auto [extent, number] :
       llvm::zip_equal(array.storedExtents, numbers.asArrayRef()))
    extent = extent + number;
  return "";
}

static std::string readFusion(DictionaryAttr facts, Array &array) {
  Attribute fusion = facts.get(kFusionAttr);
  if (auto name = dyn_cast_or_null<StringAttr>(fusion))
    array.fusion = poly::symbolizeFusion(name.getValue());
  if (!fusion || array.fusion)
    return "";
  return "poly.fusion to be \"separate\" or \"fused\", but got " +
         debugString(fusion);
}

std::string espalier::graphtopoly::readAttributes(DictionaryAttr facts,
                                                  Array &array) {
  std::string fault = readLayout(facts, array);
  if (fault.empty())
    fault = readFusion(facts, array);
  Attribute order = facts.get(kOrderAttr);
  if (!fault.empty() || !order)
    return fault;
  auto numbers = dyn_cast<DenseI64ArrayAttr>(order);
  if (!numbers || numbers.size() != int64_t(array.extents.size()) ||
      !isPermutationVector(numbers.asArrayRef()))
    return "poly.order to be the array's indices in some order";
  array.order = llvm::to_vector_of<unsigned>(numbers.asArrayRef());
  return "";
}

std::string espalier::graphtopoly::readAttributes(poly::ComputeOp compute,
                                                  Statement &statement) {
  std::string fault =
      readFlag(compute, kKeepsRowMajorAttr, statement.keepsRowMajor);
  if (!fault.empty())
    return fault;
  if (fault = poly::readEntryFormat(compute->getAttr(poly::kEntriesAttr),
                                    statement.format);
      !fault.empty())
    return "poly.entries to be " + fault;
  Attribute algorithm = compute->getAttr(kAlgorithmAttr);
  if (auto name = dyn_cast_or_null<StringAttr>(algorithm))
    statement.algorithm = poly::symbolizeAlgorithm(name.getValue());
  if (algorithm && !statement.algorithm)
    return "poly.algorithm to be \"direct\" or \"winograd\"";
  return "";
}
