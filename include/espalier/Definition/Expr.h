//===- Expr.h - Scalar expressions of operator definitions ------*- C++ -*-===//
//
// An operator's definition says what one element of its result is. `Expr` is
// the expression on the right-hand side: immutable, shared, and typed by the
// MLIR element types. Index arithmetic and arithmetic on elements use the same
// nodes; an index is an expression of type `index`.
//
//   R[i, j] = relu(sum(k) A[i, k] * B[k, j])
//
// is  apply(relu, reduce(sum, {k}, apply(mul, access(A,{i,k}),
// access(B,{k,j}))))
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DEFINITION_EXPR_H
#define ESPALIER_DEFINITION_EXPR_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <optional>
#include <string>
#include <variant>

namespace espalier::definition {

/// A scalar function; `ScalarFunctions.def` is the one table of them.
enum class ScalarFn {
#define SCALAR_FN(id, name, arity, result) id,
#include "espalier/Definition/ScalarFunctions.def"
};

/// What a scalar function returns in terms of its operands.
enum class ScalarResult {
  SameAsOperands, ///< The operands' common type.
  Boolean,        ///< `i1`.
};

/// Returns the function's name in the index notation, such as `max`.
llvm::StringRef getName(ScalarFn fn);
/// Returns the number of operands, 1 or 2.
unsigned getArity(ScalarFn fn);
/// Returns how the result's type follows from the operands' types.
ScalarResult getResultRule(ScalarFn fn);
/// Returns the function of this name, if there is one.
std::optional<ScalarFn> lookupScalarFn(llvm::StringRef name);

/// How a reduction combines its summands. The neutral element is that of the
/// kind: 0, 1, minus infinity (or the least integer), plus infinity.
enum class ReduceKind { Sum, Product, Max, Min };

/// Returns `sum`, `prod`, `max` or `min`.
llvm::StringRef getName(ReduceKind kind);
/// Returns the scalar function that combines two partial results.
ScalarFn getCombiner(ReduceKind kind);

/// The tensor that an access or a size refers to: an operand of the operator or
/// a step of its definition.
struct TensorRef {
  enum class Kind { Operand, Step } kind;
  unsigned number;

  static TensorRef operand(unsigned number) { return {Kind::Operand, number}; }
  static TensorRef step(unsigned number) { return {Kind::Step, number}; }
  bool isOperand() const { return kind == Kind::Operand; }
  bool operator==(TensorRef other) const {
    return kind == other.kind && number == other.number;
  }
};

/// Identifies an index variable within one definition.
using VarId = unsigned;

struct IndexVar;

/// A scalar expression: a cheap handle to an immutable shared node. A
/// default-constructed `Expr` is null.
class Expr {
public:
  enum class Kind {
    Constant,  ///< A literal; without a type until it meets a typed operand.
    Variable,  ///< An index variable, of type `index`.
    Size,      ///< The extent of a tensor along a dimension, of type `index`.
    Parameter, ///< An index-typed scalar operand of the operator.
    Access,    ///< An element of a tensor.
    Apply,     ///< A scalar function.
    Select,    ///< `a if cond else b`; evaluates only the branch it takes.
    Cast,      ///< Conversion of a number to another element type.
    Reduce,    ///< `sum(k: cond) body` and its kin.
  };
  struct Node;

  Expr() = default;
  explicit Expr(std::shared_ptr<const Node> node) : node(std::move(node)) {}
  explicit operator bool() const { return node != nullptr; }

  Kind getKind() const;
  /// The type of the value; null for a literal that has not met a typed
  /// operand.
  mlir::Type getType() const;

  /// Constant: the value as a double, and as an integer if it was given as one.
  double getFloat() const;
  std::optional<int64_t> getInt() const;
  /// Variable.
  VarId getVariable() const;
  /// Size, Access.
  TensorRef getTensor() const;
  /// Size: the dimension. Parameter: the number of the scalar operand.
  unsigned getNumber() const;
  /// Access: the indices. Apply: the arguments. Select: condition, then, else.
  /// Cast: the operand. Reduce: the body.
  llvm::ArrayRef<Expr> getOperands() const;
  /// Apply.
  ScalarFn getFn() const;
  /// Reduce.
  ReduceKind getReduceKind() const;
  llvm::ArrayRef<IndexVar> getReduceVars() const;
  /// Reduce: the condition (of type i1) under which a point counts, or null.
  Expr getGuard() const;

