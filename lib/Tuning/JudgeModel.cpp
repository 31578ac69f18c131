//===- JudgeModel.cpp - What a model of costs learns of records -----------===//

#include "Search.h"
#include "espalier/Tuning/TuningRecords.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier;
using namespace espalier::tuning;

using llvm::ArrayRef;
using llvm::StringRef;

/// The best of fewer candidates does not tell how good the others are.
static constexpr ptrdiff_t kMinOfKernel = 8;

void tuning::addSamples(ArrayRef<Sample> kernel, std::vector<Sample> &all) {
  if (llvm::count_if(kernel, [](const Sample &sample) {
        return sample.score > 0;
      }) >= kMinOfKernel)
    llvm::append_range(all, kernel);
}

namespace {
/// What was measured, and a model that knows nothing of it.
struct Lesson {
  std::vector<KernelSamples> kernels;
  std::unique_ptr<CostModel> model;
};
} // namespace

static llvm::Expected<Lesson> prepareLesson(StringRef path,
                                            StringRef modelLibrary) {
  auto records = TuningRecords::openToRead(path);
  if (!records)
    return records.takeError();
  auto kernels = (*records)->findSamples("");
  if (!kernels)
    return kernels.takeError();
  auto model = CostModel::load(modelLibrary);
  if (!model)
    return model.takeError();
  return Lesson{std::move(*kernels), std::move(*model)};
}

/// The rank correlation of scores with what was measured.
static llvm::Expected<double> correlate(CostModel &model,
                                        ArrayRef<Sample> measured,
                                        ArrayRef<double> speeds,
                                        std::vector<double> &predicted) {
  auto scores = model.predict(measured);
  if (!scores)
    return scores.takeError();
  predicted.assign(scores->begin(), scores->end());
  return computeRankCorrelation(predicted, speeds);
}

/// Judges one kernel by the model that was trained on the others.
static llvm::Expected<JudgedKernel> judgeKernel(const KernelSamples &kernel,
                                                CostModel &model) {
  std::vector<Sample> measured;
  llvm::copy_if(kernel.samples, std::back_inserter(measured),
                [](const Sample &sample) { return sample.score > 0; });
  JudgedKernel judged;
  judged.task = kernel.task;
  judged.numCandidates = measured.size();
  std::vector<double> estimates;
  for (const Sample &sample : measured) {
    judged.measured.push_back(sample.score);
    estimates.push_back(-sample.features[Feature::Cycles]);
  }
  judged.estimate = computeRankCorrelation(estimates, judged.measured);
  auto correlation =
      correlate(model, measured, judged.measured, judged.predicted);
  if (!correlation)
    return correlation.takeError();
  judged.model = *correlation;
  if (auto shipped = CostModel::loadShipped(kernel.vectorBits)) {
    std::vector<double> predicted;
    correlation = correlate(*shipped, measured, judged.measured, predicted);
    if (!correlation)
      return correlation.takeError();
    judged.shipped = *correlation;
  }
  return std::move(judged);
}

llvm::Expected<std::vector<JudgedKernel>>
tuning::judgeModel(StringRef path, StringRef modelLibrary) {
  auto lesson = prepareLesson(path, modelLibrary);
  if (!lesson)
    return lesson.takeError();
  std::vector<JudgedKernel> judged;
  for (const KernelSamples &own : lesson->kernels) {
    std::vector<Sample> rest, enough;
    for (const KernelSamples &other : lesson->kernels)
      if (other.task != own.task)
        addSamples(other.samples, rest);
    addSamples(own.samples, enough);
    if (enough.empty())
      continue;
    if (llvm::Error error = lesson->model->train(rest))
      return std::move(error);
    if (!lesson->model->isTrained())
      continue;
    auto kernel = judgeKernel(own, *lesson->model);
    if (!kernel)
      return kernel.takeError();
    judged.push_back(std::move(*kernel));
  }
  return std::move(judged);
}

llvm::Expected<std::string> tuning::trainTrees(StringRef path,
                                               StringRef modelLibrary) {
  auto lesson = prepareLesson(path, modelLibrary);
  if (!lesson)
    return lesson.takeError();
  std::vector<Sample> all;
  for (const KernelSamples &kernel : lesson->kernels)
    addSamples(kernel.samples, all);
  if (llvm::Error error = lesson->model->train(all))
    return std::move(error);
  auto trees = lesson->model->getTrees();
  if (!trees)
    return trees.takeError();
  return trees->print();
}
