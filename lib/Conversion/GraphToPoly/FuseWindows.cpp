//===- FuseWindows.cpp - Pooling in the kernel of a contraction -----------===//
//
// A pooling whose windows do not overlap uses each element of its operand once.
// If that is the result of a convolution, a row of windows can be computed
// right after the rows of the convolution that it needs:
//
//   C[n, f, y, x] = sum(...)              for n, q:
//   P[n, f, q, p] = max(r, s)               L[n, q, r, x, f] = sum(...)
//                   C[n, f, 2 q + r, ..]    P[n, f, q, p] = max(r, s)
//                                                         L[n, q, r, 2 p + s,
//                                                         f]
//
// L is in use for one (n, q) at a time, and lies in the cache.
//
// Where the sum is over the entries of filters, these all pass the rows that a
// row of windows needs before the next, with lanes along x:
//
//   L[n, q, r, f, x] = sum(e) ...
//   P[n, f, q, p] = max(r, s) L[n, q, r, f, 2 p + s]
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "FuseKernels.h"
#include "PoolingWindows.h"
#include "Renumber.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

static std::optional<PoolingWindows::Index>
getIndex(const StatementList &program, const Statement &pooling, Expr index) {
  std::optional<AffineExpr> expr = program.affine(index);
  unsigned rank = program.getRank(pooling.target);
  if (!expr)
    return std::nullopt;
  if (auto dim = dyn_cast<AffineDimExpr>(*expr))
    return dim.getPosition() < rank
               ? std::optional(PoolingWindows::Index{dim.getPosition()})
               : std::nullopt;
  // stride * d + k
  for (unsigned dim = 0; dim < rank; ++dim)
    for (unsigned local = rank; local < pooling.getNumDims(); ++local) {
      auto size = dyn_cast<AffineConstantExpr>(pooling.extents[local]);
      if (!expr->isFunctionOfDim(dim) || !expr->isFunctionOfDim(local) || !size)
        continue;
      AffineExpr self = getAffineDimExpr(dim, program.context);
      auto stride = dyn_cast<AffineConstantExpr>(
          program.simplify(expr->replace(self, self + 1) - *expr));
      if (!stride || stride.getValue() < size.getValue() ||
          program.simplify(*expr - self * stride.getValue()) !=
              getAffineDimExpr(local, program.context))
        return std::nullopt;
      return PoolingWindows::Index{dim, stride.getValue(), local,
                                   size.getValue()};
    }
  return std::nullopt;
}

std::optional<PoolingWindows>
espalier::graphtopoly::getWindows(const StatementList &program,
                                  const Statement &pooling, ArrayId pooled) {
  if (!pooling.reduction || pooling.pieces.size() != 1 ||
      !pooling.pieces.front().domain.empty())
    return std::nullopt;
  std::optional<PoolingWindows> windows;
  forEachAccess(pooling, [&](Expr access) {
    if (access.getTensor().number != pooled || windows)
      return;
    windows.emplace();
    for (Expr index : access.getOperands()) {
      std::optional<PoolingWindows::Index> known =
          getIndex(program, pooling, index);
      windows->indices.push_back(known.value_or(PoolingWindows::Index{~0u}));
    }
  });
  unsigned numReads = llvm::count(getReads(pooling), pooled);
  if (!windows || numReads != 1)
    return std::nullopt;
  // Each dimension of the result is that of one index.
  llvm::SmallDenseSet<unsigned> dims;
  for (const PoolingWindows::Index &index : windows->indices)
    if (index.dim == ~0u || !dims.insert(index.dim).second)
      return std::nullopt;
  auto first =
      llvm::find_if(windows->indices, [](const PoolingWindows::Index &index) {
        return index.local.has_value();
      });
  if (first == windows->indices.end() ||
      dims.size() != program.getRank(pooling.target))
    return std::nullopt;
  windows->row = first - windows->indices.begin();
  return windows;
}

/// Vectors of the rows that a row of windows needs of one filter: with fewer,
/// looking up an entry takes longer than its products.
static constexpr int64_t kMinRowVectors = 8;

bool espalier::graphtopoly::hasRowsOfTiles(const StatementList &program,
                                           const Statement &sum,
                                           const PoolingWindows &windows) {
  unsigned rank = windows.indices.size(), lanes = rank - 1;
  if (!sum.entries || program.getRank(sum.target) != rank ||
      program.arrays[sum.target].layout || lanes == windows.row ||
      sum.entries->row.isFunctionOfDim(lanes))
    return false;
  auto width = dyn_cast<AffineConstantExpr>(sum.extents[lanes]);
  return width &&
         windows.indices[windows.row].size *
                 llvm::divideCeil(width.getValue(), program.vectorLanes) >=
             kMinRowVectors;
}

namespace {

class WindowFuser {
public:
  WindowFuser(StatementList &program,
              SmallVectorImpl<FusionGroup> &fusionGroups)
      : program(program), fusionGroups(fusionGroups),
        readers(findReaders(program)) {}

