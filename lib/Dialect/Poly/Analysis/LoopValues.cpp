//===- LoopValues.cpp - What values loops take ----------------------------===//

#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Polyhedral/Interval.h"
#include "espalier/Polyhedral/QuasiAffine.h"
#include "espalier/Polyhedral/Union.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// The points of `compute` that reach `node`, for parameters that can be.
static polyhedral::Set getPoints(const polyhedral::Context &context,
                                 ComputeOp compute, Operation *node) {
  unsigned numDims = compute.getNumDims();
  unsigned numParams = compute.getKernel().getNumParameters();
  polyhedral::Set points = polyhedral::Set::getUnion(
      context, numDims, numParams, compute.getDomainSets());
  SmallVector<AffineExpr> parameters;
  for (unsigned parameter = 0; parameter < numParams; ++parameter)
    parameters.push_back(getAffineSymbolExpr(parameter, compute.getContext()));
  if (!parameters.empty())
    points = points.intersect(polyhedral::Set::get(
        context, IntegerSet::get(numDims, numParams, parameters,
                                 SmallVector<bool>(numParams))));
  for (; node; node = node->getParentOp()) {
    auto filter = dyn_cast<FilterOp>(node);
    if (!filter || !filter.getSets())
      continue;
    for (auto [symbol, set] : llvm::zip_equal(
             filter.getComputations().getAsValueRange<FlatSymbolRefAttr>(),
             filter.getSets()->getAsRange<IntegerSetAttr>()))
      if (symbol == compute.getSymName())
        points =
            points.intersect(polyhedral::Set::get(context, set.getValue()));
  }
  return points;
}

std::string espalier::poly::checkDomain(ComputeOp compute, bool notEmpty) {
  unsigned numDims = compute.getNumDims();
  unsigned numParams = compute.getKernel().getNumParameters();
  polyhedral::Context context;
  polyhedral::Set points = polyhedral::Set::getUnion(
      context, numDims, numParams, compute.getDomainSets());
  std::string name = "@" + compute.getSymName().str();
  if (notEmpty && points.isEmpty() == true)
    return name + " to have points, but its domain is empty";
  if (points.isBounded() != false)
    return "";
  for (unsigned dim = 0; dim < numDims; ++dim) {
    polyhedral::Map value = polyhedral::Map::get(
        context, numParams,
        AffineMap::get(numDims, numParams,
                       getAffineDimExpr(dim, compute.getContext())));
    if (value.apply(points).isBounded() == false)
      return name + " to have a bounded domain, but nothing bounds \"" +
             compute.getDimName(dim).str() + "\"";
  }
  return "";
}

polyhedral::Map
espalier::poly::getLoopValues(const polyhedral::Context &context, BandOp band,
                              unsigned position) {
  auto kernel = band->getParentOfType<KernelOp>();
  unsigned numParams = kernel.getNumParameters();
  SmallVector<BandOp> above;
  for (Operation *node = band->getParentOp(); node; node = node->getParentOp())
    if (auto outer = dyn_cast<BandOp>(node))
      above.insert(above.begin(), outer);

  polyhedral::Union<polyhedral::Map> values;
  for (StringRef symbol :
       band.getComputations().getAsValueRange<FlatSymbolRefAttr>()) {
    ComputeOp compute = kernel.lookupCompute(symbol);
    SmallVector<AffineExpr> outer;
    for (BandOp other : above)
      llvm::append_range(outer, other.getMap(symbol).getResults());
    ArrayRef<AffineExpr> own = band.getMap(symbol).getResults();
    llvm::append_range(outer, own.take_front(position));
    auto toMap = [&](ArrayRef<AffineExpr> results) {
      return polyhedral::Map::get(context, numParams,
                                  AffineMap::get(compute.getNumDims(),
                                                 numParams, results,
                                                 kernel.getContext()));
    };
    polyhedral::Map part =
        toMap(outer)
            .intersectDomain(getPoints(context, compute, band))
            .inverse()
            .compose(toMap(own[position]));
    values.add(part);
  }
  return values.get();
}

