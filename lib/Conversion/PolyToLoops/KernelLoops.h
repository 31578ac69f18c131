//===- KernelLoops.h - Loops and vectors of one kernel ----------*- C++ -*-===//
//
// Walks the loops that scan a kernel's schedule and emits them. Four ideas:
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
//  * A loop whose bounds are read (DataBounds.h) runs from the larger of two
//    lower bounds, of the scan and what was read, to the smaller upper one. If
//    it is over rows in registers, there is code for each number of them.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_CONVERSION_POLYTOLOOPS_KERNELLOOPS_H
#define ESPALIER_LIB_CONVERSION_POLYTOLOOPS_KERNELLOOPS_H

#include "DataBounds.h"
#include "IndexArithmetic.h"
#include "KernelValues.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

namespace espalier::polytoloops {

class KernelLoops : IndexArithmetic {
public:
  KernelLoops(poly::KernelOp kernel, const PrivateLoops &privateLoops,
              mlir::OpBuilder &builder);

  /// Emits a function in place of the kernel.
  mlir::LogicalResult emit(const polyhedral::AstNode &ast);
  /// What `emit` has made, also where it fails.
  mlir::func::FuncOp getFunction() { return function; }

private:
  using AstNode = polyhedral::AstNode;

  // Structure (KernelLoops.cpp, LoopBounds.cpp).
  mlir::LogicalResult emitNode(const AstNode &node);
  mlir::LogicalResult emitChildren(const AstNode &node);
  // Versions by what data says (Versions.cpp).
  /// Loops over the rows of a register tile, all of one extent that data ends,
  /// and that the loops down to `node` decide.
  llvm::SmallVector<const AstNode *> findCountedLoops(const AstNode &node);
  bool isCountable(const AstNode &loop, const AstNode &outer);
  /// Emits the children of `node` for each extent that `loops` may have.
  mlir::LogicalResult emitVersions(const AstNode &node,
                                   llvm::ArrayRef<const AstNode *> loops);
  mlir::LogicalResult emitFor(const AstNode &node);
  mlir::LogicalResult emitDataLoop(const AstNode &node);
  mlir::LogicalResult emitAnyLoop(const AstNode &node);
  /// Whether a computation below `node` uses an array in registers.
  bool usesRegisters(const AstNode &node) const;
  /// Adds what follows from `condition`, or from its opposite, to `known`.
  void addKnown(const polyhedral::AstCondition &condition, bool holds);
  mlir::LogicalResult emitUnrolled(const AstNode &node, int64_t lower,
                                   int64_t upper);
  /// Copies for `lower` to `most`, of which those below the upper bound run.
  mlir::LogicalResult emitUnrolledGuarded(const AstNode &node, int64_t lower,
                                          int64_t most);
  mlir::LogicalResult emitSequential(const AstNode &node);
  /// The loop, with the slots that there are carried through it.
  mlir::LogicalResult emitLoop(const AstNode &node);
  mlir::LogicalResult emitLoopBetween(const AstNode &node, mlir::Value lower,
                                      mlir::Value upper, int64_t step,
                                      mlir::Attribute annotation = {});
  mlir::LogicalResult emitParallel(const AstNode &node);
  mlir::LogicalResult emitIf(const AstNode &node);
  mlir::LogicalResult emitMark(const AstNode &node);
  void emitPrefetch(const AstNode &node, mlir::DictionaryAttr op);
  /// Reads what the place of `access` depends on, under a condition that it is
  /// there, into which the builder goes. False if it cannot be read ahead.
  bool emitIndexReads(const poly::ComputeAccess &access, poly::ComputeOp owner,
                      const AstNode &call,
                      llvm::MutableArrayRef<mlir::Value> data);
  mlir::LogicalResult emitGuarded(mlir::Value condition, Emitter emitThen,
                                  Emitter emitElse);
  /// Slots after two branches that started from `before`: what one branch
  /// writes first is undefined in the other; what one forgets, or changes the
  /// type of, is forgotten.
  static Registers mergeSlots(const Registers &before, const Registers &first,
                              const Registers &second);
  mlir::LogicalResult emitInScope(const AstNode &node, mlir::Block *block);
  llvm::SmallVector<mlir::Value> getSlotValues() const;
  void setSlotValues(mlir::ValueRange values);
  /// Yields the values that `slots` has for those of `merged`.
  void yieldSlots(const Registers &merged, const Registers &slots);
  mlir::Value emitExpr(const polyhedral::AstExpr &expr);
  /// A bound of a loop; the upper one is exclusive.
  mlir::Value emitBound(const AstNode &loop, bool isUpper);
  std::optional<int64_t> getConstantBoundOf(const AstNode &loop, bool isUpper);
  /// Whether a loop around has read all elements that bound `loop`.
  bool areBoundsRead(const AstNode &loop) const;
  /// The value of an expression of elements that bound loops.
  mlir::Value emitDataBound(mlir::AffineExpr bound);
  /// The value, if it is a constant for these values of unrolled iterators.
  std::optional<int64_t> getConstant(const polyhedral::AstExpr &expr);
  /// A number that `expr` never exceeds, or never falls below.
  std::optional<int64_t> getConstantBound(const polyhedral::AstExpr &expr,
                                          bool isUpper);
  mlir::Value emitCondition(const polyhedral::AstCondition &condition);

