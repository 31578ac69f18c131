//===- Kernels.cpp - Operators on small field tensors ---------------------===//

#include "Derived.h"
#include <algorithm>
#include <cstring>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

#if defined(__x86_64__) && defined(__clang__)
#define ESPALIER_VECTOR_CLONES                                                 \
  __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define ESPALIER_VECTOR_CLONES
#endif

namespace {
/// The values of one element, and of sums of products of them.
using Lanes = uint32_t __attribute__((vector_size(4 * kLanes)));
using WideLanes = uint64_t __attribute__((vector_size(8 * kLanes)));

/// The part of a window that lies inside the input, along one dimension.
struct Window {
  unsigned first, last; ///< Taps, `last` excluded.
  unsigned start;       ///< Position of tap `first` in the input.
};
} // namespace

static inline void accumulate(WideLanes &sum, const uint32_t *lhs,
                              const uint32_t *rhs) {
  Lanes left, right;
  std::memcpy(&left, lhs, sizeof(left));
  std::memcpy(&right, rhs, sizeof(right));
  WideLanes product = __builtin_convertvector(left, WideLanes) *
                      __builtin_convertvector(right, WideLanes);
  sum += (product & kPrime) + (product >> 31);
}

/// Reduces sums of at most 2^31 folded products.
static inline void store(const WideLanes &sum, uint32_t *result) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result[lane] = reduce(sum[lane]);
}

static Window getWindow(const ConcreteOperator &operation, unsigned dim,
                        unsigned size, unsigned kernel, unsigned output,
                        unsigned outputs) {
  int stride = operation.stride[dim], before = 0;
  if (operation.isSame)
    before = std::max(int((outputs - 1) * stride + kernel) - int(size), 0) / 2;
  int position = int(output) * stride - before;
  int first = std::max(0, -position);
  int last = std::min<int>(kernel, int(size) - position);
  return {unsigned(first), unsigned(std::max(first, last)),
          unsigned(position + first)};
}

static inline void addWindow(WideLanes &sum, const uint32_t *input,
                             const uint32_t *weight, unsigned inputWidth,
                             unsigned kernelWidth, Window rows,
                             Window columns) {
  unsigned count = columns.last - columns.first;
  for (unsigned row = rows.first; row < rows.last; ++row) {
    unsigned position =
        (rows.start + row - rows.first) * inputWidth + columns.start;
    const uint32_t *in = input + position * kLanes;
    const uint32_t *taps =
        weight + (row * kernelWidth + columns.first) * kLanes;
    for (unsigned i = 0; i < count * kLanes; i += kLanes)
      accumulate(sum, in + i, taps + i);
  }
}

/// One plane of the result: image `n`, feature `o`.
ESPALIER_VECTOR_CLONES
static void convolvePlane(const ConcreteOperator &operation, const Shape &input,
                          const Shape &weight, const Shape &output,
                          const uint32_t *images, const uint32_t *taps,
                          uint32_t *result) {
  const auto &in = input.dims, &w = weight.dims, &out = output.dims;
  for (unsigned y = 0; y < out[2]; ++y)
    for (unsigned x = 0; x < out[3]; ++x) {
      Window rows = getWindow(operation, 0, in[2], w[2], y, out[2]);
      Window columns = getWindow(operation, 1, in[3], w[3], x, out[3]);
      WideLanes sum{};
      for (unsigned i = 0; i < w[1]; ++i)
        addWindow(sum, images + i * in[2] * in[3] * kLanes,
                  taps + i * w[2] * w[3] * kLanes, in[3], w[3], rows, columns);
      store(sum, result + (y * out[3] + x) * kLanes);
    }
}

static void convolve(const ConcreteOperator &operation,
                     const TensorView *operands, const Shape &output,
                     uint32_t *result) {
  const TensorView &input = operands[0], &weight = operands[1];
  const Shape &in = input.type->shape, &w = weight.type->shape;
  unsigned featuresPerGroup = w.dims[0] / (in.dims[1] / w.dims[1]);
  unsigned image = in.dims[2] * in.dims[3] * kLanes;
  unsigned plane = output.dims[2] * output.dims[3] * kLanes;
  for (unsigned n = 0; n < output.dims[0]; ++n)
    for (unsigned o = 0; o < output.dims[1]; ++o) {
      unsigned channel = n * in.dims[1] + o / featuresPerGroup * w.dims[1];
      convolvePlane(operation, in, w, output, input.data + channel * image,
                    weight.data +
                        o * w.dims[1] * w.dims[2] * w.dims[3] * kLanes,
                    result + (n * output.dims[1] + o) * plane);
    }
}

