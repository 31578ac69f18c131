//===- RankMessages.cpp - What ranks tell each other ----------------------===//

#include "RankMessages.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <unistd.h>

using namespace espalier;
using namespace espalier::tuning;
namespace json = llvm::json;

llvm::Expected<Introduction> Introduction::make(mlir::MLIRContext *context,
                                                const CodegenOptions &options) {
  auto target = describeMachine(context, options);
  if (!target)
    return target.takeError();
  Introduction result;
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) == 0)
    result.host = host;
  llvm::raw_string_ostream(result.target) << *target;
  llvm::raw_string_ostream(result.machine) << poly::detectHostTarget(context);
  auto nothing = mlir::ModuleOp::create(mlir::UnknownLoc::get(context));
  mlir::OwningOpRef<mlir::ModuleOp> owner(nothing);
  result.settings = computeCacheKey(nothing, options);
  return result;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static json::Value makeText(llvm::StringRef text) {
  return json::isUTF8(text) ? text.str() : json::fixUTF8(text);
}

/// A message is an object with one key, which says what it is.
static std::string print(llvm::StringRef kind, json::Value value) {
  std::string text;
  llvm::raw_string_ostream(text)
      << json::Value(json::Object{{kind, std::move(value)}});
  return text;
}

std::string tuning::printMessage(const Introduction &introduction) {
  return print("introduction",
               json::Object{{"host", makeText(introduction.host)},
                            {"machine", makeText(introduction.machine)},
                            {"target", makeText(introduction.target)},
                            {"settings", introduction.settings}});
}

std::string tuning::printMessage(const Alive &) {
  return print("alive", nullptr);
}

std::string tuning::printMessage(const Fault &fault) {
  return print("fault", json::Object{{"reason", makeText(fault.reason)}});
}

std::string tuning::printMessage(const Outcome &outcome) {
  return print("outcome", json::Object{{"status", int(outcome.status)},
                                       {"seconds", outcome.seconds},
                                       {"times", outcome.times},
                                       {"wall", outcome.wall},
                                       {"error", makeText(outcome.error)},
                                       {"code", outcome.code}});
}

static json::Value describe(const KernelModule &module) {
  json::Array isConstant, differences, sizes;
  for (bool one : module.isConstant)
    isConstant.push_back(int(one));
  for (std::optional<double> difference : module.numbers.differences)
    differences.push_back(difference && std::isfinite(*difference)
                              ? json::Value(*difference)
                              : json::Value(nullptr));
  for (const llvm::StringMap<int64_t> &numbers : module.sizes) {
    json::Object named;
    for (const auto &number : numbers)
      named[number.first()] = number.second;
    sizes.push_back(std::move(named));
  }
  return json::Object{{"text", makeText(module.text)},
                      {"is_constant", std::move(isConstant)},
                      {"takes_any_integer", module.takesAnyInteger},
                      {"magnitude", module.numbers.magnitude},
                      {"differences", std::move(differences)},
                      {"sizes", std::move(sizes)}};
}

static json::Value describe(const MeasureOptions &options) {
  // Those with names are in the kernel's module.
  json::Array sizes;
  for (const MeasuredSizes &one : options.sizes)
    sizes.push_back(
        json::Object{{"extent", one.extent}, {"weight", one.weight}});
  return json::Object{{"threads", options.threads},
                      {"time_limit", options.timeLimit.count()},
                      {"memory_limit", options.memoryLimit},
                      {"constant_bytes", options.constantBytes},
                      {"sizes", std::move(sizes)}};
}

std::string tuning::printMessage(const KernelToMeasure &kernel) {
  return print("kernel", json::Object{{"number", kernel.number},
                                      {"module", describe(kernel.module)},
                                      {"measure", describe(kernel.measure)}});
}

