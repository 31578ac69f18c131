//===- EmitExpr.cpp - Scalar expressions as arith and math ops ------------===//

#include "EmitExpr.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

Type espalier::graphtopoly::getComputeType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

static bool isUnsigned(Type type) {
  return type.isUnsignedInteger() || type.isInteger(1);
}

/// The whole number next to `number` towards 0; the outermost of `type` for an
/// infinite one, and 0 for what is no number.
static int64_t roundToInteger(double number, Type type) {
  if (std::isinf(number)) {
    unsigned width =
        type.isIndex() ? 64 : getComputeType(type).getIntOrFloatBitWidth();
    if (isUnsigned(type))
      return number > 0 ? llvm::maxUIntN(width) : 0;
    return number > 0 ? llvm::maxIntN(width) : llvm::minIntN(width);
  }
  APSInt rounded(64, /*isUnsigned=*/false);
  bool isExact;
  APFloat(number).convertToInteger(rounded, APFloat::rmTowardZero, &isExact);
  return rounded.getExtValue();
}

Value espalier::graphtopoly::emitConstant(OpBuilder &builder, Location loc,
                                          Expr literal, Type type) {
  if (auto floatType = dyn_cast<FloatType>(type)) {
    APFloat value(literal.getFloat());
    bool lossy;
    value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &lossy);
    return arith::ConstantFloatOp::create(builder, loc, floatType, value);
  }
  int64_t value =
      literal.getInt().value_or(roundToInteger(literal.getFloat(), type));
  if (type.isIndex())
    return arith::ConstantIndexOp::create(builder, loc, value);
  return arith::ConstantIntOp::create(builder, loc, getComputeType(type),
                                      value);
}

/// 0 or 1 of `type`.
static Value emitNumber(OpBuilder &builder, Location loc, Type type,
                        int64_t value) {
  return emitConstant(builder, loc, constant(value), type);
}

Value espalier::graphtopoly::emitCast(OpBuilder &builder, Location loc,
                                      Value value, Type from, Type to) {
  Type target = getComputeType(to);
  if (from == to || (value.getType() == target && !from.isInteger(1)))
    return value;
  if (to.isInteger(1)) {
    Value zero = emitNumber(builder, loc, from, 0);
    if (isa<FloatType>(from))
      return arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE,
                                   value, zero);
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value,
                                 zero);
  }
  auto fromFloat = dyn_cast<FloatType>(from), toFloat = dyn_cast<FloatType>(to);
  if (fromFloat && toFloat) {
    if (fromFloat.getWidth() < toFloat.getWidth())
      return arith::ExtFOp::create(builder, loc, target, value);
    if (fromFloat.getWidth() > toFloat.getWidth())
      return arith::TruncFOp::create(builder, loc, target, value);
    // f16 and bf16: through f32.
    Value wide =
        arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
    return arith::TruncFOp::create(builder, loc, target, wide);
  }
  if (fromFloat) {
    if (isUnsigned(to))
      return arith::FPToUIOp::create(builder, loc, target, value);
    if (to.isIndex()) {
      Value wide =
          arith::FPToSIOp::create(builder, loc, builder.getI64Type(), value);
      return arith::IndexCastOp::create(builder, loc, target, wide);
    }
    return arith::FPToSIOp::create(builder, loc, target, value);
  }
  if (from.isIndex() || to.isIndex()) {
    if (!toFloat && !isUnsigned(from) && !isUnsigned(to))
      return arith::IndexCastOp::create(builder, loc, target, value);
    if (!toFloat)
      return arith::IndexCastUIOp::create(builder, loc, target, value);
    value =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    from = builder.getI64Type();
  }
  if (toFloat) {
    if (isUnsigned(from))
      return arith::UIToFPOp::create(builder, loc, target, value);
    return arith::SIToFPOp::create(builder, loc, target, value);
  }
  unsigned fromWidth = value.getType().getIntOrFloatBitWidth();
  unsigned toWidth = target.getIntOrFloatBitWidth();
  if (fromWidth == toWidth)
    return value;
  if (fromWidth > toWidth)
    return arith::TruncIOp::create(builder, loc, target, value);
  if (isUnsigned(from))
    return arith::ExtUIOp::create(builder, loc, target, value);
  return arith::ExtSIOp::create(builder, loc, target, value);
}

