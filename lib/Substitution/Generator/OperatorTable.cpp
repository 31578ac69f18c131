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
#include "espalier/Substitution/OperatorText.h"

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

namespace {
/// An operator as rules write it. Its sizes are those of the kernel, if it
/// convolves, and those of a constant.
struct Row {
  llvm::StringLiteral text;
  std::initializer_list<uint8_t> sizes = {};
};
} // namespace

static const Row kPaper[] = {
    {"matmul :act none"},
    {"matmul :act relu"},
    {"ewadd"},
    {"ewmul"},
    {"smul"},
    {"relu"},
    {"transpose"},
    {"conv2d :stride 1,1 :pad same :act none", {3, 3}},
    {"conv2d :stride 1,1 :pad same :act relu", {3, 3}},
    {"poolavg :kernel 3,3 :stride 1,1 :pad same"},
    {"poolmax :kernel 3,3 :stride 1,1 :pad same"},
    {"concat :axis 0 :ndim 2"},
    {"concat :axis 1 :ndim 2"},
    {"concat :axis 0 :ndim 4"},
    {"concat :axis 1 :ndim 4"},
    {"split :axis 0 :part 0"},
    {"split :axis 1 :part 0"},
    {"enlarge :kernel 3,3"},
    {"const_pool :kernel 3,3", {kChannels, 1, 3, 3}},
    {"const_iconv :kernel 3,3", {kChannels, kChannels, 3, 3}},
    {"const_imm", {kChannels, kChannels}},
    {"const_one", {kBatch, kChannels, kImage, kImage}}};

/// On top of `kPaper`.
static const Row kTaso[] = {{"conv2d :stride 1,1 :pad same :act none", {1, 3}},
                            {"conv2d :stride 1,1 :pad same :act none", {3, 1}},
                            {"conv2d :stride 1,1 :pad same :act relu", {1, 3}},
                            {"conv2d :stride 1,1 :pad same :act relu", {3, 1}}};

/// On top of `kTaso`.
static const Row kStrided[] = {
    {"conv2d :stride 2,2 :pad same :act none", {3, 3}},
    {"conv2d :stride 1,1 :pad valid :act none", {3, 3}},
    {"poolavg :kernel 3,3 :stride 2,2 :pad same"},
    {"poolmax :kernel 3,3 :stride 2,2 :pad same"},
    {"poolmax :kernel 3,3 :stride 1,1 :pad valid"}};

static const Row kExtended[] = {
    {"matmul :act none"},
    {"ewadd"},
    {"ewmul"},
    {"ewsub"},
    {"ewmax"},
    {"smul"},
    {"relu"},
    {"exp"},
    {"tanh"},
    {"sigmoid"},
    {"transpose"},
    {"conv2d :stride 1,1 :pad same :act none", {3, 3}},
    {"concat :axis 0 :ndim 1"},
    {"concat :axis 0 :ndim 2"},
    {"concat :axis 1 :ndim 2"},
    {"concat :axis 2 :ndim 3"},
    {"concat :axis 0 :ndim 4"},
    {"concat :axis 1 :ndim 4"},
    {"split :axis 0 :part 0"},
    {"split :axis 1 :part 0"},
    {"split :axis 2 :part 0"},
    {"badd :axis 1 :ndim 2"},
    {"badd :axis 1 :ndim 4"},
    {"bmul :axis 0 :ndim 2"},
    {"bmul :axis 1 :ndim 2"},
    {"bmul :axis 0 :ndim 4"},
    {"bmul :axis 1 :ndim 4"},
    {"bmm :act none :ranks 3,2"},
    {"bmm :act none :ranks 3,3"},
    {"swap :axes 1,2 :ndim 3"},
    {"slice :axis 1 :ndim 2 :begin 1 :size 2"},
    {"pad :axis 1 :ndim 2 :low 1 :high 2"},
    {"reduce_sum :axis 0 :ndim 2"},
    {"reduce_sum :axis 2 :ndim 3"},
    {"reduce_max :axis 0 :ndim 2"},
    {"reduce_max :axis 2 :ndim 3"}};

static std::vector<llvm::ArrayRef<Row>> getRows(Tables table) {
  switch (table) {
  case Tables::Paper:
  case Tables::Grouped:
    return {kPaper};
  case Tables::Taso:
    return {kPaper, kTaso};
  case Tables::Strided:
    return {kPaper, kTaso, kStrided};
  case Tables::Extended:
    return {kExtended};
  }
  llvm_unreachable("every table is handled above");
}

static OperatorTemplate makeTemplate(const Row &row) {
  std::string complaint;
  std::optional<OperatorText> text = parseOperator(row.text, complaint);
  assert(text && "a row is an operator of rules");
  OperatorTemplate result;
  result.operation = *getOperation(text->kind, text->params);
  if (getInfo(text->kind).isConstant())
    result.operation.constantShape = leaf(row.sizes, true).shape;
  else
    llvm::copy(row.sizes, result.weightKernel.begin());
  return result;
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
  OperatorTable result{
      getLeaves(table), {}, std::make_shared<DerivedOperators>()};
  for (llvm::ArrayRef<Row> rows : getRows(table))
    llvm::append_range(result.operators, llvm::map_range(rows, makeTemplate));
  for (OperatorTemplate &op : result.operators)
    op.operation.derived = result.derived->get(op.operation);
  return result;
}