std::string tuning::printMessage(const JobOfKernel &job) {
  return print("job", json::Object{{"kernel", job.kernel},
                                   {"script", makeText(job.job.script)},
                                   {"best", json::Array(job.job.best)},
                                   {"time_limit", job.job.timeLimit.count()}});
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

namespace espalier {
static bool fromJSON(const json::Value &value, MeasuredSizes &result,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("extent", result.extent) &&
         map.map("weight", result.weight);
}

static bool fromJSON(const json::Value &value, MeasureOptions &result,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  int64_t limit = 0;
  if (!map || !map.map("threads", result.threads) ||
      !map.map("time_limit", limit) ||
      !map.map("memory_limit", result.memoryLimit) ||
      !map.map("constant_bytes", result.constantBytes) ||
      !map.map("sizes", result.sizes))
    return false;
  result.timeLimit = std::chrono::milliseconds(limit);
  return true;
}

static bool fromJSON(const json::Value &value, KernelModule &result,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  std::vector<int> isConstant;
  std::vector<std::map<std::string, int64_t>> sizes;
  if (!map || !map.map("text", result.text) ||
      !map.map("is_constant", isConstant) ||
      !map.map("takes_any_integer", result.takesAnyInteger) ||
      !map.map("magnitude", result.numbers.magnitude) ||
      !map.map("differences", result.numbers.differences) ||
      !map.map("sizes", sizes))
    return false;
  result.isConstant.assign(isConstant.begin(), isConstant.end());
  for (const auto &numbers : sizes) {
    llvm::StringMap<int64_t> &named = result.sizes.emplace_back();
    for (const auto &[name, number] : numbers)
      named[name] = number;
  }
  return true;
}
} // namespace espalier

namespace espalier::tuning {
static bool fromJSON(const json::Value &value, Introduction &result,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("host", result.host) &&
         map.map("machine", result.machine) &&
         map.map("target", result.target) &&
         map.map("settings", result.settings);
}

static bool fromJSON(const json::Value &, Alive &, json::Path) { return true; }

static bool fromJSON(const json::Value &value, Fault &result, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("reason", result.reason);
}

static bool fromJSON(const json::Value &value, Outcome &result,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  unsigned status = 0;
  if (!map || !map.map("status", status) ||
      !map.map("seconds", result.seconds) || !map.map("times", result.times) ||
      !map.map("wall", result.wall) || !map.map("error", result.error) ||
      !map.map("code", result.code))
    return false;
  result.status = static_cast<TrialStatus>(status);
  if (status <= static_cast<unsigned>(TrialStatus::Wrong) &&
      (result.status != TrialStatus::Measured || result.seconds > 0))
    return true;
  path.report("expected a status, and a time above 0 of what was measured");
  return false;
}

static bool fromJSON(const json::Value &value, KernelToMeasure &result,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  return map && map.map("number", result.number) &&
         map.map("module", result.module) && map.map("measure", result.measure);
}

static bool fromJSON(const json::Value &value, JobOfKernel &result,
                     json::Path path) {
  json::ObjectMapper map(value, path);
  int64_t limit = 0;
  if (!map || !map.map("kernel", result.kernel) ||
      !map.map("script", result.job.script) ||
      !map.map("best", result.job.best) || !map.map("time_limit", limit))
    return false;
  result.job.timeLimit = std::chrono::milliseconds(limit);
  return true;
}
} // namespace espalier::tuning

template <typename Message>
static llvm::Expected<RankMessage> parse(const json::Value &value) {
  Message message;
  json::Path::Root root;
  if (!fromJSON(value, message, root))
    return root.getError();
  return RankMessage(std::move(message));
}

llvm::Expected<RankMessage> tuning::parseMessage(llvm::StringRef bytes) {
  llvm::Expected<json::Value> value = json::parse(bytes);
  if (!value)
    return value.takeError();
  const json::Object *object = value->getAsObject();
  using Parse = llvm::Expected<RankMessage>(const json::Value &);
  const std::pair<llvm::StringRef, Parse *> kinds[] = {
      {"introduction", parse<Introduction>},
      {"alive", parse<Alive>},
      {"fault", parse<Fault>},
      {"outcome", parse<Outcome>},
      {"kernel", parse<KernelToMeasure>},
      {"job", parse<JobOfKernel>}};
  for (auto [kind, parseKind] : kinds)
    if (const json::Value *content = object ? object->get(kind) : nullptr)
      return parseKind(*content);
  return llvm::createStringError("expects a message of a rank, but got " +
                                 llvm::Twine(bytes.size()) + " other bytes");
}
