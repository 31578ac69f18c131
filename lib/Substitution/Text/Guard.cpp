//===- Guard.cpp - What a rule asks of the sizes it is applied to ---------===//

#include "espalier/Substitution/Guard.h"
#include "espalier/Substitution/RuleTensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace espalier::substitution;

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

SizeExpr SizeExpr::get(int64_t constant) {
  SizeExpr expr;
  expr.constant = constant;
  return expr;
}

SizeExpr SizeExpr::get(const SizeTerm &term) {
  SizeExpr expr;
  expr.kind = Kind::Term;
  expr.term = term;
  return expr;
}

SizeExpr SizeExpr::get(Kind kind, SizeExpr lhs, SizeExpr rhs) {
  SizeExpr expr;
  expr.kind = kind;
  bool joins = (kind == Kind::Sum || kind == Kind::Product) && lhs.kind == kind;
  if (joins)
    expr.operands = std::move(lhs.operands);
  else
    expr.operands.push_back(std::move(lhs));
  expr.operands.push_back(std::move(rhs));
  return expr;
}

bool SizeExpr::operator==(const SizeExpr &other) const {
  if (kind != other.kind)
    return false;
  if (kind == Kind::Constant)
    return constant == other.constant;
  if (kind == Kind::Term)
    return term == other.term;
  return operands == other.operands;
}

void Guard::add(const Guard &other) {
  for (const GuardClause &clause : other.clauses)
    if (!llvm::is_contained(clauses, clause))
      clauses.push_back(clause);
}

static void walkExpr(const SizeExpr &expr,
                     llvm::function_ref<void(const SizeTerm &)> visit) {
  if (expr.kind == SizeExpr::Kind::Term)
    visit(expr.term);
  for (const SizeExpr &operand : expr.operands)
    walkExpr(operand, visit);
}

void Guard::walk(llvm::function_ref<void(const SizeTerm &)> visit) const {
  for (const GuardClause &clause : clauses)
    for (const std::vector<GuardAtom> &atoms : clause)
      for (const GuardAtom &atom : atoms) {
        walkExpr(atom.lhs, visit);
        walkExpr(atom.rhs, visit);
      }
}

