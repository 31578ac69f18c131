//===- Isl.cpp - MLIR's affine language in isl ----------------------------===//

#include "Isl.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "llvm/ADT/StringExtras.h"
#include <isl/constraint.h>
#include <isl/local_space.h>
#include <isl/mat.h>

using namespace mlir;
using namespace espalier::polyhedral;
using namespace espalier::polyhedral::isl;

std::string isl::getStatementName(unsigned number) {
  return "S" + llvm::utostr(number);
}

unsigned isl::getStatementNumber(llvm::StringRef name) {
  unsigned number = 0;
  name.drop_front().getAsInteger(10, number);
  return number;
}

Space isl::makeSpace(isl_ctx *ctx, unsigned numParams, unsigned numDims) {
  isl_space *space = isl_space_set_alloc(ctx, numParams, numDims);
  for (unsigned i = 0; i < numParams; ++i)
    space = isl_space_set_dim_name(space, isl_dim_param, i,
                                   ("p" + llvm::utostr(i)).c_str());
  return Space(space);
}

Space isl::makeStatementSpace(isl_ctx *ctx, const Program &program,
                              unsigned statement) {
  Space space =
      makeSpace(ctx, program.numParams, program.statements[statement].numDims);
  return Space(isl_space_set_tuple_name(space.take(), isl_dim_set,
                                        getStatementName(statement).c_str()));
}

namespace {
/// Builds an isl expression bottom-up; null is "not affine".
class AffBuilder : public AffineExprVisitor<AffBuilder, Aff> {
public:
  explicit AffBuilder(const Space &space)
      : local(isl_local_space_from_space(space.copy())) {}
  ~AffBuilder() { isl_local_space_free(local); }

  Aff visitAddExpr(AffineBinaryOpExpr expr) {
    Aff lhs = visit(expr.getLHS()), rhs = visit(expr.getRHS());
    return Aff(isl_aff_add(lhs.take(), rhs.take()));
  }
  Aff visitMulExpr(AffineBinaryOpExpr expr) {
    Aff lhs = visit(expr.getLHS());
    auto rhs = dyn_cast<AffineConstantExpr>(expr.getRHS());
    return rhs ? Aff(isl_aff_scale_val(lhs.take(), makeVal(rhs))) : Aff();
  }
  Aff visitFloorDivExpr(AffineBinaryOpExpr expr) {
    return Aff(isl_aff_floor(visitQuotient(expr).take()));
  }
  Aff visitCeilDivExpr(AffineBinaryOpExpr expr) {
    return Aff(isl_aff_ceil(visitQuotient(expr).take()));
  }
  Aff visitModExpr(AffineBinaryOpExpr expr) {
    AffineConstantExpr rhs = getDivisor(expr);
    return rhs ? Aff(isl_aff_mod_val(visit(expr.getLHS()).take(), makeVal(rhs)))
               : Aff();
  }
  Aff visitConstantExpr(AffineConstantExpr expr) {
    return Aff(
        isl_aff_val_on_domain(isl_local_space_copy(local), makeVal(expr)));
  }
  Aff visitDimExpr(AffineDimExpr expr) {
    return makeVar(isl_dim_set, expr.getPosition());
  }
  Aff visitSymbolExpr(AffineSymbolExpr expr) {
    return makeVar(isl_dim_param, expr.getPosition());
  }

private:
  isl_val *makeVal(AffineConstantExpr expr) {
    return isl_val_int_from_si(isl_local_space_get_ctx(local), expr.getValue());
  }
  Aff makeVar(isl_dim_type type, unsigned position) {
    if (static_cast<isl_size>(position) >= isl_local_space_dim(local, type))
      return Aff();
    return Aff(
        isl_aff_var_on_domain(isl_local_space_copy(local), type, position));
  }
  AffineConstantExpr getDivisor(AffineBinaryOpExpr expr) {
    auto rhs = dyn_cast<AffineConstantExpr>(expr.getRHS());
    return rhs && rhs.getValue() > 0 ? rhs : AffineConstantExpr();
  }
  Aff visitQuotient(AffineBinaryOpExpr expr) {
    AffineConstantExpr rhs = getDivisor(expr);
    return rhs ? Aff(isl_aff_scale_down_val(visit(expr.getLHS()).take(),
                                            makeVal(rhs)))
               : Aff();
  }

