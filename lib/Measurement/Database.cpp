//===- Database.cpp - A table in a file that processes share --------------===//

#include "espalier/Measurement/Database.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <sqlite3.h>

using namespace espalier;

/// How long to wait for another process that writes.
static constexpr int kBusyMilliseconds = 5000;

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Database::Statement::Statement(Database &database, const char *text)
    : database(database) {
  sqlite3_prepare_v2(database.database, text, -1, &statement, nullptr);
}

Database::Statement::~Statement() { sqlite3_finalize(statement); }

void Database::Statement::bind(int index, llvm::StringRef text) {
  sqlite3_bind_text(statement, index, text.data(), text.size(),
                    SQLITE_TRANSIENT);
}

void Database::Statement::bind(int index, double value) {
  sqlite3_bind_double(statement, index, value);
}

void Database::Statement::bind(int index, int64_t value) {
  sqlite3_bind_int64(statement, index, value);
}

llvm::Expected<bool> Database::Statement::step() {
  // A statement that could not be prepared is null, and fails here.
  int status = statement ? sqlite3_step(statement) : SQLITE_ERROR;
  if (status != SQLITE_ROW && status != SQLITE_DONE)
    return database.makeError();
  return status == SQLITE_ROW;
}

bool Database::Statement::isNull(int column) const {
  return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

double Database::Statement::getReal(int column) const {
  return sqlite3_column_double(statement, column);
}

int64_t Database::Statement::getInteger(int column) const {
  return sqlite3_column_int64(statement, column);
}

std::string Database::Statement::getText(int column) const {
  const unsigned char *text = sqlite3_column_text(statement, column);
  return text ? reinterpret_cast<const char *>(text) : "";
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

llvm::Error Database::makeError(const llvm::Twine &reason) const {
  return llvm::createStringError(format.name + " '" + path + "': " + reason);
}

llvm::Error Database::makeError() const {
  return makeError(sqlite3_errmsg(database));
}

llvm::Error Database::run(const char *statement) {
  if (sqlite3_exec(database, statement, nullptr, nullptr, nullptr) != SQLITE_OK)
    return makeError();
  return llvm::Error::success();
}

/// Returns the version of the table, 0 if the file is empty. Fails if it is the
/// file of somebody else.
llvm::Expected<int> Database::readVersion() {
  Statement statement(*this, "SELECT (SELECT application_id FROM "
                             "pragma_application_id), "
                             "(SELECT user_version FROM pragma_user_version), "
                             "(SELECT count(*) FROM sqlite_master)");
  llvm::Expected<bool> hasRow = statement.step();
  if (!hasRow)
    return hasRow.takeError();
  int64_t application = statement.getInteger(0);
  int64_t version = statement.getInteger(1);
  bool isEmpty = statement.getInteger(2) == 0;
  if (isEmpty && application == 0 && version == 0)
    return 0;
  if (application != format.applicationId)
    return makeError("expects a table of ours, but got another database");
  return version;
}

/// Whether the file has our tables and nothing else: a view of such a name may
/// never come to an end.
bool Database::hasTables() {
  Statement statement(*this, "SELECT sql FROM sqlite_master ORDER BY rowid");
  auto step = [&] {
    llvm::Expected<bool> hasRow = statement.step();
    if (!hasRow)
      llvm::consumeError(hasRow.takeError());
    return hasRow && *hasRow;
  };
  for (llvm::StringRef create : format.create)
    if (!step() || statement.getText(0) != create)
      return false;
  return !step();
}

llvm::Error Database::checkTables(int version) {
  if (version != format.version)
    return makeError("expects version " + llvm::Twine(format.version) +
                     ", but got version " + llvm::Twine(version) +
                     "; the file is left as it is");
  if (!hasTables())
    return makeError("expects the table of version " +
                     llvm::Twine(format.version) +
                     ", but got another; the file is left as it is");
  return llvm::Error::success();
}

/// Makes the tables of an empty file; checks those of any other, which may be
/// of the version before.
llvm::Error Database::makeTables() {
  llvm::Expected<int> version = readVersion();
  if (!version)
    return version.takeError();
  if (*version == format.version - 1 && format.upgrade) {
    if (llvm::Error error = run(format.upgrade))
      return error;
    std::string mark =
        ("PRAGMA user_version = " + llvm::Twine(format.version)).str();
    if (llvm::Error error = run(mark.c_str()))
      return error;
    version = format.version;
  }
  if (*version != 0)
    return checkTables(*version);
  std::string create =
      ("PRAGMA application_id = " + llvm::Twine(format.applicationId) +
       "; PRAGMA user_version = " + llvm::Twine(format.version) + "; " +
       llvm::join(format.create, "; "))
          .str();
  return run(create.c_str());
}

llvm::Error Database::prepare() {
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  // Two processes may make the file at the same time: the second one waits
  // here, and then finds the table.
  if (llvm::Error error = run("BEGIN IMMEDIATE"))
    return error;
  if (llvm::Error error = makeTables()) {
    llvm::consumeError(run("ROLLBACK"));
    return error;
  }
  if (llvm::Error error = run("COMMIT"))
    return error;
  // Readers do not wait for a writer then, and a record that was stored
  // survives the end of the process, though not that of the machine.
  return run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
}

llvm::Expected<std::unique_ptr<Database>>
Database::open(llvm::StringRef path, const TableFormat &format) {
  std::unique_ptr<Database> result(new Database(path.str(), format));
  if (sqlite3_open_v2(result->path.c_str(), &result->database,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                      nullptr) != SQLITE_OK)
    return result->makeError();
  if (llvm::Error error = result->prepare())
    return error;
  return result;
}

llvm::Expected<std::unique_ptr<Database>>
Database::openToRead(llvm::StringRef path, const TableFormat &format) {
  std::unique_ptr<Database> result(new Database(path.str(), format));
  if (sqlite3_open_v2(result->path.c_str(), &result->database,
                      SQLITE_OPEN_READONLY, nullptr) != SQLITE_OK)
    return result->makeError();
  llvm::Expected<int> version = result->readVersion();
  if (!version)
    return version.takeError();
  if (llvm::Error error = result->checkTables(*version))
    return error;
  return result;
}

Database::~Database() { sqlite3_close_v2(database); }

int64_t Database::getLastRow() const {
  return sqlite3_last_insert_rowid(database);
}