namespace {

Value emitFloatFn(OpBuilder &b, Location loc, ScalarFn fn, Type type,
                  ValueRange args) {
  Value x = args[0], y = args.size() > 1 ? args[1] : Value();
  auto compare = [&](arith::CmpFPredicate predicate) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  };
  switch (fn) {
  case ScalarFn::Add:
    return arith::AddFOp::create(b, loc, x, y);
  case ScalarFn::Sub:
    return arith::SubFOp::create(b, loc, x, y);
  case ScalarFn::Mul:
    return arith::MulFOp::create(b, loc, x, y);
  case ScalarFn::Div:
    return arith::DivFOp::create(b, loc, x, y);
  case ScalarFn::FloorDiv: {
    Value quotient = arith::DivFOp::create(b, loc, x, y);
    return math::FloorOp::create(b, loc, quotient);
  }
  case ScalarFn::Rem:
    return arith::RemFOp::create(b, loc, x, y);
  case ScalarFn::Mod: {
    // fmod, moved to the divisor's sign.
    Value rem = arith::RemFOp::create(b, loc, x, y);
    Value zero = emitNumber(b, loc, type, 0);
    Value nonzero =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, rem, zero);
    Value remNegative =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, rem, zero);
    Value divNegative =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, y, zero);
    Value differ = arith::XOrIOp::create(b, loc, remNegative, divNegative);
    Value move = arith::AndIOp::create(b, loc, nonzero, differ);
    Value moved = arith::AddFOp::create(b, loc, rem, y);
    return arith::SelectOp::create(b, loc, move, moved, rem);
  }
  case ScalarFn::Max:
    return arith::MaximumFOp::create(b, loc, x, y);
  case ScalarFn::Min:
    return arith::MinimumFOp::create(b, loc, x, y);
  case ScalarFn::Pow:
    return math::PowFOp::create(b, loc, x, y);
  case ScalarFn::Equal:
    return compare(arith::CmpFPredicate::OEQ);
  case ScalarFn::NotEqual:
    return compare(arith::CmpFPredicate::UNE);
  case ScalarFn::Less:
    return compare(arith::CmpFPredicate::OLT);
  case ScalarFn::LessEqual:
    return compare(arith::CmpFPredicate::OLE);
  case ScalarFn::Greater:
    return compare(arith::CmpFPredicate::OGT);
  case ScalarFn::GreaterEqual:
    return compare(arith::CmpFPredicate::OGE);
  case ScalarFn::Neg:
    return arith::NegFOp::create(b, loc, x);
  case ScalarFn::Abs:
    return math::AbsFOp::create(b, loc, x);
  case ScalarFn::Sign: {
    // 1, -1, or the operand itself, if it is not a number; +0 for either zero.
    Value zero = emitNumber(b, loc, type, 0), one = emitNumber(b, loc, type, 1);
    Value minusOne = emitNumber(b, loc, type, -1);
    Value above =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, zero);
    Value below =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, x, zero);
    Value same = arith::AddFOp::create(b, loc, x, zero);
    Value rest = arith::SelectOp::create(b, loc, below, minusOne, same);
    return arith::SelectOp::create(b, loc, above, one, rest);
  }
  case ScalarFn::Rsqrt: {
    Value root = math::SqrtOp::create(b, loc, x);
    return arith::DivFOp::create(b, loc, emitNumber(b, loc, type, 1), root);
  }
#define MATH_FN(id, name, function, operation)                                 \
  case ScalarFn::id:                                                           \
    return math::operation::create(b, loc, x);
