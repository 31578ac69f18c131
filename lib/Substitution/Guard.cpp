//===- Guard.cpp - What a rule asks of the sizes it is applied to ---------===//

#include "Typing.h"
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
static Set project(const Sizes &sizes, llvm::ArrayRef<Var> extents) {
  Constraints all = sizes.facts.getAll();
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
  std::string condition = extra.getCondition(dims);
  bool isUnion = llvm::StringRef(condition).contains(" or ");
  names.push_back(isUnion ? "(" + condition + ")" : condition);
  return true;
}

/// What assumptions are called.
static void describe(const Typing &typing,
                     llvm::ArrayRef<Assumption> assumptions,
                     llvm::SmallVectorImpl<std::string> &names) {
  const auto &list = typing.instances.list;
  for (const Assumption &assumption : assumptions) {
    const std::string &first = list[assumption.first].name;
    const std::string &second = list[assumption.second].name;
    if (assumption.kind == Assumption::Kind::SameSplit)
      for (const char *what : {"out_per_group(", "in_per_group("})
        names.push_back(what + first + ") == " + what + second + ")");
    if (assumption.kind == Assumption::Kind::OneGroup)
      names.push_back("groups(" + first + ") == 1");
    // Those about constants of src are found as conditions on extents; of dst,
    // they say which sizes to choose.
    if (list[assumption.first].isInSrc)
      continue;
    if (assumption.kind == Assumption::Kind::SquareConst)
      names.push_back("dim(" + first + ", 0) == dim(" + first + ", 1)");
    if (assumption.kind == Assumption::Kind::SquareUse)
      names.push_back("out_channels(" + first + ") == in_channels(" + first +
                      ")");
  }
}

Guard espalier::substitution::getGuard(const Typing &typing,
                                       const std::vector<Sizes> &cases,
                                       llvm::ArrayRef<Assumption> assumptions) {
  Guard guard;
  llvm::SmallVector<std::string> names;
  if (!typing.instances.rankGuard.empty())
    names.push_back(typing.instances.rankGuard);
  describe(typing, assumptions, names);
  llvm::append_range(names, typing.divisions);

  const Sizes &src = *typing.srcSizes;
  llvm::SmallVector<Var> extents = getSourceExtents(src);
  auto srcCases = typing.assumedSizes->getCases();
  guard.isUnknown = !srcCases || srcCases->empty() || cases.empty();
  if (guard.isUnknown)
    return guard;
  auto unite = [&](const std::vector<Sizes> &all) {
    Set result = project(all.front(), extents);
    for (const Sizes &sizes : llvm::drop_begin(all))
      result = result.unite(project(sizes, extents));
    return result;
  };
  Set expected = unite(*srcCases), allowed = unite(cases);
  // Without the distinctions that both sides make, conditions are shorter.
  Set outline = project(typing.sizes, extents)
                    .gist(project(*typing.assumedSizes, extents));
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
