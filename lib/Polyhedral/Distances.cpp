//===- Distances.cpp - Dependences along the loops of a band --------------===//

#include "Isl.h"
#include "Paths.h"
#include "espalier/Polyhedral/Dependence.h"

using namespace mlir;
using namespace espalier::polyhedral;

/// Where a path meets `band`: the levels above it, and its own; nothing if it
/// does not.
static std::optional<std::pair<llvm::ArrayRef<Level>, llvm::ArrayRef<Level>>>
splitAt(const Path &path, const ScheduleNode *band) {
  llvm::ArrayRef<Level> levels = path.levels;
  auto isOwn = [&](const Level &level) { return level.node == band; };
  size_t first = llvm::find_if(levels, isOwn) - levels.begin();
  if (first == levels.size())
    return std::nullopt;
  return std::make_pair(levels.take_front(first),
                        levels.slice(first, band->members.size()));
}

/// From the points of a statement to the values of the loops among `levels`.
static Map getValues(const Context &context, const Program &program,
                     const Path &path, llvm::ArrayRef<Level> levels) {
  unsigned numDims = program.statements[path.statement].numDims;
  llvm::SmallVector<AffineExpr> loops;
  for (const Level &level : levels)
    if (level.isBand())
      loops.push_back(level.expr);
  Map values = Map::get(
      context, program.numParams,
      AffineMap::get(numDims, program.numParams, loops, program.context));
  isl::Space space = isl::makeSpace(context.get(), program.numParams, numDims);
  for (IntegerSet filter : path.filters)
    values = values.intersectDomain(Set(isl::toSet(space, filter).take()));
  return values;
}

/// Whether both paths take the same way through the sequences in `levels`.
static bool isSameWay(llvm::ArrayRef<Level> here, llvm::ArrayRef<Level> there) {
  return llvm::all_of(llvm::zip_equal(here, there), [](auto pair) {
    auto &[first, second] = pair;
    return first.node == second.node &&
           (first.isBand() || first.position == second.position);
  });
}

llvm::Expected<std::vector<LoopDistances>>
espalier::polyhedral::computeDistances(const Context &context,
                                       const Program &program,
                                       llvm::ArrayRef<Dependence> dependences,
                                       const ScheduleNode *root,
                                       const ScheduleNode *band) {
  std::vector<LoopDistances> distances;
  std::vector<Path> paths = getPaths(program, root);
  for (const Dependence &dependence : dependences)
    for (const Path &source : paths)
      for (const Path &sink : paths) {
        if (source.statement != dependence.source ||
            sink.statement != dependence.sink)
          continue;
        auto here = splitAt(source, band), there = splitAt(sink, band);
        if (!here || !there || !isSameWay(here->first, there->first))
          continue;
        auto getPairs = [&](llvm::ArrayRef<Level> from,
                            llvm::ArrayRef<Level> to) {
          return std::make_pair(getValues(context, program, source, from),
                                getValues(context, program, sink, to));
        };
        auto [outerSource, outerSink] = getPairs(here->first, there->first);
        auto [ownSource, ownSink] = getPairs(here->second, there->second);
        Set differences = ownSource.inverse()
                              .compose(dependence.relation.intersect(
                                  outerSource.compose(outerSink.inverse())))
                              .compose(ownSink)
                              .deltas();
        std::optional<bool> isEmpty = differences.isEmpty();
        if (!isEmpty)
          return isl::makeError(context, "the distances cannot be computed");
        if (!*isEmpty)
          distances.push_back({&dependence, differences});
      }
  return distances;
}