  void run();

private:
  /// The only array of `producer` that others see, if it has one reader.
  std::optional<ArrayId> findPooled(const FusionGroup &producer) const;
  /// Whether the rows that one row of windows needs, and the contraction's
  /// other operand, which every row reads again, stay in cache; only the first
  /// where somebody has asked for it.
  bool staysInCache(const Statement &contraction, const Contraction &shape,
                    const PoolingWindows &windows, ArrayId pooled) const;
  /// Whether tiles of a sum over entries are as large as others in the rows
  /// that one row of windows needs.
  bool isWorthPooling(const FusionGroup &producer, const Statement &sum,
                      const PoolingWindows &windows) const;
  /// Bytes of the rows of the sum that one row of windows needs, whose
  /// dimensions `isWhole` are in each of them; no more than the cache holds.
  int64_t getRowBytes(const Statement &sum, const PoolingWindows &windows,
                      llvm::function_ref<bool(unsigned)> isWhole) const;
  void fuse(FusionGroup &producer);
  /// Computes a row of windows after the other: all of the dimensions `isWhole`
  /// is inside, and `vectorDim` innermost.
  void merge(FusionGroup &producer, FusionGroup &consumer, ArrayId pooled,
             const PoolingWindows &windows, unsigned vectorDim,
             llvm::function_ref<bool(unsigned)> isWhole);

  StatementList &program;
  SmallVectorImpl<FusionGroup> &fusionGroups;
  std::vector<SmallVector<unsigned, 2>> readers;
  llvm::DenseMap<unsigned, FusionGroup *> groupOf; ///< Of a statement.
  llvm::DenseSet<ArrayId> escaping;
};

std::optional<ArrayId>
WindowFuser::findPooled(const FusionGroup &producer) const {
  std::optional<ArrayId> pooled;
  for (unsigned number : producer.statements) {
    ArrayId target = program.statements[number].target;
    if (!escaping.contains(target))
      continue;
    if (pooled || !program.arrays[target].outputs.empty() ||
        program.isChosen(target, Fusion::Separate) ||
        readers[target].size() != 1)
      return std::nullopt;
    pooled = target;
  }
  // Views of the array would see nothing.
  for (const Array &array : program.arrays)
    if (array.reshapeOf && array.reshapeOf == pooled)
      return std::nullopt;
  return pooled;
}

/// Bytes of so many numbers as `extents` say, of which `use` makes less or
/// more; no more than the cache holds.
static int64_t countBytes(const StatementList &program,
                          ArrayRef<AffineExpr> extents,
                          llvm::function_ref<int64_t(unsigned, int64_t)> use) {
  int64_t bytes = sizeof(float);
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    auto number = dyn_cast<AffineConstantExpr>(extent);
    bytes *= use(dim, number ? number.getValue() : program.cacheBytes);
    bytes = std::min(bytes, program.cacheBytes);
  }
  return bytes;
}

int64_t
WindowFuser::getRowBytes(const Statement &sum, const PoolingWindows &windows,
                         llvm::function_ref<bool(unsigned)> isWhole) const {
  return countBytes(program,
                    ArrayRef(sum.extents).take_front(windows.indices.size()),
                    [&](unsigned dim, int64_t extent) -> int64_t {
                      bool isBatch = dim < windows.row && !isWhole(dim);
                      return isBatch              ? 1
                             : dim == windows.row ? windows.indices[dim].size
                                                  : extent;
                    });
}

bool WindowFuser::staysInCache(const Statement &contraction,
                               const Contraction &shape,
                               const PoolingWindows &windows,
                               ArrayId pooled) const {
  const Array &panel = program.arrays[shape.panel.getTensor().number];
  int64_t panelBytes = countBytes(
      program, panel.extents, [](unsigned, int64_t extent) { return extent; });
  int64_t rowBytes = getRowBytes(contraction, windows, [&](unsigned dim) {
    return dim == shape.vectorDim;
  });
  bool isAsked = program.isChosen(pooled, Fusion::Fused);
  return (isAsked || panelBytes <= program.cacheBytes / 2) &&
         rowBytes <= program.cacheBytes / 2;
}

