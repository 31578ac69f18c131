//===- OutputFileTest.cpp - Files that appear complete or not at all ------===//

#include "espalier/Support/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace espalier;

namespace {
class OutputFileTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(
        llvm::sys::fs::createUniqueDirectory("espalier-output", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string getPath(llvm::StringRef name) {
    return (folder + "/" + name).str();
  }
  std::string read(llvm::StringRef name) {
    auto buffer = llvm::MemoryBuffer::getFile(getPath(name));
    return buffer ? (*buffer)->getBuffer().str() : "(nothing)";
  }
  unsigned countFiles() {
    unsigned count = 0;
    std::error_code code;
    for (llvm::sys::fs::directory_iterator it(folder, code), end;
         it != end && !code; it.increment(code))
      ++count;
    return count;
  }
  llvm::Error write(llvm::StringRef name, llvm::StringRef text) {
    return writeFile(getPath(name), [&](llvm::raw_ostream &os) { os << text; });
  }

  llvm::SmallString<128> folder;
};

/// Limits what this process writes to a file, as a full disk does.
class FileLimit {
public:
  explicit FileLimit(rlim_t bytes) {
    handler = signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit limit = {bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileLimit() {
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
  }

private:
  rlimit before;
  void (*handler)(int);
};
} // namespace

TEST_F(OutputFileTest, AFileReplacesAnother) {
  ASSERT_FALSE(static_cast<bool>(write("a.txt", "first")));
  ASSERT_FALSE(static_cast<bool>(write("a.txt", "second")));
  EXPECT_EQ(read("a.txt"), "second");
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(OutputFileTest, AFullDiskIsAnErrorAndLeavesTheOldFile) {
  ASSERT_FALSE(static_cast<bool>(write("a.txt", "first")));
  std::string message;
  {
    FileLimit limit(100);
    message = llvm::toString(write("a.txt", std::string(1000, 'x')));
  }
  EXPECT_EQ(message, "cannot write '" + getPath("a.txt") + "': File too large");
  EXPECT_EQ(read("a.txt"), "first");
  EXPECT_EQ(countFiles(), 1u);
}

TEST_F(OutputFileTest, ADeviceThatIsFullIsAnError) {
  llvm::Error error =
      writeFile("/dev/full", [](llvm::raw_ostream &os) { os << "text"; });
  EXPECT_EQ(llvm::toString(std::move(error)),
            "cannot write '/dev/full': No space left on device");
}

TEST_F(OutputFileTest, AMissingFolderIsAnError) {
  EXPECT_EQ(llvm::toString(write("none/a.txt", "text")),
            "cannot write '" + getPath("none/a.txt") +
                "': No such file or directory");
}

TEST_F(OutputFileTest, WhatIsNotPublishedHasNoName) {
  {
    llvm::Expected<OutputFile> file = OutputFile::create(folder, 0777);
    ASSERT_TRUE(static_cast<bool>(file));
    ASSERT_FALSE(static_cast<bool>(
        file->write([](llvm::raw_ostream &os) { os << "text"; })));
    auto seen = llvm::MemoryBuffer::getFile(file->getPath());
    ASSERT_TRUE(static_cast<bool>(seen));
    EXPECT_EQ((*seen)->getBuffer(), "text");
    EXPECT_EQ(countFiles(), 0u);
  }
  EXPECT_EQ(countFiles(), 0u);
}

TEST_F(OutputFileTest, TheMaskApplies) {
  mode_t mask = umask(027);
  llvm::Expected<OutputFile> file = OutputFile::create(folder, 0777);
  umask(mask);
  ASSERT_TRUE(static_cast<bool>(file));
  ASSERT_FALSE(static_cast<bool>(file->publish(getPath("a.so"))));
  struct stat status;
  ASSERT_EQ(stat(getPath("a.so").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, mode_t(0750));
}

TEST_F(OutputFileTest, AFolderWithoutUnnamedFilesGetsACopy) {
  // /proc knows no files without names; the file is in memory then, and another
  // file system takes a copy.
  llvm::Expected<OutputFile> file = OutputFile::create("/proc", 0666);
  ASSERT_TRUE(static_cast<bool>(file));
  ASSERT_FALSE(static_cast<bool>(
      file->write([](llvm::raw_ostream &os) { os << "text"; })));
  ASSERT_FALSE(static_cast<bool>(file->publish(getPath("a.txt"))));
  EXPECT_EQ(read("a.txt"), "text");
  EXPECT_EQ(countFiles(), 1u);
}
