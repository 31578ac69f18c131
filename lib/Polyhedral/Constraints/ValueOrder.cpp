//===- ValueOrder.cpp - Values by the order of their subscripts -----------===//
//
// A value is a function of its subscript, which is not known; so for two
// subscripts u and w of one array A, that nobody writes,
//
//   u < w,   or   u = w and A[u] = A[w],   or   u > w,
//
// with A[u] <= A[w] in the first and A[u] >= A[w] in the last case if A does
// not decrease (Ackermann's expansion). Subscripts with a constant difference
// need no cases. Those with the same difference but for a constant, such as
// n - n' and n + 1 - n', share them: one for each constant at which one of the
// differences is zero, and one for what is between two such, below, and above.
//
// In an array without repeated values, it is the values that are compared:
// A[u] < A[w], or A[u] = A[w] and u = w, or A[u] > A[w].
//
//===----------------------------------------------------------------------===//

#include "espalier/Polyhedral/ReadValues.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace espalier::polyhedral;

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

static void addEqual(AffineExpr difference,
                     llvm::SmallVectorImpl<AffineExpr> &constraints) {
  llvm::append_values(constraints, difference, -difference);
}

/// Adds what the sign of a difference of subscripts says of their values.
void ReadValues::addOrder(unsigned first, unsigned second, int order,
                          Constraints &constraints) const {
  bool isMonotonic = program.facts.lookup(values[first].array).isMonotonic;
  AffineExpr difference = getDim(second) - getDim(first);
  if (order == 0 || (isMonotonic && order > 0))
    constraints.push_back(difference);
  if (order == 0 || (isMonotonic && order < 0))
    constraints.push_back(-difference);
}

/// Adds the case that `rest` is between `low` and `high`, where none of the
/// differences changes its sign.
void ReadValues::addCase(AffineExpr rest, llvm::ArrayRef<Order> orders,
                         std::optional<int64_t> low,
                         std::optional<int64_t> high, ValueCases &cases) const {
  Constraints &constraints = cases.emplace_back();
  if (low)
    constraints.push_back(rest - *low);
  if (high)
    constraints.push_back(-rest + *high);
  int64_t sample = low ? *low : *high;
  for (const Order &order : orders)
    addOrder(order.first, order.second, getSign(sample + order.constant),
             constraints);
}

/// The cases of `rest`, which is what the differences in `orders` have in
/// common.
ValueCases ReadValues::orderByIndex(llvm::ArrayRef<Order> orders,
                                    AffineExpr rest) const {
  llvm::SmallVector<int64_t> zeros;
  for (const Order &order : orders)
    zeros.push_back(-order.constant);
  llvm::sort(zeros);
  zeros.erase(llvm::unique(zeros), zeros.end());
  ValueCases cases;
  std::optional<int64_t> low;
  for (int64_t zero : zeros) {
    if (!low || *low < zero)
      addCase(rest, orders, low, zero - 1, cases);
    addCase(rest, orders, zero, zero, cases);
    low = zero + 1;
  }
  addCase(rest, orders, low, std::nullopt, cases);
  // Examples from near by read better than those from far away.
  std::rotate(cases.begin(), cases.begin() + 1, cases.end());
  return cases;
}

/// The cases of two values in an array of several dimensions: the subscripts
/// are the same, or the first that is not is less or greater.
ValueCases ReadValues::orderByIndices(unsigned first, unsigned second) const {
  ValueCases cases;
  Constraints same;
  for (auto [here, there] :
       llvm::zip_equal(values[first].indices, values[second].indices)) {
    AffineExpr difference = simplify(there - here);
    if (auto number = dyn_cast<AffineConstantExpr>(difference)) {
      if (number.getValue() == 0)
        continue;
      cases.push_back(same);
      return cases;
    }
    for (AffineExpr apart : {difference - 1, -difference - 1}) {
      cases.push_back(same);
      cases.back().push_back(apart);
    }
    addEqual(difference, same);
  }
  cases.push_back(same);
  addOrder(first, second, 0, cases.back());
  return cases;
}

ValueCases ReadValues::orderByValue(unsigned first, unsigned second) const {
  bool isMonotonic = program.facts.lookup(values[first].array).isMonotonic;
  ValueCases cases(3);
  AffineExpr value = getDim(second) - getDim(first);
  cases[0].push_back(value - 1);
  cases[1].push_back(-value - 1);
  addEqual(value, cases[2]);
  for (auto [here, there] :
       llvm::zip_equal(values[first].indices, values[second].indices)) {
    AffineExpr index = simplify(there - here);
    if (isMonotonic) {
      cases[0].push_back(index - 1);
      cases[1].push_back(-index - 1);
    }
    addEqual(index, cases[2]);
  }
  return cases;
}

/// Each of `cases` in each of `more`; as they are, if that makes too many:
/// fewer facts are known then.
static void multiply(ValueCases &cases, const ValueCases &more) {
  constexpr size_t maxCases = 64;
  if (cases.size() * more.size() > maxCases)
    return;
  ValueCases product;
  for (const auto &here : cases)
    for (const auto &there : more) {
      product.push_back(here);
      llvm::append_range(product.back(), there);
    }
  cases = std::move(product);
}

void ReadValues::addOrders(ValueCases &cases) const {
  // Pairs of values by the difference of their subscripts, but for a constant.
  llvm::SmallMapVector<AffineExpr, llvm::SmallVector<Order>, 4> groups;
  ValueCases common(1);
  llvm::SmallVector<ValueCases> others;
  for (unsigned first = 0; first < size(); ++first)
    for (unsigned second = first + 1; second < size(); ++second) {
      if (getArray(first) != getArray(second))
        continue;
      if (program.facts.lookup(getArray(first)).isInjective) {
        others.push_back(orderByValue(first, second));
        continue;
      }
      if (getIndices(first).size() != 1) {
        others.push_back(orderByIndices(first, second));
        continue;
      }
      AffineExpr difference =
          simplify(getIndices(second).front() - getIndices(first).front());
      int64_t constant =
          getConstant(difference, getNumDims(), program.numParams);
      AffineExpr rest = simplify(difference - constant);
      if (rest == getAffineConstantExpr(0, program.context))
        addOrder(first, second, getSign(constant), common.front());
      else
        groups[rest].push_back({first, second, constant});
    }
  multiply(cases, common);
  for (const auto &group : groups)
    multiply(cases, orderByIndex(group.second, group.first));
  for (const ValueCases &other : others)
    multiply(cases, other);
}
