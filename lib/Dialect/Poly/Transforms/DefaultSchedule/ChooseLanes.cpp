//===- ChooseLanes.cpp - Which dimensions are vectors ---------------------===//

#include "PlanChooser.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "espalier/Support/CodeSize.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace espalier::poly;

/// The score of a dimension that has a single point.
static constexpr int64_t kNoLanes = -1000000;

/// Rows of so many vectors are better summed in lanes of their own, although
/// these have to be added up at the end, and of so many if a function of each
/// sum may be computed, for which several rows fill lanes.
static constexpr int64_t kLongRow = 1, kLongRowOfFunction = 2;
static constexpr int64_t kLongRowScore = -1000;

/// Maps over rows of at least `kLongMap` vectors, of which the last is not
/// whole, run over so many of them at a time: only the rest is masked then.
/// LLVM does that itself for shorter ones.
static constexpr int64_t kLongMap = 8, kMapVectors = 4;

/// How many elements a computation reads in a row of memory while it stays at
/// one point of the shared loops; a great number if that is not known.
static int64_t getOwnRun(const ComputeShape &compute, const ComputeAccess &read,
                         int64_t width, unsigned numShared) {
  int64_t run = 1;
  for (bool grows = true; grows;) {
    grows = false;
    for (unsigned dim = numShared; dim < compute.getNumDims(); ++dim) {
      std::optional<int64_t> extent = compute.getExtent(dim);
      if (getStride(read, dim, width) != run || (extent && *extent < 2))
        continue;
      if (!extent)
        return std::numeric_limits<int64_t>::max();
      run *= *extent;
      grows = true;
    }
  }
  return run;
}

bool PlanChooser::hasFunctions() const {
  return llvm::any_of(computes, [&](unsigned i) {
    ComputeOp op = shapes[i].op;
    return !op.getReduction() &&
           llvm::any_of(op.getBody().getOps(), [](Operation &inner) {
             return isa<math::MathDialect>(inner.getDialect()) &&
                    !isa<math::SqrtOp>(inner);
           });
  });
}

/// How well `dim` serves as lanes: contiguous or invariant accesses count for
/// it, others against.
int64_t PlanChooser::scoreVectorDim(const ComputeShape &compute,
                                    unsigned dim) const {
  int64_t score = 0;
  std::optional<int64_t> extent = compute.getExtent(dim);
  int64_t begin = dim < plan.numShared ? getBegin(dim) : 0;
  if (extent)
    *extent -= begin;
  if ((extent && *extent < 2) || compute.restricted[dim] ||
      compute.limited[dim] || compute.begins[dim] != begin)
    return kNoLanes;
  auto add = [&](const ComputeAccess &access, int64_t weight) {
    if (!access.map.isFunctionOfDim(dim))
      return;
    std::optional<int64_t> stride = getStride(access, dim, plan.width);
    // Lanes at distances that vary cannot be loaded.
    if (!stride)
      score += kNoLanes;
    else if (stride == 1)
      score += 4 * weight;
    // Lanes in long rows read each in a line of its own, again and again. What
    // is there for one tile alone lies as the lanes do.
    else if (dim < plan.numShared && std::abs(*stride) >= plan.width &&
             (isa<BlockArgument>(access.array) || isShared(access.array)) &&
             getOwnRun(compute, access, plan.width, plan.numShared) >=
                 (hasFunctions() ? kLongRowOfFunction : kLongRow) * plan.width)
      score += kLongRowScore;
    else if (*stride != 0)
      score -= (*stride == kUnknownStride ? 12 : 6) * weight;
  };
  for (const ComputeAccess &access : compute.reads)
    add(access, 1);
  for (const ComputeAccess &access : compute.writes)
    add(access, 2);
  if (extent && *extent < plan.width)
    score = score / 2 - 1;
  return score;
}

