//===- Rebase.cpp - Loops that count from a bound that is read ------------===//
//
//   for n: for j from starts[n] to starts[n + 1] - 1:     y[n] += x[j]
//
// becomes, with j = starts[n] + j',
//
//   for n: for j' from 0 to starts[n + 1] - starts[n] - 1:
//     y[n] += x[starts[n] + j']
//
// so tiles and lanes of j' begin where the row does. The points are the same,
// by another name, and run in the same order: the bound is decided by the
// dimensions before j.
//
//===----------------------------------------------------------------------===//

#include "../LoopNest.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/Transforms/DataCommands.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

namespace {
/// Counts one dimension of a computation from its bound.
class Rebaser {
public:
  Rebaser(const KernelModel &model, ComputeOp compute, unsigned dim)
      : model(model), compute(compute), dim(dim),
        number(llvm::find(model.computes, compute) - model.computes.begin()),
        numParams(model.program.numParams) {}

  /// Finds the bound, or refuses.
  llvm::Error prepare();
  llvm::Error apply();

private:
  const polyhedral::Statement &getStatement() const {
    return model.program.statements[number];
  }
  AffineExpr getDim() const {
    return getAffineDimExpr(dim, compute.getContext());
  }
  std::string name() const { return quote(compute.getDimName(dim).getValue()); }
  /// The reads whose values are in `expr`.
  SmallVector<unsigned> getReads(AffineExpr expr) const;
  bool isWritten(Value array) const;
  /// Why a condition of the form `name() - bound >= 0` does not say where to
  /// count from; empty if it does.
  std::string findFault(AffineExpr bound) const;
  llvm::Error checkUses() const;

  /// `expr` with the dimension counted from the bound.
  AffineExpr replace(AffineExpr expr) const {
    return expr.replace(getDim(), getDim() + bound);
  }
  /// Whether `condition` >= 0 where the computation runs.
  bool isImplied(AffineExpr condition) const;
  llvm::Error setPoints();
  void setAccesses();
  void setIndices();

  const KernelModel &model;
  mutable ComputeOp compute;
  unsigned dim, number, numParams;
  AffineExpr bound; ///< Over dimensions, parameters and values.
};
} // namespace

SmallVector<unsigned> Rebaser::getReads(AffineExpr expr) const {
  SmallVector<unsigned> reads;
  for (unsigned read = 0; read < compute.getReads().size(); ++read)
    if (expr.isFunctionOfSymbol(numParams + read))
      reads.push_back(read);
  return reads;
}

bool Rebaser::isWritten(Value array) const {
  return llvm::any_of(model.computes, [&](ComputeOp other) {
    return llvm::is_contained(other.getWrites(), array);
  });
}

std::string Rebaser::findFault(AffineExpr bound) const {
  SmallVector<ComputeAccess> reads = compute.getReadAccesses();
  auto isDecided = [&](AffineExpr expr) {
    for (unsigned other = dim; other < compute.getNumDims(); ++other)
      if (expr.isFunctionOfDim(other))
        return false;
    return true;
  };
  if (!isDecided(bound))
    return "it depends on " + name() + " or on a dimension behind";
  for (unsigned read : getReads(bound)) {
    Value array = reads[read].array;
    if (isWritten(array))
      return describeArray(array) + ", of which it is, is written";
    if (!llvm::all_of(reads[read].map.getResults(), isDecided))
      return "the place where it is read depends on " + name() +
             " or on a dimension behind";
  }
  return "";
}

llvm::Error Rebaser::prepare() {
  auto fault = [&](const Twine &what) {
    return refuse("expects " + name() + " of " + quote(compute) + " to " +
                  what);
  };
  std::string reason = "there is none";
  polyhedral::forEachCondition(getStatement(), [&](AffineExpr condition) {
    if (polyhedral::getFactor(condition, getDim()) != 1)
      return;
    AffineExpr rest = condition.replace(
        getDim(), getAffineConstantExpr(0, compute.getContext()));
    rest = simplifyAffineExpr(-rest, compute.getNumDims(),
                              numParams + compute.getReads().size());
    if (bound || getReads(rest).empty())
      return;
    reason = findFault(rest);
    if (reason.empty())
      bound = rest;
  });
  if (!bound)
    return fault("have a lower bound that is read at a place which the "
                 "dimensions before it decide, but " +
                 reason);
  for (auto [place, other] : llvm::enumerate(model.program.statements))
    if (place != number && polyhedral::getNumInterleaved(
                               model.program, std::min<unsigned>(place, number),
                               std::max<unsigned>(place, number)) > dim)
      return fault("run by itself, but it is interleaved with that of @" +
                   Twine(other.name));
  return checkUses();
}

