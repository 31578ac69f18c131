//===- KernelTimesTest.cpp - The table survives what happens to files -----===//

#include "espalier/Measurement/KernelTimes.h"
#include "TemporaryFolder.h"
#include "gtest/gtest.h"
#include <fstream>
#include <sqlite3.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace espalier;

namespace {

class KernelTimesTest : public testing::Test {
protected:
  std::unique_ptr<KernelTimes> open(llvm::StringRef compiler = "c1") {
    auto table = KernelTimes::open(path, compiler);
    if (table)
      return std::move(*table);
    error = llvm::toString(table.takeError());
    return nullptr;
  }

  /// Runs SQL of the test's own on the file.
  void execute(const char *text) {
    sqlite3 *database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, text, nullptr, nullptr, nullptr),
              SQLITE_OK);
    sqlite3_close(database);
  }

  std::string read() {
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    return text.str();
  }

  TemporaryFolder folder;
  std::string path = folder.get("kernels.sqlite");
  std::string error;
};

TEST_F(KernelTimesTest, RecordsAreFoundAgain) {
  {
    auto table = open();
    ASSERT_TRUE(table) << error;
    EXPECT_FALSE(llvm::cantFail(table->find("a")).has_value());
    llvm::cantFail(table->store("a", {0.25, ""}, "label"));
    llvm::cantFail(table->store("b", {std::nullopt, "too slow"}, "label"));
    llvm::cantFail(table->store("a", {0.5, ""}, "again"));
  }
  auto table = open();
  ASSERT_TRUE(table) << error;
  auto a = llvm::cantFail(table->find("a"));
  ASSERT_TRUE(a && a->seconds);
  EXPECT_EQ(*a->seconds, 0.5);
  auto b = llvm::cantFail(table->find("b"));
  ASSERT_TRUE(b);
  EXPECT_FALSE(b->seconds);
  EXPECT_EQ(b->error, "too slow");
}

TEST_F(KernelTimesTest, CompilersDoNotShareRecords) {
  llvm::cantFail(open("c1")->store("a", {0.25, ""}, ""));
  EXPECT_FALSE(llvm::cantFail(open("c2")->find("a")).has_value());
  EXPECT_TRUE(llvm::cantFail(open("c1")->find("a")).has_value());
}

/// A process that is killed right after it stored a record, and one that is
/// killed inside a transaction.
TEST_F(KernelTimesTest, KilledProcessLosesNoRecord) {
  pid_t child = fork();
  if (child == 0) {
    auto table = KernelTimes::open(path, "c1");
    if (table)
      llvm::consumeError((*table)->store("a", {0.25, ""}, ""));
    kill(getpid(), SIGKILL);
  }
  int status;
  waitpid(child, &status, 0);
  auto table = open();
  ASSERT_TRUE(table) << error;
  EXPECT_TRUE(llvm::cantFail(table->find("a")).has_value());
}

TEST_F(KernelTimesTest, DamagedFileIsRefusedAndKept) {
  std::string garbage(8192, 'x');
  std::ofstream(path, std::ios::binary) << garbage;
  EXPECT_FALSE(open());
  EXPECT_NE(error.find("file is not a database"), std::string::npos) << error;
  EXPECT_EQ(read(), garbage);
}

TEST_F(KernelTimesTest, DamagedPageIsAnError) {
  {
    auto table = open();
    ASSERT_TRUE(table) << error;
    for (int i = 0; i < 500; ++i)
      llvm::cantFail(
          table->store("key" + std::to_string(i), {0.25, ""}, "label"));
  }
  execute("PRAGMA wal_checkpoint(TRUNCATE)");
  std::string bytes = read();
  ASSERT_GT(bytes.size(), 16384u);
  // All but the first page, which has the schema.
  std::fill(bytes.begin() + 4096, bytes.end(), '\x7f');
  std::ofstream(path, std::ios::binary) << bytes;
  auto table = open();
  if (!table)
    return;
  auto record = table->find("key250");
  ASSERT_FALSE(static_cast<bool>(record));
  EXPECT_NE(llvm::toString(record.takeError()).find("malformed"),
            std::string::npos);
}

TEST_F(KernelTimesTest, OtherVersionIsRefusedAndKept) {
  llvm::cantFail(open()->store("a", {0.25, ""}, ""));
  execute("PRAGMA user_version = 99");
  EXPECT_FALSE(open());
  EXPECT_NE(error.find("expects version 1, but got version 99"),
            std::string::npos)
      << error;
  execute("PRAGMA user_version = 1");
  auto table = open();
  ASSERT_TRUE(table) << error;
  EXPECT_TRUE(llvm::cantFail(table->find("a")).has_value());
}

TEST_F(KernelTimesTest, OtherDatabaseIsRefused) {
  execute("CREATE TABLE mine (x)");
  EXPECT_FALSE(open());
  EXPECT_NE(error.find("got another database"), std::string::npos) << error;
}

TEST_F(KernelTimesTest, ViewInPlaceOfTheTableIsRefused) {
  ASSERT_TRUE(open()) << error;
  execute("DROP TABLE kernel_times; CREATE VIEW kernel_times AS WITH RECURSIVE "
          "r(key, compiler, seconds, error, label) AS (SELECT 0, '', 1.0, '', "
          "'' UNION ALL SELECT key + 1, compiler, seconds, error, label FROM r)"
          " SELECT * FROM r");
  EXPECT_FALSE(open());
  EXPECT_NE(error.find("expects the table of version 1, but got another"),
            std::string::npos)
      << error;
}

TEST_F(KernelTimesTest, MissingFolderIsAnError) {
  path = folder.get("missing/kernels.sqlite");
  EXPECT_FALSE(open());
  EXPECT_NE(error.find("unable to open"), std::string::npos) << error;
}

/// What somebody else wrote into a row must not become a time.
TEST_F(KernelTimesTest, TimesAreChecked) {
  ASSERT_TRUE(open());
  execute("INSERT INTO kernel_times VALUES ('a', 'c1', -1.0, '', '')");
  execute("INSERT INTO kernel_times VALUES ('b', 'c1', 'fast', '', '')");
  auto table = open();
  ASSERT_TRUE(table) << error;
  for (const char *key : {"a", "b"})
    EXPECT_FALSE(llvm::cantFail(table->find(key))->seconds) << key;
}

TEST_F(KernelTimesTest, TwoWritersAtOnce) {
  auto first = open(), second = open();
  ASSERT_TRUE(first && second) << error;
  for (int i = 0; i < 50; ++i) {
    llvm::cantFail(first->store("a" + std::to_string(i), {0.25, ""}, ""));
    llvm::cantFail(second->store("b" + std::to_string(i), {0.25, ""}, ""));
  }
  EXPECT_TRUE(llvm::cantFail(first->find("b49")).has_value());
}

} // namespace
