//===- Instantiate.cpp - Definitions inside of others ---------------------===//

#include "espalier/Definition/Instantiate.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;

namespace {
class Instantiation {
public:
  Instantiation(Definition &outer, const Definition &inner,
                ArrayRef<Argument> arguments, ArrayRef<IndexVar> indices,
                MLIRContext *context)
      : outer(outer), inner(inner), arguments(arguments), indices(indices),
        context(context), firstStep(outer.steps.size()),
        firstVar(outer.nextVar) {}

  SmallVector<TensorRef> run() {
    outer.nextVar += inner.nextVar;
    for (const Step &step : inner.steps)
      addStep(step);
    for (const Requirement &requirement : inner.requirements)
      addRequirement(requirement);
    return llvm::map_to_vector(inner.results,
                               [&](unsigned step) { return getStep(step); });
  }

private:
  TensorRef getStep(unsigned number) const {
    return TensorRef::step(firstStep + number);
  }

  void addStep(const Step &step) {
    assert(!step.recurrence && "recurrences are not instantiated");
    Step copy{step.name + std::to_string(outer.steps.size()),
              step.elementType,
              llvm::to_vector(indices),
              {},
              std::nullopt};
    for (const IndexVar &var : step.indices)
      copy.indices.push_back(rewrite(var));
    copy.value = rewrite(step.value);
    outer.addStep(std::move(copy));
  }

  void addRequirement(const Requirement &requirement) {
    Requirement copy = requirement;
    copy.value = rewrite(requirement.value);
    copy.bound = rewrite(requirement.bound);
    for (Expr &exception : copy.exceptions)
      exception = rewrite(exception);
    outer.requirements.push_back(std::move(copy));
  }

  IndexVar rewrite(const IndexVar &var) {
    return {firstVar + var.id, var.name, rewrite(var.extent)};
  }

  Expr rewrite(Expr expr) {
    return transform(expr, [&](Expr e) -> Expr {
      switch (e.getKind()) {
      case Expr::Kind::Variable:
        return variable(firstVar + e.getVariable(), context);
      case Expr::Kind::Size:
        return rewriteSize(e);
      case Expr::Kind::Access:
        return rewriteAccess(e);
      case Expr::Kind::Reduce:
        return renameVars(e);
      default:
        assert(e.getKind() != Expr::Kind::Parameter && "no parameters");
        return {};
      }
    });
  }

  Expr rewriteSize(Expr size) {
    TensorRef tensor = size.getTensor();
    if (!tensor.isOperand())
      return outer.getExtent(getStep(tensor.number),
                             indices.size() + size.getNumber(), context);
    const Argument &argument = arguments[tensor.number];
    return outer.getExtent(argument.tensor,
                           argument.leading.size() + size.getNumber(), context);
  }

  Expr rewriteAccess(Expr access) {
    TensorRef tensor = access.getTensor();
    SmallVector<Expr> at;
    if (tensor.isOperand()) {
      llvm::append_range(at, arguments[tensor.number].leading);
      tensor = arguments[tensor.number].tensor;
    } else {
      for (const IndexVar &index : indices)
        at.push_back(variable(index.id, context));
      tensor = getStep(tensor.number);
    }
    llvm::append_range(at, access.getOperands());
    return definition::access(tensor, at, access.getType());
  }

  /// The extents of the variables have been rewritten, their names not.
  Expr renameVars(Expr expr) {
    SmallVector<IndexVar> vars(expr.getReduceVars());
    for (IndexVar &var : vars)
      var.id += firstVar;
    return reduce(expr.getReduceKind(), vars, expr.getGuard(),
                  expr.getOperands()[0], expr.getType());
  }

  Definition &outer;
  const Definition &inner;
  ArrayRef<Argument> arguments;
  ArrayRef<IndexVar> indices;
  MLIRContext *context;
  unsigned firstStep;
  VarId firstVar;
};
} // namespace

SmallVector<TensorRef> definition::instantiate(Definition &outer,
                                               const Definition &inner,
                                               ArrayRef<Argument> arguments,
                                               ArrayRef<IndexVar> indices,
                                               MLIRContext *context) {
  return Instantiation(outer, inner, arguments, indices, context).run();
}
