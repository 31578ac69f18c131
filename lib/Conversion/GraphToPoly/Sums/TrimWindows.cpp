//===- TrimWindows.cpp - Sums without the terms of a border ---------------===//
//
// A convolution reads an image with a border of zeros (Normalize.cpp). Where
// much of its windows lies in the border, the terms there are left out again:
//
//   S[y, x, f] = sum(c, i, j) P[c, y + i, x + j] * W[f, c, i, j]
//                where low <= y + i <= high, low <= x + j <= high
//
// Conditions on rows bound the loop over i. Those on columns are decided when
// the code is written: the columns of a short line are all in tiles of their
// own, around j.
//
//===----------------------------------------------------------------------===//

#include "../Contraction.h"
#include "../Layouts/PairTerms.h"
#include "../PackConstant.h"
#include "Sums.h"
#include "espalier/Interpreter/Tensor.h"
#include "espalier/Support/CodeSize.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;
using espalier::interpreter::Tensor;

/// Windows with a smaller part in the border lose more by smaller tiles than
/// they gain.
static constexpr double kMinTrimmed = 0.04;
/// Positions of a window and taps that are counted, at most.
static constexpr int64_t kMaxCounted = 1 << 20;

namespace {

/// Indices from `low` to `high`.
struct Interval {
  int64_t low, high;
};

/// An index of the image that reads the border.
struct BorderedWindow {
  unsigned dim;    ///< Its number.
  unsigned result; ///< The dimension of the target that the index moves along.
  unsigned tap;    ///< The reduced one.
  AffineExpr index;
  Interval inside;
  double part; ///< Of its reads that are inside.
};

class WindowTrimmer {
public:
  WindowTrimmer(StatementList &program, SmallVectorImpl<FusionGroup> &groups);

  void run();

private:
  void run(const FusionGroup &group);
  /// What `image` reads without its border, if it is a copy of that, and no
  /// border is read outside of `windows`.
  Expr findSource(Expr image, ArrayRef<BorderedWindow> windows) const;
  void eraseUnread(ArrayId array);
  /// The indices along `dim` of `array` at which it may be other than zero;
  /// nothing if that is not known.
  std::optional<Interval> findInside(ArrayId array, unsigned dim) const;
  std::optional<BorderedWindow> getWindow(const Statement &sum, Expr image,
                                          unsigned dim) const;
  /// Whether products with zero are zero.
  bool isFinite(const Array &weights) const;

  StatementList &program;
  SmallVectorImpl<FusionGroup> &groups;
  /// The statements that compute each array.
  llvm::DenseMap<ArrayId, SmallVector<unsigned, 2>> writers;
  llvm::DenseSet<ArrayId> aliased; ///< Seen under other extents as well.
};

} // namespace

WindowTrimmer::WindowTrimmer(StatementList &program,
                             SmallVectorImpl<FusionGroup> &groups)
    : program(program), groups(groups) {
  for (const FusionGroup &group : groups)
    for (unsigned number : group.statements)
      writers[program.statements[number].target].push_back(number);
  for (auto [number, array] : llvm::enumerate(program.arrays))
    if (array.reshapeOf)
      aliased.insert_range(ArrayRef{ArrayId(number), *array.reshapeOf});
}

/// The values of `dim` that `piece` has points at, where its extent is known
/// and conditions on it alone are looked at.
static std::optional<Interval> getPoints(const StatementList &program,
                                         const Statement &statement,
                                         const Piece &piece, unsigned dim) {
  auto extent = dyn_cast<AffineConstantExpr>(statement.extents[dim]);
  if (!extent)
    return std::nullopt;
  Interval points{0, extent.getValue() - 1};
  AffineExpr self = getAffineDimExpr(dim, program.context);
  for (const Condition &condition : piece.domain) {
    if (condition.isEquality)
      continue;
    AffineExpr below = program.simplify(self - condition.expr);
    AffineExpr above = program.simplify(self + condition.expr);
    if (auto low = dyn_cast<AffineConstantExpr>(below))
      points.low = std::max(points.low, low.getValue());
    if (auto high = dyn_cast<AffineConstantExpr>(above))
      points.high = std::min(points.high, high.getValue());
  }
  return points;
}

static bool isZero(const Statement &writer, const Piece &piece) {
  return !writer.reduction && !writer.addsToTarget &&
         piece.value.getKind() == Expr::Kind::Constant &&
         piece.value.getFloat() == 0;
}

