//===- SketchRules.cpp - The sketches of a kernel -------------------------===//
//
// The default schedule is a list of plans, some of which are inside others. Of
// the innermost ones, those that do most of the work are opened: their numbers
// become knobs with the values that make sense for the extents and the machine.
// Each rule changes how the first of them is built and leaves the numbers to
// the knobs, so that a handful of sketches is the whole space.
//
//===----------------------------------------------------------------------===//

#include "espalier/Dialect/Poly/Analysis/Extents.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/TransformOps/PlanScript.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Tuning/Sketch.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

using llvm::ArrayRef;
using llvm::SmallVector;

/// Points of a tile along a dimension that is no lane, and vectors along the
/// one that is.
static constexpr int64_t kRows[] = {1,  2,  3,  4,  5,  6,  7, 8,
                                    10, 12, 14, 16, 20, 24, 28};
static constexpr int64_t kVectors[] = {1, 2, 3, 4, 6, 8};
/// Vectors side by side of a computation that has lanes of its own.
static constexpr int64_t kOwnVectors[] = {1, 2, 4, 8};
/// Terms of a part of a sum.
static constexpr int64_t kTerms[] = {64, 128, 192, 256, 384, 512, 768, 1024};
/// Tiles of a block.
static constexpr int64_t kTiles[] = {2, 4, 8, 16, 32, 64};
static constexpr int64_t kAhead[] = {1, 2, 3, 4, 6, 8};
/// Terms of a part that are written out.
static constexpr int64_t kUnrolledTerms[] = {1, 2, 4, 8, 16};
/// A sum of fewer terms is not worth cutting.
static constexpr int64_t kMinTerms = 128;
/// Tiles of a block that nobody has chosen a size for.
static constexpr int64_t kUsualTiles = 8;
/// Plans with a smaller share of the points of the largest stay as they are.
static constexpr double kMinShare = 0.25;

namespace {
/// A plan of a script, and what is known of the computations that it is for.
class OpenPlan {
public:
  /// The names of its knobs begin with \p prefix.
  OpenPlan(poly::PlanOp plan, poly::KernelOp kernel, StringRef prefix = "");

  /// The points of all of its computations together, sizes that are not known
  /// counting as one.
  double countPoints() const { return points; }
  poly::PlanOp getPlan() { return plan; }

  /// All loops over tiles, outermost first, and how many are inside the parts
  /// of a sum: the last ones.
  SmallVector<StringRef> getLoops();
  size_t countInsideSum();
  void setLoops(ArrayRef<StringRef> loops, size_t numInsideSum);
  /// Whether a loop may have several iterations.
  bool isLoop(StringRef dim) const { return getExtent(dim) != 1; }
  std::optional<int64_t> getExtent(StringRef dim) const;
  /// The extents of all sums together, of the computation with most.
  int64_t countTerms() const { return terms; }
  int64_t getWidth() { return plan.getWidth(); }
  ArrayRef<StringRef> getShared() const { return shared; }
  int64_t getTile(StringRef dim);
  /// The sizes that a block may have along a dimension, in rising order: whole
  /// tiles, of each size that a tile may have.
  SmallVector<int64_t> getBlockOptions(StringRef dim);

  /// Gives the numbers of the plan to knobs. Returns what these have to keep,
  /// so that the results of a tile are in \p registers vectors.
  SelectionLimits openNumbers(int64_t registers);

private:
  void setNames(StringRef attribute, ArrayRef<StringRef> names);
  SmallVector<int64_t> getTileOptions(StringRef dim);
  Value addKnob(const Twine &name, SmallVector<int64_t> options,
                int64_t selected);
  void openTile();
  void openOwnVectors();
  void openOne(StringRef attribute, MutableOperandRange params,
               ArrayRef<int64_t> options);

  poly::PlanOp plan;
  std::string prefix;
  double points = 0;
  int64_t terms = 0;
  SmallVector<StringRef> shared;
  llvm::StringMap<std::optional<int64_t>> extents;
  /// The dimensions along which nothing that sums read is shared.
  llvm::SmallSet<StringRef, 4> batch;
};
} // namespace

/// The computations of a plan, the first one first.
static SmallVector<StringRef> getComputes(poly::PlanOp plan) {
  auto target = plan.getTarget().getDefiningOp<poly::ComputationOp>();
  SmallVector<StringRef> names = {target.getName().getLeafReference()};
  if (std::optional<ArrayAttr> others = plan.getOthers())
    llvm::append_range(names, others->getAsValueRange<StringAttr>());
  return names;
}

