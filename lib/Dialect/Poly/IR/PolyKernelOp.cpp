//===- PolyKernelOp.cpp - Kernels -----------------------------------------===//

#include "espalier/Dialect/Poly/IR/IndexData.h"
#include "espalier/Support/FunctionSyntax.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

static bool isElementType(Type type) { return type.isIntOrIndexOrFloat(); }

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     TypeRange argumentTypes) {
  state.addAttribute(getSymNameAttrName(state.name),
                     builder.getStringAttr(name));
  state.addAttribute(
      getFunctionTypeAttrName(state.name),
      TypeAttr::get(builder.getFunctionType(argumentTypes, TypeRange())));
  Block &block = state.addRegion()->emplaceBlock();
  for (Type type : argumentTypes)
    block.addArgument(type, state.location);
}

/// Whether `shape` gives the extents of `memref` in terms of `numParameters`
/// symbols.
static bool isShapeOf(AffineMap shape, MemRefType memref,
                      unsigned numParameters) {
  if (shape.getNumDims() != 0 || shape.getNumSymbols() != numParameters ||
      shape.getNumResults() != memref.getRank())
    return false;
  return llvm::all_of(
      llvm::zip(shape.getResults(), memref.getShape()), [](auto pair) {
        auto [expr, extent] = pair;
        return ShapedType::isDynamic(extent) ||
               expr == getAffineConstantExpr(extent, expr.getContext());
      });
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunction<KernelOp>(parser, result);
}

void KernelOp::print(OpAsmPrinter &printer) { printFunction(printer, *this); }

/// Whether `expr` is a constant, or a symbol plus a constant.
static bool isBound(AffineExpr expr) {
  if (isa<AffineConstantExpr, AffineSymbolExpr>(expr))
    return true;
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  return sum && expr.getKind() == AffineExprKind::Add &&
         isa<AffineSymbolExpr>(sum.getLHS()) &&
         isa<AffineConstantExpr>(sum.getRHS());
}

/// Checks what is stated of the values of argument `number`.
static LogicalResult verifyValues(KernelOp kernel, unsigned number) {
  Attribute bound = kernel.getArgAttr(number, KernelOp::getBoundAttrName());
  Attribute injective =
      kernel.getArgAttr(number, KernelOp::getInjectiveAttrName());
  Attribute monotonic =
      kernel.getArgAttr(number, KernelOp::getMonotonicAttrName());
  if (!bound && !injective && !monotonic)
    return success();
  auto fail = [&](StringRef attr, const Twine &rule) {
    return kernel.emitOpError("expects '")
           << attr << "' " << rule << ", but argument #" << number;
  };
  // C6
  auto map = dyn_cast_if_present<AffineMapAttr>(bound);
  if (bound && (!map || map.getValue().getNumDims() != 0 ||
                map.getValue().getNumSymbols() != kernel.getNumParameters() ||
                map.getValue().getNumResults() != 1 ||
                !isBound(map.getValue().getResult(0))))
    return fail(KernelOp::getBoundAttrName(),
                "to map the parameters to a constant, or to one of them plus a "
                "constant")
           << " has " << bound;
  // C7
  if (injective && (!bound || !isa<UnitAttr>(injective)))
    return fail(KernelOp::getInjectiveAttrName(),
                "to be a unit attribute beside 'poly.bounded_by'")
           << " has " << injective << (bound ? "" : " alone");
  // C8
  StringRef name = bound       ? KernelOp::getBoundAttrName()
                   : injective ? KernelOp::getInjectiveAttrName()
                               : KernelOp::getMonotonicAttrName();
  Type type = kernel.getArgumentTypes()[number];
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !memref.getElementType().isInteger())
    return fail(name, "on memrefs of integers") << " is " << type;
  if (std::string other = describeOtherData(kernel.getArgument(number));
      !other.empty())
    return fail(name, "on integers with a sign") << ' ' << other;
  for (ComputeOp compute : kernel.getComputes())
    if (llvm::is_contained(compute.getWrites(), kernel.getArgument(number)))
      return fail(name, "on arguments that no computation writes")
             << " is written by @" << compute.getSymName();
  // C9
  if (monotonic && (!isa<UnitAttr>(monotonic) || memref.getRank() != 1))
    return fail(KernelOp::getMonotonicAttrName(),
                "to be a unit attribute of a memref with one dimension")
           << " is " << type << " with " << monotonic;
  return success();
}

