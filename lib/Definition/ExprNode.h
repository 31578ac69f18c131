//===- ExprNode.h - The shared nodes behind Expr ----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DEFINITION_EXPRNODE_H
#define ESPALIER_LIB_DEFINITION_EXPRNODE_H

#include "espalier/Definition/Expr.h"

namespace espalier::definition {

/// One node; which members count depends on the kind.
struct Expr::Node {
  Kind kind;
  mlir::Type type;
  double floatValue = 0;
  std::optional<int64_t> intValue;
  TensorRef tensor = TensorRef::operand(0);
  unsigned number = 0;
  ScalarFn fn = ScalarFn::Add;
  ReduceKind reduceKind = ReduceKind::Sum;
  llvm::SmallVector<Expr, 3> operands;
  llvm::SmallVector<IndexVar, 2> vars;
  Expr guard;

  Node(Kind kind, mlir::Type type) : kind(kind), type(type) {}
};

} // namespace espalier::definition

#endif // ESPALIER_LIB_DEFINITION_EXPRNODE_H
