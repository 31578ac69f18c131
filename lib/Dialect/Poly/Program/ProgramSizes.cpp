//===- ProgramSizes.cpp - Sizes that several kernels share ----------------===//

#include "ProgramSizes.h"
#include "espalier/Polyhedral/Interval.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

ProgramSizes::ProgramSizes(FunctionOpInterface function)
    : mlirContext(function.getContext()) {
  function->walk([&](Operation *op) {
    if (isa<CallOp, memref::AllocOp>(op))
      for (Value operand : op->getOperands())
        if (isa<IndexType>(operand.getType()))
          nonnegative.insert(add(operand));
  });
}

AffineExpr ProgramSizes::add(Value size) {
  if (AffineExpr known = exprs.lookup(size))
    return known;
  auto leaf = [&] { return getAffineSymbolExpr(numSymbols++, mlirContext); };
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return exprs[size] = getAffineConstantExpr(*number, mlirContext);
  auto isFactor = [](AffineExpr expr) {
    auto number = dyn_cast<AffineConstantExpr>(expr);
    return number && number.getValue() > 0;
  };
  auto isNumber = llvm::IsaPred<AffineConstantExpr>;
  auto expr = AffineExpr();
  if (Operation *op = size.getDefiningOp(); op && op->getNumOperands() == 2) {
    Value first = op->getOperand(0), second = op->getOperand(1);
    if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::FloorDivSIOp,
            arith::CeilDivSIOp>(op)) {
      AffineExpr lhs = add(first), rhs = add(second);
      llvm::TypeSwitch<Operation *>(op)
          .Case([&](arith::AddIOp) { expr = lhs + rhs; })
          .Case([&](arith::SubIOp) { expr = lhs - rhs; })
          .Case([&](arith::MulIOp) {
            if (isNumber(lhs) || isNumber(rhs))
              expr = lhs * rhs;
          })
          .Case([&](arith::FloorDivSIOp) {
            if (isFactor(rhs))
              expr = lhs.floorDiv(rhs);
          })
          .Case([&](arith::CeilDivSIOp) {
            if (isFactor(rhs))
              expr = lhs.ceilDiv(rhs);
          });
    } else if (isa<arith::MaxSIOp>(op) && getConstantIntValue(second) == 0) {
      AffineExpr whole = add(first);
      parts.push_back({expr = leaf(), whole});
    }
  }
  return exprs[size] = expr ? expr : leaf();
}

SmallVector<AffineExpr> ProgramSizes::getSymbols(KernelCall call,
                                                 unsigned count) const {
  SmallVector<AffineExpr> symbols;
  for (BlockArgument parameter : call.kernel.getParameters())
    symbols.push_back(get(call.getOperand(parameter)));
  // Values that are read.
  for (unsigned data = 0; symbols.size() < count; ++data)
    symbols.push_back(getAffineSymbolExpr(numSymbols + data, mlirContext));
  return symbols;
}

AffineExpr ProgramSizes::get(KernelCall call, AffineExpr expr) const {
  return expr.replaceSymbols(getSymbols(call, call.kernel.getNumParameters()));
}

std::optional<SmallVector<AffineExpr>>
ProgramSizes::getExtents(Value array, KernelCall call) const {
  auto alloc = array.getDefiningOp<memref::AllocOp>();
  auto local = array.getDefiningOp<ArrayOp>();
  if (!alloc && !local)
    return std::nullopt;
  ValueRange sizes = alloc ? ValueRange(alloc.getDynamicSizes())
                           : ValueRange(local.getSizes());
  SmallVector<AffineExpr> extents;
  for (int64_t extent : cast<MemRefType>(array.getType()).getShape()) {
    if (!ShapedType::isDynamic(extent)) {
      extents.push_back(getAffineConstantExpr(extent, mlirContext));
      continue;
    }
    Value size = sizes.front();
    sizes = sizes.drop_front();
    extents.push_back(
        get(local ? call.getOperand(cast<BlockArgument>(size)) : size));
  }
  return extents;
}

polyhedral::Set ProgramSizes::getPoints(KernelCall call,
                                        ComputeOp compute) const {
  SmallVector<IntegerSet> sets;
  for (IntegerSet set : compute.getDomainSets())
    sets.push_back(
        set.replaceDimsAndSymbols({}, getSymbols(call, set.getNumSymbols()),
                                  set.getNumDims(), numSymbols));
  return polyhedral::Set::getUnion(context, compute.getNumDims(), numSymbols,
                                   sets);
}

polyhedral::Set ProgramSizes::getElements(KernelCall call, ComputeOp compute,
                                          AffineMap map) const {
  unsigned numData = map.getNumSymbols() - call.kernel.getNumParameters();
  map = map.replaceDimsAndSymbols({}, getSymbols(call, map.getNumSymbols()),
                                  map.getNumDims(), numSymbols + numData);
  return polyhedral::Map::get(context, numSymbols, map,
                              polyhedral::Map::Inexact::Any)
      .apply(getPoints(call, compute));
}

polyhedral::Set ProgramSizes::getElements(const Part &region) const {
  SmallVector<AffineExpr> constraints(nonnegative.begin(), nonnegative.end());
  for (auto [part, whole] : parts) {
    constraints.push_back(part - whole);
    if (nonnegative.contains(whole))
      constraints.push_back(whole - part);
  }
  for (auto [dim, offset, extent] :
       llvm::enumerate(region.offset, region.extent)) {
    AffineExpr index = getAffineDimExpr(dim, mlirContext) - offset;
    constraints.append({index, extent - 1 - index});
  }
  constraints.push_back(getAffineConstantExpr(0, mlirContext));
  SmallVector<bool> isEquality(constraints.size(), false);
  return polyhedral::Set::get(context,
                              IntegerSet::get(region.offset.size(), numSymbols,
                                              constraints, isEquality));
}

/// Whether numbers alone tell that no element of `region` is among those.
static bool isFarFrom(const Part &region, ComputeOp compute, AffineMap map) {
  if (compute.getDomain().size() != 1)
    return false;
  auto box = polyhedral::readBox(compute.getDomainSets().front());
  if (!box)
    return false;
  return llvm::any_of(
      llvm::zip_equal(map.getResults(), region.offset, region.extent),
      [&](auto index) {
        auto [expr, offset, extent] = index;
        auto first = dyn_cast<AffineConstantExpr>(offset);
        auto count = dyn_cast<AffineConstantExpr>(extent);
        auto values = polyhedral::getInterval(expr, *box);
        return first && count && values &&
               (values->most < first.getValue() ||
                values->least >= first.getValue() + count.getValue());
      });
}

bool ProgramSizes::areDisjoint(const Part &region, KernelCall call,
                               ComputeOp compute, AffineMap map) const {
  if (isFarFrom(region, compute, map))
    return true;
  context.restart();
  return getElements(region)
      .intersect(getElements(call, compute, map))
      .isEmpty()
      .value_or(false);
}

bool ProgramSizes::areDisjoint(const Part &lhs, const Part &rhs) const {
  context.restart();
  return getElements(lhs).intersect(getElements(rhs)).isEmpty().value_or(false);
}

bool ProgramSizes::covers(KernelCall call, ComputeOp compute, AffineMap map,
                          const Part &region) const {
  assert(map.getNumSymbols() == call.kernel.getNumParameters() &&
         !compute.getWhere() && "expects an access that data does not decide");
  context.restart();
  return getElements(region)
      .isSubset(getElements(call, compute, map))
      .value_or(false);
}
