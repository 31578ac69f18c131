//===- RegisterTile.cpp - Which tile of a result stays in registers -------===//

#include "RegisterTile.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Support/CodeSize.h"

using namespace espalier::poly;

/// Stands for an extent that is not known before the program runs.
static constexpr int64_t kUnknownExtent = 1024;
/// The same for the lines of an image, of which a vector or two are left over
/// in most, and for how many there are.
static constexpr int64_t kUnknownLine = 56;

/// With few registers, LLVM spills a tile of one vector that has more rows,
/// since it unrolls the loop around.
static constexpr int64_t kMaxThinRows = 8;

/// Vectors side by side in tiles that write out all taps, in few registers.
static constexpr int64_t kTapVectors = 2;
/// Scalars of these that need no register: LLVM loads them again.
static constexpr int64_t kLoadedAgain = 3;

/// Ways that the panel needs while rows stay in the others.
static constexpr int64_t kPanelWays = 2;
/// Cycles of a load that misses that cache, if others are on their way.
static constexpr double kMissCycles = 1.5;

/// A tile that loads vectors again for each tap is to take this part of the
/// time of one that does not, since the model is not exact.
static constexpr double kMuchFaster = 0.5;

/// What a row of vectors that is not aligned takes, beyond those of the row.
static constexpr double kSplitVectors = 0.5;

/// Time of a tile with parts of two panels, which nothing fetches ahead, by
/// that of one with a panel.
static constexpr double kSplitPanels = 1.06;

/// What the second-level cache delivers, where the panel lies.
static constexpr double kPanelBytesPerCycle = 32;

/// Whether the lines that a tile reads its rows from stay in the first-level
/// cache from one step to the next: not if too many lie in one set, because
/// rows are far apart by a multiple of many lines.
static bool doRowsStay(const TileProblem &problem, int64_t inner,
                       int64_t outer) {
  llvm::SmallDenseSet<int64_t> lines;
  llvm::SmallDenseMap<int64_t, int64_t> sets;
  int64_t most = 0;
  for (int64_t y = 0; y < outer; ++y)
    for (int64_t x = 0; x < inner; ++x) {
      int64_t offset = x * problem.innerRowBytes + y * problem.outerRowBytes;
      if (lines.insert(offset / kLineBytes).second)
        most = std::max(most, ++sets[offset % kWayBytes / kLineBytes]);
    }
  return most + kPanelWays <= problem.target.getL1() / kWayBytes;
}

/// Cycles for one step of the reduction in a tile of `inner` times `outer` rows
/// and of `vectors`, where a window of vectors counts as that many.
static double getStepCycles(const TileProblem &problem, int64_t inner,
                            int64_t outer, int64_t vectors) {
  int64_t rows = inner * outer;
  double multiplyAdds = rows * vectors / 2.0;
  double loads =
      ((problem.broadcastVectors ? rows : rows * vectors) + vectors) / 2.0;
  // Vectors of a window are not aligned: each takes two accesses.
  if (problem.slide.taps > 1)
    loads = rows * vectors + 0.5;
  if (problem.isScattered) {
    // Each row of vectors begins in the middle of a line, and ends in one.
    loads = (rows * (vectors + kSplitVectors) + 1) / 2.0;
  } else if (problem.broadcastVectors) {
    if (!doRowsStay(problem, inner, outer))
      loads = rows * kMissCycles;
    double panel = vectors * problem.target.getVectorBits() / 8.0;
    loads = std::max(loads, panel / kPanelBytesPerCycle);
  }
  // The conditions of taps that are written out leave some cycles unused.
  double latency = problem.written.taps > 1 ? 4.5 : 4;
  return std::max({multiplyAdds, loads, latency}) + 0.5;
}

/// Cycles per step for all of `extent` in tiles of `tile`, each of which costs
/// what `cost` says for its size.
template <typename Cost>
static double sumTiles(int64_t extent, int64_t tile, Cost cost) {
  double cycles = (extent / tile) * cost(tile);
  if (int64_t rest = extent % tile)
    cycles += cost(rest);
  return cycles;
}

/// The tile whose rows pass all taps between two loads of the same vectors, so
/// that these stay in registers, beside the results and the taps' weights.
static RegisterTile chooseSlidingTile(const TileProblem &problem) {
  Slide slide = problem.slide;
  unsigned row = problem.rowDims.back();
  auto getExtent = [&](unsigned dim) {
    return problem.extents[dim].value_or(kUnknownExtent);
  };
  auto countLoads = [&](int64_t rows) {
    return (rows - 1) * slide.step + slide.taps;
  };
  RegisterTile best;
  best.slides = true;
  best.rows.assign(problem.extents.size(), 1);
  for (int64_t vectors : {2, 1})
    for (int64_t rows = 1; rows <= getExtent(row); ++rows) {
      int64_t held = vectors * (rows + countLoads(rows)) + slide.taps;
      // More rows hold more.
      if (rows > 1 && held > problem.target.getRegisters())
        break;
      if (rows * vectors > 1 &&
          (held > problem.target.getRegisters() ||
           rows * vectors * slide.taps > espalier::kMaxStraightPoints ||
           vectors * problem.lanes >
               int64_t(
                   llvm::alignTo(getExtent(problem.vectorDim), problem.lanes))))
        continue;
      double cycles = sumTiles(getExtent(row), rows, [&](int64_t part) {
        return sumTiles(getExtent(problem.vectorDim), vectors * problem.lanes,
                        [&](int64_t lanes) {
                          int64_t columns =
                              llvm::divideCeil(lanes, problem.lanes);
                          // A vector that is not aligned takes two accesses.
                          double loads =
                              columns * countLoads(part) + slide.taps / 2.0;
                          constexpr double latency = 4;
                          return std::max({part * columns * slide.taps / 2.0,
                                           loads, latency * slide.taps});
                        });
      });
      if (cycles >= best.cycles * 0.999)
        continue;
      best.cycles = cycles;
      best.vectors = vectors;
      best.rows[row] = rows;
    }
  if (problem.rowDims.size() > 1)
    best.cycles *= getExtent(problem.rowDims[problem.rowDims.size() - 2]);
  return best;
}

