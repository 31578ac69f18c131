//===- PushReductions.cpp - Updates of the elements that data names -------===//
//
// A reduction that looks for the points which name its element,
//
//   A[i, j] += V[m, j] if I[m] == i            for i < N, j < J, m < M
//
// meets N * J * M of them. Each of the points names one element, and updates
// it:
//
//   A[I[m], j] += V[m, j] where 0 <= I[m] < N  for m < M, j < J
//
// So the equation is solved for `i`, which is the value that is read in all
// accesses and conditions then, and no dimension any more. What bounded it
// leaves out the points that name no element. Updates that replace an element
// are no reductions: they keep their order.
//
//===----------------------------------------------------------------------===//

#include "PushReductions.h"
#include "KernelArguments.h"
#include "espalier/Dialect/Poly/IR/IndexData.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "espalier/Dialect/Poly/Program/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYPUSHREDUCTIONSPASS
#include "espalier/Dialect/Poly/Program/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier::poly;

namespace {

/// The value of a read that a dimension has to be.
struct Solution {
  unsigned dim, read;
};

/// A reduction over fewer dimensions.
class Push {
public:
  explicit Push(ComputeOp compute)
      : compute(compute), reads(compute.getReadAccesses()),
        numParams(compute.getKernel().getNumParameters()) {}
  /// Whether there are dimensions that values stand for.
  bool find(int64_t minPoints, int64_t minUpdates);
  void apply();

private:
  bool findSelect();
  /// The same for a value that an element is replaced by, or stays.
  bool findReplaced();
  void findSolutions();
  bool solve(Value condition);
  bool canRewrite();
  /// Whether a point names one of at least so many elements, as far as is
  /// known, and, where the element says where to read, one meets so many
  /// points.
  bool saves(int64_t minPoints, int64_t minUpdates);
  /// The read whose value stands for dimension `dim`.
  const Solution *lookup(unsigned dim) const;
  bool usesSolved(AffineMap map) const;
  /// The dimensions that are left, in the order in which the values lie in
  /// memory.
  SmallVector<unsigned> getKept();
  void rewritePoints(ArrayRef<AffineExpr> dims, unsigned numKept);
  void rewriteBody(ArrayRef<unsigned> kept);

  ComputeOp compute;
  SmallVector<ComputeAccess> reads;
  unsigned numParams;
  arith::SelectOp select;
  SmallVector<Solution> solutions;
  SmallVector<Value> others; ///< What else is asked of a point.
};

} // namespace

/// What `value` is the same number as, without casts that keep numbers.
static Value skipCasts(Value value) {
  auto getWidth = [](Type type) {
    return type.isIndex() ? IndexType::kInternalStorageBitWidth
                          : type.getIntOrFloatBitWidth();
  };
  Operation *op = value.getDefiningOp();
  while (isa_and_nonnull<arith::IndexCastOp, arith::ExtSIOp>(op) &&
         getWidth(op->getOperand(0).getType()) <=
             getWidth(op->getResult(0).getType())) {
    value = op->getOperand(0);
    op = value.getDefiningOp();
  }
  return value;
}

/// Whether no element that `compute` updates is ever -0.0: others store numbers
/// that are not in an array of the kernel, and sums are not then.
static bool isNeverNegativeZero(ComputeOp compute) {
  Value array = compute.getWrites().front();
  return array.getDefiningOp<ArrayOp>() &&
         llvm::all_of(array.getUsers(), [&](Operation *user) {
           auto writer = dyn_cast<ComputeOp>(user);
           if (!writer || writer == compute ||
               !llvm::is_contained(writer.getWrites(), array))
             return true;
           return llvm::all_of(writer.getYield().getValues(), [](Value value) {
             FloatAttr number;
             return matchPattern(value, m_Constant(&number)) &&
                    !number.getValue().isNegZero();
           });
         });
}

