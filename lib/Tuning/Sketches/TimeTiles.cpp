//===- TimeTiles.cpp - Sketches of steps over a grid ----------------------===//
//
// Steps in time that read what the step before wrote: tiles of several steps
// and a part of the grid stay in a cache once loops over the grid are skewed by
// the one over time (Wolf and Lam, A Data Locality Optimizing Algorithm, PLDI
// 1991), and run in parallel along diagonals. What is legal is found by the
// checks of commands.
//
//===----------------------------------------------------------------------===//

#include "CommandSketches.h"
#include "espalier/Dialect/Poly/Analysis/Extents.h"
#include "espalier/Dialect/Poly/Transforms/Skews.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

using llvm::ArrayRef;
using llvm::SmallVector;

/// Steps of a tile, and what it has of each loop over the grid.
static constexpr int64_t kSteps[] = {2, 4, 8, 16, 32}, kUsualSteps = 8;
static constexpr int64_t kParts[] = {8, 16, 32, 64, 128}, kUsualPart = 32;
/// More computations, or loops that are tiled, would take too many attempts.
static constexpr size_t kMaxComputes = 8;
static constexpr unsigned kMaxTiled = 3;

namespace {
/// Derives sketches of one kernel.
class TimeTiler : public CommandSketcher {
public:
  using CommandSketcher::CommandSketcher;

  std::vector<Sketch> derive();

private:
  /// What a script has beside the sizes of tiles.
  struct Form {
    unsigned numTiled = 0; ///< Loops from the one over time on.
    SmallVector<poly::Skew> skews;
    bool isWavefront = false;
    /// By computation, whether the innermost loop runs in vectors.
    SmallVector<bool> hasLanes;
  };

  bool hasSteps();
  llvm::StringRef getLoop(unsigned dim) {
    return computes.front().getDimName(dim);
  }
  std::string printFusion(unsigned numTiled);
  std::string printSizes(unsigned dim);
  std::string print(const Form &form);
  std::optional<SmallVector<poly::Skew>> findSkews(unsigned numTiled);
  void chooseLanes(Form &form);
};
} // namespace

/// Whether all computations are of a grid in each step, and read beside where
/// they write.
bool TimeTiler::hasSteps() {
  if (computes.empty() || computes.size() > kMaxComputes)
    return false;
  unsigned numDims = computes.front().getNumDims();
  SmallVector<poly::ComputeAccess> writes;
  for (poly::ComputeOp compute : computes) {
    if (compute.getNumDims() != numDims || compute.getReduction() ||
        compute.getWhere())
      return false;
    llvm::append_range(writes, compute.getWriteAccesses());
  }
  bool isReadBeside = false;
  for (poly::ComputeOp compute : computes)
    for (const poly::ComputeAccess &read : compute.getReadAccesses())
      isReadBeside |=
          llvm::any_of(writes, [&](const poly::ComputeAccess &write) {
            return write.array == read.array && write.map != read.map;
          });
  std::optional<int64_t> steps =
      poly::getBoxExtents(computes.front().getDomainSets().front())[0];
  return numDims >= 2 && isReadBeside && (!steps || *steps > 1);
}

/// What the size of a tile may be along a loop.
std::string TimeTiler::printSizes(unsigned dim) {
  std::optional<int64_t> extent =
      poly::getBoxExtents(computes.front().getDomainSets().front())[dim];
  SmallVector<int64_t> sizes;
  int64_t usual = 0;
  for (int64_t size : dim == 0 ? ArrayRef(kSteps) : ArrayRef(kParts))
    if (!extent || size <= *extent) {
      sizes.push_back(size);
      if (size <= (dim == 0 ? kUsualSteps : kUsualPart))
        usual = size;
    }
  if (sizes.empty())
    sizes = {usual = *extent};
  return printKnob("%t" + std::to_string(dim), "tile." + getLoop(dim), sizes,
                   usual);
}

