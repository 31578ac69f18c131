//===- ScheduleFuzzTest.cpp - Random kernels under random schedules -------===//
//
// Whatever sequence of commands is accepted, the loops compute what the kernel
// does in program order, bit for bit. And a command is refused because of
// dependences only if its order would break one.
//
//   EspalierScheduleFuzzTests --cases N --seed S   runs N cases
//   EspalierScheduleFuzzTests --data ...           the same, all about data
//   EspalierScheduleFuzzTests --replay FILE        runs a printed case again
//
//===----------------------------------------------------------------------===//

#include "../OtherTarget.h"
#include "Compiled.h"
#include "Kernels.h"
#include "Order.h"
#include "Programs.h"
#include "RandomCommands.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Transforms/Passes.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/Support/raw_ostream.h"
#include <ctime>
#include <gtest/gtest.h>
#include <map>

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;
using namespace espalier::poly::fuzz;

static llvm::cl::opt<unsigned> numCases("cases", llvm::cl::init(1000),
                                        llvm::cl::desc("Cases to run"));
static llvm::cl::opt<uint64_t> seed("seed", llvm::cl::init(1),
                                    llvm::cl::desc("Seed of the first case"));
static llvm::cl::opt<bool>
    onlyData("data", llvm::cl::desc("Only kernels in which arrays say which "
                                    "points run, or where elements are"));
static llvm::cl::opt<std::string>
    replay("replay", llvm::cl::desc("A module with a kernel and a script"));
static llvm::cl::opt<bool>
    showRefusals("show-refusals",
                 llvm::cl::desc("Print legal commands that are refused, and "
                                "schedules that take too long to scan"));

namespace {
/// Counts of commands.
struct Counts {
  unsigned accepted = 0;
  unsigned malformed = 0;    ///< Refused for another reason than dependences.
  unsigned illegal = 0;      ///< Refused, and wrong.
  unsigned storage = 0;      ///< Refused for what elements share memory.
  unsigned legal = 0;        ///< Refused, though right.
  unsigned legalInexact = 0; ///< The same, where data matters.
  unsigned unscanned = 0;    ///< Schedules that take too long to scan.
  unsigned readTwice = 0;    ///< Kernels whose reductions read twice.
  double slowest = 0;        ///< CPU time of a command, in seconds.
  std::map<std::string, unsigned> byName; ///< Accepted.
};

class ScheduleFuzzTest : public ::testing::Test {
protected:
  ScheduleFuzzTest() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registry.insert<PolyDialect, arith::ArithDialect, func::FuncDialect,
                    gpu::GPUDialect, memref::MemRefDialect,
                    transform::TransformDialect>();
    registerTransformExtension(registry);
    registerCompilation(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    attachOtherTarget(context);
  }

  /// A module with a random kernel under a random schedule.
  struct Case {
    OwningOpRef<ModuleOp> module;
    OwningOpRef<KernelOp> original; ///< Without schedule.
    std::vector<Command> accepted, tried;

    KernelOp getKernel() { return *module->getOps<KernelOp>().begin(); }
  };
  /// Nothing if the kernel has no meaning, or a storage that its last schedule
  /// does not suit.
  std::optional<Case> makeCase(uint64_t number);
  void runCase(uint64_t number);
  void runCommand(Case &result, const Command &command);

  MLIRContext context;
  Counts counts;
  bool hasData = onlyData; ///< All cases are about data.
};
} // namespace

/// CPU time of a command, accepted or refused.
static constexpr double kMaxSeconds = 20;

/// The sizes that a kernel is tried with.
static std::vector<SmallVector<int64_t>> getSizes(unsigned numParams) {
  if (numParams == 0)
    return {{}};
  if (numParams == 1)
    return {{5}, {0}, {1}, {2}, {3}, {4}, {6}, {8}};
  return {{5, 3}, {3, 6}, {1, 7}, {8, 2}, {4, 4}, {0, 3}, {7, 8}};
}

/// Whether all values that the kernel reads are defined.
static bool hasMeaning(const KernelModel &model) {
  return llvm::all_of(
      getSizes(model.program.numParams), [&](ArrayRef<int64_t> parameters) {
        return !runReference(Statements(model, parameters)).hasUndefinedRead();
      });
}

