//===- Winograd.cpp - Fewer multiplications for 3x3 convolutions ----------===//
//
// The algorithm of Winograd.h in a kernel, with channels as lanes:
//
//   V[n, p, q, tile, c] = (B' d B)[p, q]             for all channels c
//   M[n, p, q, tile, f] = sum(c) V[n, p, q, tile, c] * U[p, q, c, f]
//   R[n, 2 y + a, 2 x + b, f] = (A' M A)[a, b]       and what is done with R
//
// An image of more dimensions has two that are cut into tiles; the windows
// along the others stay in the sum. V has these dimensions z of the image as
// they are,
//
//   M[n, p, q, y, z, x, f] = sum(k, c) V[n, p, q, y, z + k, x, c] *
//                                      U[p, q, k, c, f]
//
// so what is transformed once is read by each tap k.
//
// Where the kernel pools R (FuseWindows.cpp), a row y of tiles has the rows of
// the image that a row of windows needs, for each of which R is pooled as
// before.
//
//===----------------------------------------------------------------------===//

#include "Winograd.h"
#include "../Contraction.h"
#include "../Renumber.h"
#include "Convolution.h"
#include "espalier/Dialect/Poly/IR/Target.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

namespace {

/// Fewer channels than this, or filters, do not pay for the transforms, nor do
/// few where tiles overlap so much that less than half of the products is
/// saved, or, with few registers, where lanes are left empty.
constexpr int64_t kMinChannels = 16, kFewChannels = 32;
/// Fewer channels than this, or filters, do not pay for transforms of tiles
/// with four results along one dimension.
constexpr int64_t kMinWideChannels = 64;
/// What takes more than so many times a core's cache comes from memory.
constexpr int64_t kFarBytes = 8;
/// Products for each element that is transformed, if these do come from memory,
/// below which that takes longer than the products that are saved.
constexpr int64_t kMinFarProducts = 36;

class WinogradRewriter {
public:
  WinogradRewriter(StatementList &program, FusionGroup &fusionGroup,
                   const Convolution &convolution)
      : program(program), fusionGroup(fusionGroup), conv(convolution),
        first(program.statements[fusionGroup.statements.front()]),
        poolsRows(fusionGroup.sharedDims < program.getRank(first.target)) {
    chooseTile();
    chooseShared();
  }

  /// Whether less time is spent than with the plain sum.
  bool pays() const;
  /// Fails if the value of the weights is not at hand. Else, returns the number
  /// of the statement that stores the image with channels innermost before, if
  /// it takes one.
  FailureOr<std::optional<unsigned>> run(const llvm::DenseSet<ArrayId> &local);

private:
  int64_t getExtent(unsigned dim) const {
    return cast<AffineConstantExpr>(first.extents[dim]).getValue();
  }
  /// The order of the image in memory that has the channels innermost, and the
  /// other dimensions as they are; null if that cannot be chosen.
  AffineMap getChannelsInside() const;
  /// Lets the sum read a copy of the image, whose order can be chosen, and
  /// returns the number of the statement that makes it.
  unsigned copyImage();
  TileTransform getTile() const {
    return {conv.rows.transform, conv.columns.transform};
  }
  /// How many tiles there are for each point of the first dimensions; a batch
  /// of unknown size may be a single image.
  int64_t countTiles(unsigned numShared, bool withTaps = false) const;
  /// Elements of the image and of the products for each point that all
  /// statements have in common, at one point of the transform.
  int64_t countElements() const {
    return countTiles(numShared, /*withTaps=*/true) * getExtent(conv.c) +
           countTiles(numShared) * getExtent(conv.f);
  }
  /// What is in use meanwhile.
  int64_t getBytes() const {
    return getTile().countPoints() * countElements() * int64_t(sizeof(float));
  }
  /// Chooses tiles of four results along one dimension where that pays for the
  /// larger transforms.
  void chooseTile();
  /// Chooses the dimensions that all statements have in common.
  void chooseShared();
  /// Weights at one point of the transform.
  int64_t countWeights() const {
    int64_t weights = getExtent(conv.f);
    for (unsigned dim : conv.weights.summed)
      weights *= getExtent(dim);
    return weights;
  }
  Expr getVariable(unsigned dim) const {
    return variable(dim, program.context);
  }
  /// Extents (or indices, or whatever belongs to dimensions) of a transformed
  /// array: those of `points` come after the shared ones.
  template <typename T>
  SmallVector<T> arrange(ArrayRef<T> tile, ArrayRef<T> points, T channel) const;
  /// The extents of the tiles' dimensions: the batch, rows, blocks of columns
  /// if there are several, windows that stay, and columns. With `withTaps`,
  /// windows that stay have all that their taps read.
  SmallVector<AffineExpr> getTileExtents(bool withTaps = false) const;
  /// An index of the target, or the tile that it is of, over these.
  AffineExpr getTileIndex(unsigned dim) const;
  /// The window that `dim` belongs to, if that is cut into tiles.
  const Window *getTiled(unsigned dim) const {
    return dim == conv.rows.result      ? &conv.rows
           : dim == conv.columns.result ? &conv.columns
                                        : nullptr;
  }
  ArrayId addArray(ArrayRef<AffineExpr> extents);
  /// The part of `image` that belongs to a point of the transform.
  Expr getInput(int64_t p, int64_t q) const;
  Expr getOutput(ArrayId products, int64_t a, int64_t b) const;
  void addStatement(Statement statement) {
    statements.push_back(program.statements.size());
    program.statements.push_back(std::move(statement));
  }
  void addInput(ArrayId target);
  void multiply(ArrayId input, ArrayId weights, ArrayId target);
  void addOutput(ArrayId products, const llvm::DenseSet<ArrayId> &local);

