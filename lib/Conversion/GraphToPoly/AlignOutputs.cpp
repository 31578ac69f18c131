//===- AlignOutputs.cpp - Results in another order than computed ----------===//
//
// A map whose result only the caller sees may run over its operand's indices in
// the operand's order, and store each element where it belongs:
//
//   Y[n, y, x, f] = relu(C[n, f, y, x])    over n, y, x, f
//
// runs over n, f, y, x instead, and joins the kernel that computes C, if that
// is a sum or another reduction.
//
//===----------------------------------------------------------------------===//

#include "Renumber.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// The dimension at each index of a reduction's result that `statement`
/// reads, if these are all of its dimensions in another order.
static std::optional<SmallVector<unsigned>>
getOrder(const StepProgram &program, const Statement &statement,
         const llvm::DenseSet<ArrayId> &reductions) {
  std::optional<SmallVector<unsigned>> order;
  forEachAccess(statement, [&](Expr access) {
    if (!reductions.contains(access.getTensor().number) || order)
      return;
    SmallVector<unsigned> dims;
    for (Expr index : access.getOperands())
      if (index.getKind() == Expr::Kind::Variable &&
          !llvm::is_contained(dims, index.getVariable()))
        dims.push_back(index.getVariable());
    if (dims.size() == statement.getNumDims() &&
        dims.size() == access.getOperands().size())
      order = dims;
  });
  if (!order || llvm::is_sorted(*order))
    return std::nullopt;
  return order;
}

void espalier::graphtopoly::alignOutputs(StepProgram &program) {
  std::vector<SmallVector<unsigned, 2>> readers = findReaders(program);
  llvm::DenseSet<ArrayId> viewed, reductions;
  for (const Array &array : program.arrays)
    if (array.reshapeOf)
      viewed.insert(*array.reshapeOf);
  for (Statement &statement : program.statements) {
    if (statement.reduction)
      reductions.insert(statement.target);
    if (statement.reduction || statement.recurrence ||
        !readers[statement.target].empty() || viewed.contains(statement.target))
      continue;
    std::optional<SmallVector<unsigned>> order =
        getOrder(program, statement, reductions);
    if (!order)
      continue;
    Renumbering renumbering;
    renumbering.before.resize(order->size());
    for (auto [place, dim] : llvm::enumerate(*order)) {
      renumbering.extents.push_back(statement.extents[dim]);
      renumbering.before[dim] = getAffineDimExpr(place, program.context);
    }
    statement = Renumberer(program, renumbering).apply(statement);
  }
}
