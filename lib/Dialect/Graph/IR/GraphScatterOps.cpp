//===- GraphScatterOps.cpp - Scatters -------------------------------------===//
//
// A scatter is defined from its result: which updates hit an element? Without a
// reduction, the last one replaces it: `L` is its number, or negative.
//
//===----------------------------------------------------------------------===//

#include "DefinitionBuilder.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

static std::optional<ReduceKind> getReduceKind(ScatterReduction reduction) {
  switch (reduction) {
  case ScatterReduction::None:
    return std::nullopt;
  case ScatterReduction::Add:
    return ReduceKind::Sum;
  case ScatterReduction::Mul:
    return ReduceKind::Product;
  case ScatterReduction::Max:
    return ReduceKind::Max;
  case ScatterReduction::Min:
    return ReduceKind::Min;
  }
  llvm_unreachable("every reduction is handled above");
}

/// X combined with all updates that hit.
static Expr combine(ReduceKind kind, Expr element, ArrayRef<IndexVar> updates,
                    Expr hits, Expr update) {
  Type type = getAccumulatorType(kind, element.getType());
  return apply(getCombiner(kind), {cast(type, element),
                                   reduce(kind, updates, hits, update, type)});
}

// J[i..] = wrap(indices[i..])
// L[i..] = max(m | J[.., m, ..] == i_axis) m
// R[i..] = updates[.., L[i..], ..] if i.. < size(updates, ..) and L[i..] >= 0
//          else X[i..]
FailureOr<Definition> ScatterElementsOp::define(Adaptor op,
                                                DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  auto axis = static_cast<int64_t>(op.getAxis());
  // C1
  if (failed(checkAxis(builder, axis)))
    return failure();
  // C2
  if (failed(requireElementIndices(builder, axis)))
    return failure();
  if (builder.getRank(2) != builder.getRank(1))
    return builder.fail("expects updates to have the rank of indices, " +
                        Twine(builder.getRank(1)) + ", but got " +
                        Twine(builder.getRank(2)));
  for (unsigned dim : llvm::seq(builder.getRank(1)))
    if (failed(builder.requireEqual(builder.symbolicSize(1, dim),
                                    builder.symbolicSize(2, dim),
                                    "updates to have the shape of indices")))
      return failure();
  // C3
  if (failed(builder.requireSameType(2)))
    return failure();

  TensorRef targets = addSafeIndices(builder, "i", axis);
  // The updates along the axis, and which of them hit element `at`.
  IndexVar update = builder.makeVar("m", builder.symbolicSize(1, axis));
  auto getReached = [&](ArrayRef<Expr> at) {
    Expr reached;
    for (unsigned dim : llvm::seq(builder.getRank(0)))
      if (dim != axis && builder.getStaticSize(0, dim) !=
                             builder.getStaticSize(1, dim).value_or(-1))
        reached =
            conjoin(reached, apply(ScalarFn::Less,
                                   {at[dim], builder.symbolicSize(1, dim)}));
    return reached;
  };
  auto getHits = [&](ArrayRef<Expr> at, ArrayRef<Expr> from) {
    return conjoin(
        getReached(at),
        apply(ScalarFn::Equal, {builder.read(targets, from), at[axis]}));
  };

  SmallVector<IndexVar> results = builder.makeVars("i", 0);
  SmallVector<Expr> at = builder.use(results), from = at;
  from[axis] = builder.use(update);
  Type type = builder.getElementType(0);
  if (std::optional<ReduceKind> kind = getReduceKind(op.getReduction())) {
    builder.addResult("R", results,
                      combine(*kind, builder.read(0, at), update,
                              getHits(at, from), builder.read(2, from)),
                      type);
    return builder.take();
  }
  TensorRef last = builder.addStep(
      "L", results,
      reduce(ReduceKind::Max, update, getHits(at, from), from[axis]));
  results = builder.makeVars("i", 0);
  at = from = builder.use(results);
  from[axis] = builder.read(last, at);
  Expr isHit = conjoin(getReached(at), apply(ScalarFn::GreaterEqual,
                                             {from[axis], builder.index(0)}));
  builder.addResult("R", results,
                    select(isHit, builder.read(2, from), builder.read(0, at)),
                    type);
  return builder.take();
}

