//===- Order.cpp - Is an order legal? By all pairs of points --------------===//

#include "Order.h"
#include "llvm/Support/raw_ostream.h"
#include <map>

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;
using namespace espalier::poly::fuzz;
using polyhedral::Concurrency;
using polyhedral::ScheduleNode;

namespace {
/// What a node of the tree says of a point: a coordinate, or its place in a
/// sequence.
struct Level {
  int64_t value;
  Concurrency concurrency = Concurrency::Sequential;
};

/// A use of an element.
struct Use {
  size_t instance;
  bool isWrite;
  bool isAccumulator;
};
} // namespace

/// The levels of a point from the root down; nothing if it does not run exactly
/// once.
static std::optional<SmallVector<Level, 8>>
getLevels(const ScheduleNode *node, const Instance &instance,
          ArrayRef<int64_t> parameters) {
  SmallVector<Level, 8> levels;
  while (node) {
    const ScheduleNode *next =
        node->children.empty() ? nullptr : node->children.front().get();
    if (node->kind == ScheduleNode::Kind::Band)
      for (const polyhedral::BandMap &map : node->maps)
        if (map.statement == instance.statement)
          for (auto [value, member] :
               llvm::zip_equal(evaluate(map.map, instance.point, parameters),
                               node->members))
            levels.push_back({value, member.concurrency});
    if (node->kind == ScheduleNode::Kind::Sequence) {
      std::optional<size_t> position;
      for (auto [number, filter] : llvm::enumerate(node->children))
        for (polyhedral::FilterSet part : filter->filters) {
          if (part.statement != instance.statement ||
              (part.set && !contains(part.set, instance.point, parameters)))
            continue;
          if (position)
            return std::nullopt;
          position = number;
        }
      if (!position)
        return std::nullopt;
      levels.push_back({int64_t(*position)});
      const ScheduleNode &filter = *node->children[*position];
      next = filter.children.empty() ? nullptr : filter.children.front().get();
    }
    node = next;
  }
  return levels;
}

/// Why two points, the first before the second in program order, must not run
/// as these levels say; null if they may.
static const char *compare(ArrayRef<Level> first, ArrayRef<Level> second,
                           const polyhedral::Statement *reduction,
                           bool isSameStatement) {
  for (auto [here, there] : llvm::zip(first, second)) {
    if (here.value == there.value)
      continue;
    if (here.concurrency == Concurrency::Parallel &&
        !(reduction && reduction->isAtomic))
      return "run in parallel";
    if (reduction &&
        (here.concurrency != Concurrency::Lanes || reduction->joinsLanes))
      return nullptr;
    if (here.concurrency == Concurrency::Lanes)
      return "run in lanes";
    return here.value < there.value ? nullptr : "run in the wrong order";
  }
  return isSameStatement ? nullptr : "run in no order";
}

std::optional<std::string> fuzz::findViolation(const Statements &statements,
                                               const ScheduleNode *tree) {
  const KernelModel &model = statements.getModel();
  std::vector<Instance> instances;
  auto describe = [&](size_t number) {
    std::string text;
    llvm::raw_string_ostream os(text);
    const Instance &instance = instances[number];
    os << "@" << model.program.statements[instance.statement].name << "(";
    llvm::interleaveComma(instance.point, os);
    os << ")";
    return text;
  };
  std::vector<SmallVector<Level, 8>> levels;
  std::map<std::pair<unsigned, uint64_t>, SmallVector<Use>> elements;
  Memory memory(model);
  for (const Instance &instance :
       enumerate(model, statements.getParameters())) {
    if (!statements.runs(instance, memory, /*isStored=*/false))
      continue;
    size_t number = instances.size();
    instances.push_back(instance);
    auto own = getLevels(tree, instance, statements.getParameters());
    if (!own)
      return describe(number) + " does not run once";
    levels.push_back(*own);
    const polyhedral::Statement &info =
        model.program.statements[instance.statement];
    SmallVector<unsigned> accumulators =
        statements.getAccumulators(instance.statement);
    for (auto [access, element] :
         llvm::enumerate(statements.getElements(instance, memory))) {
      size_t numReads = info.reads.size();
      elements[{element.first, encode(element.second)}].push_back(
          {number, access >= numReads,
           llvm::is_contained(accumulators, access) ||
               (access >= numReads && !accumulators.empty())});
    }
    Point reads = statements.read(instance, memory, /*isStored=*/false);
    statements.finish(instance, reads, memory, /*isStored=*/false);
  }
  for (const auto &[element, uses] : elements)
    for (auto [position, second] : llvm::enumerate(uses))
      for (const Use &first : ArrayRef(uses).take_front(position)) {
        if (first.instance == second.instance ||
            (!first.isWrite && !second.isWrite))
          continue;
        unsigned source = instances[first.instance].statement;
        unsigned sink = instances[second.instance].statement;
        bool isReduction =
            source == sink && first.isAccumulator && second.isAccumulator;
        if (const char *fault = compare(
                levels[first.instance], levels[second.instance],
                isReduction ? &model.program.statements[source] : nullptr,
                source == sink))
          return describe(first.instance) + " and " +
                 describe(second.instance) + " " + fault;
      }
  return std::nullopt;
}