void PlanChooser::chooseVectorDim() {
  // The widest element decides how many lanes a register has.
  int64_t bits = 8;
  auto widen = [&](Type type) {
    if (type.isIntOrFloat())
      bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
  };
  for (unsigned i : computes)
    for (const ComputeAccess &write : shapes[i].writes)
      widen(write.getType().getElementType());
  bits = std::max<int64_t>(bits, 32);
  plan.width = std::max<int64_t>(1, target.getVectorBits() / bits);

  int64_t bestScore = 0;
  for (unsigned dim = plan.numInside; dim < plan.numShared; ++dim) {
    if (component.sequential[dim] || isRestricted(dim))
      continue;
    int64_t score = 0;
    for (unsigned i : computes) {
      int64_t own = scoreVectorDim(shapes[i], dim);
      // The main reduction runs most often.
      score += own * (reduction && computes[*reduction] == i ? 8 : 1);
    }
    if (score >= bestScore && score > 0) {
      bestScore = score;
      plan.lanes = dim;
    }
  }
  if (!plan.lanes)
    return;
  // A loop of the computations' own may be better: a row of memory.
  int64_t ownScore = 0;
  for (unsigned i : computes) {
    int64_t best = 0;
    for (unsigned dim = plan.numShared; dim < shapes[i].getNumDims(); ++dim)
      best = std::max(best, scoreVectorDim(shapes[i], dim));
    ownScore += best * (reduction && computes[*reduction] == i ? 8 : 1);
  }
  if (ownScore > bestScore)
    plan.lanes.reset();
}

/// How many vectors side by side some operand of the reduction is the same for:
/// those of a group, where groups have features of their own. 0 if each lane
/// has another element.
int64_t PlanChooser::countBroadcastVectors(const ComputeShape &compute) const {
  int64_t most = 0;
  for (const ComputeAccess &read : compute.reads) {
    if (!read.map.getNumResults())
      continue;
    int64_t vectors = kAnyVectors;
    while (vectors > most &&
           (kAnyVectors % vectors != 0 ||
            getStride(read, *plan.lanes, vectors * plan.width) != 0))
      --vectors;
    most = std::max(most, vectors);
  }
  return most;
}

bool PlanChooser::sharesScalars(const ComputeShape &compute,
                                ArrayRef<unsigned> rows) const {
  auto isTap = [&](unsigned dim) {
    std::optional<int64_t> extent = compute.getExtent(dim);
    return compute.isReduced(dim) && extent && *extent > 1 &&
           *extent <= espalier::kMaxTaps;
  };
  return llvm::any_of(compute.reads, [&](const ComputeAccess &read) {
    return getStride(read, *plan.lanes, plan.width) == 0 &&
           llvm::any_of(read.map.getResults(), [&](AffineExpr index) {
             return llvm::any_of(rows,
                                 [&](unsigned row) {
                                   return index.isFunctionOfDim(row);
                                 }) &&
                    llvm::any_of(
                        llvm::seq(getFirstOwn(compute), compute.getNumDims()),
                        [&](unsigned dim) {
                          return index.isFunctionOfDim(dim) && isTap(dim);
                        });
           });
  });
}

/// How far apart the scalars are that neighbours along `dim` read; 0 if they
/// read the same one, or that is not known.
int64_t PlanChooser::getRowBytes(const ComputeShape &compute,
                                 unsigned dim) const {
  for (const ComputeAccess &read : compute.reads) {
    if (getStride(read, *plan.lanes, plan.width) != 0 ||
        !read.map.isFunctionOfDim(dim))
      continue;
    std::optional<int64_t> stride = getStride(read, dim, plan.width);
    if (stride && *stride != kUnknownStride)
      return std::abs(*stride) * getBytes(read.getType().getElementType());
  }
  return 0;
}

/// The dimension along which neighbours lie side by side within lanes; nothing
/// if there is none.
static std::optional<unsigned> findPaired(const ComputeAccess &access) {
  ArrayRef<AffineExpr> indices = access.map.getResults();
  auto last = dyn_cast_if_present<AffineBinaryOpExpr>(
      indices.empty() ? AffineExpr() : indices.back());
  if (!last || last.getKind() != AffineExprKind::Mod ||
      getPairLength(access.getType()) < 2 ||
      last.getRHS() != getAffineConstantExpr(getPairLength(access.getType()),
                                             last.getContext()))
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(last.getLHS());
  return dim ? std::optional(dim.getPosition()) : std::nullopt;
}