static bool isAffine(const KernelModel &model) {
  return llvm::all_of(
      model.program.statements, [&](const polyhedral::Statement &statement) {
        return !IntegerSet(statement.where) &&
               llvm::all_of(llvm::concat<const polyhedral::Access>(
                                statement.reads, statement.writes),
                            [&](const polyhedral::Access &access) {
                              return access.map.getNumSymbols() <=
                                     model.program.numParams;
                            });
      });
}

/// What is wrong with the order of a kernel's schedule, for any size or those
/// that are given.
static std::optional<std::string> findViolation(KernelOp kernel,
                                                ArrayRef<int64_t> sizes = {}) {
  KernelModel model = buildModel(kernel);
  polyhedral::ScheduleTree tree =
      buildScheduleTree(model, kernel.getSchedule());
  std::vector<SmallVector<int64_t>> all = getSizes(model.program.numParams);
  if (!sizes.empty())
    all.emplace_back(sizes);
  for (ArrayRef<int64_t> parameters : all)
    if (auto fault = findViolation(Statements(model, parameters), tree.get()))
      return fault;
  return std::nullopt;
}

static bool isTooHard(llvm::StringRef message) {
  return message.contains("too many operations");
}

/// Whether the loops of a kernel take too long to find: no code is made then.
static bool isTooHard(KernelOp kernel) {
  auto ast = scanKernel(buildModel(kernel), kernel.getSchedule());
  return !ast && isTooHard(llvm::toString(ast.takeError()));
}

/// What goes wrong when the kernel, made of `original`, runs as scheduled, for
/// any size. Counts it in `numUnscanned`, if given, if scanning takes too long:
/// that is an answer too.
static std::optional<std::string>
findMismatch(KernelOp kernel, KernelOp original, unsigned *numUnscanned) {
  KernelModel model = buildModel(kernel), definition = buildModel(original);
  polyhedral::ScheduleTree tree =
      buildScheduleTree(model, kernel.getSchedule());
  llvm::Expected<polyhedral::Ast> ast =
      polyhedral::scanSchedule(model.program, tree.get());
  if (!ast) {
    std::string message = llvm::toString(ast.takeError());
    if (!isTooHard(message))
      return message;
    if (numUnscanned)
      ++*numUnscanned;
    if (showRefusals)
      llvm::outs() << "not scanned: " << kernel << "\n";
    return std::nullopt;
  }
  auto privateLoops = polyhedral::findPrivateLoops(model.program, tree.get());
  if (!privateLoops)
    return "the storage does not fit: " +
           llvm::toString(privateLoops.takeError());
  Random random(1);
  for (ArrayRef<int64_t> parameters : getSizes(model.program.numParams)) {
    Statements statements(model, parameters);
    Memory expected = runReference(Statements(definition, parameters));
    for (Random *order : {static_cast<Random *>(nullptr), &random}) {
      std::string fault;
      Memory actual(model);
      runLoops(statements, **ast, *privateLoops, order, actual, fault);
      if (fault.empty())
        fault = expected.findDifference(actual).value_or("");
      if (fault.empty())
        continue;
      llvm::raw_string_ostream os(fault);
      os << ", with sizes (";
      llvm::interleaveComma(parameters, os);
      os << ") in\n" << kernel << "\nloops:\n";
      polyhedral::print(model.program, **ast, os);
      return fault;
    }
  }
  return std::nullopt;
}

static std::optional<std::string> findFault(KernelOp kernel, KernelOp original,
                                            unsigned *numUnscanned = nullptr) {
  if (std::optional<std::string> violation = findViolation(kernel)) {
    llvm::raw_string_ostream(*violation) << " in\n" << kernel;
    return violation;
  }
  return findMismatch(kernel, original, numUnscanned);
}

/// A copy of `kernel` after those of `commands` that are accepted.
static OwningOpRef<KernelOp> applyAll(KernelOp kernel,
                                      ArrayRef<Command> commands) {
  OwningOpRef<KernelOp> copy(kernel.clone());
  for (const Command &command : commands)
    llvm::consumeError(command.apply(*copy));
  return copy;
}

