//===- GraphOperators.cpp - Rules' operators in the dialect ---------------===//
//
// One direction is written down: what operator of `graph` computes one of the
// text form. Whether an instance is that operator is then a comparison
// (RecognizeOperators.cpp).
//
//===----------------------------------------------------------------------===//

#include "espalier/Substitution/Search/GraphOperators.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

static constexpr int64_t kDynamic = ShapedType::kDynamic;

namespace {
/// The operators that `graph` has not.
struct AddVector {
  static StringRef getOperationName() { return kAddVector; }
};
struct MulVector {
  static StringRef getOperationName() { return kMulVector; }
};
struct PadZeros {
  static StringRef getOperationName() { return kPadZeros; }
};
} // namespace

StringRef espalier::substitution::getGraphName(OpKind kind) {
  switch (kind) {
#define RULE_OPERATOR(id, name, operands, params, traits, rank, semantics,     \
                      graph, instance, ...)                                    \
  case OpKind::id:                                                             \
    return graph::getOperationName();
#include "espalier/Substitution/RuleOperators.def"
  }
  llvm_unreachable("every operator has a row");
}

bool espalier::substitution::isSliceName(StringRef name) {
  return name == graph::SliceOp::getOperationName();
}

//===----------------------------------------------------------------------===//
// Extents
//===----------------------------------------------------------------------===//

/// The better known one of two extents that must be equal; nothing if they are
/// not.
static std::optional<int64_t> agree(int64_t lhs, int64_t rhs) {
  if (lhs != rhs && lhs != kDynamic && rhs != kDynamic)
    return std::nullopt;
  return lhs == kDynamic ? rhs : lhs;
}

static int64_t addExtents(int64_t lhs, int64_t rhs) {
  return lhs == kDynamic || rhs == kDynamic ? kDynamic : lhs + rhs;
}

namespace {
/// One dimension of a window that slides.
struct Slide {
  int64_t low = 0, high = 0;
  int64_t count = kDynamic; ///< How many windows there are.
};
} // namespace

/// Along the rows, or the columns, of an image.
static std::optional<Slide> getSlide(int64_t extent, int64_t kernel,
                                     int64_t stride, Param padding,
                                     bool isColumn) {
  if (kernel == kDynamic)
    return std::nullopt;
  Slide slide;
  if (padding.first != kSame) {
    if (padding.first == kBorder) {
      Border border = Border::get(padding);
      slide.low = isColumn ? border.left : border.top;
      slide.high = isColumn ? border.right : border.bottom;
    }
    if (extent == kDynamic)
      return slide;
    int64_t padded = slide.low + extent + slide.high;
    if (padded < kernel)
      return std::nullopt;
    slide.count = (padded - kernel) / stride + 1;
    return slide;
  }
  int64_t total = kernel - 1;
  if (extent == kDynamic) {
    // The padding depends on the extent, except for single steps.
    if (stride != 1)
      return std::nullopt;
  } else {
    slide.count = (extent + stride - 1) / stride;
    total = std::max<int64_t>(0, (slide.count - 1) * stride + kernel - extent);
  }
  slide.low = total / 2;
  slide.high = total - slide.low;
  return slide;
}

//===----------------------------------------------------------------------===//
// Making operators
//===----------------------------------------------------------------------===//

namespace {
class InstanceBuilder {
public:
  InstanceBuilder(OpKind kind, ArrayRef<Param> params,
                  ArrayRef<RankedTensorType> operands, const Choices &choices,
                  MLIRContext *context)
      : kind(kind), params(params), operands(operands), choices(choices),
        builder(context) {}

  std::optional<OperatorInstance> make() {
    if (!areFit() || !define())
      return std::nullopt;
    OperatorInstance instance;
    instance.name = getGraphName(kind);
    instance.attributes = builder.getDictionaryAttr(attributes);
    instance.operands.assign(operands.begin(), operands.end());
    if (getInfo(kind).has(kAttributeLast))
      instance.operands.pop_back();
    instance.result =
        getInfo(kind).isConstant()
            ? choices.type
            : RankedTensorType::get(shape, operands[0].getElementType());
    return instance;
  }

private:
  /// Rules hold for real numbers and sizes of at least 1.
  bool areFit() const {
    return llvm::all_of(operands, [&](RankedTensorType type) {
      return isa<FloatType>(type.getElementType()) &&
             type.getElementType() == operands[0].getElementType() &&
             !llvm::is_contained(type.getShape(), 0);
    });
  }

