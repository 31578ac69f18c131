//===- Linearize.cpp - Numbering of trees and DAGs ------------------------===//
//
// A node's height is 0 for a leaf, else one more than the greatest of its
// children. Numbers count heights upwards, and nodes of equal height in the
// caller's order. Heights follow from the sweep that checks the nodes, where
// children stand on one side of their parents, as in most data; otherwise nodes
// are taken away one by one, which finds cycles as well.
// Other ways to batch are permutations of what this gives (Rearrange.cpp).
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "Linearizer.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace espalier::runtime;

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
  espalier_status failWithoutMemory() {
    return fail(ESPALIER_OUT_OF_MEMORY, "expects memory, but got none");
  }

  espalier_status checkArguments();
  espalier_status checkRows();
  espalier_status readTable();
  espalier_status readRow(int64_t node, int64_t first, int64_t end);
  espalier_status readParents();
  /// Checks how many children a node has.
  espalier_status checkArity(int64_t node, int64_t count) {
    columns = count > columns ? count : columns;
    bool isRight = (!in.arity || !count || count == in.arity) &&
                   (in.kind != ESPALIER_SEQUENCE || count <= 1);
    return isRight ? ESPALIER_OK : failAtArity(node, count);
  }
  espalier_status failAtArity(int64_t node, int64_t count);
  espalier_status computeHeightsOfTable(int64_t structure);
  espalier_status computeHeightsOfParents(int64_t structure);
  espalier_status failAtCycle(int64_t structure);
  espalier_status collectRoots();
  espalier_status assignNumbers();
  espalier_status assignWord(int64_t node, int32_t place);
  espalier_status reserveChildren();
  void fillFromTable();
  void fillFromParents();

  /// The children of a node, and how many entries they have at most.
  const int32_t *getRow(int64_t node) const {
    return in.children + (in.rows ? in.rows[node] : node * in.columns);
  }
  int64_t getWidth(int64_t node) const {
    return in.rows ? in.rows[node + 1] - in.rows[node] : in.columns;
  }
  /// Expects children after their parents if the first node has any.
  void beginSweep(bool hasChildren) {
    isDescending = hasChildren;
    isSwept = true;
  }
  /// Whether children stand on the expected side of their parents, so far.
  bool isBefore(int64_t child, int64_t node) const {
    return isDescending ? child > node : child < node;
  }

  espalier_linearizer &memory;
  const espalier_structures &in;
  espalier_linearization &out;
  int64_t numNodes = 0, columns = 0;
  int32_t *counts = nullptr, *heights = nullptr;
  bool *hasParent = nullptr; ///< Bytes could be anything's, to a compiler.
  /// How nodes are swept, and whether their heights follow from that.
  bool isDescending = false, isSwept = true;
};

} // namespace

