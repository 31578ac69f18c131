//===- AstPrinter.cpp - Loops as text -------------------------------------===//

#include "espalier/Polyhedral/Ast.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace espalier::polyhedral;

std::optional<int64_t> AstExpr::getConstant() const {
  if (kind == Kind::Affine)
    if (auto constant = dyn_cast<AffineConstantExpr>(affine))
      return constant.getValue();
  return std::nullopt;
}

static void printExpr(const AstExpr &expr, llvm::raw_ostream &os);

static void printCondition(const AstCondition &condition,
                           llvm::raw_ostream &os) {
  auto printOperands = [&](llvm::StringRef separator) {
    os << "(";
    llvm::interleave(
        condition.operands, os,
        [&](const AstCondition &operand) { printCondition(operand, os); },
        separator);
    os << ")";
  };
  switch (condition.kind) {
  case AstCondition::Kind::True:
    os << "true";
    return;
  case AstCondition::Kind::NonNegative:
    printExpr(condition.value, os);
    os << " >= 0";
    return;
  case AstCondition::Kind::Zero:
    printExpr(condition.value, os);
    os << " == 0";
    return;
  case AstCondition::Kind::And:
    return printOperands(" && ");
  case AstCondition::Kind::Or:
    return printOperands(" || ");
  case AstCondition::Kind::Not:
    os << "!";
    return printOperands("");
  }
}

static void printExpr(const AstExpr &expr, llvm::raw_ostream &os) {
  switch (expr.kind) {
  case AstExpr::Kind::Affine:
    os << expr.affine;
    return;
  case AstExpr::Kind::Max:
  case AstExpr::Kind::Min:
    os << (expr.kind == AstExpr::Kind::Max ? "max(" : "min(");
    llvm::interleaveComma(expr.operands, os, [&](const AstExpr &operand) {
      printExpr(operand, os);
    });
    os << ")";
    return;
  case AstExpr::Kind::Select:
    os << "(";
    printCondition(*expr.condition, os);
    os << " ? ";
    printExpr(expr.operands[0], os);
    os << " : ";
    printExpr(expr.operands[1], os);
    os << ")";
    return;
  }
}

void espalier::polyhedral::print(const Program &program, const AstNode &node,
                                 llvm::raw_ostream &os, unsigned indent) {
  switch (node.kind) {
  case AstNode::Kind::For:
    os.indent(indent) << "for d" << node.iterator << " = ";
    printExpr(node.lower, os);
    os << " to ";
    printExpr(node.upper, os);
    if (node.step != 1)
      os << " step " << node.step;
    if (node.tag)
      os << " " << node.tag;
    os << "\n";
    return print(program, *node.children[0], os, indent + 2);
  case AstNode::Kind::If:
    os.indent(indent) << "if ";
    printCondition(node.condition, os);
    os << "\n";
    print(program, *node.children[0], os, indent + 2);
    if (node.children.size() > 1) {
      os.indent(indent) << "else\n";
      print(program, *node.children[1], os, indent + 2);
    }
    return;
  case AstNode::Kind::Block:
    for (const Ast &child : node.children)
      print(program, *child, os, indent);
    return;
  case AstNode::Kind::Call:
    os.indent(indent) << program.statements[node.statement].name << "(";
    llvm::interleaveComma(node.values, os);
    os << ")\n";
    return;
  case AstNode::Kind::Mark:
    os.indent(indent) << "mark " << node.mark << "\n";
    return print(program, *node.children[0], os, indent + 2);
  }
}
