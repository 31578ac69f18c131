//===- Sizes.cpp - Symbolic extents ---------------------------------------===//

#include "Sizes.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::substitution;
using espalier::definition::ScalarFn;

/// More cases than this are too many.
static constexpr size_t kMaxCases = 32;

Var Sizes::add(SizeInfo info) {
  infos.push_back(std::move(info));
  return infos.size() - 1;
}

Var Sizes::addExtent(const SizeTerm &term, bool isChosen) {
  SizeInfo info;
  info.term = term;
  info.isChosen = isChosen;
  Var var = add(std::move(info));
  facts.add(Constraint::atLeast(Linear::var(var), 1));
  return var;
}

std::optional<Linear> Sizes::apply(ScalarFn fn, Linear lhs, Linear rhs) {
  lhs = facts.simplify(lhs);
  rhs = facts.simplify(rhs);
  switch (fn) {
  case ScalarFn::Add:
    return lhs + rhs;
  case ScalarFn::Sub:
    return lhs - rhs;
  case ScalarFn::Mul:
    return getProduct(lhs, rhs);
  case ScalarFn::FloorDiv:
    return getQuotient(lhs, rhs);
  case ScalarFn::Mod: {
    std::optional<int64_t> divisor = rhs.getValue();
    if (!divisor || *divisor < 1)
      return std::nullopt;
    return lhs - getFloor(lhs, *divisor) * *divisor;
  }
  case ScalarFn::Max:
    return getMax(lhs, rhs);
  case ScalarFn::Min:
    return lhs + rhs - getMax(lhs, rhs);
  default:
    return std::nullopt;
  }
}

Linear Sizes::getFloor(Linear lhs, int64_t divisor) {
  // Whole multiples come out.
  Linear whole;
  for (auto [var, coefficient] : lhs.getTerms())
    if (coefficient % divisor == 0)
      whole += Linear::var(var, coefficient / divisor);
  lhs -= whole * divisor;
  int64_t offset = llvm::divideFloorSigned(lhs.getConstant(), divisor);
  whole += Linear(offset);
  lhs -= Linear(offset * divisor);
  if (lhs.getValue())
    return whole;
  for (Var var = 0; var < infos.size(); ++var)
    if (infos[var].kind == SizeInfo::Kind::Floor && infos[var].b == divisor &&
        facts.simplify(infos[var].a) == lhs)
      return facts.simplify(Linear::var(var)) + whole;
  SizeInfo info;
  info.kind = SizeInfo::Kind::Floor;
  info.a = lhs;
  info.b = divisor;
  Linear result = Linear::var(add(std::move(info)));
  facts.add(Constraint::atLeast(lhs, result * divisor));
  facts.add(Constraint::less(lhs, result * divisor + Linear(divisor)));
  return facts.simplify(result) + whole;
}

llvm::SmallVector<std::pair<Linear, Linear>>
Sizes::getFactors(const Linear &value) const {
  llvm::SmallVector<std::pair<Linear, Linear>> factors;
  for (Var var = 0; var < infos.size(); ++var) {
    if (infos[var].kind != SizeInfo::Kind::Product ||
        !(facts.simplify(Linear::var(var)) == value))
      continue;
    Linear a = facts.simplify(infos[var].a), b = facts.simplify(infos[var].b);
    factors.push_back({a, b});
    factors.push_back({b, a});
  }
  return factors;
}

std::optional<Linear> Sizes::divideExactly(const Linear &value,
                                           const Linear &factor) const {
  if (value.getConstant() != 0 || value.getTerms().empty())
    return std::nullopt;
  // factor * x + factor * y
  std::optional<Linear> result = Linear();
  for (auto [var, coefficient] : value.getTerms()) {
    std::optional<Linear> part;
    if (Linear::var(var) == factor)
      part = Linear(1);
    for (const auto &[a, b] : getFactors(Linear::var(var)))
      if (a == factor)
        part = b;
    if (!part) {
      result.reset();
      break;
    }
    *result += *part * coefficient;
  }
  if (result)
    return result;
  // x * y + x * z, where y + z is the factor
  auto [first, firstCoefficient] = value.getTerms().front();
  for (const auto &[common, ignored] : getFactors(Linear::var(first))) {
    Linear sum;
    bool isCommon = true;
    for (auto [var, coefficient] : value.getTerms()) {
      std::optional<Linear> part;
      for (const auto &[a, b] : getFactors(Linear::var(var)))
        if (a == common)
          part = b;
      isCommon &= part.has_value();
      if (part)
        sum += *part * coefficient;
    }
    if (isCommon && sum == factor)
      return common;
  }
  return std::nullopt;
}

