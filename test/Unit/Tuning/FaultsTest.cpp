//===- FaultsTest.cpp - Candidates that go wrong --------------------------===//

#include "../Measurement/Fixture.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Tuning/Tuner.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"
#include "gtest/gtest.h"
#include <map>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

/// The machine is named, so that scripts, and what they stand for, are the same
/// everywhere.
constexpr llvm::StringLiteral kModel = R"mlir(
module attributes {poly.target = #poly.target<cpu = "haswell", features = "",
    vector_bits = 256, registers = 16, l1 = 32768, l2 = 262144, l3 = 8388608, cores = 2>} {
  func.func @main(%a: tensor<24x32xf32>, %b: tensor<32x48xf32>) -> tensor<24x48xf32> {
    %0 = graph.matmul %a, %b : (tensor<24x32xf32>, tensor<32x48xf32>) -> tensor<24x48xf32>
    return %0 : tensor<24x48xf32>
  }
})mlir";

enum Fault { Crash, Hang, Bomb, Wrong, Exit, None };

/// What the script of a candidate stands for; few hang.
Fault getFault(llvm::StringRef script) {
  constexpr Fault kFaults[] = {Crash, Hang, Bomb,  Wrong, Exit, None,
                               Crash, None, Wrong, None,  Exit, None,
                               Crash, None, Wrong, None,  Exit, None};
  return kFaults[llvm::xxh3_64bits(script) % std::size(kFaults)];
}

/// Does it to the process of the candidate.
void interfere(llvm::StringRef script, ArrayRef<MeasuredOutput> expected) {
  switch (getFault(script)) {
  case Crash:
    abort();
  case Hang:
    while (true)
      usleep(1000);
  case Bomb:
    // Each page is touched, as far as there are any.
    while (true)
      *static_cast<volatile char *>(malloc(4096)) = 1;
  case Wrong:
    // The sign and the exponent of the first number.
    const_cast<char *>(expected.front().getBytes().data())[3] ^= 0x5a;
    return;
  case Exit:
    _exit(0);
  case None:
    return;
  }
}

class FaultsTest : public testing::Test {
protected:
  FaultsTest() {
    DialectRegistry registry = programDialects();
    registry.insert<transform::TransformDialect>();
    poly::registerTransformExtension(registry);
    registerCompilation(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(kModel, &context);
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("faults", "sqlite", path));
    llvm::sys::fs::remove(path);
  }
  ~FaultsTest() override {
    for (const char *suffix : {"", "-wal", "-shm"})
      llvm::sys::fs::remove(path + suffix);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  llvm::SmallString<128> path;
};

TEST_F(FaultsTest, EachIsRecorded) {
  TuneOptions options;
  options.search = Search::Random;
  options.trials = 24;
  options.records = path.str().str();
  options.measure.timeLimit = std::chrono::milliseconds(8000);
  options.measure.memoryLimit = uint64_t(512) << 20;
  options.interfere = interfere;
  llvm::Expected<TuneResult> result = tuneModule(*module, options);
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());
  ASSERT_EQ(result->kernels.size(), 1u);
  EXPECT_EQ(result->kernels.front().trials, 24u);

  auto records = llvm::cantFail(TuningRecords::openToRead(options.records));
  auto kernels = llvm::cantFail(records->findAll());
  ASSERT_EQ(kernels.size(), 1u);
  ASSERT_EQ(kernels.front().trials.size(), 24u);
  std::map<Fault, unsigned> seen;
  for (const Trial &trial : kernels.front().trials) {
    // What is refused, or too large, was never run.
    if (trial.status == TrialStatus::Refused ||
        trial.status == TrialStatus::NotCompiled)
      continue;
    Fault fault = getFault(trial.script);
    ++seen[fault];
    EXPECT_EQ(trial.status, fault == None    ? TrialStatus::Measured
                            : fault == Wrong ? TrialStatus::Wrong
                                             : TrialStatus::Failed)
        << fault << ": " << trial.error;
    EXPECT_EQ(trial.error.empty(), fault == None);
  }
  for (Fault fault : {Crash, Hang, Bomb, Wrong, Exit, None})
    EXPECT_GT(seen[fault], 0u) << fault;
  // No process is left.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

} // namespace
