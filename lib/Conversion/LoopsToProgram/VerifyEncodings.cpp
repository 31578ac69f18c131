//===- VerifyEncodings.cpp - Tensors that have all elements ---------------===//

#include "espalier/Conversion/LoopsToProgram/VerifyEncodings.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"

using namespace mlir;

static bool hasEncoding(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isa_and_nonnull<sparse_tensor::SparseTensorEncodingAttr>(
                       tensor.getEncoding());
}

LogicalResult espalier::verifyEncodings(func::FuncOp function) {
  auto report = [](InFlightDiagnostic error, StringRef what, unsigned number,
                   Type type) {
    error << "expects an encoding of constants alone, whose entries are "
             "known when compiling, but "
          << what << " #" << number << " is " << type
          << "; it may be a tensor without one, or the rows of a kernel "
             "in poly, which are arrays";
    return failure();
  };
  for (auto [number, type] : llvm::enumerate(function.getArgumentTypes()))
    if (hasEncoding(type))
      return report(function.emitError(), "argument", number, type);
  WalkResult result = function.walk([&](Operation *op) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      return WalkResult::advance();
    for (auto [number, type] : llvm::enumerate(op->getResultTypes()))
      if (hasEncoding(type))
        return WalkResult(report(op->emitOpError(), "result", number, type));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}
