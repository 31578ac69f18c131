//===- AstConversion.h - isl's AST in our terms -----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_AST_ASTCONVERSION_H
#define ESPALIER_LIB_POLYHEDRAL_AST_ASTCONVERSION_H

#include "espalier/Polyhedral/Ast.h"
#include <isl/ast.h>

namespace espalier::polyhedral {

/// What a mark in isl's AST stands for: a band or a mark of the schedule tree,
/// and the number of loops of the bands above it.
struct MarkInfo {
  const ScheduleNode *node;
  unsigned depth;
};

/// Translates `node`. Its marks are named after positions in `marks`.
llvm::Expected<Ast> convertAst(const Program &program, isl_ast_node *node,
                               llvm::ArrayRef<MarkInfo> marks);

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_AST_ASTCONVERSION_H
