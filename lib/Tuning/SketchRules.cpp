//===- SketchRules.cpp - The sketches of a kernel -------------------------===//
//
// The default schedule is a list of plans. The one that does most of the work
// is opened: its numbers become knobs with the values that make sense for its
// extents and the machine. Each rule changes how the plan is built and leaves
// the numbers to the knobs, so that a handful of sketches is the whole space.
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
/// Terms of a part of a sum.
static constexpr int64_t kTerms[] = {64, 128, 192, 256, 384, 512, 768, 1024};
/// Tiles of a block.
static constexpr int64_t kTiles[] = {2, 4, 8, 16, 32, 64};
static constexpr int64_t kAhead[] = {1, 2, 3, 4, 6, 8};
/// A sum of fewer terms is not worth cutting.
static constexpr int64_t kMinTerms = 128;

namespace {
/// A plan of a script, and what is known of the computations that it is for.
class OpenPlan {
public:
  OpenPlan(poly::PlanOp plan, poly::KernelOp kernel);

  /// The points of all of its computations together, sizes that are not known
  /// counting as one.
  double countPoints() const { return points; }
  poly::PlanOp getPlan() { return plan; }

  SmallVector<StringRef> getLoops();
  std::optional<int64_t> getExtent(StringRef dim) const;
  /// The extents of all sums together, of the computation with most.
  int64_t countTerms() const { return terms; }
  int64_t getWidth() { return plan.getWidth(); }
  ArrayRef<StringRef> getShared() const { return shared; }

  void setNames(StringRef attribute, ArrayRef<StringRef> names);
  /// Gives the numbers of the plan to knobs.
  void openNumbers();

private:
  int64_t getTile(StringRef dim);
  SmallVector<int64_t> getTileOptions(StringRef dim);
  Value addKnob(const Twine &name, SmallVector<int64_t> options,
                int64_t selected);
  void openTile();
  void openBlock();
  void openOne(StringRef attribute, MutableOperandRange params,
               ArrayRef<int64_t> options);

  poly::PlanOp plan;
  double points = 0;
  int64_t terms = 0;
  SmallVector<StringRef> shared;
  llvm::StringMap<std::optional<int64_t>> extents;
};
} // namespace

static poly::ComputeOp findCompute(poly::KernelOp kernel, StringRef name) {
  return kernel.lookupSymbol<poly::ComputeOp>(name);
}

OpenPlan::OpenPlan(poly::PlanOp plan, poly::KernelOp kernel) : plan(plan) {
  auto target = plan.getTarget().getDefiningOp<poly::ComputationOp>();
  StringRef first = target.getName().getLeafReference();
  SmallVector<StringRef> names = {first};
  if (std::optional<ArrayAttr> others = plan.getOthers())
    llvm::append_range(names, others->getAsValueRange<StringAttr>());
  auto numShared = plan.getShared();
  for (StringRef name : names) {
    poly::ComputeOp compute = findCompute(kernel, name);
    for (IntegerSet set : compute.getDomainSets()) {
      double count = 1;
      int64_t own = 1;
      for (auto [dim, extent] : llvm::enumerate(poly::getBoxExtents(set))) {
        count *= extent.value_or(1);
        if (dim >= numShared)
          own *= extent.value_or(kMinTerms);
        else if (name == first &&
                 extents.try_emplace(compute.getDimName(dim), extent).second)
          shared.push_back(compute.getDimName(dim));
      }
      points += count;
      if (compute.getReduction())
        terms = std::max(terms, own);
    }
  }
}

SmallVector<StringRef> OpenPlan::getLoops() {
  if (std::optional<ArrayAttr> loops = plan.getLoops())
    return llvm::to_vector(loops->getAsValueRange<StringAttr>());
  return {};
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
      builder.getStringAttr(name), builder.getI64ArrayAttr(options),
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
  std::optional<int64_t> extent = getExtent(dim);
  SmallVector<int64_t> options;
  for (int64_t number : isLanes ? ArrayRef(kVectors) : ArrayRef(kRows)) {
    int64_t points = isLanes ? number * getWidth() : number;
    // The last tile may be a part of one, or all are.
    if (!extent || points < *extent + (isLanes ? getWidth() : 1))
      options.push_back(points);
  }
  return options;
}

/// Every loop that has several iterations may have a tile of several points.
void OpenPlan::openTile() {
  SmallVector<StringRef> loops = getLoops(), tile;
  SmallVector<Value> params;
  for (StringRef dim : shared) {
    if (!llvm::is_contained(loops, dim) || getExtent(dim) == 1)
      continue;
    SmallVector<int64_t> options = getTileOptions(dim);
    if (options.size() < 2)
      continue;
    tile.push_back(dim);
    params.push_back(addKnob("tile." + dim, options, getTile(dim)));
  }
  if (tile.empty())
    return;
  setNames("tile", tile);
  plan.setBy(SmallVector<int64_t>(tile.size(), ShapedType::kDynamic));
  plan.getOpenByMutable().assign(params);
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

/// A block has whole tiles, of each size that a tile may have.
void OpenPlan::openBlock() {
  std::optional<StringRef> dim = plan.getBlocked();
  if (!dim)
    return;
  std::optional<int64_t> extent = getExtent(*dim);
  SmallVector<int64_t> options;
  for (int64_t tile : getTileOptions(*dim))
    for (int64_t tiles : kTiles)
      if (!extent || tile * tiles < *extent)
        options.push_back(tile * tiles);
  openOne("block_size", plan.getOpenBlockSizeMutable(), options);
}

void OpenPlan::openNumbers() {
  // Parts of a sum, and the tiles of blocks, follow one another.
  if (plan.getInsideSum() || plan.getBlocked()) {
    SmallVector<StringRef> loops = getLoops();
    size_t numInside = plan.getInsideSum() ? plan.getInsideSum()->size() : 0;
    auto *first =
        plan.getBlocked() ? llvm::find(loops, *plan.getBlocked()) : loops.end();
    plan.setParallel(std::min<uint64_t>(
        {plan.getParallel(), loops.size() - numInside,
         plan.getBlocked() ? uint64_t(first - loops.begin()) + 1
                           : loops.size()}));
  }
  openBlock();
  openOne("terms", plan.getOpenTermsMutable(), kTerms);
  if (plan.getFetch() != poly::Fetch::None)
    openOne("ahead", plan.getOpenAheadMutable(), kAhead);
  openTile();
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
  /// The plan in `script` with the number of the one that is opened.
  OpenPlan findPlan(ModuleOp script) const;
  void add(StringRef name, Rule rule);

  poly::KernelOp kernel;
  poly::TargetAttr target;
  OwningOpRef<ModuleOp> base;
  unsigned numPlan = 0;
  std::vector<Sketch> sketches;
};
} // namespace

