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
//
//===----------------------------------------------------------------------===//

#include "OperatorTable.h"

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

namespace {
/// Sizes at which graphs are enumerated. They differ where they can; weights
/// are square so that they compose. Re-testing uses other sizes.
constexpr uint8_t kBatch = 2, kChannels = 4, kImage = 5;

enum class Tables { Taso, Paper, Strided, Grouped };
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

static OperatorTemplate concat(uint8_t rank, uint8_t axis) {
  OperatorTemplate result = simple(OpKind::Concat);
  result.operation.rank = rank;
  result.operation.axis = axis;
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

static std::vector<OperatorTemplate> getTemplates(Tables table) {
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
  return "'taso', 'paper', 'strided' or 'grouped'";
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
  else
    return std::nullopt;
  return OperatorTable{getLeaves(table), getTemplates(table)};
}
