//===- Sample.cpp - Evaluates rules at random shapes ----------------------===//
//
// Both sides run on the reference interpreter, by the definitions as they
// stand, so that a refutation owes nothing to the expansion. Where they seem to
// differ, they are evaluated again without rounding: only if all of `src` is
// defined, and an element of `dst` certainly another value or none, is the rule
// false.
//
//===----------------------------------------------------------------------===//

#include "Sample.h"
#include "Exact.h"
#include "espalier/Interpreter/Interpreter.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace espalier;
using namespace espalier::substitution;
using espalier::interpreter::Tensor;

static constexpr unsigned kMaxTries = 400;
/// The largest extents of successive shapes.
static constexpr int64_t kLimits[] = {2, 3, 4, 5, 3, 4, 5, 6, 8};
/// So many samples have integers as inputs; of others, every second one.
static constexpr unsigned kNumWhole = 8;
/// Larger tensors are not evaluated, nor what takes more work: as an average
/// over a thousand rows and columns, at each of many places.
static constexpr int64_t kMaxElements = 100'000;
static constexpr double kMaxFlops = 1e7;
/// Inputs are small integers, so that only divisions round.
static constexpr double kTolerance = 1e-7;
/// Of the elements of an output that seem to differ, so many are looked at.
static constexpr unsigned kMaxConfirmed = 4;
/// Where a function grows quickly, inputs are this small, and values beyond
/// this limit are not compared: what rounding left of them could be anything.
static constexpr double kSmall = 0.25, kMaxMagnitude = 1e6;

/// The value of a parameter that is no extent; nothing if it has none.
static std::optional<int64_t>
evaluateDefined(const SizeInfo &info, const std::vector<int64_t> &values) {
  auto getValue = [&](Var var) { return values[var]; };
  int64_t a = info.a.evaluate(getValue), b = info.b.evaluate(getValue);
  switch (info.kind) {
  case SizeInfo::Kind::Extent:
    return std::nullopt;
  case SizeInfo::Kind::Floor:
  case SizeInfo::Kind::Quotient:
    if (b <= 0)
      return std::nullopt;
    return llvm::divideFloorSigned(a, b);
  case SizeInfo::Kind::Product:
    return a * b;
  case SizeInfo::Kind::Max:
    return std::max(a, b);
  }
  llvm_unreachable("every kind is handled above");
}

/// Often one that is there already: equal and divisible extents fit better.
int64_t Sampler::pickExtent(const std::vector<int64_t> &values, Var number,
                            int64_t least, int64_t limit) {
  if (number > 0 && pick(0, 3) == 0) {
    int64_t old = values[pick(0, number - 1)];
    if (old >= least && old <= limit)
      return old;
  }
  return pick(least, limit);
}

std::optional<std::vector<int64_t>> Sampler::tryToDraw(int64_t limit,
                                                       int64_t least) {
  std::vector<int64_t> values(sizes.size(), 0);
  auto getValue = [&](Var var) { return values[var]; };
  for (Var var = 0; var < sizes.size(); ++var) {
    if (sizes[var].kind != SizeInfo::Kind::Extent) {
      auto value = evaluateDefined(sizes[var], values);
      if (!value)
        return std::nullopt;
      values[var] = *value;
      continue;
    }
    // Other extents may determine it; what is newer is not known yet.
    Linear simple = sizes.facts.simplify(Linear::var(var));
    bool isChosen = simple.any([&](Var other) { return other >= var; });
    values[var] = isChosen ? pickExtent(values, var, least, limit)
                           : simple.evaluate(getValue);
  }
  if (!fits(values))
    return std::nullopt;
  return values;
}

bool Sampler::fits(const std::vector<int64_t> &values) const {
  return llvm::all_of(sizes.facts.getAll(), [&](const Constraint &fact) {
    int64_t value = fact.expr.evaluate([&](Var var) { return values[var]; });
    return fact.isEquality ? value == 0 : value >= 0;
  });
}

bool Sampler::addDefined(std::vector<int64_t> &values) const {
  while (values.size() < sizes.size()) {
    auto value = evaluateDefined(sizes[values.size()], values);
    if (!value)
      return false;
    values.push_back(*value);
  }
  return true;
}

