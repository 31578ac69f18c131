//===- Boundaries.cpp - Where splits cut ----------------------------------===//

#include "espalier/Substitution/Boundaries.h"
#include "espalier/Substitution/Meaning.h"
#include "mlir/IR/MLIRContext.h"

using namespace espalier::substitution;
using namespace espalier::definition;

/// Of so many elements, wherever they begin: the place may lie outside of them.
static bool isNumber(const Expr &extent) {
  return extent.getKind() == Expr::Kind::Constant ||
         (extent.getKind() == Expr::Kind::Cast &&
          isNumber(extent.getOperands()[0]));
}

Trace espalier::substitution::getTrace(const Definition &definition) {
  const Step &step = definition.steps[definition.results[0]];
  Trace trace(step.indices.size());
  walk(step.value, [&](Expr expr) {
    if (expr.getKind() != Expr::Kind::Access || !expr.getTensor().isOperand())
      return;
    for (auto [from, index] : llvm::enumerate(expr.getOperands()))
      for (auto [to, var] : llvm::enumerate(step.indices))
        if (index.getKind() == Expr::Kind::Variable &&
            index.getVariable() == var.id && !isNumber(var.extent))
          trace[to].push_back({expr.getTensor().number, from});
  });
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
    entry->second = getTrace(meaning->definition);
  return entry->second;
}
