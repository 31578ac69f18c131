//===- AddEntryPoints.cpp - Wraps a program in functions of the C ABI -----===//

#include "espalier/Conversion/ProgramToLLVM/EntryPoints.h"
#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/ADT/StringMap.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMADDENTRYPOINTSPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

std::string espalier::getPlanSymbol(StringRef name) {
  return ("_espalier_" + name + "_plan").str();
}
std::string espalier::getRunSymbol(StringRef name) {
  return ("_espalier_" + name + "_run").str();
}
std::string espalier::getCheckSymbol(StringRef name) {
  return ("_espalier_" + name + "_check").str();
}
std::string espalier::getConstantsSymbol(StringRef name) {
  return ("_espalier_" + name + "_constants").str();
}

//===----------------------------------------------------------------------===//
// The signature as an attribute
//===----------------------------------------------------------------------===//

static Attribute encodeTensor(Builder &builder, const TensorSignature &tensor) {
  SmallVector<StringRef> symbols(tensor.symbols.begin(), tensor.symbols.end());
  NamedAttrList attrs;
  attrs.set("dtype", builder.getI32IntegerAttr(tensor.dtype));
  attrs.set("extents", builder.getDenseI64ArrayAttr(tensor.extents));
  attrs.set("name", builder.getStringAttr(tensor.name));
  attrs.set("symbols", builder.getStrArrayAttr(symbols));
  if (tensor.isBounded)
    attrs.set("bound", builder.getI64IntegerAttr(tensor.bound));
  if (!tensor.boundSymbol.empty())
    attrs.set("bound_symbol", builder.getStringAttr(tensor.boundSymbol));
  if (tensor.isInjective)
    attrs.set("injective", builder.getUnitAttr());
  if (tensor.isMonotonic)
    attrs.set("monotonic", builder.getUnitAttr());
  return attrs.getDictionary(builder.getContext());
}

static Attribute encodeSignature(Builder &builder,
                                 const ProgramSignature &signature) {
  auto encodeAll = [&](ArrayRef<TensorSignature> tensors) {
    SmallVector<Attribute> encoded;
    for (const TensorSignature &tensor : tensors)
      encoded.push_back(encodeTensor(builder, tensor));
    return builder.getArrayAttr(encoded);
  };
  auto encodeStrings = [&](const std::vector<std::string> &strings) {
    return builder.getStrArrayAttr(
        SmallVector<StringRef>(strings.begin(), strings.end()));
  };
  NamedAttrList attrs;
  if (!signature.checkMessages.empty())
    attrs.set("check_messages", encodeStrings(signature.checkMessages));
  attrs.set("inputs", encodeAll(signature.inputs));
  attrs.set("name", builder.getStringAttr(signature.name));
  attrs.set("outputs", encodeAll(signature.outputs));
  attrs.set("plan_messages", encodeStrings(signature.planMessages));
  return attrs.getDictionary(builder.getContext());
}

static std::vector<std::string> decodeStrings(Attribute attr) {
  std::vector<std::string> strings;
  if (auto array = dyn_cast_if_present<ArrayAttr>(attr))
    for (Attribute element : array)
      if (auto string = dyn_cast<StringAttr>(element))
        strings.push_back(string.str());
  return strings;
}

