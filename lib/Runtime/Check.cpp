//===- Check.cpp - Checks of the caller's tensors -------------------------===//

#include "Context.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace espalier::runtime;

namespace {
/// One tensor of the caller's beside its declaration.
struct Checked {
  espalier_context *ctx;
  /// "input" or "output".
  const char *kind;
  const espalier_tensor_info *info;
  const espalier_tensor *tensor;
};
} // namespace

/// Computes the bytes of a tensor; false if they exceed what can be addressed.
static bool getBytes(const espalier_tensor &tensor, int64_t *bytes) {
  // A zero extent makes any product zero, whatever the order of the factors.
  for (int32_t dim = 0; dim < tensor.rank; ++dim)
    if (tensor.extents[dim] == 0) {
      *bytes = 0;
      return true;
    }
  int64_t size = espalier_dtype_size(tensor.dtype);
  for (int32_t dim = 0; dim < tensor.rank; ++dim)
    if (__builtin_mul_overflow(size, tensor.extents[dim], &size))
      return false;
  *bytes = size;
  return true;
}

/// Writes "[2, n, 4]" for the declared extents of `info` into `text`, which it
/// returns.
static const char *printExtents(const espalier_tensor_info &info, char *text,
                                size_t size) {
  size_t used = 0;
  auto add = [&](const char *string) {
    int count = snprintf(text + used, size - used, "%s", string);
    used = used + count < size ? used + count : size - 1;
  };
  add("[");
  for (int32_t dim = 0; dim < info.rank; ++dim) {
    char number[24];
    snprintf(number, sizeof(number), "%lld", (long long)info.extents[dim]);
    const char *symbol = info.symbols ? info.symbols[dim] : nullptr;
    add(dim ? ", " : "");
    add(info.extents[dim] >= 0 ? number : symbol ? symbol : "?");
  }
  add("]");
  return text;
}

/// Checks type, rank, and each extent for itself.
static espalier_status checkShape(const Checked &c) {
  const espalier_tensor &tensor = *c.tensor;
  const espalier_tensor_info &info = *c.info;
  if (tensor.dtype != info.dtype)
    return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
                "%s '%s' expects elements of type %s, but got %s", c.kind,
                info.name, espalier_dtype_name(info.dtype),
                espalier_dtype_name(tensor.dtype));
  char declared[256];
  if (tensor.rank != info.rank)
    return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
                "%s '%s' expects rank %d with extents %s, but got rank %d",
                c.kind, info.name, info.rank,
                printExtents(info, declared, sizeof(declared)), tensor.rank);
  if (tensor.rank > 0 && !tensor.extents)
    return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
                "%s '%s' expects extents, but got a null pointer", c.kind,
                info.name);
  for (int32_t dim = 0; dim < tensor.rank; ++dim) {
    long long extent = tensor.extents[dim];
    if (extent < 0 || (info.extents[dim] >= 0 && extent != info.extents[dim]))
      return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
                  "%s '%s' expects extents %s, but got %lld in dimension %d",
                  c.kind, info.name,
                  printExtents(info, declared, sizeof(declared)), extent, dim);
  }
  int64_t bytes;
  if (!getBytes(tensor, &bytes))
    return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
                "%s '%s' expects fewer than 2^63 bytes, but got extents whose "
                "product is larger",
                c.kind, info.name);
  return ESPALIER_OK;
}

/// Checks the data pointer of a tensor whose shape is checked.
static espalier_status checkData(const Checked &c) {
  int64_t bytes;
  getBytes(*c.tensor, &bytes);
  uintptr_t address = (uintptr_t)c.tensor->data, end;
  if (bytes == 0)
    return ESPALIER_OK;
  if (!address)
    return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
                "%s '%s' expects %lld bytes of data, but got a null pointer",
                c.kind, c.info->name, (long long)bytes);
  size_t alignment = espalier_dtype_size(c.tensor->dtype);
  if (address % alignment != 0)
    return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
                "%s '%s' expects data at a multiple of %zu bytes, but got "
                "address %p",
                c.kind, c.info->name, alignment, c.tensor->data);
  if (__builtin_add_overflow(address, (uintptr_t)bytes, &end))
    return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
                "%s '%s' expects data inside the address space, but got %lld "
                "bytes at %p",
                c.kind, c.info->name, (long long)bytes, c.tensor->data);
  return ESPALIER_OK;
}

