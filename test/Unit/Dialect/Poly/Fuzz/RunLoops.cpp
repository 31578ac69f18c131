//===- RunLoops.cpp - The loops of a schedule, interpreted ----------------===//

#include "Execute.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;
using namespace espalier::poly::fuzz;
using polyhedral::AstCondition;
using polyhedral::AstExpr;
using polyhedral::AstNode;

namespace {
/// Values of the loops' iterators.
using Iterators = SmallVector<int64_t, 16>;

class LoopRunner {
public:
  LoopRunner(const Statements &statements,
             ArrayRef<polyhedral::LoopSet> privateLoops, Random *random,
             Memory &memory, std::string &fault)
      : statements(statements), privateLoops(privateLoops), memory(memory),
        random(random), fault(fault) {}

  void run(const AstNode &node, Iterators &iterators);

private:
  void runFor(const AstNode &node, Iterators &iterators);
  void runParallel(const AstNode &node, Iterators &iterators,
                   SmallVector<int64_t> values);
  /// Runs a node for several lanes, statement by statement.
  void runLanes(const AstNode &node, MutableArrayRef<Iterators> lanes);
  void runCall(const AstNode &node, ArrayRef<Iterators> lanes);
  int64_t get(const AstExpr &expr, ArrayRef<int64_t> iterators) const;
  bool holds(const AstCondition &condition, ArrayRef<int64_t> iterators) const;

  const Statements &statements;
  /// For each of the program's storages.
  ArrayRef<polyhedral::LoopSet> privateLoops;
  const AstNode *vectorLoop = nullptr; ///< Whose lanes run.
  Memory &memory;
  Random *random;
  std::string &fault;
};
} // namespace

int64_t LoopRunner::get(const AstExpr &expr,
                        ArrayRef<int64_t> iterators) const {
  switch (expr.kind) {
  case AstExpr::Kind::Affine:
    return evaluate(expr.affine, iterators, statements.getParameters());
  case AstExpr::Kind::Select:
    return get(expr.operands[holds(*expr.condition, iterators) ? 0 : 1],
               iterators);
  case AstExpr::Kind::Max:
  case AstExpr::Kind::Min:
    break;
  }
  int64_t value = get(expr.operands[0], iterators);
  for (const AstExpr &operand : expr.operands) {
    int64_t other = get(operand, iterators);
    value = expr.kind == AstExpr::Kind::Max ? std::max(value, other)
                                            : std::min(value, other);
  }
  return value;
}

bool LoopRunner::holds(const AstCondition &condition,
                       ArrayRef<int64_t> iterators) const {
  auto check = [&](const AstCondition &part) { return holds(part, iterators); };
  switch (condition.kind) {
  case AstCondition::Kind::True:
    return true;
  case AstCondition::Kind::NonNegative:
    return get(condition.value, iterators) >= 0;
  case AstCondition::Kind::Zero:
    return get(condition.value, iterators) == 0;
  case AstCondition::Kind::And:
    return llvm::all_of(condition.operands, check);
  case AstCondition::Kind::Or:
    return llvm::any_of(condition.operands, check);
  case AstCondition::Kind::Not:
    return !check(condition.operands[0]);
  }
  llvm_unreachable("unknown kind");
}

void LoopRunner::runParallel(const AstNode &node, Iterators &iterators,
                             SmallVector<int64_t> values) {
  if (random)
    random->shuffle(values);
  else
    std::reverse(values.begin(), values.end());
  for (int64_t value : values) {
    iterators[node.iterator] = value;
    // Each iteration has private arrays of its own.
    SmallVector<std::pair<unsigned, Memory::Values>> outer;
    for (auto [storage, loops] :
         llvm::zip_equal(statements.getModel().program.storages, privateLoops))
      if (loops.contains(node.member))
        outer.push_back(
            {storage.array,
             std::exchange(memory.getValues(storage.array), Memory::Values())});
    run(*node.children.front(), iterators);
    for (auto &[array, saved] : outer)
      memory.getValues(array) = std::move(saved);
  }
}