/// Whether combining an element with `value` changes nothing.
static bool isNeutral(ComputeOp compute, const ReductionUpdate &update,
                      Value value) {
  TypedAttr number;
  if (!matchPattern(value, m_Constant(&number)))
    return false;
  auto real = dyn_cast<FloatAttr>(number);
  return number == update.neutral ||
         (real && real.getValue().isPosZero() &&
          update.combiner == arith::AddFOp::getOperationName() &&
          isNeverNegativeZero(compute));
}

bool Push::findSelect() {
  std::optional<Reduction> reduction = compute.getReduction();
  if (!reduction)
    return findReplaced();
  if (compute.getAtomic() || compute.getCombiner())
    return false;
  std::optional<ReductionUpdate> update = matchReduction(compute, *reduction);
  if (!update)
    return false;
  Operation *combined = compute.getYield().getValues().front().getDefiningOp();
  if (combined->getName().getIdentifier() != update->combiner)
    return false;
  for (Value value : combined->getOperands())
    if (auto own = value.getDefiningOp<arith::SelectOp>();
        own && isNeutral(compute, *update, own.getFalseValue())) {
      select = own;
      return llvm::is_contained(combined->getOperands(),
                                reads[update->read].argument);
    }
  return false;
}

bool Push::findReplaced() {
  if (compute.getWrites().size() != 1 || compute.getCombiner())
    return false;
  select =
      compute.getYield().getValues().front().getDefiningOp<arith::SelectOp>();
  auto element = select ? dyn_cast<BlockArgument>(select.getFalseValue())
                        : BlockArgument();
  if (!element || element.getOwner() != &compute.getBody().front() ||
      !llvm::is_contained(getUpdateReads(compute), element.getArgNumber()) ||
      !llvm::hasSingleElement(element.getUses()) ||
      llvm::count(compute.getReads(), compute.getWrites().front()) != 1)
    return false;
  // The updates of one element differ in one dimension, whose order stays.
  AffineMap write = compute.getWriteAccesses().front().map;
  return llvm::count_if(llvm::seq(compute.getNumDims()), [&](unsigned dim) {
           return !write.isFunctionOfDim(dim);
         }) <= 1;
}

const Solution *Push::lookup(unsigned dim) const {
  const auto *solution = llvm::find_if(
      solutions, [&](const Solution &own) { return own.dim == dim; });
  return solution == solutions.end() ? nullptr : solution;
}

bool Push::usesSolved(AffineMap map) const {
  return llvm::any_of(solutions, [&](const Solution &solution) {
    return map.isFunctionOfDim(solution.dim);
  });
}

bool Push::solve(Value condition) {
  auto equation = condition.getDefiningOp<arith::CmpIOp>();
  if (!equation || equation.getPredicate() != arith::CmpIPredicate::eq)
    return false;
  Value lhs = skipCasts(equation.getLhs()), rhs = skipCasts(equation.getRhs());
  if (lhs.getDefiningOp<IndexOp>())
    std::swap(lhs, rhs);
  auto value = dyn_cast<BlockArgument>(lhs);
  auto index = rhs.getDefiningOp<IndexOp>();
  if (!value || !index)
    return false;
  Solution solution{static_cast<unsigned>(index.getDim()),
                    value.getArgNumber()};
  const ComputeAccess &read = reads[solution.read];
  auto isValue = [&](unsigned symbol) {
    return read.map.isFunctionOfSymbol(symbol);
  };
  // Where a value is found is known without another one.
  if (lookup(solution.dim) || usesSolved(read.map) ||
      read.map.isFunctionOfDim(solution.dim) ||
      llvm::any_of(llvm::seq(numParams, read.map.getNumSymbols()), isValue) ||
      llvm::any_of(solutions,
                   [&](const Solution &own) {
                     return reads[own.read].map.isFunctionOfDim(solution.dim);
                   }) ||
      !describeOtherData(read.array).empty() ||
      llvm::is_contained(compute.getWrites(), read.array))
    return false;
  solutions.push_back(solution);
  return true;
}

