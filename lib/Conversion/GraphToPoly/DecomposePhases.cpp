//===- DecomposePhases.cpp - Transposed convolutions without holes --------===//
//
// A transposed convolution with stride s adds only those taps that meet an
// element of its operand:
//
//   R[y] = sum(k: (y + c - k) mod s = 0) X[(y + c - k) / s] * W[k]
//
// For the results y = s * p + a of one phase a these are every s-th tap,
// k = s * m + r with r = (a + c) mod s, which is a plain convolution:
//
//   R[s p + a] = sum(m) X[p - m + q] * W[s m + r],   q = (a + c - r) / s
//
// A phase has every s-th element of a line of memory, if lines lie along it and
// lanes do not. So that lines of a large result do not leave the cache half
// written, phases then store whole vectors elsewhere, and a copy brings these
// into order.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Renumber.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Each phase has code of its own. What more phases save when the program runs,
/// they cost when it is compiled: 64 take 5 s, 144 take 19 s, and steps of 32
/// in two dimensions have 1024.
static constexpr int64_t kMaxPhases = 64;

namespace {

/// A condition on a sum that lets through one of `period` neighbours of both a
/// dimension of the target and a reduced one.
struct Grid {
  unsigned dim, tap;
  int64_t period;
  /// For each phase of `dim`, that of `tap`.
  SmallVector<int64_t> taps;
};

/// The points of one phase along all grids.
struct Phase {
  /// The dimensions of the statement over new ones, and the extents of these.
  SmallVector<AffineExpr> dims, extents;
};

class PhaseSplitter {
public:
  PhaseSplitter(StatementList &program, FusionGroup &fusionGroup,
                ArrayRef<Grid> grids)
      : program(program), fusionGroup(fusionGroup), grids(grids),
        sum(program.statements[fusionGroup.statements.front()]) {}

  /// Fails, with nothing changed, if some condition does not become true.
  LogicalResult run(const llvm::DenseSet<ArrayId> &local);

private:
  Phase getPhase(ArrayRef<int64_t> number) const;
  /// All combinations of the grids' phases.
  SmallVector<Phase> getPhases() const;
  void addPhase(const Phase &phase, const Statement &plain,
                const llvm::DenseSet<ArrayId> &local);

  StatementList &program;
  FusionGroup &fusionGroup;
  ArrayRef<Grid> grids;
  const Statement sum;
  SmallVector<unsigned> statements;
};

} // namespace

/// Reads `condition` as (t + c - d * k) mod period == 0.
static std::optional<Grid> getGrid(const StatementList &program,
                                   const Statement &statement,
                                   const Condition &condition) {
  AffineExpr divided;
  std::optional<int64_t> period;
  condition.expr.walk([&](AffineExpr e) {
    if (e.getKind() != AffineExprKind::FloorDiv &&
        e.getKind() != AffineExprKind::Mod)
      return;
    auto quotient = cast<AffineBinaryOpExpr>(e);
    if (auto divisor = dyn_cast<AffineConstantExpr>(quotient.getRHS())) {
      divided = quotient.getLHS();
      period = divisor.getValue();
    }
  });
  if (!period || *period < 2 || !condition.isEquality ||
      program.simplify(condition.expr - divided % *period) !=
          getAffineConstantExpr(0, program.context))
    return std::nullopt;
  unsigned rank = program.getRank(statement.target);
  Grid grid{~0u, ~0u, *period, {}};
  int64_t tapStep = 0;
  for (unsigned dim = 0; dim < statement.getNumDims(); ++dim) {
    AffineExpr self = getAffineDimExpr(dim, program.context);
    auto step = dyn_cast<AffineConstantExpr>(
        program.simplify(divided.replace(self, self + 1) - divided));
    if (!step)
      return std::nullopt;
    if (step.getValue() == 0)
      continue;
    unsigned &slot = dim < rank ? grid.dim : grid.tap;
    if (slot != ~0u || (dim < rank && step.getValue() != 1))
      return std::nullopt;
    slot = dim;
    if (dim >= rank)
      tapStep = step.getValue();
  }
  if (grid.dim == ~0u || grid.tap == ~0u)
    return std::nullopt;
  AffineExpr zero = getAffineConstantExpr(0, program.context);
  auto offset = dyn_cast<AffineConstantExpr>(program.simplify(
      divided.replace({{getAffineDimExpr(grid.dim, program.context), zero},
                       {getAffineDimExpr(grid.tap, program.context), zero}})));
  auto numTaps = dyn_cast<AffineConstantExpr>(statement.extents[grid.tap]);
  if (!offset || !numTaps || numTaps.getValue() < *period)
    return std::nullopt;
  for (int64_t phase = 0; phase < *period; ++phase) {
    SmallVector<int64_t> taps;
    for (int64_t tap = 0; tap < *period; ++tap)
      if ((phase + offset.getValue() + tapStep * tap) % *period == 0)
        taps.push_back(tap);
    if (taps.size() != 1)
      return std::nullopt;
    grid.taps.push_back(taps.front());
  }
  return grid;
}

