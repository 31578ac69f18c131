//===- CheckStorage.cpp - May elements share a place? ---------------------===//

#include "CheckStorage.h"
#include "PairSet.h"
#include <map>

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
using Uses = std::vector<Use>;

/// Checks the storage of one array: from the root down, as far as the uses of
/// each element stay together. There, each value of the levels above is a tile.
class StorageChecker {
public:
  StorageChecker(const Context &context, const Program &program,
                 const Storage &storage)
      : context(context), program(program), storage(storage) {}

  /// Checks uses that have the levels above `depth` in common. False as soon as
  /// the answer is known.
  bool descend(const Uses &uses, size_t depth);
  Legality legality;

private:
  using PairVisitor =
      llvm::function_ref<bool(const Use &, const Use &, PairSet &)>;
  /// Calls `visit` with the pairs of points of each two uses, until false.
  bool forEachPair(const Uses &uses, PairVisitor visit) const;
  /// Whether the uses of each element agree in a level of one node.
  std::optional<bool> agreeIn(const Uses &uses, size_t depth) const;
  bool checkTiles(const Uses &uses, size_t numLevels);
  /// The same, if the levels are functions of the element alone; false if that
  /// does not tell.
  bool haveDistinctPlaces(const Uses &uses, size_t numLevels) const;
  /// That function, for one level, if it is the same for all uses.
  AffineExpr getElementLevel(const Uses &uses, size_t depth) const;
  bool refuse(const Twine &what, const Use &use);
  bool doubt() {
    legality = makeUnknown(context);
    return false;
  }

  const Context &context;
  const Program &program;
  const Storage &storage;
};
} // namespace

static bool isZero(AffineExpr expr) {
  auto constant = dyn_cast<AffineConstantExpr>(expr);
  return constant && constant.getValue() == 0;
}

bool StorageChecker::forEachPair(const Uses &uses, PairVisitor visit) const {
  for (const Use &first : uses)
    for (const Use &second : uses)
      for (IntegerSet source : program.statements[first.path->statement].domain)
        for (IntegerSet sink :
             program.statements[second.path->statement].domain) {
          PairSet points(context, program, *first.path, *second.path);
          points.addDomains(source, sink);
          if (!visit(first, second, points))
            return false;
        }
  return true;
}

