//===- NestDistances.cpp - Distances along a band's loops -----------------===//

#include "NestDistances.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

NestDistances::NestDistances(BandOp band)
    : numLoops(band.getLoops().size()),
      numParams(band->getParentOfType<KernelOp>().getNumParameters()) {}

llvm::Expected<NestDistances> NestDistances::compute(BandOp band) {
  KernelModel model = buildModel(band->getParentOfType<KernelOp>());
  BandNodes nodes;
  polyhedral::ScheduleTree tree =
      buildScheduleTree(model, band->getParentOfType<ScheduleOp>(), &nodes);
  NestDistances result(band);
  auto dependences =
      polyhedral::computeDependences(result.context, model.program);
  if (!dependences)
    return dependences.takeError();
  auto distances =
      polyhedral::computeDistances(result.context, model.program, *dependences,
                                   tree.get(), nodes.lookup(band));
  if (!distances)
    return distances.takeError();
  for (const polyhedral::LoopDistances &distance : *distances) {
    const polyhedral::Dependence &dependence = *distance.dependence;
    result.entries.push_back({model.computes[dependence.source].getSymName(),
                              model.computes[dependence.sink].getSymName(),
                              dependence.isReduction, distance.differences});
  }
  return result;
}

void NestDistances::keep(
    llvm::function_ref<bool(StringRef, StringRef)> condition) {
  llvm::erase_if(entries, [&](const Entry &entry) {
    return !condition(entry.source, entry.sink);
  });
}

void NestDistances::dropReductions() {
  llvm::erase_if(entries, [](const Entry &entry) { return entry.isReduction; });
}

polyhedral::Set NestDistances::getSet(AffineExpr expr, bool isEquality) const {
  return polyhedral::Set::get(
      context, IntegerSet::get(numLoops, numParams, expr, isEquality));
}

void NestDistances::restrictToZero(AffineExpr expr) {
  polyhedral::Set zero = getSet(expr, /*isEquality=*/true);
  for (Entry &entry : entries)
    entry.distances = entry.distances.intersect(zero);
}

std::optional<int64_t> NestDistances::getMin(unsigned loop) const {
  std::optional<int64_t> least;
  for (const Entry &entry : entries) {
    std::optional<bool> isEmpty = entry.distances.isEmpty();
    if (isEmpty == true)
      continue;
    std::optional<int64_t> minimum = entry.distances.getMin(loop);
    if (!minimum)
      return std::nullopt;
    least = std::min(least.value_or(*minimum), *minimum);
  }
  return least;
}

bool NestDistances::isAtLeast(AffineExpr expr, int64_t bound) const {
  polyhedral::Set below = getSet(bound - 1 - expr, /*isEquality=*/false);
  return llvm::all_of(entries, [&](const Entry &entry) {
    return entry.distances.intersect(below).isEmpty() == true;
  });
}
