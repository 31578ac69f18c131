//===- ConcreteOperator.cpp - Operators with numbers as parameters --------===//

#include "espalier/Substitution/Generator/Kernels.h"
#include <algorithm>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

/// Of the two numbers of a slice or a pad.
static bool isSecondNumber(const ParamInfo &info) {
  return info.name == "size" || info.name == "high";
}

llvm::SmallVector<Param, 3> ConcreteOperator::getParams() const {
  llvm::SmallVector<Param, 3> params;
  for (const ParamInfo &info : getInfo(kind).params) {
    if (info.kind == ParamKind::Pair) {
      const auto &pair = info.name == "kernel" ? kernel : stride;
      params.push_back({pair[0], pair[1]});
    } else if (info.kind == ParamKind::Padding) {
      params.push_back({isSame ? kSame : kValid});
    } else if (info.kind == ParamKind::Activation) {
      params.push_back({hasRelu ? kReluActivation : kNoActivation});
    } else if (info.kind == ParamKind::Axis) {
      params.push_back({axis});
    } else if (info.kind == ParamKind::Rank) {
      params.push_back({rank});
    } else if (info.kind == ParamKind::Part) {
      params.push_back({part});
    } else if (info.kind == ParamKind::Axes || info.kind == ParamKind::Ranks) {
      params.push_back({numbers[0], numbers[1]});
    } else {
      params.push_back({numbers[isSecondNumber(info)]});
    }
  }
  return params;
}

std::optional<ConcreteOperator>
generator::getOperation(OpKind kind, llvm::ArrayRef<Param> params) {
  ConcreteOperator operation;
  operation.kind = kind;
  llvm::ArrayRef<ParamInfo> infos = getInfo(kind).params;
  for (size_t i = 0; i < infos.size(); ++i) {
    bool isBorder =
        infos[i].kind == ParamKind::Border ||
        (infos[i].kind == ParamKind::Padding && params[i].first == kBorder);
    bool hasLargeRank = infos[i].kind == ParamKind::Ranks &&
                        std::max(params[i].first, params[i].second) > kRank;
    if (params[i].first > 255 || params[i].second > 255 || isBorder ||
        hasLargeRank)
      return std::nullopt;
    auto first = static_cast<uint8_t>(params[i].first);
    auto second = static_cast<uint8_t>(params[i].second);
    if (infos[i].kind == ParamKind::Pair)
      (infos[i].name == "kernel" ? operation.kernel
                                 : operation.stride) = {first, second};
    else if (infos[i].kind == ParamKind::Padding)
      operation.isSame = first == kSame;
    else if (infos[i].kind == ParamKind::Activation)
      operation.hasRelu = first == kReluActivation;
    else if (infos[i].kind == ParamKind::Axis)
      operation.axis = first;
    else if (infos[i].kind == ParamKind::Rank)
      operation.rank = first;
    else if (infos[i].kind == ParamKind::Part)
      operation.part = first;
    else if (infos[i].kind == ParamKind::Axes ||
             infos[i].kind == ParamKind::Ranks)
      operation.numbers = {first, second};
    else
      operation.numbers[isSecondNumber(infos[i])] = first;
  }
  if (operation.rank > kRank || operation.axis >= kRank)
    return std::nullopt;
  return operation;
}
