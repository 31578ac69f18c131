//===- Operators.h - The operators of substitution rules --------*- C++ -*-===//
//
// What the text form of rules knows of each operator: its name, its operands
// and its parameters. What an operator means is in Meaning.h. All of it comes
// from one table, RuleOperators.def.
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

enum class OpKind : uint8_t {
#define RULE_OPERATOR(id, ...) id,
#include "espalier/Substitution/RuleOperators.def"
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

/// What is known of an operator beside its meaning.
enum OperatorTraits : uint16_t {
  kNoTraits = 0,
  kElementwise = 1 << 0,   ///< Of equal shapes, element by element.
  kCommutative = 1 << 1,   ///< The order of the operands does not matter.
  kEitherWay = 1 << 2,     ///< Nor does it to the operator of `graph`.
  kScalarLast = 1 << 3,    ///< The last operand is a scalar.
  kScalarProduct = 1 << 4, ///< Of two scalars, a scalar.
  kJoin = 1 << 5,          ///< Joins tensors along an axis, or more of them.
  kSteep = 1 << 6,         ///< Grows beyond all numbers, or to a limit.
  kFewTerms = 1 << 7,      ///< Adds up no elements along an axis.
  kCut = 1 << 8,           ///< Parts an axis in two, where the context says.
  kKernel = 1 << 9,        ///< Takes the time of a kernel of its own.
  kSquare = 1 << 10,       ///< A constant whose first two extents are equal.
  /// Parts channels of an image, and features of a weight, into equally many
  /// groups: as many as there are channels of a weight in those of the image.
  kGroups = 1 << 11,
  kOfWeight = 1 << 12,      ///< Its operand is a weight.
  kAttributeLast = 1 << 13, ///< That of `graph` has the last as an attribute.
};

struct OperatorInfo {
  OpKind kind;
  llvm::StringLiteral name;
  unsigned numOperands;
  llvm::ArrayRef<ParamInfo> params;
  unsigned traits;

  bool has(OperatorTraits trait) const { return traits & trait; }
  bool isScalarOperand(unsigned operand) const {
    return has(kScalarLast) && operand + 1 == numOperands;
  }
  /// Whether there may be so many operands.
  bool takes(size_t count) const {
    return count == numOperands || (has(kJoin) && count > numOperands);
  }
  /// Whether the context decides sizes of the result.
  bool isConstant() const { return numOperands == 0; }
  bool isCommutative() const { return has(kCommutative); }
  /// Whether results add up products of elements of two operands.
  bool isProduct() const { return has(kKernel) && numOperands == 2; }
  /// Whether results may add up many products or elements. Of an operator whose
  /// row says nothing they may.
  bool isReduction() const {
    return !has(kElementwise) && !has(kFewTerms) && !isConstant();
  }
};

/// All operators.
llvm::ArrayRef<OperatorInfo> getOperators();
const OperatorInfo &getInfo(OpKind kind);
/// The rank that an operator with these parameters asks of an operand (or,
/// beyond the operands, of its result), if it does.
std::optional<unsigned>
getRequiredRank(OpKind kind, llvm::ArrayRef<Param> params, unsigned operand);
/// The operator of this name, if there is one.
std::optional<OpKind> lookupOperator(llvm::StringRef name);
/// What parameters of an operator ask of each other, in words: the first thing
/// that they do not fulfil. Empty if they do.
std::string checkParams(OpKind kind, llvm::ArrayRef<Param> params);

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_OPERATORS_H
