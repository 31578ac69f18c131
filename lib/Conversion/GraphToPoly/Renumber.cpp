//===- Renumber.cpp - The points of a kernel in other dimensions ----------===//

#include "Renumber.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

bool espalier::graphtopoly::isPointwise(const StepProgram &program,
                                        const Cluster &cluster,
                                        const llvm::DenseSet<ArrayId> &local) {
  unsigned rank = cluster.sharedDims;
  return llvm::all_of(cluster.statements, [&](unsigned number) {
    const Statement &statement = program.statements[number];
    bool isPointwise = program.getRank(statement.target) == rank &&
                       statement.targetIndices.empty() && !statement.recurrence;
    forEachAccess(statement, [&](Expr access) {
      ArrayId array = access.getTensor().number;
      isPointwise &= !local.contains(program.getBase(array)) ||
                     (!program.arrays[array].reshapeOf &&
                      countIdentityIndices(program, access) == rank);
    });
    return isPointwise;
  });
}

llvm::DenseSet<ArrayId>
espalier::graphtopoly::findLocal(const StepProgram &program,
                                 const Cluster &cluster,
                                 const llvm::DenseSet<ArrayId> &escaping) {
  llvm::DenseSet<ArrayId> local;
  for (unsigned number : cluster.statements)
    if (ArrayId target = program.statements[number].target;
        !escaping.contains(target))
      local.insert(target);
  return local;
}

ArrayId Renumberer::replace(ArrayId number) {
  Array array = program.arrays[number];
  array.extents = renumbering.extents;
  array.layout = {};
  array.storedExtents.clear();
  return replacement[number] = program.addArray(std::move(array));
}

AffineExpr Renumberer::getDim(unsigned dim) const {
  unsigned numBefore = renumbering.before.size();
  if (dim < numBefore)
    return renumbering.before[dim];
  return getAffineDimExpr(dim - numBefore + renumbering.extents.size(),
                          program.context);
}

AffineExpr Renumberer::apply(AffineExpr expr) const {
  llvm::DenseMap<AffineExpr, AffineExpr> map;
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      map[e] = getDim(dim.getPosition());
  });
  return program.simplify(expr.replace(map));
}

Expr Renumberer::apply(Expr value) const {
  return transform(value, [&](Expr e) -> Expr {
    if (e.getKind() == Expr::Kind::Variable)
      return program.expression(getDim(e.getVariable()));
    if (e.getKind() != Expr::Kind::Access)
      return {};
    auto known = replacement.find(e.getTensor().number);
    if (known == replacement.end())
      return {};
    SmallVector<Expr> indices;
    for (unsigned dim = 0; dim < renumbering.extents.size(); ++dim)
      indices.push_back(variable(dim, program.context));
    return access(TensorRef::operand(known->second), indices, e.getType());
  });
}

Statement Renumberer::apply(const Statement &statement) const {
  Statement result = statement;
  result.extents = renumbering.extents;
  llvm::append_range(
      result.extents,
      ArrayRef(statement.extents).drop_front(renumbering.before.size()));
  for (Piece &piece : result.pieces) {
    piece.value = apply(piece.value);
    for (Condition &condition : piece.domain)
      condition.expr = apply(condition.expr);
  }
  auto known = replacement.find(statement.target);
  if (known != replacement.end())
    result.target = known->second;
  else
    result.targetIndices = renumbering.before;
  return result;
}
