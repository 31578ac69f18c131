//===- PolyPlanOps.cpp - Plans as operations, and back --------------------===//

#include "CommandArguments.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/TransformOps/PlanScript.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/Plan.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

//===----------------------------------------------------------------------===//
// From the operation
//===----------------------------------------------------------------------===//

namespace {
/// Reads the attributes of one operation; stops at the first fault.
class PlanReader {
public:
  PlanReader(PlanOp op, ComputeOp target)
      : op(op), target(target), kernel(target.getKernel()) {}

  llvm::Expected<Plan> read();

private:
  void fail(const Twine &message) {
    if (fault.empty())
      fault = "expects " + message.str();
  }
  /// A number between 0 and `most`.
  unsigned readCount(StringRef what, int64_t number, unsigned most);
  /// The dimension of `compute` with a name, between `from` and `to`.
  unsigned findDim(ComputeOp compute, StringRef name, unsigned from,
                   unsigned to);
  std::optional<unsigned> findShared(std::optional<StringRef> name);
  SmallVector<unsigned> findAllShared(std::optional<ArrayAttr> names);
  /// The entry of a list with one for each computation.
  template <typename List>
  bool hasEntries(StringRef what, const List &list) {
    if (!list || list->size() == plan.computations.size())
      return bool(list) && fault.empty();
    fail("one entry of `" + what + "` for each of " +
         Twine(plan.computations.size()) + " computations, but got " +
         Twine(list->size()));
    return false;
  }
  void readTile();
  void readOwn(unsigned position);

  PlanOp op;
  ComputeOp target;
  KernelOp kernel;
  Plan plan;
  std::string fault;
};
} // namespace

unsigned PlanReader::readCount(StringRef what, int64_t number, unsigned most) {
  if (number >= 0 && number <= int64_t(most))
    return number;
  fail("at most " + Twine(most) + " " + what + ", but got " + Twine(number));
  return 0;
}

unsigned PlanReader::findDim(ComputeOp compute, StringRef name, unsigned from,
                             unsigned to) {
  std::string legal;
  for (unsigned dim = from; dim < to; ++dim) {
    if (compute.getDimName(dim) == name)
      return dim;
    legal +=
        (legal.empty() ? "\"" : ", \"") + compute.getDimName(dim).str() + "\"";
  }
  fail("dimensions of @" + compute.getSymName() + ", out of [" + legal +
       "], but got \"" + name + "\"");
  return 0;
}

std::optional<unsigned> PlanReader::findShared(std::optional<StringRef> name) {
  if (!name)
    return std::nullopt;
  return findDim(target, *name, 0, plan.numShared);
}

SmallVector<unsigned>
PlanReader::findAllShared(std::optional<ArrayAttr> names) {
  return llvm::map_to_vector(toStrings(names), [&](StringRef name) {
    return findDim(target, name, 0, plan.numShared);
  });
}

void PlanReader::readTile() {
  plan.tile.assign(plan.numShared, 1);
  SmallVector<unsigned> dims = findAllShared(op.getTile());
  ArrayRef<int64_t> sizes = op.getBy().value_or(ArrayRef<int64_t>());
  if (dims.size() != sizes.size())
    return fail("a size for each of " + Twine(dims.size()) +
                " dimensions of a tile, but got " + Twine(sizes.size()));
  if (fault.empty())
    for (auto [dim, size] : llvm::zip_equal(dims, sizes))
      plan.tile[dim] = size;
  plan.width = op.getWidth();
  plan.lanes = findShared(op.getLanes());
  if (plan.lanes && fault.empty() && plan.tile[*plan.lanes] == 1)
    plan.tile[*plan.lanes] = plan.width;
}

void PlanReader::readOwn(unsigned position) {
  ComputeOp compute = kernel.lookupCompute(plan.computations[position]);
  OwnLoops &own = plan.own.emplace_back();
  unsigned numDims = compute.getNumDims();
  unsigned first =
      std::min(numDims, plan.numShared +
                            (numDims > plan.numShared ? plan.numWindow : 0));
  if (op.getOwn())
    for (StringRef name : cast<ArrayAttr>((*op.getOwn())[position])
                              .getAsValueRange<StringAttr>())
      own.order.push_back(findDim(compute, name, first, numDims));
  else
    own.order = llvm::to_vector(llvm::seq(first, numDims));
  auto find = [&](std::optional<ArrayAttr> names) -> std::optional<unsigned> {
    StringRef name =
        names ? cast<StringAttr>((*names)[position]).getValue() : "";
    if (name.empty())
      return std::nullopt;
    return findDim(compute, name, first, numDims);
  };
  own.lanes = find(op.getOwnLanes());
  own.unrolled = find(op.getOwnUnrolled());
  if (op.getOwnVectors())
    own.vectors = (*op.getOwnVectors())[position];
}

