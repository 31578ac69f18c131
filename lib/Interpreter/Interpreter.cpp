//===- Interpreter.cpp - Runs functions of graph operators ----------------===//

#include "espalier/Interpreter/Interpreter.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::interpreter;

namespace {
class FunctionRunner {
public:
  explicit FunctionRunner(func::FuncOp function) : function(function) {}

  FailureOr<SmallVector<Tensor>> run(ArrayRef<Tensor> inputs) {
    if (failed(bindArguments(inputs)))
      return failure();
    Block &body = function.getBody().front();
    if (failed(runBlock(body)))
      return failure();
    SmallVector<Tensor> results;
    for (Value value : body.getTerminator()->getOperands()) {
      auto known = tensors.find(value);
      if (known == tensors.end())
        return function.emitError("expects results that are tensors, but got ")
               << value.getType();
      results.push_back(known->second);
    }
    return results;
  }

private:
  LogicalResult bindArguments(ArrayRef<Tensor> inputs) {
    if (!llvm::hasSingleElement(function.getBody()))
      return function.emitError("expects a function with one block, but got ")
             << function.getBody().getBlocks().size();
    if (inputs.size() != function.getNumArguments())
      return function.emitError("expects ")
             << function.getNumArguments() << " inputs, but got "
             << inputs.size();
    for (auto [argument, input] :
         llvm::zip_equal(function.getArguments(), inputs)) {
      bool fits =
          isa<RankedTensorType>(argument.getType()) &&
          getElementTypeOrSelf(argument.getType()) == input.getElementType() &&
          succeeded(verifyCompatibleShape(argument.getType(), input.getType()));
      if (!fits)
        return function.emitError("expects input #")
               << argument.getArgNumber() << " of type " << argument.getType()
               << ", but got " << input.getType();
      tensors.try_emplace(argument, input);
      if (failed(checkNames(argument, input)))
        return failure();
    }
    for (auto [argument, input] :
         llvm::zip_equal(function.getArguments(), inputs))
      if (failed(checkValues(argument.getArgNumber(), input)))
        return failure();
    return success();
  }

  /// What the values of an input are less than, if that is said: a number, the
  /// name of a size, or both.
  std::optional<int64_t> getBound(unsigned argument) {
    Attribute attr = function.getArgAttr(argument, "espalier.bound");
    auto number = dyn_cast_or_null<IntegerAttr>(attr);
    auto name = dyn_cast_or_null<StringAttr>(attr);
    auto sum = dyn_cast_or_null<ArrayAttr>(attr);
    if (sum && sum.size() == 2) {
      name = dyn_cast<StringAttr>(sum[0]);
      number = dyn_cast<IntegerAttr>(sum[1]);
    }
    if (!number && !name)
      return std::nullopt;
    int64_t size = 0;
    if (name) {
      auto known = namedExtents.find(name.getValue());
      if (known == namedExtents.end())
        return std::nullopt;
      size = known->second.first;
    }
    return size + (number ? number.getInt() : 0);
  }

  LogicalResult checkValues(unsigned argument, const Tensor &input) {
    std::optional<int64_t> bound = getBound(argument);
    if (!bound || !input.getElementType().isInteger())
      return success();
    for (int64_t place = 0; place < input.getNumElements(); ++place) {
      int64_t value = input.getInteger(place);
      if (value < 0 || value >= *bound)
        return function.emitError("expects values of input #")
               << argument << " from 0 to less than " << *bound << ", but got "
               << value << " in element " << place;
    }
    return success();
  }

  /// Checks that extents of one name are equal.
  LogicalResult checkNames(BlockArgument argument, const Tensor &input) {
    unsigned number = argument.getArgNumber();
    auto names = function.getArgAttrOfType<ArrayAttr>(number, "espalier.dims");
    if (!names)
      return success();
    for (auto [dim, name, extent] :
         llvm::enumerate(names.getAsRange<StringAttr>(), input.getShape())) {
      if (name.empty())
        continue;
      auto [known, isNew] =
          namedExtents.try_emplace(name.getValue(), extent, number);
      auto [expected, first] = known->second;
      if (expected != extent)
        return function.emitError("expects input #")
               << number << " with " << name.getValue() << " = " << expected
               << " in dimension " << dim << " as in input #" << first
               << ", but got " << extent;
    }
    return success();
  }

  LogicalResult runBlock(Block &block) {
    for (Operation &op : block.without_terminator()) {
      if (failed(runOperation(&op)))
        return failure();
      release(&op);
    }
    return success();
  }

  LogicalResult runOperation(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case([&](graph::ConstantOp constant) { return runConstant(constant); })
        .Case([&](graph::DefinedOpInterface defined) {
          return runDefined(defined);
        })
        .Case([&](tensor::DimOp dim) { return runDim(dim); })
        .Case([&](tensor::CastOp cast) { return runCast(cast); })
        .Case([&](scf::IfOp choice) { return runIf(choice); })
        .Default([&](Operation *op) { return runOnIndices(op); });
  }

  LogicalResult runConstant(graph::ConstantOp op) {
    FailureOr<Tensor> value = Tensor::get(op.getValueAttr());
    if (failed(value))
      return op.emitOpError("expects a value that is present, but got ")
             << op.getType() << " without bytes";
    tensors.try_emplace(op.getResult(), *value);
    return success();
  }

