//===- WinogradRows.cpp - Fewer multiplications between rows --------------===//
//
// The algorithm of Winograd.h in a kernel that PoolInRegisters.cpp made, with
// lanes along rows. The windows are the tiles: for the 2x2 results L of window
// (q, x), with D the rows of the image by their columns' phase,
//
//   V[p, q, c, x] = (B' d B)[p, q],  d[i, j] = D[c, i, j mod 2, x + j / 2]
//   M[p, q, f, x] = sum(c) V[p, q, c, x] * U[p, q, f, c]
//   L[a, b][f, x] = (A' M A)[a, b]
//
// what is done with L is done with each of the four, and the reduction over a
// window becomes that of four numbers. Nothing has other neighbours in memory
// than before.
//
// Of few channels, there is a sum for each row p of points, with the points q
// as its window, and what is left of it is added to the window's results before
// the next: a tile of all is in registers.
//
//   M_p[f, x, q] = sum(c) V[p, q, c, x] * U[p, q, f, c]
//   L[a, b][f, x] = sum(p) A[p, a] (M_p A)[b]
//
//===----------------------------------------------------------------------===//

#include "../Contraction.h"
#include "../Renumber.h"
#include "Winograd.h"
#include "espalier/Dialect/Poly/IR/Target.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Results and points of a tile along each dimension.
static constexpr int64_t kOutputs = 2, kPoints = kOutputs + kTaps - 1;
/// With fewer channels, products would take longer to store than to compute:
/// they stay in registers until they are a window's results.
static constexpr int64_t kMinStoredChannels = 16;
/// Fewer channels, or filters that share what is transformed, do not pay for
/// the transforms; nor do so few in few registers.
static constexpr int64_t kMinChannels = 2, kMinFilters = 8;

namespace {

class RowsRewriter {
public:
  RowsRewriter(StatementList &program, FusionGroup &fusionGroup)
      : program(program), fusionGroup(fusionGroup),
        numOuter(fusionGroup.sharedDims) {}

  /// Recognizes the kernel. Fails if that saves no time.
  LogicalResult analyze();
  /// Fails, with nothing changed, if the value of the weights is not at hand.
  LogicalResult run();

private:
  // The dimensions of the sum after the outer ones.
  unsigned getFilter() const { return numOuter; }
  unsigned getColumn() const { return numOuter + 1; }
  unsigned getWindow(unsigned dim) const { return numOuter + 2 + dim; }
  unsigned getRank() const { return numOuter + 4; }
  unsigned getChannel() const { return weights.summed.front(); }

  AffineExpr getDim(unsigned dim) const {
    return getAffineDimExpr(dim, program.context);
  }
  int64_t getExtent(unsigned dim) const {
    return cast<AffineConstantExpr>(sum.extents[dim]).getValue();
  }
  LogicalResult readSum(const Statement &statement);
  LogicalResult readImage();
  bool pays() const;
  bool storesProducts() const {
    return getExtent(getChannel()) >= kMinStoredChannels;
  }
  /// The outer dimensions, a point of the transform, and what is at it.
  SmallVector<AffineExpr> getPoint(AffineExpr p, AffineExpr q,
                                   AffineExpr channel, AffineExpr lane) const;
  ArrayId addPoints(AffineExpr channels);
  /// An array with the outer dimensions and those of `inner`.
  ArrayId addArray(ArrayRef<AffineExpr> inner);
  /// The outer dimensions, a filter and a column.
  SmallVector<Expr> getPlace() const {
    SmallVector<Expr> place;
    for (unsigned dim = 0; dim < getWindow(0); ++dim)
      place.push_back(variable(dim, program.context));
    return place;
  }
  void add(Statement statement) {
    statements.push_back(program.statements.size());
    program.statements.push_back(std::move(statement));
  }
  void addInput(ArrayId input);
  /// Adds the sum over channels at the points of `sums`, where `point` is one
  /// of the transform.
  void addSum(ArrayId sums, std::pair<Expr, Expr> point, unsigned filter,
              unsigned lane, ArrayId input, ArrayId matrices);
  /// Adds the sums for all points at once, in an array that is returned.
  ArrayId multiply(ArrayId input, ArrayId matrices);
  /// Adds those of one row of points, which are to stay in registers.
  ArrayId multiplyRow(int64_t p, ArrayId input, ArrayId matrices);
  /// Stores a value for each filter and column; returns the element.
  Expr store(Expr value);
  /// Adds the four results of a window, as `getResult` says, and what is done
  /// with each.
  void addOutput(ExprAt getResult);
  void addOutputOf(ArrayId products);
  /// Adds the sums of a window row by row, and its results.
  void addOutputInRegisters(ArrayId input, ArrayId matrices);
  void closeWindow(Statement statement);

