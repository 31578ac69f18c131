//===- Classes.cpp - Graphs with equal fingerprints -----------------------===//

#include "Classes.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

/// Calls `visit` on the applications of a graph, operands first.
template <typename Visit>
static void forEachApplication(const Expressions &expressions,
                               const GraphCode &code, Visit visit) {
  if (code.isInputs())
    return;
  std::array<ExpressionId, 2 * kMaxDepth> ids;
  unsigned count = 0;
  auto add = [&](ExpressionId id) {
    if (std::find(ids.begin(), ids.begin() + count, id) == ids.begin() + count)
      ids[count++] = id;
  };
  Application root;
  if (code.isApplication()) {
    root = {uint16_t(code.words[0] & 0xffff), {code.words[1], code.words[2]}};
    for (unsigned i = 0; i < expressions.getNumOperands(root.operatorNumber);
         ++i) {
      ExpressionId producer = expressions.getTensor(root.operands[i]).producer;
      if (producer == kLeaf)
        continue;
      const Expression &expression = expressions.getExpression(producer);
      for (unsigned j = 0; j < expression.numOperators; ++j)
        add(expression.operators[j]);
    }
  } else {
    for (uint32_t word : code.words)
      if (word != GraphCode::kNone)
        add(word);
  }
  for (unsigned i = 0; i < count; ++i)
    visit(expressions.getExpression(ids[i]).application, &ids[i]);
  if (code.isApplication())
    visit(root, nullptr);
}

bool generator::usesInputsInOrder(const Expressions &expressions,
                                  const GraphCode &code) {
  // Bits of the inputs that came so far; an input may come if the one before it
  // of the same kind did.
  uint64_t used = 0;
  bool isInOrder = true;
  const std::vector<LeafTemplate> &leaves = expressions.getTable().leaves;
  auto use = [&](TensorId id) {
    if (id >= leaves.size())
      return;
    if (id > 0 && leaves[id] == leaves[id - 1] && !(used >> (id - 1) & 1))
      isInOrder = false;
    used |= uint64_t(1) << id;
  };
  if (code.isInputs()) {
    use(code.words[0] & 0xffff);
    if (code.words[1] != GraphCode::kNone)
      use(code.words[1]);
  }
  forEachApplication(expressions, code,
                     [&](const Application &application, const ExpressionId *) {
                       unsigned count = expressions.getNumOperands(
                           application.operatorNumber);
                       for (unsigned i = 0; i < count; ++i)
                         use(application.operands[i]);
                     });
  return isInOrder;
}

void generator::collectClasses(const Expressions &expressions,
                               llvm::ArrayRef<GraphRecord> shard,
                               std::vector<ClassCodes> &classes,
                               ClassCounts &counts) {
  for (size_t i = 0, end; i < shard.size(); i = end) {
    end = i + 1;
    while (end < shard.size() && shard[end].fingerprint == shard[i].fingerprint)
      ++end;
    ++counts.fingerprints;
    counts.equalities += end - i - 1;
    auto members = shard.slice(i, end - i);
    if (members.size() == 1 ||
        llvm::none_of(members, [&](const GraphRecord &record) {
          return usesInputsInOrder(expressions, record.code);
        }))
      continue;
    ClassCodes codes;
    for (const GraphRecord &record : members)
      codes.push_back(record.code);
    classes.push_back(std::move(codes));
  }
}

//===----------------------------------------------------------------------===//
// SideBuilder
//===----------------------------------------------------------------------===//

bool SideBuilder::isGraph(const GraphCode &code) {
  if (code.isApplication()) {
    Application root{uint16_t(code.words[0]), {code.words[1], code.words[2]}};
    if (root.operatorNumber >= expressions.getTable().operators.size())
      return false;
    unsigned count = expressions.getNumOperands(root.operatorNumber);
    return std::all_of(
               root.operands.begin(), root.operands.begin() + count,
               [&](TensorId id) { return id < expressions.getNumTensors(); }) &&
           expressions.evaluate(root, results);
  }
  if (code.isInputs())
    return (code.words[0] & 0xffff) < expressions.getNumLeaves() &&
           (code.words[1] == GraphCode::kNone ||
            code.words[1] < expressions.getNumLeaves());
  return code.words[0] != GraphCode::kNone &&
         llvm::all_of(code.words, [&](uint32_t word) {
           return word == GraphCode::kNone || word < expressions.size();
         });
}

std::optional<std::vector<Side>> SideBuilder::get(const ClassCodes &codes) {
  std::vector<Side> sides;
  for (const GraphCode &code : codes) {
    if (!isGraph(code))
      return std::nullopt;
    sides.push_back(get(code));
    if (sides.back().outputs.size() != sides[0].outputs.size())
      return std::nullopt;
  }
  if (sides.empty())
    return std::nullopt;
  return sides;
}

TermId SideBuilder::getTerm(const Application &application, unsigned part) {
  const OperatorTemplate &op =
      expressions.getTable().operators[application.operatorNumber];
  ConcreteOperator operation = op.operation;
  operation.part = part;
  TermList operands;
  for (unsigned i = 0; i < operation.getNumOperands(); ++i)
    operands.push_back(getTerm(application.operands[i]));
  return terms.get(operation, operands);
}

TermId SideBuilder::getTerm(TensorId id) {
  if (auto found = known.find(id); found != known.end())
    return found->second;
  const FieldTensor &tensor = expressions.getTensor(id);
  TermId term;
  if (tensor.producer == kLeaf) {
    term = terms.getVariable(id);
  } else {
    const Expression &expression = expressions.getExpression(tensor.producer);
    term = getTerm(expression.application, id - expression.firstResult);
  }
  known[id] = term;
  return term;
}

Side SideBuilder::get(const GraphCode &code) {
  Side side;
  side.isCanonical = usesInputsInOrder(expressions, code);
  llvm::SmallVector<std::pair<uint64_t, TermId>, 4> outputs;
  llvm::SmallVector<TensorId, 8> results, read;
  if (code.isInputs())
    for (unsigned i = 0; i < 2 && code.words[i] != GraphCode::kNone; ++i)
      results.push_back(code.words[i] & 0xffff);
  forEachApplication(
      expressions, code,
      [&](const Application &application, const ExpressionId *id) {
        ++side.numOperators;
        for (unsigned i = 0;
             i < expressions.getNumOperands(application.operatorNumber); ++i)
          read.push_back(application.operands[i]);
        if (id) {
          const Expression &expression = expressions.getExpression(*id);
          for (unsigned i = 0; i < expression.numResults; ++i)
            results.push_back(expression.firstResult + i);
          return;
        }
        unsigned numResults = expressions.getTable()
                                  .operators[application.operatorNumber]
                                  .getNumResults();
        expressions.evaluate(application, this->results);
        for (unsigned i = 0; i < numResults; ++i)
          outputs.emplace_back(this->results.tensors[i].valueHash,
                               getTerm(application, i));
      });
  for (TensorId id : results)
    if (!llvm::is_contained(read, id))
      outputs.emplace_back(expressions.getTensor(id).valueHash, getTerm(id));
  llvm::sort(outputs);
  for (auto &[hash, term] : outputs)
    side.outputs.push_back(term);
  side.numVariables =
      llvm::count_if(terms.getPostOrder(side.outputs),
                     [&](TermId term) { return terms[term].isVariable(); });
  return side;
}
