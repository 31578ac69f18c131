//===- Scalars.cpp - Scalar identities, by Z3 -----------------------------===//
//
// Elements, sums and maxima become real variables, equal ones the same; relu
// keeps its definition, and of other functions signs are known. Z3 looks for
// values that make the sum differ from zero.
//
//===----------------------------------------------------------------------===//

#include "../Prove.h"
#include "llvm/ADT/StringExtras.h"
#include <z3.h>

using namespace espalier::substitution;
using espalier::definition::ScalarFn;

/// What Z3 may do for one attempt, in its own units: about half a second. The
/// milliseconds are for what it does not count, and far more.
static constexpr const char *kMaxOperations = "5000000";
static constexpr const char *kMaxMilliseconds = "10000";

/// For how many relus cases are distinguished.
static constexpr size_t kMaxDecided = 6;

/// Answers are forgotten beyond this number.
static constexpr size_t kMaxKnown = 10'000;

namespace {
class ScalarProblem {
public:
  ScalarProblem(llvm::function_ref<bool(const Sum &, const Sum &)> isSame,
                llvm::function_ref<bool(const Sum &, const Sum &)> isElement,
                const Assumed &assumed, Z3_context context)
      : isSame(isSame), isElement(isElement), assumed(assumed),
        context(context) {
    real = Z3_mk_real_sort(context);
    solver = Z3_mk_simple_solver(context);
    Z3_solver_inc_ref(context, solver);
  }
  ~ScalarProblem() { Z3_solver_dec_ref(context, solver); }

  /// The question whether the sum may differ from zero; empty if it cannot be
  /// asked.
  std::string ask(const Sum &sum) {
    value = translate(sum);
    addOrder();
    if (unsupported || Z3_get_error_code(context) != Z3_OK)
      return "";
    assertAll(value, facts);
    return Z3_solver_to_string(context, solver);
  }
  /// Whether it may not, as it stands or in each case of signs.
  bool hasNoAnswer(Budget &budget) {
    return isZero(value, facts) || (relus.size() <= kMaxDecided &&
                                    isZeroInCases(value, facts, relus, budget));
  }

private:
  using Terms = std::vector<Z3_ast>;

  void assertAll(Z3_ast sum, const Terms &given) {
    for (Z3_ast fact : given)
      Z3_solver_assert(context, solver, fact);
    Z3_solver_assert(context, solver,
                     Z3_mk_not(context, Z3_mk_eq(context, sum, getNumber(0))));
  }

  /// By the newer arithmetic of Z3 or by the older one, which has Groebner
  /// bases.
  bool isZero(Z3_ast sum, const Terms &given) {
    return isZero(sum, given, /*arithmetic=*/6) ||
           isZero(sum, given, /*arithmetic=*/2);
  }

  /// Where what each relu is of is not negative, and where it is not positive.
  /// Products are then polynomials, which are often zero as they stand.
  bool isZeroInCases(Z3_ast sum, const Terms &given,
                     llvm::ArrayRef<Z3_ast> open, Budget &budget) {
    if (Z3_is_eq_ast(context, expand(sum), getNumber(0)))
      return true;
    if (!budget.check())
      return false;
    if (open.empty())
      return !relus.empty() && isZero(sum, given);
    // An inner one comes before those that it is in.
    Z3_ast relu = open.front();
    Z3_ast inner = Z3_get_app_arg(context, Z3_to_app(context, relu), 1);
    return llvm::all_of(llvm::ArrayRef{inner, getNumber(0)}, [&](Z3_ast is) {
      auto replace = [&](Z3_ast term) {
        return Z3_substitute(context, term, 1, &relu, &is);
      };
      Terms known, rest;
      for (Z3_ast fact : given)
        known.push_back(replace(fact));
      for (Z3_ast other : open.drop_front())
        rest.push_back(replace(other));
      known.push_back(is == inner ? Z3_mk_ge(context, inner, getNumber(0))
                                  : Z3_mk_le(context, inner, getNumber(0)));
      return isZeroInCases(replace(sum), known, rest, budget);
    });
  }

