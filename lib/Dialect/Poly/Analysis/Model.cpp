//===- Model.cpp - Kernels as the polyhedral engine sees them -------------===//

#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

static std::string describeArgument(BlockArgument argument) {
  auto kernel = cast<KernelOp>(argument.getOwner()->getParentOp());
  unsigned number = argument.getArgNumber();
  if (kernel.getArgAttr(number, "espalier.name"))
    return "'" + kernel.getArgumentName(number) + "'";
  return "argument #" + llvm::utostr(number);
}

std::string espalier::poly::describeArray(Value array) {
  if (auto argument = dyn_cast<BlockArgument>(array))
    return describeArgument(argument);
  auto local = array.getDefiningOp<ArrayOp>();
  if (auto name = local->getAttrOfType<StringAttr>("espalier.name"))
    return "'" + name.str() + "'";
  auto arrays = local->getParentOfType<KernelOp>().getArrays();
  return "array #" + llvm::utostr(llvm::find(arrays, local) - arrays.begin());
}

/// What is stated of the values of an argument, if anything.
static std::optional<polyhedral::ValueConstraints> getFacts(KernelOp kernel,
                                                            Value array) {
  auto argument = dyn_cast<BlockArgument>(array);
  if (!argument)
    return std::nullopt;
  polyhedral::ValueConstraints facts;
  unsigned number = argument.getArgNumber();
  if (auto bound = kernel.getArgAttrOfType<AffineMapAttr>(
          number, KernelOp::getBoundAttrName()))
    facts.bound = bound.getValue().getResult(0);
  facts.isMonotonic =
      bool(kernel.getArgAttr(number, KernelOp::getMonotonicAttrName()));
  facts.isInjective =
      bool(kernel.getArgAttr(number, KernelOp::getInjectiveAttrName()));
  if (!facts.bound && !facts.isMonotonic)
    return std::nullopt;
  return facts;
}

KernelModel espalier::poly::buildModel(KernelOp kernel) {
  KernelModel model;
  model.program.context = kernel.getContext();
  model.program.numParams = kernel.getNumParameters();
  for (BlockArgument parameter : kernel.getParameters())
    if (auto name = kernel.getArgAttrOfType<StringAttr>(
            parameter.getArgNumber(), "espalier.name"))
      model.program.paramNames.push_back(name.str());
  if (model.program.paramNames.size() != model.program.numParams)
    model.program.paramNames.clear();
  model.program.assumptions = kernel.getAssumptions();
  model.computes = kernel.getComputes();
  llvm::SmallMapVector<Value, unsigned, 8> numbers;
  auto translate = [&](ArrayRef<ComputeAccess> accesses) {
    return llvm::map_to_vector(accesses, [&](const ComputeAccess &access) {
      unsigned next = numbers.size();
      unsigned number = numbers.try_emplace(access.array, next).first->second;
      return polyhedral::Access{number, access.map};
    });
  };
  for (ComputeOp compute : model.computes) {
    polyhedral::Statement statement;
    statement.name = compute.getSymName().str();
    statement.numDims = compute.getNumDims();
    for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
      statement.dimNames.push_back(compute.getDimName(dim).str());
    statement.domain = compute.getDomainSets();
    statement.where = compute.getWhere().value_or(IntegerSet());
    statement.reads = translate(compute.getReadAccesses());
    statement.writes = translate(compute.getWriteAccesses());
    statement.values = statement.reads;
    statement.numInterleaved = compute.getInterleaved().value_or(0);
    statement.isReduction = compute.hasAnyOrder();
    statement.joinsLanes = compute.getReduction().has_value();
    statement.isAtomic = compute.getAtomic();
    model.program.statements.push_back(std::move(statement));
  }
  for (GivenOp given : kernel.getGivens())
    model.program.givens.push_back({given.getNumDims(), given.getDomainSets(),
                                    given.getWhere().value_or(IntegerSet()),
                                    translate(given.getReadAccesses()),
                                    given.getHolds()});
  for (auto [array, number] : numbers) {
    model.arrays.push_back(array);
    if (auto facts = getFacts(kernel, array))
      model.program.facts[number] = *facts;
    auto local = array.getDefiningOp<ArrayOp>();
    if (!local)
      continue;
    AffineMap map;
    MemorySpaceAttrInterface space = local.getPlacement();
    if (local.getStorage())
      map = *local.getStorage();
    else if (!space.isShared())
      map = AffineMap::getMultiDimIdentityMap(
          cast<MemRefType>(array.getType()).getRank(), kernel.getContext());
    if (!map)
      continue;
    polyhedral::Storage &storage = model.program.storages.emplace_back();
    storage.array = number;
    storage.map = map;
    storage.name = describeArray(array);
    if (space.isShared())
      continue;
    storage.space = space.toText();
    storage.isSharedBy = [space](Attribute loop) {
      return space.isSharedBy(cast<LoopKindAttrInterface>(loop));
    };
  }
  return model;
}

