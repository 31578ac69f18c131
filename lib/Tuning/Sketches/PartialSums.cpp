//===- PartialSums.cpp - Sketches of sums in parts ------------------------===//
//
// A sum of few elements with many terms leaves threads without work: they have
// iterations of the elements' loops only. Parts of the terms are more: each
// thread adds up some (`rfactor`), and the results of these are added at the
// end. Rule "rfactor" of Ansor (section 4.1).
//
//===----------------------------------------------------------------------===//

#include "CommandSketches.h"
#include "espalier/Dialect/Poly/Analysis/Extents.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// Threads that have so many iterations of the elements' loops have enough.
static constexpr int64_t kEnoughElements = 16;
/// What takes fewer points is done before others have begun.
static constexpr int64_t kMinPoints = 4096;
/// Parts for each thread, and vectors of terms that are added side by side.
static constexpr int64_t kPartsOfThread[] = {1, 2, 4, 16},
                         kVectors[] = {2, 4, 8};
static constexpr int64_t kUsualVectors = 4;
/// More would take too many attempts.
static constexpr size_t kMaxComputes = 12;

namespace {
/// Derives the sketch of one kernel.
class SumParter : public CommandSketcher {
public:
  SumParter(ModuleOp module, int64_t threads)
      : CommandSketcher(module), threads(threads) {}

  std::optional<Sketch> derive();

private:
  using Extents = SmallVector<std::optional<int64_t>>;

  Extents getExtents(poly::ComputeOp compute) {
    return poly::getBoxExtents(compute.getDomainSets().front());
  }
  std::optional<unsigned> findLongSum(poly::ComputeOp compute);
  /// Whether a read of neighbours along a dimension is of neighbours in memory.
  bool hasNeighbours(poly::ComputeOp compute, unsigned dim);
  std::string printParts(unsigned number, unsigned dim);
  std::string printLanes(unsigned number, unsigned dim);
  void addMap(unsigned number);
  /// Adds commands, if these are legal then.
  bool add(const std::string &commands);

  int64_t threads;
  std::string script;
};
} // namespace

/// The number of points, or as many as there may be.
static int64_t countPoints(ArrayRef<std::optional<int64_t>> extents) {
  int64_t points = 1;
  for (std::optional<int64_t> extent : extents)
    points = llvm::SaturatingMultiply<uint64_t>(
        points, std::max<int64_t>(extent.value_or(kMinPoints), 1));
  return points;
}

/// The dimension with most terms of a sum, if they are many, and threads find
/// too few elements.
std::optional<unsigned> SumParter::findLongSum(poly::ComputeOp compute) {
  if (!compute.getReduction() || compute.getDomainSets().size() != 1)
    return std::nullopt;
  AffineMap element = compute.getWriteAccesses().front().map;
  Extents extents = getExtents(compute);
  int64_t elements = 1;
  std::optional<unsigned> longest;
  for (unsigned dim = 0; dim < compute.getNumDims(); ++dim) {
    if (!extents[dim])
      return std::nullopt;
    if (element.isFunctionOfDim(dim))
      elements = llvm::SaturatingMultiply<uint64_t>(elements, *extents[dim]);
    else if (!longest || *extents[dim] > *extents[*longest])
      longest = dim;
  }
  bool isLong = longest && countPoints(extents) >= kMinPoints &&
                *extents[*longest] >= 2 * threads;
  return isLong && elements < kEnoughElements * threads ? longest
                                                        : std::nullopt;
}

bool SumParter::hasNeighbours(poly::ComputeOp compute, unsigned dim) {
  return llvm::any_of(compute.getReadAccesses(),
                      [&](const poly::ComputeAccess &read) {
                        return read.map.getNumResults() > 0 &&
                               read.map.getResults().back() ==
                                   getAffineDimExpr(dim, compute.getContext());
                      });
}

/// Threads compute parts of the sum over `dim`.
std::string SumParter::printParts(unsigned number, unsigned dim) {
  poly::ComputeOp compute = computes[number];
  int64_t extent = *getExtents(compute)[dim];
  // Parts are whole vectors.
  int64_t unit = std::min(extent, kVectors[2] * getWidth(compute));
  llvm::SmallSet<int64_t, 4> seen;
  SmallVector<int64_t> sizes;
  for (int64_t parts : kPartsOfThread)
    if (int64_t size =
            llvm::alignTo(llvm::divideCeil(extent, parts * threads), unit);
        size <= extent && seen.insert(size).second)
      sizes.push_back(size);
  std::string loop = compute.getDimName(dim).str();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << printKnob("%p" + std::to_string(number), "part." + loop, sizes,
                  sizes.front())
     << "transform.poly.split %c" << number << " loop " << quote(loop)
     << " factors [%p" << number << "] : " << kHandle << "\n";
  if (dim > 0) {
    os << "transform.poly.interchange %c" << number << " loops ["
       << quote(loop + ".0");
    for (unsigned other = 0; other < dim; ++other)
      os << ", " << quote(compute.getDimName(other).getValue());
    os << "] : " << kHandle << "\n";
  }
  os << "%a" << number << ", %i" << number << ", %r" << number
     << " = transform.poly.rfactor %c" << number << " loop "
     << quote(loop + ".0") << " : (" << kHandle << ") -> (" << kHandle << ", "
     << kHandle << ", " << kHandle << ")\n"
     << "transform.poly.parallelize %c" << number << " loop "
     << quote(loop + ".0") << " : " << kHandle << "\n";
  return text;
}

