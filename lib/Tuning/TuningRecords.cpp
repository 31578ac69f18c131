//===- TuningRecords.cpp - What was tried, and what came of it ------------===//

#include "espalier/Tuning/TuningRecords.h"
#include "Measuring/Outcome.h"
#include "espalier/Measurement/Samples.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace espalier;
using namespace espalier::tuning;

static constexpr llvm::StringLiteral kTables[] = {
    "CREATE TABLE trials (id INTEGER PRIMARY KEY, task TEXT NOT NULL, "
    "target TEXT NOT NULL, compiler TEXT NOT NULL, seed INTEGER NOT NULL, "
    "rule TEXT NOT NULL, script TEXT NOT NULL, status TEXT NOT NULL, "
    "seconds REAL, error TEXT NOT NULL, features TEXT NOT NULL DEFAULT '', "
    "code TEXT NOT NULL DEFAULT '', parent INTEGER, "
    "times TEXT NOT NULL DEFAULT '')",
    "CREATE INDEX trials_of ON trials (task, target, compiler)",
    "CREATE TABLE winners (task TEXT NOT NULL, target TEXT NOT NULL, "
    "rule TEXT NOT NULL, script TEXT NOT NULL, seconds REAL NOT NULL, "
    "original REAL NOT NULL, "
    "PRIMARY KEY (target, task)) WITHOUT ROWID"};

static constexpr TableFormat kFormat = {
    "tuning records",
    /*applicationId=*/0x45535074, // "ESPt"
    /*version=*/TuningRecords::kVersion, kTables,
    "ALTER TABLE trials ADD COLUMN parent INTEGER; "
    "ALTER TABLE trials ADD COLUMN times TEXT NOT NULL DEFAULT ''"};

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

std::vector<double> Trial::getMedians() const {
  std::vector<double> medians;
  for (std::vector<double> &samples : parseTimes(times))
    medians.push_back(getMedian(std::move(samples)));
  return medians;
}

/// What features of this build begin with.
static std::string printVersion() {
  return "Version=" + std::to_string(kFeaturesVersion);
}

/// The names are written, since a build may have others.
static std::string printFeatures(const Features &features) {
  std::string text = printVersion();
  llvm::raw_string_ostream os(text);
  for (auto [name, value] : llvm::zip_equal(kFeatureNames, features.values))
    os << ' ' << name << '=' << llvm::format("%.6g", value);
  return text;
}