std::string Sampler::findMisfit(const Sizes &src, const Guard &guard,
                                const RuleTensors &uses, unsigned count) {
  for (Var var = src.size(); var < sizes.size(); ++var)
    if (sizes[var].kind == SizeInfo::Kind::Extent)
      return "";
  Sampler sampler(instances, src, elementType, random());
  for (unsigned number = 0; number < count; ++number) {
    auto values = sampler.drawSizes(kLimits[number % std::size(kLimits)]);
    if (!values)
      continue;
    bool isDefined = addDefined(*values);
    values->resize(sizes.size());
    auto getExtent = [&](unsigned use,
                         unsigned axis) -> std::optional<int64_t> {
      if (axis >= instances.list[use].rank)
        return std::nullopt;
      return instances.list[use].shape[axis].evaluate(
          [&](Var var) { return (*values)[var]; });
    };
    auto getRank = [&](unsigned use) -> std::optional<int64_t> {
      return instances.list[use].rank;
    };
    bool isAllowed =
        holdsForUses(guard, uses, getExtent, getRank).value_or(false);
    if (isAllowed && !(isDefined && fits(*values)))
      return describe(*values) + ": fulfils the condition, but not dst";
  }
  return "";
}

std::optional<std::vector<int64_t>> Sampler::drawSizes(int64_t limit,
                                                       int64_t least) {
  for (unsigned tries = 0; tries < kMaxTries; ++tries)
    if (auto values = tryToDraw(limit, least))
      return values;
  return std::nullopt;
}

/// Whether all values are small enough to be exact as far as it matters.
static bool isModerate(const Tensor &tensor) {
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    if (!(std::fabs(tensor.getFloat(i)) <= kMaxMagnitude))
      return false;
  return true;
}

/// Whether an operator makes a small tensor, and with little work.
static bool isCheap(const Instance &instance, llvm::ArrayRef<Tensor> operands,
                    llvm::function_ref<int64_t(Var)> getValue) {
  int64_t count = 1;
  for (const Linear &extent : instance.shape) {
    count *= extent.evaluate(getValue);
    if (count > kMaxElements)
      return false;
  }
  llvm::SmallVector<mlir::RankedTensorType> types;
  for (const Tensor &operand : operands)
    types.push_back(operand.getType());
  auto cost = definition::estimateCost(instance.semantics->definition, types);
  return !cost || cost->flops <= kMaxFlops;
}

std::optional<std::vector<Tensor>>
Sampler::evaluate(const std::vector<int64_t> &values, bool isFractional,
                  Budget &budget) {
  bool isSteep = llvm::any_of(instances.list, [](const Instance &instance) {
    return !instance.node->isVariable() &&
           getInfo(instance.node->op).has(kSteep);
  });
  double scale = isSteep || isFractional ? kSmall : 1;
  auto getValue = [&](Var var) { return values[var]; };
  std::vector<Tensor> tensors;
  for (const Instance &instance : instances.list) {
    if (!instance.node->isVariable()) {
      llvm::SmallVector<Tensor> operands;
      for (unsigned operand : instance.operands)
        operands.push_back(tensors[operand]);
      if (!budget.check() || !isCheap(instance, operands, getValue))
        return std::nullopt;
      llvm::SmallVector<int64_t> parameters;
      for (const Linear &parameter : instance.parameters)
        parameters.push_back(parameter.evaluate(getValue));
      auto results =
          interpreter::evaluate(instance.semantics->definition, operands,
                                parameters, [](const llvm::Twine &) {});
      if (failed(results))
        return std::nullopt;
      tensors.push_back((*results)[0]);
      if (isSteep && !isModerate(tensors.back()))
        return std::nullopt;
      continue;
    }
    llvm::SmallVector<int64_t> shape;
    int64_t count = 1;
    for (const Linear &extent : instance.shape) {
      shape.push_back(extent.evaluate(getValue));
      count *= shape.back();
      if (count > kMaxElements)
        return std::nullopt;
    }
    auto type = mlir::RankedTensorType::get(shape, elementType);
    auto tensor = Tensor::create(type);
    if (failed(tensor))
      return std::nullopt;
    auto *elements =
        reinterpret_cast<double *>(tensor->getMutableBytes().data());
    // Some tensors have one sign, since maxima of mixed ones are positive.
    static constexpr std::pair<int64_t, int64_t> kRanges[] = {
        {-3, 3}, {-3, 3}, {-3, -1}, {0, 3}};
    auto [least, most] = kRanges[pick(0, std::size(kRanges) - 1)];
    for (int64_t i = 0; i < count; ++i)
      elements[i] = static_cast<double>(pick(least, most)) * scale;
    tensors.push_back(*tensor);
  }
  return tensors;
}

std::string Sampler::describe(const std::vector<int64_t> &values) const {
  std::string text;
  for (const Instance &instance : instances.list) {
    bool isConstant =
        instance.semantics && instance.node->getInfo().isConstant();
    if (!instance.isInSrc || (!instance.node->isVariable() && !isConstant) ||
        instance.rank == 0)
      continue;
    text += (text.empty() ? "" : " ") + instance.name + "=";
    for (auto [dim, extent] : llvm::enumerate(instance.shape))
      text +=
          (dim ? "x" : "") +
          llvm::itostr(extent.evaluate([&](Var var) { return values[var]; }));
  }
  return text;
}