/// Lanes of a part: of terms, each with a sum of its own, if these are side by
/// side in memory, or of elements.
std::string SumParter::printLanes(unsigned number, unsigned dim) {
  poly::ComputeOp compute = computes[number];
  int64_t width = getWidth(compute);
  std::string text;
  llvm::raw_string_ostream os(text);
  auto command = [&](StringRef name, const Twine &target, const Twine &loop,
                     const Twine &rest = "") {
    os << "transform.poly." << name << " %" << target << number << " loop "
       << quote(loop) << rest << " : " << kHandle << "\n";
  };
  std::string vector = " width " + std::to_string(width);
  if (width > 1 && hasNeighbours(compute, dim)) {
    std::string loop = (compute.getDimName(dim).getValue() + ".1").str();
    SmallVector<int64_t> sizes;
    for (int64_t vectors : kVectors)
      sizes.push_back(vectors * width);
    os << printKnob("%v" + std::to_string(number),
                    "lanes." + compute.getDimName(dim).getValue(), sizes,
                    kUsualVectors * width);
    command("split", "c", loop, " factors [%v" + std::to_string(number) + "]");
    os << "%la" << number << ", %li" << number << ", %lr" << number
       << " = transform.poly.rfactor %c" << number << " loop "
       << quote(loop + ".1") << " place register : (" << kHandle << ") -> ("
       << kHandle << ", " << kHandle << ", " << kHandle << ")\n";
    for (StringRef target : {"c", "li"}) {
      command("vectorize", target, loop + ".1", vector);
      command("unroll", target, loop + ".1.0");
    }
    command("unroll", "lr", loop + ".1");
    return text;
  }
  // Sums are in memory then, where a vector with a mask waits for the last one.
  Extents extents = getExtents(compute);
  for (unsigned other = 0; width > 1 && other < extents.size(); ++other)
    if (other != dim && *extents[other] % width == 0 &&
        hasNeighbours(compute, other)) {
      command("vectorize", "c", compute.getDimName(other).getValue(), vector);
      break;
    }
  return text;
}

/// Lets threads, and lanes, share what has many points and is no such sum.
void SumParter::addMap(unsigned number) {
  poly::ComputeOp compute = computes[number];
  Extents extents = getExtents(compute);
  const auto *wide = llvm::find_if(
      extents, [](std::optional<int64_t> extent) { return extent != 1; });
  if (wide == extents.end() || countPoints(extents) < kMinPoints)
    return;
  auto print = [&](StringRef command, unsigned dim, const Twine &rest = "") {
    std::string text;
    llvm::raw_string_ostream(text)
        << "transform.poly." << command << " %c" << number << " loop "
        << compute.getDimName(dim) << rest << " : " << kHandle << "\n";
    return text;
  };
  add(print("parallelize", wide - extents.begin()));
  if (int64_t width = getWidth(compute); width > 1)
    add(print("vectorize", extents.size() - 1, " width " + Twine(width)));
}

bool SumParter::add(const std::string &commands) {
  if (commands.empty() || !apply(script + commands))
    return false;
  script += commands;
  return true;
}

std::optional<Sketch> SumParter::derive() {
  bool isInOrder = llvm::any_of(computes, [](poly::ComputeOp compute) {
    return compute.getInterleaved().value_or(0) > 0 || compute.getWhere();
  });
  if (isInOrder || computes.size() > kMaxComputes)
    return std::nullopt;
  SmallVector<std::optional<unsigned>> sums;
  for (poly::ComputeOp compute : computes)
    sums.push_back(findLongSum(compute));
  if (llvm::none_of(sums, [](auto sum) { return sum.has_value(); }))
    return std::nullopt;
  script = printHandles();
  for (auto [number, sum] : llvm::enumerate(sums)) {
    if (!sum) {
      addMap(number);
      continue;
    }
    if (!add(printParts(number, *sum)))
      return std::nullopt;
    add(printLanes(number, *sum));
  }
  return make("rfactor", script);
}

std::vector<Sketch> tuning::derivePartialSums(ModuleOp module,
                                              unsigned threads) {
  std::vector<Sketch> sketches;
  if (threads > 1)
    if (std::optional<Sketch> sketch = SumParter(module, threads).derive())
      sketches.push_back(std::move(*sketch));
  return sketches;
}
