//===- Typing.cpp - The extents of a statement's tensors ------------------===//

#include "Guards.h"
#include "Unfold.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier;
using namespace espalier::proof;
using namespace espalier::substitution;

std::string espalier::proof::getExtentName(const Use &use, unsigned dim) {
  std::string name = use.name + "." + std::to_string(dim);
  std::replace(name.begin(), name.end(), '#', '!');
  return name;
}

namespace {
class Typer {
public:
  Typer(const Statement &statement, const Ranks &ranks,
        SemanticsCache &semantics)
      : statement(statement), ranks(ranks), semantics(semantics) {}

  Typing run() {
    for (unsigned number = 0; number < ranks.size(); ++number) {
      result.instances.push_back(Instance());
      result.instances.back().rank = ranks[number];
      if (type(number))
        continue;
      result.isVoid = number < statement.numSrc;
      if (result.isVoid)
        return std::move(result);
      break;
    }
    if (result.error.empty() && ranks.size() < statement.uses.size())
      fail("operands of fitting ranks in dst");
    if (result.error.empty())
      for (auto [src, dst] :
           llvm::zip_equal(statement.srcOutputs, statement.dstOutputs))
        for (auto [lhs, rhs] : llvm::zip_equal(result.instances[src].shape,
                                               result.instances[dst].shape))
          result.claims.push_back(Condition::equal(lhs, rhs));
    addGuard();
    return std::move(result);
  }

private:
  bool type(unsigned number) {
    const Use &use = statement.uses[number];
    Instance &instance = result.instances[number];
    instance.boundaries.resize(instance.rank);
    isSrc = number < statement.numSrc;
    if (use.node.isVariable()) {
      for (unsigned dim = 0; dim < instance.rank; ++dim)
        instance.shape.push_back(declare(use, dim));
      return true;
    }
    llvm::SmallVector<unsigned> known;
    for (unsigned operand : use.operands)
      known.push_back(ranks[operand]);
    known.push_back(instance.rank);
    instance.semantics = semantics.get(use.node, known, result.error);
    if (!instance.semantics || !setParameters(use, instance))
      return false;
    const definition::Definition &definition = instance.semantics->definition;
    for (const definition::Requirement &requirement : definition.requirements) {
      auto value = get(requirement.value, use, instance);
      auto bound = get(requirement.bound, use, instance);
      if (!value || !bound)
        return false;
      need(compare(requirement.kind, *value, *bound));
    }
    for (const definition::IndexVar &index :
         definition.steps[definition.results[0]].indices) {
      auto extent = get(index.extent, use, instance);
      if (!extent)
        return false;
      instance.shape.push_back(*extent);
      need(Condition::atLeast(*extent, 1));
    }
    if (instance.shape.size() != instance.rank)
      return fail("another rank");
    setBoundaries(use, instance);
    return true;
  }

  bool fail(llvm::StringRef reason) {
    result.error = reason.str();
    return false;
  }

  /// What the condition says of sizes that the proof chooses has to hold of
  /// these; the rest is given.
  void addGuard() {
    auto guard = GuardReader(statement, result.instances).read(statement.guard);
    if (!guard) {
      result.fault = "expects a condition, but got '" + statement.guard + "'";
      return;
    }
    for (const Clause &clause : *guard) {
      bool isOfChosen = false, mayHold = false;
      for (const Conditions &conditions : clause) {
        for (const Condition &condition : conditions)
          for (const std::string &name : result.chosen)
            isOfChosen |= condition.value.mentions(name);
        mayHold |= llvm::none_of(conditions, isFalse);
      }
      result.isVoid |= !mayHold;
      if (!isOfChosen)
        result.given.push_back(clause);
      else if (clause.size() == 1)
        llvm::append_range(result.claims, clause[0]);
      else
        result.fault = "expects sizes that the condition says, or one "
                       "alternative about others";
    }
  }

