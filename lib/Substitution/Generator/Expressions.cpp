//===- Expressions.cpp - Expressions and their values ---------------------===//

#include "Expressions.h"
#include <algorithm>
#include <cassert>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

static uint64_t hashValues(const FieldTensor &tensor) {
  uint64_t hash = tensor.type.shape.rank;
  for (uint8_t dim : tensor.type.shape.dims)
    hash = hash << 8 | dim;
  hash = mix(hash + 1);
  unsigned count = tensor.type.shape.getNumElements() * kLanes;
  for (unsigned i = 0; i < count; i += 2) {
    uint64_t pair = uint64_t(tensor.data[i]) << 32 | tensor.data[i + 1];
    hash = (hash ^ pair) * 0x9fb21c651e98df25ULL;
    hash ^= hash >> 32;
  }
  return mix(hash);
}

static void setHashes(FieldTensor &tensor) {
  tensor.valueHash = hashValues(tensor);
  uint64_t boundaries = 0;
  for (const Boundaries &axis : tensor.type.boundaries) {
    boundaries = boundaries * 31 + axis.count;
    for (uint8_t at : axis.at)
      boundaries = boundaries * 257 + at;
  }
  tensor.identity = tensor.valueHash ^ mix(boundaries);
}

Expressions::Expressions(const OperatorTable &table, uint64_t seed)
    : table(table) {
  assert(table.leaves.size() <= 32 && "there is a bit for each input");
  addLeaves(seed);
}

uint32_t *Expressions::allocate(unsigned count) {
  if (chunkUsed + count > kChunk) {
    chunks.push_back(std::make_unique<uint32_t[]>(kChunk));
    chunkUsed = 0;
  }
  uint32_t *data = chunks.back().get() + chunkUsed;
  chunkUsed += count;
  return data;
}

void Expressions::addLeaves(uint64_t seed) {
  Random random(seed);
  for (const LeafTemplate &leaf : table.leaves) {
    FieldTensor tensor;
    tensor.type.shape = leaf.shape;
    tensor.inputs = 1u << tensors.size();
    unsigned count = leaf.shape.getNumElements() * kLanes;
    uint32_t *data = allocate(count);
    std::generate_n(data, count, [&] { return random.input(); });
    tensor.data = data;
    setHashes(tensor);
    leafIdentities.try_emplace(tensor.identity, tensors.size());
    tensors.push_back(tensor);
  }
}

/// What the templates rule out beyond types.
bool Expressions::mayApply(const Application &application) const {
  const OperatorTemplate &op = table.operators[application.operatorNumber];
  auto [lhs, rhs] = application.operands;
  auto isWeight = [&](TensorId id) {
    return id < table.leaves.size() && table.leaves[id].isWeight;
  };
  // Scalars are for operators that ask for one.
  const OperatorInfo &info = getInfo(op.operation.kind);
  for (unsigned i = 0; i < info.numOperands; ++i)
    if (!info.isScalarOperand(i) &&
        tensors[application.operands[i]].type.shape.rank == 0)
      return false;
  if (info.isCommutative())
    return lhs < rhs;
  if (info.has(kJoin))
    return lhs < rhs || lhs >= table.leaves.size();
  if (info.numOperands == 2 && lhs == rhs)
    return false;
  auto hasKernel = [&](TensorId weight, std::array<uint8_t, 2> kernel) {
    const Shape &shape = tensors[weight].type.shape;
    return shape.dims[2] == kernel[0] && shape.dims[3] == kernel[1];
  };
  if (info.has(kOfWeight))
    return isWeight(lhs) && !hasKernel(lhs, op.operation.kernel);
  // No tensor is both an image and its weight.
  if (info.has(kGroups))
    return !isWeight(lhs) && (tensors[lhs].inputs & tensors[rhs].inputs) == 0 &&
           hasKernel(rhs, op.weightKernel);
  return true;
}