ESPALIER_MERGED bool espalier::runtime::reserve(Buffer &buffer, int64_t size) {
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

static constexpr char kCycle[] =
    "structure #%lld, node %lld: expects nodes that are "
    "not below themselves, but got a cycle";

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
  if (in.batching < ESPALIER_SOONEST || in.batching > ESPALIER_POST_ORDER)
    return fail(ESPALIER_INVALID_ARGUMENT,
                "expects a way to batch nodes, but got %d", in.batching);
  if (in.arity < 0 || in.columns < 0)
    return fail(ESPALIER_INVALID_ARGUMENT,
                "expects no negative numbers of children, but got %lld",
                (long long)(in.arity < 0 ? in.arity : in.columns));
  if (in.rows && !in.children)
    return fail(ESPALIER_INVALID_ARGUMENT,
                "expects rows of children, but got those of none");
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

espalier_status Linearizer::failAtArity(int64_t node, int64_t count) {
  if (!in.arity || !count || count == in.arity)
    return failAt(node, "at most one child in a sequence", count);
  return failAt(node,
                in.arity == 1   ? "0 or 1 children"
                : in.arity == 2 ? "0 or 2 children"
                                : "no children, or as many as the arity",
                count);
}

/// Checks the children of one node of the structure from `first` to `end`, and
/// sets its height, which is right if all children come before it.
espalier_status Linearizer::readRow(int64_t node, int64_t first, int64_t end) {
  const int32_t *children = getRow(node);
  int64_t width = getWidth(node);
  int32_t height = 0;
  int64_t count = 0;
  for (; count < width && children[count] >= 0; ++count) {
    int64_t child = first + children[count];
    if (child >= end)
      return failAt(node, "a child out of the structure's nodes",
                    children[count]);
    if (hasParent[child] && in.kind != ESPALIER_DAG)
      return failAt(child, "one parent in a tree", 2);
    hasParent[child] = true;
    if (!isBefore(child, node))
      isSwept = false;
    else if (heights[child] >= height)
      height = heights[child] + 1;
  }
  if (in.rows && count < width)
    return failAt(node, "children that are not negative", children[count]);
  for (int64_t rest = count; rest < width; ++rest)
    if (children[rest] >= 0)
      return failAt(node, "no child after a negative number", children[rest]);
  counts[node] = (int32_t)count;
  heights[node] = height;
  return checkArity(node, count);
}

/// Checks where rows of children begin.
espalier_status Linearizer::checkRows() {
  if (in.rows[0] != 0)
    return failAt(0, "rows of children that begin at 0", in.rows[0]);
  for (int64_t node = 0; node < numNodes; ++node)
    if (in.rows[node + 1] < in.rows[node] ||
        in.rows[node + 1] - in.rows[node] > INT32_MAX / 2)
      return failAt(node, "children that end where they begin, or later",
                    in.rows[node + 1]);
  return ESPALIER_OK;
}

espalier_status Linearizer::readTable() {
  espalier_status status = in.rows ? checkRows() : ESPALIER_OK;
  for (int64_t i = 0; i < in.num_structures && !status; ++i) {
    int64_t first = in.starts[i], end = in.starts[i + 1];
    beginSweep(getWidth(first) > 0 && getRow(first)[0] >= 0);
    for (int64_t step = 0, size = end - first; step < size && !status; ++step)
      status =
          readRow(isDescending ? end - 1 - step : first + step, first, end);
    if (!isSwept && !status)
      status = computeHeightsOfTable(i);
  }
  return status;
}

/// Counts children, and has each node raise its parent's height.
espalier_status Linearizer::readParents() {
  memset(counts, 0, numNodes * sizeof(int32_t));
  memset(heights, 0, numNodes * sizeof(int32_t));
  for (int64_t i = 0; i < in.num_structures; ++i) {
    int64_t first = in.starts[i], size = in.starts[i + 1] - first;
    beginSweep(in.parents[first] < 0);
    for (int64_t step = 0; step < size; ++step) {
      int64_t node = isDescending ? first + size - 1 - step : first + step;
      if (in.parents[node] < 0)
        continue;
      if (in.parents[node] >= size)
        return failAt(node, "a parent out of the structure's nodes",
                      in.parents[node]);
      int64_t parent = first + in.parents[node];
      hasParent[node] = true;
      ++counts[parent];
      isSwept &= isBefore(node, parent);
      if (heights[node] >= heights[parent])
        heights[parent] = heights[node] + 1;
    }
    if (!isSwept)
      if (espalier_status status = computeHeightsOfParents(i))
        return status;
  }
  for (int64_t node = 0; node < numNodes; ++node)
    if (espalier_status status = checkArity(node, counts[node]))
      return status;
  return ESPALIER_OK;
}

/// Takes nodes away whose parents are away, the roots first; then the heights
/// follow in the opposite order.
espalier_status Linearizer::computeHeightsOfTable(int64_t structure) {
  int64_t first = in.starts[structure], end = in.starts[structure + 1];
  if (!reserve(memory.queue, end))
    return failWithoutMemory();
  int32_t *queue = memory.queue.data;
  // The heights count the parents that are still there, first.
  memset(heights + first, 0, (end - first) * sizeof(int32_t));
  for (int64_t node = first; node < end; ++node)
    for (int32_t k = 0; k < counts[node]; ++k)
      ++heights[first + getRow(node)[k]];
  int64_t size = 0;
  for (int64_t node = first; node < end; ++node)
    if (heights[node] == 0)
      queue[size++] = (int32_t)node;
  for (int64_t begin = 0; begin < size; ++begin) {
    const int32_t *children = getRow(queue[begin]);
    for (int32_t k = 0; k < counts[queue[begin]]; ++k)
      if (--heights[first + children[k]] == 0)
        queue[size++] = (int32_t)(first + children[k]);
  }
  if (size != end - first)
    return failAtCycle(structure);
  while (size-- > 0) {
    const int32_t *children = getRow(queue[size]);
    int32_t height = 0;
    for (int32_t k = 0; k < counts[queue[size]]; ++k)
      if (heights[first + children[k]] >= height)
        height = heights[first + children[k]] + 1;
    heights[queue[size]] = height;
  }
  return ESPALIER_OK;
}

/// Takes nodes away whose children are away, the leaves first. What is left is
/// cycles, since a node of a cycle has no other parent.
espalier_status Linearizer::computeHeightsOfParents(int64_t structure) {
  int64_t first = in.starts[structure], end = in.starts[structure + 1];
  if (!reserve(memory.queue, end) || !reserve(memory.scratch, end))
    return failWithoutMemory();
  int32_t *queue = memory.queue.data, *left = memory.scratch.data;
  memcpy(left + first, counts + first, (end - first) * sizeof(int32_t));
  memset(heights + first, 0, (end - first) * sizeof(int32_t));
  int64_t size = 0;
  for (int64_t node = first; node < end; ++node)
    if (left[node] == 0)
      queue[size++] = (int32_t)node;
  for (int64_t begin = 0; begin < size; ++begin) {
    int32_t node = queue[begin];
    if (in.parents[node] < 0)
      continue;
    int64_t parent = first + in.parents[node];
    if (heights[node] >= heights[parent])
      heights[parent] = heights[node] + 1;
    if (--left[parent] == 0)
      queue[size++] = (int32_t)parent;
  }
  for (int64_t node = first; size != end - first; ++node)
    if (left[node] > 0)
      return fail(ESPALIER_INVALID_ARGUMENT, kCycle, (long long)structure,
                  (long long)(node - first));
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
    for (int32_t k = 0; k < counts[i]; ++k)
      parent[first + getRow(i)[k]] = (int32_t)i;
  }
  for (int64_t step = first; step < end; ++step)
    node = parent[node];
  return fail(ESPALIER_INVALID_ARGUMENT, kCycle, (long long)structure,
              (long long)(node - first));
}

