//===- AccessIndices.h - Indices of accesses beside extents -----*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_ANALYSIS_ACCESSINDICES_H
#define ESPALIER_LIB_DIALECT_POLY_ANALYSIS_ACCESSINDICES_H

#include "espalier/Dialect/Poly/Analysis/Accesses.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Polyhedral/ReadValues.h"

namespace espalier::poly {

/// Whether `poly.shape` states the extents of an argument.
bool statesShapes(KernelOp kernel);

/// An index of an access, and what is known where it is used.
struct AccessIndex {
  ComputeOp compute;
  ComputeAccess access;
  llvm::StringRef verb;
  unsigned dim;
  /// The number of the read; that of all reads for a write.
  unsigned read;
  /// It decides itself which points run, and is read at all points.
  bool decidesPoints;
};

/// The indices of a kernel's accesses, over its points: the values that a
/// computation reads are dimensions, after those of its points. Symbols are the
/// parameters, then extents that nothing states.
class AccessIndices {
public:
  AccessIndices(KernelOp kernel, llvm::ArrayRef<UnstatedExtent> unstated);

  /// Calls `visit` for all indices, until it fails.
  mlir::LogicalResult
  forEach(llvm::function_ref<mlir::LogicalResult(const AccessIndex &)> visit);

  mlir::AffineExpr getValue(const AccessIndex &index) const {
    return replaceValues(index.compute, index.access.map.getResult(index.dim));
  }
  /// The extent that the index must be below; null if it has no symbol.
  mlir::AffineExpr getExtent(const AccessIndex &index);

  /// The points where `outside` is not negative.
  polyhedral::Set findPoints(const AccessIndex &index,
                             mlir::AffineExpr outside);
  /// The points of a computation's domain.
  const polyhedral::Set &getDomain(ComputeOp compute);
  polyhedral::ValueConstraints getFacts(ComputeOp compute,
                                        unsigned read) const {
    return model.program.facts.lookup(getStatement(compute).values[read].array);
  }
  /// Whether all values that `value` depends on have bounds.
  bool isBounded(ComputeOp compute, mlir::AffineExpr value) const;
  bool isAffine(mlir::AffineExpr expr) const {
    return findAffineFault(expr).empty();
  }

  /// Reports that `value` is outside of `extent` at a point of `points`, or
  /// that this is not known.
  mlir::LogicalResult report(const AccessIndex &index, mlir::AffineExpr value,
                             mlir::AffineExpr extent,
                             const polyhedral::Set &points) const;
  /// Reports that nobody can tell where the index is.
  mlir::LogicalResult reportUnknown(const AccessIndex &index,
                                    const llvm::Twine &why) const;

  unsigned getNumSymbols() const { return numParams + unstated.size(); }
  const polyhedral::Context &getContext() const { return context; }

private:
  /// `expr` with dimensions for the values.
  mlir::AffineExpr replaceValues(ComputeOp compute,
                                 mlir::AffineExpr expr) const;
  /// What is known of the values that are read before `index` is used: facts on
  /// a value say nothing of the place that it is read from.
  polyhedral::ValueCases getFacts(const AccessIndex &index) const;
  mlir::LogicalResult reportAt(const AccessIndex &index, mlir::AffineExpr value,
                               mlir::AffineExpr extent,
                               llvm::ArrayRef<int64_t> point) const;
  const polyhedral::Statement &getStatement(ComputeOp compute) const {
    return model.program.statements[llvm::find(model.computes, compute) -
                                    model.computes.begin()];
  }

  KernelOp kernel;
  KernelModel model;
  unsigned numParams;
  llvm::ArrayRef<UnstatedExtent> unstated;
  polyhedral::Context context;
  /// By computation, those that were asked for.
  llvm::DenseMap<mlir::Operation *, polyhedral::Set> domains;
};

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_ANALYSIS_ACCESSINDICES_H