bool Expressions::evaluate(const Application &application,
                           Results &results) const {
  // First what costs little.
  if (!mayApply(application))
    return false;
  const OperatorTemplate &op = table.operators[application.operatorNumber];
  unsigned numOperands = op.operation.getNumOperands();
  std::array<TensorView, 2> operands;
  std::array<const TensorType *, 2> types;
  for (unsigned i = 0; i < numOperands; ++i) {
    const FieldTensor &tensor = tensors[application.operands[i]];
    types[i] = &tensor.type;
    operands[i] = {&tensor.type, tensor.data};
  }
  std::optional<TensorType> type = inferType(op.operation, types.data());
  if (!type)
    return false;
  ConcreteOperator operation = op.operation;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    if (i != 0) {
      operation.part = i;
      type = inferType(operation, types.data());
    }
    FieldTensor &result = results.tensors[i];
    result.inputs = 0;
    for (unsigned j = 0; j < numOperands; ++j)
      result.inputs |= tensors[application.operands[j]].inputs;
    result.type = *type;
    uint32_t *data = results.data.get() + i * kMaxElements * kLanes;
    generator::evaluate(operation, operands.data(), *type, data);
    result.data = data;
    setHashes(result);
  }
  return true;
}

bool Expressions::isRedundant(const Results &results, unsigned numResults,
                              const ExpressionId *operators,
                              unsigned numOperators) const {
  for (unsigned i = 0; i < numResults; ++i) {
    uint64_t identity = results.tensors[i].identity;
    if (leafIdentities.count(identity))
      return true;
    for (unsigned j = 0; j < numOperators; ++j) {
      const Expression &other = expressions[operators[j]];
      for (unsigned k = 0; k < other.numResults; ++k)
        if (tensors[other.firstResult + k].identity == identity)
          return true;
    }
  }
  return numResults == 2 &&
         results.tensors[0].identity == results.tensors[1].identity;
}

void Expressions::add(const Application &application, const Results &results,
                      const ExpressionId *operators, unsigned numOperators) {
  Expression expression;
  expression.application = application;
  expression.firstResult = tensors.size();
  expression.numResults =
      table.operators[application.operatorNumber].getNumResults();
  expression.numOperators = numOperators + 1;
  for (unsigned i = 0; i < numOperators; ++i) {
    expression.operators[i] = operators[i];
    expression.height =
        std::max(expression.height, expressions[operators[i]].height);
  }
  ExpressionId id = expressions.size();
  expression.operators[numOperators] = id;
  ++expression.height;
  expression.isRedundant =
      isRedundant(results, expression.numResults, operators, numOperators);
  for (unsigned i = 0; i < expression.numResults; ++i) {
    FieldTensor tensor = results.tensors[i];
    tensor.producer = id;
    unsigned count = tensor.type.shape.getNumElements() * kLanes;
    uint32_t *data = allocate(count);
    std::copy_n(results.tensors[i].data, count, data);
    tensor.data = data;
    tensors.push_back(tensor);
  }
  expressions.push_back(expression);
  index(id);
}

static uint64_t getPairKey(ExpressionId lhs, ExpressionId rhs) {
  return uint64_t(std::min(lhs, rhs)) << 32 | std::max(lhs, rhs);
}

void Expressions::index(ExpressionId id) {
  users.emplace_back();
  const Expression &expression = expressions[id];
  std::array<ExpressionId, 2> used;
  unsigned count = 0;
  for (unsigned i = 0;
       i < getNumOperands(expression.application.operatorNumber); ++i) {
    ExpressionId producer =
        tensors[expression.application.operands[i]].producer;
    if (producer != kLeaf && (count == 0 || used[0] != producer))
      used[count++] = producer;
  }
  if (count == 0)
    first.push_back(id);
  else if (count == 1)
    users[used[0]].push_back(id);
  else
    commonUsers[getPairKey(used[0], used[1])].push_back(id);
}

const std::vector<ExpressionId> &Expressions::getUsers(ExpressionId lhs,
                                                       ExpressionId rhs) const {
  static const std::vector<ExpressionId> none;
  auto found = commonUsers.find(getPairKey(lhs, rhs));
  return found == commonUsers.end() ? none : found->second;
}
