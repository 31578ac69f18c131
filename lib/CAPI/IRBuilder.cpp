//===- IRBuilder.cpp - C API for building modules -------------------------===//

#include "Operations.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace espalier::capi;
using espalier::kBoundAttr;
using espalier::kDimsAttr;

/// Constants with more bytes are referred to rather than copied.
static constexpr size_t maxInlineBytes = 256;

bool espalier::capi::isMissing(espalier_module *module, const void *pointer,
                               const Twine &what) {
  if (!pointer)
    fail(module, "expects " + what + ", but got a null pointer");
  return !pointer;
}

bool espalier::capi::isUnderConstruction(espalier_module *module) {
  func::FuncOp function = module->function;
  if (function && !function.getBody().front().mightHaveTerminator())
    return true;
  fail(module, "expects a function under construction");
  return false;
}

/// Returns the tensor type, or null after recording an error. Extents of -1
/// are dynamic.
static RankedTensorType tensorType(espalier_module *module,
                                   const char *elementType, int32_t rank,
                                   const int64_t *extents) {
  if (isMissing(module, elementType, "an element type"))
    return {};
  if (rank < 0) {
    fail(module, "expects a rank of at least 0, but got " + Twine(rank));
    return {};
  }
  if (rank > 0 && isMissing(module, extents, "the extents"))
    return {};
  Type element = parseType(elementType, &module->context);
  if (!element || !RankedTensorType::isValidElementType(element)) {
    module->error.clear();
    fail(module,
         Twine("expects an element type, but got '") + elementType + "'");
    return {};
  }
  SmallVector<int64_t> shape;
  for (int32_t i = 0; i < rank; ++i) {
    if (extents[i] < -1) {
      fail(module, "expects extents of at least 0, or -1 for an unknown one, "
                   "but got " +
                       Twine(extents[i]));
      return {};
    }
    shape.push_back(extents[i] == -1 ? ShapedType::kDynamic : extents[i]);
  }
  return RankedTensorType::get(shape, element);
}

//===----------------------------------------------------------------------===//
// Inputs and constants
//===----------------------------------------------------------------------===//

int espalier_module_input(espalier_module *module, const char *name,
                          const char *element_type, int32_t rank,
                          const int64_t *extents, const char *const *symbols,
                          espalier_value *result) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  if (!isUnderConstruction(module) || isMissing(module, name, "a name") ||
      isMissing(module, result, "a place for the value"))
    return -1;
  Builder &builder = module->builder;
  RankedTensorType type = tensorType(module, element_type, rank, extents);
  if (!type)
    return -1;
  SmallVector<Attribute> dims;
  for (int32_t i = 0; i < rank; ++i)
    dims.push_back(builder.getStringAttr(
        symbols && symbols[i] ? StringRef(symbols[i]) : StringRef()));
  DictionaryAttr attributes = builder.getDictionaryAttr(
      {builder.getNamedAttr(kDimsAttr, builder.getArrayAttr(dims)),
       builder.getNamedAttr("espalier.name", builder.getStringAttr(name))});
  func::FuncOp function = module->function;
  Location loc = NameLoc::get(builder.getStringAttr(name));
  if (failed(function.insertArgument(function.getNumArguments(), type,
                                     attributes, loc)))
    return fail(module, "expects a function that can take another argument");
  *result = wrap(function.getArguments().back());
  return 0;
}

/// Whether an argument of `function` has a dimension called `name`.
static bool hasSize(func::FuncOp function, StringAttr name) {
  return llvm::any_of(function.getArguments(), [&](BlockArgument argument) {
    return llvm::is_contained(function.getArgAttrOfType<ArrayAttr>(
                                  argument.getArgNumber(), kDimsAttr),
                              name);
  });
}

int espalier_module_limit_input(espalier_module *module, espalier_value input,
                                const char *size, int64_t limit) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  if (!isUnderConstruction(module))
    return -1;
  func::FuncOp function = module->function;
  auto argument = dyn_cast_or_null<BlockArgument>(unwrap(input));
  if (!argument || argument.getOwner() != &function.getBody().front() ||
      !getElementTypeOrSelf(argument.getType()).isInteger())
    return fail(module, "expects an input of integers to limit");
  Builder &builder = module->builder;
  if (size && !hasSize(function, builder.getStringAttr(size)))
    return fail(module, "expects a size of an input as a limit, but got '" +
                            Twine(size) + "'");
  if (limit == std::numeric_limits<int64_t>::max() || (!size && limit < 0))
    return fail(module,
                "expects a limit of at least 0, but got " + Twine(limit));
  Attribute bound = builder.getI64IntegerAttr(limit + 1);
  if (size)
    bound = builder.getArrayAttr({builder.getStringAttr(size), bound});
  function.setArgAttr(argument.getArgNumber(), kBoundAttr, bound);
  return 0;
}