static bool areClose(double lhs, double rhs) {
  if (std::isnan(lhs) || std::isnan(rhs))
    return false;
  if (std::isinf(lhs) || std::isinf(rhs))
    return lhs == rhs;
  return std::fabs(lhs - rhs) <=
         kTolerance * (1 + std::fmax(std::fabs(lhs), std::fabs(rhs)));
}

static void printValues(const Tensor &tensor, llvm::raw_ostream &os) {
  os << '[';
  for (int64_t i = 0; i < tensor.getNumElements(); ++i)
    os << (i ? "," : "") << llvm::format("%.9g", tensor.getFloat(i));
  os << ']';
}

static llvm::SmallVector<int64_t> getIndices(int64_t position,
                                             llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> indices(shape.size());
  for (size_t dim = shape.size(); dim-- > 0; position /= shape[dim])
    indices[dim] = position % shape[dim];
  return indices;
}

/// Whether some operator has no value for some numbers, or an infinite one.
static bool isPartial(const Instances &instances) {
  using definition::Expr;
  using definition::ScalarFn;
  bool result = false;
  auto visit = [&](Expr expr) {
    if (expr.getKind() == Expr::Kind::Reduce)
      result |= expr.getReduceKind() != definition::ReduceKind::Sum;
    if (expr.getKind() != Expr::Kind::Apply)
      return;
    ScalarFn fn = expr.getFn();
    result |= fn == ScalarFn::Sqrt || fn == ScalarFn::Rsqrt ||
              fn == ScalarFn::Log || fn == ScalarFn::Div;
  };
  for (const Instance &instance : instances.list)
    if (instance.semantics)
      for (const definition::Step &step : instance.semantics->definition.steps)
        walk(step.value, visit);
  return result;
}

std::string Sampler::confirm(llvm::ArrayRef<Tensor> tensors, unsigned output,
                             int64_t position,
                             const std::vector<int64_t> &values,
                             Budget &budget) const {
  ExactEvaluator exact(
      instances, tensors, [&](Var var) { return values[var]; }, budget);
  unsigned src = instances.src[output], dst = instances.dst[output];
  auto indices = getIndices(position, exact.getShape(src));
  ExactValue left = exact.get(src, indices), right = exact.get(dst, indices);
  if (!left.isDefined() || !left.differs(right))
    return "";
  if (isPartial(instances))
    for (unsigned other : instances.src)
      for (int64_t i = 0; i < tensors[other].getNumElements(); ++i)
        if (!exact.get(other, getIndices(i, exact.getShape(other))).isDefined())
          return "";
  std::string text = describe(values);
  llvm::raw_string_ostream os(text);
  os << ": output " << output << " at [";
  llvm::interleave(indices, os, ",");
  os << "] is " << left << " in src and " << right << " in dst, with";
  for (auto [number, instance] : llvm::enumerate(instances.list))
    if (instance.node->isVariable()) {
      os << ' ' << instance.name << '=';
      printValues(tensors[number], os);
    }
  return text;
}

std::string Sampler::compare(const std::vector<Tensor> &tensors,
                             const std::vector<int64_t> &values,
                             Budget &budget) const {
  for (unsigned output : instances.src)
    for (int64_t i = 0; i < tensors[output].getNumElements(); ++i)
      if (std::isnan(tensors[output].getFloat(i)))
        return "";
  for (unsigned output = 0; output < instances.src.size(); ++output) {
    const Tensor &src = tensors[instances.src[output]];
    const Tensor &dst = tensors[instances.dst[output]];
    if (src.getShape() != dst.getShape())
      return describe(values) + ": output " + llvm::utostr(output) +
             " has another shape";
    unsigned tried = 0;
    for (int64_t i = 0; i < src.getNumElements() && tried < kMaxConfirmed;
         ++i) {
      if (areClose(src.getFloat(i), dst.getFloat(i)))
        continue;
      ++tried;
      std::string text = confirm(tensors, output, i, values, budget);
      if (!text.empty())
        return text;
    }
  }
  return "";
}

std::string Sampler::findDifference(unsigned count, Budget &budget,
                                    int64_t limit) {
  for (unsigned number = 0; number < count && budget.check(); ++number) {
    auto values =
        drawSizes(std::min(kLimits[number % std::size(kLimits)], limit));
    if (!values)
      continue;
    // Below 1, a product is less than its factors.
    bool isFractional = number >= kNumWhole && number % 2 == 1;
    auto tensors = evaluate(*values, isFractional, budget);
    if (!tensors)
      continue;
    std::string difference = compare(*tensors, *values, budget);
    if (!difference.empty())
      return difference;
  }
  return "";
}
