//===- ReadValues.cpp - What points read, and what is known of it ---------===//

#include "espalier/Polyhedral/ReadValues.h"
#include "../Isl.h"

using namespace mlir;
using namespace espalier::polyhedral;

/// Calls `visit` with the number of each read whose value `expr` depends on.
static void forEachRead(const Program &program, const Statement &statement,
                        AffineExpr expr,
                        llvm::function_ref<void(unsigned)> visit) {
  for (unsigned read = 0; read < statement.values.size(); ++read)
    if (expr.isFunctionOfSymbol(program.numParams + read))
      visit(read);
}

static bool isWritten(const Program &program, unsigned array) {
  return llvm::any_of(program.statements, [&](const Statement &statement) {
    return llvm::any_of(statement.writes, [&](const Access &write) {
      return write.array == array;
    });
  });
}

ReadValues::ReadValues(const Context &context, const Program &program,
                       llvm::ArrayRef<PointUse> points)
    : context(context), program(program), points(points) {
  for (const PointUse &point : points)
    numPointDims += program.statements[point.statement].numDims;
  for (unsigned point = 0; point < points.size(); ++point) {
    for (AffineExpr expr : points[point].exprs)
      collect(expr, point);
    if (points[point].runs)
      forEachCondition(getStatement(point), [&](AffineExpr condition) {
        collect(condition, point);
      });
  }
}

bool ReadValues::isAffine(AffineExpr expr) const {
  return isl::isAffine(expr, program.numParams);
}

void ReadValues::collect(AffineExpr expr, unsigned point) {
  forEachRead(program, getStatement(point), expr, [&](unsigned read) {
    const Access &access = getStatement(point).values[read];
    bool isKnown = llvm::any_of(values, [&](const Value &value) {
      return value.point == point && value.read == read;
    });
    if (isKnown || isWritten(program, access.array))
      return;
    Value value{point, read, access.array, {}};
    for (AffineExpr index : access.map.getResults()) {
      collect(index, point);
      value.indices.push_back(get(index, point));
    }
    if (llvm::all_of(value.indices,
                     [&](AffineExpr index) { return isAffine(index); }))
      values.push_back(std::move(value));
  });
}

AffineExpr ReadValues::get(AffineExpr expr, unsigned point) const {
  unsigned before = 0;
  for (unsigned other = 0; other < point; ++other)
    before += getStatement(other).numDims;
  const Statement &statement = getStatement(point);
  expr = expr.shiftDims(statement.numDims, before);
  if (values.empty() || !hasValues(expr, program.numParams))
    return expr;
  llvm::SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i < program.numParams + statement.values.size(); ++i)
    symbols.push_back(getAffineSymbolExpr(i, program.context));
  for (auto [number, value] : llvm::enumerate(values))
    if (value.point == point)
      symbols[program.numParams + value.read] = getDim(number);
  return expr.replaceSymbols(symbols);
}

AffineMap ReadValues::get(AffineMap map, unsigned point) const {
  llvm::SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(get(result, point));
  return AffineMap::get(getNumDims(),
                        std::max(map.getNumSymbols(), program.numParams),
                        results, program.context);
}

void ReadValues::addConditions(unsigned point, Constraints &constraints) const {
  for (auto [number, value] : llvm::enumerate(values)) {
    AffineExpr bound = program.facts.lookup(value.array).bound;
    if (value.point == point && bound)
      llvm::append_values(constraints, getDim(number),
                          bound - 1 - getDim(number));
  }
  if (!points[point].runs)
    return;
  forEachCondition(getStatement(point), [&](AffineExpr condition) {
    if (AffineExpr expr = get(condition, point); isAffine(expr))
      constraints.push_back(expr);
  });
}

ValueCases ReadValues::getCases() const {
  ValueCases cases(1);
  for (unsigned point = 0; point < points.size(); ++point) {
    addConditions(point, cases.front());
    addGivens(point, cases.front());
  }
  addOrders(cases);
  return cases;
}

Set ReadValues::getSet(llvm::ArrayRef<AffineExpr> more) const {
  auto sets = llvm::map_to_vector(getCases(), [&](Constraints constraints) {
    llvm::append_range(constraints, more);
    // A set has a constraint.
    constraints.push_back(getAffineConstantExpr(0, program.context));
    return IntegerSet::get(getNumDims(), program.numParams, constraints,
                           llvm::SmallVector<bool>(constraints.size()));
  });
  return Set::getUnion(context, getNumDims(), program.numParams, sets);
}

Map espalier::polyhedral::getMeetings(const Context &context,
                                      const Program &program, unsigned source,
                                      AffineMap sourceMap, unsigned sink,
                                      AffineMap sinkMap) {
  ReadValues values(
      context, program,
      {{source, sourceMap.getResults()}, {sink, sinkMap.getResults()}});
  auto getDomain = [&](unsigned statement) {
    isl::Space space = isl::makeSpace(context.get(), program.numParams,
                                      program.statements[statement].numDims);
    return Set(isl_set_intersect(
        isl::toDomain(space, program.statements[statement]).take(),
        isl::getAssumptions(space, program).take()));
  };
  auto getRelation = [&](AffineMap map) {
    return Map::get(context, program.numParams, map, Map::Inexact::Any);
  };
  Map relation = getRelation(sourceMap)
                     .compose(getRelation(sinkMap).inverse())
                     .intersectDomain(getDomain(source))
                     .intersectRange(getDomain(sink));
  if (values.size() == 0)
    return relation;
  llvm::SmallVector<AffineExpr> equal;
  for (auto [first, second] :
       llvm::zip_equal(sourceMap.getResults(), sinkMap.getResults())) {
    AffineExpr difference = values.get(second, 1) - values.get(first, 0);
    if (hasValues(first, program.numParams) ||
        hasValues(second, program.numParams))
      if (isl::isAffine(difference, program.numParams))
        llvm::append_values(equal, difference, -difference);
  }
  unsigned numSource = program.statements[source].numDims;
  unsigned numPoint = numSource + program.statements[sink].numDims;
  return relation.intersect(Map::get(
      values.getSet(equal).project(numPoint, values.size()), numSource));
}
