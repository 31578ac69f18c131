//===- ExtractIlp.cpp - The best expression -------------------------------===//
//
// An integer program for Cbc: a variable for each node says whether it is
// chosen. One node of the root's class is, and with a node one of each class
// that it needs; the sum of the costs is to be least. A solution with a cycle
// is excluded, and the program solved again: cycles are many, but few of them
// are cheap. What depends on constants costs nothing and is chosen beforehand.
// A node that needs all that another one of its class needs, and costs no less,
// is left out.
//
// Cbc looks at the clock when it pleases, and takes what memory it takes. So it
// runs in a process of its own, which is ended when the time is over.
//
//===----------------------------------------------------------------------===//

#include "Extract.h"
#include "espalier/Support/ChildProcess.h"
#include <chrono>
#include <coin/Cbc_C_Interface.h>

using namespace mlir;
using namespace espalier::substitution;

/// Solutions with cycles, after which the search for a better one is given up.
static constexpr unsigned kMaxRounds = 50;
/// Bytes that Cbc may take.
static constexpr uint64_t kMaxBytes = uint64_t(4) << 30;
/// The part of the time after which Cbc is to say what it has found.
static constexpr double kOwnTime = 0.8;

namespace {
using Clock = std::chrono::steady_clock;

class IlpExtractor {
public:
  IlpExtractor(const Extraction &problem, const Choice &start,
               double maxSeconds)
      : problem(problem), graph(problem.graph), best(start),
        bestCost(problem.getCost(start)),
        end(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double>(maxSeconds))) {}

  Choice run(bool &isOptimal) {
    isOptimal = false;
    collect();
    for (unsigned round = 0; round < kMaxRounds; ++round) {
      double seconds =
          std::chrono::duration<double>(end - Clock::now()).count();
      if (seconds <= 0)
        break;
      std::optional<Solution> solution = solveInTime(seconds);
      if (!solution)
        break;
      Choice choice = getChoice(solution->chosen);
      if (excludeCycles(choice)) {
        if (!solution->isProved)
          break;
        continue;
      }
      double cost = problem.getCost(choice);
      if (cost < bestCost) {
        best = std::move(choice);
        bestCost = cost;
      }
      isOptimal = solution->isProved;
      break;
    }
    return best;
  }

private:
  struct Solution {
    bool isProved = false;    ///< Whether none is better.
    std::vector<bool> chosen; ///< By column.
  };

  /// Finds the classes that could be needed, and numbers their nodes.
  void collect() {
    columns.assign(graph.getNumNodes(), kNone);
    std::vector<bool> isKnown(graph.getNumClassIds());
    classes.push_back(graph.find(problem.root));
    isKnown[classes.front()] = true;
    for (unsigned next = 0; next < classes.size(); ++next)
      for (ENodeId id : getUseful(classes[next])) {
        columns[id] = nodes.size();
        nodes.push_back(id);
        for (ClassId operand : getNeeds(id))
          if (!isKnown[operand]) {
            isKnown[operand] = true;
            classes.push_back(operand);
          }
      }
  }

  /// The classes that a node needs and that are chosen for.
  SmallVector<ClassId, 4> getNeeds(ENodeId id) const {
    SmallVector<ClassId, 4> needs;
    for (ClassId operand : graph.getNode(id).operands) {
      operand = graph.find(operand);
      if (!graph[operand].isConstant && !llvm::is_contained(needs, operand))
        needs.push_back(operand);
    }
    return needs;
  }

  /// The nodes of a class that may be part of the best choice.
  SmallVector<ENodeId> getUseful(ClassId id) const {
    struct Candidate {
      ENodeId node;
      double cost;
      SmallVector<ClassId, 4> needs;
    };
    std::vector<Candidate> kept;
    auto isDominated = [](const Candidate &self, const Candidate &other) {
      return other.cost <= self.cost &&
             llvm::all_of(other.needs, [&](ClassId need) {
               return llvm::is_contained(self.needs, need);
             });
    };
    for (ENodeId node : graph[id].nodes) {
      Candidate self{node, problem.costs.get(node), getNeeds(node)};
      if (llvm::is_contained(self.needs, id) ||
          llvm::any_of(kept, [&](const Candidate &other) {
            return isDominated(self, other);
          }))
        continue;
      llvm::erase_if(kept, [&](const Candidate &other) {
        return isDominated(other, self);
      });
      kept.push_back(std::move(self));
    }
    SmallVector<ENodeId> useful;
    for (const Candidate &candidate : kept)
      useful.push_back(candidate.node);
    return useful;
  }

