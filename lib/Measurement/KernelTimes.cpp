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
  std::optional<KernelTime> found;
  llvm::Error error = database->run(
      "SELECT seconds, error FROM kernel_times WHERE key = ? AND compiler = ?",
      {key, compiler}, [&](Database::Row row) {
        found.emplace();
        if (double seconds = row.getReal(0); seconds > 0)
          found->seconds = seconds;
        found->error = row.getText(1);
      });
  if (error)
    return std::move(error);
  return found;
}

llvm::Error KernelTimes::store(llvm::StringRef key, const KernelTime &time,
                               llvm::StringRef label) {
  Database::Value seconds;
  if (time.seconds)
    seconds = *time.seconds;
  return database->run(
      "INSERT OR REPLACE INTO kernel_times (key, compiler, seconds, error, "
      "label) VALUES (?, ?, ?, ?, ?)",
      {key, compiler, seconds, time.error, label});
}
