//===- PoolInRegisters.cpp - Pooling in registers, along rows -------------===//
//
// A convolution and the pooling of its result, with lanes along the rows of the
// pooled image:
//
//   C[n, f, y, x] = sum(c, ky, kx) X[n, c, y + ky, x + kx] * W[f, c, ky, kx]
//   P[n, f, q, p] = max(r, s)      C[n, f, 2 q + r, 2 p + s]
//
// becomes, for all n, q,
//
//   D[c, y, e, h] = X[n, c, 2 q + y, 2 h + e]
//   L[f, p, r, s] = sum(c, ky, kx) D[c, r + ky, (s + kx) mod 2,
//                                    p + (s + kx) floordiv 2] * W[f, c, ky, kx]
//   P[n, f, q, p] = max(r, s)      L[f, p, r, s]
//
// Every vector that is read or written has neighbours in memory; L is in use
// for one tile at a time and lies in registers. D holds the few rows of the
// image that a row of windows needs, taken apart by their columns' phase. If X
// is a padded copy, D is made of the original, and X is not there any more.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "PoolingWindows.h"
#include "Renumber.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

namespace {

/// How an index of the image is formed: `base`, from the outer dimensions, and
/// `local`, from the others, which is at least 0 and less than `size`.
struct ImageIndex {
  AffineExpr base, local;
  int64_t size;
};

class RegisterPooling {
public:
  RegisterPooling(StatementList &program, FusionGroup &producer,
                  FusionGroup &consumer, ArrayId pooled,
                  const PoolingWindows &windows,
                  const llvm::DenseSet<ArrayId> &escaping)
      : program(program), context(program.context), producer(producer),
        consumer(consumer), pooled(pooled), windows(windows),
        escaping(escaping) {}

  LogicalResult run(MutableArrayRef<FusionGroup> fusionGroups);

private:
  AffineExpr getDim(unsigned dim) const {
    return getAffineDimExpr(dim, context);
  }
  std::optional<int64_t> getNumber(AffineExpr expr) const {
    auto number = dyn_cast<AffineConstantExpr>(program.simplify(expr));
    return number ? std::optional(number.getValue()) : std::nullopt;
  }
  /// Chooses the order of the shared dimensions: what is around the image's
  /// rows, the channels, and the columns at the end.
  LogicalResult arrange(unsigned vectorDim);
  /// Reads the indices of the image, over the new dimensions.
  LogicalResult readImage(const Statement &sum, Expr image);
  void renumber(llvm::DenseMap<unsigned, Statement> &changed);
  Statement renumberConsumer(const Renumberer &renumberer, unsigned number);
  ArrayId addRows(Type type, Location loc);
  /// The element of the rows that the sum reads.
  Expr getRead(ArrayId rows, Type type) const;
  LogicalResult copyRows(const Statement &source, ArrayId rows);
  LogicalResult copyPiece(const Statement &source, const Piece &piece,
                          ArrayId rows, int64_t phase);

  StatementList &program;
  MLIRContext *context;
  FusionGroup &producer, &consumer;
  ArrayId pooled;
  const PoolingWindows &windows;
  const llvm::DenseSet<ArrayId> &escaping;

  SmallVector<unsigned> order;     ///< The pooled index of each shared one.
  unsigned numOuter = 0;           ///< Dimensions around the rows.
  SmallVector<AffineExpr> extents; ///< Of the shared dimensions.
  SmallVector<ImageIndex> indices; ///< Of the image.
  unsigned column = 0;             ///< The index along the lanes.
  int64_t phases = 1;              ///< Columns from one lane to the next.
  AffineExpr tap;                  ///< The rest of the column's index.
  int64_t numTaps = 1, width = 0;  ///< Values of that, and lanes.
  std::vector<Statement> copies;   ///< That fill the rows.
};

} // namespace

