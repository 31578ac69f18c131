//===- CollapseDimensions.cpp - Dimensions that are walked as one ---------===//
//
// A kernel that walks two dimensions of its arrays only as they lie in memory
// walks one dimension of as many points:
//
//   Y[c, y, x] = f(X[c, y, x], B[c])   for c < C, y < 7, x < 7
//
// becomes  Y[c, p] = f(X[c, p], B[c])   for c < C, p < 49
//
// It starts from two dimensions of a computation beside each other, and follows
// them: each array that is indexed by both has one index for them then, so
// every other access to it has to agree, in the same way, and so on.
//
//===----------------------------------------------------------------------===//

#include "KernelArguments.h"
#include "espalier/Dialect/Poly/Program/Passes.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYCOLLAPSEDIMENSIONSPASS
#include "espalier/Dialect/Poly/Program/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier::poly;

namespace {

/// Two dimensions of a computation, the first and the one after it, and how
/// many points they have.
struct DimPair {
  unsigned first;
  int64_t outer, inner;
};

/// What a computation says of its dimensions.
struct Facts {
  explicit Facts(ComputeOp compute);

  /// How many points each dimension has, which begins at 0; nothing if that is
  /// not known, or depends on others.
  SmallVector<std::optional<int64_t>> extents;
  /// The reads and writes. In sums of dimensions, those that have a single
  /// point are left out: the only tap of a 1x1 convolution.
  SmallVector<ComputeAccess> accesses;
};

/// The computations of a kernel, in program order.
using KernelFacts = llvm::MapVector<Operation *, Facts>;

/// The dimensions of computations and of arrays that become one together.
class Collapse {
public:
  explicit Collapse(const KernelFacts &facts) : facts(facts) {}
  /// Whether dimension `first` of `compute` and the one after it can become
  /// one, with all that has to follow.
  bool find(ComputeOp compute, unsigned first);
  /// Rewrites computations and arrays; the facts are of before then.
  void apply();
  /// The first of two dimensions of each array that become one.
  const llvm::MapVector<Value, unsigned> &getArrays() const { return arrays; }

private:
  bool addPair(Operation *compute, unsigned first);
  bool addArray(Value array, unsigned first);
  bool follow(Operation *compute, const ComputeAccess &access);
  bool followAll();
  /// Whether an access of `compute` is over other dimensions after that.
  bool concerns(Operation *compute, const ComputeAccess &access) const {
    return computes.contains(compute) || arrays.contains(access.array);
  }
  /// The access over the dimensions after that; null if it is none.
  AffineMap rewrite(Operation *compute, const ComputeAccess &access) const;

  const KernelFacts &facts;
  llvm::MapVector<Operation *, DimPair> computes;
  llvm::MapVector<Value, unsigned> arrays;
};

} // namespace