  StatementList &program;
  FusionGroup &fusionGroup;
  const TileTransform tile; ///< F(2x2, 3x3).
  unsigned numOuter;
  unsigned place = 0; ///< Of the sum in the fusion group.
  Statement sum{0, UnknownLoc::get(program.context), {}, {}};
  ConvolutionWeights weights;
  Expr image; ///< The element of D that the sum reads.
  /// The statements that compute all results of a window, and their targets.
  SmallVector<unsigned> pointwise;
  SmallVector<ArrayId> local;
  std::optional<unsigned> pooling; ///< The statement that reduces windows.

  SmallVector<unsigned> statements;
  std::vector<Renumberer> renumberers; ///< For each result of a window.
};

} // namespace

LogicalResult RowsRewriter::readSum(const Statement &statement) {
  sum = statement;
  if (sum.reduction != ReduceKind::Sum || sum.recurrence ||
      sum.pieces.size() != 1 || !sum.pieces.front().domain.empty() ||
      !sum.targetIndices.empty() || program.getRank(sum.target) != getRank() ||
      sum.getNumDims() != getRank() + 3 ||
      !llvm::all_of(sum.extents, llvm::IsaPred<AffineConstantExpr>))
    return failure();
  const Expr &product = sum.pieces.front().value;
  if (product.getKind() != Expr::Kind::Apply ||
      product.getFn() != ScalarFn::Mul ||
      !llvm::all_of(product.getOperands(), [](Expr operand) {
        return operand.getKind() == Expr::Kind::Access &&
               operand.getType().isF32();
      }))
    return failure();
  for (unsigned side : {0u, 1u}) {
    image = product.getOperands()[side];
    weights.access = product.getOperands()[1 - side];
    if (succeeded(readImage()))
      return success();
  }
  return failure();
}

LogicalResult RowsRewriter::readImage() {
  // D[.., c, a + ky, (b + kx) mod 2, x + (b + kx) floordiv 2]
  ArrayRef<Expr> indices = image.getOperands();
  if (indices.size() != numOuter + 4 ||
      countIdentityIndices(program, image) < numOuter)
    return failure();
  auto isIndex = [&](unsigned number, AffineExpr expected) {
    return program.affine(indices[numOuter + number]) ==
           program.simplify(expected);
  };
  auto find = [&](auto condition) {
    return llvm::find_if(llvm::seq(getRank(), getRank() + 3),
                         [&](unsigned dim) { return condition(getDim(dim)); });
  };
  auto end = llvm::seq(getRank(), getRank() + 3).end();
  auto channel = find([&](AffineExpr c) { return isIndex(0, c); });
  auto row =
      find([&](AffineExpr k) { return isIndex(1, getDim(getWindow(0)) + k); });
  auto column = find([&](AffineExpr k) {
    AffineExpr offset = getDim(getWindow(1)) + k;
    return isIndex(2, offset % kOutputs) &&
           isIndex(3, getDim(getColumn()) + offset.floorDiv(kOutputs));
  });
  if (channel == end || row == end || column == end)
    return failure();
  weights.filter = getFilter();
  weights.summed = {*channel};
  weights.ky = *row;
  weights.kx = *column;
  return success(isConvolutionWeights(program, weights) &&
                 getExtent(getWindow(0)) == kOutputs &&
                 getExtent(getWindow(1)) == kOutputs);
}

bool RowsRewriter::pays() const {
  if (sum.algorithm)
    return sum.algorithm == poly::Algorithm::Winograd;
  int64_t channels = getExtent(getChannel()), filters = getExtent(getFilter());
  bool hasMany =
      poly::getTarget(program.function).getRegisters() >= poly::kManyRegisters;
  if (channels < (hasMany ? kMinChannels : kMinStoredChannels) ||
      filters < (storesProducts() ? kMinStoredChannels : kMinFilters))
    return false;
  // What an iteration of the outer loops uses again stays in cache.
  int64_t rows = channels + (storesProducts() ? filters : 0);
  int64_t numElements = channels * filters + rows * getExtent(getColumn());
  return 4 * kPoints * kPoints * numElements * int64_t(sizeof(float)) <=
         3 * program.cacheBytes;
}

