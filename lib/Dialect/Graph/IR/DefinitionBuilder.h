//===- DefinitionBuilder.h - Definitions built in C++ -----------*- C++ -*-===//
//
// For operators whose rank, arity or attributes shape the formula.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_DIALECT_GRAPH_IR_DEFINITIONBUILDER_H
#define ESPALIER_LIB_DIALECT_GRAPH_IR_DEFINITIONBUILDER_H

#include "espalier/Definition/Definition.h"
#include "espalier/Dialect/Graph/IR/DefinedOp.h"

namespace espalier::graph {

class DefinitionBuilder {
public:
  using Expr = definition::Expr;
  using IndexVar = definition::IndexVar;
  using TensorRef = definition::TensorRef;

  /// Prepares the definition of an operator with these operands. `names` are
  /// those of the operator's arguments; the last name is repeated with a number
  /// when there are more tensors.
  DefinitionBuilder(mlir::ValueRange operands,
                    llvm::ArrayRef<llvm::StringRef> names,
                    DefinitionError error);
  /// The same for an operator that may be without operands.
  DefinitionBuilder(mlir::MLIRContext *context, mlir::ValueRange operands,
                    llvm::ArrayRef<llvm::StringRef> names,
                    DefinitionError error);

  mlir::MLIRContext *getContext() const { return context; }
  mlir::RankedTensorType getType(unsigned operand) const {
    return types[operand];
  }
  mlir::Type getElementType(unsigned operand) const {
    return types[operand].getElementType();
  }
  unsigned getRank(unsigned operand) const { return types[operand].getRank(); }

  /// An integer of type `index`.
  Expr index(int64_t value) const;
  /// The extent of an operand's dimension: a number if it is static.
  Expr size(unsigned operand, unsigned dim) const;
  /// The same, as a symbol even if it is static.
  Expr symbolicSize(unsigned operand, unsigned dim) const;
  /// The extent, if it is static.
  std::optional<int64_t> getStaticSize(unsigned operand, unsigned dim) const;

  /// The extents (or offsets) given by attribute and, where an entry is
  /// dynamic, by the next of `values`, which are parameters from
  /// `firstParameter` on. Fails if the numbers do not match.
  mlir::FailureOr<llvm::SmallVector<Expr>>
  mixedIndices(llvm::ArrayRef<int64_t> entries, mlir::ValueRange values,
               llvm::StringRef what, unsigned firstParameter = 0) const;
  /// The same, without negative numbers.
  mlir::FailureOr<llvm::SmallVector<Expr>>
  mixedSizes(llvm::ArrayRef<int64_t> entries, mlir::ValueRange values,
             unsigned firstParameter = 0) const;

  IndexVar makeVar(llvm::StringRef name, Expr extent);
  /// A variable for each extent, named `name0`, `name1`..
  llvm::SmallVector<IndexVar> makeVars(llvm::StringRef name,
                                       llvm::ArrayRef<Expr> extents);
  /// A variable over each dimension of an operand, named `name0`, `name1`..
  llvm::SmallVector<IndexVar> makeVars(llvm::StringRef name, unsigned operand);
  Expr use(const IndexVar &var) const;
  llvm::SmallVector<Expr> use(llvm::ArrayRef<IndexVar> vars) const;

  Expr read(unsigned operand, llvm::ArrayRef<Expr> indices) const;
  Expr read(TensorRef tensor, llvm::ArrayRef<Expr> indices) const;
  /// Reads an operand that broadcasts to the indices, whose extents are those
  /// of `vars`. Fails if it does not.
  mlir::FailureOr<Expr> readBroadcast(unsigned operand,
                                      llvm::ArrayRef<IndexVar> vars);

  /// The value as an index that is safe to read at: a negative one counts from
  /// the end of `extent`, and then it is clamped.
  Expr wrapIndex(Expr value, Expr extent) const;
  /// The value of an extent or index, if it is known.
  std::optional<int64_t> evaluate(Expr expr) const;

  /// Adds a tensor that the operator computes on the way.
  TensorRef addStep(llvm::StringRef name, llvm::ArrayRef<IndexVar> indices,
                    Expr value);
  /// Adds a result, converted to `elementType`.
  void addResult(llvm::StringRef name, llvm::ArrayRef<IndexVar> indices,
                 Expr value, mlir::Type elementType);
  /// Marks the last `count` steps as a recurrence over their index at
  /// `position`.
  void markRecurrence(unsigned count, unsigned position);
  /// Makes an existing step a result.
  void addResult(TensorRef step);

  /// Adds a requirement, unless it is known to be met. Fails if it is known not
  /// to be.
  mlir::LogicalResult require(definition::Requirement requirement);
  /// Requires that an extent, `rhs`, is as needed. `rule` says what is
  /// expected.
  mlir::LogicalResult requireEqual(Expr lhs, Expr rhs, const llvm::Twine &rule);
  /// Requires that there is an element that clamping an index to `extent` may
  /// lead to, if `readers` have any points. `where` is "of X .." or the like.
  mlir::LogicalResult requireElements(Expr extent, const llvm::Twine &where,
                                      llvm::ArrayRef<IndexVar> readers);
  /// Requires that tensor operands have the element type of operand 0.
  mlir::LogicalResult requireSameType(llvm::ArrayRef<unsigned> operands) const;
  /// Reports a fault.
  mlir::LogicalResult fail(const llvm::Twine &reason) const;

  definition::Definition take() { return std::move(definition); }

private:
  mlir::MLIRContext *context;
  DefinitionError error;
  llvm::SmallVector<mlir::RankedTensorType> types;
  definition::Definition definition;
};

/// Checks that `axis` is a dimension of operand 0.
mlir::LogicalResult checkAxis(const DefinitionBuilder &builder, int64_t axis);

/// Requires that operand 1 has the rank of operand 0, and no larger extents
/// except along `axis`, where there are elements for it to index.
mlir::LogicalResult requireElementIndices(DefinitionBuilder &builder,
                                          int64_t axis);

/// Requires that dimension `dim` of operand 0 has elements to index, if
/// `readers` have any points.
mlir::LogicalResult
requireIndexable(DefinitionBuilder &builder, unsigned dim,
                 llvm::ArrayRef<definition::IndexVar> readers);

/// Adds the step `J`: operand 1 as indices of operand 0 along `axis` that are
/// safe to read at. `name` is that of its variables.
definition::TensorRef addSafeIndices(DefinitionBuilder &builder,
                                     llvm::StringRef name, int64_t axis);

/// Checks and returns the length of the tuples in the last dimension of operand
/// 1, which index dimensions of operand 0 from `numBatch` on.
mlir::FailureOr<int64_t> checkTuples(const DefinitionBuilder &builder,
                                     int64_t numBatch);

/// Adds a step for each member of the tuples: the safe index.
llvm::SmallVector<definition::TensorRef>
addTupleIndices(DefinitionBuilder &builder, int64_t length, int64_t numBatch);

} // namespace espalier::graph

#endif // ESPALIER_LIB_DIALECT_GRAPH_IR_DEFINITIONBUILDER_H
