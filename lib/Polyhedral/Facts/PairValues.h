//===- PairValues.h - Values that two points read ---------------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_PAIRVALUES_H
#define ESPALIER_LIB_POLYHEDRAL_PAIRVALUES_H

#include "Facts.h"

namespace espalier::polyhedral {

/// Values that two points read in arrays which nobody writes, as dimensions of
/// their pair: behind those of the source and those of the sink. Only where a
/// subscript adds such a value to dimensions, `x[starts[n] + j]`; in others, a
/// value may be anything.
class PairValues {
public:
  PairValues(const Program &program, const AccessPair &pair);

  /// The number of dimensions; none if no subscript asks for them.
  unsigned size() const { return values.size(); }
  /// `expr` at the source or the sink, over the pair's dimensions and the
  /// parameters; null if it is not affine, or has other values.
  mlir::AffineExpr get(mlir::AffineExpr expr, bool isSink) const;
  /// What is known of points that run, as `getPairCases` says it, but over the
  /// values too: equal subscripts find equal values, and larger ones no smaller
  /// values in an array that does not decrease.
  PairCases getCases() const;

private:
  struct Value {
    bool isSink;
    unsigned read;          ///< Of its statement.
    mlir::AffineExpr index; ///< Over the pair's dimensions.
  };

  /// Two values of one array whose subscripts differ by an expression plus a
  /// constant: that of the second minus that of the first.
  struct Order {
    unsigned first, second;
    int64_t constant;
  };

  const Statement &getStatement(bool isSink) const {
    return program.statements[isSink ? pair.sink : pair.source];
  }
  unsigned getArray(const Value &value) const {
    return getStatement(value.isSink).values[value.read].array;
  }
  mlir::AffineExpr getDim(unsigned number) const;
  /// Adds those of the reads on which `expr` depends.
  void collect(mlir::AffineExpr expr, bool isSink);
  /// Whether a subscript adds a value to dimensions.
  bool isAsked(const Access &access, bool isSink) const;
  /// Adds what equal or ordered subscripts say of two values: `order` is that
  /// of the second minus the first.
  void addOrder(unsigned first, unsigned second, int order,
                llvm::SmallVectorImpl<mlir::AffineExpr> &constraints) const;

  /// The cases of `rest`, which is what the differences in `orders` have in
  /// common.
  PairCases splitByOrder(mlir::AffineExpr rest,
                         llvm::ArrayRef<Order> orders) const;
  void addCase(mlir::AffineExpr rest, llvm::ArrayRef<Order> orders,
               std::optional<int64_t> low, std::optional<int64_t> high,
               PairCases &cases) const;
  /// Adds the bounds of values, and what `where` says.
  void
  addConditions(llvm::SmallVectorImpl<mlir::AffineExpr> &constraints) const;

  const Program &program;
  const AccessPair &pair;
  llvm::SmallVector<Value> values;
};

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_PAIRVALUES_H
