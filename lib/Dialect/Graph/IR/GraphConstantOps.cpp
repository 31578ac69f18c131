//===- GraphConstantOps.cpp - Constants -----------------------------------===//

#include "DefinitionBuilder.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

LogicalResult ConstantOp::verify() {
  // C1
  if (!isa<DenseElementsAttr, DenseResourceElementsAttr>(getValueAttr()))
    return emitOpError("expects a dense value, but got ") << getValueAttr();
  auto type = cast<RankedTensorType>(getType());
  if (!type.hasStaticShape())
    return emitOpError("expects a static shape, but got ") << type;
  int64_t size = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  // An extent of 0 does not hide others that are too large.
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(size, std::max<int64_t>(extent, 1), size))
      return emitOpError("expects less than 2^63 bytes, but got ") << type;
  auto resource = dyn_cast<DenseResourceElementsAttr>(getValueAttr());
  if (!resource)
    return success();
  if (llvm::is_contained(type.getShape(), 0))
    size = 0;
  // Without its bytes, the value is not known.
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (blob && static_cast<int64_t>(blob->getData().size()) != size)
    return emitOpError("expects resource '")
           << resource.getRawHandle().getKey() << "' to hold " << size
           << " bytes, but got " << blob->getData().size();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

//===----------------------------------------------------------------------===//
// FillOp
//===----------------------------------------------------------------------===//

FailureOr<Definition> FillOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  // C1
  if (builder.getRank(0) != 0)
    return builder.fail("expects value to be a scalar, but got rank " +
                        Twine(builder.getRank(0)));
  // C2
  FailureOr<SmallVector<Expr>> sizes =
      builder.mixedSizes(op.getStaticSizes(), op.getSizes());
  if (failed(sizes))
    return failure();
  builder.addResult("R", builder.makeVars("i", *sizes), builder.read(0, {}),
                    builder.getElementType(0));
  return builder.take();
}

//===----------------------------------------------------------------------===//
// Tensors that depend on nothing
//===----------------------------------------------------------------------===//

/// R[i..] = element(i..), of the rank that `checkRank` accepts.
template <typename Adaptor>
static FailureOr<Definition> defineGenerated(
    Adaptor op, ArrayRef<StringRef> names, DefinitionError error,
    llvm::function_ref<LogicalResult(const DefinitionBuilder &, int64_t rank)>
        checkRank,
    llvm::function_ref<Expr(const DefinitionBuilder &, ArrayRef<IndexVar>)>
        element) {
  Type type = op.getElementType();
  DefinitionBuilder builder(type.getContext(), op.getOperands(), names, error);
  // C1
  FailureOr<SmallVector<Expr>> sizes =
      builder.mixedSizes(op.getStaticSizes(), op.getSizes());
  if (failed(sizes))
    return failure();
  // C2
  if (!type.isIntOrFloat()) {
    std::string message;
    llvm::raw_string_ostream(message)
        << "expects element_type to be that of a number, but got " << type;
    return builder.fail(message);
  }
  // C3
  if (failed(checkRank(builder, sizes->size())))
    return failure();
  SmallVector<IndexVar> results = builder.makeVars("i", *sizes);
  builder.addResult("R", results, element(builder, results), type);
  return builder.take();
}

FailureOr<Definition> IotaOp::define(Adaptor op, DefinitionError error) {
  auto axis = static_cast<int64_t>(op.getAxis());
  return defineGenerated(
      op, getOperandNames(), error,
      [&](const DefinitionBuilder &builder, int64_t rank) -> LogicalResult {
        if (axis >= 0 && axis < rank)
          return success();
        return builder.fail("expects an axis below the rank " + Twine(rank) +
                            ", but got " + Twine(axis));
      },
      [&](const DefinitionBuilder &builder, ArrayRef<IndexVar> vars) {
        return builder.use(vars[axis]);
      });
}

FailureOr<Definition> ConstOneOp::define(Adaptor op, DefinitionError error) {
  return defineGenerated(
      op, getOperandNames(), error,
      [](const DefinitionBuilder &, int64_t) { return success(); },
      [&](const DefinitionBuilder &builder, ArrayRef<IndexVar>) {
        return cast(op.getElementType(), constant(int64_t(1)));
      });
}

/// 1 where the condition holds, otherwise 0.
static Expr indicate(Expr condition, Expr value, Type type) {
  return select(condition, cast(type, value), cast(type, constant(int64_t(0))));
}

FailureOr<Definition> ConstImmOp::define(Adaptor op, DefinitionError error) {
  return defineGenerated(
      op, getOperandNames(), error,
      [](const DefinitionBuilder &builder, int64_t rank) -> LogicalResult {
        if (rank == 2)
          return success();
        return builder.fail("expects rank 2, but got " + Twine(rank));
      },
      [&](const DefinitionBuilder &builder, ArrayRef<IndexVar> vars) {
        Expr isDiagonal = apply(ScalarFn::Equal,
                                {builder.use(vars[0]), builder.use(vars[1])});
        return indicate(isDiagonal, constant(int64_t(1)), op.getElementType());
      });
}

static LogicalResult checkKernelRank(const DefinitionBuilder &builder,
                                     int64_t rank) {
  if (rank >= 3)
    return success();
  return builder.fail("expects rank 3 or more, but got " + Twine(rank));
}

/// The channel (within its group) that belongs to a feature.
static Expr isOwnChannel(const DefinitionBuilder &builder,
                         ArrayRef<IndexVar> vars) {
  return apply(ScalarFn::Equal, {mod(builder.use(vars[0]), vars[1].extent),
                                 builder.use(vars[1])});
}

FailureOr<Definition> ConstIconvOp::define(Adaptor op, DefinitionError error) {
  return defineGenerated(
      op, getOperandNames(), error, checkKernelRank,
      [&](const DefinitionBuilder &builder, ArrayRef<IndexVar> vars) {
        Expr isOne = isOwnChannel(builder, vars);
        for (const IndexVar &tap : vars.drop_front(2)) {
          Expr middle = floorDiv(tap.extent - 1, builder.index(2));
          isOne = conjoin(isOne,
                          apply(ScalarFn::Equal, {builder.use(tap), middle}));
        }
        return indicate(isOne, constant(int64_t(1)), op.getElementType());
      });
}

FailureOr<Definition> ConstPoolOp::define(Adaptor op, DefinitionError error) {
  return defineGenerated(
      op, getOperandNames(), error, checkKernelRank,
      [&](const DefinitionBuilder &builder, ArrayRef<IndexVar> vars) {
        Type type = op.getElementType();
        Expr count = builder.index(1);
        for (const IndexVar &tap : vars.drop_front(2))
          count = count * tap.extent;
        Expr weight = apply(ScalarFn::Div, {cast(type, constant(int64_t(1))),
                                            cast(type, count)});
        return indicate(isOwnChannel(builder, vars), weight, type);
      });
}