  // Vector loops (VectorLoops.cpp).
  /// Whether the lanes of `node` can run at once; says in a remark if not.
  bool canVectorize(const AstNode &node);
  bool canVectorize(poly::ComputeOp compute, const AstNode &call,
                    const AstNode &loop);
  /// The iterator in lane 0; itself, as its first value, if that has cases.
  mlir::AffineExpr getFirstLane(const AstNode &loop);
  mlir::LogicalResult emitVector(const AstNode &node);
  /// The slots that vector loops below `node` accumulate into, lane by lane.
  using Partial = std::pair<SlotKey, poly::ComputeOp>;
  void collectPartials(const AstNode &node,
                       llvm::SmallVectorImpl<Partial> &partials,
                       const AstNode *vectorLoop = nullptr);
  /// Starts lane sums for what `node` accumulates; returns those started.
  llvm::SmallVector<Partial> beginPartials(const AstNode &node);
  void endPartials(llvm::ArrayRef<Partial> partials);
  /// Adds the lanes of a reduction to a value.
  mlir::Value combineLanes(const Combiner &combiner, mlir::Value lanes,
                           mlir::Value value);
  /// The lanes of a vector loop; with their mask, if one is needed and wanted.
  Lanes beginLanes(const AstNode &node, bool emitMask);

  // Elements of memory that loops keep in registers (Promote.cpp).
  /// Calls `visit` for each call below `node`, with unrolled iterators and
  /// lanes set. Fails if one fails, or for a condition or a loop that is left
  /// and not one of `nest`. Masks that change in `nest` are never emitted.
  mlir::LogicalResult forEachCall(const AstNode &node, const LoopNest &nest,
                                  bool emitMasks, CallVisitor visit,
                                  const AstNode *vectorLoop = nullptr);
  mlir::LogicalResult forEachCallIn(const AstNode &node, const LoopNest &nest,
                                    bool emitMasks, CallVisitor visit,
                                    const AstNode *vectorLoop);
  void enterRange(const AstNode &node); ///< Notes what is known of it.
  MemoryUse getUse(const LoopNest &nest, const AstNode &call,
                   const AstNode *vectorLoop,
                   const poly::ComputeAccess &access);
  mlir::LogicalResult collectUses(const LoopNest &nest,
                                  llvm::SmallVectorImpl<MemoryUse> &uses);
  /// Whether two accesses never meet while one iteration of the loops around
  /// `nest` runs; the first is the same in all iterations of `nest`.
  bool areApart(const LoopNest &nest, const MemoryUse &first,
                const MemoryUse &second);
  /// The elements that every iteration of the innermost of `nest` writes and no
  /// other access in them meets.
  llvm::SetVector<SlotKey> findPromotable(const LoopNest &nest);
  /// `node` and the loops in it, if data ends the innermost of several.
  LoopNest findNest(const AstNode &node) const;
  /// Calls `visit` for one write of each of `promotable`.
  mlir::LogicalResult forEachPromotable(WriteVisitor visit);
  void setPromotable(const SlotKey &key, mlir::Value value);
  mlir::LogicalResult loadPromotable();
  mlir::LogicalResult storePromotable();
  mlir::LogicalResult emitPromoted(const AstNode &loop);
  mlir::LogicalResult emitNest();
  mlir::LogicalResult emitLastOfNest();

  // What entries of a row look up (EntrySums.cpp).
  /// The lanes of a sum of such, where LLVM's would be slow.
  std::optional<Lanes> getEntryLanes(const AstNode &loop);
  mlir::LogicalResult emitEntrySum(const AstNode &node, const Lanes &entries);

