//===- RankServer.cpp - A rank that measures for rank 0 -------------------===//

#include "../Search.h"
#include "KernelBench.h"
#include "RankMessages.h"
#include "espalier/Support/ChildProcess.h"
#include "espalier/Tuning/Messenger.h"
#include "mlir/Parser/Parser.h"
#include <deque>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;
using Clock = std::chrono::steady_clock;

/// How often a rank says that it is alive, and looks for what it is told.
static constexpr std::chrono::milliseconds kSigns{250}, kPoll{20};

namespace {
class RankServer {
public:
  RankServer(ModuleOp module, Messenger &messenger, const TuneOptions &given);

  void run();

private:
  struct Kernel {
    OwningOpRef<ModuleOp> payload;
    MeasureOptions measure;
    std::unique_ptr<KernelBench> bench;
  };

  bool mustStop();
  void read(std::chrono::milliseconds limit);
  /// Answers rank 0.
  template <typename Message>
  void tell(const Message &message) {
    messenger.send(0, printMessage(message));
    lastSign = Clock::now();
  }
  void tell(llvm::Error error) {
    tell(Fault{llvm::toString(std::move(error))});
  }

  llvm::Error answer(StringRef bytes);
  llvm::Error measure(const Kernel &kernel, const Job &job);
  llvm::Error addKernel(const KernelToMeasure &given);

  SearchContext search;
  Messenger &messenger;
  TuneOptions options;
  std::function<bool()> isCancelled;
  std::map<unsigned, Kernel> kernels;
  std::deque<std::string> inbox;
  bool isOver = false;
  Clock::time_point lastSign;
};
} // namespace

RankServer::RankServer(ModuleOp module, Messenger &messenger,
                       const TuneOptions &given)
    : search(module), messenger(messenger), options(given),
      isCancelled(given.measure.codegen.isCancelled) {
  // It is asked all the time while a child process measures.
  options.measure.codegen.isCancelled = [this] { return mustStop(); };
}

void RankServer::read(std::chrono::milliseconds limit) {
  std::optional<Messenger::Message> message = messenger.receive(limit);
  if (!message)
    return;
  if (message->bytes.empty())
    isOver = true;
  else
    inbox.push_back(std::move(message->bytes));
}

bool RankServer::mustStop() {
  if (Clock::now() - lastSign >= kSigns) {
    tell(Alive());
    read(std::chrono::milliseconds(0));
  }
  return isOver || (isCancelled && isCancelled());
}

/// Fails where no process is to be had.
llvm::Error RankServer::measure(const Kernel &kernel, const Job &job) {
  llvm::Expected<Outcome> outcome = kernel.bench->run(job);
  if (!outcome)
    return outcome.takeError();
  tell(*outcome);
  return llvm::Error::success();
}

llvm::Error RankServer::addKernel(const KernelToMeasure &given) {
  Kernel &kernel = kernels[given.number];
  kernel.payload = parseSourceString<ModuleOp>(given.module.text, search.get());
  if (!kernel.payload)
    return llvm::createStringError("expects a kernel that can be parsed");
  kernel.measure = given.measure;
  kernel.measure.codegen = options.measure.codegen;
  kernel.bench = std::make_unique<KernelBench>(*kernel.payload, given.module,
                                               kernel.measure, options);
  return measure(kernel, {/*script=*/"", /*best=*/{}, given.measure.timeLimit});
}

llvm::Error RankServer::answer(StringRef bytes) {
  llvm::Expected<RankMessage> message = parseMessage(bytes);
  if (!message)
    return message.takeError();
  if (auto *kernel = std::get_if<KernelToMeasure>(&*message))
    return addKernel(*kernel);
  auto *job = std::get_if<JobOfKernel>(&*message);
  auto known = kernels.find(job ? job->kernel : 0);
  if (!job || known == kernels.end())
    return llvm::createStringError(
        "expects a kernel or a job of one, but got something else");
  return measure(known->second, job->job);
}

void RankServer::run() {
  auto introduction = Introduction::make(search.get(), options.measure.codegen);
  bool measures = bool(introduction);
  if (measures)
    tell(*introduction);
  else
    tell(introduction.takeError());
  while (!mustStop()) {
    if (inbox.empty()) {
      read(kPoll);
      continue;
    }
    std::string bytes = std::move(inbox.front());
    inbox.pop_front();
    if (!measures)
      continue;
    if (llvm::Error error = answer(bytes)) {
      tell(std::move(error));
      measures = false;
    }
  }
}

void tuning::measureForRanks(ModuleOp module, Messenger &messenger,
                             const TuneOptions &options) {
  RankServer(module, messenger, options).run();
}