Phase PhaseSplitter::getPhase(ArrayRef<int64_t> number) const {
  Phase phase;
  for (unsigned dim = 0; dim < sum.getNumDims(); ++dim) {
    AffineExpr self = getAffineDimExpr(dim, program.context);
    AffineExpr extent = sum.extents[dim];
    for (auto [grid, first] : llvm::zip_equal(grids, number)) {
      if (dim != grid.dim && dim != grid.tap)
        continue;
      int64_t begin = dim == grid.dim ? first : grid.taps[first];
      extent = program.simplify((extent - begin).ceilDiv(grid.period));
      // Taps backwards, so that the operand is walked forwards.
      AffineExpr count = dim == grid.dim ? self : extent - 1 - self;
      self = count * grid.period + begin;
    }
    phase.dims.push_back(self);
    phase.extents.push_back(extent);
  }
  return phase;
}

SmallVector<Phase> PhaseSplitter::getPhases() const {
  SmallVector<Phase> phases;
  SmallVector<int64_t> number(grids.size(), 0);
  while (true) {
    phases.push_back(getPhase(number));
    unsigned grid = grids.size();
    while (grid > 0 && ++number[grid - 1] == grids[grid - 1].period)
      number[--grid] = 0;
    if (grid == 0)
      return phases;
  }
}

void PhaseSplitter::addPhase(const Phase &phase, const Statement &plain,
                             const llvm::DenseSet<ArrayId> &local) {
  unsigned rank = program.getRank(sum.target);
  Renumbering renumbering;
  renumbering.before.assign(phase.dims.begin(), phase.dims.begin() + rank);
  renumbering.extents.assign(phase.extents.begin(),
                             phase.extents.begin() + rank);
  Renumberer renumberer(program, renumbering);
  for (ArrayId array : local)
    renumberer.replace(array);
  auto add = [&](Statement statement) {
    statements.push_back(program.statements.size());
    program.statements.push_back(std::move(statement));
  };
  Statement first = plain;
  first.target = renumberer.getReplacement(sum.target);
  add(std::move(first));
  for (unsigned number : ArrayRef(fusionGroup.statements).drop_front())
    add(renumberer.apply(program.statements[number]));
}

LogicalResult PhaseSplitter::run(const llvm::DenseSet<ArrayId> &local) {
  SmallVector<Phase> phases = getPhases();
  std::vector<Statement> sums;
  AffineExpr zero = getAffineConstantExpr(0, program.context);
  for (const Phase &phase : phases) {
    sums.push_back(substitute(program, sum, phase.dims, phase.extents));
    Conjunction &domain = sums.back().pieces.front().domain;
    llvm::erase_if(domain, [&](const Condition &condition) {
      return condition.isEquality && condition.expr == zero;
    });
    if (!domain.empty())
      return failure();
  }
  for (auto [phase, plain] : llvm::zip_equal(phases, sums))
    addPhase(phase, plain, local);
  fusionGroup.statements = statements;
  return success();
}

static bool hasFewPhases(ArrayRef<Grid> grids) {
  int64_t phases = 1;
  return llvm::all_of(grids, [&](const Grid &grid) {
    return grid.period <= kMaxPhases && (phases *= grid.period) <= kMaxPhases;
  });
}

/// Whether `array` takes more of the cache than stays there while others use
/// it.
static bool isLarge(const StatementList &program, const Array &array) {
  int64_t bytes = array.elementType.getIntOrFloatBitWidth() / 8;
  for (AffineExpr extent : array.extents) {
    auto number = dyn_cast<AffineConstantExpr>(extent);
    if (!number || (bytes *= number.getValue()) > program.cacheBytes / 2)
      return true;
  }
  return false;
}

