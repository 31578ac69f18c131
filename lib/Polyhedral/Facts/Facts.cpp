//===- Facts.cpp - What is known of data ----------------------------------===//
//
// Values that are read may be anything, but for what is stated of their array.
//
//  * With a bound, they are replaced by the least or largest value where that
//    weakens a constraint.
//  * In an array A whose values do not decrease, u <= l means A[u] <= A[l]. So
//    if one point runs only where a <= A[u], and another where A[l] <= b, then
//
//        u > l  or  a <= b.
//
//    With a = j + 1 and b = j' it follows that the points j of a row end before
//    those j' of a later one begin.
//
//===----------------------------------------------------------------------===//

#include "Facts.h"
#include "../Isl.h"

using namespace mlir;
using namespace espalier::polyhedral;

void espalier::polyhedral::forEachCondition(
    const Statement &statement, llvm::function_ref<void(AffineExpr)> visit) {
  IntegerSet where = statement.where;
  if (!where)
    return;
  for (auto [expr, isEquality] :
       llvm::zip_equal(where.getConstraints(), where.getEqFlags())) {
    visit(expr);
    if (isEquality)
      visit(-expr);
  }
}

bool espalier::polyhedral::hasValues(AffineExpr expr, unsigned numParams) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    found |= symbol && symbol.getPosition() >= numParams;
  });
  return found;
}

std::optional<int64_t> espalier::polyhedral::getFactor(AffineExpr expr,
                                                       AffineExpr of) {
  AffineExpr step = expr.replace(of, of + 1) - expr;
  AffineMap map =
      AffineMap::inferFromExprList({step}, expr.getContext()).front();
  step = simplifyAffineExpr(step, map.getNumDims(), map.getNumSymbols());
  auto number = dyn_cast<AffineConstantExpr>(step);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

AffineExpr espalier::polyhedral::getExtreme(const Program &program,
                                            const Statement &statement,
                                            AffineExpr expr, bool isLargest) {
  for (auto [number, read] : llvm::enumerate(statement.values)) {
    AffineExpr symbol =
        getAffineSymbolExpr(program.numParams + number, expr.getContext());
    if (!expr.isFunctionOfSymbol(program.numParams + number))
      continue;
    std::optional<int64_t> factor = getFactor(expr, symbol);
    AffineExpr bound = program.facts.lookup(read.array).bound;
    if (!factor || !bound)
      return {};
    AffineExpr value = (*factor > 0) == isLargest
                           ? bound - 1
                           : getAffineConstantExpr(0, expr.getContext());
    expr = expr.replace(symbol, value);
  }
  if (hasValues(expr, program.numParams))
    return {};
  expr = simplifyAffineExpr(expr, statement.numDims, program.numParams);
  return isl::isAffine(expr, program.numParams) ? expr : AffineExpr();
}

namespace {
/// `rest` + `sign` * array[element] >= 0, at points of one statement.
struct ElementBound {
  unsigned array;
  AffineExpr element;
  AffineExpr rest;
  int64_t sign;
};

/// Collects facts on the pairs of points of two statements.
class FactFinder {
public:
  FactFinder(const Program &program, const AccessPair &pair)
      : program(program), pair(pair), source(program.statements[pair.source]),
        sink(program.statements[pair.sink]) {}

  PairCases run();

private:
  AffineExpr toSink(AffineExpr expr) const {
    return expr.shiftDims(sink.numDims, source.numDims);
  }
  void addBounds();
  void addElements();
  /// Adds the bounds of a statement's conditions by elements of monotonic
  /// arrays, over the dimensions of the pair.
  void collect(const Statement &statement, bool isSink,
               llvm::SmallVectorImpl<ElementBound> &bounds) const;
  void addOrder(const ElementBound &above, const ElementBound &below);

  const Program &program;
  const AccessPair &pair;
  const Statement &source;
  const Statement &sink;
  llvm::SmallVector<AffineExpr> common;
  /// Of each, one holds.
  llvm::SmallVector<std::pair<AffineExpr, AffineExpr>> choices;
};
} // namespace

void FactFinder::addBounds() {
  for (bool isSink : {false, true}) {
    const Statement &statement = isSink ? sink : source;
    forEachCondition(statement, [&](AffineExpr condition) {
      if (AffineExpr most = getExtreme(program, statement, condition, true))
        common.push_back(isSink ? toSink(most) : most);
    });
  }
}

void FactFinder::addElements() {
  for (auto indices : llvm::zip_equal(pair.sourceAccess.map.getResults(),
                                      pair.sinkAccess.map.getResults())) {
    AffineExpr here = std::get<0>(indices), there = std::get<1>(indices);
    if (!hasValues(here, program.numParams) &&
        !hasValues(there, program.numParams))
      continue;
    auto addLess = [&](AffineExpr least, AffineExpr most) {
      if (least && most)
        common.push_back(most - least);
    };
    auto get = [&](bool isSink, bool isLargest) {
      AffineExpr value = getExtreme(program, isSink ? sink : source,
                                    isSink ? there : here, isLargest);
      return value && isSink ? toSink(value) : value;
    };
    addLess(get(false, false), get(true, true));
    addLess(get(true, false), get(false, true));
  }
}

void FactFinder::collect(const Statement &statement, bool isSink,
                         llvm::SmallVectorImpl<ElementBound> &bounds) const {
  forEachCondition(statement, [&](AffineExpr condition) {
    for (auto [number, read] : llvm::enumerate(statement.values)) {
      AffineExpr symbol =
          getAffineSymbolExpr(program.numParams + number, program.context);
      if (!condition.isFunctionOfSymbol(program.numParams + number) ||
          !program.facts.lookup(read.array).isMonotonic)
        continue;
      std::optional<int64_t> factor = getFactor(condition, symbol);
      if (!factor || std::abs(*factor) != 1)
        continue;
      AffineExpr rest =
          condition.replace(symbol, getAffineConstantExpr(0, program.context));
      AffineExpr element = read.map.getResult(0);
      if (!isl::isAffine(rest, program.numParams) ||
          !isl::isAffine(element, program.numParams))
        continue;
      bounds.push_back({read.array, isSink ? toSink(element) : element,
                        isSink ? toSink(rest) : rest, *factor});
    }
  });
}

void FactFinder::addOrder(const ElementBound &above,
                          const ElementBound &below) {
  // -above.rest <= A[above.element], A[below.element] <= below.rest.
  if (above.array == below.array && above.sign > 0 && below.sign < 0)
    choices.push_back(
        {above.element - below.element - 1, above.rest + below.rest});
}

PairCases FactFinder::run() {
  addBounds();
  addElements();
  llvm::SmallVector<ElementBound> here, there;
  collect(source, /*isSink=*/false, here);
  collect(sink, /*isSink=*/true, there);
  for (const ElementBound &first : here)
    for (const ElementBound &second : there) {
      addOrder(first, second);
      addOrder(second, first);
    }
  PairCases cases{common};
  constexpr size_t maxCases = 16;
  for (auto [first, second] : choices) {
    if (2 * cases.size() > maxCases)
      break;
    PairCases more = cases;
    for (auto &constraints : cases)
      constraints.push_back(first);
    for (auto &constraints : more)
      constraints.push_back(second);
    llvm::append_range(cases, more);
  }
  return cases;
}

PairCases espalier::polyhedral::getPairCases(const Program &program,
                                             const AccessPair &pair) {
  return FactFinder(program, pair).run();
}
