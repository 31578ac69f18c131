//===- RanksTest.cpp - Candidates that other processes measure ------------===//

#include "SmallModel.h"
#include "espalier/Tuning/Messenger.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"
#include "gtest/gtest.h"
#include <atomic>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

/// Messages through sockets, by rank; -1 where there is none.
class SocketMessenger : public Messenger {
public:
  explicit SocketMessenger(std::vector<int> sockets)
      : sockets(std::move(sockets)) {}

  unsigned getSize() const override { return sockets.size(); }
  void send(unsigned rank, StringRef bytes) override {
    // One byte more, since nothing at all is the end of a socket.
    std::string padded = "+" + bytes.str();
    ::send(sockets[rank], padded.data(), padded.size(), MSG_NOSIGNAL);
  }
  std::optional<Message> receive(std::chrono::milliseconds limit) override {
    std::vector<pollfd> waiting;
    for (int socket : sockets)
      waiting.push_back({socket, POLLIN, 0});
    if (poll(waiting.data(), waiting.size(), limit.count()) <= 0)
      return std::nullopt;
    for (unsigned rank = 0; rank < waiting.size(); ++rank) {
      if (waiting[rank].revents == 0)
        continue;
      std::string bytes(1 << 20, 0);
      ssize_t size = recv(sockets[rank], bytes.data(), bytes.size(), 0);
      if (size > 0)
        return Message{rank, bytes.substr(1, size - 1)};
      close(std::exchange(sockets[rank], -1));
    }
    return std::nullopt;
  }

  std::vector<int> sockets;
};

/// What all ranks see.
struct Shared {
  std::atomic<unsigned> numRun = 0;
  std::atomic<uint64_t> poison = 0;
};

double simulate(StringRef script) {
  return 1e-6 * (1 + llvm::xxh3_64bits(script) % 1000);
}

class RanksTest : public testing::Test {
protected:
  RanksTest() {
    loadDialects(context);
    module = parseSourceString<ModuleOp>(kSmallModel, &context);
    shared = new (mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared;
    EXPECT_FALSE(llvm::sys::fs::createTemporaryFile("ranks", "sqlite", path));
    options.search = Search::Random;
    options.trials = 20;
    options.choosesAlgorithms = false;
    options.silence = std::chrono::milliseconds(5000);
    options.progress = [this](const TuneProgress &now) {
      bests.push_back(now.best);
    };
  }
  ~RanksTest() override {
    stop();
    for (const char *suffix : {"", "-wal", "-shm"})
      llvm::sys::fs::remove(path + suffix);
    munmap(shared, sizeof(Shared));
  }

  /// Starts so many ranks beside this, of which each does `be`.
  void start(
      unsigned count,
      llvm::function_ref<void(unsigned rank, Messenger &, TuneOptions &)> be) {
    std::vector<int> own = {-1};
    for (unsigned rank = 1; rank <= count; ++rank) {
      int ends[2];
      ASSERT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends), 0);
      pid_t child = fork();
      if (child == 0) {
        for (int other : llvm::drop_begin(own))
          close(other);
        close(ends[0]);
        SocketMessenger messenger({ends[1]});
        TuneOptions given = options;
        be(rank, messenger, given);
        _exit(0);
      }
      close(ends[1]);
      own.push_back(ends[0]);
      children.push_back(child);
    }
    messenger = std::make_unique<SocketMessenger>(std::move(own));
    options.messenger = messenger.get();
  }

  /// The same, for ranks that measure.
  void startMeasuring(
      unsigned count,
      llvm::function_ref<void(unsigned rank, TuneOptions &)> edit =
          [](unsigned, TuneOptions &) {}) {
    start(count, [&](unsigned rank, Messenger &messenger, TuneOptions &given) {
      edit(rank, given);
      measureForRanks(*module, messenger, given);
    });
  }

  /// Ends all ranks that there are.
  void stop() {
    if (!messenger)
      return;
    for (auto [number, child] : llvm::enumerate(children)) {
      unsigned rank = number + 1;
      messenger->send(rank, "");
      // What is stopped reads nothing.
      kill(child, SIGCONT);
      waitpid(child, nullptr, 0);
      close(messenger->sockets[rank]);
    }
    children.clear();
    messenger.reset();
  }

  TuneResult search() {
    bests.clear();
    llvm::sys::fs::remove(path);
    options.records = path.str().str();
    llvm::Expected<TuneResult> result =
        tuneModels(ModelToTune{*module}, options);
    if (result)
      return std::move(*result);
    error = llvm::toString(result.takeError());
    return TuneResult();
  }

  /// What the records have of the only kernel, in the order of scripts.
  std::vector<Trial> listTrials() {
    auto records = llvm::cantFail(TuningRecords::openToRead(options.records));
    std::vector<RecordedKernel> kernels = llvm::cantFail(records->findAll());
    EXPECT_EQ(kernels.size(), 1u);
    std::vector<Trial> trials;
    for (const RecordedKernel &kernel : kernels)
      llvm::append_range(trials, kernel.trials);
    llvm::sort(trials, [](const Trial &a, const Trial &b) {
      return a.script < b.script;
    });
    return trials;
  }

  std::vector<std::string> listScripts() {
    std::vector<std::string> scripts;
    for (const Trial &trial : listTrials())
      scripts.push_back(trial.script);
    return scripts;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  llvm::SmallString<128> path;
  Shared *shared = nullptr;
  TuneOptions options;
  std::unique_ptr<SocketMessenger> messenger;
  std::vector<pid_t> children;
  std::vector<double> bests; ///< After each trial of the last search.
  std::string error;
};

