//===- RepeatsBody.h - Operations that compute a graph often ----*- C++ -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_REPEATSBODY_H
#define ESPALIER_DIALECT_GRAPH_IR_REPEATSBODY_H

#include "mlir/IR/OpDefinition.h"

namespace espalier::graph::OpTrait {

/// What the body of such an operation computes of values from above alone, it
/// computes once, and the rest very often. So the former costs next to nothing.
/// Constants in it are of one value for all elements.
template <typename ConcreteType>
class RepeatsBody : public mlir::OpTrait::TraitBase<ConcreteType, RepeatsBody> {
};

} // namespace espalier::graph::OpTrait

#endif // ESPALIER_DIALECT_GRAPH_IR_REPEATSBODY_H
