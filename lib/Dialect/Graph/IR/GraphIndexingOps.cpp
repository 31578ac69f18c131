//===- GraphIndexingOps.cpp - Gathers -------------------------------------===//
//
// The indices are first made safe in a tensor of their own (`J`), which then
// says where to read.
//
//===----------------------------------------------------------------------===//

#include "DefinitionBuilder.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

LogicalResult graph::requireIndexable(DefinitionBuilder &builder, unsigned dim,
                                      ArrayRef<IndexVar> readers) {
  return builder.requireElements(builder.symbolicSize(0, dim),
                                 "of X to index along dimension " + Twine(dim),
                                 readers);
}

TensorRef graph::addSafeIndices(DefinitionBuilder &builder, StringRef name,
                                int64_t axis) {
  SmallVector<IndexVar> vars = builder.makeVars(name, 1);
  return builder.addStep("J", vars,
                         builder.wrapIndex(builder.read(1, builder.use(vars)),
                                           builder.symbolicSize(0, axis)));
}

// J[j..] = wrap(indices[j..])
// R[a.., j.., b..] = X[a.., J[j..], b..]
FailureOr<Definition> GatherOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  auto axis = static_cast<int64_t>(op.getAxis());
  // C1
  if (failed(checkAxis(builder, axis)))
    return failure();
  TensorRef sources = addSafeIndices(builder, "j", axis);
  SmallVector<IndexVar> positions = builder.makeVars("j", 1);
  SmallVector<IndexVar> vars = builder.makeVars("i", 0);
  SmallVector<Expr> read = builder.use(vars);
  read[axis] = builder.read(sources, builder.use(positions));
  vars.erase(vars.begin() + axis);
  vars.insert(vars.begin() + axis, positions.begin(), positions.end());
  // C2
  if (failed(requireIndexable(builder, axis, vars)))
    return failure();
  builder.addResult("R", vars, builder.read(0, read),
                    builder.getElementType(0));
  return builder.take();
}

LogicalResult graph::requireElementIndices(DefinitionBuilder &builder,
                                           int64_t axis) {
  if (builder.getRank(1) != builder.getRank(0))
    return builder.fail("expects indices to have the rank of X, " +
                        Twine(builder.getRank(0)) + ", but got " +
                        Twine(builder.getRank(1)));
  for (unsigned dim : llvm::seq(builder.getRank(0)))
    if (dim != axis &&
        failed(builder.require(
            {Requirement::Kind::AtMost, builder.symbolicSize(1, dim),
             builder.symbolicSize(0, dim),
             ("indices within X along dimension " + Twine(dim)).str()})))
      return failure();
  return requireIndexable(builder, axis, builder.makeVars("i", 1));
}

// J[i..] = wrap(indices[i..])
// R[i..] = X[.., J[i..], ..]
FailureOr<Definition> GatherElementsOp::define(Adaptor op,
                                               DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  auto axis = static_cast<int64_t>(op.getAxis());
  // C1
  if (failed(checkAxis(builder, axis)))
    return failure();
  // C2
  if (failed(requireElementIndices(builder, axis)))
    return failure();
  TensorRef sources = addSafeIndices(builder, "i", axis);
  SmallVector<IndexVar> vars = builder.makeVars("i", 1);
  SmallVector<Expr> read = builder.use(vars);
  read[axis] = builder.read(sources, read);
  builder.addResult("R", vars, builder.read(0, read),
                    builder.getElementType(0));
  return builder.take();
}

FailureOr<int64_t> graph::checkTuples(const DefinitionBuilder &builder,
                                      int64_t numBatch) {
  unsigned rank = builder.getRank(1);
  std::optional<int64_t> length;
  if (rank > 0)
    length = builder.getStaticSize(1, rank - 1);
  if (!length || *length < 1 || *length + numBatch > builder.getRank(0))
    return builder.fail("expects the last extent of indices to be from 1 to " +
                        Twine(builder.getRank(0) - numBatch) + ", but got " +
                        (length ? std::to_string(*length) : "an unknown one"));
  return *length;
}

SmallVector<TensorRef> graph::addTupleIndices(DefinitionBuilder &builder,
                                              int64_t length,
                                              int64_t numBatch) {
  SmallVector<TensorRef> sources;
  for (int64_t number : llvm::seq(length)) {
    SmallVector<IndexVar> vars = builder.makeVars("j", 1);
    vars.pop_back();
    SmallVector<Expr> read = builder.use(vars);
    read.push_back(builder.index(number));
    sources.push_back(builder.addStep(
        "J" + std::to_string(number), vars,
        builder.wrapIndex(builder.read(1, read),
                          builder.symbolicSize(0, numBatch + number))));
  }
  return sources;
}

// Jn[j..] = wrap(indices[j.., n])
// R[j.., b..] = X[batch.., J0[j..], J1[j..].., b..]
FailureOr<Definition> GatherNdOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  auto numBatch = static_cast<int64_t>(op.getBatchDims());
  // C2
  if (numBatch < 0 || numBatch >= builder.getRank(0) ||
      numBatch >= builder.getRank(1))
    return builder.fail("expects batch_dims below the ranks of X and indices, "
                        "but got " +
                        Twine(numBatch));
  for (unsigned dim : llvm::seq<unsigned>(0, numBatch))
    if (failed(builder.requireEqual(builder.symbolicSize(0, dim),
                                    builder.symbolicSize(1, dim),
                                    "batch dimensions that agree")))
      return failure();
  // C1
  FailureOr<int64_t> length = checkTuples(builder, numBatch);
  if (failed(length))
    return failure();
  SmallVector<TensorRef> sources = addTupleIndices(builder, *length, numBatch);

  SmallVector<IndexVar> vars = builder.makeVars("j", 1);
  vars.pop_back();
  SmallVector<Expr> tuple = builder.use(vars);
  SmallVector<Expr> read(tuple.begin(), tuple.begin() + numBatch);
  for (TensorRef source : sources)
    read.push_back(builder.read(source, tuple));
  SmallVector<IndexVar> rest = builder.makeVars("i", 0);
  for (const IndexVar &var : ArrayRef(rest).drop_front(numBatch + *length)) {
    vars.push_back(var);
    read.push_back(builder.use(var));
  }
  // C3
  for (unsigned dim : llvm::seq<unsigned>(numBatch, numBatch + *length))
    if (failed(requireIndexable(builder, dim, vars)))
      return failure();
  builder.addResult("R", vars, builder.read(0, read),
                    builder.getElementType(0));
  return builder.take();
}
