//===- Program.h - What the polyhedral engine works on ----------*- C++ -*-===//
//
// A `Program` is the polyhedral view of a kernel: statements with integer
// domains and memory accesses, in program order. It speaks MLIR's affine maps
// and integer sets, and knows no dialect.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_POLYHEDRAL_PROGRAM_H
#define ESPALIER_POLYHEDRAL_PROGRAM_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <vector>

namespace espalier::polyhedral {

/// What is known of the values in an array of integers that nobody writes.
struct ValueConstraints {
  /// They are from 0 to less than this: of the parameters alone, or null.
  mlir::AffineExpr bound;
  /// None is less than one with a smaller index.
  bool isMonotonic = false;
  /// None occurs twice.
  bool isInjective = false;
};

/// The elements of one array that a statement touches at each of its points.
struct Access {
  /// Number of the array. Different numbers denote disjoint memory.
  unsigned array;
  /// From the statement's dimensions to the array's. Symbols from `numParams`
  /// on, and subexpressions that are not affine, may take any value.
  mlir::AffineMap map;

  /// Whether both touch one element at each point of a statement that makes
  /// them: reads have the values of those before them as symbols, writes those
  /// of all.
  bool isSameElement(const Access &other) const {
    return array == other.array && map.getResults() == other.map.getResults();
  }
};

/// A statement on data: at each point of the domain at which `where` is
/// satisfied, `holds` is satisfied too. Symbols of both are the parameters,
/// then the values that are read, in arrays that nobody writes.
struct Given {
  unsigned numDims = 0;
  /// The domain is the union of these sets. Their symbols are the parameters.
  llvm::SmallVector<mlir::IntegerSet> domain;
  mlir::IntegerSet where; ///< Or null.
  llvm::SmallVector<Access> values;
  mlir::IntegerSet holds;
};

/// A statement: executed once at every integer point of its domain.
struct Statement {
  std::string name;
  unsigned numDims = 0;
  /// The domain is the union of these sets. Their symbols are the parameters.
  llvm::SmallVector<mlir::IntegerSet> domain;
  /// Of these, only the points run that satisfy this too, or all if it is null.
  /// Its symbols are the parameters and `values`.
  mlir::IntegerSet where;
  llvm::SmallVector<Access> reads;
  llvm::SmallVector<Access> writes;
  /// What symbols from the parameters on stand for: all reads, also those that
  /// an analysis leaves out of `reads`.
  llvm::SmallVector<Access> values;
  /// So many of its first dimensions run together with those of the statement
  /// before it.
  unsigned numInterleaved = 0;
  /// The statement accumulates into the elements that it reads and writes
  /// through one and the same access, in any order.
  bool isReduction = false;
  /// Lanes of a vector may do so at once: what they have is combined.
  bool joinsLanes = true;
  /// Parallel iterations may do so, too: one at a time in an element.
  bool isAtomic = false;
  /// What messages call the dimensions; `d0` and so on without names.
  llvm::SmallVector<std::string> dimNames;

  std::string getDimName(unsigned dim) const {
    return dim < dimNames.size() ? dimNames[dim] : "d" + std::to_string(dim);
  }
};

/// An array whose elements share places: element x lies at `map(x)`, in memory
/// of which each iteration of a parallel loop has its own, if all that happens
/// to an element happens in one.
struct Storage {
  unsigned array;
  /// From the array's indices to those of the memory, without symbols.
  mlir::AffineMap map;
  /// What messages call the array.
  std::string name;
  /// What messages call the memory, where it is not shared by all.
  std::string space;
  /// Whether the iterations of a parallel loop with this tag share the memory;
  /// null: all do.
  std::function<bool(mlir::Attribute)> isSharedBy;
};

/// Statements in program order: statement by statement, each over its domain in
/// lexicographic order; but where statements are interleaved, first point by
/// point of the dimensions that they share.
struct Program {
  mlir::MLIRContext *context = nullptr;
  /// Parameters are nonnegative.
  unsigned numParams = 0;
  /// Of all parameters, for messages; or empty.
  llvm::SmallVector<std::string, 0> paramNames;
  /// What else is known of the parameters: a set without dimensions, or null.
  mlir::IntegerSet assumptions;
  std::vector<Statement> statements;
  /// Of the arrays that are not stored as they are indexed. A schedule must
  /// fit them; the program order need not.
  llvm::SmallVector<Storage> storages;
  /// By the number of an array.
  llvm::SmallDenseMap<unsigned, ValueConstraints> facts;
  /// What is stated of values in several arrays, or beside their indices.
  std::vector<Given> givens;
};

/// `with m = 2, n = 3`, or `with parameters (2, 3)` if these have no names;
/// empty without parameters.
std::string describeSizes(const Program &program,
                          llvm::ArrayRef<int64_t> parameters);

/// Calls `visit` for each constraint `expr` >= 0 of `set`, which may be null;
/// an equality gives two.
void forEachConstraint(mlir::IntegerSet set,
                       llvm::function_ref<void(mlir::AffineExpr)> visit);

/// The same for the statement's `where`.
inline void forEachCondition(const Statement &statement,
                             llvm::function_ref<void(mlir::AffineExpr)> visit) {
  forEachConstraint(statement.where, visit);
}

/// The factor of a dimension or symbol in `expr`, a sum of terms; nothing if it
/// is no number.
std::optional<int64_t> getFactor(mlir::AffineExpr expr, mlir::AffineExpr of);

/// Whether `expr` has a symbol from `numParams` on.
bool hasValues(mlir::AffineExpr expr, unsigned numParams);

/// The least or largest value of `expr`, by the bounds of the values that
/// `statement` reads: of its dimensions and the parameters; null if not known.
mlir::AffineExpr getExtreme(const Program &program, const Statement &statement,
                            mlir::AffineExpr expr, bool isLargest);

/// The number of first dimensions that two statements, `first` before `second`,
/// run together.
unsigned getNumInterleaved(const Program &program, unsigned first,
                           unsigned second);

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_PROGRAM_H