/// Maps that read rows of their lanes do so a square at a time, which is
/// transposed in registers, and those that write pairs write two rows.
void PlanChooser::chooseSquare() {
  for (unsigned i : computes)
    for (const ComputeAccess &write : shapes[i].writes)
      if (std::optional<unsigned> dim = findPaired(write);
          dim && *dim < plan.numShared && dim != plan.lanes &&
          !component.sequential[*dim] && !isRestricted(*dim) &&
          !getBegin(*dim) && getSharedExtent(*dim)) {
        plan.tile[*dim] = write.getType().getShape().back();
        return;
      }
  for (unsigned i : computes)
    for (const ComputeAccess &read : shapes[i].reads) {
      std::optional<int64_t> stride = getStride(read, *plan.lanes, plan.width);
      if (!stride || (std::abs(*stride) < plan.width))
        continue;
      for (unsigned dim = plan.numInside; dim < plan.numShared; ++dim) {
        std::optional<int64_t> extent = getSharedExtent(dim);
        if (dim == *plan.lanes || component.sequential[dim] ||
            isRestricted(dim) || !extent || *extent - getBegin(dim) < 2 ||
            !getSharedExtent(*plan.lanes) ||
            getStride(read, dim, plan.width) != 1)
          continue;
        plan.tile[dim] = std::min(*extent - getBegin(dim), plan.width);
        return;
      }
    }
}

void PlanChooser::chooseRowVectors() {
  std::optional<int64_t> extent = getSharedExtent(*plan.lanes);
  if (!extent || *extent < kLongMap * plan.width || *extent % plan.width == 0 ||
      getBegin(*plan.lanes) || isLimited(*plan.lanes))
    return;
  for (unsigned i : computes)
    for (auto &accesses : {shapes[i].reads, shapes[i].writes})
      for (const ComputeAccess &access : accesses) {
        std::optional<int64_t> stride =
            getStride(access, *plan.lanes, plan.width);
        if (stride != 0 && stride != 1)
          return;
      }
  plan.tile[*plan.lanes] = kMapVectors * plan.width;
}

std::optional<std::pair<unsigned, Slide>>
PlanChooser::findSlide(const ComputeShape &compute, unsigned row) const {
  if (plan.numWindow)
    return std::nullopt;
  for (unsigned dim = getFirstOwn(compute); dim < compute.getNumDims(); ++dim) {
    std::optional<int64_t> taps = compute.getExtent(dim);
    if (!taps || *taps < 2 || *taps > espalier::kMaxTaps ||
        !compute.isReduced(dim) || compute.isRestricted(dim))
      continue;
    Slide slide{*taps, 0};
    for (const ComputeAccess &read : compute.reads) {
      if (!read.map.isFunctionOfDim(*plan.lanes) ||
          read.array == compute.writes.front().array)
        continue;
      std::optional<int64_t> far = getStride(read, row, plan.width);
      std::optional<int64_t> near = getStride(read, dim, plan.width);
      bool isKnown = far && near && *far != kUnknownStride &&
                     *near != kUnknownStride && *near != 0 && *far % *near == 0;
      int64_t step = isKnown ? *far / *near : 0;
      if (step < 1 || step >= *taps || (slide.step && slide.step != step)) {
        slide.step = 0;
        break;
      }
      slide.step = step;
    }
    if (slide.step)
      return std::pair(dim, slide);
  }
  return std::nullopt;
}

Slide PlanChooser::getWrittenTaps(const ComputeShape &compute,
                                  unsigned row) const {
  unsigned tap = *findBorderTap(row);
  Slide slide{*compute.getExtent(tap), 1};
  for (const ComputeAccess &read : compute.reads) {
    std::optional<int64_t> far = getStride(read, row, plan.width);
    std::optional<int64_t> near = getStride(read, tap, plan.width);
    if (far == 0 || near == 0)
      continue;
    // What is not known shares nothing.
    bool isKnown = far && near && *far != kUnknownStride &&
                   *near != kUnknownStride && *far % *near == 0;
    slide.step = std::max(slide.step, isKnown ? *far / *near : slide.taps);
  }
  return slide;
}