  bool define() {
    switch (kind) {
#define RULE_OPERATOR(id, name, operands, params, traits, rank, semantics,     \
                      graph, instance, ...)                                    \
  case OpKind::id:                                                             \
    return instance;
#include "espalier/Substitution/RuleOperators.def"
    }
    llvm_unreachable("every operator has a row");
  }

  void add(StringRef name, Attribute attribute) {
    attributes.push_back(builder.getNamedAttr(name, attribute));
  }
  void add(StringRef name, ArrayRef<int64_t> numbers) {
    add(name, Attribute(builder.getDenseI64ArrayAttr(numbers)));
  }
  void addActivation(Param param) {
    add("activation", graph::ActivationAttr::get(
                          builder.getContext(), param.first == kReluActivation
                                                    ? graph::Activation::Relu
                                                    : graph::Activation::None));
  }
  int64_t extent(unsigned operand, unsigned dim) const {
    return operands[operand].getDimSize(dim);
  }

  /// Adds the attributes of a window and the spatial extents of the result.
  bool addWindow(Param stride, Param padding, int64_t height, int64_t width) {
    auto y = getSlide(extent(0, 2), height, stride.first, padding, false);
    auto x = getSlide(extent(0, 3), width, stride.second, padding, true);
    if (!y || !x)
      return false;
    add("strides", {stride.first, stride.second});
    add("pads_low", {y->low, x->low});
    add("pads_high", {y->high, x->high});
    add("dilations", {1, 1});
    shape.append({y->count, x->count});
    return true;
  }

  bool makeConv() {
    if (operands[0].getRank() != 4 || operands[1].getRank() != 4)
      return false;
    int64_t channels = extent(0, 1), groupChannels = extent(1, 1);
    int64_t features = extent(1, 0);
    // How many groups there are is a number.
    if (channels == kDynamic || groupChannels == kDynamic ||
        features == kDynamic || channels % groupChannels != 0)
      return false;
    int64_t groups = channels / groupChannels;
    if (features % groups != 0)
      return false;
    shape.assign({extent(0, 0), features});
    addActivation(params[2]);
    add("groups", builder.getI64IntegerAttr(groups));
    return addWindow(params[0], params[1], extent(1, 2), extent(1, 3));
  }

  bool makeMatmul() {
    if (operands[0].getRank() != 2 || operands[1].getRank() != 2 ||
        !agree(extent(0, 1), extent(1, 0)))
      return false;
    addActivation(params[0]);
    shape.assign({extent(0, 0), extent(1, 1)});
    return true;
  }

  /// Appends the extent that two are; they must be equal for all sizes. Beside
  /// one that is not known, an extent of 1 would repeat.
  bool addCommon(int64_t lhs, int64_t rhs) {
    std::optional<int64_t> both = agree(lhs, rhs);
    if (!both || (lhs != rhs && *both == 1))
      return false;
    shape.push_back(*both);
    return true;
  }

  bool makeElementwise() {
    unsigned last = operands.size() - 1;
    if (operands[0].getRank() != operands[last].getRank())
      return false;
    for (unsigned dim = 0; dim < operands[0].getRank(); ++dim)
      if (!addCommon(extent(0, dim), extent(last, dim)))
        return false;
    return true;
  }

  bool makeWithVector() {
    unsigned axis = params[0].first;
    if (operands[0].getRank() != params[1].first || operands[1].getRank() != 1)
      return false;
    for (unsigned dim = 0; dim < operands[0].getRank(); ++dim)
      if (!addCommon(extent(0, dim),
                     dim == axis ? extent(1, 0) : extent(0, dim)))
        return false;
    add("axis", builder.getI64IntegerAttr(axis));
    return true;
  }

  bool makeBatchMatmul() {
    int64_t ranks[] = {params[1].first, params[1].second};
    if (operands[0].getRank() != ranks[0] ||
        operands[1].getRank() != ranks[1] ||
        !agree(extent(0, ranks[0] - 1), extent(1, ranks[1] - 2)))
      return false;
    int64_t rank = std::max(ranks[0], ranks[1]);
    for (int64_t dim = 0; dim < rank - 2; ++dim) {
      int64_t first = dim + ranks[0] - rank, second = dim + ranks[1] - rank;
      int64_t lhs = extent(first < 0 ? 1 : 0, first < 0 ? second : first);
      int64_t rhs = extent(second < 0 ? 0 : 1, second < 0 ? first : second);
      if (!addCommon(lhs, rhs))
        return false;
    }
    shape.append({extent(0, ranks[0] - 2), extent(1, ranks[1] - 1)});
    addActivation(params[0]);
    return true;
  }

