//===- Terms.cpp - Outputs of graphs as terms -----------------------------===//

#include "Terms.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <set>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

TermId Terms::intern(const Term &term) {
  uint64_t hash = mix(uint64_t(term.operation) << 32 | term.operands[0]) +
                  mix(term.operands[1] + 1);
  std::vector<TermId> &bucket = known[hash];
  for (TermId id : bucket)
    if (terms[id].operation == term.operation &&
        terms[id].numOperands == term.numOperands &&
        terms[id].operands == term.operands)
      return id;
  bucket.push_back(terms.size());
  terms.push_back(term);
  return terms.size() - 1;
}

TermId Terms::getVariable(unsigned leaf) {
  Term term;
  term.operation = Term::kVariable;
  term.operands[0] = leaf;
  return intern(term);
}

TermId Terms::getVariableLike(const LeafTemplate &kind, unsigned n) {
  for (unsigned i = 0; i < leaves.size(); ++i)
    if (leaves[i] == kind && n-- == 0)
      return getVariable(i);
  leaves.insert(leaves.end(), n + 1, kind);
  return getVariable(leaves.size() - 1);
}

unsigned Terms::getRank(TermId id) const {
  if (terms[id].isVariable())
    return getLeaf(id).shape.rank;
  const ConcreteOperator &operation = getOperation(id);
  unsigned numOperands = operation.getNumOperands();
  if (numOperands == 0)
    return operation.constantShape.rank;
  auto rank =
      getRequiredRank(operation.kind, operation.getParams(), numOperands);
  return rank ? *rank : getRank(terms[id].operands[0]);
}

TermId Terms::get(const ConcreteOperator &operation,
                  llvm::ArrayRef<TermId> operands) {
  std::vector<int64_t> key{static_cast<int64_t>(operation.kind)};
  for (Param param : operation.getParams()) {
    key.push_back(param.first);
    key.push_back(param.second);
  }
  auto [entry, isNew] =
      operationNumbers.try_emplace(std::move(key), operations.size());
  if (isNew)
    operations.push_back(operation);
  Term term;
  term.operation = entry->second;
  term.numOperands = operands.size();
  std::copy(operands.begin(), operands.end(), term.operands.begin());
  return intern(term);
}

TermId Terms::getConstantUse(TermId constant, unsigned n) {
  Term term = terms[constant];
  term.operands[0] = n;
  return intern(term);
}

TermId Terms::rebuild(TermId id, llvm::ArrayRef<TermId> operands) {
  Term term = terms[id];
  std::copy(operands.begin(), operands.end(), term.operands.begin());
  return intern(term);
}

std::vector<TermId> Terms::getPostOrder(llvm::ArrayRef<TermId> roots) const {
  std::vector<TermId> order;
  std::set<TermId> seen;
  auto visit = [&](auto &self, TermId id) -> void {
    if (!seen.insert(id).second)
      return;
    for (TermId operand : getOperands(id))
      self(self, operand);
    order.push_back(id);
  };
  for (TermId root : roots)
    visit(visit, root);
  return order;
}

//===----------------------------------------------------------------------===//
// Renaming
//===----------------------------------------------------------------------===//

Renaming::Renaming(Terms &terms, llvm::ArrayRef<TermId> roots) : terms(terms) {
  const std::vector<LeafTemplate> &leaves = terms.getTable().leaves;
  std::vector<bool> isTaken(leaves.size());
  for (TermId term : terms.getPostOrder(roots)) {
    if (!terms[term].isVariable())
      continue;
    const LeafTemplate &leaf = terms.getLeaf(term);
    for (unsigned i = 0; i < leaves.size(); ++i) {
      if (isTaken[i] || !(leaves[i] == leaf))
        continue;
      isTaken[i] = true;
      renamed[term] = terms.getVariable(i);
      break;
    }
  }
}

TermId Renaming::apply(TermId term) {
  if (auto found = renamed.find(term); found != renamed.end())
    return found->second;
  TermList operands;
  for (TermId operand : llvm::to_vector(terms.getOperands(term)))
    operands.push_back(apply(operand));
  TermId result = terms.rebuild(term, operands);
  renamed[term] = result;
  return result;
}

TermPair generator::separateConstants(Terms &terms, const TermPair &pair) {
  unsigned numUses = 0;
  auto separate = [&](auto &self, TermId term) -> TermId {
    if (terms[term].isVariable())
      return term;
    if (terms[term].numOperands == 0)
      return terms.getConstantUse(term, numUses++);
    TermList operands;
    for (TermId operand : llvm::to_vector(terms.getOperands(term)))
      operands.push_back(self(self, operand));
    return terms.rebuild(term, operands);
  };
  TermPair result;
  for (TermId term : pair.lhs)
    result.lhs.push_back(separate(separate, term));
  for (TermId term : pair.rhs)
    result.rhs.push_back(separate(separate, term));
  return result;
}