/// Checks that truth values are 0 or 1: compiled code relies on it.
static espalier_status checkTruthValues(const Checked &c) {
  if (c.tensor->dtype != ESPALIER_BOOL)
    return ESPALIER_OK;
  int64_t bytes;
  getBytes(*c.tensor, &bytes);
  const unsigned char *data = (const unsigned char *)c.tensor->data;
  unsigned char all = 0;
  for (int64_t i = 0; i < bytes; ++i)
    all |= data[i];
  if (all <= 1)
    return ESPALIER_OK;
  int64_t i = 0;
  while (data[i] <= 1)
    ++i;
  return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
              "%s '%s' expects truth values 0 and 1, but got %d in element "
              "%lld",
              c.kind, c.info->name, data[i], (long long)i);
}

/// Element `i` of an array of integers. Unsigned 64-bit numbers that int64 does
/// not have come out negative, which is out of any bound as well.
static int64_t readInteger(const espalier_tensor &tensor, int64_t i) {
  switch (tensor.dtype) {
#define READ_CASE(name, spelling, bytes, ctype)                                \
  case ESPALIER_##name:                                                        \
    return (int64_t)((const ctype *)tensor.data)[i];
    READ_CASE(I8, "", 1, int8_t)
    READ_CASE(U8, "", 1, uint8_t)
    READ_CASE(I16, "", 2, int16_t)
    READ_CASE(U16, "", 2, uint16_t)
    READ_CASE(I32, "", 4, int32_t)
    READ_CASE(U32, "", 4, uint32_t)
    READ_CASE(I64, "", 8, int64_t)
    READ_CASE(U64, "", 8, uint64_t)
    READ_CASE(BOOL, "", 1, uint8_t)
#undef READ_CASE
  default:
    return -1;
  }
}

/// The extent of that name; the shapes have been checked. -1 if there is none.
static int64_t findExtent(const espalier_program &program,
                          const espalier_tensor *inputs, const char *symbol) {
  for (int32_t i = 0; i < program.num_inputs; ++i) {
    const espalier_tensor_info &info = program.inputs[i];
    for (int32_t dim = 0; info.symbols && dim < info.rank; ++dim)
      if (info.symbols[dim] && strcmp(info.symbols[dim], symbol) == 0)
        return inputs[i].extents[dim];
  }
  return -1;
}

static int64_t countElements(const espalier_tensor &tensor) {
  int64_t bytes;
  getBytes(tensor, &bytes);
  return bytes / (int64_t)espalier_dtype_size(tensor.dtype);
}

/// Whether `a` is less than `b`, two values of `readInteger`.
static bool isLess(int32_t dtype, int64_t a, int64_t b) {
  return dtype == ESPALIER_U64 ? (uint64_t)a < (uint64_t)b : a < b;
}

/// Checks that no value is less than the one before it.
static espalier_status checkOrder(const Checked &c) {
  int64_t count = countElements(*c.tensor);
  bool areKnown = areKnownOrdered(*c.ctx->program, *c.tensor, count);
  for (int64_t i = 1; i < count && !areKnown; ++i) {
    int64_t before = readInteger(*c.tensor, i - 1);
    int64_t value = readInteger(*c.tensor, i);
    if (isLess(c.tensor->dtype, value, before))
      return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
                  "%s '%s' expects values that do not decrease, but got %lld "
                  "after %lld in element %lld",
                  c.kind, c.info->name, (long long)value, (long long)before,
                  (long long)i);
  }
  return ESPALIER_OK;
}

