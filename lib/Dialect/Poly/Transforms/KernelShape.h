//===- KernelShape.h - What the default schedule looks at -------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_KERNELSHAPE_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_KERNELSHAPE_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// Says that a dimension runs from one element of a list, whose elements are in
/// ascending order, to the next: rows have parts of it that do not overlap.
struct Part {
  mlir::Value starts;
  mlir::AffineExpr row; ///< The place of the first of the two elements.
  bool operator==(const Part &other) const {
    return starts == other.starts && row == other.row;
  }
};

/// A computation's box and accesses.
struct ComputeShape {
  mutable ComputeOp op;
  /// What each dimension is less than, over the kernel's parameters; null if
  /// the domain does not bound it by a single expression.
  llvm::SmallVector<mlir::AffineExpr> extents;
  /// The least value of each dimension, where that is a number: mostly 0.
  llvm::SmallVector<int64_t> begins;
  /// Whether the domain restricts a dimension beyond its begin and extent.
  llvm::SmallVector<bool> restricted;
  /// Whether data ends a dimension, before its extent, at a number that those
  /// before it decide.
  llvm::SmallVector<bool> limited;
  llvm::SmallVector<std::optional<Part>> parts; ///< By dimension.
  llvm::SmallVector<ComputeAccess> reads, writes;

  unsigned getNumDims() const { return extents.size(); }
  std::optional<int64_t> getExtent(unsigned dim) const;
  /// Whether not every tile, counted from 0, has all points along `dim`.
  bool isRestricted(unsigned dim) const {
    return restricted[dim] || limited[dim] || begins[dim] != 0;
  }
  /// Whether the points along `dim` update the same element.
  bool isReduced(unsigned dim) const {
    return llvm::none_of(writes, [&](const ComputeAccess &write) {
      return dependsOn(write, dim);
    });
  }
  /// Whether the element that `access` touches may differ along `dim`, also
  /// because values that are read there decide it.
  bool dependsOn(const ComputeAccess &access, unsigned dim) const;
};

ComputeShape getShape(ComputeOp op);

/// Bytes of an element in memory.
inline int64_t getBytes(mlir::Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// Stands for a distance that the program learns when it runs.
inline constexpr int64_t kUnknownStride = std::numeric_limits<int64_t>::max();

/// How many elements a row of the innermost dimension has, if one lane of a
/// vector has room for them: those of a pair. Else 1.
int64_t getPairLength(mlir::MemRefType type);

/// The distance in memory between neighbours along `dim`, in elements: 0 if the
/// access does not depend on it, 1 if contiguous (within a panel of at least
/// `lanes` elements, or pairs of these), nothing if it varies.
std::optional<int64_t> getStride(const ComputeAccess &access, unsigned dim,
                                 int64_t lanes);

/// Private arrays up to this many bytes live on the stack.
inline constexpr int64_t kMaxStackBytes = 1 << 14;

/// Whether memory of this type is small enough for the stack.
bool fitsStack(mlir::MemRefType type);

/// Computations that feed one another, and the loops that they can share.
struct Component {
  llvm::SmallVector<unsigned> computes; ///< In program order.
  /// The first loops, which the program runs in order around all of them, of a
  /// recurrence: other loops are looked at inside one iteration of these.
  unsigned numOuter = 0;
  unsigned sharedDims = 0; ///< Those included.
  /// Whether the program runs the shared loops around all of them, although the
  /// iterations are independent.
  bool areBlocks = false;
  /// Loop carried dependences: these shared dimensions must run in order.
  llvm::SmallVector<bool> sequential;
  /// The dimensions after the shared ones that are a window: few points, whose
  /// results stay in registers until another computation combines them.
  unsigned numWindow = 0;
};

/// Splits the computations of a kernel into components: those that feed one
/// another, and sums that fill one array which a cache of so many bytes does
/// not hold.
llvm::SmallVector<Component> findComponents(llvm::ArrayRef<ComputeShape> shapes,
                                            int64_t cacheBytes);

/// Splits a component into runs of computations, in program order, that can
/// share more loops than all of it can, and as many as each of them alone.
llvm::SmallVector<Component> findGroups(llvm::ArrayRef<ComputeShape> shapes,
                                        const Component &component);

/// Splits a component into its computations, each with what starts its sums:
/// the groups if no two of them shall share loops.
llvm::SmallVector<Component> separate(llvm::ArrayRef<ComputeShape> shapes,
                                      const Component &component);

/// Whether computation `first` only starts the sums of `second`, the next one,
/// at the same points.
bool startsSum(llvm::ArrayRef<ComputeShape> shapes, unsigned first,
               unsigned second);

/// Whether a map after sums of `group`, which a recurrence repeats, is better
/// alone: it reads rows that were computed before the recurrence, at places
/// that data says. Row by row they come as fast as they are read, and tile by
/// tile each of them is waited for.
bool readsFarRows(llvm::ArrayRef<ComputeShape> shapes, const Component &group,
                  const ComputeShape &map);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_KERNELSHAPE_H
