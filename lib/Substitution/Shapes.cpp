//===- Shapes.cpp - The shapes of all tensors of a rule -------------------===//
//
// The typing of a rule has a parameter for each extent and for what is made of
// them. Known extents are put in, and equations with one unknown are solved
// until nothing is unknown. At last every fact is checked, with numbers.
//
//===----------------------------------------------------------------------===//

#include "espalier/Substitution/Shapes.h"
#include "Typing.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace espalier;
using namespace espalier::substitution;

/// Choices that are tried for the constants of `dst`.
static constexpr unsigned kMaxTries = 64;

namespace {
using Values = std::vector<std::optional<int64_t>>;

/// `sum` of multiples of parameters, if no number overflows and all are known.
std::optional<int64_t> evaluateLinear(const Linear &linear,
                                      const Values &values) {
  if (linear.isPoisoned())
    return std::nullopt;
  int64_t sum = linear.getConstant();
  for (auto [var, coefficient] : linear.getTerms()) {
    int64_t product;
    if (!values[var] || llvm::MulOverflow(*values[var], coefficient, product) ||
        llvm::AddOverflow(sum, product, sum))
      return std::nullopt;
  }
  return sum;
}

/// Solves one typing for numbers.
class NumberSolver {
public:
  NumberSolver(const Typing &typing, const RuleTensors &uses,
               const Guard &guard)
      : typing(typing), uses(uses), guard(guard),
        facts(typing.sizes.facts.getAll()) {
    for (const GuardClause &clause : guard.clauses)
      if (clause.size() == 1)
        for (const GuardAtom &atom : clause.front())
          addEquation(atom);
  }

  std::optional<RuleShapes>
  solve(llvm::function_ref<std::optional<Shape>(unsigned)> known,
        std::string &why) {
    Values values(typing.sizes.size());
    if (!putIn(known, values, why))
      return std::nullopt;
    unsigned tries = 0;
    if (!complete(values, tries, why))
      return std::nullopt;
    return getShapes(values);
  }

private:
  /// Takes over what an atom says about single extents.
  void addEquation(const GuardAtom &atom) {
    if (atom.kind != GuardAtom::Kind::Equal)
      return;
    auto lhs = translate(atom.lhs), rhs = translate(atom.rhs);
    // groups(c) == 1
    bool hasOneGroup = atom.lhs.kind == SizeExpr::Kind::Term &&
                       atom.lhs.term.kind == SizeTerm::Kind::Groups &&
                       atom.rhs == SizeExpr::get(1);
    if (hasOneGroup) {
      lhs = getExtent(uses.list[atom.lhs.term.use].operands[0], 1);
      rhs = getExtent(uses.list[atom.lhs.term.use].operands[1], 1);
    }
    if (lhs && rhs)
      facts.push_back(Constraint::equal(*lhs, *rhs));
  }

  std::optional<Linear> getExtent(unsigned use, unsigned axis) const {
    const auto &shape = typing.instances.list[use].shape;
    return axis < shape.size() ? std::optional<Linear>(shape[axis])
                               : std::nullopt;
  }

  std::optional<Linear> translate(const SizeExpr &expr) const {
    if (expr.kind == SizeExpr::Kind::Constant)
      return Linear(expr.constant);
    if (expr.kind != SizeExpr::Kind::Term)
      return std::nullopt;
    const SizeTerm &term = expr.term;
    llvm::ArrayRef<unsigned> operands = uses.list[term.use].operands;
    switch (term.kind) {
    case SizeTerm::Kind::Dim:
      return getExtent(term.use, term.axis);
    case SizeTerm::Kind::InPerGroup:
      return getExtent(operands[1], 1);
    case SizeTerm::Kind::OutChannels:
      return getExtent(operands[1], 0);
    case SizeTerm::Kind::InChannels:
      return getExtent(operands[0], 1);
    case SizeTerm::Kind::Rank:
    case SizeTerm::Kind::Groups:
    case SizeTerm::Kind::OutPerGroup:
      return std::nullopt;
    }
    llvm_unreachable("every kind is handled above");
  }

