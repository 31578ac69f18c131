//===- Branches.h - One kernel with schedules by size -----------*- C++ -*-===//
//
// A candidate is measured with each length that stands for what is not known.
// Where others are faster for few rows than for many, one kernel gets several
// schedules, and its code branches on the length (DietCode, section 4.3).
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TUNING_BRANCHES_H
#define ESPALIER_TUNING_BRANCHES_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Measurement/MeasureKernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace espalier::tuning {

/// Lengths up to `most` for which a candidate runs; all others are longer. The
/// last one has no such number.
struct Branch {
  std::optional<int64_t> most;
  size_t candidate = 0;
};

/// Chooses which candidate runs for which lengths, of which few are measured:
/// `seconds` has for each candidate the seconds with each of `extents`. There
/// are as few branches as lose no more than noise.
std::vector<Branch> chooseBranches(llvm::ArrayRef<MeasuredExtent> extents,
                                   llvm::ArrayRef<std::vector<double>> seconds);

/// Whether the only size of `kernel` that is not known is one that a branch can
/// ask for.
bool canBranch(poly::KernelOp kernel);

/// A script for `kernel`, called `kKernelName`, that does for the lengths of
/// each branch what the script of its candidate does. Null if one of these has
/// commands beside plans.
mlir::OwningOpRef<mlir::ModuleOp>
makeBranches(poly::KernelOp kernel, llvm::ArrayRef<Branch> branches,
             llvm::ArrayRef<mlir::OwningOpRef<mlir::ModuleOp>> scripts);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_BRANCHES_H
