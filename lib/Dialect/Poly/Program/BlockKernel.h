//===- BlockKernel.h - A kernel for a range of its first loop ---*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_PROGRAM_BLOCKKERNEL_H
#define ESPALIER_LIB_DIALECT_POLY_PROGRAM_BLOCKKERNEL_H

#include "KernelArguments.h"

namespace espalier::poly {

/// The extent of the first dimension of all computations of a kernel, which
/// begins at 0: an expression over the parameters that is one of them, or a
/// constant. Null if it is not known, or a body reads the dimension.
mlir::AffineExpr findOuterExtent(KernelOp kernel);

/// What is added to the first dimension in the first index of an access;
/// nothing if that is another expression.
std::optional<int64_t> findOuterOffset(const ComputeAccess &access);

/// Whether no array of the kernel's own has elements that several points of the
/// first dimension use.
bool hasOwnRows(KernelOp kernel);

/// Adds two parameters to a kernel with an outer extent and own rows: it runs
/// `count` points of the first dimension, from point `first` on, of those that
/// there are. Blocks in order do what the whole kernel does, if that may run
/// all computations point by point of that dimension.
void makeBlockKernel(KernelCall call, mlir::Value first, mlir::Value count);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_PROGRAM_BLOCKKERNEL_H
