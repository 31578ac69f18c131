//===- Database.h - A table in a file that processes share ------*- C++ -*-===//

#ifndef ESPALIER_MEASUREMENT_DATABASE_H
#define ESPALIER_MEASUREMENT_DATABASE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>

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
  /// A prepared statement, finalized at the end of its scope.
  class Statement {
  public:
    Statement(Database &database, const char *text);
    ~Statement();
    Statement(const Statement &) = delete;
    Statement &operator=(const Statement &) = delete;

    void bind(int index, llvm::StringRef text);
    void bind(int index, double value);
    void bind(int index, int64_t value);
    /// Returns whether there is a row. Fails if the file cannot be read or
    /// written, or the statement is wrong.
    llvm::Expected<bool> step();

    bool isNull(int column) const;
    double getReal(int column) const;
    int64_t getInteger(int column) const;
    std::string getText(int column) const;

  private:
    Database &database;
    sqlite3_stmt *statement = nullptr;
  };

  /// Opens the file `path`, which is made if it is missing. Fails, leaving the
  /// file as it is, if that is no table of this format or is damaged.
  static llvm::Expected<std::unique_ptr<Database>>
  open(llvm::StringRef path, const TableFormat &format);

  /// The same for a file that is there and only read: nothing waits for it.
  static llvm::Expected<std::unique_ptr<Database>>
  openToRead(llvm::StringRef path, const TableFormat &format);

  ~Database();
  Database(const Database &) = delete;
  Database &operator=(const Database &) = delete;

  /// The number of the row that was added last.
  int64_t getLastRow() const;

private:
  Database(std::string path, const TableFormat &format)
      : path(std::move(path)), format(format) {}

  llvm::Error makeError(const llvm::Twine &reason) const;
  llvm::Error makeError() const;
  llvm::Error run(const char *statement);
  llvm::Expected<int> readVersion();
  bool hasTables();
  llvm::Error checkTables(int version);
  llvm::Error makeTables();
  llvm::Error prepare();

  std::string path;
  TableFormat format;
  sqlite3 *database = nullptr;
};

} // namespace espalier

#endif // ESPALIER_MEASUREMENT_DATABASE_H