/// Drops commands as long as `isFaulty`.
static std::vector<Command>
shrink(KernelOp kernel, std::vector<Command> commands,
       llvm::function_ref<bool(KernelOp)> isFaulty) {
  for (size_t i = commands.size(); i-- > 0;) {
    std::vector<Command> fewer = commands;
    fewer.erase(fewer.begin() + i);
    if (isFaulty(*applyAll(kernel, fewer)))
      commands = fewer;
  }
  return commands;
}

void ScheduleFuzzTest::runCommand(Case &result, const Command &command) {
  KernelOp kernel = result.getKernel();
  OwningOpRef<KernelOp> before(kernel.clone());
  result.tried.push_back(command);
  clock_t begin = clock();
  llvm::Error error = command.apply(kernel);
  double seconds = double(clock() - begin) / CLOCKS_PER_SEC;
  counts.slowest = std::max(counts.slowest, seconds);
  EXPECT_LT(seconds, kMaxSeconds)
      << "a command takes long: " << command.text << "\n"
      << printScript(*before, {command});
  if (!error) {
    ++counts.accepted;
    StringRef name = StringRef(command.text).split(' ').first;
    ++counts.byName[name.drop_front(strlen("transform.poly.")).str()];
    result.accepted.push_back(command);
    return;
  }
  llvm::handleAllErrors(std::move(error), [&](const Refusal &refusal) {
    EXPECT_TRUE(OperationEquivalence::isEquivalentTo(
        *before, kernel, OperationEquivalence::IgnoreLocations))
        << "a refused command changes the kernel: " << command.text;
    KernelOp attempt = refusal.getAttempt();
    if (!attempt) {
      ++counts.malformed;
      return;
    }
    std::string message;
    llvm::raw_string_ostream os(message);
    refusal.log(os);
    if (llvm::StringRef(message).contains("storage")) {
      ++counts.storage;
      return;
    }
    SmallVector<int64_t> sizes;
    if (refusal.getViolation())
      sizes = refusal.getViolation()->parameters;
    if (findViolation(attempt, sizes)) {
      ++counts.illegal;
      return;
    }
    bool affine = isAffine(buildModel(kernel));
    ++(affine ? counts.legal : counts.legalInexact);
    if (showRefusals && affine) {
      std::vector<Command> commands = result.accepted;
      commands.push_back(command);
      llvm::errs() << "refused though legal: " << message << "\n"
                   << printScript(*result.original, commands) << "\n"
                   << attempt << "\n";
    }
  });
}

std::optional<ScheduleFuzzTest::Case>
ScheduleFuzzTest::makeCase(uint64_t number) {
  Random random(number);
  std::string text = makeKernel(random, hasData);
  Case result;
  std::string message;
  {
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      message += diagnostic.str() + "\n";
      return success();
    });
    result.module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
  }
  if (!result.module) {
    // Subscripts that look different may be the same.
    bool readsTwice = StringRef(message).contains(
        "expects a reduction to read the element that it updates once");
    EXPECT_TRUE(readsTwice) << message << text;
    ++counts.readTwice;
    return std::nullopt;
  }
  KernelOp kernel = result.getKernel();
  if (!hasMeaning(buildModel(kernel)))
    return std::nullopt;
  result.original = kernel.clone();
  for (int64_t i = random.pick(1, 7); i > 0; --i)
    runCommand(result, makeCommand(random, kernel));
  if (failed(verifySchedule(kernel)))
    return std::nullopt;
  return result;
}

void ScheduleFuzzTest::runCase(uint64_t number) {
  std::optional<Case> made = makeCase(number);
  if (!made)
    return;
  KernelOp original = *made->original;
  if (!findFault(made->getKernel(), original, &counts.unscanned))
    return;
  std::vector<Command> commands =
      shrink(original, made->accepted, [&](KernelOp kernel) {
        return findFault(kernel, original).has_value();
      });
  FAIL() << "case " << number << ": "
         << *findFault(*applyAll(original, commands), original) << "\n"
         << printScript(original, commands);
}

