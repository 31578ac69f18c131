//===- Database.h - A table in a file that processes share ------*- C++ -*-===//

#ifndef ESPALIER_MEASUREMENT_DATABASE_H
#define ESPALIER_MEASUREMENT_DATABASE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <variant>

struct sqlite3;
struct sqlite3_stmt;

namespace espalier {

/// What a file with one table of ours is.
struct TableFormat {
  /// For messages: "table of kernels".
  llvm::StringLiteral name;
  /// Marks the file as ours.
  int applicationId;
  int version;
  /// The statements that make tables, as SQLite keeps their text.
  llvm::ArrayRef<llvm::StringLiteral> create;
  /// What makes such a file of one of the version before; null if nothing does.
  const char *upgrade = nullptr;
};

/// An SQLite file with tables of ours, which several processes may use at once.
/// Each statement is one transaction: a process that ends in between loses
/// none.
class Database {
public:
  /// What a statement has found: its columns, counted from 0.
  class Row {
  public:
    explicit Row(sqlite3_stmt *statement) : statement(statement) {}

    double getReal(int column) const;
    int64_t getInteger(int column) const;
    std::string getText(int column) const;
    bool isNull(int column) const;

  private:
    sqlite3_stmt *statement;
  };

  /// What a statement is given; the first alternative is NULL.
  using Value = std::variant<std::monostate, int64_t, double, llvm::StringRef>;

  /// Opens the file `path`, which is made if it is missing. Fails, leaving the
  /// file as it is, if that is no table of this format or is damaged.
  static llvm::Expected<std::unique_ptr<Database>>
  open(llvm::StringRef path, const TableFormat &format);

  /// The same for a file that is there and only read: nothing waits for it. One
  /// of the version before becomes one of this.
  static llvm::Expected<std::unique_ptr<Database>>
  openToRead(llvm::StringRef path, const TableFormat &format);

  ~Database();
  Database(const Database &) = delete;
  Database &operator=(const Database &) = delete;

  /// Runs a statement with `values` in the places of its question marks, and
  /// calls `visit` for each row. Fails if the file cannot be read or written.
  llvm::Error run(const char *statement, llvm::ArrayRef<Value> values = {},
                  llvm::function_ref<void(Row)> visit = nullptr);

private:
  Database(std::string path, const TableFormat &format)
      : path(std::move(path)), format(format) {}

  llvm::Error makeError(const llvm::Twine &reason) const;
  llvm::Error makeError() const;
  llvm::Error execute(const char *statements);
  llvm::Expected<int> readVersion();
  llvm::Expected<bool> hasTables();
  llvm::Error checkTables(int version);
  llvm::Error makeTables();
  llvm::Error prepare();

  std::string path;
  TableFormat format;
  sqlite3 *database = nullptr;
};

} // namespace espalier

#endif // ESPALIER_MEASUREMENT_DATABASE_H