  StatementList &program;
  FusionGroup &fusionGroup;
  Convolution conv;
  const Statement first; ///< The sum, as it was.
  /// Whether others share the loops over the batch, and these alone.
  const bool poolsRows;
  /// The number of the tiles' dimensions that all statements have in common.
  /// The weights pass once for each point of these.
  unsigned numShared = 0;
  int64_t numColumnBlocks = 1;
  SmallVector<unsigned> statements;
};

} // namespace

AffineMap WinogradRewriter::getChannelsInside() const {
  ArrayId image = conv.image.getTensor().number;
  const Array &array = program.arrays[image];
  unsigned rank = array.extents.size();
  AffineMap order =
      array.layout ? array.layout
                   : AffineMap::getMultiDimIdentityMap(rank, program.context);
  if (!order.isPermutation())
    return {};
  ArrayRef<Expr> indices = conv.image.getOperands();
  unsigned channel =
      llvm::find_if(indices,
                    [&](Expr index) {
                      return index.getKind() == Expr::Kind::Variable &&
                             index.getVariable() == conv.c;
                    }) -
      indices.begin();
  if (order.getDimPosition(rank - 1) == channel)
    return order;
  // A map may write another order for its only reader.
  bool isChosen = array.kind == Array::Kind::Intermediate &&
                  !array.isLayoutGiven && !array.rowMajor &&
                  array.order.empty() && array.outputs.empty() &&
                  !array.reshapeOf;
  for (const Array &other : program.arrays)
    isChosen &= other.reshapeOf != image;
  for (const Statement &statement : program.statements)
    isChosen &= statement.target == image
                    ? !statement.reduction
                    : statement.target == first.target ||
                          !llvm::is_contained(getReads(statement), image);
  if (!isChosen)
    return {};
  SmallVector<unsigned> dims;
  for (unsigned position = 0; position < rank; ++position)
    if (order.getDimPosition(position) != channel)
      dims.push_back(order.getDimPosition(position));
  dims.push_back(channel);
  return AffineMap::getPermutationMap(dims, program.context);
}

unsigned WinogradRewriter::copyImage() {
  ArrayId image = conv.image.getTensor().number;
  Array array{Array::Kind::Intermediate, first.loc};
  array.elementType = program.arrays[image].elementType;
  array.extents = program.arrays[image].extents;
  ArrayId copy = program.addArray(std::move(array));
  conv.image = access(TensorRef::operand(copy), conv.image.getOperands(),
                      conv.image.getType());
  program.statements.push_back(makeStore(program, image, copy, first.loc));
  return program.statements.size() - 1;
}

