//===- Renumber.cpp - The points of a kernel in other dimensions ----------===//

#include "Renumber.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

bool espalier::graphtopoly::isPointwise(const StatementList &program,
                                        const FusionGroup &fusionGroup,
                                        const llvm::DenseSet<ArrayId> &local) {
  unsigned rank = fusionGroup.sharedDims;
  return llvm::all_of(fusionGroup.statements, [&](unsigned number) {
    const Statement &statement = program.statements[number];
    bool isPointwise =
        program.countPoints(statement) == rank && !statement.recurrence &&
        (statement.targetIndices.empty() || !local.contains(statement.target));
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
espalier::graphtopoly::findLocal(const StatementList &program,
                                 const FusionGroup &fusionGroup,
                                 const llvm::DenseSet<ArrayId> &escaping) {
  llvm::DenseSet<ArrayId> local;
  for (unsigned number : fusionGroup.statements)
    if (ArrayId target = program.statements[number].target;
        !escaping.contains(target))
      local.insert(target);
  return local;
}

bool espalier::graphtopoly::isWrittenBy(const StatementList &program,
                                        const FusionGroup &fusionGroup,
                                        ArrayRef<FusionGroup> all,
                                        ArrayId array) {
  return llvm::all_of(all, [&](const FusionGroup &other) {
    return other.statements == fusionGroup.statements ||
           llvm::all_of(other.statements, [&](unsigned number) {
             return program.statements[number].target != array;
           });
  });
}

FusionGroup espalier::graphtopoly::storeElsewhere(
    StatementList &program, const FusionGroup &fusionGroup, AffineMap layout) {
  const Statement &last = program.statements[fusionGroup.statements.back()];
  ArrayId result = last.target;
  Array vectors = program.arrays[result];
  vectors.kind = Array::Kind::Intermediate;
  vectors.outputs.clear();
  vectors.rowMajor = false;
  vectors.layout = layout;
  vectors.storedExtents.clear();
  for (AffineExpr index : layout.getResults())
    vectors.storedExtents.push_back(
        vectors.extents[cast<AffineDimExpr>(index).getPosition()]);
  ArrayId stored = program.addArray(std::move(vectors));
  Statement copy = makeStore(program, stored, result, last.loc);
  for (unsigned number : fusionGroup.statements) {
    Statement &statement = program.statements[number];
    redirect(statement, result, stored);
    if (statement.target == result)
      statement.target = stored;
  }
  program.statements.push_back(std::move(copy));
  return {{unsigned(program.statements.size() - 1)}, program.getRank(result)};
}

ArrayId Renumberer::replace(ArrayId number) {
  Array array = program.arrays[number];
  ArrayRef<AffineExpr> own = ArrayRef(program.arrays[number].extents)
                                 .drop_front(renumbering.before.size());
  // The order in memory stays as it was chosen if dimensions keep their places.
  bool keepPlaces = own.empty() && array.layout &&
                    array.layout.isPermutation() &&
                    array.extents.size() == renumbering.extents.size();
  for (unsigned place = 0; keepPlaces && place < array.extents.size(); ++place)
    for (unsigned dim = 0; dim < array.extents.size(); ++dim)
      keepPlaces &=
          dim == place || !renumbering.before[place].isFunctionOfDim(dim);
  if (!keepPlaces)
    array.layout = {};
  SmallVector<AffineExpr> extents = renumbering.extents;
  llvm::append_range(extents, own);
  array.extents = std::move(extents);
  array.storedExtents.clear();
  if (array.layout)
    for (AffineExpr index : array.layout.getResults())
      array.storedExtents.push_back(
          array.extents[cast<AffineDimExpr>(index).getPosition()]);
  return replacement[number] = program.addArray(std::move(array));
}

/// Without quotients of dimensions that end before the divisor.
static AffineExpr dropQuotients(AffineExpr expr, ArrayRef<AffineExpr> extents) {
  llvm::DenseMap<AffineExpr, AffineExpr> simple;
  expr.walk([&](AffineExpr part) {
    if (part.getKind() != AffineExprKind::FloorDiv &&
        part.getKind() != AffineExprKind::Mod)
      return;
    auto division = cast<AffineBinaryOpExpr>(part);
    auto dim = dyn_cast<AffineDimExpr>(division.getLHS());
    auto divisor = dyn_cast<AffineConstantExpr>(division.getRHS());
    auto extent = dim ? dyn_cast<AffineConstantExpr>(extents[dim.getPosition()])
                      : AffineConstantExpr();
    if (extent && divisor && extent.getValue() <= divisor.getValue())
      simple[part] = part.getKind() == AffineExprKind::Mod
                         ? division.getLHS()
                         : getAffineConstantExpr(0, expr.getContext());
  });
  return expr.replace(simple);
}

Statement espalier::graphtopoly::substitute(const StatementList &program,
                                            const Statement &statement,
                                            ArrayRef<AffineExpr> dims,
                                            ArrayRef<AffineExpr> extents) {
  Statement result = statement;
  result.extents.assign(extents.begin(), extents.end());
  // A dimension keeps the name that it has alone.
  result.names.assign(extents.size(), "");
  for (auto [name, expr] : llvm::zip(statement.names, dims))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      result.names[dim.getPosition()] = name;
  // Which entry it is stays the last dimension, as the condition knows it.
  assert(!result.entries ||
         dims.back() == getAffineDimExpr(extents.size() - 1, program.context));
  if (result.entries)
    result.entries->row =
        program.simplify(result.entries->row.replaceDims(dims));
  for (Piece &piece : result.pieces) {
    // Indices are simplified as a whole: terms cancel.
    piece.value = transform(piece.value, [&](Expr e) -> Expr {
      if (e.getKind() == Expr::Kind::Variable)
        return program.expression(dims[e.getVariable()]);
      if (e.getKind() != Expr::Kind::Access)
        return {};
      SmallVector<Expr> indices;
      for (Expr index : e.getOperands()) {
        std::optional<AffineExpr> affine = program.affine(index);
        indices.push_back(affine ? program.expression(program.simplify(
                                       dropQuotients(*affine, extents)))
                                 : index);
      }
      return access(e.getTensor(), indices, e.getType());
    });
    for (Condition &condition : piece.domain)
      condition.expr = program.simplify(condition.expr.replaceDims(dims));
  }
  return result;
}

Statement Renumberer::apply(const Statement &statement) const {
  unsigned numBefore = renumbering.before.size();
  unsigned numShared = renumbering.extents.size();
  SmallVector<AffineExpr> dims(renumbering.before),
      extents(renumbering.extents);
  for (unsigned dim = numBefore; dim < statement.getNumDims(); ++dim) {
    dims.push_back(
        getAffineDimExpr(dim - numBefore + numShared, program.context));
    extents.push_back(statement.extents[dim]);
  }
  Statement result = substitute(program, statement, dims, extents);
  for (Piece &piece : result.pieces)
    piece.value = transform(piece.value, [&](Expr e) -> Expr {
      if (e.getKind() != Expr::Kind::Access)
        return {};
      auto known = replacement.find(e.getTensor().number);
      if (known == replacement.end())
        return {};
      SmallVector<Expr> indices;
      for (unsigned dim = 0; dim < numShared; ++dim)
        indices.push_back(variable(dim, program.context));
      llvm::append_range(indices, e.getOperands().drop_front(numBefore));
      return access(TensorRef::operand(known->second), indices, e.getType());
    });
  auto known = replacement.find(statement.target);
  if (known != replacement.end())
    result.target = known->second;
  else if (statement.targetIndices.empty())
    result.targetIndices.assign(
        dims.begin(), dims.begin() + program.getRank(statement.target));
  else
    for (AffineExpr &index : result.targetIndices)
      index = program.simplify(index.replaceDims(dims));
  return result;
}