/// The tile that takes the fewest cycles if each step loads what it needs.
static RegisterTile chooseTileOfSteps(const TileProblem &problem) {
  auto getExtent = [&](unsigned dim) {
    return problem.extents[dim].value_or(problem.isScattered ? kUnknownLine
                                                             : kUnknownExtent);
  };
  int64_t width = getExtent(problem.vectorDim);
  // One register for each vector of the panel, one for a row.
  int64_t registers = problem.target.getRegisters();
  RegisterTile best;
  best.rows.assign(problem.extents.size(), 1);
  // The two innermost dimensions that may be tiled; the rest counts equally.
  int inner = problem.rowDims.empty() ? -1 : int(problem.rowDims.back());
  int outer = problem.rowDims.size() < 2
                  ? -1
                  : int(problem.rowDims[problem.rowDims.size() - 2]);
  int64_t innerExtent = inner < 0 ? 1 : getExtent(inner);
  int64_t outerExtent = outer < 0 ? 1 : getExtent(outer);
  // Of equals, two vectors, as many as a panel of constants has side by side.
  llvm::SmallVector<int64_t> choices = {2, 1, 4, 8};
  // The multiples of two leave some of few registers, and rows pass more often.
  if (registers < kManyRegisters && !problem.sharesScalars)
    choices.insert(choices.begin(), 3);
  for (int64_t vectors : choices) {
    // Each group of features reads scalars of its own.
    if (problem.broadcastVectors % vectors != 0)
      continue;
    if (vectors > 1 &&
        vectors * problem.lanes > int64_t(llvm::alignTo(width, problem.lanes)))
      continue;
    // A single row may read the panel from memory, but not its own results.
    int64_t used = vectors * problem.window;
    if (vectors > 1 && used >= registers)
      continue;
    // What waits may do so on the stack, from which it is read once.
    int64_t maxRows = std::max<int64_t>(
        1, (registers - used - 1) / (used + vectors * problem.others / 2));
    // Each row's scalar takes a register while it is broadcast.
    if (!problem.broadcastVectors)
      maxRows = std::max<int64_t>(1, maxRows / 2);
    else if (used == 1 && registers < kManyRegisters)
      maxRows = std::min(maxRows, kMaxThinRows);
    // Results of more would keep what they read out of the first-level cache,
    // or the scalars that taps share out of registers.
    Slide written = problem.written;
    if (problem.isScattered || written.taps > 1)
      maxRows = std::max<int64_t>(1, registers / 2 / used);
    if (written.taps > 1 && registers < kManyRegisters) {
      // Few registers do not hold more vectors of several taps.
      if (vectors > kTapVectors)
        continue;
      // One row more, if it and its scalars have room, or if it were by itself
      // and would wait for each of its vectors.
      int64_t scalars = maxRows * written.step + written.taps;
      if (vectors == kTapVectors &&
          (innerExtent == maxRows + 1 ||
           used * (maxRows + 2) + scalars <= registers + kLoadedAgain))
        ++maxRows;
    }
    // A rest of any number of rows has code of its own up to that many.
    if (inner >= 0 && !problem.extents[inner])
      maxRows = std::min(maxRows, espalier::kMaxRowVersions);
    for (int64_t x = 1; x <= std::min(maxRows, innerExtent); ++x) {
      int64_t maxY = x == innerExtent ? std::min(maxRows / x, outerExtent) : 1;
      for (int64_t y = 1; y <= maxY; ++y) {
        // LLVM loads all vectors of a step before it uses them.
        int64_t held = used * (x * y + (problem.innerHasVectors ? x : 1) *
                                           (problem.outerHasVectors ? y : 1));
        if (problem.broadcastVectors && registers < kManyRegisters &&
            x * y > 1 && held + 1 > registers)
          continue;
        double cycles = sumTiles(outerExtent, y, [&](int64_t rowsY) {
          return sumTiles(innerExtent, x, [&](int64_t rowsX) {
            return sumTiles(width, vectors * problem.lanes, [&](int64_t part) {
              return getStepCycles(problem, rowsX, rowsY,
                                   llvm::divideCeil(part, problem.lanes) *
                                       problem.window);
            });
          });
        });
        if (problem.panelVectors && vectors != problem.panelVectors)
          cycles *= kSplitPanels;
        if (cycles >= best.cycles * 0.999)
          continue;
        best.cycles = cycles;
        best.vectors = vectors;
        best.rows.assign(problem.extents.size(), 1);
        if (inner >= 0)
          best.rows[inner] = x;
        if (outer >= 0)
          best.rows[outer] = y;
      }
    }
  }
  return best;
}

RegisterTile espalier::poly::chooseRegisterTile(const TileProblem &problem) {
  RegisterTile steps = chooseTileOfSteps(problem);
  if (problem.slide.taps < 2)
    return steps;
  // Many taps leave few registers for rows that slide.
  RegisterTile sliding = chooseSlidingTile(problem);
  return steps.cycles * problem.slide.taps < kMuchFaster * sliding.cycles
             ? steps
             : sliding;
}
