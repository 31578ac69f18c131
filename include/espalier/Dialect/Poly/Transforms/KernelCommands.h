//===- KernelCommands.h - Commands on the kernels of a program --*- C++ -*-===//
//
// A program calls kernels one after the other, on buffers that it allocates.
// These commands move work and memory between the two. They are legal for what
// the calls say, whatever the schedules are; `erase` removes operations.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMS_KERNELCOMMANDS_H
#define ESPALIER_DIALECT_POLY_TRANSFORMS_KERNELCOMMANDS_H

#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "espalier/Dialect/Poly/Transforms/Commands.h"

namespace espalier::poly {

using Eraser = llvm::function_ref<void(mlir::Operation *)>;

/// Makes one kernel of those of `first` and `second`, under the name of the
/// first, and one call of their calls: the computations of the second follow
/// those of the first, in program order and in the schedule. Values that both
/// calls pass become one argument. Computations of the second whose name is
/// taken get a new one. Refused unless each is called once, the first before
/// the second in one block, and what is between leaves the buffers alone; or if
/// the two see one buffer in different ways.
llvm::Error mergeKernels(ComputeOp first, ComputeOp second, Eraser erase);

/// Makes the argument that `compute` writes, with write `write`, an array of
/// the kernel. Refused unless the program allocates it for this call alone, in
/// sizes that are parameters of the kernel.
llvm::Error localize(ComputeOp compute, uint64_t write, Eraser erase);

/// Makes the array of the kernel that `compute` writes, with write `write`, an
/// argument, which the program allocates for the call. Refused unless it is on
/// the heap and stored as it is indexed.
llvm::Error externalize(ComputeOp compute, uint64_t write, Eraser erase);

/// Moves `compute` and the computations behind it, in program order, to a
/// kernel `name`, which is called right after theirs. Refused unless the kernel
/// is called once, the parts share no array of the kernel, and the schedule
/// runs one after the other.
llvm::Error detach(ComputeOp compute, llvm::StringRef name, Eraser erase);

//===----------------------------------------------------------------------===//
// Before kernels are formed
//===----------------------------------------------------------------------===//

// A program at stage `statements` has a kernel for each statement. What is
// chosen there stands in attributes (IR/ChoiceAttributes.h), and is kept where
// kernels are formed of statements. Refused in modules at another stage.

/// Has `compute`, a sum, computed by an algorithm, whether that pays or not.
llvm::Error chooseAlgorithm(ComputeOp compute, Algorithm algorithm);

/// Stores the buffer that `compute` writes, or that of its read `read`, as
/// `layout` says, from indices to those of the memory. Refused unless the
/// program allocates it, or it is a constant, and sees it in one shape; and if
/// elements would share a place.
llvm::Error chooseLayout(ComputeOp compute, std::optional<uint64_t> read,
                         mlir::AffineMap layout);

/// Has the kernel that `compute` becomes a part of, whether that pays or not,
/// be none of those that read its result (`Separate`), or all of them
/// (`Fused`). Refused unless the program allocates the buffer that `compute`
/// writes, and its kernel does not read it itself.
llvm::Error chooseFusion(ComputeOp compute, Fusion fusion);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMS_KERNELCOMMANDS_H
