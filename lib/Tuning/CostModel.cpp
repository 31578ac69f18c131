//===- CostModel.cpp - Which candidates are likely to be fast -------------===//

#include "espalier/Tuning/CostModel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include <algorithm>
#include <cmath>
#include <dlfcn.h>
#include <numeric>

using namespace espalier;
using namespace espalier::tuning;

/// Trees, and how they grow. One thread: a search forks.
static constexpr int kRounds = 60;
/// A candidate that is less likely to be measured comes after others.
static constexpr float kMinChance = 0.1;
static constexpr std::pair<const char *, const char *> kParameters[] = {
    {"objective", "reg:squarederror"},
    {"max_depth", "6"},
    {"eta", "0.15"},
    {"min_child_weight", "2"},
    {"subsample", "0.9"},
    {"seed", "0"},
    {"nthread", "1"},
    {"verbosity", "0"},
};
static constexpr const char *kPredict =
    R"({"type": 0, "training": false, "iteration_begin": 0,
        "iteration_end": 0, "strict_shape": false})";

namespace {
/// What is used of XGBoost's C interface (xgboost/c_api.h, since 1.6).
struct Library {
  using Handle = void *;

  int (*makeMatrix)(const float *, uint64_t, uint64_t, float, Handle *);
  int (*setFloats)(Handle, const char *, const float *, uint64_t);
  int (*freeMatrix)(Handle);
  int (*makeBooster)(const Handle *, uint64_t, Handle *);
  int (*freeBooster)(Handle);
  int (*setParameter)(Handle, const char *, const char *);
  int (*update)(Handle, int, Handle);
  int (*save)(Handle, const char *, uint64_t *, const char **);
  int (*predict)(Handle, Handle, const char *, const uint64_t **, uint64_t *,
                 const float **);
  const char *(*getError)();

  static llvm::Expected<Library> load(llvm::StringRef path);
};

/// Trees for one number of a candidate.
class Trees {
public:
  explicit Trees(const Library &library) : library(library) {}
  ~Trees() {
    if (booster)
      library.freeBooster(booster);
  }
  Trees(const Trees &) = delete;
  Trees &operator=(const Trees &) = delete;

  bool isTrained() const { return booster; }
  llvm::Error train(llvm::ArrayRef<Sample> samples,
                    llvm::ArrayRef<float> labels);
  llvm::Expected<std::vector<float>> predict(llvm::ArrayRef<Sample> samples);
  llvm::Expected<TreeSum> getSum() const;

private:
  llvm::Error check(int status) const {
    if (status == 0)
      return llvm::Error::success();
    return llvm::createStringError(std::string("model of costs: ") +
                                   library.getError());
  }
  llvm::Error grow(llvm::ArrayRef<float> labels, Library::Handle matrix,
                   Library::Handle made);

  const Library &library;
  Library::Handle booster = nullptr;
};

/// What fails says nothing about speed: other trees tell whether a candidate
/// does.
class BoostedTrees : public CostModel {
public:
  explicit BoostedTrees(const Library &library) : library(library) {}

  llvm::Error train(llvm::ArrayRef<Sample> samples) override;
  bool isTrained() const override { return speed.isTrained(); }
  llvm::Expected<std::vector<float>>
  predict(llvm::ArrayRef<Sample> candidates) override;
  llvm::Expected<TrainedTrees> getTrees() const override;

private:
  Library library;
  Trees speed{library}, success{library};
};
} // namespace

namespace {
/// Trees that were trained before.
class ShippedTrees : public CostModel {
public:
  explicit ShippedTrees(TrainedTrees trees) : trees(std::move(trees)) {}

  llvm::Error train(llvm::ArrayRef<Sample>) override {
    return llvm::Error::success();
  }
  bool isTrained() const override { return true; }
  llvm::Expected<std::vector<float>>
  predict(llvm::ArrayRef<Sample> candidates) override;
  llvm::Expected<TrainedTrees> getTrees() const override { return trees; }

private:
  TrainedTrees trees;
};
} // namespace

