//===- Transforms.cpp - The matrices of F(2, 3) and F(4, 3)
//----------------===//

#include "../PackConstant.h"
#include "Winograd.h"
#include "espalier/Interpreter/Tensor.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;
using espalier::interpreter::Tensor;

static constexpr double kOutputOfTwo[] = {1, 1, 1,  0, //
                                          0, 1, -1, -1};
static constexpr double kInputOfTwo[] = {1, 0,  -1, 0, //
                                         0, 1,  1,  0, //
                                         0, -1, 1,  0, //
                                         0, 1,  0,  -1};
static constexpr double kWeightsOfTwo[] = {2, 0,  0, //
                                           1, 1,  1, //
                                           1, -1, 1, //
                                           0, 0,  2};

// Points 0, 1, -1, 2, -1/2: the largest error is a third of that with the usual
// 2 and -2.
static constexpr double kOutputOfFour[] = {1, 1, 1,  1, 1,     0, //
                                           0, 1, -1, 2, -.5,   0, //
                                           0, 1, 1,  4, .25,   0, //
                                           0, 1, -1, 8, -.125, 1};
static constexpr double kInputOfFour[] = {1, 1.5, -2,   -1.5, 1,    0, //
                                          0, -1,  -2.5, -.5,  1,    0, //
                                          0, 1,   .5,   -2.5, 1,    0, //
                                          0, -.5, -1,   .5,   1,    0, //
                                          0, 2,   -1,   -2,   1,    0, //
                                          0, 1,   1.5,  -2,   -1.5, 1};
static constexpr double kWeightsOfFour[] = {15,  0,  0,  //
                                            -5,  -5, -5, //
                                            5,   -5, 5,  //
                                            1,   2,  4,  //
                                            -16, 8,  -4, //
                                            0,   0,  15};
static constexpr double kDivisorOfTwo = 2, kDivisorOfFour = 15;

/// Whether output a gets input i times tap u if and only if i = a + u. All
/// numbers are dyadic, so this is exact.
static constexpr bool isConvolution(int64_t outputs, const double *output,
                                    const double *input, const double *weights,
                                    double divisor) {
  int64_t points = outputs + kTaps - 1;
  for (int64_t a = 0; a < outputs; ++a)
    for (int64_t u = 0; u < kTaps; ++u)
      for (int64_t i = 0; i < points; ++i) {
        double sum = 0;
        for (int64_t p = 0; p < points; ++p)
          sum += output[a * points + p] * weights[p * kTaps + u] *
                 input[p * points + i];
        if (sum != (i == a + u ? divisor : 0))
          return false;
      }
  return true;
}
static_assert(isConvolution(2, kOutputOfTwo, kInputOfTwo, kWeightsOfTwo,
                            kDivisorOfTwo) &&
                  isConvolution(4, kOutputOfFour, kInputOfFour, kWeightsOfFour,
                                kDivisorOfFour),
              "the transforms do not make a convolution");

const Transform &espalier::graphtopoly::getTransformOfTwo() {
  static const Transform transform{2, kOutputOfTwo, kInputOfTwo, kWeightsOfTwo,
                                   kDivisorOfTwo};
  return transform;
}

const Transform &espalier::graphtopoly::getTransformOfFour() {
  static const Transform transform{4, kOutputOfFour, kInputOfFour,
                                   kWeightsOfFour, kDivisorOfFour};
  return transform;
}

/// Adds a term, with a coefficient that is mostly 1 or -1, to `sum`, if there
/// is one yet.
static Expr addTerm(Expr sum, double coefficient, Expr term) {
  if (coefficient == -1 && sum)
    return apply(ScalarFn::Sub, {sum, term});
  if (coefficient != 1)
    term = apply(ScalarFn::Mul, {constant(coefficient), term});
  return sum ? apply(ScalarFn::Add, {sum, term}) : term;
}

static Expr combine(ArrayRef<double> coefficients,
                    llvm::function_ref<Expr(int64_t)> getTerm) {
  Expr sum;
  for (auto [number, coefficient] : llvm::enumerate(coefficients))
    if (coefficient != 0)
      sum = addTerm(sum, coefficient, getTerm(number));
  return sum;
}

/// A row of a matrix of the transform, or of its output.
static ArrayRef<double> getRow(ArrayRef<double> matrix, int64_t row,
                               const Transform &transform) {
  return matrix.slice(row * transform.getPoints(), transform.getPoints());
}

// Rows of sums along the columns, which several results share.
Expr espalier::graphtopoly::transformInput(const TileTransform &tile, int64_t p,
                                           int64_t q, ExprAt element) {
  return combine(getRow(tile.rows->input, p, *tile.rows), [&](int64_t row) {
    return combine(getRow(tile.columns->input, q, *tile.columns),
                   [&](int64_t column) { return element(row, column); });
  });
}

Expr espalier::graphtopoly::transformOutput(const TileTransform &tile,
                                            int64_t a, int64_t b,
                                            ExprAt product) {
  return combine(getRow(tile.rows->output, a, *tile.rows), [&](int64_t row) {
    return transformOutputRow(
        tile, b, [&](int64_t column) { return product(row, column); });
  });
}

Expr espalier::graphtopoly::transformOutputRow(
    const TileTransform &tile, int64_t b,
    llvm::function_ref<Expr(int64_t)> product) {
  return combine(getRow(tile.columns->output, b, *tile.columns), product);
}

