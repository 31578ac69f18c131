//===- Rearrange.cpp - Ways to batch the nodes of structures --------------===//
//
// Nodes are numbered by height; here, those with children change places.
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "Linearizer.h"
#include <string.h>

using namespace espalier::runtime;

/// Writes to `level` of each interior node the last level in which none of its
/// parents is, and returns the number of levels, which stays the same: the
/// nodes of a longest path cannot move.
static int64_t delay(const espalier_linearization &out, int32_t *level) {
  int64_t numInterior = out.num_nodes - out.num_leaves;
  for (int64_t row = 0; row < numInterior; ++row)
    level[row] = (int32_t)out.num_levels - 1;
  for (int64_t row = numInterior; row-- > 0;)
    for (int32_t k = 0; k < out.arity[out.num_leaves + row]; ++k) {
      int64_t child = out.children[row * out.columns + k] - out.num_leaves;
      if (child >= 0 && level[child] >= level[row])
        level[child] = level[row] - 1;
    }
  return out.num_levels;
}

/// Makes each interior node a level of its own, which comes after those of all
/// nodes below it. `stack` has room for two numbers of each.
static int64_t visitInPostOrder(const espalier_linearization &out,
                                int32_t *level, int32_t *stack) {
  int64_t numInterior = out.num_nodes - out.num_leaves;
  int32_t *next = stack + numInterior, count = 0;
  for (int64_t row = 0; row < numInterior; ++row)
    level[row] = next[row] = -1;
  for (int64_t i = 0; i < out.num_roots; ++i) {
    int64_t root = out.roots[i] - out.num_leaves, size = 0;
    if (root >= 0)
      stack[size++] = (int32_t)root;
    while (size > 0) {
      int32_t row = stack[size - 1];
      if (++next[row] == out.arity[out.num_leaves + row]) {
        level[row] = count++;
        --size;
        continue;
      }
      int64_t child =
          out.children[row * out.columns + next[row]] - out.num_leaves;
      // A child that is shared may have been visited; one on the stack would
      // be a cycle.
      if (child >= 0 && level[child] < 0)
        stack[size++] = (int32_t)child;
    }
  }
  return numInterior;
}

/// Sorts interior nodes by `level`. The heights and numbers of nodes are free
/// then; `scratch` has room for the rows of children.
static void renumber(espalier_linearizer &memory, espalier_linearization &out,
                     const int32_t *level, int64_t numLevels) {
  int64_t numLeaves = out.num_leaves, numInterior = out.num_nodes - numLeaves;
  int64_t columns = out.columns;
  int32_t *next = memory.levels.data, *number = memory.number.data;
  memset(next, 0, (numLevels + 1) * sizeof(int32_t));
  for (int64_t row = 0; row < numInterior; ++row)
    ++next[level[row] + 1];
  for (int64_t i = 1; i <= numLevels; ++i)
    next[i] += next[i - 1];
  for (int64_t row = 0; row < numInterior; ++row)
    number[row] = next[level[row]]++;
  memmove(next + 1, next, numLevels * sizeof(int32_t));
  next[0] = 0;

  int32_t *saved = memory.height.data;
  int32_t *perNode[] = {memory.arity.data, memory.order.data,
                        out.words ? memory.words.data : nullptr};
  for (int32_t *values : perNode) {
    if (!values)
      continue;
    memcpy(saved, values + numLeaves, numInterior * sizeof(int32_t));
    for (int64_t row = 0; row < numInterior; ++row)
      values[numLeaves + number[row]] = saved[row];
  }
  int32_t *rows = memory.scratch.data;
  memcpy(rows, memory.children.data, numInterior * columns * sizeof(int32_t));
  for (int64_t row = 0; row < numInterior; ++row)
    for (int64_t k = 0; k < columns; ++k) {
      int64_t child = rows[row * columns + k] - numLeaves;
      memory.children.data[number[row] * columns + k] =
          (int32_t)numLeaves + (int32_t)(child < 0 ? child : number[child]);
    }
  for (int64_t i = 0; i < out.num_roots; ++i)
    if (int64_t row = memory.roots.data[i] - numLeaves; row >= 0)
      memory.roots.data[i] = (int32_t)numLeaves + number[row];
  out.num_levels = numLevels;
}

ESPALIER_MERGED bool espalier::runtime::rearrange(espalier_linearizer &memory,
                                                  int32_t batching,
                                                  espalier_linearization &out) {
  int64_t numInterior = out.num_nodes - out.num_leaves;
  int64_t numEntries = numInterior * (out.columns > 2 ? out.columns : 2);
  if (!reserve(memory.scratch, numEntries) ||
      !reserve(memory.levels, numInterior + 1))
    return false;
  out.levels = memory.levels.data;
  int32_t *level = memory.count.data;
  int64_t numLevels = batching == ESPALIER_LATEST
                          ? delay(out, level)
                          : visitInPostOrder(out, level, memory.scratch.data);
  renumber(memory, out, level, numLevels);
  return true;
}