TEST_F(RanksTest, SearchIsTheSameWithAnyNumberOfRanks) {
  options.simulate = simulate;
  std::vector<std::vector<double>> allBests;
  std::vector<std::vector<std::string>> allScripts;
  for (unsigned count : {1, 2, 3}) {
    startMeasuring(count, [](unsigned rank, TuneOptions &given) {
      // On a slower machine, all takes longer, the default, too.
      if (rank == 2)
        given.simulate = [](StringRef script) { return 4 * simulate(script); };
    });
    TuneResult result = search();
    EXPECT_EQ(error, "");
    EXPECT_TRUE(result.rankFaults.empty());
    allBests.push_back(bests);
    allScripts.push_back(listScripts());
    stop();
  }
  EXPECT_EQ(allBests[0].size(), options.trials);
  EXPECT_EQ(allBests[1], allBests[0]);
  EXPECT_EQ(allBests[2], allBests[0]);
  EXPECT_EQ(allScripts[1], allScripts[0]);
  EXPECT_EQ(allScripts[2], allScripts[0]);
}

TEST_F(RanksTest, ResultsAreTheOnesThatAreMeasuredHere) {
  options.trials = 8;
  startMeasuring(2);
  TuneResult result = search();
  EXPECT_EQ(error, "");
  unsigned numMeasured = 0;
  for (const Trial &trial : listTrials()) {
    EXPECT_NE(trial.status, TrialStatus::Wrong) << trial.error;
    EXPECT_NE(trial.status, TrialStatus::Failed) << trial.error;
    if (trial.status != TrialStatus::Measured)
      continue;
    ++numMeasured;
    EXPECT_GT(trial.seconds, 0);
  }
  EXPECT_GT(numMeasured, 0u);
  EXPECT_EQ(result.models.front().kernels.front().trials, 8u);
  // The same code is made here.
  options.messenger = nullptr;
  options.measure.constantBytes = 0; // As in the search, without constants.
  auto replayed = llvm::cantFail(replayRecords(*module, options, 2));
  EXPECT_FALSE(replayed.empty());
  for (const ReplayedTrial &trial : replayed) {
    EXPECT_EQ(trial.original.getMedians().size(), 1u);
    EXPECT_NE(trial.original.code, "");
    EXPECT_EQ(trial.now.code, trial.original.code);
  }
}

