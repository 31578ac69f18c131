//===- PipelineCoverage.cpp - Did the passes of a pipeline run? -----------===//

#include "espalier/Support/PipelineCoverage.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace mlir;

namespace espalier {

namespace {
/// The pipelines nested at one place of the text, and what became of them.
struct Nest {
  std::string parent;            ///< The first operation that was searched.
  std::set<std::string> anchors; ///< Names of the operations to run on.
  std::set<std::string> matched; ///< Those that were met.
};
} // namespace

/// Returns the anchors of `text`, which lists pipelines such as
/// "func.func(cse),gpu.module(a{b=1},c(d))"; here `func.func` and `gpu.module`.
static std::set<std::string> parseAnchors(StringRef text) {
  std::set<std::string> anchors;
  unsigned depth = 0;
  size_t begin = 0;
  for (auto [i, c] : llvm::enumerate(text)) {
    if ((c == '(' || c == '{') && depth++ == 0 && c == '(')
      anchors.insert(text.slice(begin, i).str());
    else if (c == ')' || c == '}')
      --depth;
    else if (c == ',' && depth == 0)
      begin = i + 1;
  }
  return anchors;
}

/// Returns the text of the pipelines that `pass` holds if it is the pass of a
/// private class that MLIR holds nested pipelines in, else an empty string.
static std::string getNestedText(Pass *pass) {
  std::string text;
  if (pass->getName().ends_with("OpToOpPassAdaptor")) {
    llvm::raw_string_ostream os(text);
    pass->printAsTextualPipeline(os);
  }
  return text;
}

struct PipelineCoverage::Record {
  // Pass managers call instrumentation from several threads, one at a time.
  std::map<std::string, Nest> nests;
  bool somePassRan = false;
};

namespace {
class Recorder : public PassInstrumentation {
public:
  explicit Recorder(std::shared_ptr<PipelineCoverage::Record> record)
      : record(std::move(record)) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    std::string text = getNestedText(pass);
    if (text.empty()) {
      record->somePassRan = true;
      return;
    }
    record->nests.insert(
        {text, {op->getName().getStringRef().str(), parseAnchors(text), {}}});
  }

  void runBeforePipeline(std::optional<OperationName> name,
                         const PipelineParentInfo &parent) override {
    auto it = record->nests.find(getNestedText(parent.parentPass));
    if (it != record->nests.end())
      it->second.matched.insert(name ? name->getStringRef().str() : "any");
  }

private:
  std::shared_ptr<PipelineCoverage::Record> record;
};
} // namespace

PipelineCoverage::PipelineCoverage() : record(std::make_shared<Record>()) {}

void PipelineCoverage::watch(PassManager &pm) {
  pm.addInstrumentation(std::make_unique<Recorder>(record));
}

std::string PipelineCoverage::findFault() const {
  for (const auto &[text, nest] : record->nests) {
    for (const std::string &anchor : nest.anchors) {
      if (nest.matched.count(anchor) ||
          (record->somePassRan && anchor != nest.parent))
        continue;
      return "expects an operation for each pipeline to run on, but '" +
             nest.parent + "' contains no '" + anchor + "'";
    }
  }
  return "";
}

} // namespace espalier
