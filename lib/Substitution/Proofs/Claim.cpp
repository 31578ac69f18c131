//===- Claim.cpp - What a condition promises ------------------------------===//
//
// Extents of variables and of constants of `src` are unknowns. Those of other
// tensors are defined by them, as the operators' definitions say; of quotients
// of two sizes is said how they are bounded. What `src` and the
// condition ask for is assumed; what `dst` asks for is asked, one after the
// other, and assumed from there on.
//
//===----------------------------------------------------------------------===//

#include "Claim.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <set>

using namespace espalier;
using namespace espalier::substitution;
using namespace espalier::definition;

namespace {
class ClaimWriter {
public:
  ClaimWriter(const Typing &typing, const Guard &guard)
      : typing(typing), instances(typing.instances), guard(guard),
        sizes(typing.sizes) {}

  std::string run() {
    os << "(define-fun larger ((a Int) (b Int)) Int (ite (>= a b) a b))\n"
       << "(declare-fun quotient (Int Int) Int)\n";
    unsigned numSrc = instances.numSrc;
    for (unsigned number = 0; number < numSrc; ++number)
      define(number);
    for (const std::string &needed : needs)
      assume(needed);
    needs.clear();
    // The condition speaks of both sides.
    for (unsigned number = numSrc; number < instances.list.size(); ++number)
      define(number);
    for (const GuardClause &clause : guard.clauses)
      assume(print(clause));
    for (auto [src, dst] : llvm::zip_equal(instances.src, instances.dst))
      for (unsigned dim = 0; dim < instances.list[src].rank; ++dim)
        needs.push_back("(= " + getExtent(src, dim) + ' ' +
                        getExtent(dst, dim) + ')');
    for (const std::string &needed : needs)
      ask(needed);
    return std::move(text);
  }

private:
  void assume(llvm::StringRef formula) { os << "(assert " << formula << ")\n"; }
  void ask(llvm::StringRef formula) {
    os << "(push 1)\n(assert (not " << formula << "))\n(check-sat)\n(pop 1)\n";
    assume(formula);
  }
  void need(std::string formula) { needs.push_back(std::move(formula)); }

  //===--------------------------------------------------------------------===//
  // Tensors
  //===--------------------------------------------------------------------===//

  std::string getExtent(unsigned number, unsigned dim) const {
    return "|dim(" + instances.list[number].name + ", " + llvm::utostr(dim) +
           ")|";
  }

  void declare(llvm::StringRef name) {
    os << "(declare-const " << name << " Int)\n";
  }

  /// Defines the extents of a tensor, and lists what its operator needs.
  void define(unsigned number) {
    const Instance &instance = instances.list[number];
    if (instance.node->isVariable()) {
      for (unsigned dim = 0; dim < instance.rank; ++dim) {
        declare(getExtent(number, dim));
        assume("(>= " + getExtent(number, dim) + " 1)");
      }
      return;
    }
    for (auto [parameter, value] :
         llvm::zip_equal(instance.meaning->parameters, instance.parameters))
      if (parameter.kind == Parameter::Kind::Chosen)
        choose(number, parameter.dim, *value.getVar());
    const Definition &definition = instance.meaning->definition;
    for (const Agreement &agreement : definition.agreements)
      need("(= " + print(agreement.lhs, instance) + ' ' +
           print(agreement.rhs, instance) + ')');
    const Step &result = definition.steps[definition.results[0]];
    for (auto [dim, index] : llvm::enumerate(result.indices)) {
      std::string extent = print(index.extent, instance);
      std::string name = getExtent(number, dim);
      if (extent != name)
        os << "(define-fun " << name << " () Int " << extent << ")\n";
      need("(>= " + name + " 1)");
    }
  }

  /// An extent of a constant. `src` may have made any; of `dst` it is what the
  /// condition says, or what the other sizes ask for.
  void choose(unsigned number, unsigned dim, Var var) {
    std::string name = getExtent(number, dim);
    declare(name);
    Linear value = typing.sizes.facts.simplify(Linear::var(var));
    auto definition = guard.getDefinition(number, dim);
    bool isDefined = definition && isKnown(*definition);
    if (number >= instances.numSrc && !isDefined && isKnown(value))
      assume("(= " + name + ' ' + print(value) + ')');
    else
      assume("(>= " + name + " 1)");
  }

  /// Whether a size is made of sizes of `src`.
  bool isKnown(const SizeExpr &expr) const {
    if (expr.kind == SizeExpr::Kind::Term)
      return expr.term.use < instances.numSrc;
    return llvm::all_of(expr.operands, [&](const SizeExpr &operand) {
      return isKnown(operand);
    });
  }
  bool isKnown(const Linear &linear) const {
    return !linear.isPoisoned() && !linear.any([&](Var var) {
      const SizeInfo &info = typing.sizes[var];
      if (info.kind == SizeInfo::Kind::Extent)
        return info.term.use >= instances.numSrc;
      return !isKnown(info.a) || !isKnown(info.b);
    });
  }

