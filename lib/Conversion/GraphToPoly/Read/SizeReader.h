//===- SizeReader.h - Sizes of a function on memory -------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_SIZEREADER_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_SIZEREADER_H

#include "../StatementList.h"
#include <map>

namespace espalier::graphtopoly {

/// Reads values of type `index` as expressions over the symbols of a program,
/// which are the extents of its inputs and whatever else is computed.
class SizeReader {
public:
  /// Adds a symbol for each extent of an input that the type leaves open. Those
  /// of one name are one.
  SizeReader(StatementList &program, unsigned numInputs);

  /// Reads what `block` computes, in its order.
  void read(mlir::Block &block);
  mlir::AffineExpr get(mlir::Value value);
  mlir::AffineExpr get(mlir::OpFoldResult size);
  /// The extents of an input.
  llvm::ArrayRef<mlir::AffineExpr> getExtents(unsigned input) const {
    return inputs[input];
  }
  /// Lets the arguments of the plan be the extents of the inputs.
  void bindPlan(mlir::func::FuncOp plan);

private:
  mlir::AffineExpr compute(mlir::Value value);
  mlir::AffineExpr getOther(mlir::Value value);
  mlir::AffineExpr getPositivePart(mlir::AffineExpr expr);
  mlir::AffineExpr getExtreme(definition::ScalarFn fn, mlir::AffineExpr lhs,
                              mlir::AffineExpr rhs);

  StatementList &program;
  llvm::SmallVector<llvm::SmallVector<mlir::AffineExpr>> inputs;
  llvm::DenseMap<mlir::Value, mlir::AffineExpr> known;
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> positiveParts;
  std::map<std::tuple<definition::ScalarFn, const void *, const void *>,
           mlir::AffineExpr>
      extremes;
  /// Whatever else is computed, by operation, attributes and operands.
  std::map<std::vector<const void *>, mlir::AffineExpr> others;
};

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_SIZEREADER_H