class LostRanksTest : public RanksTest,
                      public testing::WithParamInterface<int> {};

TEST_P(LostRanksTest, OthersTryItsCandidate) {
  options.simulate = simulate;
  startMeasuring(1);
  search();
  std::vector<std::string> expected = listScripts();
  std::vector<double> expectedBests = bests;
  stop();

  startMeasuring(3, [signal = GetParam()](unsigned rank, TuneOptions &given) {
    if (rank == 1)
      given.simulate = [signal, count = 0](StringRef script) mutable {
        if (++count == 3)
          raise(signal);
        return simulate(script);
      };
  });
  TuneResult result = search();
  EXPECT_EQ(error, "");
  ASSERT_EQ(result.rankFaults.size(), 1u);
  EXPECT_TRUE(StringRef(result.rankFaults[0]).starts_with("rank 1 on '"));
  EXPECT_TRUE(StringRef(result.rankFaults[0])
                  .ends_with(": expects a sign of life within 5000 ms, but got "
                             "none"))
      << result.rankFaults[0];
  EXPECT_EQ(listScripts(), expected);
  EXPECT_EQ(bests, expectedBests);
}

INSTANTIATE_TEST_SUITE_P(Signals, LostRanksTest,
                         testing::Values(SIGKILL, SIGSTOP));

TEST_F(RanksTest, CandidateThatRanksAreLostWithFails) {
  startMeasuring(4, [this](unsigned, TuneOptions &given) {
    given.simulate = [this](StringRef script) {
      uint64_t hash = llvm::xxh3_64bits(script), none = 0;
      if (!script.empty() &&
          (shared->poison.compare_exchange_strong(none, hash) || none == hash))
        raise(SIGKILL);
      return simulate(script);
    };
  });
  TuneResult result = search();
  EXPECT_EQ(error, "");
  EXPECT_EQ(result.rankFaults.size(), 2u);
  unsigned numFailed = 0;
  std::vector<Trial> trials = listTrials();
  for (const Trial &trial : trials) {
    if (trial.status == TrialStatus::Measured)
      continue;
    ++numFailed;
    EXPECT_EQ(trial.status, TrialStatus::Failed);
    EXPECT_TRUE(StringRef(trial.error)
                    .starts_with("expects a rank that measures it, but 2 did "
                                 "not: the last, rank "))
        << trial.error;
  }
  EXPECT_EQ(trials.size(), options.trials);
  EXPECT_EQ(numFailed, 1u);
}

TEST_F(RanksTest, SearchEndsWithItsLastRank) {
  startMeasuring(2, [](unsigned, TuneOptions &given) {
    given.simulate = [count = 0](StringRef script) mutable {
      if (++count == 4)
        raise(SIGKILL);
      return simulate(script);
    };
  });
  search();
  EXPECT_TRUE(StringRef(error).starts_with(
      "expects a rank that measures, but there is none any more: rank 1 on '"))
      << error;
  // The default schedule is no trial; each of them made three, or two.
  EXPECT_EQ(listTrials().size(), 4u);
}

TEST_F(RanksTest, WorkOfRank0IsNoSilence) {
  options.simulate = simulate;
  options.trials = 2;
  options.silence = std::chrono::milliseconds(2000);
  options.progress = [](const TuneProgress &) { sleep(3); };
  startMeasuring(2);
  TuneResult result = search();
  EXPECT_EQ(error, "");
  EXPECT_TRUE(result.rankFaults.empty());
}