TEST_F(ScheduleFuzzTest, AcceptedCommandsKeepTheResult) {
  for (uint64_t number = seed; number < seed + numCases && !HasFailure();
       ++number)
    runCase(number);
  llvm::outs() << counts.accepted << " accepted, " << counts.malformed
               << " not applicable, " << counts.illegal << " illegal, "
               << counts.storage << " refused for storage, " << counts.legal
               << " refused though legal (" << counts.legalInexact
               << " where data matters), " << counts.unscanned
               << " not scanned, " << counts.readTwice
               << " reductions that read twice; at most "
               << llvm::format("%.2f", counts.slowest)
               << " s of CPU time for a command\n";
  for (const auto &[name, number] : counts.byName)
    llvm::outs() << name << " " << number << " ";
  llvm::outs() << "\n";
  EXPECT_LE(counts.legal * 100, counts.accepted + counts.legal);
  EXPECT_EQ(counts.unscanned, 0u);
  EXPECT_TRUE(HasFailure() || counts.accepted > numCases);
}

TEST_F(ScheduleFuzzTest, AcceptedCommandsKeepTheResultOfData) {
  hasData = true;
  for (uint64_t number = seed; number < seed + numCases / 10 && !HasFailure();
       ++number)
    runCase(number);
}

/// Applies a script to the module that it is in.
static LogicalResult interpret(ModuleOp module) {
  return transform::applyTransformNamedSequence(
      module,
      module.lookupSymbol(
          transform::TransformDialect::kTransformEntryPointSymbolName),
      ModuleOp(), transform::TransformOptions());
}

/// The text of a kernel, whatever the order of sums in its maps and sets.
static std::string print(KernelOp kernel) {
  OwningOpRef<KernelOp> copy(kernel.clone());
  AttrTypeReplacer replacer;
  replacer.addReplacement([](AffineMapAttr map) {
    return AffineMapAttr::get(simplifyAffineMap(map.getValue()));
  });
  replacer.addReplacement([](IntegerSetAttr attr) {
    IntegerSet set = attr.getValue();
    auto constraints =
        llvm::map_to_vector(set.getConstraints(), [&](AffineExpr expr) {
          return simplifyAffineExpr(expr, set.getNumDims(),
                                    set.getNumSymbols());
        });
    return IntegerSetAttr::get(IntegerSet::get(
        set.getNumDims(), set.getNumSymbols(), constraints, set.getEqFlags()));
  });
  replacer.recursivelyReplaceElementsIn(*copy);
  return llvm::to_string(*copy);
}

TEST_F(ScheduleFuzzTest, ScriptsAreWhatTheirCommandsAre) {
  unsigned numAccepted = 0;
  ScopedDiagnosticHandler silence(&context,
                                  [](Diagnostic &) { return success(); });
  for (uint64_t number = seed; number < seed + numCases / 2 && !HasFailure();
       ++number) {
    std::optional<Case> made = makeCase(number);
    if (!made || made->tried.empty())
      continue;
    // What was accepted one by one is accepted together.
    KernelOp original = *made->original, result = made->getKernel();
    std::string text = printScript(original, made->accepted);
    auto script = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    ASSERT_TRUE(bool(script)) << text;
    ASSERT_TRUE(succeeded(interpret(*script))) << text;
    KernelOp replayed = *script->getOps<KernelOp>().begin();
    if (!made->accepted.empty())
      EXPECT_EQ(print(replayed), print(result))
          << "case " << number << ": a script makes another kernel";
    // What is refused alone may be a step to what is legal.
    text = printScript(original, made->tried);
    script = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    ASSERT_TRUE(bool(script)) << text;
    if (failed(interpret(*script)))
      continue;
    ++numAccepted;
    if (auto fault = findFault(*script->getOps<KernelOp>().begin(), original))
      ADD_FAILURE() << "case " << number << ": " << *fault << "\n" << text;
  }
  llvm::outs() << numAccepted << " scripts accepted whole\n";
}

static bool isValidProgram(ModuleOp program) {
  return succeeded(verify(program)) &&
         llvm::all_of(program.getOps<KernelOp>(), [](KernelOp kernel) {
           return !kernel.getSchedule() || succeeded(verifySchedule(kernel));
         });
}

