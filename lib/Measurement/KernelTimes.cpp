//===- KernelTimes.cpp - The table of measured kernels --------------------===//

#include "espalier/Measurement/KernelTimes.h"
#include "llvm/ADT/Twine.h"
#include <sqlite3.h>

using namespace espalier;

/// Marks the file as ours: "ESPk".
static constexpr int kApplicationId = 0x4553506b;
/// The table, as SQLite keeps its text.
static constexpr llvm::StringLiteral kTable =
    "CREATE TABLE kernel_times (key TEXT NOT NULL, compiler TEXT NOT NULL, "
    "seconds REAL, error TEXT NOT NULL, label TEXT NOT NULL, PRIMARY KEY (key, "
    "compiler)) WITHOUT ROWID";
/// How long to wait for another process that writes.
static constexpr int kBusyMilliseconds = 5000;

namespace {
/// A prepared statement, finalized at the end of its scope.
class Statement {
public:
  Statement(sqlite3 *database, const char *text) {
    sqlite3_prepare_v2(database, text, -1, &statement, nullptr);
  }
  ~Statement() { sqlite3_finalize(statement); }
  Statement(const Statement &) = delete;
  Statement &operator=(const Statement &) = delete;

  void bind(int index, llvm::StringRef text) {
    sqlite3_bind_text(statement, index, text.data(), text.size(),
                      SQLITE_TRANSIENT);
  }
  void bind(int index, double value) {
    sqlite3_bind_double(statement, index, value);
  }
  /// A statement that could not be prepared is null, and fails here.
  int step() { return statement ? sqlite3_step(statement) : SQLITE_ERROR; }
  sqlite3_stmt *get() const { return statement; }

private:
  sqlite3_stmt *statement = nullptr;
};
} // namespace

llvm::Error KernelTimes::makeError() {
  return llvm::createStringError("table of kernels '" + path +
                                 "': " + sqlite3_errmsg(database));
}

llvm::Error KernelTimes::run(const char *statement) {
  if (sqlite3_exec(database, statement, nullptr, nullptr, nullptr) != SQLITE_OK)
    return makeError();
  return llvm::Error::success();
}

/// Returns the version of the table, 0 if the file is empty. Fails if it is the
/// file of somebody else.
llvm::Expected<int> KernelTimes::readVersion() {
  Statement statement(
      database, "SELECT (SELECT application_id FROM pragma_application_id), "
                "(SELECT user_version FROM pragma_user_version), "
                "(SELECT count(*) FROM sqlite_master)");
  if (statement.step() != SQLITE_ROW)
    return makeError();
  int application = sqlite3_column_int(statement.get(), 0);
  int version = sqlite3_column_int(statement.get(), 1);
  bool isEmpty = sqlite3_column_int(statement.get(), 2) == 0;
  if (isEmpty && application == 0 && version == 0)
    return 0;
  if (application != kApplicationId)
    return llvm::createStringError("table of kernels '" + path +
                                   "': expects a table of ours, but got "
                                   "another database");
  return version;
}

/// Whether the file has our table and nothing else: a view of that name may
/// never come to an end.
bool KernelTimes::hasTable() {
  Statement statement(database, "SELECT sql FROM sqlite_master");
  if (statement.step() != SQLITE_ROW)
    return false;
  const unsigned char *text = sqlite3_column_text(statement.get(), 0);
  return text && kTable == reinterpret_cast<const char *>(text) &&
         statement.step() == SQLITE_DONE;
}

llvm::Error KernelTimes::prepare() {
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  // Two processes may make the file at the same time: the second one waits
  // here, and then finds the table.
  if (llvm::Error error = run("BEGIN IMMEDIATE"))
    return error;
  llvm::Expected<int> version = readVersion();
  if (!version) {
    llvm::consumeError(run("ROLLBACK"));
    return version.takeError();
  }
  if (*version != 0 && *version != kVersion) {
    llvm::consumeError(run("ROLLBACK"));
    return llvm::createStringError(
        "table of kernels '" + path + "': expects version " +
        llvm::Twine(kVersion) + ", but got version " + llvm::Twine(*version) +
        "; the file is left as it is");
  }
  if (*version != 0 && !hasTable()) {
    llvm::consumeError(run("ROLLBACK"));
    return llvm::createStringError("table of kernels '" + path +
                                   "': expects the table of version " +
                                   llvm::Twine(kVersion) +
                                   ", but got another; the file is left as it "
                                   "is");
  }
  if (*version == 0) {
    static const std::string create =
        ("PRAGMA application_id = " + llvm::Twine(kApplicationId) +
         "; PRAGMA user_version = " + llvm::Twine(kVersion) + "; " + kTable)
            .str();
    if (llvm::Error error = run(create.c_str())) {
      llvm::consumeError(run("ROLLBACK"));
      return error;
    }
  }
  if (llvm::Error error = run("COMMIT"))
    return error;
  // Readers do not wait for a writer then, and a record that was stored
  // survives the end of the process, though not that of the machine.
  return run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
}

llvm::Expected<std::unique_ptr<KernelTimes>>
KernelTimes::open(llvm::StringRef path, llvm::StringRef compiler) {
  std::unique_ptr<KernelTimes> table(
      new KernelTimes(path.str(), compiler.str()));
  if (sqlite3_open_v2(table->path.c_str(), &table->database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                      nullptr) != SQLITE_OK)
    return table->makeError();
  if (llvm::Error error = table->prepare())
    return error;
  return table;
}

KernelTimes::~KernelTimes() { sqlite3_close_v2(database); }

llvm::Expected<std::optional<KernelTime>>
KernelTimes::find(llvm::StringRef key) {
  Statement statement(database, "SELECT seconds, error FROM kernel_times "
                                "WHERE key = ? AND compiler = ?");
  statement.bind(1, key);
  statement.bind(2, compiler);
  int status = statement.step();
  if (status == SQLITE_DONE)
    return std::nullopt;
  if (status != SQLITE_ROW)
    return makeError();
  KernelTime time;
  double seconds = sqlite3_column_double(statement.get(), 0);
  if (sqlite3_column_type(statement.get(), 0) == SQLITE_FLOAT && seconds > 0)
    time.seconds = seconds;
  if (const unsigned char *text = sqlite3_column_text(statement.get(), 1))
    time.error = reinterpret_cast<const char *>(text);
  return time;
}

llvm::Error KernelTimes::store(llvm::StringRef key, const KernelTime &time,
                               llvm::StringRef label) {
  Statement statement(database,
                      "INSERT OR REPLACE INTO kernel_times (key, compiler, "
                      "seconds, error, label) VALUES (?, ?, ?, ?, ?)");
  statement.bind(1, key);
  statement.bind(2, compiler);
  // What is not bound is NULL.
  if (time.seconds)
    statement.bind(3, *time.seconds);
  statement.bind(4, time.error);
  statement.bind(5, label);
  if (statement.step() != SQLITE_DONE)
    return makeError();
  return llvm::Error::success();
}
