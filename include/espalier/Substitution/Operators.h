//===- Operators.h - The operators of substitution rules --------*- C++ -*-===//
//
// What the text form of rules knows of each operator: its name, its operands
// and its parameters. What an operator means is in Meaning.h.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_OPERATORS_H
#define ESPALIER_SUBSTITUTION_OPERATORS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace espalier::substitution {

/// The operators, in the order of the table in Operators.cpp.
enum class OpKind : uint8_t {
  Conv2d,
  Matmul,
  EwAdd,
  EwMul,
  SMul,
  Relu,
  Transpose,
  Concat,
  Split,
  PoolAvg,
  PoolMax,
  Enlarge,
  ConstIConv,
  ConstPool,
  ConstImm,
  ConstOne,
  EwSub,
  EwMax,
  Exp,
  Tanh,
  Sigmoid,
  BAdd,
  BMul,
  Bmm,
  Swap,
  Slice,
  Pad,
  ReduceSum,
  ReduceMax,
  // From here on: of written rules only, not enumerated by the generator.
  EwDiv,
  Sqrt,
  SAdd,
  UAdd,
  UMul,
  Vector,
  Unvector,
  BatchNorm,
  Border,
};

/// How a parameter is written.
enum class ParamKind : uint8_t {
  Pair,       ///< `h,w`, both positive.
  Padding,    ///< `same`, `valid` or a `Border`.
  Border,     ///< `t,l,b,r`: numbers of zeros, none negative.
  Activation, ///< `none` or `relu`.
  Axis,       ///< A number below the largest rank.
  Rank,       ///< A number from 1 to the largest rank.
  Part,       ///< `0` or `1`.
  Axes,       ///< `a,b`, both below the largest rank.
  Ranks,      ///< `n,m`, both from 2 to the largest rank.
  Offset,     ///< A number that is not negative.
  Count,      ///< A positive number.
};

/// Of a `Padding` and of an `Activation`.
enum : int64_t { kSame = 0, kValid = 1, kBorder = 2 };
enum : int64_t { kNoActivation = 0, kReluActivation = 1 };

/// Tensors of rules have no more dimensions than this.
constexpr int64_t kMaxRank = 8;
/// Kernels and strides are no larger than this.
constexpr int64_t kMaxExtent = 1024;

/// The value of a parameter. Only `Pair`, `Axes` and `Ranks` have two numbers;
/// of a `Border`, `first` is `kBorder`, and `second` all four.
struct Param {
  int64_t first = 0, second = 0;

  bool operator==(Param other) const {
    return first == other.first && second == other.second;
  }
};

/// How many zeros are around an image.
struct Border {
  int64_t top = 0, left = 0, bottom = 0, right = 0;

  /// The border that `param` is, which must be one.
  static Border get(Param param);
  /// As a parameter. The numbers are from 0 to `kMaxExtent`.
  Param getParam() const;
};

struct ParamInfo {
  llvm::StringLiteral name;
  ParamKind kind;
};

struct OperatorInfo {
  OpKind kind;
  llvm::StringLiteral name;
  unsigned numOperands;
  llvm::ArrayRef<ParamInfo> params;

  /// The last operand of `smul` and of some others is a scalar.
  bool isScalarOperand(unsigned operand) const {
    bool hasScalar = kind == OpKind::SMul || kind == OpKind::SAdd ||
                     kind == OpKind::BatchNorm;
    return hasScalar && operand + 1 == numOperands;
  }
  /// Whether there may be so many operands. `concat` has two or more.
  bool takes(size_t count) const {
    return count == numOperands ||
           (kind == OpKind::Concat && count > numOperands);
  }
  /// Whether the context decides sizes of the result.
  bool isConstant() const { return numOperands == 0; }
  /// Whether the order of the operands does not matter.
  bool isCommutative() const {
    return kind == OpKind::EwAdd || kind == OpKind::EwMul ||
           kind == OpKind::EwMax;
  }
};

/// All operators.
llvm::ArrayRef<OperatorInfo> getOperators();
const OperatorInfo &getInfo(OpKind kind);
/// The operator of this name, if there is one.
std::optional<OpKind> lookupOperator(llvm::StringRef name);
/// What parameters of an operator ask of each other, in words: the first thing
/// that they do not fulfil. Empty if they do.
std::string checkParams(OpKind kind, llvm::ArrayRef<Param> params);

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_OPERATORS_H
