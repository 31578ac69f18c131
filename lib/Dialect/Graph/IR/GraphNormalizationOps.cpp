//===- GraphNormalizationOps.cpp - Normalizations -------------------------===//

#include "DefinitionBuilder.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

//===----------------------------------------------------------------------===//
// SoftmaxOp and LogSoftmaxOp
//===----------------------------------------------------------------------===//

namespace {
/// The steps that both share: M, the maximum along the axis, and the reads of a
/// tensor without and with it.
struct SoftmaxBuilder : DefinitionBuilder {
  SoftmaxBuilder(ValueRange operands, ArrayRef<StringRef> names, int64_t axis,
                 DefinitionError error)
      : DefinitionBuilder(operands, names, error), axis(axis) {}

  SmallVector<IndexVar> makeKept() {
    SmallVector<IndexVar> kept = makeVars("i", 0);
    kept.erase(kept.begin() + axis);
    return kept;
  }
  SmallVector<Expr> withAxis(ArrayRef<IndexVar> kept, const IndexVar &var) {
    SmallVector<Expr> indices = use(kept);
    indices.insert(indices.begin() + axis, use(var));
    return indices;
  }
  SmallVector<Expr> withoutAxis(ArrayRef<IndexVar> all) {
    SmallVector<Expr> indices = use(all);
    indices.erase(indices.begin() + axis);
    return indices;
  }
  /// name[o..] = kind(k) body(o.., k)
  TensorRef addReduction(
      StringRef name, ReduceKind kind,
      llvm::function_ref<Expr(ArrayRef<IndexVar>, const IndexVar &)> body) {
    SmallVector<IndexVar> kept = makeKept();
    IndexVar var = makeVar("k", symbolicSize(0, axis));
    Expr value = body(kept, var);
    return addStep(name, kept,
                   reduce(kind, var, {}, value,
                          getAccumulatorType(kind, value.getType())));
  }
  TensorRef addMaximum() {
    return addReduction("M", ReduceKind::Max,
                        [&](ArrayRef<IndexVar> kept, const IndexVar &var) {
                          return read(0, withAxis(kept, var));
                        });
  }

  int64_t axis;
};
} // namespace

// M[o..] = max(k) X[.., k, ..]
// E[..] = exp(X[..] - M[o..])
// S[o..] = sum(k) E[.., k, ..]
// F[o..] = 1 / S[o..]
// R[..] = E[..] * F[o..]
FailureOr<Definition> SoftmaxOp::define(Adaptor op, DefinitionError error) {
  SoftmaxBuilder builder(op.getOperands(), getOperandNames(), op.getAxis(),
                         error);
  // C1
  if (failed(checkAxis(builder, op.getAxis())))
    return failure();
  Type type = builder.getElementType(0);
  TensorRef maximum = builder.addMaximum();

  SmallVector<IndexVar> vars = builder.makeVars("i", 0);
  Expr shifted = builder.read(0, builder.use(vars)) -
                 builder.read(maximum, builder.withoutAxis(vars));
  TensorRef exponential =
      builder.addStep("E", vars, apply(ScalarFn::Exp, {shifted}));
  TensorRef sum = builder.addReduction(
      "S", ReduceKind::Sum, [&](ArrayRef<IndexVar> kept, const IndexVar &var) {
        return builder.read(exponential, builder.withAxis(kept, var));
      });
  SmallVector<IndexVar> kept = builder.makeKept();
  Expr inverse = apply(ScalarFn::Div,
                       {constant(1.0), builder.read(sum, builder.use(kept))});
  TensorRef factor = builder.addStep("F", kept, inverse);
  vars = builder.makeVars("i", 0);
  Expr scaled = builder.read(exponential, builder.use(vars)) *
                builder.read(factor, builder.withoutAxis(vars));
  builder.addResult("R", vars, scaled, type);
  return builder.take();
}

