//===- OpenNumbers.cpp - Numbers that a script leaves open ----------------===//

#include "espalier/Dialect/Poly/TransformOps/OpenNumbers.h"
#include "CommandArguments.h"
#include "NumberSyntax.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace espalier::poly;

static constexpr int64_t kOpen = ShapedType::kDynamic;

Type espalier::poly::getNumberParamType(MLIRContext *context) {
  return transform::ParamType::get(context, IntegerType::get(context, 64));
}

//===----------------------------------------------------------------------===//
// Filling in
//===----------------------------------------------------------------------===//

/// `attr` with what `replace` makes of each open number, in order.
static Attribute replaceOpen(Attribute attr,
                             llvm::function_ref<int64_t()> replace) {
  auto close = [&](int64_t number) {
    return number == kOpen ? replace() : number;
  };
  if (auto number = dyn_cast_or_null<IntegerAttr>(attr))
    return IntegerAttr::get(number.getType(), close(number.getInt()));
  if (auto list = dyn_cast_or_null<DenseI64ArrayAttr>(attr))
    return DenseI64ArrayAttr::get(
        attr.getContext(), llvm::map_to_vector(list.asArrayRef(), close));
  if (auto lists = dyn_cast_or_null<ArrayAttr>(attr))
    return ArrayAttr::get(
        attr.getContext(),
        llvm::map_to_vector(lists, [&](Attribute element) -> Attribute {
          return replaceOpen(element, replace);
        }));
  if (auto amount = dyn_cast_or_null<AffineMapAttr>(attr))
    if (isOpen(amount)) {
      int64_t number = replace();
      return number == kOpen ? amount
                             : AffineMapAttr::get(AffineMap::getConstantMap(
                                   number, attr.getContext()));
    }
  return attr;
}

LogicalResult espalier::poly::verifyOpenNumbers(Operation *op,
                                                ArrayRef<OpenNumber> numbers) {
  for (const OpenNumber &number : numbers) {
    size_t numOpen = 0;
    replaceOpen(op->getAttr(number.attribute), [&] {
      ++numOpen;
      return kOpen;
    });
    if (numOpen != number.params.size())
      return op->emitOpError("expects a parameter for each of the ")
             << numOpen << " open numbers of '" << number.attribute
             << "', but got " << number.params.size();
  }
  return success();
}

/// A copy of `op`, without operands, that has numbers in place of parameters.
/// Null where `getNumber` has none.
static OwningOpRef<Operation *> copyClosed(
    Operation *op, ArrayRef<OpenNumber> numbers,
    llvm::function_ref<std::optional<int64_t>(StringRef, Value)> getNumber) {
  NamedAttrList attributes(op->getAttrDictionary());
  for (const OpenNumber &number : numbers) {
    SmallVector<int64_t> values;
    for (Value param : number.params) {
      std::optional<int64_t> value = getNumber(number.attribute, param);
      if (!value)
        return {};
      values.push_back(*value);
    }
    const int64_t *next = values.begin();
    if (Attribute attr = attributes.get(number.attribute))
      attributes.set(number.attribute,
                     replaceOpen(attr, [&] { return *next++; }));
  }
  OperationState copy(op->getLoc(), op->getName(), {}, op->getResultTypes(),
                      attributes);
  return OwningOpRef<Operation *>(Operation::create(copy));
}

DiagnosedSilenceableFailure
espalier::poly::closeNumbers(Operation *op, ArrayRef<OpenNumber> numbers,
                             transform::TransformState &state,
                             OwningOpRef<Operation *> &closed) {
  if (llvm::all_of(numbers, [](const OpenNumber &number) {
        return number.params.empty();
      }))
    return DiagnosedSilenceableFailure::success();
  DiagnosedSilenceableFailure status = DiagnosedSilenceableFailure::success();
  closed = copyClosed(
      op, numbers,
      [&](StringRef attribute, Value param) -> std::optional<int64_t> {
        ArrayRef<Attribute> all = state.getParams(param);
        if (all.size() == 1)
          return cast<IntegerAttr>(all.front()).getInt();
        status = emitDefiniteFailure(op)
                 << '\'' << op->getName() << "' op expects a parameter of '"
                 << attribute << "' to be one number, but got " << all.size();
        return std::nullopt;
      });
  return status;
}