/// Reads all `constraint` >= 0 on dimension `dim` alone as the range of that;
/// fails for others that it is in.
static std::optional<std::pair<int64_t, int64_t>> getRange(IntegerSet set,
                                                           unsigned dim) {
  AffineExpr self = getAffineDimExpr(dim, set.getContext());
  std::optional<int64_t> least, most;
  for (auto [constraint, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    if (!constraint.isFunctionOfDim(dim))
      continue;
    auto getNumber = [&](AffineExpr expr) {
      auto number = dyn_cast<AffineConstantExpr>(
          simplifyAffineExpr(expr, set.getNumDims(), set.getNumSymbols()));
      return number ? std::optional(number.getValue()) : std::nullopt;
    };
    std::optional<int64_t> below = getNumber(constraint - self);
    std::optional<int64_t> above = getNumber(constraint + self);
    if (isEquality || (!below && !above))
      return std::nullopt;
    if (below)
      least = std::max(least.value_or(-*below), -*below);
    else
      most = std::min(most.value_or(*above), *above);
  }
  if (!least || !most)
    return std::nullopt;
  return std::pair(*least, *most);
}

/// The extent of a dimension, as a fact.
static std::optional<int64_t> getExtent(ArrayRef<IntegerSet> domain,
                                        unsigned dim) {
  std::optional<int64_t> extent;
  for (IntegerSet set : domain) {
    auto range = getRange(set, dim);
    if (!range || range->first != 0 || range->second < 0 ||
        (extent && *extent != range->second + 1))
      return std::nullopt;
    extent = range->second + 1;
  }
  return extent;
}

Facts::Facts(ComputeOp compute) {
  MLIRContext *context = compute.getContext();
  SmallVector<IntegerSet> domain = compute.getDomainSets();
  SmallVector<AffineExpr> points;
  for (unsigned dim = 0; dim < compute.getNumDims(); ++dim) {
    extents.push_back(getExtent(domain, dim));
    points.push_back(extents.back() == 1 ? getAffineConstantExpr(0, context)
                                         : getAffineDimExpr(dim, context));
  }
  accesses = compute.getReadAccesses();
  llvm::append_range(accesses, compute.getWriteAccesses());
  for (ComputeAccess &access : accesses) {
    SmallVector<AffineExpr> results;
    for (AffineExpr result : access.map.getResults())
      results.push_back(
          isa<AffineDimExpr>(result) ? result : result.replaceDims(points));
    access.map = AffineMap::get(access.map.getNumDims(),
                                access.map.getNumSymbols(), results, context);
  }
}

static KernelFacts getFacts(KernelOp kernel) {
  KernelFacts facts;
  for (ComputeOp compute : kernel.getComputes())
    facts.insert({compute, Facts(compute)});
  return facts;
}

/// `expr` over all dimensions but `dropped`, which it does not depend on.
static AffineExpr dropDim(AffineExpr expr, unsigned numDims, unsigned dropped) {
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < numDims; ++dim)
    dims.push_back(
        getAffineDimExpr(dim > dropped ? dim - 1 : dim, expr.getContext()));
  return expr.replaceDims(dims);
}

