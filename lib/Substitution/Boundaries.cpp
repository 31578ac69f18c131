//===- Boundaries.cpp - Where splits cut ----------------------------------===//

#include "espalier/Substitution/Boundaries.h"
#include "espalier/Substitution/Meaning.h"
#include "mlir/IR/MLIRContext.h"

using namespace espalier::substitution;
using namespace espalier::definition;

Trace espalier::substitution::getTrace(const Node &node,
                                       const Definition &definition) {
  const Step &step = definition.steps[definition.results[0]];
  Trace trace(step.indices.size());
  walk(step.value, [&](Expr expr) {
    if (expr.getKind() != Expr::Kind::Access || !expr.getTensor().isOperand())
      return;
    for (auto [from, index] : llvm::enumerate(expr.getOperands()))
      for (auto [to, var] : llvm::enumerate(step.indices))
        if (index.getKind() == Expr::Kind::Variable &&
            index.getVariable() == var.id)
          trace[to].push_back({expr.getTensor().number, from});
  });
  // The place may lie outside of the slice, wherever that begins.
  if (node.is(OpKind::Slice))
    trace[node.params[0].first].clear();
  return trace;
}

struct Traces::State {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Meanings meanings{context};
  std::map<const Meaning *, Trace> known;
  Trace none;
};

Traces::Traces() : state(std::make_unique<State>()) {}
Traces::~Traces() = default;

const Trace &Traces::get(const Node &node, llvm::ArrayRef<unsigned> ranks) {
  std::string error;
  const Meaning *meaning = state->meanings.get(node, ranks, error);
  if (!meaning)
    return state->none;
  auto [entry, isNew] = state->known.try_emplace(meaning);
  if (isNew)
    entry->second = getTrace(node, meaning->definition);
  return entry->second;
}