  //===--------------------------------------------------------------------===//
  // Sizes
  //===--------------------------------------------------------------------===//

  static std::string printNumber(int64_t value) {
    return value < 0 ? "(- " + llvm::itostr(value).substr(1) + ')'
                     : llvm::itostr(value);
  }

  static std::string combine(llvm::StringRef fn, const std::string &lhs,
                             const std::string &rhs) {
    return ("(" + fn + " " + lhs + " " + rhs + ")").str();
  }

  /// floor(lhs / rhs), of which nothing is said unless `rhs` is at least 1.
  std::string divide(const std::string &lhs, const std::string &rhs) {
    if (llvm::all_of(rhs, llvm::isDigit) && rhs != "0")
      return combine("div", lhs, rhs);
    std::string quotient = combine("quotient", lhs, rhs);
    if (!quotients.insert(quotient).second)
      return quotient;
    std::string product = combine("*", quotient, rhs);
    assume("(=> (>= " + rhs + " 1) (and (<= " + product + ' ' + lhs + ") (< " +
           lhs + ' ' + combine("+", product, rhs) + ")))");
    return quotient;
  }

  /// A size as the typing has it.
  std::string print(const Linear &linear) {
    std::string sum = printNumber(linear.getConstant());
    for (auto [var, coefficient] : linear.getTerms()) {
      std::string term = print(sizes[var]);
      if (coefficient != 1)
        term = combine("*", printNumber(coefficient), term);
      sum = sum == "0" ? term : combine("+", sum, term);
    }
    return sum;
  }

  std::string print(const SizeInfo &info) {
    switch (info.kind) {
    case SizeInfo::Kind::Extent:
      return getExtent(info.term.use, info.term.axis);
    case SizeInfo::Kind::Floor:
    case SizeInfo::Kind::Quotient:
      return divide(print(info.a), print(info.b));
    case SizeInfo::Kind::Product:
      return combine("*", print(info.a), print(info.b));
    case SizeInfo::Kind::Max:
      return combine("larger", print(info.a), print(info.b));
    }
    llvm_unreachable("every kind is handled above");
  }

  /// A size as a definition has it.
  std::string print(Expr extent, const Instance &instance) {
    switch (extent.getKind()) {
    case Expr::Kind::Constant:
      return printNumber(*extent.getInt());
    case Expr::Kind::Parameter: {
      unsigned number = &instance - instances.list.data();
      Parameter parameter = instance.meaning->parameters[extent.getNumber()];
      if (parameter.kind == Parameter::Kind::Chosen)
        return getExtent(number, parameter.dim);
      if (parameter.kind == Parameter::Kind::Size)
        return getExtent(instance.operands[0], parameter.dim);
      return print(instance.parameters[extent.getNumber()]);
    }
    case Expr::Kind::Size: {
      TensorRef tensor = extent.getTensor();
      if (tensor.isOperand())
        return getExtent(instance.operands[tensor.number], extent.getNumber());
      const Step &step = instance.meaning->definition.steps[tensor.number];
      return print(step.indices[extent.getNumber()].extent, instance);
    }
    case Expr::Kind::Cast:
      return print(extent.getOperands()[0], instance);
    case Expr::Kind::Apply:
      return apply(extent, instance);
    default:
      llvm_unreachable("a size that was typed is none of these");
    }
  }

  std::string apply(Expr extent, const Instance &instance) {
    std::string lhs = print(extent.getOperands()[0], instance);
    std::string rhs = print(extent.getOperands()[1], instance);
    switch (extent.getFn()) {
    case ScalarFn::Add:
      return combine("+", lhs, rhs);
    case ScalarFn::Sub:
      return combine("-", lhs, rhs);
    case ScalarFn::Mul:
      return combine("*", lhs, rhs);
    case ScalarFn::Mod:
      return combine("mod", lhs, rhs);
    case ScalarFn::Max:
      return combine("larger", lhs, rhs);
    case ScalarFn::Min:
      return combine("-", combine("+", lhs, rhs), combine("larger", lhs, rhs));
    case ScalarFn::FloorDiv: {
      std::string quotient = divide(lhs, rhs);
      if (!instance.isInSrc)
        simplify(quotient, extent, instance);
      return quotient;
    }
    default:
      llvm_unreachable("a size that was typed is none of these");
    }
  }

