//===- GraphShapeOps.cpp - Operators that move elements -------------------===//

#include "DefinitionBuilder.h"
#include "espalier/Definition/Formulas.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

FailureOr<Definition> TransposeOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  // C1
  ArrayRef<int64_t> permutation = op.getPermutation();
  SmallVector<int64_t> sorted = llvm::to_vector(permutation);
  llvm::sort(sorted);
  if (sorted != llvm::to_vector(llvm::seq<int64_t>(0, builder.getRank(0))))
    return builder.fail(
        "expects a permutation of the " + Twine(builder.getRank(0)) +
        " dimensions of X, but got [" +
        llvm::join(
            llvm::map_range(permutation,
                            [](int64_t dim) { return std::to_string(dim); }),
            ", ") +
        "]");

  SmallVector<IndexVar> results;
  SmallVector<Expr> read(permutation.size());
  for (auto [dim, source] : llvm::enumerate(permutation)) {
    results.push_back(builder.makeVar("i" + std::to_string(dim),
                                      builder.symbolicSize(0, source)));
    read[source] = builder.use(results.back());
  }
  builder.addResult("R", results, builder.read(0, read),
                    builder.getElementType(0));
  return builder.take();
}

//===----------------------------------------------------------------------===//
// ExpandOp
//===----------------------------------------------------------------------===//

FailureOr<Definition> ExpandOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  // C1
  FailureOr<SmallVector<Expr>> sizes =
      builder.mixedSizes(op.getStaticSizes(), op.getSizes());
  if (failed(sizes))
    return failure();
  // C2
  SmallVector<IndexVar> results = builder.makeVars("i", *sizes);
  FailureOr<Expr> value = builder.readBroadcast(0, results);
  if (failed(value))
    return failure();
  builder.addResult("R", results, *value, builder.getElementType(0));
  return builder.take();
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

/// Requires that a slice stays inside of dimension `dim`, unless it is empty.
static LogicalResult requireInside(DefinitionBuilder &builder, unsigned dim,
                                   Expr offset, Expr size, int64_t step) {
  auto require = [&](Requirement::Kind kind, Expr element, Expr bound) {
    return builder.require(
        {kind,
         element,
         bound,
         ("elements of X inside of dimension " + Twine(dim)).str(),
         {size}});
  };
  Expr first = offset, last = offset + (size - 1) * step;
  Expr most = builder.symbolicSize(0, dim) - 1;
  // One of the last two would do, if the sum could not overflow.
  return failure(failed(require(Requirement::Kind::AtLeast,
                                step < 0 ? last : first, builder.index(0))) ||
                 failed(require(Requirement::Kind::AtMost,
                                step < 0 ? first : last, most)) ||
                 failed(require(step < 0 ? Requirement::Kind::AtLeast
                                         : Requirement::Kind::AtMost,
                                first, step < 0 ? builder.index(0) : most)));
}

FailureOr<Definition> SliceOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  // C1
  unsigned rank = builder.getRank(0);
  for (auto [name, count] :
       {std::pair("static_offsets", op.getStaticOffsets().size()),
        std::pair("static_sizes", op.getStaticSizes().size()),
        std::pair("steps", op.getSteps().size())})
    if (count != rank)
      return builder.fail(Twine("expects ") + name + " to have " + Twine(rank) +
                          " entries, but got " + Twine(count));
  FailureOr<SmallVector<Expr>> offsets =
      builder.mixedIndices(op.getStaticOffsets(), op.getOffsets(), "offsets");
  if (failed(offsets))
    return failure();
  FailureOr<SmallVector<Expr>> sizes = builder.mixedSizes(
      op.getStaticSizes(), op.getSizes(), op.getOffsets().size());
  if (failed(sizes))
    return failure();

  SmallVector<IndexVar> results = builder.makeVars("i", *sizes);
  SmallVector<Expr> read;
  for (unsigned dim : llvm::seq(rank)) {
    int64_t step = op.getSteps()[dim];
    // C2
    if (failed(
            requireInside(builder, dim, (*offsets)[dim], (*sizes)[dim], step)))
      return failure();
    read.push_back((*offsets)[dim] + builder.use(results[dim]) * step);
  }
  builder.addResult("R", results, builder.read(0, read),
                    builder.getElementType(0));
  return builder.take();
}

//===----------------------------------------------------------------------===//
// ConcatOp
//===----------------------------------------------------------------------===//

