//===- Program.cpp - What a module says about its program -----------------===//

#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace espalier;

/// The name of a program whose module has none.
static constexpr llvm::StringLiteral kDefaultName = "program";

FailureOr<ProgramFunctions> espalier::findProgram(ModuleOp module) {
  auto find = [&](StringRef name) -> func::FuncOp {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    if (!function || function.isExternal()) {
      emitError(module.getLoc(), "expects the definition of a func.func @")
          << name;
      return nullptr;
    }
    if (!function.getBody().hasOneBlock()) {
      emitError(function.getLoc(), "expects one block, but got ")
          << function.getBody().getBlocks().size();
      return nullptr;
    }
    return function;
  };
  ProgramFunctions functions;
  functions.main = find(kMainName);
  if (!functions.main)
    return failure();
  functions.plan = find(kPlanName);
  if (!functions.plan)
    return failure();
  return functions;
}

FailureOr<int32_t> espalier::getDtype(Type type) {
  if (type.isF32())
    return ESPALIER_F32;
  if (type.isF64())
    return ESPALIER_F64;
  if (type.isF16())
    return ESPALIER_F16;
  if (type.isBF16())
    return ESPALIER_BF16;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return failure();
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return ESPALIER_BOOL;
  case 8:
    return isUnsigned ? ESPALIER_U8 : ESPALIER_I8;
  case 16:
    return isUnsigned ? ESPALIER_U16 : ESPALIER_I16;
  case 32:
    return isUnsigned ? ESPALIER_U32 : ESPALIER_I32;
  case 64:
    return isUnsigned ? ESPALIER_U64 : ESPALIER_I64;
  default:
    return failure();
  }
}

/// Reads argument `index` of @main, called `fallbackName` if it has no name.
static FailureOr<TensorSignature> readTensor(func::FuncOp main, unsigned index,
                                             const Twine &fallbackName) {
  auto error = [&]() {
    return emitError(main.getLoc(), "argument #") << index << " expects ";
  };
  auto type = dyn_cast<MemRefType>(main.getArgumentTypes()[index]);
  if (!type || !type.getLayout().isIdentity() || type.getMemorySpace())
    return error() << "a memref with the identity layout, but got "
                   << main.getArgumentTypes()[index];
  if (type.getRank() > ESPALIER_MAX_RANK)
    return error() << "a rank of at most " << ESPALIER_MAX_RANK << ", but got "
                   << type.getRank();
  FailureOr<int32_t> dtype = getDtype(type.getElementType());
  if (failed(dtype))
    return error() << "an element type of the boundary, but got "
                   << type.getElementType();

  TensorSignature tensor;
  tensor.dtype = *dtype;
  // A signless integer may stand for an unsigned one.
  if (auto attr = main.getArgAttrOfType<StringAttr>(index, kDtypeAttr)) {
    int32_t stated = 0;
    while (stated < ESPALIER_NUM_DTYPES &&
           attr.getValue() != espalier_dtype_name(stated))
      ++stated;
    if (espalier_dtype_size(stated) != espalier_dtype_size(tensor.dtype))
      return error() << "'" << kDtypeAttr << "' to name a type like "
                     << type.getElementType() << ", but got " << attr;
    tensor.dtype = stated;
  }
  auto name = main.getArgAttrOfType<StringAttr>(index, kNameAttr);
  tensor.name = name ? name.str() : fallbackName.str();
  for (int64_t extent : type.getShape())
    tensor.extents.push_back(ShapedType::isDynamic(extent) ? -1 : extent);
  tensor.symbols.resize(type.getRank());
  if (Attribute attr = main.getArgAttr(index, kDimsAttr)) {
    auto dims = dyn_cast<ArrayAttr>(attr);
    if (!dims || static_cast<int64_t>(dims.size()) != type.getRank() ||
        !llvm::all_of(dims, llvm::IsaPred<StringAttr>))
      return error() << "'" << kDimsAttr << "' to hold " << type.getRank()
                     << " strings, but got " << attr;
    for (auto [symbol, dim] : llvm::zip(tensor.symbols, dims))
      symbol = cast<StringAttr>(dim).str();
  }
  if (Attribute attr = main.getArgAttr(index, kBoundAttr)) {
    auto number = dyn_cast<IntegerAttr>(attr);
    auto symbol = dyn_cast<StringAttr>(attr);
    auto sum = dyn_cast<ArrayAttr>(attr);
    if (sum && sum.size() == 2) {
      symbol = dyn_cast<StringAttr>(sum[0]);
      number = dyn_cast<IntegerAttr>(sum[1]);
    }
    bool isSum = sum && symbol && number;
    if (!type.getElementType().isInteger() || (!number && !symbol) ||
        (sum && !isSum) || (number && !sum && number.getInt() < 0))
      return error() << "'" << kBoundAttr << "' to be a number, a name or both "
                     << "for integers, but got " << attr << " for " << type;
    tensor.isBounded = true;
    tensor.bound = number ? number.getInt() : 0;
    tensor.boundSymbol = symbol ? symbol.str() : "";
  }
  tensor.isInjective = bool(main.getArgAttr(index, kInjectiveAttr));
  if (tensor.isInjective && !tensor.isBounded)
    return error() << "'" << kInjectiveAttr << "' beside '" << kBoundAttr
                   << "', but got it alone";
  tensor.isMonotonic = bool(main.getArgAttr(index, kMonotonicAttr));
  if (tensor.isMonotonic &&
      (!type.getElementType().isInteger() || type.getRank() != 1))
    return error() << "'" << kMonotonicAttr << "' on integers in one "
                   << "dimension, but got it for " << type;
  return tensor;
}

