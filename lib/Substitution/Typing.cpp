//===- Typing.cpp - Extents of the nodes of a rule ------------------------===//

#include "Typing.h"
#include "llvm/ADT/StringExtras.h"

using namespace espalier;
using namespace espalier::substitution;
using namespace espalier::definition;

std::optional<Linear>
espalier::substitution::translateExtent(Expr extent, const Instances &instances,
                                        const Instance &instance,
                                        Sizes &sizes) {
  switch (extent.getKind()) {
  case Expr::Kind::Constant:
    if (std::optional<int64_t> value = extent.getInt())
      return Linear(*value);
    return std::nullopt;
  case Expr::Kind::Parameter:
    return sizes.facts.simplify(instance.parameters[extent.getNumber()]);
  case Expr::Kind::Size: {
    TensorRef tensor = extent.getTensor();
    if (tensor.isOperand())
      return sizes.facts.simplify(
          instances.list[instance.operands[tensor.number]]
              .shape[extent.getNumber()]);
    const Step &step = instance.semantics->definition.steps[tensor.number];
    return translateExtent(step.indices[extent.getNumber()].extent, instances,
                           instance, sizes);
  }
  case Expr::Kind::Cast:
    return translateExtent(extent.getOperands()[0], instances, instance, sizes);
  case Expr::Kind::Apply: {
    llvm::SmallVector<Linear, 2> args;
    for (Expr operand : extent.getOperands()) {
      auto arg = translateExtent(operand, instances, instance, sizes);
      if (!arg)
        return std::nullopt;
      args.push_back(*arg);
    }
    if (args.size() != 2)
      return std::nullopt;
    return sizes.apply(extent.getFn(), args[0], args[1]);
  }
  default:
    return std::nullopt;
  }
}

namespace {
class Typer {
public:
  Typer(Typing &typing, SemanticsCache &semantics,
        llvm::ArrayRef<Assumption> assumptions, const Guard &hypothesis,
        std::string &error)
      : typing(typing), instances(typing.instances), sizes(typing.sizes),
        semantics(semantics), assumptions(assumptions), hypothesis(hypothesis),
        error(error) {}

  bool run() {
    for (unsigned number = 0; number < instances.list.size(); ++number) {
      if (number == instances.numSrc)
        finishSrc();
      if (!type(number))
        return false;
    }
    if (!typing.srcSizes)
      finishSrc();
    for (auto [src, dst] : llvm::zip_equal(instances.src, instances.dst))
      for (auto [lhs, rhs] : llvm::zip_equal(instances.list[src].shape,
                                             instances.list[dst].shape))
        sizes.facts.addEqual(lhs, rhs);
    sizes.close();
    return true;
  }

private:
  void finishSrc() {
    sizes.close();
    for (const GuardClause &clause : hypothesis.clauses)
      if (clause.size() == 1)
        for (const GuardAtom &atom : clause.front())
          suppose(atom);
    typing.srcSizes = sizes;
    assumeGroups();
    typing.assumedSizes = sizes;
    assumeSquares();
  }

