//===- SeparateAccumulators.cpp - Where reductions accumulate -------------===//

#include "StatementList.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

llvm::DenseSet<ArrayId>
espalier::graphtopoly::findEscaping(const StatementList &program,
                                    ArrayRef<FusionGroup> fusionGroups) {
  llvm::DenseMap<ArrayId, unsigned> writer;
  llvm::DenseSet<ArrayId> escaping;
  for (auto [number, fusionGroup] : llvm::enumerate(fusionGroups))
    for (unsigned statement : fusionGroup.statements) {
      ArrayId target = program.statements[statement].target;
      if (writer.try_emplace(target, number).first->second != number)
        escaping.insert(target);
    }
  for (auto [number, fusionGroup] : llvm::enumerate(fusionGroups))
    for (unsigned statement : fusionGroup.statements)
      for (ArrayId array : getReads(program.statements[statement])) {
        ArrayId base = program.getBase(array);
        auto it = writer.find(base);
        if (it != writer.end() && (it->second != number || base != array))
          escaping.insert(base);
      }
  for (auto [number, array] : llvm::enumerate(program.arrays))
    if (!array.outputs.empty())
      escaping.insert(program.getBase(number));
  return escaping;
}

Statement espalier::graphtopoly::makeStore(const StatementList &program,
                                           ArrayId source, ArrayId target,
                                           Location loc) {
  Statement store{target, loc, program.arrays[target].extents, {}};
  SmallVector<Expr> indices;
  for (unsigned dim = 0; dim < program.getRank(target); ++dim)
    indices.push_back(variable(dim, program.context));
  Expr element = access(TensorRef::operand(source), indices,
                        program.arrays[source].elementType);
  store.pieces.push_back(
      {{}, cast(program.arrays[target].elementType, element)});
  return store;
}

void espalier::graphtopoly::separateAccumulators(
    StatementList &program, MutableArrayRef<FusionGroup> fusionGroups) {
  llvm::DenseSet<ArrayId> escaping = findEscaping(program, fusionGroups);
  for (FusionGroup &fusionGroup : fusionGroups) {
    SmallVector<unsigned> order;
    for (unsigned number : fusionGroup.statements) {
      order.push_back(number);
      ArrayId target = program.statements[number].target;
      if (!program.statements[number].reduction ||
          program.statements[number].recurrence || !escaping.contains(target))
        continue;
      Array accumulator = program.arrays[target];
      accumulator.outputs.clear();
      accumulator.fusion.reset();
      ArrayId local = program.addArray(std::move(accumulator));
      program.statements[number].target = local;
      for (unsigned reader : fusionGroup.statements)
        redirect(program.statements[reader], target, local);
      order.push_back(program.statements.size());
      const Statement &sum = program.statements[number];
      Statement store = makeStore(program, local, target, sum.loc);
      if (sum.names.size() == sum.getNumDims() && sum.targetIndices.empty())
        store.names.assign(sum.names.begin(),
                           sum.names.begin() + store.getNumDims());
      program.statements.push_back(std::move(store));
    }
    fusionGroup.statements = order;
  }
}
