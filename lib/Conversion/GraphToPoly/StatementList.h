//===- StatementList.h - A function as loop statements ----------*- C++ -*-===//
//
// What the steps that form kernels work on: the kernels of a program, as one
// flat list of statements `target[i...] = value` over arrays. It is made of
// operators' definitions (Build/) or of `poly` (Read/), and written as `poly`
// (Emit/); nothing stands in it between two passes.
// In the expressions of a statement, variable #i is its dimension i (those of
// the target first, then the reduced ones), operand #a is array a, and
// parameter #s is symbol s of the program.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_STATEMENTLIST_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_STATEMENTLIST_H

#include "Build/Checks.h"
#include "espalier/Definition/Definition.h"
#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "espalier/Dialect/Poly/IR/EntryFormat.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <vector>

namespace espalier::graphtopoly {

using definition::Expr;
using poly::Fusion;
using ArrayId = unsigned;

/// A tensor of the program. Extents are affine expressions over the program's
/// symbols.
struct Array {
  enum class Kind { Input, Constant, Intermediate };

  Kind kind = Kind::Intermediate;
  mlir::Location loc;
  mlir::Type elementType = {}; ///< Of the tensor; memory may differ.
  llvm::SmallVector<mlir::AffineExpr> extents = {};
  unsigned argument = 0;                    ///< Input: number of the argument.
  mlir::ElementsAttr constant = {};         ///< Constant: the row-major values.
  llvm::SmallVector<unsigned> outputs = {}; ///< Results that this array is.
  /// The same row-major elements as this array, under other extents.
  std::optional<ArrayId> reshapeOf = std::nullopt;
  /// Whether the elements must lie in row-major order.
  bool rowMajor = false;
  /// The order in memory that the program asks for, outermost first; or empty.
  llvm::SmallVector<unsigned> order = {};
  /// Where an element lies: from the array's indices to those of the memory,
  /// whose extents are `storedExtents`. Null stands for the identity.
  mlir::AffineMap layout = {};
  llvm::SmallVector<mlir::AffineExpr> storedExtents = {};
  /// Whether somebody has chosen the layout before layouts were assigned.
  bool isLayoutGiven = false;
  /// Whether somebody wants it to be read in the kernel that computes it.
  std::optional<Fusion> fusion = std::nullopt;
  /// Of a constant that says where to read: its elements are from 0 to less
  /// than this, and whether they do not decrease. Whoever calls checks it.
  std::optional<int64_t> bound = std::nullopt;
  bool isMonotonic = false;
  /// Of a sparse constant: the format of its entries, if somebody has chosen
  /// one, and whether it may have all elements where they cannot be stored.
  std::optional<poly::EntryFormat> format = std::nullopt;
  bool mayStayDense = false;
};

/// An affine condition `expr >= 0` or `expr == 0` on a statement's dimensions.
struct Condition {
  mlir::AffineExpr expr;
  bool isEquality;
};
using Conjunction = llvm::SmallVector<Condition>;

/// A part of a statement's domain and the value there.
struct Piece {
  Conjunction domain;
  Expr value;
};

/// Which entries of a sparse constant a sum runs over: those of one row, from
/// `starts[row]` to less than `starts[row + 1]`. The row is affine in the
/// dimensions of the target.
struct Entries {
  ArrayId starts;
  mlir::AffineExpr row;
};

/// One equation `target[d0, ...] = value`, piecewise; or, with `reduction`, the
/// combination of `value` over the dimensions after the target's.
struct Statement {
  ArrayId target;
  mlir::Location loc;
  llvm::SmallVector<mlir::AffineExpr> extents; ///< One per dimension.
  llvm::SmallVector<Piece> pieces;
  std::optional<definition::ReduceKind> reduction;
  /// The dimension along which the target reads its own earlier elements, and
  /// a number shared by the statements of one recurrence.
  std::optional<unsigned> recurrence;
  unsigned recurrenceGroup = 0;
  /// Of a recurrence: the array that cuts its dimension into levels whose
  /// points are independent.
  std::optional<ArrayId> levels = std::nullopt;
  /// Of a sum over the entries of a sparse constant, which the last dimension
  /// counts.
  std::optional<Entries> entries = std::nullopt;
  /// How these are stored, where somebody has chosen it.
  std::optional<poly::EntryFormat> format = std::nullopt;
  /// Whether a reduction goes on with what its target has already, of which it
  /// may update a part.
  bool addsToTarget = false;
  /// The element of the target that a point computes, over the dimensions;
  /// empty: that with the point's own first indices.
  llvm::SmallVector<mlir::AffineExpr> targetIndices = {};
  /// What the dimensions are called in the definition; empty if in none.
  llvm::SmallVector<std::string> names = {};
  /// Whether lanes lie along the rows of a contraction's operand and result,
  /// as the caller has them, and not along its panels.
  bool keepsRowMajor = false;
  /// How somebody wants it to be computed.
  std::optional<poly::Algorithm> algorithm = std::nullopt;