  const Node *getNode() const { return node.get(); }

private:
  std::shared_ptr<const Node> node;
};

/// An index variable that runs from 0 to `extent` - 1, where the extent is one
/// in the sense of `isExtent`.
struct IndexVar {
  VarId id;
  std::string name;
  Expr extent;
};

//===----------------------------------------------------------------------===//
// Construction. Index arithmetic on constants is folded.
//===----------------------------------------------------------------------===//

Expr constant(int64_t value);
Expr constant(double value);
Expr variable(VarId id, mlir::MLIRContext *context);
Expr size(TensorRef tensor, unsigned dim, mlir::MLIRContext *context);
Expr parameter(unsigned number, mlir::MLIRContext *context);
Expr access(TensorRef tensor, llvm::ArrayRef<Expr> indices,
            mlir::Type elementType);
/// Applies `fn`. Literals take the type of the other operand; an `index` that
/// meets an element type is converted to it, and f16 and bf16 that meet f32
/// are. Other mixtures are the caller's mistake. A function that rounds
/// computes in `getArithmeticType`, which its result has.
Expr apply(ScalarFn fn, llvm::ArrayRef<Expr> args);
Expr select(Expr condition, Expr thenValue, Expr elseValue);
Expr cast(mlir::Type type, Expr value);
/// Reduces `body` over `vars`, at the points where `guard` (may be null) holds.
/// Integer and floating-point sums accumulate in `accumulatorType`; when null,
/// in the body's own type.
Expr reduce(ReduceKind kind, llvm::ArrayRef<IndexVar> vars, Expr guard,
            Expr body, mlir::Type accumulatorType = {});
/// The type in which numbers of `type` are computed: f32 for narrower
/// floating-point numbers, otherwise `type`.
mlir::Type getArithmeticType(mlir::Type type);
/// The type in which elements of `type` are reduced: `getArithmeticType`, also
/// for maxima, since few machines have instructions for those of f16.
mlir::Type getAccumulatorType(ReduceKind kind, mlir::Type type);

Expr operator+(Expr lhs, Expr rhs);
Expr operator-(Expr lhs, Expr rhs);
Expr operator*(Expr lhs, Expr rhs);
Expr operator+(Expr lhs, int64_t rhs);
Expr operator-(Expr lhs, int64_t rhs);
Expr operator*(Expr lhs, int64_t rhs);
Expr floorDiv(Expr lhs, Expr rhs);
Expr mod(Expr lhs, Expr rhs);
/// 0 <= value < extent, as one condition.
Expr inBounds(Expr value, Expr extent);
/// Conjunction that treats a null operand as true.
Expr conjoin(Expr lhs, Expr rhs);

//===----------------------------------------------------------------------===//
// Inspection
//===----------------------------------------------------------------------===//

/// Calls `visit` on `expr` and everything below it, parents first; what a
/// reduction's guard and extents contain included.
void walk(Expr expr, llvm::function_ref<void(Expr)> visit);

/// Returns true if an index expression is made of numbers, sizes and parameters
/// alone: then its value is known before any element is.
bool isExtent(Expr expr);

/// Rebuilds `expr` bottom-up. `replace` gets each node of it once (a shared one
/// too), after its operands were rebuilt, and returns the node to use, or null
/// to keep it; what is kept with other operands is then folded. Replacements,
/// and what folding makes of nodes, are not offered again.
Expr transform(Expr expr, llvm::function_ref<Expr(Expr)> replace);

/// Translates an index expression into an affine one, or nothing if it is not
/// (semi-)affine. `leaf` maps variables, sizes, parameters and data-dependent
/// accesses to affine expressions; null from it means "not affine".
std::optional<mlir::AffineExpr>
toAffine(Expr expr, mlir::MLIRContext *context,
         llvm::function_ref<mlir::AffineExpr(Expr)> leaf);

/// Prints in the index notation; tensors and variables by the given names.
void print(Expr expr, llvm::raw_ostream &os,
           llvm::function_ref<std::string(TensorRef)> tensorName,
           llvm::function_ref<std::string(VarId)> varName);

} // namespace espalier::definition

#endif // ESPALIER_DEFINITION_EXPR_H