  /// A polynomial as a sum of products.
  Z3_ast expand(Z3_ast sum) {
    Z3_params params = Z3_mk_params(context);
    Z3_params_inc_ref(context, params);
    Z3_params_set_bool(context, params, Z3_mk_string_symbol(context, "som"),
                       true);
    Z3_ast result = Z3_simplify_ex(context, sum, params);
    Z3_params_dec_ref(context, params);
    return result;
  }

  bool isZero(Z3_ast sum, const Terms &given, unsigned arithmetic) {
    Z3_params params = Z3_mk_params(context);
    Z3_params_inc_ref(context, params);
    auto getName = [&](const char *name) {
      return Z3_mk_string_symbol(context, name);
    };
    Z3_params_set_uint(context, params, getName("arith.solver"), arithmetic);
    // Not by algebraic numbers: no limit ends what is done with them.
    Z3_params_set_bool(context, params, getName("arith.nl.nra"), false);
    Z3_solver_reset(context, solver);
    Z3_solver_set_params(context, solver, params);
    Z3_params_dec_ref(context, params);
    assertAll(sum, given);
    return Z3_solver_check(context, solver) == Z3_L_FALSE &&
           Z3_get_error_code(context) == Z3_OK;
  }

  Z3_ast getNumber(int64_t value) { return Z3_mk_int64(context, value, real); }
  Z3_ast getNumber(const Rational &value) {
    unsupported |= value.poisoned;
    return Z3_mk_div(context, getNumber(value.numerator),
                     getNumber(value.denominator));
  }

  Z3_ast translate(const Sum &sum) {
    Z3_ast total = getNumber(0);
    for (const Term &term : sum) {
      Z3_ast args[] = {total, translate(term)};
      total = Z3_mk_add(context, 2, args);
    }
    return total;
  }

  Z3_ast translate(const Term &term) {
    Z3_ast factor = getNumber(term.coefficient);
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
    if (atom.kind == Atom::Kind::Function && atom.args.size() == 1)
      return applyFunction(atom.fn, translate(atom.args[0]));
    // max(relu(f)) = relu(max(f))
    if (atom.kind == Atom::Kind::Max &&
        isSingle(atom.args[0], Atom::Kind::Relu) &&
        isNeverEmpty(atom.bound, atom.constraints, assumed)) {
      Atom below = atom;
      below.args = atom.args[0][0].factors[0].args;
      Z3_ast factor = getNumber(atom.args[0][0].coefficient);
      return multiply(factor, makeRelu(translate(below)));
    }
    if (atom.kind != Atom::Kind::Relu)
      return getVariable(makeAtom(atom));
    return makeRelu(translate(atom.args[0]));
  }

  Z3_ast makeRelu(Z3_ast inner) {
    Z3_ast relu = Z3_mk_ite(context, Z3_mk_ge(context, inner, getNumber(0)),
                            inner, getNumber(0));
    if (!llvm::is_contained(relus, relu))
      relus.push_back(relu);
    return relu;
  }

  Z3_ast compare(Z3_ast value, int64_t number, bool isLess) {
    return isLess ? Z3_mk_lt(context, value, getNumber(number))
                  : Z3_mk_gt(context, value, getNumber(number));
  }