// Jn[j..] = wrap(indices[j.., n])
// L[i..] = max(j.. | J0[j..] == i_0 and ..) number(j..)
// R[i.., b..] = updates[L[i..], b..] if L[i..] >= 0 else X[i.., b..]
FailureOr<Definition> ScatterNdOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  // C1
  FailureOr<int64_t> length = checkTuples(builder, 0);
  if (failed(length))
    return failure();
  // C2
  unsigned numOuter = builder.getRank(1) - 1;
  unsigned numInner = builder.getRank(0) - *length;
  if (builder.getRank(2) != numOuter + numInner)
    return builder.fail("expects updates to have rank " +
                        Twine(numOuter + numInner) + ", but got " +
                        Twine(builder.getRank(2)));
  for (unsigned dim : llvm::seq(builder.getRank(2))) {
    Expr expected = dim < numOuter
                        ? builder.symbolicSize(1, dim)
                        : builder.symbolicSize(0, dim - numOuter + *length);
    if (failed(builder.requireEqual(
            expected, builder.symbolicSize(2, dim),
            "extents of updates that fit those of indices and X")))
      return failure();
  }
  // C3
  if (failed(builder.requireSameType(2)))
    return failure();
  // C4
  for (unsigned dim : llvm::seq<unsigned>(0, *length))
    if (failed(requireIndexable(builder, dim, builder.makeVars("j", 2))))
      return failure();

  SmallVector<TensorRef> targets = addTupleIndices(builder, *length, 0);
  SmallVector<IndexVar> updates = builder.makeVars("j", 1);
  updates.pop_back();
  SmallVector<Expr> tuple = builder.use(updates);
  auto getHits = [&](ArrayRef<Expr> at) {
    Expr hits;
    for (auto [number, target] : llvm::enumerate(targets))
      hits = conjoin(hits, apply(ScalarFn::Equal,
                                 {builder.read(target, tuple), at[number]}));
    return hits;
  };

  SmallVector<IndexVar> results = builder.makeVars("i", 0);
  SmallVector<Expr> at = builder.use(results);
  Type type = builder.getElementType(0);
  auto readUpdate = [&](ArrayRef<Expr> outer, ArrayRef<Expr> at) {
    SmallVector<Expr> from = llvm::to_vector(outer);
    llvm::append_range(from, at.drop_front(*length));
    return builder.read(2, from);
  };
  if (std::optional<ReduceKind> kind = getReduceKind(op.getReduction())) {
    builder.addResult("R", results,
                      combine(*kind, builder.read(0, at), updates, getHits(at),
                              readUpdate(tuple, at)),
                      type);
    return builder.take();
  }
  // The last update's row-major number, taken apart again to read it.
  Expr number = builder.index(0);
  for (const IndexVar &var : updates)
    number = number * var.extent + builder.use(var);
  ArrayRef<IndexVar> indexed = ArrayRef(results).take_front(*length);
  TensorRef last = builder.addStep(
      "L", indexed, reduce(ReduceKind::Max, updates, getHits(at), number));

  results = builder.makeVars("i", 0);
  at = builder.use(results);
  Expr hit = builder.read(last, ArrayRef(at).take_front(*length));
  SmallVector<Expr> outer(numOuter);
  Expr rest = hit;
  for (unsigned dim = numOuter; dim-- > 0;) {
    Expr extent = builder.size(1, dim);
    outer[dim] = dim == 0 ? rest : mod(rest, extent);
    rest = floorDiv(rest, extent);
  }
  Expr isHit = apply(ScalarFn::GreaterEqual, {hit, builder.index(0)});
  builder.addResult("R", results,
                    select(isHit, readUpdate(outer, at), builder.read(0, at)),
                    type);
  return builder.take();
}