// R[.., i, ..] = X0[.., i, ..] if i < n0 else
//                X1[.., i - n0, ..] if i < n0 + n1 else ..
FailureOr<Definition> ConcatOp::define(Adaptor op, DefinitionError error) {
  // C1
  unsigned numInputs = op.getInputs().size();
  if (numInputs == 0) {
    error("expects at least one input");
    return failure();
  }
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  // C2
  auto axis = static_cast<int64_t>(op.getAxis());
  if (failed(checkAxis(builder, axis)))
    return failure();
  // C3
  SmallVector<IndexVar> results = builder.makeVars("i", 0);
  SmallVector<Expr> starts{builder.index(0)};
  for (unsigned input : llvm::seq(numInputs)) {
    if (builder.getRank(input) != builder.getRank(0))
      return builder.fail("expects input #" + Twine(input) + " to have rank " +
                          Twine(builder.getRank(0)) + ", but got rank " +
                          Twine(builder.getRank(input)));
    if (failed(builder.requireSameType(input)))
      return failure();
    for (unsigned dim : llvm::seq(builder.getRank(0)))
      if (dim != axis &&
          failed(builder.requireEqual(
              builder.symbolicSize(0, dim), builder.symbolicSize(input, dim),
              "input #" + Twine(input) + " to differ only along axis " +
                  Twine(axis))))
        return failure();
    starts.push_back(starts.back() + builder.size(input, axis));
  }
  results[axis] = builder.makeVar("i" + std::to_string(axis), starts.back());

  SmallVector<Expr> indices = builder.use(results);
  Expr position = indices[axis], value;
  for (unsigned input = numInputs; input-- > 0;) {
    indices[axis] = position - starts[input];
    Expr element = builder.read(input, indices);
    Expr isHere = apply(ScalarFn::Less, {position, starts[input + 1]});
    value = value ? select(isHere, element, value) : element;
  }
  builder.addResult("R", results, value, builder.getElementType(0));
  return builder.take();
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

/// Where the element comes from that a mode puts at `position`, which may lie
/// outside of the extent.
static Expr mapPadded(PadMode mode, Expr position, Expr extent,
                      const DefinitionBuilder &builder) {
  if (mode == PadMode::Edge)
    return clampIndex(position, extent);
  if (mode == PadMode::Wrap)
    return mod(position, extent);
  // Back and forth; the outermost elements are not repeated.
  Expr period = (extent - 1) * 2;
  Expr within = mod(position, apply(ScalarFn::Max, {period, builder.index(1)}));
  return apply(ScalarFn::Min, {within, period - within});
}

FailureOr<Definition> PadOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  // C1
  unsigned rank = builder.getRank(0);
  for (auto [name, count] : {std::pair("low", op.getLow().size()),
                             std::pair("high", op.getHigh().size())})
    if (count != rank)
      return builder.fail(Twine("expects ") + name + " to have " + Twine(rank) +
                          " entries, but got " + Twine(count));
  // C2
  if (builder.getRank(1) != 0)
    return builder.fail("expects value to be a scalar, but got rank " +
                        Twine(builder.getRank(1)));
  if (failed(builder.requireSameType(1)))
    return failure();

  SmallVector<Expr> extents;
  for (unsigned dim : llvm::seq(rank))
    extents.push_back(builder.symbolicSize(0, dim) + op.getLow()[dim] +
                      op.getHigh()[dim]);
  SmallVector<IndexVar> results = builder.makeVars("i", extents);
  SmallVector<Expr> read;
  Expr guard;
  for (unsigned dim : llvm::seq(rank)) {
    int64_t low = op.getLow()[dim], high = op.getHigh()[dim];
    // Elements are first removed, then added.
    int64_t removed = std::max<int64_t>(-low, 0);
    int64_t before = std::max<int64_t>(low, 0);
    bool isPadded = low > 0 || high > 0;
    Expr extent = builder.symbolicSize(0, dim);
    Expr rest =
        extent + (std::min<int64_t>(low, 0) + std::min<int64_t>(high, 0));
    Expr position = builder.use(results[dim]) - before;
    if (isPadded && op.getMode() == PadMode::Constant) {
      guard = conjoin(guard, inBounds(position, rest));
    } else if (isPadded) {
      // C3
      if (failed(builder.requireElements(
              rest, "of X to repeat along dimension " + Twine(dim), results)))
        return failure();
      // The source of each position, as a table.
      IndexVar var = builder.makeVar(results[dim].name, extents[dim]);
      TensorRef table = builder.addStep(
          "S" + std::to_string(dim), var,
          mapPadded(op.getMode(), builder.use(var) - before, rest, builder));
      position = builder.read(table, builder.use(results[dim]));
    }
    position = position + removed;
    read.push_back(position);
  }
  Expr value = builder.read(0, read);
  if (guard)
    value = select(guard, value, builder.read(1, {}));
  builder.addResult("R", results, value, builder.getElementType(0));
  return builder.take();
}

//===----------------------------------------------------------------------===//
// TileOp
//===----------------------------------------------------------------------===//

FailureOr<Definition> TileOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  // C1
  if (op.getRepeats().size() != builder.getRank(0))
    return builder.fail("expects repeats to have " + Twine(builder.getRank(0)) +
                        " entries, but got " + Twine(op.getRepeats().size()));
  SmallVector<IndexVar> results;
  SmallVector<Expr> read;
  for (auto [dim, repeat] : llvm::enumerate(op.getRepeats())) {
    if (repeat < 0)
      return builder.fail("expects repeats that are not negative, but got " +
                          Twine(repeat));
    results.push_back(builder.makeVar("i" + std::to_string(dim),
                                      builder.symbolicSize(0, dim) * repeat));
    Expr position = builder.use(results.back());
    read.push_back(repeat == 1 ? position
                               : mod(position, builder.size(0, dim)));
  }
  builder.addResult("R", results, builder.read(0, read),
                    builder.getElementType(0));
  return builder.take();
}
