//===- GraphRecurrentOps.cpp - Recurrent layers ---------------------------===//
//
// The products with the inputs do not depend on the state: they are a step of
// their own, for all times (`P`). The recurrence itself begins with the state
// before time t, which is the initial one at t = 0.
//
//===----------------------------------------------------------------------===//

#include "DefinitionBuilder.h"
#include "espalier/Definition/Formulas.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

namespace {
/// Operands common to both layers.
enum Operand { X, W, R, Bias, H0, C0 };

class RecurrentBuilder : public DefinitionBuilder {
public:
  RecurrentBuilder(ValueRange operands, ArrayRef<StringRef> names,
                   Direction direction, unsigned numGates,
                   DefinitionError error)
      : DefinitionBuilder(operands, names, error), names(names),
        isReverse(direction == Direction::Reverse), numGates(numGates),
        numOperands(names.size()) {}

  LogicalResult verify() {
    for (unsigned operand : llvm::seq(numOperands)) {
      // C1
      unsigned rank = operand == X ? 3 : operand == Bias ? 1 : 2;
      if (getRank(operand) != rank)
        return fail("expects " + names[operand] + " to have rank " +
                    Twine(rank) + ", but got " + Twine(getRank(operand)));
      // C2
      if (failed(requireSameType(operand)))
        return failure();
    }
    // C3
    type = getElementType(X);
    sumType = getArithmeticType(type);
    Expr hidden = symbolicSize(R, 1);
    if (failed(requireEqual(symbolicSize(X, 2), symbolicSize(W, 1),
                            "W to have the features of X")) ||
        failed(requireEqual(hidden * numGates, symbolicSize(W, 0),
                            "W to have all gates")) ||
        failed(requireEqual(hidden * numGates, symbolicSize(R, 0),
                            "R to have all gates")) ||
        failed(requireEqual(hidden * (2 * numGates), symbolicSize(Bias, 0),
                            "bias to have all gates twice")))
      return failure();
    for (unsigned operand : llvm::seq<unsigned>(H0, numOperands))
      if (failed(requireEqual(symbolicSize(X, 1), symbolicSize(operand, 0),
                              names[operand] + " to have the batch of X")) ||
          failed(requireEqual(hidden, symbolicSize(operand, 1),
                              names[operand] + " to have the hidden size")))
        return failure();
    return success();
  }

  Expr getHidden() const { return size(R, 1); }
  Expr getLength() const { return symbolicSize(X, 0); }

  /// Element `unit` of gate `gate`, among stacked gates.
  Expr inGate(unsigned gate, Expr unit) const {
    return getHidden() * gate + unit;
  }
  /// The bias of `W` (0) or of `R` (1).
  Expr readBias(unsigned half, Expr gate) const {
    return read(Bias, getHidden() * (half * numGates) + gate);
  }

  /// Variables (t, b, unit); with several gates, the last one runs over those.
  SmallVector<IndexVar> makeVars(unsigned stacked = 1) {
    Expr extent = symbolicSize(R, 1);
    if (stacked > 1)
      extent = stacked == numGates ? symbolicSize(W, 0) : extent * stacked;
    return {makeVar("t", getLength()), makeVar("b", symbolicSize(X, 1)),
            makeVar(stacked > 1 ? "g" : "j", extent)};
  }
  using DefinitionBuilder::makeVar;

  /// P[t, b, g] = sum(i) X[t, b, i] * W[g, i] + bias[g]
  TensorRef addInputProducts() {
    SmallVector<IndexVar> vars = makeVars(numGates);
    IndexVar feature = makeVar("i", symbolicSize(X, 2));
    Expr time = use(vars[0]), gate = use(vars[2]);
    if (isReverse)
      time = getLength() - 1 - time;
    Expr product = reduce(ReduceKind::Sum, feature, {},
                          read(X, {time, use(vars[1]), use(feature)}) *
                              read(W, {gate, use(feature)}));
    return addStep("P", vars, product + readBias(0, gate));
  }

