//===- Choose.cpp - Choices for kernels that are not formed yet -----------===//

#include "Calls.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "espalier/Dialect/Poly/Transforms/KernelCommands.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

using namespace mlir;
using namespace espalier::poly;

/// Refuses if nobody will read a choice for `kernel`.
static llvm::Error checkStage(KernelOp kernel) {
  Operation *module = kernel->getParentOp();
  auto stage = module ? module->getAttrOfType<StringAttr>(kStageAttr) : nullptr;
  if (stage && stage.getValue() == kStatementsStage)
    return llvm::Error::success();
  return refuse("expects a module at stage " + kStatementsStage +
                ", where kernels are not formed yet, but " +
                (stage ? "it is at stage " + stage.getValue().str()
                       : "nothing says its stage"));
}

llvm::Error espalier::poly::chooseAlgorithm(ComputeOp compute,
                                            Algorithm algorithm) {
  if (llvm::Error error = checkStage(compute.getKernel()))
    return error;
  if (compute.getReduction() != Reduction::Add)
    return refuse("expects a sum, but " + quote(compute) + " is none");
  compute->setAttr(
      kAlgorithmAttr,
      StringAttr::get(compute.getContext(), stringifyAlgorithm(algorithm)));
  return llvm::Error::success();
}

/// Finds what makes, in the program, the buffer that `compute` writes, or that
/// of its read `read`, and sets `argument` to what the kernel calls it.
static llvm::Expected<Operation *> findSource(ComputeOp compute,
                                              std::optional<uint64_t> read,
                                              BlockArgument &argument) {
  KernelOp kernel = compute.getKernel();
  if (llvm::Error error = checkStage(kernel))
    return std::move(error);
  if (read && *read >= compute.getReads().size())
    return refuse("expects one of the " + Twine(compute.getReads().size()) +
                  " reads of " + quote(compute) + ", but got " + Twine(*read));
  Value array = read ? compute.getReads()[*read] : compute.getWrites().front();
  argument = dyn_cast<BlockArgument>(array);
  if (!argument)
    return refuse("expects a buffer of the program, but " +
                  describeArray(array) + " is an array of the kernel");
  llvm::Expected<CallOp> call = findCall(kernel);
  if (!call)
    return call.takeError();
  Value buffer = call->getArguments()[argument.getArgNumber()];
  Operation *source = buffer.getDefiningOp();
  if (!isa_and_nonnull<memref::AllocOp, memref::GetGlobalOp>(source))
    return refuse("expects a buffer that the program allocates, or a constant, "
                  "but " +
                  describeArray(argument) +
                  (source ? " is a view" : " comes from outside"));
  return source;
}

llvm::Error espalier::poly::chooseLayout(ComputeOp compute,
                                         std::optional<uint64_t> read,
                                         AffineMap layout) {
  BlockArgument argument;
  llvm::Expected<Operation *> source = findSource(compute, read, argument);
  if (!source)
    return source.takeError();
  Value buffer = (*source)->getResult(0);
  for (Operation *user : buffer.getUsers())
    if (isa<ViewLikeOpInterface>(user))
      return refuse("expects a buffer in one shape, but " +
                    describeArray(argument) + " is also seen in another");
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  if (std::string fault = checkLayout(layout, shape); !fault.empty())
    return refuse("expects a layout " + fault);
  if (layout.getNumResults() != 1 &&
      compute.getKernel().getArgAttr(argument.getArgNumber(),
                                     KernelOp::getMonotonicAttrName()))
    return refuse("expects a layout with one index of " +
                  describeArray(argument) +
                  ", whose elements are in order (poly.monotonic), but got " +
                  Twine(layout.getNumResults()));
  (*source)->setAttr(kLayoutAttr, AffineMapAttr::get(layout));
  return llvm::Error::success();
}

llvm::Error espalier::poly::chooseFusion(ComputeOp compute, Fusion fusion) {
  BlockArgument argument;
  llvm::Expected<Operation *> source =
      findSource(compute, std::nullopt, argument);
  if (!source)
    return source.takeError();
  KernelOp kernel = compute.getKernel();
  // A sum adds to what is there.
  for (ComputeOp reader : kernel.getComputes())
    for (const ComputeAccess &read : reader.getReadAccesses())
      if (read.array == argument &&
          (!reader.getReduction() ||
           read.map != reader.getWriteAccesses().front().map))
        return refuse("expects a result that other kernels read, but " +
                      quote(reader) + " of " + quote(kernel) + " reads " +
                      describeArray(argument));
  (*source)->setAttr(kFusionAttr, StringAttr::get(compute.getContext(),
                                                  stringifyFusion(fusion)));
  return llvm::Error::success();
}