#include "espalier/Definition/ScalarFunctions.def"
  case ScalarFn::Floor:
    return math::FloorOp::create(b, loc, x);
  case ScalarFn::Ceil:
    return math::CeilOp::create(b, loc, x);
  case ScalarFn::Round:
    return math::RoundEvenOp::create(b, loc, x);
  case ScalarFn::IsNaN:
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  case ScalarFn::And:
  case ScalarFn::Or:
  case ScalarFn::Xor:
  case ScalarFn::Not:
    break;
  }
  llvm_unreachable("not a function of floating-point numbers");
}

Value isEqual(OpBuilder &b, Location loc, Type type, Value x, int64_t value) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x,
                               emitNumber(b, loc, type, value));
}

/// Whether each operation is total by itself: those in a computation are, which
/// has no operation around it while it is built.
bool isTotal(OpBuilder &b) {
  Operation *parent = b.getInsertionBlock()->getParentOp();
  return !parent || isa<espalier::poly::ComputeOp>(parent);
}

/// A quotient or remainder, total: 0 for a divisor of 0, and wrapped where the
/// least number is divided by -1. `divide` gets a divisor that is neither.
template <typename Divide>
Value emitDivision(OpBuilder &b, Location loc, Type type, ScalarFn fn, Value x,
                   Value y, Divide divide) {
  if (isTotal(b))
    return divide(y);
  Value zero = emitNumber(b, loc, type, 0), one = emitNumber(b, loc, type, 1);
  Value isZero = isEqual(b, loc, type, y, 0);
  if (isUnsigned(type)) {
    Value divisor = arith::SelectOp::create(b, loc, isZero, one, y);
    return arith::SelectOp::create(b, loc, isZero, zero, divide(divisor));
  }
  Value isMinusOne = isEqual(b, loc, type, y, -1);
  Value traps = arith::OrIOp::create(b, loc, isZero, isMinusOne);
  Value result = divide(arith::SelectOp::create(b, loc, traps, one, y));
  // Quotients by -1 are negations; remainders are 0, as those by 1.
  if (fn == ScalarFn::Div || fn == ScalarFn::FloorDiv) {
    Value negated = arith::SubIOp::create(b, loc, zero, x);
    result = arith::SelectOp::create(b, loc, isMinusOne, negated, result);
  }
  return arith::SelectOp::create(b, loc, isZero, zero, result);
}

/// The remainder with the divisor's sign; 0 for a divisor of 0.
Value emitModulo(OpBuilder &b, Location loc, Type type, Value x, Value y) {
  if (isUnsigned(type))
    return emitDivision(
        b, loc, type, ScalarFn::Rem, x, y,
        [&](Value y) -> Value { return arith::RemUIOp::create(b, loc, x, y); });
  Value quotient = emitDivision(
      b, loc, type, ScalarFn::FloorDiv, x, y, [&](Value y) -> Value {
        return arith::FloorDivSIOp::create(b, loc, x, y);
      });
  Value whole = arith::MulIOp::create(b, loc, quotient, y);
  Value rest = arith::SubIOp::create(b, loc, x, whole);
  return arith::SelectOp::create(b, loc, isEqual(b, loc, type, y, 0),
                                 emitNumber(b, loc, type, 0), rest);
}

