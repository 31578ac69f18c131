//===- Describe.cpp - Graphs and substitutions as JSON --------------------===//

#include "Describe.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/MapVector.h"
#include <set>

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

template <typename Printed>
static std::string print(const Printed &printed) {
  std::string text;
  llvm::raw_string_ostream(text) << printed;
  return text;
}

static std::string printType(Value value) { return print(value.getType()); }

/// Prints the attributes but for the elements of constants.
static std::string printAttributes(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return "";
  DictionaryAttr attributes = op->getAttrDictionary();
  return attributes.empty() ? "" : print(attributes);
}

namespace {
/// Numbers the values of a function and describes what computes them.
class GraphDescriber {
public:
  void addArguments(Block &block) {
    for (BlockArgument argument : block.getArguments()) {
      numbers[argument] = result.size();
      result.push_back(llvm::json::Object{{"op", "input"},
                                          {"type", printType(argument)},
                                          {"attributes", ""},
                                          {"operands", llvm::json::Array()},
                                          {"is_constant", false}});
    }
  }

  /// Of two versions, describes the first one, which is what was found, and
  /// leaves out how it is chosen.
  void addOperations(Block &block) {
    auto choice = [&](Operation &op) {
      return isa<scf::IfOp>(op) && op.getNumResults() > 0;
    };
    bool hasVersions = llvm::any_of(block, choice);
    for (Operation &op : block.without_terminator()) {
      if (choice(op))
        addVersion(cast<scf::IfOp>(op));
      else if (op.getNumResults() > 0 &&
               !(hasVersions && isa<arith::ArithDialect, tensor::TensorDialect>(
                                    op.getDialect())))
        addOperation(op);
    }
  }

  llvm::json::Array take() { return std::move(result); }

private:
  void addVersion(scf::IfOp choice) {
    addOperations(*choice.thenBlock());
    for (auto [value, yielded] :
         llvm::zip_equal(choice.getResults(), choice.thenYield().getOperands()))
      numbers[value] = numbers.lookup(yielded);
  }

  void addOperation(Operation &op) {
    llvm::json::Array operands;
    bool isConstant = isMemoryEffectFree(&op);
    for (Value operand : op.getOperands()) {
      operands.push_back(numbers.lookup(operand));
      isConstant &= constants.contains(operand);
    }
    for (Value value : op.getResults()) {
      numbers[value] = result.size();
      if (isConstant)
        constants.insert(value);
    }
    result.push_back(
        llvm::json::Object{{"op", op.getName().getStringRef().str()},
                           {"type", printType(op.getResult(0))},
                           {"attributes", printAttributes(&op)},
                           {"operands", std::move(operands)},
                           {"is_constant", isConstant}});
  }

  llvm::json::Array result;
  llvm::DenseMap<Value, int64_t> numbers;
  llvm::DenseSet<Value> constants;
};
} // namespace

llvm::json::Array espalier::describeGraph(ModuleOp module) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal())
    return {};
  GraphDescriber describer;
  describer.addArguments(main.getBody().front());
  describer.addOperations(main.getBody().front());
  return describer.take();
}

llvm::json::Array
espalier::describeSubstitutions(ArrayRef<Substitution> substitutions) {
  llvm::MapVector<StringRef, std::pair<int64_t, double>> byRule;
  for (const Substitution &substitution : substitutions) {
    auto &[count, gain] = byRule[substitution.rule];
    ++count;
    gain += substitution.gain;
  }
  llvm::json::Array result;
  for (const auto &[rule, made] : byRule)
    result.push_back(llvm::json::Object{{"rule", rule.str()},
                                        {"count", made.first},
                                        {"predicted_gain_s", made.second}});
  return result;
}

llvm::json::Array espalier::describeProofs(ArrayRef<Substitution> substitutions,
                                           const RuleSet &rules) {
  std::set<StringRef> used;
  for (const Substitution &substitution : substitutions)
    used.insert(substitution.rule);
  VerifyOptions options;
  options.writesProofs = true;
  Verifier verifier(options);
  llvm::json::Array result;
  for (const ProvedRule &proved : rules.getRules()) {
    if (!used.count(proved.rule.name))
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    substitution::print(proved.rule, os);
    Verdict verdict = verifier.verify(proved.rule);
    result.push_back(llvm::json::Object{{"rule", proved.rule.name},
                                        {"text", text},
                                        {"verdict", ::print(verdict)},
                                        {"proof", verdict.proof}});
  }
  return result;
}
