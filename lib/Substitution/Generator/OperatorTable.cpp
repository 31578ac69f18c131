//===- OperatorTable.cpp - What the generator enumerates ------------------===//
//
// The tables of operators and inputs, as data:
//
//   taso      the inputs of TASO's public generator (SOSP'19), and its 26
//             templates: convolutions with three kernels with and without
//             relu, matmul, element-wise operators, pools, concatenations and
//             splits along two axes, enlarge and the four constants. Where it
//             has transpose twice, for two layouts, there is matmul with relu.
//   paper     the operators of the paper at one kernel size, over fewer inputs:
//             small enough for depth 4.
//   strided   strides, other paddings and kernels on top of `taso`.
//   grouped   the operators of `paper` on weights of one, two and four groups,
//             the last of which are depthwise convolutions.
//   extended  what TASO lacks: vectors that are repeated, batched products,
//             slices, borders, reductions, differences, maxima and functions,
//             beside products, convolutions and concatenations.
//
//===----------------------------------------------------------------------===//

#include "OperatorTable.h"
#include "Derived.h"

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

namespace {
/// Sizes at which graphs are enumerated. They differ where they can; weights
/// are square so that they compose. Re-testing uses other sizes.
constexpr uint8_t kBatch = 2, kRows = 3, kChannels = 4, kImage = 5;

enum class Tables { Taso, Paper, Strided, Grouped, Extended };
} // namespace

static LeafTemplate leaf(std::initializer_list<uint8_t> dims, bool isWeight) {
  LeafTemplate leaf;
  for (uint8_t dim : dims)
    leaf.shape.dims[leaf.shape.rank++] = dim;
  leaf.isWeight = isWeight;
  return leaf;
}

static std::vector<LeafTemplate> getLeaves(Tables table) {
  std::vector<LeafTemplate> leaves;
  auto add = [&](std::initializer_list<uint8_t> dims, bool isWeight,
                 unsigned count) {
    leaves.insert(leaves.end(), count, leaf(dims, isWeight));
  };
  unsigned count = table == Tables::Taso || table == Tables::Strided ? 3 : 2;
  add({kBatch, kChannels}, false, count);
  add({kChannels, kChannels}, true, count);
  add({kBatch, kChannels, kImage, kImage}, false, count);
  add({kChannels, kChannels, 3, 3}, true, count);
  if (count == 3) {
    add({kChannels, kChannels, 1, 3}, true, 3);
    add({kChannels, kChannels, 3, 1}, true, 3);
    add({kChannels, 1, 3, 3}, true, 1);
  }
  if (table == Tables::Grouped) {
    add({kChannels, kChannels / 2, 3, 3}, true, 2);
    add({kChannels, 1, 3, 3}, true, 2);
  }
  if (table == Tables::Extended) {
    add({kChannels}, false, 2);
    add({kBatch, kRows, kChannels}, false, 2);
    add({kBatch, kChannels, kChannels}, true, 2);
  }
  add({}, false, 1);
  return leaves;
}

static OperatorTemplate simple(OpKind kind) {
  OperatorTemplate result;
  result.operation.kind = kind;
  return result;
}

static OperatorTemplate matmul(bool hasRelu) {
  OperatorTemplate result = simple(OpKind::Matmul);
  result.operation.hasRelu = hasRelu;
  return result;
}

static OperatorTemplate conv(uint8_t height, uint8_t width, bool hasRelu,
                             uint8_t stride = 1, bool isSame = true) {
  OperatorTemplate result = simple(OpKind::Conv2d);
  result.weightKernel = {height, width};
  result.operation.hasRelu = hasRelu;
  result.operation.stride = {stride, stride};
  result.operation.isSame = isSame;
  return result;
}

static OperatorTemplate pool(OpKind kind, uint8_t stride = 1,
                             bool isSame = true) {
  OperatorTemplate result = simple(kind);
  result.operation.kernel = {3, 3};
  result.operation.stride = {stride, stride};
  result.operation.isSame = isSame;
  return result;
}

/// An operator of tensors of one rank, along one axis.
static OperatorTemplate along(OpKind kind, uint8_t rank, uint8_t axis,
                              std::array<uint8_t, 2> numbers = {}) {
  OperatorTemplate result = simple(kind);
  result.operation.rank = rank;
  result.operation.axis = axis;
  result.operation.numbers = numbers;
  return result;
}

static OperatorTemplate batchMatmul(uint8_t left, uint8_t right) {
  OperatorTemplate result = simple(OpKind::Bmm);
  result.operation.numbers = {left, right};
  return result;
}

static OperatorTemplate split(uint8_t axis) {
  OperatorTemplate result = simple(OpKind::Split);
  result.operation.axis = axis;
  return result;
}

