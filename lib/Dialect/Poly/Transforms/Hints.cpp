//===- Hints.cpp - What would be legal instead ----------------------------===//

#include "Hints.h"
#include "LoopNest.h"
#include "NestDistances.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "espalier/Dialect/Poly/Transforms/Skews.h"
#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace espalier::poly;

/// The largest sum of factors that a search considers.
static constexpr int64_t kMaxSum = 6;

llvm::Error
espalier::poly::applyWithHint(ComputeTarget compute, Edit edit,
                              llvm::function_ref<std::string()> hint) {
  // Hints are for who is to blame.
  if (compute.script && compute.script->getMode() == Script::Mode::Deferred)
    return applyTo(compute, edit);
  return llvm::handleErrors(applyTo(compute, edit),
                            [&](std::unique_ptr<Refusal> refusal) {
                              if (refusal->getViolation()) {
                                std::string text = hint();
                                if (!text.empty())
                                  refusal->addHint(text);
                              }
                              return llvm::Error(std::move(refusal));
                            });
}

bool espalier::poly::isLegal(ComputeOp compute, Edit edit) {
  llvm::Error error = tryOn(compute, edit);
  bool legal = !error;
  llvm::consumeError(std::move(error));
  return legal;
}

std::string espalier::poly::findReduction(ComputeOp compute, Edit edit) {
  if (compute.getReduction())
    return "";
  std::optional<Reduction> kind;
  for (unsigned number = 0; number <= getMaxEnumValForReduction(); ++number)
    if (std::optional<Reduction> reduction = symbolizeReduction(number))
      if (matchReduction(compute, *reduction))
        kind = reduction;
  auto editReduction = [&](ComputeOp compute) {
    compute.setReduction(kind);
    return edit(compute);
  };
  if (!kind || !isLegal(compute, editReduction))
    return "";
  return "legal if " + quote(compute) +
         " is marked as a 'reduction', whose updates may run in any order";
}

//===----------------------------------------------------------------------===//
// Distances of a nest
//===----------------------------------------------------------------------===//

namespace {
/// Neighbouring loops of a nest, and how far apart dependences are along them.
struct NestRange {
  SmallVector<std::string> names;
  unsigned first; ///< Position of the first.
  NestDistances distances;
};
} // namespace

/// The loops from the first to the last of `loops`, and what is left for them
/// to order; nothing if they are not in one nest.
static std::optional<NestRange> getRange(ComputeOp compute,
                                         ArrayRef<StringRef> loops) {
  OwningOpRef<KernelOp> scratch = cloneWithSchedule(compute.getKernel());
  llvm::Expected<LoopNest> nest =
      getNest(scratch->lookupCompute(compute.getSymName()), loops);
  if (!nest) {
    llvm::consumeError(nest.takeError());
    return std::nullopt;
  }
  llvm::Expected<NestDistances> distances = NestDistances::compute(nest->band);
  if (!distances) {
    llvm::consumeError(distances.takeError());
    return std::nullopt;
  }
  distances->dropReductions();
  SmallVector<unsigned> places = nest->getPlaces();
  for (unsigned outer = 0; outer < places.front(); ++outer)
    distances->restrictToZero(getAffineDimExpr(outer, compute.getContext()));
  NestRange range{{}, places.front(), std::move(*distances)};
  SmallVector<BandLoop> all = getLoops(nest->band);
  for (unsigned position = places.front(); position <= places.back();
       ++position)
    range.names.push_back(all[position].name.str());
  return range;
}