OwningOpRef<Operation *>
espalier::poly::closeSelected(Operation *op, ArrayRef<OpenNumber> numbers) {
  return copyClosed(
      op, numbers, [](StringRef, Value param) -> std::optional<int64_t> {
        auto knob = param.getDefiningOp<transform::tune::KnobOp>();
        auto number = knob ? dyn_cast_or_null<IntegerAttr>(
                                 knob.getSelected().value_or(Attribute()))
                           : IntegerAttr();
        if (!number)
          return std::nullopt;
        return number.getInt();
      });
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

/// One number, or the next parameter.
static ParseResult parseOne(OpAsmParser &parser, int64_t &number,
                            std::optional<Param> &param) {
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (isNumber.has_value())
    return *isNumber;
  Param operand;
  OptionalParseResult isParam = parser.parseOptionalOperand(operand);
  if (!isParam.has_value())
    return parser.emitError(parser.getCurrentLocation(),
                            "expected a number or a parameter");
  number = kOpen;
  param = operand;
  return *isParam;
}

static ParseResult parseList(OpAsmParser &parser,
                             SmallVectorImpl<Param> &params,
                             SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        std::optional<Param> param;
        if (parseOne(parser, numbers.emplace_back(), param))
          return failure();
        if (param)
          params.push_back(*param);
        return success();
      });
}

/// Prints a list, with the first of `params` for open numbers; removes these.
static void printList(OpAsmPrinter &printer, ArrayRef<int64_t> numbers,
                      OperandRange &params) {
  printer << '[';
  llvm::interleaveComma(numbers, printer, [&](int64_t number) {
    if (number != kOpen || params.empty()) {
      printer << number;
      return;
    }
    printer << params.front();
    params = params.drop_front();
  });
  printer << ']';
}

ParseResult espalier::poly::parseNumber(OpAsmParser &parser,
                                        std::optional<Param> &param,
                                        IntegerAttr &number) {
  int64_t value;
  if (parseOne(parser, value, param))
    return failure();
  number = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

void espalier::poly::printNumber(OpAsmPrinter &printer, Operation *,
                                 Value param, IntegerAttr number) {
  if (param)
    printer << param;
  else
    printer << number.getInt();
}

ParseResult espalier::poly::parseNumbers(OpAsmParser &parser,
                                         SmallVectorImpl<Param> &params,
                                         DenseI64ArrayAttr &numbers) {
  SmallVector<int64_t> values;
  if (parseList(parser, params, values))
    return failure();
  numbers = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}

void espalier::poly::printNumbers(OpAsmPrinter &printer, Operation *,
                                  OperandRange params,
                                  DenseI64ArrayAttr numbers) {
  printList(printer, numbers, params);
}

ParseResult espalier::poly::parseNumberLists(OpAsmParser &parser,
                                             SmallVectorImpl<Param> &params,
                                             ArrayAttr &lists) {
  SmallVector<Attribute> all;
  if (parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square, [&]() -> ParseResult {
            SmallVector<int64_t> numbers;
            if (parseList(parser, params, numbers))
              return failure();
            all.push_back(parser.getBuilder().getI64ArrayAttr(numbers));
            return success();
          }))
    return failure();
  lists = parser.getBuilder().getArrayAttr(all);
  return success();
}

void espalier::poly::printNumberLists(OpAsmPrinter &printer, Operation *,
                                      OperandRange params, ArrayAttr lists) {
  printer << '[';
  llvm::interleaveComma(
      lists.getAsRange<ArrayAttr>(), printer, [&](ArrayAttr list) {
        printList(printer,
                  llvm::map_to_vector(
                      list.getAsRange<IntegerAttr>(),
                      [](IntegerAttr number) { return number.getInt(); }),
                  params);
      });
  printer << ']';
}

ParseResult espalier::poly::parseAmount(OpAsmParser &parser,
                                        std::optional<Param> &param,
                                        AffineMapAttr &amount) {
  MLIRContext *context = parser.getContext();
  int64_t number;
  OptionalParseResult isNumber = parser.parseOptionalInteger(number);
  if (isNumber.has_value()) {
    amount = AffineMapAttr::get(AffineMap::getConstantMap(number, context));
    return *isNumber;
  }
  Param operand;
  OptionalParseResult isParam = parser.parseOptionalOperand(operand);
  if (!isParam.has_value())
    return parser.parseAttribute(amount);
  param = operand;
  amount = AffineMapAttr::get(AffineMap::get(context));
  return *isParam;
}

void espalier::poly::printAmount(OpAsmPrinter &printer, Operation *,
                                 Value param, AffineMapAttr amount) {
  AffineMap map = amount.getValue();
  if (param)
    printer << param;
  else if (map.isSingleConstant() && map.getNumInputs() == 0)
    printer << map.getSingleConstantResult();
  else
    printer << amount;
}