Expr espalier::graphtopoly::addOutputRow(const TileTransform &tile, int64_t a,
                                         int64_t p, Expr sum, Expr row) {
  double coefficient = getRow(tile.rows->output, a, *tile.rows)[p];
  return coefficient == 0 ? Expr() : addTerm(sum, coefficient, row);
}

static const Array &getArray(const StatementList &program,
                             const ConvolutionWeights &weights) {
  return program.arrays[weights.access.getTensor().number];
}

static unsigned getPosition(const ConvolutionWeights &weights, unsigned dim) {
  return llvm::find_if(weights.access.getOperands(),
                       [&](Expr index) { return index.getVariable() == dim; }) -
         weights.access.getOperands().begin();
}

static int64_t getExtent(const StatementList &program,
                         const ConvolutionWeights &weights, unsigned dim) {
  return getArray(program, weights)
      .constant.getShapedType()
      .getDimSize(getPosition(weights, dim));
}

bool espalier::graphtopoly::isConvolutionWeights(
    const StatementList &program, const ConvolutionWeights &weights) {
  llvm::SmallDenseSet<unsigned> dims;
  for (Expr index : weights.access.getOperands())
    if (index.getKind() != Expr::Kind::Variable ||
        !dims.insert(index.getVariable()).second)
      return false;
  SmallVector<unsigned> expected{weights.filter, weights.ky, weights.kx};
  llvm::append_range(expected, weights.summed);
  return dims.size() == expected.size() &&
         llvm::all_of(expected,
                      [&](unsigned dim) { return dims.contains(dim); }) &&
         weights.access.getType().isF32() &&
         getArray(program, weights).kind == Array::Kind::Constant &&
         getExtent(program, weights, weights.ky) == kTaps &&
         getExtent(program, weights, weights.kx) == kTaps;
}

/// The constant of `type` that transformed weights are: points by points by
/// the extents of `dims`.
static FailureOr<ElementsAttr>
transformValues(const StatementList &program, const ConvolutionWeights &weights,
                const TileTransform &tile, RankedTensorType type,
                ArrayRef<unsigned> dims) {
  const Array &source = getArray(program, weights);
  if (ElementsAttr unknown = getWithoutValues(source.constant, type))
    return unknown;
  FailureOr<Tensor> plain = Tensor::get(source.constant);
  FailureOr<Tensor> result = Tensor::create(type);
  if (failed(plain) || failed(result))
    return failure();
  // The distance of neighbours along each dimension.
  auto getStride = [&](unsigned dim) {
    int64_t stride = 1;
    for (int64_t extent :
         plain->getShape().drop_front(getPosition(weights, dim) + 1))
      stride *= extent;
    return stride;
  };
  int64_t perRow = getStride(weights.ky), perColumn = getStride(weights.kx);
  const auto *w = reinterpret_cast<const float *>(plain->getBytes().data());
  auto *u = reinterpret_cast<float *>(result->getMutableBytes().data());
  // Of each window in turn: its number, the place of its first tap, and where
  // it is along `dims`.
  int64_t numRows = tile.rows->getPoints();
  int64_t numColumns = tile.columns->getPoints();
  double divisor = tile.rows->divisor * tile.columns->divisor;
  int64_t numWindows = 1;
  for (unsigned dim : dims)
    numWindows *= getExtent(program, weights, dim);
  SmallVector<int64_t> at(dims.size(), 0);
  for (int64_t place = 0; place < numWindows; ++place) {
    const float *taps = w;
    for (auto [dim, index] : llvm::zip_equal(dims, at))
      taps += index * getStride(dim);
    for (int64_t p = 0; p < numRows; ++p) {
      double row[kTaps] = {};
      for (int64_t j = 0; j < kTaps; ++j)
        for (int64_t i = 0; i < kTaps; ++i)
          row[j] += tile.rows->weights[p * kTaps + i] *
                    taps[i * perRow + j * perColumn];
      for (int64_t q = 0; q < numColumns; ++q) {
        double sum = 0;
        for (int64_t j = 0; j < kTaps; ++j)
          sum += tile.columns->weights[q * kTaps + j] * row[j];
        u[(p * numColumns + q) * numWindows + place] =
            static_cast<float>(sum / divisor);
      }
    }
    for (unsigned i = dims.size();
         i-- > 0 && ++at[i] == getExtent(program, weights, dims[i]);)
      at[i] = 0;
  }
  return result->toAttribute();
}

FailureOr<Array> espalier::graphtopoly::transformWeights(
    const StatementList &program, const ConvolutionWeights &weights,
    const TileTransform &tile, bool filtersLast) {
  const Array &source = getArray(program, weights);
  SmallVector<unsigned> dims(weights.summed);
  dims.insert(filtersLast ? dims.end() : dims.begin(), weights.filter);
  SmallVector<int64_t> shape{tile.rows->getPoints(), tile.columns->getPoints()};
  for (unsigned dim : dims)
    shape.push_back(getExtent(program, weights, dim));
  FailureOr<ElementsAttr> values =
      transformValues(program, weights, tile,
                      RankedTensorType::get(shape, source.elementType), dims);
  if (failed(values))
    return failure();
  Array array{Array::Kind::Constant, source.loc};
  array.elementType = source.elementType;
  array.constant = *values;
  for (int64_t extent : shape)
    array.extents.push_back(getAffineConstantExpr(extent, program.context));
  return array;
}
