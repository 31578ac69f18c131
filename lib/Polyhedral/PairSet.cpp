//===- PairSet.cpp - Pairs of points --------------------------------------===//

#include "PairSet.h"
#include "mlir/Analysis/Presburger/Simplex.h"
#include <isl/constraint.h>

using namespace mlir;
using namespace espalier::polyhedral;

PairSet::PairSet(const Context &context, const Program &program,
                 unsigned numSource, unsigned numSink, const ReadValues *values)
    : context(context), program(program), values(values), numSource(numSource),
      numDims(numSource + numSink + (values ? values->size() : 0)),
      space(isl::makeSpace(context.get(), program.numParams, numDims)),
      points(isl_basic_set_universe(space.copy())) {
  for (unsigned i = 0; i < program.numParams; ++i)
    add(getAffineSymbolExpr(i, program.context), false);
  if (IntegerSet assumptions = program.assumptions)
    add(assumptions, 0);
}

PairSet::PairSet(const Context &context, const Program &program,
                 const Path &source, const Path &sink, const ReadValues *values)
    : PairSet(context, program, program.statements[source.statement].numDims,
              program.statements[sink.statement].numDims, values) {
  for (IntegerSet filter : source.filters)
    add(filter, 0);
  for (IntegerSet filter : sink.filters)
    add(filter, numSource);
}

AffineExpr PairSet::at(AffineExpr expr, bool isSink) const {
  if (values)
    return values->get(expr, isSink);
  return isSink ? expr.shiftDims(numDims - numSource, numSource) : expr;
}

AffineExpr PairSet::getDifference(AffineExpr here, AffineExpr there) const {
  return at(there, /*isSink=*/true) - at(here, /*isSink=*/false);
}

void PairSet::addEqual(AffineMap here, AffineMap there) {
  for (auto [first, second] :
       llvm::zip_equal(here.getResults(), there.getResults()))
    if (AffineExpr difference = getDifference(first, second);
        isAffine(difference))
      add(difference, true);
}

void PairSet::addDomains(IntegerSet source, IntegerSet sink) {
  add(source, 0);
  add(sink, numSource);
}

void PairSet::add(AffineExpr expr, bool isEquality) {
  pending.push_back({expr, isEquality});
  constraints.push_back({expr, isEquality});
  substitution.reset();
}

/// Adds `factor` times `expr` to a row: coefficients of dimensions, then of
/// symbols, then a constant. False if it is not linear.
static bool addToRow(AffineExpr expr, int64_t factor, unsigned numDims,
                     llvm::SmallVectorImpl<int64_t> &row) {
  int64_t *place = nullptr;
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    place = &row[dim.getPosition()];
  else if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    place = &row[numDims + symbol.getPosition()];
  if (place)
    return !llvm::AddOverflow(*place, factor, *place);
  int64_t product;
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return !llvm::MulOverflow(number.getValue(), factor, product) &&
           !llvm::AddOverflow(row.back(), product, row.back());
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add)
    return addToRow(binary.getLHS(), factor, numDims, row) &&
           addToRow(binary.getRHS(), factor, numDims, row);
  auto by = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul && by &&
         !llvm::MulOverflow(by.getValue(), factor, product) &&
         addToRow(binary.getLHS(), product, numDims, row);
}

bool PairSet::isEmptyForRationals() const {
  presburger::Simplex simplex(numDims + program.numParams);
  llvm::SmallVector<int64_t> row;
  for (auto [expr, isEquality] : constraints) {
    row.assign(numDims + program.numParams + 1, 0);
    if (!isl::isAffine(expr, program.numParams) ||
        !addToRow(expr, 1, numDims, row))
      continue;
    auto numbers = presburger::getDynamicAPIntVec(row);
    if (isEquality)
      simplex.addEquality(numbers);
    else
      simplex.addInequality(numbers);
    if (simplex.isEmpty())
      return true;
  }
  return false;
}

/// Constraints as what `Context::Answers` knows them by.
static Context::Answers::Key getKey(llvm::ArrayRef<isl::Constraint> constraints,
                                    unsigned numParams) {
  Context::Answers::Key key;
  for (auto [expr, isEquality] : constraints)
    key.push_back(reinterpret_cast<uintptr_t>(expr.getAsOpaquePointer()) |
                  uintptr_t(isEquality));
  llvm::sort(key);
  key.erase(llvm::unique(key), key.end());
  key.push_back(numParams);
  return key;
}

std::optional<bool> PairSet::isEmpty() const {
  auto &answers = context.getAnswers().isEmpty;
  auto key = getKey(constraints, program.numParams);
  if (auto known = answers.find(key); known != answers.end())
    return known->second;
  if (isEmptyForRationals())
    return answers[std::move(key)] = true;
  isl::Question question(context.get());
  addPending();
  isl_bool answer = isl_basic_set_is_empty(points.get());
  if (answer == isl_bool_error)
    return std::nullopt;
  return answers[std::move(key)] = answer == isl_bool_true;
}

void PairSet::addPending() const {
  // What is put together between questions is limited, too.
  isl::Question question(context.get());
  if (!pending.empty())
    points = isl::addConstraints(std::move(points), space,
                                 std::exchange(pending, {}));
}

