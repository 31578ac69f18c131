//===- SeparateInterpolation.cpp - One index after the other --------------===//
//
// A resized image weighs elements whose columns are read from a table:
//
//   R[y, x] = sum(s, t) X[I[y, s], J[x, t]] * K[y, s] * L[x, t]
//
// Vectors along x are gathered, one for each pair of taps. By distributivity
// this is
//
//   T[y, u] = X[I[y, 0], u] * K[y, 0] + X[I[y, 1], u] * K[y, 1]
//   R[y, x] = T[y, J[x, 0]] * L[x, 0] + T[y, J[x, 1]] * L[x, 1]
//
// where T has whole rows of the operand, whose vectors lie in memory, and is
// gathered from once for each tap of x. The two become one kernel over y.
//
//===----------------------------------------------------------------------===//

#include "../Contraction.h"
#include "Sums.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Sums of more terms stay loops.
static constexpr int64_t kMaxTerms = 16;
/// How many vectors can be loaded in the time in which one is gathered.
static constexpr int64_t kGatherCost = 8;

namespace {

class TapSeparator {
public:
  TapSeparator(StatementList &program, unsigned number)
      : program(program), number(number), sum(program.statements[number]),
        rank(program.getRank(sum.target)) {}

  /// Recognizes the sum. Fails if nothing is gathered, if its factors do not
  /// fall into two, or if that does not save time.
  LogicalResult analyze();
  /// Replaces the sum; returns the statement that goes before it.
  Statement run();

private:
  void addFactors(Expr value);
  /// Finds the index that lies innermost in memory.
  unsigned getInnermost(ArrayId array) const;
  LogicalResult findColumn();
  LogicalResult splitFactors();
  bool pays() const;
  std::optional<int64_t> getNumber(AffineExpr extent) const {
    auto constant = dyn_cast<AffineConstantExpr>(extent);
    return constant ? std::optional(constant.getValue()) : std::nullopt;
  }
  /// The product of `terms` at all points of the dimensions in `taps`, added
  /// up.
  Expr addUp(Expr product, ArrayRef<unsigned> taps) const;
  static Expr multiply(Expr product, ArrayRef<Expr> factors);

  StatementList &program;
  unsigned number;
  const Statement sum;
  unsigned rank;
  SmallVector<Expr> factors;
  unsigned imageFactor = 0; ///< The element that is weighed, maybe converted.
  Expr image;               ///< The element.
  unsigned index = 0;       ///< The one of its indices that is gathered.
  unsigned column = 0;      ///< The target's dimension that only this one has.
  /// The reduced dimensions that this index has, and the others; and so for the
  /// weights.
  SmallVector<unsigned> taps, outerTaps;
  SmallVector<Expr> weights, outerWeights;
};

} // namespace

void TapSeparator::addFactors(Expr value) {
  if (value.getKind() == Expr::Kind::Apply && value.getFn() == ScalarFn::Mul)
    for (Expr operand : value.getOperands())
      addFactors(operand);
  else
    factors.push_back(value);
}

unsigned TapSeparator::getInnermost(ArrayId array) const {
  AffineMap layout = program.arrays[array].layout;
  unsigned last = program.getRank(array) - 1;
  if (!layout)
    return last;
  auto dim = dyn_cast<AffineDimExpr>(layout.getResults().back());
  return dim ? dim.getPosition() : last;
}

LogicalResult TapSeparator::findColumn() {
  for (auto [number, factor] : llvm::enumerate(factors)) {
    Expr element = factor;
    if (element.getKind() == Expr::Kind::Cast)
      element = element.getOperands()[0];
    if (element.getKind() != Expr::Kind::Access ||
        element.getOperands().empty())
      continue;
    unsigned innermost = getInnermost(element.getTensor().number);
    if (program.affine(element.getOperands()[innermost]))
      continue;
    if (image)
      return failure();
    imageFactor = number;
    image = element;
    index = innermost;
  }
  return success(bool(image));
}

LogicalResult TapSeparator::splitFactors() {
  SmallVector<unsigned> inner = getDims(image.getOperands()[index]), outer;
  for (auto [number, operand] : llvm::enumerate(image.getOperands()))
    if (number != index)
      llvm::append_range(outer, getDims(operand));
  for (unsigned dim = rank; dim < sum.getNumDims(); ++dim)
    (llvm::is_contained(inner, dim) ? taps : outerTaps).push_back(dim);
  auto has = [](ArrayRef<unsigned> dims, ArrayRef<unsigned> some) {
    return llvm::any_of(
        some, [&](unsigned dim) { return llvm::is_contained(dims, dim); });
  };
  if (taps.empty() || outerTaps.empty() || has(outer, taps))
    return failure();
  for (auto [number, factor] : llvm::enumerate(factors)) {
    SmallVector<unsigned> dims = getDims(factor);
    if (number == imageFactor)
      continue;
    if (!has(dims, taps)) {
      outerWeights.push_back(factor);
      llvm::append_range(outer, dims);
    } else if (!has(dims, outerTaps)) {
      weights.push_back(factor);
    } else {
      return failure();
    }
  }
  SmallVector<unsigned> columns;
  for (unsigned dim : inner)
    if (dim < rank && !llvm::is_contained(outer, dim))
      columns.push_back(dim);
  if (columns.size() != 1)
    return failure();
  column = columns.front();
  return success();
}