  /// Functions are opaque but for their signs, and their values at 0.
  Z3_ast applyFunction(ScalarFn fn, Z3_ast argument) {
    std::string name = espalier::definition::getName(fn).str();
    if (fn == ScalarFn::Div)
      name = "reciprocal";
    Z3_func_decl function = Z3_mk_func_decl(
        context, Z3_mk_string_symbol(context, name.c_str()), 1, &real, real);
    Z3_ast value = Z3_mk_app(context, function, 1, &argument);
    Z3_ast isZero = Z3_mk_eq(context, argument, getNumber(0));
    if (fn == ScalarFn::Exp) {
      facts.push_back(compare(value, 0, false));
      facts.push_back(Z3_mk_implies(context, isZero,
                                    Z3_mk_eq(context, value, getNumber(1))));
    } else if (fn == ScalarFn::Div) {
      facts.push_back(Z3_mk_implies(context, compare(argument, 0, false),
                                    compare(value, 0, false)));
      // What is divided by is not 0.
      facts.push_back(
          Z3_mk_eq(context, multiply(argument, value), getNumber(1)));
    } else if (fn == ScalarFn::Sqrt) {
      facts.push_back(Z3_mk_ge(context, value, getNumber(0)));
      facts.push_back(Z3_mk_eq(context, multiply(value, value), argument));
    } else if (fn == ScalarFn::Tanh) {
      for (bool isLess : {false, true})
        facts.push_back(Z3_mk_iff(context, compare(argument, 0, isLess),
                                  compare(value, 0, isLess)));
      facts.push_back(compare(value, 1, true));
      facts.push_back(compare(value, -1, false));
    }
    return value;
  }

  /// Maxima are at least their elements.
  void addOrder() {
    for (auto &[maximum, above] : variables)
      for (auto &[value, below] : variables)
        if (isSingle(maximum, Atom::Kind::Max) &&
            isSingle(value, Atom::Kind::Read) && isElement(maximum, value))
          facts.push_back(Z3_mk_ge(context, above, below));
  }

  static bool isSingle(const Sum &sum, Atom::Kind kind) {
    return sum.size() == 1 && sum[0].factors.size() == 1 &&
           sum[0].bound.empty() && sum[0].constraints.empty() &&
           sum[0].bases.empty() && sum[0].factors[0].kind == kind;
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

  llvm::function_ref<bool(const Sum &, const Sum &)> isSame, isElement;
  const Assumed &assumed;
  Z3_context context;
  Z3_solver solver;
  Z3_sort real;
  std::vector<std::pair<Sum, Z3_ast>> variables;
  Z3_ast value = nullptr;
  Terms facts, relus;
  bool unsupported = false;
};

std::shared_ptr<void> makeContext() {
  Z3_config config = Z3_mk_config();
  Z3_set_param_value(config, "rlimit", kMaxOperations);
  Z3_set_param_value(config, "timeout", kMaxMilliseconds);
  Z3_context context = Z3_mk_context(config);
  Z3_del_config(config);
  Z3_set_error_handler(context, nullptr);
  return {context,
          [](void *made) { Z3_del_context(static_cast<Z3_context>(made)); }};
}

/// Whether there is anything for arithmetic to work on: a function of which
/// more is known than that it is one.
bool hasKnownFunction(const Sum &sum) {
  return llvm::any_of(sum, [](const Term &term) {
    return llvm::any_of(term.factors, [](const Atom &atom) {
      bool isKnown = atom.kind == Atom::Kind::Relu ||
                     (atom.kind == Atom::Kind::Function &&
                      (atom.fn == ScalarFn::Div || atom.fn == ScalarFn::Sqrt));
      return isKnown || llvm::any_of(atom.args, hasKnownFunction);
    });
  });
}
} // namespace

bool espalier::substitution::isZeroByScalars(
    const Sum &sum, llvm::function_ref<bool(const Sum &, const Sum &)> isSame,
    llvm::function_ref<bool(const Sum &, const Sum &)> isElement,
    Budget &budget, const Assumed &assumed) {
  // Without any, what cancels has cancelled already.
  if (!hasKnownFunction(sum) || !budget.check())
    return false;
  const Integers &integers = assumed.facts->getIntegers();
  if (!integers.reals)
    integers.reals = makeContext();
  auto *context = static_cast<Z3_context>(integers.reals.get());
  ScalarProblem problem(isSame, isElement, assumed, context);
  std::string text = problem.ask(sum);
  if (text.empty())
    return false;
  if (integers.knownReals.size() > kMaxKnown)
    integers.knownReals.clear();
  auto [known, isNew] = integers.knownReals.try_emplace(text, false);
  if (!isNew)
    return known->second;
  bool isZero = known->second = problem.hasNoAnswer(budget);
  // What there was no time for is not known.
  if (!budget.check())
    integers.knownReals.erase(known);
  return isZero;
}