llvm::Expected<Plan> PlanReader::read() {
  plan.computations.push_back(target.getSymName().str());
  for (StringRef other : toStrings(op.getOthers())) {
    if (!kernel.lookupCompute(other))
      fail("computations of the kernel, out of " +
           listSymbols<ComputeOp>(kernel) + ", but got @" + other);
    plan.computations.push_back(other.str());
  }
  plan.numShared =
      readCount("shared dimensions", op.getShared(), target.getNumDims());
  plan.numInside = readCount("loops around", op.getInside(), plan.numShared);
  plan.numWindow = readCount("dimensions of a window", op.getWindow(),
                             std::numeric_limits<int16_t>::max());
  plan.loops = findAllShared(op.getLoops());
  plan.numParallel =
      readCount("parallel loops", op.getParallel(), plan.loops.size());
  plan.numAroundRest =
      readCount("loops around the rest", op.getAroundRest(), plan.loops.size());
  readTile();
  plan.block = findShared(op.getBlocked());
  plan.blockSize = op.getBlockSize().value_or(0);
  plan.insideSum = findAllShared(op.getInsideSum());
  plan.terms = op.getTerms().value_or(0);
  plan.unrollTerms = op.getUnrollTerms();
  bool fits = true;
  if (op.getOwn())
    fits &= hasEntries("own", op.getOwn());
  if (op.getOwnLanes())
    fits &= hasEntries("own_lanes", op.getOwnLanes());
  if (op.getOwnVectors())
    fits &= hasEntries("own_vectors", op.getOwnVectors());
  if (op.getOwnUnrolled())
    fits &= hasEntries("own_unrolled", op.getOwnUnrolled());
  for (unsigned position = 0;
       fits && fault.empty() && position < plan.computations.size(); ++position)
    readOwn(position);
  for (StringRef name : toStrings(op.getKeep()))
    plan.kept.push_back(name.str());
  plan.fetch = op.getFetch();
  plan.ahead = op.getAhead();
  plan.fetchResults = op.getFetchResults();
  if (!fault.empty())
    return refuse(fault);
  return plan;
}

llvm::Error PlanOp::command(ComputeTarget compute) {
  llvm::Expected<Plan> plan = PlanReader(*this, compute).read();
  if (!plan)
    return plan.takeError();
  return applyPlan(compute, *plan);
}

llvm::Expected<std::vector<Plan>> espalier::poly::readPlans(ModuleOp script,
                                                            KernelOp kernel) {
  SmallVector<PlanOp> ops;
  script.walk([&](PlanOp op) { ops.push_back(op); });
  std::vector<Plan> plans;
  for (PlanOp op : ops) {
    auto target = op.getTarget().getDefiningOp<ComputationOp>();
    ComputeOp compute =
        target ? kernel.lookupCompute(target.getName().getLeafReference())
               : ComputeOp();
    if (!compute)
      return refuse("expects a plan for a computation of the kernel");
    OwningOpRef<Operation *> closed = closeSelected(op, op.getOpenNumbers());
    if (!closed)
      return refuse("expects a plan whose numbers are selected");
    auto plan = PlanReader(cast<PlanOp>(*closed), compute).read();
    if (!plan)
      return plan.takeError();
    plans.push_back(std::move(*plan));
  }
  return std::move(plans);
}

//===----------------------------------------------------------------------===//
// To the operation
//===----------------------------------------------------------------------===//

namespace {
/// Writes one plan.
class PlanBuilder {
public:
  PlanBuilder(OpBuilder &builder, KernelOp kernel, const Plan &plan)
      : builder(builder), kernel(kernel), plan(plan),
        target(kernel.lookupCompute(plan.computations.front())),
        state(kernel.getLoc(), PlanOp::getOperationName()) {}

  void create(Value handle);

private:
  void set(StringRef name, Attribute value) { state.addAttribute(name, value); }
  void setNumber(StringRef name, int64_t number, int64_t standard) {
    if (number != standard)
      set(name, builder.getI64IntegerAttr(number));
  }
  void setDim(StringRef name, std::optional<unsigned> dim) {
    if (dim)
      set(name, target.getDimName(*dim));
  }
  void setDims(StringRef name, ArrayRef<unsigned> dims) {
    if (!dims.empty())
      set(name, getNames(target, dims));
  }
  ArrayAttr getNames(ComputeOp compute, ArrayRef<unsigned> dims) {
    return builder.getArrayAttr(
        llvm::map_to_vector(dims, [&](unsigned dim) -> Attribute {
          return compute.getDimName(dim);
        }));
  }
  void setTile();
  void setOwn();

  OpBuilder &builder;
  KernelOp kernel;
  const Plan &plan;
  ComputeOp target;
  OperationState state;
};
} // namespace

void PlanBuilder::setTile() {
  SmallVector<unsigned> dims;
  SmallVector<int64_t> sizes;
  for (auto [dim, size] : llvm::enumerate(plan.tile))
    if (size != (plan.lanes == dim ? plan.width : 1)) {
      dims.push_back(dim);
      sizes.push_back(size);
    }
  setDims("tile", dims);
  if (!dims.empty())
    set("by", builder.getDenseI64ArrayAttr(sizes));
  setDim("lanes", plan.lanes);
  bool hasLanes = plan.lanes || llvm::any_of(plan.own, [](const OwnLoops &own) {
                    return own.lanes.has_value();
                  });
  setNumber("width", hasLanes ? plan.width : 1, 1);
}

