//===- Segments.h - Parts of a dimension with one tile size -----*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_SEGMENTS_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_SEGMENTS_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace espalier::poly {

/// Points of one shared dimension that are tiled alike: from `begin` to `end`
/// in tiles of `size`, counted from `begin`.
struct Segment {
  mlir::AffineExpr begin, end; ///< Null: the whole dimension.
  int64_t size;
};

/// All combinations of the segments of the shared dimensions.
inline void
forEachCombination(llvm::ArrayRef<llvm::SmallVector<Segment>> segments,
                   llvm::function_ref<void(llvm::ArrayRef<Segment>)> visit) {
  llvm::SmallVector<unsigned> index(segments.size(), 0);
  while (true) {
    llvm::SmallVector<Segment> chosen;
    for (auto [dim, number] : llvm::enumerate(index))
      chosen.push_back(segments[dim][number]);
    visit(chosen);
    unsigned dim = segments.size();
    while (dim > 0 && ++index[dim - 1] == segments[dim - 1].size())
      index[--dim] = 0;
    if (dim == 0)
      return;
  }
}

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_SEGMENTS_H
