//===- Operators.cpp - The operators of substitution rules ----------------===//

#include "espalier/Substitution/Operators.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::substitution;

static constexpr ParamInfo kConvParams[] = {{"stride", ParamKind::Pair},
                                            {"pad", ParamKind::Padding},
                                            {"act", ParamKind::Activation}};
static constexpr ParamInfo kActParams[] = {{"act", ParamKind::Activation}};
static constexpr ParamInfo kConcatParams[] = {{"axis", ParamKind::Axis},
                                              {"ndim", ParamKind::Rank}};
static constexpr ParamInfo kSplitParams[] = {{"axis", ParamKind::Axis},
                                             {"part", ParamKind::Part}};
static constexpr ParamInfo kPoolParams[] = {{"kernel", ParamKind::Pair},
                                            {"stride", ParamKind::Pair},
                                            {"pad", ParamKind::Padding}};
static constexpr ParamInfo kKernelParams[] = {{"kernel", ParamKind::Pair}};

static const OperatorInfo kOperators[] = {
    {OpKind::Conv2d, "conv2d", 2, kConvParams},
    {OpKind::Matmul, "matmul", 2, kActParams},
    {OpKind::EwAdd, "ewadd", 2, {}},
    {OpKind::EwMul, "ewmul", 2, {}},
    {OpKind::SMul, "smul", 2, {}},
    {OpKind::Relu, "relu", 1, {}},
    {OpKind::Transpose, "transpose", 1, {}},
    {OpKind::Concat, "concat", 2, kConcatParams},
    {OpKind::Split, "split", 1, kSplitParams},
    {OpKind::PoolAvg, "poolavg", 1, kPoolParams},
    {OpKind::PoolMax, "poolmax", 1, kPoolParams},
    {OpKind::Enlarge, "enlarge", 1, kKernelParams},
    {OpKind::ConstIConv, "const_iconv", 0, kKernelParams},
    {OpKind::ConstPool, "const_pool", 0, kKernelParams},
    {OpKind::ConstImm, "const_imm", 0, {}},
    {OpKind::ConstOne, "const_one", 0, {}},
};

llvm::ArrayRef<OperatorInfo> espalier::substitution::getOperators() {
  return kOperators;
}

const OperatorInfo &espalier::substitution::getInfo(OpKind kind) {
  return kOperators[static_cast<unsigned>(kind)];
}

std::optional<OpKind>
espalier::substitution::lookupOperator(llvm::StringRef name) {
  const auto *found = llvm::find_if(
      kOperators, [&](const OperatorInfo &info) { return info.name == name; });
  if (found == std::end(kOperators))
    return std::nullopt;
  return found->kind;
}
