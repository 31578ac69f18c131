//===- Division.cpp - Integer division that is total ----------------------===//
//
// Processors trap where a quotient does not exist, and LLVM may assume that it
// does; here it is 0 for a divisor of 0, and the least number by -1 is itself.
//
//   x / y   ->   y == 0 ? 0 : x / (y == 0 || (x == least && y == -1) ? 1 : y)
//
// The remainder by 1 is 0, so that the same replacement serves remainders.
//
//===----------------------------------------------------------------------===//

#include "KernelValues.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace espalier;

bool polytoloops::isIntegerDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
}

static bool isSigned(Operation *op) {
  return !isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
}

static Value create(OpBuilder &builder, Location loc, Operation *like,
                    ValueRange operands) {
  OperationState state(loc, like->getName().getStringRef(), operands,
                       operands.front().getType(), like->getAttrs());
  return builder.create(state)->getResult(0);
}

/// A number, or a vector of it.
static Value makeConstant(OpBuilder &builder, Location loc, Type type,
                          const APInt &number) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = builder.getIntegerAttr(element, number);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(builder, loc, attr);
}

Value polytoloops::emitDivision(OpBuilder &builder, Location loc,
                                Operation *like, Value x, Value y) {
  Type type = x.getType();
  APInt known;
  if (matchPattern(y, m_ConstantInt(&known)) && !known.isZero() &&
      (!isSigned(like) || !known.isAllOnes()))
    return create(builder, loc, like, {x, y});
  Type element = getElementTypeOrSelf(type);
  unsigned width = element.isIndex() ? IndexType::kInternalStorageBitWidth
                                     : element.getIntOrFloatBitWidth();
  auto number = [&](const APInt &value) {
    return makeConstant(builder, loc, type, value);
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
  Value quotient = create(builder, loc, like, {x, divisor});
  return arith::SelectOp::create(builder, loc, isZero, zero, quotient);
}