LogicalResult RowsRewriter::analyze() {
  auto found = llvm::find_if(fusionGroup.statements, [&](unsigned number) {
    return succeeded(readSum(program.statements[number]));
  });
  if (found == fusionGroup.statements.end() || !pays())
    return failure();
  place = found - fusionGroup.statements.begin();
  local.push_back(sum.target);
  for (unsigned number :
       ArrayRef<unsigned>(fusionGroup.statements).drop_front(place + 1)) {
    const Statement &statement = program.statements[number];
    bool readsWindow = false, isIdentity = true;
    forEachAccess(statement, [&](Expr access) {
      if (!llvm::is_contained(local, access.getTensor().number))
        return;
      readsWindow = true;
      isIdentity &= countIdentityIndices(program, access) == getRank();
    });
    if (!isIdentity || statement.recurrence || (pooling && readsWindow))
      return failure();
    if (pooling)
      continue;
    if (!readsWindow || statement.getNumDims() != getRank() ||
        !statement.targetIndices.empty())
      return failure();
    if (statement.reduction) {
      if (program.getRank(statement.target) != getRank() - 2 ||
          statement.pieces.size() != 1 ||
          !statement.pieces.front().domain.empty())
        return failure();
      pooling = number;
      continue;
    }
    pointwise.push_back(number);
    local.push_back(statement.target);
  }
  return success(pooling.has_value());
}

SmallVector<AffineExpr> RowsRewriter::getPoint(AffineExpr p, AffineExpr q,
                                               AffineExpr channel,
                                               AffineExpr lane) const {
  SmallVector<AffineExpr> point;
  for (unsigned dim = 0; dim < numOuter; ++dim)
    point.push_back(getDim(dim));
  point.append({p, q, channel, lane});
  return point;
}

ArrayId RowsRewriter::addPoints(AffineExpr channels) {
  Array array{Array::Kind::Intermediate, sum.loc};
  array.elementType = Float32Type::get(program.context);
  AffineExpr points = getAffineConstantExpr(kPoints, program.context);
  array.extents = getPoint(points, points, channels, sum.extents[getColumn()]);
  llvm::copy(ArrayRef(sum.extents).take_front(numOuter), array.extents.begin());
  return program.addArray(std::move(array));
}

void RowsRewriter::addInput(ArrayId input) {
  AffineExpr channel = getDim(numOuter), lane = getDim(numOuter + 1);
  SmallVector<AffineExpr> extents(ArrayRef(sum.extents).take_front(numOuter));
  extents.append({sum.extents[getChannel()], sum.extents[getColumn()]});
  auto getElement = [&](int64_t row, int64_t column) {
    SmallVector<Expr> indices;
    for (unsigned dim = 0; dim <= numOuter; ++dim)
      indices.push_back(variable(dim, program.context));
    indices.push_back(constant(row));
    indices.push_back(constant(column % kOutputs));
    indices.push_back(program.expression(lane + column / kOutputs));
    return access(image.getTensor(), indices, image.getType());
  };
  for (int64_t p = 0; p < kPoints; ++p)
    for (int64_t q = 0; q < kPoints; ++q) {
      Statement statement{input, sum.loc, extents, {}};
      statement.pieces.push_back({{}, transformInput(tile, p, q, getElement)});
      statement.targetIndices =
          getPoint(getAffineConstantExpr(p, program.context),
                   getAffineConstantExpr(q, program.context), channel, lane);
      add(std::move(statement));
    }
}

void RowsRewriter::addSum(ArrayId sums, std::pair<Expr, Expr> point,
                          unsigned filter, unsigned lane, ArrayId input,
                          ArrayId matrices) {
  Statement statement{sums, sum.loc, program.arrays[sums].extents, {}};
  Expr channel = variable(statement.getNumDims(), program.context);
  statement.extents.push_back(sum.extents[getChannel()]);
  statement.reduction = ReduceKind::Sum;
  SmallVector<Expr> at;
  for (unsigned dim = 0; dim < numOuter; ++dim)
    at.push_back(variable(dim, program.context));
  at.append(
      {point.first, point.second, channel, variable(lane, program.context)});
  Type type = image.getType();
  statement.pieces.push_back(
      {{},
       apply(ScalarFn::Mul,
             {access(TensorRef::operand(input), at, type),
              access(TensorRef::operand(matrices),
                     {point.first, point.second,
                      variable(filter, program.context), channel},
                     type)})});
  add(std::move(statement));
}

ArrayId RowsRewriter::multiply(ArrayId input, ArrayId matrices) {
  ArrayId products = addPoints(sum.extents[getFilter()]);
  ArrayId sums = addPoints(sum.extents[getFilter()]);
  addSum(sums,
         {variable(numOuter, program.context),
          variable(numOuter + 1, program.context)},
         numOuter + 2, numOuter + 3, input, matrices);
  add(makeStore(program, sums, products, sum.loc));
  return products;
}

ArrayId RowsRewriter::addArray(ArrayRef<AffineExpr> inner) {
  Array array{Array::Kind::Intermediate, sum.loc};
  array.elementType = image.getType();
  array.extents.assign(sum.extents.begin(), sum.extents.begin() + numOuter);
  llvm::append_range(array.extents, inner);
  return program.addArray(std::move(array));
}