  /// Puts in what is known of `src`.
  bool putIn(llvm::function_ref<std::optional<Shape>(unsigned)> known,
             Values &values, std::string &why) const {
    for (unsigned number = 0; number < uses.numSrc; ++number) {
      const Instance &instance = typing.instances.list[number];
      if (!instance.operands.empty())
        continue;
      std::optional<Shape> shape = known(number);
      if (!shape || shape->size() != instance.shape.size()) {
        why = instance.name + " has no known shape of the right rank";
        return false;
      }
      for (auto [extent, value] : llvm::zip_equal(instance.shape, *shape)) {
        std::optional<Var> var = extent.getVar();
        bool fits = var ? !values[*var] || values[*var] == value
                        : extent.getValue() == value;
        if (!fits || value < 1) {
          why = instance.name + " has another shape";
          return false;
        }
        if (var)
          values[*var] = value;
      }
    }
    return true;
  }

  /// Fills in what follows. False if that contradicts the facts.
  bool propagate(Values &values) const {
    for (bool changed = true; changed;) {
      changed = false;
      for (Var var = 0; var < values.size(); ++var) {
        if (values[var] || typing.sizes[var].kind == SizeInfo::Kind::Extent)
          continue;
        values[var] = define(typing.sizes[var], values);
        changed |= values[var].has_value();
      }
      for (const Constraint &fact : facts) {
        if (!fact.isEquality)
          continue;
        std::optional<std::pair<Var, int64_t>> unknown;
        Linear rest = fact.expr;
        unsigned numUnknown = 0;
        for (auto [var, coefficient] : fact.expr.getTerms())
          if (!values[var]) {
            unknown = {var, coefficient};
            ++numUnknown;
          }
        if (numUnknown != 1)
          continue;
        rest -= Linear::var(unknown->first, unknown->second);
        std::optional<int64_t> value = evaluateLinear(rest, values);
        if (!value || *value % unknown->second != 0)
          return false;
        values[unknown->first] = -(*value / unknown->second);
        changed = true;
      }
    }
    return true;
  }

  static std::optional<int64_t> define(const SizeInfo &info,
                                       const Values &values) {
    std::optional<int64_t> a = evaluateLinear(info.a, values);
    std::optional<int64_t> b = evaluateLinear(info.b, values);
    if (!a || !b)
      return std::nullopt;
    int64_t product;
    switch (info.kind) {
    case SizeInfo::Kind::Extent:
      return std::nullopt;
    case SizeInfo::Kind::Floor:
    case SizeInfo::Kind::Quotient:
      return *b > 0 ? std::optional(llvm::divideFloorSigned(*a, *b))
                    : std::nullopt;
    case SizeInfo::Kind::Product:
      return llvm::MulOverflow(*a, *b, product) ? std::nullopt
                                                : std::optional(product);
    case SizeInfo::Kind::Max:
      return std::max(*a, *b);
    }
    llvm_unreachable("every kind is handled above");
  }

  /// Makes choices where something stays unknown: 1, or extents that occur.
  bool complete(Values &values, unsigned &tries, std::string &why) const {
    if (++tries > kMaxTries || !propagate(values)) {
      why = "no sizes of constants fit";
      return false;
    }
    std::optional<Var> open;
    llvm::SmallVector<int64_t> candidates{1};
    for (Var var = 0; var < values.size(); ++var) {
      if (typing.sizes[var].kind != SizeInfo::Kind::Extent)
        continue;
      if (values[var] && !llvm::is_contained(candidates, *values[var]))
        candidates.push_back(*values[var]);
      if (!values[var] && !open)
        open = var;
    }
    if (!open)
      return check(values, why);
    for (int64_t candidate : candidates) {
      Values chosen = values;
      chosen[*open] = candidate;
      if (complete(chosen, tries, why)) {
        values = std::move(chosen);
        return true;
      }
    }
    return false;
  }

  /// Whether all facts and the guard hold.
  bool check(const Values &values, std::string &why) const {
    for (const Constraint &fact : facts) {
      std::optional<int64_t> value = evaluateLinear(fact.expr, values);
      if (!value || (fact.isEquality ? *value != 0 : *value < 0)) {
        why = "the sizes do not fit the rule's operators";
        return false;
      }
    }
    auto extent = [&](unsigned use, unsigned axis) -> std::optional<int64_t> {
      std::optional<Linear> linear = getExtent(use, axis);
      return linear ? evaluateLinear(*linear, values) : std::nullopt;
    };
    auto rank = [&](unsigned use) -> std::optional<int64_t> {
      return typing.instances.list[use].rank;
    };
    if (holdsForUses(guard, uses, extent, rank) != true) {
      why = "the sizes do not fit: " + toString(guard, uses);
      return false;
    }
    return true;
  }

