//===- EmitBlock.cpp - A block from an e-graph ----------------------------===//

#include "BlockGraph.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

namespace {
class Emitter {
public:
  Emitter(BlockGraph &block, const Choice &choice, RewriterBase &rewriter)
      : block(block), graph(block.graph), choice(choice), rewriter(rewriter) {}

  void run() {
    SmallVector<Operation *> old;
    for (Operation &op : *block.block)
      old.push_back(&op);
    DenseMap<const void *, ClassId> nodes;
    for (ENodeId id = 0; id < graph.getNumNodes(); ++id)
      if (graph.getNode(id).kind == ENode::Kind::Operation)
        nodes[graph.getNode(id).entity] = graph.find(graph.getNode(id).owner);
    for (Operation *barrier : block.barriers) {
      position = barrier;
      rewriter.setInsertionPoint(barrier);
      emit(nodes.lookup(barrier));
    }
    for (Operation *op : llvm::reverse(old))
      if (!kept.contains(op))
        rewriter.eraseOp(op);
  }

private:
  /// Computes a class, and what it needs first, at the insertion point.
  void emit(ClassId root) {
    SmallVector<std::pair<ClassId, unsigned>> stack{{graph.find(root), 0}};
    while (!stack.empty()) {
      ClassId current = stack.back().first;
      const ENode &node = graph.getNode(choice[current]);
      unsigned next = stack.back().second++;
      if (done.contains(current) || next == node.operands.size()) {
        if (done.insert(current).second)
          create(current, node);
        stack.pop_back();
        continue;
      }
      ClassId operand = graph.find(node.operands[next]);
      if (!done.contains(operand))
        stack.push_back({operand, 0});
    }
  }

  Value getValue(ClassId id) { return values.lookup(graph.find(id)); }

  void create(ClassId id, const ENode &node) {
    switch (node.kind) {
    case ENode::Kind::Value:
      values[id] = Value::getFromOpaquePointer(node.entity);
      return;
    case ENode::Kind::Result:
      values[id] = node.source->getResult(node.number);
      return;
    case ENode::Kind::Operation:
      keep(node);
      return;
    case ENode::Kind::Operator:
      break;
    }
    SmallVector<Value> operands;
    for (ClassId operand : node.operands)
      operands.push_back(getValue(operand));
    OperatorInstance instance = *graph.getInstance(choice[id]);
    // The attribute says in which order the result lies; other encodings stay.
    Attribute order =
        instance.attributes.get(graph::GraphDialect::getLayoutAttrName());
    if (order && order == getLayout(instance.result))
      instance.result = withLayout(instance.result, {});
    values[id] =
        createOperation(rewriter, node.source->getLoc(), instance, operands);
  }

  Value cast(Value value, Type type) {
    if (value.getType() == type)
      return value;
    return tensor::CastOp::create(rewriter, value.getLoc(), type, value);
  }

  /// Gives an operation its new operands.
  void keep(const ENode &node) {
    Operation *op = node.source;
    kept.insert(op);
    if (op != position)
      rewriter.moveOpBefore(op, position);
    for (unsigned number = 0; number < op->getNumOperands(); ++number) {
      Value value = cast(getValue(node.operands[number]),
                         op->getOperand(number).getType());
      rewriter.modifyOpInPlace(op, [&] { op->setOperand(number, value); });
    }
    for (auto [number, old] : llvm::enumerate(block.captured.lookup(op))) {
      Value value = getValue(node.operands[op->getNumOperands() + number]);
      rewriter.replaceUsesWithIf(
          old, cast(value, old.getType()), [&](OpOperand &use) {
            Operation *user =
                block.block->findAncestorOpInBlock(*use.getOwner());
            return user ? user == op && use.getOwner() != op
                        : op == block.barriers.back();
          });
    }
  }

  BlockGraph &block;
  const EGraph &graph;
  const Choice &choice;
  RewriterBase &rewriter;
  Operation *position = nullptr; ///< The barrier that comes next.
  DenseMap<ClassId, Value> values;
  DenseSet<ClassId> done;
  DenseSet<Operation *> kept;
};
} // namespace

void espalier::substitution::emitBlock(BlockGraph &block, const Choice &choice,
                                       RewriterBase &rewriter) {
  Emitter(block, choice, rewriter).run();
}
