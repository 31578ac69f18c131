//===- Guard.h - What a rule asks of the sizes it is applied to -*- C++ -*-===//
//
// A guard is a conjunction of atoms about the extents of a rule's tensors. Its
// text is what `verify` prints behind `proved-if`, and what stands behind
// `where` in the block of a rule:
//
//   groups(conv2d#1) == 1 and dim(?i2, 3) == dim(?i1, 3)
//   2 divides dim(?i1, 2) + 1 and 3 >= dim(?i1, 2)
//   (dim(?i0, 0) == 3 or dim(?i0, 0) >= 5 and dim(?i0, 1) == 2)
//
// It says which sizes are right among those at which `src` has a meaning. Where
// it names a constant of `dst` it says which one to make:
// `dim(const_iconv#1, 0) == dim(?i0, 1)`.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_GUARD_H
#define ESPALIER_SUBSTITUTION_GUARD_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace espalier::substitution {

using NodeId = unsigned;
struct Rule;
struct RuleTensors;

/// A size of a tensor of a rule, or of a convolution.
struct SizeTerm {
  enum class Kind : uint8_t {
    Dim,         ///< `dim(node, axis)`, an extent.
    Rank,        ///< `rank(node)`.
    Groups,      ///< `groups(conv)`: channels of the image by the weight's.
    OutPerGroup, ///< `out_per_group(conv)`.
    InPerGroup,  ///< `in_per_group(conv)`.
    OutChannels, ///< `out_channels(conv)`: features.
    InChannels,  ///< `in_channels(conv)`: channels of the image.
  } kind = Kind::Dim;
  /// The number of the tensor in `listTensors`, and its node.
  unsigned use = 0;
  NodeId node = 0;
  unsigned axis = 0; ///< Of `Dim`.

  bool operator==(const SizeTerm &other) const {
    return kind == other.kind && use == other.use && axis == other.axis;
  }
};

/// An integer made of sizes.
struct SizeExpr {
  enum class Kind : uint8_t {
    Constant,
    Term,
    Sum,
    Product,
    Floor, ///< `floor(a / b)`.
    Max,   ///< `max(a, b)`.
  } kind = Kind::Constant;
  int64_t constant = 0;
  SizeTerm term;
  std::vector<SizeExpr> operands;

  static SizeExpr get(int64_t constant);
  static SizeExpr get(const SizeTerm &term);
  static SizeExpr get(Kind kind, SizeExpr lhs, SizeExpr rhs);
  bool operator==(const SizeExpr &other) const;
};

/// `lhs == rhs`, `lhs >= rhs` or `lhs divides rhs`.
struct GuardAtom {
  enum class Kind : uint8_t { Equal, AtLeast, Divides } kind = Kind::Equal;
  SizeExpr lhs, rhs;

  bool operator==(const GuardAtom &other) const {
    return kind == other.kind && lhs == other.lhs && rhs == other.rhs;
  }
};

/// Holds if all atoms of one of the alternatives hold. Most have one
/// alternative of one atom.
using GuardClause = std::vector<std::vector<GuardAtom>>;

/// Holds if all clauses do.
struct Guard {
  std::vector<GuardClause> clauses;

  bool isEmpty() const { return clauses.empty(); }
  void add(GuardAtom atom) { clauses.push_back({{std::move(atom)}}); }
  void add(const Guard &other);
  bool operator==(const Guard &other) const { return clauses == other.clauses; }

  /// Calls `visit` for each size that the guard mentions.
  void walk(llvm::function_ref<void(const SizeTerm &)> visit) const;
  /// What the guard says that an extent is: the other side of an equality.
  std::optional<SizeExpr> getDefinition(unsigned use, unsigned axis) const;
};

void print(const SizeExpr &expr, const RuleTensors &uses,
           llvm::raw_ostream &os);
void print(const GuardAtom &atom, const RuleTensors &uses,
           llvm::raw_ostream &os);
void print(const Guard &guard, const RuleTensors &uses, llvm::raw_ostream &os);
std::string toString(const Guard &guard, const RuleTensors &uses);

/// Parses a guard of a rule. Nothing, and one call of `error`, if the text is
/// malformed or names what the rule does not have.
std::optional<Guard>
parseGuard(llvm::StringRef text, const Rule &rule, const RuleTensors &uses,
           llvm::function_ref<void(const llvm::Twine &)> error);

/// An extent of a tensor, if it is known.
using ExtentFn =
    llvm::function_ref<std::optional<int64_t>(unsigned, unsigned axis)>;
using RankFn = llvm::function_ref<std::optional<int64_t>(unsigned)>;

/// The value of an expression. Nothing where that takes an unknown size, or if
/// it has none: a division by what is not positive, an overflow. `extent` and
/// `rank` take numbers of uses.
std::optional<int64_t> evaluate(const SizeExpr &expr, const RuleTensors &uses,
                                ExtentFn extent, RankFn rank);
/// Whether a guard holds; nothing where an unknown size decides.
std::optional<bool> holdsForUses(const Guard &guard, const RuleTensors &uses,
                                 ExtentFn extent, RankFn rank);
/// The same with nodes, for graphs in which all uses of a constant of the rule
/// are one tensor. Without `rank`, conditions on ranks are unknown.
std::optional<bool> holds(const Guard &guard, const Rule &rule, ExtentFn extent,
                          RankFn rank = {});

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_GUARD_H
