//===- KernelBuilder.h - Arguments and shapes of a kernel -------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_LINALGTOPOLY_KERNELBUILDER_H
#define ESPALIER_LIB_CONVERSION_LINALGTOPOLY_KERNELBUILDER_H

#include "Groups.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace espalier::linalgtopoly {

/// Collects what a kernel is called with, makes the kernel, and translates
/// values of the calling function into the kernel's.
class KernelBuilder {
public:
  KernelBuilder(const TensorMap &tensors, const mlir::IRMapping &scalars,
                mlir::OpBuilder &builder)
      : tensors(tensors), scalars(scalars), builder(builder),
        context(builder.getContext()) {}

  // First, what the kernel is called with.
  void addMemref(mlir::Value buffer) { memrefs.insert(buffer); }
  /// A scalar of the original function. Constants are cloned instead.
  void addScalar(mlir::Value value);
  /// A size or offset, which becomes a parameter unless it is a number.
  void addParameter(mlir::OpFoldResult size);

  /// Makes the kernel and moves the builder into it.
  EmittedKernel make(mlir::Location loc, llvm::StringRef name);

  // Then, what stands for it inside.
  mlir::Value getMemref(mlir::Value buffer) const {
    return arguments.lookup(buffer);
  }
  mlir::Value getScalar(mlir::OpBuilder &b, mlir::Value value) const;
  /// The size as an affine expression over the parameters.
  mlir::AffineExpr getSize(mlir::OpFoldResult size) const;
  /// The points from 0 to `sizes`.
  mlir::IntegerSet getBox(llvm::ArrayRef<mlir::OpFoldResult> sizes) const;
  /// The map, with the kernel's parameters as symbols.
  mlir::AffineMap getAccess(unsigned numDims,
                            llvm::ArrayRef<mlir::AffineExpr> indices) const {
    return mlir::AffineMap::get(numDims, parameters.size(), indices, context);
  }
  /// A local array.
  mlir::Value makeArray(mlir::Location loc, mlir::Type elementType,
                        llvm::ArrayRef<mlir::OpFoldResult> sizes);
  const Tensor &getTensor(mlir::Value value) const {
    return tensors.find(value)->second;
  }

  const TensorMap &tensors;
  const mlir::IRMapping &scalars;
  mlir::OpBuilder &builder;
  mlir::MLIRContext *context;

private:
  llvm::SetVector<mlir::Value> memrefs, scalarArguments, parameters;
  mlir::IRMapping arguments;
};

/// Conversions between elements in memory and in a body: truth values.
mlir::Value loadElement(mlir::OpBuilder &b, mlir::Location loc,
                        mlir::Value stored, mlir::Type type);
mlir::Value storeElement(mlir::OpBuilder &b, mlir::Location loc,
                         mlir::Value value);

} // namespace espalier::linalgtopoly

#endif // ESPALIER_LIB_CONVERSION_LINALGTOPOLY_KERNELBUILDER_H