LogicalResult RegisterPooling::arrange(unsigned vectorDim) {
  auto append = [&](auto condition) {
    for (unsigned index = 0; index < windows.indices.size(); ++index)
      if (!llvm::is_contained(order, index) && condition(index))
        order.push_back(index);
  };
  append([&](unsigned index) {
    return index <= windows.row && index != vectorDim;
  });
  numOuter = order.size();
  append([&](unsigned index) { return index == vectorDim; });
  append([&](unsigned) { return true; });
  // The columns have windows, and are not the rows.
  return success(windows.indices[order.back()].local &&
                 order.size() > numOuter + 1);
}

LogicalResult RegisterPooling::readImage(const Statement &sum, Expr image) {
  unsigned lane = order.size() - 1;
  std::optional<unsigned> found;
  for (auto [number, operand] : llvm::enumerate(image.getOperands())) {
    std::optional<AffineExpr> index = program.affine(operand);
    if (!index)
      return failure();
    AffineExpr base = *index;
    for (unsigned dim = numOuter; dim < sum.getNumDims(); ++dim)
      base = base.replace(getDim(dim), getAffineConstantExpr(0, context));
    base = program.simplify(base);
    AffineExpr local = program.simplify(*index - base);
    auto range = getRange(program, local, sum.extents);
    std::optional<int64_t> low, high;
    if (range) {
      low = getNumber(range->first);
      high = getNumber(range->second);
    }
    for (unsigned dim = 0; dim < numOuter; ++dim)
      if (local.isFunctionOfDim(dim))
        return failure();
    if (!low || !high)
      return failure();
    local = program.simplify(local - *low);
    indices.push_back({program.simplify(base + *low), local, *high - *low + 1});
    if (!local.isFunctionOfDim(lane))
      continue;
    std::optional<int64_t> step =
        getNumber(local.replace(getDim(lane), getDim(lane) + 1) - local);
    if (found || !step || *step < 1)
      return failure();
    found = number;
    phases = *step;
    tap = program.simplify(local - getDim(lane) * phases);
    width = cast<AffineConstantExpr>(sum.extents[lane]).getValue();
    numTaps = indices.back().size - (width - 1) * phases;
  }
  column = found.value_or(0);
  return success(found && !tap.isFunctionOfDim(lane));
}

ArrayId RegisterPooling::addRows(Type type, Location loc) {
  Array rows{Array::Kind::Intermediate, loc};
  rows.elementType = type;
  auto add = [&](int64_t extent) {
    rows.extents.push_back(getAffineConstantExpr(extent, context));
  };
  rows.extents.assign(extents.begin(), extents.begin() + numOuter);
  for (auto [number, index] : llvm::enumerate(indices))
    if (number != column && index.size > 1)
      add(index.size);
  if (phases > 1)
    add(phases);
  // Rows begin at the same place of a vector. The number of vectors is odd, or
  // channels would meet in the same sets of the cache.
  int64_t vectors =
      llvm::divideCeil(width + (numTaps - 1) / phases, program.vectorLanes);
  add((vectors | 1) * program.vectorLanes);
  return program.addArray(std::move(rows));
}

Expr RegisterPooling::getRead(ArrayId rows, Type type) const {
  SmallVector<Expr> read;
  for (unsigned dim = 0; dim < numOuter; ++dim)
    read.push_back(variable(dim, context));
  for (auto [number, index] : llvm::enumerate(indices))
    if (number != column && index.size > 1)
      read.push_back(program.expression(index.local));
  AffineExpr lane = getDim(order.size() - 1);
  if (phases > 1)
    read.push_back(program.expression(tap % phases));
  read.push_back(program.expression(lane + tap.floorDiv(phases)));
  return access(TensorRef::operand(rows), read, type);
}