/// Refuses uses of the dimension for which the value of the bound is missing.
llvm::Error Rebaser::checkUses() const {
  auto fault = [&](const Twine &what) {
    return refuse("expects " + quote(compute) + " to " + what);
  };
  SmallVector<unsigned> needed = getReads(bound);
  for (auto [place, read] : llvm::enumerate(compute.getReadAccesses())) {
    if (!read.map.isFunctionOfDim(dim))
      continue;
    if (compute.isConditionedOn(place))
      return fault("read what decides where it runs at a place without " +
                   name() + ", but read " + Twine(place) + " depends on it");
    if (place <= needed.back())
      return fault("read the bound before what it reads at " + name() +
                   ", but read " + Twine(needed.back()) + " comes after read " +
                   Twine(place));
  }
  if ((compute.getReduction() || compute.getCombiner()) &&
      compute.getWriteAccesses().front().map.isFunctionOfDim(dim))
    return fault("be no reduction, or one whose element does not depend on " +
                 name());
  SmallVector<ComputeAccess> accesses = compute.getReadAccesses();
  llvm::append_range(accesses, compute.getWriteAccesses());
  for (const ComputeAccess &access : accesses)
    if (auto local = access.array.getDefiningOp<ArrayOp>())
      if (access.map.isFunctionOfDim(dim) &&
          (local.getStorage() || !local.getPlacement().isAddressable()))
        return fault("use " + describeArray(access.array) +
                     ", whose elements share places or are in registers, at "
                     "places without " +
                     name());
  WalkResult found =
      compute.getKernel().getSchedule().walk([&](PrefetchOp prefetch) {
        bool isOf = prefetch.getComputation() == compute.getSymName() ||
                    prefetch.getOwnerName() == compute.getSymName();
        return isOf ? WalkResult::interrupt() : WalkResult::advance();
      });
  if (found.wasInterrupted())
    return fault("have no prefetch yet; rebase first");
  return llvm::Error::success();
}

bool Rebaser::isImplied(AffineExpr condition) const {
  bool implied = false;
  polyhedral::forEachCondition(getStatement(), [&](AffineExpr known) {
    AffineExpr least = polyhedral::getExtreme(
        model.program, getStatement(), condition - known, /*isLargest=*/false);
    auto constant = dyn_cast_or_null<AffineConstantExpr>(least);
    implied |= constant && constant.getValue() >= 0;
  });
  return implied;
}

llvm::Error Rebaser::setPoints() {
  unsigned numDims = compute.getNumDims();
  unsigned numSymbols = numParams + compute.getReads().size();
  SmallVector<AffineExpr> where;
  SmallVector<bool> whereEqual;
  auto addCondition = [&](AffineExpr expr, bool isEquality) {
    where.push_back(simplifyAffineExpr(expr, numDims, numSymbols));
    whereEqual.push_back(isEquality);
  };
  IntegerSet old = *compute.getWhere();
  for (auto [expr, isEquality] :
       llvm::zip_equal(old.getConstraints(), old.getEqFlags())) {
    AffineExpr moved = simplifyAffineExpr(replace(expr), numDims, numSymbols);
    // The bound itself.
    if (moved != getDim() || isEquality)
      addCondition(moved, isEquality);
  }
  SmallVector<IntegerSet> sets = compute.getDomainSets();
  SmallVector<Attribute> domain;
  for (IntegerSet set : sets) {
    SmallVector<AffineExpr> constraints{getDim()};
    SmallVector<bool> isEqual{false};
    for (auto [expr, isEquality] :
         llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
      if (!expr.isFunctionOfDim(dim)) {
        constraints.push_back(expr);
        isEqual.push_back(isEquality);
        continue;
      }
      AffineExpr moved = replace(expr);
      // The domain has all points at which it may hold for some value. Nothing
      // is below the bound.
      for (AffineExpr side : {moved, -moved}) {
        if (polyhedral::getFactor(side, getDim()).value_or(0) > 0 &&
            !isEquality)
          break;
        AffineExpr most = polyhedral::getExtreme(model.program, getStatement(),
                                                 side, /*isLargest=*/true);
        if (most) {
          constraints.push_back(most);
          isEqual.push_back(false);
        }
        if (!isEquality)
          break;
      }
      if (!isEquality && isImplied(expr))
        continue;
      if (sets.size() > 1)
        return refuse("expects " + quote(compute) +
                      " to have a domain of one set, but got " +
                      Twine(sets.size()));
      addCondition(moved, isEquality);
    }
    domain.push_back(IntegerSetAttr::get(
        IntegerSet::get(numDims, numParams, constraints, isEqual)));
  }
  compute.setDomainAttr(ArrayAttr::get(compute.getContext(), domain));
  if (where.empty())
    compute.removeWhereAttr();
  else
    compute.setWhereAttr(IntegerSetAttr::get(
        IntegerSet::get(numDims, numSymbols, where, whereEqual)));
  std::string fault = checkDomain(compute, /*notEmpty=*/false);
  if (fault.empty())
    return llvm::Error::success();
  return refuse("expects a bound, 'poly.bounded_by', of the values at which " +
                name() + " of " + quote(compute) + " begins");
}

