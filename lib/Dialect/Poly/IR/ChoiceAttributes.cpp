//===- ChoiceAttributes.cpp - What is chosen before kernels are formed ----===//

#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier;

static constexpr llvm::StringLiteral kFusions[] = {"separate", "fused"};

llvm::StringRef poly::stringifyFusion(Fusion fusion) {
  return kFusions[unsigned(fusion)];
}

std::optional<poly::Fusion> poly::symbolizeFusion(llvm::StringRef name) {
  for (Fusion fusion : {Fusion::Separate, Fusion::Fused})
    if (name == stringifyFusion(fusion))
      return fusion;
  return std::nullopt;
}

/// Whether `expr` is an index, or its quotient or remainder by a number.
static bool isPart(AffineExpr expr) {
  if (isa<AffineDimExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto number = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS())
                       : AffineConstantExpr();
  return number && number.getValue() > 0 &&
         isa<AffineDimExpr>(binary.getLHS()) &&
         (expr.getKind() == AffineExprKind::FloorDiv ||
          expr.getKind() == AffineExprKind::Mod);
}

/// Memory that is not used may be this many times what is, and more elements.
static constexpr int64_t kMaxWaste = 16, kMaxUnused = 1 << 20;

/// Whether the memory holds little but elements; sizes that are not known count
/// as one.
static bool isDense(AffineMap layout, ArrayRef<int64_t> shape) {
  auto getExtent = [&](AffineExpr index) {
    int64_t extent = shape[cast<AffineDimExpr>(index).getPosition()];
    return ShapedType::isDynamic(extent) ? 1 : std::max<int64_t>(extent, 1);
  };
  uint64_t stored = 1, elements = 1;
  for (AffineExpr part : layout.getResults()) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    int64_t extent = binary
                         ? cast<AffineConstantExpr>(binary.getRHS()).getValue()
                         : getExtent(part);
    if (part.getKind() == AffineExprKind::FloorDiv)
      extent = llvm::divideCeil(getExtent(binary.getLHS()), extent);
    stored = llvm::SaturatingMultiply<uint64_t>(stored, extent);
  }
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    elements = llvm::SaturatingMultiply<uint64_t>(
        elements, getExtent(getAffineDimExpr(dim, layout.getContext())));
  return stored <=
         llvm::SaturatingMultiplyAdd<uint64_t>(elements, kMaxWaste, kMaxUnused);
}

std::string poly::checkLayout(AffineMap layout, ArrayRef<int64_t> shape) {
  unsigned rank = shape.size();
  if (layout.getNumDims() != rank || layout.getNumSymbols() != 0)
    return "to map the indices of the array";
  // So are remainders by 1 written.
  if (llvm::is_contained(layout.getResults(),
                         getAffineConstantExpr(0, layout.getContext())))
    return "without an index that is 0 for all elements, as remainders by 1 "
           "are";
  if (!llvm::all_of(layout.getResults(), isPart))
    return "of indices, and their quotients and remainders by positive numbers";
  // Elements do not share a place: an index is there, or both parts of it are.
  for (unsigned dim = 0; dim < rank; ++dim) {
    AffineExpr index = getAffineDimExpr(dim, layout.getContext());
    bool isThere = llvm::is_contained(layout.getResults(), index);
    for (AffineExpr part : layout.getResults())
      if (auto binary = dyn_cast<AffineBinaryOpExpr>(part);
          binary && part.getKind() == AffineExprKind::FloorDiv &&
          binary.getLHS() == index)
        isThere |=
            llvm::is_contained(layout.getResults(), index % binary.getRHS());
    if (!isThere)
      return "to give each element a place of its own";
  }
  if (!isDense(layout, shape))
    return "with less memory for each element";
  return "";
}
