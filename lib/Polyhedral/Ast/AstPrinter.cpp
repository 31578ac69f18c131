//===- AstPrinter.cpp - Loops as text -------------------------------------===//

#include "espalier/Polyhedral/Ast.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace espalier::polyhedral;

namespace {
/// Prints loops and keeps the names of the enclosing ones.
class AstPrinter {
public:
  AstPrinter(const Program &program, const AstNames &names,
             llvm::raw_ostream &os)
      : program(program), names(names), os(os) {}

  void print(const AstNode &node, unsigned indent);
  void print(AffineExpr expr, bool isOperand = false);

private:
  void printSum(AffineExpr sum);
  void print(const AstExpr &expr);
  void print(const AstCondition &condition);
  void printFor(const AstNode &node, unsigned indent);

  const Program &program;
  const AstNames &names;
  llvm::raw_ostream &os;
  llvm::DenseMap<unsigned, std::string> iterators;
};
} // namespace

/// The operator of a binary expression.
static llvm::StringRef getOperator(AffineExprKind kind) {
  switch (kind) {
  case AffineExprKind::Mul:
    return " * ";
  case AffineExprKind::FloorDiv:
    return " floordiv ";
  case AffineExprKind::CeilDiv:
    return " ceildiv ";
  default:
    return " mod ";
  }
}

void AstPrinter::print(AffineExpr expr, bool isOperand) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
    os << constant.getValue();
    return;
  }
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    auto it = iterators.find(dim.getPosition());
    if (it != iterators.end())
      os << it->second;
    else
      os << "d" << dim.getPosition();
    return;
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    unsigned position = symbol.getPosition();
    if (position < names.parameters.size())
      os << names.parameters[position];
    else
      os << "s" << position;
    return;
  }
  os << (isOperand ? "(" : "");
  if (expr.getKind() == AffineExprKind::Add) {
    printSum(expr);
  } else {
    auto binary = cast<AffineBinaryOpExpr>(expr);
    AffineExpr left = binary.getLHS(), right = binary.getRHS();
    if (expr.getKind() == AffineExprKind::Mul)
      std::swap(left, right); // Factors first, as one writes them.
    if (left == getAffineConstantExpr(-1, expr.getContext())) {
      os << "-";
    } else {
      print(left, true);
      os << getOperator(expr.getKind());
    }
    print(right, true);
  }
  os << (isOperand ? ")" : "");
}

/// The terms of a sum.
static void collectTerms(AffineExpr expr, SmallVectorImpl<AffineExpr> &terms) {
  if (expr.getKind() != AffineExprKind::Add)
    return terms.push_back(expr);
  auto sum = cast<AffineBinaryOpExpr>(expr);
  collectTerms(sum.getLHS(), terms);
  collectTerms(sum.getRHS(), terms);
}

static bool isNegative(AffineExpr term) {
  if (term.getKind() == AffineExprKind::Mul)
    term = cast<AffineBinaryOpExpr>(term).getRHS();
  auto constant = dyn_cast<AffineConstantExpr>(term);
  return constant && constant.getValue() < 0;
}

/// Prints a sum, what is subtracted last.
void AstPrinter::printSum(AffineExpr sum) {
  SmallVector<AffineExpr> terms;
  collectTerms(sum, terms);
  llvm::stable_sort(terms, [](AffineExpr a, AffineExpr b) {
    return isNegative(a) < isNegative(b);
  });
  for (auto [number, term] : llvm::enumerate(terms)) {
    bool isSubtracted = number > 0 && isNegative(term);
    if (number > 0)
      os << (isSubtracted ? " - " : " + ");
    AffineExpr shown = isSubtracted ? -term : term;
    bool isSum = isSubtracted && shown.getKind() == AffineExprKind::Add;
    os << (isSum ? "(" : "");
    print(shown);
    os << (isSum ? ")" : "");
  }
}

void AstPrinter::print(const AstCondition &condition) {
  auto printOperands = [&](llvm::StringRef separator) {
    os << "(";
    llvm::interleave(
        condition.operands, os,
        [&](const AstCondition &operand) { print(operand); }, separator);
    os << ")";
  };
  switch (condition.kind) {
  case AstCondition::Kind::True:
    os << "true";
    return;
  case AstCondition::Kind::NonNegative:
    print(condition.value);
    os << " >= 0";
    return;
  case AstCondition::Kind::Zero:
    print(condition.value);
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

void AstPrinter::print(const AstExpr &expr) {
  switch (expr.kind) {
  case AstExpr::Kind::Affine:
    return print(expr.affine);
  case AstExpr::Kind::Max:
  case AstExpr::Kind::Min:
    os << (expr.kind == AstExpr::Kind::Max ? "max(" : "min(");
    llvm::interleaveComma(expr.operands, os,
                          [&](const AstExpr &operand) { print(operand); });
    os << ")";
    return;
  case AstExpr::Kind::Select:
    os << "(";
    print(*expr.condition);
    os << " ? ";
    print(expr.operands[0]);
    os << " : ";
    print(expr.operands[1]);
    os << ")";
    return;
  }
}

void AstPrinter::printFor(const AstNode &node, unsigned indent) {
  std::string name = ("d" + llvm::Twine(node.iterator)).str(), remark;
  if (node.tag && names.loop)
    std::tie(name, remark) = names.loop(node.tag);
  else if (node.tag)
    llvm::raw_string_ostream(remark) << node.tag;
  os.indent(indent) << "for " << name << " = ";
  print(node.lower);
  os << " to ";
  print(node.upper);
  if (node.step != 1)
    os << " step " << node.step;
  os << (remark.empty() ? "" : " ") << remark << "\n";
  iterators[node.iterator] = name;
  print(*node.children[0], indent + 2);
}

void AstPrinter::print(const AstNode &node, unsigned indent) {
  switch (node.kind) {
  case AstNode::Kind::For:
    return printFor(node, indent);
  case AstNode::Kind::If:
    os.indent(indent) << "if ";
    print(node.condition);
    os << "\n";
    print(*node.children[0], indent + 2);
    if (node.children.size() > 1) {
      os.indent(indent) << "else\n";
      print(*node.children[1], indent + 2);
    }
    return;
  case AstNode::Kind::Block:
    for (const Ast &child : node.children)
      print(*child, indent);
    return;
  case AstNode::Kind::Call:
    os.indent(indent) << program.statements[node.statement].name << "(";
    llvm::interleaveComma(node.values, os,
                          [&](AffineExpr value) { print(value); });
    os << ")\n";
    return;
  case AstNode::Kind::Mark:
    os.indent(indent) << "mark " << node.mark << "\n";
    return print(*node.children[0], indent + 2);
  }
}

void espalier::polyhedral::print(const Program &program, const AstNode &node,
                                 llvm::raw_ostream &os, const AstNames &names) {
  AstPrinter(program, names, os).print(node, 0);
}

std::string espalier::polyhedral::toText(AffineExpr expr,
                                         const AstNames &names) {
  std::string text;
  llvm::raw_string_ostream os(text);
  AstPrinter(Program(), names, os).print(expr);
  return text;
}
