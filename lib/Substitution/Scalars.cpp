//===- Scalars.cpp - Scalar identities, by Z3 -----------------------------===//
//
// Elements, sums and maxima become real variables, equal ones the same; relu
// keeps its definition. Z3 looks for values that make the sum differ from zero.
//
//===----------------------------------------------------------------------===//

#include "Prove.h"
#include "llvm/ADT/StringExtras.h"
#include <z3.h>

using namespace espalier::substitution;

/// Milliseconds for one question.
static constexpr const char *kTimeout = "500";

namespace {
class ScalarProblem {
public:
  explicit ScalarProblem(
      llvm::function_ref<bool(const Sum &, const Sum &)> isSame)
      : isSame(isSame) {
    Z3_config config = Z3_mk_config();
    Z3_set_param_value(config, "timeout", kTimeout);
    context = Z3_mk_context(config);
    Z3_del_config(config);
    Z3_set_error_handler(context, nullptr);
    real = Z3_mk_real_sort(context);
  }
  ~ScalarProblem() { Z3_del_context(context); }

  bool isZero(const Sum &sum) {
    Z3_solver solver = Z3_mk_solver(context);
    Z3_solver_inc_ref(context, solver);
    Z3_ast equal = Z3_mk_eq(context, translate(sum), getNumber(0));
    Z3_solver_assert(context, solver, Z3_mk_not(context, equal));
    bool isCertain =
        !unsupported && Z3_solver_check(context, solver) == Z3_L_FALSE;
    Z3_solver_dec_ref(context, solver);
    return isCertain && Z3_get_error_code(context) == Z3_OK;
  }

private:
  Z3_ast getNumber(int64_t value) { return Z3_mk_int64(context, value, real); }

  Z3_ast translate(const Sum &sum) {
    Z3_ast total = getNumber(0);
    for (const Term &term : sum) {
      Z3_ast args[] = {total, translate(term)};
      total = Z3_mk_add(context, 2, args);
    }
    return total;
  }

  Z3_ast translate(const Term &term) {
    unsupported |= term.coefficient.poisoned;
    Z3_ast factor = Z3_mk_div(context, getNumber(term.coefficient.numerator),
                              getNumber(term.coefficient.denominator));
    if (!term.bound.empty() || !term.constraints.empty() ||
        !term.bases.empty()) {
      Term whole = term;
      whole.coefficient = Rational::get(1);
      return multiply(factor, getVariable({whole}));
    }
    for (const Atom &atom : term.factors)
      factor = multiply(factor, translate(atom));
    return factor;
  }

  Z3_ast translate(const Atom &atom) {
    if (atom.kind != Atom::Kind::Relu)
      return getVariable(makeAtom(atom));
    Z3_ast inner = translate(atom.args[0]);
    return Z3_mk_ite(context, Z3_mk_ge(context, inner, getNumber(0)), inner,
                     getNumber(0));
  }

  Z3_ast multiply(Z3_ast lhs, Z3_ast rhs) {
    Z3_ast args[] = {lhs, rhs};
    return Z3_mk_mul(context, 2, args);
  }

  Z3_ast getVariable(Sum sum) {
    for (auto &[known, variable] : variables)
      if (isSame(known, sum))
        return variable;
    Z3_symbol name = Z3_mk_int_symbol(context, variables.size());
    Z3_ast variable = Z3_mk_const(context, name, real);
    variables.push_back({std::move(sum), variable});
    return variable;
  }

  llvm::function_ref<bool(const Sum &, const Sum &)> isSame;
  Z3_context context;
  Z3_sort real;
  std::vector<std::pair<Sum, Z3_ast>> variables;
  bool unsupported = false;
};

/// Whether there is anything for arithmetic to work on.
bool hasRelu(const Sum &sum) {
  return llvm::any_of(sum, [](const Term &term) {
    return llvm::any_of(term.factors, [](const Atom &atom) {
      return atom.kind == Atom::Kind::Relu;
    });
  });
}
} // namespace

bool espalier::substitution::isZeroByScalars(
    const Sum &sum, llvm::function_ref<bool(const Sum &, const Sum &)> isSame,
    Budget &budget) {
  // Without relu, what cancels has cancelled already.
  return hasRelu(sum) && budget.check() && ScalarProblem(isSame).isZero(sum);
}
