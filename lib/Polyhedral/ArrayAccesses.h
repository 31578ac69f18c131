//===- ArrayAccesses.h - How schedules reach elements -----------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_ARRAYACCESSES_H
#define ESPALIER_LIB_POLYHEDRAL_ARRAYACCESSES_H

#include "PairSet.h"
#include "Paths.h"

namespace espalier::polyhedral {

/// One way in which the schedule reaches elements of an array.
struct ArrayAccess {
  const Path *path;
  mlir::AffineMap map;
  bool reads, writes;
};
using ArrayAccesses = std::vector<ArrayAccess>;

/// All uses of an array; one for accesses that are alike.
ArrayAccesses getArrayAccesses(const Program &program,
                               llvm::ArrayRef<Path> paths, unsigned array);

/// Calls `visit` with the pairs of points of each two uses, until false.
bool forEachPair(const Context &context, const Program &program,
                 const ArrayAccesses &uses,
                 llvm::function_ref<bool(const ArrayAccess &,
                                         const ArrayAccess &, PairSet &)>
                     visit);

/// The value of a level as a function of the element's indices, if it is the
/// same for all uses, as a matter of renaming; else null.
mlir::AffineExpr getElementLevel(const ArrayAccesses &uses, size_t depth);

/// What the filters above `uses` say of the indices of each element that is
/// used: constraints that all uses have, as a matter of renaming.
mlir::IntegerSet getElementFilter(const Program &program,
                                  const ArrayAccesses &uses);

/// Goes down the tree as long as all uses of each element agree in a level, and
/// calls `visit` for each part of the uses with the number of levels that it
/// has in common: their values are tiles, in one of which is all that happens
/// to an element. Stops when `visit` says false. False if it does, nothing if
/// the answer takes too long.
std::optional<bool> forEachTiling(
    const Context &context, const Program &program, const ArrayAccesses &uses,
    llvm::function_ref<bool(const ArrayAccesses &, size_t numLevels)> visit);

inline bool isZero(mlir::AffineExpr expr) {
  auto constant = mlir::dyn_cast<mlir::AffineConstantExpr>(expr);
  return constant && constant.getValue() == 0;
}

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_ARRAYACCESSES_H
