//===- OperatorWork.cpp - What operators do, from their definitions -------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/Search/GraphOperators.h"
#include "mlir/IR/Block.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::substitution;
using Form = OperatorWork::Form;

static bool isRead(Expr expr) {
  return expr.getKind() == Expr::Kind::Access && expr.getTensor().isOperand();
}

/// Whether elements are read where the result has them, along some dimensions.
static bool isPlain(Expr access) {
  return llvm::all_of(access.getOperands(), [](Expr index) {
    return index.getKind() == Expr::Kind::Variable ||
           index.getKind() == Expr::Kind::Constant;
  });
}

static Form getForm(const Definition &definition) {
  if (definition.steps.size() == 1 && isRead(definition.steps[0].value)) {
    bool dependsOnData = false;
    for (Expr index : definition.steps[0].value.getOperands())
      walk(index, [&](Expr expr) {
        dependsOnData |= expr.getKind() == Expr::Kind::Access;
      });
    return dependsOnData ? Form::Kernel : Form::View;
  }
  bool isElementwise = true;
  for (const Step &step : definition.steps)
    walk(step.value, [&](Expr expr) {
      bool decidesByPlace =
          expr.getKind() == Expr::Kind::Apply &&
          llvm::any_of(expr.getOperands(), [](Expr operand) {
            return operand.getType() && operand.getType().isIndex();
          });
      isElementwise &= !decidesByPlace &&
                       expr.getKind() != Expr::Kind::Reduce &&
                       (expr.getKind() != Expr::Kind::Access || isPlain(expr));
    });
  return isElementwise ? Form::Elementwise : Form::Kernel;
}

static RankedTensorType fix(RankedTensorType type, int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  llvm::replace(shape, ShapedType::kDynamic, extent);
  return RankedTensorType::get(shape, type.getElementType());
}

OperatorWork espalier::substitution::getWork(const OperatorInstance &instance,
                                             int64_t assumedExtent) {
  OpBuilder builder(instance.result.getContext());
  Location loc = builder.getUnknownLoc();
  Block block;
  builder.setInsertionPointToEnd(&block);
  OperatorInstance plain = instance;
  plain.result = fix(instance.result, assumedExtent);
  for (RankedTensorType &operand : plain.operands) {
    operand = fix(operand, assumedExtent);
    block.addArgument(operand, loc);
  }
  Value result = createOperation(
      builder, loc, plain, llvm::to_vector_of<Value>(block.getArguments()));
  auto op = result.getDefiningOp<graph::DefinedOpInterface>();
  if (!op)
    return {};
  FailureOr<Definition> definition = op.getDefinition([](const Twine &) {});
  if (failed(definition))
    return {};
  OperatorWork work{getForm(*definition)};
  auto types = llvm::map_to_vector(
      llvm::make_filter_range(op->getOperandTypes(),
                              llvm::IsaPred<RankedTensorType>),
      llvm::CastTo<RankedTensorType>);
  if (std::optional<Cost> cost = estimateCost(*definition, types))
    work.flops = work.form == Form::Kernel ? cost->reducedFlops : cost->flops;
  return work;
}