std::optional<SizeExpr> Guard::getDefinition(unsigned use,
                                             unsigned axis) const {
  SizeTerm term;
  term.use = use;
  term.axis = axis;
  SizeExpr extent = SizeExpr::get(term);
  for (const GuardClause &clause : clauses) {
    if (clause.size() != 1)
      continue;
    for (const GuardAtom &atom : clause.front()) {
      if (atom.kind != GuardAtom::Kind::Equal)
        continue;
      if (atom.lhs == extent)
        return atom.rhs;
      if (atom.rhs == extent)
        return atom.lhs;
    }
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

static void printTerm(const SizeTerm &term, const RuleTensors &uses,
                      llvm::raw_ostream &os) {
  static constexpr llvm::StringLiteral kNames[] = {
      "dim",          "rank",         "groups",     "out_per_group",
      "in_per_group", "out_channels", "in_channels"};
  os << kNames[static_cast<unsigned>(term.kind)] << '('
     << uses.list[term.use].name;
  if (term.kind == SizeTerm::Kind::Dim)
    os << ", " << term.axis;
  os << ')';
}

void espalier::substitution::print(const SizeExpr &expr,
                                   const RuleTensors &uses,
                                   llvm::raw_ostream &os) {
  auto printOperands = [&](llvm::StringRef separator, bool isProduct) {
    llvm::interleave(
        expr.operands, os,
        [&](const SizeExpr &operand) {
          bool isNested = isProduct && operand.kind == SizeExpr::Kind::Sum;
          os << (isNested ? "(" : "");
          print(operand, uses, os);
          os << (isNested ? ")" : "");
        },
        separator);
  };
  switch (expr.kind) {
  case SizeExpr::Kind::Constant:
    os << expr.constant;
    return;
  case SizeExpr::Kind::Term:
    return printTerm(expr.term, uses, os);
  case SizeExpr::Kind::Sum:
    return printOperands(" + ", /*isProduct=*/false);
  case SizeExpr::Kind::Product:
    return printOperands(" * ", /*isProduct=*/true);
  case SizeExpr::Kind::Floor:
    os << "floor(";
    printOperands(" / ", /*isProduct=*/true);
    os << ')';
    return;
  case SizeExpr::Kind::Max:
    os << "max(";
    printOperands(", ", /*isProduct=*/false);
    os << ')';
    return;
  }
}

void espalier::substitution::print(const GuardAtom &atom,
                                   const RuleTensors &uses,
                                   llvm::raw_ostream &os) {
  static constexpr llvm::StringLiteral kWords[] = {" == ", " >= ", " divides "};
  print(atom.lhs, uses, os);
  os << kWords[static_cast<unsigned>(atom.kind)];
  print(atom.rhs, uses, os);
}

void espalier::substitution::print(const Guard &guard, const RuleTensors &uses,
                                   llvm::raw_ostream &os) {
  auto printAtoms = [&](const std::vector<GuardAtom> &atoms) {
    llvm::interleave(
        atoms, os, [&](const GuardAtom &atom) { print(atom, uses, os); },
        " and ");
  };
  llvm::interleave(
      guard.clauses, os,
      [&](const GuardClause &clause) {
        os << (clause.size() > 1 ? "(" : "");
        llvm::interleave(clause, os, printAtoms, " or ");
        os << (clause.size() > 1 ? ")" : "");
      },
      " and ");
}

std::string espalier::substitution::toString(const Guard &guard,
                                             const RuleTensors &uses) {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(guard, uses, os);
  return text;
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

namespace {
class Evaluator {
public:
  Evaluator(const RuleTensors &uses, ExtentFn extent, RankFn rank)
      : uses(uses), extent(extent), rank(rank) {}

  std::optional<int64_t> evaluate(const SizeExpr &expr) const {
    if (expr.kind == SizeExpr::Kind::Constant)
      return expr.constant;
    if (expr.kind == SizeExpr::Kind::Term)
      return evaluate(expr.term);
    std::optional<int64_t> result = evaluate(expr.operands[0]);
    for (const SizeExpr &operand : llvm::drop_begin(expr.operands)) {
      std::optional<int64_t> value = evaluate(operand);
      if (!result || !value)
        return std::nullopt;
      result = combine(expr.kind, *result, *value);
    }
    return result;
  }

  std::optional<bool> holds(const GuardAtom &atom) const {
    std::optional<int64_t> lhs = evaluate(atom.lhs), rhs = evaluate(atom.rhs);
    if (!lhs || !rhs)
      return std::nullopt;
    switch (atom.kind) {
    case GuardAtom::Kind::Equal:
      return *lhs == *rhs;
    case GuardAtom::Kind::AtLeast:
      return *lhs >= *rhs;
    case GuardAtom::Kind::Divides:
      return *lhs > 0 && *rhs % *lhs == 0;
    }
    llvm_unreachable("every kind is handled above");
  }

private:
  static std::optional<int64_t> combine(SizeExpr::Kind kind, int64_t lhs,
                                        int64_t rhs) {
    int64_t result;
    switch (kind) {
    case SizeExpr::Kind::Sum:
      if (llvm::AddOverflow(lhs, rhs, result))
        return std::nullopt;
      return result;
    case SizeExpr::Kind::Product:
      if (llvm::MulOverflow(lhs, rhs, result))
        return std::nullopt;
      return result;
    case SizeExpr::Kind::Floor:
      if (rhs <= 0)
        return std::nullopt;
      return llvm::divideFloorSigned(lhs, rhs);
    case SizeExpr::Kind::Max:
      return std::max(lhs, rhs);
    case SizeExpr::Kind::Constant:
    case SizeExpr::Kind::Term:
      break;
    }
    llvm_unreachable("has no operands");
  }

  std::optional<int64_t> getGroups(unsigned image, unsigned weight) const {
    std::optional<int64_t> channels = extent(image, 1),
                           each = extent(weight, 1);
    if (!channels || !each || *each <= 0 || *channels % *each != 0)
      return std::nullopt;
    return *channels / *each;
  }

  std::optional<int64_t> evaluate(const SizeTerm &term) const {
    if (term.kind == SizeTerm::Kind::Dim)
      return extent(term.use, term.axis);
    if (term.kind == SizeTerm::Kind::Rank)
      return rank ? rank(term.use) : std::nullopt;
    const RuleTensor &conv = uses.list[term.use];
    unsigned image = conv.operands[0], weight = conv.operands[1];
    switch (term.kind) {
    case SizeTerm::Kind::Groups:
      return getGroups(image, weight);
    case SizeTerm::Kind::OutPerGroup: {
      std::optional<int64_t> groups = getGroups(image, weight);
      std::optional<int64_t> features = extent(weight, 0);
      if (!groups || !features || *groups <= 0 || *features % *groups != 0)
        return std::nullopt;
      return *features / *groups;
    }
    case SizeTerm::Kind::InPerGroup:
      return extent(weight, 1);
    case SizeTerm::Kind::OutChannels:
      return extent(weight, 0);
    case SizeTerm::Kind::InChannels:
      return extent(image, 1);
    default:
      llvm_unreachable("handled above");
    }
  }

  const RuleTensors &uses;
  ExtentFn extent;
  RankFn rank;
};
} // namespace

std::optional<int64_t> espalier::substitution::evaluate(const SizeExpr &expr,
                                                        const RuleTensors &uses,
                                                        ExtentFn extent,
                                                        RankFn rank) {
  return Evaluator(uses, extent, rank).evaluate(expr);
}

std::optional<bool> espalier::substitution::holdsForUses(
    const Guard &guard, const RuleTensors &uses, ExtentFn extent, RankFn rank) {
  Evaluator evaluator(uses, extent, rank);
  // False decides a conjunction even if something else is unknown.
  auto all = [](const auto &parts, auto &&decide) -> std::optional<bool> {
    bool isKnown = true;
    for (const auto &part : parts) {
      std::optional<bool> value = decide(part);
      if (value == false)
        return false;
      isKnown &= value.has_value();
    }
    return isKnown ? std::optional<bool>(true) : std::nullopt;
  };
  return all(guard.clauses, [&](const GuardClause &clause) {
    bool isKnown = true;
    for (const std::vector<GuardAtom> &atoms : clause) {
      std::optional<bool> value = all(
          atoms, [&](const GuardAtom &atom) { return evaluator.holds(atom); });
      if (value == true)
        return value;
      isKnown &= value.has_value();
    }
    return isKnown ? std::optional<bool>(false) : std::nullopt;
  });
}

std::optional<bool> espalier::substitution::holds(const Guard &guard,
                                                  const Rule &rule,
                                                  ExtentFn extent,
                                                  RankFn rank) {
  RuleTensors uses = listTensors(rule);
  auto nodeExtent = [&](unsigned use, unsigned axis) {
    return extent(uses.list[use].node, axis);
  };
  auto nodeRank = [&](unsigned use) -> std::optional<int64_t> {
    return rank ? rank(uses.list[use].node) : std::nullopt;
  };
  return holdsForUses(guard, uses, nodeExtent, nodeRank);
}