static int64_t countExtents(ArrayRef<TensorSignature> tensors) {
  int64_t count = 0;
  for (const TensorSignature &tensor : tensors)
    count += tensor.extents.size();
  return count;
}

/// Checks that @main_plan maps the extents of the inputs to those of the
/// outputs, followed by the arena's size if @main has an arena, and by numbers
/// if there are messages.
static LogicalResult verifyPlan(ProgramFunctions functions,
                                const ProgramSignature &signature,
                                bool hasArena) {
  func::FuncOp plan = functions.plan;
  int64_t numOperands = countExtents(signature.inputs);
  int64_t numResults = countExtents(signature.outputs) + hasArena;
  if (plan->hasAttr(kPlanMessagesAttr))
    numResults += kNumPlanValues;
  FunctionType type = plan.getFunctionType();
  if (type.getNumInputs() != numOperands || type.getNumResults() != numResults)
    return emitError(plan.getLoc(), "expects ")
           << numOperands << " operands and " << numResults
           << " results, but got " << type.getNumInputs() << " and "
           << type.getNumResults();
  auto isIndex = [](Type type) { return type.isIndex(); };
  if (!llvm::all_of(type.getInputs(), isIndex) ||
      !llvm::all_of(type.getResults(), isIndex))
    return emitError(plan.getLoc(), "expects types 'index' only, but got ")
           << type;
  return success();
}

/// Gives extents of outputs the names of the inputs' extents that they are: the
/// plan, which follows from the operators' definitions, returns these operands.
static void nameOutputExtents(func::FuncOp plan, ProgramSignature &signature) {
  std::vector<std::string> operands;
  for (const TensorSignature &input : signature.inputs)
    llvm::append_range(operands, input.symbols);
  ValueRange results = plan.getBody().front().getTerminator()->getOperands();
  unsigned position = 0;
  for (TensorSignature &output : signature.outputs)
    for (auto [symbol, extent] : llvm::zip(output.symbols, output.extents)) {
      auto operand = dyn_cast<BlockArgument>(results[position++]);
      if (operand && extent < 0 && symbol.empty())
        symbol = operands[operand.getArgNumber()];
    }
}

/// Checks that `name` may be part of a symbol and of a C declaration.
static LogicalResult verifyName(ModuleOp module, StringRef name) {
  bool isIdentifier =
      !name.empty() && !llvm::isDigit(name.front()) &&
      llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
  if (!isIdentifier)
    return emitError(module.getLoc(),
                     "expects a C identifier as the program's name, "
                     "but got '")
           << name << "'";
  // The runtime's names start so.
  if (name.starts_with("espalier"))
    return emitError(module.getLoc(),
                     "expects a program's name that does not start with "
                     "'espalier', but got '")
           << name << "'";
  return success();
}

FailureOr<ProgramSignature> espalier::readSignature(ModuleOp module) {
  FailureOr<ProgramFunctions> functions = findProgram(module);
  if (failed(functions))
    return failure();
  func::FuncOp main = functions->main;
  unsigned numTensors = main.getNumArguments();
  bool hasArena = false;
  auto isTensor = [&](unsigned number) {
    return !main.getArgAttr(number, kArenaAttr) &&
           !main.getArgAttr(number, kConstantsArgAttr) &&
           !main.getArgAttr(number, kRecordAttr);
  };
  while (numTensors > 0 && !isTensor(numTensors - 1))
    hasArena |= bool(main.getArgAttr(--numTensors, kArenaAttr));

  if (main.getNumResults() != 0)
    return emitError(main.getLoc(), "expects no results, but got ")
           << main.getNumResults();
  auto numInputs = main->getAttrOfType<IntegerAttr>(kNumInputsAttr);
  if (!numInputs || numInputs.getInt() < 0 || numInputs.getInt() > numTensors)
    return emitError(main.getLoc(), "expects '")
           << kNumInputsAttr << "' to be an integer from 0 to " << numTensors
           << ", but got " << main->getAttr(kNumInputsAttr);

  ProgramSignature signature;
  signature.name = module.getSymName().value_or(kDefaultName).str();
  if (failed(verifyName(module, signature.name)))
    return failure();
  llvm::StringSet<> names;
  for (unsigned i = 0; i < numTensors; ++i) {
    bool isInput = i < numInputs.getInt();
    auto &tensors = isInput ? signature.inputs : signature.outputs;
    FailureOr<TensorSignature> tensor = readTensor(
        main, i, Twine(isInput ? "input" : "output") + Twine(tensors.size()));
    if (failed(tensor))
      return failure();
    if (!names.insert((isInput ? "i" : "o") + tensor->name).second)
      return emitError(main.getLoc(), "argument #")
             << i << " expects a name of its own, but got '" << tensor->name
             << "' again";
    tensors.push_back(std::move(*tensor));
  }
  if (failed(verifyPlan(*functions, signature, hasArena)))
    return failure();
  nameOutputExtents(functions->plan, signature);
  if (auto messages =
          functions->plan->getAttrOfType<ArrayAttr>(kPlanMessagesAttr))
    for (StringAttr message : messages.getAsRange<StringAttr>())
      signature.planMessages.push_back(message.str());
  if (auto check = module.lookupSymbol<func::FuncOp>(kCheckName))
    if (auto messages = check->getAttrOfType<ArrayAttr>(kCheckMessagesAttr))
      for (StringAttr message : messages.getAsRange<StringAttr>())
        signature.checkMessages.push_back(message.str());
  return signature;
}
