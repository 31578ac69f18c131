//===- RuleTensors.h - The tensors that a rule's graphs make ----*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_RULETENSORS_H
#define ESPALIER_SUBSTITUTION_RULETENSORS_H

#include "espalier/Substitution/Rule.h"

namespace espalier::substitution {

/// A node of a rule as a tensor with a shape. The context decides the sizes of
/// a constant, so each use of one is a tensor of its own; any other node is
/// one.
struct RuleTensor {
  NodeId node = 0;
  /// Numbers of uses, smaller than this one's.
  llvm::SmallVector<unsigned, 2> operands;
  bool isInSrc = false;
  /// The variable (`?i0`), or the operator and which one of its kind
  /// (`conv2d#1`).
  std::string name;
};

/// All tensors of a rule: operands first, those of `src` before the others.
struct RuleTensors {
  std::vector<RuleTensor> list;
  unsigned numSrc = 0;
  /// The outputs.
  llvm::SmallVector<unsigned, 2> src, dst;

  /// The first use of this name.
  std::optional<unsigned> lookup(llvm::StringRef name) const;
};

/// Names are given in order of appearance, from 1, `src` before `dst`.
RuleTensors listTensors(const Rule &rule);

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_RULETENSORS_H
