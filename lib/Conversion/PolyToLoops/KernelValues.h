//===- KernelValues.h - What is known of a kernel's values ------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_POLYTOLOOPS_KERNELVALUES_H
#define ESPALIER_LIB_CONVERSION_POLYTOLOOPS_KERNELVALUES_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Polyhedral/Ast.h"
#include "espalier/Polyhedral/Storage.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/MapVector.h"

namespace espalier::polytoloops {

/// The vector loop whose lanes are being emitted.
struct Lanes {
  unsigned iterator;
  int64_t width;
  mlir::AffineExpr first; ///< The iterator in lane 0.
  mlir::Value mask;       ///< Null when all lanes are active.
  mlir::Value count;      ///< Of those that are, if there is a mask.
  /// The iterators that decide which lanes are active.
  llvm::SmallVector<unsigned> maskIterators;
  const polyhedral::AstNode *loop = nullptr;
};

/// Where the elements of an array are.
struct Memory {
  mlir::Value flat; ///< One-dimensional; null for registers.
  mlir::Type elementType;
  mlir::AffineMap storage; ///< From array indices to storage indices; or null.
  llvm::SmallVector<mlir::AffineExpr> strides;
  bool inRegisters = false;
};

/// What an access uses of an array in registers, from its address on.
struct Span {
  int64_t numElements = 1;
  /// The lanes that use an element each; nothing if all use one element.
  std::optional<int64_t> lanes = std::nullopt;
};

/// An array element, or vector of elements, that is an SSA value.
struct Slot {
  mlir::Value value;
  /// Sums of the lanes that have not been combined with `value` yet.
  mlir::Value partial;
  /// That of the innermost loop around the first write: loops inside it have
  /// larger ones.
  unsigned lastIterator = 0;
  /// The vector loop of the first write, or null.
  const polyhedral::AstNode *vectorLoop = nullptr;
  /// The neighbours from its address on that it may hold.
  int64_t numElements = 1;

  /// Whether it holds those elements in the way in which they are used.
  bool holds(const Span &span) const {
    auto type = mlir::dyn_cast<mlir::VectorType>(value.getType());
    return span.numElements <= numElements &&
           (span.lanes ? type && type.getNumElements() == *span.lanes : !type);
  }
  /// Whether it holds the same elements in the same way.
  bool isLike(const Slot &other) const {
    auto getType = [](mlir::Value value) {
      return value ? value.getType() : mlir::Type();
    };
    return getType(value) == getType(other.value) &&
           getType(partial) == getType(other.partial) &&
           numElements == other.numElements;
  }
};
/// An array and the address of its element: equal expressions are the same
/// element, and a constant difference tells elements apart.
using SlotKey = std::pair<mlir::Value, mlir::AffineExpr>;
using Registers = llvm::MapVector<SlotKey, Slot>;

struct MemoryUse;

/// Vectors that the copies of a loop write to neighbouring elements.
struct NeighbourWrites {
  Memory memory;
  Lanes lanes;
  mlir::AffineExpr address; ///< Of the first copy, over the lanes' iterator.
  int64_t step;             ///< Elements from that of one copy to the next.
  llvm::SmallVector<mlir::Value> values; ///< Of the copies so far.
};

/// A loop that is written out, copy by copy.
struct WrittenOutLoop {
  const polyhedral::AstNode *loop;
  int64_t lower, upper;
  /// Where all copies are, without branches; null if they are not alike.
  mlir::Block *block;
  /// What later copies read, by the array and the address; if that depends on
  /// what is read, also by the number of the computation, from 1, and the
  /// addresses of that.
  llvm::MapVector<std::tuple<SlotKey, unsigned, mlir::AffineMap>, mlir::Value>
      reads;
  /// What is written once the last of the copies has it.
  llvm::MapVector<SlotKey, NeighbourWrites> writes;
};

/// Copies of a loop of which each uses the elements next to those that the copy
/// before it uses, or a step from them.
struct Neighbours {
  WrittenOutLoop *loop;
  llvm::SmallVector<mlir::AffineExpr> addresses; ///< One for each copy.
  int64_t step; ///< From one address to the next.
  size_t place; ///< The number of the copy that is being written.
};

/// How a reduction combines, and its neutral element.
struct Combiner {
  mlir::vector::CombiningKind kind;
  mlir::TypedAttr neutral;
};
/// Reads it off the body of a computation marked as a reduction.
std::optional<Combiner> getCombiner(poly::ComputeOp compute);

/// Loops one inside the other, outermost first, with nothing beside them.
using LoopNest = llvm::SmallVector<const polyhedral::AstNode *>;

using Emitter = llvm::function_ref<mlir::LogicalResult()>;
/// What is done for a call, and for an element that it writes.
using CallVisitor = llvm::function_ref<mlir::LogicalResult(
    const polyhedral::AstNode &call, const polyhedral::AstNode *vectorLoop)>;
using WriteVisitor = llvm::function_ref<mlir::LogicalResult(
    const poly::ComputeAccess &access, const polyhedral::AstNode &call,
    const SlotKey &key)>;

/// The parallel loops whose iterations have memory of their own for an array.
using PrivateLoops = llvm::DenseMap<mlir::Value, polyhedral::LoopSet>;

/// Adds the summands of `expr` to `terms`.
void getTerms(mlir::AffineExpr expr,
              llvm::SmallVectorImpl<mlir::AffineExpr> &terms);

/// Whether `op` has no result for some operands: it divides or shifts integers,
/// or makes them of floats.
bool isPartial(mlir::Operation *op);
/// Emits what `like`, which is partial, computes of `operands`, numbers or
/// vectors: for all values, as `poly.compute` says.
mlir::Value emitTotal(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Operation *like, mlir::ValueRange operands);

/// The argument of the body that holds the accumulated value.
std::optional<unsigned> getAccumulatorRead(poly::ComputeOp compute);

/// Adds the iterators that `expr` depends on.
void addIterators(const polyhedral::AstExpr &expr,
                  llvm::SmallVectorImpl<unsigned> &iterators);

/// The scheduling attribute of a generated loop: sequential unless tagged.
poly::LoopAttr getLoopKind(const polyhedral::AstNode &node);

/// Cuts loops around vectors where masks begin.
void separateFullVectors(polyhedral::Ast &node);

} // namespace espalier::polytoloops

#endif // ESPALIER_LIB_CONVERSION_POLYTOLOOPS_KERNELVALUES_H
