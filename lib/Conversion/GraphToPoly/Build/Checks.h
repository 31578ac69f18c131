//===- Checks.h - The sizes that a program is defined for -------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_BUILD_CHECKS_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_BUILD_CHECKS_H

#include "espalier/Definition/Definition.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Operation.h"

namespace espalier::graphtopoly {

struct StatementList;

/// A condition on symbols, without which the program must not run.
struct Check {
  mlir::Location loc;
  definition::Requirement::Kind kind;
  mlir::AffineExpr value, bound; ///< What is compared.
  /// Where one of these is not positive, the condition need not hold.
  llvm::SmallVector<mlir::AffineExpr> exceptions = {};
  std::string message = {};
};

/// Adds the check that sizes are as `op` requires; `rule` says what it expects.
/// Leaves out what always holds, and what is checked already; reports what
/// never does.
mlir::LogicalResult addCheck(StatementList &program, mlir::Operation *op,
                             Check check, llvm::StringRef rule);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_BUILD_CHECKS_H