int64_t PlanChooser::countOthers() const {
  auto uses = [](ArrayRef<ComputeAccess> accesses, Value array) {
    return llvm::any_of(accesses, [&](const ComputeAccess &access) {
      return access.array == array;
    });
  };
  auto isSum = [&](unsigned position) {
    return shape(position).op.getReduction() &&
           shape(position).getNumDims() > plan.numShared;
  };
  auto isReadAfter = [&](unsigned position, Value array) {
    return llvm::any_of(
        llvm::seq<unsigned>(position + 1, computes.size()),
        [&](unsigned later) { return uses(shape(later).reads, array); });
  };
  int64_t most = 0;
  for (unsigned sum = 0; sum < computes.size(); ++sum) {
    int64_t others = 0;
    for (std::pair<unsigned, const ComputeAccess *> first : getFirstWrites()) {
      Value array = first.second->array;
      if (first.first >= sum || uses(shape(sum).writes, array) ||
          !isReadAfter(sum, array))
        continue;
      int64_t points = 1;
      for (unsigned dim = plan.numShared; dim < shape(first.first).getNumDims();
           ++dim)
        points *= shape(first.first).getExtent(dim).value_or(1);
      others += points;
    }
    if (isSum(sum))
      most = std::max(most, others);
  }
  return most;
}

void PlanChooser::chooseTile() {
  plan.tile.assign(plan.numShared, 1);
  if (!plan.lanes)
    return;
  plan.tile[*plan.lanes] = plan.width;
  if (!reduction) {
    chooseSquare();
    if (!hasRows())
      chooseRowVectors();
    return;
  }
  const ComputeShape &main = shape(*reduction);
  // Vectors of which most lanes have nothing to do may be half as wide: many
  // machines compute twice as many of these.
  if (std::optional<int64_t> extent = getSharedExtent(*plan.lanes);
      extent && !main.op.getWhere())
    while (plan.width > espalier::kMinLanes && 2 * *extent <= plan.width)
      plan.width /= 2;
  plan.tile[*plan.lanes] = plan.width;
  TileProblem problem{target, plan.width, {}, *plan.lanes, {}};
  problem.broadcastVectors = countBroadcastVectors(main);
  // With few registers, only whole panels are fetched ahead.
  SmallVector<unsigned> terms = getOwnOrder(main);
  if (target.getRegisters() < kManyRegisters && !terms.empty() &&
      isPanelStreamed()) {
    std::optional<int64_t> step =
        getStride(main.reads[*getPanel(main)], terms.back(), plan.width);
    if (step && *step != kUnknownStride && *step % plan.width == 0)
      problem.panelVectors = *step / plan.width;
  }
  std::optional<unsigned> bordered;
  for (unsigned dim = plan.numInside; dim < plan.numShared; ++dim)
    if (findBorderTap(dim))
      bordered = dim;
  if (bordered)
    problem.written = getWrittenTaps(main, *bordered);
  for (unsigned dim = plan.numShared; dim < getFirstOwn(main); ++dim)
    problem.window *= *main.getExtent(dim);
  if (plan.numWindow)
    problem.others = countOthers();
  for (unsigned dim = 0; dim < plan.numShared; ++dim) {
    problem.extents.push_back(isLimited(dim) ? kMaxLimitedRows
                                             : getSharedExtent(dim));
    // Rows share the operands that do not depend on them. What says where a
    // loop ends is none.
    bool shares = findSlide(main, dim).has_value();
    for (auto [number, read] : llvm::enumerate(main.reads))
      shares |=
          !read.map.isFunctionOfDim(dim) && !main.op.isConditionedOn(number);
    if (dim >= plan.numInside && dim != *plan.lanes &&
        !component.sequential[dim] && (!isCut(dim) || dim == bordered) &&
        getSharedBound(dim) && shares)
      problem.rowDims.push_back(dim);
  }
  // Those along which vectors are shared are filled first: scalars are fewer.
  std::stable_partition(
      problem.rowDims.begin(), problem.rowDims.end(), [&](unsigned dim) {
        return llvm::any_of(main.reads, [&](const ComputeAccess &read) {
          return read.array != main.writes.front().array &&
                 read.map.isFunctionOfDim(*plan.lanes) &&
                 read.map.isFunctionOfDim(dim);
        });
      });
  // There is code for any number of those that data ends, and a tile of one for
  // the rest of others.
  std::stable_partition(problem.rowDims.begin(), problem.rowDims.end(),
                        [&](unsigned dim) { return !isLimited(dim); });
  ArrayRef<unsigned> rows = problem.rowDims;
  if (!rows.empty())
    problem.innerRowBytes = getRowBytes(main, rows.back());
  if (rows.size() > 1)
    problem.outerRowBytes = getRowBytes(main, rows[rows.size() - 2]);
  if (auto found = rows.empty() ? std::nullopt : findSlide(main, rows.back()))
    std::tie(sliding, problem.slide) = *found;
  auto hasVectors = [&](unsigned dim) {
    return llvm::any_of(main.reads, [&](const ComputeAccess &read) {
      return read.array != main.writes.front().array &&
             read.map.isFunctionOfDim(dim) &&
             read.map.isFunctionOfDim(*plan.lanes) &&
             getStride(read, *plan.lanes, plan.width) != 0;
    });
  };
  problem.innerHasVectors = !rows.empty() && hasVectors(rows.back());
  problem.outerHasVectors =
      rows.size() > 1 && hasVectors(rows[rows.size() - 2]);
  problem.sharesScalars = sharesScalars(main, rows);
  // At a place that data says, each row of vectors is another one.
  problem.isScattered =
      problem.window == 1 && main.limited[main.getNumDims() - 1] &&
      llvm::any_of(main.reads, [&](const ComputeAccess &read) {
        bool isIndirect = llvm::any_of(
            llvm::seq(kernel.getNumParameters(), read.map.getNumSymbols()),
            [&](unsigned symbol) {
              return read.map.isFunctionOfSymbol(symbol);
            });
        return isIndirect && read.map.isFunctionOfDim(*plan.lanes) &&
               llvm::any_of(rows, [&](unsigned dim) {
                 return read.map.isFunctionOfDim(dim);
               });
      });
  RegisterTile tile = chooseRegisterTile(problem);
  if (!tile.slides)
    sliding.reset();
  plan.tile = tile.rows;
  plan.tile[*plan.lanes] = plan.width * tile.vectors;
  if (bordered && plan.tile[*bordered] > 1)
    borderTap = findBorderTap(*bordered);
  if (!sliding && passesLines() && !rows.empty())
    keepLines(rows.back());
}

