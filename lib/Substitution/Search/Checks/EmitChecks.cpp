//===- EmitChecks.cpp - Conditions on extents as code ---------------------===//

#include "Extents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace espalier::substitution;

namespace {
class CheckEmitter {
public:
  CheckEmitter(const ExtentTable &extents, OpBuilder &builder, Location loc)
      : extents(extents), builder(builder), loc(loc) {}

  Value run(ArrayRef<Clause> clauses) {
    for (Var var = 0; var < extents.size(); ++var)
      if (extents[var].isEntry())
        emitEntry(var);
    Value holds;
    for (const Clause &clause : clauses) {
      Value any;
      for (const Constraints &alternative : clause) {
        Value all;
        for (const Constraint &constraint : alternative)
          all = combine<arith::AndIOp>(all, emit(constraint));
        any = combine<arith::OrIOp>(any, all);
      }
      holds = combine<arith::AndIOp>(holds, any);
    }
    // What was computed from replaced extents does not count.
    for (Value isInRange : inRange)
      holds = combine<arith::AndIOp>(holds, isInRange);
    return holds;
  }

private:
  template <typename Op>
  Value combine(Value lhs, Value rhs) {
    return lhs ? Op::create(builder, loc, lhs, rhs).getResult() : rhs;
  }

  Value number(int64_t value) {
    Value &known = numbers[value];
    if (!known)
      known = arith::ConstantIndexOp::create(builder, loc, value);
    return known;
  }

  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  }

  Value emit(const Constraint &constraint) {
    return compare(constraint.isEquality ? arith::CmpIPredicate::eq
                                         : arith::CmpIPredicate::sge,
                   emit(constraint.expr), number(0));
  }

  Value emit(const Linear &form) {
    Value sum;
    for (auto [var, coefficient] : form.getTerms()) {
      Value term = emit(var);
      if (coefficient != 1)
        term = arith::MulIOp::create(builder, loc, term, number(coefficient));
      sum = combine<arith::AddIOp>(sum, term);
    }
    if (!sum || form.getConstant() != 0)
      sum = combine<arith::AddIOp>(sum, number(form.getConstant()));
    return sum;
  }

  Value emit(Var var) {
    auto known = values.find(var);
    if (known != values.end())
      return known->second;
    const ExtentInfo &info = extents[var];
    assert(info.isQuotient() && "forms of clauses can be computed");
    Value dividend = emit(info.dividend);
    Value value = arith::FloorDivSIOp::create(builder, loc, dividend,
                                              number(info.divisor));
    values[var] = value;
    return value;
  }

  /// An extent, or 1 where it is not one that arithmetic is meant for.
  void emitEntry(Var var) {
    const ExtentInfo &info = extents[var];
    Value one = number(1);
    Value extent =
        tensor::DimOp::create(builder, loc, info.value, number(info.dim));
    Value isPositive = compare(arith::CmpIPredicate::sge, extent, one);
    Value isSmall = compare(arith::CmpIPredicate::sle, extent,
                            number(ExtentTable::kMaxExtent));
    inRange.push_back(combine<arith::AndIOp>(isPositive, isSmall));
    values[var] =
        arith::SelectOp::create(builder, loc, inRange.back(), extent, one);
  }

  const ExtentTable &extents;
  OpBuilder &builder;
  Location loc;
  llvm::DenseMap<Var, Value> values;
  llvm::DenseMap<int64_t, Value> numbers;
  SmallVector<Value> inRange;
};
} // namespace

Value espalier::substitution::emitChecks(ArrayRef<Clause> clauses,
                                         const ExtentTable &extents,
                                         OpBuilder &builder, Location loc) {
  return CheckEmitter(extents, builder, loc).run(clauses);
}
