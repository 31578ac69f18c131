//===- Sample.h - Evaluates rules at random shapes --------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SAMPLE_H
#define ESPALIER_LIB_SUBSTITUTION_SAMPLE_H

#include "NormalForm.h"
#include "Typing.h"
#include "espalier/Interpreter/Tensor.h"
#include "espalier/Substitution/RuleTensors.h"
#include <random>

namespace espalier::substitution {

/// Draws shapes within a typing, and evaluates rules there.
class Sampler {
public:
  Sampler(const Instances &instances, const Sizes &sizes,
          mlir::Type elementType, uint64_t seed)
      : instances(instances), sizes(sizes), elementType(elementType),
        random(seed) {}

  /// Values of all parameters, extents that can be chosen from `least` up to
  /// `limit`; nothing if none was found.
  std::optional<std::vector<int64_t>> drawSizes(int64_t limit,
                                                int64_t least = 1);
  /// Evaluates both sides at up to `count` shapes with extents up to `limit`.
  /// The first certain difference in words, or an empty string. Inputs at which
  /// `src` is not defined show none.
  std::string findDifference(unsigned count, Budget &budget, int64_t limit = 8);
  /// Draws shapes that fit `src` alone, and says which fulfil the guard but do
  /// not fit both sides; empty if there are none, or if constants of `dst`
  /// leave a choice.
  std::string findMisfit(const Sizes &src, const Guard &guard,
                         const RuleTensors &uses, unsigned count);
  /// The shapes of the variables and constants of `src`.
  std::string describe(const std::vector<int64_t> &values) const;

private:
  std::optional<std::vector<int64_t>> tryToDraw(int64_t limit, int64_t least);
  std::optional<std::vector<interpreter::Tensor>>
  evaluate(const std::vector<int64_t> &values, bool isFractional,
           Budget &budget);
  std::string compare(const std::vector<interpreter::Tensor> &tensors,
                      const std::vector<int64_t> &values, Budget &budget) const;
  /// The difference in words, if there is certainly one at an element.
  std::string confirm(llvm::ArrayRef<interpreter::Tensor> tensors,
                      unsigned output, int64_t position,
                      const std::vector<int64_t> &values, Budget &budget) const;
  /// Appends what follows from the values of the parameters of `src`; false if
  /// a divisor is 0.
  bool addDefined(std::vector<int64_t> &values) const;
  /// Whether values of all parameters satisfy all facts.
  bool fits(const std::vector<int64_t> &values) const;
  int64_t pickExtent(const std::vector<int64_t> &values, Var number,
                     int64_t least, int64_t limit);
  int64_t pick(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % (most - least + 1));
  }

  const Instances &instances;
  const Sizes &sizes;
  mlir::Type elementType; ///< f64.
  std::mt19937_64 random;
};

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SAMPLE_H