/// Returns the number of bytes that a tensor's data has at the boundary, or
/// nothing if that overflows.
static std::optional<int64_t> boundaryBytes(RankedTensorType type) {
  unsigned bits = type.getElementTypeBitWidth();
  std::optional<int64_t> bytes = std::max(1u, bits / 8);
  for (int64_t extent : type.getShape())
    if (bytes)
      bytes = llvm::checkedMul(*bytes, extent);
  return bytes;
}

/// Says whether all elements have the same bytes.
static bool isSplat(ArrayRef<char> data, size_t elementBytes) {
  return data.size() > elementBytes &&
         std::memcmp(data.data(), data.data() + elementBytes,
                     data.size() - elementBytes) == 0;
}

/// Makes an attribute of data that may go away afterwards.
static ElementsAttr copyData(RankedTensorType type, ArrayRef<char> data) {
  if (type.getElementType().isInteger(1)) {
    SmallVector<bool> bits;
    for (char byte : data)
      bits.push_back(byte != 0);
    return DenseElementsAttr::get(type, ArrayRef<bool>(bits));
  }
  if (data.empty())
    return DenseElementsAttr::get(type, ArrayRef<Attribute>());
  return DenseElementsAttr::getFromRawBuffer(type, data);
}

namespace {
/// Data that a caller lends, which is given back at the end.
class LentData {
public:
  LentData(const void *data, size_t size, void (*release)(void *), void *user)
      : data(data), size(size), release(release), user(user) {}
  LentData(const LentData &) = delete;
  ~LentData() {
    if (release)
      release(user);
  }
  /// Leaves it to another one to give the data back.
  AsmResourceBlob::DeleterFn take() {
    return [release = std::exchange(release, nullptr),
            user = user](void *, size_t, size_t) {
      if (release)
        release(user);
    };
  }

  const void *const data;
  const size_t size;

private:
  void (*release)(void *);
  void *user;
};
} // namespace

/// Returns data as an attribute of a static type, or null after an error. Takes
/// the data if the attribute refers to it.
static ElementsAttr makeElements(espalier_module *module, RankedTensorType type,
                                 LentData &lent) {
  size_t size = lent.size;
  const void *data = lent.data;
  if (!type || (size > 0 && isMissing(module, data, "data")))
    return {};
  if (!type.hasStaticShape() || !type.getElementType().isIntOrFloat()) {
    fail(module, "expects a constant of numbers with a static shape");
    return {};
  }
  std::optional<int64_t> expected = boundaryBytes(type);
  if (!expected || *expected != static_cast<int64_t>(size)) {
    fail(module, "expects data that fills the shape, but got " + Twine(size) +
                     " bytes");
    return {};
  }

  ArrayRef<char> bytes(static_cast<const char *>(data), size);
  size_t elementBytes = std::max(1u, type.getElementTypeBitWidth() / 8);
  bool isBool = type.getElementType().isInteger(1);
  if (isSplat(bytes, elementBytes))
    return isBool ? DenseElementsAttr::get(type, bytes[0] != 0)
                  : DenseElementsAttr::getFromRawBuffer(
                        type, bytes.take_front(elementBytes));
  if (size <= maxInlineBytes || isBool)
    return copyData(type, bytes);
  AsmResourceBlob blob(bytes, elementBytes, lent.take(),
                       /*dataIsMutable=*/false);
  return DenseResourceElementsAttr::get(
      type, ("constant_" + Twine(module->numConstants++)).str(),
      std::move(blob));
}

