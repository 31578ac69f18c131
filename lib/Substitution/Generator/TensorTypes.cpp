//===- TensorTypes.cpp - Shapes and boundaries of results -----------------===//

#include "TensorTypes.h"
#include <algorithm>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

/// Of the two numbers of a slice or a pad.
static bool isSecondNumber(const ParamInfo &info) {
  return info.name == "size" || info.name == "high";
}

llvm::SmallVector<Param, 3> Operation::getParams() const {
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

std::optional<Operation> generator::getOperation(OpKind kind,
                                                 llvm::ArrayRef<Param> params) {
  Operation operation;
  operation.kind = kind;
  llvm::ArrayRef<ParamInfo> infos = getInfo(kind).params;
  for (size_t i = 0; i < infos.size(); ++i) {
    bool isBorder =
        infos[i].kind == ParamKind::Border ||
        (infos[i].kind == ParamKind::Padding && params[i].first == kBorder);
    if (params[i].first > 255 || params[i].second > 255 || isBorder)
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
  bool hasLargeRank =
      kind == OpKind::Bmm &&
      std::max(operation.numbers[0], operation.numbers[1]) > kRank;
  if (operation.rank > kRank || operation.axis >= kRank || hasLargeRank)
    return std::nullopt;
  return operation;
}

/// Sets the spatial sizes of a window operator's result.
static bool setWindowSizes(const Operation &operation, const Shape &input,
                           std::array<unsigned, 2> kernel, Shape &result) {
  for (unsigned i = 0; i < 2; ++i) {
    unsigned size = input.dims[2 + i], stride = operation.stride[i];
    if (!operation.isSame && size < kernel[i])
      return false;
    result.dims[2 + i] = operation.isSame ? (size + stride - 1) / stride
                                          : (size - kernel[i]) / stride + 1;
  }
  return true;
}

Inferred generator::inferConv(const Operation &operation,
                              const TensorType *const *operands) {
  const TensorType &input = *operands[0], &weight = *operands[1];
  if (input.shape.rank != 4 || weight.shape.rank != 4)
    return std::nullopt;
  unsigned channels = weight.shape.dims[1], features = weight.shape.dims[0];
  if (input.shape.dims[1] % channels ||
      features % (input.shape.dims[1] / channels))
    return std::nullopt;
  TensorType type = input;
  type.shape.dims[1] = features;
  type.boundaries[1] = weight.boundaries[0];
  if (!setWindowSizes(operation, input.shape,
                      {weight.shape.dims[2], weight.shape.dims[3]}, type.shape))
    return std::nullopt;
  for (unsigned i = 2; i < 4; ++i)
    if (type.shape.dims[i] != input.shape.dims[i])
      type.boundaries[i] = {};
  return type;
}

Inferred generator::inferPool(const Operation &operation,
                              const TensorType *const *operands) {
  const TensorType &input = *operands[0];
  if (input.shape.rank != 4)
    return std::nullopt;
  TensorType type = input;
  if (!setWindowSizes(operation, input.shape,
                      {operation.kernel[0], operation.kernel[1]}, type.shape))
    return std::nullopt;
  for (unsigned i = 2; i < 4; ++i)
    if (type.shape.dims[i] != input.shape.dims[i])
      type.boundaries[i] = {};
  return type;
}

Inferred generator::inferFirst(const Operation &operation,
                               const TensorType *const *operands) {
  if (operation.getNumOperands() == 2 && operands[1]->shape.rank != 0)
    return std::nullopt;
  return *operands[0];
}

Inferred generator::inferElementwise(const Operation &operation,
                                     const TensorType *const *operands) {
  const TensorType &lhs = *operands[0], &rhs = *operands[1];
  if (!(lhs.shape == rhs.shape))
    return std::nullopt;
  TensorType type = lhs;
  for (unsigned i = 0; i < kRank; ++i)
    if (!(lhs.boundaries[i] == rhs.boundaries[i]))
      type.boundaries[i] = {};
  return type;
}

Inferred generator::inferMatmul(const Operation &operation,
                                const TensorType *const *operands) {
  const TensorType &lhs = *operands[0], &rhs = *operands[1];
  if (lhs.shape.rank != 2 || rhs.shape.rank != 2 ||
      lhs.shape.dims[1] != rhs.shape.dims[0])
    return std::nullopt;
  TensorType type = lhs;
  type.shape.dims[1] = rhs.shape.dims[1];
  type.boundaries[1] = rhs.boundaries[1];
  return type;
}

/// Appends the boundaries of `more`, `offset` further on; fails if they are too
/// many.
static bool append(Boundaries &boundaries, const Boundaries &more,
                   uint8_t offset) {
  for (unsigned i = 0; i < more.count; ++i) {
    if (boundaries.count == boundaries.at.size())
      return false;
    boundaries.at[boundaries.count++] = more.at[i] + offset;
  }
  return true;
}

Inferred generator::inferConcat(const Operation &operation,
                                const TensorType *const *operands) {
  const TensorType &lhs = *operands[0], &rhs = *operands[1];
  unsigned axis = operation.axis;
  if (lhs.shape.rank != operation.rank || rhs.shape.rank != operation.rank ||
      axis >= operation.rank)
    return std::nullopt;
  TensorType type = lhs;
  for (unsigned i = 0; i < operation.rank; ++i) {
    if (i == axis)
      continue;
    if (lhs.shape.dims[i] != rhs.shape.dims[i])
      return std::nullopt;
    if (!(lhs.boundaries[i] == rhs.boundaries[i]))
      type.boundaries[i] = {};
  }
  unsigned size = lhs.shape.dims[axis];
  if (size + rhs.shape.dims[axis] > 255)
    return std::nullopt;
  type.shape.dims[axis] += rhs.shape.dims[axis];
  Boundaries last;
  last.at[last.count++] = size;
  if (!append(type.boundaries[axis], rhs.boundaries[axis], size) ||
      !append(type.boundaries[axis], last, 0))
    return std::nullopt;
  return type;
}

/// The boundaries before the cut stay in part 0, and those behind it in part 1.
Inferred generator::inferSplit(const Operation &operation,
                               const TensorType *const *operands) {
  const TensorType &input = *operands[0];
  unsigned axis = operation.axis;
  if (axis >= input.shape.rank || input.boundaries[axis].count == 0)
    return std::nullopt;
  TensorType type = input;
  const Boundaries &all = input.boundaries[axis];
  uint8_t cut = all.at[all.count - 1];
  uint8_t offset = operation.part == 0 ? 0 : cut;
  type.shape.dims[axis] =
      operation.part == 0 ? cut : input.shape.dims[axis] - cut;
  Boundaries kept;
  for (unsigned i = 0; i + 1 < all.count; ++i)
    if ((all.at[i] < cut) == (operation.part == 0) && all.at[i] != cut)
      kept.at[kept.count++] = all.at[i] - offset;
  type.boundaries[axis] = kept;
  return type;
}

/// Leading dimensions align at the right, and are equal where both have them.
Inferred generator::inferBatchMatmul(const Operation &operation,
                                     const TensorType *const *operands) {
  const TensorType &lhs = *operands[0], &rhs = *operands[1];
  unsigned left = lhs.shape.rank, right = rhs.shape.rank;
  if (left != operation.numbers[0] || right != operation.numbers[1] ||
      lhs.shape.dims[left - 1] != rhs.shape.dims[right - 2])
    return std::nullopt;
  TensorType type = left < right ? rhs : lhs;
  unsigned rank = type.shape.rank;
  for (unsigned i = 3; i <= std::min(left, right); ++i) {
    if (lhs.shape.dims[left - i] != rhs.shape.dims[right - i])
      return std::nullopt;
    if (!(lhs.boundaries[left - i] == rhs.boundaries[right - i]))
      type.boundaries[rank - i] = {};
  }
  type.shape.dims[rank - 2] = lhs.shape.dims[left - 2];
  type.boundaries[rank - 2] = lhs.boundaries[left - 2];
  type.shape.dims[rank - 1] = rhs.shape.dims[right - 1];
  type.boundaries[rank - 1] = rhs.boundaries[right - 1];
  return type;
}

Inferred generator::inferConstant(const Operation &operation,
                                  const TensorType *const *operands) {
  return TensorType{operation.constantShape, {}};
}
