//===- Index.h - Integers made of sizes and positions -----------*- C++ -*-===//
//
// Polynomials in sizes and positions, and in quotients and maxima of such. What
// is not linear is one unknown to whoever solves equations; only Z3 knows what
// it stands for.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_PROOF_INDEX_H
#define ESPALIER_LIB_PROOF_INDEX_H

#include "SExpr.h"
#include "llvm/ADT/DynamicAPInt.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>
#include <memory>

namespace espalier::proof {

class Index;

/// A variable, or a function of others.
struct Part {
  std::string text; ///< In SMT-LIB; parts with one text are one.
  /// `*`, `div` by a positive number, `quotient`, `larger`; of a variable
  /// empty.
  std::string fn;
  std::shared_ptr<const std::vector<Index>> args;

  bool isVariable() const { return fn.empty(); }
  bool operator<(const Part &other) const { return text < other.text; }
  bool operator==(const Part &other) const { return text == other.text; }
};

/// A sum of multiples of parts, and a number.
class Index {
public:
  Index(int64_t number = 0) : constant(number) {}
  static Index variable(llvm::StringRef name);

  Index operator+(const Index &other) const;
  Index operator-(const Index &other) const;
  Index operator*(const Index &other) const;
  Index operator-() const { return Index(0) - *this; }
  bool operator==(const Index &other) const;

  /// floor(lhs / rhs) where rhs is at least 1; otherwise unknown.
  static Index quotient(const Index &lhs, const Index &rhs);
  static Index larger(const Index &lhs, const Index &rhs);

  bool isNumber() const { return parts.empty(); }
  std::optional<int64_t> getNumber() const;
  const llvm::DynamicAPInt &getConstant() const { return constant; }
  const std::map<Part, llvm::DynamicAPInt> &getParts() const { return parts; }
  /// The coefficient of a part; 0 if there is none.
  llvm::DynamicAPInt getCoefficient(const Part &part) const;

  /// With `value` for a variable (or any part) everywhere.
  Index substitute(llvm::StringRef part, const Index &value) const;
  bool mentions(llvm::StringRef variable) const;
  /// Calls `visit` for each part, those inside of others first.
  void walk(llvm::function_ref<void(const Part &)> visit) const;

  /// In SMT-LIB.
  std::string str() const;
  /// What `str` prints.
  static std::optional<Index> parse(const SExpr &expr);

private:
  void add(const Part &part, const llvm::DynamicAPInt &factor);
  static Index apply(llvm::StringRef fn, std::vector<Index> args);

  std::map<Part, llvm::DynamicAPInt> parts;
  llvm::DynamicAPInt constant;
};

/// A number in SMT-LIB.
std::string printNumber(const llvm::DynamicAPInt &number);

/// Whether an integer is 0, or at least 0.
struct Condition {
  Index value;
  bool isEquality = false;

  static Condition equal(const Index &lhs, const Index &rhs) {
    return {lhs - rhs, true};
  }
  static Condition atLeast(const Index &lhs, const Index &rhs) {
    return {lhs - rhs, false};
  }
  static Condition less(const Index &lhs, const Index &rhs) {
    return {rhs - lhs - 1, false};
  }
  bool operator==(const Condition &other) const {
    return isEquality == other.isEquality && value == other.value;
  }
  /// Conditions of which one holds where this one does not, and never two.
  std::vector<Condition> negate() const;
  std::string str() const;
  static std::optional<Condition> parse(const SExpr &expr);
};

using Conditions = std::vector<Condition>;

/// Whether a condition is about a number, and does not hold of it.
bool isFalse(const Condition &condition);

/// What an equation says that a variable is, if it has a unit coefficient there
/// and is in no other part.
std::optional<Index> solve(const Index &equation, llvm::StringRef variable);

} // namespace espalier::proof

#endif // ESPALIER_LIB_PROOF_INDEX_H