bool WinogradRewriter::pays() const {
  if (first.algorithm)
    return first.algorithm == poly::Algorithm::Winograd;
  bool isHidden = getBytes() <= kFarBytes * program.cacheBytes ||
                  countTiles(numShared) * countWeights() >=
                      kMinFarProducts * countElements();
  bool hasMany =
      poly::getTarget(program.function).getRegisters() >= poly::kManyRegisters;
  bool savesHalf = 2 * getTile().countPoints() * conv.rows.numTiles *
                       conv.columns.numTiles <=
                   kTaps * kTaps * getExtent(conv.rows.result) *
                       getExtent(conv.columns.result);
  auto isEnough = [&](int64_t channels) {
    bool isFull = hasMany || channels % program.vectorLanes == 0;
    return channels >= (savesHalf && isFull ? kMinChannels : kFewChannels);
  };
  return isHidden && isEnough(getExtent(conv.c)) &&
         isEnough(getExtent(conv.f)) &&
         countTiles(numShared) >= kMinProductRows;
}

int64_t WinogradRewriter::countTiles(unsigned numShared, bool withTaps) const {
  int64_t tiles = 1;
  SmallVector<AffineExpr> extents = getTileExtents(withTaps);
  for (AffineExpr extent : ArrayRef(extents).drop_front(numShared))
    if (auto number = dyn_cast<AffineConstantExpr>(extent))
      tiles *= number.getValue();
  return tiles;
}

void WinogradRewriter::chooseTile() {
  if (getExtent(conv.c) < kMinWideChannels ||
      getExtent(conv.f) < kMinWideChannels)
    return;
  // Columns if a row of such tiles is enough for a product, else rows if that
  // is so of one of these. All tiles of an image have to be more, since the
  // larger weights pass for them.
  auto widen = [&](Window &window, unsigned numShared, int64_t minTiles) {
    Window narrow = window;
    if (succeeded(window.cut(getExtent(window.result), getTransformOfFour())) &&
        !window.numOverlapping && countTiles(numShared) >= minTiles)
      return true;
    window = narrow;
    return false;
  };
  unsigned batch = conv.batch.size();
  for (auto [numShared, minTiles] : {std::pair(batch + 1, kMinProductRows),
                                     std::pair(batch, 2 * kMinProductRows)})
    for (Window *window : {&conv.columns, &conv.rows})
      if (widen(*window, numShared, minTiles))
        return;
}

void WinogradRewriter::chooseShared() {
  numShared = conv.batch.size();
  if (poolsRows)
    return;
  while (numShared > 0 && countTiles(numShared) < kMinProductRows)
    --numShared;
  // Row by row, so that what is transformed stays in cache. The weights are
  // read again for each, which is hidden behind the products of its tiles
  // unless they come from memory.
  int64_t weightBytes =
      getTile().countPoints() * countWeights() * int64_t(sizeof(float));
  if (numShared < conv.batch.size() || conv.rows.numOverlapping ||
      weightBytes > kFarBytes * program.cacheBytes ||
      countTiles(numShared + 1) < kMinProductRows)
    return;
  ++numShared;
  // Of equal blocks, the largest that fit.
  int64_t columns = conv.columns.numTiles, tiles = countTiles(numShared);
  for (int64_t n = 2; n <= columns && !conv.columns.numOverlapping &&
                      getBytes() > program.cacheBytes / 2;
       ++n)
    if (columns % n == 0 && tiles / n >= kMinProductRows) {
      numShared = conv.batch.size() + 2;
      numColumnBlocks = n;
    }
}

template <typename T>
SmallVector<T> WinogradRewriter::arrange(ArrayRef<T> tile, ArrayRef<T> points,
                                         T channel) const {
  SmallVector<T> all(tile.take_front(numShared));
  llvm::append_range(all, points);
  llvm::append_range(all, tile.drop_front(numShared));
  all.push_back(channel);
  return all;
}

SmallVector<AffineExpr> WinogradRewriter::getTileExtents(bool withTaps) const {
  SmallVector<AffineExpr> extents;
  auto add = [&](int64_t extent) {
    extents.push_back(getAffineConstantExpr(extent, program.context));
  };
  for (unsigned dim : conv.batch)
    extents.push_back(first.extents[dim]);
  add(conv.rows.numTiles);
  if (numColumnBlocks > 1)
    add(numColumnBlocks);
  for (const Window &window : conv.depth)
    add(getExtent(window.result) +
        withTaps * (getExtent(window.tap) - 1) * window.dilation);
  add(conv.columns.numTiles / numColumnBlocks);
  return extents;
}