llvm::Expected<Library> Library::load(llvm::StringRef path) {
  // It stays loaded: what it did at its start cannot be undone.
  void *handle = dlopen(path.str().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return llvm::createStringError(std::string("model of costs: ") + dlerror());
  Library library;
  const char *missing = nullptr;
  auto find = [&](auto &function, const char *name) {
    function =
        reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(handle, name));
    if (!function)
      missing = name;
  };
  find(library.makeMatrix, "XGDMatrixCreateFromMat");
  find(library.setFloats, "XGDMatrixSetFloatInfo");
  find(library.freeMatrix, "XGDMatrixFree");
  find(library.makeBooster, "XGBoosterCreate");
  find(library.freeBooster, "XGBoosterFree");
  find(library.setParameter, "XGBoosterSetParam");
  find(library.update, "XGBoosterUpdateOneIter");
  find(library.save, "XGBoosterSaveModelToBuffer");
  find(library.predict, "XGBoosterPredictFromDMatrix");
  find(library.getError, "XGBGetLastError");
  if (missing)
    return llvm::createStringError("model of costs: expects '" + path +
                                   "' to be XGBoost 1.6 or later, but it has "
                                   "no function " +
                                   missing);
  return library;
}

llvm::Expected<std::unique_ptr<CostModel>>
CostModel::load(llvm::StringRef path) {
  llvm::Expected<Library> library = Library::load(path);
  if (!library)
    return library.takeError();
  return std::make_unique<BoostedTrees>(*library);
}

/// What trees see of a candidate.
static constexpr unsigned kColumns = 2 * kNumFeatures;

static std::vector<float> makeRows(llvm::ArrayRef<Sample> samples) {
  std::vector<float> rows;
  rows.reserve(samples.size() * kColumns);
  for (const Sample &sample : samples) {
    llvm::append_range(rows, sample.features.values);
    for (auto [own, original] :
         llvm::zip_equal(sample.features.values, sample.original.values))
      rows.push_back(own - original);
  }
  return rows;
}

llvm::Error Trees::grow(llvm::ArrayRef<float> labels, Library::Handle matrix,
                        Library::Handle made) {
  if (llvm::Error error = check(
          library.setFloats(matrix, "label", labels.data(), labels.size())))
    return error;
  for (auto [name, value] : kParameters)
    if (llvm::Error error = check(library.setParameter(made, name, value)))
      return error;
  for (int round = 0; round < kRounds; ++round)
    if (llvm::Error error = check(library.update(made, round, matrix)))
      return error;
  return llvm::Error::success();
}

llvm::Error Trees::train(llvm::ArrayRef<Sample> samples,
                         llvm::ArrayRef<float> labels) {
  std::vector<float> rows = makeRows(samples);
  Library::Handle matrix = nullptr, made = nullptr;
  if (llvm::Error error = check(library.makeMatrix(rows.data(), samples.size(),
                                                   kColumns, NAN, &matrix)))
    return error;
  llvm::scope_exit freeMatrix([&] { library.freeMatrix(matrix); });
  if (llvm::Error error = check(library.makeBooster(&matrix, 1, &made)))
    return error;
  llvm::Error error = grow(labels, matrix, made);
  if (error) {
    library.freeBooster(made);
    return error;
  }
  if (booster)
    library.freeBooster(booster);
  booster = made;
  return llvm::Error::success();
}

llvm::Expected<std::vector<float>>
Trees::predict(llvm::ArrayRef<Sample> samples) {
  std::vector<float> rows = makeRows(samples);
  Library::Handle matrix = nullptr;
  if (llvm::Error error = check(library.makeMatrix(rows.data(), samples.size(),
                                                   kColumns, NAN, &matrix)))
    return std::move(error);
  llvm::scope_exit freeMatrix([&] { library.freeMatrix(matrix); });
  const uint64_t *shape = nullptr;
  uint64_t numDims = 0;
  const float *values = nullptr;
  if (llvm::Error error = check(library.predict(booster, matrix, kPredict,
                                                &shape, &numDims, &values)))
    return std::move(error);
  return std::vector<float>(values, values + samples.size());
}

/// Puts candidates that are unlikely to be measured behind others.
static void lowerUnlikely(std::vector<float> &scores,
                          llvm::ArrayRef<float> chances) {
  for (auto [score, chance] : llvm::zip_equal(scores, chances))
    if (chance < kMinChance)
      score *= std::max(chance, 0.0f);
}

