//===- Transforms.cpp - The matrices of F(2x2, 3x3) -----------------------===//

#include "../PackConstant.h"
#include "Winograd.h"
#include "espalier/Interpreter/Tensor.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;
using espalier::interpreter::Tensor;

static constexpr double kInputTransform[kPoints][kPoints] = {
    {1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}};
static constexpr double kWeightTransform[kPoints][kTaps] = {
    {1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}};
static constexpr double kOutputTransform[kOutputs][kPoints] = {{1, 1, 1, 0},
                                                               {0, 1, -1, -1}};

/// Whether output a gets input i times tap u if and only if i = a + u. All
/// numbers are dyadic, so this is exact.
static constexpr bool isConvolution() {
  for (int a = 0; a < kOutputs; ++a)
    for (int u = 0; u < kTaps; ++u)
      for (int i = 0; i < kPoints; ++i) {
        double sum = 0;
        for (int p = 0; p < kPoints; ++p)
          sum += kOutputTransform[a][p] * kWeightTransform[p][u] *
                 kInputTransform[p][i];
        if (sum != (i == a + u ? 1 : 0))
          return false;
      }
  return true;
}
static_assert(isConvolution(), "the transforms do not make a convolution");

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

// Rows of sums along the columns, which several results share.
Expr espalier::graphtopoly::transformInput(int64_t p, int64_t q,
                                           ExprAt element) {
  return combine(kInputTransform[p], [&](int64_t row) {
    return combine(kInputTransform[q],
                   [&](int64_t column) { return element(row, column); });
  });
}

Expr espalier::graphtopoly::transformOutput(int64_t a, int64_t b,
                                            ExprAt product) {
  return combine(kOutputTransform[a], [&](int64_t row) {
    return combine(kOutputTransform[b],
                   [&](int64_t column) { return product(row, column); });
  });
}

Expr espalier::graphtopoly::transformOutputRow(
    int64_t b, llvm::function_ref<Expr(int64_t)> product) {
  return combine(kOutputTransform[b], product);
}

Expr espalier::graphtopoly::addOutputRow(int64_t a, int64_t p, Expr sum,
                                         Expr row) {
  double coefficient = kOutputTransform[a][p];
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
                RankedTensorType type, ArrayRef<unsigned> dims) {
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
  int64_t numWindows = 1;
  for (unsigned dim : dims)
    numWindows *= getExtent(program, weights, dim);
  SmallVector<int64_t> at(dims.size(), 0);
  for (int64_t place = 0; place < numWindows; ++place) {
    const float *taps = w;
    for (auto [dim, index] : llvm::zip_equal(dims, at))
      taps += index * getStride(dim);
    double rows[kPoints][kTaps] = {};
    for (int64_t p = 0; p < kPoints; ++p)
      for (int64_t j = 0; j < kTaps; ++j)
        for (int64_t i = 0; i < kTaps; ++i)
          rows[p][j] +=
              kWeightTransform[p][i] * taps[i * perRow + j * perColumn];
    for (int64_t p = 0; p < kPoints; ++p)
      for (int64_t q = 0; q < kPoints; ++q) {
        double sum = 0;
        for (int64_t j = 0; j < kTaps; ++j)
          sum += kWeightTransform[q][j] * rows[p][j];
        u[(p * kPoints + q) * numWindows + place] = static_cast<float>(sum);
      }
    for (unsigned i = dims.size();
         i-- > 0 && ++at[i] == getExtent(program, weights, dims[i]);)
      at[i] = 0;
  }
  return result->toAttribute();
}

FailureOr<Array>
espalier::graphtopoly::transformWeights(const StatementList &program,
                                        const ConvolutionWeights &weights,
                                        bool filtersLast) {
  const Array &source = getArray(program, weights);
  SmallVector<unsigned> dims(weights.summed);
  dims.insert(filtersLast ? dims.end() : dims.begin(), weights.filter);
  SmallVector<int64_t> shape{kPoints, kPoints};
  for (unsigned dim : dims)
    shape.push_back(getExtent(program, weights, dim));
  FailureOr<ElementsAttr> values = transformValues(
      program, weights, RankedTensorType::get(shape, source.elementType), dims);
  if (failed(values))
    return failure();
  Array array{Array::Kind::Constant, source.loc};
  array.elementType = source.elementType;
  array.constant = *values;
  for (int64_t extent : shape)
    array.extents.push_back(getAffineConstantExpr(extent, program.context));
  return array;
}
