//===- Kernels.cpp - Operators on small field tensors ---------------------===//

#include "espalier/Substitution/Generator/Kernels.h"
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

static Window getWindow(const Operation &operation, unsigned dim, unsigned size,
                        unsigned kernel, unsigned output, unsigned outputs) {
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
static void convolvePlane(const Operation &operation, const Shape &input,
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

static void convolve(const Operation &operation, const TensorView &input,
                     const TensorView &weight, const Shape &output,
                     uint32_t *result) {
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
static void multiplyBatches(const TensorView &lhs, const TensorView &rhs,
                            const Shape &output, uint32_t *result) {
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
static void pool(const Operation &operation, const TensorView &input,
                 const Shape &output, uint32_t *result) {
  const auto &in = input.type->shape.dims, &out = output.dims;
  const auto &kernel = operation.kernel;
  bool isMax = operation.kind == OpKind::PoolMax;
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

/// Applies a function of two elements, with the vector's element in the place
/// of each along one axis.
template <typename Fn>
static void applyWithVector(const TensorView &input, const TensorView &vector,
                            unsigned axis, Fn apply, uint32_t *result) {
  const Shape &shape = input.type->shape;
  unsigned inner = getProduct(shape, axis + 1, shape.rank) * kLanes;
  unsigned count = shape.getNumElements() * kLanes;
  for (unsigned at = 0; at < count; ++at) {
    unsigned position = at / inner % shape.dims[axis] * kLanes + at % kLanes;
    result[at] = apply(input.data[at], vector.data[position]);
  }
}

template <typename Fn>
static void applyToElements(const TensorView *operands, unsigned numOperands,
                            unsigned count, Fn apply, uint32_t *result) {
  const uint32_t *lhs = operands[0].data;
  const uint32_t *rhs = operands[numOperands - 1].data;
  for (unsigned i = 0; i < count; ++i)
    result[i] = apply(lhs[i], rhs[i]);
}

/// The functions of one element or of two equal shapes that have no kernel of
/// their own.
static void applyFunction(const Operation &operation,
                          const TensorView *operands, unsigned count,
                          uint32_t *result) {
  auto run = [&](auto function) {
    applyToElements(operands, operation.getNumOperands(), count, function,
                    result);
  };
  switch (operation.kind) {
  case OpKind::EwSub:
    return run(subtract);
  case OpKind::EwMax:
    return run(maximum);
  case OpKind::Exp:
    return run([](uint32_t x, uint32_t) { return applyExp(x); });
  case OpKind::Tanh:
    return run([](uint32_t x, uint32_t) { return applyTanh(x); });
  default:
    return run([](uint32_t x, uint32_t) { return applySigmoid(x); });
  }
}

static void swapAxes(const Operation &operation, const TensorView &input,
                     const Shape &output, uint32_t *result) {
  std::array<unsigned, kRank> strides{};
  for (unsigned dim = 0; dim < output.rank; ++dim)
    strides[dim] =
        getProduct(input.type->shape, dim + 1, input.type->shape.rank);
  std::swap(strides[operation.numbers[0]], strides[operation.numbers[1]]);
  for (unsigned element = 0; element < output.getNumElements(); ++element) {
    unsigned rest = element, from = 0;
    for (unsigned dim = output.rank; dim-- > 0;) {
      from += rest % output.dims[dim] * strides[dim];
      rest /= output.dims[dim];
    }
    std::memcpy(result + element * kLanes, input.data + from * kLanes,
                kLanes * sizeof(uint32_t));
  }
}

/// A box of the input in a box of the result, along one axis.
static void copyAlongAxis(const Operation &operation, const TensorView &input,
                          const Shape &output, uint32_t *result) {
  const Shape &shape = input.type->shape;
  unsigned axis = operation.axis;
  bool isSlice = operation.kind == OpKind::Slice;
  unsigned inner = getProduct(shape, axis + 1, shape.rank);
  unsigned from = isSlice ? operation.numbers[0] * inner : 0;
  unsigned to = isSlice ? 0 : operation.numbers[0] * inner;
  if (!isSlice)
    std::fill_n(result, output.getNumElements() * kLanes, 0);
  copyBlocks(input.data + from * kLanes, shape.dims[axis] * inner,
             result + to * kLanes, output.dims[axis] * inner,
             (isSlice ? output : shape).dims[axis] * inner,
             getProduct(shape, 0, axis));
}

static void reduceAxis(const Operation &operation, const TensorView &input,
                       uint32_t *result) {
  const Shape &shape = input.type->shape;
  unsigned extent = shape.dims[operation.axis];
  unsigned inner = getProduct(shape, operation.axis + 1, shape.rank) * kLanes;
  unsigned outer = getProduct(shape, 0, operation.axis);
  bool isMax = operation.kind == OpKind::ReduceMax;
  for (unsigned i = 0; i < outer; ++i, result += inner) {
    const uint32_t *block = input.data + i * extent * inner;
    std::copy_n(block, inner, result);
    for (unsigned k = 1; k < extent; ++k)
      for (unsigned j = 0; j < inner; ++j) {
        uint32_t element = block[k * inner + j];
        result[j] =
            isMax ? maximum(result[j], element) : add(result[j], element);
      }
  }
}

static void transpose(const TensorView &input, uint32_t *result) {
  unsigned rows = input.type->shape.dims[0],
           columns = input.type->shape.dims[1];
  for (unsigned j = 0; j < columns; ++j)
    for (unsigned i = 0; i < rows; ++i, result += kLanes)
      std::memcpy(result, input.data + (i * columns + j) * kLanes,
                  kLanes * sizeof(uint32_t));
}

static void concat(const Operation &operation, const TensorView *operands,
                   const Shape &output, uint32_t *result) {
  unsigned count = getProduct(output, 0, operation.axis);
  unsigned stride = getProduct(output, operation.axis, output.rank);
  for (unsigned i = 0; i < 2; ++i) {
    const Shape &shape = operands[i].type->shape;
    unsigned size = getProduct(shape, operation.axis, shape.rank);
    copyBlocks(operands[i].data, size, result, stride, size, count);
    result += size * kLanes;
  }
}

static void split(const Operation &operation, const TensorView &input,
                  const Shape &output, uint32_t *result) {
  const Shape &shape = input.type->shape;
  unsigned stride = getProduct(shape, operation.axis, shape.rank);
  unsigned size = getProduct(output, operation.axis, output.rank);
  unsigned offset = operation.part == 0 ? 0 : stride - size;
  copyBlocks(input.data + offset * kLanes, stride, result, size, size,
             getProduct(shape, 0, operation.axis));
}

static void enlarge(const TensorView &input, const Shape &output,
                    uint32_t *result) {
  const auto &in = input.type->shape.dims, &out = output.dims;
  std::fill_n(result, output.getNumElements() * kLanes, 0);
  unsigned top = (out[2] - in[2]) / 2, left = (out[3] - in[3]) / 2;
  for (unsigned plane = 0; plane < unsigned(out[0]) * out[1]; ++plane)
    copyBlocks(input.data + plane * in[2] * in[3] * kLanes, in[3],
               result + ((plane * out[2] + top) * out[3] + left) * kLanes,
               out[3], in[3], in[2]);
}

/// Writes `value` to every feature's own channel within its group, in the taps
/// from `first` to `last` - 1, and zero elsewhere.
static void setOwnChannels(const Shape &shape, unsigned first, unsigned last,
                           uint32_t value, uint32_t *result) {
  unsigned taps = getProduct(shape, 2, shape.rank), channels = shape.dims[1];
  std::fill_n(result, shape.getNumElements() * kLanes, 0);
  for (unsigned o = 0; o < shape.dims[0]; ++o) {
    unsigned begin = (o * channels + o % channels) * taps;
    std::fill_n(result + (begin + first) * kLanes, (last - first) * kLanes,
                value);
  }
}

static void setIdentityMatrix(const Shape &shape, uint32_t *result) {
  std::fill_n(result, shape.getNumElements() * kLanes, 0);
  for (unsigned i = 0; i < std::min(shape.dims[0], shape.dims[1]); ++i)
    std::fill_n(result + i * (shape.dims[1] + 1) * kLanes, kLanes, 1);
}

static void setConstant(const Operation &operation, const Shape &shape,
                        uint32_t *result) {
  const auto &dims = shape.dims;
  if (operation.kind == OpKind::ConstOne) {
    std::fill_n(result, shape.getNumElements() * kLanes, 1);
  } else if (operation.kind == OpKind::ConstImm) {
    setIdentityMatrix(shape, result);
  } else if (operation.kind == OpKind::ConstPool) {
    setOwnChannels(shape, 0, dims[2] * dims[3],
                   invert(operation.kernel[0] * operation.kernel[1]), result);
  } else {
    unsigned middle = (dims[2] - 1) / 2 * dims[3] + (dims[3] - 1) / 2;
    setOwnChannels(shape, middle, middle + 1, 1, result);
  }
}

void generator::evaluate(const Operation &operation, const TensorView *operands,
                         const TensorType &type, uint32_t *result) {
  unsigned count = type.shape.getNumElements() * kLanes;
  switch (operation.kind) {
  case OpKind::Conv2d:
    convolve(operation, operands[0], operands[1], type.shape, result);
    break;
  case OpKind::Matmul:
  case OpKind::Bmm:
    multiplyBatches(operands[0], operands[1], type.shape, result);
    break;
  case OpKind::EwAdd:
    return addElements(operands[0].data, operands[1].data, count, result);
  case OpKind::EwMul:
    return multiplyElements(operands[0].data, operands[1].data, count, result);
  case OpKind::SMul:
    return multiplyByScalar(operands[0].data, operands[1].data, count, result);
  case OpKind::Relu:
    return reluElements(operands[0].data, count, result);
  case OpKind::EwSub:
  case OpKind::EwMax:
  case OpKind::Exp:
  case OpKind::Tanh:
  case OpKind::Sigmoid:
    return applyFunction(operation, operands, count, result);
  case OpKind::BAdd:
    return applyWithVector(operands[0], operands[1], operation.axis, add,
                           result);
  case OpKind::BMul:
    return applyWithVector(operands[0], operands[1], operation.axis, multiply,
                           result);
  case OpKind::Swap:
    return swapAxes(operation, operands[0], type.shape, result);
  case OpKind::Slice:
  case OpKind::Pad:
    return copyAlongAxis(operation, operands[0], type.shape, result);
  case OpKind::ReduceSum:
  case OpKind::ReduceMax:
    return reduceAxis(operation, operands[0], result);
  case OpKind::Transpose:
    return transpose(operands[0], result);
  case OpKind::Concat:
    return concat(operation, operands, type.shape, result);
  case OpKind::Split:
    return split(operation, operands[0], type.shape, result);
  case OpKind::PoolAvg:
  case OpKind::PoolMax:
    return pool(operation, operands[0], type.shape, result);
  case OpKind::Enlarge:
    return enlarge(operands[0], type.shape, result);
  case OpKind::ConstIConv:
  case OpKind::ConstPool:
  case OpKind::ConstImm:
  case OpKind::ConstOne:
    return setConstant(operation, type.shape, result);
  default:
    break; // Not enumerated.
  }
  if (operation.hasRelu)
    reluElements(result, count, result);
}