/// Checks that the values are from 0 to less than `bound`, and, if that is
/// asked for, that none occurs twice.
static espalier_status checkValues(const Checked &c, int64_t bound) {
  int64_t count = countElements(*c.tensor);
  bool areKnown = areKnownBelow(*c.ctx->program, *c.tensor, count, bound);
  for (int64_t i = 0; i < count && !areKnown; ++i) {
    int64_t value = readInteger(*c.tensor, i);
    if (value < 0 || value >= bound)
      return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
                  "%s '%s' expects values from 0 to less than %lld, but got "
                  "%lld in element %lld",
                  c.kind, c.info->name, (long long)bound, (long long)value,
                  (long long)i);
  }
  if (!(c.info->properties & ESPALIER_INJECTIVE) || count == 0)
    return ESPALIER_OK;
  auto *seen = (unsigned char *)calloc((size_t)(bound / 8 + 1), 1);
  if (!seen)
    return fail(c.ctx, ESPALIER_OUT_OF_MEMORY,
                "cannot check that the values of '%s' are different",
                c.info->name);
  int64_t i = 0;
  for (; i < count; ++i) {
    int64_t value = readInteger(*c.tensor, i);
    unsigned char bit = (unsigned char)(1u << (value % 8));
    if (seen[value / 8] & bit)
      break;
    seen[value / 8] |= bit;
  }
  free(seen);
  if (i == count)
    return ESPALIER_OK;
  return fail(c.ctx, ESPALIER_INVALID_ARGUMENT,
              "%s '%s' expects different values, but got %lld once more in "
              "element %lld",
              c.kind, c.info->name, (long long)readInteger(*c.tensor, i),
              (long long)i);
}

/// Checks what the program says of the values of its inputs.
static espalier_status checkAllValues(espalier_context *ctx,
                                      const espalier_tensor *inputs) {
  const espalier_program &program = *ctx->program;
  for (int32_t i = 0; i < program.num_inputs; ++i) {
    const espalier_tensor_info &info = program.inputs[i];
    Checked c = {ctx, "input", &info, &inputs[i]};
    espalier_status status = ESPALIER_OK;
    if (info.properties & ESPALIER_BOUNDED) {
      int64_t extent = info.bound_symbol
                           ? findExtent(program, inputs, info.bound_symbol)
                           : 0;
      status = checkValues(c, extent + info.bound);
    }
    if (!status && (info.properties & ESPALIER_MONOTONIC))
      status = checkOrder(c);
    if (status)
      return status;
  }
  return ESPALIER_OK;
}

/// Checks that extents with equal names are equal. Quadratic in the number of
/// named extents, of which there are few.
static espalier_status checkSymbols(espalier_context *ctx,
                                    const espalier_tensor *inputs) {
  const espalier_program &program = *ctx->program;
  for (int32_t i = 0; i < program.num_inputs; ++i) {
    const espalier_tensor_info &info = program.inputs[i];
    for (int32_t dim = 0; info.symbols && dim < info.rank; ++dim) {
      const char *symbol = info.symbols[dim];
      if (!symbol)
        continue;
      // The first extent of this name decides.
      for (int32_t j = 0; j <= i; ++j) {
        const espalier_tensor_info &other = program.inputs[j];
        bool found = false;
        for (int32_t k = 0; other.symbols && k < other.rank && !found; ++k) {
          if (!other.symbols[k] || strcmp(other.symbols[k], symbol) != 0)
            continue;
          found = true;
          if (inputs[j].extents[k] != inputs[i].extents[dim])
            return fail(ctx, ESPALIER_INVALID_ARGUMENT,
                        "input '%s' expects %s = %lld in dimension %d as in "
                        "input '%s', but got %lld",
                        info.name, symbol, (long long)inputs[j].extents[k], dim,
                        other.name, (long long)inputs[i].extents[dim]);
        }
        if (found)
          break;
      }
    }
  }
  return ESPALIER_OK;
}

