//===- DataBounds.h - Loops between values of arrays ------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_POLYTOLOOPS_DATABOUNDS_H
#define ESPALIER_LIB_CONVERSION_POLYTOLOOPS_DATABOUNDS_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Polyhedral/Ast.h"
#include "llvm/ADT/MapVector.h"

namespace espalier::polytoloops {

/// An element of an array that nobody writes; the indices are over iterators
/// and parameters.
struct BoundElement {
  mlir::Value array;
  llvm::SmallVector<mlir::AffineExpr> indices;

  bool operator==(const BoundElement &other) const {
    return array == other.array && indices == other.indices;
  }
};

/// Bounds of one side of a loop, for each computation in it: an iteration runs
/// if it lies within all bounds of one computation. Symbols from the number of
/// parameters on are elements, by their number.
using DataBounds = llvm::SmallVector<llvm::SmallVector<mlir::AffineExpr, 1>, 1>;

/// What data says of the iterations of a loop.
struct DataLoop {
  DataBounds lower; ///< Empty if there are none.
  DataBounds upper; ///< Exclusive.
};

/// Finds loops whose bounds follow from the conditions of the computations in
/// them: `b <= j` and `j < e`, with values b and e that are read at a place
/// which the loops around decide.
class DataLoops {
public:
  DataLoops(poly::KernelOp kernel, llvm::ArrayRef<poly::ComputeOp> computes);

  void analyze(const polyhedral::AstNode &root);
  /// The bounds of a loop, or null.
  const DataLoop *find(const polyhedral::AstNode &loop) const {
    auto found = loops.find(&loop);
    return found == loops.end() ? nullptr : &found->second;
  }
  /// The conditions of a call that its loops do not see to, each >= 0.
  llvm::SmallVector<mlir::AffineExpr>
  getConditions(const polyhedral::AstNode &call) const;
  llvm::ArrayRef<BoundElement> getElements() const { return elements; }
  /// Whether a bound of `loop` changes with `iterator`.
  bool dependsOn(const polyhedral::AstNode &loop, unsigned iterator) const;
  /// Adds the iterators that a loop's bounds depend on.
  void addIterators(const polyhedral::AstNode &loop,
                    llvm::SmallVectorImpl<unsigned> &iterators) const;

private:
  using Node = polyhedral::AstNode;
  /// A condition of a call as a bound of a loop.
  struct Bound {
    const Node *call;
    unsigned condition;
    mlir::AffineExpr value;
    bool isUpper;
    /// The loop's iterations within it are all that satisfy the condition.
    bool isExact;
  };
  llvm::SmallVector<mlir::AffineExpr> getAll(poly::ComputeOp compute) const;
  void visit(const Node &node, llvm::SmallVectorImpl<const Node *> &path);
  void addLoop(const Node &loop, llvm::ArrayRef<const Node *> calls);
  std::optional<Bound> getBound(const Node &loop, const Node &call,
                                unsigned number, mlir::AffineExpr condition);
  /// The most that `expr` is, whatever the loops inside `loop` do.
  mlir::AffineExpr getMost(mlir::AffineExpr expr, const Node &loop,
                           const Node &call);
  /// Replaces values by numbers of elements; null if one is not decided by the
  /// loops outside of `loop`.
  mlir::AffineExpr toElements(mlir::AffineExpr expr, const Node &loop,
                              const Node &call);
  bool isWritten(mlir::Value array) const;

  poly::KernelOp kernel;
  llvm::ArrayRef<poly::ComputeOp> computes;
  unsigned numParams;
  llvm::SmallVector<BoundElement> elements;
  llvm::DenseMap<const Node *, DataLoop> loops;
  llvm::DenseMap<const Node *, llvm::SmallDenseSet<unsigned>> satisfied;
  llvm::DenseMap<const Node *, llvm::SmallVector<const Node *>> around;
};

} // namespace espalier::polytoloops

#endif // ESPALIER_LIB_CONVERSION_POLYTOLOOPS_DATABOUNDS_H