std::optional<Interval> WindowTrimmer::findInside(ArrayId array,
                                                  unsigned dim) const {
  std::optional<Interval> inside;
  for (unsigned number : writers.lookup(array)) {
    const Statement &writer = program.statements[number];
    AffineExpr index = writer.targetIndices.empty()
                           ? getAffineDimExpr(dim, program.context)
                           : writer.targetIndices[dim];
    // A dimension and a number.
    std::optional<unsigned> moving;
    for (unsigned other = 0; other < writer.getNumDims(); ++other)
      if (index.isFunctionOfDim(other))
        moving = other;
    auto offset = dyn_cast<AffineConstantExpr>(program.simplify(
        moving ? index - getAffineDimExpr(*moving, program.context) : index));
    if (!offset)
      return std::nullopt;
    for (const Piece &piece : writer.pieces) {
      if (isZero(writer, piece))
        continue;
      std::optional<Interval> points =
          moving ? getPoints(program, writer, piece, *moving) : Interval{0, 0};
      if (!points)
        return std::nullopt;
      points->low += offset.getValue();
      points->high += offset.getValue();
      inside = inside ? Interval{std::min(inside->low, points->low),
                                 std::max(inside->high, points->high)}
                      : *points;
    }
  }
  return inside;
}

std::optional<BorderedWindow>
WindowTrimmer::getWindow(const Statement &sum, Expr image, unsigned dim) const {
  std::optional<AffineExpr> index = program.affine(image.getOperands()[dim]);
  if (!index)
    return std::nullopt;
  unsigned rank = program.getRank(sum.target);
  SmallVector<std::pair<unsigned, int64_t>> moving; ///< With extents.
  int64_t count = 1;
  for (unsigned other = 0; other < sum.getNumDims(); ++other) {
    if (!index->isFunctionOfDim(other))
      continue;
    auto extent = dyn_cast<AffineConstantExpr>(sum.extents[other]);
    if (!extent || extent.getValue() < 1 ||
        (count *= std::min(extent.getValue(), kMaxCounted)) > kMaxCounted)
      return std::nullopt;
    moving.emplace_back(other, extent.getValue());
  }
  // One position and one tap.
  if (moving.size() != 2 || moving[0].first >= rank || moving[1].first < rank)
    return std::nullopt;
  std::optional<Interval> inside = findInside(image.getTensor().number, dim);
  if (!inside)
    return std::nullopt;
  AffineExpr zero = getAffineConstantExpr(0, program.context);
  auto at = [&](int64_t position, int64_t tap) {
    return dyn_cast<AffineConstantExpr>(program.simplify(index->replace(
        {{getAffineDimExpr(moving[0].first, program.context), zero + position},
         {getAffineDimExpr(moving[1].first, program.context), zero + tap}})));
  };
  int64_t numInside = 0;
  for (int64_t position = 0; position < moving[0].second; ++position)
    for (int64_t tap = 0; tap < moving[1].second; ++tap) {
      AffineConstantExpr place = at(position, tap);
      if (!place)
        return std::nullopt;
      numInside +=
          place.getValue() >= inside->low && place.getValue() <= inside->high;
    }
  if (numInside == count)
    return std::nullopt;
  return BorderedWindow{
      dim,    moving[0].first, moving[1].first,
      *index, *inside,         double(numInside) / double(count)};
}

bool WindowTrimmer::isFinite(const Array &weights) const {
  if (weights.kind != Array::Kind::Constant)
    return false;
  auto type = RankedTensorType::get(weights.constant.getShapedType().getShape(),
                                    weights.elementType);
  if (getWithoutValues(weights.constant, type))
    return true;
  FailureOr<Tensor> values = Tensor::get(weights.constant);
  return succeeded(values) && values->isFinite();
}

