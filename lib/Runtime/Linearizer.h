//===- Linearizer.h - The memory of a linearizer --------------*- C++ -*-===//

#ifndef ESPALIER_LIB_RUNTIME_LINEARIZER_H
#define ESPALIER_LIB_RUNTIME_LINEARIZER_H

#include "espalier-c/Structures.h"
#include <stddef.h>

namespace espalier::runtime {
/// Memory that grows and is kept.
struct Buffer {
  int32_t *data;
  size_t capacity;
};
} // namespace espalier::runtime

struct espalier_linearizer {
  espalier::runtime::Buffer height, hasParent, queue, count, arity, children,
      levels, roots, order, number, words, scratch;
  char message[256];
};

namespace espalier::runtime {

/// Makes room for `size` numbers; false if there is no memory.
bool reserve(Buffer &buffer, int64_t size);

/// Puts the nodes with children of `out`, which are sorted by height, into the
/// levels that `batching` asks for; false if there is no memory.
bool rearrange(espalier_linearizer &memory, int32_t batching,
               espalier_linearization &out);

} // namespace espalier::runtime

#endif // ESPALIER_LIB_RUNTIME_LINEARIZER_H
