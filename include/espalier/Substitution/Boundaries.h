//===- Boundaries.h - Where splits cut --------------------------*- C++ -*-===//
//
// A `split` cuts where its operand was concatenated last. Which tensors keep
// such a boundary follows from the operators' definitions: it stays where an
// index of the result stands alone in an access. Positions are symbols for a
// proof, and numbers where a rule is applied.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_BOUNDARIES_H
#define ESPALIER_SUBSTITUTION_BOUNDARIES_H

#include "espalier/Substitution/Rule.h"
#include "llvm/ADT/STLExtras.h"
#include <memory>

namespace espalier::substitution {

/// Where concatenations have left a boundary along a dimension, the last one
/// first.
template <typename Position>
struct Boundary {
  Position position;
  std::shared_ptr<const Boundary> before, after;
};

/// One for each dimension; null if there is none.
template <typename Position>
using BoundaryList =
    llvm::SmallVector<std::shared_ptr<const Boundary<Position>>, 4>;

/// For each dimension of a result, the dimensions of operands that it runs
/// along: operand and dimension.
using Trace =
    llvm::SmallVector<llvm::SmallVector<std::pair<unsigned, unsigned>, 2>, 4>;

/// Traces of operators, which are made once.
class Traces {
public:
  Traces();
  ~Traces();

  /// With the rank of each operand and, at the end, of the result. Empty if the
  /// operator has no meaning at these.
  const Trace &get(const RuleNode &node, llvm::ArrayRef<unsigned> ranks);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// The boundaries of the result of `node`, given those of its operands and, of
/// a concatenation, their extents along its axis.
template <typename Position>
BoundaryList<Position>
followBoundaries(const RuleNode &node, const Trace &trace,
                 llvm::ArrayRef<const BoundaryList<Position> *> operands,
                 llvm::function_ref<Position(unsigned operand)> getExtent,
                 llvm::function_ref<Position(Position, Position)> add) {
  BoundaryList<Position> result(trace.size());
  for (auto [dim, sources] : llvm::enumerate(trace))
    for (auto [operand, from] : sources)
      if (!result[dim])
        result[dim] = (*operands[operand])[from];
  if (node.has(kJoin)) {
    unsigned axis = node.params[0].first;
    Position position = getExtent(0);
    result[axis] = (*operands[0])[axis];
    for (unsigned part = 1; part < operands.size(); ++part) {
      result[axis] = std::make_shared<Boundary<Position>>(
          Boundary<Position>{position, result[axis], (*operands[part])[axis]});
      position = add(position, getExtent(part));
    }
  }
  if (node.has(kCut)) {
    auto &boundary = result[node.params[0].first];
    if (auto cut = (*operands[0])[node.params[0].first])
      boundary = node.params[1].first == 0 ? cut->before : cut->after;
  }
  return result;
}

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_BOUNDARIES_H
