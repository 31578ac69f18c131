//===- Compiled.cpp - Kernels as machine code -----------------------------===//

#include "Compiled.h"
#include "espalier/Conversion/Passes.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Vector/Transforms/Passes.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;
using namespace espalier::poly::fuzz;

void fuzz::registerCompilation(DialectRegistry &registry) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  registerAllToLLVMIRTranslations(registry);
}

/// Lowers kernels to functions that take pointers to memref descriptors.
static LogicalResult lower(ModuleOp module) {
  PassManager loops(module.getContext());
  loops.addPass(createConvertPolyToLoopsPass());
  if (failed(loops.run(module)))
    return failure();
  for (auto function : module.getOps<func::FuncOp>())
    function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                      UnitAttr::get(module.getContext()));
  PassManager manager(module.getContext());
  manager.addPass(createCanonicalizerPass());
  OpPassManager &functions = manager.nest<func::FuncOp>();
  functions.addPass(vector::createLowerVectorMultiReductionPass());
  functions.addPass(createConvertVectorToSCFPass());
  functions.addPass(createLowerAffinePass());
  functions.addPass(createSCFToControlFlowPass());
  manager.addPass(createConvertVectorToLLVMPass());
  manager.addPass(memref::createExpandStridedMetadataPass());
  manager.addPass(createLowerAffinePass());
  manager.addPass(arith::createArithExpandOpsPass());
  manager.addPass(createConvertIndexToLLVMPass());
  manager.addPass(createArithToLLVMConversionPass());
  manager.addPass(createFinalizeMemRefToLLVMConversionPass());
  manager.addPass(createConvertFuncToLLVMPass());
  manager.addPass(createConvertControlFlowToLLVMPass());
  manager.addPass(createUBToLLVMConversionPass());
  manager.addPass(createReconcileUnrealizedCastsPass());
  return manager.run(module);
}

namespace {
/// An argument: its elements, and the descriptor that is passed.
class Argument {
public:
  /// At least of the given shape; static extents are the type's.
  Argument(BlockArgument value, unsigned array, ArrayRef<int64_t> atLeast,
           bool isUsed)
      : array(array), type(cast<MemRefType>(value.getType())), isUsed(isUsed),
        shape(atLeast) {
    for (auto [extent, own] : llvm::zip(type.getShape(), shape))
      own = ShapedType::isDynamic(extent) ? std::max<int64_t>(own, 1) : extent;
    forEach([&](const Point &place, int64_t) {
      int64_t number = getInitialValue(value, place);
      if (type.getElementType().isInteger(32))
        narrow.push_back(number);
      else
        wide.push_back(number);
    });
    void *data = narrow.empty() ? static_cast<void *>(wide.data())
                                : static_cast<void *>(narrow.data());
    descriptor = {reinterpret_cast<int64_t>(data),
                  reinterpret_cast<int64_t>(data), 0};
    llvm::append_range(descriptor, shape);
    int64_t stride = 1;
    SmallVector<int64_t> strides;
    for (int64_t extent : llvm::reverse(shape)) {
      strides.insert(strides.begin(), stride);
      stride *= extent;
    }
    llvm::append_range(descriptor, strides);
    pointer = descriptor.data();
  }

  void *getPointer() { return &pointer; }

  std::optional<std::string> compare(Memory &expected) {
    std::optional<std::string> result;
    if (!isUsed)
      return result;
    forEach([&](const Point &place, int64_t number) {
      int64_t actual = narrow.empty() ? wide[number] : narrow[number];
      int64_t right = expected.read(array, place);
      if (actual != right && !result) {
        result.emplace();
        llvm::raw_string_ostream os(*result);
        os << "element (";
        llvm::interleaveComma(place, os);
        os << ") is " << actual << ", not " << right;
      }
    });
    return result;
  }

private:
  void forEach(llvm::function_ref<void(const Point &, int64_t)> visit) {
    Point place(shape.size(), 0);
    for (int64_t number = 0;; ++number) {
      visit(place, number);
      size_t dim = place.size();
      while (dim > 0 && ++place[dim - 1] == shape[dim - 1])
        place[--dim] = 0;
      if (dim == 0)
        return;
    }
  }

  unsigned array;
  MemRefType type;
  bool isUsed;
  Point shape;
  std::vector<int64_t> wide;
  std::vector<int32_t> narrow;
  SmallVector<int64_t> descriptor;
  void *pointer;
};
} // namespace

static std::optional<std::string> runCompiled(ExecutionEngine &engine,
                                              KernelOp kernel,
                                              ArrayRef<int64_t> parameters) {
  KernelModel model = buildModel(kernel);
  Memory expected = runReference(Statements(model, parameters));
  if (expected.hasNegativeIndex())
    return std::nullopt;
  std::vector<std::unique_ptr<Argument>> arguments;
  SmallVector<int64_t> numbers(parameters);
  SmallVector<void *> pointers;
  unsigned nextParameter = 0;
  for (BlockArgument value : kernel.getArguments()) {
    auto type = dyn_cast<MemRefType>(value.getType());
    if (!type) {
      pointers.push_back(&numbers[nextParameter++]);
      continue;
    }
    auto *found = llvm::find(model.arrays, value);
    unsigned array = found - model.arrays.begin();
    bool isUsed = found != model.arrays.end();
    arguments.push_back(std::make_unique<Argument>(
        value, array,
        isUsed ? expected.getShape(array) : Point(type.getRank(), 1), isUsed));
    pointers.push_back(arguments.back()->getPointer());
  }
  if (llvm::Error error = engine.invokePacked(
          ("_mlir_ciface_" + kernel.getSymName()).str(), pointers))
    return llvm::toString(std::move(error));
  for (std::unique_ptr<Argument> &argument : arguments)
    if (auto fault = argument->compare(expected))
      return fault;
  return std::nullopt;
}

/// The first kernel of `module` of which no code can be made, as text.
static std::string findRefused(ModuleOp module) {
  std::string text;
  for (auto kernel : module.getOps<KernelOp>()) {
    OwningOpRef<ModuleOp> single(ModuleOp::create(module.getLoc()));
    single->push_back(kernel.clone());
    if (!text.empty() || succeeded(lower(*single)))
      continue;
    llvm::raw_string_ostream(text) << kernel;
  }
  return text;
}

std::optional<std::string> fuzz::findCompiledMismatch(
    ModuleOp module,
    llvm::function_ref<std::vector<SmallVector<int64_t>>(unsigned)> getSizes) {
  OwningOpRef<ModuleOp> lowered(module.clone());
  if (failed(lower(*lowered)))
    return "code cannot be generated for\n" + findRefused(module);
  auto engine = ExecutionEngine::create(*lowered);
  if (!engine)
    return llvm::toString(engine.takeError());
  for (auto kernel : module.getOps<KernelOp>())
    for (ArrayRef<int64_t> parameters : getSizes(kernel.getNumParameters()))
      if (auto fault = runCompiled(**engine, kernel, parameters)) {
        llvm::raw_string_ostream os(*fault);
        os << ", with sizes (";
        llvm::interleaveComma(parameters, os);
        os << ") in\n" << kernel;
        return fault;
      }
  return std::nullopt;
}