/// Lets all computations share the loops that are tiled.
std::string TimeTiler::printFusion(unsigned numTiled) {
  std::string text = printHandles();
  llvm::raw_string_ostream os(text);
  for (auto [number, compute] : llvm::enumerate(computes)) {
    uint64_t shared = compute.getInterleaved().value_or(0);
    if (number > 0 && shared < numTiled)
      os << "transform.poly.fuse %c0 with %c" << number << " loops "
         << numTiled - shared << " : " << kHandle << ", " << kHandle << "\n";
  }
  return text;
}

std::string TimeTiler::print(const Form &form) {
  std::string text = printFusion(form.numTiled);
  llvm::raw_string_ostream os(text);
  for (const poly::Skew &skew : form.skews) {
    os << "transform.poly.skew %c0 loop " << quote(skew.loop) << " by [";
    llvm::interleaveComma(skew.factors, os);
    os << "] of [";
    llvm::interleaveComma(
        skew.others, os, [&](const std::string &other) { os << quote(other); });
    os << "] : " << kHandle << "\n";
  }
  auto dims = llvm::seq(form.numTiled);
  for (unsigned dim : dims)
    os << printSizes(dim);
  os << "transform.poly.tile %c0 loops [";
  llvm::interleaveComma(dims, os,
                        [&](unsigned dim) { os << quote(getLoop(dim)); });
  os << "] sizes [[";
  llvm::interleaveComma(dims, os, [&](unsigned dim) { os << "%t" << dim; });
  os << "]] : " << kHandle << "\n";
  if (form.isWavefront)
    os << "transform.poly.wavefront %c0 loops [" << quote(getLoop(0) + ".0")
       << ", " << quote(getLoop(1) + ".0") << "] : " << kHandle << "\n";
  for (auto [number, compute] : llvm::enumerate(computes)) {
    if (!form.hasLanes[number])
      continue;
    unsigned last = compute.getNumDims() - 1;
    // Loops that are shared have the names of the first.
    Attribute loop = last < form.numTiled ? quote(getLoop(last) + ".1")
                                          : compute.getDimName(last);
    os << "transform.poly.vectorize %c" << number << " loop " << loop
       << " width " << getWidth(compute) << " peel_tail : " << kHandle << "\n";
  }
  return text;
}

/// By how much loops are skewed so that they can be tiled.
std::optional<SmallVector<poly::Skew>> TimeTiler::findSkews(unsigned numTiled) {
  OwningOpRef<ModuleOp> fused = apply(printFusion(numTiled));
  if (!fused)
    return std::nullopt;
  auto copy = *fused->getOps<poly::KernelOp>().begin();
  return poly::computeSkews(copy.lookupCompute(computes.front().getSymName()),
                            {getLoop(0), getLoop(numTiled - 1)});
}

/// Runs in vectors what can be: all computations, or those that can alone.
void TimeTiler::chooseLanes(Form &form) {
  SmallVector<bool> canHave = llvm::map_to_vector(
      computes, [&](poly::ComputeOp compute) { return getWidth(compute) > 1; });
  form.hasLanes = canHave;
  if (make("", print(form)))
    return;
  form.hasLanes.assign(computes.size(), false);
  for (size_t number = 0; number < computes.size(); ++number) {
    form.hasLanes[number] = canHave[number];
    if (canHave[number] && !make("", print(form)))
      form.hasLanes[number] = false;
  }
}

std::vector<Sketch> TimeTiler::derive() {
  std::vector<Sketch> sketches;
  if (!hasSteps())
    return sketches;
  unsigned most = std::min(kMaxTiled, computes.front().getNumDims());
  for (unsigned numTiled = 2; numTiled <= most; ++numTiled) {
    auto skews = findSkews(numTiled);
    if (!skews)
      continue;
    Form form = {numTiled, std::move(*skews)};
    chooseLanes(form);
    auto add = [&](llvm::StringRef rule) {
      if (std::optional<Sketch> sketch = make(rule, print(form)))
        sketches.push_back(std::move(*sketch));
    };
    add("skew");
    form.isWavefront = true;
    if (target.getCores() > 1)
      add("wavefront");
  }
  return sketches;
}

std::vector<Sketch> tuning::deriveTimeTiles(ModuleOp module) {
  return TimeTiler(module).derive();
}