AffineExpr WinogradRewriter::getTileIndex(unsigned dim) const {
  auto get = [&](unsigned place) {
    return getAffineDimExpr(place, program.context);
  };
  unsigned rows = conv.batch.size();
  if (const auto *found = llvm::find(conv.batch, dim);
      found != conv.batch.end())
    return get(found - conv.batch.begin());
  if (dim == conv.rows.result)
    return get(rows);
  unsigned inner = rows + 1 + (numColumnBlocks > 1);
  for (auto [number, window] : llvm::enumerate(conv.depth))
    if (dim == window.result)
      return get(inner + number);
  AffineExpr column = get(inner + conv.depth.size());
  return numColumnBlocks > 1
             ? get(rows + 1) * (conv.columns.numTiles / numColumnBlocks) +
                   column
             : column;
}

ArrayId WinogradRewriter::addArray(ArrayRef<AffineExpr> extents) {
  Array array{Array::Kind::Intermediate, first.loc};
  array.elementType = Float32Type::get(program.context);
  array.extents.assign(extents.begin(), extents.end());
  return program.addArray(std::move(array));
}

Expr WinogradRewriter::getInput(int64_t p, int64_t q) const {
  unsigned numTileDims = getTileExtents().size();
  auto substitute = [&](int64_t i, int64_t j) {
    return transform(conv.image, [&](Expr e) -> Expr {
      if (e.getKind() != Expr::Kind::Variable)
        return {};
      unsigned dim = e.getVariable();
      if (dim == conv.rows.tap)
        return constant(i);
      if (dim == conv.columns.tap)
        return constant(j);
      if (dim == conv.c)
        return getVariable(numTileDims);
      if (llvm::is_contained(conv.weights.summed, dim))
        return constant(int64_t(0));
      AffineExpr tile = getTileIndex(dim);
      const Window *window = getTiled(dim);
      return program.expression(window ? window->getStart(tile) : tile);
    });
  };
  return transformInput(getTile(), p, q, substitute);
}

void WinogradRewriter::addInput(ArrayId target) {
  SmallVector<AffineExpr> extents = getTileExtents(/*withTaps=*/true), dims;
  for (unsigned dim = 0; dim <= extents.size(); ++dim)
    dims.push_back(getAffineDimExpr(dim, program.context));
  AffineExpr channel = dims.pop_back_val();
  extents.push_back(first.extents[conv.c]);
  for (int64_t p = 0; p < conv.rows.transform->getPoints(); ++p)
    for (int64_t q = 0; q < conv.columns.transform->getPoints(); ++q) {
      Statement statement{target, first.loc, extents, {}};
      statement.pieces.push_back({{}, getInput(p, q)});
      statement.targetIndices =
          arrange<AffineExpr>(dims,
                              {getAffineConstantExpr(p, program.context),
                               getAffineConstantExpr(q, program.context)},
                              channel);
      addStatement(std::move(statement));
    }
}

void WinogradRewriter::multiply(ArrayId input, ArrayId weights,
                                ArrayId target) {
  Type type = program.arrays[target].elementType;
  ArrayId sum = addArray(program.arrays[target].extents);
  Statement statement{sum, first.loc, program.arrays[target].extents, {}};
  statement.reduction = ReduceKind::Sum;
  SmallVector<Expr> indices, taps;
  for (unsigned dim = 0; dim < statement.extents.size(); ++dim)
    indices.push_back(getVariable(dim));
  for (unsigned dim : conv.weights.summed) {
    taps.push_back(getVariable(statement.extents.size()));
    statement.extents.push_back(first.extents[dim]);
  }
  Expr filter = indices.pop_back_val();
  SmallVector<Expr> weight{indices[numShared], indices[numShared + 1]};
  llvm::append_range(weight, taps);
  weight.push_back(filter);
  // Windows that stay lie before the last dimension, the columns.
  for (auto [index, tap, window] : llvm::zip(
           MutableArrayRef(indices).drop_back().take_back(conv.depth.size()),
           taps, conv.depth))
    index = index + tap * window.dilation;
  indices.push_back(taps.back());
  statement.pieces.push_back(
      {{},
       apply(ScalarFn::Mul,
             {access(TensorRef::operand(input), indices, type),
              access(TensorRef::operand(weights), weight, type)})});
  addStatement(std::move(statement));
  addStatement(makeStore(program, sum, target, first.loc));
}

