//===- Unfold.cpp - A place of its own for each element -------------------===//

#include "KernelShape.h"
#include "Tile.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// The box of all elements that the kernel uses, or a refusal.
static llvm::Expected<polyhedral::Box> getUsedBox(ArrayOp array) {
  auto kernel = array->getParentOfType<KernelOp>();
  unsigned numParams = kernel.getNumParameters();
  polyhedral::Context context;
  polyhedral::Union<polyhedral::Set> used;
  for (ComputeOp compute : kernel.getComputes()) {
    SmallVector<ComputeAccess> accesses = compute.getReadAccesses();
    llvm::append_range(accesses, compute.getWriteAccesses());
    for (const ComputeAccess &access : accesses) {
      if (access.array != array.getArray())
        continue;
      polyhedral::Map map =
          polyhedral::Map::get(context, numParams, access.map);
      if (!map)
        return refuse("expects affine accesses to " +
                      describeArray(array.getArray()) + ", but " +
                      quote(compute) + " uses it at " +
                      llvm::to_string(access.map));
      used.add(map.apply(getDomain(context, compute)));
    }
  }
  auto fault = [&](const Twine &what) {
    return refuse("expects " + describeArray(array.getArray()) + " to " + what);
  };
  if (used.isNothing())
    return fault("be used");
  std::optional<polyhedral::Box> box =
      polyhedral::getBoundingBox(array.getContext(), used.get());
  if (!box)
    return fault("have bounds that are affine in the parameters");
  if (!llvm::all_of(box->offsets, llvm::IsaPred<AffineConstantExpr>))
    return fault("have first indices that are numbers");
  return *box;
}

llvm::Error espalier::poly::unfold(ArrayTarget array) {
  auto kernel = array->getParentOfType<KernelOp>();
  SmallVector<ArrayOp> arrays = kernel.getArrays();
  unsigned number = llvm::find(arrays, array) - arrays.begin();
  return applyChecked(
      kernel,
      [&](KernelOp kernel) -> llvm::Error {
        ArrayOp target = kernel.getArrays()[number];
        if (!target.getStorage())
          return refuse("expects several elements in one place, but " +
                        describeArray(target.getArray()) +
                        " has no storage map");
        llvm::Expected<polyhedral::Box> box = getUsedBox(target);
        if (!box)
          return box.takeError();
        MLIRContext *context = kernel.getContext();
        SmallVector<AffineExpr> places, dynamic;
        SmallVector<int64_t> shape;
        for (auto [dim, offset] : llvm::enumerate(box->offsets)) {
          places.push_back(getAffineDimExpr(dim, context) - offset);
          auto extent = dyn_cast<AffineConstantExpr>(box->extents[dim]);
          shape.push_back(extent ? extent.getValue() : ShapedType::kDynamic);
          if (!extent)
            dynamic.push_back(box->extents[dim]);
        }
        auto type =
            MemRefType::get(shape, target.getStorageType()->getElementType());
        target.setStorageAttr(AffineMapAttr::get(
            AffineMap::get(shape.size(), 0, places, context)));
        target.setStorageTypeAttr(TypeAttr::get(type));
        target.removeExtentsAttr();
        if (!dynamic.empty())
          target.setExtentsAttr(AffineMapAttr::get(
              AffineMap::get(0, kernel.getNumParameters(), dynamic, context)));
        target.setPlacementAttr(PlacementAttr::get(
            context, fitsStack(type) ? Placement::Stack : Placement::Heap));
        return llvm::Error::success();
      },
      {}, array.script);
}