  bool type(unsigned number) {
    Instance &instance = instances.list[number];
    instance.boundaries.resize(instance.rank);
    if (instance.node->isVariable()) {
      for (unsigned dim = 0; dim < instance.rank; ++dim)
        instance.shape.push_back(Linear::var(
            sizes.addExtent(getDim(instance, dim), /*isChosen=*/false)));
      return true;
    }
    llvm::SmallVector<unsigned> ranks;
    for (unsigned operand : instance.operands)
      ranks.push_back(instances.list[operand].rank);
    ranks.push_back(instance.rank);
    instance.semantics = semantics.get(*instance.node, ranks, error);
    if (!instance.semantics) {
      error = instance.name + ": " + error;
      return false;
    }
    if (!setParameters(instance))
      return false;
    // Assumptions come before the division that they make trivial.
    for (const Assumption &assumption : assumptions)
      if (assumption.kind == Assumption::Kind::OneGroup &&
          assumption.first == number && !instance.isInSrc)
        assumeOneGroup(instance);
      else if (assumption.kind == Assumption::Kind::SquareUse &&
               assumption.first == number && !instance.isInSrc)
        assumeSquare(instance);
    for (const Requirement &requirement :
         instance.semantics->definition.requirements)
      if (!require(instance, requirement))
        return false;
    for (const Assumption &assumption : assumptions)
      if (assumption.second == number && !instance.isInSrc)
        assumeSameGroups(assumption);
    const Definition &definition = instance.semantics->definition;
    for (const IndexVar &index :
         definition.steps[definition.results[0]].indices) {
      auto extent = translate(instance, index.extent);
      if (!extent)
        return false;
      sizes.facts.add(Constraint::atLeast(*extent, 1));
      instance.shape.push_back(*extent);
    }
    setBoundaries(instance);
    for (const Assumption &assumption : assumptions)
      if (assumption.kind == Assumption::Kind::SquareConst &&
          assumption.first == number && !instance.isInSrc)
        sizes.facts.addEqual(instance.shape[0], instance.shape[1]);
    return true;
  }

  SizeTerm getDim(const Instance &instance, unsigned axis) const {
    SizeTerm term;
    term.use = &instance - instances.list.data();
    term.node = instance.id;
    term.axis = axis;
    return term;
  }

  std::optional<Linear> translate(const Instance &instance, Expr extent) {
    auto result = translateExtent(extent, instances, instance, sizes);
    if (!result)
      error = instance.name + ": expects extents that can be reasoned about";
    return result;
  }

  /// No extent is 0, so exceptions do not count.
  bool require(const Instance &instance, const Requirement &requirement) {
    auto value = translate(instance, requirement.value);
    auto bound = translate(instance, requirement.bound);
    if (!value || !bound)
      return false;
    switch (requirement.kind) {
    case Requirement::Kind::Equal:
      sizes.facts.addEqual(*value, *bound);
      sizes.close();
      break;
    case Requirement::Kind::AtMost:
      sizes.facts.add(Constraint::atLeast(*bound, *value));
      break;
    case Requirement::Kind::AtLeast:
      sizes.facts.add(Constraint::atLeast(*value, *bound));
      break;
    }
    return true;
  }

  bool setParameters(Instance &instance) {
    for (Parameter parameter : instance.semantics->parameters) {
      if (parameter.kind == Parameter::Kind::Chosen) {
        instance.parameters.push_back(Linear::var(sizes.addExtent(
            getDim(instance, parameter.dim), /*isChosen=*/true)));
        continue;
      }
      const Instance &operand = instances.list[instance.operands[0]];
      Linear size = operand.shape[parameter.dim];
      if (parameter.kind == Parameter::Kind::Size) {
        instance.parameters.push_back(size);
        continue;
      }
      const auto &boundary = operand.boundaries[parameter.dim];
      if (!boundary) {
        error = instance.name + ": expects a concatenation on axis " +
                llvm::utostr(parameter.dim) + " below it, but there is none";
        return false;
      }
      instance.parameters.push_back(parameter.kind == Parameter::Kind::Cut
                                        ? boundary->position
                                        : size - boundary->position);
    }
    return true;
  }

  void setBoundaries(Instance &instance) {
    llvm::SmallVector<const BoundaryList<Linear> *> operands;
    for (unsigned operand : instance.operands)
      operands.push_back(&instances.list[operand].boundaries);
    instance.boundaries = followBoundaries<Linear>(
        *instance.node, getTrace(instance.semantics->definition), operands,
        [&](unsigned operand) {
          return instances.list[instance.operands[operand]]
              .shape[instance.node->params[0].first];
        },
        [](Linear lhs, Linear rhs) { return lhs + rhs; });
  }

