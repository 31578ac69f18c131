//===- Boxes.h - Statements with boxes, inside of loops ---------*- C++ -*-===//
//
// Each statement has a box, which filters cut. A loop of a band runs over one
// digit of a dimension: (d mod modulus) floordiv divisor. If the box begins and
// ends at multiples of a divisor, or all of it is between two multiples, then
// the digits above and those below take their values independently of each
// other. So the loops over digits that together are the dimension visit each of
// its values once, in the order of the schedule.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_POLYHEDRAL_AST_BOXES_H
#define ESPALIER_LIB_POLYHEDRAL_AST_BOXES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/IntegerSet.h"
#include <limits>
#include <optional>

namespace espalier::polyhedral::boxes {

/// The integers from `begin` to less than `end`.
struct Span {
  int64_t begin = std::numeric_limits<int64_t>::min() / 4;
  int64_t end = std::numeric_limits<int64_t>::max() / 4;

  int64_t size() const { return std::max<int64_t>(end - begin, 0); }
  bool hasBegin() const { return begin != Span().begin; }
  bool hasEnd() const { return end != Span().end; }
  bool operator==(const Span &other) const {
    return begin == other.begin && end == other.end;
  }
};

/// The values of a dimension or a loop: those of the span which are at least
/// all of `begins` and less than all of `ends`, expressions of parameters.
struct Values {
  Span span;
  llvm::SmallVector<mlir::AffineExpr, 1> begins = {}, ends = {};

  bool isConstant() const { return begins.empty() && ends.empty(); }
  bool operator==(const Values &other) const {
    return span == other.span && begins == other.begins && ends == other.ends;
  }
};

/// That `expr`, of iterators and parameters, is zero or at least zero.
struct Guard {
  mlir::AffineExpr expr;
  bool isZero;

  bool operator==(const Guard &other) const {
    return expr == other.expr && isZero == other.isZero;
  }
};

using Guards = llvm::SmallVector<Guard, 0>;

/// The dimension of what a band orders by that is a constant.
constexpr unsigned kNoDim = ~0u;

/// A digit of a dimension d, ((d + offset) mod modulus) floordiv divisor, and
/// the value that loops give it plus `added`.
struct Digit {
  unsigned dim = 0;
  int64_t offset = 0;
  int64_t modulus = 0; ///< 0 for none.
  int64_t divisor = 1;
  int64_t added = 0;
  mlir::AffineExpr value = {};
  /// Its loop ends where the dimension does.
  bool isCut = false;

  /// Whether it is all of the dimension.
  bool isWhole() const { return modulus == 0 && divisor == 1; }
};

/// A statement inside some loops.
struct Active {
  unsigned statement;
  llvm::SmallVector<Values> box;
  llvm::SmallVector<Digit> digits = {};
  /// What must hold, and loops around do not say.
  Guards guards = {};
  /// What must hold of several dimensions, of which some have no value yet.
  Guards relations = {};

  /// Whether it has no points whatever the parameters are.
  bool isEmpty() const {
    return llvm::any_of(box,
                        [](const Values &range) { return !range.span.size(); });
  }
};

/// Cuts a box by a set whose constraints are on one dimension each, or say that
/// a sum of multiples of several is at least 0; false for others. What is said
/// of a dimension that loops run over already is a guard, and so is what is
/// said of parameters alone, if `asksParameters` is set.
bool cut(Active &active, mlir::IntegerSet set, bool asksParameters);

/// Takes the relations whose dimensions all have values: numbers, or they would
/// be conditions inside of loops, and the answer is false. The box is empty if
/// one does not hold.
bool decideRelations(Active &active);

/// Takes the relations that bound a digit which is all of its dimension, as the
/// others have values, and bounds its own by them. Whether there are any.
bool takeBounds(Active &active, const Digit &digit, Values &own);

/// Reads what a band orders by; nothing if that is no digit. Its divisor need
/// not divide its modulus, which `getValues` refuses.
std::optional<Digit> readDigit(mlir::AffineExpr expr);

/// Forgets the modulus of a digit if all values of its dimension have the same
/// quotient: it is the highest digit then.
void dropModulus(Digit &digit, const Values &range);

/// The values of a digit of a dimension that has those of `range`; nothing if
/// they depend on other digits.
std::optional<Values> getValues(Values range, const Digit &digit);

/// The value of a dimension; null where no loops run over it, or not over all
/// of its digits.
mlir::AffineExpr getValue(const Active &active, unsigned dim,
                          mlir::MLIRContext *context);

/// The number of values that are left in the last of the loops over the digits
/// above `digit`, where that is not all of them; null if loops over these are
/// not there yet.
mlir::AffineExpr getRest(const Active &active, const Digit &digit,
                         mlir::MLIRContext *context);

} // namespace espalier::polyhedral::boxes

#endif // ESPALIER_LIB_POLYHEDRAL_AST_BOXES_H