/// A power, total: 0 for 0 with a negative exponent.
Value emitPower(OpBuilder &b, Location loc, Type type, Value x, Value y) {
  // All digits are gone from the exponent w on, and of a fraction, whose
  // exponent is large where it is taken as unsigned.
  APInt base;
  if (isTotal(b) && matchPattern(x, m_ConstantInt(&base)) && base == 2)
    return arith::ShLIOp::create(b, loc, emitNumber(b, loc, type, 1), y);
  Value zero = emitNumber(b, loc, type, 0);
  Value isNegative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, y, zero);
  if (!isUnsigned(type)) {
    Value traps =
        arith::AndIOp::create(b, loc, isNegative, isEqual(b, loc, type, x, 0));
    Value divisible =
        arith::SelectOp::create(b, loc, traps, emitNumber(b, loc, type, 1), x);
    Value power = math::IPowIOp::create(b, loc, divisible, y);
    return arith::SelectOp::create(b, loc, traps, zero, power);
  }
  // The operation takes the exponent's highest bit for a sign. Without it, and
  // with the next one, the power of w bits is the same: those of odd numbers
  // repeat after 2^(w-2), those of even ones are 0 from the exponent w on.
  int64_t next = int64_t(1) << (type.getIntOrFloatBitWidth() - 2);
  Value low =
      arith::AndIOp::create(b, loc, y, emitNumber(b, loc, type, next - 1));
  Value small =
      arith::OrIOp::create(b, loc, low, emitNumber(b, loc, type, next));
  Value exponent = arith::SelectOp::create(b, loc, isNegative, small, y);
  return math::IPowIOp::create(b, loc, x, exponent);
}

Value emitIntFn(OpBuilder &b, Location loc, ScalarFn fn, Type type,
                ValueRange args) {
  Value x = args[0], y = args.size() > 1 ? args[1] : Value();
  bool isU = isUnsigned(type);
  auto divide = [&](auto op) {
    return emitDivision(b, loc, type, fn, x, y, op);
  };
  auto compare = [&](arith::CmpIPredicate s, arith::CmpIPredicate u) -> Value {
    return arith::CmpIOp::create(b, loc, isU ? u : s, x, y);
  };
  using P = arith::CmpIPredicate;
  switch (fn) {
  case ScalarFn::Add:
    return arith::AddIOp::create(b, loc, x, y);
  case ScalarFn::Sub:
    return arith::SubIOp::create(b, loc, x, y);
  case ScalarFn::Mul:
    return arith::MulIOp::create(b, loc, x, y);
  case ScalarFn::Div:
    return divide([&](Value y) -> Value {
      // By a power of 2. One of the exponent w or more is 0, as is the
      // quotient.
      if (auto power = y.getDefiningOp<arith::ShLIOp>();
          power && isU && isTotal(b) && matchPattern(power.getLhs(), m_One()))
        return arith::ShRUIOp::create(b, loc, x, power.getRhs());
      if (isU)
        return arith::DivUIOp::create(b, loc, x, y);
      return arith::DivSIOp::create(b, loc, x, y);
    });
  case ScalarFn::FloorDiv:
    return divide([&](Value y) -> Value {
      if (isU)
        return arith::DivUIOp::create(b, loc, x, y);
      return arith::FloorDivSIOp::create(b, loc, x, y);
    });
  case ScalarFn::Rem:
    return divide([&](Value y) -> Value {
      if (isU)
        return arith::RemUIOp::create(b, loc, x, y);
      return arith::RemSIOp::create(b, loc, x, y);
    });
  case ScalarFn::Mod:
    return emitModulo(b, loc, type, x, y);
  case ScalarFn::Max:
    return isU ? Value(arith::MaxUIOp::create(b, loc, x, y))
               : Value(arith::MaxSIOp::create(b, loc, x, y));
  case ScalarFn::Min:
    return isU ? Value(arith::MinUIOp::create(b, loc, x, y))
               : Value(arith::MinSIOp::create(b, loc, x, y));
  case ScalarFn::Pow:
    return emitPower(b, loc, type, x, y);
  case ScalarFn::And:
    return arith::AndIOp::create(b, loc, x, y);
  case ScalarFn::Or:
    return arith::OrIOp::create(b, loc, x, y);
  case ScalarFn::Xor:
    return arith::XOrIOp::create(b, loc, x, y);
  case ScalarFn::Equal:
    return compare(P::eq, P::eq);
  case ScalarFn::NotEqual:
    return compare(P::ne, P::ne);
  case ScalarFn::Less:
    return compare(P::slt, P::ult);
  case ScalarFn::LessEqual:
    return compare(P::sle, P::ule);
  case ScalarFn::Greater:
    return compare(P::sgt, P::ugt);
  case ScalarFn::GreaterEqual:
    return compare(P::sge, P::uge);
  case ScalarFn::Neg:
    return arith::SubIOp::create(b, loc, emitNumber(b, loc, type, 0), x);
  case ScalarFn::Abs:
    return isU ? x : Value(math::AbsIOp::create(b, loc, x));
  case ScalarFn::Sign: {
    Value one = emitNumber(b, loc, type, 1);
    Value low =
        isU ? emitNumber(b, loc, type, 0) : emitNumber(b, loc, type, -1);
    if (isU)
      return arith::MinUIOp::create(b, loc, x, one);
    Value atMost = arith::MinSIOp::create(b, loc, x, one);
    return arith::MaxSIOp::create(b, loc, atMost, low);
  }
  case ScalarFn::Not: {
    Value ones = emitConstant(
        b, loc, constant(int64_t(type.isInteger(1) ? 1 : -1)), type);
    return arith::XOrIOp::create(b, loc, x, ones);
  }
  case ScalarFn::Floor:
  case ScalarFn::Ceil:
  case ScalarFn::Round:
    return x;
  case ScalarFn::IsNaN:
    return emitNumber(b, loc, b.getI1Type(), 0);
  default:
    break;
  }
  llvm_unreachable("not a function of integers");
}

} // namespace