/// The layout in which phases along `grids` store whole vectors, if they do not
/// as the result of `fusionGroup` lies.
static AffineMap getVectorLayout(const StatementList &program,
                                 const FusionGroup &fusionGroup,
                                 ArrayRef<Grid> grids) {
  const Statement &sum = program.statements[fusionGroup.statements.front()];
  const Array &result =
      program.arrays[program.statements[fusionGroup.statements.back()].target];
  const Array &total = program.arrays[sum.target];
  std::optional<unsigned> line = getInnermost(result);
  std::optional<Contraction> contraction = getContraction(program, sum);
  // Groups that are a dimension of the sum alone are none of the result.
  if (!line || !contraction || getInnermost(total) != contraction->vectorDim ||
      total.extents.size() != result.extents.size() ||
      !isLarge(program, result) ||
      llvm::none_of(grids, [&](const Grid &grid) { return grid.dim == line; }))
    return {};
  return total.layout;
}

/// Whether each point adds up a single term.
static bool hasOneTerm(const StatementList &program, const Statement &sum,
                       ArrayRef<Grid> grids) {
  for (unsigned dim = program.getRank(sum.target); dim < sum.getNumDims();
       ++dim) {
    AffineExpr terms = sum.extents[dim];
    for (const Grid &grid : grids)
      if (grid.tap == dim)
        terms = program.simplify(terms.ceilDiv(grid.period));
    if (terms != getAffineConstantExpr(1, program.context))
      return false;
  }
  return true;
}

/// The statements of a kernel from its first sum on: those before, which copy
/// what the sum reads, stay as they are.
static FusionGroup getSums(const StatementList &program,
                           const FusionGroup &fusionGroup) {
  ArrayRef<unsigned> statements = fusionGroup.statements;
  const auto *first = llvm::find_if(statements, [&](unsigned number) {
    return program.statements[number].reduction.has_value();
  });
  if (first == statements.begin() || first == statements.end())
    return fusionGroup;
  return {SmallVector<unsigned>(first, statements.end()),
          program.getRank(program.statements[*first].target)};
}

void espalier::graphtopoly::decomposePhases(
    StatementList &program, SmallVectorImpl<FusionGroup> &fusionGroups) {
  llvm::DenseSet<ArrayId> escaping = findEscaping(program, fusionGroups);
  SmallVector<FusionGroup> result;
  for (FusionGroup &fusionGroup : fusionGroups) {
    FusionGroup sums = getSums(program, fusionGroup);
    const Statement &sum = program.statements[sums.statements.front()];
    llvm::DenseSet<ArrayId> local = findLocal(program, sums, escaping);
    SmallVector<Grid> grids;
    if (sum.reduction && !sum.entries && sum.pieces.size() == 1 &&
        local.contains(sum.target) &&
        sums.sharedDims == program.getRank(sum.target) &&
        isPointwise(program, sums, local))
      for (const Condition &condition : sum.pieces.front().domain)
        if (std::optional<Grid> grid = getGrid(program, sum, condition))
          grids.push_back(*grid);
    result.push_back(fusionGroup);
    ArrayRef<unsigned> copies =
        ArrayRef(fusionGroup.statements).drop_back(sums.statements.size());
    if (grids.empty() || grids.size() != sum.pieces.front().domain.size() ||
        !hasFewPhases(grids))
      continue;
    // The loops that copies are in as well have no phases. Beside copies, what
    // adds up nothing is faster as it is: lines are stored at once.
    if (!copies.empty() && (hasOneTerm(program, sum, grids) ||
                            llvm::any_of(grids, [&](const Grid &grid) {
                              return grid.dim < fusionGroup.sharedDims;
                            })))
      continue;
    AffineMap layout;
    if (isWrittenBy(program, fusionGroup, fusionGroups,
                    program.statements[sums.statements.back()].target))
      layout = getVectorLayout(program, sums, grids);
    if (failed(PhaseSplitter(program, sums, grids).run(local)))
      continue;
    FusionGroup &split = result.back();
    split.statements.assign(copies.begin(), copies.end());
    llvm::append_range(split.statements, sums.statements);
    if (layout)
      result.push_back(storeElsewhere(program, split, layout));
  }
  fusionGroups = std::move(result);
}
