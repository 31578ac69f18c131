//===- IndexArithmetic.h - Affine expressions as values ---------*- C++ -*-===//
//
// What an expression over loop iterators, parameters, extents and values read
// is at the place where code goes: its range, its difference between the lanes
// of a vector, its value.
//
// Values read may be any of their type, so what is calculated from them may
// need more than 64 bits; what is calculated from sizes does not
// (poly::kMaxGivenSize). The index of an element is right in 64 bits, whatever
// the steps to it are: it lies inside of an array. A comparison is not.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_CONVERSION_POLYTOLOOPS_INDEXARITHMETIC_H
#define ESPALIER_LIB_CONVERSION_POLYTOLOOPS_INDEXARITHMETIC_H

#include "KernelValues.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace espalier::polytoloops {

class IndexArithmetic {
protected:
  /// All that an answer depends on: expressions, numbers, and the state.
  using Question = std::vector<uint64_t>;

  IndexArithmetic(mlir::OpBuilder &builder, mlir::Location loc,
                  unsigned numParams)
      : builder(builder), loc(loc), numParams(numParams) {}

  /// The value modulo 2^64.
  mlir::Value emitIndex(mlir::AffineExpr expr, mlir::ValueRange data = {});
  /// The value itself: an index, or a wider integer where it may need one.
  mlir::Value emitExact(mlir::AffineExpr expr, mlir::ValueRange data);
  mlir::Value toIndex(mlir::Value value, mlir::Type type);
  mlir::Value emitTerm(mlir::AffineExpr expr, mlir::ValueRange data);
  mlir::Value emitNumber(int64_t number, mlir::Type type);
  mlir::Value emitWide(mlir::AffineExpr expr, mlir::ValueRange data,
                       mlir::IntegerType type);
  /// A number b for which `expr` does not exceed 2^b in size.
  unsigned getNumBits(mlir::AffineExpr expr, mlir::ValueRange data) const;
  /// The same for `expr` and all of its parts.
  unsigned getMostBits(mlir::AffineExpr expr, mlir::ValueRange data) const;
  /// Whether `expr` and its parts are what they are in 64 bits.
  bool fitsIndex(mlir::AffineExpr expr, mlir::ValueRange data) const;
  mlir::AffineExpr simplify(mlir::AffineExpr expr);
  /// Adds the values and ranges of iterators, on which `simplify` depends.
  void addState(Question &question) const;
  static void addExprs(Question &question,
                       llvm::ArrayRef<mlir::AffineExpr> exprs);
  /// As MLIR does; the same address is asked for by each copy of a loop.
  mlir::AffineExpr canonicalize(mlir::AffineExpr expr);
  std::optional<std::pair<int64_t, int64_t>> getRange(mlir::AffineExpr expr);
  /// The largest value of `expr` where `known` holds, by integer programming:
  /// `n floordiv 16 - 2 * (n floordiv 32)` is at most 1.
  std::optional<int64_t> getLargest(mlir::AffineExpr expr);
  /// Whether what is left of a loop, which may be less than nothing, is known
  /// to have 32 bits, as masks do.
  bool fitsMask(const polyhedral::AstNode &loop);
  mlir::AffineExpr constant(int64_t value) {
    return mlir::getAffineConstantExpr(value, builder.getContext());
  }
  mlir::AffineExpr iterator(unsigned number) {
    return mlir::getAffineDimExpr(number, builder.getContext());
  }

  /// The difference of an expression between neighbouring lanes, over symbols
  /// and outer iterators; null if it is not the same for all.
  mlir::AffineExpr getLaneStep(mlir::AffineExpr expr, const Lanes &lanes);
  mlir::AffineExpr findLaneStep(mlir::AffineExpr expr, const Lanes &lanes);
  /// The same where it is a number.
  std::optional<int64_t> getLaneStride(mlir::AffineExpr expr,
                                       const Lanes &lanes);
  /// The differences of each lane from the first, where all are numbers.
  std::optional<llvm::SmallVector<int64_t>>
  getLaneOffsets(mlir::AffineExpr expr, const Lanes &lanes);
  /// Whether each lane's address is that of lane 0 plus a vector that can be
  /// computed: of multiples of a step, and of values read.
  bool hasLaneAddresses(mlir::AffineExpr address, const Lanes &lanes);
  /// Whether a value read is part of `expr`.
  bool readsData(mlir::AffineExpr expr) const;
  /// The number of the read, and its factor, of a term that is a product of one
  /// value read and others; nothing for other terms.
  std::optional<std::pair<unsigned, mlir::AffineExpr>>
  splitData(mlir::AffineExpr term);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  /// Symbols: parameters, then extents of dynamic memrefs, then values read.
  llvm::SmallVector<mlir::Value> symbols;
  unsigned numParams;
  unsigned numIterators = 0; ///< Of the AST.
  unsigned numReads = 0;     ///< At most, of a computation.
  /// Of values read that are bounded, what `getNumBits` is of their bound.
  llvm::DenseMap<mlir::Value, unsigned> dataBits;
  llvm::DenseMap<unsigned, mlir::Value> iterators;
  llvm::DenseMap<unsigned, int64_t> unrolled;
  llvm::DenseMap<unsigned, std::pair<int64_t, int64_t>> ranges;
  /// By expression, what `canonicalize` makes of it.
  llvm::DenseMap<mlir::AffineExpr, mlir::AffineExpr> canonical;
  /// What each copy of a loop asks for several times.
  std::map<Question, mlir::AffineExpr> laneSteps, addresses;
  /// What is not negative here, of iterators and parameters.
  llvm::SmallVector<mlir::AffineExpr> known;
};

} // namespace espalier::polytoloops

#endif // ESPALIER_LIB_CONVERSION_POLYTOLOOPS_INDEXARITHMETIC_H