  LogicalResult runDefined(graph::DefinedOpInterface op) {
    SmallVector<Tensor> operands;
    for (Value operand : op.getTensorOperands())
      operands.push_back(tensors.find(operand)->second);
    SmallVector<int64_t> parameters;
    for (Value operand : op.getParameterOperands())
      parameters.push_back(indices.lookup(operand).getInt());
    definition::Definition definition = op.getVerifiedDefinition();
    FailureOr<SmallVector<Tensor>> results =
        evaluate(definition, operands, parameters,
                 [&](const Twine &reason) { op->emitOpError(reason); });
    if (failed(results) ||
        failed(checkExtents(op, definition, operands, parameters)))
      return failure();
    for (auto [value, result] : llvm::zip_equal(op->getResults(), *results)) {
      if (failed(verifyCompatibleShape(value.getType(), result.getType())))
        return op->emitOpError("expects a result of type ")
               << value.getType() << ", but got " << result.getType();
      tensors.try_emplace(value, result);
    }
    return success();
  }

  /// Checks that no extent of a result is negative, unless its type has it as
  /// 0: a window may be larger than what it slides over.
  LogicalResult checkExtents(graph::DefinedOpInterface op,
                             const definition::Definition &definition,
                             ArrayRef<Tensor> operands,
                             ArrayRef<int64_t> parameters) {
    auto types = llvm::map_to_vector(
        operands, [](const Tensor &operand) { return operand.getType(); });
    SmallVector<std::optional<int64_t>> known(parameters);
    for (auto [type, result] :
         llvm::zip_equal(op->getResultTypes(), definition.results))
      for (auto [dim, index] :
           llvm::enumerate(definition.steps[result].indices)) {
        int64_t extent = evaluateExtent(index.extent, definition, types, known);
        if (extent < 0 && cast<RankedTensorType>(type).isDynamicDim(dim))
          return op->emitOpError("expects a result without negative extents, "
                                 "but got ")
                 << extent << " where 0 is the least";
      }
    return success();
  }

  LogicalResult runDim(tensor::DimOp op) {
    const Tensor &source = tensors.find(op.getSource())->second;
    int64_t dim = indices.lookup(op.getIndex()).getInt();
    if (dim < 0 || dim >= static_cast<int64_t>(source.getShape().size()))
      return op.emitOpError("expects a dimension below the rank, but got ")
             << dim;
    setIndex(op.getResult(), source.getShape()[dim]);
    return success();
  }

  LogicalResult runCast(tensor::CastOp op) {
    Tensor value = tensors.find(op.getSource())->second;
    if (failed(verifyCompatibleShape(op.getType(), value.getType())))
      return op.emitOpError("expects a tensor of type ")
             << op.getType() << ", but got " << value.getType();
    tensors.try_emplace(op.getResult(), value);
    return success();
  }

  LogicalResult runIf(scf::IfOp op) {
    Block *block = indices.lookup(op.getCondition()).getValue().isOne()
                       ? op.thenBlock()
                       : op.elseBlock();
    if (!block)
      return success();
    if (failed(runBlock(*block)))
      return failure();
    for (auto [result, value] :
         llvm::zip_equal(op.getResults(), op.thenBlock() == block
                                              ? op.thenYield().getOperands()
                                              : op.elseYield().getOperands())) {
      auto known = tensors.find(value);
      if (known == tensors.end()) {
        indices[result] = indices.lookup(value);
        continue;
      }
      Tensor tensor = known->second;
      tensors.try_emplace(result, tensor);
    }
    return success();
  }

  /// Arithmetic on indices is that of the folders.
  LogicalResult runOnIndices(Operation *op) {
    SmallVector<Attribute> operands;
    for (Value operand : op->getOperands())
      operands.push_back(indices.lookup(operand));
    SmallVector<OpFoldResult> results;
    bool isArith = isa<arith::ArithDialect>(op->getDialect());
    if (isArith && op->getNumResults() == 1 &&
        succeeded(op->fold(operands, results)) && results.size() == 1) {
      if (auto value = dyn_cast<Value>(results.front()))
        results.front() = indices.lookup(value);
      if (auto value = dyn_cast_or_null<IntegerAttr>(
              dyn_cast<Attribute>(results.front()))) {
        indices[op->getResult(0)] = value;
        return success();
      }
    }
    return op->emitOpError(
        "expects an operation that the interpreter knows: "
        "graph operators, tensor.dim, tensor.cast, scf.if, arithmetic on "
        "indices");
  }

  void setIndex(Value value, int64_t index) {
    indices[value] = IntegerAttr::get(value.getType(), index);
  }

  /// Drops the tensors of its block that `op` was the last to use.
  void release(Operation *op) {
    Block *block = op->getBlock();
    for (Value operand : op->getOperands()) {
      if (operand.getParentBlock() != block)
        continue;
      bool isUsedLater = llvm::any_of(operand.getUsers(), [&](Operation *user) {
        return op->isBeforeInBlock(block->findAncestorOpInBlock(*user));
      });
      if (!isUsedLater)
        tensors.erase(operand);
    }
  }

  func::FuncOp function;
  /// By name, with the first argument that has it.
  llvm::StringMap<std::pair<int64_t, unsigned>> namedExtents;
  llvm::DenseMap<Value, Tensor> tensors;
  llvm::DenseMap<Value, IntegerAttr> indices;
};
} // namespace

FailureOr<SmallVector<Tensor>>
espalier::interpreter::interpret(func::FuncOp function,
                                 ArrayRef<Tensor> inputs) {
  return FunctionRunner(function).run(inputs);
}

FailureOr<SmallVector<Tensor>>
espalier::interpreter::interpret(ModuleOp module, ArrayRef<Tensor> inputs) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return module.emitError("expects a function 'main' with a body");
  return interpret(main, inputs);
}
