//===- ScheduleTree.h - Editing schedule trees ------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_SCHEDULETREE_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_SCHEDULETREE_H

#include "espalier/Dialect/Poly/Transforms/Commands.h"
#include "mlir/IR/OwningOpRef.h"

namespace espalier::poly {

/// The largest number in a loop's expression, so that index arithmetic stays
/// within 64 bits for all sizes below 2^31.
inline constexpr int64_t kMaxNumber = int64_t(1) << 30;
inline bool isSmall(int64_t number) {
  return -kMaxNumber <= number && number <= kMaxNumber;
}

/// One loop of a band, apart from the band.
struct BandLoop {
  mlir::StringAttr name;
  LoopKindAttrInterface kind;
  /// One for each computation of the band, over its dimensions.
  llvm::SmallVector<mlir::AffineExpr> exprs;
};

/// The loops of a band that has names, outermost first.
llvm::SmallVector<BandLoop> getLoops(BandOp band);
/// Replaces the loops of a band; without any, the band too, by its child.
void setLoops(BandOp band, llvm::ArrayRef<BandLoop> loops);

/// Where a loop is.
struct LoopPosition {
  BandOp band;
  unsigned position;
};

/// The bands that `compute` reaches, from the root down; those of a filter
/// before those of the next.
llvm::SmallVector<BandOp> getBands(ComputeOp compute);

/// Whether `node` or what is below it has loops.
bool hasLoops(mlir::Operation *node);

/// Computations that a node names, or a filter lets pass.
llvm::SmallVector<llvm::StringRef> getSymbols(mlir::ArrayAttr computations);

/// Gives new names to loops below `node` that share theirs with another loop,
/// above or beside, of one of their computations: `i.suffix`, with a number if
/// that is taken too.
void renameClashes(mlir::Operation *node, llvm::StringRef suffix);

/// The loop of `compute` with this name, or a refusal that lists the names.
llvm::Expected<LoopPosition> findLoop(ComputeOp compute, llvm::StringRef name);

/// The schedule of the kernel, made from program order if there is none.
ScheduleOp getOrCreateSchedule(KernelOp kernel);

/// Gives names to the loops of bands that have none.
void nameLoops(KernelOp kernel);

/// From the least to the largest value of a loop, for all computations of its
/// band and wherever the loops around it are; nothing if no constant bounds it.
std::optional<int64_t> getExtent(const LoopPosition &loop);

/// `expr floordiv size`, in the form `x floordiv s` or `(x mod m) floordiv s`
/// where it has one.
mlir::AffineExpr getTile(mlir::AffineExpr expr, int64_t size);
/// `expr mod size`, in the form `(x mod m) floordiv s` where it has one.
mlir::AffineExpr getPlaceInTile(mlir::AffineExpr expr, int64_t size);

/// Whether `kernel` is well formed; if not, the refusal is the verifier's
/// message.
llvm::Error checkForm(KernelOp kernel);

/// A copy of a kernel, with a schedule whose loops all have names.
mlir::OwningOpRef<KernelOp> cloneWithSchedule(KernelOp kernel);

/// Applies `edit` to `compute`, checked as by `applyChecked`.
llvm::Error applyTo(ComputeTarget compute,
                    llvm::function_ref<llvm::Error(ComputeOp)> edit,
                    llvm::function_ref<llvm::Error(KernelOp)> check = {});

/// Whether `applyTo` would succeed; nothing is changed.
llvm::Error tryOn(ComputeOp compute,
                  llvm::function_ref<llvm::Error(ComputeOp)> edit);

/// A refusal that says what is expected, and what it is instead; success if
/// that is empty.
inline llvm::Error refuseFault(const std::string &fault) {
  return fault.empty() ? llvm::Error::success() : refuse("expects " + fault);
}

/// `@compute`, for messages.
std::string quote(ComputeOp compute);
/// `[@a, @b]`: the computations of a kernel, for messages.
std::string listComputes(KernelOp kernel);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_SCHEDULETREE_H