  isl_local_space *local;
};
} // namespace

bool isl::isAffine(AffineExpr expr, unsigned numParams) {
  bool result = expr.isPureAffine();
  expr.walk([&](AffineExpr part) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
      result &= symbol.getPosition() < numParams;
    if (auto binary = dyn_cast<AffineBinaryOpExpr>(part))
      if (part.getKind() != AffineExprKind::Add &&
          part.getKind() != AffineExprKind::Mul) {
        auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
        result &= divisor && divisor.getValue() > 0;
      }
  });
  return result;
}

Aff isl::toAff(const Space &space, AffineExpr expr) {
  if (!isAffine(expr, isl_space_dim(space.get(), isl_dim_param)))
    return Aff();
  return AffBuilder(space).visit(expr);
}

AffineExpr isl::toExpr(const Aff &aff, MLIRContext *context) {
  if (!aff)
    return {};
  std::optional<int64_t> denominator =
      isl::toInt(Val(isl_aff_get_denominator_val(aff.get())));
  // Coefficients are quotients; times the denominator they are integers.
  Aff scaled(
      isl_aff_scale_val(aff.copy(), isl_aff_get_denominator_val(aff.get())));
  auto constant = isl::toInt(Val(isl_aff_get_constant_val(scaled.get())));
  if (!denominator || !constant)
    return {};
  AffineExpr sum = getAffineConstantExpr(*constant, context);
  for (isl_dim_type type : {isl_dim_in, isl_dim_param, isl_dim_div})
    for (isl_size i = 0, e = isl_aff_dim(aff.get(), type); i < e; ++i) {
      auto coefficient =
          isl::toInt(Val(isl_aff_get_coefficient_val(scaled.get(), type, i)));
      if (!coefficient)
        return {};
      if (*coefficient == 0)
        continue;
      AffineExpr term;
      if (type == isl_dim_in)
        term = getAffineDimExpr(i, context);
      else if (type == isl_dim_param)
        term = getAffineSymbolExpr(i, context);
      else
        term = toExpr(Aff(isl_aff_get_div(aff.get(), i)), context);
      if (!term)
        return {};
      sum = sum + term * *coefficient;
    }
  return *denominator == 1 ? sum : sum.floorDiv(*denominator);
}

AffineExpr isl::toExpr(isl_pw_aff *function, MLIRContext *context) {
  Aff single;
  function = isl_pw_aff_coalesce(function);
  if (isl_pw_aff_n_piece(function) == 1)
    isl_pw_aff_foreach_piece(
        function,
        [](isl_set *set, isl_aff *aff, void *user) {
          isl_set_free(set);
          *static_cast<Aff *>(user) = Aff(aff);
          return isl_stat_ok;
        },
        &single);
  isl_pw_aff_free(function);
  return toExpr(single, context);
}

/// Adds `factor` * `expr` to a row: the constant, the parameters, then the
/// dimensions. False if it is not linear in them.
static bool addTerms(llvm::MutableArrayRef<int64_t> row, unsigned numParams,
                     AffineExpr expr, int64_t factor) {
  auto addTo = [&](size_t column, int64_t number) {
    int64_t product;
    return column < row.size() && !llvm::MulOverflow(factor, number, product) &&
           !llvm::AddOverflow(row[column], product, row[column]);
  };
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return addTo(0, constant.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbol.getPosition() < numParams &&
           addTo(1 + symbol.getPosition(), 1);
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return addTo(1 + numParams + dim.getPosition(), 1);
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add)
    return addTerms(row, numParams, binary.getLHS(), factor) &&
           addTerms(row, numParams, binary.getRHS(), factor);
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  int64_t product;
  return expr.getKind() == AffineExprKind::Mul && number &&
         !llvm::MulOverflow(factor, number.getValue(), product) &&
         addTerms(row, numParams, binary.getLHS(), product);
}

using Row = llvm::SmallVector<int64_t>;