llvm::Error BoostedTrees::train(llvm::ArrayRef<Sample> samples) {
  std::vector<Sample> measured;
  std::vector<float> scores, isMeasured;
  for (const Sample &sample : samples) {
    isMeasured.push_back(sample.score > 0);
    if (sample.score <= 0)
      continue;
    measured.push_back(sample);
    scores.push_back(sample.score);
  }
  // Nothing is known of speed yet.
  if (measured.empty())
    return llvm::Error::success();
  if (llvm::Error error = speed.train(measured, scores))
    return error;
  return success.train(samples, isMeasured);
}

llvm::Expected<std::vector<float>>
BoostedTrees::predict(llvm::ArrayRef<Sample> candidates) {
  auto scores = speed.predict(candidates);
  if (!scores)
    return scores;
  auto chances = success.predict(candidates);
  if (!chances)
    return chances;
  lowerUnlikely(*scores, *chances);
  return scores;
}

llvm::Expected<TreeSum> Trees::getSum() const {
  uint64_t size = 0;
  const char *text = nullptr;
  if (!booster)
    return llvm::createStringError("model of costs: expects candidates that "
                                   "it learned from, but there were none");
  if (llvm::Error error =
          check(library.save(booster, R"({"format": "json"})", &size, &text)))
    return std::move(error);
  return TreeSum::readXGBoost({text, size});
}

llvm::Expected<TrainedTrees> BoostedTrees::getTrees() const {
  auto first = speed.getSum();
  if (!first)
    return first.takeError();
  auto second = success.getSum();
  if (!second)
    return second.takeError();
  return TrainedTrees{std::move(*first), std::move(*second)};
}

//===----------------------------------------------------------------------===//
// Trees that were trained before
//===----------------------------------------------------------------------===//

llvm::Expected<std::vector<float>>
ShippedTrees::predict(llvm::ArrayRef<Sample> candidates) {
  std::vector<float> rows = makeRows(candidates), scores, chances;
  for (size_t i = 0; i < candidates.size(); ++i) {
    llvm::ArrayRef<float> row(rows.data() + i * kColumns, kColumns);
    scores.push_back(trees.speed.predict(row));
    chances.push_back(trees.success.predict(row));
  }
  lowerUnlikely(scores, chances);
  return scores;
}

std::unique_ptr<CostModel> CostModel::create(TrainedTrees trees) {
  return std::make_unique<ShippedTrees>(std::move(trees));
}

std::unique_ptr<CostModel> CostModel::loadShipped(unsigned vectorBits) {
  llvm::StringRef text = getShippedTrees(vectorBits);
  if (text.empty())
    return nullptr;
  auto trees = TrainedTrees::parse(text);
  if (trees)
    return create(std::move(*trees));
  // Those of another version's features; a test says that there are none.
  llvm::consumeError(trees.takeError());
  return nullptr;
}

void tuning::normalizeScores(std::vector<Sample> &samples) {
  double most = 0;
  for (const Sample &sample : samples)
    most = std::max(most, sample.score);
  if (most > 0)
    for (Sample &sample : samples)
      sample.score /= most;
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

static std::vector<double> computeRanks(llvm::ArrayRef<double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0, end; begin < order.size(); begin = end) {
    for (end = begin;
         end < order.size() && values[order[end]] == values[order[begin]];
         ++end)
      ;
    for (size_t i = begin; i < end; ++i)
      ranks[order[i]] = (begin + end - 1) / 2.0;
  }
  return ranks;
}

double tuning::computeRankCorrelation(llvm::ArrayRef<double> first,
                                      llvm::ArrayRef<double> second) {
  std::vector<double> a = computeRanks(first), b = computeRanks(second);
  double mean = (double(a.size()) - 1) / 2, both = 0, ofA = 0, ofB = 0;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    both += (x - mean) * (y - mean);
    ofA += (x - mean) * (x - mean);
    ofB += (y - mean) * (y - mean);
  }
  return ofA > 0 && ofB > 0 ? both / std::sqrt(ofA * ofB) : 0;
}
