//===- ReadExpr.cpp - Expressions of arith and math ops -------------------===//

#include "ReadExpr.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;

namespace {
/// A function, and whether it takes integers as unsigned.
struct Function {
  ScalarFn fn;
  bool isUnsigned = false;
};
} // namespace

static std::optional<Function> getFunction(Operation *op) {
  using Result = std::optional<Function>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<arith::AddFOp, arith::AddIOp>(
          [](auto) { return Function{ScalarFn::Add}; })
      .Case<arith::SubFOp, arith::SubIOp>(
          [](auto) { return Function{ScalarFn::Sub}; })
      .Case<arith::MulFOp, arith::MulIOp>(
          [](auto) { return Function{ScalarFn::Mul}; })
      .Case<arith::DivFOp, arith::DivSIOp>(
          [](auto) { return Function{ScalarFn::Div}; })
      .Case([](arith::DivUIOp) { return Function{ScalarFn::Div, true}; })
      .Case([](arith::FloorDivSIOp) { return Function{ScalarFn::FloorDiv}; })
      .Case<arith::RemFOp, arith::RemSIOp>(
          [](auto) { return Function{ScalarFn::Rem}; })
      .Case([](arith::RemUIOp) { return Function{ScalarFn::Rem, true}; })
      .Case<arith::MaximumFOp, arith::MaxSIOp>(
          [](auto) { return Function{ScalarFn::Max}; })
      .Case([](arith::MaxUIOp) { return Function{ScalarFn::Max, true}; })
      .Case<arith::MinimumFOp, arith::MinSIOp>(
          [](auto) { return Function{ScalarFn::Min}; })
      .Case([](arith::MinUIOp) { return Function{ScalarFn::Min, true}; })
      .Case([](arith::AndIOp) { return Function{ScalarFn::And}; })
      .Case([](arith::OrIOp) { return Function{ScalarFn::Or}; })
      .Case([](arith::XOrIOp) { return Function{ScalarFn::Xor}; })
      .Case([](arith::NegFOp) { return Function{ScalarFn::Neg}; })
      .Case<math::AbsFOp, math::AbsIOp>(
          [](auto) { return Function{ScalarFn::Abs}; })
      .Case<math::PowFOp, math::IPowIOp>(
          [](auto) { return Function{ScalarFn::Pow}; })
      .Case([](math::RsqrtOp) { return Function{ScalarFn::Rsqrt}; })
      .Case([](math::FloorOp) { return Function{ScalarFn::Floor}; })
      .Case([](math::CeilOp) { return Function{ScalarFn::Ceil}; })
      .Case([](math::RoundEvenOp) { return Function{ScalarFn::Round}; })
#define MATH_FN(id, name, function, operation)                                 \
  .Case([](math::operation) { return Function{ScalarFn::id}; })
#include "espalier/Definition/ScalarFunctions.def"
      .Case([](arith::CmpIOp compare) -> Result {
        using P = arith::CmpIPredicate;
        switch (compare.getPredicate()) {
        case P::eq:
          return Function{ScalarFn::Equal};
        case P::ne:
          return Function{ScalarFn::NotEqual};
        case P::slt:
        case P::ult:
          return Function{ScalarFn::Less, compare.getPredicate() == P::ult};
        case P::sle:
        case P::ule:
          return Function{ScalarFn::LessEqual,
                          compare.getPredicate() == P::ule};
        case P::sgt:
        case P::ugt:
          return Function{ScalarFn::Greater, compare.getPredicate() == P::ugt};
        case P::sge:
        case P::uge:
          return Function{ScalarFn::GreaterEqual,
                          compare.getPredicate() == P::uge};
        }
        llvm_unreachable("every predicate is handled above");
      })
      .Case([](arith::CmpFOp compare) -> Result {
        using P = arith::CmpFPredicate;
        switch (compare.getPredicate()) {
        case P::OEQ:
          return Function{ScalarFn::Equal};
        case P::UNE:
          return Function{ScalarFn::NotEqual};
        case P::OLT:
          return Function{ScalarFn::Less};
        case P::OLE:
          return Function{ScalarFn::LessEqual};
        case P::OGT:
          return Function{ScalarFn::Greater};
        case P::OGE:
          return Function{ScalarFn::GreaterEqual};
        default:
          return std::nullopt;
        }
      })
      .Default([](Operation *) { return Result(); });
}

/// An unsigned integer of the width of `type`, which is an integer.
static Type getUnsigned(Type type) {
  if (!isa<IntegerType>(type) || type.isInteger(1))
    return type; // Truth values have no sign.
  return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth(),
                          IntegerType::Unsigned);
}

static Expr readConstant(arith::ConstantOp op) {
  if (auto number = dyn_cast<FloatAttr>(op.getValue()))
    return cast(op.getType(), constant(number.getValue().convertToDouble()));
  auto number = dyn_cast<IntegerAttr>(op.getValue());
  if (!number || number.getValue().getBitWidth() > 64)
    return {};
  return cast(op.getType(),
              constant(op.getType().isInteger(1)
                           ? int64_t(number.getValue().getZExtValue())
                           : number.getValue().getSExtValue()));
}

