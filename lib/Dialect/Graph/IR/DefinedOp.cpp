//===- DefinedOp.cpp - Operators given by definitions ---------------------===//

#include "espalier/Dialect/Graph/IR/DefinedOp.h"
#include "espalier/Definition/Notation.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

SmallVector<Value> graph::detail::getTensors(ValueRange operands) {
  return llvm::filter_to_vector(operands, [](Value operand) {
    return isa<RankedTensorType>(operand.getType());
  });
}

SmallVector<RankedTensorType>
graph::detail::getTensorTypes(ValueRange operands) {
  return llvm::map_to_vector(getTensors(operands), [](Value operand) {
    return cast<RankedTensorType>(operand.getType());
  });
}

SmallVector<Value> graph::detail::getParameters(ValueRange operands) {
  return llvm::filter_to_vector(
      operands, [](Value operand) { return operand.getType().isIndex(); });
}

//===----------------------------------------------------------------------===//
// Verification and result types
//===----------------------------------------------------------------------===//

Definition graph::detail::getVerifiedDefinition(Operation *op) {
  FailureOr<Definition> definition =
      cast<DefinedOpInterface>(op).getDefinition([](const Twine &) {});
  assert(succeeded(definition) && "the operation is verified");
  return std::move(*definition);
}

bool graph::detail::areCompatible(TypeRange inferred, TypeRange actual) {
  return llvm::all_of_zip(inferred, actual, [](Type lhs, Type rhs) {
    return getElementTypeOrSelf(lhs) == getElementTypeOrSelf(rhs) &&
           succeeded(verifyCompatibleShape(lhs, rhs));
  });
}

LogicalResult graph::detail::verifyDefinition(Operation *op) {
  // What a symbol stands for is verified first.
  return isa<SymbolUserOpInterface>(op) ? success() : verifyResultTypes(op);
}

static LogicalResult checkExtents(const Definition &definition,
                                  ArrayRef<RankedTensorType> types,
                                  DefinitionError error) {
  for (const Step &step : definition.steps)
    for (auto [dim, index] : llvm::enumerate(step.indices))
      if (isTooLarge(index.extent, definition, types)) {
        error("expects extents of 64 bits, but that of dimension " +
              Twine(dim) + " of " + step.name + " has more");
        return failure();
      }
  return success();
}

LogicalResult graph::detail::verifyResultTypes(Operation *op) {
  auto defined = cast<DefinedOpInterface>(op);
  auto error = [&](const Twine &reason) { op->emitOpError(reason); };
  FailureOr<Definition> definition = defined.getDefinition(error);
  SmallVector<RankedTensorType> types =
      llvm::to_vector(defined.getTensorOperandTypes());
  if (failed(definition) || failed(checkExtents(*definition, types, error)))
    return failure();
  SmallVector<RankedTensorType> inferred = inferResultTypes(*definition, types);
  for (auto [number, types] :
       llvm::enumerate(llvm::zip_equal(inferred, op->getResultTypes()))) {
    auto [expected, actual] = types;
    if (!areCompatible(expected, actual))
      return op->emitOpError("expects result #")
             << number << " of type " << expected << ", but got " << actual;
  }
  return success();
}

LogicalResult graph::detail::checkOperands(ValueRange operands,
                                           ArrayRef<StringRef> names,
                                           unsigned numVariadic,
                                           DefinitionError error) {
  if (numVariadic ? operands.size() + numVariadic < names.size()
                  : operands.size() != names.size()) {
    error("expects " + Twine(names.size() - numVariadic) +
          (numVariadic ? " or more operands" : " operands") + ", but got " +
          Twine(operands.size()));
    return failure();
  }
  for (auto [number, operand] : llvm::enumerate(operands))
    if (!isa<RankedTensorType, IndexType>(operand.getType())) {
      error("expects ranked tensors and indices, but operand #" +
            Twine(number) + " is neither");
      return failure();
    }
  return success();
}

LogicalResult graph::detail::inferReturnTypes(
    StringRef operation, std::optional<Location> location, ValueRange operands,
    llvm::function_ref<FailureOr<Definition>(DefinitionError)> define,
    SmallVectorImpl<Type> &inferred) {
  auto error = [&](const Twine &reason) {
    (void)emitOptionalError(location, "'", operation, "' op ", reason);
  };
  FailureOr<Definition> definition = define(error);
  if (failed(definition) ||
      failed(checkExtents(*definition, getTensorTypes(operands), error)))
    return failure();
  llvm::append_range(inferred,
                     inferResultTypes(*definition, getTensorTypes(operands)));
  return success();
}

//===----------------------------------------------------------------------===//
// The index notation
//===----------------------------------------------------------------------===//

/// Enters an attribute into what the text may refer to.
static void addAttribute(NamedAttribute attribute, Instantiation &with) {
  StringRef name = attribute.getName();
  llvm::TypeSwitch<Attribute>(attribute.getValue())
      .Case([&](IntegerAttr value) {
        with.numbers[name] =
            value.getType().isInteger(1)
                ? static_cast<int64_t>(!value.getValue().isZero())
                : value.getInt();
      })
      .Case([&](FloatAttr value) {
        with.numbers[name] = value.getValueAsDouble();
      })
      .Case([&](TypeAttr type) { with.resultElementType = type.getValue(); })
      .Case([&](ActivationAttr activation) {
        with.functions[name] = [=](Expr value) {
          return applyActivation(activation.getValue(), value);
        };
      })
      .Case([&](GeluApproximationAttr value) {
        with.numbers[name] = static_cast<int64_t>(value.getValue());
      });
}