  std::optional<RuleShapes> getShapes(const Values &values) const {
    RuleShapes result;
    for (const Instance &instance : typing.instances.list) {
      Shape &shape = result.shapes.emplace_back();
      for (const Linear &extent : instance.shape) {
        std::optional<int64_t> value = evaluateLinear(extent, values);
        if (!value || *value < 1)
          return std::nullopt;
        shape.push_back(*value);
      }
      std::optional<int64_t> &cut = result.cuts.emplace_back();
      if (!instance.node->getInfo().has(kCut))
        continue;
      unsigned axis = instance.node->params[0].first;
      const Instance &operand =
          typing.instances.list[instance.operands.front()];
      cut = evaluateLinear(operand.boundaries[axis]->position, values);
      if (!cut)
        return std::nullopt;
    }
    return result;
  }

  const Typing &typing;
  const RuleTensors &uses;
  const Guard &guard;
  llvm::SmallVector<Constraint> facts;
};

struct SolvedRule {
  Rule rule;
  RuleTensors uses;
  Guard guard;
  /// By the ranks of the tensors of `src` that decide the others; null if they
  /// do not fit.
  std::map<std::vector<unsigned>, std::unique_ptr<Typing>> typings;
};
} // namespace

struct ShapeSolver::State {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Integers integers{
      polyhedral::Context(polyhedral::Limits{5'000'000, false}), {}, {}};
  SemanticsCache semantics{context};
  std::vector<std::unique_ptr<SolvedRule>> rules;

  const Typing *getTyping(SolvedRule &rule, std::vector<unsigned> ranks);
};

const Typing *ShapeSolver::State::getTyping(SolvedRule &rule,
                                            std::vector<unsigned> ranks) {
  auto [entry, isNew] = rule.typings.try_emplace(ranks);
  if (!isNew)
    return entry->second.get();
  integers.isl.restart();
  std::string error;
  auto instances =
      makeInstances(rule.rule, error, /*open=*/{}, /*known=*/ranks);
  if (!instances)
    return nullptr;
  auto typing = typeRule(*instances, semantics, integers, {}, error);
  if (typing)
    entry->second = std::make_unique<Typing>(std::move(*typing));
  return entry->second.get();
}

ShapeSolver::ShapeSolver() : state(std::make_unique<State>()) {}
ShapeSolver::~ShapeSolver() = default;

bool espalier::substitution::hasOpenRank(const Rule &rule) {
  std::string error;
  auto instances = makeInstances(rule, error);
  return instances && !instances->openRanks.empty();
}

unsigned ShapeSolver::add(const Rule &rule, const Guard &guard) {
  auto solved = std::make_unique<SolvedRule>();
  solved->rule = rule;
  solved->uses = listTensors(rule);
  solved->guard = guard;
  state->rules.push_back(std::move(solved));
  return state->rules.size() - 1;
}

std::optional<RuleShapes>
ShapeSolver::solve(unsigned number,
                   llvm::function_ref<std::optional<Shape>(unsigned)> known,
                   std::string &why) {
  SolvedRule &rule = *state->rules[number];
  std::vector<unsigned> ranks(rule.uses.numSrc, 0);
  for (unsigned use = 0; use < rule.uses.numSrc; ++use) {
    if (!rule.uses.list[use].operands.empty())
      continue;
    std::optional<Shape> shape = known(use);
    if (!shape) {
      why = rule.uses.list[use].name + " has no known shape";
      return std::nullopt;
    }
    ranks[use] = shape->size();
  }
  const Typing *typing = state->getTyping(rule, ranks);
  if (!typing) {
    why = "the ranks do not fit the rule's operators";
    return std::nullopt;
  }
  for (const Instance &instance : typing->instances.list)
    if (!typing->instances.openRanks.empty() && instance.rank > kMaxOpenRank) {
      why = "the rule is proved up to rank " + std::to_string(kMaxOpenRank);
      return std::nullopt;
    }
  return NumberSolver(*typing, rule.uses, rule.guard).solve(known, why);
}
