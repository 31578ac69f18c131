//===- Linearize.cpp - Numbering of trees and DAGs ------------------------===//
//
// A node's height is 0 for a leaf, else one more than the greatest of its
// children. Numbers count heights upwards, and nodes of equal height in the
// caller's order. Heights follow from one sweep where children stand on one
// side of their parents, as in most data; otherwise nodes are taken away from
// the roots first, which finds cycles as well.
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "espalier-c/Structures.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

namespace {
/// Memory that grows and is kept.
struct Buffer {
  int32_t *data;
  size_t capacity;
};
} // namespace

struct espalier_linearizer {
  Buffer rows, edges, height, parents, queue, arity, children, levels, roots,
      order, number, words;
  char message[256];
};

namespace {

class Linearizer {
public:
  Linearizer(espalier_linearizer &memory, const espalier_structures &in,
             espalier_linearization &out)
      : memory(memory), in(in), out(out) {}

  espalier_status run();

private:
  espalier_status fail(espalier_status status, const char *format, ...)
      __attribute__((format(printf, 3, 4)));
  /// Reports a rule that node `node` breaks.
  espalier_status failAt(int64_t node, const char *rule, int64_t value);
  /// Makes room for `size` numbers; false if there is no memory.
  static bool reserve(Buffer &buffer, int64_t size);

  espalier_status checkArguments();
  espalier_status checkTable();
  espalier_status makeTable();
  espalier_status checkRow(int64_t node, int64_t first, int64_t end);
  espalier_status checkArity(int64_t node, int64_t count);
  espalier_status computeHeights();
  espalier_status computeHeightsFromRoots();
  espalier_status failAtCycle(int64_t structure);
  espalier_status collectRoots();
  espalier_status assignNumbers();
  void fillChildren();
  espalier_status permuteWords();

  const int32_t *getChildren(int64_t node) const {
    return rows ? edges + rows[node] : edges + node * in.columns;
  }
  /// Sets the height of a node whose children have theirs.
  void setHeight(int64_t node, int64_t first) {
    const int32_t *children = getChildren(node);
    int32_t height = 0;
    for (int32_t i = 0; i < arity[node]; ++i) {
      int32_t below = heights[first + children[i]];
      height = below >= height ? below + 1 : height;
    }
    heights[node] = height;
    maxHeight = height > maxHeight ? height : maxHeight;
  }

