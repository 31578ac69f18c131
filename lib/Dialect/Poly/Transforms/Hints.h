//===- Hints.h - What would be legal instead --------------------*- C++ -*-===//
//
// Whatever a hint says has been tried.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_HINTS_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_HINTS_H

#include "ScheduleTree.h"

namespace espalier::poly {

/// What a command does to a computation's kernel.
using Edit = llvm::function_ref<llvm::Error(ComputeOp)>;
/// The same for one of its loops, or other parts, by name.
using LoopEdit = llvm::function_ref<llvm::Error(ComputeOp, llvm::StringRef)>;

/// Like `applyTo`. A refusal for a broken dependence gets what `hint` says, if
/// that is not empty; it may take its time, for nothing else is slower by it.
llvm::Error applyWithHint(ComputeTarget compute, Edit edit,
                          llvm::function_ref<std::string()> hint);

/// Whether `applyTo` would succeed, whatever the reason if not.
bool isLegal(ComputeOp compute, Edit edit);

/// That `edit` is legal if `compute` is a reduction, if so.
std::string findReduction(ComputeOp compute, Edit edit);

/// Skews after which all loops from the first to the last of `loops` in their
/// nest may run in any order, if `edit` is legal then; or that it is legal for
/// a reduction.
std::string findSkews(ComputeOp compute, llvm::ArrayRef<llvm::StringRef> loops,
                      Edit edit);

/// The least factors of a wavefront along `loops`, if `edit` is legal with
/// them.
std::string findFactors(
    ComputeOp compute, llvm::ArrayRef<llvm::StringRef> loops,
    llvm::function_ref<llvm::Error(ComputeOp, llvm::ArrayRef<int64_t>)> edit);

/// The least factors of a skew, in this order of `numLoops` others, for which
/// `edit` is legal.
std::string findSkewFactors(
    ComputeOp compute, size_t numLoops,
    llvm::function_ref<llvm::Error(ComputeOp, llvm::ArrayRef<int64_t>)> edit);

/// The smallest and the largest amount by which `loop` may be shifted for
/// `compute` only, as far as there are any.
std::string
findAmounts(ComputeOp compute, llvm::StringRef loop,
            llvm::function_ref<llvm::Error(ComputeOp, int64_t)> edit);

/// The loops of `compute` for which `edit` is legal; they may be `what`.
std::string findLoops(ComputeOp compute, llvm::StringRef what, LoopEdit edit);

/// Like `applyTo`. A refusal, whatever the reason, says for which other loops
/// of `compute` the edit is legal, if there are any.
llvm::Error applyAt(ComputeOp compute, llvm::StringRef loop, LoopEdit edit);

/// The computations for which `edit` is legal, if there are any.
std::string findPlaces(ComputeOp compute, LoopEdit edit);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_HINTS_H