  //===--------------------------------------------------------------------===//
  // Assumptions
  //===--------------------------------------------------------------------===//

  void assumeOneGroup(const Instance &conv) {
    sizes.facts.addEqual(instances.list[conv.operands[0]].shape[1],
                         instances.list[conv.operands[1]].shape[1]);
    sizes.close();
  }

  /// As many features as channels of a convolution by a constant, and a square
  /// constant factor of a product.
  void assumeSquare(const Instance &user) {
    const Instance &first = instances.list[user.operands[0]];
    const Instance &second = instances.list[user.operands[1]];
    if (user.node->has(kGroups)) {
      sizes.facts.addEqual(first.shape[1], second.shape[0]);
    } else {
      const Instance &constant =
          instances.list[getConstantFactor(instances, user)];
      sizes.facts.addEqual(constant.shape[0], constant.shape[1]);
    }
    sizes.close();
  }

  void assumeGroups() {
    for (const Assumption &assumption : assumptions) {
      const Instance &first = instances.list[assumption.first];
      if (!first.isInSrc)
        continue;
      if (assumption.kind == Assumption::Kind::OneGroup)
        assumeOneGroup(first);
      assumeSameGroups(assumption);
    }
    sizes.close();
  }

  /// Equal channels or features of the groups of two convolutions.
  void assumeSameGroups(const Assumption &assumption) {
    const Instance &first = instances.list[assumption.first];
    const Instance &second = instances.list[assumption.second];
    bool isIn = assumption.kind == Assumption::Kind::SameIn;
    if (!isIn && assumption.kind != Assumption::Kind::SameOut)
      return;
    Linear lhs = isIn ? getGroupChannels(first) : getGroupFeatures(first);
    Linear rhs = isIn ? getGroupChannels(second) : getGroupFeatures(second);
    sizes.facts.addEqual(lhs, rhs);
    if (!first.isInSrc)
      typing.assumedEqual.push_back({lhs, rhs});
  }

  void assumeSquares() {
    for (const Assumption &assumption : assumptions) {
      const Instance &first = instances.list[assumption.first];
      if (!first.isInSrc)
        continue;
      if (assumption.kind == Assumption::Kind::SquareUse)
        assumeSquare(first);
      if (assumption.kind == Assumption::Kind::SquareConst)
        sizes.facts.addEqual(first.shape[0], first.shape[1]);
    }
    sizes.close();
  }

  //===--------------------------------------------------------------------===//
  // Hypotheses
  //===--------------------------------------------------------------------===//

  /// Takes over what an atom says of `src`. What cannot be said is left out:
  /// then more is proved than is needed.
  void suppose(const GuardAtom &atom) {
    bool isOneGroup = atom.kind == GuardAtom::Kind::Equal &&
                      atom.lhs.kind == SizeExpr::Kind::Term &&
                      atom.lhs.term.kind == SizeTerm::Kind::Groups &&
                      atom.rhs == SizeExpr::get(1);
    if (isOneGroup) {
      if (atom.lhs.term.use < instances.numSrc)
        assumeOneGroup(instances.list[atom.lhs.term.use]);
      return;
    }
    auto lhs = translate(atom.lhs), rhs = translate(atom.rhs);
    if (!lhs || !rhs)
      return;
    switch (atom.kind) {
    case GuardAtom::Kind::Equal:
      sizes.facts.addEqual(*lhs, *rhs);
      break;
    case GuardAtom::Kind::AtLeast:
      sizes.facts.add(Constraint::atLeast(*lhs, *rhs));
      break;
    case GuardAtom::Kind::Divides: {
      if (!sizes.facts.implies(Constraint::atLeast(*lhs, 1)))
        return;
      Linear divisor = sizes.facts.simplify(*lhs);
      Linear quotient = sizes.getQuotient(sizes.facts.simplify(*rhs), divisor);
      sizes.facts.addEqual(sizes.getProduct(quotient, divisor), *rhs);
      break;
    }
    }
    sizes.close();
  }

