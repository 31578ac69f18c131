//===- GraphOperators.h - Rules' operators in the dialect -------*- C++ -*-===//
//
// The one place that says how an operator of the text form of rules and an
// operator of `graph` correspond. It speaks of names, attributes and types, so
// that it serves e-graphs, patterns and operations alike.
//
//   (conv2d :stride 1,1 :pad same :act none ?i0 ?i1)
//   graph.conv {strides = [1, 1], pads_low = [1, 1], pads_high = [1, 1], ...}
//       on tensor<1x8x?x?xf32>, tensor<4x8x3x3xf32>
//
// An operator of the text form may have no counterpart on given types (the
// padding of `same` with a stride depends on extents, which may be unknown),
// and one of `graph` may be several (a 1 x 1 kernel is `same` and `valid`).
// Whatever is said here holds for all sizes that the types leave open.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_SEARCH_GRAPHOPERATORS_H
#define ESPALIER_SUBSTITUTION_SEARCH_GRAPHOPERATORS_H

#include "espalier/Substitution/Rule.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace espalier::substitution {

/// An operator of `graph` with one result, apart from any operation. It has no
/// operands of type `index`: a dynamic entry of `static_sizes` of a slice is
/// the operand's own extent there.
struct OperatorInstance {
  llvm::StringRef name; ///< With the dialect: `graph.conv`.
  /// All of the operator's attributes, those with default values too.
  mlir::DictionaryAttr attributes;
  llvm::SmallVector<mlir::RankedTensorType, 2> operands;
  mlir::RankedTensorType result;
};

/// The name that an operator of the text form has in `graph`.
llvm::StringRef getGraphName(OpKind kind);
/// Whether `name` is that of the operator which parts of a tensor are.
bool isSliceName(llvm::StringRef name);

/// The sum and the product of a tensor and a vector along `axis`. `graph` has
/// no such operators: `createOperation` makes the vector a tensor with extents
/// of 1, which repeats.
constexpr llvm::StringLiteral kAddVector = "graph.add_vector";
constexpr llvm::StringLiteral kMulVector = "graph.mul_vector";
/// A `graph.pad` with zeros, which are no operand.
constexpr llvm::StringLiteral kPadZeros = "graph.pad_zeros";

/// A tensor in rows that takes the place of one that kernels would order by
/// themselves, but that everybody wants in rows.
constexpr llvm::StringLiteral kInRows = "graph.in_rows";

/// In costs, a tensor is in the order that kernels choose by themselves unless
/// its type says otherwise: images have their channels last, others are in
/// rows. Returns `type` with its dimensions in `order` in memory, outermost
/// first; with null, in the usual one.
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  mlir::DenseI64ArrayAttr order);
/// The order that a type states; null for the usual one.
mlir::DenseI64ArrayAttr getLayout(mlir::RankedTensorType type);
/// Whether a type of `instance` states an order.
bool hasLayouts(const OperatorInstance &instance);

/// Adds the attributes that have default values and are left out, and drops
/// what says how operands are divided.
mlir::DictionaryAttr completeAttributes(llvm::StringRef name,
                                        mlir::DictionaryAttr attributes);

/// Whether `instance` computes `kind` with `params` for all sizes. A `split` is
/// one at some cut, which `getCut` tells.
bool isOperator(const OperatorInstance &instance, OpKind kind,
                llvm::ArrayRef<Param> params);

/// Where a slice that is a `split` cuts its operand.
std::optional<int64_t> getCut(const OperatorInstance &instance,
                              llvm::ArrayRef<Param> params);

/// What the text form leaves to the context.
struct Choices {
  int64_t cut = 0;             ///< Of a `split`.
  mlir::RankedTensorType type; ///< Of a constant.
  mlir::FloatAttr number;      ///< The operand that is an attribute.
};

/// Makes the operator of `graph` that computes `kind` with `params` for all
/// sizes that `operands` leave open. Nothing if there is none, or if extents
/// that must agree are known to differ.
std::optional<OperatorInstance>
makeOperator(OpKind kind, llvm::ArrayRef<Param> params,
             llvm::ArrayRef<mlir::RankedTensorType> operands,
             const Choices &choices, mlir::MLIRContext *context);

/// Makes the slice of `operand` from `offset`, of `size` elements along `axis`.
OperatorInstance makeSlice(mlir::RankedTensorType operand, unsigned axis,
                           int64_t offset, int64_t size);

/// If `instance` is a slice along one axis and whole along the others, the
/// axis, the offset and the size.
struct AxisSlice {
  unsigned axis;
  int64_t offset, size;
};
std::optional<AxisSlice> getAxisSlice(const OperatorInstance &instance);

/// The instance that an operation is; nothing if it has operands of type
/// `index` with another meaning, or not one ranked tensor as its result.
std::optional<OperatorInstance> getInstance(mlir::Operation *op);

/// What an operator does, read off its definition.
struct OperatorWork {
  /// How it becomes part of a kernel.
  enum class Form {
    Kernel,      ///< One of its own.
    Elementwise, ///< The end of the kernel that computes its first operand.
    View,        ///< The way in which its users read.
  } form = Form::Kernel;
  /// Floating-point operations of the formula as it stands. Of a kernel those
  /// that are reduced: what ends it hides behind them.
  double flops = 0;
};

/// The work of `instance` if extents that are not known are `assumedExtent`.
/// What has no definition is a kernel without arithmetic.
OperatorWork getWork(const OperatorInstance &instance, int64_t assumedExtent);

/// Creates an operation that computes `instance`.
mlir::Value createOperation(mlir::OpBuilder &builder, mlir::Location loc,
                            const OperatorInstance &instance,
                            mlir::ValueRange operands);

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_SEARCH_GRAPHOPERATORS_H
