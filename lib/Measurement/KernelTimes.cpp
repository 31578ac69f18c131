//===- KernelTimes.cpp - The table of measured kernels --------------------===//

#include "espalier/Measurement/KernelTimes.h"

using namespace espalier;

static constexpr llvm::StringLiteral kTables[] = {
    "CREATE TABLE kernel_times (key TEXT NOT NULL, compiler TEXT NOT NULL, "
    "seconds REAL, error TEXT NOT NULL, label TEXT NOT NULL, PRIMARY KEY (key, "
    "compiler)) WITHOUT ROWID"};

static constexpr TableFormat kFormat = {"table of kernels",
                                        /*applicationId=*/0x4553506b, // "ESPk"
                                        /*version=*/KernelTimes::kVersion,
                                        kTables};

llvm::Expected<std::unique_ptr<KernelTimes>>
KernelTimes::open(llvm::StringRef path, llvm::StringRef compiler) {
  auto database = Database::open(path, kFormat);
  if (!database)
    return database.takeError();
  return std::unique_ptr<KernelTimes>(
      new KernelTimes(std::move(*database), compiler.str()));
}

llvm::Expected<std::optional<KernelTime>>
KernelTimes::find(llvm::StringRef key) {
  Database::Statement statement(*database,
                                "SELECT seconds, error FROM kernel_times "
                                "WHERE key = ? AND compiler = ?");
  statement.bind(1, key);
  statement.bind(2, compiler);
  llvm::Expected<bool> hasRow = statement.step();
  if (!hasRow)
    return hasRow.takeError();
  if (!*hasRow)
    return std::nullopt;
  KernelTime time;
  if (double seconds = statement.getReal(0); seconds > 0)
    time.seconds = seconds;
  time.error = statement.getText(1);
  return time;
}

llvm::Error KernelTimes::store(llvm::StringRef key, const KernelTime &time,
                               llvm::StringRef label) {
  Database::Statement statement(
      *database, "INSERT OR REPLACE INTO kernel_times (key, compiler, "
                 "seconds, error, label) VALUES (?, ?, ?, ?, ?)");
  statement.bind(1, key);
  statement.bind(2, compiler);
  // What is not bound is NULL.
  if (time.seconds)
    statement.bind(3, *time.seconds);
  statement.bind(4, time.error);
  statement.bind(5, label);
  return statement.step().takeError();
}
