//===- KernelLoops.h - Loops and vectors of one kernel ----------*- C++ -*-===//
//
// Walks the loops that scan a kernel's schedule and emits them. Three ideas:
//
//  * An address is an affine expression over loop iterators, parameters, sizes
//    of dynamic memrefs and values read. Unrolled iterators are constants in
//    it, so that what is left splits into a part that changes and a constant.
//  * A vector loop is emitted once, as its lanes: an access is a scalar that is
//    broadcast, a contiguous vector, or a gather, by the address's difference
//    between neighbouring lanes.
//  * Arrays in registers are SSA values, one per element (or vector). Loops
//    carry them as `iter_args`. Their addresses may depend on outer loops, as
//    long as those of one iteration differ by constants.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_CONVERSION_POLYTOLOOPS_KERNELLOOPS_H
#define ESPALIER_LIB_CONVERSION_POLYTOLOOPS_KERNELLOOPS_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Polyhedral/Ast.h"
#include "espalier/Polyhedral/Storage.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace espalier::polytoloops {

/// The vector loop whose lanes are being emitted.
struct Lanes {
  unsigned iterator;
  int64_t width;
  mlir::AffineExpr first; ///< The iterator in lane 0.
  mlir::Value mask;       ///< Null when all lanes are active.
  /// The iterators that decide which lanes are active.
  llvm::SmallVector<unsigned> maskIterators;
};

/// Where the elements of an array are.
struct Memory {
  mlir::Value flat; ///< One-dimensional; null for registers.
  mlir::Type elementType;
  mlir::AffineMap storage; ///< From array indices to storage indices; or null.
  llvm::SmallVector<mlir::AffineExpr> strides;
  bool inRegisters = false;
};

/// An array element, or vector of elements, that is an SSA value.
struct Slot {
  mlir::Value value;
  /// Sums of the lanes that have not been combined with `value` yet.
  mlir::Value partial;
  /// That of the innermost loop around the first write: loops inside it have
  /// larger ones.
  unsigned lastIterator = 0;

  bool hasTypesOf(const Slot &other) const {
    auto getType = [](mlir::Value value) {
      return value ? value.getType() : mlir::Type();
    };
    return getType(value) == getType(other.value) &&
           getType(partial) == getType(other.partial);
  }
};
/// An array and the address of its element: equal expressions are the same
/// element, and a constant difference tells elements apart.
using SlotKey = std::pair<mlir::Value, mlir::AffineExpr>;

/// The parallel loops whose iterations have memory of their own for an array.
using PrivateLoops = llvm::DenseMap<mlir::Value, polyhedral::LoopSet>;

class KernelLoops {
public:
  KernelLoops(poly::KernelOp kernel, const PrivateLoops &privateLoops,
              mlir::OpBuilder &builder);

  /// Emits a function in place of the kernel.
  mlir::LogicalResult emit(const polyhedral::AstNode &ast);

private:
  using Registers = llvm::MapVector<SlotKey, Slot>;

  // Structure (KernelLoops.cpp).
  mlir::LogicalResult emitNode(const polyhedral::AstNode &node);
  mlir::LogicalResult emitChildren(const polyhedral::AstNode &node);
  mlir::LogicalResult emitFor(const polyhedral::AstNode &node);
  /// Whether a computation below `node` uses an array in registers.
  bool usesRegisters(const polyhedral::AstNode &node) const;
  /// Adds what follows from `condition`, or from its opposite, to `known`.
  void addKnown(const polyhedral::AstCondition &condition, bool holds);
  mlir::LogicalResult emitUnrolled(const polyhedral::AstNode &node,
                                   int64_t lower, int64_t upper);
  /// Copies for the iterations from `lower` to `most`, of which only those
  /// below the loop's upper bound run.
  mlir::LogicalResult emitUnrolledGuarded(const polyhedral::AstNode &node,
                                          int64_t lower, int64_t most);
  mlir::LogicalResult emitSequential(const polyhedral::AstNode &node);
  mlir::LogicalResult emitParallel(const polyhedral::AstNode &node);
  mlir::LogicalResult emitIf(const polyhedral::AstNode &node);
  mlir::LogicalResult emitMark(const polyhedral::AstNode &node);
  mlir::LogicalResult emitPrefetch(const polyhedral::AstNode &node);
  mlir::LogicalResult
  emitGuarded(mlir::Value condition,
              llvm::function_ref<mlir::LogicalResult()> emitThen,
              llvm::function_ref<mlir::LogicalResult()> emitElse);
  /// Slots after two branches that started from `before`: what one branch
  /// writes first is undefined in the other; what one forgets, or changes the
  /// type of, is forgotten.
  static Registers mergeSlots(const Registers &before, const Registers &first,
                              const Registers &second);
  mlir::LogicalResult emitInScope(const polyhedral::AstNode &node,
                                  mlir::Block *block);
  llvm::SmallVector<mlir::Value> getSlotValues() const;
  void setSlotValues(mlir::ValueRange values);
  /// Yields the values that `slots` has for those of `merged`.
  void yieldSlots(const Registers &merged, const Registers &slots);
  mlir::Value emitExpr(const polyhedral::AstExpr &expr);
  /// The value, if it is a constant for these values of unrolled iterators.
  std::optional<int64_t> getConstant(const polyhedral::AstExpr &expr);
  /// A number that `expr` never exceeds, or never falls below.
  std::optional<int64_t> getConstantBound(const polyhedral::AstExpr &expr,
                                          bool isUpper);
  mlir::Value emitCondition(const polyhedral::AstCondition &condition);