/// Nothing if these are not the features of this build.
static std::optional<Features> parseFeatures(llvm::StringRef text) {
  Features features;
  auto [version, numbers] = text.split(' ');
  if (version != printVersion())
    return std::nullopt;
  text = numbers;
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
TuningRecords::openToWrite(llvm::StringRef path) {
  auto readable = openToRead(path);
  return readable ? open(path) : std::move(readable);
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
  std::string features = printFeatures(trial.features);
  return database->run(
      "INSERT INTO trials (task, target, compiler, seed, rule, script, status, "
      "seconds, error, features, code, parent, times) "
      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, "
      "(SELECT max(id) FROM trials WHERE task = ?1 AND target = ?2 AND "
      "script = ?12), ?13)",
      {key.task, key.target, key.compiler, static_cast<int64_t>(seed),
       trial.rule, trial.script, getSpelling(trial.status), seconds,
       trial.error, features, trial.code, trial.parent, trial.times});
}

llvm::Expected<std::vector<Trial>>
TuningRecords::findTrials(const char *statement,
                          llvm::ArrayRef<Database::Value> values) {
  std::vector<Trial> trials;
  llvm::Error error = database->run(statement, values, [&](Database::Row row) {
    Trial trial;
    trial.rule = row.getText(0);
    trial.script = row.getText(1);
    trial.status = parseStatus(row.getText(2));
    trial.seconds = row.getReal(3);
    trial.error = row.getText(4);
    trial.code = row.getText(5);
    trial.compiler = row.getText(6);
    trial.times = row.getText(7);
    // A damaged record tells no time.
    if (trial.status != TrialStatus::Measured || trial.seconds > 0)
      trials.push_back(std::move(trial));
  });
  if (error)
    return std::move(error);
  return trials;
}

llvm::Expected<std::vector<Trial>> TuningRecords::find(const TrialKey &key) {
  return findTrials(
      "SELECT rule, script, status, seconds, error, code, compiler, times "
      "FROM trials WHERE task = ? AND target = ? AND compiler = ? ORDER BY id",
      {key.task, key.target, key.compiler});
}

llvm::Expected<std::vector<Trial>>
TuningRecords::findOfOtherBuilds(const TrialKey &key, unsigned most) {
  return findTrials(
      "SELECT rule, script, status, min(seconds), error, code, compiler, times "
      "FROM trials WHERE task = ? AND target = ? AND compiler <> ? AND "
      "status = 'measured' GROUP BY script ORDER BY min(seconds) LIMIT ?",
      {key.task, key.target, key.compiler, static_cast<int64_t>(most)});
}

llvm::Expected<std::vector<Trial>>
TuningRecords::findFastest(const TrialKey &key, unsigned most) {
  return findTrials(
      "SELECT rule, script, status, min(seconds), error, code, compiler, times "
      "FROM trials WHERE task = ? AND target = ? AND status = 'measured' "
      "GROUP BY script ORDER BY min(seconds) LIMIT ?",
      {key.task, key.target, static_cast<int64_t>(most)});
}

llvm::Error TuningRecords::setWinner(const TrialKey &key,
                                     const std::optional<Winner> &winner) {
  if (!winner)
    return database->run("DELETE FROM winners WHERE task = ? AND target = ?",
                         {key.kernel, key.target});
  return database->run("INSERT OR REPLACE INTO winners (task, target, rule, "
                       "script, seconds, original) VALUES (?, ?, ?, ?, ?, ?)",
                       {key.kernel, key.target, winner->rule, winner->script,
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

llvm::Expected<std::vector<RecordedKernel>> TuningRecords::findAll() {
  std::vector<RecordedKernel> kernels;
  llvm::StringMap<size_t> places;
  if (llvm::Error error = database->run(
          "SELECT task, target, rule, script, status, seconds, error, features "
          "FROM trials ORDER BY id",
          {}, [&](Database::Row row) {
            std::string task = row.getText(0), target = row.getText(1);
            auto [place, isNew] =
                places.try_emplace(task + "\n" + target, kernels.size());
            if (isNew)
              kernels.push_back({task, target, {}, std::nullopt});
            Trial trial;
            trial.rule = row.getText(2);
            trial.script = row.getText(3);
            trial.status = parseStatus(row.getText(4));
            trial.seconds = row.getReal(5);
            trial.error = row.getText(6);
            if (auto features = parseFeatures(row.getText(7)))
              trial.features = *features;
            kernels[place->second].trials.push_back(std::move(trial));
          }))
    return std::move(error);
  for (RecordedKernel &kernel : kernels) {
    auto winners = findWinners(kernel.target);
    if (!winners)
      return winners.takeError();
    // Trials for extents that are not known are of the same kernel.
    auto winner = winners->find(llvm::StringRef(kernel.task).split(' ').first);
    if (winner != winners->end())
      kernel.winner = winner->second;
  }
  return std::move(kernels);
}

/// The width of vectors, as the text of a target says it.
static unsigned readVectorBits(llvm::StringRef target) {
  unsigned bits = 0;
  auto [before, after] = target.split("vector_bits = ");
  after.consumeInteger(10, bits);
  return bits;
}

llvm::Expected<std::vector<KernelSamples>>
TuningRecords::findSamples(llvm::StringRef target) {
  llvm::StringMap<size_t> places;
  std::vector<KernelSamples> kernels;
  auto add = [&](Database::Row row) {
    std::string task = row.getText(0), machine = row.getText(4);
    TrialStatus status = parseStatus(row.getText(1));
    double seconds = row.getReal(2);
    std::optional<Features> features = parseFeatures(row.getText(3));
    // Why a process ended need not be the candidate.
    if (!features || status == TrialStatus::Failed ||
        (status == TrialStatus::Measured && !(seconds > 0)))
      return;
    auto [place, isNew] =
        places.try_emplace(task + "\n" + machine, kernels.size());
    if (isNew)
      kernels.push_back({task, readVectorBits(machine), {}});
    // A search begins with the default schedule.
    std::vector<Sample> &samples = kernels[place->second].samples;
    Features original = samples.empty() ? *features : samples.front().features;
    samples.push_back({*features, original,
                       status == TrialStatus::Measured ? 1 / seconds : 0});
  };
  if (llvm::Error error = database->run(
          "SELECT task, status, seconds, features, target FROM trials "
          "WHERE ?1 = '' OR target = ?1 ORDER BY id",
          {target}, add))
    return std::move(error);
  for (KernelSamples &kernel : kernels)
    normalizeScores(kernel.samples);
  return std::move(kernels);
}

/// Makes a change as a whole or not at all.
llvm::Error TuningRecords::atOnce(llvm::function_ref<llvm::Error()> change) {
  if (llvm::Error error = database->run("BEGIN IMMEDIATE"))
    return error;
  llvm::Error error = change();
  if (!error)
    error = database->run("COMMIT");
  if (error)
    llvm::consumeError(database->run("ROLLBACK"));
  return error;
}

/// The columns of `row` as values of a statement; `texts` holds their text.
static llvm::SmallVector<Database::Value>
copyRow(Database::Row row, llvm::StringRef types,
        std::vector<std::string> &texts) {
  llvm::SmallVector<Database::Value> values;
  texts.resize(types.size());
  for (auto [column, type] : llvm::enumerate(types)) {
    texts[column] = row.getText(column);
    if (row.isNull(column))
      values.push_back(std::monostate());
    else if (type == 'i')
      values.push_back(row.getInteger(column));
    else if (type == 'r')
      values.push_back(row.getReal(column));
    else
      values.push_back(llvm::StringRef(texts[column]));
  }
  return values;
}

/// Adds the rows that `select` finds in `from` to this file by `insert`.
/// Returns how many it changed. `types` has i, r or t for each column.
llvm::Expected<uint64_t> TuningRecords::take(Database &from, const char *select,
                                             llvm::StringRef types,
                                             const char *insert) {
  uint64_t changed = 0;
  std::optional<llvm::Error> fault;
  std::vector<std::string> texts;
  llvm::Error error = from.run(select, {}, [&](Database::Row row) {
    if (fault)
      return;
    llvm::Error error = database->run(insert, copyRow(row, types, texts));
    if (!error)
      error = database->run("SELECT changes()", {}, [&](Database::Row count) {
        changed += count.getInteger(0);
      });
    if (error)
      fault = std::move(error);
  });
  if (fault)
    return llvm::joinErrors(std::move(error), std::move(*fault));
  if (error)
    return std::move(error);
  return changed;
}

llvm::Expected<uint64_t> TuningRecords::merge(llvm::StringRef path) {
  auto other = openToRead(path);
  if (!other)
    return other.takeError();
  uint64_t added = 0;
  llvm::Error error = atOnce([&]() -> llvm::Error {
    auto trials = take(
        *(*other)->database,
        "SELECT t.task, t.target, t.compiler, t.seed, t.rule, t.script, "
        "t.status, t.seconds, t.error, t.features, t.code, t.times, p.script "
        "FROM trials t LEFT JOIN trials p ON p.id = t.parent ORDER BY t.id",
        "tttitttrttttt",
        // A parent has another number here.
        "INSERT INTO trials (task, target, compiler, seed, rule, script, "
        "status, seconds, error, features, code, times, parent) SELECT ?1, ?2, "
        "?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, (SELECT max(id) FROM "
        "trials WHERE task = ?1 AND target = ?2 AND script = ?13) WHERE NOT "
        "EXISTS (SELECT 1 FROM trials WHERE task = ?1 AND target = ?2 AND "
        "compiler = ?3 AND script = ?6 AND status = ?7 AND seconds IS ?8)");
    if (!trials)
      return trials.takeError();
    added = *trials;
    auto winners = take(
        *(*other)->database,
        "SELECT task, target, rule, script, seconds, original FROM winners",
        "ttttrr",
        "INSERT INTO winners (task, target, rule, script, seconds, original) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (target, task) DO UPDATE "
        "SET rule = ?3, script = ?4, seconds = ?5, original = ?6 "
        "WHERE ?5 < seconds");
    return winners ? llvm::Error::success() : winners.takeError();
  });
  if (error)
    return std::move(error);
  return added;
}

llvm::Expected<uint64_t> TuningRecords::prune(llvm::StringRef compiler,
                                              uint64_t most) {
  uint64_t removed = 0;
  auto count = [&](Database::Row row) { removed += row.getInteger(0); };
  llvm::Error error = atOnce([&]() -> llvm::Error {
    if (llvm::Error error = database->run(
            "DELETE FROM trials WHERE ?1 <> '' AND compiler <> ?1", {compiler}))
      return error;
    if (llvm::Error error = database->run("SELECT changes()", {}, count))
      return error;
    if (llvm::Error error = database->run(
            "DELETE FROM trials WHERE ?1 > 0 AND id NOT IN (SELECT id FROM "
            "(SELECT id, row_number() OVER (PARTITION BY task, target, "
            "compiler ORDER BY seconds IS NULL, seconds, id) AS place "
            "FROM trials) WHERE place <= ?1)",
            {static_cast<int64_t>(most)}))
      return error;
    if (llvm::Error error = database->run("SELECT changes()", {}, count))
      return error;
    // Their numbers may be given again.
    return database->run("UPDATE trials SET parent = NULL WHERE parent NOT IN "
                         "(SELECT id FROM trials)");
  });
  if (!error)
    error = database->run("VACUUM");
  if (error)
    return std::move(error);
  return removed;
}
