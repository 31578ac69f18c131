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
//===----------------------------------------------------------------------===//

#include "../Contraction.h"
#include "../Renumber.h"
#include "Winograd.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Fewer channels than this do not pay for the transforms.
static constexpr int64_t kMinChannels = 16;

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
  /// The outer dimensions, a point of the transform, and what is at it.
  SmallVector<AffineExpr> getPoint(AffineExpr p, AffineExpr q,
                                   AffineExpr channel, AffineExpr lane) const;
  ArrayId addPoints(AffineExpr channels);
  void add(Statement statement) {
    statements.push_back(program.statements.size());
    program.statements.push_back(std::move(statement));
  }
  void addInput(ArrayId input);
  void multiply(ArrayId input, ArrayId weights, ArrayId products);
  void addOutput(ArrayId products);
  void closeWindow(Statement statement);

  StatementList &program;
  FusionGroup &fusionGroup;
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
  int64_t channels = getExtent(getChannel()), filters = getExtent(getFilter());
  // What an iteration of the outer loops uses again stays in cache.
  int64_t numElements =
      channels * filters + (channels + filters) * getExtent(getColumn());
  if (sum.algorithm)
    return sum.algorithm == poly::Algorithm::Winograd;
  return channels >= kMinChannels && filters >= kMinChannels &&
         4 * kPoints * kPoints * numElements * int64_t(sizeof(float)) <=
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
      statement.pieces.push_back({{}, transformInput(p, q, getElement)});
      statement.targetIndices =
          getPoint(getAffineConstantExpr(p, program.context),
                   getAffineConstantExpr(q, program.context), channel, lane);
      add(std::move(statement));
    }
}

void RowsRewriter::multiply(ArrayId input, ArrayId matrices, ArrayId products) {
  ArrayId accumulator = addPoints(sum.extents[getFilter()]);
  Statement statement{
      accumulator, sum.loc, program.arrays[accumulator].extents, {}};
  unsigned channel = statement.getNumDims();
  statement.extents.push_back(sum.extents[getChannel()]);
  statement.reduction = ReduceKind::Sum;
  auto get = [&](unsigned dim) { return variable(dim, program.context); };
  SmallVector<Expr> at;
  for (unsigned dim = 0; dim < numOuter + 2; ++dim)
    at.push_back(get(dim));
  at.append({get(channel), get(numOuter + 3)});
  Type type = image.getType();
  statement.pieces.push_back(
      {{},
       apply(ScalarFn::Mul, {access(TensorRef::operand(input), at, type),
                             access(TensorRef::operand(matrices),
                                    {get(numOuter), get(numOuter + 1),
                                     get(numOuter + 2), get(channel)},
                                    type)})});
  add(std::move(statement));
  add(makeStore(program, accumulator, products, sum.loc));
}

void RowsRewriter::addOutput(ArrayId products) {
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
      output.pieces.push_back(
          {{}, transformOutput(a, b, [&](int64_t p, int64_t q) {
             SmallVector<Expr> at;
             for (AffineExpr index :
                  getPoint(getAffineConstantExpr(p, program.context),
                           getAffineConstantExpr(q, program.context),
                           getDim(getFilter()), getDim(getColumn())))
               at.push_back(program.expression(index));
             return access(TensorRef::operand(products), at, image.getType());
           })});
      add(std::move(output));
      for (unsigned number : pointwise)
        add(renumberer.apply(program.statements[number]));
    }
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
      transformWeights(program, weights, /*filtersLast=*/false);
  if (failed(matrices))
    return failure();
  ArrayRef<unsigned> before(fusionGroup.statements);
  statements.assign(before.begin(), before.begin() + place);
  ArrayId input = addPoints(sum.extents[getChannel()]);
  ArrayId products = addPoints(sum.extents[getFilter()]);
  addInput(input);
  multiply(input, program.addArray(std::move(*matrices)), products);
  addOutput(products);
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
