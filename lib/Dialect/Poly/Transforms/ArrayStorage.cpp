//===- ArrayStorage.cpp - Where and how arrays lie in memory --------------===//

#include "LoopNest.h"
#include "Tile.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// Applies `edit` to the array in the kernel and its copy, which has to pass
/// `check`.
static llvm::Error
editArray(ArrayTarget array, llvm::function_ref<llvm::Error(ArrayOp)> edit,
          llvm::function_ref<llvm::Error(ArrayOp)> check = {}) {
  auto kernel = array->getParentOfType<KernelOp>();
  SmallVector<ArrayOp> arrays = kernel.getArrays();
  unsigned number = llvm::find(arrays, array) - arrays.begin();
  auto find = [&](KernelOp target) { return target.getArrays()[number]; };
  return applyChecked(
      kernel, [&](KernelOp target) { return edit(find(target)); },
      [&](KernelOp target) {
        return check ? check(find(target)) : llvm::Error::success();
      },
      array.script);
}

llvm::Error espalier::poly::place(ArrayTarget array,
                                  MemorySpaceAttrInterface space) {
  auto edit = [&](ArrayOp target) -> llvm::Error {
    MemRefType type = target.getMemoryType();
    if (space.getCapacity() && !type.hasStaticShape())
      return refuse("expects an array of constant size in " + space.toText() +
                    ", but " + describeArray(target.getArray()) + " is " +
                    llvm::to_string(type) +
                    "; legal after fold_storage to a tile");
    target.setPlacementAttr(space);
    return llvm::Error::success();
  };
  return editArray(array, edit, [](ArrayOp target) {
    return refuseFault(checkRegisters(target));
  });
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

/// The extents of the memory behind an array, over the kernel's parameters.
static SmallVector<AffineExpr> getMemoryExtents(ArrayOp array) {
  MLIRContext *context = array.getContext();
  MemRefType type = array.getMemoryType();
  auto arrayType = cast<MemRefType>(array.getArray().getType());
  SmallVector<BlockArgument> params =
      array->getParentOfType<KernelOp>().getParameters();
  // The size of a dynamic dimension of the array.
  auto getSize = [&](unsigned dim) {
    unsigned number = arrayType.getDynamicDimIndex(dim);
    unsigned param =
        llvm::find(params, array.getSizes()[number]) - params.begin();
    return getAffineSymbolExpr(param, context);
  };
  SmallVector<AffineExpr> extents;
  unsigned numDynamic = 0;
  for (auto [position, extent] : llvm::enumerate(type.getShape())) {
    if (!ShapedType::isDynamic(extent))
      extents.push_back(getAffineConstantExpr(extent, context));
    else if (array.getExtents())
      extents.push_back(array.getExtents()->getResult(numDynamic++));
    else if (!array.getStorage())
      extents.push_back(getSize(position));
    else
      extents.push_back(
          getSize(cast<AffineDimExpr>(array.getStorage()->getResult(position))
                      .getPosition()));
  }
  return extents;
}

/// Refuses a list of numbers that has another length than the memory has
/// extents, or a number below `least`.
static llvm::Error checkNumbers(StringRef what, ArrayRef<int64_t> numbers,
                                size_t numExtents, int64_t least) {
  if (!numbers.empty() && numbers.size() != numExtents)
    return refuse("expects " + what + " for " + Twine(numExtents) +
                  " extents, but got " + Twine(numbers.size()) + " numbers");
  for (int64_t number : numbers)
    if (number < least || !isSmall(number))
      return refuse("expects " + what + " from " + Twine(least) +
                    " to 2^30, but got " + Twine(number));
  return llvm::Error::success();
}

static llvm::Error setLayoutOf(ArrayOp array, AffineMap layout,
                               ArrayRef<int64_t> padding,
                               ArrayRef<int64_t> multiples) {
  MLIRContext *mlirContext = array.getContext();
  unsigned numParams = array->getParentOfType<KernelOp>().getNumParameters();
  auto type = cast<MemRefType>(array.getArray().getType());
  polyhedral::Context context;
  llvm::Expected<SmallVector<AffineExpr>> extents =
      getLayoutExtents(context, numParams, getMemoryExtents(array), layout);
  if (!extents)
    return extents.takeError();
  if (llvm::Error error = checkNumbers("padding", padding, extents->size(), 0))
    return error;
  if (llvm::Error error =
          checkNumbers("multiples", multiples, extents->size(), 1))
    return error;
  for (auto [position, extent] : llvm::enumerate(*extents)) {
    if (!padding.empty())
      extent = extent + padding[position];
    if (!multiples.empty())
      extent = extent.ceilDiv(multiples[position]) * multiples[position];
    extent = simplifyAffineExpr(extent, 0, numParams);
  }
  AffineMap memory = array.getStorage().value_or(
      AffineMap::getMultiDimIdentityMap(type.getRank(), mlirContext));
  Storage storage = makeStorage(simplifyAffineMap(layout.compose(memory)),
                                *extents, numParams, type.getElementType());
  setStorage(array, storage);
  return llvm::Error::success();
}

llvm::Error espalier::poly::changeLayout(ArrayTarget array, AffineMap layout,
                                         ArrayRef<int64_t> padding,
                                         ArrayRef<int64_t> multiples) {
  return editArray(array, [&](ArrayOp target) {
    return setLayoutOf(target, layout, padding, multiples);
  });
}

//===----------------------------------------------------------------------===//
// Folding
//===----------------------------------------------------------------------===//

/// The most places that a hint tries.
static constexpr int64_t kMaxPlaces = 64;

static llvm::Error foldIndex(ArrayOp array, int64_t index, int64_t places) {
  MLIRContext *context = array.getContext();
  unsigned numParams = array->getParentOfType<KernelOp>().getNumParameters();
  auto type = cast<MemRefType>(array.getArray().getType());
  SmallVector<AffineExpr> extents = getMemoryExtents(array);
  if (index < 0 || index >= int64_t(extents.size()))
    return refuse("expects one of the " + Twine(extents.size()) +
                  " indices of the memory of " +
                  describeArray(array.getArray()) + ", but got #" +
                  Twine(index));
  auto extent = dyn_cast<AffineConstantExpr>(extents[index]);
  int64_t most = extent ? extent.getValue() : kMaxNumber;
  if (places <= 0 || places > most)
    return refuse("expects between 1 and " + Twine(most) + " places along " +
                  "index #" + Twine(index) + " of " +
                  describeArray(array.getArray()) + ", but got " +
                  Twine(places));
  extents[index] = getAffineConstantExpr(places, context);
  AffineMap memory = array.getStorage().value_or(
      AffineMap::getMultiDimIdentityMap(type.getRank(), context));
  SmallVector<AffineExpr> results(memory.getResults());
  results[index] = results[index] % places;
  setStorage(array, makeStorage(AffineMap::get(memory.getNumDims(),
                                               memory.getNumSymbols(), results,
                                               context),
                                extents, numParams, type.getElementType()));
  return llvm::Error::success();
}

llvm::Error espalier::poly::foldStorage(ArrayTarget array, int64_t index,
                                        int64_t places) {
  auto kernel = array->getParentOfType<KernelOp>();
  SmallVector<ArrayOp> arrays = kernel.getArrays();
  unsigned number = llvm::find(arrays, array) - arrays.begin();
  auto foldTo = [&](int64_t places) {
    return [&, places](ArrayOp target) {
      return foldIndex(target, index, places);
    };
  };
  if (array.script && array.script->getMode() == Script::Mode::Deferred)
    return editArray(array, foldTo(places));
  return llvm::handleErrors(
      editArray(array, foldTo(places)), [&](std::unique_ptr<Refusal> refusal) {
        int64_t least = std::clamp<int64_t>(places, 0, kMaxPlaces);
        for (int64_t more = least + 1; more <= kMaxPlaces; ++more) {
          OwningOpRef<KernelOp> trial = cloneWithSchedule(kernel);
          llvm::Error error =
              editArray(trial->getArrays()[number], foldTo(more));
          bool isLegal = !error;
          llvm::consumeError(std::move(error));
          if (!isLegal)
            continue;
          refusal->addHint("legal with " + Twine(more) + " places");
          break;
        }
        return llvm::Error(std::move(refusal));
      });
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

/// From indices to those of blocks, then those inside blocks, in `order`.
static llvm::Expected<AffineMap> makeBlockedLayout(MLIRContext *context,
                                                   unsigned rank,
                                                   ArrayRef<int64_t> blocks,
                                                   ArrayRef<int64_t> order) {
  if (blocks.size() != rank)
    return refuse("expects a size of blocks, or 0, for each of the " +
                  Twine(rank) + " indices, but got " + Twine(blocks.size()));
  SmallVector<AffineExpr> outer, inner;
  for (auto [dim, size] : llvm::enumerate(blocks)) {
    if (size < 0 || size == 1 || !isSmall(size))
      return refuse("expects blocks of 2 to 2^30 elements, or 0 for none, but "
                    "got " +
                    Twine(size));
    AffineExpr index = getAffineDimExpr(dim, context);
    outer.push_back(size == 0 ? index : index.floorDiv(size));
    if (size != 0)
      inner.push_back(index % size);
  }
  llvm::append_range(outer, inner);
  SmallVector<AffineExpr> results = outer;
  if (!order.empty()) {
    SmallVector<int64_t> sorted(order);
    llvm::sort(sorted);
    if (!llvm::equal(sorted, llvm::seq<int64_t>(0, outer.size())))
      return refuse("expects an order of the " + Twine(outer.size()) +
                    " indices of blocks and in blocks, but got [" +
                    llvm::join(llvm::map_range(order,
                                               [](int64_t position) {
                                                 return std::to_string(
                                                     position);
                                               }),
                               ", ") +
                    "]");
    for (auto [position, from] : llvm::enumerate(order))
      results[position] = outer[from];
  }
  return AffineMap::get(rank, 0, results, context);
}

llvm::Expected<LocalCopy>
espalier::poly::pack(ComputeOp compute, uint64_t read, StringRef loop,
                     ArrayRef<int64_t> blocks, ArrayRef<int64_t> order,
                     MemorySpaceAttrInterface placement) {
  LocalOptions options;
  options.placement = placement;
  // An unknown read is for `cacheRead` to refuse.
  if (read < compute.getReads().size()) {
    auto type = cast<MemRefType>(compute.getReads()[read].getType());
    llvm::Expected<AffineMap> layout =
        makeBlockedLayout(compute.getContext(), type.getRank(), blocks, order);
    if (!layout)
      return layout.takeError();
    options.layout = *layout;
  }
  return cacheRead(compute, read, loop, options);
}