TEST_F(ScheduleFuzzTest, CommandsAcrossKernelsKeepTheResult) {
  std::map<std::string, unsigned> accepted;
  unsigned numPrograms = 0;
  for (uint64_t number = seed; number < seed + numCases / 4 && !HasFailure();
       ++number) {
    Random random(number);
    std::optional<Case> made = makeCase(number);
    if (!made)
      continue;
    KernelOp original = *made->original;
    // Half of the programs start from a schedule.
    OwningOpRef<ModuleOp> program =
        makeProgram(random.chance(50) ? made->getKernel() : original);
    std::string text;
    bool isOther = false; // Than one kernel under a schedule.
    for (int64_t i = random.pick(3, 9); i > 0; --i) {
      ProgramCommand command = makeProgramCommand(random, *program);
      OwningOpRef<ModuleOp> before(program->clone());
      if (llvm::Error error = command.apply(*program)) {
        llvm::consumeError(std::move(error));
        EXPECT_TRUE(OperationEquivalence::isEquivalentTo(
            *before, *program, OperationEquivalence::IgnoreLocations))
            << "a refused command changes the program: " << command.text;
        continue;
      }
      std::string name = StringRef(command.text).split(' ').first.str();
      bool isValid = isValidProgram(*program);
      if (!isValid && name == "in") {
        // A storage that its schedule does not suit.
        program = std::move(before);
        continue;
      }
      text += command.text + "\n";
      ++accepted[name];
      isOther |= name != "in";
      EXPECT_TRUE(isValid) << "case " << number << ":\n" << text;
    }
    if (!isOther)
      continue;
    ++numPrograms;
    for (ArrayRef<int64_t> sizes : getSizes(original.getNumParameters()))
      for (Random *order : {static_cast<Random *>(nullptr), &random})
        if (auto fault = findProgramMismatch(*program, original, sizes, order);
            fault && !HasFailure())
          ADD_FAILURE() << "case " << number << ": " << *fault << " after\n"
                        << text << "\n"
                        << llvm::to_string(*program) << "\nmade of\n"
                        << llvm::to_string(original);
  }
  llvm::outs() << numPrograms << " programs:";
  for (const auto &[name, count] : accepted)
    llvm::outs() << " " << name << " " << count;
  llvm::outs() << "\n";
  for (const char *name : {"detach", "externalize", "localize", "merge",
                           "parallelize", "tensorize"})
    EXPECT_GT(accepted[name], 0u) << name;
}

TEST_F(ScheduleFuzzTest, CompiledCodeKeepsTheResult) {
  constexpr unsigned batch = 25;
  unsigned numCompiled = std::max(batch, numCases / 10);
  for (uint64_t first = seed; first < seed + numCompiled && !HasFailure();
       first += batch) {
    OwningOpRef<ModuleOp> module(ModuleOp::create(UnknownLoc::get(&context)));
    for (uint64_t number = first; number < first + batch; ++number)
      if (std::optional<Case> made = makeCase(number);
          made && !isTooHard(made->getKernel())) {
        KernelOp copy = made->getKernel().clone();
        copy.setSymName("case" + std::to_string(number));
        module->push_back(copy);
      }
    if (auto fault = findCompiledMismatch(*module, getSizes))
      ADD_FAILURE() << *fault;
  }
}

/// Applies the script of a module to its kernel, and runs that.
static int runAgain(StringRef file) {
  DialectRegistry registry;
  registry
      .insert<PolyDialect, arith::ArithDialect, transform::TransformDialect>();
  registerTransformExtension(registry);
  MLIRContext context(registry);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(file, ParserConfig(&context));
  if (!module)
    return 0;
  OwningOpRef<ModuleOp> original = module->clone();
  PassManager manager(&context);
  manager.addPass(transform::createInterpreterPass());
  if (failed(manager.run(*module)))
    return 0;
  for (auto kernel : module->getOps<KernelOp>())
    if (std::optional<std::string> fault = findFault(
            kernel, original->lookupSymbol<KernelOp>(kernel.getSymName()))) {
      llvm::outs() << *fault << "\n";
      return 1;
    }
  return 0;
}

int main(int argc, char **argv) {
  ::testing::InitGoogleTest(&argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv);
  if (!replay.empty())
    return runAgain(replay);
  return RUN_ALL_TESTS();
}