ESPALIER_VECTOR_CLONES
static void multiplyMatrices(const uint32_t *lhs, const uint32_t *rhs,
                             unsigned rows, unsigned inner, unsigned columns,
                             uint32_t *result) {
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned j = 0; j < columns; ++j) {
      WideLanes sum{};
      for (unsigned k = 0; k < inner; ++k)
        accumulate(sum, lhs + (i * inner + k) * kLanes,
                   rhs + (k * columns + j) * kLanes);
      store(sum, result + (i * columns + j) * kLanes);
    }
}

/// The matrices of the last two dimensions; an operand without some leading
/// dimension serves for all of it.
static void multiplyBatches(const ConcreteOperator &operation,
                            const TensorView *operands, const Shape &output,
                            uint32_t *result) {
  const TensorView &lhs = operands[0], &rhs = operands[1];
  const Shape &left = lhs.type->shape, &right = rhs.type->shape;
  unsigned rows = left.dims[left.rank - 2], inner = left.dims[left.rank - 1];
  unsigned columns = right.dims[right.rank - 1];
  for (unsigned at = 0; at < output.getNumElements(); at += rows * columns) {
    unsigned batch = at / (rows * columns);
    unsigned leftAt = batch * rows * inner % left.getNumElements();
    unsigned rightAt = batch * inner * columns % right.getNumElements();
    multiplyMatrices(lhs.data + leftAt * kLanes, rhs.data + rightAt * kLanes,
                     rows, inner, columns, result + at * kLanes);
  }
}

/// The sum or the maximum of a window of one plane.
static void reduceWindow(const uint32_t *plane, unsigned width, Window rows,
                         Window columns, bool isMax, uint32_t *result) {
  // Every window meets the input, so this never remains.
  static const uint32_t least = getLeast();
  std::fill_n(result, kLanes, isMax ? least : 0);
  unsigned count = columns.last - columns.first;
  for (unsigned i = 0; i < rows.last - rows.first; ++i)
    for (unsigned j = 0; j < count; ++j) {
      const uint32_t *element =
          plane + ((rows.start + i) * width + columns.start + j) * kLanes;
      for (unsigned lane = 0; lane < kLanes; ++lane)
        result[lane] = isMax ? maximum(result[lane], element[lane])
                             : add(result[lane], element[lane]);
    }
}

/// The average counts the padding.
template <bool isMax>
static void pool(const ConcreteOperator &operation, const TensorView *operands,
                 const Shape &output, uint32_t *result) {
  const TensorView &input = operands[0];
  const auto &in = input.type->shape.dims, &out = output.dims;
  const auto &kernel = operation.kernel;
  uint32_t weight = invert(kernel[0] * kernel[1]);
  const uint32_t *plane = input.data;
  for (unsigned p = 0; p < unsigned(out[0]) * out[1]; ++p) {
    for (unsigned y = 0; y < out[2]; ++y)
      for (unsigned x = 0; x < out[3]; ++x, result += kLanes) {
        Window rows = getWindow(operation, 0, in[2], kernel[0], y, out[2]);
        Window columns = getWindow(operation, 1, in[3], kernel[1], x, out[3]);
        reduceWindow(plane, in[3], rows, columns, isMax, result);
        for (unsigned lane = 0; lane < kLanes && !isMax; ++lane)
          result[lane] = multiply(result[lane], weight);
      }
    plane += in[2] * in[3] * kLanes;
  }
}

ESPALIER_VECTOR_CLONES
static void addElements(const uint32_t *lhs, const uint32_t *rhs,
                        unsigned count, uint32_t *result) {
  for (unsigned i = 0; i < count; ++i)
    result[i] = add(lhs[i], rhs[i]);
}

ESPALIER_VECTOR_CLONES
static void multiplyElements(const uint32_t *lhs, const uint32_t *rhs,
                             unsigned count, uint32_t *result) {
  for (unsigned i = 0; i < count; ++i)
    result[i] = multiply(lhs[i], rhs[i]);
}