//===----------------------------------------------------------------------===//
// Canonical text
//===----------------------------------------------------------------------===//

namespace {
/// Writes terms in prefix form with variables numbered by first use, taking the
/// operands of commutative operators in the order that bits of `swaps` say.
class Writer {
public:
  Writer(const Terms &terms, unsigned swaps) : terms(terms), swaps(swaps) {}

  void write(TermId id) {
    if (terms[id].isVariable()) {
      auto [entry, isNew] = numbers.try_emplace(id, numbers.size());
      text.push_back(terms.isScalar(id) ? 2 : 1);
      text.push_back(static_cast<char>(entry->second));
      return;
    }
    uint16_t operation = terms[id].operation;
    text.push_back(static_cast<char>(3 + operation % 100));
    text.push_back(static_cast<char>(operation / 100));
    TermId lhs = terms[id].operands[0], rhs = terms[id].operands[1];
    if (terms[id].numOperands == 2 && terms.isCommutative(id)) {
      if (swaps & 1u << numCommutative % 32)
        std::swap(lhs, rhs);
      ++numCommutative;
    }
    if (terms[id].numOperands > 0)
      write(lhs);
    if (terms[id].numOperands > 1)
      write(rhs);
  }

  std::string text;
  unsigned numCommutative = 0;

private:
  const Terms &terms;
  unsigned swaps;
  std::map<TermId, unsigned> numbers;
};
} // namespace

std::string generator::getCanonicalText(const Terms &terms,
                                        const TermPair &pair) {
  constexpr unsigned kMaxSwaps = 64;
  std::string best;
  llvm::SmallVector<unsigned, 4> order(pair.lhs.size());
  for (unsigned i = 0; i < order.size(); ++i)
    order[i] = i;
  do {
    for (bool isReversed : {false, true}) {
      unsigned count = 1;
      for (unsigned swaps = 0; swaps < count; ++swaps) {
        Writer writer(terms, swaps);
        for (const TermList *side : {isReversed ? &pair.rhs : &pair.lhs,
                                     isReversed ? &pair.lhs : &pair.rhs}) {
          for (unsigned i : order)
            writer.write((*side)[i]);
          writer.text.push_back(0);
        }
        count = std::min(kMaxSwaps, 1u << std::min(writer.numCommutative, 6u));
        if (best.empty() || writer.text < best)
          best = std::move(writer.text);
      }
    }
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// Makes a rule of the outputs in this order.
static Rule makeRuleInOrder(const Terms &terms, const TermPair &pair,
                            llvm::StringRef name) {
  Rule rule;
  rule.name = name.str();
  std::map<TermId, NodeId> nodes;
  unsigned numTensors = 0, numScalars = 0;
  for (const TermList *side : {&pair.lhs, &pair.rhs}) {
    for (TermId id : terms.getPostOrder(*side)) {
      if (nodes.count(id))
        continue;
      if (terms[id].isVariable()) {
        nodes[id] = terms.isScalar(id) ? rule.graph.addScalar(numScalars++)
                                       : rule.graph.addTensor(numTensors++);
        continue;
      }
      llvm::SmallVector<NodeId, 2> operands;
      for (TermId operand : terms.getOperands(id))
        operands.push_back(nodes[operand]);
      const ConcreteOperator &operation = terms.getOperation(id);
      nodes[id] = rule.graph.addOperator(operation.kind, operation.getParams(),
                                         operands);
    }
    for (TermId id : *side)
      (side == &pair.lhs ? rule.src : rule.dst).push_back(nodes[id]);
  }
  return rule;
}

Rule generator::makeRule(const Terms &terms, const TermPair &pair,
                         llvm::StringRef name) {
  // Outputs come in the order of their text, the parts of a split in theirs.
  Rule rule = makeRuleInOrder(terms, pair, name);
  llvm::SmallVector<std::pair<std::string, unsigned>, 4> order;
  for (unsigned i = 0; i < pair.lhs.size(); ++i) {
    std::string text;
    llvm::raw_string_ostream os(text);
    print(rule.graph, rule.src[i], os);
    order.emplace_back(std::move(text), i);
  }
  llvm::sort(order);
  TermPair sorted;
  for (const auto &[text, i] : order) {
    sorted.lhs.push_back(pair.lhs[i]);
    sorted.rhs.push_back(pair.rhs[i]);
  }
  return makeRuleInOrder(terms, sorted, name);
}
