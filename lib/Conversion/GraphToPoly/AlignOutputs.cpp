//===- AlignOutputs.cpp - Results in another order than computed ----------===//
//
// A map whose result only the caller sees may run over its operand's indices in
// the operand's order, and store each element where it belongs:
//
//   Y[n, y, x, f] = relu(C[n, f, y, x])    over n, y, x, f
//
// runs over n, f, y, x instead, and joins the kernel that computes C, if that
// is a sum or another reduction. What reads the groups of a sum
//
//   Y[n, o, y] = relu(T[n, o floordiv G, o mod G, y])    over n, o, y
//
// runs over these and the features of a group, whoever reads it.
//
//===----------------------------------------------------------------------===//

#include "Renumber.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

namespace {
/// A dimension that is read as the number of a group and the place in it.
struct Parts {
  unsigned dim;
  int64_t numGroups, size;
};
} // namespace

/// Reads the first two of `indices` as quotient and rest of a dimension of
/// `statement`, whose extent is that of whole groups.
static std::optional<Parts> getParts(const StatementList &program,
                                     const Statement &statement,
                                     ArrayRef<Expr> indices) {
  if (indices.size() < 2)
    return std::nullopt;
  std::optional<AffineExpr> quotient = program.affine(indices[0]);
  std::optional<AffineExpr> rest = program.affine(indices[1]);
  if (!quotient || !rest || quotient->getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto division = cast<AffineBinaryOpExpr>(*quotient);
  auto dim = dyn_cast<AffineDimExpr>(division.getLHS());
  auto size = dyn_cast<AffineConstantExpr>(division.getRHS());
  if (!dim || !size || *rest != division.getLHS() % division.getRHS())
    return std::nullopt;
  auto extent =
      dyn_cast<AffineConstantExpr>(statement.extents[dim.getPosition()]);
  if (!extent || extent.getValue() % size.getValue() != 0)
    return std::nullopt;
  return Parts{dim.getPosition(), extent.getValue() / size.getValue(),
               size.getValue()};
}

/// How `statement` runs over the indices of a reduction's result that it reads,
/// if these are all of its dimensions in another order, some cut in two.
static std::optional<Renumbering>
getOrder(const StatementList &program, const Statement &statement,
         const llvm::DenseSet<ArrayId> &reductions) {
  std::optional<Renumbering> order;
  forEachAccess(statement, [&](Expr access) {
    ArrayId array = access.getTensor().number;
    if (!reductions.contains(array) || order)
      return;
    Renumbering found;
    found.before.resize(statement.getNumDims());
    ArrayRef<Expr> indices = access.getOperands();
    auto getNext = [&]() {
      return getAffineDimExpr(found.extents.size(), program.context);
    };
    for (unsigned place = 0; place < indices.size(); ++place) {
      AffineExpr self = getNext();
      unsigned dim = 0;
      if (indices[place].getKind() == Expr::Kind::Variable) {
        dim = indices[place].getVariable();
        found.extents.push_back(statement.extents[dim]);
      } else if (auto parts =
                     getParts(program, statement, indices.drop_front(place))) {
        ++place;
        dim = parts->dim;
        found.extents.push_back(
            getAffineConstantExpr(parts->numGroups, program.context));
        self = self * parts->size + getNext();
        found.extents.push_back(
            getAffineConstantExpr(parts->size, program.context));
      } else {
        return;
      }
      if (found.before[dim])
        return;
      found.before[dim] = self;
    }
    if (llvm::all_of(found.before, [](AffineExpr e) { return bool(e); }))
      order = std::move(found);
  });
  if (!order || llvm::all_of(llvm::enumerate(order->before), [](auto pair) {
        auto dim = dyn_cast<AffineDimExpr>(pair.value());
        return dim && dim.getPosition() == pair.index();
      }))
    return std::nullopt;
  return order;
}

void espalier::graphtopoly::alignOutputs(StatementList &program) {
  std::vector<SmallVector<unsigned, 2>> readers = findReaders(program);
  llvm::DenseSet<ArrayId> viewed, reductions;
  for (const Array &array : program.arrays)
    if (array.reshapeOf)
      viewed.insert(*array.reshapeOf);
  for (Statement &statement : program.statements) {
    if (statement.reduction)
      reductions.insert(statement.target);
    if (statement.reduction || statement.recurrence)
      continue;
    std::optional<Renumbering> order = getOrder(program, statement, reductions);
    // Others may read in the order that dimensions have now.
    bool isSeen =
        !readers[statement.target].empty() || viewed.contains(statement.target);
    if (order && (!isSeen || order->extents.size() > order->before.size()))
      statement = Renumberer(program, std::move(*order)).apply(statement);
  }
}