Expr WinogradRewriter::getOutput(ArrayId products, int64_t a, int64_t b) const {
  SmallVector<Expr> dims;
  for (unsigned dim = 0; dim < getTileExtents().size(); ++dim)
    dims.push_back(getVariable(dim));
  Expr filter = getVariable(dims.size());
  return transformOutput(getTile(), a, b, [&](int64_t p, int64_t q) {
    return access(TensorRef::operand(products),
                  arrange<Expr>(dims, {constant(p), constant(q)}, filter),
                  program.arrays[products].elementType);
  });
}

void WinogradRewriter::addOutput(ArrayId products,
                                 const llvm::DenseSet<ArrayId> &local) {
  // The results of a tile are computed side by side.
  for (int64_t a = 0; a < conv.rows.transform->outputs; ++a)
    for (int64_t b = 0; b < conv.columns.transform->outputs; ++b) {
      Renumbering tiles;
      tiles.extents = getTileExtents();
      tiles.extents.push_back(first.extents[conv.f]);
      tiles.before.resize(program.getRank(first.target));
      tiles.before[conv.f] =
          getAffineDimExpr(tiles.extents.size() - 1, program.context);
      for (unsigned dim = 0; dim < tiles.before.size(); ++dim)
        if (dim != conv.f)
          tiles.before[dim] = getTileIndex(dim);
      for (auto [window, result] :
           {std::pair(conv.rows, a), std::pair(conv.columns, b)}) {
        AffineExpr &index = tiles.before[window.result];
        // What tiles have in common is a result of the earlier one.
        if (result == 0 && window.numOverlapping) {
          unsigned place = cast<AffineDimExpr>(index).getPosition();
          tiles.extents[place] = tiles.extents[place] - window.numOverlapping;
        }
        index = window.getStart(index) + result * window.dilation;
      }
      Renumberer renumberer(program, tiles);
      for (ArrayId array : local)
        renumberer.replace(array);
      Statement sum{
          renumberer.replace(first.target), first.loc, tiles.extents, {}};
      sum.pieces.push_back({{}, getOutput(products, a, b)});
      addStatement(std::move(sum));
      for (unsigned number : ArrayRef(fusionGroup.statements).drop_front())
        addStatement(renumberer.apply(program.statements[number]));
    }
}

FailureOr<std::optional<unsigned>>
WinogradRewriter::run(const llvm::DenseSet<ArrayId> &local) {
  FailureOr<Array> weights =
      transformWeights(program, conv.weights, getTile(), /*filtersLast=*/true);
  if (failed(weights))
    return failure();
  // Where a line of memory has one channel, lanes would be loaded one by one.
  std::optional<unsigned> copy;
  if (!getChannelsInside())
    copy = copyImage();
  if (AffineMap order = getChannelsInside()) {
    Array &image = program.arrays[conv.image.getTensor().number];
    image.layout = order.isIdentity() ? AffineMap() : order;
    image.storedExtents.clear();
    if (image.layout)
      image.storedExtents =
          applyPermutationMap<AffineExpr>(order, image.extents);
  }
  unsigned filter = 2 + conv.weights.summed.size();
  setPanelLayout(program, *weights, /*panelIndex=*/filter, /*outer=*/{0, 1},
                 /*inner=*/llvm::to_vector(llvm::seq(2u, filter)));
  SmallVector<AffineExpr> points;
  for (const Window &window : {conv.rows, conv.columns})
    points.push_back(
        getAffineConstantExpr(window.transform->getPoints(), program.context));
  ArrayId input = addArray(arrange<AffineExpr>(
      getTileExtents(/*withTaps=*/true), points, first.extents[conv.c]));
  ArrayId products = addArray(
      arrange<AffineExpr>(getTileExtents(), points, first.extents[conv.f]));
  addInput(input);
  multiply(input, program.addArray(std::move(*weights)), products);
  addOutput(products, local);
  fusionGroup.statements = statements;
  fusionGroup.sharedDims = numShared;
  return copy;
}