std::optional<Linear> Sizes::divideDifference(const Linear &value,
                                              const Linear &factor) const {
  for (Var var = 0; var < infos.size(); ++var) {
    if (infos[var].kind != SizeInfo::Kind::Product)
      continue;
    Linear a = facts.simplify(infos[var].a), b = facts.simplify(infos[var].b);
    if (!(a == factor) && !(b == factor))
      continue;
    Linear rest = facts.simplify(Linear::var(var)) - value;
    if (std::optional<Linear> less = divideExactly(rest, factor))
      return (a == factor ? b : a) - *less;
  }
  return std::nullopt;
}

Linear Sizes::getQuotient(Linear lhs, Linear rhs) {
  if (std::optional<int64_t> divisor = rhs.getValue(); divisor && *divisor > 0)
    return getFloor(lhs, *divisor);
  if (facts.areEqual(lhs, rhs))
    return 1;
  if (facts.areEqual(rhs, 1))
    return lhs;
  if (std::optional<Linear> exact = divideExactly(lhs, rhs))
    return *exact;
  if (std::optional<Linear> exact = divideDifference(lhs, rhs))
    return *exact;
  for (Var var = 0; var < infos.size(); ++var)
    if (infos[var].kind == SizeInfo::Kind::Quotient &&
        facts.simplify(infos[var].a) == lhs &&
        facts.simplify(infos[var].b) == rhs)
      return facts.simplify(Linear::var(var));
  SizeInfo info;
  info.kind = SizeInfo::Kind::Quotient;
  info.a = lhs;
  info.b = rhs;
  Linear result = Linear::var(add(std::move(info)));
  facts.add(Constraint::atLeast(result, 0));
  return result;
}

Linear Sizes::getProduct(Linear lhs, Linear rhs) {
  if (lhs.getValue())
    std::swap(lhs, rhs);
  if (std::optional<int64_t> factor = rhs.getValue())
    return lhs * *factor;
  // Distribute, so that only products of two parameters are left.
  if (!lhs.getVar()) {
    Linear sum = rhs * lhs.getConstant();
    for (auto [var, coefficient] : lhs.getTerms())
      sum += getProduct(rhs, Linear::var(var)) * coefficient;
    return facts.simplify(sum);
  }
  if (!rhs.getVar())
    return getProduct(rhs, lhs);
  for (Var var = 0; var < infos.size(); ++var) {
    if (infos[var].kind != SizeInfo::Kind::Product)
      continue;
    Linear a = facts.simplify(infos[var].a), b = facts.simplify(infos[var].b);
    if ((a == lhs && b == rhs) || (a == rhs && b == lhs))
      return facts.simplify(Linear::var(var));
  }
  SizeInfo info;
  info.kind = SizeInfo::Kind::Product;
  info.a = lhs;
  info.b = rhs;
  Linear result = Linear::var(add(std::move(info)));
  // What a quotient loses is less than the divisor.
  for (auto [factor, other] : {std::pair(lhs, rhs), {rhs, lhs}}) {
    const SizeInfo &quotient = infos[*factor.getVar()];
    if (quotient.kind != SizeInfo::Kind::Quotient ||
        !(facts.simplify(quotient.b) == other))
      continue;
    facts.add(Constraint::atLeast(quotient.a, result));
    facts.add(Constraint::less(quotient.a, result + other));
  }
  return facts.simplify(result);
}

Linear Sizes::getMax(Linear lhs, Linear rhs) {
  if (facts.implies(Constraint::atLeast(lhs, rhs)))
    return lhs;
  if (facts.implies(Constraint::atLeast(rhs, lhs)))
    return rhs;
  for (Var var = 0; var < infos.size(); ++var)
    if (infos[var].kind == SizeInfo::Kind::Max &&
        facts.simplify(infos[var].a) == lhs &&
        facts.simplify(infos[var].b) == rhs)
      return facts.simplify(Linear::var(var));
  SizeInfo info;
  info.kind = SizeInfo::Kind::Max;
  info.a = lhs;
  info.b = rhs;
  Linear result = Linear::var(add(std::move(info)));
  alternatives.push_back(
      {{Constraint::equal(result, lhs), Constraint::atLeast(lhs, rhs)},
       {Constraint::equal(result, rhs), Constraint::less(lhs, rhs)}});
  return result;
}