bool Collapse::addPair(Operation *op, unsigned first) {
  auto known = computes.find(op);
  if (known != computes.end())
    return known->second.first == first;
  auto compute = cast<ComputeOp>(op);
  ArrayRef<std::optional<int64_t>> extents = facts.find(op)->second.extents;
  if (first + 1 >= extents.size() || compute.getWhere())
    return false;
  std::optional<int64_t> outer = extents[first], inner = extents[first + 1];
  if (!outer || !inner || *outer > kMaxIndexNumber / *inner)
    return false;
  WalkResult indices = compute.getBody().walk([&](IndexOp index) {
    return index.getDim() == first || index.getDim() == first + 1
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (indices.wasInterrupted())
    return false;
  computes.insert({op, {first, *outer, *inner}});
  return true;
}

/// Whether two dimensions of an array can become one: nobody sees it in another
/// way than by the accesses of computations.
static bool isPlain(Value array, unsigned first) {
  auto type = cast<MemRefType>(array.getType());
  if (!type.getLayout().isIdentity() || type.isDynamicDim(first) ||
      type.isDynamicDim(first + 1) ||
      !llvm::all_of(array.getUsers(), llvm::IsaPred<ComputeOp>))
    return false;
  if (auto op = array.getDefiningOp<ArrayOp>())
    return !op.getStorage();
  auto argument = cast<BlockArgument>(array);
  auto kernel = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return kernel.getArgAttrs(argument.getArgNumber()).empty();
}

bool Collapse::addArray(Value array, unsigned first) {
  auto [known, isNew] = arrays.insert({array, first});
  return isNew ? isPlain(array, first) : known->second == first;
}

/// The number of a result that is dimension `dim`, with the next one after it;
/// nothing if none is.
static std::optional<unsigned> findResults(AffineMap map, unsigned dim) {
  for (unsigned number = 0; number + 1 < map.getNumResults(); ++number)
    if (map.getResult(number) == getAffineDimExpr(dim, map.getContext()) &&
        map.getResult(number + 1) ==
            getAffineDimExpr(dim + 1, map.getContext()))
      return number;
  return std::nullopt;
}

bool Collapse::follow(Operation *compute, const ComputeAccess &access) {
  if (auto array = arrays.find(access.array); array != arrays.end()) {
    AffineExpr outer = access.map.getResult(array->second);
    AffineExpr inner = access.map.getResult(array->second + 1);
    auto dim = dyn_cast<AffineDimExpr>(outer);
    bool isPair = dim && inner == getAffineDimExpr(dim.getPosition() + 1,
                                                   outer.getContext());
    bool isPoint =
        isa<AffineConstantExpr>(outer) && isa<AffineConstantExpr>(inner);
    if (!isPoint && !(isPair && addPair(compute, dim.getPosition())))
      return false;
  }
  auto pair = computes.find(compute);
  std::optional<unsigned> results =
      pair == computes.end() ? std::nullopt
                             : findResults(access.map, pair->second.first);
  return !results || addArray(access.array, *results);
}

bool Collapse::followAll() {
  for (size_t before = 0; before != computes.size() + arrays.size();) {
    before = computes.size() + arrays.size();
    for (const auto &[compute, own] : facts)
      for (const ComputeAccess &access : own.accesses)
        if (!follow(compute, access))
          return false;
  }
  return true;
}

bool Collapse::find(ComputeOp compute, unsigned first) {
  return addPair(compute, first) && followAll() &&
         llvm::all_of(facts, [&](const auto &other) {
           return llvm::all_of(other.second.accesses,
                               [&](const ComputeAccess &access) {
                                 return !concerns(other.first, access) ||
                                        bool(rewrite(other.first, access));
                               });
         });
}

AffineMap Collapse::rewrite(Operation *compute,
                            const ComputeAccess &access) const {
  AffineMap map = access.map;
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> results(map.getResults());
  if (auto array = arrays.find(access.array); array != arrays.end()) {
    unsigned first = array->second;
    int64_t inner = access.getType().getDimSize(first + 1);
    results[first] = results[first] * inner + results[first + 1];
    results.erase(results.begin() + first + 1);
  }
  unsigned numDims = map.getNumDims();
  auto own = computes.find(compute);
  if (own != computes.end()) {
    const DimPair &pair = own->second;
    AffineExpr first = getAffineDimExpr(pair.first, context);
    AffineExpr second = getAffineDimExpr(pair.first + 1, context);
    AffineExpr zero = getAffineConstantExpr(0, context);
    AffineExpr both = first * pair.inner + second;
    for (AffineExpr &result : results) {
      // What it is where the first is 0 has to say it for all points, and where
      // the second is, if that is a point itself.
      AffineExpr collapsed =
          pair.inner == 1 ? result.replace(second, zero)
                          : result.replace({{first, zero}, {second, first}});
      AffineExpr difference = collapsed.replace(first, both) - result;
      if (pair.outer == 1)
        difference = difference.replace(first, zero);
      if (pair.inner == 1)
        difference = difference.replace(second, zero);
      if (simplifyAffineExpr(difference, numDims, map.getNumSymbols()) != zero)
        return {};
      result = dropDim(collapsed, numDims, pair.first + 1);
    }
    --numDims;
  }
  return simplifyAffineMap(
      AffineMap::get(numDims, map.getNumSymbols(), results, context));
}

/// The domain with one dimension in place of two that begin at 0.
static IntegerSet collapse(IntegerSet set, const DimPair &pair) {
  AffineExpr self = getAffineDimExpr(pair.first, set.getContext());
  SmallVector<AffineExpr> constraints{self, pair.outer * pair.inner - 1 - self};
  SmallVector<bool> isEquality(2, false);
  for (auto [constraint, equals] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    if (constraint.isFunctionOfDim(pair.first) ||
        constraint.isFunctionOfDim(pair.first + 1))
      continue;
    constraints.push_back(
        dropDim(constraint, set.getNumDims(), pair.first + 1));
    isEquality.push_back(equals);
  }
  return IntegerSet::get(set.getNumDims() - 1, set.getNumSymbols(), constraints,
                         isEquality);
}

static void collapseDims(ComputeOp compute, const DimPair &pair) {
  SmallVector<Attribute> domain;
  for (IntegerSet set : compute.getDomainSets())
    domain.push_back(IntegerSetAttr::get(collapse(set, pair)));
  compute.setDomainAttr(ArrayAttr::get(compute.getContext(), domain));
  if (std::optional<ArrayAttr> names = compute.getDims()) {
    SmallVector<Attribute> kept(names->begin(), names->end());
    kept.erase(kept.begin() + pair.first + 1);
    compute.setDimsAttr(ArrayAttr::get(compute.getContext(), kept));
  }
  compute.getBody().walk([&](IndexOp index) {
    if (index.getDim() > pair.first)
      index.setDim(index.getDim() - 1);
  });
}

void Collapse::apply() {
  // Maps are read with the shapes of before.
  SmallVector<std::pair<ComputeOp, SmallVector<AffineMap>>> maps;
  for (const auto &[compute, known] : facts) {
    auto &own =
        maps.emplace_back(cast<ComputeOp>(compute), SmallVector<AffineMap>())
            .second;
    for (const ComputeAccess &access : known.accesses)
      own.push_back(rewrite(compute, access));
  }
  for (auto &[compute, own] : maps) {
    auto next = own.begin();
    updateAccesses(compute,
                   [&](ComputeAccess &access) { access.map = *next++; });
  }
  for (auto &[compute, pair] : computes)
    collapseDims(cast<ComputeOp>(compute), pair);
  for (auto [array, first] : arrays) {
    auto type = cast<MemRefType>(array.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[first] *= shape[first + 1];
    shape.erase(shape.begin() + first + 1);
    array.setType(MemRefType::get(shape, type.getElementType(), AffineMap(),
                                  type.getMemorySpace()));
  }
}

/// Whether lanes run over both dimensions, since some array has no other inside
/// of them; or the rows of a sum's register tile do, around its lanes. There is
/// nothing to gain from others.
static bool isInnermost(ComputeOp compute, const Facts &facts, unsigned first) {
  unsigned most = compute.getReduction() ? 1 : 0;
  return llvm::any_of(facts.accesses, [&](const ComputeAccess &access) {
    std::optional<unsigned> results = findResults(access.map, first);
    return results && *results + 2 + most >= access.map.getNumResults();
  });
}

/// Makes one dimension of two of a value's groups of dimensions.
static void join(SmallVector<ReassociationIndices> &groups, unsigned first) {
  llvm::append_range(groups[first], groups[first + 1]);
  groups.erase(groups.begin() + first + 1);
}

/// Collapses what can be in a kernel, and passes views of what it is called
/// with. Returns how many dimensions are gone.
static unsigned collapseKernel(KernelCall call) {
  auto [op, kernel] = call;
  if (llvm::any_of(kernel.getComputes(), [](ComputeOp compute) {
        return compute.getInterleaved().has_value();
      }))
    return 0;
  // The dimensions of before of each argument's dimensions.
  SmallVector<SmallVector<ReassociationIndices>> groups;
  for (Type type : kernel.getArgumentTypes()) {
    auto &own = groups.emplace_back();
    if (auto memory = dyn_cast<MemRefType>(type))
      for (int64_t dim = 0; dim < memory.getRank(); ++dim)
        own.push_back({dim});
  }
  unsigned count = 0;
  KernelFacts facts = getFacts(kernel);
  for (ComputeOp compute : kernel.getComputes())
    for (unsigned first = compute.getNumDims(); first-- > 0;) {
      Collapse collapse(facts);
      if (!isInnermost(compute, facts.find(compute)->second, first) ||
          !collapse.find(compute, first))
        continue;
      for (auto [array, place] : collapse.getArrays())
        if (auto argument = dyn_cast<BlockArgument>(array))
          join(groups[argument.getArgNumber()], place);
      collapse.apply();
      facts = getFacts(kernel);
      ++count;
    }
  OpBuilder builder(op);
  for (BlockArgument argument : kernel.getArguments()) {
    Value operand = call.getOperand(argument);
    if (operand.getType() != argument.getType())
      operand = memref::CollapseShapeOp::create(
          builder, op.getLoc(), cast<MemRefType>(argument.getType()), operand,
          groups[argument.getArgNumber()]);
    replaceOperand(call, argument, operand);
  }
  return count;
}

namespace {
struct PolyCollapseDimensionsPass
    : espalier::poly::impl::PolyCollapseDimensionsPassBase<
          PolyCollapseDimensionsPass> {
  void runOnOperation() override {
    llvm::StringMap<SmallVector<CallOp, 1>> callsOf;
    getOperation().walk(
        [&](CallOp call) { callsOf[call.getCallee()].push_back(call); });
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      ArrayRef<CallOp> calls = callsOf[kernel.getSymName()];
      if (!kernel.isPrivate() || kernel.getSchedule() || calls.size() != 1)
        continue;
      unsigned count = collapseKernel({calls.front(), kernel});
      numCollapsed += count;
      if (count > 0)
        remark::passed(
            kernel.getLoc(),
            remark::RemarkOpts::name("Collapsed").category(getArgument()))
            << remark::metric("Dimensions", count);
    }
  }
};
} // namespace
