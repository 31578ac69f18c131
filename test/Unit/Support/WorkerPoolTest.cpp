//===- WorkerPoolTest.cpp - Threads, as many as there are to be had -------===//

#include "espalier/Support/WorkerPool.h"
#include "llvm/ADT/Sequence.h"
#include "gtest/gtest.h"
#include <atomic>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace espalier;
using llvm::ThreadPoolTaskGroup;

namespace {
TEST(WorkerPoolTest, RunsEachTaskOnce) {
  std::vector<std::atomic<int>> counts(1000);
  {
    WorkerPool pool(4);
    EXPECT_EQ(pool.getMaxConcurrency(), 4u);
    for (unsigned round : llvm::seq(3)) {
      for (std::atomic<int> &count : counts)
        pool.async([&count] { ++count; });
      pool.wait();
      for (const std::atomic<int> &count : counts)
        ASSERT_EQ(count, int(round + 1));
    }
    for (std::atomic<int> &count : counts)
      pool.async([&count] { ++count; });
  }
  for (const std::atomic<int> &count : counts)
    ASSERT_EQ(count, 4);
}

TEST(WorkerPoolTest, OneThreadIsTheWaitingOne) {
  WorkerPool pool(1);
  std::vector<std::thread::id> seen;
  for (unsigned i = 0; i < 3; ++i)
    pool.async([&] { seen.push_back(std::this_thread::get_id()); });
  EXPECT_TRUE(seen.empty());
  pool.wait();
  EXPECT_EQ(seen, std::vector<std::thread::id>(3, std::this_thread::get_id()));
}

TEST(WorkerPoolTest, ThreadsWorkAtOnce) {
  WorkerPool pool(2);
  std::atomic<int> arrived{0};
  for (unsigned i = 0; i < 2; ++i)
    pool.async([&] {
      for (++arrived; arrived < 2;)
        std::this_thread::yield();
    });
  pool.wait();
  EXPECT_EQ(arrived, 2);
}

TEST(WorkerPoolTest, TasksWaitForGroups) {
  for (unsigned numThreads : {1, 3}) {
    WorkerPool pool(numThreads);
    std::atomic<int> inner{0}, outer{0};
    {
      ThreadPoolTaskGroup groups(pool);
      for (unsigned i = 0; i < 20; ++i)
        groups.async([&] {
          ThreadPoolTaskGroup parts(pool);
          for (unsigned part = 0; part < 10; ++part)
            parts.async([&] { ++inner; });
          parts.wait();
          ++outer;
        });
    }
    EXPECT_EQ(inner, 200);
    EXPECT_EQ(outer, 20);
  }
}

TEST(WorkerPoolTest, TasksWaitForTheOthers) {
  for (unsigned numThreads : {1, 3}) {
    WorkerPool pool(numThreads);
    std::atomic<int> begun{0}, ended{0};
    std::atomic<bool> isQueued{false}; // All of them are.
    auto task = [&](auto wait) {
      while (!isQueued)
        std::this_thread::yield();
      ++begun;
      wait();
      EXPECT_EQ(begun, 20);
      ++ended;
    };
    for (unsigned i = 0; i < 20; ++i)
      pool.async([&] { task([&] { pool.wait(); }); });
    isQueued = true;
    pool.wait();
    EXPECT_EQ(ended, 20);
    begun = ended = 0;
    isQueued = false;
    ThreadPoolTaskGroup group(pool);
    for (unsigned i = 0; i < 20; ++i)
      group.async([&] { task([&] { group.wait(); }); });
    isQueued = true;
    group.wait();
    EXPECT_EQ(ended, 20);
  }
}

/// Another user than root, whom limits on processes do not concern.
constexpr uid_t kNobody = 65534;

TEST(WorkerPoolTest, GoesOnWithoutThreads) {
  pid_t child = fork();
  if (child == 0) {
    rlimit none{0, 0};
    if ((getuid() == 0 && setuid(kNobody) != 0) ||
        setrlimit(RLIMIT_NPROC, &none) != 0)
      _exit(2);
    std::atomic<int> count{0};
    {
      WorkerPool pool(4);
      for (unsigned i = 0; i < 100; ++i)
        pool.async([&] { ++count; });
      pool.wait();
    }
    _exit(count == 100 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 2)
    GTEST_SKIP() << "limits on processes cannot be set here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}
} // namespace