/// Rewrites an expression over a statement's dimensions as one over the indices
/// of the element that the use is of. Null if that is not a matter of renaming.
static AffineExpr toElement(const Use &use, AffineExpr expr) {
  llvm::SmallVector<AffineExpr> values(use.map.getNumDims());
  for (auto [index, result] : llvm::enumerate(use.map.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      values[dim.getPosition()] = getAffineDimExpr(index, expr.getContext());
  for (unsigned dim = 0; dim < values.size(); ++dim)
    if (!values[dim]) {
      if (expr.isFunctionOfDim(dim))
        return {};
      values[dim] = getAffineDimExpr(dim, expr.getContext());
    }
  return expr.replaceDims(values);
}

AffineExpr StorageChecker::getElementLevel(const Uses &uses,
                                           size_t depth) const {
  AffineExpr common;
  for (const Use &use : uses) {
    const Level &level = use.path->levels[depth];
    AffineExpr own = level.isBand() ? toElement(use, level.expr) : AffineExpr();
    if (!own || (common && own != common))
      return {};
    common = own;
  }
  return common;
}

bool StorageChecker::haveDistinctPlaces(const Uses &uses,
                                        size_t numLevels) const {
  unsigned rank = storage.map.getNumDims();
  PairSet points(context, program, rank, rank);
  points.addEqual(storage.map, storage.map);
  for (size_t depth = 0; depth < numLevels; ++depth) {
    if (!uses.front().path->levels[depth].isBand())
      continue;
    AffineExpr level = getElementLevel(uses, depth);
    if (!level || !points.isAffine(level))
      return false;
    points.add(points.getDifference(level, level), true);
  }
  return llvm::all_of(llvm::seq(rank), [&](unsigned index) {
    AffineExpr own = getAffineDimExpr(index, program.context);
    AffineExpr delta = points.simplify(points.getDifference(own, own));
    return isZero(delta) ||
           points.with(delta - 1, false).isEmpty().value_or(false);
  });
}

std::optional<bool> StorageChecker::agreeIn(const Uses &uses,
                                            size_t depth) const {
  if (getElementLevel(uses, depth))
    return true;
  bool isKnown = true;
  bool agree = forEachPair(
      uses, [&](const Use &first, const Use &second, PairSet &points) {
        const Level &here = first.path->levels[depth];
        const Level &there = second.path->levels[depth];
        if (!here.isBand() && here.position == there.position)
          return true;
        points.addEqual(first.map, second.map);
        if (here.isBand()) {
          AffineExpr delta =
              points.simplify(points.getDifference(here.expr, there.expr));
          if (isZero(delta))
            return true;
          if (!points.isAffine(delta))
            return isKnown = false;
          // The other sign belongs to the pair in the other order.
          points.add(delta - 1, false);
        }
        std::optional<bool> isEmpty = points.isEmpty();
        isKnown = isEmpty.has_value();
        return isEmpty.value_or(false);
      });
  return isKnown ? std::optional(agree) : std::nullopt;
}

bool StorageChecker::refuse(const Twine &what, const Use &use) {
  legality.verdict = Legality::Verdict::Illegal;
  legality.reason =
      ("the storage of " + storage.name + " to suit the schedule, but " + what +
       ", in @" + program.statements[use.path->statement].name)
          .str();
  return false;
}

bool StorageChecker::checkTiles(const Uses &uses, size_t numLevels) {
  for (const Use &use : uses)
    for (const Level &level : llvm::drop_begin(use.path->levels, numLevels))
      if (level.isParallel())
        return refuse("iterations of a parallel loop share elements", use);
  if (haveDistinctPlaces(uses, numLevels))
    return true;

  return forEachPair(
      uses, [&](const Use &first, const Use &second, PairSet &points) {
        for (size_t depth = 0; depth < numLevels; ++depth) {
          const Level &here = first.path->levels[depth];
          const Level &there = second.path->levels[depth];
          if (here.isBand())
            points.add(points.getDifference(here.expr, there.expr), true);
        }
        points.addEqual(storage.map.compose(first.map),
                        storage.map.compose(second.map));
        for (auto [here, there] :
             llvm::zip_equal(first.map.getResults(), second.map.getResults())) {
          AffineExpr delta = points.simplify(points.getDifference(here, there));
          if (isZero(delta))
            continue;
          if (!points.isAffine(delta))
            return doubt();
          std::optional<bool> isEmpty = points.with(delta - 1, false).isEmpty();
          if (!isEmpty)
            return doubt();
          if (!*isEmpty)
            return refuse("elements of one place are alive at the same time",
                          first);
        }
        return true;
      });
}

bool StorageChecker::descend(const Uses &uses, size_t depth) {
  const Path &model = *uses.front().path;
  bool isCommon = llvm::all_of(uses, [&](const Use &use) {
    return use.path->levels.size() > depth && model.levels.size() > depth &&
           use.path->levels[depth].node == model.levels[depth].node;
  });
  if (!isCommon)
    return checkTiles(uses, depth);
  std::optional<bool> agree = agreeIn(uses, depth);
  if (!agree)
    return doubt();
  if (!*agree)
    return checkTiles(uses, depth);
  // Children of a sequence have elements of their own.
  std::map<unsigned, Uses> parts;
  for (const Use &use : uses)
    parts[use.path->levels[depth].position].push_back(use);
  return llvm::all_of(
      parts, [&](const auto &part) { return descend(part.second, depth + 1); });
}

Legality espalier::polyhedral::checkStorage(const Context &context,
                                            const Program &program,
                                            llvm::ArrayRef<Path> paths,
                                            const Storage &storage) {
  Uses uses;
  for (const Path &path : paths) {
    const Statement &statement = program.statements[path.statement];
    for (const Access &access :
         llvm::concat<const Access>(statement.reads, statement.writes)) {
      Use use{&path, access.map};
      if (access.array == storage.array && !llvm::is_contained(uses, use))
        uses.push_back(use);
    }
  }
  StorageChecker checker(context, program, storage);
  if (!uses.empty())
    checker.descend(uses, 0);
  return checker.legality;
}
