//===- Boxes.cpp - Statements with boxes, inside of loops -----------------===//

#include "Boxes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier::polyhedral;
using namespace espalier::polyhedral::boxes;

/// `expr` as `factor * d + constant` of one dimension, which is `dim`.
static bool readLinear(AffineExpr expr, unsigned &dim, int64_t &factor,
                       int64_t &constant) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    factor = 0;
    constant = number.getValue();
    return true;
  }
  if (auto variable = dyn_cast<AffineDimExpr>(expr)) {
    dim = variable.getPosition();
    factor = 1;
    constant = 0;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  unsigned left = 0, right = 0;
  int64_t leftFactor, leftConstant, rightFactor, rightConstant;
  if (!binary || !readLinear(binary.getLHS(), left, leftFactor, leftConstant) ||
      !readLinear(binary.getRHS(), right, rightFactor, rightConstant))
    return false;
  if (expr.getKind() == AffineExprKind::Mul && rightFactor == 0) {
    dim = left;
    return !llvm::MulOverflow(leftFactor, rightConstant, factor) &&
           !llvm::MulOverflow(leftConstant, rightConstant, constant);
  }
  if (expr.getKind() != AffineExprKind::Add ||
      (leftFactor != 0 && rightFactor != 0 && left != right))
    return false;
  dim = leftFactor != 0 ? left : right;
  return !llvm::AddOverflow(leftFactor, rightFactor, factor) &&
         !llvm::AddOverflow(leftConstant, rightConstant, constant);
}

std::optional<Digit> boxes::readDigit(AffineExpr expr) {
  Digit digit;
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
      sum && expr.getKind() == AffineExprKind::Add &&
      !isa<AffineDimExpr>(sum.getLHS()))
    if (auto number = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
      digit.added = number.getValue();
      expr = sum.getLHS();
    }
  auto take = [&](AffineExprKind kind, int64_t &number) {
    if (expr.getKind() != kind)
      return;
    auto binary = cast<AffineBinaryOpExpr>(expr);
    auto rhs = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (rhs && rhs.getValue() > 0) {
      number = rhs.getValue();
      expr = binary.getLHS();
    }
  };
  take(AffineExprKind::FloorDiv, digit.divisor);
  take(AffineExprKind::Mod, digit.modulus);
  int64_t factor;
  if (!readLinear(expr, digit.dim, factor, digit.offset) || factor != 1)
    return std::nullopt;
  return digit;
}

/// The quotient, rounded up, in isl's form, which all readers of loops know.
static AffineExpr divideUp(AffineExpr expr, int64_t divisor) {
  return (expr - 1).floorDiv(divisor) + 1;
}

static Span shift(Span range, int64_t offset) {
  if (range.hasBegin())
    range.begin += offset;
  if (range.hasEnd())
    range.end += offset;
  return range;
}

/// The one value of `(d + offset) floordiv modulus` for d in `range`; nothing
/// if there may be several.
static std::optional<int64_t> getQuotient(const Values &range, int64_t offset,
                                          int64_t modulus) {
  if (!range.isConstant())
    return std::nullopt;
  Span span = shift(range.span, offset);
  int64_t first = llvm::divideFloorSigned(span.begin, modulus);
  if (first != llvm::divideFloorSigned(span.end - 1, modulus))
    return std::nullopt;
  return first;
}

void boxes::dropModulus(Digit &digit, const Values &range) {
  if (digit.modulus == 0)
    return;
  if (std::optional<int64_t> quotient =
          getQuotient(range, digit.offset, digit.modulus)) {
    digit.offset -= *quotient * digit.modulus;
    digit.modulus = 0;
  }
}

/// The values of `(d + offset) mod modulus` for d in `range`, if each goes with
/// each value of `(d + offset) floordiv modulus`.
static std::optional<Span> getRemainders(const Values &range, int64_t offset,
                                         int64_t modulus) {
  Span span = shift(range.span, offset);
  if (std::optional<int64_t> quotient = getQuotient(range, offset, modulus))
    return shift(span, -*quotient * modulus);
  auto isMultiple = [&](AffineExpr bound) {
    return (bound + offset).isMultipleOf(modulus);
  };
  if ((span.hasBegin() && span.begin % modulus != 0) ||
      (span.hasEnd() && span.end % modulus != 0) ||
      !llvm::all_of(range.begins, isMultiple) ||
      !llvm::all_of(range.ends, isMultiple))
    return std::nullopt;
  return Span{0, modulus};
}

