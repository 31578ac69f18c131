//===- StepLowering.cpp - One equation as statements ----------------------===//

#include "StepLowering.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

void StepLowering::declare(const IndexVar &var) {
  if (extents.contains(var.id))
    return;
  order.push_back(var.id);
  names[var.id] = var.name;
  extents[var.id] = program.addExtent(var.extent);
}

Expr StepLowering::extractReductions(Expr expr) {
  walk(expr, [&](Expr e) {
    if (e.getKind() == Expr::Kind::Reduce)
      for (const IndexVar &var : e.getReduceVars())
        declare(var);
  });
  return transform(expr, [&](Expr e) -> Expr {
    if (e.getKind() != Expr::Kind::Reduce)
      return {};
    return addReduction(e);
  });
}

void StepLowering::addStatement(ArrayId target, ArrayRef<VarId> vars,
                                Expr value, std::optional<ReduceKind> reduction,
                                Conjunction domain) {
  llvm::DenseMap<VarId, unsigned> position;
  Statement statement{target, loc, {}, {}, reduction, std::nullopt, 0};
  for (VarId var : vars) {
    position[var] = position.size();
    statement.extents.push_back(extents.lookup(var));
    statement.names.push_back(names.lookup(var));
    if (var == recurrenceVar) {
      statement.recurrence = position.size() - 1;
      statement.recurrenceGroup = recurrenceGroup;
      statement.levels = levels;
    }
  }
  SmallVector<AffineExpr> dims(order.empty() ? 0
                                             : *llvm::max_element(order) + 1,
                               getAffineConstantExpr(0, program.context));
  for (auto [var, place] : position)
    dims[var] = getAffineDimExpr(place, program.context);
  for (Condition &condition : domain)
    condition.expr = condition.expr.replaceDims(dims);
  value = transform(value, [&](Expr e) -> Expr {
    if (e.getKind() != Expr::Kind::Variable)
      return {};
    return variable(position.lookup(e.getVariable()), program.context);
  });
  statement.pieces.push_back({std::move(domain), value});
  program.statements.push_back(std::move(statement));
}

SmallVector<VarId> StepLowering::getFreeVars(Expr expr,
                                             ArrayRef<IndexVar> bound) {
  llvm::SmallDenseSet<VarId> used;
  walk(expr, [&](Expr e) {
    if (e.getKind() == Expr::Kind::Variable)
      used.insert(e.getVariable());
  });
  for (const IndexVar &var : bound)
    used.erase(var.id);
  // The steps of a recurrence are computed together, index by index.
  if (recurrenceVar)
    used.insert(*recurrenceVar);
  SmallVector<VarId> free;
  for (VarId var : order)
    if (used.contains(var))
      free.push_back(var);
  return free;
}

Expr StepLowering::addReduction(Expr reduce) {
  Expr body = reduce.getOperands()[0];
  Conjunction domain;
  auto [affine, rest] = separateAffine(program, reduce.getGuard());
  SmallVector<Conjunction> sets = *getConjunctions(program, affine);
  if (sets.size() == 1)
    domain = sets.front();
  else
    rest = reduce.getGuard();
  // A guard that depends on data decides between the summand and nothing.
  if (rest)
    body =
        select(rest, body, getNeutral(reduce.getReduceKind(), body.getType()));
  Type type = reduce.getType();
  if (body.getType() != type)
    body = cast(type, body);

  SmallVector<VarId> vars = getFreeVars(body, reduce.getReduceVars());
  for (const Condition &condition : domain)
    for (VarId var : order)
      if (condition.expr.isFunctionOfDim(var) &&
          !llvm::is_contained(vars, var) &&
          llvm::none_of(reduce.getReduceVars(),
                        [&](const IndexVar &v) { return v.id == var; }))
        vars.push_back(var);
  llvm::sort(vars, [&](VarId a, VarId b) {
    return llvm::find(order, a) < llvm::find(order, b);
  });

  Array sum{Array::Kind::Intermediate, loc};
  sum.elementType = type;
  SmallVector<Expr> indices;
  for (VarId var : vars) {
    sum.extents.push_back(extents.lookup(var));
    indices.push_back(variable(var, program.context));
  }
  ArrayId target = program.addArray(std::move(sum));
  SmallVector<VarId> all(vars);
  for (const IndexVar &var : reduce.getReduceVars())
    all.push_back(var.id);
  addStatement(target, all, body, reduce.getReduceKind(), std::move(domain));
  return access(TensorRef::operand(target), indices, type);
}
