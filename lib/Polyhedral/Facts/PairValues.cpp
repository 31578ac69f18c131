//===- PairValues.cpp - Values that two points read -----------------------===//
//
// A value is a function of its subscript, which is not known; so for two
// subscripts u and w of one array A, that nobody writes,
//
//   u < w,   or   u = w and A[u] = A[w],   or   u > w,
//
// with A[u] <= A[w] in the first and A[u] >= A[w] in the last case if A does
// not decrease. Subscripts with a constant difference need no cases. Those with
// the same difference but for a constant, such as n - n' and n + 1 - n', share
// them: one for each constant at which one of the differences is zero, and one
// for what is between two such, below, and above.
//
//===----------------------------------------------------------------------===//

#include "PairValues.h"
#include "../Isl.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace espalier::polyhedral;

PairValues::PairValues(const Program &program, const AccessPair &pair)
    : program(program), pair(pair) {
  if (!isAsked(pair.sourceAccess, false) && !isAsked(pair.sinkAccess, true))
    return;
  for (bool isSink : {false, true}) {
    const Access &access = isSink ? pair.sinkAccess : pair.sourceAccess;
    for (AffineExpr index : access.map.getResults())
      collect(index, isSink);
    forEachCondition(getStatement(isSink),
                     [&](AffineExpr condition) { collect(condition, isSink); });
  }
}

AffineExpr PairValues::getDim(unsigned number) const {
  return getAffineDimExpr(getStatement(false).numDims +
                              getStatement(true).numDims + number,
                          program.context);
}

bool PairValues::isAsked(const Access &access, bool isSink) const {
  const Statement &statement = getStatement(isSink);
  return llvm::any_of(access.map.getResults(), [&](AffineExpr index) {
    if (!hasValues(index, program.numParams))
      return false;
    for (unsigned dim = 0; dim < statement.numDims; ++dim)
      if (index.isFunctionOfDim(dim))
        return true;
    return false;
  });
}

static bool isWritten(const Program &program, unsigned array) {
  return llvm::any_of(program.statements, [&](const Statement &statement) {
    return llvm::any_of(statement.writes, [&](const Access &write) {
      return write.array == array;
    });
  });
}

void PairValues::collect(AffineExpr expr, bool isSink) {
  const Statement &statement = getStatement(isSink);
  for (unsigned number = 0; number < statement.values.size(); ++number) {
    const Access &read = statement.values[number];
    if (!expr.isFunctionOfSymbol(program.numParams + number) ||
        read.map.getNumResults() != 1 || isWritten(program, read.array) ||
        llvm::any_of(values, [&](const Value &known) {
          return known.isSink == isSink && known.read == number;
        }))
      continue;
    AffineExpr index = read.map.getResult(0);
    if (!isl::isAffine(index, program.numParams))
      continue;
    if (isSink)
      index = index.shiftDims(statement.numDims, getStatement(false).numDims);
    values.push_back({isSink, number, index});
  }
}

AffineExpr PairValues::get(AffineExpr expr, bool isSink) const {
  const Statement &statement = getStatement(isSink);
  if (isSink)
    expr = expr.shiftDims(statement.numDims, getStatement(false).numDims);
  llvm::SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i < program.numParams + statement.values.size(); ++i)
    symbols.push_back(getAffineSymbolExpr(i, program.context));
  for (auto [number, value] : llvm::enumerate(values))
    if (value.isSink == isSink)
      symbols[program.numParams + value.read] = getDim(number);
  expr = expr.replaceSymbols(symbols);
  return isl::isAffine(expr, program.numParams) ? expr : AffineExpr();
}

void PairValues::addOrder(
    unsigned first, unsigned second, int order,
    llvm::SmallVectorImpl<AffineExpr> &constraints) const {
  bool isMonotonic = program.facts.lookup(getArray(values[first])).isMonotonic;
  AffineExpr difference = getDim(second) - getDim(first);
  if (order == 0 || (isMonotonic && order > 0))
    constraints.push_back(difference);
  if (order == 0 || (isMonotonic && order < 0))
    constraints.push_back(-difference);
}

