//===- PolyStructureOps.cpp - Commands for the tree -----------------------===//

#include "CommandArguments.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/DataCommands.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace espalier::poly;

llvm::Error FuseOp::command(ComputeTarget target, ComputeOp other) {
  llvm::Expected<SmallVector<int64_t>> delays = fuse(target, other, getLoops());
  if (!delays)
    return delays.takeError();
  // Said when it is done, not when it is tried.
  if (target.script && target.script->getMode() == Script::Mode::Deferred)
    return llvm::Error::success();
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(*delays, os);
  remark::passed(other.getLoc(),
                 remark::RemarkOpts::name("Fused").category("poly-schedule"))
      << remark::metric("Delay", text);
  return llvm::Error::success();
}

llvm::Error FissionOp::command(ComputeTarget compute) {
  return fission(compute, getLoop(), getAt());
}

llvm::Error MoveOp::command(ComputeTarget target, ComputeOp other) {
  return moveBefore(target, other);
}

llvm::Error ArrangeOp::command(ComputeTarget compute) {
  SmallVector<AffineMap> maps =
      llvm::to_vector(getMaps().getAsValueRange<AffineMapAttr>());
  return arrange(compute, toStrings(getOthers()), maps, toStrings(getInto()),
                 getLoop().value_or(""));
}

llvm::Error SeparateFullTilesOp::command(ComputeTarget compute) {
  return separateFullTiles(compute, toStrings(getLoops()));
}

LogicalResult PeelOp::verify() {
  // C1
  if (getFirst().has_value() + getLast().has_value() + getAt().has_value() != 1)
    return emitOpError("expects one of 'first', 'last' and 'at'");
  // C2
  size_t numLoops = toStrings(getOf()).size();
  if (numLoops == 0)
    return getAt() ? verifyAmount(getOperation(), getAtAttr()) : success();
  if (!getAt() || getAt()->getNumDims() != numLoops ||
      getAt()->getNumResults() != 1)
    return emitOpError("expects 'at' to be a map from ")
           << numLoops << " loops to one result";
  return success();
}

llvm::Error PeelOp::command(ComputeTarget compute) {
  if (getFirst())
    return peelFirst(compute, getLoop(), *getFirst());
  if (getLast())
    return peelLast(compute, getLoop(), *getLast());
  return cutAt(compute, getLoop(), getAt()->getResult(0), toStrings(getOf()));
}

LogicalResult SpecializeOp::verify() {
  // C1
  if (getExtents().has_value() == getWhen().has_value())
    return emitOpError("expects one of 'extents' and 'when'");
  // C2
  if (getWhen() && getWhen()->getNumDims() != 0)
    return emitOpError("expects 'when' to be a set without dimensions, but it "
                       "has ")
           << getWhen()->getNumDims();
  return success();
}

llvm::Error SpecializeOp::command(ComputeTarget compute) {
  if (getExtents())
    return specializeExtents(compute, getLoop(), *getExtents());
  return specializeSizes(compute, getLoop(), *getWhen());
}

LogicalResult BranchOp::verify() {
  // C1
  if (getWhen().empty() || getWhen().size() != getNames().size())
    return emitOpError("expects a name for each of one or more sets, but got ")
           << getNames().size() << " for " << getWhen().size();
  // C2
  for (IntegerSet set : getWhen().getAsValueRange<IntegerSetAttr>())
    if (set.getNumDims() != 0)
      return emitOpError("expects sets without dimensions, but one has ")
             << set.getNumDims();
  return success();
}

llvm::Error BranchOp::command(ComputeTarget compute) {
  return branchOnSizes(
      compute, llvm::to_vector(getWhen().getAsValueRange<IntegerSetAttr>()),
      toStrings(getNames()));
}

llvm::Error RetileOp::command(ComputeTarget compute) {
  return retile(compute, getLoop(), getBy());
}

llvm::Error MarkCommandOp::command(ComputeTarget compute) {
  return mark(compute, getLoop(), getName());
}