void Push::findSolutions() {
  SmallVector<Value> conditions{select.getCondition()};
  while (!conditions.empty()) {
    Value condition = conditions.pop_back_val();
    if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      conditions.push_back(both.getRhs());
      conditions.push_back(both.getLhs());
    } else if (!solve(condition)) {
      others.push_back(condition);
    }
  }
}

bool Push::canRewrite() {
  // A subscript uses values of reads before it, and what decides whether a
  // point runs uses none.
  return llvm::all_of(llvm::enumerate(reads), [&](const auto &read) {
    auto isLater = [&](const Solution &solution) {
      return read.value().map.isFunctionOfDim(solution.dim) &&
             solution.read >= read.index();
    };
    return !usesSolved(read.value().map) ||
           (llvm::none_of(solutions, isLater) &&
            !compute.isConditionedOn(read.index()));
  });
}

/// How many elements an access meets along the dimensions that are meant; at
/// most `most`, which an unknown extent counts as.
static int64_t countElements(const ComputeAccess &access, int64_t most,
                             llvm::function_ref<bool(unsigned dim)> isMeant) {
  int64_t count = 1;
  for (auto [index, extent] :
       llvm::zip_equal(access.map.getResults(), access.getType().getShape())) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    if (!dim || !isMeant(dim.getPosition()))
      continue;
    if (ShapedType::isDynamic(extent) || extent >= most)
      return most;
    count = std::min(count * extent, most);
  }
  return count;
}

bool Push::saves(int64_t minPoints, int64_t minUpdates) {
  ComputeAccess write = compute.getWriteAccesses().front();
  auto isReduced = [&](unsigned dim) {
    return !write.map.isFunctionOfDim(dim);
  };
  if (countElements(write, minPoints, [&](unsigned dim) {
        return lookup(dim) != nullptr;
      }) < minPoints)
    return false;
  return !write.getType().getElementType().isIndex() ||
         llvm::any_of(solutions, [&](const Solution &solution) {
           return countElements(reads[solution.read], minUpdates, isReduced) >=
                  minUpdates;
         });
}

bool Push::find(int64_t minPoints, int64_t minUpdates) {
  auto next = dyn_cast_or_null<ComputeOp>(compute->getNextNode());
  if (compute.getInterleaved() || (next && next.getInterleaved()) ||
      compute.getDomain().size() != 1 || !findSelect())
    return false;
  findSolutions();
  return !solutions.empty() && canRewrite() && saves(minPoints, minUpdates);
}

SmallVector<unsigned> Push::getKept() {
  llvm::SmallSetVector<unsigned, 8> kept;
  for (const Solution &solution : solutions)
    for (AffineExpr index : reads[solution.read].map.getResults())
      index.walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          kept.insert(dim.getPosition());
      });
  for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
    if (!lookup(dim))
      kept.insert(dim);
  return llvm::to_vector(kept);
}

void Push::rewritePoints(ArrayRef<AffineExpr> dims, unsigned numKept) {
  MLIRContext *context = compute.getContext();
  SmallVector<AffineExpr> domain, where;
  SmallVector<bool> areEqual, whereEqual;
  auto addAll = [&](IntegerSet set) {
    for (auto [constraint, isEquality] :
         llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
      bool isOnValues = llvm::any_of(
          solutions, [&, constraint = constraint](const Solution &solution) {
            return constraint.isFunctionOfDim(solution.dim);
          });
      for (unsigned symbol = numParams; symbol < set.getNumSymbols(); ++symbol)
        isOnValues |= constraint.isFunctionOfSymbol(symbol);
      (isOnValues ? where : domain).push_back(constraint.replaceDims(dims));
      (isOnValues ? whereEqual : areEqual).push_back(isEquality);
    }
  };
  addAll(compute.getDomainSets().front());
  if (std::optional<IntegerSet> own = compute.getWhere())
    addAll(*own);
  if (domain.empty()) { // A single point.
    domain.push_back(getAffineConstantExpr(0, context));
    areEqual.push_back(true);
  }
  compute.setDomainAttr(
      ArrayAttr::get(context, IntegerSetAttr::get(IntegerSet::get(
                                  numKept, numParams, domain, areEqual))));
  if (where.empty())
    compute.removeWhereAttr();
  else
    compute.setWhere(
        IntegerSet::get(numKept, numParams + reads.size(), where, whereEqual));
}

