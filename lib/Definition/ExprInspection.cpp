//===- ExprInspection.cpp - Walking, rewriting, printing expressions ------===//

#include "ExprNode.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;

void definition::walk(Expr expr, llvm::function_ref<void(Expr)> visit) {
  if (!expr)
    return;
  visit(expr);
  for (const IndexVar &var : expr.getReduceVars())
    walk(var.extent, visit);
  walk(expr.getGuard(), visit);
  for (Expr operand : expr.getOperands())
    walk(operand, visit);
}

bool definition::isExtent(Expr expr) {
  switch (expr.getKind()) {
  case Expr::Kind::Constant:
    return expr.getInt().has_value();
  case Expr::Kind::Size:
  case Expr::Kind::Parameter:
    return true;
  case Expr::Kind::Apply:
  case Expr::Kind::Select:
    return llvm::all_of(expr.getOperands(), isExtent);
  default:
    return false;
  }
}

namespace {
class Transformer {
public:
  explicit Transformer(llvm::function_ref<Expr(Expr)> replace)
      : replace(replace) {}

  Expr run(Expr expr) {
    if (!expr)
      return expr;
    auto known = results.find(expr.getNode());
    if (known != results.end())
      return known->second;
    Expr rebuilt = rebuild(expr);
    Expr result = replace(rebuilt);
    if (!result)
      result = rebuilt.getNode() == expr.getNode() ? expr : fold(rebuilt);
    results[expr.getNode()] = result;
    return result;
  }

private:
  /// `expr` with the results for what is below it.
  Expr rebuild(Expr expr) {
    const Expr::Node &old = *expr.getNode();
    bool changed = false;
    auto runOn = [&](Expr part) {
      Expr result = run(part);
      changed |= result.getNode() != part.getNode();
      return result;
    };
    auto extents = llvm::map_to_vector<2>(
        old.vars, [&](const IndexVar &var) { return runOn(var.extent); });
    Expr guard = runOn(old.guard);
    auto operands = llvm::map_to_vector<3>(old.operands, runOn);
    if (!changed)
      return expr;
    Expr::Node node = old;
    for (auto [var, extent] : llvm::zip_equal(node.vars, extents))
      var.extent = extent;
    node.guard = guard;
    node.operands = std::move(operands);
    return Expr(std::make_shared<const Expr::Node>(std::move(node)));
  }

  /// What the constructor makes of a node.
  static Expr fold(Expr expr) {
    ArrayRef<Expr> operands = expr.getOperands();
    switch (expr.getKind()) {
    case Expr::Kind::Apply:
      return apply(expr.getFn(), operands);
    case Expr::Kind::Select:
      return select(operands[0], operands[1], operands[2]);
    case Expr::Kind::Cast:
      return cast(expr.getType(), operands[0]);
    default:
      return expr;
    }
  }

  llvm::function_ref<Expr(Expr)> replace;
  llvm::DenseMap<const Expr::Node *, Expr> results;
};
} // namespace

Expr definition::transform(Expr expr, llvm::function_ref<Expr(Expr)> replace) {
  return Transformer(replace).run(expr);
}

//===----------------------------------------------------------------------===//
// Affine form
//===----------------------------------------------------------------------===//

static AffineExpr combineAffine(ScalarFn fn, AffineExpr lhs, AffineExpr rhs) {
  auto number = dyn_cast<AffineConstantExpr>(rhs);
  bool divides = number ? number.getValue() > 0 : rhs.isSymbolicOrConstant();
  switch (fn) {
  case ScalarFn::Add:
    return lhs + rhs;
  case ScalarFn::Sub:
    return lhs - rhs;
  case ScalarFn::Mul:
    if (lhs.isSymbolicOrConstant())
      return rhs * lhs;
    return rhs.isSymbolicOrConstant() ? lhs * rhs : AffineExpr();
  case ScalarFn::FloorDiv:
    return divides ? lhs.floorDiv(rhs) : AffineExpr();
  case ScalarFn::Mod:
    return divides ? lhs % rhs : AffineExpr();
  default:
    return {};
  }
}