void Rebaser::setAccesses() {
  auto moveAll = [&](ArrayRef<ComputeAccess> accesses, bool isRead) {
    SmallVector<Attribute> maps;
    for (auto [place, access] : llvm::enumerate(accesses)) {
      AffineMap map = access.map;
      if (map.isFunctionOfDim(dim)) {
        SmallVector<AffineExpr> results;
        unsigned numSymbols =
            numParams + (isRead ? place : compute.getReads().size());
        for (AffineExpr result : map.getResults())
          results.push_back(simplifyAffineExpr(replace(result),
                                               map.getNumDims(), numSymbols));
        map = AffineMap::get(map.getNumDims(), numSymbols, results,
                             compute.getContext());
      }
      maps.push_back(AffineMapAttr::get(map));
    }
    return ArrayAttr::get(compute.getContext(), maps);
  };
  ArrayAttr reads = moveAll(compute.getReadAccesses(), true);
  ArrayAttr writes = moveAll(compute.getWriteAccesses(), false);
  compute.setReadMapsAttr(reads);
  compute.setWriteMapsAttr(writes);
}

void Rebaser::setIndices() {
  SmallVector<IndexOp> indices;
  compute.walk([&](IndexOp index) {
    if (index.getDim() == dim)
      indices.push_back(index);
  });
  for (IndexOp index : indices) {
    OpBuilder builder(index);
    builder.setInsertionPointAfter(index);
    Location loc = index.getLoc();
    SmallVector<Value> dims, symbols;
    for (unsigned other = 0; other < compute.getNumDims(); ++other)
      dims.push_back(other == dim || !bound.isFunctionOfDim(other)
                         ? index.getResult()
                         : IndexOp::create(builder, loc, other).getResult());
    llvm::append_range(symbols, compute.getKernel().getParameters());
    for (auto [place, argument] :
         llvm::enumerate(compute.getBody().getArguments())) {
      Value value = argument;
      if (bound.isFunctionOfSymbol(numParams + place) &&
          !value.getType().isIndex())
        value = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                           value);
      symbols.push_back(value);
    }
    Value sum =
        affine::expandAffineExpr(builder, loc, getDim() + bound, dims, symbols);
    // What makes the sum comes before it.
    index.getResult().replaceUsesWithIf(sum, [&](OpOperand &use) {
      return sum.getDefiningOp()->isBeforeInBlock(use.getOwner());
    });
  }
}

llvm::Error Rebaser::apply() {
  if (llvm::Error error = setPoints())
    return error;
  setIndices();
  setAccesses();
  return llvm::Error::success();
}

/// The dimension that a loop of `compute` is about, or a refusal.
static llvm::Expected<unsigned> findDim(ComputeOp compute, StringRef loop,
                                        AffineExpr expr) {
  std::optional<unsigned> found;
  unsigned number = 0;
  for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
    if (expr.isFunctionOfDim(dim)) {
      found = dim;
      ++number;
    }
  if (number == 1)
    return *found;
  return refuse("expects " + quote(loop) + " to run over one dimension of " +
                quote(compute) + ", but it runs over " + Twine(number));
}

llvm::Error espalier::poly::rebase(ComputeOp compute, StringRef loop) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopPosition> found = findLoop(compute, loop);
    if (!found)
      return found.takeError();
    KernelOp kernel = compute.getKernel();
    KernelModel model = buildModel(kernel);
    SmallVector<Rebaser> rebasers;
    BandLoop shared = getLoops(found->band)[found->position];
    for (auto [symbol, expr] : llvm::zip_equal(
             getSymbols(found->band.getComputations()), shared.exprs)) {
      ComputeOp own = kernel.lookupCompute(symbol);
      llvm::Expected<unsigned> dim = findDim(own, loop, expr);
      if (!dim)
        return dim.takeError();
      if (llvm::Error error = rebasers.emplace_back(model, own, *dim).prepare())
        return error;
    }
    for (Rebaser &rebaser : rebasers)
      if (llvm::Error error = rebaser.apply())
        return error;
    return llvm::Error::success();
  });
}