/// A conversion. Null if `op` is none.
static Expr readCast(Operation *op, ArrayRef<Expr> operands) {
  if (operands.size() != 1)
    return {};
  Type to = op->getResult(0).getType();
  Type from = operands.front().getType();
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::FPToSIOp,
          arith::IndexCastOp, arith::TruncIOp, arith::ExtSIOp>(op)) {
    // A signed bit is 0 or -1, and the last bit of a number no truth value.
    if (from.isInteger(1) || to.isInteger(1))
      return {};
    return cast(to, operands.front());
  }
  if (isa<arith::UIToFPOp, arith::ExtUIOp, arith::IndexCastUIOp>(op))
    return to.isInteger(1) || (from.isIndex() && !isa<IntegerType>(to))
               ? Expr()
               : cast(to, cast(getUnsigned(from), operands.front()));
  if (isa<arith::FPToUIOp>(op) && !to.isInteger(1))
    return cast(to, cast(getUnsigned(to), operands.front()));
  return {};
}

static bool isNumber(Expr expr, int64_t number) {
  return expr.getKind() == Expr::Kind::Constant && expr.getInt() == number;
}

static bool isApplied(Expr expr, ScalarFn fn) {
  return expr.getKind() == Expr::Kind::Apply && expr.getFn() == fn;
}

/// A choice; the power that is 0 for 0 with a negative exponent.
static Expr readSelect(Expr condition, Expr first, Expr second) {
  if (isNumber(first, 0) && isApplied(second, ScalarFn::Pow) &&
      isApplied(condition, ScalarFn::And)) {
    Expr base = second.getOperands()[0], exponent = second.getOperands()[1];
    Expr isNegative = condition.getOperands()[0];
    Expr isZero = condition.getOperands()[1];
    if (base.getKind() == Expr::Kind::Select &&
        base.getOperands()[0].getNode() == condition.getNode() &&
        isApplied(isNegative, ScalarFn::Less) &&
        isNegative.getOperands()[0].getNode() == exponent.getNode() &&
        isNumber(isNegative.getOperands()[1], 0) &&
        isApplied(isZero, ScalarFn::Equal) &&
        isZero.getOperands()[0].getNode() == base.getOperands()[2].getNode() &&
        isNumber(isZero.getOperands()[1], 0))
      return apply(ScalarFn::Pow, {base.getOperands()[2], exponent});
  }
  return select(condition, first, second);
}

/// A product with a power of 2, or an unsigned quotient by one; both are 0 from
/// the exponent on that is the numbers' width. Null if `op` is none.
static Expr readShift(Operation *op, ArrayRef<Expr> operands) {
  if (!isa<arith::ShLIOp, arith::ShRUIOp>(op) ||
      !isa<IntegerType>(op->getResult(0).getType()))
    return {};
  Type type = op->getResult(0).getType(), own = getUnsigned(type);
  Expr power = apply(ScalarFn::Pow,
                     {cast(own, constant(int64_t(2))), cast(own, operands[1])});
  if (isa<arith::ShRUIOp>(op))
    return cast(type, apply(ScalarFn::Div, {cast(own, operands[0]), power}));
  return cast(type,
              isNumber(operands[0], 1)
                  ? power
                  : apply(ScalarFn::Mul, {cast(own, operands[0]), power}));
}

/// A function that is written with others.
static Expr simplify(ScalarFn fn, ArrayRef<Expr> arguments, Type type) {
  if (fn == ScalarFn::Div && isa<FloatType>(type) &&
      arguments[0].getKind() == Expr::Kind::Constant &&
      arguments[0].getFloat() == 1 && isApplied(arguments[1], ScalarFn::Sqrt))
    return apply(ScalarFn::Rsqrt, arguments[1].getOperands());
  // A truth value in memory is a byte.
  if (fn == ScalarFn::NotEqual && isNumber(arguments[1], 0) &&
      arguments[0].getKind() == Expr::Kind::Access &&
      arguments[0].getType().isInteger(8))
    return cast(type, arguments[0]);
  if (fn == ScalarFn::Xor && isNumber(arguments[1], type.isInteger(1) ? 1 : -1))
    return apply(ScalarFn::Not, arguments.front());
  return {};
}

Expr espalier::graphtopoly::readExpr(Operation *op, ArrayRef<Expr> operands) {
  if (op->getNumResults() != 1 ||
      !op->getResult(0).getType().isIntOrIndexOrFloat())
    return {};
  if (auto number = dyn_cast<arith::ConstantOp>(op))
    return readConstant(number);
  if (Expr converted = readCast(op, operands))
    return converted;
  if (Expr shifted = readShift(op, operands))
    return shifted;
  if (isa<arith::SelectOp>(op))
    return readSelect(operands[0], operands[1], operands[2]);
  Type type = op->getResult(0).getType();
  if (isa<math::FmaOp>(op))
    return cast(type, operands[0] * operands[1] + operands[2]);
  auto compare = dyn_cast<arith::CmpFOp>(op);
  if (compare && compare.getPredicate() == arith::CmpFPredicate::UNO &&
      compare.getLhs() == compare.getRhs())
    return apply(ScalarFn::IsNaN, operands.front());
  std::optional<Function> function = getFunction(op);
  if (!function || operands.size() != getArity(function->fn))
    return {};
  // Truth values are and, or and what these are made of; numbers of one bit are
  // no others' business.
  bool isBoolean = op->getOperand(0).getType().isInteger(1);
  if (isBoolean && !isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) &&
      !(isa<arith::CmpIOp>(op) && (function->fn == ScalarFn::Equal ||
                                   function->fn == ScalarFn::NotEqual)))
    return {};
  SmallVector<Expr> arguments(operands);
  if (function->isUnsigned)
    for (Expr &argument : arguments)
      argument = cast(getUnsigned(argument.getType()), argument);
  if (Expr simple = simplify(function->fn, arguments, type))
    return simple;
  return cast(type, apply(function->fn, arguments));
}
