//===- KernelReader.h - From poly.compute to statements ---------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_KERNELREADER_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_KERNELREADER_H

#include "ReadProgram.h"

namespace espalier::graphtopoly {

/// What one call of a kernel computes.
class KernelReader {
public:
  /// `arrays` and `parameters` are what the kernel is called with.
  KernelReader(StatementList &program, poly::KernelOp kernel,
               llvm::ArrayRef<std::optional<ArrayId>> arguments,
               llvm::ArrayRef<mlir::AffineExpr> parameters, unsigned group,
               NotRead &notRead);

  /// Adds the kernel's statements to the program, as a kernel.
  mlir::FailureOr<FusionGroup> read();

private:
  /// A computation as a statement of one piece.
  mlir::LogicalResult readCompute(poly::ComputeOp compute);
  mlir::LogicalResult readDomain(poly::ComputeOp compute, Statement &statement);
  mlir::LogicalResult readAttributes(poly::ComputeOp compute,
                                     Statement &statement);
  /// Reads the condition of a sum over the entries of a sparse constant.
  mlir::LogicalResult readEntries(poly::ComputeOp compute,
                                  Statement &statement);
  /// Reads what is stated of the values of an argument.
  mlir::LogicalResult readValues(unsigned number);
  /// Refuses a `poly.recurrence` that the accesses contradict.
  mlir::LogicalResult checkRecurrence();
  /// Checks the order of what a step has joined, in which it need not run.
  mlir::LogicalResult checkTogether();
  mlir::LogicalResult readReads(poly::ComputeOp compute);
  mlir::LogicalResult readBody(poly::ComputeOp compute, Statement &statement);
  void readNames(poly::ComputeOp compute, Statement &statement);
  mlir::LogicalResult addStatement(poly::ComputeOp compute,
                                   Statement statement);
  mlir::LogicalResult addReduction(poly::ComputeOp compute,
                                   Statement statement);
  /// Puts the dimensions of what is computed first, in its order.
  void arrange(Statement &statement) const;
  /// Lets the points of a map be those of its target, where it computes some.
  /// Fails if they are no box.
  mlir::LogicalResult placeInTarget(poly::ComputeOp compute,
                                    Statement &statement);
  bool isNeutral(const Statement &init, const Statement &reduction) const;

  /// An expression of the kernel over the program's symbols and the
  /// statement's dimensions; symbols after these stand for reads.
  mlir::AffineExpr import(mlir::AffineExpr expr) const;
  Expr getIndex(mlir::AffineExpr expr) const;
  mlir::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &reason);
  /// The same for an attribute that is wrong.
  mlir::LogicalResult reject(mlir::Operation *op, const llvm::Twine &reason);

  StatementList &program;
  poly::KernelOp kernel;
  llvm::ArrayRef<mlir::AffineExpr> parameters;
  unsigned group;
  NotRead &notRead;
  bool isOwn; ///< Whether a step has written the kernel.
  llvm::DenseMap<mlir::Value, ArrayId> arrayOf;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> parameterOf;
  FusionGroup fusionGroup;
  // Of the computation that is read.
  unsigned numOuter = 0;
  llvm::SmallVector<Expr> reads;
};

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_KERNELREADER_H
