//===- LoopKinds.cpp - How loops run --------------------------------------===//

#include "ScheduleTree.h"

using namespace mlir;
using namespace espalier::poly;

llvm::Error espalier::poly::parallelize(ComputeOp compute, StringRef name) {
  StringAttr symbol = compute.getSymNameAttr();
  return applyChecked(compute.getKernel(), [&](KernelOp kernel) -> llvm::Error {
    llvm::Expected<LoopPosition> found =
        findLoop(kernel.lookupCompute(symbol), name);
    if (!found)
      return found.takeError();
    SmallVector<BandLoop> loops = getLoops(found->band);
    loops[found->position].kind =
        LoopAttr::get(kernel.getContext(), LoopKind::Parallel);
    setLoops(found->band, loops);
    return llvm::Error::success();
  });
}