LogicalResult RegisterPooling::copyPiece(const Statement &source,
                                         const Piece &piece, ArrayId rows,
                                         int64_t phase) {
  // The statement's dimensions: the outer ones, the image's, the lane.
  Statement copy{rows, source.loc, {}, {}};
  SmallVector<AffineExpr> dims;
  copy.extents.assign(extents.begin(), extents.begin() + numOuter);
  for (auto [number, index] : llvm::enumerate(indices)) {
    dims.push_back(index.base);
    if (number == column || index.size == 1)
      continue;
    dims.back() = index.base + getDim(copy.extents.size());
    copy.extents.push_back(getAffineConstantExpr(index.size, context));
  }
  unsigned lane = copy.extents.size();
  dims[column] = dims[column] + getDim(lane) * phases + phase;
  // Lanes run from `low` to `high`; the other conditions stay.
  int64_t low = 0, high = width + (numTaps - 1) / phases - 1;
  Conjunction rest, rules(piece.domain);
  AffineExpr last = source.extents[column] - 1;
  rules.push_back({last - getDim(column), false});
  copy.extents.push_back(getAffineConstantExpr(high + 1, context));
  for (Condition &rule : rules) {
    AffineExpr expr = program.simplify(rule.expr.replaceDims(dims));
    auto range = getRange(program, expr, copy.extents);
    std::optional<int64_t> least, step;
    if (range) {
      least = getNumber(range->first);
      step = getNumber(expr.replace(getDim(lane), getDim(lane) + 1) - expr);
    }
    if (!least || !step || rule.isEquality)
      return failure();
    if (*least >= 0)
      continue;
    if (*step == 0) {
      rest.push_back({expr, false});
      continue;
    }
    std::optional<int64_t> begin = getNumber(
        expr.replace(getDim(lane), getAffineConstantExpr(0, context)));
    if (!begin)
      return failure();
    // begin + step * lane >= 0
    if (*step > 0)
      low = std::max(low, -llvm::divideFloorSigned(*begin, *step));
    else
      high = std::min(high, llvm::divideFloorSigned(*begin, -*step));
  }
  if (low > high)
    return success();
  copy.extents.back() = getAffineConstantExpr(high - low + 1, context);
  dims[column] = dims[column].replace(getDim(lane), getDim(lane) + low);
  copy = [&, base = copy] {
    Statement filled = source;
    filled.pieces = {{{}, piece.value}};
    filled = substitute(program, filled, dims, base.extents);
    filled.target = rows;
    filled.pieces.front().domain = rest;
    return filled;
  }();
  for (unsigned dim = 0; dim < lane; ++dim)
    copy.targetIndices.push_back(getDim(dim));
  if (phases > 1)
    copy.targetIndices.push_back(getAffineConstantExpr(phase, context));
  copy.targetIndices.push_back(getDim(lane) + low);
  copies.push_back(std::move(copy));
  return success();
}

LogicalResult RegisterPooling::copyRows(const Statement &source, ArrayId rows) {
  for (const Piece &piece : source.pieces)
    for (int64_t phase = 0; phase < phases; ++phase)
      if (failed(copyPiece(source, piece, rows, phase)))
        return failure();
  return success();
}

Statement RegisterPooling::renumberConsumer(const Renumberer &renumberer,
                                            unsigned number) {
  Statement statement = renumberer.apply(program.statements[number]);
  for (Piece &piece : statement.pieces)
    piece.value = transform(piece.value, [&](Expr e) -> Expr {
      if (e.getKind() != Expr::Kind::Access || e.getTensor().number != pooled)
        return {};
      SmallVector<Expr> indices;
      for (unsigned dim = 0; dim < statement.getNumDims(); ++dim)
        indices.push_back(variable(dim, context));
      return access(e.getTensor(), indices, e.getType());
    });
  return statement;
}