/// A reduction walks its panel as it lies in memory.
SmallVector<unsigned>
PlanChooser::getOwnOrder(const ComputeShape &compute) const {
  SmallVector<unsigned> order;
  if (std::optional<unsigned> panel = getPanel(compute))
    for (AffineExpr index : compute.reads[*panel].map.getResults())
      for (unsigned dim = getFirstOwn(compute); dim < compute.getNumDims();
           ++dim)
        if (index.isFunctionOfDim(dim) && !llvm::is_contained(order, dim))
          order.push_back(dim);
  SmallVector<unsigned> rest;
  for (unsigned dim = getFirstOwn(compute); dim < compute.getNumDims(); ++dim)
    if (!llvm::is_contained(order, dim))
      rest.push_back(dim);
  rest.append(order);
  // What slides over a tile's rows is written out, so that they share vectors,
  // and so is what decides, for each of them, whether a term is in a border.
  if (std::optional<unsigned> last = sliding ? sliding : borderTap;
      last && reduction && &compute == &shape(*reduction)) {
    llvm::erase(rest, *last);
    rest.push_back(*last);
    return rest;
  }
  // LLVM makes a flag of the counter of two steps, and moves the tile about: so
  // they are outermost, but for the last, which are written out.
  auto *few = rest.end();
  while (few != rest.begin() && isFewSteps(compute, *std::prev(few)))
    --few;
  if (few != rest.begin() && std::distance(few, rest.end()) > 1)
    std::rotate(rest.begin(), few, std::prev(rest.end()));
  return rest;
}

bool PlanChooser::isFewSteps(const ComputeShape &compute, unsigned dim) const {
  return plan.lanes && !plan.numWindow && compute.op.getReduction() &&
         countBroadcastVectors(compute) > 0 && compute.isReduced(dim) &&
         !compute.isRestricted(dim) &&
         compute.getExtent(dim).value_or(espalier::kFewSteps + 1) <=
             espalier::kFewSteps;
}

/// So many vectors of a row are combined side by side where that is slow, or
/// the row is so many times longer that it pays for what is left of it.
static constexpr int64_t kSlowVectors = 4, kLongSum = 4;

/// Whether each step of a reduction waits long for the one before: a maximum of
/// floating-point numbers takes several instructions, for NaN's and zeros'
/// sake.
static bool isSlow(const ComputeShape &compute) {
  auto update = matchReduction(compute.op, *compute.op.getReduction());
  return update && (update->combiner == "arith.maximumf" ||
                    update->combiner == "arith.minimumf");
}