/// Calls `visit` with all vectors of `size` numbers from `least` on, those with
/// small sums first, until it returns true; returns whether it did.
static bool forEachFactors(size_t size, int64_t least,
                           llvm::function_ref<bool(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> factors(size, least);
  std::function<bool(size_t, int64_t)> fill = [&](size_t next, int64_t rest) {
    if (next + 1 == size) {
      factors[next] = least + rest;
      return visit(factors);
    }
    for (int64_t here = rest; here >= 0; --here) {
      factors[next] = least + here;
      if (fill(next + 1, rest - here))
        return true;
    }
    return false;
  };
  for (int64_t sum = 0; size > 0 && sum <= kMaxSum; ++sum)
    if (fill(0, sum))
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// Skews
//===----------------------------------------------------------------------===//

std::optional<SmallVector<Skew>>
espalier::poly::computeSkews(ComputeOp compute, ArrayRef<StringRef> loops) {
  std::optional<NestRange> found = getRange(compute, loops);
  if (!found)
    return std::nullopt;
  const NestRange &range = *found;
  MLIRContext *context = compute.getContext();
  // No distance is negative along any loop then.
  SmallVector<Skew> skews;
  SmallVector<AffineExpr> skewed;
  for (auto [number, name] : llvm::enumerate(range.names)) {
    AffineExpr own = getAffineDimExpr(range.first + number, context), sum = own;
    SmallVector<int64_t> chosen;
    auto isEnough = [&](ArrayRef<int64_t> factors) {
      sum = own;
      for (auto [factor, outer] : llvm::zip_equal(factors, skewed))
        sum = sum + outer * factor;
      chosen.assign(factors.begin(), factors.end());
      return range.distances.isAtLeast(sum, 0);
    };
    if (!range.distances.isAtLeast(own, 0)) {
      if (!forEachFactors(skewed.size(), 0, isEnough))
        return std::nullopt;
      Skew &skew = skews.emplace_back();
      skew.loop = name;
      for (auto [factor, outer] : llvm::zip(chosen, range.names))
        if (factor != 0) {
          skew.factors.push_back(factor);
          skew.others.push_back(outer);
        }
    }
    skewed.push_back(sum);
  }
  return skews;
}

static SmallVector<StringRef> getOthers(const Skew &skew) {
  return SmallVector<StringRef>(skew.others.begin(), skew.others.end());
}

std::string espalier::poly::findSkews(ComputeOp compute,
                                      ArrayRef<StringRef> loops, Edit edit) {
  auto skews = computeSkews(compute, loops);
  if (!skews || skews->empty() ||
      !isLegal(compute, [&](ComputeOp compute) -> llvm::Error {
        for (const Skew &skew : *skews)
          if (llvm::Error error =
                  skewLoop(compute, skew.loop, skew.factors, getOthers(skew)))
            return error;
        return edit(compute);
      }))
    return findReduction(compute, edit);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "legal after ";
  llvm::interleave(
      *skews, os,
      [&](const Skew &skew) {
        os << "skew loop " << quote(skew.loop) << " by " << print(skew.factors)
           << " of " << quote(getOthers(skew));
      },
      ", then ");
  return text;
}

//===----------------------------------------------------------------------===//
// Other hints
//===----------------------------------------------------------------------===//

std::string espalier::poly::findFactors(
    ComputeOp compute, ArrayRef<StringRef> loops,
    llvm::function_ref<llvm::Error(ComputeOp, ArrayRef<int64_t>)> edit) {
  std::optional<NestRange> range = getRange(compute, loops);
  if (!range)
    return "";
  SmallVector<AffineExpr> dims;
  for (StringRef loop : loops)
    dims.push_back(getAffineDimExpr(
        range->first + (llvm::find(range->names, loop) - range->names.begin()),
        compute.getContext()));
  std::string text;
  forEachFactors(loops.size(), 1, [&](ArrayRef<int64_t> factors) {
    AffineExpr wave = getAffineConstantExpr(0, compute.getContext());
    for (auto [factor, dim] : llvm::zip_equal(factors, dims))
      wave = wave + dim * factor;
    if (!range->distances.isAtLeast(wave, 1) ||
        !isLegal(compute,
                 [&](ComputeOp compute) { return edit(compute, factors); }))
      return false;
    text = "legal with factors " + print(factors);
    return true;
  });
  return text;
}

std::string espalier::poly::findSkewFactors(
    ComputeOp compute, size_t numLoops,
    llvm::function_ref<llvm::Error(ComputeOp, ArrayRef<int64_t>)> edit) {
  std::string text;
  forEachFactors(numLoops, 0, [&](ArrayRef<int64_t> factors) {
    if (llvm::all_of(factors, [](int64_t factor) { return factor == 0; }) ||
        !isLegal(compute,
                 [&](ComputeOp compute) { return edit(compute, factors); }))
      return false;
    text = "legal by " + print(factors);
    return true;
  });
  if (text.empty())
    text = "no factors with a sum from 1 to " + std::to_string(kMaxSum) +
           " are legal";
  return text;
}

std::string espalier::poly::findAmounts(
    ComputeOp compute, StringRef loop,
    llvm::function_ref<llvm::Error(ComputeOp, int64_t)> edit) {
  std::optional<NestRange> range = getRange(compute, loop);
  if (!range)
    return "";
  auto findAmount = [&](bool isLeast) -> std::string {
    StringRef own = compute.getSymName();
    NestDistances distances = range->distances;
    distances.keep([&](StringRef source, StringRef sink) {
      return source != sink && (isLeast ? sink : source) == own;
    });
    std::optional<int64_t> amount = distances.getMin(range->first);
    if (!amount)
      return "";
    if (isLeast)
      amount = -*amount;
    if (!isLegal(compute,
                 [&](ComputeOp compute) { return edit(compute, *amount); }))
      return "";
    return (isLeast ? "at least " : "at most ") + std::to_string(*amount);
  };
  std::string least = findAmount(true), most = findAmount(false);
  if (least.empty() && most.empty())
    return "";
  return "legal by " + least + (least.empty() || most.empty() ? "" : " and ") +
         most;
}

/// The names of the loops for which `edit` is legal.
static SmallVector<StringAttr> getLegalLoops(ComputeOp compute, LoopEdit edit) {
  OwningOpRef<KernelOp> scratch = cloneWithSchedule(compute.getKernel());
  ComputeOp copy = scratch->lookupCompute(compute.getSymName());
  SmallVector<StringAttr> legal;
  for (BandOp band : getBands(copy))
    for (auto name : band.getNames()->getAsRange<StringAttr>())
      if (isLegal(compute,
                  [&](ComputeOp compute) { return edit(compute, name); }))
        legal.push_back(name);
  return legal;
}

static std::string quote(ArrayRef<StringAttr> names) {
  return espalier::poly::quote(llvm::map_to_vector(
      names, [](StringAttr name) { return name.getValue(); }));
}

/// Says for which loops `edit` is legal if values that say where `compute`
/// writes are different; empty if for none.
static std::string findDifferentValues(ComputeOp compute, LoopEdit edit) {
  KernelOp kernel = compute.getKernel();
  for (const ComputeAccess &write : compute.getWriteAccesses())
    for (auto [number, read] : llvm::enumerate(compute.getReadAccesses())) {
      auto argument = dyn_cast<BlockArgument>(read.array);
      if (!argument ||
          !write.map.isFunctionOfSymbol(kernel.getNumParameters() + number))
        continue;
      SmallVector<StringAttr> legal =
          getLegalLoops(compute, [&](ComputeOp compute, StringRef loop) {
            compute.getKernel().setArgAttr(argument.getArgNumber(),
                                           KernelOp::getInjectiveAttrName(),
                                           UnitAttr::get(compute.getContext()));
            return edit(compute, loop);
          });
      if (!legal.empty())
        return "; the loops " + ::quote(legal) + " may if no value of '" +
               kernel.getArgumentName(argument.getArgNumber()) +
               "' occurs twice (" + KernelOp::getInjectiveAttrName().str() +
               ")";
    }
  return "";
}

std::string espalier::poly::findLoops(ComputeOp compute, StringRef what,
                                      LoopEdit edit) {
  SmallVector<StringAttr> legal = getLegalLoops(compute, edit);
  if (legal.empty())
    return "no loop of " + quote(compute) + " may be " + what.str() +
           findDifferentValues(compute, edit);
  return "the loops of " + quote(compute) + " that may be " + what.str() +
         " are " + ::quote(legal);
}

llvm::Error espalier::poly::applyAt(ComputeOp compute, StringRef loop,
                                    LoopEdit edit) {
  return llvm::handleErrors(
      applyTo(compute, [&](ComputeOp compute) { return edit(compute, loop); }),
      [&](std::unique_ptr<Refusal> refusal) {
        SmallVector<StringAttr> legal = getLegalLoops(compute, edit);
        if (!legal.empty())
          refusal->addHint("legal for the loops " + ::quote(legal));
        return llvm::Error(std::move(refusal));
      });
}

std::string espalier::poly::findPlaces(ComputeOp compute, LoopEdit edit) {
  std::string legal;
  for (ComputeOp other : compute.getKernel().getComputes())
    if (other != compute && isLegal(compute, [&](ComputeOp compute) {
          return edit(compute, other.getSymName());
        }))
      legal += (legal.empty() ? "" : ", ") + quote(other);
  return legal.empty() ? "" : "legal before one of [" + legal + "]";
}
