//===- Expressions.h - Expressions and their values -------------*- C++ -*-===//
//
// Every expression of fewer operators than the depth is evaluated once and kept
// with its values: graphs share them. Expressions are numbered such that
// operands come first.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_EXPRESSIONS_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_EXPRESSIONS_H

#include "OperatorTable.h"
#include <memory>
#include <unordered_map>

namespace espalier::substitution::generator {

/// The greatest depth.
constexpr unsigned kMaxDepth = 4;

using TensorId = uint32_t;
using ExpressionId = uint32_t;
constexpr ExpressionId kLeaf = ~0u;

/// An input, or a result of an expression.
struct FieldTensor {
  ExpressionId producer = kLeaf;
  TensorType type;
  const uint32_t *data = nullptr;
  /// A bit for each input that it is computed from.
  uint32_t inputs = 0;
  /// Of the shape and the values.
  uint64_t valueHash = 0;
  /// Of the boundaries too: of tensors that can stand for each other.
  uint64_t identity = 0;
};

/// A template of the table applied to tensors.
struct Application {
  uint16_t operatorNumber = 0;
  std::array<TensorId, 2> operands{};
};

struct Expression {
  Application application;
  TensorId firstResult = 0;
  uint8_t numResults = 1;
  uint8_t height = 0;
  /// The operators it consists of, itself last.
  uint8_t numOperators = 0;
  std::array<ExpressionId, kMaxDepth> operators{};
  /// A result equals an input, or a tensor that it is computed from.
  bool isRedundant = false;
};

/// The results of an application that is not kept, in buffers that are reused.
struct Results {
  std::array<FieldTensor, 2> tensors;
  std::unique_ptr<uint32_t[]> data{
      std::make_unique<uint32_t[]>(2 * kMaxElements * kLanes)};
};

class Expressions {
public:
  Expressions(const OperatorTable &table, uint64_t seed);

  const OperatorTable &getTable() const { return table; }
  unsigned getNumOperands(unsigned operatorNumber) const {
    return table.operators[operatorNumber].operation.getNumOperands();
  }
  unsigned getNumLeaves() const { return table.leaves.size(); }
  const FieldTensor &getTensor(TensorId id) const { return tensors[id]; }
  const Expression &getExpression(ExpressionId id) const {
    return expressions[id];
  }
  unsigned size() const { return expressions.size(); }
  unsigned getNumTensors() const { return tensors.size(); }
  uint64_t getNumBytes() const { return chunks.size() * kChunk * 4; }

  /// Evaluates an application; fails if the operator does not apply.
  bool evaluate(const Application &application, Results &results) const;
  /// Keeps an application that was evaluated. `operators` are those that it
  /// consists of, without itself.
  void add(const Application &application, const Results &results,
           const ExpressionId *operators, unsigned numOperators);
  /// Whether a result equals an input or a tensor of the expressions.
  bool isRedundant(const Results &results, unsigned numResults,
                   const ExpressionId *operators, unsigned numOperators) const;

  /// The expressions over inputs alone.
  const std::vector<ExpressionId> &getFirst() const { return first; }
  /// The expressions that use `used` and otherwise at most inputs.
  const std::vector<ExpressionId> &getUsers(ExpressionId used) const {
    return users[used];
  }
  /// The expressions that use both, which must differ.
  const std::vector<ExpressionId> &getUsers(ExpressionId lhs,
                                            ExpressionId rhs) const;

private:
  static constexpr unsigned kChunk = 1 << 20;

  uint32_t *allocate(unsigned count);
  void addLeaves(uint64_t seed);
  bool mayApply(const Application &application) const;
  void index(ExpressionId id);

  OperatorTable table;
  std::vector<FieldTensor> tensors;
  std::vector<Expression> expressions;
  std::vector<ExpressionId> first;
  std::vector<std::vector<ExpressionId>> users;
  std::unordered_map<uint64_t, std::vector<ExpressionId>> commonUsers;
  std::unordered_map<uint64_t, TensorId> leafIdentities;
  std::vector<std::unique_ptr<uint32_t[]>> chunks;
  unsigned chunkUsed = kChunk;
};

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_EXPRESSIONS_H
