//===- Versions.cpp - Code for each number of rows ------------------------===//
//
// Where data ends a loop over the rows of a tile in registers, or a size that
// is not known does,
//
//   for tile:  for k:  for r < min(4, rows[tile]) unrolled:  acc[r] += ..
//
// each row would be under a condition in the innermost loop. The number of rows
// is decided by then, so there is code for each:
//
//   for tile:  if (rows == 4) for k: {..}  else if (rows == 3) for k: {..} ..
//
//===----------------------------------------------------------------------===//

#include "KernelLoops.h"
#include "espalier/Support/CodeSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstExpr;
using polyhedral::AstNode;

static bool isSame(const AstExpr &one, const AstExpr &other) {
  return one.kind == other.kind && one.kind != AstExpr::Kind::Select &&
         one.affine == other.affine &&
         llvm::equal(one.operands, other.operands, isSame);
}

/// Whether `expr` depends on no iterator behind `last`.
static bool isDecided(const AstExpr &expr, unsigned last) {
  if (expr.kind == AstExpr::Kind::Affine)
    return AffineMap::inferFromExprList({expr.affine}, expr.affine.getContext())
               .front()
               .getNumDims() <= last + 1;
  return expr.kind != AstExpr::Kind::Select &&
         llvm::all_of(expr.operands, [&](const AstExpr &operand) {
           return isDecided(operand, last);
         });
}

/// Whether something below `node` is a sum, whose elements are in registers
/// while its terms are added.
static bool hasSum(const AstNode &node, ArrayRef<poly::ComputeOp> computes) {
  if (node.kind != AstNode::Kind::Call)
    return llvm::any_of(node.children, [&](const polyhedral::Ast &child) {
      return hasSum(*child, computes);
    });
  poly::ComputeOp compute = computes[node.statement];
  return compute.getReduction().has_value();
}

bool KernelLoops::isCountable(const AstNode &loop, const AstNode &outer) {
  poly::LoopAttr kind = getLoopKind(loop);
  const DataLoop *data = dataLoops.find(loop);
  bool isKnown = data ? data->upper.empty() || !data->lower.empty()
                      : getConstantBoundOf(loop, true).has_value();
  if (!kind || !kind.isUnroll() || loop.step != 1 || isKnown ||
      extents.contains(&loop) || getConstant(loop.lower) != 0 ||
      !isDecided(loop.upper, outer.iterator) || !areBoundsRead(loop))
    return false;
  SmallVector<unsigned> iterators;
  dataLoops.addIterators(loop, iterators);
  std::optional<int64_t> most = getConstantBound(loop.upper, true);
  return most && *most <= kMaxRowVersions &&
         llvm::all_of(iterators, [&](unsigned iterator) {
           return iterator <= outer.iterator;
         });
}

SmallVector<const AstNode *>
KernelLoops::findCountedLoops(const AstNode &node) {
  SmallVector<const AstNode *> found;
  if (node.kind != AstNode::Kind::For || lanes)
    return found;
  auto visit = [&](auto &self, const AstNode &inner) -> void {
    if (inner.kind == AstNode::Kind::For && isCountable(inner, node))
      found.push_back(&inner);
    for (const polyhedral::Ast &child : inner.children)
      self(self, *child);
  };
  for (const polyhedral::Ast &child : node.children)
    visit(visit, *child);
  // Sums are the reason for versions. What starts or stores them has as many
  // rows, and no condition then.
  const auto *sum = llvm::find_if(found, [&](const AstNode *loop) {
    return usesRegisters(*loop) || hasSum(*loop, computes);
  });
  if (sum == found.end())
    return {};
  const AstNode &first = **sum;
  llvm::erase_if(found, [&](const AstNode *loop) {
    const DataLoop *data = dataLoops.find(*loop);
    const DataLoop *firstData = dataLoops.find(first);
    return !isSame(loop->upper, first.upper) || !data != !firstData ||
           (data && data->upper != firstData->upper);
  });
  return found;
}

LogicalResult KernelLoops::emitVersions(const AstNode &node,
                                        ArrayRef<const AstNode *> loops) {
  Value rows = emitBound(*loops.front(), true);
  auto emitVersion = [&](int64_t number) {
    for (const AstNode *loop : loops)
      extents[loop] = number;
    LogicalResult result = emitChildren(node);
    for (const AstNode *loop : loops)
      extents.erase(loop);
    return result;
  };
  // The first one that is left over has no row.
  auto emitFrom = [&](auto &self, int64_t number) -> LogicalResult {
    if (number == 0)
      return emitVersion(0);
    Value isNumber = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, rows,
        arith::ConstantIndexOp::create(builder, loc, number));
    return emitGuarded(
        isNumber, [&] { return emitVersion(number); },
        [&] { return self(self, number - 1); });
  };
  return emitFrom(emitFrom, *getConstantBound(loops.front()->upper, true));
}
