//===- TableCost.cpp - Costs from a list ----------------------------------===//

#include "espalier/Substitution/Search/CostModel.h"
#include <cmath>

using namespace mlir;
using namespace espalier::substitution;

static constexpr llvm::StringLiteral kArrow = " -> ";

/// How the operator with these types is listed.
static std::string describe(const OperatorInstance &instance) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << instance.name << ' ';
  llvm::interleaveComma(instance.operands, os);
  os << kArrow << instance.result;
  return text;
}

/// Leaves out the orders that types state.
static std::string withoutOrders(StringRef text) {
  constexpr llvm::StringLiteral begin = ", array<", end = ">";
  std::string result;
  while (true) {
    auto [before, rest] = text.split(begin);
    result += before;
    if (rest.empty())
      return result;
    text = rest.split(end).second;
  }
}

LogicalResult TableCostModel::add(
    StringRef text,
    llvm::function_ref<void(unsigned line, const llvm::Twine &)> error) {
  bool isValid = true;
  for (unsigned number = 1; !text.empty(); ++number) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto [time, operation] = line.split(' ');
    double microseconds = 0;
    if (time.getAsDouble(microseconds) || !std::isfinite(microseconds) ||
        microseconds < 0 || !operation.contains(kArrow)) {
      error(number, "expects microseconds, an operator and its types as in "
                    "'5.5 graph.relu tensor<4xf32> -> tensor<4xf32>', but got "
                    "'" +
                        line + "'");
      isValid = false;
      continue;
    }
    operation = operation.trim();
    seconds[operation] = microseconds * 1e-6;
    StringRef operands = operation.split(kArrow).first;
    if (withoutOrders(operands) != operands)
      reordered.insert(withoutOrders(operation));
  }
  return success(isValid);
}

double TableCostModel::getSeconds(const OperatorInstance &instance) {
  auto known = seconds.find(describe(instance));
  return known == seconds.end() ? analytic.getSeconds(instance) : known->second;
}

bool TableCostModel::mayGainByLayout(const OperatorInstance &instance) const {
  return reordered.contains(describe(instance));
}