/// -1, 0 or 1.
static int getSign(int64_t number) { return (number > 0) - (number < 0); }

/// The value of `expr` where all is zero.
static int64_t getConstant(AffineExpr expr, unsigned numDims,
                           unsigned numParams) {
  AffineExpr zero = getAffineConstantExpr(0, expr.getContext());
  llvm::SmallVector<AffineExpr> dims(numDims, zero), symbols(numParams, zero);
  AffineExpr value = simplifyAffineExpr(
      expr.replaceDimsAndSymbols(dims, symbols), /*numDims=*/0,
      /*numSymbols=*/0);
  return cast<AffineConstantExpr>(value).getValue();
}

/// Adds the case that `rest` is between `low` and `high`, where none of the
/// differences changes its sign.
void PairValues::addCase(AffineExpr rest, llvm::ArrayRef<Order> orders,
                         std::optional<int64_t> low,
                         std::optional<int64_t> high, PairCases &cases) const {
  llvm::SmallVector<AffineExpr> &constraints = cases.emplace_back();
  if (low)
    constraints.push_back(rest - *low);
  if (high)
    constraints.push_back(-rest + *high);
  int64_t sample = low ? *low : *high;
  for (const Order &order : orders)
    addOrder(order.first, order.second, getSign(sample + order.constant),
             constraints);
}

PairCases PairValues::splitByOrder(AffineExpr rest,
                                   llvm::ArrayRef<Order> orders) const {
  llvm::SmallVector<int64_t> zeros;
  for (const Order &order : orders)
    zeros.push_back(-order.constant);
  llvm::sort(zeros);
  zeros.erase(llvm::unique(zeros), zeros.end());
  PairCases cases;
  std::optional<int64_t> low;
  for (int64_t zero : zeros) {
    if (!low || *low < zero)
      addCase(rest, orders, low, zero - 1, cases);
    addCase(rest, orders, zero, zero, cases);
    low = zero + 1;
  }
  addCase(rest, orders, low, std::nullopt, cases);
  return cases;
}

void PairValues::addConditions(
    llvm::SmallVectorImpl<AffineExpr> &constraints) const {
  for (unsigned number = 0; number < values.size(); ++number)
    if (AffineExpr bound = program.facts.lookup(getArray(values[number])).bound)
      llvm::append_values(constraints, getDim(number),
                          bound - 1 - getDim(number));
  for (bool isSink : {false, true})
    forEachCondition(getStatement(isSink), [&](AffineExpr condition) {
      if (AffineExpr expr = get(condition, isSink))
        constraints.push_back(expr);
    });
}

PairCases PairValues::getCases() const {
  llvm::SmallVector<AffineExpr> common;
  addConditions(common);
  // Pairs of values by the difference of their subscripts, but for a constant.
  llvm::SmallMapVector<AffineExpr, llvm::SmallVector<Order>, 4> groups;
  unsigned numDims = getStatement(false).numDims + getStatement(true).numDims;
  for (unsigned first = 0; first < values.size(); ++first)
    for (unsigned second = first + 1; second < values.size(); ++second) {
      if (getArray(values[first]) != getArray(values[second]))
        continue;
      AffineExpr difference =
          simplifyAffineExpr(values[second].index - values[first].index,
                             numDims, program.numParams);
      int64_t constant = getConstant(difference, numDims, program.numParams);
      AffineExpr rest =
          simplifyAffineExpr(difference - constant, numDims, program.numParams);
      if (rest == getAffineConstantExpr(0, program.context))
        addOrder(first, second, getSign(constant), common);
      else
        groups[rest].push_back({first, second, constant});
    }

  PairCases cases{common};
  constexpr size_t maxCases = 64;
  for (const auto &group : groups) {
    PairCases more = splitByOrder(group.first, group.second);
    if (cases.size() * more.size() > maxCases)
      continue;
    PairCases product;
    for (const auto &here : cases)
      for (const auto &there : more) {
        product.push_back(here);
        llvm::append_range(product.back(), there);
      }
    cases = std::move(product);
  }
  return cases;
}