  /// A solver is told what a quotient in `dst` comes to.
  void simplify(const std::string &quotient, Expr extent,
                const Instance &instance) {
    auto known = translateExtent(extent, instances, instance, sizes);
    if (!known || known->isPoisoned() || !quotients.count(quotient))
      return;
    std::string simple = print(*known);
    if (simple != quotient)
      need("(= " + quotient + ' ' + simple + ')');
  }

  //===--------------------------------------------------------------------===//
  // Conditions
  //===--------------------------------------------------------------------===//

  std::string print(const GuardClause &clause) {
    std::string alternatives;
    for (const std::vector<GuardAtom> &atoms : clause) {
      std::string all;
      for (const GuardAtom &atom : atoms)
        all += ' ' + print(atom);
      alternatives += " (and" + all + ')';
    }
    return "(or" + alternatives + ')';
  }

  /// An atom holds if its sides have values and these are so.
  std::string print(const GuardAtom &atom) {
    std::string defined;
    std::string lhs = print(atom.lhs, defined), rhs = print(atom.rhs, defined);
    std::string relation;
    switch (atom.kind) {
    case GuardAtom::Kind::Equal:
      relation = combine("=", lhs, rhs);
      break;
    case GuardAtom::Kind::AtLeast:
      relation = combine(">=", lhs, rhs);
      break;
    case GuardAtom::Kind::Divides:
      relation = divideExactly(rhs, lhs, defined).second;
      break;
    }
    return defined.empty() ? relation : "(and " + relation + defined + ')';
  }

  /// A quotient, and that it is exact. It has a value where `defined`.
  std::pair<std::string, std::string> divideExactly(const std::string &lhs,
                                                    const std::string &rhs,
                                                    std::string &defined) {
    std::string quotient = divide(lhs, rhs);
    defined += ' ' + combine(">=", rhs, "1");
    return {quotient, combine("=", combine("*", quotient, rhs), lhs)};
  }

  std::string print(const SizeExpr &expr, std::string &defined) {
    if (expr.kind == SizeExpr::Kind::Constant)
      return printNumber(expr.constant);
    if (expr.kind == SizeExpr::Kind::Term)
      return print(expr.term, defined);
    std::string result = print(expr.operands[0], defined);
    for (const SizeExpr &operand : llvm::drop_begin(expr.operands)) {
      std::string other = print(operand, defined);
      switch (expr.kind) {
      case SizeExpr::Kind::Sum:
        result = combine("+", result, other);
        break;
      case SizeExpr::Kind::Product:
        result = combine("*", result, other);
        break;
      case SizeExpr::Kind::Max:
        result = combine("larger", result, other);
        break;
      case SizeExpr::Kind::Floor:
        result = divide(result, other);
        defined += ' ' + combine(">=", other, "1");
        break;
      case SizeExpr::Kind::Constant:
      case SizeExpr::Kind::Term:
        llvm_unreachable("has no operands");
      }
    }
    return result;
  }

  std::string print(const SizeTerm &term, std::string &defined) {
    const Instance &instance = instances.list[term.use];
    if (term.kind == SizeTerm::Kind::Dim)
      return getExtent(term.use, term.axis);
    if (term.kind == SizeTerm::Kind::Rank)
      return llvm::utostr(instance.rank);
    unsigned image = instance.operands[0], weight = instance.operands[1];
    auto divideWhole = [&](const std::string &lhs, const std::string &rhs) {
      auto [quotient, isExact] = divideExactly(lhs, rhs, defined);
      defined += ' ' + isExact;
      return quotient;
    };
    switch (term.kind) {
    case SizeTerm::Kind::InPerGroup:
      return getExtent(weight, 1);
    case SizeTerm::Kind::OutChannels:
      return getExtent(weight, 0);
    case SizeTerm::Kind::InChannels:
      return getExtent(image, 1);
    case SizeTerm::Kind::Groups:
      return divideWhole(getExtent(image, 1), getExtent(weight, 1));
    case SizeTerm::Kind::OutPerGroup:
      return divideWhole(
          getExtent(weight, 0),
          divideWhole(getExtent(image, 1), getExtent(weight, 1)));
    case SizeTerm::Kind::Dim:
    case SizeTerm::Kind::Rank:
      break;
    }
    llvm_unreachable("handled above");
  }

  const Typing &typing;
  const Instances &instances;
  const Guard &guard;
  Sizes sizes; ///< To ask what the typing knows; it may grow.
  std::string text;
  llvm::raw_string_ostream os{text};
  std::vector<std::string> needs;
  std::set<std::string> quotients;
};
} // namespace

std::string espalier::substitution::writeClaim(const Typing &typing,
                                               const Guard &guard) {
  return ClaimWriter(typing, guard).run();
}