  /// name[t, b, j] = initial[b, j] if t == 0 else state[t - 1, b, j]
  TensorRef addPrevious(StringRef name, Operand initial, TensorRef state) {
    SmallVector<IndexVar> vars = makeVars();
    SmallVector<Expr> at = use(vars);
    Expr isFirst = apply(ScalarFn::Equal, {at[0], index(0)});
    Expr first = read(initial, ArrayRef(at).drop_front());
    at[0] = at[0] - 1;
    return addStep(name, vars,
                   select(isFirst, first, access(state, at, sumType)));
  }

  /// sum(k) state[t, b, k] * R[gate, k], plus its bias.
  Expr multiplyState(TensorRef state, ArrayRef<Expr> at, Expr gate) {
    IndexVar unit = makeVar("k", symbolicSize(R, 1));
    Expr product = reduce(ReduceKind::Sum, unit, {},
                          read(state, {at[0], at[1], use(unit)}) *
                              read(R, {gate, use(unit)}));
    return product + readBias(1, gate);
  }

  /// The states of all times, in the order of `X`.
  void addSequence(TensorRef state) {
    SmallVector<IndexVar> vars = makeVars();
    SmallVector<Expr> at = use(vars);
    if (isReverse)
      at[0] = getLength() - 1 - at[0];
    DefinitionBuilder::addResult("Y", vars, read(state, at), type);
  }

  /// The state after the last step; the initial one if there is no step.
  void addLast(StringRef name, Operand initial, TensorRef state) {
    SmallVector<IndexVar> vars = makeVars();
    vars.erase(vars.begin());
    SmallVector<Expr> at = use(vars);
    Expr initialState = read(initial, at);
    at.insert(at.begin(), getLength() - 1);
    Expr last = read(state, at);
    if (getStaticSize(X, 0).value_or(0) == 0)
      last = select(apply(ScalarFn::Greater, {getLength(), index(0)}), last,
                    initialState);
    DefinitionBuilder::addResult(name, vars, last, type);
  }

  Type sumType;

private:
  ArrayRef<StringRef> names;
  bool isReverse;
  unsigned numGates, numOperands;
  Type type;
};
} // namespace

// The recurrence, with gates i, o, f, c:
//   HP[t, b, j] = H0[b, j] if t == 0 else HS[t - 1, b, j]
//   G[t, b, g] = sum(k) HP[t, b, k] * R[g, k] + bias[..]
//   CP[t, b, j] = C0[b, j] if t == 0 else CS[t - 1, b, j]
//   CS[t, b, j] = sigmoid(P_f + G_f) * CP[t, b, j]
//                 + sigmoid(P_i + G_i) * tanh(P_c + G_c)
//   HS[t, b, j] = sigmoid(P_o + G_o) * tanh(CS[t, b, j])
//
// The product of a step does not wait for P, which is not in the nearest cache:
// the maps after it read both as they lie.
FailureOr<Definition> LstmOp::define(Adaptor op, DefinitionError error) {
  RecurrentBuilder builder(op.getOperands(), getOperandNames(),
                           op.getDirection(), /*numGates=*/4, error);
  if (failed(builder.verify()))
    return failure();
  TensorRef products = builder.addInputProducts();
  TensorRef cell = TensorRef::step(4), hidden = TensorRef::step(5);

  TensorRef previous = builder.addPrevious("HP", H0, hidden);
  SmallVector<IndexVar> vars = builder.makeVars(/*stacked=*/4);
  SmallVector<Expr> at = builder.use(vars);
  TensorRef gates =
      builder.addStep("G", vars, builder.multiplyState(previous, at, at[2]));
  TensorRef previousCell = builder.addPrevious("CP", C0, cell);

  auto readGate = [&](unsigned gate) {
    SmallVector<Expr> stacked{at[0], at[1], builder.inGate(gate, at[2])};
    return builder.read(products, stacked) + builder.read(gates, stacked);
  };
  vars = builder.makeVars();
  at = builder.use(vars);
  builder.addStep("CS", vars,
                  sigmoid(readGate(2)) * builder.read(previousCell, at) +
                      sigmoid(readGate(0)) * definition::tanh(readGate(3)));
  vars = builder.makeVars();
  at = builder.use(vars);
  builder.addStep("HS", vars,
                  sigmoid(readGate(1)) *
                      definition::tanh(builder.read(cell, at)));
  builder.markRecurrence(5, 0);

  builder.addSequence(hidden);
  builder.addLast("H", H0, hidden);
  builder.addLast("C", C0, cell);
  return builder.take();
}