polyhedral::Set espalier::poly::getLoopRange(const polyhedral::Context &context,
                                             BandOp band, unsigned position) {
  auto kernel = band->getParentOfType<KernelOp>();
  polyhedral::Union<polyhedral::Set> values;
  for (StringRef symbol :
       band.getComputations().getAsValueRange<FlatSymbolRefAttr>()) {
    ComputeOp compute = kernel.lookupCompute(symbol);
    polyhedral::Set part =
        polyhedral::Map::get(context, kernel.getNumParameters(),
                             band.getMap(symbol).getSubMap(position))
            .apply(getPoints(context, compute, band));
    values.add(part);
  }
  return values.get();
}

/// Whether fewer points of `compute` than its domain has reach `node`.
static bool isFiltered(ComputeOp compute, Operation *node) {
  for (; node; node = node->getParentOp()) {
    auto filter = dyn_cast<FilterOp>(node);
    if (filter && filter.getSets() &&
        llvm::is_contained(
            filter.getComputations().getAsValueRange<FlatSymbolRefAttr>(),
            compute.getSymName()))
      return true;
  }
  return false;
}

/// The least and the greatest value of a loop whose form shows them.
static std::optional<polyhedral::Interval> getInterval(BandOp band,
                                                       unsigned position) {
  auto kernel = band->getParentOfType<KernelOp>();
  std::optional<polyhedral::Interval> all;
  for (StringRef symbol :
       band.getComputations().getAsValueRange<FlatSymbolRefAttr>()) {
    ComputeOp compute = kernel.lookupCompute(symbol);
    if (isFiltered(compute, band))
      return std::nullopt;
    for (IntegerSet piece : compute.getDomainSets()) {
      auto box = polyhedral::readBoxOfAllSizes(piece);
      if (!box)
        return std::nullopt;
      auto own = polyhedral::getInterval(
          band.getMap(symbol).getResult(position), *box);
      if (!own)
        return std::nullopt;
      if (!all)
        all = own;
      all->least = std::min(all->least, own->least);
      all->most = std::max(all->most, own->most);
    }
  }
  return all;
}

