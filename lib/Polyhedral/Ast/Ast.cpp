//===- Ast.cpp - Expressions and nodes of loops ---------------------------===//

#include "espalier/Polyhedral/Ast.h"

using namespace mlir;
using namespace espalier::polyhedral;

std::optional<int64_t> AstExpr::getConstant() const {
  if (kind == Kind::Affine)
    if (auto constant = dyn_cast<AffineConstantExpr>(affine))
      return constant.getValue();
  return std::nullopt;
}

void AstExpr::walk(llvm::function_ref<void(AffineExpr)> visit) const {
  if (kind == Kind::Affine)
    visit(affine);
  if (condition)
    condition->walk(visit);
  for (const AstExpr &operand : operands)
    operand.walk(visit);
}

void AstCondition::walk(llvm::function_ref<void(AffineExpr)> visit) const {
  if (kind == Kind::NonNegative || kind == Kind::Zero)
    value.walk(visit);
  for (const AstCondition &operand : operands)
    operand.walk(visit);
}

Ast AstNode::clone() const {
  auto copy = std::make_unique<AstNode>(kind);
  copy->iterator = iterator;
  copy->lower = lower;
  copy->upper = upper;
  copy->step = step;
  copy->member = member;
  copy->tag = tag;
  copy->condition = condition;
  copy->statement = statement;
  copy->values = values;
  copy->mark = mark;
  for (const Ast &child : children)
    copy->children.push_back(child->clone());
  return copy;
}

unsigned AstNode::countIterators() const {
  unsigned number = kind == Kind::For ? iterator + 1 : 0;
  for (const Ast &child : children)
    number = std::max(number, child->countIterators());
  return number;
}