// M[o..] = max(k) X[.., k, ..]
// L[o..] = sum(k) exp(X[.., k, ..] - M[o..])
// R[..] = X[..] - M[o..] - log(L[o..])
FailureOr<Definition> LogSoftmaxOp::define(Adaptor op, DefinitionError error) {
  SoftmaxBuilder builder(op.getOperands(), getOperandNames(), op.getAxis(),
                         error);
  // C1
  if (failed(checkAxis(builder, op.getAxis())))
    return failure();
  Type type = builder.getElementType(0);
  TensorRef maximum = builder.addMaximum();
  TensorRef sum = builder.addReduction(
      "L", ReduceKind::Sum, [&](ArrayRef<IndexVar> kept, const IndexVar &var) {
        Expr element = builder.read(0, builder.withAxis(kept, var));
        Expr most = builder.read(maximum, builder.use(kept));
        return apply(ScalarFn::Exp, {element - most});
      });
  SmallVector<IndexVar> vars = builder.makeVars("i", 0);
  SmallVector<Expr> row = builder.withoutAxis(vars);
  Expr shifted =
      builder.read(0, builder.use(vars)) - builder.read(maximum, row);
  Expr logarithm = apply(ScalarFn::Log, {builder.read(sum, row)});
  builder.addResult("R", vars, shifted - logarithm, type);
  return builder.take();
}

//===----------------------------------------------------------------------===//
// LayerNormOp
//===----------------------------------------------------------------------===//

// M[o..] = sum(k..) X[o.., k..] / count
// V[o..] = sum(k..) (X[o.., k..] - M[o..]) ** 2 / count
// F[o..] = 1 / sqrt(V[o..] + epsilon)
// R[o.., k..] = (X[o.., k..] - M[o..]) * F[o..] * scale[k..] + bias[k..]
FailureOr<Definition> LayerNormOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  auto axis = static_cast<int64_t>(op.getAxis());
  // C1
  if (failed(checkAxis(builder, axis)))
    return failure();
  // C2
  Type type = builder.getElementType(0);
  if (failed(builder.requireSameType({1, 2})))
    return failure();
  Type sumType = getArithmeticType(type);
  Expr count = constant(int64_t(1));
  for (unsigned dim : llvm::seq<unsigned>(axis, builder.getRank(0)))
    count = count * builder.size(0, dim);
  auto addMean = [&](StringRef name,
                     llvm::function_ref<Expr(ArrayRef<Expr>)> body) {
    SmallVector<IndexVar> vars = builder.makeVars("i", 0);
    Expr sum = reduce(ReduceKind::Sum, ArrayRef(vars).drop_front(axis), {},
                      body(builder.use(vars)), sumType);
    return builder.addStep(name, ArrayRef(vars).take_front(axis),
                           apply(ScalarFn::Div, {sum, count}));
  };
  auto readInput = [&](ArrayRef<Expr> indices) {
    return builder.read(0, indices);
  };
  TensorRef mean = addMean("M", readInput);
  auto center = [&](ArrayRef<Expr> indices) {
    return readInput(indices) - builder.read(mean, indices.take_front(axis));
  };
  TensorRef variance = addMean("V", [&](ArrayRef<Expr> indices) {
    return center(indices) * center(indices);
  });
  SmallVector<IndexVar> rows = builder.makeVars("i", 0);
  rows.truncate(axis);
  Expr shifted = builder.read(variance, builder.use(rows)) +
                 constant(op.getEpsilon().convertToDouble());
  TensorRef factor =
      builder.addStep("F", rows, apply(ScalarFn::Rsqrt, shifted));

  SmallVector<IndexVar> vars = builder.makeVars("i", 0);
  SmallVector<Expr> indices = builder.use(vars);
  FailureOr<Expr> scale = builder.readBroadcast(1, vars);
  if (failed(scale))
    return failure();
  FailureOr<Expr> bias = builder.readBroadcast(2, vars);
  if (failed(bias))
    return failure();
  Expr normalized = center(indices) *
                    builder.read(factor, ArrayRef(indices).take_front(axis));
  builder.addResult("R", vars, normalized * *scale + *bias, type);
  return builder.take();
}
