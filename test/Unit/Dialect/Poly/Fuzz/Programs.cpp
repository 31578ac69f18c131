//===- Programs.cpp - Random programs of kernels --------------------------===//

#include "Programs.h"
#include "MicroKernels.h"
#include "RandomCommands.h"
#include "espalier/Dialect/Poly/Transforms/DataCommands.h"
#include "espalier/Dialect/Poly/Transforms/KernelCommands.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;
using namespace espalier::poly::fuzz;

OwningOpRef<ModuleOp> fuzz::makeProgram(KernelOp kernel) {
  Location loc = kernel.getLoc();
  OwningOpRef<ModuleOp> module(ModuleOp::create(loc));
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  builder.insert(kernel.clone());
  auto main = func::FuncOp::create(
      builder, loc, "main",
      builder.getFunctionType(kernel.getArgumentTypes(), {}));
  builder.setInsertionPointToStart(main.addEntryBlock());
  CallOp::create(builder, loc, kernel, main.getArguments());
  func::ReturnOp::create(builder, loc);
  return module;
}

//===----------------------------------------------------------------------===//
// Commands
//===----------------------------------------------------------------------===//

static void erase(Operation *op) { op->erase(); }

/// A command `name` for a computation, after `rest` as text.
static ProgramCommand
makeOne(const std::string &name, KernelOp kernel, ComputeOp compute,
        const std::string &rest,
        std::function<llvm::Error(ComputeOp, Eraser)> apply) {
  std::string inKernel = kernel.getSymName().str(),
              symbol = compute.getSymName().str();
  return {name + " @" + inKernel + "::@" + symbol + rest,
          [=](ModuleOp program) {
            auto kernel = program.lookupSymbol<KernelOp>(inKernel);
            return apply(kernel.lookupCompute(symbol), erase);
          }};
}

static ComputeOp pickCompute(Random &random, KernelOp kernel) {
  return random.choose(ArrayRef(llvm::to_vector(kernel.getComputes())));
}

/// One that writes an array of the kernel, or an argument, if there is one.
static ComputeOp pickWriter(Random &random, KernelOp kernel, bool isLocal) {
  SmallVector<ComputeOp> writers;
  for (ComputeOp compute : kernel.getComputes())
    if (isa<BlockArgument>(compute.getWrites().front()) != isLocal)
      writers.push_back(compute);
  return writers.empty() ? pickCompute(random, kernel)
                         : random.choose(ArrayRef(writers));
}

/// One that writes a buffer which the program makes for its kernel's call
/// alone, if there is one: its kernel may have that for itself.
static ComputeOp pickLocalizable(Random &random, ModuleOp program) {
  SmallVector<ComputeOp> writers;
  program.walk([&](CallOp call) {
    auto kernel = program.lookupSymbol<KernelOp>(call.getCalleeAttr());
    for (ComputeOp compute : kernel.getComputes()) {
      auto argument = dyn_cast<BlockArgument>(compute.getWrites().front());
      if (!argument)
        continue;
      Value buffer = call.getArguments()[argument.getArgNumber()];
      if (buffer.getDefiningOp() && buffer.hasOneUse())
        writers.push_back(compute);
    }
  });
  return writers.empty() ? ComputeOp() : random.choose(ArrayRef(writers));
}

/// Makes an array an argument, or moves it to where that may be.
static ProgramCommand makeExternalize(Random &random, KernelOp kernel) {
  ComputeOp compute = pickWriter(random, kernel, true);
  auto array = compute.getWrites().front().getDefiningOp<ArrayOp>();
  if (array && !array.isIn(Placement::Heap))
    return makeOne("place", kernel, compute, " heap", [](ComputeOp op, Eraser) {
      return place(op.getWrites().front().getDefiningOp<ArrayOp>(),
                   PlacementAttr::get(op.getContext(), Placement::Heap));
    });
  return makeOne(
      "externalize", kernel, compute, "",
      [](ComputeOp op, Eraser erase) { return externalize(op, 0, erase); });
}

static ProgramCommand makeLocalize(ComputeOp compute) {
  return makeOne(
      "localize", compute.getKernel(), compute, "",
      [](ComputeOp op, Eraser erase) { return localize(op, 0, erase); });
}