//===----------------------------------------------------------------------===//
// Schedule trees
//===----------------------------------------------------------------------===//

/// The tag of a prefetch: its attributes, below the operation's name.
static DictionaryAttr tagPrefetch(PrefetchOp prefetch) {
  return DictionaryAttr::get(prefetch.getContext(),
                             NamedAttribute(PrefetchOp::getOperationName(),
                                            prefetch->getAttrDictionary()));
}

DictionaryAttr espalier::poly::getPrefetch(Attribute tag) {
  auto mark = cast<DictionaryAttr>(tag);
  // All marks have names.
  return mark.contains("name")
             ? DictionaryAttr()
             : mark.getAs<DictionaryAttr>(PrefetchOp::getOperationName());
}

namespace {
/// Translates nodes, naming computations by their statements.
class TreeBuilder {
public:
  TreeBuilder(const KernelModel &model, BandNodes *nodes) : nodes(nodes) {
    for (auto [number, compute] : llvm::enumerate(model.computes))
      numbers[compute->getAttrOfType<StringAttr>(
          SymbolTable::getSymbolAttrName())] = number;
  }

  polyhedral::ScheduleTree buildChild(Region &region) {
    Operation *child = getChildNode(region);
    return child ? build(child) : nullptr;
  }

private:
  unsigned getNumber(Attribute computation) {
    return numbers.lookup(cast<FlatSymbolRefAttr>(computation).getAttr());
  }
  polyhedral::ScheduleTree build(Operation *op) {
    return llvm::TypeSwitch<Operation *, polyhedral::ScheduleTree>(op)
        .Case([&](BandOp band) { return buildBand(band); })
        .Case([&](SequenceOp sequence) { return buildSequence(sequence); })
        .Case([&](MarkOp mark) {
          return polyhedral::makeMark(mark->getAttrDictionary(),
                                      buildChild(mark.getBody()));
        })
        .Case([&](PrefetchOp prefetch) {
          return polyhedral::makeMark(tagPrefetch(prefetch),
                                      buildChild(prefetch.getBody()));
        });
  }
  polyhedral::ScheduleTree buildBand(BandOp band);
  polyhedral::ScheduleTree buildSequence(SequenceOp sequence);

  BandNodes *nodes;
  llvm::DenseMap<StringAttr, unsigned> numbers;
};
} // namespace

static polyhedral::BandMember toMember(LoopKindAttrInterface loop) {
  polyhedral::BandMember member;
  member.tag = loop;
  // Unrolled loops stay loops here: code generation copies their bodies.
  if (loop.isParallel())
    member.concurrency = polyhedral::Concurrency::Parallel;
  if (loop.isVector())
    member.concurrency = polyhedral::Concurrency::Lanes;
  return member;
}

polyhedral::ScheduleTree TreeBuilder::buildBand(BandOp band) {
  SmallVector<polyhedral::BandMap> maps;
  for (auto [computation, map] : llvm::zip_equal(
           band.getComputations(), band.getMaps().getAsRange<AffineMapAttr>()))
    maps.push_back({getNumber(computation), map.getValue()});
  polyhedral::ScheduleTree node = polyhedral::makeBand(
      maps, llvm::map_to_vector(band.getLoopKinds(), toMember),
      buildChild(band.getBody()));
  node->separateFullTiles = band.getFullTiles();
  if (nodes)
    (*nodes)[band] = node.get();
  return node;
}

polyhedral::ScheduleTree TreeBuilder::buildSequence(SequenceOp sequence) {
  std::vector<polyhedral::ScheduleTree> children;
  for (auto filter : sequence.getBody().getOps<FilterOp>()) {
    SmallVector<polyhedral::FilterSet> sets;
    for (auto [position, computation] :
         llvm::enumerate(filter.getComputations())) {
      IntegerSet set;
      if (auto restrictions = filter.getSets())
        set = cast<IntegerSetAttr>((*restrictions)[position]).getValue();
      sets.push_back({getNumber(computation), set});
    }
    children.push_back(
        polyhedral::makeFilter(sets, buildChild(filter.getBody())));
  }
  return polyhedral::makeSequence(std::move(children));
}

polyhedral::ScheduleTree
espalier::poly::buildScheduleTree(const KernelModel &model, ScheduleOp schedule,
                                  BandNodes *nodes) {
  if (!schedule)
    return polyhedral::makeProgramOrder(model.program);
  return TreeBuilder(model, nodes).buildChild(schedule.getBody());
}

llvm::Expected<polyhedral::Ast>
espalier::poly::scanKernel(const KernelModel &model, ScheduleOp schedule,
                           const polyhedral::Limits &limits) {
  polyhedral::ScheduleTree tree = buildScheduleTree(model, schedule);
  return polyhedral::scanSchedule(model.program, tree.get(), limits);
}
