//===- Lookup.h - Lanes out of a few vectors --------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_POLYTOLOOPS_LOOKUP_H
#define ESPALIER_LIB_CONVERSION_POLYTOLOOPS_LOOKUP_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace espalier::polytoloops {

/// The elements that lanes read from memory of constant size, at places that
/// data says: `base` plus those of `offsets`, where `mask`, unless it is null,
/// is set.
struct LookedUp {
  mlir::Value memref;
  mlir::VectorType type;
  mlir::Value base, offsets, mask;
};

/// How many vectors lanes are taken from, if `numLanes` of them, one after the
/// other, are spread over all of `memref`; 0 if that would take more time than
/// to load them one by one, or cannot be done in vectors of `vectorBits`.
int64_t countLookedUp(mlir::MemRefType memref, mlir::VectorType type,
                      std::optional<int64_t> numLanes, int64_t vectorBits);

/// Takes the lanes from `number` vectors, which begin with the element of the
/// first lane or hold all there is. Where some lane is outside of these, which
/// is seen when the program runs, `emitOther` has read all of them.
mlir::Value emitLookup(mlir::OpBuilder &builder, mlir::Location loc,
                       const LookedUp &read, int64_t number,
                       llvm::function_ref<mlir::Value()> emitOther);

} // namespace espalier::polytoloops

#endif // ESPALIER_LIB_CONVERSION_POLYTOLOOPS_LOOKUP_H