/// Vectors of a row of sums that pass the entries of a sparse row at most, and
/// those of a row whose length is not known.
static constexpr int64_t kEntryVectors = 8, kUnknownVectors = 4;

/// Whether data says which terms the sums of a row have.
static bool hasEntries(const ComputeShape &compute, unsigned numShared) {
  return compute.op.getReduction() &&
         llvm::any_of(llvm::seq(numShared, compute.getNumDims()),
                      [&](unsigned dim) { return compute.isRestricted(dim); });
}

/// How many vectors along `dim` one pass over the terms of a reduction adds up:
/// enough to hide the latency of an addition. 1 if they would not fit, or
/// the points along `dim` are terms of one sum.
static int64_t getRowVectors(const ComputeShape &compute, unsigned dim,
                             int64_t width, unsigned numShared) {
  std::optional<int64_t> extent = compute.getExtent(dim);
  if (compute.op.getReduction() && compute.isReduced(dim)) {
    // Each step waits for the one before, for several cycles.
    int64_t least = kSlowVectors * width * (isSlow(compute) ? 1 : kLongSum);
    return extent.value_or(least) >= least ? kSlowVectors : 1;
  }
  // Entries are looked up once for all sums that stay in registers meanwhile.
  if (hasEntries(compute, numShared)) {
    int64_t all =
        llvm::divideCeil(extent.value_or(kUnknownVectors * width), width);
    return llvm::divideCeil(all, llvm::divideCeil(all, kEntryVectors));
  }
  if (compute.op.getReduction() && extent)
    for (int64_t vectors : {8, 4, 2})
      if (*extent % (vectors * width) == 0)
        return vectors;
  return 1;
}

std::optional<unsigned>
PlanChooser::chooseOwnVector(const ComputeShape &compute,
                             ArrayRef<unsigned> own) const {
  std::optional<unsigned> best;
  int64_t bestScore = 0;
  // There is a sum for each entry, of a row that may be short: LLVM has code
  // for each length, and lanes of ours would be masked.
  bool hasSumOfEntry =
      compute.op.getWhere() &&
      llvm::any_of(llvm::seq(0u, compute.getNumDims()), [&](unsigned dim) {
        return compute.isRestricted(dim) && !compute.isReduced(dim);
      });
  for (unsigned dim : own) {
    if (hasSumOfEntry && compute.isReduced(dim) && !compute.getExtent(dim))
      continue;
    int64_t score = scoreVectorDim(compute, dim);
    if (score > bestScore) {
      bestScore = score;
      best = dim;
    }
  }
  return best;
}

void PlanChooser::chooseOwnLoops() {
  for (unsigned position = 0; position < computes.size(); ++position) {
    const ComputeShape &compute = shape(position);
    SmallVector<unsigned> order = getOwnOrder(compute);
    OwnLoops &own = plan.own.emplace_back();
    if (!plan.insideSum.empty()) {
      own.order = order;
      if (reduction == position && isFewSteps(compute, order.back()))
        own.unrolled = order.back();
      continue;
    }
    if (!plan.lanes)
      own.lanes = chooseOwnVector(compute, order);
    if (own.lanes)
      own.vectors =
          getRowVectors(compute, *own.lanes, plan.width, plan.numShared);
    if (!order.empty() && order.back() != own.lanes &&
        (isUnrolled(compute, order.back()) ||
         isFewSteps(compute, order.back()) ||
         ((sliding == order.back() || borderTap == order.back()) &&
          reduction == position)))
      own.unrolled = order.back();
    // Terms of a row of sums are added innermost, those of one sum outermost.
    auto isInside = [&](unsigned dim) {
      return own.lanes &&
             (own.vectors > 1 || hasEntries(compute, plan.numShared)) &&
             compute.isReduced(dim) && !compute.isReduced(*own.lanes);
    };
    for (unsigned dim : order)
      if (dim != own.lanes && !isInside(dim))
        own.order.push_back(dim);
    if (!own.lanes)
      continue;
    own.order.push_back(*own.lanes);
    for (unsigned dim : order)
      if (isInside(dim))
        own.order.push_back(dim);
  }
}