ArrayId RowsRewriter::multiplyRow(int64_t p, ArrayId input, ArrayId matrices) {
  unsigned lane = getColumn(), q = lane + 1;
  ArrayId sums = addArray({sum.extents[getFilter()], sum.extents[lane],
                           getAffineConstantExpr(kPoints, program.context)});
  // Lanes have neighbours in memory.
  Array &array = program.arrays[sums];
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, array.extents.size()));
  std::swap(order[lane], order[q]);
  array.layout = AffineMap::getPermutationMap(order, program.context);
  for (unsigned dim : order)
    array.storedExtents.push_back(array.extents[dim]);
  addSum(sums, {constant(p), variable(q, program.context)}, getFilter(), lane,
         input, matrices);
  return sums;
}

Expr RowsRewriter::store(Expr value) {
  ArrayId array =
      addArray({sum.extents[getFilter()], sum.extents[getColumn()]});
  Statement statement{array, sum.loc, program.arrays[array].extents, {}};
  statement.pieces.push_back({{}, value});
  add(std::move(statement));
  return access(TensorRef::operand(array), getPlace(), image.getType());
}

void RowsRewriter::addOutput(ExprAt getResult) {
  SmallVector<AffineExpr> extents(
      ArrayRef(sum.extents).take_front(getWindow(0)));
  for (int64_t a = 0; a < kOutputs; ++a)
    for (int64_t b = 0; b < kOutputs; ++b) {
      Renumbering result;
      result.extents = extents;
      for (unsigned dim = 0; dim < extents.size(); ++dim)
        result.before.push_back(getDim(dim));
      result.before.append({getAffineConstantExpr(a, program.context),
                            getAffineConstantExpr(b, program.context)});
      Renumberer &renumberer = renumberers.emplace_back(program, result);
      for (ArrayId array : local)
        renumberer.replace(array);
      Statement output{
          renumberer.getReplacement(sum.target), sum.loc, extents, {}};
      output.pieces.push_back({{}, getResult(a, b)});
      add(std::move(output));
      for (unsigned number : pointwise)
        add(renumberer.apply(program.statements[number]));
    }
}

void RowsRewriter::addOutputOf(ArrayId products) {
  addOutput([&](int64_t a, int64_t b) {
    return transformOutput(tile, a, b, [&](int64_t p, int64_t q) {
      SmallVector<Expr> at = getPlace();
      at.insert(at.begin() + numOuter, {constant(p), constant(q)});
      return access(TensorRef::operand(products), at, image.getType());
    });
  });
}

void RowsRewriter::addOutputInRegisters(ArrayId input, ArrayId matrices) {
  Expr results[kOutputs][kOutputs];
  for (int64_t p = 0; p < kPoints; ++p) {
    ArrayId products = multiplyRow(p, input, matrices);
    for (int64_t b = 0; b < kOutputs; ++b) {
      Expr row = store(transformOutputRow(tile, b, [&](int64_t q) {
        SmallVector<Expr> at = getPlace();
        at.push_back(constant(q));
        return access(TensorRef::operand(products), at, image.getType());
      }));
      // What waits for the next row is two numbers for each result.
      for (int64_t a = 0; a < kOutputs; ++a) {
        Expr &result = results[a][b];
        if (Expr next = addOutputRow(tile, a, p, result, row))
          result = result ? store(next) : next;
      }
    }
  }
  addOutput([&](int64_t a, int64_t b) { return results[a][b]; });
}

void RowsRewriter::closeWindow(Statement statement) {
  ScalarFn combiner = getCombiner(*statement.reduction);
  Expr total;
  for (const Renumberer &renumberer : renumberers) {
    Expr value = renumberer.apply(statement).pieces.front().value;
    total = total ? apply(combiner, {total, value}) : value;
  }
  statement.pieces.front().value = total;
  statement.extents.resize(getWindow(0));
  statement.reduction.reset();
  add(std::move(statement));
}

LogicalResult RowsRewriter::run() {
  FailureOr<Array> matrices =
      transformWeights(program, weights, tile, /*filtersLast=*/false);
  if (failed(matrices))
    return failure();
  ArrayRef<unsigned> before(fusionGroup.statements);
  statements.assign(before.begin(), before.begin() + place);
  ArrayId input = addPoints(sum.extents[getChannel()]);
  ArrayId transformed = program.addArray(std::move(*matrices));
  addInput(input);
  if (storesProducts())
    addOutputOf(multiply(input, transformed));
  else
    addOutputInRegisters(input, transformed);
  closeWindow(program.statements[*pooling]);
  statements.append(llvm::find(before, *pooling) + 1, before.end());
  fusionGroup.statements = statements;
  return success();
}

LogicalResult
espalier::graphtopoly::applyWinogradToRows(StatementList &program,
                                           FusionGroup &fusionGroup) {
  RowsRewriter rewriter(program, fusionGroup);
  return success(succeeded(rewriter.analyze()) && succeeded(rewriter.run()));
}
