//===- Database.cpp - A table in a file that processes share --------------===//

#include "espalier/Measurement/Database.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <sqlite3.h>

using namespace espalier;

/// How long to wait for another process that writes.
static constexpr int kBusyMilliseconds = 5000;

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

llvm::Error Database::makeError(const llvm::Twine &reason) const {
  return llvm::createStringError(format.name + " '" + path + "': " + reason);
}

llvm::Error Database::makeError() const {
  return makeError(sqlite3_errmsg(database));
}

llvm::Error Database::execute(const char *statements) {
  if (sqlite3_exec(database, statements, nullptr, nullptr, nullptr) !=
      SQLITE_OK)
    return makeError();
  return llvm::Error::success();
}

static void setValue(sqlite3_stmt *statement, int index,
                     Database::Value value) {
  if (const auto *integer = std::get_if<int64_t>(&value))
    sqlite3_bind_int64(statement, index, *integer);
  else if (const auto *real = std::get_if<double>(&value))
    sqlite3_bind_double(statement, index, *real);
  else if (const auto *text = std::get_if<llvm::StringRef>(&value))
    sqlite3_bind_text(statement, index, text->data(), text->size(),
                      SQLITE_TRANSIENT);
}

llvm::Error Database::run(const char *statement, llvm::ArrayRef<Value> values,
                          llvm::function_ref<void(Row)> visit) {
  sqlite3_stmt *prepared = nullptr;
  if (sqlite3_prepare_v2(database, statement, -1, &prepared, nullptr) !=
      SQLITE_OK)
    return makeError();
  llvm::scope_exit finalize([&] { sqlite3_finalize(prepared); });
  for (auto [index, value] : llvm::enumerate(values))
    setValue(prepared, index + 1, value);
  while (true) {
    int status = sqlite3_step(prepared);
    if (status == SQLITE_DONE)
      return llvm::Error::success();
    if (status != SQLITE_ROW)
      return makeError();
    if (visit)
      visit(Row(prepared));
  }
}

double Database::Row::getReal(int column) const {
  return sqlite3_column_double(statement, column);
}

int64_t Database::Row::getInteger(int column) const {
  return sqlite3_column_int64(statement, column);
}

std::string Database::Row::getText(int column) const {
  const unsigned char *text = sqlite3_column_text(statement, column);
  return text ? reinterpret_cast<const char *>(text) : "";
}

bool Database::Row::isNull(int column) const {
  return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Returns the version of the table, 0 if the file is empty. Fails if it is the
/// file of somebody else.
llvm::Expected<int> Database::readVersion() {
  int64_t application = 0, version = 0;
  bool isEmpty = false;
  llvm::Error error =
      run("SELECT (SELECT application_id FROM pragma_application_id), "
          "(SELECT user_version FROM pragma_user_version), "
          "(SELECT count(*) FROM sqlite_master)",
          {}, [&](Row row) {
            application = row.getInteger(0);
            version = row.getInteger(1);
            isEmpty = row.getInteger(2) == 0;
          });
  if (error)
    return std::move(error);
  if (isEmpty && application == 0 && version == 0)
    return 0;
  if (application != format.applicationId)
    return makeError("expects a table of ours, but got another database");
  return version;
}

/// Whether the file has our tables and nothing else: a view of such a name may
/// never come to an end.
llvm::Expected<bool> Database::hasTables() {
  std::vector<std::string> found;
  if (llvm::Error error =
          run("SELECT sql FROM sqlite_master", {},
              [&](Row row) { found.push_back(row.getText(0)); }))
    return std::move(error);
  // VACUUM puts them in another order.
  std::vector<std::string> expected(format.create.begin(), format.create.end());
  llvm::sort(found);
  llvm::sort(expected);
  return found == expected;
}

llvm::Error Database::checkTables(int version) {
  if (version != format.version)
    return makeError("expects version " + llvm::Twine(format.version) +
                     ", but got version " + llvm::Twine(version) +
                     "; the file is left as it is");
  llvm::Expected<bool> isOurs = hasTables();
  if (!isOurs)
    return isOurs.takeError();
  if (!*isOurs)
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
  std::string mark =
      ("PRAGMA application_id = " + llvm::Twine(format.applicationId) +
       "; PRAGMA user_version = " + llvm::Twine(format.version) + "; ")
          .str();
  if (*version == format.version - 1 && format.upgrade) {
    if (llvm::Error error = execute((mark + format.upgrade).c_str()))
      return error;
    version = format.version;
  }
  if (*version != 0)
    return checkTables(*version);
  return execute((mark + llvm::join(format.create, "; ")).c_str());
}

llvm::Error Database::prepare() {
  sqlite3_busy_timeout(database, kBusyMilliseconds);
  // Two processes may make the file at the same time: the second one waits
  // here, and then finds the table.
  if (llvm::Error error = execute("BEGIN IMMEDIATE"))
    return error;
  if (llvm::Error error = makeTables()) {
    llvm::consumeError(execute("ROLLBACK"));
    return error;
  }
  if (llvm::Error error = execute("COMMIT"))
    return error;
  // Readers do not wait for a writer then, and a record that was stored
  // survives the end of the process, though not that of the machine.
  return execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
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
  // Whoever reads needs not know what tables were like before.
  if (*version == format.version - 1 && format.upgrade)
    return open(path, format);
  if (llvm::Error error = result->checkTables(*version))
    return error;
  return result;
}

Database::~Database() { sqlite3_close_v2(database); }
