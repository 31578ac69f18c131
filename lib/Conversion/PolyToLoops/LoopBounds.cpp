//===- LoopBounds.cpp - Where loops begin and end -------------------------===//

#include "KernelLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstCondition;
using polyhedral::AstExpr;
using polyhedral::AstNode;

/// Beyond the iterations of all loops.
static constexpr int64_t kMaxBound = int64_t(1) << 62;

Value KernelLoops::emitExpr(const AstExpr &expr) {
  if (expr.kind == AstExpr::Kind::Affine)
    return emitIndex(expr.affine);
  if (expr.kind == AstExpr::Kind::Select) {
    Value condition = emitCondition(*expr.condition);
    return arith::SelectOp::create(builder, loc, condition,
                                   emitExpr(expr.operands[0]),
                                   emitExpr(expr.operands[1]));
  }
  Value result = emitExpr(expr.operands.front());
  for (const AstExpr &operand : llvm::drop_begin(expr.operands)) {
    Value value = emitExpr(operand);
    if (expr.kind == AstExpr::Kind::Max)
      result = arith::MaxSIOp::create(builder, loc, result, value);
    else
      result = arith::MinSIOp::create(builder, loc, result, value);
  }
  return result;
}

Value KernelLoops::emitDataBound(AffineExpr bound) {
  SmallVector<AffineExpr> symbols;
  SmallVector<Value> data;
  for (unsigned symbol = 0; symbol < numParams + dataLoops.getElements().size();
       ++symbol) {
    symbols.push_back(getAffineSymbolExpr(symbol, builder.getContext()));
    if (symbol < numParams || !bound.isFunctionOfSymbol(symbol))
      continue;
    symbols.back() = getAffineSymbolExpr(this->symbols.size() + data.size(),
                                         builder.getContext());
    Value &value = boundElements[symbol - numParams];
    if (!value) {
      const BoundElement &element = dataLoops.getElements()[symbol - numParams];
      const Memory &memory = memories.find(element.array)->second;
      AffineExpr address = constant(0);
      for (auto [index, stride] :
           llvm::zip_equal(element.indices, memory.strides))
        address = address + index * stride;
      value =
          memref::LoadOp::create(builder, loc, memory.flat, emitIndex(address));
      noteBound(element.array, value);
    }
    data.push_back(value);
  }
  Value value = emitExact(bound.replaceSymbols(symbols), data);
  if (value.getType().isIndex())
    return value;
  // Beyond what loops run over it does not matter where.
  Type type = value.getType();
  value =
      arith::MaxSIOp::create(builder, loc, value, emitNumber(-kMaxBound, type));
  value =
      arith::MinSIOp::create(builder, loc, value, emitNumber(kMaxBound, type));
  return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                    value);
}

bool KernelLoops::areBoundsRead(const AstNode &loop) const {
  const DataLoop *data = dataLoops.find(loop);
  auto isRead = [&](AffineExpr bound) {
    for (unsigned number = 0; number < dataLoops.getElements().size(); ++number)
      if (bound.isFunctionOfSymbol(numParams + number) &&
          !boundElements.contains(number))
        return false;
    return true;
  };
  auto areRead = [&](const DataBounds &side) {
    return llvm::all_of(
        side, [&](const auto &bounds) { return llvm::all_of(bounds, isRead); });
  };
  return !data || (areRead(data->lower) && areRead(data->upper));
}

Value KernelLoops::emitBound(const AstNode &loop, bool isUpper) {
  if (auto extent = extents.find(&loop); isUpper && extent != extents.end())
    return arith::ConstantIndexOp::create(builder, loc, extent->second);
  Value bound = emitExpr(isUpper ? loop.upper : loop.lower);
  const DataLoop *data = dataLoops.find(loop);
  if (!data)
    return bound;
  auto combine = [&](Value &value, Value other, bool isLeast) {
    if (!value)
      value = other;
    else if (isLeast)
      value = arith::MinSIOp::create(builder, loc, value, other);
    else
      value = arith::MaxSIOp::create(builder, loc, value, other);
  };
  // What all computations leave out; each leaves out what one bound does.
  Value all;
  for (ArrayRef<AffineExpr> bounds : isUpper ? data->upper : data->lower) {
    Value own;
    for (AffineExpr expr : bounds)
      combine(own, emitDataBound(expr), isUpper);
    combine(all, own, !isUpper);
  }
  if (all)
    combine(bound, all, isUpper);
  return bound;
}

std::optional<int64_t> KernelLoops::getConstantBoundOf(const AstNode &loop,
                                                       bool isUpper) {
  if (auto extent = extents.find(&loop); isUpper && extent != extents.end())
    return extent->second;
  const DataLoop *data = dataLoops.find(loop);
  if (data && !(isUpper ? data->upper : data->lower).empty())
    return std::nullopt;
  return getConstant(isUpper ? loop.upper : loop.lower);
}

Value KernelLoops::emitCondition(const AstCondition &condition) {
  using Kind = AstCondition::Kind;
  auto compare = [&](arith::CmpIPredicate predicate) -> Value {
    Value value = emitExpr(condition.value);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    return arith::CmpIOp::create(builder, loc, predicate, value, zero);
  };
  bool isAnd = condition.kind == Kind::And;
  switch (condition.kind) {
  case Kind::NonNegative:
    return compare(arith::CmpIPredicate::sge);
  case Kind::Zero:
    return compare(arith::CmpIPredicate::eq);
  case Kind::True:
  case Kind::And:
  case Kind::Or: {
    Value result = arith::ConstantIntOp::create(builder, loc,
                                                condition.kind != Kind::Or, 1);
    for (const AstCondition &operand : condition.operands) {
      Value value = emitCondition(operand);
      result =
          isAnd ? arith::AndIOp::create(builder, loc, result, value).getResult()
                : arith::OrIOp::create(builder, loc, result, value);
    }
    return result;
  }
  case Kind::Not: {
    Value value = emitCondition(condition.operands.front());
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 1);
    return arith::XOrIOp::create(builder, loc, value, one);
  }
  }
  llvm_unreachable("all kinds are handled");
}
