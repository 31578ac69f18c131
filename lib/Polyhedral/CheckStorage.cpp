//===- CheckStorage.cpp - May elements share a place? ---------------------===//

#include "CheckStorage.h"
#include "PairSet.h"

using namespace mlir;
using namespace espalier::polyhedral;

Legality espalier::polyhedral::makeUnknown(const Context &context) {
  Legality legality;
  legality.verdict = Legality::Verdict::Unknown;
  legality.reason = context.getError();
  if (legality.reason.empty())
    legality.reason = "a set or a map is not affine";
  return legality;
}

namespace {
/// One way in which the schedule reaches elements of the array.
struct Use {
  const Path *path;
  AffineMap map;

  bool operator==(const Use &other) const {
    return path == other.path && map == other.map;
  }
};

/// Checks the storage of one array.
class StorageChecker {
public:
  StorageChecker(const Context &context, const Program &program,
                 llvm::ArrayRef<Path> paths, const Storage &storage);
  Legality check();

private:
  /// Calls `visit` with the pairs of points of each two uses, until false.
  bool forEachPair(
      llvm::function_ref<bool(const Use &, const Use &, PairSet)> visit) const;
  /// Whether the uses of each element agree in a level. The level is common to
  /// all paths.
  std::optional<bool> agreeIn(size_t level) const;
  /// Levels that all paths have in common.
  size_t getNumCommonLevels() const;
  Legality refuse(const Twine &what) const;

  const Context &context;
  const Program &program;
  const Storage &storage;
  std::vector<Use> uses;
};
} // namespace

StorageChecker::StorageChecker(const Context &context, const Program &program,
                               llvm::ArrayRef<Path> paths,
                               const Storage &storage)
    : context(context), program(program), storage(storage) {
  for (const Path &path : paths) {
    const Statement &statement = program.statements[path.statement];
    for (const Access &access :
         llvm::concat<const Access>(statement.reads, statement.writes)) {
      Use use{&path, access.map};
      if (access.array == storage.array && !llvm::is_contained(uses, use))
        uses.push_back(use);
    }
  }
}

bool StorageChecker::forEachPair(
    llvm::function_ref<bool(const Use &, const Use &, PairSet)> visit) const {
  for (const Use &first : uses)
    for (const Use &second : uses)
      for (IntegerSet source : program.statements[first.path->statement].domain)
        for (IntegerSet sink :
             program.statements[second.path->statement].domain) {
          PairSet points(context, program, *first.path, *second.path);
          points.addDomains(source, sink);
          if (!visit(first, second, std::move(points)))
            return false;
        }
  return true;
}

size_t StorageChecker::getNumCommonLevels() const {
  size_t number = 0;
  while (true) {
    for (const Use &use : uses) {
      llvm::ArrayRef<Level> own = use.path->levels;
      llvm::ArrayRef<Level> other = uses.front().path->levels;
      if (own.size() <= number || own[number].node != other[number].node ||
          own[number].position != other[number].position)
        return number;
    }
    ++number;
  }
}

std::optional<bool> StorageChecker::agreeIn(size_t level) const {
  bool isKnown = true;
  bool agree =
      forEachPair([&](const Use &first, const Use &second, PairSet points) {
        const Level &here = first.path->levels[level];
        const Level &there = second.path->levels[level];
        if (!here.isBand())
          return true;
        points.addEqual(first.map, second.map);
        AffineExpr delta =
            points.simplify(points.getDifference(here.expr, there.expr));
        if (auto constant = dyn_cast<AffineConstantExpr>(delta);
            constant && constant.getValue() == 0)
          return true;
        if (!points.isAffine(delta))
          return isKnown = false;
        // The other sign belongs to the pair in the other order.
        std::optional<bool> isEmpty = points.with(delta - 1, false).isEmpty();
        isKnown = isEmpty.has_value();
        return isEmpty.value_or(false);
      });
  return isKnown ? std::optional(agree) : std::nullopt;
}

Legality StorageChecker::refuse(const Twine &what) const {
  Legality legality;
  legality.verdict = Legality::Verdict::Illegal;
  legality.reason =
      ("the storage of " + storage.name + " to suit the schedule, but " + what)
          .str();
  return legality;
}

Legality StorageChecker::check() {
  if (uses.empty())
    return {};
  size_t numLevels = 0;
  for (size_t numCommon = getNumCommonLevels(); numLevels < numCommon;
       ++numLevels) {
    std::optional<bool> agree = agreeIn(numLevels);
    if (!agree)
      return makeUnknown(context);
    if (!*agree)
      break;
  }
  for (const Use &use : uses)
    for (const Level &level : llvm::drop_begin(use.path->levels, numLevels))
      if (level.isParallel())
        return refuse("iterations of a parallel loop share elements, in @" +
                      program.statements[use.path->statement].name);

  Legality legality;
  forEachPair([&](const Use &first, const Use &second, PairSet points) {
    for (size_t level = 0; level < numLevels; ++level) {
      const Level &here = first.path->levels[level];
      if (here.isBand())
        points.add(
            points.getDifference(here.expr, second.path->levels[level].expr),
            true);
    }
    points.addEqual(storage.map.compose(first.map),
                    storage.map.compose(second.map));
    for (auto [here, there] :
         llvm::zip_equal(first.map.getResults(), second.map.getResults())) {
      AffineExpr delta = points.simplify(points.getDifference(here, there));
      if (auto constant = dyn_cast<AffineConstantExpr>(delta);
          constant && constant.getValue() == 0)
        continue;
      std::optional<bool> isEmpty =
          points.isAffine(delta) ? points.with(delta - 1, false).isEmpty()
                                 : std::nullopt;
      if (!isEmpty)
        legality = makeUnknown(context);
      else if (!*isEmpty)
        legality = refuse("elements of one place are alive at the same time, "
                          "in @" +
                          program.statements[first.path->statement].name);
      if (!isEmpty.value_or(false))
        return false;
    }
    return true;
  });
  return legality;
}

Legality espalier::polyhedral::checkStorage(const Context &context,
                                            const Program &program,
                                            llvm::ArrayRef<Path> paths,
                                            const Storage &storage) {
  return StorageChecker(context, program, paths, storage).check();
}
