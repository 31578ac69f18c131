//===- Definition.h - What an operator means --------------------*- C++ -*-===//
//
// A `Definition` is the mathematics of one operator at known ranks and
// attributes; sizes stay symbolic. Shape inference, the reference interpreter,
// the lowering to `poly`, the FLOP count, the manual page and the prover are
// all derived from it, so it is the only place where an operator's meaning is
// written down. Most operators give it as text (Notation.h); operators whose
// rank, arity or attributes shape the formula build the same object in C++.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DEFINITION_DEFINITION_H
#define ESPALIER_DEFINITION_DEFINITION_H

#include "espalier/Definition/Expr.h"
#include "mlir/Support/LLVM.h"

namespace espalier::definition {

/// One equation `name[indices] = value`: an intermediate or a result tensor.
///
/// A step may read the operator's operands and earlier steps. A step of a
/// recurrence may also read itself, and later steps of the same recurrence, at
/// a smaller value of the index at position `recurrence`; all steps of one
/// recurrence stand next to each other and agree in that position's extent.
///
/// Where the smaller value is read from a tensor, as in a recurrence over the
/// nodes of a tree, a vector among the operands, `levels`, may cut that index
/// into intervals: from each of its elements to the next. A step then reads the
/// recurrence at indices of earlier intervals only, so those of one are
/// independent.
struct Step {
  std::string name;
  mlir::Type elementType;
  llvm::SmallVector<IndexVar> indices;
  Expr value;
  std::optional<unsigned> recurrence;
  std::optional<unsigned> levels = std::nullopt;
};

/// A condition on sizes under which an operator is defined, where types alone
/// do not tell: extents that agree, elements that exist. Programs and the
/// interpreter check it before they read anything.
struct Requirement {
  enum class Kind { Equal, AtMost, AtLeast };

  Kind kind;
  /// What is compared; both are extents in the sense of `isExtent`.
  Expr value, bound;
  /// What is expected, such as "extents of k to agree".
  std::string rule;
  /// Where one of these extents is 0, nothing is required.
  llvm::SmallVector<Expr, 0> exceptions = {};
};

/// Whether `value` is to `bound` as a requirement of this kind asks for.
bool holds(Requirement::Kind kind, int64_t value, int64_t bound);

/// Says that `value` does not meet a requirement.
std::string explain(Requirement::Kind kind, llvm::StringRef rule,
                    const llvm::Twine &value, const llvm::Twine &bound);

/// The steps of an operator, in an order in which they can be computed.
struct Definition {
  llvm::SmallVector<std::string> operandNames; ///< Tensor operands.
  llvm::SmallVector<Step> steps;
  llvm::SmallVector<unsigned> results; ///< Step of each result of the operator.
  llvm::SmallVector<Requirement> requirements;
  VarId nextVar = 0;

  /// Makes a fresh index variable.
  IndexVar makeVar(llvm::StringRef name, Expr extent);
  /// Appends a step and returns a reference to it.
  TensorRef addStep(Step step);
  /// Returns the extent of a tensor's dimension: an operand's size, or the
  /// extent of a step's index.
  Expr getExtent(TensorRef tensor, unsigned dim,
                 mlir::MLIRContext *context) const;
};

/// Extents and types of a tensor operand at instantiation.
struct OperandInfo {
  std::string name;
  mlir::RankedTensorType type;
};

/// Evaluates an index expression whose sizes are all static (`?` makes it
/// `ShapedType::kDynamic`). `operands` gives the sizes; parameters are dynamic
/// unless `parameters` has a value for them.
int64_t evaluateExtent(Expr extent, const Definition &definition,
                       llvm::ArrayRef<mlir::RankedTensorType> operands,
                       llvm::ArrayRef<std::optional<int64_t>> parameters = {});

/// Whether an index expression, or a part of it, has a value beyond 64 bits
/// where sizes are static, as given for `evaluateExtent`.
bool isTooLarge(Expr extent, const Definition &definition,
                llvm::ArrayRef<mlir::RankedTensorType> operands);

/// Whether sizes are as required, or nothing where they are not all known. The
/// sizes are given as for `evaluateExtent`.
std::optional<bool>
isMet(const Requirement &requirement, const Definition &definition,
      llvm::ArrayRef<mlir::RankedTensorType> operands,
      llvm::ArrayRef<std::optional<int64_t>> parameters = {});

/// The types of the results, dynamic extents as `?`.
llvm::SmallVector<mlir::RankedTensorType>
inferResultTypes(const Definition &definition,
                 llvm::ArrayRef<mlir::RankedTensorType> operands,
                 llvm::ArrayRef<std::optional<int64_t>> parameters = {});

/// Work per evaluation, with every size known: floating-point operations of the
/// formulas as they stand, and bytes of operands and results touched once.
struct Cost {
  double flops = 0;
  double reducedFlops = 0; ///< Those of reductions, and of what they reduce.
  double bytes = 0;
};
std::optional<Cost>
estimateCost(const Definition &definition,
             llvm::ArrayRef<mlir::RankedTensorType> operands);

/// Prints the equations in the index notation, one per line.
void print(const Definition &definition, llvm::raw_ostream &os);

} // namespace espalier::definition

#endif // ESPALIER_DEFINITION_DEFINITION_H