std::optional<Values> boxes::getValues(Values range, const Digit &digit) {
  if (digit.modulus % digit.divisor != 0)
    return std::nullopt;
  if (digit.isWhole()) {
    int64_t offset = digit.offset + digit.added;
    range.span = shift(range.span, offset);
    for (llvm::SmallVectorImpl<AffineExpr> *bounds :
         {&range.begins, &range.ends})
      for (AffineExpr &bound : *bounds)
        bound = bound + offset;
    return range;
  }
  if (digit.modulus != 0) {
    std::optional<Span> remainders =
        getRemainders(range, digit.offset, digit.modulus);
    if (!remainders)
      return std::nullopt;
    range = {*remainders};
  } else {
    range.span = shift(range.span, digit.offset);
  }
  if (range.span.hasBegin())
    range.span.begin =
        llvm::divideFloorSigned(range.span.begin, digit.divisor) + digit.added;
  if (range.span.hasEnd())
    range.span.end =
        llvm::divideCeilSigned(range.span.end, digit.divisor) + digit.added;
  for (AffineExpr &bound : range.begins)
    bound = (bound + digit.offset).floorDiv(digit.divisor) + digit.added;
  for (AffineExpr &bound : range.ends)
    bound = divideUp(bound + digit.offset, digit.divisor) + digit.added;
  return range;
}

/// The digits of a dimension, the highest first.
static llvm::SmallVector<Digit> getDigits(const Active &active, unsigned dim) {
  llvm::SmallVector<Digit> digits;
  for (const Digit &digit : active.digits)
    if (digit.dim == dim)
      digits.push_back(digit);
  llvm::sort(digits, [](const Digit &lhs, const Digit &rhs) {
    return lhs.divisor > rhs.divisor;
  });
  return digits;
}

/// `start` and `factor` times the number that the digits of a dimension from
/// the highest one down to `divisor` make, divided by `unit`. Null unless these
/// are all there, and take their values independently of each other.
static AffineExpr combine(const Active &active, unsigned dim, int64_t divisor,
                          MLIRContext *context, int64_t start,
                          int64_t factor = 1, int64_t unit = 1) {
  llvm::SmallVector<Digit> digits = getDigits(active, dim);
  int64_t below = 0;
  AffineExpr value = getAffineConstantExpr(0, context);
  for (const Digit &digit : digits) {
    if (digit.modulus != below)
      return {};
    if (below != 0) {
      int64_t offset = digits.front().offset;
      if ((digit.offset - offset) % below != 0 ||
          (!digit.isCut && !getRemainders(active.box[dim], offset, below)))
        return {};
    }
    below = digit.divisor;
    int64_t weight = factor * (digit.divisor / unit);
    start -= digit.added * weight;
    if (auto number = dyn_cast<AffineConstantExpr>(digit.value))
      start += number.getValue() * weight;
    else
      value = value + digit.value * weight;
  }
  return below == divisor ? value + start : AffineExpr();
}

AffineExpr boxes::getValue(const Active &active, unsigned dim,
                           MLIRContext *context) {
  llvm::SmallVector<Digit> digits = getDigits(active, dim);
  if (!digits.empty())
    return combine(active, dim, /*divisor=*/1, context,
                   /*start=*/-digits.front().offset);
  // What has one value needs no loop.
  const Values &range = active.box[dim];
  return range.isConstant() && range.span.size() == 1
             ? getAffineConstantExpr(range.span.begin, context)
             : AffineExpr();
}

/// Whether `bound` is the last multiple of a number up to `other`.
static bool isMultipleBelow(AffineExpr bound, AffineExpr other) {
  auto product = dyn_cast<AffineBinaryOpExpr>(bound);
  if (!product || bound.getKind() != AffineExprKind::Mul)
    return false;
  auto quotient = dyn_cast<AffineBinaryOpExpr>(product.getLHS());
  return quotient && quotient.getKind() == AffineExprKind::FloorDiv &&
         quotient.getLHS() == other && quotient.getRHS() == product.getRHS();
}