Value espalier::graphtopoly::emitScalarFn(OpBuilder &builder, Location loc,
                                          ScalarFn fn, Type type,
                                          ValueRange args) {
  return isa<FloatType>(type) ? emitFloatFn(builder, loc, fn, type, args)
                              : emitIntFn(builder, loc, fn, type, args);
}

namespace {

/// Emits each node of the shared expression once.
class ExprEmitter {
public:
  ExprEmitter(OpBuilder &builder, Location loc,
              llvm::function_ref<Value(Expr)> leaf)
      : builder(builder), loc(loc), leaf(leaf) {}

  Value emit(Expr expr, Type literalType = {}) {
    if (expr.getKind() == Expr::Kind::Constant)
      return emitConstant(builder, loc, expr,
                          expr.getType() ? expr.getType() : literalType);
    if (Value known = emitted.lookup(expr.getNode()))
      return known;
    Value value = emitNode(expr);
    emitted[expr.getNode()] = value;
    return value;
  }

private:
  Value emitNode(Expr expr) {
    switch (expr.getKind()) {
    case Expr::Kind::Apply: {
      Type type;
      for (Expr arg : expr.getOperands())
        if (arg.getType())
          type = arg.getType();
      if (!type)
        type = expr.getType();
      SmallVector<Value> args;
      for (Expr arg : expr.getOperands()) {
        Value value = emit(arg, type);
        // An index among elements was promised to be converted by `apply`.
        args.push_back(value);
      }
      return emitScalarFn(builder, loc, expr.getFn(), type, args);
    }
    case Expr::Kind::Select: {
      Value condition = emit(expr.getOperands()[0], builder.getI1Type());
      Value a = emit(expr.getOperands()[1], expr.getType());
      Value b = emit(expr.getOperands()[2], expr.getType());
      return arith::SelectOp::create(builder, loc, condition, a, b);
    }
    case Expr::Kind::Cast: {
      Expr operand = expr.getOperands()[0];
      if (operand.getKind() == Expr::Kind::Constant && !operand.getType())
        return emitConstant(builder, loc, operand, expr.getType());
      return emitCast(builder, loc, emit(operand), operand.getType(),
                      expr.getType());
    }
    default:
      return leaf(expr);
    }
  }

  OpBuilder &builder;
  Location loc;
  llvm::function_ref<Value(Expr)> leaf;
  llvm::DenseMap<const void *, Value> emitted;
};

} // namespace

Value espalier::graphtopoly::emitExpr(OpBuilder &builder, Location loc,
                                      Expr expr,
                                      llvm::function_ref<Value(Expr)> leaf) {
  return ExprEmitter(builder, loc, leaf).emit(expr);
}
