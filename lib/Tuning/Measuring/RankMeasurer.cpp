//===- RankMeasurer.cpp - Candidates that other ranks measure -------------===//
//
// Each rank measures one candidate at a time, on a machine like this one. How
// fast that is at the moment, its default schedules tell: of each kernel it
// measures that first, and all its times are multiplied by what the same took
// the first rank that measured it, over what it took here.
//
// Nobody waits for a candidate with a clock, since limits are kept where it is
// measured. What a rank is given comes back, or the rank is lost: it says
// nothing any more, though it should several times a second.
//
//===----------------------------------------------------------------------===//

#include "RankMessages.h"
#include "espalier/Tuning/Messenger.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>

using namespace espalier;
using namespace espalier::tuning;
using Clock = std::chrono::steady_clock;

/// How many candidates are chosen at once, as long as there are no more ranks.
static constexpr unsigned kBatch = 8;
/// How many ranks may be lost with a turn, or fail to begin it.
static constexpr unsigned kMaxLost = 2;
/// How long to wait for a message before others are looked at.
static constexpr std::chrono::milliseconds kPoll{20}, kNoWait{0};

namespace {
class RankMeasurer : public Measurer {
public:
  RankMeasurer(const TuneOptions &options, Introduction own)
      : messenger(*options.messenger), options(options), own(std::move(own)),
        ranks(messenger.getSize()) {}

  unsigned addKernel(mlir::ModuleOp, const KernelModule &kernel,
                     const MeasureOptions &measure) override {
    kernels.push_back({kernel, measure});
    return kernels.size() - 1;
  }
  unsigned getBatch() const override {
    return std::max<unsigned>(kBatch, ranks.size() - 1);
  }
  llvm::Error measure(llvm::ArrayRef<Turn> turns, Done done) override;
  std::vector<std::string> getFaults() const override;

private:
  enum class State { Awaited, Idle, Learning, Measuring, Lost };
  struct Rank {
    State state = State::Awaited;
    std::string host, fault;
    Clock::time_point lastSign;
    /// By kernel, by what its times are multiplied.
    llvm::DenseMap<unsigned, double> scales;
    size_t turn = 0; ///< The one that it has, if it learns or measures.

    bool isBusy() const {
      return state == State::Learning || state == State::Measuring;
    }
  };
  struct Kernel {
    KernelModule module;
    MeasureOptions measure;
    double original = 0; ///< Of the first rank that measured it; 0 for none.
  };
  /// Turns that are measured together.
  struct Round {
    llvm::ArrayRef<Turn> turns;
    Done done;
    std::deque<size_t> open; ///< Those that no rank has.
    std::vector<std::vector<Outcome>> outcomes;
    std::vector<unsigned> numLost;
    size_t numDone = 0;
    Clock::time_point start;
  };

  bool areAllLost() const {
    return llvm::all_of(llvm::drop_begin(ranks), [](const Rank &rank) {
      return rank.state == State::Lost;
    });
  }
  std::string describe(unsigned number) const;
  llvm::Error assign(Round &round);
  void begin(unsigned number, Round &round);
  void sendJob(unsigned number, Round &round);
  llvm::Error take(const Messenger::Message &message, Round &round);
  void introduce(unsigned number, const Introduction &introduction);
  llvm::Error takeOutcome(unsigned number, Outcome outcome, Round &round);
  llvm::Error addOutcome(unsigned number, Outcome outcome, Round &round);
  llvm::Error giveBack(unsigned number, llvm::StringRef reason, Round &round);
  llvm::Error lose(unsigned number, const llvm::Twine &reason, Round &round);
  llvm::Error findSilent(Round &round);

  Messenger &messenger;
  const TuneOptions &options;
  Introduction own;
  std::vector<Rank> ranks; ///< The first one is this.
  std::vector<Kernel> kernels;
};
} // namespace

std::string RankMeasurer::describe(unsigned number) const {
  const Rank &rank = ranks[number];
  std::string name = "rank " + std::to_string(number);
  return rank.host.empty() ? name : name + " on '" + rank.host + "'";
}

std::vector<std::string> RankMeasurer::getFaults() const {
  std::vector<std::string> faults;
  for (size_t number = 1; number < ranks.size(); ++number) {
    const Rank &rank = ranks[number];
    if (rank.state == State::Lost)
      faults.push_back(describe(number) + ": " + rank.fault);
    else if (rank.state == State::Awaited)
      faults.push_back(describe(number) + ": expects to hear of it, but it "
                                          "said nothing until the end");
  }
  return faults;
}

