//===- SizeParameters.h - What sizes are affine in --------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_EMIT_SIZEPARAMETERS_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_EMIT_SIZEPARAMETERS_H

#include "../StatementList.h"
#include "llvm/ADT/DenseSet.h"

namespace espalier::graphtopoly {

/// The parameters of integer sets: numbers that are never negative, in which
/// the expressions of a program's sizes are affine. A product of symbols is one
/// of its own, and what may be negative is the difference of two.
class SizeParameters {
public:
  /// An expression; its part above 0, if it may be negative.
  struct Parameter {
    mlir::AffineExpr expr;
    bool mayBeNegative;
  };

  /// What is never negative in a program.
  using Extents = llvm::DenseSet<mlir::AffineExpr>;
  static Extents collectExtents(const StatementList &program);

  SizeParameters(const StatementList &program, const Extents &extents)
      : program(program), extents(extents) {}

  /// Adds the parameters of `expr`, whose dimensions are skipped.
  void add(mlir::AffineExpr expr);
  /// Adds the extent of an array as a parameter, whatever its form.
  void addExtent(mlir::AffineExpr extent);
  /// `expr` over the parameters. The symbols that follow the program's, which
  /// stand for data, become those from `firstData` on.
  mlir::AffineExpr rewrite(mlir::AffineExpr expr, unsigned firstData) const;

  llvm::ArrayRef<Parameter> getAll() const { return parameters; }
  /// The number of the parameter that an extent is.
  unsigned getNumber(mlir::AffineExpr extent) const {
    return numberOf.lookup(extent);
  }
  unsigned size() const { return parameters.size(); }

private:
  bool isData(mlir::AffineExpr expr) const;
  bool isNonnegative(mlir::AffineExpr expr) const;
  void addParameter(mlir::AffineExpr expr);
  /// What the parameter, and the one that is subtracted from it, stand for.
  mlir::AffineExpr getValue(unsigned number) const;

  const StatementList &program;
  const Extents &extents;
  llvm::SmallVector<Parameter> parameters;
  /// The first parameter of each expression that has some.
  llvm::DenseMap<mlir::AffineExpr, unsigned> numberOf;
};

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_EMIT_SIZEPARAMETERS_H
