//===- CellBuilder.h - Definitions made of cells ----------------*- C++ -*-===//
//
// The definition of an operator that computes a cell, a block of operators, for
// each step of time or node of a structure. Each operator's definition gets the
// cell's indices as its first ones (Definition/Instantiate.h). What depends on
// no other step stands before the recurrence, for all steps at once.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_CELLBUILDER_H
#define ESPALIER_DIALECT_GRAPH_IR_CELLBUILDER_H

#include "espalier/Definition/Instantiate.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/DenseSet.h"

namespace espalier::graph {

/// Checks that a cell may have `op`: an operator that a definition gives
/// without a recurrence, with tensors as its only operands, and with result
/// types that follow from theirs; or a constant of one value.
mlir::LogicalResult verifyCellOp(mlir::Operation &op);

/// The type that a cell sees of what it is given: without what says how a
/// constant is stored.
mlir::Type dropEncoding(mlir::Type type);

/// A value of a cell.
struct CellValue {
  definition::Argument argument = {};
  /// How many of the cell's indices it depends on.
  unsigned numIndices = 0;
  /// Whether it depends on results of other steps.
  bool isRecursive = false;
};

class CellBuilder {
protected:
  using Expr = definition::Expr;
  using IndexVar = definition::IndexVar;
  using TensorRef = definition::TensorRef;

  explicit CellBuilder(mlir::MLIRContext *context) : context(context) {}

  Expr index(int64_t value) const;
  llvm::SmallVector<Expr> use(llvm::ArrayRef<IndexVar> vars) const;
  /// Reads a value at the cell's indices, and `at` after these.
  Expr read(const CellValue &value, llvm::ArrayRef<Expr> at,
            mlir::Type type) const;
  TensorRef addStep(llvm::StringRef name, llvm::ArrayRef<IndexVar> vars,
                    Expr value, mlir::Type type, bool isRecursive = false);
  /// What a step holds whose first indices are the cell's.
  CellValue makeValue(TensorRef step, unsigned numIndices,
                      bool isRecursive) const;

  /// Adds the steps of a constant or an operator. One that depends on the
  /// cell's indices is computed in the recurrence if `keep` says so.
  void addOperation(
      mlir::Operation &op, llvm::function_ref<bool(DefinedOpInterface)> keep =
                               [](DefinedOpInterface) { return false; });

  /// Stands for a tensor of the recurrence until its step is known.
  static TensorRef getPlaceholder(unsigned number) {
    return TensorRef::step(~number);
  }
  /// Gives the next placeholder, from 0 on, its step.
  void addPlaced(TensorRef step) { placed.push_back(step.number); }

  /// Moves the recurrence over index 0 behind all that it does not have a part
  /// in, in front of the results, which are the last steps; and replaces the
  /// placeholders. What the recurrence needs nothing of comes after it.
  void order(std::optional<unsigned> levels = std::nullopt);

  mlir::MLIRContext *context;
  definition::Definition definition;
  llvm::DenseMap<mlir::Value, CellValue> valueOf;
  /// The indices of the cell, or of a part of it that has more.
  llvm::SmallVector<IndexVar> cellIndices;

private:
  void addConstant(mlir::Value value, mlir::Attribute splat);
  void addOperator(DefinedOpInterface op,
                   llvm::function_ref<bool(DefinedOpInterface)> keep);
  /// The recursive steps that values of other steps of time depend on.
  llvm::DenseSet<unsigned> getRepeated() const;

  llvm::DenseSet<unsigned> recursive;
  llvm::SmallVector<unsigned> placed; ///< The steps of the placeholders.
};

} // namespace espalier::graph

#endif // ESPALIER_DIALECT_GRAPH_IR_CELLBUILDER_H
