//===- TuningRecords.cpp - What was tried, and what came of it ------------===//

#include "espalier/Tuning/TuningRecords.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace espalier;
using namespace espalier::tuning;

static constexpr llvm::StringLiteral kTables[] = {
    "CREATE TABLE trials (id INTEGER PRIMARY KEY, task TEXT NOT NULL, "
    "target TEXT NOT NULL, compiler TEXT NOT NULL, seed INTEGER NOT NULL, "
    "rule TEXT NOT NULL, script TEXT NOT NULL, status TEXT NOT NULL, "
    "seconds REAL, error TEXT NOT NULL, features TEXT NOT NULL DEFAULT '')",
    "CREATE INDEX trials_of ON trials (task, target, compiler)",
    "CREATE TABLE winners (task TEXT NOT NULL, target TEXT NOT NULL, "
    "compiler TEXT NOT NULL, rule TEXT NOT NULL, script TEXT NOT NULL, "
    "seconds REAL NOT NULL, original REAL NOT NULL, "
    "PRIMARY KEY (target, task)) WITHOUT ROWID"};

static constexpr TableFormat kFormat = {
    "tuning records",
    /*applicationId=*/0x45535074, // "ESPt"
    /*version=*/TuningRecords::kVersion, kTables,
    "ALTER TABLE trials ADD COLUMN features "
    "TEXT NOT NULL DEFAULT ''"};

static constexpr llvm::StringLiteral kFeatureNames[] = {
#define ESPALIER_FEATURE_NAME(name, meaning) #name,
    ESPALIER_FOR_EACH_FEATURE(ESPALIER_FEATURE_NAME)
#undef ESPALIER_FEATURE_NAME
};

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

/// The names are written, since a build may have others.
static std::string printFeatures(const Features &features) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [name, value] : llvm::zip_equal(kFeatureNames, features.values))
    os << (text.empty() ? "" : " ") << name << '='
       << llvm::format("%.6g", value);
  return text;
}

/// Nothing if these are not the features of this build.
static std::optional<Features> parseFeatures(llvm::StringRef text) {
  Features features;
  for (auto [name, value] : llvm::zip_equal(kFeatureNames, features.values)) {
    auto [one, rest] = text.split(' ');
    double number = 0;
    if (!one.consume_front(name) || !one.consume_front("=") ||
        one.getAsDouble(number))
      return std::nullopt;
    value = number;
    text = rest;
  }
  return text.empty() ? std::optional(features) : std::nullopt;
}

llvm::Expected<std::unique_ptr<TuningRecords>>
TuningRecords::open(llvm::StringRef path) {
  auto database = Database::open(path, kFormat);
  if (!database)
    return database.takeError();
  return std::unique_ptr<TuningRecords>(
      new TuningRecords(std::move(*database)));
}

llvm::Expected<std::unique_ptr<TuningRecords>>
TuningRecords::openToRead(llvm::StringRef path) {
  auto database = Database::openToRead(path, kFormat);
  if (!database)
    return database.takeError();
  return std::unique_ptr<TuningRecords>(
      new TuningRecords(std::move(*database)));
}

