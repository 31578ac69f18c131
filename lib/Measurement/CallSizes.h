//===- CallSizes.h - What kernels are called with ---------------*- C++ -*-===//

#ifndef ESPALIER_LIB_MEASUREMENT_CALLSIZES_H
#define ESPALIER_LIB_MEASUREMENT_CALLSIZES_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Measurement/MeasureKernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"

namespace espalier {

/// What follows for the arguments of a program's calls from the sizes of its
/// inputs.
class CallSizes {
public:
  using Sizes = std::vector<llvm::StringMap<int64_t>>;

  /// Reads the calls of `module`, which is at stage `poly`.
  CallSizes(mlir::ModuleOp module, llvm::ArrayRef<MeasuredSizes> all);

  /// By element of `all`, the sizes of a call by the names of `poly-add-main`.
  /// Empty if none follows.
  Sizes find(poly::CallOp call) const { return sizes.lookup(call); }
  /// The same of a kernel without a program, whose parameters have the names.
  static Sizes find(poly::KernelOp kernel, llvm::ArrayRef<MeasuredSizes> all);

private:
  llvm::DenseMap<mlir::Operation *, Sizes> sizes;
};

} // namespace espalier

#endif // ESPALIER_LIB_MEASUREMENT_CALLSIZES_H
