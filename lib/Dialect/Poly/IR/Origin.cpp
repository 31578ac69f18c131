//===- Origin.cpp - The operators that computations are of ----------------===//

#include "espalier/Dialect/Poly/IR/Origin.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier;

Location poly::getOrigin(Location loc, StringRef name) {
  MLIRContext *context = loc.getContext();
  return FusedLoc::get(context, {loc}, StringAttr::get(context, name));
}

Location poly::getOrigin(Operation *op) {
  return getOrigin(op->getLoc(), op->getName().stripDialect());
}

StringRef poly::getOperator(Location loc) {
  auto origin = dyn_cast<FusedLoc>(loc);
  auto name = origin ? dyn_cast_or_null<StringAttr>(origin.getMetadata())
                     : StringAttr();
  return name ? name.getValue() : "";
}

SmallVector<StringRef> poly::getOperators(KernelOp kernel) {
  llvm::SmallSetVector<StringRef, 4> operators;
  for (ComputeOp compute : kernel.getComputes())
    if (StringRef name = getOperator(compute.getLoc()); !name.empty())
      operators.insert(name);
  if (operators.size() > 1)
    operators.remove(kMoveOrigin);
  return llvm::to_vector(operators);
}

Location poly::getSource(Location loc) {
  return getOperator(loc).empty() ? loc
                                  : cast<FusedLoc>(loc).getLocations().front();
}