  bool makeSwap() {
    if (operands[0].getRank() != params[1].first)
      return false;
    auto order = llvm::to_vector(llvm::seq<int64_t>(0, params[1].first));
    std::swap(order[params[0].first], order[params[0].second]);
    add("permutation", order);
    for (int64_t dim : order)
      shape.push_back(extent(0, dim));
    return true;
  }

  bool makeSlice() {
    unsigned axis = params[0].first;
    int64_t begin = params[2].first, size = params[3].first;
    // That the elements are there is part of a rule's condition.
    int64_t whole = extent(0, axis);
    if (operands[0].getRank() != params[1].first ||
        (whole != kDynamic && begin + size > whole))
      return false;
    OperatorInstance slice =
        substitution::makeSlice(operands[0], axis, begin, size);
    llvm::append_range(attributes, slice.attributes);
    llvm::append_range(shape, slice.result.getShape());
    return true;
  }

  bool makeReduction() {
    unsigned axis = params[0].first;
    if (operands[0].getRank() != params[1].first)
      return false;
    add("axes", {params[0].first});
    add("keepdims", builder.getBoolAttr(false));
    for (unsigned dim = 0; dim < operands[0].getRank(); ++dim)
      if (dim != axis)
        shape.push_back(extent(0, dim));
    return true;
  }

  bool makeScaling() {
    if (operands[1].getRank() > operands[0].getRank() ||
        llvm::any_of(operands[1].getShape(),
                     [](int64_t extent) { return extent != 1; }))
      return false;
    shape.assign(operands[0].getShape().begin(), operands[0].getShape().end());
    return true;
  }

  /// Whether all extents of an operand but the one along `axis` are 1.
  bool hasUnits(unsigned operand, int64_t rank, unsigned axis) const {
    if (operands[operand].getRank() != rank)
      return false;
    for (unsigned dim = 0; dim < rank; ++dim)
      if (dim != axis && extent(operand, dim) != 1)
        return false;
    return true;
  }

  bool makeWithUnits() {
    int64_t axis = params[0].first, rank = params[2].first;
    unsigned own = axis + rank - params[1].first;
    if (operands[0].getRank() != params[1].first || !hasUnits(1, rank, own))
      return false;
    for (unsigned dim = 0; dim < operands[0].getRank(); ++dim)
      if (!addCommon(extent(0, dim),
                     dim == axis ? extent(1, own) : extent(0, dim)))
        return false;
    return true;
  }

  /// Sizes of a reshape are numbers.
  bool makeVector() {
    unsigned axis = params[0].first;
    if (!hasUnits(0, params[1].first, axis) || extent(0, axis) == kDynamic)
      return false;
    shape.push_back(extent(0, axis));
    add("static_sizes", shape);
    return true;
  }
  bool makeUnvector() {
    if (operands[0].getRank() != 1 || extent(0, 0) == kDynamic)
      return false;
    shape.assign(params[1].first, 1);
    shape[params[0].first] = extent(0, 0);
    add("static_sizes", shape);
    return true;
  }

  bool makeBatchNorm() {
    if (operands[0].getRank() != params[0].first || params[0].first < 2 ||
        operands[5].getRank() != 0 || !choices.number)
      return false;
    llvm::append_range(shape, operands[0].getShape());
    for (unsigned operand = 1; operand < 5; ++operand)
      if (operands[operand].getRank() != 1 ||
          !agree(extent(operand, 0), extent(0, 1)))
        return false;
    add("epsilon", choices.number);
    return true;
  }

  bool makePad() {
    SmallVector<int64_t> low(params[1].first, 0), high(params[1].first, 0);
    low[params[0].first] = params[2].first;
    high[params[0].first] = params[3].first;
    return addZeros(low, high);
  }
  bool makeBorder() {
    Border border = Border::get(params[0]);
    return addZeros({0, 0, border.top, border.left},
                    {0, 0, border.bottom, border.right});
  }
  bool addZeros(ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
    if (operands[0].getRank() != static_cast<int64_t>(low.size()))
      return false;
    for (unsigned dim = 0; dim < low.size(); ++dim)
      shape.push_back(addExtents(extent(0, dim), low[dim] + high[dim]));
    add("low", low);
    add("high", high);
    return true;
  }