  // Vector loops (VectorLoops.cpp).
  /// Whether the lanes of `node` can run at once; says in a remark if not.
  bool canVectorize(const polyhedral::AstNode &node);
  bool canVectorize(poly::ComputeOp compute, const polyhedral::AstNode &call,
                    const polyhedral::AstNode &loop);
  /// The iterator in lane 0. The iterator itself, if that takes several cases:
  /// it stands for its first value then.
  mlir::AffineExpr getFirstLane(const polyhedral::AstNode &loop);
  mlir::LogicalResult emitVector(const polyhedral::AstNode &node);
  /// The slots that vector loops below `node` accumulate into, lane by lane.
  void collectPartials(
      const polyhedral::AstNode &node,
      llvm::SmallVectorImpl<std::pair<SlotKey, poly::ComputeOp>> &partials,
      const polyhedral::AstNode *vectorLoop = nullptr);
  /// Starts lane sums for what `node` accumulates; returns those started.
  llvm::SmallVector<std::pair<SlotKey, poly::ComputeOp>>
  beginPartials(const polyhedral::AstNode &node, int64_t width);
  void
  endPartials(llvm::ArrayRef<std::pair<SlotKey, poly::ComputeOp>> partials);

  // Statements (Statements.cpp).
  mlir::LogicalResult emitCall(const polyhedral::AstNode &call);
  mlir::LogicalResult emitReduction(poly::ComputeOp compute,
                                    const polyhedral::AstNode &call);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emitBody(poly::ComputeOp compute, const polyhedral::AstNode &call,
           mlir::ValueRange reads);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emitReads(poly::ComputeOp compute, const polyhedral::AstNode &call,
            mlir::Value accumulator);
  mlir::Value toVector(mlir::Value value);

  // Memory (Accesses.cpp).
  void addMemory(mlir::Value array, mlir::Value memref);
  mlir::LogicalResult addLocal(poly::ArrayOp array);
  /// The type and dynamic extents of the memory behind a local array.
  std::pair<mlir::MemRefType, llvm::SmallVector<mlir::Value>>
  getStorage(poly::ArrayOp array);
  /// The memory of an array; heap memory is freed at the end of the scope.
  mlir::Value allocate(poly::ArrayOp array);
  /// Whether `loop` has iterations with memory of their own for `array`.
  bool isPrivate(mlir::Value array, const polyhedral::AstNode &loop) const;
  /// Whether something below `node` uses `array`, outside of such loops.
  bool usesShared(mlir::Value array, const polyhedral::AstNode &node);
  /// Allocates arrays that have a storage map for what runs below `body`, and
  /// frees them at its end: those that are private to one of `loops`, or to
  /// none if there are no loops.
  void enterScope(const polyhedral::AstNode &body,
                  llvm::ArrayRef<const polyhedral::AstNode *> loops);
  void leaveScope();
  /// The linear address, unrolled iterators replaced. `data` are the values of
  /// the reads before this access.
  mlir::AffineExpr getAddress(const poly::ComputeAccess &access,
                              const polyhedral::AstNode &call);
  mlir::FailureOr<mlir::Value> emitRead(const poly::ComputeAccess &access,
                                        const polyhedral::AstNode &call,
                                        mlir::ValueRange data);
  mlir::LogicalResult emitWrite(const poly::ComputeAccess &access,
                                const polyhedral::AstNode &call,
                                mlir::Value value, mlir::ValueRange data);
  SlotKey getSlotKey(const poly::ComputeAccess &access,
                     const polyhedral::AstNode &call);
  /// Sets an element; forgets those that may be the same one.
  void setSlot(const SlotKey &key, mlir::Value value);
  /// The value of an element in registers after lanes have written `value`:
  /// those that are not active keep what was written in other iterations.
  mlir::Value mergeLanes(const SlotKey &key, mlir::Value value);
  /// The difference of an expression between neighbouring lanes, over symbols
  /// and outer iterators; null if it is not the same for all.
  mlir::AffineExpr getLaneStep(mlir::AffineExpr expr, const Lanes &lanes);
  /// The same where it is a number.
  std::optional<int64_t> getLaneStride(mlir::AffineExpr expr,
                                       const Lanes &lanes);
  /// The differences of an expression between each lane and the first, where
  /// all are numbers.
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
  /// Reads elements near each other at once and distributes them to the lanes;
  /// null if they are not.
  mlir::Value emitShuffledRead(mlir::Value memref, mlir::VectorType type,
                               mlir::AffineExpr address);
  /// The mask of the lanes, or one that is set everywhere.
  mlir::Value getMask();
  mlir::Value emitLaneIndices(mlir::AffineExpr address, mlir::ValueRange data,
                              mlir::Value &base);