static SmallVector<poly::PlanOp> getPlans(ModuleOp script) {
  SmallVector<poly::PlanOp> plans;
  script.walk([&](poly::PlanOp plan) { plans.push_back(plan); });
  return plans;
}

SketchDeriver::SketchDeriver(ModuleOp module)
    : kernel(*module.getOps<poly::KernelOp>().begin()),
      target(poly::getTarget(module)), base(poly::makeDefaultScript(module)) {
  double most = -1;
  for (auto [number, plan] : llvm::enumerate(getPlans(*base))) {
    double points = OpenPlan(plan, kernel).countPoints();
    if (points > most) {
      most = points;
      numPlan = number;
    }
  }
}

OpenPlan SketchDeriver::findPlan(ModuleOp script) const {
  return OpenPlan(getPlans(script)[numPlan], kernel);
}

void SketchDeriver::add(StringRef name, Rule rule) {
  OwningOpRef<ModuleOp> script(cast<ModuleOp>((*base)->clone()));
  OpenPlan plan = findPlan(*script);
  if (!rule(plan))
    return;
  plan.openNumbers();
  // The results of a tile are in registers.
  int64_t width = plan.getPlan().getLanes() ? plan.getWidth() : 1;
  SelectionLimits limits = {"tile.", target.getRegisters() * width, "", ""};
  if (std::optional<StringRef> blocked = plan.getPlan().getBlocked()) {
    limits.block = "block_size";
    limits.tile = ("tile." + *blocked).str();
  }
  FailureOr<Sketch> sketch = Sketch::create(name, std::move(script), limits);
  if (succeeded(sketch))
    sketches.push_back(std::move(*sketch));
}

/// Exchanges two neighbouring loops over tiles.
static bool swapLoops(OpenPlan &open, unsigned outer) {
  SmallVector<StringRef> loops = open.getLoops();
  if (outer + 1 >= loops.size() || open.getPlan().getBlocked() ||
      open.getExtent(loops[outer]) == 1 ||
      open.getExtent(loops[outer + 1]) == 1)
    return false;
  std::swap(loops[outer], loops[outer + 1]);
  open.setNames("loops", loops);
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
  if (plan.getInsideSum()) {
    plan.removeInsideSumAttr();
    plan.removeTermsAttr();
    plan.setUnrollTerms(false);
    return true;
  }
  SmallVector<StringRef> loops = open.getLoops();
  if (loops.empty() || open.countTerms() < 2 * kMinTerms)
    return false;
  open.setNames("inside_sum", loops.back());
  plan.setTerms(2 * kMinTerms);
  return true;
}

/// Passes the tiles of a loop block by block, or not.
static bool block(OpenPlan &open) {
  poly::PlanOp plan = open.getPlan();
  SmallVector<StringRef> loops = open.getLoops();
  if (std::optional<StringRef> blocked = plan.getBlocked()) {
    // The first of the two is the one over blocks.
    loops.erase(llvm::find(loops, *blocked));
    open.setNames("loops", loops);
    plan.removeBlockedAttr();
    plan.removeBlockSizeAttr();
    return true;
  }
  if (loops.size() < 2)
    return false;
  // A block of the innermost loop is passed for each tile of those around it.
  StringRef inner = loops.back();
  loops.insert(loops.begin() + (loops.size() - 2), inner);
  open.setNames("loops", loops);
  plan.setBlocked(inner);
  plan.setBlockSize(8 * (plan.getLanes() == inner ? open.getWidth() : 1));
  return true;
}

/// Fetches panels ahead, or nothing.
static bool fetch(OpenPlan &open) {
  poly::PlanOp plan = open.getPlan();
  bool fetches = plan.getFetch() != poly::Fetch::None;
  plan.setFetch(fetches ? poly::Fetch::None : poly::Fetch::Panel);
  plan.setAhead(1);
  return fetches || open.countTerms() > 1;
}

std::vector<Sketch> SketchDeriver::derive() {
  if (getPlans(*base).empty())
    return {};
  add("default", [](OpenPlan &) { return true; });
  OpenPlan plan = findPlan(*base);
  for (unsigned outer = 0, e = plan.getLoops().size(); outer + 1 < e; ++outer)
    add("order", [&](OpenPlan &open) { return swapLoops(open, outer); });
  for (StringRef dim : plan.getShared())
    add("lanes", [&](OpenPlan &open) { return setLanes(open, dim); });
  add("parts", cutSums);
  add("blocks", block);
  add("fetch", fetch);
  return std::move(sketches);
}

std::vector<Sketch> tuning::deriveSketches(ModuleOp module) {
  return SketchDeriver(module).derive();
}
