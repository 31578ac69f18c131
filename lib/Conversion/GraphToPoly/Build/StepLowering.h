//===- StepLowering.h - One equation as statements --------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_BUILD_STEPLOWERING_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_BUILD_STEPLOWERING_H

#include "../StatementList.h"

namespace espalier::graphtopoly {

using definition::IndexVar;
using definition::ReduceKind;
using definition::VarId;

/// Writes one equation as statements. Variables keep the ids of the definition
/// until a statement is complete, then become its dimensions.
class StepLowering {
public:
  StepLowering(StatementList &program, mlir::Location loc)
      : program(program), loc(loc) {}

  /// Of a recurrence: the variable that it runs along, and what its statements
  /// are told of it.
  std::optional<VarId> recurrenceVar;
  unsigned recurrenceGroup = 0;
  std::optional<ArrayId> levels;

  void declare(const IndexVar &var);

  /// Moves each reduction inside `expr` to a statement of its own.
  Expr extractReductions(Expr expr);

  /// Adds `target[vars] = value`.
  void addStatement(ArrayId target, llvm::ArrayRef<VarId> vars, Expr value,
                    std::optional<ReduceKind> reduction, Conjunction domain);

private:
  /// The variables that `expr` depends on, in order of declaration.
  llvm::SmallVector<VarId> getFreeVars(Expr expr,
                                       llvm::ArrayRef<IndexVar> bound);
  Expr addReduction(Expr reduce);

  StatementList &program;
  mlir::Location loc;
  llvm::SmallVector<VarId> order;
  llvm::DenseMap<VarId, mlir::AffineExpr> extents;
  llvm::DenseMap<VarId, std::string> names;
};

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_BUILD_STEPLOWERING_H