  // Statements (Statements.cpp).
  mlir::LogicalResult emitCall(const AstNode &call);
  mlir::LogicalResult emitInstance(const AstNode &call);
  mlir::LogicalResult emitReduction(poly::ComputeOp compute,
                                    const AstNode &call);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emitBody(poly::ComputeOp compute, const AstNode &call,
           mlir::ValueRange reads);
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  emitReads(poly::ComputeOp compute, const AstNode &call,
            mlir::Value accumulator);
  /// Notes what bounds `value`, an element of `array`, if anything does.
  void noteBound(mlir::Value array, mlir::Value value);
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
  bool isPrivate(mlir::Value array, const AstNode &loop) const;
  /// Whether something below `node` uses `array`, outside of such loops.
  bool usesShared(mlir::Value array, const AstNode &node);
  /// Allocates arrays that have a storage map for what runs below `body`, and
  /// frees them at its end: those that are private to one of `loops`, or to
  /// none if there are no loops.
  void enterScope(const AstNode &body, llvm::ArrayRef<const AstNode *> loops);
  void leaveScope();
  /// The indices into an array's memory, unrolled iterators replaced.
  llvm::SmallVector<mlir::AffineExpr>
  getIndices(const poly::ComputeAccess &access, const AstNode &call);
  /// The linear address, unrolled iterators replaced. `data` are the values of
  /// the reads before this access.
  mlir::AffineExpr getAddress(const poly::ComputeAccess &access,
                              const AstNode &call);
  mlir::FailureOr<mlir::Value> emitRead(const poly::ComputeAccess &access,
                                        const AstNode &call,
                                        mlir::ValueRange data);
  mlir::LogicalResult emitWrite(const poly::ComputeAccess &access,
                                const AstNode &call, mlir::Value value,
                                mlir::ValueRange data);
  SlotKey getSlotKey(const poly::ComputeAccess &access, const AstNode &call);
  /// Nothing if lanes use other elements than neighbours.
  std::optional<Span> getSpan(const poly::ComputeAccess &access,
                              const AstNode &call);
  /// Sets elements; forgets those that may be the same ones. Fails if a slot
  /// holds some of them, but not in the same way.
  mlir::LogicalResult setSlot(const SlotKey &key, mlir::Value value, Span span);
  /// The value of an element in registers after lanes have written `value`:
  /// those that are not active keep what was written in other iterations.
  mlir::Value mergeLanes(const SlotKey &key, mlir::Value value);
  // Lanes near each other (Transpose.cpp), or null. `column`: the last index.
  mlir::Value emitShuffledRead(const Memory &memory, mlir::AffineExpr column,
                               mlir::VectorType type, mlir::AffineExpr address);
  mlir::Value emitRowReads(const Memory &memory, mlir::AffineExpr column,
                           mlir::VectorType type, mlir::AffineExpr address);
  mlir::Value emitShuffledReads(mlir::Value memref, mlir::VectorType type,
                                mlir::AffineExpr first,
                                llvm::ArrayRef<int64_t> offsets);
  /// Reads the lanes one by one.
  mlir::Value emitLaneReads(mlir::Value memref, mlir::VectorType type,
                            mlir::Value base, mlir::Value offsets);
  mlir::Value getMask(); ///< Of the lanes, or one set everywhere.
  mlir::Value emitLaneIndices(mlir::AffineExpr address, mlir::ValueRange data,
                              mlir::Value &base);
  /// Writes the lanes one by one.
  void emitLaneWrites(const Memory &memory, mlir::AffineExpr address,
                      mlir::Value value, mlir::ValueRange data);

  // Neighbours across lanes (Transpose.cpp).
  /// The copies of a loop around that use neighbours of what the lanes use, or
  /// elements up to `maxStep` apart, as many as lie in a vector, if any.
  std::optional<Neighbours> findNeighbours(const poly::ComputeAccess &access,
                                           const AstNode &call,
                                           int64_t maxStep);
  /// The number of lanes that are active; nothing if that is not known.
  std::optional<int64_t> countActiveLanes();
  /// Where the data of an address lies; null if lanes or copies differ.
  mlir::AffineMap getSameData(mlir::AffineExpr, const AstNode &call,
                              const WrittenOutLoop &loop);
  /// Reads rows for all copies of a loop at once; null if it reads none.
  mlir::Value emitTransposedRead(const poly::ComputeAccess &access,
                                 const AstNode &call, mlir::VectorType type,
                                 mlir::ValueRange data);
  /// Leaves the value to those that other copies of a loop write beside it, in
  /// rows; false if there are none.
  bool emitTransposedWrite(const poly::ComputeAccess &access,
                           const AstNode &call, mlir::Value value);
  void emitRows(const NeighbourWrites &writes);
  void emitPairs(const NeighbourWrites &writes); ///< Rows of two, end to end.
  /// Whether `node`, below `loop`, has the same points in each copy of it.
  bool areCopiesAlike(const AstNode &loop, const AstNode &node);
  void enterWrittenOut(const AstNode &loop, int64_t lower, int64_t upper);
  /// Writes what the copies of a loop have left.
  void leaveWrittenOut();

  poly::KernelOp kernel;
  llvm::SmallVector<poly::ComputeOp> computes;
  DataLoops dataLoops;
  /// Extents of loops in code for one extent.
  llvm::DenseMap<const AstNode *, int64_t> extents;
  /// Elements that bound loops around, by their number.
  llvm::DenseMap<unsigned, mlir::Value> boundElements;
  mlir::func::FuncOp function;
  mlir::IRMapping scalars; ///< Kernel arguments to function arguments.
  llvm::DenseMap<mlir::Value, Memory> memories;
  const PrivateLoops &privateLoops;
  llvm::SmallVector<poly::ArrayOp> storedArrays; ///< With a storage map.
  /// What to free at the end of each scope.
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> scopes;
  Registers registers;
  /// Those of them that are elements of arrays in memory.
  llvm::SetVector<SlotKey> promoted;
  /// Loops that keep such elements, and these.
  LoopNest nest;
  llvm::SetVector<SlotKey> promotable;
  /// Those of the loops around that are written out, outermost first.
  std::vector<WrittenOutLoop> writtenOut;
  /// The loops around what is emitted.
  llvm::SmallVector<const AstNode *> enclosing;
  std::optional<Lanes> lanes;
};

} // namespace espalier::polytoloops

#endif // ESPALIER_LIB_CONVERSION_POLYTOLOOPS_KERNELLOOPS_H
