//===- Notation.h - The index notation of definitions -----------*- C++ -*-===//
//
//   definition := equation (';' equation)* ';'?
//   equation   := NAME '[' var,* ']' '=' expr
//   index      := NAME | NAME '..'            `b..` stands for any number of
//                                             indices, one per dimension
//   var        := index ('<' extent)?
//   expr       := expr 'if' expr 'else' expr | comparison | + - * / // % | call
//               | NAME '[' expr,* ']' | number | NAME
//               | ('sum'|'mean'|'prod'|'max'|'min') '(' var,* ('|' condition)?
//                 ')' product
//
// The last equation is the result; the others are intermediate tensors.
//
// An index variable's extent is that of the dimension at which it stands alone
// as an index of an operand: `i` in `A[b.., i, k]` runs over dimension 1 of A.
// When it stands alone in several places, those extents must agree, and that
// is the operator's shape constraint. Where its range is written out, as in
// `k < size(A, 0)`, nothing is checked. `b..` broadcasts: an operand with fewer
// leading dimensions, or with a static extent of 1 where another has more,
// repeats. A NAME that is no index is an attribute of the operator (a number or
// an activation, applied as a function), and `size(A, d)` an extent. Functions
// are those of ScalarFunctions.def and Formulas.h.
//
// What is computed of f16 and bf16 is f32, and stays so from equation to
// equation. The result has the operands' element type again.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DEFINITION_NOTATION_H
#define ESPALIER_DEFINITION_NOTATION_H

#include "espalier/Definition/Definition.h"
#include "llvm/ADT/StringMap.h"

namespace espalier::definition {

/// What the text is instantiated with.
struct Instantiation {
  llvm::SmallVector<OperandInfo> operands;
  /// Numeric attributes, by name.
  llvm::StringMap<std::variant<int64_t, double>> numbers;
  /// Names that the text applies as functions, such as an activation `act`.
  llvm::StringMap<std::function<Expr(Expr)>> functions;
  /// Element type of the results when the formula does not decide it (casts).
  mlir::Type resultElementType;
  mlir::MLIRContext *context;
};

/// Parses and instantiates `text`. On a fault, calls `error` with a message
/// such as "expects '=' after 'R[i]'" or, for shapes, "expects extents of i to
/// agree, but dimension 1 of A is 3 and dimension 0 of B is 4".
mlir::FailureOr<Definition>
parseDefinition(llvm::StringRef text, const Instantiation &instantiation,
                llvm::function_ref<void(const llvm::Twine &)> error);

} // namespace espalier::definition

#endif // ESPALIER_DEFINITION_NOTATION_H
