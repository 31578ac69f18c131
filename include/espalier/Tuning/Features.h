//===- Features.h - What a schedule does to a machine -----------*- C++ -*-===//
//
// Numbers that tell how fast a schedule is likely to be, computed from its
// plans and the exact accesses alone: nothing is applied or compiled, so that
// thousands of candidates take as long as one build.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TUNING_FEATURES_H
#define ESPALIER_TUNING_FEATURES_H

#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/Transforms/Plan.h"
#include <array>

namespace espalier::tuning {

/// What the numbers mean: grows whenever one of them is counted in another way,
/// so that nothing is learned of the numbers of other builds.
inline constexpr int kFeaturesVersion = 2;

/// X(name, meaning): of the computation that takes most of the cycles, but for
/// `cycles`. Counts and sizes are logarithms to base 2 of one more.
#define ESPALIER_FOR_EACH_FEATURE(X)                                           \
  X(Points, "points")                                                          \
  X(Cycles, "estimated cycles of all computations")                            \
  X(PointsPerCycle, "points in an estimated cycle")                            \
  X(VectorOps, "points in a vector instruction")                               \
  X(Loads, "loads for a vector instruction")                                   \
  X(Accumulators, "vectors of results of a tile")                              \
  X(Registers, "vectors that live in a tile, of those that there are")         \
  X(Spills, "vectors beyond the registers")                                    \
  X(Chain, "cycles for which a step of a sum waits for the last, of its own")  \
  X(StraightCode, "vector instructions in the body of the innermost loop")     \
  X(InnerTrips, "iterations of the innermost loop")                            \
  X(TileTrips, "tiles")                                                        \
  X(Rows, "points of a tile beside its lanes")                                 \
  X(Vectors, "vectors of a tile along its lanes")                              \
  X(LaneUse, "lanes that have a point, of all")                                \
  X(Rest, "points that are not in whole tiles, of all")                        \
  X(Gathers, "lanes that are loaded one by one, for a vector instruction")     \
  X(ParallelTrips, "iterations of parallel loops")                             \
  X(WholeBytes, "bytes of all accesses")                                       \
  X(TileBytes, "bytes of a tile and its sums")                                 \
  X(StepBytes, "bytes of an iteration of the loop around tiles")               \
  X(LinesL1, "lines that come into the first cache, for a thousand points")    \
  X(LinesL2, "lines that come into the second, for a thousand points")         \
  X(LinesL3, "lines that come into the third, for a thousand points")          \
  X(ReuseL1,                                                                   \
    "bytes between two uses of the most used array, of the first cache")       \
  X(LocalBytes, "bytes of local arrays of a tile")                             \
  X(Parts, "parts of a sum")                                                   \
  X(Blocked, "whether tiles are passed in blocks")                             \
  X(Fetch, "what is fetched ahead")                                            \
  X(Ahead, "how far ahead")

enum class Feature : unsigned {
#define ESPALIER_FEATURE(name, meaning) name,
  ESPALIER_FOR_EACH_FEATURE(ESPALIER_FEATURE)
#undef ESPALIER_FEATURE
};

#define ESPALIER_FEATURE(name, meaning) +1
inline constexpr unsigned kNumFeatures =
    0 ESPALIER_FOR_EACH_FEATURE(ESPALIER_FEATURE);
#undef ESPALIER_FEATURE

struct Features {
  std::array<float, kNumFeatures> values{};

  float &operator[](Feature feature) {
    return values[static_cast<unsigned>(feature)];
  }
  float operator[](Feature feature) const {
    return values[static_cast<unsigned>(feature)];
  }
};

/// Describes how `kernel` runs on `target` with `plans`, of whichever sizes its
/// computations have; a size that is not known counts as `unknownExtent`.
Features computeFeatures(poly::KernelOp kernel, poly::TargetAttr target,
                         llvm::ArrayRef<poly::Plan> plans,
                         int64_t unknownExtent = 1);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_FEATURES_H