llvm::Error TuningRecords::add(const TrialKey &key, const Trial &trial,
                               uint64_t seed) {
  Database::Statement statement(
      *database, "INSERT INTO trials (task, target, compiler, seed, rule, "
                 "script, status, seconds, error, features) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
  statement.bind(1, key.task);
  statement.bind(2, key.target);
  statement.bind(3, key.compiler);
  statement.bind(4, static_cast<int64_t>(seed));
  statement.bind(5, trial.rule);
  statement.bind(6, trial.script);
  statement.bind(7, getSpelling(trial.status));
  // What is not bound is NULL.
  if (trial.status == TrialStatus::Measured)
    statement.bind(8, trial.seconds);
  statement.bind(9, trial.error);
  statement.bind(10, printFeatures(trial.features));
  return statement.step().takeError();
}

llvm::Expected<std::vector<Trial>> TuningRecords::find(const TrialKey &key) {
  Database::Statement statement(
      *database, "SELECT rule, script, status, seconds, error FROM trials "
                 "WHERE task = ? AND target = ? AND compiler = ? ORDER BY id");
  statement.bind(1, key.task);
  statement.bind(2, key.target);
  statement.bind(3, key.compiler);
  std::vector<Trial> trials;
  while (true) {
    llvm::Expected<bool> hasRow = statement.step();
    if (!hasRow)
      return hasRow.takeError();
    if (!*hasRow)
      return trials;
    Trial trial;
    trial.rule = statement.getText(0);
    trial.script = statement.getText(1);
    trial.status = parseStatus(statement.getText(2));
    trial.seconds = statement.getReal(3);
    trial.error = statement.getText(4);
    // A damaged record tells no time.
    if (trial.status != TrialStatus::Measured || trial.seconds > 0)
      trials.push_back(std::move(trial));
  }
}

llvm::Error TuningRecords::setWinner(const TrialKey &key,
                                     const std::optional<Winner> &winner) {
  if (!winner) {
    Database::Statement statement(
        *database, "DELETE FROM winners WHERE task = ? AND target = ?");
    statement.bind(1, key.task);
    statement.bind(2, key.target);
    return statement.step().takeError();
  }
  Database::Statement statement(
      *database, "INSERT OR REPLACE INTO winners (task, target, compiler, "
                 "rule, script, seconds, original) "
                 "VALUES (?, ?, ?, ?, ?, ?, ?)");
  statement.bind(1, key.task);
  statement.bind(2, key.target);
  statement.bind(3, key.compiler);
  statement.bind(4, winner->rule);
  statement.bind(5, winner->script);
  statement.bind(6, winner->seconds);
  statement.bind(7, winner->original);
  return statement.step().takeError();
}

llvm::Expected<llvm::StringMap<Winner>>
TuningRecords::findWinners(llvm::StringRef target) {
  Database::Statement statement(*database,
                                "SELECT task, rule, script, seconds, original "
                                "FROM winners WHERE target = ?");
  statement.bind(1, target);
  llvm::StringMap<Winner> winners;
  while (true) {
    llvm::Expected<bool> hasRow = statement.step();
    if (!hasRow)
      return hasRow.takeError();
    if (!*hasRow)
      return std::move(winners);
    winners[statement.getText(0)] = {statement.getText(1), statement.getText(2),
                                     statement.getReal(3),
                                     statement.getReal(4)};
  }
}

llvm::Expected<std::vector<std::pair<std::string, std::vector<Sample>>>>
TuningRecords::findSamples(llvm::StringRef target) {
  Database::Statement statement(
      *database, "SELECT task, status, seconds, features FROM trials "
                 "WHERE ?1 = '' OR target = ?1 ORDER BY id");
  statement.bind(1, target);
  llvm::StringMap<size_t> places;
  std::vector<std::pair<std::string, std::vector<Sample>>> kernels;
  while (true) {
    llvm::Expected<bool> hasRow = statement.step();
    if (!hasRow)
      return hasRow.takeError();
    if (!*hasRow)
      break;
    std::string task = statement.getText(0);
    TrialStatus status = parseStatus(statement.getText(1));
    double seconds = statement.getReal(2);
    std::optional<Features> features = parseFeatures(statement.getText(3));
    // Why a process ended need not be the candidate.
    if (!features || status == TrialStatus::Failed ||
        (status == TrialStatus::Measured && !(seconds > 0)))
      continue;
    auto [place, isNew] = places.try_emplace(task, kernels.size());
    if (isNew)
      kernels.push_back({task, {}});
    // A search begins with the default schedule.
    std::vector<Sample> &samples = kernels[place->second].second;
    const Features &original =
        samples.empty() ? *features : samples.front().features;
    samples.push_back({*features, original,
                       status == TrialStatus::Measured ? 1 / seconds : 0});
  }
  for (auto &[task, samples] : kernels)
    normalizeScores(samples);
  return std::move(kernels);
}