  std::optional<Linear> translate(const SizeExpr &expr) {
    if (expr.kind == SizeExpr::Kind::Constant)
      return Linear(expr.constant);
    if (expr.kind == SizeExpr::Kind::Term)
      return translate(expr.term);
    auto lhs = translate(expr.operands[0]), rhs = translate(expr.operands[1]);
    if (!lhs || !rhs)
      return std::nullopt;
    switch (expr.kind) {
    case SizeExpr::Kind::Sum:
      return sizes.apply(ScalarFn::Add, *lhs, *rhs);
    case SizeExpr::Kind::Product:
      return sizes.apply(ScalarFn::Mul, *lhs, *rhs);
    case SizeExpr::Kind::Floor:
      return sizes.apply(ScalarFn::FloorDiv, *lhs, *rhs);
    case SizeExpr::Kind::Max:
      return sizes.apply(ScalarFn::Max, *lhs, *rhs);
    case SizeExpr::Kind::Constant:
    case SizeExpr::Kind::Term:
      break;
    }
    llvm_unreachable("handled above");
  }

  std::optional<Linear> translate(const SizeTerm &term) {
    if (term.use >= instances.numSrc)
      return std::nullopt;
    const Instance &instance = instances.list[term.use];
    auto getOperandExtent = [&](unsigned operand, unsigned dim) {
      return sizes.facts.simplify(
          instances.list[instance.operands[operand]].shape[dim]);
    };
    switch (term.kind) {
    case SizeTerm::Kind::Dim:
      if (term.axis >= instance.shape.size())
        return std::nullopt;
      return sizes.facts.simplify(instance.shape[term.axis]);
    case SizeTerm::Kind::Rank:
      return Linear(instance.rank);
    case SizeTerm::Kind::Groups:
      return sizes.getQuotient(getOperandExtent(0, 1), getOperandExtent(1, 1));
    case SizeTerm::Kind::OutPerGroup:
      return getGroupFeatures(instance);
    case SizeTerm::Kind::InPerGroup:
      return getOperandExtent(1, 1);
    case SizeTerm::Kind::OutChannels:
      return getOperandExtent(1, 0);
    case SizeTerm::Kind::InChannels:
      return getOperandExtent(0, 1);
    }
    llvm_unreachable("every kind is handled above");
  }

  Linear getGroupChannels(const Instance &conv) {
    return instances.list[conv.operands[1]].shape[1];
  }
  Linear getGroupFeatures(const Instance &conv) {
    const Instance &weight = instances.list[conv.operands[1]];
    Linear groups = sizes.getQuotient(
        sizes.facts.simplify(instances.list[conv.operands[0]].shape[1]),
        sizes.facts.simplify(weight.shape[1]));
    return sizes.getQuotient(sizes.facts.simplify(weight.shape[0]), groups);
  }

  Typing &typing;
  Instances &instances;
  Sizes &sizes;
  SemanticsCache &semantics;
  llvm::ArrayRef<Assumption> assumptions;
  const Guard &hypothesis;
  std::string &error;
};
} // namespace

std::optional<Typing> espalier::substitution::typeRule(
    const Instances &instances, SemanticsCache &semantics,
    const Integers &integers, llvm::ArrayRef<Assumption> assumptions,
    std::string &error, const Guard &hypothesis) {
  Typing typing{instances, Sizes(integers), {}, {}, {}};
  if (!Typer(typing, semantics, assumptions, hypothesis, error).run())
    return std::nullopt;
  return typing;
}

unsigned espalier::substitution::getConstantFactor(const Instances &instances,
                                                   const Instance &product) {
  const RuleNode &first = *instances.list[product.operands[0]].node;
  bool isConstant = !first.isVariable() && first.getInfo().isConstant();
  return product.operands[isConstant ? 0 : 1];
}