int espalier_module_constant(espalier_module *module, const char *element_type,
                             int32_t rank, const int64_t *extents,
                             const void *data, size_t size,
                             void (*release)(void *), void *user,
                             espalier_value *result) {
  LentData lent(data, size, release, user);
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  if (!isUnderConstruction(module) ||
      isMissing(module, result, "a place for the value"))
    return -1;
  RankedTensorType type = tensorType(module, element_type, rank, extents);
  ElementsAttr value = makeElements(module, type, lent);
  if (!value)
    return -1;
  auto constant = espalier::graph::ConstantOp::create(
      module->builder, module->builder.getUnknownLoc(), type, value);
  *result = wrap(constant.getResult());
  return 0;
}

int espalier_module_bind_input(espalier_module *module, const char *name,
                               const void *data, size_t size,
                               void (*release)(void *), void *user) {
  LentData lent(data, size, release, user);
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  if (isMissing(module, name, "a name"))
    return -1;
  auto main = module->module->lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal() ||
      !main.getBody().front().mightHaveTerminator())
    return fail(module, "expects a complete function 'main'");
  for (BlockArgument argument : main.getArguments()) {
    auto given = main.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                   "espalier.name");
    if (!given || given.getValue() != name)
      continue;
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      return fail(module, "expects a tensor as input '" + Twine(name) + "'");
    ElementsAttr value = makeElements(module, type, lent);
    if (!value)
      return -1;
    OpBuilder builder = OpBuilder::atBlockBegin(&main.getBody().front());
    argument.replaceAllUsesWith(espalier::graph::ConstantOp::create(
        builder, argument.getLoc(), type, value));
    if (failed(main.eraseArgument(argument.getArgNumber())))
      return fail(module, "expects a function that can lose an argument");
    return 0;
  }
  return fail(module, "expects an input called '" + Twine(name) + "'");
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// Returns the attribute that the caller describes, or null after an error.
static Attribute makeAttribute(espalier_module *module,
                               const espalier_attribute &attribute) {
  Builder &builder = module->builder;
  switch (attribute.kind) {
  case ESPALIER_ATTRIBUTE_TEXT:
    if (isMissing(module, attribute.text, "the text of an attribute"))
      return {};
    if (Attribute value = parseAttribute(attribute.text, &module->context))
      return value;
    fail(module,
         Twine("expects an attribute, but got '") + attribute.text + "'");
    return {};
  case ESPALIER_ATTRIBUTE_INTEGER:
    return builder.getI64IntegerAttr(attribute.integer);
  case ESPALIER_ATTRIBUTE_REAL:
    return builder.getF64FloatAttr(attribute.real);
  case ESPALIER_ATTRIBUTE_BOOLEAN:
    return builder.getBoolAttr(attribute.integer != 0);
  case ESPALIER_ATTRIBUTE_INTEGERS:
    if (attribute.num_integers > 0 &&
        isMissing(module, attribute.integers, "the integers of an attribute"))
      return {};
    return builder.getDenseI64ArrayAttr(
        ArrayRef(attribute.integers, attribute.num_integers));
  }
  fail(module, "expects the kind of an attribute, but got " +
                   Twine(static_cast<int>(attribute.kind)));
  return {};
}

namespace {
/// Properties of an operation that does not exist yet.
class Properties {
public:
  explicit Properties(RegisteredOperationName name)
      : name(name), bytes(llvm::divideCeil(name.getOpPropertyByteSize(),
                                           sizeof(uint64_t))) {
    name.initOpProperties(get(), OpaqueProperties(nullptr));
  }
  ~Properties() { name.destroyOpProperties(get()); }

  OpaqueProperties get() { return OpaqueProperties(bytes.data()); }

private:
  RegisteredOperationName name;
  SmallVector<uint64_t> bytes;
};
} // namespace

/// Infers the result types of `state`.
static LogicalResult inferTypes(OperationState &state,
                                RegisteredOperationName name) {
  auto emit = [&] { return emitError(state.location); };
  auto *interface = name.getInterface<InferTypeOpInterface>();
  if (!interface)
    return emit() << "expects an operation whose result types follow from its "
                     "operands, but got '"
                  << name.getStringRef() << "'";
  MLIRContext *context = state.getContext();
  DictionaryAttr attributes = state.attributes.getDictionary(context);
  Properties properties(name);
  if (name.getOpPropertyByteSize() > 0 &&
      failed(name.setOpPropertiesFromAttribute(name, properties.get(),
                                               attributes, emit)))
    return failure();
  return interface->inferReturnTypes(context, state.location, state.operands,
                                     attributes, properties.get(),
                                     state.regions, state.types);
}

