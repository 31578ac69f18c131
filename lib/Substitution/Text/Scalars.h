//===- Scalars.h - Which nodes of rules are scalars -------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_TEXT_SCALARS_H
#define ESPALIER_LIB_SUBSTITUTION_TEXT_SCALARS_H

#include "espalier/Substitution/Rule.h"

namespace espalier::substitution {

/// Whether a node is a scalar: a variable that is one, or a product of scalars.
inline bool isScalar(const RuleGraph &graph, NodeId id) {
  while (graph[id].has(kScalarProduct))
    id = graph[id].operands[0];
  return graph[id].kind == RuleNode::Kind::Scalar;
}

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_TEXT_SCALARS_H