void PlanBuilder::setOwn() {
  SmallVector<Attribute> orders, lanes, unrolled;
  SmallVector<int64_t> vectors;
  bool isOrdered = true;
  for (auto [name, own] : llvm::zip_equal(plan.computations, plan.own)) {
    ComputeOp compute = kernel.lookupCompute(name);
    auto getName = [&](std::optional<unsigned> dim) {
      return dim ? compute.getDimName(*dim) : builder.getStringAttr("");
    };
    orders.push_back(getNames(compute, own.order));
    isOrdered &= llvm::is_sorted(own.order);
    lanes.push_back(getName(own.lanes));
    unrolled.push_back(getName(own.unrolled));
    vectors.push_back(own.vectors);
  }
  auto isNone = [](Attribute name) {
    return cast<StringAttr>(name).getValue().empty();
  };
  if (!isOrdered)
    set("own", builder.getArrayAttr(orders));
  if (!llvm::all_of(lanes, isNone))
    set("own_lanes", builder.getArrayAttr(lanes));
  if (!llvm::all_of(vectors, [](int64_t number) { return number == 1; }))
    set("own_vectors", builder.getDenseI64ArrayAttr(vectors));
  if (!llvm::all_of(unrolled, isNone))
    set("own_unrolled", builder.getArrayAttr(unrolled));
}

void PlanBuilder::create(Value handle) {
  auto toNames = [&](ArrayRef<std::string> names) {
    return builder.getStrArrayAttr(llvm::map_to_vector(
        names, [](const std::string &name) { return StringRef(name); }));
  };
  ArrayRef<std::string> others = ArrayRef(plan.computations).drop_front();
  if (!others.empty())
    set("others", toNames(others));
  set("shared", builder.getI64IntegerAttr(plan.numShared));
  setNumber("inside", plan.numInside, 0);
  setNumber("window", plan.numWindow, 0);
  setDims("loops", plan.loops);
  setNumber("parallel", plan.numParallel, 0);
  setNumber("around_rest", plan.numAroundRest, 0);
  setTile();
  setDim("blocked", plan.block);
  if (plan.block)
    setNumber("block_size", plan.blockSize, 0);
  setDims("inside_sum", plan.insideSum);
  if (!plan.insideSum.empty())
    setNumber("terms", plan.terms, 0);
  if (plan.unrollTerms)
    set("unroll_terms", builder.getUnitAttr());
  setOwn();
  if (!plan.kept.empty())
    set("keep", toNames(plan.kept));
  if (plan.fetch != Fetch::None) {
    set("fetch", FetchAttr::get(builder.getContext(), plan.fetch));
    setNumber("ahead", plan.ahead, 1);
  }
  if (plan.fetchResults)
    set("fetch_results", builder.getUnitAttr());
  // No number is open.
  PlanOp::Properties properties;
  SmallVector<int32_t> segments(properties.operandSegmentSizes.size());
  segments.front() = 1;
  set(PlanOp::getOperandSegmentSizeAttr(),
      builder.getDenseI32ArrayAttr(segments));
  state.addOperands(handle);
  builder.create(state);
}

/// Adds the commands for one kernel.
static void addPlans(OpBuilder &builder, Value module, KernelOp kernel,
                     ArrayRef<Plan> plans) {
  for (const Plan &plan : plans) {
    auto name =
        SymbolRefAttr::get(kernel.getSymNameAttr(),
                           FlatSymbolRefAttr::get(builder.getContext(),
                                                  plan.computations.front()));
    auto handle = ComputationOp::create(builder, kernel.getLoc(),
                                        module.getType(), module, name);
    PlanBuilder(builder, kernel, plan).create(handle.getComputation());
  }
}

OwningOpRef<ModuleOp> espalier::poly::makeDefaultScript(ModuleOp module,
                                                        TargetAttr target,
                                                        StringRef name) {
  MLIRContext *context = module.getContext();
  context->loadDialect<transform::TransformDialect>();
  OpBuilder builder(context);
  Location loc = module.getLoc();
  OwningOpRef<ModuleOp> script(ModuleOp::create(builder, loc));
  (*script)->setAttr(transform::TransformDialect::kWithNamedSequenceAttrName,
                     builder.getUnitAttr());
  builder.setInsertionPointToEnd(script->getBody());
  auto handle = transform::AnyOpType::get(context);
  auto sequence = transform::NamedSequenceOp::create(
      builder, loc, transform::TransformDialect::kTransformEntryPointSymbolName,
      handle, TypeRange(), [&](OpBuilder &body, Location, BlockArgument root) {
        for (auto kernel : module.getOps<KernelOp>())
          if (!kernel.getComputes().empty() &&
              (name.empty()
                   ? !kernel.getSchedule()
                   : kernel.getSymName() == name && hasProgramOrder(kernel)))
            addPlans(body, root, kernel,
                     chooseLegalSchedule(kernel,
                                         target ? target : getTarget(kernel)));
        transform::YieldOp::create(body, loc);
      });
  sequence.setArgAttr(0, transform::TransformDialect::kArgReadOnlyAttrName,
                      builder.getUnitAttr());
  return script;
}