  unsigned getNumDims() const { return extents.size(); }
};

/// Where a symbol's value comes from: an extent of an argument, an index value
/// computed in the function, or an expression over other symbols that is not
/// affine.
struct Symbol {
  unsigned argument = 0, dim = 0;
  mlir::Value value = {};
  Expr expr = {};
};

/// A function on tensors as statements over arrays.
struct StatementList {
  mlir::MLIRContext *context;
  mlir::func::FuncOp function;
  std::vector<Array> arrays;
  std::vector<Statement> statements;
  llvm::SmallVector<Symbol> symbols;
  std::vector<Check> checks;
  /// Whether the function is on memory already, and has symbols of its own.
  bool isInMemory = false;
  int64_t vectorLanes = 16; ///< f32 lanes of a vector register.
  int64_t vectorRegisters = 32, cores = 1;
  int64_t cacheBytes = 1 << 20; ///< What a core's own cache holds.

  ArrayId addArray(Array array) {
    arrays.push_back(std::move(array));
    return arrays.size() - 1;
  }
  mlir::AffineExpr addSymbol(Symbol symbol) {
    symbols.push_back(std::move(symbol));
    return mlir::getAffineSymbolExpr(symbols.size() - 1, context);
  }
  /// The array whose memory `array` names.
  ArrayId getBase(ArrayId array) const {
    while (arrays[array].reshapeOf)
      array = *arrays[array].reshapeOf;
    return array;
  }
  /// Whether somebody has chosen `fusion` for who reads `array`.
  bool isChosen(ArrayId array, Fusion fusion) const {
    return arrays[getBase(array)].fusion == fusion;
  }
  unsigned getRank(ArrayId array) const { return arrays[array].extents.size(); }
  /// The bytes of `array`, or of its part at one point of the first `shared`
  /// dimensions; nothing if that is not known.
  std::optional<int64_t> getBytes(ArrayId array, unsigned shared = 0) const;
  /// How many dimensions there are but for those that are reduced.
  unsigned countPoints(const Statement &statement) const {
    return statement.reduction ? getRank(statement.target)
                               : statement.getNumDims();
  }
  /// Reads an index expression as affine in the dimensions and symbols. Fails
  /// for one that depends on data.
  std::optional<mlir::AffineExpr> affine(Expr index) const;
  /// The same with `dataSymbol` standing for each element read.
  std::optional<mlir::AffineExpr>
  affine(Expr index,
         llvm::function_ref<mlir::AffineExpr(Expr)> dataSymbol) const;
  /// Reads an extent, which depends on symbols alone. One that is not affine in
  /// them becomes a symbol itself.
  mlir::AffineExpr addExtent(Expr extent);
  mlir::AffineExpr simplify(mlir::AffineExpr expr) const;
  /// Writes an affine expression as an index expression.
  Expr expression(mlir::AffineExpr expr) const;
};

/// The least and greatest value of `expr` over the box of `extents`; fails if
/// it is not linear with constant coefficients, or a quotient of that.
std::optional<std::pair<mlir::AffineExpr, mlir::AffineExpr>>
getRange(const StatementList &program, mlir::AffineExpr expr,
         llvm::ArrayRef<mlir::AffineExpr> extents);

/// Reads a condition as a union of disjoint conjunctions of affine ones; with
/// `negate`, its complement. Null is true. Fails for what is not affine.
std::optional<llvm::SmallVector<Conjunction>>
getConjunctions(const StatementList &program, Expr condition,
                bool negate = false);

/// Reads `condition` as an affine one and one on data; either may be null.
std::pair<Expr, Expr> separateAffine(const StatementList &program,
                                     Expr condition);

/// The literal that changes nothing when combined under `kind`.
Expr getNeutral(definition::ReduceKind kind, mlir::Type type);

/// Instantiates the definitions of the operators of `function`. If it makes a
/// choice, takes the version that is the block `version`. Reports what has no
/// definition or no affine sizes.
mlir::FailureOr<StatementList> buildStatements(mlir::func::FuncOp function,
                                               mlir::Block *variant = nullptr);

/// Removes maps by writing their formula into the statements that read them,
/// where that saves a pass over memory without repeating work.
void inlineMaps(StatementList &program);

/// The arrays that `statement` reads, with repetitions.
llvm::SmallVector<ArrayId> getReads(const Statement &statement);

/// The statements that read each array, once each and in order.
std::vector<llvm::SmallVector<unsigned, 2>>
findReaders(const StatementList &program);

/// Calls `visit` for every element that `statement` reads.
void forEachAccess(const Statement &statement,
                   llvm::function_ref<void(Expr access)> visit);

/// Whether `access` reads its array at the statement's own leading dimensions:
/// the number of leading indices that are d0, d1, ...
unsigned countIdentityIndices(const StatementList &program, Expr access);

/// Whether a map stores what it reads in an order that it is asked for.
bool changesLayout(const StatementList &program, const Statement &statement);

/// Lets arrays of f16 and bf16 that are read many times hold f32.
void widenOperands(StatementList &program);

/// Finds the contractions between an operand and a pooled result that both are
/// the caller's, whose rows need not be transposed then.
void keepRowMajor(StatementList &program);

/// Stores the rows that contractions read so that those of a tile fall into
/// different sets of the cache.
void padRows(StatementList &program);

/// Lets maps that store the function's results run in the order of the
/// contraction that they read.
void alignOutputs(StatementList &program);

/// A set of statements that become one kernel, in program order. They share the
/// loops over their first `sharedDims` dimensions.
struct FusionGroup {
  llvm::SmallVector<unsigned> statements;
  unsigned sharedDims = 0;
  bool runsTogether = false; ///< The program runs these loops around them all.
};

/// Makes a kernel of each statement, and of each recurrence.
llvm::SmallVector<FusionGroup> separateKernels(const StatementList &program);

/// Cuts the program into kernels.
llvm::SmallVector<FusionGroup> formFusionGroups(const StatementList &program);

/// The arrays that other kernels than their own, or the caller, see.
llvm::DenseSet<ArrayId> findEscaping(const StatementList &program,
                                     llvm::ArrayRef<FusionGroup> fusionGroups);

/// Gives every reduction of a kernel an array of its own to accumulate in, and
/// stores the result where others see it at the end.
void separateAccumulators(StatementList &program,
                          llvm::MutableArrayRef<FusionGroup> fusionGroups);

/// Makes the statement that stores `source` into `target`.
Statement makeStore(const StatementList &program, ArrayId source,
                    ArrayId target, mlir::Location loc);

/// Gives each phase of a transposed convolution's results a sum of its own.
void decomposePhases(StatementList &program,
                     llvm::SmallVectorImpl<FusionGroup> &fusionGroups);

/// Replaces 3x3 convolutions by the algorithm of Winograd where that saves
/// time, and returns how many.
unsigned applyWinograd(StatementList &program,
                       llvm::SmallVectorImpl<FusionGroup> &fusionGroups);

/// Makes `statement` read `to` wherever it reads `from`.
void redirect(Statement &statement, ArrayId from, ArrayId to);

/// Chooses the layout of every array: the vectorized dimension innermost,
/// constant operands of contractions packed into panels, other operands copied
/// into panels by a statement of their own where that pays.
void assignLayouts(StatementList &program);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_STATEMENTLIST_H
