//===- AstInterpreter.cpp - Runs loops, one statement after the other -----===//

#include "espalier/Polyhedral/Ast.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier::polyhedral;

int64_t espalier::polyhedral::evaluate(AffineExpr expr,
                                       llvm::ArrayRef<int64_t> dims,
                                       llvm::ArrayRef<int64_t> symbols) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbols[symbol.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  int64_t lhs = evaluate(binary.getLHS(), dims, symbols);
  int64_t rhs = evaluate(binary.getRHS(), dims, symbols);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::CeilDiv:
    return -llvm::divideFloorSigned(-lhs, rhs);
  case AffineExprKind::FloorDiv:
    return llvm::divideFloorSigned(lhs, rhs);
  default:
    return lhs - llvm::divideFloorSigned(lhs, rhs) * rhs;
  }
}

namespace {
class AstInterpreter {
public:
  AstInterpreter(llvm::ArrayRef<int64_t> parameters,
                 llvm::function_ref<bool(const AstInstance &)> visit)
      : parameters(parameters), visit(visit) {}

  bool run(const AstNode &node);

private:
  int64_t get(const AstExpr &expr);
  bool holds(const AstCondition &condition);

  llvm::ArrayRef<int64_t> parameters;
  llvm::function_ref<bool(const AstInstance &)> visit;
  llvm::SmallVector<int64_t> iterators;
  llvm::SmallVector<std::pair<const AstNode *, int64_t>> loops;
};
} // namespace

int64_t AstInterpreter::get(const AstExpr &expr) {
  switch (expr.kind) {
  case AstExpr::Kind::Affine:
    return evaluate(expr.affine, iterators, parameters);
  case AstExpr::Kind::Select:
    return get(expr.operands[holds(*expr.condition) ? 0 : 1]);
  case AstExpr::Kind::Max:
  case AstExpr::Kind::Min:
    break;
  }
  int64_t value = get(expr.operands[0]);
  for (const AstExpr &operand : expr.operands)
    value = expr.kind == AstExpr::Kind::Max ? std::max(value, get(operand))
                                            : std::min(value, get(operand));
  return value;
}

bool AstInterpreter::holds(const AstCondition &condition) {
  auto check = [&](const AstCondition &part) { return holds(part); };
  switch (condition.kind) {
  case AstCondition::Kind::True:
    return true;
  case AstCondition::Kind::NonNegative:
    return get(condition.value) >= 0;
  case AstCondition::Kind::Zero:
    return get(condition.value) == 0;
  case AstCondition::Kind::And:
    return llvm::all_of(condition.operands, check);
  case AstCondition::Kind::Or:
    return llvm::any_of(condition.operands, check);
  case AstCondition::Kind::Not:
    return !holds(condition.operands[0]);
  }
  llvm_unreachable("all kinds are handled");
}

bool AstInterpreter::run(const AstNode &node) {
  switch (node.kind) {
  case AstNode::Kind::For:
    if (iterators.size() <= node.iterator)
      iterators.resize(node.iterator + 1);
    for (int64_t i = get(node.lower), e = get(node.upper); i < e;
         i += node.step) {
      iterators[node.iterator] = i;
      loops.push_back({&node, i});
      bool goesOn = run(*node.children[0]);
      loops.pop_back();
      if (!goesOn)
        return false;
    }
    return true;
  case AstNode::Kind::If:
    if (holds(node.condition))
      return run(*node.children[0]);
    return node.children.size() < 2 || run(*node.children[1]);
  case AstNode::Kind::Block:
  case AstNode::Kind::Mark:
    return llvm::all_of(node.children,
                        [&](const Ast &child) { return run(*child); });
  case AstNode::Kind::Call: {
    AstInstance instance{node.statement, {}, loops};
    for (AffineExpr value : node.values)
      instance.point.push_back(evaluate(value, iterators, parameters));
    return visit(instance);
  }
  }
  llvm_unreachable("all kinds are handled");
}

bool espalier::polyhedral::runAst(
    const AstNode &node, llvm::ArrayRef<int64_t> parameters,
    llvm::function_ref<bool(const AstInstance &)> visit) {
  return AstInterpreter(parameters, visit).run(node);
}