  espalier_linearizer &memory;
  const espalier_structures &in;
  espalier_linearization &out;
  int64_t numNodes = 0, columns = 0;
  /// Children of each node, counted from its structure's first one: rows of
  /// `in.columns` entries, or from `rows[node]` on.
  const int32_t *edges = nullptr, *rows = nullptr;
  int32_t *arity = nullptr, *heights = nullptr, *numParents = nullptr;
  int32_t maxHeight = 0;
  bool allBelow = true, allAbove = true; ///< Of children's numbers.
};

espalier_status Linearizer::fail(espalier_status status, const char *format,
                                 ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(memory.message, sizeof(memory.message), format, arguments);
  va_end(arguments);
  return status;
}

espalier_status Linearizer::failAt(int64_t node, const char *rule,
                                   int64_t value) {
  int64_t structure = 0;
  while (in.starts[structure + 1] <= node)
    ++structure;
  return fail(ESPALIER_INVALID_ARGUMENT,
              "structure #%lld, node %lld: expects %s, but got %lld",
              (long long)structure, (long long)(node - in.starts[structure]),
              rule, (long long)value);
}

bool Linearizer::reserve(Buffer &buffer, int64_t size) {
  // One more, since malloc(0) may return null.
  size_t needed = (size_t)size + 1;
  if (needed <= buffer.capacity)
    return true;
  size_t capacity = needed + needed / 2;
  auto *data = (int32_t *)realloc(buffer.data, capacity * sizeof(int32_t));
  if (!data)
    return false;
  buffer = {data, capacity};
  return true;
}

espalier_status Linearizer::checkArguments() {
  if (in.kind < ESPALIER_TREE || in.kind > ESPALIER_DAG)
    return fail(ESPALIER_INVALID_ARGUMENT,
                "expects a kind of structures, but got %d", in.kind);
  if (in.num_structures < 1 || !in.starts)
    return fail(ESPALIER_INVALID_ARGUMENT, "expects a structure, but got none");
  if (!in.children == !in.parents)
    return fail(ESPALIER_INVALID_ARGUMENT,
                "expects either children or parents, but got %s",
                in.children ? "both" : "none");
  if (in.parents && in.kind == ESPALIER_DAG)
    return fail(ESPALIER_INVALID_ARGUMENT,
                "expects children for a DAG, but got parents");
  if (in.arity < 0 || in.columns < 0)
    return fail(ESPALIER_INVALID_ARGUMENT,
                "expects no negative numbers of children, but got %lld",
                (long long)(in.arity < 0 ? in.arity : in.columns));
  if (in.starts[0] != 0)
    return fail(ESPALIER_INVALID_ARGUMENT,
                "expects structure #0 to begin at node 0, but got %lld",
                (long long)in.starts[0]);
  for (int64_t i = 0; i < in.num_structures; ++i)
    if (in.starts[i + 1] <= in.starts[i])
      return fail(ESPALIER_INVALID_ARGUMENT,
                  "structure #%lld: expects a node, but got none",
                  (long long)i);
  numNodes = in.starts[in.num_structures];
  if (numNodes > INT32_MAX / 2)
    return fail(ESPALIER_INVALID_ARGUMENT,
                "expects at most %d nodes, but got %lld", INT32_MAX / 2,
                (long long)numNodes);
  return ESPALIER_OK;
}

espalier_status Linearizer::checkArity(int64_t node, int64_t count) {
  if (in.arity && count && count != in.arity)
    return failAt(node,
                  in.arity == 1   ? "0 or 1 children"
                  : in.arity == 2 ? "0 or 2 children"
                                  : "no children, or as many as the arity",
                  count);
  if (in.kind == ESPALIER_SEQUENCE && count > 1)
    return failAt(node, "at most one child in a sequence", count);
  columns = count > columns ? count : columns;
  return ESPALIER_OK;
}

/// Checks the children of one node of the structure from `first` to `end`.
espalier_status Linearizer::checkRow(int64_t node, int64_t first, int64_t end) {
  const int32_t *children = edges + node * in.columns;
  int64_t count = 0;
  for (; count < in.columns && children[count] >= 0; ++count) {
    int64_t child = first + children[count];
    if (child >= end)
      return failAt(node, "a child out of the structure's nodes",
                    children[count]);
    allBelow &= child < node;
    allAbove &= child > node;
    if (++numParents[child] > 1 && in.kind != ESPALIER_DAG)
      return failAt(child, "one parent in a tree", 2);
  }
  for (int64_t rest = count; rest < in.columns; ++rest)
    if (children[rest] >= 0)
      return failAt(node, "no child after a negative number", children[rest]);
  arity[node] = (int32_t)count;
  return checkArity(node, count);
}

espalier_status Linearizer::checkTable() {
  edges = in.children;
  for (int64_t i = 0; i < in.num_structures; ++i)
    for (int64_t node = in.starts[i]; node < in.starts[i + 1]; ++node)
      if (espalier_status status =
              checkRow(node, in.starts[i], in.starts[i + 1]))
        return status;
  return ESPALIER_OK;
}

/// Makes rows of children from the parents.
espalier_status Linearizer::makeTable() {
  if (!reserve(memory.rows, numNodes + 1) || !reserve(memory.edges, numNodes))
    return fail(ESPALIER_OUT_OF_MEMORY, "expects memory, but got none");
  int32_t *starts = memory.rows.data;
  for (int64_t i = 0; i < in.num_structures; ++i) {
    int64_t first = in.starts[i], end = in.starts[i + 1];
    for (int64_t node = first; node < end; ++node) {
      int64_t parent = first + in.parents[node];
      if (in.parents[node] < 0)
        continue;
      if (parent >= end)
        return failAt(node, "a parent out of the structure's nodes",
                      in.parents[node]);
      allBelow &= node < parent;
      allAbove &= node > parent;
      numParents[node] = 1;
      ++arity[parent];
    }
  }
  int32_t sum = 0;
  for (int64_t node = 0; node < numNodes; ++node) {
    starts[node] = sum;
    sum += arity[node];
    if (espalier_status status = checkArity(node, arity[node]))
      return status;
    arity[node] = 0;
  }
  for (int64_t i = 0; i < in.num_structures; ++i)
    for (int64_t node = in.starts[i]; node < in.starts[i + 1]; ++node)
      if (in.parents[node] >= 0) {
        int64_t parent = in.starts[i] + in.parents[node];
        memory.edges.data[starts[parent] + arity[parent]++] =
            (int32_t)(node - in.starts[i]);
      }
  rows = starts;
  edges = memory.edges.data;
  return ESPALIER_OK;
}

espalier_status Linearizer::computeHeights() {
  if (!allBelow && !allAbove)
    return computeHeightsFromRoots();
  for (int64_t i = 0; i < in.num_structures; ++i) {
    int64_t first = in.starts[i], end = in.starts[i + 1];
    if (allBelow)
      for (int64_t node = first; node < end; ++node)
        setHeight(node, first);
    else
      for (int64_t node = end; node-- > first;)
        setHeight(node, first);
  }
  return ESPALIER_OK;
}

espalier_status Linearizer::computeHeightsFromRoots() {
  if (!reserve(memory.queue, numNodes))
    return fail(ESPALIER_OUT_OF_MEMORY, "expects memory, but got none");
  int32_t *queue = memory.queue.data;
  // The heights count the parents that are still there, first.
  memcpy(heights, numParents, numNodes * sizeof(int32_t));
  for (int64_t i = 0; i < in.num_structures; ++i) {
    int64_t first = in.starts[i], end = in.starts[i + 1];
    int64_t begin = 0, size = 0;
    for (int64_t node = first; node < end; ++node)
      if (heights[node] == 0)
        queue[size++] = (int32_t)node;
    for (; begin < size; ++begin) {
      const int32_t *children = getChildren(queue[begin]);
      for (int32_t k = 0; k < arity[queue[begin]]; ++k)
        if (--heights[first + children[k]] == 0)
          queue[size++] = (int32_t)(first + children[k]);
    }
    if (size != end - first)
      return failAtCycle(i);
    while (size-- > 0)
      setHeight(queue[size], first);
  }
  return ESPALIER_OK;
}

/// Names a node of a cycle. Nodes whose count is positive have a parent that is
/// such a node, too; so a walk upwards ends on a cycle.
espalier_status Linearizer::failAtCycle(int64_t structure) {
  int64_t first = in.starts[structure], end = in.starts[structure + 1];
  int32_t *parent = memory.queue.data;
  int64_t node = first;
  for (int64_t i = first; i < end; ++i) {
    if (heights[i] <= 0)
      continue;
    node = i;
    for (int32_t k = 0; k < arity[i]; ++k)
      parent[first + getChildren(i)[k]] = (int32_t)i;
  }
  for (int64_t step = first; step < end; ++step)
    node = parent[node];
  return fail(ESPALIER_INVALID_ARGUMENT,
              "structure #%lld, node %lld: expects nodes that are not below "
              "themselves, but got a cycle",
              (long long)structure, (long long)(node - first));
}

espalier_status Linearizer::collectRoots() {
  int64_t count = 0;
  for (int64_t i = 0; i < in.num_structures; ++i) {
    int64_t before = count;
    for (int64_t node = in.starts[i]; node < in.starts[i + 1]; ++node)
      if (numParents[node] == 0)
        memory.roots.data[count++] = memory.number.data[node];
    if (in.kind != ESPALIER_DAG && count - before != 1)
      return fail(ESPALIER_INVALID_ARGUMENT,
                  "structure #%lld: expects one root, but got %lld",
                  (long long)i, (long long)(count - before));
  }
  out.num_roots = count;
  return ESPALIER_OK;
}

/// Sorts nodes by height.
espalier_status Linearizer::assignNumbers() {
  int64_t numHeights = (int64_t)maxHeight + 1;
  if (!reserve(memory.levels, numHeights + 1))
    return fail(ESPALIER_OUT_OF_MEMORY, "expects memory, but got none");
  int32_t *next = memory.levels.data;
  memset(next, 0, (numHeights + 1) * sizeof(int32_t));
  for (int64_t node = 0; node < numNodes; ++node)
    ++next[heights[node] + 1];
  for (int64_t height = 1; height <= numHeights; ++height)
    next[height] += next[height - 1];
  int32_t numLeaves = next[1];
  int32_t *order = memory.order.data, *number = memory.number.data;
  for (int64_t node = 0; node < numNodes; ++node) {
    int32_t place = next[heights[node]]++;
    number[node] = place;
    order[place] = (int32_t)node;
  }
  // Entry h is now the end of height h.
  for (int64_t height = 0; height < numHeights; ++height)
    next[height] -= numLeaves;
  out.num_nodes = numNodes;
  out.num_leaves = numLeaves;
  out.num_levels = maxHeight;
  out.levels = next;
  out.order = order;
  return ESPALIER_OK;
}

/// Writes what is known of nodes under their new numbers. `heights` is free
/// then, and has the numbers of children.
void Linearizer::fillChildren() {
  int32_t *counts = heights, *children = memory.children.data;
  const int32_t *number = memory.number.data;
  for (int64_t i = 0; i < in.num_structures; ++i)
    for (int64_t node = in.starts[i]; node < in.starts[i + 1]; ++node) {
      int64_t row = number[node] - out.num_leaves;
      counts[number[node]] = arity[node];
      if (row < 0)
        continue;
      const int32_t *from = getChildren(node);
      int32_t *to = children + row * columns;
      for (int32_t k = 0; k < arity[node]; ++k)
        to[k] = number[in.starts[i] + from[k]];
      for (int64_t k = arity[node]; k < columns; ++k)
        to[k] = 0;
    }
  out.arity = counts;
  out.children = children;
  out.columns = columns;
  out.roots = memory.roots.data;
}

espalier_status Linearizer::permuteWords() {
  if (!in.words)
    return ESPALIER_OK;
  if (!reserve(memory.words, numNodes))
    return fail(ESPALIER_OUT_OF_MEMORY, "expects memory, but got none");
  for (int64_t node = 0; node < numNodes; ++node) {
    int32_t word = in.words[out.order[node]];
    if (word < 0 || word >= in.vocabulary)
      return failAt(out.order[node], "a word of the vocabulary", word);
    memory.words.data[node] = word;
  }
  out.words = memory.words.data;
  return ESPALIER_OK;
}

espalier_status Linearizer::run() {
  memory.message[0] = '\0';
  out = {};
  if (espalier_status status = checkArguments())
    return status;
  bool isReserved = true;
  Buffer *const buffers[] = {&memory.height, &memory.parents, &memory.arity,
                             &memory.order,  &memory.number,  &memory.roots};
  for (Buffer *buffer : buffers)
    isReserved &= reserve(*buffer, numNodes);
  if (!isReserved)
    return fail(ESPALIER_OUT_OF_MEMORY, "expects memory, but got none");
  heights = memory.height.data;
  numParents = memory.parents.data;
  arity = memory.arity.data;
  memset(numParents, 0, numNodes * sizeof(int32_t));
  memset(arity, 0, numNodes * sizeof(int32_t));
  if (espalier_status status = in.children ? checkTable() : makeTable())
    return status;
  if (in.arity)
    columns = in.arity;
  if (espalier_status status = computeHeights())
    return status;
  if (espalier_status status = assignNumbers())
    return status;
  if (espalier_status status = collectRoots())
    return status;
  int64_t numEntries;
  if (__builtin_mul_overflow(numNodes - out.num_leaves, columns, &numEntries) ||
      numEntries > INT64_MAX / 16 || !reserve(memory.children, numEntries))
    return fail(ESPALIER_OUT_OF_MEMORY,
                "expects memory for %lld rows of %lld children, but got none",
                (long long)(numNodes - out.num_leaves), (long long)columns);
  fillChildren();
  return permuteWords();
}

} // namespace

ESPALIER_MERGED espalier_linearizer *espalier_linearizer_create(void) {
  return (espalier_linearizer *)calloc(1, sizeof(espalier_linearizer));
}

ESPALIER_MERGED void
espalier_linearizer_destroy(espalier_linearizer *linearizer) {
  if (!linearizer)
    return;
  espalier_linearizer &m = *linearizer;
  Buffer *const buffers[] = {&m.rows,  &m.edges, &m.height,   &m.parents,
                             &m.queue, &m.arity, &m.children, &m.levels,
                             &m.roots, &m.order, &m.number,   &m.words};
  for (Buffer *buffer : buffers)
    free(buffer->data);
  free(linearizer);
}

ESPALIER_MERGED espalier_status espalier_linearize(
    espalier_linearizer *linearizer, const espalier_structures *structures,
    espalier_linearization *result) {
  if (!linearizer || !structures || !result)
    return ESPALIER_INVALID_ARGUMENT;
  return Linearizer(*linearizer, *structures, *result).run();
}

ESPALIER_MERGED const char *
espalier_linearizer_last_error(const espalier_linearizer *linearizer) {
  return linearizer ? linearizer->message : "";
}