void WindowFuser::fuse(FusionGroup &producer) {
  if (producer.statements.empty())
    return;
  const Statement &first = program.statements[producer.statements.front()];
  std::optional<Contraction> contraction = getContraction(program, first);
  std::optional<ArrayId> pooled;
  if ((!contraction && !first.entries) || !(pooled = findPooled(producer)))
    return;
  FusionGroup &consumer = *groupOf.lookup(readers[*pooled].front());
  const Statement &pooling = program.statements[readers[*pooled].front()];
  std::optional<PoolingWindows> windows = getWindows(program, pooling, *pooled);
  if (!windows || consumer.sharedDims != program.getRank(pooling.target) ||
      !isPointwise(program, producer, findLocal(program, producer, escaping)) ||
      !isPointwise(program, consumer, findLocal(program, consumer, escaping)))
    return;
  if (first.entries) {
    // All filters pass what a row of windows needs of an image.
    auto isWhole = [&](unsigned dim) {
      return first.entries->row.isFunctionOfDim(dim);
    };
    // Rows in groups have a dimension of their own.
    if (producer.sharedDims == windows->indices.size() &&
        hasRowsOfTiles(program, first, *windows) &&
        getRowBytes(first, *windows, isWhole) <= program.cacheBytes / 2)
      merge(producer, consumer, *pooled, *windows, windows->indices.size() - 1,
            isWhole);
    return;
  }
  if (first.keepsRowMajor &&
      succeeded(poolInRegisters(program, producer, consumer, *pooled, *windows,
                                escaping, fusionGroups)))
    return;
  // The vector dimension stays whole, and inside.
  unsigned vectorDim = contraction->vectorDim;
  if (!windows->indices[vectorDim].local &&
      staysInCache(first, *contraction, *windows, *pooled))
    merge(producer, consumer, *pooled, *windows, vectorDim,
          [&](unsigned dim) { return dim == vectorDim; });
}

void WindowFuser::merge(FusionGroup &producer, FusionGroup &consumer,
                        ArrayId pooled, const PoolingWindows &windows,
                        unsigned vectorDim,
                        llvm::function_ref<bool(unsigned)> isWhole) {
  MLIRContext *context = program.context;
  const Statement &pooling = program.statements[readers[pooled].front()];
  ArrayRef<AffineExpr> extents = program.arrays[pooled].extents;
  // The order of the new dimensions, by the index of the pooled array.
  SmallVector<unsigned> order;
  auto append = [&](auto condition) {
    for (unsigned index = 0; index < windows.indices.size(); ++index)
      if (!llvm::is_contained(order, index) && condition(index))
        order.push_back(index);
  };
  append(
      [&](unsigned index) { return index < windows.row && !isWhole(index); });
  unsigned numBatch = order.size();
  append([&](unsigned index) { return index == windows.row; });
  append([&](unsigned index) { return index != vectorDim; });
  append([&](unsigned) { return true; });

  Renumbering rows, results;
  rows.before.resize(order.size());
  results.before.resize(order.size());
  for (unsigned index : order) {
    const PoolingWindows::Index &window = windows.indices[index];
    AffineExpr row = getAffineDimExpr(rows.extents.size(), context);
    AffineExpr result = getAffineDimExpr(results.extents.size(), context);
    results.extents.push_back(pooling.extents[window.dim]);
    results.before[window.dim] = result;
    if (index != windows.row) {
      rows.extents.push_back(extents[index]);
      rows.before[index] = row;
      continue;
    }
    rows.extents.push_back(results.extents.back());
    rows.extents.push_back(getAffineConstantExpr(window.size, context));
    rows.before[index] =
        row * window.stride + getAffineDimExpr(numBatch + 1, context);
  }

  Renumberer renumberRows(program, rows), renumberResults(program, results);
  for (ArrayId array : findLocal(program, producer, escaping))
    renumberRows.replace(array);
  for (ArrayId array : findLocal(program, consumer, escaping))
    renumberResults.replace(array);
  ArrayId local = renumberRows.replace(pooled);
  SmallVector<unsigned> statements;
  for (unsigned number : producer.statements) {
    program.statements[number] = renumberRows.apply(program.statements[number]);
    statements.push_back(number);
  }
  for (unsigned number : consumer.statements) {
    Statement &statement = program.statements[number];
    statement = renumberResults.apply(statement);
    statements.push_back(number);
    for (Piece &piece : statement.pieces)
      piece.value = transform(piece.value, [&](Expr e) -> Expr {
        if (e.getKind() != Expr::Kind::Access || e.getTensor().number != pooled)
          return {};
        // The index along the rows is taken apart.
        SmallVector<Expr> indices;
        for (unsigned index : order) {
          if (index == windows.row) {
            indices.push_back(variable(numBatch, context));
            indices.push_back(variable(*windows.indices[index].local, context));
          } else {
            indices.push_back(e.getOperands()[index]);
          }
        }
        return access(TensorRef::operand(local), indices, e.getType());
      });
  }
  producer.statements.clear();
  consumer.statements = statements;
  consumer.sharedDims = numBatch + 1;
}

void WindowFuser::run() {
  escaping = findEscaping(program, fusionGroups);
  for (FusionGroup &fusionGroup : fusionGroups)
    for (unsigned statement : fusionGroup.statements)
      groupOf[statement] = &fusionGroup;
  for (FusionGroup &producer : fusionGroups)
    fuse(producer);
  llvm::erase_if(fusionGroups, [](const FusionGroup &fusionGroup) {
    return fusionGroup.statements.empty();
  });
}

} // namespace

void espalier::graphtopoly::fuseWindows(
    StatementList &program, SmallVectorImpl<FusionGroup> &fusionGroups) {
  WindowFuser(program, fusionGroups).run();
}