LogicalResult KernelOp::verify() {
  // C1
  if (getBody().empty())
    return emitOpError("expects a body, but got a declaration");
  if (!getResultTypes().empty())
    return emitOpError("expects no results, but got ")
           << getResultTypes().size();

  // C2
  for (auto [number, type] : llvm::enumerate(getArgumentTypes())) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!isElementType(memref ? memref.getElementType() : type))
      return emitOpError("expects arguments that are memrefs of numbers, or "
                         "numbers, but argument #")
             << number << " is " << type;

    // C6, C7, C8, C9
    if (failed(verifyValues(*this, number)))
      return failure();

    // C4
    Attribute attr = getArgAttr(number, getShapeAttrName());
    if (!attr)
      continue;
    auto shape = dyn_cast<AffineMapAttr>(attr);
    if (!memref || !shape ||
        !isShapeOf(shape.getValue(), memref, getNumParameters()))
      return emitOpError("expects '")
             << getShapeAttrName() << "' to map " << getNumParameters()
             << " symbols to the extents of a memref, but argument #" << number
             << " is " << type << " with " << attr;
  }

  // C5
  if (Attribute attr = (*this)->getAttr(getAssumptionsAttrName())) {
    auto set = dyn_cast<IntegerSetAttr>(attr);
    if (!set || set.getValue().getNumDims() != 0 ||
        set.getValue().getNumSymbols() != getNumParameters())
      return emitOpError("expects '")
             << getAssumptionsAttrName() << "' to be a set with "
             << getNumParameters() << " symbols and no dimensions, but got "
             << attr;
  }
  return success();
}

IntegerSet KernelOp::getAssumptions() {
  auto set = (*this)->getAttrOfType<IntegerSetAttr>(getAssumptionsAttrName());
  return set ? set.getValue() : IntegerSet();
}

std::string KernelOp::getArgumentName(unsigned number) {
  auto name = getArgAttrOfType<StringAttr>(number, "espalier.name");
  return name ? name.str() : ("arg" + Twine(number)).str();
}

bool KernelOp::hasKnownValues(unsigned number) {
  return llvm::any_of(
      std::initializer_list<StringRef>{
          getBoundAttrName(), getInjectiveAttrName(), getMonotonicAttrName()},
      [&](StringRef name) { return bool(getArgAttr(number, name)); });
}

/// Checks C10: arrays also take what they fall back to.
static LogicalResult verifyCapacities(KernelOp kernel) {
  llvm::SmallDenseMap<Attribute, int64_t> totals;
  for (ArrayOp array : kernel.getArrays()) {
    MemorySpaceAttrInterface space = array.getPlacement();
    std::optional<int64_t> capacity = space.getCapacity();
    if (!capacity)
      continue;
    MemRefType type = array.getMemoryType();
    if (!type.hasStaticShape())
      return array.emitOpError("expects static extents in ")
             << space.toText() << ", but got " << type;
    MemorySpaceAttrInterface fallback = space.getFallback();
    int64_t &total = totals[fallback ? fallback : space];
    int64_t bytes = type.getElementType().isIndex()
                        ? 8
                        : llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    for (int64_t extent : type.getShape())
      if (llvm::MulOverflow(bytes, extent, bytes))
        bytes = std::numeric_limits<int64_t>::max();
    if (bytes > *capacity - total)
      return array.emitOpError("expects arrays in ")
             << space.toText()
             << ", and others that may be in the same place, to take at most "
             << *capacity << " bytes together, but this " << type << " takes "
             << bytes << " beside " << total << " of others";
    total += bytes;
  }
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  // C3
  bool hasSchedule = false;
  for (Operation &op : getBody().front()) {
    if (!isa<ArrayOp, GivenOp, CombinerOp, ComputeOp, ScheduleOp>(op))
      return op.emitOpError(
          "expects to be outside poly.kernel, which holds arrays, statements "
          "on data, combiners, computations and a schedule");
    if (isa<ScheduleOp>(op) && std::exchange(hasSchedule, true))
      return op.emitOpError("expects to be the only schedule of its kernel");
  }
  return verifyCapacities(*this);
}

SmallVector<BlockArgument> KernelOp::getParameters() {
  return llvm::filter_to_vector(getArguments(), [](BlockArgument argument) {
    return argument.getType().isIndex();
  });
}

unsigned KernelOp::getNumParameters() {
  return llvm::count_if(getArgumentTypes(),
                        [](Type type) { return type.isIndex(); });
}

SmallVector<ComputeOp> KernelOp::getComputes() {
  return llvm::to_vector(getBody().getOps<ComputeOp>());
}

ComputeOp KernelOp::lookupCompute(StringRef name) {
  return lookupSymbol<ComputeOp>(name);
}

SmallVector<GivenOp> KernelOp::getGivens() {
  return llvm::to_vector(getBody().getOps<GivenOp>());
}

SmallVector<ArrayOp> KernelOp::getArrays() {
  return llvm::to_vector(getBody().getOps<ArrayOp>());
}

ScheduleOp KernelOp::getSchedule() {
  auto schedules = getBody().getOps<ScheduleOp>();
  return schedules.empty() ? ScheduleOp() : *schedules.begin();
}