/// A constant or an `enlarge`, of kernel 3 x 3 if it has one.
static OperatorTemplate sized(OpKind kind,
                              std::initializer_list<uint8_t> dims = {}) {
  OperatorTemplate result = simple(kind);
  result.operation.kernel = {3, 3};
  result.operation.constantShape = leaf(dims, true).shape;
  return result;
}

static OperatorTemplate concat(uint8_t rank, uint8_t axis) {
  return along(OpKind::Concat, rank, axis);
}

static std::vector<OperatorTemplate> getExtendedTemplates() {
  return {matmul(false),
          simple(OpKind::EwAdd),
          simple(OpKind::EwMul),
          simple(OpKind::EwSub),
          simple(OpKind::EwMax),
          simple(OpKind::SMul),
          simple(OpKind::Relu),
          simple(OpKind::Exp),
          simple(OpKind::Tanh),
          simple(OpKind::Sigmoid),
          simple(OpKind::Transpose),
          conv(3, 3, false),
          concat(1, 0),
          concat(2, 0),
          concat(2, 1),
          concat(3, 2),
          concat(4, 0),
          concat(4, 1),
          split(0),
          split(1),
          split(2),
          along(OpKind::BAdd, 2, 1),
          along(OpKind::BAdd, 4, 1),
          along(OpKind::BMul, 2, 0),
          along(OpKind::BMul, 2, 1),
          along(OpKind::BMul, 4, 0),
          along(OpKind::BMul, 4, 1),
          batchMatmul(3, 2),
          batchMatmul(3, 3),
          along(OpKind::Swap, 3, 0, {1, 2}),
          along(OpKind::Slice, 2, 1, {1, 2}),
          along(OpKind::Pad, 2, 1, {1, 2}),
          along(OpKind::ReduceSum, 2, 0),
          along(OpKind::ReduceSum, 3, 2),
          along(OpKind::ReduceMax, 2, 0),
          along(OpKind::ReduceMax, 3, 2)};
}

static std::vector<OperatorTemplate> getTemplates(Tables table) {
  if (table == Tables::Extended)
    return getExtendedTemplates();
  std::vector<OperatorTemplate> operators = {
      matmul(false),
      matmul(true),
      simple(OpKind::EwAdd),
      simple(OpKind::EwMul),
      simple(OpKind::SMul),
      simple(OpKind::Relu),
      simple(OpKind::Transpose),
      conv(3, 3, false),
      conv(3, 3, true),
      pool(OpKind::PoolAvg),
      pool(OpKind::PoolMax),
      concat(2, 0),
      concat(2, 1),
      concat(4, 0),
      concat(4, 1),
      split(0),
      split(1),
      sized(OpKind::Enlarge),
      sized(OpKind::ConstPool, {kChannels, 1, 3, 3}),
      sized(OpKind::ConstIConv, {kChannels, kChannels, 3, 3}),
      sized(OpKind::ConstImm, {kChannels, kChannels}),
      sized(OpKind::ConstOne, {kBatch, kChannels, kImage, kImage})};
  if (table == Tables::Paper || table == Tables::Grouped)
    return operators;
  for (bool hasRelu : {false, true}) {
    operators.push_back(conv(1, 3, hasRelu));
    operators.push_back(conv(3, 1, hasRelu));
  }
  if (table == Tables::Strided) {
    operators.push_back(conv(3, 3, false, 2));
    operators.push_back(conv(3, 3, false, 1, false));
    operators.push_back(pool(OpKind::PoolAvg, 2));
    operators.push_back(pool(OpKind::PoolMax, 2));
    operators.push_back(pool(OpKind::PoolMax, 1, false));
  }
  return operators;
}

llvm::StringRef generator::getOperatorTableNames() {
  return "'taso', 'paper', 'strided', 'grouped' or 'extended'";
}

std::optional<OperatorTable> generator::getOperatorTable(llvm::StringRef name) {
  Tables table;
  if (name == "taso")
    table = Tables::Taso;
  else if (name == "paper")
    table = Tables::Paper;
  else if (name == "strided")
    table = Tables::Strided;
  else if (name == "grouped")
    table = Tables::Grouped;
  else if (name == "extended")
    table = Tables::Extended;
  else
    return std::nullopt;
  OperatorTable result{getLeaves(table), getTemplates(table), nullptr};
  for (OperatorTemplate &op : result.operators) {
    if (hasKernel(op.operation.kind))
      continue;
    if (!result.derived)
      result.derived = std::make_shared<DerivedOperators>();
    op.operation.derived = result.derived->get(op.operation);
  }
  return result;
}