std::optional<int64_t> espalier::poly::getLoopExtent(BandOp band,
                                                     unsigned position) {
  if (auto interval = getInterval(band, position)) {
    int64_t last;
    if (!interval->isClosed() ||
        llvm::SubOverflow(interval->most, interval->least, last) ||
        last == std::numeric_limits<int64_t>::max())
      return std::nullopt;
    return last + 1;
  }
  polyhedral::Context context;
  polyhedral::Set values = getLoopRange(context, band, position);
  std::optional<int64_t> least = values.getMin(0), most = values.getMax(0);
  if (!least || !most)
    return std::nullopt;
  return *most - *least + 1;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

namespace {
/// A loop above a leaf.
struct Loop {
  mutable BandOp band;
  unsigned position;
  AffineExpr value; ///< Of the computation's dimensions.

  LoopKindAttrInterface getKind() const {
    return band.getLoopKinds()[position];
  }
  std::string getName() const {
    std::optional<ArrayAttr> names = band.getNames();
    return names ? "\"" + cast<StringAttr>((*names)[position]).str() + "\""
                 : "number " + std::to_string(position);
  }
};

/// The way of a computation that uses an array to one leaf.
struct Way {
  mutable ComputeOp compute;
  SmallVector<Loop> loops;
  polyhedral::Set points;
};

/// Checks the loops around the uses of one array.
class RegisterChecker {
public:
  RegisterChecker(ArrayOp array, const polyhedral::Limits &limits)
      : array(array), kernel(array->getParentOfType<KernelOp>()),
        numParams(kernel.getNumParameters()), context(limits) {}

  std::string run();

private:
  void collectWays(Operation *node, ComputeOp compute, SmallVector<Loop> loops);
  /// The number of outer loops in which all that happens to an element happens
  /// in one iteration.
  size_t countTileLoops();
  AffineExpr getAddress(AffineMap map);
  std::string check(const Way &way, size_t numTileLoops, AffineExpr address);
  polyhedral::Map getMap(const Way &way, ArrayRef<AffineExpr> results) {
    return polyhedral::Map::get(context, numParams,
                                AffineMap::get(way.compute.getNumDims(),
                                               numParams, results,
                                               array.getContext()));
  }
  SmallVector<AffineMap> getAccesses(ComputeOp compute);

  ArrayOp array;
  KernelOp kernel;
  unsigned numParams;
  polyhedral::Context context;
  SmallVector<Way> ways;
};
} // namespace

SmallVector<AffineMap> RegisterChecker::getAccesses(ComputeOp compute) {
  SmallVector<AffineMap> maps;
  for (const auto &accesses :
       {compute.getReadAccesses(), compute.getWriteAccesses()})
    for (const ComputeAccess &access : accesses)
      if (access.array == array.getArray() &&
          !llvm::is_contained(maps, access.map))
        maps.push_back(access.map);
  return maps;
}

void RegisterChecker::collectWays(Operation *node, ComputeOp compute,
                                  SmallVector<Loop> loops) {
  StringRef symbol = compute.getSymName();
  if (auto band = dyn_cast<BandOp>(node))
    for (auto [position, value] :
         llvm::enumerate(band.getMap(symbol).getResults()))
      loops.push_back({band, unsigned(position), value});
  if (auto sequence = dyn_cast<SequenceOp>(node)) {
    for (auto filter : sequence.getBody().getOps<FilterOp>())
      if (llvm::is_contained(
              filter.getComputations().getAsValueRange<FlatSymbolRefAttr>(),
              symbol))
        collectWays(filter, compute, loops);
    return;
  }
  if (Operation *child = getChildNode(node->getRegion(0)))
    return collectWays(child, compute, std::move(loops));
  polyhedral::Set points = getPoints(context, compute, node);
  ways.push_back({compute, std::move(loops), points});
}

size_t RegisterChecker::countTileLoops() {
  ArrayRef<Loop> first = ways.front().loops;
  size_t number = first.size();
  for (const Way &way : ways) {
    size_t shared = 0;
    while (shared < number && shared < way.loops.size() &&
           way.loops[shared].band == first[shared].band &&
           way.loops[shared].position == first[shared].position)
      ++shared;
    number = shared;
  }
  // As a matter of form, the element decides the loops.
  auto isDecided = [&](size_t depth) {
    AffineExpr common;
    for (const Way &way : ways)
      for (AffineMap map : getAccesses(way.compute)) {
        AffineExpr own =
            polyhedral::expressIn(way.loops[depth].value, map.getResults());
        if (!own || (common && own != common))
          return false;
        common = own;
      }
    return true;
  };
  for (; number > 0; --number) {
    if (llvm::all_of(llvm::seq(number), isDecided))
      break;
    polyhedral::Union<polyhedral::Map> tiles;
    for (const Way &way : ways) {
      SmallVector<AffineExpr> values;
      for (const Loop &loop : ArrayRef(way.loops).take_front(number))
        values.push_back(loop.value);
      for (AffineMap map : getAccesses(way.compute)) {
        polyhedral::Map own = getMap(way, map.getResults())
                                  .intersectDomain(way.points)
                                  .inverse()
                                  .compose(getMap(way, values));
        tiles.add(own);
      }
    }
    if (tiles.get().isSingleValued().value_or(false))
      break;
  }
  return number;
}

AffineExpr RegisterChecker::getAddress(AffineMap map) {
  if (std::optional<AffineMap> storage = array.getStorage())
    map = storage->compose(map);
  AffineExpr address = getAffineConstantExpr(0, array.getContext());
  for (auto [index, extent] :
       llvm::zip(map.getResults(), array.getMemoryType().getShape()))
    address = address * extent + index;
  return address;
}

std::string RegisterChecker::check(const Way &way, size_t numTileLoops,
                                   AffineExpr address) {
  auto decide = [&](ArrayRef<AffineExpr> values, AffineExpr expr) {
    return getMap(way, values)
        .intersectDomain(way.points)
        .inverse()
        .compose(getMap(way, expr))
        .isSingleValued()
        .value_or(false);
  };
  auto values = llvm::map_to_vector(
      way.loops, [](const Loop &loop) { return loop.value; });
  AffineExpr byLoops = polyhedral::expressIn(address, values);
  // Whether, as a matter of form, the address is a sum of other loops' values
  // and `factor` times this one's.
  auto hasFactor = [&](size_t number, int64_t factor) {
    AffineExpr own = getAffineDimExpr(number, array.getContext());
    return byLoops && polyhedral::getFactor(byLoops, own) == factor;
  };
  for (size_t number = numTileLoops; number < way.loops.size(); ++number) {
    const Loop &loop = way.loops[number];
    LoopKindAttrInterface kind = loop.getKind();
    if (hasFactor(number, 0) || (kind.isVector() && hasFactor(number, 1)))
      continue;
    if (kind.isUnroll()) {
      polyhedral::Set range = getMap(way, loop.value).apply(way.points);
      if (range.getMin(0) && range.getMax(0))
        continue;
    }
    SmallVector<AffineExpr> others;
    for (const auto &[position, other] : llvm::enumerate(way.loops))
      if (position != number)
        others.push_back(other.value);
    if (decide(others, address))
      continue;
    if (kind.isVector() && decide(others, address - loop.value))
      continue;
    return "the loop " + loop.getName() + " of @" +
           way.compute.getSymName().str() +
           (kind.isUnroll()
                ? " to run between numbers, to use other elements of "
                : " to be unrolled, or lanes over neighbours, to use other "
                  "elements of ") +
           describeArray(array.getArray()) +
           " in registers in each iteration, but it " +
           (kind.isUnroll()   ? "runs between others"
            : kind.isVector() ? "has lanes over others"
                              : "is " + toText(kind));
  }
  return "";
}

std::string RegisterChecker::run() {
  for (ComputeOp compute : kernel.getComputes()) {
    SmallVector<AffineMap> maps = getAccesses(compute);
    for (AffineMap map : maps)
      if (map.getNumSymbols() > numParams)
        return describeArray(array.getArray()) +
               " in registers to be used at affine places, but @" +
               compute.getSymName().str() + " uses it at others";
    Operation *root = getChildNode(kernel.getSchedule().getBody());
    if (!maps.empty() && root)
      collectWays(root, compute, {});
  }
  if (ways.empty())
    return "";
  size_t numTileLoops = countTileLoops();
  for (const Way &way : ways)
    for (AffineMap map : getAccesses(way.compute)) {
      std::string fault = check(way, numTileLoops, getAddress(map));
      if (!fault.empty())
        return fault;
    }
  return "";
}

std::string espalier::poly::checkRegisters(ArrayOp array,
                                           const polyhedral::Limits &limits) {
  auto kernel = array->getParentOfType<KernelOp>();
  if (array.getPlacement().isAddressable() || !kernel.getSchedule() ||
      !array.getMemoryType().hasStaticShape())
    return "";
  return RegisterChecker(array, limits).run();
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// Whether the values of a loop are from 0 to less than `number` by its form,
/// whatever the domains.
static bool hasFewValues(BandOp band, unsigned position, int64_t number) {
  auto isBelow = [&](AffineExpr expr) {
    int64_t divisor = 1;
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    auto getNumber = [&] {
      auto rhs = dyn_cast<AffineConstantExpr>(binary.getRHS());
      return rhs && rhs.getValue() > 0 ? rhs.getValue() : 0;
    };
    if (binary && binary.getKind() == AffineExprKind::FloorDiv) {
      divisor = getNumber();
      binary = dyn_cast<AffineBinaryOpExpr>(binary.getLHS());
    }
    // (x mod m) floordiv s is from 0 to (m - 1) floordiv s.
    return divisor > 0 && binary && binary.getKind() == AffineExprKind::Mod &&
           getNumber() > 0 && (getNumber() - 1) / divisor < number;
  };
  return llvm::all_of(band.getMaps().getAsRange<AffineMapAttr>(),
                      [&](AffineMapAttr map) {
                        return isBelow(map.getValue().getResult(position));
                      });
}

std::string espalier::poly::checkLanes(ScheduleOp schedule,
                                       const polyhedral::Limits &limits) {
  std::string fault;
  schedule.walk([&](BandOp band) {
    for (auto [position, kind] : llvm::enumerate(band.getLoopKinds())) {
      if (!kind.getWidth() || hasFewValues(band, position, kind.getWidth()))
        continue;
      polyhedral::Context context(limits);
      polyhedral::Map values = getLoopValues(context, band, position);
      polyhedral::Set differences = values.inverse().compose(values).deltas();
      std::optional<bool> isEmpty = differences.isEmpty();
      if (isEmpty == true)
        continue;
      std::optional<int64_t> most = differences.getMax(0);
      if (most && *most < kind.getWidth())
        continue;
      llvm::raw_string_ostream os(fault);
      os << "at most " << kind.getWidth() << " iterations of the loop "
         << Attribute(kind) << " of " << band.getComputations() << ", but ";
      if (!isEmpty)
        os << "they cannot be counted";
      else if (most)
        os << "it has " << *most + 1;
      else
        os << "it has more";
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return fault;
}
