//===- KernelShape.cpp - What the default schedule looks at ---------------===//

#include "KernelShape.h"

using namespace mlir;
using namespace espalier::poly;

/// The value of `expr`, a function of one dimension alone, where it is `value`;
/// nothing if it is another expression.
static std::optional<int64_t> evaluate(AffineExpr expr, unsigned dim,
                                       int64_t value) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto self = dyn_cast<AffineDimExpr>(expr))
    return self.getPosition() == dim ? std::optional(value) : std::nullopt;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> lhs = evaluate(binary.getLHS(), dim, value);
  std::optional<int64_t> rhs = evaluate(binary.getRHS(), dim, value);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *lhs + *rhs;
  case AffineExprKind::Mul:
    return *lhs * *rhs;
  case AffineExprKind::FloorDiv:
    return *rhs > 0 ? std::optional(llvm::divideFloorSigned(*lhs, *rhs))
                    : std::nullopt;
  case AffineExprKind::Mod:
    return *rhs > 0 ? std::optional(llvm::mod(*lhs, *rhs)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// How far apart the values of `index` are for `lanes` neighbours along `dim`,
/// counted from a multiple of `lanes`, if the pattern is the same for all such
/// groups: 0 if they are equal, 1 if one vector has them all.
static std::optional<int64_t> getGroupStep(AffineExpr index, unsigned dim,
                                           int64_t lanes) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(index);
  if (binary && index.getKind() == AffineExprKind::Add) {
    AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
    if (!rhs.isFunctionOfDim(dim))
      return getGroupStep(lhs, dim, lanes);
    if (!lhs.isFunctionOfDim(dim))
      return getGroupStep(rhs, dim, lanes);
  }
  bool isPeriodic = true;
  index.walk([&](AffineExpr part) {
    if (part.getKind() != AffineExprKind::FloorDiv &&
        part.getKind() != AffineExprKind::Mod)
      return;
    auto divisor =
        dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(part).getRHS());
    isPeriodic &=
        divisor && divisor.getValue() > 0 &&
        (lanes % divisor.getValue() == 0 || divisor.getValue() % lanes == 0);
  });
  std::optional<int64_t> first = evaluate(index, dim, 0);
  if (!isPeriodic || !first)
    return std::nullopt;
  int64_t span = 0;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t offset = *evaluate(index, dim, lane) - *first;
    if (offset < 0 || offset >= lanes)
      return std::nullopt;
    span = std::max(span, offset);
  }
  return span == 0 ? 0 : 1;
}

int64_t espalier::poly::getPairLength(MemRefType type) {
  constexpr int64_t laneBytes = 4;
  if (type.getRank() < 2 || type.isDynamicDim(type.getRank() - 1))
    return 1;
  int64_t length = type.getShape().back();
  return length * getBytes(type.getElementType()) <= laneBytes
             ? std::max<int64_t>(length, 1)
             : 1;
}

std::optional<int64_t> espalier::poly::getStride(const ComputeAccess &access,
                                                 unsigned dim, int64_t lanes) {
  MemRefType type = access.getType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  AffineExpr self = getAffineDimExpr(dim, type.getContext());
  int64_t total = 0;
  for (auto [index, stride] : llvm::zip(access.map.getResults(), strides)) {
    if (!index.isFunctionOfDim(dim))
      continue;
    AffineExpr next = index.replace(self, self + 1);
    auto difference = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
        next - index, access.map.getNumDims(), access.map.getNumSymbols()));
    std::optional<int64_t> step =
        difference ? difference.getValue() : getGroupStep(index, dim, lanes);
    // A vector of elements that are not neighbours is no vector in memory, but
    // one of pairs is.
    if (!difference && stride == getPairLength(type))
      stride = 1;
    if (!step || (!difference && *step != 0 && stride != 1))
      return std::nullopt;
    if (*step != 0 && ShapedType::isDynamic(stride))
      return kUnknownStride;
    total += *step == 0 ? 0 : *step * stride;
  }
  return total;
}

bool espalier::poly::fitsStack(MemRefType type) {
  return type.hasStaticShape() &&
         type.getNumElements() * getBytes(type.getElementType()) <=
             kMaxStackBytes;
}
