//===- ArrayStorage.cpp - Where and how arrays lie in memory --------------===//

#include "ScheduleTree.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/Transforms/DataCommands.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// Applies `edit` to the array in the kernel and its copy.
static llvm::Error editArray(ArrayOp array,
                             llvm::function_ref<llvm::Error(ArrayOp)> edit) {
  auto kernel = array->getParentOfType<KernelOp>();
  SmallVector<ArrayOp> arrays = kernel.getArrays();
  unsigned number = llvm::find(arrays, array) - arrays.begin();
  return applyChecked(kernel, [&](KernelOp target) {
    return edit(target.getArrays()[number]);
  });
}

/// The type of the memory behind an array.
static MemRefType getMemoryType(ArrayOp array) {
  return cast<MemRefType>(
      array.getStorageType().value_or(array.getArray().getType()));
}

llvm::Error espalier::poly::place(ArrayOp array, Placement placement) {
  return editArray(array, [&](ArrayOp target) -> llvm::Error {
    MemRefType type = getMemoryType(target);
    if (placement != Placement::Heap && !type.hasStaticShape())
      return refuse("expects memory of constant size to be placed in " +
                    stringifyPlacement(placement) + ", but " +
                    describeArray(target.getArray()) + " is " +
                    llvm::to_string(type) + "; fold it to a tile first");
    target.setPlacement(placement);
    return llvm::Error::success();
  });
}
