//===- PolyScheduleOps.cpp - Schedule trees -------------------------------===//

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier::poly;

Operation *espalier::poly::getChildNode(Region &region) {
  if (region.empty() || region.front().empty())
    return nullptr;
  return &region.front().front();
}

AffineMap BandOp::getMap(StringRef computation) {
  for (auto [name, map] :
       llvm::zip_equal(getComputations().getAsValueRange<FlatSymbolRefAttr>(),
                       getMaps().getAsValueRange<AffineMapAttr>()))
    if (name == computation)
      return map;
  return {};
}

//===----------------------------------------------------------------------===//
// Verification, from the root down
//===----------------------------------------------------------------------===//

namespace {
/// Names of the computations that reach a node.
using Names = llvm::SmallSetVector<StringRef, 4>;

/// Checks a schedule tree against the computations of its kernel.
class TreeVerifier {
public:
  explicit TreeVerifier(KernelOp kernel)
      : numParams(kernel.getNumParameters()) {
    for (ComputeOp compute : kernel.getComputes()) {
      all.insert(compute.getSymName());
      numDims[compute.getSymName()] = compute.getNumDims();
      numReads[compute.getSymName()] = compute.getReads().size();
      numWrites[compute.getSymName()] = compute.getWrites().size();
    }
  }

  /// Checks the node below `parent`, which `names` reach.
  LogicalResult verifyChild(Operation *parent, const Names &names);
  const Names &getAll() const { return all; }

private:
  LogicalResult verifyBand(BandOp band, const Names &names);
  LogicalResult verifySequence(SequenceOp sequence, const Names &names);
  LogicalResult verifyFilter(FilterOp filter, const Names &names);
  LogicalResult verifyPrefetch(PrefetchOp prefetch, const Names &names);

  Names all;
  llvm::StringMap<unsigned> numDims, numReads, numWrites;
  /// Names of the loops that each computation has met.
  llvm::StringMap<llvm::StringSet<>> loopNames;
  unsigned numParams;
};
} // namespace

static std::string join(const Names &names) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(names, os, [&](StringRef name) { os << "@" << name; });
  os << "]";
  return text;
}

static Names getNames(ArrayAttr computations) {
  Names names;
  for (StringRef name : computations.getAsValueRange<FlatSymbolRefAttr>())
    names.insert(name);
  return names;
}

LogicalResult TreeVerifier::verifyBand(BandOp band, const Names &names) {
  // C1
  Names own = getNames(band.getComputations());
  if (own.size() != band.getComputations().size() ||
      own.size() != names.size() ||
      !llvm::all_of(own, [&](StringRef name) { return names.contains(name); }))
    return band.emitOpError("expects the computations that reach it, ")
           << join(names) << ", each once, but got " << band.getComputations();

  // C2
  if (band.getMaps().size() != own.size())
    return band.emitOpError("expects one map per computation, but got ")
           << band.getMaps().size() << " for " << own.size();
  size_t numLoops = band.getLoops().size();
  for (auto [name, attr] :
       llvm::zip_equal(own, band.getMaps().getAsRange<AffineMapAttr>())) {
    AffineMap map = attr.getValue();
    if (map.getNumDims() != numDims[name] || map.getNumSymbols() != numParams ||
        map.getNumResults() != numLoops)
      return band.emitOpError("expects a map from ")
             << numDims[name] << " dimensions and " << numParams
             << " parameters to " << numLoops << " loops for @" << name
             << ", but got " << attr;
    // C5
    for (AffineExpr loop : map.getResults())
      if (std::string fault = findAffineFault(loop); !fault.empty())
        return band.emitOpError("expects loops over @")
               << name << " by " << fault;
  }

  // C3
  if (numLoops == 0)
    return band.emitOpError("expects at least one loop");

  // C4
  if (std::optional<ArrayAttr> loopNames = band.getNames()) {
    if (loopNames->size() != numLoops)
      return band.emitOpError("expects a name for each of ")
             << numLoops << " loops, but got " << *loopNames;
    for (StringRef name : own)
      for (StringRef loop : loopNames->getAsValueRange<StringAttr>())
        if (!this->loopNames[name].insert(loop).second)
          return band.emitOpError("expects the loops of @")
                 << name << " to have different names, but two are \"" << loop
                 << "\"";
  }
  return verifyChild(band, names);
}

LogicalResult TreeVerifier::verifyFilter(FilterOp filter, const Names &names) {
  // C1
  Names own = getNames(filter.getComputations());
  if (own.empty() || own.size() != filter.getComputations().size() ||
      !llvm::all_of(own, [&](StringRef name) { return names.contains(name); }))
    return filter.emitOpError("expects some of the computations that reach "
                              "it, ")
           << join(names) << ", each once, but got "
           << filter.getComputations();

  // C2
  if (filter.getSets()) {
    if (filter.getSets()->size() != own.size())
      return filter.emitOpError("expects one set per computation, but got ")
             << filter.getSets()->size() << " for " << own.size();
    for (auto [name, attr] :
         llvm::zip_equal(own, filter.getSets()->getAsRange<IntegerSetAttr>())) {
      IntegerSet set = attr.getValue();
      if (set.getNumDims() != numDims[name] || set.getNumSymbols() != numParams)
        return filter.emitOpError("expects a set over ")
               << numDims[name] << " dimensions and " << numParams
               << " parameters for @" << name << ", but got " << attr;
    }
  }
  return verifyChild(filter, own);
}

