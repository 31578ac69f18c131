//===- PolyStructureOps.cpp - Commands for the tree -----------------------===//

#include "CommandArguments.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/Commands.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace espalier::poly;

llvm::Error FuseOp::command(ComputeOp target, ComputeOp other) {
  llvm::Expected<SmallVector<int64_t>> delays =
      fuse(target, other, std::max<int64_t>(getLoops(), 0));
  if (!delays)
    return delays.takeError();
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(*delays, os);
  remark::passed(other.getLoc(),
                 remark::RemarkOpts::name("Fused").category("poly-schedule"))
      << remark::metric("Delay", text);
  return llvm::Error::success();
}