espalier_status Linearizer::collectRoots() {
  int64_t count = 0;
  for (int64_t i = 0; i < in.num_structures; ++i) {
    int64_t before = count;
    for (int64_t node = in.starts[i]; node < in.starts[i + 1]; ++node)
      if (!hasParent[node])
        memory.roots.data[count++] = memory.number.data[node];
    if (in.kind != ESPALIER_DAG && count - before != 1)
      return fail(ESPALIER_INVALID_ARGUMENT,
                  "structure #%lld: expects one root, but got %lld",
                  (long long)i, (long long)(count - before));
  }
  out.num_roots = count;
  out.roots = memory.roots.data;
  return ESPALIER_OK;
}

/// Checks the word of a node, and puts it where the node is.
espalier_status Linearizer::assignWord(int64_t node, int32_t place) {
  int64_t words = heights[node] ? in.interior_vocabulary : in.leaf_vocabulary;
  if (words && (in.words[node] < 0 || in.words[node] >= words))
    return failAt(node, "a word of the vocabulary", in.words[node]);
  memory.words.data[place] = in.words[node];
  return ESPALIER_OK;
}

/// Sorts nodes by height.
espalier_status Linearizer::assignNumbers() {
  int32_t maxHeight = 0;
  for (int64_t node = 0; node < numNodes; ++node)
    maxHeight = heights[node] > maxHeight ? heights[node] : maxHeight;
  int64_t numHeights = (int64_t)maxHeight + 1;
  if (!reserve(memory.levels, numHeights + 1) ||
      (in.words && !reserve(memory.words, numNodes)))
    return failWithoutMemory();
  int32_t *next = memory.levels.data;
  memset(next, 0, (numHeights + 1) * sizeof(int32_t));
  for (int64_t node = 0; node < numNodes; ++node)
    ++next[heights[node] + 1];
  for (int64_t height = 1; height <= numHeights; ++height)
    next[height] += next[height - 1];
  int32_t numLeaves = next[1];
  int32_t *order = memory.order.data, *number = memory.number.data;
  int32_t *arity = memory.arity.data;
  for (int64_t node = 0; node < numNodes; ++node) {
    int32_t place = next[heights[node]]++;
    number[node] = place;
    order[place] = (int32_t)node;
    arity[place] = counts[node];
    if (in.words)
      if (espalier_status status = assignWord(node, place))
        return status;
  }
  // Entry h is now the end of height h.
  for (int64_t height = 0; height < numHeights; ++height)
    next[height] -= numLeaves;
  out.num_nodes = numNodes;
  out.num_leaves = numLeaves;
  out.num_levels = maxHeight;
  out.levels = next;
  out.order = order;
  out.arity = arity;
  out.words = in.words ? memory.words.data : nullptr;
  return ESPALIER_OK;
}