static ProgramCommand makeDetach(Random &random, KernelOp kernel) {
  // A name is free again when its kernel was merged.
  std::string into = "part" + std::to_string(random.pick(0, 9));
  return makeOne("detach", kernel, pickCompute(random, kernel), " into " + into,
                 [=](ComputeOp compute, Eraser erase) {
                   return detach(compute, into, erase);
                 });
}

static ProgramCommand makeMerge(Random &random, ModuleOp program,
                                KernelOp kernel) {
  // Mostly the one that is called next.
  auto kernels = llvm::to_vector(program.getOps<KernelOp>());
  auto *next = llvm::find(kernels, kernel) + 1;
  KernelOp other = next != kernels.end() && random.chance(80)
                       ? *next
                       : random.choose(ArrayRef(kernels));
  std::string name = other.getSymName().str(),
              symbol = pickCompute(random, other).getSymName().str();
  return makeOne(
      "merge", kernel, pickCompute(random, kernel),
      " with @" + name + "::@" + symbol, [=](ComputeOp compute, Eraser erase) {
        auto program = cast<ModuleOp>(compute.getKernel()->getParentOp());
        auto other = program.lookupSymbol<KernelOp>(name);
        return mergeKernels(compute, other.lookupCompute(symbol), erase);
      });
}

/// Runs a loop on the blocks or the threads of a GPU.
static ProgramCommand makeMapped(Random &random, KernelOp kernel) {
  MLIRContext *context = kernel.getContext();
  LoopKindAttrInterface kind;
  if (random.chance(50))
    kind = cast<LoopKindAttrInterface>(Attribute(
        gpu::GPUBlockMappingAttr::get(context, gpu::MappingId::DimX)));
  else
    kind = cast<LoopKindAttrInterface>(Attribute(
        gpu::GPUThreadMappingAttr::get(context, gpu::MappingId::DimX)));
  ComputeOp compute = pickCompute(random, kernel);
  SmallVector<std::string> loops = getLoopNames(compute);
  std::string loop = random.choose(ArrayRef(loops));
  return makeOne("parallelize", kernel, compute,
                 " loop \"" + loop + "\" as " + llvm::to_string(kind),
                 [=](ComputeOp op, Eraser) -> llvm::Error {
                   return parallelize(op, loop, kind);
                 });
}

/// Runs inner loops as a random micro-kernel does.
static ProgramCommand makeTensorize(Random &random, KernelOp kernel) {
  ComputeOp compute = pickCompute(random, kernel);
  SmallVector<std::string> loops = getLoopNames(compute);
  size_t outer = random.pick(0, loops.size() - 1);
  unsigned numInner = loops.size() - outer;
  unsigned first = std::max<int>(compute.getNumDims() - numInner, 0);
  auto micro = std::make_shared<OwningOpRef<KernelOp>>(
      makeMicroKernel(random, compute, first));
  std::string loop = loops[outer];
  return makeOne("tensorize", kernel, compute,
                 " loop \"" + loop + "\" to " +
                     (*micro ? llvm::to_string(**micro) : "none"),
                 [=](ComputeOp op, Eraser) {
                   return *micro ? tensorize(op, loop, **micro)
                                 : refuse("expects a micro-kernel");
                 });
}