/// Whether all that a sum reads, but for what it has, depends on a dimension.
static bool isBatch(poly::ComputeOp sum, unsigned dim) {
  return llvm::all_of(sum.getReadAccesses(), [&](const auto &read) {
    return read.map.isFunctionOfDim(dim) ||
           llvm::is_contained(sum.getWrites(), read.array);
  });
}

OpenPlan::OpenPlan(poly::PlanOp plan, poly::KernelOp kernel, StringRef prefix)
    : plan(plan), prefix(prefix) {
  SmallVector<StringRef> names = getComputes(plan);
  auto numShared = plan.getShared();
  for (StringRef name : names) {
    poly::ComputeOp compute = kernel.lookupCompute(name);
    for (IntegerSet set : compute.getDomainSets()) {
      double count = 1;
      int64_t own = 1;
      for (auto [dim, extent] : llvm::enumerate(poly::getBoxExtents(set))) {
        count *= extent.value_or(1);
        if (dim >= numShared)
          own *= extent.value_or(kMinTerms);
        else if (name == names.front() &&
                 extents.try_emplace(compute.getDimName(dim), extent).second)
          shared.push_back(compute.getDimName(dim));
      }
      points += count;
      if (compute.getReduction())
        terms = std::max(terms, own);
    }
    if (compute.getReduction())
      for (auto [dim, shared] : llvm::enumerate(shared))
        if (isBatch(compute, dim))
          batch.insert(shared);
  }
}

SmallVector<StringRef> OpenPlan::getLoops() {
  SmallVector<StringRef> all;
  for (std::optional<ArrayAttr> loops : {plan.getLoops(), plan.getInsideSum()})
    if (loops)
      llvm::append_range(all, loops->getAsValueRange<StringAttr>());
  return all;
}

size_t OpenPlan::countInsideSum() {
  return plan.getInsideSum() ? plan.getInsideSum()->size() : 0;
}

void OpenPlan::setLoops(ArrayRef<StringRef> loops, size_t numInsideSum) {
  // Other loops may have a rest.
  size_t numAroundRest = plan.getAroundRest();
  if (ArrayRef<StringRef>(getLoops()).take_front(numAroundRest) !=
      loops.take_front(numAroundRest))
    plan.setAroundRest(0);
  setNames("loops", loops.drop_back(numInsideSum));
  setNames("inside_sum", loops.take_back(numInsideSum));
}

std::optional<int64_t> OpenPlan::getExtent(StringRef dim) const {
  return extents.lookup(dim);
}