std::optional<AffineExpr>
definition::toAffine(Expr expr, MLIRContext *context,
                     llvm::function_ref<AffineExpr(Expr)> leaf) {
  auto offer = [&]() -> std::optional<AffineExpr> {
    if (AffineExpr known = leaf(expr))
      return known;
    return std::nullopt;
  };
  switch (expr.getKind()) {
  case Expr::Kind::Constant:
    if (!expr.getInt())
      return std::nullopt;
    return getAffineConstantExpr(*expr.getInt(), context);
  case Expr::Kind::Cast:
    // Widening an index read from a tensor does not change its value.
    if (expr.getOperands()[0].getType().isIntOrIndex())
      return toAffine(expr.getOperands()[0], context, leaf);
    return offer();
  case Expr::Kind::Apply: {
    if (!expr.getType().isIndex())
      return offer();
    SmallVector<AffineExpr, 2> operands;
    for (Expr operand : expr.getOperands()) {
      std::optional<AffineExpr> affine = toAffine(operand, context, leaf);
      if (!affine)
        return offer();
      operands.push_back(*affine);
    }
    if (expr.getFn() == ScalarFn::Neg)
      return -operands.front();
    if (operands.size() == 2)
      if (AffineExpr affine =
              combineAffine(expr.getFn(), operands[0], operands[1]))
        return affine;
    return offer();
  }
  default:
    return offer();
  }
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

namespace {
/// How tightly a construct binds, as in the grammar of Notation.h.
enum Precedence { Conditional, Comparison, Sum, Product, Unary, Primary };

struct Operator {
  StringRef spelling;
  Precedence precedence;
};

class Printer {
public:
  Printer(llvm::raw_ostream &os,
          llvm::function_ref<std::string(TensorRef)> tensorName,
          llvm::function_ref<std::string(VarId)> varName)
      : os(os), tensorName(tensorName), varName(varName) {}

  void print(Expr expr, Precedence context) {
    bool needsParens = getPrecedence(expr) < context;
    if (needsParens)
      os << '(';
    printBare(expr);
    if (needsParens)
      os << ')';
  }

private:
  static std::optional<Operator> getOperator(ScalarFn fn) {
    switch (fn) {
    case ScalarFn::Add:
      return Operator{"+", Sum};
    case ScalarFn::Sub:
      return Operator{"-", Sum};
    case ScalarFn::Mul:
      return Operator{"*", Product};
    case ScalarFn::Div:
      return Operator{"/", Product};
    case ScalarFn::FloorDiv:
      return Operator{"//", Product};
    case ScalarFn::Mod:
      return Operator{"%", Product};
    case ScalarFn::Equal:
      return Operator{"==", Comparison};
    case ScalarFn::NotEqual:
      return Operator{"!=", Comparison};
    case ScalarFn::Less:
      return Operator{"<", Comparison};
    case ScalarFn::LessEqual:
      return Operator{"<=", Comparison};
    case ScalarFn::Greater:
      return Operator{">", Comparison};
    case ScalarFn::GreaterEqual:
      return Operator{">=", Comparison};
    default:
      return std::nullopt;
    }
  }

  static Precedence getPrecedence(Expr expr) {
    switch (expr.getKind()) {
    case Expr::Kind::Select:
      return Conditional;
    case Expr::Kind::Reduce:
      return Sum;
    case Expr::Kind::Cast: // Not shown.
      return getPrecedence(expr.getOperands()[0]);
    case Expr::Kind::Apply:
      if (std::optional<Operator> op = getOperator(expr.getFn()))
        return op->precedence;
      return expr.getFn() == ScalarFn::Neg ? Unary : Primary;
    case Expr::Kind::Constant:
      return expr.getFloat() < 0 ? Unary : Primary;
    default:
      return Primary;
    }
  }

  void printList(ArrayRef<Expr> exprs) {
    llvm::interleaveComma(exprs, os,
                          [&](Expr expr) { print(expr, Conditional); });
  }

  void printApply(Expr expr) {
    ArrayRef<Expr> args = expr.getOperands();
    if (expr.getFn() == ScalarFn::Neg) {
      os << '-';
      return print(args[0], Unary);
    }
    if (std::optional<Operator> op = getOperator(expr.getFn())) {
      print(args[0], op->precedence);
      os << ' ' << op->spelling << ' ';
      return print(args[1], static_cast<Precedence>(op->precedence + 1));
    }
    os << getName(expr.getFn()) << '(';
    printList(args);
    os << ')';
  }

  void printBare(Expr expr) {
    ArrayRef<Expr> operands = expr.getOperands();
    switch (expr.getKind()) {
    case Expr::Kind::Constant:
      if (expr.getInt())
        os << *expr.getInt();
      else
        os << llvm::format("%g", expr.getFloat());
      return;
    case Expr::Kind::Variable:
      os << varName(expr.getVariable());
      return;
    case Expr::Kind::Size:
      os << "size(" << tensorName(expr.getTensor()) << ", " << expr.getNumber()
         << ')';
      return;
    case Expr::Kind::Parameter:
      os << "parameter(" << expr.getNumber() << ')';
      return;
    case Expr::Kind::Access:
      os << tensorName(expr.getTensor()) << '[';
      printList(operands);
      os << ']';
      return;
    case Expr::Kind::Apply:
      return printApply(expr);
    case Expr::Kind::Select:
      print(operands[1], Comparison);
      os << " if ";
      print(operands[0], Comparison);
      os << " else ";
      return print(operands[2], Conditional);
    case Expr::Kind::Cast:
      return printBare(operands[0]);
    case Expr::Kind::Reduce:
      os << getName(expr.getReduceKind()) << '(';
      llvm::interleaveComma(expr.getReduceVars(), os, [&](const IndexVar &var) {
        os << varName(var.id);
      });
      if (Expr guard = expr.getGuard()) {
        os << " | ";
        print(guard, Conditional);
      }
      os << ") ";
      return print(operands[0], Product);
    }
  }

  llvm::raw_ostream &os;
  llvm::function_ref<std::string(TensorRef)> tensorName;
  llvm::function_ref<std::string(VarId)> varName;
};
} // namespace

void definition::print(Expr expr, llvm::raw_ostream &os,
                       llvm::function_ref<std::string(TensorRef)> tensorName,
                       llvm::function_ref<std::string(VarId)> varName) {
  Printer(os, tensorName, varName).print(expr, Conditional);
}