ProgramCommand fuzz::makeProgramCommand(Random &random, ModuleOp program) {
  auto kernels = llvm::to_vector(program.getOps<KernelOp>());
  KernelOp kernel = random.choose(ArrayRef(kernels));
  if (ComputeOp compute = pickLocalizable(random, program);
      compute && random.chance(25))
    return makeLocalize(compute);
  int64_t kind = random.pick(1, 100);
  if (kind <= 30) {
    Command command = makeCommand(random, kernel);
    std::string name = kernel.getSymName().str();
    return {"in @" + name + ": " + command.text, [=](ModuleOp program) {
              return command.apply(program.lookupSymbol<KernelOp>(name));
            }};
  }
  if (kind <= 37)
    return makeMapped(random, kernel);
  if (kind <= 47)
    return makeTensorize(random, kernel);
  if (kind <= 60)
    return makeExternalize(random, kernel);
  if (kind <= 62)
    return makeLocalize(pickWriter(random, kernel, false));
  if (kind <= 80)
    return makeDetach(random, kernel);
  return makeMerge(random, program, kernel);
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {
/// A run of a program.
class ProgramRunner {
public:
  ProgramRunner(ModuleOp program, KernelOp original, ArrayRef<int64_t> sizes,
                Random *random)
      : main(*program.getOps<func::FuncOp>().begin()), original(original),
        sizes(sizes), random(random) {}

  /// Runs all calls; returns what goes wrong.
  std::optional<std::string> run();
  /// Whether the code of a kernel takes too long to make.
  bool isTooHard = false;
  /// What was written to a buffer.
  Memory::Values &getValues(Value buffer) { return values[buffer]; }
  Value getArgument(unsigned number) { return main.getArgument(number); }

private:
  std::optional<std::string> runCall(CallOp call);
  SmallVector<int64_t> getParameters(CallOp call);

  func::FuncOp main;
  KernelOp original;
  ArrayRef<int64_t> sizes;
  Random *random;
  llvm::DenseMap<Value, Memory::Values> values;
};
} // namespace

SmallVector<int64_t> ProgramRunner::getParameters(CallOp call) {
  SmallVector<Value> all;
  for (BlockArgument argument : main.getArguments())
    if (argument.getType().isIndex())
      all.push_back(argument);
  SmallVector<int64_t> parameters;
  for (Value value : call.getArguments())
    if (value.getType().isIndex())
      parameters.push_back(sizes[llvm::find(all, value) - all.begin()]);
  return parameters;
}

std::optional<std::string> ProgramRunner::runCall(CallOp call) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(
      call, call.getCalleeAttr());
  KernelModel model = buildModel(kernel);
  Statements statements(model, getParameters(call));
  Memory memory(model);
  auto forEachBuffer = [&](auto visit) {
    for (auto [array, value] : llvm::enumerate(model.arrays))
      if (auto argument = dyn_cast<BlockArgument>(value))
        visit(array, call.getArguments()[argument.getArgNumber()]);
  };
  forEachBuffer([&](unsigned array, Value buffer) {
    auto own = dyn_cast<BlockArgument>(buffer);
    memory.setOrigin(array, own ? original.getArgument(own.getArgNumber())
                                : BlockArgument());
    memory.getValues(array) = values[buffer];
  });
  std::string fault;
  if (!kernel.getSchedule()) {
    runReference(statements, memory);
  } else {
    polyhedral::ScheduleTree tree =
        buildScheduleTree(model, kernel.getSchedule());
    auto ast = polyhedral::scanSchedule(model.program, tree.get());
    if (!ast) {
      std::string message = llvm::toString(ast.takeError());
      isTooHard = StringRef(message).contains("too many operations");
      return message;
    }
    auto privateLoops = polyhedral::findPrivateLoops(model.program, tree.get());
    if (!privateLoops)
      return llvm::toString(privateLoops.takeError());
    runLoops(statements, **ast, *privateLoops, random, memory, fault);
  }
  forEachBuffer([&](unsigned array, Value buffer) {
    values[buffer] = memory.getValues(array);
  });
  if (fault.empty())
    return std::nullopt;
  return fault;
}

std::optional<std::string> ProgramRunner::run() {
  for (auto call : main.getOps<CallOp>())
    if (auto fault = runCall(call))
      return fault;
  return std::nullopt;
}

std::optional<std::string> fuzz::findProgramMismatch(ModuleOp program,
                                                     KernelOp original,
                                                     ArrayRef<int64_t> sizes,
                                                     Random *random) {
  ProgramRunner runner(program, original, sizes, random);
  if (auto fault = runner.run())
    return runner.isTooHard ? std::nullopt : fault;
  KernelModel model = buildModel(original);
  Memory expected = runReference(Statements(model, sizes)), actual(model);
  for (auto [array, value] : llvm::enumerate(model.arrays))
    if (auto argument = dyn_cast<BlockArgument>(value))
      actual.getValues(array) =
          runner.getValues(runner.getArgument(argument.getArgNumber()));
  return expected.findDifference(actual);
}
