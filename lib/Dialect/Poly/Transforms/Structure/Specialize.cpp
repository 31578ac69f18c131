//===- Specialize.cpp - Code of its own for extents and sizes -------------===//
//
// Conditions are sets over the loops around the one that gets versions:
//
//   i.1 of i = 4 * i.0 + i.1 < N has 2 iterations:  { [i.0] : N = 4 * i.0 + 2 }
//
//===----------------------------------------------------------------------===//

#include "../Edits.h"
#include "../Hints.h"
#include "../LoopNest.h"
#include "../Sequences.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// The code of versions adds up.
static constexpr size_t kMaxVersions = 64;

namespace {
/// Values of the loops around a loop for which it runs in a tree of its own.
struct Condition {
  polyhedral::Set set;
  std::string name;
};
} // namespace

/// Adds a version for each convex part of `set`, which has the dimensions of
/// `outer`. Fails if it has more than there may be.
static llvm::Error addVersions(BandOp band, const polyhedral::Set &set,
                               ArrayRef<SmallVector<AffineExpr>> outer,
                               StringRef name, SmallVector<Version> &versions) {
  auto kernel = band->getParentOfType<KernelOp>();
  auto parts = set.makeDisjoint().toIntegerSets(band.getContext());
  if (!parts)
    return refuse("cannot be written as versions: numbers beyond 64 bits");
  if (size_t number = versions.size() + parts->size(); number > kMaxVersions)
    return refuse("expects at most " + Twine(kMaxVersions) +
                  " versions, that of the rest included, but there would be " +
                  Twine(number) + " or more");
  SmallVector<StringRef> symbols = getSymbols(band.getComputations());
  for (IntegerSet part : *parts) {
    Version &version = versions.emplace_back();
    version.name = name.str();
    for (auto [symbol, values] : llvm::zip_equal(symbols, outer)) {
      auto constraints = llvm::map_to_vector(
          part.getConstraints(), [&values = values](AffineExpr expr) {
            return expr.replaceDims(values);
          });
      version.sets.push_back(IntegerSet::get(
          kernel.lookupCompute(symbol).getNumDims(), kernel.getNumParameters(),
          constraints, part.getEqFlags()));
    }
  }
  return llvm::Error::success();
}

/// Gives the tree of `loop` copies for `wanted`, no two of which hold at once,
/// and for the rest, whose first part keeps the names of loops. `all` are the
/// values that the loops around it take.
static llvm::Error specialize(LoopPosition loop, const polyhedral::Set &all,
                              ArrayRef<Condition> wanted) {
  polyhedral::Set rest = all;
  for (const Condition &condition : wanted)
    rest = rest.subtract(condition.set);
  if (rest.isEmpty() == true && wanted.size() == 1)
    return refuse("expects a condition that decides, but it always holds");
  SmallVector<SmallVector<AffineExpr>> outer = getOuterValues(loop);
  BandOp band = splitBand(loop.band, loop.position);
  SmallVector<Version> versions;
  for (const Condition &condition : wanted)
    if (llvm::Error error = addVersions(band, condition.set.gist(all), outer,
                                        condition.name, versions))
      return error;
  size_t numWanted = versions.size();
  if (rest.isEmpty() != true)
    if (llvm::Error error = addVersions(band, rest.gist(all).simplify(), outer,
                                        "rest", versions))
      return error;
  if (versions.size() > numWanted)
    versions[numWanted].name.clear();
  createVersions(band, versions);
  return llvm::Error::success();
}

/// The values of the loops around one of which it takes two that are at least
/// `distance` apart; `values` are pairs of them and its own.
static polyhedral::Set getWide(const polyhedral::Context &context,
                               const polyhedral::Map &values, unsigned numOuter,
                               unsigned numParams, int64_t distance,
                               MLIRContext *ir) {
  polyhedral::Set pairs = values.toSet();
  polyhedral::Set both = pairs.insertDims(numOuter, 1)
                             .intersect(pairs.insertDims(numOuter + 1, 1));
  AffineExpr first = getAffineDimExpr(numOuter, ir);
  AffineExpr last = getAffineDimExpr(numOuter + 1, ir);
  both = both.intersect(polyhedral::Set::get(
      context, IntegerSet::get(numOuter + 2, numParams, last - first - distance,
                               /*eqFlags=*/{false})));
  return both.project(numOuter, 2);
}

llvm::Error espalier::poly::specializeExtents(ComputeTarget compute,
                                              StringRef name,
                                              ArrayRef<int64_t> extents) {
  SmallVector<int64_t> sorted(extents);
  llvm::sort(sorted);
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopPosition> loop = findLoop(compute, name);
    if (!loop)
      return loop.takeError();
    if (sorted.empty() || sorted.size() > kMaxVersions || sorted.front() <= 0 ||
        !isSmall(sorted.back()) ||
        std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
      return refuse("expects between 1 and " + Twine(kMaxVersions) +
                    " different extents from 1 to 2^30, but got " +
                    print(extents));
    MLIRContext *ir = compute.getContext();
    unsigned numParams = compute.getKernel().getNumParameters();
    unsigned numOuter = getOuterValues(*loop).front().size();
    polyhedral::Context context;
    polyhedral::Map values = getLoopValues(context, loop->band, loop->position);
    SmallVector<Condition> wanted;
    for (int64_t extent : sorted) {
      auto getAtLeast = [&](int64_t number) {
        return getWide(context, values, numOuter, numParams, number - 1, ir);
      };
      polyhedral::Set set = getAtLeast(extent).subtract(getAtLeast(extent + 1));
      if (set.isEmpty() == true)
        return refuse("expects extents that " + quote(name) +
                      " can have, but it never has " + Twine(extent));
      wanted.push_back({set, "is" + std::to_string(extent)});
    }
    return specialize(*loop, values.domain(), wanted);
  });
}

llvm::Error espalier::poly::specializeSizes(ComputeTarget compute,
                                            StringRef name,
                                            IntegerSet condition) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopPosition> loop = findLoop(compute, name);
    if (!loop)
      return loop.takeError();
    for (AffineExpr expr : condition.getConstraints())
      if (llvm::Error error = checkExpr(compute, expr, /*numDims=*/0))
        return error;
    polyhedral::Context context;
    polyhedral::Set all =
        getLoopValues(context, loop->band, loop->position).domain();
    polyhedral::Set set = polyhedral::Set::get(
        context,
        IntegerSet::get(getOuterValues(*loop).front().size(),
                        compute.getKernel().getNumParameters(),
                        condition.getConstraints(), condition.getEqFlags()));
    set = set.intersect(all);
    if (set.isEmpty() == true)
      return refuse("expects a condition that sizes can meet, but none do");
    return specialize(*loop, all, Condition{set, "when"});
  });
}
