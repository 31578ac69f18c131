//===- ProgramSizes.h - Sizes that several kernels share --------*- C++ -*-===//
//
// A kernel's parameters are its own. What kernels have in common are the values
// that they are called with: affine expressions of those that the caller
// computes in other ways, the extents of its arguments above all. Sets and maps
// of several kernels are compared over these.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_DIALECT_POLY_PROGRAM_PROGRAMSIZES_H
#define ESPALIER_LIB_DIALECT_POLY_PROGRAM_PROGRAMSIZES_H

#include "KernelArguments.h"
#include "espalier/Polyhedral/Set.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace espalier::poly {

/// A box of elements of an array: from `offset` on, as many as `extent`, along
/// each dimension. The symbols are those of `ProgramSizes`.
struct Part {
  llvm::SmallVector<mlir::AffineExpr> offset, extent;
};

/// The sizes that the kernels of a function are called with.
class ProgramSizes {
public:
  explicit ProgramSizes(mlir::FunctionOpInterface function);

  /// The value as an affine expression over the function's numbers.
  mlir::AffineExpr get(mlir::Value size) const { return exprs.lookup(size); }
  /// `expr`, over the parameters of a kernel, as it is called here.
  mlir::AffineExpr get(KernelCall call, mlir::AffineExpr expr) const;
  /// The extents of an array that `memref.alloc` or, with the kernel that it is
  /// in, `poly.array` makes; nothing for others.
  std::optional<llvm::SmallVector<mlir::AffineExpr>>
  getExtents(mlir::Value array, KernelCall call = {}) const;

  /// Whether the access of a computation by `map` is known not to touch the
  /// region.
  bool areDisjoint(const Part &region, KernelCall call, ComputeOp compute,
                   mlir::AffineMap map) const;
  bool areDisjoint(const Part &lhs, const Part &rhs) const;
  /// Whether it is known to touch all of the region. The map depends on no
  /// data, and neither does whether the computation runs.
  bool covers(KernelCall call, ComputeOp compute, mlir::AffineMap map,
              const Part &region) const;

private:
  mlir::AffineExpr add(mlir::Value size);
  llvm::SmallVector<mlir::AffineExpr> getSymbols(KernelCall call,
                                                 unsigned numSymbols) const;
  /// The points of a computation.
  polyhedral::Set getPoints(KernelCall call, ComputeOp compute) const;
  /// The elements that an access of it is to, or more.
  polyhedral::Set getElements(KernelCall call, ComputeOp compute,
                              mlir::AffineMap map) const;
  polyhedral::Set getElements(const Part &region) const;

  mlir::MLIRContext *mlirContext;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> exprs;
  /// What kernels are called with is never negative.
  llvm::SetVector<mlir::AffineExpr> nonnegative;
  /// What is the greater one of an expression and 0, and that expression.
  llvm::SmallVector<std::pair<mlir::AffineExpr, mlir::AffineExpr>> parts;
  unsigned numSymbols = 0;
  polyhedral::Context context;
};

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_PROGRAM_PROGRAMSIZES_H