/// Fills `state` with what the caller describes, or records an error.
static LogicalResult fillState(espalier_module *module,
                               const espalier_operation &operation,
                               OperationState &state) {
  if (operation.num_operands > 0 &&
      isMissing(module, operation.operands, "operands"))
    return failure();
  for (size_t i = 0; i < operation.num_operands; ++i) {
    if (isMissing(module, operation.operands[i].ptr,
                  "a value as operand #" + Twine(i)))
      return failure();
    state.operands.push_back(unwrap(operation.operands[i]));
  }
  if (operation.num_attributes > 0 &&
      isMissing(module, operation.attributes, "attributes"))
    return failure();
  for (size_t i = 0; i < operation.num_attributes; ++i) {
    const espalier_attribute &attribute = operation.attributes[i];
    if (isMissing(module, attribute.name, "the name of an attribute"))
      return failure();
    Attribute value = makeAttribute(module, attribute);
    if (!value)
      return failure();
    state.addAttribute(attribute.name, value);
  }
  return success();
}

int espalier::capi::addOperation(espalier_module *module, OperationState &state,
                                 espalier_value *results, size_t maxResults) {
  RegisteredOperationName name = *state.name.getRegisteredInfo();
  if (failed(inferTypes(state, name)))
    return fail(module, "expects operands that fit the operation");
  OpBuilder &builder = module->builder;
  OpBuilder::InsertionGuard guard(builder);
  if (module->body)
    builder.setInsertionPointToEnd(module->body);
  Operation *op = builder.create(state);
  if (failed(verify(op))) {
    op->erase();
    return fail(module, "expects a valid operation");
  }
  for (size_t i = 0; i < std::min<size_t>(maxResults, op->getNumResults()); ++i)
    results[i] = wrap(op->getResult(i));
  return op->getNumResults();
}

Location espalier::capi::getLocation(espalier_module *module,
                                     const char *location) {
  Builder &builder = module->builder;
  if (location && *location)
    return NameLoc::get(builder.getStringAttr(location));
  return builder.getUnknownLoc();
}

int espalier_module_op(espalier_module *module,
                       const espalier_operation *operation,
                       espalier_value *results, size_t max_results) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  if (!isUnderConstruction(module) ||
      isMissing(module, operation, "an operation") ||
      isMissing(module, operation->name, "an operation's name") ||
      (max_results > 0 && isMissing(module, results, "a place for results")))
    return -1;
  std::optional<RegisteredOperationName> name =
      RegisteredOperationName::lookup(operation->name, &module->context);
  if (!name)
    return fail(module, Twine("expects a known operation, but got '") +
                            operation->name + "'");

  OperationState state(getLocation(module, operation->location), *name);
  if (failed(fillState(module, *operation, state)))
    return -1;
  return addOperation(module, state, results, max_results);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Begins a call that makes an index: says whether it can.
static bool startIndex(espalier_module *module, espalier_value *result) {
  if (!module)
    return false;
  module->error.clear();
  return isUnderConstruction(module) &&
         !isMissing(module, result, "a place for the value");
}

int espalier_module_index(espalier_module *module, int64_t number,
                          espalier_value *result) {
  if (!startIndex(module, result))
    return -1;
  OpBuilder &builder = module->builder;
  *result = wrap(
      arith::ConstantIndexOp::create(builder, builder.getUnknownLoc(), number));
  return 0;
}

int espalier_module_dim(espalier_module *module, espalier_value value,
                        int32_t dimension, espalier_value *result) {
  if (!startIndex(module, result) || isMissing(module, value.ptr, "a value"))
    return -1;
  if (unwrap(value).getParentBlock() != &module->function.getBody().front())
    return fail(module, "expects a tensor outside of cells");
  auto type = dyn_cast<RankedTensorType>(unwrap(value).getType());
  if (!type || dimension < 0 || dimension >= type.getRank())
    return fail(module,
                "expects a dimension of a tensor, but got " + Twine(dimension));
  if (!type.isDynamicDim(dimension))
    return espalier_module_index(module, type.getDimSize(dimension), result);
  OpBuilder &builder = module->builder;
  *result = wrap(tensor::DimOp::create(builder, builder.getUnknownLoc(),
                                       unwrap(value), dimension));
  return 0;
}

