//===- Retest.cpp - Fresh inputs and other shapes -------------------------===//

#include "Retest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/xxhash.h"
#include <cstring>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

namespace {
/// Shapes per test; each is tested on `kLanes` points.
constexpr unsigned kNumShapes = 12;
/// Draws in search of a shape that fits.
constexpr unsigned kMaxDraws = 200;
/// Two graphs of the greatest depth have no more terms than this.
constexpr unsigned kMaxTerms = 64;
} // namespace

llvm::StringRef generator::getText(Condition condition) {
  switch (condition) {
  case Condition::None:
    return "";
  case Condition::EqualWeights:
    return "equal weights";
  case Condition::OneGroup:
    return "groups == 1";
  case Condition::OneGroupAndEqualWeights:
    return "groups == 1, equal weights";
  }
  return "";
}

Retester::Retester(const Terms &terms)
    : terms(terms), data(std::make_unique<uint32_t[]>(size_t(kMaxTerms) *
                                                      kMaxElements * kLanes)) {}

/// Gives variables and constants the shapes that were drawn, and variables
/// their values.
bool Retester::setInputs(SymbolicSizes &sizes, llvm::ArrayRef<TermId> order,
                         Random &random) {
  sizes.draw(random);
  for (unsigned position = 0; position < order.size(); ++position) {
    TermId term = order[position];
    if (terms[term].numOperands > 0)
      continue;
    std::optional<Shape> shape = sizes.getShape(term);
    if (!shape || shape->getNumElements() > kMaxElements)
      return false;
    Value &value = values[term];
    value.position = position;
    value.type = {*shape, {}};
    if (!terms[term].isVariable()) {
      value.operation = terms.getOperation(term);
      value.operation.constantShape = *shape;
    }
  }
  return true;
}

bool Retester::inferTypes(llvm::ArrayRef<TermId> order, bool hasOneGroup) {
  for (unsigned position = 0; position < order.size(); ++position) {
    TermId term = order[position];
    if (terms[term].numOperands == 0)
      continue;
    std::array<const TensorType *, 2> operands;
    unsigned i = 0;
    for (TermId operand : terms.getOperands(term))
      operands[i++] = &values[operand].type;
    std::optional<TensorType> type =
        inferType(terms.getOperation(term), operands.data());
    if (!type)
      return false;
    if (hasOneGroup && terms.getOperation(term).kind == OpKind::Conv2d &&
        operands[0]->shape.dims[1] != operands[1]->shape.dims[1])
      return false;
    Value &value = values[term];
    value.position = position;
    value.type = *type;
    value.operation = terms.getOperation(term);
  }
  return true;
}

/// Evaluates all terms and compares the outputs.
bool Retester::evaluate(const TermPair &pair, llvm::ArrayRef<TermId> order) {
  for (TermId term : order) {
    if (terms[term].isVariable())
      continue;
    std::array<TensorView, 2> operands;
    unsigned i = 0;
    for (TermId operand : terms.getOperands(term)) {
      const Value &value = values[operand];
      operands[i++] = {&value.type, getData(value.position)};
    }
    const Value &value = values[term];
    generator::evaluate(value.operation, operands.data(), value.type,
                        getData(value.position));
  }
  for (auto [lhs, rhs] : llvm::zip_equal(pair.lhs, pair.rhs)) {
    const Value &left = values[lhs], &right = values[rhs];
    size_t bytes = left.type.shape.getNumElements() * kLanes * sizeof(uint32_t);
    if (std::memcmp(getData(left.position), getData(right.position), bytes))
      return false;
  }
  return true;
}

bool Retester::test(const TermPair &pair, Assumption assumption,
                    Random &random) {
  SymbolicSizes sizes(terms, pair, assumption);
  if (!sizes.isPossible())
    return false;
  TermList roots = pair.lhs;
  roots.append(pair.rhs.begin(), pair.rhs.end());
  std::vector<TermId> order = terms.getPostOrder(roots);
  if (order.size() > kMaxTerms)
    return false;
  for (unsigned sample = 0; sample < kNumShapes; ++sample) {
    bool fits = false;
    for (unsigned i = 0; i < kMaxDraws && !fits; ++i) {
      fits = setInputs(sizes, order, random) &&
             inferTypes(order, assumption.hasOneGroup);
      for (auto [lhs, rhs] : llvm::zip_equal(pair.lhs, pair.rhs))
        fits = fits && values[lhs].type.shape == values[rhs].type.shape;
    }
    if (!fits)
      return false;
    for (unsigned position = 0; position < order.size(); ++position) {
      if (!terms[order[position]].isVariable())
        continue;
      unsigned count =
          values[order[position]].type.shape.getNumElements() * kLanes;
      uint32_t *inputs = getData(position);
      for (unsigned i = 0; i < count; ++i)
        inputs[i] = random.input();
    }
    if (!evaluate(pair, order))
      return false;
  }
  return true;
}

bool Retester::holds(const TermPair &pair, Condition condition) {
  // The same tests whatever was tested before.
  Random random(llvm::xxh3_64bits(getCanonicalText(terms, pair)) +
                static_cast<uint64_t>(condition));
  Assumption assumption;
  assumption.hasOneGroup = condition >= Condition::OneGroup;
  assumption.hasEqualWeights = condition == Condition::EqualWeights ||
                               condition == Condition::OneGroupAndEqualWeights;
  return test(pair, assumption, random);
}

std::optional<Condition> Retester::test(const TermPair &pair) {
  TermList roots = pair.lhs;
  roots.append(pair.rhs.begin(), pair.rhs.end());
  bool hasConv = llvm::any_of(terms.getPostOrder(roots), [&](TermId term) {
    return !terms[term].isVariable() &&
           terms.getOperation(term).kind == OpKind::Conv2d;
  });
  for (Condition condition :
       {Condition::None, Condition::EqualWeights, Condition::OneGroup,
        Condition::OneGroupAndEqualWeights}) {
    if (condition != Condition::None && !hasConv)
      break;
    if (holds(pair, condition))
      return condition;
  }
  return std::nullopt;
}
