//===- FaultsTest.cpp - Candidates that go wrong --------------------------===//

#include "SmallModel.h"
#include "espalier/Tuning/Tuner.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

enum Fault { Crash, Hang, Bomb, Wrong, Exit, None };

/// How many candidates came to run, in whichever process.
unsigned *numRun = nullptr;

/// The candidate with a number does so.
Fault getFault(unsigned number) {
  return static_cast<Fault>(std::min<unsigned>(number, None));
}

/// Does it to the process of the next candidate.
void interfere(llvm::StringRef script, ArrayRef<MeasuredOutput> expected) {
  switch (getFault((*numRun)++)) {
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
    loadDialects(context);
    module = parseSourceString<ModuleOp>(kSmallModel, &context);
    numRun = static_cast<unsigned *>(mmap(nullptr, sizeof(*numRun),
                                          PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("faults", "sqlite", path));
    llvm::sys::fs::remove(path);
  }
  ~FaultsTest() override {
    munmap(numRun, sizeof(*numRun));
    for (const char *suffix : {"", "-wal", "-shm"})
      llvm::sys::fs::remove(path + suffix);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  llvm::SmallString<128> path;
};

/// The trials of the only kernel that has any.
std::vector<Trial> listTrials(ArrayRef<RecordedKernel> kernels) {
  EXPECT_EQ(kernels.size(), 1u);
  return kernels.empty() ? std::vector<Trial>() : kernels.front().trials;
}

TEST_F(FaultsTest, EachIsRecorded) {
  TuneOptions options;
  options.search = Search::Random;
  options.trials = 12;
  options.records = path.str().str();
  options.measure.timeLimit = std::chrono::milliseconds(60000);
  options.measure.memoryLimit = uint64_t(512) << 20;
  options.interfere = interfere;
  llvm::Expected<TuneResult> result = tuneModels(ModelToTune{*module}, options);
  ASSERT_TRUE(bool(result)) << llvm::toString(result.takeError());

  auto records = llvm::cantFail(TuningRecords::openToRead(options.records));
  std::vector<RecordedKernel> kernels = llvm::cantFail(records->findAll());
  unsigned number = 0, numTrials = 0;
  for (const Trial &trial : listTrials(kernels)) {
    ++numTrials;
    // What is refused, or has no code, was never run.
    if (trial.status == TrialStatus::Refused ||
        trial.status == TrialStatus::NotCompiled)
      continue;
    Fault fault = getFault(number++);
    EXPECT_EQ(trial.status, fault == None    ? TrialStatus::Measured
                            : fault == Wrong ? TrialStatus::Wrong
                                             : TrialStatus::Failed)
        << fault << ": " << trial.error;
    EXPECT_EQ(trial.error.empty(), fault == None) << fault;
    // It may not take as long as a kernel may by itself.
    if (fault == Hang)
      EXPECT_EQ(trial.error.find(" 60000 ms"), std::string::npos)
          << trial.error;
  }
  EXPECT_EQ(numTrials, 12u);
  EXPECT_GT(number, unsigned(None)) << "each fault has occurred";
  // No process is left.
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

} // namespace