/// Adds what the values of a dimension are at least.
static void addBegin(Values &values, AffineExpr begin) {
  if (!llvm::is_contained(values.begins, begin))
    values.begins.push_back(begin);
}

/// Adds what the values of a dimension are less than.
static void addEnd(Values &values, AffineExpr end) {
  if (llvm::any_of(values.ends, [&](AffineExpr other) {
        return other == end || isMultipleBelow(other, end);
      }))
    return;
  llvm::erase_if(values.ends,
                 [&](AffineExpr other) { return isMultipleBelow(end, other); });
  values.ends.push_back(end);
}

/// Reads an expression as `factor * d + rest` of one dimension, which is `dim`,
/// where `rest` is of parameters; `factor` is 0 without a dimension.
static bool readSymbolic(AffineExpr expr, unsigned numDims, unsigned numSymbols,
                         unsigned &dim, int64_t &factor, AffineExpr &rest) {
  factor = 0;
  rest = expr;
  for (unsigned i = 0; i < numDims; ++i) {
    if (!expr.isFunctionOfDim(i))
      continue;
    if (factor != 0)
      return false;
    dim = i;
    AffineExpr variable = getAffineDimExpr(i, expr.getContext());
    for (int64_t sign : {1, -1}) {
      rest = simplifyAffineExpr(expr - variable * sign, numDims, numSymbols);
      if (rest.isSymbolicOrConstant()) {
        factor = sign;
        break;
      }
    }
    if (factor == 0)
      return false;
  }
  return true;
}

static void setEmpty(Active &active) {
  active.box.assign(std::max<size_t>(active.box.size(), 1), {Span{0, 0}});
}

