//===- ImportBlock.cpp - A block as an e-graph ----------------------------===//

#include "BlockGraph.h"
#include "espalier/Dialect/Graph/IR/RepeatsBody.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier::substitution;

namespace {
class Importer {
public:
  explicit Importer(BlockGraph &block) : block(block), graph(block.graph) {
    repeated = block.block->getParentOp();
    while (repeated &&
           !repeated->hasTrait<espalier::graph::OpTrait::RepeatsBody>())
      repeated = repeated->getParentOp();
  }

  void run() {
    for (Operation &op : *block.block) {
      for (Value operand : op.getOperands())
        if (!isComputed(operand))
          return;
      if (auto instance = getInstance(&op))
        addOperator(&op, *instance);
      else
        addOperation(&op);
    }
    block.root = lastBarrier;
  }

private:
  /// Code that is never reached may use values before they are computed.
  bool isComputed(Value value) {
    return value.getParentBlock() != block.block || !value.getDefiningOp() ||
           classes.contains(value);
  }

  ClassId getClass(Value value) {
    auto [entry, isNew] = classes.try_emplace(value, kNone);
    if (isNew) {
      ENode node;
      node.kind = ENode::Kind::Value;
      node.entity = value.getAsOpaquePointer();
      node.isInvariant =
          repeated &&
          !repeated->isAncestor(value.getParentRegion()->getParentOp());
      entry->second = graph.add(node, value.getType());
    }
    return entry->second;
  }

  void addOperator(Operation *op, const OperatorInstance &instance) {
    ENode node;
    node.symbol = graph.getSymbol(instance.name, instance.attributes);
    for (unsigned operand = 0; operand < instance.operands.size(); ++operand)
      node.operands.push_back(getClass(op->getOperand(operand)));
    node.source = op;
    classes[op->getResult(0)] = graph.add(node, instance.result);
    ++block.numOperators;
  }

  /// A barrier needs what its regions use, and the barrier before it.
  void addOperation(Operation *op) {
    ENode node;
    node.kind = ENode::Kind::Operation;
    node.entity = op;
    node.source = op;
    for (Value operand : op->getOperands())
      node.operands.push_back(getClass(operand));
    bool isBarrier =
        !isPure(op) || op->getNumRegions() != 0 || op == &block.block->back();
    if (isBarrier) {
      llvm::SetVector<Value> captured;
      getUsedValuesDefinedAbove(op->getRegions(), captured);
      for (Value value : captured)
        if (value.getParentBlock() == block.block)
          block.captured[op].push_back(value);
      if (op == &block.block->back())
        addOutputs(op);
      for (Value value : block.captured.lookup(op))
        node.operands.push_back(getClass(value));
      if (lastBarrier != kNone)
        node.operands.push_back(lastBarrier);
    }
    ClassId self = graph.add(node, Type());
    if (isBarrier) {
      lastBarrier = self;
      block.barriers.push_back(op);
    }
    for (OpResult result : op->getResults()) {
      ENode part;
      part.kind = ENode::Kind::Result;
      part.number = result.getResultNumber();
      part.operands.push_back(self);
      part.source = op;
      classes[result] = graph.add(part, result.getType());
    }
  }

  /// What other blocks use must be there at the end.
  void addOutputs(Operation *last) {
    for (Operation &op : *block.block)
      for (Value result : op.getResults())
        if (llvm::any_of(result.getUsers(), [&](Operation *user) {
              return !block.block->findAncestorOpInBlock(*user);
            }))
          block.captured[last].push_back(result);
  }

  BlockGraph &block;
  EGraph &graph;
  Operation *repeated; ///< What computes the block often; null if nothing does.
  DenseMap<Value, ClassId> classes;
  ClassId lastBarrier = kNone;
};
} // namespace

std::unique_ptr<BlockGraph> espalier::substitution::importBlock(Block &block) {
  auto result = std::make_unique<BlockGraph>(block);
  Importer(*result).run();
  return result;
}