  bool makeTranspose() {
    if (operands[0].getRank() != 2)
      return false;
    add("permutation", {1, 0});
    shape.assign({extent(0, 1), extent(0, 0)});
    return true;
  }

  bool makeConcat() {
    unsigned axis = params[0].first, rank = params[1].first;
    auto hasRank = [&](RankedTensorType type) {
      return type.getRank() == static_cast<int64_t>(rank);
    };
    if (axis >= rank || !llvm::all_of(operands, hasRank))
      return false;
    llvm::append_range(shape, operands[0].getShape());
    for (RankedTensorType operand : operands.drop_front())
      for (unsigned dim = 0; dim < rank; ++dim) {
        std::optional<int64_t> both =
            dim == axis ? addExtents(shape[dim], operand.getDimSize(dim))
                        : agree(shape[dim], operand.getDimSize(dim));
        if (!both)
          return false;
        shape[dim] = *both;
      }
    add("axis", builder.getI64IntegerAttr(axis));
    return true;
  }

  bool makeSplit() {
    unsigned axis = params[0].first;
    if (axis >= operands[0].getRank())
      return false;
    bool isSecond = params[1].first == 1;
    int64_t whole = extent(0, axis);
    // Behind a cut, the size must be a number to be written down.
    if (choices.cut <= 0 || (isSecond && whole == kDynamic) ||
        (whole != kDynamic && choices.cut >= whole))
      return false;
    OperatorInstance slice =
        substitution::makeSlice(operands[0], axis, isSecond ? choices.cut : 0,
                                isSecond ? whole - choices.cut : choices.cut);
    llvm::append_range(attributes, slice.attributes);
    llvm::append_range(shape, slice.result.getShape());
    return true;
  }

  bool makeAvgPool() {
    add("count_include_pad", builder.getBoolAttr(true));
    return makePool();
  }
  bool makePool() {
    if (operands[0].getRank() != 4)
      return false;
    Param kernel = params[0];
    shape.assign({extent(0, 0), extent(0, 1)});
    add("kernel", {kernel.first, kernel.second});
    add("ceil_mode", builder.getBoolAttr(false));
    return addWindow(params[1], params[2], kernel.first, kernel.second);
  }

  bool makeEnlarge() {
    if (operands[0].getRank() != 4)
      return false;
    int64_t kernel[] = {params[0].first, params[0].second};
    for (unsigned dim : {2, 3}) {
      int64_t given = extent(0, dim), wanted = kernel[dim - 2];
      if (given == kDynamic || wanted < given || (wanted - given) % 2 != 0)
        return false;
    }
    add("kernel", kernel);
    shape.assign({extent(0, 0), extent(0, 1), kernel[0], kernel[1]});
    return true;
  }

  bool makeConstant() {
    RankedTensorType type = choices.type;
    if (!type || !type.hasStaticShape() ||
        !isa<FloatType>(type.getElementType()) ||
        llvm::is_contained(type.getShape(), 0))
      return false;
    std::optional<unsigned> rank = getRequiredRank(kind, params, 0);
    if (rank && type.getRank() != *rank)
      return false;
    bool hasKernel = !params.empty();
    if (hasKernel && (type.getDimSize(2) != params[0].first ||
                      type.getDimSize(3) != params[0].second))
      return false;
    add("static_sizes", type.getShape());
    add("element_type", TypeAttr::get(type.getElementType()));
    return true;
  }

  OpKind kind;
  ArrayRef<Param> params;
  ArrayRef<RankedTensorType> operands;
  const Choices &choices;
  Builder builder;
  SmallVector<NamedAttribute> attributes;
  SmallVector<int64_t, 4> shape; ///< Of the result.
};
} // namespace

std::optional<OperatorInstance> espalier::substitution::makeOperator(
    OpKind kind, ArrayRef<Param> params, ArrayRef<RankedTensorType> operands,
    const Choices &choices, MLIRContext *context) {
  assert(getInfo(kind).takes(operands.size()) &&
         "expects as many operands as the operator has");
  return InstanceBuilder(kind, params, operands, choices, context).make();
}
