//===- GraphReductionOps.cpp - Reductions ---------------------------------===//

#include "DefinitionBuilder.h"
#include "espalier/Dialect/Graph/IR/Graph.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

LogicalResult graph::checkAxis(const DefinitionBuilder &builder, int64_t axis) {
  if (axis >= 0 && axis < builder.getRank(0))
    return success();
  return builder.fail("expects an axis below the rank " +
                      Twine(builder.getRank(0)) + ", but got " + Twine(axis));
}

//===----------------------------------------------------------------------===//
// Reductions over axes
//===----------------------------------------------------------------------===//

static LogicalResult checkAxes(const DefinitionBuilder &builder,
                               ArrayRef<int64_t> axes) {
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t axis : axes) {
    if (failed(checkAxis(builder, axis)))
      return failure();
    if (!seen.insert(axis).second)
      return builder.fail("expects distinct axes, but got " + Twine(axis) +
                          " twice");
  }
  return success();
}

/// R[kept..] = kind(reduced..) X[..], divided by the number of points for a
/// mean.
static FailureOr<Definition>
defineReduction(ValueRange operands, ArrayRef<StringRef> names,
                ArrayRef<int64_t> axes, bool keepdims, ReduceKind kind,
                bool isMean, DefinitionError error) {
  DefinitionBuilder builder(operands, names, error);
  // C1
  if (failed(checkAxes(builder, axes)))
    return failure();
  SmallVector<IndexVar> results, reduced;
  Expr count = constant(int64_t(1));
  SmallVector<IndexVar> all = builder.makeVars("i", 0);
  for (auto [dim, var] : llvm::enumerate(all)) {
    if (!llvm::is_contained(axes, dim)) {
      results.push_back(var);
      continue;
    }
    reduced.push_back(var);
    count = count * builder.size(0, dim);
    if (keepdims)
      results.push_back(builder.makeVar(var.name + "k", builder.index(1)));
  }
  Type type = builder.getElementType(0);
  Expr value = reduce(kind, reduced, {}, builder.read(0, builder.use(all)),
                      getAccumulatorType(kind, type));
  if (isMean)
    value = apply(ScalarFn::Div, {value, count});
  builder.addResult("R", results, value, type);
  return builder.take();
}

#define DEFINE_REDUCTION(Op, kind, isMean)                                     \
  FailureOr<Definition> Op::define(Adaptor op, DefinitionError error) {        \
    return defineReduction(op.getOperands(), getOperandNames(), op.getAxes(),  \
                           op.getKeepdims(), kind, isMean, error);             \
  }
DEFINE_REDUCTION(ReduceSumOp, ReduceKind::Sum, false)
DEFINE_REDUCTION(ReduceMeanOp, ReduceKind::Sum, true)
DEFINE_REDUCTION(ReduceProdOp, ReduceKind::Product, false)
DEFINE_REDUCTION(ReduceMaxOp, ReduceKind::Max, false)
DEFINE_REDUCTION(ReduceMinOp, ReduceKind::Min, false)
#undef DEFINE_REDUCTION

//===----------------------------------------------------------------------===//
// Positions of extremes
//===----------------------------------------------------------------------===//

/// M[o..] = kind(k) X[.., k, ..]
/// R[o..] = min(k | X[.., k, ..] == M[o..]) k      (max for the last one)
static FailureOr<Definition>
defineArgReduction(ValueRange operands, ArrayRef<StringRef> names, int64_t axis,
                   bool keepdims, bool selectLast, ReduceKind kind,
                   DefinitionError error) {
  DefinitionBuilder builder(operands, names, error);
  // C1
  if (failed(checkAxis(builder, axis)))
    return failure();
  auto makeKept = [&] {
    SmallVector<IndexVar> kept = builder.makeVars("i", 0);
    kept.erase(kept.begin() + axis);
    return kept;
  };
  auto readAt = [&](ArrayRef<IndexVar> kept, const IndexVar &reduced) {
    SmallVector<Expr> indices = builder.use(kept);
    indices.insert(indices.begin() + axis, builder.use(reduced));
    return builder.read(0, indices);
  };

  SmallVector<IndexVar> kept = makeKept();
  IndexVar reduced = builder.makeVar("k", builder.symbolicSize(0, axis));
  TensorRef extreme = builder.addStep(
      "M", kept, reduce(kind, reduced, {}, readAt(kept, reduced)));

  kept = makeKept();
  reduced = builder.makeVar("k", builder.symbolicSize(0, axis));
  Expr element = readAt(kept, reduced);
  Expr isExtreme = apply(ScalarFn::Equal,
                         {element, builder.read(extreme, builder.use(kept))});
  if (isa<FloatType>(builder.getElementType(0)))
    isExtreme =
        apply(ScalarFn::Or, {isExtreme, apply(ScalarFn::IsNaN, {element})});
  Type type = IntegerType::get(builder.getContext(), 64);
  Expr position = reduce(selectLast ? ReduceKind::Max : ReduceKind::Min,
                         reduced, isExtreme, cast(type, builder.use(reduced)));
  if (keepdims)
    kept.insert(kept.begin() + axis, builder.makeVar("ik", builder.index(1)));
  builder.addResult("R", kept, position, type);
  return builder.take();
}

FailureOr<Definition> ArgMaxOp::define(Adaptor op, DefinitionError error) {
  return defineArgReduction(op.getOperands(), getOperandNames(), op.getAxis(),
                            op.getKeepdims(), op.getSelectLast(),
                            ReduceKind::Max, error);
}

FailureOr<Definition> ArgMinOp::define(Adaptor op, DefinitionError error) {
  return defineArgReduction(op.getOperands(), getOperandNames(), op.getAxis(),
                            op.getKeepdims(), op.getSelectLast(),
                            ReduceKind::Min, error);
}

//===----------------------------------------------------------------------===//
// CumsumOp
//===----------------------------------------------------------------------===//

FailureOr<Definition> CumsumOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  auto axis = static_cast<int64_t>(op.getAxis());
  // C1
  if (failed(checkAxis(builder, axis)))
    return failure();

  // C[.., t, ..] = X[.., t, ..] if t == 0 else C[.., t - 1, ..] + X[.., t, ..]
  SmallVector<IndexVar> vars = builder.makeVars("i", 0);
  Type type = builder.getElementType(0);
  Type sumType = getArithmeticType(type);
  Expr extent = builder.symbolicSize(0, axis);
  Expr time = builder.use(vars[axis]);
  auto at = [&](Expr position) {
    SmallVector<Expr> indices = builder.use(vars);
    indices[axis] = position;
    return indices;
  };
  auto readInput = [&](Expr position) {
    if (op.getReverse())
      position = extent - 1 - position;
    return cast(sumType, builder.read(0, at(position)));
  };
  TensorRef self = TensorRef::step(0);
  Expr previous = access(self, at(time - 1), sumType);
  Expr first =
      op.getExclusive() ? cast(sumType, constant(int64_t(0))) : readInput(time);
  Expr next = previous + readInput(op.getExclusive() ? time - 1 : time);
  Expr isFirst = apply(ScalarFn::Equal, {time, constant(int64_t(0))});
  builder.addStep("C", vars, select(isFirst, first, next));
  builder.markRecurrence(1, axis);
  if (!op.getReverse() && sumType == type) {
    builder.addResult(self);
    return builder.take();
  }

  vars = builder.makeVars("i", 0);
  time = builder.use(vars[axis]);
  Expr position = op.getReverse() ? extent - 1 - time : time;
  builder.addResult("R", vars, builder.read(self, at(position)), type);
  return builder.take();
}
