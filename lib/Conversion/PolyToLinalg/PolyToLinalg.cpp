//===- PolyToLinalg.cpp - From kernels back to linalg ---------------------===//

#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

namespace espalier {
#define GEN_PASS_DEF_CONVERTPOLYTOLINALGPASS
#include "espalier/Conversion/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

static constexpr llvm::StringLiteral kRemarkCategory = "convert-poly-to-linalg";

namespace {

/// Whether and how one kernel is a `linalg.generic`.
class KernelConverter {
public:
  explicit KernelConverter(poly::KernelOp kernel) : kernel(kernel) {}

  /// Fails, with the reason in `reason`, if it is none.
  LogicalResult analyze();
  /// Replaces the kernel by a function.
  void rewrite();
  StringRef reason;

private:
  LogicalResult refuse(StringRef why) {
    reason = why;
    return failure();
  }
  LogicalResult analyzeDomain();
  LogicalResult analyzeAccesses();
  std::optional<unsigned> getAccumulator(unsigned write);
  /// The part of a memref that the loops touch.
  Value getView(OpBuilder &builder, Value memref, AffineMap map,
                const IRMapping &arguments);

  poly::KernelOp kernel;
  poly::ComputeOp compute;
  SmallVector<AffineExpr> extents; ///< Over the parameters.
  llvm::SmallBitVector isParallel;
};

} // namespace

/// The map without its symbols, which it does not use.
static AffineMap dropSymbols(AffineMap map) {
  return AffineMap::get(map.getNumDims(), 0, map.getResults(),
                        map.getContext());
}

/// The box that the set is, as extents over its symbols; empty if it is none.
static SmallVector<AffineExpr> getBox(IntegerSet set) {
  unsigned numDims = set.getNumDims();
  SmallVector<AffineExpr> extents(numDims);
  llvm::SmallBitVector hasLower(numDims);
  MLIRContext *context = set.getContext();
  for (auto [expr, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    auto dims = llvm::to_vector(llvm::make_filter_range(
        llvm::seq(numDims),
        [expr = expr](unsigned dim) { return expr.isFunctionOfDim(dim); }));
    if (isEquality || dims.size() != 1)
      return {};
    AffineExpr dim = getAffineDimExpr(dims[0], context);
    auto at = [&, expr = expr](int64_t value) {
      return simplifyAffineExpr(
          expr.replace(dim, getAffineConstantExpr(value, context)), numDims,
          set.getNumSymbols());
    };
    // `extent - 1 - d >= 0`, or `d >= 0`.
    AffineExpr zero = getAffineConstantExpr(0, context);
    auto isSum = [&](AffineExpr lhs, AffineExpr rhs) {
      return simplifyAffineExpr(lhs - rhs, numDims, set.getNumSymbols()) ==
             zero;
    };
    if (isSum(expr, dim))
      hasLower.set(dims[0]);
    else if (isSum(expr, at(0) - dim) && !extents[dims[0]])
      extents[dims[0]] = at(0) + 1;
    else
      return {};
  }
  bool isBox = hasLower.all() && llvm::all_of(extents, [](AffineExpr extent) {
                 return bool(extent);
               });
  return isBox ? extents : SmallVector<AffineExpr>();
}

LogicalResult KernelConverter::analyzeDomain() {
  SmallVector<IntegerSet> sets = compute.getDomainSets();
  if (sets.size() != 1)
    return refuse("DomainIsUnion");
  extents = getBox(sets[0]);
  if (extents.size() != compute.getNumDims())
    return refuse("DomainIsNoBox");
  return success();
}

/// The read of the element that a write replaces, if there is one.
std::optional<unsigned> KernelConverter::getAccumulator(unsigned write) {
  poly::ComputeAccess target = compute.getWriteAccesses()[write];
  for (auto [number, read] : llvm::enumerate(compute.getReadAccesses()))
    if (read.array == target.array && read.map == target.map)
      return number;
  return std::nullopt;
}

LogicalResult KernelConverter::analyzeAccesses() {
  SmallVector<poly::ComputeAccess> reads = compute.getReadAccesses();
  SmallVector<poly::ComputeAccess> writes = compute.getWriteAccesses();
  unsigned numDims = compute.getNumDims();
  llvm::SmallBitVector isBounded(numDims);
  isParallel.resize(numDims);
  for (const poly::ComputeAccess &access :
       llvm::concat<const poly::ComputeAccess>(reads, writes)) {
    for (unsigned symbol = 0; symbol < access.map.getNumSymbols(); ++symbol)
      if (access.map.isFunctionOfSymbol(symbol))
        return refuse("AccessDependsOnParameterOrData");
    for (AffineExpr index : access.map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(index))
        isBounded.set(dim.getPosition());
  }
  if (!isBounded.all())
    return refuse("LoopRunsOverNoDimension");
  for (auto [number, write] : llvm::enumerate(writes)) {
    if (!dropSymbols(write.map).isProjectedPermutation())
      return refuse("WriteIsNoPermutation");
    for (const poly::ComputeAccess &read : reads)
      if (read.array == write.array && read.map != write.map)
        return refuse("ReadsElementsThatItWrites");
    llvm::SmallBitVector own(numDims);
    for (AffineExpr index : write.map.getResults())
      own.set(cast<AffineDimExpr>(index).getPosition());
    if (number > 0 && own != isParallel)
      return refuse("WritesDiffer");
    isParallel = own;
  }
  if (writes.empty())
    return refuse("WritesNothing");
  if (!isParallel.all() && !compute.getReduction())
    return refuse("OrderMatters");
  return success();
}

LogicalResult KernelConverter::analyze() {
  if (kernel.getComputes().size() != 1 || !kernel.getArrays().empty())
    return refuse("SeveralComputations");
  compute = kernel.getComputes().front();
  if (compute.getWhere())
    return refuse("DomainDependsOnData");
  if (failed(analyzeDomain()))
    return failure();
  return analyzeAccesses();
}

Value KernelConverter::getView(OpBuilder &builder, Value memref, AffineMap map,
                               const IRMapping &arguments) {
  auto type = cast<MemRefType>(memref.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> steps(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      memref::getMixedSizes(builder, memref.getLoc(), memref);
  bool isWhole = true;
  SmallVector<OpFoldResult> parameters;
  for (BlockArgument parameter : kernel.getParameters())
    parameters.push_back(arguments.lookup<Value>(parameter));
  for (auto [number, index] : llvm::enumerate(map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(index)) {
      OpFoldResult extent = affine::makeComposedFoldedAffineApply(
          builder, memref.getLoc(),
          AffineMap::get(0, parameters.size(), extents[dim.getPosition()]),
          parameters);
      if (getConstantIntValue(extent) == type.getDimSize(number))
        continue;
      sizes[number] = extent;
      isWhole = false;
    }
  if (isWhole)
    return memref;
  return memref::SubViewOp::create(builder, memref.getLoc(), memref, offsets,
                                   sizes, steps);
}

void KernelConverter::rewrite() {
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  auto function = func::FuncOp::create(
      builder, loc, kernel.getName(),
      builder.getFunctionType(kernel.getArgumentTypes(), {}));
  function.setVisibility(SymbolTable::getSymbolVisibility(kernel));
  builder.setInsertionPointToEnd(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(kernel.getArguments(), function.getArguments());

  unsigned numDims = compute.getNumDims();
  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps;
  auto addOperand = [&](const poly::ComputeAccess &access,
                        SmallVector<Value> &operands) {
    operands.push_back(
        getView(builder, mapping.lookup(access.array), access.map, mapping));
    maps.push_back(dropSymbols(access.map));
  };
  SmallVector<poly::ComputeAccess> reads = compute.getReadAccesses();
  SmallVector<poly::ComputeAccess> writes = compute.getWriteAccesses();
  // Block arguments by read: inputs, then what the outputs held.
  SmallVector<unsigned> inputReads;
  llvm::DenseMap<unsigned, unsigned> accumulators; // From read to write.
  for (unsigned write = 0; write < writes.size(); ++write)
    if (std::optional<unsigned> read = getAccumulator(write))
      accumulators[*read] = write;
  for (unsigned read = 0; read < reads.size(); ++read)
    if (!accumulators.contains(read)) {
      inputReads.push_back(read);
      addOperand(reads[read], inputs);
    }
  for (const poly::ComputeAccess &write : writes)
    addOperand(write, outputs);
  SmallVector<utils::IteratorType> iterators;
  for (unsigned dim = 0; dim < numDims; ++dim)
    iterators.push_back(isParallel.test(dim) ? utils::IteratorType::parallel
                                             : utils::IteratorType::reduction);

  linalg::GenericOp::create(
      builder, loc, TypeRange(), inputs, outputs, maps, iterators,
      [&](OpBuilder &b, Location, ValueRange values) {
        for (auto [position, read] : llvm::enumerate(inputReads))
          mapping.map(reads[read].argument, values[position]);
        for (auto [read, write] : accumulators)
          mapping.map(reads[read].argument, values[inputReads.size() + write]);
        for (Operation &op : compute.getBody().front().without_terminator()) {
          if (auto index = dyn_cast<poly::IndexOp>(op))
            mapping.map(index.getResult(),
                        linalg::IndexOp::create(b, op.getLoc(), index.getDim())
                            .getResult());
          else
            b.clone(op, mapping);
        }
        SmallVector<Value> results = llvm::map_to_vector(
            compute.getYield().getValues(),
            [&](Value value) { return mapping.lookup(value); });
        linalg::YieldOp::create(b, compute.getLoc(), results);
      });
  func::ReturnOp::create(builder, loc);
  kernel.erase();
}

namespace {
struct ConvertPolyToLinalgPass
    : espalier::impl::ConvertPolyToLinalgPassBase<ConvertPolyToLinalgPass> {
  void runOnOperation() override {
    llvm::SmallPtrSet<Attribute, 8> converted;
    for (auto kernel :
         llvm::to_vector(getOperation().getOps<poly::KernelOp>())) {
      KernelConverter converter(kernel);
      if (failed(converter.analyze())) {
        remark::missed(kernel.getLoc(),
                       remark::RemarkOpts::name(converter.reason)
                           .category(kRemarkCategory))
            << remark::metric("Kernel", kernel.getName());
        continue;
      }
      remark::passed(
          kernel.getLoc(),
          remark::RemarkOpts::name("Converted").category(kRemarkCategory))
          << remark::metric("Kernel", kernel.getName());
      converted.insert(FlatSymbolRefAttr::get(kernel.getSymNameAttr()));
      converter.rewrite();
      ++numConverted;
    }
    getOperation().walk([&](poly::CallOp call) {
      if (!converted.contains(call.getCalleeAttr()))
        return;
      OpBuilder builder(call);
      func::CallOp::create(builder, call.getLoc(), call.getCalleeAttr(),
                           TypeRange(), call.getArguments());
      call.erase();
    });
  }
};
} // namespace
