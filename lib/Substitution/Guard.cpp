//===- Guard.cpp - What a rule asks of the sizes it is applied to ---------===//

#include "Guard.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace espalier;
using namespace espalier::substitution;
using polyhedral::Set;

/// The extents of variables and constants of `src`.
static llvm::SmallVector<Var> getSourceExtents(const Sizes &src) {
  llvm::SmallVector<Var> extents;
  for (Var var = 0; var < src.size(); ++var)
    if (src[var].kind == SizeInfo::Kind::Extent)
      extents.push_back(var);
  return extents;
}

/// The values of `extents` that fit a case.
static Set project(const Sizes &sizes, llvm::ArrayRef<Var> extents,
                   llvm::ArrayRef<Constraint> more) {
  Constraints all = sizes.facts.getAll();
  llvm::append_range(all, more);
  llvm::SmallVector<Var> vars(extents.begin(), extents.end());
  for (Var var : getVars(all))
    if (!llvm::is_contained(extents, var))
      vars.push_back(var);
  return makeSet(sizes.facts.getIntegers(), vars, all)
      .project(extents.size(), vars.size() - extents.size());
}

static std::string
printSide(llvm::ArrayRef<std::pair<std::string, int64_t>> terms,
          int64_t constant) {
  std::string text;
  for (const auto &[name, factor] : terms)
    text += (text.empty() ? "" : " + ") +
            (factor == 1 ? "" : llvm::itostr(factor) + " * ") + name;
  if (constant != 0 || text.empty())
    text += (text.empty() ? "" : " + ") + llvm::itostr(constant);
  return text;
}

static std::string printRow(const polyhedral::LinearConstraint &row,
                            const Sizes &sizes, llvm::ArrayRef<Var> extents) {
  llvm::SmallVector<std::pair<std::string, int64_t>> left, right;
  for (auto [var, factor] : llvm::zip_equal(extents, row.coefficients)) {
    if (factor > 0)
      left.push_back({sizes[var].name, factor});
    if (factor < 0)
      right.push_back({sizes[var].name, -factor});
  }
  int64_t constant = row.constant;
  return printSide(left, constant > 0 ? constant : 0) +
         (row.isEquality ? " == " : " >= ") +
         printSide(right, constant < 0 ? -constant : 0);
}

/// Appends what tells `allowed` apart among `expected`, of which it is a part:
/// equalities if they are enough, otherwise what `outline` says, if that is.
/// Returns false if that cannot be found.
static bool printDifference(Set expected, const Set &allowed,
                            const Set &outline, const Sizes &sizes,
                            llvm::ArrayRef<Var> extents,
                            llvm::SmallVectorImpl<std::string> &names) {
  std::optional<bool> isWhole = expected.isSubset(allowed);
  auto equalities = allowed.getEqualities();
  if (!isWhole || !equalities)
    return false;
  for (const polyhedral::LinearConstraint &row : *equalities) {
    if (*isWhole)
      return true;
    Constraint equality{Linear(row.constant), true};
    for (auto [var, factor] : llvm::zip_equal(extents, row.coefficients))
      equality.expr += Linear::var(var, factor);
    Set plane = makeSet(sizes.facts.getIntegers(), extents, equality);
    std::optional<bool> isKnown = expected.isSubset(plane);
    expected = expected.intersect(plane);
    isWhole = expected.isSubset(allowed);
    if (!isKnown || !isWhole)
      return false;
    if (!*isKnown)
      names.push_back(printRow(row, sizes, extents));
  }
  if (*isWhole)
    return true;
  Set extra = outline.gist(expected);
  if (expected.intersect(extra).isSubset(allowed) != true ||
      allowed.isSubset(extra) != true)
    extra = allowed.gist(expected);
  if (auto rows = extra.getConstraints()) {
    for (const polyhedral::LinearConstraint &row : *rows)
      names.push_back(printRow(row, sizes, extents));
    return true;
  }
  llvm::SmallVector<std::string> dims;
  for (Var var : extents)
    dims.push_back(sizes[var].name);
  names.push_back(extra.getCondition(dims));
  return true;
}

/// The constraints that the assumptions consist of, over extents of `src`, and
/// what they are called.
static Constraints describe(const Typing &typing,
                            llvm::ArrayRef<Assumption> assumptions,
                            llvm::SmallVectorImpl<std::string> &names) {
  Constraints constraints;
  const auto &list = typing.instances.list;
  for (const Assumption &assumption : assumptions) {
    const Instance &first = list[assumption.first];
    if (assumption.kind == Assumption::Kind::SameSplit) {
      const Instance &second = list[assumption.second];
      names.push_back("out_per_group(" + first.name + ") == out_per_group(" +
                      second.name + ")");
      names.push_back("in_per_group(" + first.name + ") == in_per_group(" +
                      second.name + ")");
    }
    if (assumption.kind != Assumption::Kind::OneGroup)
      continue;
    names.push_back("groups(" + first.name + ") == 1");
    if (first.isInSrc)
      constraints.push_back(Constraint::equal(
          list[first.operands[0]].shape[1], list[first.operands[1]].shape[1]));
  }
  return constraints;
}

Guard espalier::substitution::getGuard(const Typing &typing,
                                       const std::vector<Sizes> &cases,
                                       llvm::ArrayRef<Assumption> assumptions) {
  Guard guard;
  llvm::SmallVector<std::string> names;
  if (!typing.instances.rankGuard.empty())
    names.push_back(typing.instances.rankGuard);
  Constraints assumed = describe(typing, assumptions, names);
  llvm::append_range(names, typing.divisions);

  const Sizes &src = *typing.srcSizes;
  llvm::SmallVector<Var> extents = getSourceExtents(src);
  auto srcCases = src.getCases();
  guard.isUnknown = !srcCases || srcCases->empty() || cases.empty();
  if (guard.isUnknown)
    return guard;
  auto unite = [&](const std::vector<Sizes> &all,
                   llvm::ArrayRef<Constraint> more) {
    Set result = project(all.front(), extents, more);
    for (const Sizes &sizes : llvm::drop_begin(all))
      result = result.unite(project(sizes, extents, more));
    return result;
  };
  Set possible = unite(*srcCases, {});
  Set allowed = unite(cases, {});
  Set expected = assumed.empty() ? possible : unite(*srcCases, assumed);
  // Without the distinctions that both sides make, conditions are shorter.
  Set outline =
      project(typing.sizes, extents, {}).gist(project(src, extents, assumed));
  if (!printDifference(expected, allowed, outline, src, extents, names))
    guard.isUnknown = true;
  guard.text = llvm::join(names, " and ");
  return guard;
}

bool espalier::substitution::isDegenerate(const Typing &typing,
                                          const std::vector<Sizes> &cases) {
  const Sizes &src = *typing.srcSizes;
  for (const Instance &instance : typing.instances.list)
    for (const Linear &extent : instance.shape) {
      Constraint isOne = Constraint::equal(extent, 1);
      bool isForced =
          instance.isInSrc && llvm::all_of(cases, [&](const Sizes &sizes) {
            return sizes.facts.implies(isOne);
          });
      if (isForced && !src.facts.implies(isOne))
        return true;
    }
  return false;
}
