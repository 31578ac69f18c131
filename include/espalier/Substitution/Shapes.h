//===- Shapes.h - The shapes of all tensors of a rule -----------*- C++ -*-===//
//
// Whoever applies a rule knows the shapes of its variables. What shapes the
// other tensors then have, constants and splits of `dst` among them, and
// whether the rule is for these shapes at all, follows from the same typing
// that the proof is about.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_SHAPES_H
#define ESPALIER_SUBSTITUTION_SHAPES_H

#include "espalier/Substitution/Guard.h"
#include "espalier/Substitution/RuleTensors.h"
#include <memory>

namespace espalier::substitution {

using Shape = llvm::SmallVector<int64_t, 4>;

/// The tensors of a rule, in the order of `listTensors`.
struct RuleShapes {
  std::vector<Shape> shapes;
  /// Of each `split`: where it cuts its operand.
  std::vector<std::optional<int64_t>> cuts;
};

/// Rules that leave the rank of a tensor open are proved at ranks up to this
/// one.
constexpr unsigned kMaxOpenRank = 4;

/// Whether a rule leaves the rank of a tensor open.
bool hasOpenRank(const Rule &rule);

/// Finds the shapes at which rules are applied. To be used by one thread at a
/// time.
class ShapeSolver {
public:
  ShapeSolver();
  ~ShapeSolver();

  /// Takes a rule and the condition under which it was proved; returns its
  /// number.
  unsigned add(const Rule &rule, const Guard &guard);

  /// The shapes of all tensors of a rule, given those of its variables and of
  /// the constants of `src` by number of use. Nothing, and a reason, if the
  /// rule is not for these. Where constants of `dst` have a choice, one is
  /// made.
  std::optional<RuleShapes>
  solve(unsigned rule,
        llvm::function_ref<std::optional<Shape>(unsigned use)> known,
        std::string &why);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_SHAPES_H