// The recurrence, with gates z, r, h, of which the state's product has the
// first n = 3 with linear_before_reset and n = 2 without:
//   HP[t, b, j] = H0[b, j] if t == 0 else HS[t - 1, b, j]
//   G[t, b, g] = sum(k) HP[t, b, k] * R[g, k] + bias[..]   (g < n * hidden)
//   Z[t, b, j] = sigmoid(P_z + G_z)
//   S[t, b, j] = sigmoid(P_r + G_r)
//   N[t, b, j] = tanh(P_h + S[t, b, j] * G_h)              (n = 3)
//   Q[t, b, k] = S[t, b, k] * HP[t, b, k]                  (n = 2)
//   N[t, b, j] = tanh(P_h + sum(k) Q[t, b, k] * R_h[j, k] + bias[..])
//   HS[t, b, j] = (1 - Z[t, b, j]) * N[t, b, j] + Z[t, b, j] * HP[t, b, j]
FailureOr<Definition> GruOp::define(Adaptor op, DefinitionError error) {
  RecurrentBuilder builder(op.getOperands(), getOperandNames(),
                           op.getDirection(), /*numGates=*/3, error);
  if (failed(builder.verify()))
    return failure();
  TensorRef products = builder.addInputProducts();
  bool isLinear = op.getLinearBeforeReset();
  unsigned numSteps = isLinear ? 6 : 7;
  TensorRef hidden = TensorRef::step(numSteps);
  TensorRef previous = builder.addPrevious("HP", H0, hidden);
  SmallVector<IndexVar> vars = builder.makeVars(isLinear ? 3 : 2);
  SmallVector<Expr> at = builder.use(vars);
  TensorRef gates =
      builder.addStep("G", vars, builder.multiplyState(previous, at, at[2]));

  auto begin = [&] {
    vars = builder.makeVars();
    at = builder.use(vars);
  };
  auto readGate = [&](TensorRef stacked, unsigned gate) {
    return builder.read(stacked, {at[0], at[1], builder.inGate(gate, at[2])});
  };
  begin();
  TensorRef update = builder.addStep(
      "Z", vars, sigmoid(readGate(products, 0) + readGate(gates, 0)));
  begin();
  TensorRef reset = builder.addStep(
      "S", vars, sigmoid(readGate(products, 1) + readGate(gates, 1)));
  Expr product;
  if (isLinear) {
    begin();
    product = builder.read(reset, at) * readGate(gates, 2);
  } else {
    begin();
    TensorRef kept = builder.addStep(
        "Q", vars, builder.read(reset, at) * builder.read(previous, at));
    begin();
    product = builder.multiplyState(kept, at, builder.inGate(2, at[2]));
  }
  TensorRef candidate = builder.addStep(
      "N", vars, definition::tanh(readGate(products, 2) + product));
  begin();
  Expr mix = builder.read(update, at);
  Expr rest = cast(builder.sumType, constant(int64_t(1))) - mix;
  builder.addStep("HS", vars,
                  rest * builder.read(candidate, at) +
                      mix * builder.read(previous, at));
  builder.markRecurrence(numSteps, 0);

  builder.addSequence(hidden);
  builder.addLast("H", H0, hidden);
  return builder.take();
}
