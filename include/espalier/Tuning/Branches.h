//===- Branches.h - One kernel with schedules by size -----------*- C++ -*-===//
//
// A candidate is measured with several sizes that stand for what is not known.
// Where others are faster for few rows than for many, one kernel gets several
// schedules, and its code branches on the sizes (DietCode, section 4.3).
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TUNING_BRANCHES_H
#define ESPALIER_TUNING_BRANCHES_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Measurement/MeasureKernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace espalier::tuning {

/// A parameter of a kernel, by its number, and what it is at most.
using SizeLimit = std::pair<unsigned, int64_t>;

/// Sizes for which a candidate runs: those within all limits that are none of a
/// branch before. The last branch has no limits.
struct Branch {
  std::vector<SizeLimit> limits;
  size_t candidate = 0;
};

/// Sizes that were measured.
struct SizePoint {
  llvm::SmallVector<int64_t> parameters; ///< As many at each point.
  double weight = 1;
};

/// Chooses which candidate runs for which sizes, of which few are measured:
/// `seconds` has for each candidate the seconds at each of `points`. There are
/// as few branches as lose no more than noise.
std::vector<Branch> chooseBranches(llvm::ArrayRef<SizePoint> points,
                                   llvm::ArrayRef<std::vector<double>> seconds);

/// Where `kernel` is measured with each of `sizes`, of which `own` has those of
/// the kernel, as far as these are known. Empty if one of several parameters is
/// not: branches could not tell which one makes the difference.
std::vector<SizePoint> findPoints(poly::KernelOp kernel,
                                  llvm::ArrayRef<MeasuredSizes> sizes,
                                  llvm::ArrayRef<llvm::StringMap<int64_t>> own);

/// A script for `kernel`, called `kKernelName`, that does for the sizes of each
/// branch what the script of its candidate does. Null if one of these has
/// commands beside plans.
mlir::OwningOpRef<mlir::ModuleOp>
makeBranches(poly::KernelOp kernel, llvm::ArrayRef<Branch> branches,
             llvm::ArrayRef<mlir::OwningOpRef<mlir::ModuleOp>> scripts);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_BRANCHES_H
