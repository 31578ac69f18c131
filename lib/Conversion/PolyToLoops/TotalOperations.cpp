//===- TotalOperations.cpp - Operations with a result for all operands ----===//
//
// Processors trap where a quotient does not exist, and LLVM may assume that it
// does; here it is 0 for a divisor of 0, and the least number by -1 is itself.
//
//   x / y   ->   y == 0 ? 0 : x / (y == 0 || (x == least && y == -1) ? 1 : y)
//
// The remainder by 1 is 0, so that the same replacement serves remainders.
//
// Processors differ in what is left of a number that is shifted by its width or
// more, and LLVM assumes that none is; here all its digits are gone, and copies
// of the sign are left.
//
// LLVM also assumes that an integer which is made of a float fits: a subscript
// of it would no longer be moved into its array. Here it is the nearest that
// fits, and 0 for NaN, as the definitions of operators say.
//
//===----------------------------------------------------------------------===//

#include "KernelValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace espalier;

static bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
}

static bool isSigned(Operation *op) {
  return !isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
}

static bool isShift(Operation *op) {
  return isa<arith::ShLIOp, arith::ShRUIOp, arith::ShRSIOp>(op);
}

bool polytoloops::isPartial(Operation *op) {
  return isDivision(op) || isShift(op) ||
         isa<arith::FPToSIOp, arith::FPToUIOp>(op);
}

static Value create(OpBuilder &builder, Location loc, Operation *like,
                    Type type, ValueRange operands) {
  OperationState state(loc, like->getName().getStringRef(), operands, type,
                       like->getAttrs());
  return builder.create(state)->getResult(0);
}

/// A number, or a vector of it.
static Value makeConstant(OpBuilder &builder, Location loc, Type type,
                          TypedAttr number) {
  TypedAttr attr = number;
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(number));
  return arith::ConstantOp::create(builder, loc, attr);
}

static unsigned getWidth(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? IndexType::kInternalStorageBitWidth
                           : element.getIntOrFloatBitWidth();
}

static Value emitShift(OpBuilder &builder, Location loc, Operation *like,
                       Value x, Value y) {
  Type type = x.getType();
  unsigned width = getWidth(type);
  APInt known;
  if (matchPattern(y, m_ConstantInt(&known)) && known.ult(width))
    return create(builder, loc, like, type, {x, y});
  auto number = [&](uint64_t value) {
    return makeConstant(builder, loc, type,
                        builder.getIntegerAttr(getElementTypeOrSelf(type),
                                               APInt(width, value)));
  };
  Value most = number(width - 1);
  Value within =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, y, most);
  Value amount = arith::SelectOp::create(builder, loc, within, y, most);
  Value shifted = create(builder, loc, like, type, {x, amount});
  if (isa<arith::ShRSIOp>(like))
    return shifted;
  return arith::SelectOp::create(builder, loc, within, shifted, number(0));
}

static Value emitDivision(OpBuilder &builder, Location loc, Operation *like,
                          Value x, Value y) {
  Type type = x.getType();
  APInt known;
  if (matchPattern(y, m_ConstantInt(&known)) && !known.isZero() &&
      (!isSigned(like) || !known.isAllOnes()))
    return create(builder, loc, like, type, {x, y});
  Type element = getElementTypeOrSelf(type);
  unsigned width = getWidth(type);
  auto number = [&](const APInt &value) {
    return makeConstant(builder, loc, type,
                        builder.getIntegerAttr(element, value));
  };
  Value zero = number(APInt::getZero(width));
  // A bit is divided by itself or by zero; signed, by -1.
  if (width == 1)
    return isa<arith::RemSIOp, arith::RemUIOp>(like)
               ? zero
               : Value(arith::AndIOp::create(builder, loc, x, y));
  auto equals = [&](Value value, Value other) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, value,
                                 other);
  };
  Value isZero = equals(y, zero), traps = isZero;
  if (isSigned(like)) {
    Value overflows = arith::AndIOp::create(
        builder, loc, equals(x, number(APInt::getSignedMinValue(width))),
        equals(y, number(APInt::getAllOnes(width))));
    traps = arith::OrIOp::create(builder, loc, isZero, overflows);
  }
  Value divisor =
      arith::SelectOp::create(builder, loc, traps, number(APInt(width, 1)), y);
  Value quotient = create(builder, loc, like, type, {x, divisor});
  return arith::SelectOp::create(builder, loc, isZero, zero, quotient);
}

/// A number, or a vector of them, of the element type `element`.
static Type withElement(Type like, Type element) {
  auto vector = dyn_cast<VectorType>(like);
  return vector ? Type(vector.clone(element)) : element;
}

static Value emitConversion(OpBuilder &builder, Location loc, Operation *like,
                            Value x) {
  if (getElementTypeOrSelf(x.getType()).getIntOrFloatBitWidth() < 32)
    x = arith::ExtFOp::create(
        builder, loc, withElement(x.getType(), builder.getF32Type()), x);
  auto from = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  Type element = getElementTypeOrSelf(like->getResult(0).getType());
  Type type = withElement(x.getType(), element);
  bool isUnsigned = isa<arith::FPToUIOp>(like);
  unsigned width = element.getIntOrFloatBitWidth();
  APInt most = APSInt::getMaxValue(width, isUnsigned);
  auto integer = [&](const APInt &value) {
    return makeConstant(builder, loc, type,
                        builder.getIntegerAttr(element, value));
  };
  APFloat low(from.getFloatSemantics()), high = low;
  low.convertFromAPInt(APSInt::getMinValue(width, isUnsigned), !isUnsigned,
                       APFloat::rmTowardZero);
  bool isExact = high.convertFromAPInt(most, !isUnsigned,
                                       APFloat::rmTowardZero) == APFloat::opOK;
  // Either comparison is false for NaN.
  auto limit = [&](Value value, const APFloat &bound,
                   arith::CmpFPredicate isWithin) -> Value {
    Value other = makeConstant(builder, loc, value.getType(),
                               builder.getFloatAttr(from, bound));
    Value within = arith::CmpFOp::create(builder, loc, isWithin, value, other);
    return arith::SelectOp::create(builder, loc, within, value, other);
  };
  Value inside = limit(limit(x, low, arith::CmpFPredicate::OGT), high,
                       arith::CmpFPredicate::OLT);
  Value result = create(builder, loc, like, type, inside);
  if (!isExact) {
    Value greatest = makeConstant(builder, loc, x.getType(),
                                  builder.getFloatAttr(from, high));
    Value isBeyond = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OGT, x, greatest);
    result =
        arith::SelectOp::create(builder, loc, isBeyond, integer(most), result);
  }
  if (isUnsigned)
    return result;
  Value isNumber =
      arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, x, x);
  return arith::SelectOp::create(builder, loc, isNumber, result,
                                 integer(APInt::getZero(width)));
}

Value polytoloops::emitTotal(OpBuilder &builder, Location loc, Operation *like,
                             ValueRange operands) {
  if (isDivision(like))
    return emitDivision(builder, loc, like, operands[0], operands[1]);
  if (isShift(like))
    return emitShift(builder, loc, like, operands[0], operands[1]);
  return emitConversion(builder, loc, like, operands[0]);
}