static FailureOr<std::vector<TensorSignature>> decodeTensors(Attribute attr) {
  std::vector<TensorSignature> tensors;
  auto array = dyn_cast_if_present<ArrayAttr>(attr);
  if (!array)
    return failure();
  for (Attribute element : array) {
    auto dictionary = dyn_cast<DictionaryAttr>(element);
    if (!dictionary)
      return failure();
    auto name = dictionary.getAs<StringAttr>("name");
    auto dtype = dictionary.getAs<IntegerAttr>("dtype");
    auto extents = dictionary.getAs<DenseI64ArrayAttr>("extents");
    TensorSignature tensor;
    tensor.symbols = decodeStrings(dictionary.get("symbols"));
    if (!name || !dtype || !extents ||
        extents.size() != static_cast<int64_t>(tensor.symbols.size()))
      return failure();
    tensor.name = name.str();
    tensor.dtype = dtype.getInt();
    tensor.extents = extents.asArrayRef().vec();
    if (auto bound = dictionary.getAs<IntegerAttr>("bound")) {
      tensor.isBounded = true;
      tensor.bound = bound.getInt();
    }
    if (auto symbol = dictionary.getAs<StringAttr>("bound_symbol"))
      tensor.boundSymbol = symbol.str();
    tensor.isInjective = dictionary.contains("injective");
    tensor.isMonotonic = dictionary.contains("monotonic");
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

FailureOr<ProgramSignature> espalier::getSignature(ModuleOp module) {
  auto error = [&]() -> LogicalResult {
    return emitError(module.getLoc(), "expects the attribute '")
           << kSignatureAttr << "', which -program-add-entry-points makes";
  };
  auto dictionary = module->getAttrOfType<DictionaryAttr>(kSignatureAttr);
  if (!dictionary)
    return error();
  auto name = dictionary.getAs<StringAttr>("name");
  auto inputs = decodeTensors(dictionary.get("inputs"));
  auto outputs = decodeTensors(dictionary.get("outputs"));
  if (!name || failed(inputs) || failed(outputs))
    return error();
  return ProgramSignature{name.str(), std::move(*inputs), std::move(*outputs),
                          decodeStrings(dictionary.get("plan_messages")),
                          decodeStrings(dictionary.get("check_messages"))};
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

namespace {
/// Builds the wrappers.
class EntryPointBuilder {
public:
  explicit EntryPointBuilder(ModuleOp module)
      : builder(module.getContext()), converter(module.getContext()),
        loc(module.getLoc()), module(module),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  void addPlan(StringRef symbol, func::FuncOp plan);
  void addRun(StringRef symbol, func::FuncOp main);
  void addCheck(StringRef symbol, func::FuncOp check);

private:
  Block *addFunction(StringRef symbol, unsigned numPointers);
  Value createAddress(Value base, Type element, int64_t index);
  Value loadElement(Value base, Type element, int64_t index);
  Value createBuffer(MemRefType type, Value data,
                     llvm::function_ref<Value(int64_t)> getExtent);
  /// The next argument of a program: number `index`, whose extents begin at
  /// `firstExtent`, among those that the first two pointers lead to.
  Value createArgument(Block *block, MemRefType type, int64_t index,
                       int64_t &firstExtent);

  OpBuilder builder;
  LLVMTypeConverter converter;
  Location loc;
  ModuleOp module;
  Type pointer;
};
} // namespace

Block *EntryPointBuilder::addFunction(StringRef symbol, unsigned numPointers) {
  builder.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> operands(numPointers, pointer);
  auto function = func::FuncOp::create(builder, loc, symbol,
                                       builder.getFunctionType(operands, {}));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  return block;
}

Value EntryPointBuilder::createAddress(Value base, Type element,
                                       int64_t index) {
  return LLVM::GEPOp::create(
      builder, loc, pointer, element, base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

Value EntryPointBuilder::loadElement(Value base, Type element, int64_t index) {
  return LLVM::LoadOp::create(builder, loc, element,
                              createAddress(base, element, index));
}

void EntryPointBuilder::addPlan(StringRef symbol, func::FuncOp plan) {
  Block *block = addFunction(symbol, 2);
  Type i64 = builder.getI64Type(), index = builder.getIndexType();
  SmallVector<Value> operands;
  for (int64_t i = 0, e = plan.getNumArguments(); i < e; ++i)
    operands.push_back(arith::IndexCastOp::create(
        builder, loc, index, loadElement(block->getArgument(0), i64, i)));
  auto call = func::CallOp::create(builder, loc, plan, operands);
  for (auto [i, result] : llvm::enumerate(call.getResults())) {
    Value value = arith::IndexCastOp::create(builder, loc, i64, result);
    LLVM::StoreOp::create(builder, loc, value,
                          createAddress(block->getArgument(1), i64, i));
  }
  func::ReturnOp::create(builder, loc);
}

/// Makes a dense memref of `type` at `data`. `getExtent` yields its run-time
/// extents.
Value EntryPointBuilder::createBuffer(
    MemRefType type, Value data, llvm::function_ref<Value(int64_t)> getExtent) {
  Type i64 = builder.getI64Type();
  auto descriptor =
      MemRefDescriptor::poison(builder, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(builder, loc, data);
  descriptor.setAlignedPtr(builder, loc, data);
  descriptor.setConstantOffset(builder, loc, 0);
  Value stride = LLVM::ConstantOp::create(builder, loc, i64, 1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    Value size =
        type.isDynamicDim(dim)
            ? getExtent(dim)
            : LLVM::ConstantOp::create(builder, loc, i64, type.getDimSize(dim));
    descriptor.setSize(builder, loc, dim, size);
    descriptor.setStride(builder, loc, dim, stride);
    if (dim > 0)
      stride = LLVM::MulOp::create(builder, loc, stride, size);
  }
  Value structure = descriptor;
  return UnrealizedConversionCastOp::create(builder, loc, type, structure)
      .getResult(0);
}

Value EntryPointBuilder::createArgument(Block *block, MemRefType type,
                                        int64_t index, int64_t &firstExtent) {
  Value data = loadElement(block->getArgument(0), pointer, index);
  int64_t first = firstExtent;
  firstExtent += type.getRank();
  return createBuffer(type, data, [&](int64_t dim) {
    return loadElement(block->getArgument(1), builder.getI64Type(),
                       first + dim);
  });
}

void EntryPointBuilder::addRun(StringRef symbol, func::FuncOp main) {
  Block *block = addFunction(symbol, 4);
  Type i64 = builder.getI64Type();
  // The sizes of the arena and the constants are of no interest: both are only
  // viewed.
  auto getMost = [&](int64_t) -> Value {
    return LLVM::ConstantOp::create(builder, loc, i64,
                                    std::numeric_limits<int64_t>::max());
  };
  SmallVector<Value> operands;
  int64_t firstExtent = 0;
  for (auto [index, type] : llvm::enumerate(main.getArgumentTypes())) {
    auto memref = cast<MemRefType>(type);
    bool isArena = main.getArgAttr(index, kArenaAttr) != nullptr;
    if (isArena || main.getArgAttr(index, kConstantsArgAttr)) {
      Value data = block->getArgument(isArena ? 2 : 3);
      operands.push_back(createBuffer(memref, data, getMost));
      continue;
    }
    operands.push_back(createArgument(block, memref, index, firstExtent));
  }
  func::CallOp::create(builder, loc, main, operands);
  func::ReturnOp::create(builder, loc);
}

void EntryPointBuilder::addCheck(StringRef symbol, func::FuncOp check) {
  Block *block = addFunction(symbol, 3);
  SmallVector<Value> operands;
  int64_t firstExtent = 0;
  for (Type type : check.getArgumentTypes().drop_back())
    operands.push_back(createArgument(block, cast<MemRefType>(type),
                                      operands.size(), firstExtent));
  operands.push_back(
      createBuffer(cast<MemRefType>(check.getArgumentTypes().back()),
                   block->getArgument(2), [](int64_t) { return Value(); }));
  func::CallOp::create(builder, loc, check, operands);
  func::ReturnOp::create(builder, loc);
}

/// Makes the functions of `module` private, under names that nothing else has.
static LogicalResult hideFunctions(ModuleOp module, StringRef program) {
  llvm::StringMap<std::string> names;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      names[function.getName()] =
          ("_espalier_" + program + "_fn_" + function.getName()).str();
  for (auto &entry : names)
    if (module.lookupSymbol(entry.second))
      return emitError(module.getLoc(), "expects no symbol @") << entry.second;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](FlatSymbolRefAttr reference) -> Attribute {
    auto it = names.find(reference.getValue());
    return it == names.end()
               ? reference
               : FlatSymbolRefAttr::get(module.getContext(), it->second);
  });
  for (auto function : module.getOps<func::FuncOp>()) {
    if (auto it = names.find(function.getName()); it != names.end()) {
      function.setName(it->second);
      function.setPrivate();
    }
    function.walk([&](func::CallOp call) { replacer.replaceElementsIn(call); });
  }
  return success();
}

LogicalResult espalier::addEntryPoints(ModuleOp module) {
  FailureOr<ProgramSignature> signature = readSignature(module);
  if (failed(signature))
    return failure();
  FailureOr<ProgramFunctions> functions = findProgram(module);
  auto check = module.lookupSymbol<func::FuncOp>(kCheckName);
  if (failed(hideFunctions(module, signature->name)))
    return failure();
  EntryPointBuilder wrappers(module);
  wrappers.addPlan(getPlanSymbol(signature->name), functions->plan);
  wrappers.addRun(getRunSymbol(signature->name), functions->main);
  if (check)
    wrappers.addCheck(getCheckSymbol(signature->name), check);
  Builder builder(module.getContext());
  // Conditions on sizes are no work for vectors: LLVM 22 reads a mask register
  // that it has not written where lanes of `icmp slt` are or'd.
  functions->plan->setAttr("passthrough",
                           builder.getStrArrayAttr({"noimplicitfloat"}));
  module->setAttr(kSignatureAttr, encodeSignature(builder, *signature));
  return success();
}

namespace {
struct ProgramAddEntryPointsPass
    : espalier::impl::ProgramAddEntryPointsPassBase<ProgramAddEntryPointsPass> {
  void runOnOperation() override {
    getOperation()->removeAttr(poly::kStageAttr);
    if (failed(addEntryPoints(getOperation())))
      signalPassFailure();
  }
};
} // namespace
