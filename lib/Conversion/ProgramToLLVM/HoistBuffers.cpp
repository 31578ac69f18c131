//===- HoistBuffers.cpp - Allocates local buffers once per thread ---------===//

#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "mlir/Dialect/OpenMP/OpenMPDialect.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMHOISTBUFFERSPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;

/// Alignment of local buffers: a cache line.
static constexpr int64_t kLocalAlignment = 64;

/// Returns the region whose entry is executed once by each thread that reaches
/// `op`.
static Region &getThreadRegion(Operation *op) {
  Operation *parent = op->getParentOp();
  while (!isa<omp::ParallelOp, func::FuncOp>(parent))
    parent = parent->getParentOp();
  return parent->getRegion(0);
}

/// Returns the bytes of a buffer of type `type`.
static uint64_t getBytes(const DataLayout &layout, MemRefType type) {
  return layout.getTypeSize(type.getElementType()) * type.getNumElements();
}

/// Returns the deallocation of `buffer`, if it has one.
static memref::DeallocOp findFreeOf(Value buffer) {
  for (Operation *user : buffer.getUsers())
    if (auto dealloc = dyn_cast<memref::DeallocOp>(user))
      return dealloc;
  return nullptr;
}

/// Frees `buffer` at the end of `block`, which must not leave it otherwise.
static void freeAtEnd(Value buffer, Block &block) {
  memref::DeallocOp dealloc = findFreeOf(buffer);
  if (dealloc) {
    dealloc->moveBefore(block.getTerminator());
    return;
  }
  OpBuilder builder(block.getTerminator());
  memref::DeallocOp::create(builder, buffer.getLoc(), buffer);
}

namespace {
struct ProgramHoistBuffersPass
    : espalier::impl::ProgramHoistBuffersPassBase<ProgramHoistBuffersPass> {
  using ProgramHoistBuffersPassBase::ProgramHoistBuffersPassBase;

  void runOnOperation() override {
    DataLayout layout = DataLayout::closest(getOperation());
    SmallVector<memref::AllocOp> allocs;
    SmallVector<memref::AllocaOp> allocas;
    getOperation().walk([&](Operation *op) {
      if (auto alloc = dyn_cast<memref::AllocOp>(op))
        allocs.push_back(alloc);
      else if (auto alloca = dyn_cast<memref::AllocaOp>(op))
        allocas.push_back(alloca);
    });
    for (memref::AllocOp alloc : allocs)
      place(alloc, layout);
    for (memref::AllocaOp alloca : allocas) {
      Region &region = getThreadRegion(alloca);
      if (alloca.getType().hasStaticShape() &&
          alloca->getBlock() != &region.front())
        alloca->moveBefore(&region.front(), region.front().begin());
    }
  }

  void place(memref::AllocOp alloc, const DataLayout &layout) {
    MemRefType type = alloc.getType();
    Region &region = getThreadRegion(alloc);
    // The end of a run-time size's scope is that of its block.
    if (!type.hasStaticShape() || !region.hasOneBlock())
      return freeAtEnd(alloc, *alloc->getBlock());
    if (!alloc.getAlignment())
      alloc.setAlignment(kLocalAlignment);
    if (getBytes(layout, type) > maxStackBytes) {
      alloc->moveBefore(&region.front(), region.front().begin());
      return freeAtEnd(alloc, region.front());
    }
    if (memref::DeallocOp dealloc = findFreeOf(alloc))
      dealloc.erase();
    OpBuilder builder(&region.front(), region.front().begin());
    auto onStack = memref::AllocaOp::create(builder, alloc.getLoc(), type,
                                            alloc.getAlignmentAttr());
    alloc.replaceAllUsesWith(onStack.getResult());
    alloc.erase();
  }
};
} // namespace