static isl_mat *toMatrix(isl_ctx *ctx, llvm::ArrayRef<Row> rows,
                         size_t numColumns) {
  isl_mat *matrix = isl_mat_alloc(ctx, rows.size(), numColumns);
  for (auto [number, row] : llvm::enumerate(rows))
    for (auto [column, value] : llvm::enumerate(row))
      matrix = isl_mat_set_element_val(matrix, number, column,
                                       isl_val_int_from_si(ctx, value));
  return matrix;
}

BasicSet isl::addConstraints(BasicSet set, const Space &space,
                             llvm::ArrayRef<Constraint> constraints) {
  if (!set || !space)
    return {};
  unsigned numParams = isl_space_dim(space.get(), isl_dim_param);
  size_t numColumns = 1 + numParams + isl_space_dim(space.get(), isl_dim_set);
  // Linear ones together, which is much faster than one by one.
  llvm::SmallVector<Row> equalities, inequalities;
  for (auto [expr, isEquality] : constraints) {
    Row row(numColumns);
    if (addTerms(row, numParams, expr, 1)) {
      (isEquality ? equalities : inequalities).push_back(row);
      continue;
    }
    isl_aff *aff = toAff(space, expr).take();
    set = BasicSet(isl_basic_set_add_constraint(
        set.take(), isEquality ? isl_equality_from_aff(aff)
                               : isl_inequality_from_aff(aff)));
  }
  if (equalities.empty() && inequalities.empty())
    return set;
  isl_ctx *ctx = isl_space_get_ctx(space.get());
  isl_basic_set *linear = isl_basic_set_from_constraint_matrices(
      space.copy(), toMatrix(ctx, equalities, numColumns),
      toMatrix(ctx, inequalities, numColumns), isl_dim_cst, isl_dim_param,
      isl_dim_set, isl_dim_div);
  return BasicSet(isl_basic_set_intersect(set.take(), linear));
}

SetPtr isl::toSet(const Space &space, IntegerSet set) {
  auto constraints = llvm::map_to_vector(
      llvm::zip_equal(set.getConstraints(), set.getEqFlags()), [](auto pair) {
        return Constraint(std::get<0>(pair), std::get<1>(pair));
      });
  BasicSet all(isl_basic_set_universe(space.copy()));
  return SetPtr(isl_set_from_basic_set(
      addConstraints(std::move(all), space, constraints).take()));
}

SetPtr isl::toDomain(const Space &space, const Statement &statement) {
  SetPtr result(isl_set_empty(space.copy()));
  for (IntegerSet set : statement.domain)
    result = SetPtr(isl_set_union(result.take(), toSet(space, set).take()));
  // isl coalesces in code generation too (see `coalesce`).
  return statement.domain.size() == 1
             ? result
             : SetPtr(isl_set_make_disjoint(result.take()));
}

SetPtr isl::coalesce(SetPtr set) {
  SetPtr joined(isl_set_coalesce(set.copy()));
  return isl_set_is_subset(joined.get(), set.get()) == isl_bool_true
             ? std::move(joined)
             : std::move(set);
}

SetPtr isl::getAssumptions(const Space &space, const Program &program) {
  SetPtr result(isl_set_universe(space.copy()));
  for (unsigned i = 0; i < program.numParams; ++i)
    result = SetPtr(isl_set_lower_bound_si(result.take(), isl_dim_param, i, 0));
  if (IntegerSet assumptions = program.assumptions)
    result = SetPtr(
        isl_set_intersect(result.take(), toSet(space, assumptions).take()));
  return result;
}

llvm::Error isl::makeError(const Context &context, const llvm::Twine &what) {
  std::string reason = context.getError();
  if (reason.empty())
    reason = "a set or a map is not affine";
  return llvm::createStringError(what + ": " + reason);
}

std::optional<int64_t> isl::toInt(Val value) {
  if (!value || isl_val_is_int(value.get()) != isl_bool_true ||
      isl_val_cmp_si(value.get(), INT64_MAX) > 0 ||
      isl_val_cmp_si(value.get(), INT64_MIN) < 0)
    return std::nullopt;
  return isl_val_get_num_si(value.get());
}