ESPALIER_MERGED espalier_status espalier::runtime::checkInputs(
    espalier_context *ctx, const espalier_tensor *inputs, int32_t numInputs,
    bool withData) {
  const espalier_program &program = *ctx->program;
  if (numInputs != program.num_inputs)
    return fail(ctx, ESPALIER_INVALID_ARGUMENT,
                "program '%s' expects %d inputs, but got %d", program.name,
                program.num_inputs, numInputs);
  if (numInputs > 0 && !inputs)
    return fail(ctx, ESPALIER_INVALID_ARGUMENT,
                "program '%s' expects inputs, but got a null pointer",
                program.name);
  int64_t *next = ctx->extents;
  for (int32_t i = 0; i < numInputs; ++i) {
    Checked c = {ctx, "input", &program.inputs[i], &inputs[i]};
    espalier_status status = checkShape(c);
    if (!status && withData)
      status = checkData(c);
    if (!status && withData)
      status = checkTruthValues(c);
    if (status)
      return status;
    for (int32_t dim = 0; dim < inputs[i].rank; ++dim)
      *next++ = inputs[i].extents[dim];
  }
  if (espalier_status status = checkSymbols(ctx, inputs))
    return status;
  return withData ? checkAllValues(ctx, inputs) : ESPALIER_OK;
}

/// Whether the bytes of two checked tensors meet.
static bool overlap(const espalier_tensor &a, const espalier_tensor &b) {
  int64_t aBytes, bBytes;
  getBytes(a, &aBytes);
  getBytes(b, &bBytes);
  uintptr_t aBegin = (uintptr_t)a.data, bBegin = (uintptr_t)b.data;
  return aBytes > 0 && bBytes > 0 && aBegin < bBegin + bBytes &&
         bBegin < aBegin + aBytes;
}

static espalier_status failOverlap(espalier_context *ctx, int32_t output,
                                   const char *kind, const char *name) {
  return fail(ctx, ESPALIER_INVALID_ARGUMENT,
              "output '%s' expects memory of its own, but got memory that "
              "overlaps %s '%s'",
              ctx->program->outputs[output].name, kind, name);
}

ESPALIER_MERGED espalier_status espalier::runtime::checkOutputs(
    espalier_context *ctx, const espalier_tensor *inputs,
    const espalier_tensor *outputs, int32_t numOutputs) {
  const espalier_program &program = *ctx->program;
  if (numOutputs != program.num_outputs)
    return fail(ctx, ESPALIER_INVALID_ARGUMENT,
                "program '%s' expects %d outputs, but got %d", program.name,
                program.num_outputs, numOutputs);
  if (numOutputs > 0 && !outputs)
    return fail(ctx, ESPALIER_INVALID_ARGUMENT,
                "program '%s' expects outputs, but got a null pointer",
                program.name);
  const int64_t *planned = ctx->extents + ctx->numInputExtents;
  for (int32_t i = 0; i < numOutputs; ++i) {
    Checked c = {ctx, "output", &program.outputs[i], &outputs[i]};
    if (espalier_status status = checkShape(c))
      return status;
    for (int32_t dim = 0; dim < outputs[i].rank; ++dim, ++planned)
      if (outputs[i].extents[dim] != *planned)
        return fail(ctx, ESPALIER_INVALID_ARGUMENT,
                    "output '%s' expects extent %lld in dimension %d for these "
                    "inputs, but got %lld",
                    c.info->name, (long long)*planned, dim,
                    (long long)outputs[i].extents[dim]);
    if (espalier_status status = checkData(c))
      return status;
    for (int32_t j = 0; j < program.num_inputs; ++j)
      if (overlap(outputs[i], inputs[j]))
        return failOverlap(ctx, i, "input", program.inputs[j].name);
    for (int32_t j = 0; j < i; ++j)
      if (overlap(outputs[i], outputs[j]))
        return failOverlap(ctx, i, "output", program.outputs[j].name);
  }
  return ESPALIER_OK;
}