espalier_status Linearizer::reserveChildren() {
  if (in.arity)
    columns = in.arity;
  int64_t numEntries;
  if (__builtin_mul_overflow(numNodes - out.num_leaves, columns, &numEntries) ||
      numEntries > INT64_MAX / 16 || !reserve(memory.children, numEntries))
    return fail(ESPALIER_OUT_OF_MEMORY,
                "expects memory for %lld rows of %lld children, but got none",
                (long long)(numNodes - out.num_leaves), (long long)columns);
  out.children = memory.children.data;
  out.columns = columns;
  return ESPALIER_OK;
}

void Linearizer::fillFromTable() {
  const int32_t *number = memory.number.data;
  for (int64_t i = 0; i < in.num_structures; ++i) {
    const int32_t *ofStructure = number + in.starts[i];
    for (int64_t node = in.starts[i]; node < in.starts[i + 1]; ++node) {
      int32_t count = counts[node];
      if (count == 0)
        continue;
      const int32_t *from = getRow(node);
      int32_t *to =
          memory.children.data + (number[node] - out.num_leaves) * columns;
      for (int32_t k = 0; k < count; ++k)
        to[k] = ofStructure[from[k]];
      for (int64_t k = count; k < columns; ++k)
        to[k] = 0;
    }
  }
}

/// Has each node enter itself into its parent's row; the counts are free then.
void Linearizer::fillFromParents() {
  const int32_t *number = memory.number.data;
  if (!in.arity)
    memset(memory.children.data, 0,
           (numNodes - out.num_leaves) * columns * sizeof(int32_t));
  memset(counts, 0, numNodes * sizeof(int32_t));
  for (int64_t i = 0; i < in.num_structures; ++i)
    for (int64_t node = in.starts[i]; node < in.starts[i + 1]; ++node)
      if (in.parents[node] >= 0) {
        int64_t parent = in.starts[i] + in.parents[node];
        int64_t row = number[parent] - out.num_leaves;
        memory.children.data[row * columns + counts[parent]++] = number[node];
      }
}

espalier_status Linearizer::run() {
  memory.message[0] = '\0';
  out = {};
  if (espalier_status status = checkArguments())
    return status;
  bool isReserved = true;
  Buffer *const buffers[] = {&memory.height, &memory.hasParent, &memory.count,
                             &memory.arity,  &memory.order,     &memory.number,
                             &memory.roots};
  for (Buffer *buffer : buffers)
    isReserved &= reserve(*buffer, numNodes);
  if (!isReserved)
    return failWithoutMemory();
  heights = memory.height.data;
  counts = memory.count.data;
  hasParent = (bool *)memory.hasParent.data;
  memset(hasParent, 0, numNodes);
  espalier_status status = in.children ? readTable() : readParents();
  if (!status)
    status = assignNumbers();
  if (!status)
    status = collectRoots();
  if (!status)
    status = reserveChildren();
  if (status)
    return status;
  in.children ? fillFromTable() : fillFromParents();
  if (in.batching != ESPALIER_SOONEST && !rearrange(memory, in.batching, out))
    return failWithoutMemory();
  return ESPALIER_OK;
}

ESPALIER_MERGED espalier_linearizer *espalier_linearizer_create(void) {
  return (espalier_linearizer *)calloc(1, sizeof(espalier_linearizer));
}

ESPALIER_MERGED void
espalier_linearizer_destroy(espalier_linearizer *linearizer) {
  if (!linearizer)
    return;
  espalier_linearizer &m = *linearizer;
  Buffer *const buffers[] = {&m.height, &m.hasParent, &m.queue,  &m.count,
                             &m.arity,  &m.children,  &m.levels, &m.roots,
                             &m.order,  &m.number,    &m.words,  &m.scratch};
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
