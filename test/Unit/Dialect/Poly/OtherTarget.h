//===- OtherTarget.h - What a target adds to the dialect --------*- C++ -*-===//
//
// Attributes of stock MLIR become kinds of loops and a memory space here, with
// nothing changed in the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TEST_UNIT_DIALECT_POLY_OTHERTARGET_H
#define ESPALIER_TEST_UNIT_DIALECT_POLY_OTHERTARGET_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace espalier::poly {

struct BlockLoop : public LoopKindAttrInterface::ExternalModel<
                       BlockLoop, mlir::gpu::GPUBlockMappingAttr> {
  bool isParallel(mlir::Attribute) const { return true; }
};

struct ThreadLoop : public LoopKindAttrInterface::ExternalModel<
                        ThreadLoop, mlir::gpu::GPUThreadMappingAttr> {
  bool isParallel(mlir::Attribute) const { return true; }
  int64_t getWidth(mlir::Attribute) const { return 1024; }
};

/// Memory that the threads of a block share.
struct BlockMemory : public MemorySpaceAttrInterface::ExternalModel<
                         BlockMemory, mlir::gpu::AddressSpaceAttr> {
  std::optional<int64_t> getCapacity(mlir::Attribute) const {
    return 48 * 1024;
  }
  bool isShared(mlir::Attribute) const { return false; }
  bool isSharedBy(mlir::Attribute, LoopKindAttrInterface loop) const {
    return !mlir::isa<mlir::gpu::GPUBlockMappingAttr>(loop);
  }
};

/// The GPU dialect has to be loaded.
inline void attachOtherTarget(mlir::MLIRContext &context) {
  mlir::gpu::GPUBlockMappingAttr::attachInterface<BlockLoop>(context);
  mlir::gpu::GPUThreadMappingAttr::attachInterface<ThreadLoop>(context);
  mlir::gpu::AddressSpaceAttr::attachInterface<BlockMemory>(context);
}

} // namespace espalier::poly

#endif // ESPALIER_TEST_UNIT_DIALECT_POLY_OTHERTARGET_H