  /// Returns what was found until time or memory was over.
  std::optional<Solution> solveInTime(double seconds) {
    // A letter for each column, after one for the proof.
    auto result = espalier::runInChild(
        [&] { return solve(kOwnTime * seconds); },
        std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000)),
        kMaxBytes);
    if (!result) {
      llvm::consumeError(result.takeError());
      return std::nullopt;
    }
    StringRef text = (*result)->getBuffer();
    if (text.size() != nodes.size() + 1)
      return std::nullopt;
    Solution solution;
    solution.isProved = text.front() == '1';
    for (char letter : text.drop_front())
      solution.chosen.push_back(letter == '1');
    return solution;
  }

  std::string solve(double seconds) const {
    Cbc_Model *model = Cbc_newModel();
    Cbc_setLogLevel(model, 0);
    Cbc_setParameter(model, "slogLevel", "0");
    for (ENodeId id : nodes)
      Cbc_addCol(model, "", 0, 1, problem.costs.get(id) * kScale,
                 /*isInteger=*/1, 0, nullptr, nullptr);
    addRows(model);
    std::vector<int> started;
    for (ENodeId id : problem.restrict(best))
      if (id != kNone && columns[id] != kNone)
        started.push_back(columns[id]);
    std::vector<double> ones(started.size(), 1);
    Cbc_setMIPStartI(model, started.size(), started.data(), ones.data());
    Cbc_setParameter(model, "timeMode", "elapsed");
    Cbc_setMaximumSeconds(model, seconds);
    Cbc_solve(model);
    bool isProved = Cbc_isProvenOptimal(model);
    std::string text;
    if (Cbc_numberSavedSolutions(model) > 0 || isProved)
      if (const double *values = Cbc_getColSolution(model)) {
        text += isProved ? '1' : '0';
        for (double value : ArrayRef(values, nodes.size()))
          text += value > 0.5 ? '1' : '0';
      }
    Cbc_deleteModel(model);
    return text;
  }

  void addRows(Cbc_Model *model) const {
    auto addRow = [&](ArrayRef<int> indices, ArrayRef<double> factors,
                      char sense, double bound) {
      Cbc_addRow(model, "", indices.size(), indices.data(), factors.data(),
                 sense, bound);
    };
    std::vector<int> indices;
    std::vector<double> factors;
    auto appendClass = [&](ClassId id) {
      for (ENodeId node : graph[id].nodes)
        if (columns[node] != kNone)
          indices.push_back(columns[node]);
      factors.resize(indices.size(), 1);
    };
    appendClass(graph.find(problem.root));
    addRow(indices, factors, 'G', 1);
    for (ENodeId id : nodes)
      for (ClassId operand : getNeeds(id)) {
        indices = {static_cast<int>(columns[id])};
        factors = {-1};
        appendClass(operand);
        addRow(indices, factors, 'G', 0);
      }
    for (const std::vector<int> &cycle : cycles) {
      factors.assign(cycle.size(), 1);
      addRow(cycle, factors, 'L', cycle.size() - 1.0);
    }
  }

  Choice getChoice(const std::vector<bool> &chosen) const {
    Choice choice = best;
    for (ClassId id : classes) {
      ENodeId cheapest = kNone;
      for (ENodeId node : graph[id].nodes)
        if (columns[node] != kNone && chosen[columns[node]] &&
            (cheapest == kNone ||
             problem.costs.get(node) < problem.costs.get(cheapest)))
          cheapest = node;
      choice[id] = cheapest;
    }
    return choice;
  }

  /// Forbids the cycles of a choice; returns whether there were any.
  bool excludeCycles(const Choice &choice) {
    enum class State : uint8_t { New, Open, Done };
    std::vector<State> state(graph.getNumClassIds(), State::New);
    unsigned numCycles = cycles.size();
    struct Entry {
      ClassId id;
      SmallVector<ClassId, 4> needs; ///< That are still to be visited.
    };
    std::vector<Entry> path;
    auto open = [&](ClassId id) {
      state[id] = State::Open;
      path.push_back({id, getNeeds(choice[id])});
    };
    open(graph.find(problem.root));
    while (!path.empty()) {
      if (path.back().needs.empty()) {
        state[path.back().id] = State::Done;
        path.pop_back();
        continue;
      }
      ClassId next = path.back().needs.pop_back_val();
      if (choice[next] == kNone || state[next] == State::Done)
        continue;
      if (state[next] == State::New) {
        open(next);
        continue;
      }
      auto first = llvm::find_if(
          path, [&](const Entry &entry) { return entry.id == next; });
      std::vector<int> cycle;
      for (const Entry &entry : llvm::make_range(first, path.end()))
        cycle.push_back(columns[choice[entry.id]]);
      cycles.push_back(std::move(cycle));
    }
    return cycles.size() != numCycles;
  }

  /// Cbc's tolerances are absolute.
  static constexpr double kScale = 1e6;

  const Extraction &problem;
  const EGraph &graph;
  Choice best;
  double bestCost;
  Clock::time_point end;
  std::vector<ClassId> classes;
  std::vector<ENodeId> nodes;
  std::vector<unsigned> columns; ///< The number of each node, or `kNone`.
  std::vector<std::vector<int>> cycles;
};
} // namespace

Choice espalier::substitution::extractOptimally(const Extraction &problem,
                                                const Choice &start,
                                                double maxSeconds,
                                                bool &isOptimal) {
  return IlpExtractor(problem, start, maxSeconds).run(isOptimal);
}
