//===- Retest.cpp - Fresh inputs and other shapes -------------------------===//

#include "Retest.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/xxhash.h"
#include <cstring>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

namespace {
/// Shapes per test, each on `kLanes` points: a first round, and a second one
/// for what passes it.
constexpr unsigned kNumShapes = 12, kNumMoreShapes = 84;
/// Draws in search of a shape that fits.
constexpr unsigned kMaxDraws = 200;
/// Two graphs of the greatest depth have no more terms than this.
constexpr unsigned kMaxTerms = 64;
} // namespace

std::string generator::getText(Condition condition) {
  std::string text;
  for (auto [holds, name] :
       {std::pair(condition.hasOneGroup, "groups == 1"),
        {condition.hasEqualWeights, "equal weights"},
        {condition.hasSquareConstants, "square constants"}})
    if (holds)
      text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

Retester::Retester(Terms &terms)
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
    if (hasOneGroup && terms.getInfo(term).has(kGroups) &&
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

/// Draws shapes until both sides are well typed, and values.
bool Retester::drawInputs(const TermPair &pair, SymbolicSizes &sizes,
                          llvm::ArrayRef<TermId> order, Condition condition,
                          Random &random) {
  bool fits = false;
  for (unsigned i = 0; i < kMaxDraws && !fits; ++i) {
    fits = setInputs(sizes, order, random) &&
           inferTypes(order, condition.hasOneGroup);
    for (auto [lhs, rhs] : llvm::zip_equal(pair.lhs, pair.rhs))
      fits = fits && values[lhs].type.shape == values[rhs].type.shape;
  }
  for (unsigned position = 0; position < order.size() && fits; ++position) {
    if (!terms[order[position]].isVariable())
      continue;
    unsigned count = values[order[position]].type.shape.getNumElements();
    uint32_t *inputs = getData(position);
    for (unsigned i = 0; i < count * kLanes; ++i)
      inputs[i] = random.input();
    for (unsigned lane = kLanes / 2; lane < kLanes; ++lane)
      random.drawInputs(count, [&](unsigned i, uint32_t value) {
        inputs[i * kLanes + lane] = value;
      });
  }
  return fits;
}

bool Retester::test(const TermPair &pair, Condition condition,
                    unsigned numShapes, Random &random) {
  SymbolicSizes sizes(terms, pair, condition);
  if (!sizes.isPossible())
    return false;
  TermList roots = pair.lhs;
  roots.append(pair.rhs.begin(), pair.rhs.end());
  std::vector<TermId> order = terms.getPostOrder(roots);
  if (order.size() > kMaxTerms)
    return false;
  // The largest extents of variables and outputs.
  std::vector<Shape> largest(order.size());
  for (unsigned sample = 0; sample < numShapes; ++sample) {
    if (!drawInputs(pair, sizes, order, condition, random) ||
        !evaluate(pair, order))
      return false;
    for (unsigned i = 0; i < order.size(); ++i) {
      const Shape &shape = values[order[i]].type.shape;
      largest[i].rank = shape.rank;
      for (unsigned dim = 0; dim < shape.rank; ++dim)
        largest[i].dims[dim] = std::max(largest[i].dims[dim], shape.dims[dim]);
    }
  }
  // What holds only where an extent is 1 says nothing about tensors.
  for (unsigned i = 0; i < order.size(); ++i)
    for (unsigned dim = 0; dim < largest[i].rank; ++dim)
      if (largest[i].dims[dim] == 1 && (terms[order[i]].isVariable() ||
                                        llvm::is_contained(pair.lhs, order[i])))
        return false;
  return true;
}

bool Retester::holds(const TermPair &pair, Condition condition,
                     unsigned numShapes) {
  // The same tests whatever was tested before.
  Random random(llvm::xxh3_64bits(getCanonicalText(terms, pair)) +
                condition.hasOneGroup + 2 * condition.hasEqualWeights +
                4 * condition.hasSquareConstants + numShapes);
  return test(separateConstants(terms, pair), condition, numShapes, random);
}

bool Retester::holds(const TermPair &pair, Condition condition) {
  return holds(pair, condition, kNumShapes) &&
         holds(pair, condition, kNumMoreShapes);
}

std::optional<Condition> Retester::test(const TermPair &pair) {
  // Without variables, all sizes are chosen: nothing is there to ask of them;
  // and those of a convolution of a constant image are chosen too.
  bool hasConv = false, hasConstant = false, hasVariable = false;
  bool hasConstantImage = false;
  for (const TermList *side : {&pair.lhs, &pair.rhs})
    for (TermId term : terms.getPostOrder(*side)) {
      hasVariable |= terms[term].isVariable();
      if (terms[term].isVariable())
        continue;
      bool isConv = terms.getInfo(term).has(kGroups);
      hasConv |= isConv;
      hasConstantImage |=
          isConv &&
          llvm::none_of(terms.getPostOrder(terms[term].operands[0]),
                        [&](TermId id) { return terms[id].isVariable(); });
      hasConstant |= terms[term].numOperands == 0;
    }
  for (unsigned numAssumed = 0; numAssumed <= 3; ++numAssumed)
    for (unsigned bits = 0; bits < 8; ++bits) {
      Condition condition;
      condition.hasSquareConstants = bits & 1;
      condition.hasEqualWeights = bits & 2;
      condition.hasOneGroup = bits & 4;
      if (llvm::popcount(bits) != int(numAssumed) ||
          (!hasVariable && bits > 0) ||
          ((!hasConv || hasConstantImage) && bits > 1) ||
          (!hasConstant && (bits & 1)))
        continue;
      if (holds(pair, condition))
        return condition;
    }
  return std::nullopt;
}
