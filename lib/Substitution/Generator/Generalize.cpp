//===- Generalize.cpp - More general rules --------------------------------===//

#include "Generalize.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

/// More occurrences of a variable than this are left as they are.
static constexpr unsigned kMaxOccurrences = 8;

static TermList getRoots(const TermPair &pair) {
  TermList roots = pair.lhs;
  roots.append(pair.rhs.begin(), pair.rhs.end());
  return roots;
}

bool generator::hasVariablesOf(const Terms &terms, const TermPair &pair) {
  std::vector<TermId> all = terms.getPostOrder(pair.lhs);
  return llvm::all_of(terms.getPostOrder(pair.rhs), [&](TermId term) {
    return !terms[term].isVariable() || llvm::is_contained(all, term);
  });
}

/// Operators, those that outputs share once.
static unsigned countOperators(const Terms &terms, const TermList &side) {
  return llvm::count_if(terms.getPostOrder(side),
                        [&](TermId term) { return !terms[term].isVariable(); });
}

/// Whether neither side of `after` has more operators than in `before`: what
/// outputs share is what a rule of several outputs is about.
static bool isNoLarger(const Terms &terms, const TermPair &after,
                       const TermPair &before) {
  return countOperators(terms, after.lhs) <=
             countOperators(terms, before.lhs) &&
         countOperators(terms, after.rhs) <= countOperators(terms, before.rhs);
}

namespace {
/// Replaces occurrences of a term, from left to right, that bits of `mask` say.
class Replacement {
public:
  Replacement(Terms &terms, TermId from, TermId to, uint32_t mask)
      : terms(terms), from(from), to(to), mask(mask) {}

  TermId apply(TermId term) {
    if (term == from) {
      bool isChosen = mask >> std::min(numSeen++, 31u) & 1;
      return isChosen ? to : term;
    }
    TermList operands;
    for (TermId operand : llvm::to_vector(terms.getOperands(term)))
      operands.push_back(apply(operand));
    return terms.rebuild(term, operands);
  }
  TermList apply(const TermList &list) {
    TermList result;
    for (TermId term : list)
      result.push_back(apply(term));
    return result;
  }

  unsigned numSeen = 0;

private:
  Terms &terms;
  TermId from, to;
  uint32_t mask;
};
} // namespace

TermId Generalizer::getFresh(const TermPair &pair, const LeafTemplate &leaf) {
  std::vector<TermId> used = terms.getPostOrder(getRoots(pair));
  for (unsigned i = 0;; ++i) {
    TermId variable = terms.getVariableLike(leaf, i);
    if (!llvm::is_contained(used, variable))
      return variable;
  }
}

/// A variable that may stand for the term, of the same rank.
std::optional<TermId> Generalizer::getFreshFor(const TermPair &pair,
                                               TermId term) {
  unsigned rank = terms.getRank(term);
  for (const LeafTemplate &leaf : terms.getTable().leaves)
    if (leaf.shape.rank == rank)
      return getFresh(pair, leaf);
  return std::nullopt;
}

bool Generalizer::replaceSubterm(TermPair &pair, Condition condition) {
  std::vector<TermId> lhs = terms.getPostOrder(pair.lhs);
  std::vector<TermId> rhs = terms.getPostOrder(pair.rhs);
  // The largest first.
  for (TermId term : llvm::reverse(lhs)) {
    if (terms[term].isVariable() || !llvm::is_contained(rhs, term))
      continue;
    std::optional<TermId> fresh = getFreshFor(pair, term);
    if (!fresh)
      continue;
    Replacement replacement(terms, term, *fresh, ~0u);
    TermPair general{replacement.apply(pair.lhs), replacement.apply(pair.rhs)};
    if (general.lhs == general.rhs || !hasVariablesOf(terms, general) ||
        !retester.holds(general, condition))
      continue;
    pair = general;
    return true;
  }
  return false;
}

bool Generalizer::splitVariable(TermPair &pair, TermId variable,
                                Condition condition) {
  Replacement count(terms, variable, variable, 0);
  count.apply(pair.lhs);
  unsigned inLhs = count.numSeen;
  count.apply(pair.rhs);
  unsigned all = count.numSeen;
  if (inLhs < 2 || all - inLhs < 2 || all > kMaxOccurrences)
    return false;
  TermId fresh = getFresh(pair, terms.getLeaf(variable));
  uint32_t left = (1u << inLhs) - 1, right = ((1u << all) - 1) & ~left;
  // The first occurrence keeps its name.
  for (uint32_t mask = 2; mask < 1u << all; mask += 2) {
    if (!(mask & left) || !(mask & right) || (mask & right) == right)
      continue;
    Replacement replacement(terms, variable, fresh, mask);
    TermPair general;
    general.lhs = replacement.apply(pair.lhs);
    general.rhs = replacement.apply(pair.rhs);
    if (!isNoLarger(terms, general, pair) ||
        !retester.holds(general, condition))
      continue;
    pair = general;
    return true;
  }
  return false;
}

bool Generalizer::splitVariable(TermPair &pair, Condition condition) {
  for (TermId term : terms.getPostOrder(getRoots(pair)))
    if (terms[term].isVariable() && splitVariable(pair, term, condition))
      return true;
  return false;
}

TermPair Generalizer::generalize(TermPair pair, Condition condition) {
  while (replaceSubterm(pair, condition) || splitVariable(pair, condition))
    ;
  return pair;
}
