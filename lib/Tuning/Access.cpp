//===- Access.cpp - What an access touches --------------------------------===//

#include "Access.h"
#include "mlir/IR/AffineExprVisitor.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

using llvm::SmallVector;

namespace {
/// The coefficients of dimensions in an expression; of what is not linear, 1.
struct Coefficients : AffineExprVisitor<Coefficients> {
  explicit Coefficients(unsigned numDims) : of(numDims, 0) {}

  void visitMulExpr(AffineBinaryOpExpr expr) {
    auto factor = dyn_cast<AffineConstantExpr>(expr.getRHS());
    int64_t outer = scale;
    scale *= factor ? factor.getValue() : 1;
    visit(expr.getLHS());
    scale = outer;
  }
  void visitAddExpr(AffineBinaryOpExpr expr) {
    visit(expr.getLHS());
    visit(expr.getRHS());
  }
  void visitDimExpr(AffineDimExpr expr) { of[expr.getPosition()] += scale; }
  void visitFloorDivExpr(AffineBinaryOpExpr expr) { visit(expr.getLHS()); }
  void visitCeilDivExpr(AffineBinaryOpExpr expr) { visit(expr.getLHS()); }
  void visitModExpr(AffineBinaryOpExpr expr) { visit(expr.getLHS()); }

  SmallVector<int64_t> of;
  int64_t scale = 1;
};

/// How many values an expression has on a box, and the distance between the
/// first and the last. Boxes begin at multiples of their size.
struct ValueCounter
    : AffineExprVisitor<ValueCounter, std::pair<double, double>> {
  using Values = std::pair<double, double>;

  explicit ValueCounter(const Box &box) : box(box) {}

  Values visitDimExpr(AffineDimExpr expr) {
    double extent = box[expr.getPosition()];
    return {extent, extent};
  }
  Values visitSymbolExpr(AffineSymbolExpr) { return {1, 1}; }
  Values visitConstantExpr(AffineConstantExpr) { return {1, 1}; }
  Values visitAddExpr(AffineBinaryOpExpr expr) {
    auto [count, range] = visit(expr.getLHS());
    auto [otherCount, otherRange] = visit(expr.getRHS());
    double sum = range + otherRange - 1;
    return {std::min(count * otherCount, sum), sum};
  }
  Values visitMulExpr(AffineBinaryOpExpr expr) {
    auto [count, range] = visit(expr.getLHS());
    return {count, std::abs(getFactor(expr)) * (range - 1) + 1};
  }
  /// Of `n` neighbours that begin at any multiple of g = gcd(n, c), n - g are
  /// followed by another one, each by one of another quotient in 1 / c of all
  /// cases.
  Values visitFloorDivExpr(AffineBinaryOpExpr expr) {
    auto [count, range] = visit(expr.getLHS());
    double factor = std::max(std::abs(getFactor(expr)), 1.0);
    double aligned = std::gcd(int64_t(range), int64_t(factor));
    double quotients = (range - aligned) / factor + 1;
    return {std::min(count, quotients), quotients};
  }
  Values visitCeilDivExpr(AffineBinaryOpExpr expr) {
    return visitFloorDivExpr(expr);
  }
  Values visitModExpr(AffineBinaryOpExpr expr) {
    auto [count, range] = visit(expr.getLHS());
    double most = std::min(range, std::max(std::abs(getFactor(expr)), 1.0));
    return {std::min(count, most), most};
  }

private:
  /// 1 for what is no number.
  static double getFactor(AffineBinaryOpExpr expr) {
    auto factor = dyn_cast<AffineConstantExpr>(expr.getRHS());
    return factor ? factor.getValue() : 1;
  }

  const Box &box;
};
} // namespace

/// The factors of `expr` if that is `e floordiv c` or `e mod c`: e and c.
static std::optional<std::pair<AffineExpr, int64_t>>
getDigit(AffineExpr expr, AffineExprKind kind) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || binary.getKind() != kind)
    return std::nullopt;
  auto size = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!size || size.getValue() < 1)
    return std::nullopt;
  return std::pair(binary.getLHS(), size.getValue());
}

Access::Access(AffineMap accessMap, MemRefType arrayType, bool isWrite)
    : map(accessMap), type(arrayType), isWrite(isWrite) {
  SmallVector<AffineExpr> results(map.getResults());
  SmallVector<int64_t> shape(type.getShape());
  for (unsigned high = 0; high < results.size(); ++high) {
    auto digit = getDigit(results[high], AffineExprKind::FloorDiv);
    for (unsigned low = high + 1; digit && low < results.size(); ++low) {
      if (shape[low] != digit->second ||
          getDigit(results[low], AffineExprKind::Mod) != digit)
        continue;
      sharesLines |=
          low + 1 == results.size() && digit->second * getBytes() % kLine != 0;
      results[low] = digit->first;
      shape[low] = ShapedType::isDynamic(shape[high])
                       ? ShapedType::kDynamic
                       : shape[low] * shape[high];
      results.erase(results.begin() + high);
      shape.erase(shape.begin() + high);
      --high;
      break;
    }
  }
  map = AffineMap::get(map.getNumDims(), map.getNumSymbols(), results,
                       map.getContext());
  type = MemRefType::get(shape, type.getElementType());
}

static SmallVector<int64_t> getCoefficients(AffineMap map, unsigned result) {
  Coefficients coefficients(map.getNumDims());
  coefficients.visit(map.getResult(result));
  return coefficients.of;
}

/// The values that a result has on a box, as far as the array has room: how
/// many, and the distance between the first and the last.
static std::pair<double, double> countValues(const Access &access,
                                             unsigned result, const Box &box) {
  ValueCounter counter(box);
  auto [count, range] = counter.visit(access.map.getResult(result));
  int64_t room = access.type.getDimSize(result);
  if (!ShapedType::isDynamic(room))
    range = std::min<double>(range, room);
  return {std::min(count, range), range};
}

std::optional<int64_t> Access::getStride(unsigned dim) const {
  for (unsigned result = 0; result + 1 < map.getNumResults(); ++result)
    if (map.getResult(result).isFunctionOfDim(dim))
      return std::nullopt;
  return map.getNumResults() == 0
             ? 0
             : getCoefficients(map, map.getNumResults() - 1)[dim];
}

double Access::countElements(const Box &box) const {
  double count = 1;
  for (unsigned result = 0; result < map.getNumResults(); ++result)
    count *= countValues(*this, result, box).first;
  return count;
}

double Access::countLines(const Box &box) const {
  // Rows that are touched as a whole follow one another.
  double elements = 1, span = 1;
  int result = map.getNumResults() - 1;
  for (; result >= 0; --result) {
    auto [values, range] = countValues(*this, result, box);
    elements *= values;
    span *= range;
    if (type.isDynamicDim(result) || range < type.getDimSize(result))
      break;
  }
  double lines = span * getBytes() / double(kLine);
  if (!sharesLines)
    lines = std::min(elements, std::ceil(lines));
  for (--result; result >= 0; --result)
    lines *= countValues(*this, result, box).first;
  return std::max(lines, 1.0);
}
