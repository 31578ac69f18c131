//===- Localize.cpp - Buffers of a program as arrays of a kernel ----------===//

#include "Calls.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/Transforms/KernelCommands.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

/// Makes an argument an array of sizes that are the arguments `sizes`.
static void makeLocal(KernelOp kernel, unsigned number,
                      ArrayRef<unsigned> sizes) {
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  BlockArgument argument = kernel.getArgument(number);
  SmallVector<Value> extents;
  for (unsigned size : sizes)
    extents.push_back(kernel.getArgument(size));
  auto array =
      ArrayOp::create(builder, argument.getLoc(), argument.getType(), extents,
                      PlacementAttr::get(kernel.getContext(), Placement::Heap),
                      AffineMapAttr(), TypeAttr(), AffineMapAttr());
  if (Attribute name = kernel.getArgAttr(number, "espalier.name"))
    array->setAttr("espalier.name", name);
  argument.replaceAllUsesWith(array.getArray());
  (void)kernel.eraseArgument(number);
}

llvm::Error espalier::poly::localize(ComputeOp compute, uint64_t write,
                                     Eraser erase) {
  KernelOp kernel = compute.getKernel();
  if (write >= compute.getWrites().size())
    return refuse("expects one of the " + Twine(compute.getWrites().size()) +
                  " writes of " + quote(compute) + ", but got " + Twine(write));
  auto argument = dyn_cast<BlockArgument>(compute.getWrites()[write]);
  if (!argument)
    return refuse("expects an argument, but " +
                  describeArray(compute.getWrites()[write]) +
                  " is an array of the kernel already");
  unsigned number = argument.getArgNumber();
  llvm::Expected<CallOp> call = findCall(kernel);
  if (!call)
    return call.takeError();
  Value buffer = call->getArguments()[number];
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc)
    return refuse("expects a buffer that the program allocates, but " +
                  describeArray(argument) + " comes from outside");
  for (OpOperand &use : buffer.getUses())
    if (use.getOwner() != *call || use.getOperandNumber() != number)
      return refuse("expects a buffer for this call alone, but " +
                    describeArray(argument) + " is used by '" +
                    use.getOwner()->getName().getStringRef() + "' too");
  SmallVector<unsigned> sizes;
  for (Value size : alloc.getDynamicSizes()) {
    auto known = llvm::find(call->getArguments(), size);
    if (known == call->getArguments().end())
      return refuse("expects sizes that are parameters of @" +
                    kernel.getSymName() + ", but an extent of " +
                    describeArray(argument) + " is none");
    sizes.push_back(known - call->getArguments().begin());
  }
  OwningOpRef<KernelOp> trial = cloneAlone(kernel);
  makeLocal(*trial, number, sizes);
  if (llvm::Error error = checkForm(*trial))
    return error;
  makeLocal(kernel, number, sizes);
  call->getArgumentsMutable().erase(number);
  erase(alloc);
  return llvm::Error::success();
}

/// Makes an array an argument, the last.
static void makeArgument(ArrayOp array) {
  auto kernel = array->getParentOfType<KernelOp>();
  unsigned number = kernel.getNumArguments();
  (void)kernel.insertArgument(number, array.getType(), {}, array.getLoc());
  if (Attribute name = array->getAttr("espalier.name"))
    kernel.setArgAttr(number, "espalier.name", name);
  array.getArray().replaceAllUsesWith(kernel.getArgument(number));
}

llvm::Error espalier::poly::externalize(ComputeOp compute, uint64_t write,
                                        Eraser erase) {
  KernelOp kernel = compute.getKernel();
  if (write >= compute.getWrites().size())
    return refuse("expects one of the " + Twine(compute.getWrites().size()) +
                  " writes of " + quote(compute) + ", but got " + Twine(write));
  Value buffer = compute.getWrites()[write];
  auto array = buffer.getDefiningOp<ArrayOp>();
  if (!array)
    return refuse("expects an array of the kernel, but " +
                  describeArray(buffer) + " is an argument already");
  if (array.getStorage() || !array.isIn(Placement::Heap))
    return refuse("expects an array on the heap, each element at its own "
                  "place, but " +
                  describeArray(buffer) + " is " +
                  (array.getStorage() ? "stored in another way"
                                      : "in " + array.getPlacement().toText()));
  llvm::Expected<CallOp> call = findCall(kernel);
  if (!call)
    return call.takeError();
  OpBuilder builder(*call);
  SmallVector<Value> sizes;
  for (Value size : array.getSizes())
    sizes.push_back(
        call->getArguments()[cast<BlockArgument>(size).getArgNumber()]);
  auto alloc = memref::AllocOp::create(builder, array.getLoc(),
                                       cast<MemRefType>(array.getType()), sizes,
                                       builder.getI64IntegerAttr(64));
  makeArgument(array);
  call->getArgumentsMutable().append(alloc.getResult());
  erase(array);
  return llvm::Error::success();
}