  std::optional<Index> get(definition::Expr expr, const Use &use,
                           const Instance &instance) {
    auto extent = translate(expr, use, instance, result.instances);
    if (!extent)
      result.fault = "expects extents that are made of sizes";
    return extent;
  }

  /// What is required; no extent is 0, so exceptions do not count.
  static Condition compare(definition::Requirement::Kind kind,
                           const Index &value, const Index &bound) {
    switch (kind) {
    case definition::Requirement::Kind::Equal:
      return Condition::equal(value, bound);
    case definition::Requirement::Kind::AtMost:
      return Condition::atLeast(bound, value);
    case definition::Requirement::Kind::AtLeast:
      return Condition::atLeast(value, bound);
    }
    llvm_unreachable("every kind is handled above");
  }

  void need(const Condition &condition) {
    if (isSrc)
      result.given.push_back({{condition}});
    else
      result.claims.push_back(condition);
  }

  /// An extent that may be anything.
  Index declare(const Use &use, unsigned dim) {
    Index extent = Index::variable(getExtentName(use, dim));
    result.given.push_back({{Condition::atLeast(extent, 1)}});
    return extent;
  }

  /// A size of a constant: of `src`, any; of `dst`, what the condition says,
  /// or what the proof does.
  Index choose(const Use &use, unsigned dim) {
    if (isSrc)
      return declare(use, dim);
    std::string name = getExtentName(use, dim);
    auto defined =
        GuardReader(statement, result.instances)
            .getDefinition(statement.guard, "dim ( " + use.name + " , " +
                                                std::to_string(dim) + " )");
    if (!defined)
      result.chosen.push_back(name);
    Index extent = defined.value_or(Index::variable(name));
    need(Condition::atLeast(extent, 1));
    return extent;
  }

  bool setParameters(const Use &use, Instance &instance) {
    for (Parameter parameter : instance.semantics->parameters) {
      if (parameter.kind == Parameter::Kind::Chosen) {
        instance.parameters.push_back(choose(use, parameter.dim));
        continue;
      }
      const Instance &operand = result.instances[use.operands[0]];
      const Index &size = operand.shape[parameter.dim];
      if (parameter.kind == Parameter::Kind::Size) {
        instance.parameters.push_back(size);
        continue;
      }
      const auto &boundary = operand.boundaries[parameter.dim];
      if (!boundary)
        return fail("a split of what was not concatenated");
      instance.parameters.push_back(parameter.kind == Parameter::Kind::Cut
                                        ? boundary->position
                                        : size - boundary->position);
    }
    return true;
  }

  void setBoundaries(const Use &use, Instance &instance) {
    llvm::SmallVector<const BoundaryList<Index> *> operands;
    for (unsigned operand : use.operands)
      operands.push_back(&result.instances[operand].boundaries);
    instance.boundaries = followBoundaries<Index>(
        use.node, getTrace(instance.semantics->definition), operands,
        [&](unsigned operand) {
          return result.instances[use.operands[operand]]
              .shape[use.node.params[0].first];
        },
        [](Index lhs, Index rhs) { return lhs + rhs; });
  }

  const Statement &statement;
  const Ranks &ranks;
  SemanticsCache &semantics;
  Typing result;
  bool isSrc = true;
};
} // namespace

Typing espalier::proof::type(const Statement &statement, const Ranks &ranks,
                             const Choices &choices,
                             SemanticsCache &semantics) {
  Typing typing = Typer(statement, ranks, semantics).run();
  for (const std::string &name : typing.chosen) {
    auto found = choices.find(name);
    if (found == choices.end())
      continue;
    auto replace = [&](Index &index) {
      index = index.substitute(name, found->second);
    };
    for (Condition &claim : typing.claims)
      replace(claim.value);
    for (Instance &instance : typing.instances) {
      llvm::for_each(instance.shape, replace);
      llvm::for_each(instance.parameters, replace);
    }
  }
  return typing;
}