LogicalResult TreeVerifier::verifySequence(SequenceOp sequence,
                                           const Names &names) {
  // C1
  if (!getChildNode(sequence.getBody()))
    return sequence.emitOpError("expects at least one poly.filter");
  llvm::StringSet<> whole, seen;
  for (Operation &op : sequence.getBody().front()) {
    auto filter = dyn_cast<FilterOp>(op);
    if (!filter)
      return sequence.emitOpError("expects poly.filter as children, but got ")
             << op.getName();

    // C2
    for (StringRef name : getNames(filter.getComputations())) {
      if (whole.contains(name) || (!filter.getSets() && seen.contains(name)))
        return filter.emitOpError("expects each computation in one filter, or "
                                  "in several that restrict it, but @")
               << name << " is in an earlier filter";
      seen.insert(name);
      if (!filter.getSets())
        whole.insert(name);
    }
    if (failed(verifyFilter(filter, names)))
      return failure();
  }
  for (StringRef name : names)
    if (!seen.contains(name))
      return sequence.emitOpError("expects a filter for each of ")
             << join(names) << ", but none has @" << name;
  return success();
}

LogicalResult TreeVerifier::verifyPrefetch(PrefetchOp prefetch,
                                           const Names &names) {
  // C1
  StringRef computation = prefetch.getComputation();
  if (!names.contains(computation))
    return prefetch.emitOpError("expects one of the computations that reach "
                                "it, ")
           << join(names) << ", but got @" << computation;

  // C2
  StringRef owner = prefetch.getOwnerName();
  if (!all.contains(owner))
    return prefetch.emitOpError("expects an access of one out of ")
           << join(all) << ", but got @" << owner;
  bool isWrite = prefetch.getIsWrite();
  uint64_t numAccesses = isWrite ? numWrites[owner] : numReads[owner];
  if (prefetch.getNumber() >= numAccesses)
    return prefetch.emitOpError("expects one of the ")
           << numAccesses << (isWrite ? " writes" : " reads") << " of @"
           << owner << ", but got #" << int64_t(prefetch.getNumber());

  // C3
  AffineMap at = prefetch.getAt();
  if (at.getNumDims() != numDims[computation] ||
      at.getNumSymbols() != numParams || at.getNumResults() != numDims[owner])
    return prefetch.emitOpError("expects a map from ")
           << numDims[computation] << " dimensions and " << numParams
           << " parameters to the " << numDims[owner] << " dimensions of @"
           << owner << ", but got " << prefetch.getAtAttr();
  for (AffineExpr result : at.getResults())
    if (std::string fault = findAffineFault(result); !fault.empty())
      return prefetch.emitOpError("expects a place by ") << fault;

  // C4
  int64_t bytes = prefetch.getBytes();
  if (bytes < 1 || bytes > PrefetchOp::kMaxBytes)
    return prefetch.emitOpError("expects between 1 and ")
           << PrefetchOp::kMaxBytes << " bytes, but got " << bytes;

  // C5
  for (Operation *node = prefetch->getParentOp();
       node && !isa<ScheduleOp>(node); node = node->getParentOp())
    if (auto band = dyn_cast<BandOp>(node))
      for (LoopKindAttrInterface kind : band.getLoopKinds())
        if (kind.isVector())
          return prefetch.emitOpError("expects no vector loop around it, but "
                                      "got ")
                 << kind;
  return verifyChild(prefetch, names);
}

// C1
LogicalResult MarkOp::verify() {
  if (getName() != PrefetchOp::getOperationName().split('.').second)
    return success();
  return emitOpError("expects another name than \"")
         << getName()
         << "\": what is fetched ahead is said by poly.prefetch @computation "
            "read N at MAP bytes N, or write N";
}

LogicalResult TreeVerifier::verifyChild(Operation *parent, const Names &names) {
  Region &region = parent->getRegion(0);
  Operation *child = getChildNode(region);
  if (!child) {
    // C2
    if (names.size() > 1)
      return parent->emitOpError("expects one computation to reach a leaf, "
                                 "but got ")
             << join(names);
    return success();
  }
  // C1
  if (child->getNextNode())
    return parent->emitOpError("expects at most one child, but got ")
           << region.front().getOperations().size();
  return llvm::TypeSwitch<Operation *, LogicalResult>(child)
      .Case([&](BandOp band) { return verifyBand(band, names); })
      .Case([&](SequenceOp op) { return verifySequence(op, names); })
      .Case([&](MarkOp mark) { return verifyChild(mark, names); })
      .Case([&](PrefetchOp op) { return verifyPrefetch(op, names); })
      .Default([&](Operation *op) {
        return parent->emitOpError("expects poly.band, poly.sequence, "
                                   "poly.mark or poly.prefetch as child, but "
                                   "got ")
               << op->getName();
      });
}

LogicalResult ScheduleOp::verifyRegions() {
  TreeVerifier verifier(cast<KernelOp>((*this)->getParentOp()));
  return verifier.verifyChild(*this, verifier.getAll());
}