/// Gives turns to ranks that have none: one of a kernel that the rank knows,
/// else the first.
llvm::Error RankMeasurer::assign(Round &round) {
  for (size_t number = 1; number < ranks.size() && !round.open.empty();
       ++number) {
    Rank &rank = ranks[number];
    if (rank.state != State::Idle)
      continue;
    auto next = llvm::find_if(round.open, [&](size_t turn) {
      return rank.scales.count(round.turns[turn].kernel) != 0;
    });
    if (next == round.open.end())
      next = round.open.begin();
    rank.turn = *next;
    round.open.erase(next);
    begin(number, round);
  }
  if (!areAllLost())
    return llvm::Error::success();
  return llvm::createStringError(
      "expects a rank that measures, but there is none any more: " +
      llvm::join(getFaults(), "; "));
}

/// Sends the first job of a turn, or the kernel if the rank does not know it.
void RankMeasurer::begin(unsigned number, Round &round) {
  Rank &rank = ranks[number];
  unsigned kernel = round.turns[rank.turn].kernel;
  if (rank.scales.count(kernel))
    return sendJob(number, round);
  rank.state = State::Learning;
  messenger.send(number,
                 printMessage(KernelToMeasure{kernel, kernels[kernel].module,
                                              kernels[kernel].measure}));
}

/// Sends the next job of its turn.
void RankMeasurer::sendJob(unsigned number, Round &round) {
  Rank &rank = ranks[number];
  rank.state = State::Measuring;
  const Turn &turn = round.turns[rank.turn];
  JobOfKernel job = {turn.kernel, turn.jobs[round.outcomes[rank.turn].size()]};
  for (double &best : job.job.best)
    best /= rank.scales.lookup(turn.kernel);
  messenger.send(number, printMessage(job));
}

void RankMeasurer::introduce(unsigned number,
                             const Introduction &introduction) {
  Rank &rank = ranks[number];
  rank.host = introduction.host;
  rank.state = State::Lost;
  auto refuse = [&](llvm::StringRef what, llvm::StringRef expected,
                    llvm::StringRef got) {
    rank.fault =
        ("expects the " + what + " of rank 0, " + expected + ", but got " + got)
            .str();
  };
  if (introduction.machine != own.machine)
    refuse("machine", own.machine, introduction.machine);
  else if (introduction.target != own.target)
    refuse("target", own.target, introduction.target);
  else if (introduction.settings != own.settings)
    rank.fault = "expects the build, the options and the features of the CPU "
                 "of rank 0, but got others";
  else
    rank.state = State::Idle;
}

llvm::Error RankMeasurer::take(const Messenger::Message &message,
                               Round &round) {
  unsigned number = message.rank;
  if (number == 0 || number >= ranks.size())
    return llvm::Error::success();
  Rank &rank = ranks[number];
  // Its turn was given to another.
  if (rank.state == State::Lost)
    return llvm::Error::success();
  rank.lastSign = Clock::now();
  llvm::Expected<RankMessage> parsed = parseMessage(message.bytes);
  if (!parsed)
    return lose(number, llvm::toString(parsed.takeError()), round);
  if (std::get_if<Alive>(&*parsed))
    return llvm::Error::success();
  if (auto *fault = std::get_if<Fault>(&*parsed))
    return lose(number, fault->reason, round);
  auto *introduction = std::get_if<Introduction>(&*parsed);
  if (introduction && rank.state == State::Awaited) {
    introduce(number, *introduction);
    return llvm::Error::success();
  }
  auto *outcome = std::get_if<Outcome>(&*parsed);
  if (outcome && rank.isBusy())
    return takeOutcome(number, std::move(*outcome), round);
  return lose(number, "expects an answer, but got another message", round);
}