void Sizes::close() {
  auto isKind = [&](Var var, SizeInfo::Kind kind) {
    return infos[var].kind == kind;
  };
  for (bool changed = true; changed;) {
    changed = false;
    auto require = [&](const Linear &lhs, const Linear &rhs) {
      if (facts.simplify(lhs) == facts.simplify(rhs))
        return;
      facts.addEqual(lhs, rhs);
      // What cannot be solved, or contradicts, would be new for ever.
      changed |= facts.simplify(lhs) == facts.simplify(rhs);
    };
    for (Var var = 0; var < infos.size(); ++var) {
      Linear self = facts.simplify(Linear::var(var));
      Linear a = facts.simplify(infos[var].a), b = facts.simplify(infos[var].b);
      if (isKind(var, SizeInfo::Kind::Quotient)) {
        if (a == b)
          require(self, 1);
        else if (b == Linear(1))
          require(self, a);
        else if (std::optional<Linear> exact = divideExactly(a, b))
          require(self, *exact);
      }
      if (isKind(var, SizeInfo::Kind::Product)) {
        if (a.getValue())
          std::swap(a, b);
        if (std::optional<int64_t> factor = b.getValue())
          require(self, a * *factor);
      }
      for (Var other = 0; other < var; ++other) {
        if (infos[other].kind != infos[var].kind ||
            isKind(var, SizeInfo::Kind::Extent))
          continue;
        Linear c = facts.simplify(infos[other].a);
        Linear d = facts.simplify(infos[other].b);
        Linear that = facts.simplify(Linear::var(other));
        if (a == c && b == d)
          require(self, that);
        // A factor that is not 0 and a product determine the other factor.
        if (!isKind(var, SizeInfo::Kind::Product) || !(self == that) ||
            !facts.implies(Constraint::atLeast(self, 1)))
          continue;
        if (a == c)
          require(b, d);
        else if (a == d)
          require(b, c);
        else if (b == c)
          require(a, d);
        else if (b == d)
          require(a, c);
      }
    }
  }
}

std::optional<std::vector<Sizes>> Sizes::getCases() const {
  Sizes closed = *this;
  closed.close();
  // One distinction for each factor that is a quotient.
  std::map<Var, llvm::SmallVector<Constraints, 2>> byFactor;
  for (Var var = 0; var < infos.size(); ++var) {
    if (infos[var].kind != SizeInfo::Kind::Product)
      continue;
    Linear a = closed.facts.simplify(infos[var].a);
    Linear b = closed.facts.simplify(infos[var].b);
    Linear product = Linear::var(var);
    // A product of sizes is one, so its factors are at least 1.
    if (!closed.facts.implies(Constraint::atLeast(product, 1)))
      continue;
    std::optional<Var> factor = a.getVar(), second = b.getVar();
    if (!factor || !second)
      continue;
    if (byFactor.count(*second) ||
        (!byFactor.count(*factor) &&
         infos[*second].kind == SizeInfo::Kind::Quotient &&
         (infos[*factor].kind != SizeInfo::Kind::Quotient ||
          *second < *factor)))
      std::swap(factor, second);
    Linear v = Linear::var(*factor), x = Linear::var(*second);
    if (!closed.facts.implies(Constraint::atLeast(v, 0)))
      continue;
    auto &cases = byFactor[*factor];
    if (cases.empty())
      cases = {{Constraint::equal(v, 1)}, {Constraint::atLeast(v, 2)}};
    cases[0].push_back(Constraint::equal(product, x));
    cases[1].append({Constraint::atLeast(product, x * 2),
                     Constraint::atLeast(product, v),
                     Constraint::atLeast(x, 1)});
  }
  auto distinctions = alternatives;
  for (auto &[var, cases] : byFactor)
    distinctions.push_back(cases);

  std::vector<Sizes> result{std::move(closed)};
  for (const auto &distinction : distinctions) {
    std::vector<Sizes> next;
    for (const Sizes &before : result)
      for (const Constraints &alternative : distinction) {
        Sizes with = before;
        with.facts.add(alternative);
        with.close();
        if (!with.facts.isImpossible())
          next.push_back(std::move(with));
      }
    if (next.size() > kMaxCases)
      return std::nullopt;
    result = std::move(next);
  }
  if (distinctions.empty() && result.front().facts.isImpossible())
    result.clear();
  for (Sizes &sizes : result)
    sizes.alternatives.clear();
  return result;
}
