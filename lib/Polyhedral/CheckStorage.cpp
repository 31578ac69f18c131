//===- CheckStorage.cpp - May elements share a place? ---------------------===//

#include "CheckStorage.h"
#include "Lifetimes.h"
#include "llvm/ADT/StringExtras.h"

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
/// Checks the storage of one array.
class StorageChecker {
public:
  StorageChecker(const Context &context, const Program &program,
                 const Storage &storage)
      : context(context), program(program), storage(storage) {}

  void check(const ArrayAccesses &uses);
  Legality legality;
  LoopSet privateLoops;

private:
  /// Checks the tiles that the first levels of `uses` make. False as soon as
  /// the answer is known.
  bool checkTiles(const ArrayAccesses &uses, size_t numLevels);
  /// Whether elements of a tile lie in different places, if the levels are
  /// functions of the element alone, and by its filters; false if that does not
  /// tell.
  bool haveDistinctPlaces(const ArrayAccesses &uses, size_t numLevels) const;
  bool checkLifetimes(const ArrayAccesses &uses, size_t numLevels);
  bool refuse(const Twine &what);
  bool doubt() {
    legality = makeUnknown(context);
    return false;
  }

  const Context &context;
  const Program &program;
  const Storage &storage;
};
} // namespace

bool StorageChecker::haveDistinctPlaces(const ArrayAccesses &uses,
                                        size_t numLevels) const {
  unsigned rank = storage.map.getNumDims();
  PairSet points(context, program, rank, rank);
  points.addEqual(storage.map, storage.map);
  if (IntegerSet filter = getElementFilter(program, uses))
    points.addDomains(filter, filter);
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

bool StorageChecker::refuse(const Twine &what) {
  legality.verdict = Legality::Verdict::Illegal;
  legality.reason =
      ("the storage of " + storage.name + " to suit the schedule, but " + what)
          .str();
  return false;
}

static std::string toText(llvm::ArrayRef<int64_t> values) {
  return "(" + llvm::join(llvm::map_range(values, llvm::itostr), ", ") + ")";
}

bool StorageChecker::checkLifetimes(const ArrayAccesses &uses,
                                    size_t numLevels) {
  Map conflicts = getConflicts(context, program, uses, numLevels, storage.map);
  std::optional<bool> isEmpty = conflicts ? conflicts.isEmpty() : std::nullopt;
  if (!isEmpty)
    return doubt();
  if (*isEmpty)
    return true;
  auto sample = conflicts.toSet().samplePoint();
  if (!sample)
    return doubt();
  llvm::ArrayRef<int64_t> values = *sample;
  llvm::ArrayRef<int64_t> parameters = values.take_front(program.numParams);
  values = values.drop_front(program.numParams);
  unsigned rank = storage.map.getNumDims();
  std::string text = "elements " + toText(values.take_front(rank)) + " and " +
                     toText(values.drop_front(rank)) +
                     " are in one place and alive at the same time";
  if (!parameters.empty())
    text += ", " + describeSizes(program, parameters);
  return refuse(text);
}

bool StorageChecker::checkTiles(const ArrayAccesses &uses, size_t numLevels) {
  for (const ArrayAccess &use : uses)
    for (const Level &level : llvm::drop_begin(use.path->levels, numLevels))
      if (level.isParallel() && storage.isSharedBy &&
          !storage.isSharedBy(level.getMember().tag))
        return refuse("iterations of a parallel loop share " + storage.space +
                      ", in @" + program.statements[use.path->statement].name);
  for (const Level &level :
       llvm::ArrayRef(uses.front().path->levels).take_front(numLevels))
    if (level.isParallel())
      privateLoops.insert(&level.getMember());
  return haveDistinctPlaces(uses, numLevels) || checkLifetimes(uses, numLevels);
}

void StorageChecker::check(const ArrayAccesses &uses) {
  if (!storage.isSharedBy && !uses.empty() && haveDistinctPlaces(uses, 0))
    return;
  std::optional<bool> isKnown = forEachTiling(
      context, program, uses, [&](const ArrayAccesses &part, size_t numLevels) {
        return checkTiles(part, numLevels);
      });
  if (!isKnown)
    doubt();
}

StorageAnswer espalier::polyhedral::checkStorage(const Context &context,
                                                 const Program &program,
                                                 llvm::ArrayRef<Path> paths,
                                                 const Storage &storage) {
  StorageChecker checker(context, program, storage);
  checker.check(getArrayAccesses(program, paths, storage.array));
  return {checker.legality, checker.privateLoops};
}

llvm::Expected<std::vector<LoopSet>> espalier::polyhedral::findPrivateLoops(
    const Program &program, const ScheduleNode *root, const Limits &limits) {
  Context context(limits);
  std::vector<Path> paths = getPaths(program, root);
  std::vector<LoopSet> loops;
  for (const Storage &storage : program.storages) {
    StorageAnswer answer = checkStorage(context, program, paths, storage);
    if (answer.legality.verdict != Legality::Verdict::Legal)
      return llvm::createStringError("expects " + answer.legality.reason);
    loops.push_back(answer.privateLoops);
  }
  return loops;
}