template <typename Op>
static Value createIndex(OpBuilder &builder, Location loc, Value a, Value b) {
  return Op::create(builder, loc, a, b);
}

/// Returns the remainder that has the divisor's sign.
static Value createModulo(OpBuilder &builder, Location loc, Value a, Value b) {
  Value quotient = arith::FloorDivSIOp::create(builder, loc, a, b);
  Value product = arith::MulIOp::create(builder, loc, quotient, b);
  return arith::SubIOp::create(builder, loc, a, product);
}

int espalier_module_index_op(espalier_module *module, const char *name,
                             espalier_value left, espalier_value right,
                             espalier_value *result) {
  if (!startIndex(module, result) || isMissing(module, name, "a function") ||
      isMissing(module, left.ptr, "a left value") ||
      isMissing(module, right.ptr, "a right value"))
    return -1;
  OpBuilder &builder = module->builder;
  Location loc = builder.getUnknownLoc();
  Value a = unwrap(left), b = unwrap(right);
  if (!a.getType().isIndex() || !b.getType().isIndex())
    return fail(module, "expects two indices");
  using Create = Value (*)(OpBuilder &, Location, Value, Value);
  Create create = llvm::StringSwitch<Create>(name)
                      .Case("add", createIndex<arith::AddIOp>)
                      .Case("sub", createIndex<arith::SubIOp>)
                      .Case("mul", createIndex<arith::MulIOp>)
                      .Case("div", createIndex<arith::DivSIOp>)
                      .Case("floordiv", createIndex<arith::FloorDivSIOp>)
                      .Case("mod", createModulo)
                      .Case("max", createIndex<arith::MaxSIOp>)
                      .Case("min", createIndex<arith::MinSIOp>)
                      .Default(nullptr);
  if (!create)
    return fail(module,
                Twine("expects a function of indices, but got '") + name + "'");
  *result = wrap(create(builder, loc, a, b));
  return 0;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

int espalier_module_finish(espalier_module *module,
                           const espalier_value *outputs,
                           const char *const *names, size_t num_outputs) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  OpBuilder &builder = module->builder;
  func::FuncOp function = module->function;
  if (!isUnderConstruction(module))
    return -1;
  if (num_outputs > 0 && (isMissing(module, outputs, "outputs") ||
                          isMissing(module, names, "names of outputs")))
    return -1;
  SmallVector<Value> values;
  SmallVector<Attribute> attributes;
  for (size_t i = 0; i < num_outputs; ++i) {
    if (isMissing(module, outputs[i].ptr, "a value as output #" + Twine(i)) ||
        isMissing(module, names[i], "a name of output #" + Twine(i)))
      return -1;
    values.push_back(unwrap(outputs[i]));
    attributes.push_back(builder.getDictionaryAttr(builder.getNamedAttr(
        "espalier.name", builder.getStringAttr(names[i]))));
  }
  auto end = func::ReturnOp::create(builder, builder.getUnknownLoc(), values);
  FunctionType type = function.getFunctionType();
  function.setFunctionType(
      builder.getFunctionType(type.getInputs(), ValueRange(values).getTypes()));
  function.setResAttrsAttr(builder.getArrayAttr(attributes));
  if (succeeded(verify(*module->module)))
    return 0;
  end.erase();
  function.removeResAttrsAttr();
  function.setFunctionType(type);
  return fail(module, "expects a valid module");
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Returns the type of a tensor; null for another value, and for none.
static RankedTensorType getTensorType(espalier_value value) {
  if (!value.ptr)
    return {};
  return dyn_cast<RankedTensorType>(unwrap(value).getType());
}

int32_t espalier_value_rank(espalier_value value) {
  RankedTensorType type = getTensorType(value);
  return type ? type.getRank() : -1;
}

int64_t espalier_value_extent(espalier_value value, int32_t dimension) {
  RankedTensorType type = getTensorType(value);
  if (!type || dimension < 0 || dimension >= type.getRank() ||
      type.isDynamicDim(dimension))
    return -1;
  return type.getDimSize(dimension);
}

void espalier_value_element_type(espalier_value value,
                                 void (*write)(const char *, size_t, void *),
                                 void *user) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (value.ptr)
    os << getElementTypeOrSelf(unwrap(value).getType());
  write(text.data(), text.size(), user);
}