FailureOr<Definition> graph::detail::defineFromText(StringRef text,
                                                    ArrayRef<StringRef> names,
                                                    ValueRange operands,
                                                    DictionaryAttr attributes,
                                                    DefinitionError error) {
  Instantiation with;
  with.context = operands.front().getContext();
  for (auto [name, operand] : llvm::zip_equal(names, operands))
    with.operands.push_back(
        {name.str(), cast<RankedTensorType>(operand.getType())});
  if (attributes)
    for (NamedAttribute attribute : attributes)
      addAttribute(attribute, with);
  return parseDefinition(text, with, error);
}

//===----------------------------------------------------------------------===//
// Result shapes as values
//===----------------------------------------------------------------------===//

namespace {
/// Computes extents with `arith` and `tensor.dim`.
class ExtentEmitter {
public:
  ExtentEmitter(OpBuilder &builder, Location location,
                const Definition &definition, ValueRange operands)
      : builder(builder), location(location), definition(definition),
        tensors(graph::detail::getTensors(operands)),
        types(graph::detail::getTensorTypes(operands)),
        parameters(graph::detail::getParameters(operands)) {}

  OpFoldResult emit(Expr extent) {
    int64_t known = evaluateExtent(extent, definition, types);
    if (!ShapedType::isDynamic(known))
      return builder.getIndexAttr(std::max<int64_t>(known, 0));
    Value value = emitValue(extent);
    if (extent.getKind() != Expr::Kind::Apply)
      return value;
    // A window may be larger than what it slides over.
    Value zero = arith::ConstantIndexOp::create(builder, location, 0);
    return builder.createOrFold<arith::MaxSIOp>(location, value, zero);
  }

private:
  Value emitValue(Expr expr) {
    int64_t known = evaluateExtent(expr, definition, types);
    if (!ShapedType::isDynamic(known))
      return arith::ConstantIndexOp::create(builder, location, known);
    switch (expr.getKind()) {
    case Expr::Kind::Size: {
      TensorRef tensor = expr.getTensor();
      if (!tensor.isOperand())
        return emitValue(
            definition.steps[tensor.number].indices[expr.getNumber()].extent);
      return builder.createOrFold<tensor::DimOp>(
          location, tensors[tensor.number], expr.getNumber());
    }
    case Expr::Kind::Parameter:
      return parameters[expr.getNumber()];
    case Expr::Kind::Apply:
      return emitApply(expr);
    case Expr::Kind::Select: {
      SmallVector<Value, 3> values;
      for (Expr operand : expr.getOperands())
        values.push_back(emitValue(operand));
      return builder.createOrFold<arith::SelectOp>(location, values[0],
                                                   values[1], values[2]);
    }
    default:
      llvm_unreachable("an extent is made of sizes and parameters");
    }
  }

  Value emitCompare(arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return builder.createOrFold<arith::CmpIOp>(location, predicate, lhs, rhs);
  }

  Value emitApply(Expr expr) {
    Value lhs = emitValue(expr.getOperands().front());
    Value rhs = getArity(expr.getFn()) == 2
                    ? emitValue(expr.getOperands().back())
                    : Value();
    switch (expr.getFn()) {
    case ScalarFn::Add:
      return builder.createOrFold<arith::AddIOp>(location, lhs, rhs);
    case ScalarFn::Sub:
      return builder.createOrFold<arith::SubIOp>(location, lhs, rhs);
    case ScalarFn::Mul:
      return builder.createOrFold<arith::MulIOp>(location, lhs, rhs);
    case ScalarFn::FloorDiv:
      return builder.createOrFold<arith::FloorDivSIOp>(location, lhs, rhs);
    case ScalarFn::Mod:
      return builder.createOrFold<arith::RemSIOp>(location, lhs, rhs);
    case ScalarFn::Max:
      return builder.createOrFold<arith::MaxSIOp>(location, lhs, rhs);
    case ScalarFn::Min:
      return builder.createOrFold<arith::MinSIOp>(location, lhs, rhs);
    case ScalarFn::Equal:
      return emitCompare(arith::CmpIPredicate::eq, lhs, rhs);
    case ScalarFn::Less:
      return emitCompare(arith::CmpIPredicate::slt, lhs, rhs);
    case ScalarFn::Greater:
      return emitCompare(arith::CmpIPredicate::sgt, lhs, rhs);
    default:
      llvm_unreachable("no other function occurs in extents");
    }
  }

  OpBuilder &builder;
  Location location;
  const Definition &definition;
  SmallVector<Value> tensors;
  SmallVector<RankedTensorType> types;
  SmallVector<Value> parameters;
};
} // namespace

LogicalResult
graph::detail::reifyResultShapes(Operation *op, OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  Definition definition = getVerifiedDefinition(op);
  ExtentEmitter emitter(builder, op->getLoc(), definition, op->getOperands());
  for (auto [result, type] :
       llvm::zip_equal(definition.results, op->getResultTypes())) {
    SmallVector<OpFoldResult> &shape = shapes.emplace_back();
    auto shaped = cast<RankedTensorType>(type);
    for (auto [dim, index] :
         llvm::enumerate(definition.steps[result].indices)) {
      if (shaped.isDynamicDim(dim))
        shape.push_back(emitter.emit(index.extent));
      else
        shape.push_back(builder.getIndexAttr(shaped.getDimSize(dim)));
    }
  }
  return success();
}
