//===- LocalMeasurer.cpp - Candidates that are measured here --------------===//

#include "KernelBench.h"

using namespace espalier;
using namespace espalier::tuning;

llvm::Expected<Outcome> Measurer::measureOne(unsigned kernel, Job job) {
  Outcome result;
  result.error = "expects a result, but is interrupted";
  Turn turn = {kernel, {std::move(job)}};
  llvm::Error error = measure(turn, [&](size_t, std::vector<Outcome> outcomes) {
    result = std::move(outcomes.front());
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return std::move(result);
}

namespace {
class LocalMeasurer : public Measurer {
public:
  explicit LocalMeasurer(const TuneOptions &options) : options(options) {}

  unsigned addKernel(mlir::ModuleOp payload, const KernelModule &kernel,
                     const MeasureOptions &measure) override {
    benches.emplace_back(payload, kernel, measure, options);
    return benches.size() - 1;
  }

  llvm::Error measure(llvm::ArrayRef<Turn> turns, Done done) override;

private:
  const TuneOptions &options;
  std::vector<KernelBench> benches;
};
} // namespace

llvm::Error LocalMeasurer::measure(llvm::ArrayRef<Turn> turns, Done done) {
  for (auto [number, turn] : llvm::enumerate(turns)) {
    std::vector<Outcome> outcomes;
    for (const Job &job : turn.jobs) {
      llvm::Expected<Outcome> outcome = benches[turn.kernel].run(job);
      if (!outcome)
        return outcome.takeError();
      // An interrupt ends the candidate, too.
      if (options.measure.codegen.mustStop())
        return llvm::Error::success();
      outcomes.push_back(std::move(*outcome));
    }
    if (llvm::Error error = done(number, std::move(outcomes)))
      return error;
  }
  return llvm::Error::success();
}

std::unique_ptr<Measurer>
tuning::makeLocalMeasurer(const TuneOptions &options) {
  return std::make_unique<LocalMeasurer>(options);
}