  // Index arithmetic (Accesses.cpp).
  mlir::Value emitIndex(mlir::AffineExpr expr, mlir::ValueRange data = {});
  mlir::Value toIndex(mlir::Value value, mlir::Type type);
  mlir::Value emitTerm(mlir::AffineExpr expr, mlir::ValueRange data);
  mlir::AffineExpr simplify(mlir::AffineExpr expr);
  mlir::AffineExpr canonicalize(mlir::AffineExpr expr);
  std::optional<std::pair<int64_t, int64_t>> getRange(mlir::AffineExpr expr);
  /// The largest value of `expr` where `known` holds, by integer programming: `n floordiv 16 - 2 * (n floordiv 32)` is at most 1.
  std::optional<int64_t> getLargest(mlir::AffineExpr expr);
  mlir::AffineExpr constant(int64_t value) {
    return mlir::getAffineConstantExpr(value, builder.getContext());
  }
  mlir::AffineExpr iterator(unsigned number) {
    return mlir::getAffineDimExpr(number, builder.getContext());
  }

  poly::KernelOp kernel;
  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::SmallVector<poly::ComputeOp> computes;
  mlir::func::FuncOp function;
  mlir::IRMapping scalars; ///< Kernel arguments to function arguments.
  /// Symbols: parameters, then extents of dynamic memrefs, then values read.
  llvm::SmallVector<mlir::Value> symbols;
  unsigned numParams;
  unsigned numIterators = 0; ///< Of the AST.
  unsigned numReads = 0;     ///< At most, of a computation.
  llvm::DenseMap<mlir::Value, Memory> memories;
  const PrivateLoops &privateLoops;
  llvm::SmallVector<poly::ArrayOp> storedArrays; ///< With a storage map.
  /// What to free at the end of each scope.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> scopes;
  Registers registers;
  llvm::DenseMap<unsigned, mlir::Value> iterators;
  llvm::DenseMap<unsigned, int64_t> unrolled;
  llvm::DenseMap<unsigned, std::pair<int64_t, int64_t>> ranges;
  /// What is not negative here, of iterators and parameters.
  llvm::SmallVector<mlir::AffineExpr> known;
  std::optional<Lanes> lanes;
};

/// Adds the summands of `expr` to `terms`.
void getTerms(mlir::AffineExpr expr,
              llvm::SmallVectorImpl<mlir::AffineExpr> &terms);

/// How a reduction combines, and its neutral element.
struct Combiner {
  mlir::vector::CombiningKind kind;
  mlir::TypedAttr neutral;
};
/// Reads it off the body of a computation marked as a reduction.
std::optional<Combiner> getCombiner(poly::ComputeOp compute);

/// The argument of the body that holds the accumulated value.
std::optional<unsigned> getAccumulatorRead(poly::ComputeOp compute);

/// The scheduling attribute of a generated loop: sequential unless tagged.
poly::LoopAttr getLoopKind(const polyhedral::AstNode &node);

} // namespace espalier::polytoloops

#endif // ESPALIER_LIB_CONVERSION_POLYTOLOOPS_KERNELLOOPS_H