bool TapSeparator::pays() const {
  auto count = [&](ArrayRef<unsigned> dims) {
    int64_t terms = 1;
    for (unsigned dim : dims)
      terms = std::min(terms * getNumber(sum.extents[dim]).value_or(kMaxTerms),
                       kMaxTerms + 1);
    return terms;
  };
  int64_t numTaps = count(taps), numOuter = count(outerTaps);
  const Array &array = program.arrays[image.getTensor().number];
  std::optional<int64_t> from = getNumber(array.extents[index]),
                         to = getNumber(sum.extents[column]);
  if (!from || !to)
    from = to = 1;
  // For each element of the result: as many gathers as taps in place of their
  // product, and vectors of whole rows.
  return numTaps <= kMaxTerms && numOuter <= kMaxTerms &&
         *from * numOuter < *to * kGatherCost * numTaps * (numOuter - 1);
}

LogicalResult TapSeparator::analyze() {
  if (sum.reduction != ReduceKind::Sum || sum.recurrence || sum.entries ||
      sum.pieces.size() != 1 || !sum.pieces.front().domain.empty() ||
      !sum.targetIndices.empty() ||
      !isa<FloatType>(sum.pieces.front().value.getType()))
    return failure();
  addFactors(sum.pieces.front().value);
  return success(succeeded(findColumn()) && succeeded(splitFactors()) &&
                 pays());
}

Expr TapSeparator::addUp(Expr product, ArrayRef<unsigned> taps) const {
  SmallVector<Expr> terms{product};
  for (unsigned tap : taps) {
    SmallVector<Expr> next;
    for (Expr term : terms)
      for (int64_t value : llvm::seq(*getNumber(sum.extents[tap])))
        next.push_back(transform(term, [&](Expr e) -> Expr {
          if (e.getKind() != Expr::Kind::Variable || e.getVariable() != tap)
            return {};
          return constant(value);
        }));
    terms = std::move(next);
  }
  Expr total = terms.front();
  for (Expr term : ArrayRef(terms).drop_front())
    total = total + term;
  return total;
}

Expr TapSeparator::multiply(Expr product, ArrayRef<Expr> factors) {
  for (Expr factor : factors)
    product = product * factor;
  return product;
}

Statement TapSeparator::run() {
  Type type = sum.pieces.front().value.getType();
  Array rows{Array::Kind::Intermediate, sum.loc};
  rows.elementType = type;
  rows.extents.assign(sum.extents.begin(), sum.extents.begin() + rank);
  rows.extents[column] =
      program.arrays[image.getTensor().number].extents[index];
  if (column + 1 != rank) {
    SmallVector<unsigned> order;
    for (unsigned dim = 0; dim < rank; ++dim)
      if (dim != column)
        order.push_back(dim);
    order.push_back(column);
    rows.layout = AffineMap::getPermutationMap(order, program.context);
    for (unsigned dim : order)
      rows.storedExtents.push_back(rows.extents[dim]);
  }
  Statement first{0, sum.loc, rows.extents, {}};
  SmallVector<Expr> whole(image.getOperands());
  whole[index] = variable(column, program.context);
  Expr element = access(image.getTensor(), whole, image.getType());
  if (factors[imageFactor].getKind() == Expr::Kind::Cast)
    element = cast(factors[imageFactor].getType(), element);
  first.pieces.push_back(
      {{}, addUp(multiply(element, outerWeights), outerTaps)});
  first.target = program.addArray(std::move(rows));

  Statement &second = program.statements[number];
  SmallVector<Expr> gathered;
  for (unsigned dim = 0; dim < rank; ++dim)
    gathered.push_back(dim == column ? image.getOperands()[index]
                                     : variable(dim, program.context));
  Expr row = access(TensorRef::operand(first.target), gathered, type);
  second.reduction.reset();
  second.extents.resize(rank);
  second.pieces.front().value = addUp(multiply(row, weights), taps);
  return first;
}

void espalier::graphtopoly::separateInterpolation(StatementList &program) {
  std::vector<Statement> statements;
  for (unsigned number = 0; number < program.statements.size(); ++number) {
    TapSeparator separator(program, number);
    if (succeeded(separator.analyze()))
      statements.push_back(separator.run());
    statements.push_back(program.statements[number]);
  }
  program.statements = std::move(statements);
}
