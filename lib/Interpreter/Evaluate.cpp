//===- Evaluate.cpp - Evaluates definitions -------------------------------===//

#include "Program.h"
#include "espalier/Interpreter/Interpreter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace espalier::interpreter;
using namespace espalier::definition;

namespace {
class Evaluator {
public:
  Evaluator(const Definition &definition, ArrayRef<Tensor> operands,
            ArrayRef<int64_t> parameters,
            llvm::function_ref<void(const Twine &)> error, Rounding rounding)
      : definition(definition), operands(operands),
        parameters(parameters.begin(), parameters.end()), error(error),
        rounding(rounding) {
    for (const Tensor &operand : operands)
      types.push_back(operand.getType());
  }

  FailureOr<SmallVector<Tensor>> run() {
    if (failed(checkRequirements()))
      return failure();
    for (const Tensor &operand : operands) {
      kinds.push_back(*getElementKind(operand.getElementType()));
      shapes.push_back(llvm::to_vector(operand.getShape()));
      buffers.push_back(
          {operand.getBytes().data(), operand.getNumElements(), kinds.back()});
    }
    for (const Step &step : definition.steps)
      if (failed(allocate(step)))
        return failure();
    for (unsigned step = 0; step < definition.steps.size();) {
      unsigned end = findGroupEnd(step);
      if (failed(runGroup(step, end)))
        return failure();
      step = end;
    }
    return llvm::map_to_vector(
        definition.results, [&](unsigned result) { return results[result]; });
  }

private:
  int64_t getExtent(Expr extent) {
    return evaluateExtent(extent, definition, types, parameters);
  }

  LogicalResult checkRequirements() {
    for (const Requirement &requirement : definition.requirements) {
      if (*isMet(requirement, definition, types, parameters))
        continue;
      error(explain(requirement.kind, requirement.rule,
                    Twine(getExtent(requirement.value)),
                    Twine(getExtent(requirement.bound))));
      return failure();
    }
    return success();
  }

  /// Makes the tensor of a step.
  LogicalResult allocate(const Step &step) {
    SmallVector<int64_t> shape;
    for (const IndexVar &index : step.indices)
      shape.push_back(std::max<int64_t>(getExtent(index.extent), 0));
    std::optional<ElementKind> kind = getElementKind(step.elementType);
    auto type = RankedTensorType::get(shape, step.elementType);
    FailureOr<Tensor> tensor = Tensor::create(type);
    if (!kind || failed(tensor)) {
      std::string message;
      llvm::raw_string_ostream(message)
          << "expects a tensor that fits into memory, but got " << type;
      error(message);
      return failure();
    }
    kinds.push_back(*kind);
    shapes.push_back(shape);
    results.push_back(std::move(*tensor));
    buffers.push_back({results.back().getBytes().data(),
                       results.back().getNumElements(), *kind});
    return success();
  }

  /// The steps of a recurrence run together.
  unsigned findGroupEnd(unsigned begin) {
    const Step &first = definition.steps[begin];
    unsigned end = begin + 1;
    if (!first.recurrence)
      return end;
    int64_t length = getLength(begin);
    while (end < definition.steps.size() && definition.steps[end].recurrence &&
           getLength(end) == length)
      ++end;
    return end;
  }

  /// The number of time steps of a recurrence.
  int64_t getLength(unsigned step) {
    return shapes[operands.size() + step][*definition.steps[step].recurrence];
  }

  /// Replaces sizes and parameters by numbers.
  Expr resolve(Expr expr) {
    return transform(expr, [&](Expr part) -> Expr {
      bool isExtent = part.getKind() == Expr::Kind::Size ||
                      part.getKind() == Expr::Kind::Parameter;
      if (!isExtent)
        return {};
      return cast(part.getType(), constant(getExtent(part)));
    });
  }

  LogicalResult runGroup(unsigned begin, unsigned end) {
    SmallVector<Program> programs;
    for (unsigned number : llvm::seq(begin, end)) {
      Step step = definition.steps[number];
      step.value = resolve(step.value);
      Type indexType = IndexType::get(step.elementType.getContext());
      for (auto [index, extent] :
           llvm::zip_equal(step.indices, shapes[operands.size() + number]))
        index.extent = cast(indexType, constant(extent));
      FailureOr<Program> program =
          compile(step, shapes, kinds, operands.size(), rounding, error);
      if (failed(program))
        return failure();
      programs.push_back(std::move(*program));
    }
    SmallVector<Executor> executors(programs.begin(), programs.end());
    int64_t length = definition.steps[begin].recurrence ? getLength(begin) : 1;
    for (int64_t time = 0; time < length; ++time)
      for (auto [offset, executor] : llvm::enumerate(executors))
        executor.run(buffers, results[begin + offset].getMutableBytes().data(),
                     time);
    return success();
  }

  const Definition &definition;
  ArrayRef<Tensor> operands;
  SmallVector<std::optional<int64_t>> parameters;
  llvm::function_ref<void(const Twine &)> error;
  Rounding rounding;
  SmallVector<RankedTensorType> types;
  // Of the operands and then of the steps.
  SmallVector<ElementKind> kinds;
  SmallVector<SmallVector<int64_t>> shapes;
  SmallVector<Buffer> buffers;
  SmallVector<Tensor> results; ///< Of the steps.
};
} // namespace

FailureOr<SmallVector<Tensor>> espalier::interpreter::evaluate(
    const Definition &definition, ArrayRef<Tensor> operands,
    ArrayRef<int64_t> parameters, llvm::function_ref<void(const Twine &)> error,
    Rounding rounding) {
  return Evaluator(definition, operands, parameters, error, rounding).run();
}
