//===- PairTerms.cpp - Terms that an instruction takes two by two ---------===//

#include "PairTerms.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/IR/TargetFeatures.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

static constexpr int64_t kPair = 2;
/// Fewer pairs are no loop to speak of.
static constexpr int64_t kMinPairs = 4;

/// The accesses that `statement` sums the products of, if these are of bf16 and
/// made in f32.
static std::optional<std::pair<Expr, Expr>>
getShortFactors(const Statement &statement) {
  if (statement.reduction != ReduceKind::Sum || statement.pieces.size() != 1)
    return std::nullopt;
  Expr product = statement.pieces.front().value;
  if (product.getKind() != Expr::Kind::Apply ||
      product.getFn() != ScalarFn::Mul || !product.getType().isF32() ||
      !llvm::all_of(product.getOperands(), [](Expr factor) {
        return factor.getKind() == Expr::Kind::Cast &&
               factor.getOperands()[0].getKind() == Expr::Kind::Access &&
               factor.getOperands()[0].getType().isBF16();
      }))
    return std::nullopt;
  return std::pair(product.getOperands()[0].getOperands()[0],
                   product.getOperands()[1].getOperands()[0]);
}

/// Whether `term` is an index of `access`, and of no other part of it.
static bool isIndex(Expr access, unsigned index, unsigned term) {
  for (auto [number, operand] : llvm::enumerate(access.getOperands()))
    if (number == index ? operand.getKind() != Expr::Kind::Variable ||
                              operand.getVariable() != term
                        : llvm::is_contained(getDims(operand), term))
      return false;
  return true;
}

std::optional<unsigned>
espalier::graphtopoly::findPairedIndex(const StatementList &program,
                                       const Statement &statement, Expr panel) {
  auto factors = getShortFactors(statement);
  if (!factors || statement.recurrence ||
      !poly::hasPairProducts(poly::getTarget(program.function),
                             program.vectorLanes))
    return std::nullopt;
  Expr other = factors->first.getNode() == panel.getNode() ? factors->second
                                                           : factors->first;
  std::optional<unsigned> innermost =
      getInnermost(program.arrays[other.getTensor().number]);
  if (!innermost ||
      other.getOperands()[*innermost].getKind() != Expr::Kind::Variable)
    return std::nullopt;
  unsigned term = other.getOperands()[*innermost].getVariable();
  auto extent = dyn_cast<AffineConstantExpr>(statement.extents[term]);
  if (term < program.getRank(statement.target) || !extent ||
      extent.getValue() % kPair != 0 || extent.getValue() < kMinPairs * kPair ||
      !isIndex(other, *innermost, term))
    return std::nullopt;
  for (unsigned index = 0; index < panel.getOperands().size(); ++index)
    if (isIndex(panel, index, term))
      return index;
  return std::nullopt;
}

AffineMap
espalier::graphtopoly::pairTerms(AffineMap layout, unsigned index,
                                 SmallVectorImpl<AffineExpr> &storedExtents) {
  SmallVector<AffineExpr> results(layout.getResults());
  AffineExpr term = getAffineDimExpr(index, layout.getContext());
  auto *place = llvm::find(results, term);
  if (place == results.end())
    return layout;
  *place = term.floorDiv(kPair);
  AffineExpr &extent = storedExtents[place - results.begin()];
  extent = extent.ceilDiv(kPair);
  results.push_back(term % kPair);
  storedExtents.push_back(getAffineConstantExpr(kPair, layout.getContext()));
  return AffineMap::get(layout.getNumDims(), 0, results, layout.getContext());
}

void espalier::graphtopoly::splitIntoPairs(const StatementList &program,
                                           Statement &statement,
                                           unsigned term) {
  MLIRContext *context = program.context;
  AffineExpr self = getAffineDimExpr(term, context);
  AffineExpr point =
      self * kPair + getAffineDimExpr(statement.getNumDims(), context);
  statement.extents[term] = statement.extents[term].floorDiv(kPair);
  statement.extents.push_back(getAffineConstantExpr(kPair, context));
  if (!statement.names.empty())
    statement.names.push_back(
        llvm::is_contained(statement.names, "pair") ? "" : "pair");
  Expr index = program.expression(point);
  for (Piece &piece : statement.pieces) {
    for (Condition &condition : piece.domain)
      condition.expr = condition.expr.replace(self, point);
    piece.value = transform(piece.value, [&](Expr e) -> Expr {
      return e.getKind() == Expr::Kind::Variable && e.getVariable() == term
                 ? index
                 : Expr();
    });
  }
}

bool espalier::graphtopoly::readsPairs(const StatementList &program,
                                       const Statement &statement) {
  auto factors = getShortFactors(statement);
  auto liesInPairs = [&](Expr access) {
    AffineMap layout = program.arrays[access.getTensor().number].layout;
    auto last = dyn_cast_if_present<AffineBinaryOpExpr>(
        layout && layout.getNumResults() ? layout.getResults().back()
                                         : AffineExpr());
    return last && last.getKind() == AffineExprKind::Mod &&
           last.getRHS() == getAffineConstantExpr(kPair, program.context);
  };
  return factors &&
         (liesInPairs(factors->first) || liesInPairs(factors->second));
}