TEST_F(RanksTest, HangingCandidateIsNoSilence) {
  options.trials = 4;
  options.measure.timeLimit = std::chrono::milliseconds(60000);
  options.silence = std::chrono::milliseconds(2000);
  startMeasuring(1, [this](unsigned, TuneOptions &given) {
    given.interfere = [this](StringRef, ArrayRef<MeasuredOutput>) {
      if (shared->numRun++ == 0)
        while (true)
          usleep(1000);
    };
  });
  TuneResult result = search();
  EXPECT_EQ(error, "");
  EXPECT_TRUE(result.rankFaults.empty());
  unsigned numFailed = 0;
  for (const Trial &trial : listTrials())
    if (trial.status == TrialStatus::Failed) {
      ++numFailed;
      EXPECT_TRUE(StringRef(trial.error).ends_with(" ms, but it takes longer"))
          << trial.error;
    }
  EXPECT_EQ(numFailed, 1u);
}

TEST_F(RanksTest, OtherMachinesAndOptionsAreRefused) {
  options.simulate = simulate;
  startMeasuring(4, [](unsigned rank, TuneOptions &given) {
    if (rank == 1)
      given.measure.codegen.cpu = "x86-64";
    if (rank == 2)
      given.measure.codegen.optLevel = 1;
    if (rank == 3)
      given.measure.codegen.cpu = "nonsense";
  });
  TuneResult result = search();
  EXPECT_EQ(error, "");
  ASSERT_EQ(result.rankFaults.size(), 3u);
  EXPECT_TRUE(
      StringRef(result.rankFaults[0])
          .contains(": expects the target of rank 0, #poly.target<cpu = \""))
      << result.rankFaults[0];
  EXPECT_TRUE(StringRef(result.rankFaults[0])
                  .contains(", but got #poly.target<cpu = \"x86-64\""))
      << result.rankFaults[0];
  EXPECT_TRUE(
      StringRef(result.rankFaults[1])
          .ends_with(": expects the build, the options and the features of the "
                     "CPU of rank 0, but got others"))
      << result.rankFaults[1];
  EXPECT_EQ(result.rankFaults[2],
            "rank 3: expects the name of a CPU that LLVM knows, but got "
            "'nonsense'");
  EXPECT_EQ(bests.size(), options.trials);
}

TEST_F(RanksTest, WhatIsNoMessageIsAFault) {
  options.simulate = simulate;
  start(4, [&](unsigned rank, Messenger &messenger, TuneOptions &given) {
    if (rank < 4)
      messenger.send(0, rank == 1   ? "nonsense"
                        : rank == 2 ? "{\"outcome\": {}}"
                                    : "{\"alive\": null}");
    if (rank == 4)
      measureForRanks(*module, messenger, given);
  });
  TuneResult result = search();
  EXPECT_EQ(error, "");
  ASSERT_EQ(result.rankFaults.size(), 3u);
  EXPECT_TRUE(StringRef(result.rankFaults[0]).contains("Invalid JSON"))
      << result.rankFaults[0];
  EXPECT_TRUE(StringRef(result.rankFaults[1]).contains("missing value"))
      << result.rankFaults[1];
  EXPECT_EQ(result.rankFaults[2], "rank 3: expects to hear of it, but it said "
                                  "nothing until the end");
}

TEST_F(RanksTest, InterruptEndsRanksThatMeasure) {
  options.measure.timeLimit = std::chrono::milliseconds(60000);
  startMeasuring(2, [this](unsigned, TuneOptions &given) {
    given.interfere = [this](StringRef, ArrayRef<MeasuredOutput>) {
      if (shared->numRun++ >= 2)
        while (true)
          usleep(1000);
    };
  });
  options.measure.codegen.isCancelled = [&] { return shared->numRun >= 4; };
  TuneResult result = search();
  EXPECT_EQ(error, "");
  EXPECT_TRUE(result.isInterrupted);
  // What was measured is kept, and nothing else is.
  for (const Trial &trial : listTrials())
    EXPECT_NE(trial.status, TrialStatus::Failed) << trial.error;
  auto begin = std::chrono::steady_clock::now();
  stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
}

TEST_F(RanksTest, OneRankAloneIsNone) {
  options.simulate = simulate;
  startMeasuring(0);
  search();
  EXPECT_EQ(error, "expects ranks that measure beside rank 0, but there is "
                   "none");
}

} // namespace
