//===- TuningRecords.cpp - What was tried, and what came of it ------------===//

#include "espalier/Tuning/TuningRecords.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier;
using namespace espalier::tuning;

static constexpr llvm::StringLiteral kTables[] = {
    "CREATE TABLE trials (id INTEGER PRIMARY KEY, task TEXT NOT NULL, "
    "target TEXT NOT NULL, compiler TEXT NOT NULL, seed INTEGER NOT NULL, "
    "rule TEXT NOT NULL, script TEXT NOT NULL, status TEXT NOT NULL, "
    "seconds REAL, error TEXT NOT NULL)",
    "CREATE INDEX trials_of ON trials (task, target, compiler)",
    "CREATE TABLE winners (task TEXT NOT NULL, target TEXT NOT NULL, "
    "rule TEXT NOT NULL, script TEXT NOT NULL, seconds REAL NOT NULL, "
    "original REAL NOT NULL, "
    "PRIMARY KEY (target, task)) WITHOUT ROWID"};

static constexpr TableFormat kFormat = {"tuning records",
                                        /*applicationId=*/0x45535074, // "ESPt"
                                        /*version=*/TuningRecords::kVersion,
                                        kTables};

static constexpr llvm::StringLiteral kSpellings[] = {
#define ESPALIER_TRIAL_SPELLING(name, spelling) spelling,
    ESPALIER_FOR_EACH_TRIAL_STATUS(ESPALIER_TRIAL_SPELLING)
#undef ESPALIER_TRIAL_SPELLING
};

llvm::StringRef tuning::getSpelling(TrialStatus status) {
  return kSpellings[static_cast<size_t>(status)];
}

/// A status that this version does not know is a failure.
static TrialStatus parseStatus(llvm::StringRef text) {
  for (auto [index, spelling] : llvm::enumerate(kSpellings))
    if (text == spelling)
      return static_cast<TrialStatus>(index);
  return TrialStatus::Failed;
}

llvm::Expected<std::unique_ptr<TuningRecords>>
TuningRecords::make(llvm::Expected<std::unique_ptr<Database>> database) {
  if (!database)
    return database.takeError();
  return std::unique_ptr<TuningRecords>(
      new TuningRecords(std::move(*database)));
}

llvm::Expected<std::unique_ptr<TuningRecords>>
TuningRecords::open(llvm::StringRef path) {
  return make(Database::open(path, kFormat));
}

llvm::Expected<std::unique_ptr<TuningRecords>>
TuningRecords::openToRead(llvm::StringRef path) {
  return make(Database::openToRead(path, kFormat));
}

llvm::Error TuningRecords::add(const TrialKey &key, const Trial &trial,
                               uint64_t seed) {
  Database::Value seconds;
  if (trial.status == TrialStatus::Measured)
    seconds = trial.seconds;
  return database->run(
      "INSERT INTO trials (task, target, compiler, seed, rule, script, status, "
      "seconds, error) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {key.task, key.target, key.compiler, static_cast<int64_t>(seed),
       trial.rule, trial.script, getSpelling(trial.status), seconds,
       trial.error});
}

llvm::Expected<std::vector<Trial>> TuningRecords::find(const TrialKey &key) {
  std::vector<Trial> trials;
  llvm::Error error = database->run(
      "SELECT rule, script, status, seconds, error FROM trials "
      "WHERE task = ? AND target = ? AND compiler = ? ORDER BY id",
      {key.task, key.target, key.compiler}, [&](Database::Row row) {
        Trial trial;
        trial.rule = row.getText(0);
        trial.script = row.getText(1);
        trial.status = parseStatus(row.getText(2));
        trial.seconds = row.getReal(3);
        trial.error = row.getText(4);
        // A damaged record tells no time.
        if (trial.status != TrialStatus::Measured || trial.seconds > 0)
          trials.push_back(std::move(trial));
      });
  if (error)
    return std::move(error);
  return trials;
}

llvm::Error TuningRecords::setWinner(const TrialKey &key,
                                     const std::optional<Winner> &winner) {
  if (!winner)
    return database->run("DELETE FROM winners WHERE task = ? AND target = ?",
                         {key.task, key.target});
  return database->run("INSERT OR REPLACE INTO winners (task, target, rule, "
                       "script, seconds, original) VALUES (?, ?, ?, ?, ?, ?)",
                       {key.task, key.target, winner->rule, winner->script,
                        winner->seconds, winner->original});
}

llvm::Expected<llvm::StringMap<Winner>>
TuningRecords::findWinners(llvm::StringRef target) {
  llvm::StringMap<Winner> winners;
  llvm::Error error = database->run(
      "SELECT task, rule, script, seconds, original FROM winners "
      "WHERE target = ?",
      {target}, [&](Database::Row row) {
        winners[row.getText(0)] = {row.getText(1), row.getText(2),
                                   row.getReal(3), row.getReal(4)};
      });
  if (error)
    return std::move(error);
  return std::move(winners);
}
