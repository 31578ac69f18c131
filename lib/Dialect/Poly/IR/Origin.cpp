//===- Origin.cpp - The operators that computations are of ----------------===//

#include "espalier/Dialect/Poly/IR/Origin.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

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

Location poly::getSource(Location loc) {
  return getOperator(loc).empty() ? loc
                                  : cast<FusedLoc>(loc).getLocations().front();
}