/// The layout in which `fusionGroup` stores the vectors that it computes, of
/// `filter`, if the planes of its result would not stay in the first-level
/// cache until their lines are whole; null otherwise.
static AffineMap getVectorLayout(const StatementList &program,
                                 const FusionGroup &fusionGroup,
                                 unsigned filter) {
  const Statement &first = program.statements[fusionGroup.statements.front()];
  const Statement &last = program.statements[fusionGroup.statements.back()];
  const Array &result = program.arrays[last.target];
  const Array &total = program.arrays[first.target];
  std::optional<unsigned> line = getInnermost(result);
  if (!line || line == filter || !last.targetIndices.empty() ||
      getInnermost(total) != filter ||
      total.extents.size() != result.extents.size())
    return {};
  return total.layout;
}

/// Takes the statements behind those that compute points of the first one away
/// from `fusionGroup`, and returns them. What they read is `escaping` then.
static SmallVector<unsigned> takeRest(const StatementList &program,
                                      FusionGroup &fusionGroup,
                                      llvm::DenseSet<ArrayId> &escaping) {
  SmallVector<unsigned> &statements = fusionGroup.statements;
  unsigned rank =
      program.getRank(program.statements[statements.front()].target);
  auto *end = llvm::find_if(statements, [&](unsigned number) {
    return program.countPoints(program.statements[number]) != rank;
  });
  SmallVector<unsigned> rest(end, statements.end());
  statements.erase(end, statements.end());
  for (unsigned number : rest)
    for (ArrayId array : getReads(program.statements[number]))
      escaping.insert(program.getBase(array));
  return rest;
}

/// Whether `conv` is one that `fusionGroup` computes at its shared dimensions,
/// or in its loops over the batch.
static bool isShared(const Convolution &conv, unsigned rank,
                     const FusionGroup &fusionGroup) {
  unsigned shared = fusionGroup.sharedDims;
  return shared == rank || (shared > 0 && conv.batch.size() == shared &&
                            conv.batch.back() + 1 == shared);
}

unsigned espalier::graphtopoly::applyWinograd(
    StatementList &program, SmallVectorImpl<FusionGroup> &fusionGroups) {
  llvm::DenseSet<ArrayId> escaping = findEscaping(program, fusionGroups);
  unsigned count = 0;
  SmallVector<FusionGroup> result;
  for (FusionGroup &fusionGroup : fusionGroups) {
    result.push_back(fusionGroup);
    if (succeeded(applyWinogradToRows(program, result.back()))) {
      ++count;
      continue;
    }
    const Statement &first = program.statements[fusionGroup.statements.front()];
    std::optional<Convolution> conv = getConvolution(program, first);
    unsigned rank = program.getRank(first.target);
    if (!conv || !isShared(*conv, rank, fusionGroup))
      continue;
    FusionGroup points = fusionGroup;
    llvm::DenseSet<ArrayId> seen = escaping;
    SmallVector<unsigned> rest = takeRest(program, points, seen);
    llvm::DenseSet<ArrayId> local = findLocal(program, points, seen);
    if (!local.contains(first.target) ||
        !isPointwise(program, {points.statements, rank}, local))
      continue;
    AffineMap layout;
    if (isWrittenBy(program, fusionGroup, fusionGroups,
                    program.statements[fusionGroup.statements.back()].target))
      layout = getVectorLayout(program, fusionGroup, conv->f);
    WinogradRewriter rewriter(program, points, *conv);
    if (!rewriter.pays())
      continue;
    FailureOr<std::optional<unsigned>> copy = rewriter.run(local);
    if (failed(copy))
      continue;
    ++count;
    result.back() = points;
    llvm::append_range(result.back().statements, rest);
    if (*copy)
      result.insert(
          std::prev(result.end()),
          FusionGroup{{**copy},
                      program.getRank(program.statements[**copy].target)});
    if (layout)
      result.push_back(storeElsewhere(program, result.back(), layout));
  }
  fusionGroups = std::move(result);
  return count;
}
