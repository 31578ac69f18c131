//===- Union.h - Unions that grow -------------------------------*- C++ -*-===//

#ifndef ESPALIER_POLYHEDRAL_UNION_H
#define ESPALIER_POLYHEDRAL_UNION_H

#include "espalier/Polyhedral/Set.h"

namespace espalier::polyhedral {

/// The union of the sets or relations that were added. One that could not be
/// computed makes it unknown, and unknown is not the same as nothing added.
template <typename T>
class Union {
public:
  void add(const T &part) {
    all = hasParts ? all.unite(part) : part;
    hasParts = true;
  }
  /// Whether nothing was added.
  bool isNothing() const { return !hasParts; }
  /// Null if nothing was added, or if it is unknown.
  const T &get() const { return all; }
  bool isUnknown() const { return hasParts && !all; }

private:
  T all;
  bool hasParts = false;
};

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_UNION_H