LogicalResult RegisterPooling::run(MutableArrayRef<FusionGroup> fusionGroups) {
  unsigned sumNumber = producer.statements.front();
  const Statement sum = program.statements[sumNumber];
  std::optional<Contraction> contraction = getContraction(program, sum);
  std::optional<unsigned> poolingNumber;
  for (unsigned number : consumer.statements)
    if (llvm::is_contained(getReads(program.statements[number]), pooled))
      poolingNumber = number;
  if (!contraction || !poolingNumber || failed(arrange(contraction->vectorDim)))
    return failure();
  const Statement &pooling = program.statements[*poolingNumber];
  unsigned numShared = order.size();

  // The points of a window come after the shared dimensions, as the pooling
  // counts them.
  Renumbering points, results;
  points.before.resize(numShared);
  results.before.resize(numShared);
  unsigned numLocal = 0;
  for (auto [place, index] : llvm::enumerate(order)) {
    const PoolingWindows::Index &window = windows.indices[index];
    extents.push_back(pooling.extents[window.dim]);
    results.before[window.dim] = points.before[index] = getDim(place);
    if (!window.local)
      continue;
    ++numLocal;
    points.before[index] =
        getDim(place) * window.stride + getDim(*window.local);
  }
  if (numLocal + numShared != pooling.getNumDims())
    return failure();
  results.extents = extents;
  points.extents = extents;
  points.extents.append(pooling.extents.begin() + numShared,
                        pooling.extents.end());

  // The sum over the new dimensions, before anything is changed.
  Renumberer renumberResults(program, results);
  Statement renumbered = Renumberer(program, points).apply(sum);
  Expr image;
  forEachAccess(renumbered, [&](Expr e) {
    if (e.getTensor().number != contraction->panel.getTensor().number)
      image = e;
  });
  if (!image || failed(readImage(renumbered, image)))
    return failure();
  ArrayId imageArray = image.getTensor().number;
  FusionGroup *owner = nullptr;
  Statement source{imageArray, sum.loc, program.arrays[imageArray].extents, {}};
  SmallVector<Expr> self;
  for (unsigned dim = 0; dim < source.getNumDims(); ++dim)
    self.push_back(variable(dim, context));
  source.pieces.push_back(
      {{}, access(image.getTensor(), self, image.getType())});
  for (FusionGroup &fusionGroup : fusionGroups)
    for (unsigned number : fusionGroup.statements)
      if (program.statements[number].target == imageArray) {
        if (fusionGroup.statements.size() != 1 ||
            program.isChosen(imageArray, Fusion::Separate))
          return failure();
        owner = &fusionGroup;
        source = program.statements[number];
      }
  ArrayId rows = addRows(program.arrays[imageArray].elementType, sum.loc);
  if (failed(copyRows(source, rows)))
    return failure();

  Renumberer renumberPoints(program, points);
  SmallVector<unsigned> lastLane;
  for (unsigned dim = 0; dim < points.extents.size(); ++dim)
    if (dim != numShared - 1)
      lastLane.push_back(dim);
  lastLane.push_back(numShared - 1);
  auto replacePoints = [&](ArrayId array) {
    ArrayId replaced = renumberPoints.replace(array);
    Array &local = program.arrays[replaced];
    local.layout = AffineMap::getPermutationMap(lastLane, context);
    for (unsigned dim : lastLane)
      local.storedExtents.push_back(local.extents[dim]);
    return replaced;
  };
  for (ArrayId array : findLocal(program, producer, escaping))
    replacePoints(array);
  ArrayId local = replacePoints(pooled);
  for (ArrayId array : findLocal(program, consumer, escaping))
    renumberResults.replace(array);

  SmallVector<unsigned> statements;
  for (Statement &copy : copies) {
    statements.push_back(program.statements.size());
    program.statements.push_back(std::move(copy));
  }
  for (unsigned number : producer.statements) {
    program.statements[number] =
        renumberPoints.apply(program.statements[number]);
    statements.push_back(number);
  }
  for (Piece &piece : program.statements[sumNumber].pieces)
    piece.value = transform(piece.value, [&](Expr e) -> Expr {
      if (e.getKind() != Expr::Kind::Access ||
          e.getTensor().number != imageArray)
        return {};
      return getRead(rows, e.getType());
    });
  for (unsigned number : consumer.statements) {
    program.statements[number] = renumberConsumer(renumberResults, number);
    redirect(program.statements[number], pooled, local);
    statements.push_back(number);
  }
  producer.statements.clear();
  if (owner)
    owner->statements.clear();
  consumer.statements = statements;
  consumer.sharedDims = numOuter;
  return success();
}

LogicalResult espalier::graphtopoly::poolInRegisters(
    StatementList &program, FusionGroup &producer, FusionGroup &consumer,
    ArrayId pooled, const PoolingWindows &windows,
    const llvm::DenseSet<ArrayId> &escaping,
    MutableArrayRef<FusionGroup> fusionGroups) {
  return RegisterPooling(program, producer, consumer, pooled, windows, escaping)
      .run(fusionGroups);
}