void LoopRunner::runFor(const AstNode &node, Iterators &iterators) {
  if (iterators.size() <= node.iterator)
    iterators.resize(node.iterator + 1);
  SmallVector<int64_t> values;
  for (int64_t value = get(node.lower, iterators),
               end = get(node.upper, iterators);
       value < end; value += node.step)
    values.push_back(value);
  auto kind = dyn_cast_or_null<LoopKindAttrInterface>(node.tag);
  if (kind && kind.isParallel())
    return runParallel(node, iterators, values);
  if (!kind || !kind.isVector()) {
    for (int64_t value : values) {
      iterators[node.iterator] = value;
      run(*node.children.front(), iterators);
    }
    return;
  }
  SmallVector<Iterators, 0> lanes;
  for (int64_t value : values) {
    lanes.push_back(iterators);
    lanes.back()[node.iterator] = value;
  }
  vectorLoop = &node;
  runLanes(*node.children.front(), lanes);
  vectorLoop = nullptr;
}

void LoopRunner::runCall(const AstNode &node, ArrayRef<Iterators> lanes) {
  if (vectorLoop &&
      lanes.back()[vectorLoop->iterator] -
              lanes.front()[vectorLoop->iterator] >=
          cast<LoopAttr>(vectorLoop->tag).getWidth() * vectorLoop->step)
    fault = "a vector loop has more lanes than its width";
  SmallVector<std::pair<Instance, Point>> calls;
  for (const Iterators &iterators : lanes) {
    Instance instance{node.statement, {}};
    for (AffineExpr value : node.values)
      instance.point.push_back(
          evaluate(value, iterators, statements.getParameters()));
    if (!statements.runs(instance, memory, /*isStored=*/true))
      continue;
    Point reads = statements.read(instance, memory, /*isStored=*/true);
    calls.push_back({std::move(instance), std::move(reads)});
  }
  // The lanes of a reduction combine; those of others do not meet.
  SmallVector<unsigned> accumulators =
      statements.getAccumulators(node.statement);
  for (auto &[instance, reads] : calls) {
    if (!accumulators.empty()) {
      Point now = statements.read(instance, memory, /*isStored=*/true);
      for (unsigned number : accumulators)
        reads[number] = now[number];
    }
    statements.finish(instance, reads, memory, /*isStored=*/true);
  }
}

void LoopRunner::runLanes(const AstNode &node,
                          MutableArrayRef<Iterators> lanes) {
  if (lanes.empty())
    return;
  switch (node.kind) {
  case AstNode::Kind::Call:
    return runCall(node, lanes);
  case AstNode::Kind::For: // Of what a leaf leaves unordered.
    for (Iterators &iterators : lanes)
      run(node, iterators);
    return;
  case AstNode::Kind::Block:
  case AstNode::Kind::Mark:
    for (const polyhedral::Ast &child : node.children)
      runLanes(*child, lanes);
    return;
  case AstNode::Kind::If: {
    SmallVector<Iterators, 0> parts[2];
    for (Iterators &iterators : lanes)
      parts[holds(node.condition, iterators) ? 0 : 1].push_back(iterators);
    for (auto [part, child] : llvm::zip(parts, node.children))
      runLanes(*child, part);
    return;
  }
  }
}

void LoopRunner::run(const AstNode &node, Iterators &iterators) {
  switch (node.kind) {
  case AstNode::Kind::For:
    return runFor(node, iterators);
  case AstNode::Kind::Call:
    return runCall(node, iterators);
  case AstNode::Kind::Block:
  case AstNode::Kind::Mark:
    for (const polyhedral::Ast &child : node.children)
      run(*child, iterators);
    return;
  case AstNode::Kind::If:
    if (holds(node.condition, iterators))
      run(*node.children[0], iterators);
    else if (node.children.size() > 1)
      run(*node.children[1], iterators);
    return;
  }
}

void fuzz::runLoops(const Statements &statements, const AstNode &ast,
                    ArrayRef<polyhedral::LoopSet> privateLoops, Random *random,
                    Memory &memory, std::string &fault) {
  LoopRunner runner(statements, privateLoops, random, memory, fault);
  Iterators iterators;
  runner.run(ast, iterators);
}