void WindowTrimmer::run(const FusionGroup &group) {
  Statement &sum = program.statements[group.statements.front()];
  std::optional<Contraction> contraction = getContraction(program, sum);
  if (!contraction || group.runsTogether || sum.keepsRowMajor ||
      sum.recurrence || !sum.pieces.front().domain.empty())
    return;
  Piece &piece = sum.pieces.front();
  SmallVector<Expr> factors;
  getFactors(piece.value, factors);
  Expr image = factors[factors[0].getNode() == contraction->panel.getNode()];
  ArrayId array = image.getTensor().number;
  // Lanes along lines have no conditions.
  if (program.arrays[array].kind != Array::Kind::Intermediate ||
      aliased.contains(array) ||
      getInnermost(program.arrays[sum.target]) != contraction->vectorDim)
    return;
  SmallVector<BorderedWindow> windows;
  for (unsigned dim = 0; dim < image.getOperands().size(); ++dim)
    if (std::optional<BorderedWindow> window = getWindow(sum, image, dim))
      windows.push_back(*window);
  // Columns of longer lines are in tiles that say nothing of the border, and so
  // are those of pairs, whose code a condition between the two would cut.
  unsigned rank = program.getRank(sum.target), columns = rank;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != contraction->vectorDim)
      columns = dim;
  auto isAtMost = [&](AffineExpr extent, int64_t most) {
    auto number = dyn_cast<AffineConstantExpr>(extent);
    return number && number.getValue() <= most;
  };
  llvm::erase_if(windows, [&](const BorderedWindow &window) {
    return window.result == columns &&
           (readsPairs(program, sum) ||
            !isAtMost(sum.extents[columns], espalier::kMaxBorderedColumns) ||
            !isAtMost(sum.extents[window.tap], espalier::kMaxTaps) ||
            isAtMost(sum.extents[contraction->vectorDim],
                     program.vectorLanes - 1));
  });
  double part = 1;
  for (const BorderedWindow &window : windows)
    part *= window.part;
  if (1 - part < kMinTrimmed ||
      !isFinite(program.arrays[contraction->panel.getTensor().number]))
    return;
  bool isStored = program.isChosen(array, Fusion::Separate);
  if (Expr source = isStored ? Expr() : findSource(image, windows)) {
    piece.value = transform(piece.value, [&](Expr e) {
      return e.getNode() == image.getNode() ? source : Expr();
    });
    eraseUnread(array);
  }
  for (const BorderedWindow &window : windows)
    for (AffineExpr rule :
         {window.index - window.inside.low, -window.index + window.inside.high})
      piece.domain.push_back({program.simplify(rule), false});
}

Expr WindowTrimmer::findSource(Expr image,
                               ArrayRef<BorderedWindow> windows) const {
  ArrayId array = image.getTensor().number;
  ArrayRef<unsigned> computing = writers.find(array)->second;
  const Statement &copy = program.statements[computing.front()];
  auto isCopied = [&](const Piece &piece) { return !isZero(copy, piece); };
  const auto *copied = llvm::find_if(copy.pieces, isCopied);
  if (computing.size() != 1 || !copy.targetIndices.empty() ||
      llvm::count_if(copy.pieces, isCopied) != 1 ||
      copied->value.getKind() != Expr::Kind::Access)
    return {};
  const Array &target = program.arrays[array];
  const Array &source = program.arrays[copied->value.getTensor().number];
  unsigned rank = target.extents.size();
  if (source.extents.size() != rank ||
      source.elementType != target.elementType ||
      source.layout != target.layout)
    return {};
  // Zeros are nowhere but where the windows say.
  auto isTrimmed = [&](unsigned dim) {
    return llvm::any_of(windows, [&](const BorderedWindow &window) {
      return window.dim == dim;
    });
  };
  for (const Condition &condition : copied->domain)
    for (unsigned dim = 0; dim < rank; ++dim) {
      AffineExpr self = getAffineDimExpr(dim, program.context);
      if (condition.expr.isFunctionOfDim(dim) &&
          (condition.isEquality || !isTrimmed(dim) ||
           (!isa<AffineConstantExpr>(program.simplify(self - condition.expr)) &&
            !isa<AffineConstantExpr>(program.simplify(self + condition.expr)))))
        return {};
    }
  SmallVector<Expr> indices;
  for (unsigned dim = 0; dim < rank; ++dim) {
    std::optional<AffineExpr> from =
        program.affine(copied->value.getOperands()[dim]);
    auto offset = dyn_cast_or_null<AffineConstantExpr>(
        from ? program.simplify(*from - getAffineDimExpr(dim, program.context))
             : AffineExpr());
    if (!offset ||
        (!isTrimmed(dim) && (offset.getValue() != 0 ||
                             source.extents[dim] != target.extents[dim])))
      return {};
    AffineExpr index = *program.affine(image.getOperands()[dim]);
    indices.push_back(
        program.expression(program.simplify(index + offset.getValue())));
  }
  return access(copied->value.getTensor(), indices, image.getType());
}

void WindowTrimmer::eraseUnread(ArrayId array) {
  const Array &unread = program.arrays[array];
  auto isIt = [&](unsigned number) {
    return program.statements[number].target == array;
  };
  for (const FusionGroup &group : groups)
    for (unsigned number : group.statements)
      if (llvm::is_contained(getReads(program.statements[number]), array))
        return;
  if (unread.outputs.empty())
    llvm::erase_if(groups, [&](const FusionGroup &group) {
      return llvm::all_of(group.statements, isIt);
    });
}

void WindowTrimmer::run() {
  for (unsigned number = 0; number < groups.size(); ++number) {
    FusionGroup group = groups[number];
    size_t before = groups.size();
    run(group);
    // The kernel of a copy comes before the one that reads it.
    number -= before - groups.size();
  }
}

void espalier::graphtopoly::trimWindows(
    StatementList &program, SmallVectorImpl<FusionGroup> &fusionGroups) {
  WindowTrimmer(program, fusionGroups).run();
}