/// Whether `expr` is a sum of multiples of dimensions and of a number.
static bool isLinear(AffineExpr expr) {
  if (isa<AffineDimExpr, AffineConstantExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary && isLinear(binary.getLHS()) && isLinear(binary.getRHS()) &&
         (expr.getKind() == AffineExprKind::Add ||
          expr.getKind() == AffineExprKind::Mul);
}

/// `relation` with the values that its dimensions have; null if one has none.
static AffineExpr getKnown(const Active &active, AffineExpr relation) {
  llvm::SmallVector<AffineExpr> values(active.box.size());
  for (unsigned dim = 0; dim < values.size(); ++dim)
    if (relation.isFunctionOfDim(dim) &&
        !(values[dim] = getValue(active, dim, relation.getContext())))
      return {};
  AffineExpr known = relation.replaceDims(values);
  unsigned numIterators = 0;
  known.walk([&](AffineExpr part) {
    if (auto iterator = dyn_cast<AffineDimExpr>(part))
      numIterators = std::max(numIterators, iterator.getPosition() + 1);
  });
  return simplifyAffineExpr(known, numIterators, /*numSymbols=*/0);
}

bool boxes::decideRelations(Active &active) {
  bool areNumbers = true;
  llvm::erase_if(active.relations, [&](const Guard &relation) {
    AffineExpr known = getKnown(active, relation.expr);
    auto number = dyn_cast_or_null<AffineConstantExpr>(known);
    areNumbers &= !known || number;
    if (number && number.getValue() < 0)
      setEmpty(active);
    return bool(known);
  });
  return areNumbers;
}

bool boxes::takeBounds(Active &active, const Digit &digit, Values &own) {
  if (digit.dim == kNoDim || !digit.isWhole())
    return false;
  size_t before = active.relations.size();
  llvm::erase_if(active.relations, [&](const Guard &relation) {
    if (!relation.expr.isFunctionOfDim(digit.dim))
      return false;
    MLIRContext *context = relation.expr.getContext();
    auto at = [&](int64_t value) {
      return relation.expr.replace(getAffineDimExpr(digit.dim, context),
                                   getAffineConstantExpr(value, context));
    };
    int64_t factor = cast<AffineConstantExpr>(
                         simplifyAffineExpr(at(1) - at(0), active.box.size(),
                                            /*numSymbols=*/0))
                         .getValue();
    // d >= rest / factor, or d <= rest / -factor
    AffineExpr rest = getKnown(active, factor > 0 ? -at(0) : at(0));
    if (!rest)
      return false;
    int64_t offset = digit.offset + digit.added;
    AffineExpr bound = factor > 0 ? divideUp(rest, factor) + offset
                                  : rest.floorDiv(-factor) + (offset + 1);
    auto number = dyn_cast<AffineConstantExpr>(bound);
    if (number && factor > 0)
      own.span.begin = std::max(own.span.begin, number.getValue());
    else if (number)
      own.span.end = std::min(own.span.end, number.getValue());
    else if (factor > 0)
      addBegin(own, bound);
    else
      addEnd(own, bound);
    return true;
  });
  return active.relations.size() != before;
}

bool boxes::cut(Active &active, IntegerSet set, bool asksParameters) {
  auto simplify = [&](AffineExpr expr) {
    return simplifyAffineExpr(expr, set.getNumDims(), set.getNumSymbols());
  };
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    AffineExpr expr = set.getConstraint(i);
    bool isEquality = set.isEq(i);
    unsigned dim = 0;
    int64_t factor, constant = 0;
    AffineExpr rest;
    if (!readLinear(expr, dim, factor, constant) &&
        !readSymbolic(expr, set.getNumDims(), set.getNumSymbols(), dim, factor,
                      rest)) {
      if (isEquality || !isLinear(expr))
        return false;
      active.relations.push_back({expr, /*isZero=*/false});
      continue;
    }
    if (factor == 0) {
      // isl sees whether that holds anyway, and how far out to ask.
      if (rest && !asksParameters)
        return false;
      if (rest)
        active.guards.push_back({simplify(rest), isEquality});
      else if (isEquality ? constant != 0 : constant < 0)
        setEmpty(active);
      continue;
    }
    // Ends farther out than those of `Span` could overflow.
    if (std::abs(factor) != 1 || constant < Span().begin ||
        constant > Span().end)
      return false;
    Values range = active.box[dim];
    if (factor == 1 || isEquality) {
      if (rest)
        addBegin(range, simplify(rest * -factor));
      else
        range.span.begin = std::max(range.span.begin, -factor * constant);
    }
    if (factor == -1 || isEquality) {
      if (rest)
        addEnd(range, simplify(rest * -factor + 1));
      else
        range.span.end = std::min(range.span.end, -factor * constant + 1);
    }
    if (range == active.box[dim])
      continue;
    if (getDigits(active, dim).empty()) {
      active.box[dim] = std::move(range);
      continue;
    }
    AffineExpr value = getValue(active, dim, set.getContext());
    if (!value)
      return false;
    llvm::SmallVector<AffineExpr> values(set.getNumDims());
    values[dim] = value;
    active.guards.push_back({expr.replaceDims(values), isEquality});
  }
  return true;
}

AffineExpr boxes::getRest(const Active &active, const Digit &digit,
                          MLIRContext *context) {
  llvm::SmallVector<Digit> above = getDigits(active, digit.dim);
  if (above.empty() || digit.modulus == 0 || digit.added != 0 ||
      digit.modulus % digit.divisor != 0)
    return {};
  int64_t offset = above.front().offset;
  const Values &values = active.box[digit.dim];
  Span range = shift(values.span, offset);
  if ((range.hasBegin() && range.begin % digit.modulus != 0) ||
      !llvm::all_of(values.begins,
                    [&](AffineExpr bound) {
                      return (bound + offset).isMultipleOf(digit.modulus);
                    }) ||
      range.hasEnd() + values.ends.size() != 1 ||
      (digit.offset - offset) % digit.modulus != 0)
    return {};
  if (!values.ends.empty()) {
    AffineExpr above = combine(active, digit.dim, digit.modulus, context,
                               /*start=*/0, /*factor=*/-1,
                               /*unit=*/digit.divisor);
    return above ? divideUp(values.ends.front() + offset, digit.divisor) + above
                 : AffineExpr();
  }
  return combine(active, digit.dim, digit.modulus, context,
                 /*start=*/llvm::divideCeilSigned(range.end, digit.divisor),
                 /*factor=*/-1, /*unit=*/digit.divisor);
}
