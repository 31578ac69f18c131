//===- Operators.cpp - The operators of substitution rules ----------------===//

#include "espalier/Substitution/Operators.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace espalier::substitution;

static constexpr ParamInfo kConvParams[] = {{"stride", ParamKind::Pair},
                                            {"pad", ParamKind::Padding},
                                            {"act", ParamKind::Activation}};
static constexpr ParamInfo kActParams[] = {{"act", ParamKind::Activation}};
static constexpr ParamInfo kAxisParams[] = {{"axis", ParamKind::Axis},
                                            {"ndim", ParamKind::Rank}};
static constexpr ParamInfo kSplitParams[] = {{"axis", ParamKind::Axis},
                                             {"part", ParamKind::Part}};
static constexpr ParamInfo kPoolParams[] = {{"kernel", ParamKind::Pair},
                                            {"stride", ParamKind::Pair},
                                            {"pad", ParamKind::Padding}};
static constexpr ParamInfo kKernelParams[] = {{"kernel", ParamKind::Pair}};

static constexpr ParamInfo kSwapParams[] = {{"axes", ParamKind::Axes},
                                            {"ndim", ParamKind::Rank}};
static constexpr ParamInfo kBmmParams[] = {{"act", ParamKind::Activation},
                                           {"ranks", ParamKind::Ranks}};
static constexpr ParamInfo kSliceParams[] = {{"axis", ParamKind::Axis},
                                             {"ndim", ParamKind::Rank},
                                             {"begin", ParamKind::Offset},
                                             {"size", ParamKind::Count}};
static constexpr ParamInfo kPadParams[] = {{"axis", ParamKind::Axis},
                                           {"ndim", ParamKind::Rank},
                                           {"low", ParamKind::Offset},
                                           {"high", ParamKind::Offset}};

static constexpr ParamInfo kUnitParams[] = {{"axis", ParamKind::Axis},
                                            {"ndim", ParamKind::Rank},
                                            {"rank", ParamKind::Rank}};
static constexpr ParamInfo kRankParams[] = {{"ndim", ParamKind::Rank}};
static constexpr ParamInfo kBorderParams[] = {{"pad", ParamKind::Border}};

static const OperatorInfo kOperators[] = {
#define RULE_OPERATOR(id, name, operands, params, traits, ...)                 \
  {OpKind::id, name, operands, params, traits},
#include "espalier/Substitution/RuleOperators.def"
};

llvm::ArrayRef<OperatorInfo> espalier::substitution::getOperators() {
  return kOperators;
}

const OperatorInfo &espalier::substitution::getInfo(OpKind kind) {
  return kOperators[static_cast<unsigned>(kind)];
}

std::optional<unsigned> espalier::substitution::getRequiredRank(
    OpKind kind, llvm::ArrayRef<Param> params, unsigned operand) {
  constexpr std::optional<unsigned> kOpen = std::nullopt;
  switch (kind) {
#define RULE_OPERATOR(id, name, operands, params, traits, rank, ...)           \
  case OpKind::id:                                                             \
    return rank;
#include "espalier/Substitution/RuleOperators.def"
  }
  llvm_unreachable("every operator has a row");
}

std::optional<OpKind>
espalier::substitution::lookupOperator(llvm::StringRef name) {
  const auto *found = llvm::find_if(
      kOperators, [&](const OperatorInfo &info) { return info.name == name; });
  if (found == std::end(kOperators))
    return std::nullopt;
  return found->kind;
}

std::string espalier::substitution::checkParams(OpKind kind,
                                                llvm::ArrayRef<Param> params) {
  // Axes come first, and the rank behind them.
  llvm::ArrayRef<ParamInfo> infos = getInfo(kind).params;
  if (infos.size() < 2 || infos[1].kind != ParamKind::Rank)
    return "";
  for (int64_t axis : {params[0].first, params[0].second})
    if (axis >= params[1].first)
      return ("expects ':" + infos[0].name + "' below ':ndim', but got ")
                 .str() +
             llvm::itostr(axis) + " and " + llvm::itostr(params[1].first);
  // Dimensions align at the right.
  if (infos.data() == kUnitParams) {
    int64_t axis = params[0].first, ndim = params[1].first;
    if (params[2].first > ndim || params[2].first < ndim - axis)
      return "expects ':rank' from " + llvm::itostr(ndim - axis) + " to " +
             llvm::itostr(ndim) + ", but got " + llvm::itostr(params[2].first);
  }
  return "";
}

/// Numbers up to `kMaxExtent` take fewer bits.
static constexpr unsigned kBorderBits = 15;

Border Border::get(Param param) {
  auto take = [&](unsigned position) {
    return param.second >> position * kBorderBits & ((1 << kBorderBits) - 1);
  };
  return {take(0), take(1), take(2), take(3)};
}

Param Border::getParam() const {
  Param param{kBorder, 0};
  for (int64_t number : {right, bottom, left, top})
    param.second = param.second << kBorderBits | number;
  return param;
}