ESPALIER_VECTOR_CLONES
static void multiplyByScalar(const uint32_t *lhs, const uint32_t *scalar,
                             unsigned count, uint32_t *result) {
  for (unsigned i = 0; i < count; i += kLanes)
    for (unsigned lane = 0; lane < kLanes; ++lane)
      result[i + lane] = multiply(lhs[i + lane], scalar[lane]);
}

ESPALIER_VECTOR_CLONES
static void reluElements(const uint32_t *input, unsigned count,
                         uint32_t *result) {
  for (unsigned i = 0; i < count; ++i)
    result[i] = relu(input[i]);
}

/// Copies blocks of `size` elements between buffers of these strides.
static void copyBlocks(const uint32_t *from, unsigned fromStride, uint32_t *to,
                       unsigned toStride, unsigned size, unsigned count) {
  for (unsigned i = 0; i < count; ++i)
    std::memcpy(to + i * toStride * kLanes, from + i * fromStride * kLanes,
                size * kLanes * sizeof(uint32_t));
}

static unsigned getProduct(const Shape &shape, unsigned first, unsigned last) {
  unsigned product = 1;
  for (unsigned i = first; i < last; ++i)
    product *= shape.dims[i];
  return product;
}

static void concat(const ConcreteOperator &operation,
                   const TensorView *operands, const Shape &output,
                   uint32_t *result) {
  unsigned count = getProduct(output, 0, operation.axis);
  unsigned stride = getProduct(output, operation.axis, output.rank);
  for (unsigned i = 0; i < 2; ++i) {
    const Shape &shape = operands[i].type->shape;
    unsigned size = getProduct(shape, operation.axis, shape.rank);
    copyBlocks(operands[i].data, size, result, stride, size, count);
    result += size * kLanes;
  }
}

static void split(const ConcreteOperator &operation, const TensorView *operands,
                  const Shape &output, uint32_t *result) {
  const TensorView &input = operands[0];
  const Shape &shape = input.type->shape;
  unsigned stride = getProduct(shape, operation.axis, shape.rank);
  unsigned size = getProduct(output, operation.axis, output.rank);
  unsigned offset = operation.part == 0 ? 0 : stride - size;
  copyBlocks(input.data + offset * kLanes, stride, result, size, size,
             getProduct(shape, 0, operation.axis));
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

namespace {
/// Writes the values of a result.
using Kernel = void (*)(const ConcreteOperator &, const TensorView *,
                        const Shape &, uint32_t *);
} // namespace

template <void (*fn)(const uint32_t *, const uint32_t *, unsigned, uint32_t *)>
static void apply(const ConcreteOperator &operation, const TensorView *operands,
                  const Shape &output, uint32_t *result) {
  fn(operands[0].data, operands[1].data, output.getNumElements() * kLanes,
     result);
}

static void applyRelu(const ConcreteOperator &operation,
                      const TensorView *operands, const Shape &output,
                      uint32_t *result) {
  reluElements(operands[0].data, output.getNumElements() * kLanes, result);
}

/// Null for most: their values follow from the definition.
static constexpr Kernel kKernels[] = {
#define RULE_OPERATOR(id, name, operands, params, traits, rank, semantics,     \
                      graph, instance, ...)                                    \
  Kernel{__VA_ARGS__},
#include "espalier/Substitution/RuleOperators.def"
};

const DerivedOperator &ConcreteOperator::getDerived() const {
  return derived[part];
}

std::optional<TensorType>
generator::inferType(const ConcreteOperator &operation,
                     const TensorType *const *operands) {
  auto type = operation.getDerived().inferType(operation, operands);
  if (type && type->shape.getNumElements() > kMaxElements)
    return std::nullopt;
  return type;
}

void generator::evaluate(const ConcreteOperator &operation,
                         const TensorView *operands, const TensorType &type,
                         uint32_t *result) {
  Kernel kernel = kKernels[static_cast<unsigned>(operation.kind)];
  if (!kernel)
    return operation.getDerived().evaluate(operation, operands, result);
  kernel(operation, operands, type.shape, result);
  if (operation.hasRelu)
    reluElements(result, type.shape.getNumElements() * kLanes, result);
}
