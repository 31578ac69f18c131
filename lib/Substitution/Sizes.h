//===- Sizes.h - Symbolic extents -------------------------------*- C++ -*-===//
//
// Translates extents into linear forms over parameters. What is not linear
// becomes a parameter of its own, about which is known what can be said
// linearly; some of it needs a distinction of cases.
//
// With P = v * x and sizes of at least 1:
//   v == 1 and P == x, or v >= 2 and P >= 2 x and P >= v.
// Products with one factor in common are congruent: v * x + v * y = v * (x +
// y).
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SIZES_H
#define ESPALIER_LIB_SUBSTITUTION_SIZES_H

#include "ConstraintStore.h"
#include "espalier/Definition/Expr.h"
#include "espalier/Substitution/Guard.h"
#include <vector>

namespace espalier::substitution {

/// What a parameter stands for.
struct SizeInfo {
  enum class Kind {
    Extent,   ///< A dimension of a variable or of a constant.
    Floor,    ///< floor(a / b), with b a number.
    Quotient, ///< floor(a / b).
    Product,  ///< a * b.
    Max,      ///< max(a, b).
  } kind = Kind::Extent;
  Linear a, b;
  SizeTerm term;         ///< Of an `Extent`: which.
  bool isChosen = false; ///< An extent of a constant.
};

class Sizes {
public:
  explicit Sizes(const Integers &integers) : facts(integers) {}

  /// A new parameter that is at least 1.
  Var addExtent(const SizeTerm &term, bool isChosen);
  /// A result of an operation on forms; nothing if it is not supported.
  std::optional<Linear> apply(definition::ScalarFn fn, Linear lhs, Linear rhs);
  Linear getQuotient(Linear lhs, Linear rhs);
  Linear getProduct(Linear lhs, Linear rhs);
  Linear getMax(Linear lhs, Linear rhs);
  Linear getFloor(Linear lhs, int64_t divisor);

  /// Draws conclusions from products and quotients.
  void close();
  /// The possible cases: copies with one alternative of each distinction
  /// added. Nothing if there are too many.
  std::optional<std::vector<Sizes>> getCases() const;

  const SizeInfo &operator[](Var var) const { return infos[var]; }
  unsigned size() const { return infos.size(); }

  ConstraintStore facts;

private:
  Var add(SizeInfo info);
  /// `value` / `factor`, if it is a sum of multiples of known products.
  std::optional<Linear> divideExactly(const Linear &value,
                                      const Linear &factor) const;
  /// The same of a known product less such a sum.
  std::optional<Linear> divideDifference(const Linear &value,
                                         const Linear &factor) const;
  /// The factors that make the product `value`, first ones and others.
  llvm::SmallVector<std::pair<Linear, Linear>>
  getFactors(const Linear &value) const;

  std::vector<SizeInfo> infos;
  /// Distinctions that are still to be made: one of each must hold.
  std::vector<llvm::SmallVector<Constraints, 2>> alternatives;
};

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SIZES_H
