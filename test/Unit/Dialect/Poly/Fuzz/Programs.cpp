//===- Programs.cpp - Random programs of kernels --------------------------===//

#include "Programs.h"
#include "RandomCommands.h"
#include "espalier/Dialect/Poly/Transforms/KernelCommands.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
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

ProgramCommand fuzz::makeProgramCommand(Random &random, ModuleOp program) {
  auto kernels = llvm::to_vector(program.getOps<KernelOp>());
  KernelOp kernel = random.choose(ArrayRef(kernels));
  int64_t kind = random.pick(1, 100);
  if (kind <= 35) {
    Command command = makeCommand(random, kernel);
    std::string name = kernel.getSymName().str();
    return {"in @" + name + ": " + command.text, [=](ModuleOp program) {
              return command.apply(program.lookupSymbol<KernelOp>(name));
            }};
  }
  if (kind <= 50)
    return makeOne("externalize", kernel, pickWriter(random, kernel, true), "",
                   [](ComputeOp compute, Eraser erase) {
                     return externalize(compute, 0, erase);
                   });
  if (kind <= 60) {
    ComputeOp compute =
        random.chance(80) ? pickLocalizable(random, program) : ComputeOp();
    if (!compute)
      compute = pickWriter(random, kernel, false);
    return makeOne("localize", compute.getKernel(), compute, "",
                   [](ComputeOp compute, Eraser erase) {
                     return localize(compute, 0, erase);
                   });
  }
  if (kind <= 80) {
    // A name is free again when its kernel was merged.
    std::string into = "part" + std::to_string(random.pick(0, 9));
    return makeOne("detach", kernel, pickCompute(random, kernel),
                   " into " + into, [=](ComputeOp compute, Eraser erase) {
                     return detach(compute, into, erase);
                   });
  }
  // Mostly the one that is called next.
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