void OpenPlan::setNames(StringRef attribute, ArrayRef<StringRef> names) {
  Builder builder(plan.getContext());
  if (names.empty())
    plan->removeAttr(attribute);
  else
    plan->setAttr(attribute, builder.getStrArrayAttr(names));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Value OpenPlan::addKnob(const Twine &name, SmallVector<int64_t> options,
                        int64_t selected) {
  if (!llvm::is_contained(options, selected))
    options.push_back(selected);
  llvm::sort(options);
  options.erase(llvm::unique(options), options.end());
  OpBuilder builder(plan);
  return transform::tune::KnobOp::create(
      builder, plan.getLoc(), poly::getNumberParamType(plan.getContext()),
      builder.getStringAttr(prefix + name), builder.getI64ArrayAttr(options),
      builder.getI64IntegerAttr(selected));
}

int64_t OpenPlan::getTile(StringRef dim) {
  if (std::optional<ArrayAttr> tile = plan.getTile())
    for (auto [name, points] :
         llvm::zip(tile->getAsValueRange<StringAttr>(), *plan.getBy()))
      if (name == dim)
        return points;
  return plan.getLanes() == dim ? getWidth() : 1;
}

/// The points that a tile may have along a dimension.
SmallVector<int64_t> OpenPlan::getTileOptions(StringRef dim) {
  bool isLanes = plan.getLanes() == dim;
  if (!isLanes && batch.contains(dim))
    return {1};
  std::optional<int64_t> extent = getExtent(dim);
  SmallVector<StringRef> loops = getLoops();
  bool isAroundRest =
      llvm::is_contained(ArrayRef(loops).take_front(plan.getAroundRest()), dim);
  SmallVector<int64_t> options;
  for (int64_t number : isLanes ? ArrayRef(kVectors) : ArrayRef(kRows)) {
    int64_t points = isLanes ? number * getWidth() : number;
    // A loop around the rest of others has none of its own.
    if (isAroundRest && (!extent || *extent % points != 0))
      continue;
    // The last tile may be a part of one, or all are.
    if (!extent || points < *extent + (isLanes ? getWidth() : 1))
      options.push_back(points);
  }
  return options;
}

/// Whether computations have lanes of their own, inside of which no rows of a
/// tile can be.
static bool hasOwnLanes(poly::PlanOp plan) {
  return !plan.getLanes() && plan.getOwnLanes();
}

/// Every loop that has several iterations may have a tile of several points.
void OpenPlan::openTile() {
  SmallVector<StringRef> loops = getLoops(), tile;
  SmallVector<int64_t> by;
  SmallVector<Value> params;
  for (StringRef dim : shared) {
    int64_t points = getTile(dim);
    SmallVector<int64_t> options = getTileOptions(dim);
    bool isOpen = llvm::is_contained(loops, dim) && isLoop(dim) &&
                  options.size() > 1 && (points > 1 || !hasOwnLanes(plan));
    if (!isOpen && points == (plan.getLanes() == dim ? getWidth() : 1))
      continue;
    tile.push_back(dim);
    by.push_back(isOpen ? ShapedType::kDynamic : points);
    if (isOpen)
      params.push_back(addKnob("tile." + dim, options, points));
  }
  if (tile.empty())
    return;
  setNames("tile", tile);
  plan.setBy(by);
  plan.getOpenByMutable().assign(params);
}

void OpenPlan::openOwnVectors() {
  if (!hasOwnLanes(plan))
    return;
  SmallVector<StringRef> lanes(
      plan.getOwnLanes()->getAsValueRange<StringAttr>());
  SmallVector<int64_t> vectors(lanes.size(), 1);
  if (std::optional<ArrayRef<int64_t>> given = plan.getOwnVectors())
    vectors.assign(given->begin(), given->end());
  SmallVector<Value> params;
  for (auto [name, lane, number] :
       llvm::zip_equal(getComputes(plan), lanes, vectors)) {
    if (lane.empty())
      continue;
    params.push_back(
        addKnob("vectors." + name, llvm::to_vector(kOwnVectors), number));
    number = ShapedType::kDynamic;
  }
  plan.setOwnVectors(vectors);
  plan.getOpenOwnVectorsMutable().assign(params);
}

void OpenPlan::openOne(StringRef attribute, MutableOperandRange params,
                       ArrayRef<int64_t> options) {
  auto number = plan->getAttrOfType<IntegerAttr>(attribute);
  if (!number)
    return;
  params.append(
      addKnob(attribute, SmallVector<int64_t>(options), number.getInt()));
  plan->setAttr(
      attribute,
      Builder(plan.getContext()).getI64IntegerAttr(ShapedType::kDynamic));
}

SmallVector<int64_t> OpenPlan::getBlockOptions(StringRef dim) {
  std::optional<int64_t> extent = getExtent(dim);
  SmallVector<int64_t> options;
  for (int64_t tile : getTileOptions(dim))
    for (int64_t tiles : kTiles)
      if (!extent || tile * tiles < *extent)
        options.push_back(tile * tiles);
  llvm::sort(options);
  return options;
}

SelectionLimits OpenPlan::openNumbers(int64_t registers) {
  // The tiles of blocks follow one another.
  SmallVector<StringRef> loops = getLoops(), outer;
  for (StringRef dim : ArrayRef(loops).drop_back(countInsideSum())) {
    if (llvm::is_contained(outer, dim))
      break;
    outer.push_back(dim);
  }
  plan.setParallel(std::min<uint64_t>(plan.getParallel(), outer.size()));
  SelectionLimits limits = {
      prefix + "tile.", registers * (plan.getLanes() ? getWidth() : 1), "", ""};
  if (std::optional<StringRef> blocked = plan.getBlocked()) {
    limits.block = prefix + "block_size";
    limits.tile = (prefix + "tile." + *blocked).str();
    openOne("block_size", plan.getOpenBlockSizeMutable(),
            getBlockOptions(*blocked));
  }
  openOne("terms", plan.getOpenTermsMutable(),
          plan.getUnrollTerms() ? ArrayRef(kUnrolledTerms) : ArrayRef(kTerms));
  if (plan.getFetch() != poly::Fetch::None)
    openOne("ahead", plan.getOpenAheadMutable(), kAhead);
  openTile();
  openOwnVectors();
  return limits;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Changes how a plan is built. Returns whether it could.
using Rule = llvm::function_ref<bool(OpenPlan &)>;

namespace {
/// Derives sketches of one kernel.
class SketchDeriver {
public:
  explicit SketchDeriver(ModuleOp module);

  std::vector<Sketch> derive();

private:
  /// The plan in `script` that rules change.
  OpenPlan findPlan(ModuleOp script) const;
  /// Whether that plan fits the kernel, which is all that can be said before
  /// it is applied.
  bool fits(ModuleOp script) const;
  /// Applies a rule. Unless `keepsFetch`, nothing is fetched ahead: what is may
  /// not be known in a plan of another form.
  FailureOr<Sketch> make(StringRef name, Rule rule, bool keepsFetch) const;
  /// Adds what a rule makes of the default schedule. Returns whether that fits.
  bool add(StringRef name, Rule rule);

  poly::KernelOp kernel;
  poly::TargetAttr target;
  OwningOpRef<ModuleOp> base;
  /// The numbers of the plans that are opened, the largest first.
  SmallVector<unsigned> opened;
  std::vector<Sketch> sketches;
};
} // namespace

static SmallVector<poly::PlanOp> getPlans(ModuleOp script) {
  SmallVector<poly::PlanOp> plans;
  script.walk([&](poly::PlanOp plan) { plans.push_back(plan); });
  return plans;
}

/// Whether a plan runs inside each iteration of another.
static bool isInside(poly::PlanOp plan, poly::PlanOp outer) {
  return plan.getInside() > outer.getInside() &&
         llvm::is_contained(getComputes(outer), getComputes(plan).front());
}

SketchDeriver::SketchDeriver(ModuleOp module)
    : kernel(*module.getOps<poly::KernelOp>().begin()),
      target(poly::getTarget(module)), base(poly::makeDefaultScript(module)) {
  SmallVector<poly::PlanOp> plans = getPlans(*base);
  SmallVector<std::pair<double, unsigned>> sizes;
  for (auto [number, plan] : llvm::enumerate(plans))
    if (llvm::none_of(plans, [&, plan = plan](poly::PlanOp other) {
          return isInside(other, plan);
        }))
      sizes.push_back({OpenPlan(plan, kernel).countPoints(), number});
  llvm::stable_sort(sizes, [](auto &a, auto &b) { return a.first > b.first; });
  for (auto [points, number] : sizes)
    if (points >= kMinShare * sizes.front().first)
      opened.push_back(number);
}

OpenPlan SketchDeriver::findPlan(ModuleOp script) const {
  return OpenPlan(getPlans(script)[opened.front()], kernel);
}

bool SketchDeriver::fits(ModuleOp script) const {
  llvm::Expected<std::vector<poly::Plan>> plans =
      poly::readPlans(script, kernel);
  if (!plans)
    return !llvm::errorToBool(plans.takeError());
  return !llvm::errorToBool(poly::checkPlan(kernel, (*plans)[opened.front()]));
}

FailureOr<Sketch> SketchDeriver::make(StringRef name, Rule rule,
                                      bool keepsFetch) const {
  OwningOpRef<ModuleOp> script(cast<ModuleOp>((*base)->clone()));
  OpenPlan first = findPlan(*script);
  if (!rule(first))
    return failure();
  if (!keepsFetch) {
    first.getPlan().setFetch(poly::Fetch::None);
    first.getPlan().setFetchResults(false);
  }
  int64_t registers = target.getRegisters();
  std::vector<SelectionLimits> limits = {first.openNumbers(registers)};
  SmallVector<poly::PlanOp> plans = getPlans(*script);
  for (unsigned number : ArrayRef(opened).drop_front())
    limits.push_back(OpenPlan(plans[number], kernel,
                              (getComputes(plans[number]).front() + ".").str())
                         .openNumbers(registers));
  return Sketch::create(name, std::move(script), limits);
}

bool SketchDeriver::add(StringRef name, Rule rule) {
  poly::PlanOp plan = findPlan(*base).getPlan();
  bool fetches = plan.getFetch() != poly::Fetch::None || plan.getFetchResults();
  for (bool keepsFetch : {true, false}) {
    if (!keepsFetch && !fetches)
      break;
    FailureOr<Sketch> sketch = make(name, rule, keepsFetch);
    // The first one is the default schedule, which the compiler has checked.
    if (failed(sketch) ||
        (!sketches.empty() && !fits(*sketch->select(sketch->getDefault()))))
      continue;
    sketches.push_back(std::move(*sketch));
    return true;
  }
  return false;
}

/// Exchanges two neighbouring loops over tiles.
static bool swapLoops(OpenPlan &open, unsigned outer) {
  SmallVector<StringRef> loops = open.getLoops();
  if (outer + 1 >= loops.size() || loops[outer] == loops[outer + 1] ||
      !open.isLoop(loops[outer]) || !open.isLoop(loops[outer + 1]))
    return false;
  std::swap(loops[outer], loops[outer + 1]);
  open.setLoops(loops, open.countInsideSum());
  return true;
}

/// Makes another dimension lanes.
static bool setLanes(OpenPlan &open, StringRef dim) {
  poly::PlanOp plan = open.getPlan();
  std::optional<int64_t> extent = open.getExtent(dim);
  if (!plan.getLanes() || plan.getLanes() == dim ||
      !llvm::is_contained(open.getLoops(), dim) ||
      (extent && *extent < open.getWidth()))
    return false;
  // Tiles of the old lanes are no multiple of a vector any more.
  plan.removeTileAttr();
  plan.removeByAttr();
  plan.setLanes(dim);
  return true;
}

/// Passes the terms of a sum in parts, or not.
static bool cutSums(OpenPlan &open) {
  poly::PlanOp plan = open.getPlan();
  SmallVector<StringRef> loops = open.getLoops();
  if (open.countInsideSum() > 0) {
    open.setLoops(loops, 0);
    plan.removeTermsAttr();
    plan.setUnrollTerms(false);
    return true;
  }
  // A part passes the tiles of the innermost loop before the next.
  auto inner = llvm::find_if(llvm::reverse(loops),
                             [&](StringRef dim) { return open.isLoop(dim); });
  if (inner == loops.rend() || open.countTerms() < 2 * kMinTerms)
    return false;
  open.setLoops(loops, inner - loops.rbegin() + 1);
  plan.setTerms(2 * kMinTerms);
  return true;
}

/// Passes the tiles of a loop block by block, or not.
static bool block(OpenPlan &open) {
  poly::PlanOp plan = open.getPlan();
  SmallVector<StringRef> loops = open.getLoops();
  size_t numInside = open.countInsideSum();
  if (std::optional<StringRef> blocked = plan.getBlocked()) {
    // The first of the two is the one over blocks.
    loops.erase(llvm::find(loops, *blocked));
    open.setLoops(loops, numInside);
    plan.removeBlockedAttr();
    plan.removeBlockSizeAttr();
    return true;
  }
  SmallVector<unsigned> several;
  for (auto [number, dim] : llvm::enumerate(loops))
    if (open.isLoop(dim))
      several.push_back(number);
  if (several.size() < 2)
    return false;
  // A block of the innermost loop is passed for each tile of those around it,
  // and all parts of a sum.
  StringRef inner = loops[several.back()];
  int64_t tile = open.getTile(inner), size = 0;
  for (int64_t option : open.getBlockOptions(inner))
    if (option % tile == 0 && (size == 0 || option <= kUsualTiles * tile))
      size = option;
  if (size == 0)
    return false;
  loops.insert(loops.begin() + std::min<size_t>(several[several.size() - 2],
                                                loops.size() - numInside),
               inner);
  open.setLoops(loops, numInside);
  plan.setBlocked(inner);
  plan.setBlockSize(size);
  return true;
}

/// Fetches something ahead, or nothing.
static bool fetch(OpenPlan &open, poly::Fetch kind) {
  poly::PlanOp plan = open.getPlan();
  bool fetches = plan.getFetch() != poly::Fetch::None;
  if (fetches == (kind != poly::Fetch::None))
    return false;
  plan.setFetch(kind);
  plan.setAhead(1);
  return true;
}

std::vector<Sketch> SketchDeriver::derive() {
  if (opened.empty())
    return {};
  add("default", [](OpenPlan &) { return true; });
  OpenPlan plan = findPlan(*base);
  for (unsigned outer = 0, e = plan.getLoops().size(); outer + 1 < e; ++outer)
    add("order", [&](OpenPlan &open) { return swapLoops(open, outer); });
  for (StringRef dim : plan.getShared())
    add("lanes", [&](OpenPlan &open) { return setLanes(open, dim); });
  add("parts", cutSums);
  add("blocks", block);
  // The first that is known.
  for (poly::Fetch kind :
       {poly::Fetch::None, poly::Fetch::Panel, poly::Fetch::Rows,
        poly::Fetch::Terms, poly::Fetch::Copies})
    if (add("fetch", [&](OpenPlan &open) { return fetch(open, kind); }))
      break;
  return std::move(sketches);
}

std::vector<Sketch> tuning::deriveSketches(ModuleOp module) {
  return SketchDeriver(module).derive();
}