llvm::Error RankMeasurer::takeOutcome(unsigned number, Outcome outcome,
                                      Round &round) {
  Rank &rank = ranks[number];
  const Turn &turn = round.turns[rank.turn];
  Kernel &kernel = kernels[turn.kernel];
  bool isMeasured = outcome.status == TrialStatus::Measured;
  if (rank.state == State::Measuring) {
    double scale = rank.scales.lookup(turn.kernel);
    // One of 1 leaves what is recorded as it was printed.
    if (isMeasured && scale != 1)
      outcome.scale(scale);
    return addOutcome(number, std::move(outcome), round);
  }
  bool isFirst = kernel.original == 0;
  if (!isMeasured && !isFirst) {
    rank.state = State::Idle;
    return giveBack(number, "the default schedule: " + outcome.error, round);
  }
  if (isMeasured && isFirst)
    kernel.original = outcome.seconds;
  if (isMeasured)
    rank.scales[turn.kernel] = kernel.original / outcome.seconds;
  // What nobody has measured before was asked for.
  if (isFirst)
    return addOutcome(number, std::move(outcome), round);
  sendJob(number, round);
  return llvm::Error::success();
}

/// Adds the outcome of a job, after which the next one follows.
llvm::Error RankMeasurer::addOutcome(unsigned number, Outcome outcome,
                                     Round &round) {
  Rank &rank = ranks[number];
  std::vector<Outcome> &outcomes = round.outcomes[rank.turn];
  outcomes.push_back(std::move(outcome));
  if (outcomes.size() < round.turns[rank.turn].jobs.size()) {
    sendJob(number, round);
    return llvm::Error::success();
  }
  rank.state = State::Idle;
  ++round.numDone;
  return round.done(rank.turn, std::move(outcomes));
}

/// Takes the turn of a rank from it; another one begins it anew, unless too
/// many have.
llvm::Error RankMeasurer::giveBack(unsigned number, llvm::StringRef reason,
                                   Round &round) {
  size_t turn = ranks[number].turn;
  round.outcomes[turn].clear();
  if (++round.numLost[turn] < kMaxLost) {
    round.open.push_front(turn);
    return llvm::Error::success();
  }
  Outcome failed;
  failed.error =
      ("expects a rank that measures it, but " + llvm::Twine(kMaxLost) +
       " did not: the last, " + describe(number) + ": " + reason)
          .str();
  ++round.numDone;
  std::vector<Outcome> outcomes;
  for (size_t job = 0; job < round.turns[turn].jobs.size(); ++job) {
    outcomes.emplace_back();
    outcomes.back().error = failed.error;
  }
  return round.done(turn, std::move(outcomes));
}

llvm::Error RankMeasurer::lose(unsigned number, const llvm::Twine &reason,
                               Round &round) {
  Rank &rank = ranks[number];
  bool wasBusy = rank.isBusy();
  rank.state = State::Lost;
  rank.fault = reason.str();
  return wasBusy ? giveBack(number, rank.fault, round) : llvm::Error::success();
}

/// Loses the ranks that said nothing while this one listened.
llvm::Error RankMeasurer::findSilent(Round &round) {
  Clock::time_point now = Clock::now();
  for (size_t number = 1; number < ranks.size(); ++number) {
    Rank &rank = ranks[number];
    if ((rank.state != State::Idle && !rank.isBusy()) ||
        now - std::max(rank.lastSign, round.start) < options.silence)
      continue;
    if (llvm::Error error =
            lose(number,
                 "expects a sign of life within " +
                     llvm::Twine(options.silence.count()) + " ms, but got none",
                 round))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error RankMeasurer::measure(llvm::ArrayRef<Turn> turns, Done done) {
  Round round = {turns, done, {}, {}, {}, 0, Clock::now()};
  round.outcomes.resize(turns.size());
  round.numLost.resize(turns.size());
  for (size_t turn = 0; turn < turns.size(); ++turn)
    round.open.push_back(turn);
  while (round.numDone < turns.size() && !options.measure.codegen.mustStop()) {
    if (llvm::Error error = assign(round))
      return error;
    // What is done with an outcome takes time, too: a rank is silent if
    // nothing of it waits here.
    std::optional<Messenger::Message> message = messenger.receive(kPoll);
    for (; message; message = messenger.receive(kNoWait))
      if (llvm::Error error = take(*message, round))
        return error;
    if (llvm::Error error = findSilent(round))
      return error;
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<Measurer>>
tuning::makeRankMeasurer(const TuneOptions &options,
                         mlir::MLIRContext *context) {
  if (options.messenger->getSize() < 2)
    return llvm::createStringError("expects ranks that measure beside rank 0, "
                                   "but there is none");
  auto own = Introduction::make(context, options.measure.codegen);
  if (!own)
    return own.takeError();
  return std::make_unique<RankMeasurer>(options, std::move(*own));
}
