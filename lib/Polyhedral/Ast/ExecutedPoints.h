//===- ExecutedPoints.h - What loops execute --------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_AST_EXECUTEDPOINTS_H
#define ESPALIER_LIB_POLYHEDRAL_AST_EXECUTEDPOINTS_H

#include "../Isl.h"
#include "espalier/Polyhedral/Ast.h"

namespace espalier::polyhedral {

/// Whether some loop has a step that is not 1.
bool hasSteps(const AstNode &loops);

/// Whether `loops` execute each point of `domain` once, and no others, for
/// parameters that satisfy the program's assumptions.
isl_bool executesOnce(const Program &program, const AstNode &loops,
                      const isl::UnionSet &domain);

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_AST_EXECUTEDPOINTS_H
