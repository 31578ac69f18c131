//===- Boundaries.cpp - Where splits cut ----------------------------------===//

#include "espalier/Substitution/Boundaries.h"
#include "espalier/Substitution/OperatorSemantics.h"
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
  SemanticsCache semantics{context};
  std::map<const OperatorSemantics *, Trace> known;
  Trace none;
};

Traces::Traces() : state(std::make_unique<State>()) {}
Traces::~Traces() = default;

const Trace &Traces::get(const RuleNode &node, llvm::ArrayRef<unsigned> ranks) {
  std::string error;
  const OperatorSemantics *semantics = state->semantics.get(node, ranks, error);
  if (!semantics)
    return state->none;
  auto [entry, isNew] = state->known.try_emplace(semantics);
  if (isNew)
    entry->second = getTrace(semantics->definition);
  return entry->second;
}
