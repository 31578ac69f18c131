//===- ChildProcessTest.cpp - Limits of a process of its own --------------===//

#include "espalier/Support/ChildProcess.h"
#include "gtest/gtest.h"
#include <csignal>
#include <cstdlib>
#include <sys/resource.h>
#include <unistd.h>

using namespace espalier;

namespace {

constexpr std::chrono::milliseconds kLong(60000);
constexpr uint64_t kMuch = uint64_t(1) << 30;

/// The result, or the error after a "!".
std::string run(llvm::function_ref<std::string()> function,
                std::chrono::milliseconds time = kLong) {
  auto result = runInChild(function, time, kMuch);
  return result ? (*result)->getBuffer().str()
                : "!" + llvm::toString(result.takeError());
}

TEST(ChildProcess, ResultIsReturnedWhole) {
  std::string text(100000, 'x');
  EXPECT_EQ(run([&] { return text; }), text);
}

TEST(ChildProcess, ChangesStayInTheChild) {
  int number = 1;
  EXPECT_EQ(run([&] { return std::to_string(++number); }), "2");
  EXPECT_EQ(number, 1);
}

TEST(ChildProcess, WhatTakesTooLongIsEnded) {
  auto sleepLong = [] {
    sleep(1000);
    return std::string();
  };
  EXPECT_EQ(run(sleepLong, std::chrono::milliseconds(20)),
            "!expects a result within 20 ms, but it takes longer");
}

TEST(ChildProcess, OnlyTheParentStopsIt) {
  auto interruptItself = [] {
    raise(SIGINT);
    return std::string("done");
  };
  bool stops = false;
  auto result =
      runInChild(interruptItself, kLong, kMuch, [&] { return stops; });
  ASSERT_TRUE(static_cast<bool>(result)) << llvm::toString(result.takeError());
  EXPECT_EQ((*result)->getBuffer(), "done");
  EXPECT_EQ(run(interruptItself),
            "!expects a result, but the process ended with signal 2");

  stops = true;
  result = runInChild([] { return std::string(sleep(1000), 'x'); }, kLong,
                      kMuch, [&] { return stops; });
  EXPECT_EQ(llvm::toString(result.takeError()),
            "expects a result, but is interrupted");
}

TEST(ChildProcess, CrashIsAnError) {
  auto crash = []() -> std::string { abort(); };
  EXPECT_EQ(run(crash),
            "!expects a result, but the process ended with signal 6");
}

TEST(ChildProcess, WhatCannotBeStartedIsNoFaultOfTheFunction) {
  rlimit before = {};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = {0, before.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  auto result = runInChild([] { return "x"; }, kLong, kMuch);
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_FALSE(static_cast<bool>(result));
  llvm::Error error = result.takeError();
  EXPECT_TRUE(error.isA<NoChildProcess>());
  EXPECT_EQ(llvm::toString(std::move(error)),
            "cannot make a pipe: Too many open files");
}

TEST(ChildProcess, MemoryIsLimited) {
  auto allocate = [] {
    void *volatile memory = malloc(2 * kMuch);
    return std::string(memory ? "some" : "none");
  };
  EXPECT_EQ(run(allocate), "none");
}

} // namespace