void PairSet::add(IntegerSet set, unsigned offset) {
  for (auto [expr, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
    add(expr.shiftDims(set.getNumDims(), offset), isEquality);
}

/// The value of dimension `dim` as an equality without divisions gives it, if
/// its coefficient is 1 or -1.
static AffineExpr solveFor(isl_constraint *equality, unsigned dim,
                           unsigned numParams, unsigned numDims,
                           MLIRContext *context) {
  auto getCoefficient = [&](isl_dim_type type, unsigned position) {
    return isl::toInt(
        isl::Val(isl_constraint_get_coefficient_val(equality, type, position)));
  };
  auto own = getCoefficient(isl_dim_set, dim);
  if (own != 1 && own != -1)
    return {};
  auto constant =
      isl::toInt(isl::Val(isl_constraint_get_constant_val(equality)));
  if (!constant)
    return {};
  AffineExpr sum = getAffineConstantExpr(*constant, context);
  for (unsigned i = 0; i < numDims + numParams; ++i) {
    if (i == dim)
      continue;
    bool isDim = i < numDims;
    auto coefficient = isDim ? getCoefficient(isl_dim_set, i)
                             : getCoefficient(isl_dim_param, i - numDims);
    if (!coefficient)
      return {};
    if (*coefficient != 0)
      sum = sum + (isDim ? getAffineDimExpr(i, context)
                         : getAffineSymbolExpr(i - numDims, context)) *
                      *coefficient;
  }
  return *own == 1 ? -sum : sum;
}

void PairSet::detectEqualities() {
  isl::Question question(context.get());
  addPending();
  points = isl::BasicSet(isl_basic_set_detect_equalities(points.take()));
  substitution.emplace();
  for (unsigned i = 0; i < numDims; ++i)
    substitution->push_back(getAffineDimExpr(i, program.context));
  isl_constraint_list *list = isl_basic_set_get_constraint_list(points.get());
  for (isl_size i = 0, e = isl_constraint_list_n_constraint(list); i < e; ++i) {
    isl_constraint *constraint = isl_constraint_list_get_constraint(list, i);
    isl_size numDivs = isl_constraint_dim(constraint, isl_dim_div);
    if (isl_constraint_is_equality(constraint) == isl_bool_true &&
        (numDivs == 0 ||
         isl_constraint_involves_dims(constraint, isl_dim_div, 0, numDivs) ==
             isl_bool_false)) {
      // The last dimension that can be solved for: the sink's, in terms of the
      // source's. What is solved already is replaced on both sides.
      for (unsigned dim = numDims; dim-- > 0;) {
        AffineExpr value = solveFor(constraint, dim, program.numParams, numDims,
                                    program.context);
        if (!value ||
            (*substitution)[dim] != getAffineDimExpr(dim, program.context))
          continue;
        value = value.replaceDims(*substitution);
        if (value.isFunctionOfDim(dim))
          continue;
        llvm::SmallVector<AffineExpr> step;
        for (unsigned i = 0; i < numDims; ++i)
          step.push_back(i == dim ? value
                                  : getAffineDimExpr(i, program.context));
        for (AffineExpr &expr : *substitution)
          expr = expr.replaceDims(step);
        break;
      }
    }
    isl_constraint_free(constraint);
  }
  isl_constraint_list_free(list);
}

AffineExpr PairSet::simplify(AffineExpr expr) {
  expr = simplifyAffineExpr(expr, numDims, program.numParams);
  if (isa<AffineConstantExpr>(expr))
    return expr;
  if (!substitution)
    detectEqualities();
  return simplifyAffineExpr(expr.replaceDims(*substitution), numDims,
                            program.numParams);
}

/// The least point, if that is easily found: it reads better than others, but
/// they will do.
static Set findLeast(const Set &all) {
  isl_ctx *ctx = isl_set_get_ctx(all.get());
  isl::Question question(ctx, /*factor=*/0.1);
  Set least(isl_set_lexmin(isl_set_copy(all.get())));
  if (!least)
    question.withdraw();
  return least;
}

std::optional<llvm::SmallVector<int64_t>> PairSet::sample() const {
  addPending();
  Set all(isl_set_from_basic_set(isl_basic_set_move_dims(
      points.copy(), isl_dim_set, 0, isl_dim_param, 0, program.numParams)));
  if (auto point = findLeast(all).samplePoint())
    return point;
  return all.samplePoint();
}

Map PairSet::toPairs(AffineMap here, AffineMap there) const {
  isl::Question question(context.get());
  auto widen = [&](AffineMap map, bool isSink) {
    llvm::SmallVector<AffineExpr> results;
    for (AffineExpr result : map.getResults())
      results.push_back(at(result, isSink));
    return Map::get(
        context, program.numParams,
        AffineMap::get(numDims, program.numParams, results, program.context));
  };
  addPending();
  Set pairs(isl_set_from_basic_set(points.copy()));
  return widen(here, false)
      .intersectDomain(pairs)
      .inverse()
      .compose(widen(there, true));
}