void Push::rewriteBody(ArrayRef<unsigned> kept) {
  Block &body = compute.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = compute.getLoc();
  compute.getBody().walk([&](IndexOp index) {
    if (const Solution *solution = lookup(index.getDim())) {
      Value value = reads[solution->read].argument;
      if (!value.getType().isIndex())
        value = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                           value);
      index.replaceAllUsesWith(value);
      index.erase();
      return;
    }
    index.setDim(llvm::find(kept, index.getDim()) - kept.begin());
  });
  builder.setInsertionPoint(select);
  Value condition;
  for (Value other : others)
    condition = condition
                    ? arith::AndIOp::create(builder, loc, condition, other)
                    : other;
  if (condition)
    select.getConditionMutable().assign(condition);
  else
    select.replaceAllUsesWith(select.getTrueValue());
  auto ops =
      llvm::to_vector(llvm::make_pointer_range(body.without_terminator()));
  for (Operation *op : llvm::reverse(ops))
    if (isOpTriviallyDead(op))
      op->erase();
}

void Push::apply() {
  MLIRContext *context = compute.getContext();
  SmallVector<unsigned> kept = getKept();
  SmallVector<AffineExpr> dims(compute.getNumDims());
  for (auto [number, dim] : llvm::enumerate(kept))
    dims[dim] = getAffineDimExpr(number, context);
  for (const Solution &solution : solutions)
    dims[solution.dim] =
        getAffineSymbolExpr(numParams + solution.read, context);
  unsigned numRead = 0;
  updateAccesses(compute, [&](ComputeAccess &access) {
    // A write may use the values of all reads.
    unsigned numValues = std::min<unsigned>(numRead++, reads.size());
    unsigned numSymbols = usesSolved(access.map) ? numParams + numValues
                                                 : access.map.getNumSymbols();
    access.map =
        access.map.replaceDimsAndSymbols(dims, {}, kept.size(), numSymbols);
  });
  rewritePoints(dims, kept.size());
  if (std::optional<ArrayAttr> names = compute.getDims())
    compute.setDimsAttr(
        ArrayAttr::get(context, llvm::map_to_vector(kept, [&](unsigned dim) {
                         return (*names)[dim];
                       })));
  rewriteBody(kept);
}

unsigned espalier::poly::pushReduction(ComputeOp compute, int64_t minPoints,
                                       int64_t minUpdates) {
  Push push(compute);
  if (!push.find(minPoints, minUpdates))
    return 0;
  unsigned numBefore = compute.getNumDims();
  push.apply();
  return numBefore - compute.getNumDims();
}

namespace {
struct PolyPushReductionsPass
    : espalier::poly::impl::PolyPushReductionsPassBase<PolyPushReductionsPass> {
  using PolyPushReductionsPassBase::PolyPushReductionsPassBase;

  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (!kernel.isPrivate() || kernel.getSchedule())
      return;
    for (ComputeOp compute : kernel.getComputes()) {
      unsigned numSaved = pushReduction(compute, minPoints, minUpdates);
      if (numSaved == 0)
        continue;
      ++numPushed;
      remark::passed(compute.getLoc(),
                     remark::RemarkOpts::name("Pushed").category(getArgument()))
          << remark::metric("Dimensions", numSaved);
    }
  }
};
} // namespace
