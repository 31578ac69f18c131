//===- SeparateWindows.cpp - Maxima of rows, then of columns --------------===//
//
// The maximum over a window is that of the maxima of its columns, which windows
// that overlap along a row share:
//
//   R[y, x] = max(i, j) X[s y + i, t x + j]
//
// becomes
//
//   T[y, u] = max(i) X[s y + i, u]
//   R[y, x] = max(j) T[y, t x + j]
//
// with whole rows of the operand in T. No maximum depends on the order.
//
//===----------------------------------------------------------------------===//

#include "Sums.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// What storing an element of T, and reading it again, takes in operations.
static constexpr int64_t kStoreCost = 2;
/// An operation on lanes that are apart takes as long as so many others.
static constexpr int64_t kStridedCost = 2;
/// The operations that are left have to be fewer than this part, since those of
/// one window share what they read.
static constexpr int64_t kPartLeft = 2, kOfParts = 3;

namespace {

class WindowSeparator {
public:
  WindowSeparator(StatementList &program, unsigned number)
      : program(program), number(number), window(program.statements[number]),
        rank(program.getRank(window.target)) {}

  /// Recognizes the maximum. Fails if its window has one direction, or if that
  /// does not save time.
  LogicalResult analyze();
  /// Replaces the maximum; returns the statements that go before it.
  SmallVector<Statement, 2> run();

private:
  std::optional<int64_t> getNumber(AffineExpr extent) const {
    auto constant = dyn_cast<AffineConstantExpr>(extent);
    return constant ? std::optional(constant.getValue()) : std::nullopt;
  }
  LogicalResult readColumn(AffineExpr index);
  bool isBorderedCopy() const;
  bool pays() const;

  StatementList &program;
  unsigned number;
  const Statement window;
  unsigned rank;
  Expr image;          ///< The element.
  unsigned column = 0; ///< The target's dimension along the rows.
  unsigned tap = 0;    ///< The window's.
  int64_t stride = 1;  ///< Elements from one window to the next along a row.
  SmallVector<unsigned> outerTaps; ///< The window's other dimensions.
};

} // namespace

LogicalResult WindowSeparator::readColumn(AffineExpr index) {
  unsigned numColumns = 0, numTaps = 0;
  for (unsigned dim = 0; dim < window.getNumDims(); ++dim) {
    if (!index.isFunctionOfDim(dim)) {
      if (dim >= rank)
        outerTaps.push_back(dim);
      continue;
    }
    (dim < rank ? column : tap) = dim;
    ++(dim < rank ? numColumns : numTaps);
  }
  if (numColumns != 1 || numTaps != 1 || outerTaps.empty())
    return failure();
  AffineExpr self = getAffineDimExpr(column, program.context);
  auto step =
      getNumber(program.simplify(index.replace(self, self + 1) - index));
  if (!step || *step < 1)
    return failure();
  stride = *step;
  return success();
}

LogicalResult WindowSeparator::analyze() {
  if ((window.reduction != ReduceKind::Max &&
       window.reduction != ReduceKind::Min) ||
      window.recurrence || window.entries || window.addsToTarget ||
      window.pieces.size() != 1 || !window.pieces.front().domain.empty() ||
      !window.targetIndices.empty() ||
      window.pieces.front().value.getKind() != Expr::Kind::Access)
    return failure();
  image = window.pieces.front().value;
  const Array &array = program.arrays[image.getTensor().number];
  // Lanes lie along rows.
  if (image.getOperands().empty() || array.layout ||
      program.arrays[window.target].layout)
    return failure();
  std::optional<AffineExpr> last = program.affine(image.getOperands().back());
  if (!last || failed(readColumn(*last)) || column + 1 != rank)
    return failure();
  for (Expr index : ArrayRef(image.getOperands()).drop_back()) {
    std::optional<AffineExpr> affine = program.affine(index);
    if (!affine || affine->isFunctionOfDim(column) ||
        affine->isFunctionOfDim(tap))
      return failure();
  }
  return success(isBorderedCopy() && pays());
}

/// Whether the image is the caller's with a border: then planes are copied one
/// by one, and what shares the loops over these alone has register tiles.
bool WindowSeparator::isBorderedCopy() const {
  ArrayId array = image.getTensor().number;
  auto isCopy = [&](const Piece &piece) {
    return piece.value.getKind() == Expr::Kind::Access &&
           program.arrays[piece.value.getTensor().number].kind ==
               Array::Kind::Input;
  };
  const Statement *writer = nullptr;
  for (const Statement &statement : program.statements)
    if (statement.target == array) {
      if (writer)
        return false;
      writer = &statement;
    }
  return writer && writer->pieces.size() > 1 &&
         llvm::any_of(writer->pieces, isCopy);
}

bool WindowSeparator::pays() const {
  std::optional<int64_t> taps = getNumber(window.extents[tap]);
  std::optional<int64_t> columns = getNumber(window.extents[column]);
  std::optional<int64_t> row =
      getNumber(program.arrays[image.getTensor().number].extents.back());
  int64_t outer = 1;
  for (unsigned dim : outerTaps) {
    std::optional<int64_t> extent = getNumber(window.extents[dim]);
    if (!extent || *extent < 1 || *extent > 1 << 10)
      return false;
    outer = std::min<int64_t>(outer * *extent, 1 << 20);
  }
  if (!taps || !columns || !row || *taps < 2 || *taps > 1 << 10 || outer < 2 ||
      *columns < 1)
    return false;
  // For each element of the result; rows are computed whole.
  int64_t cost = stride > 1 ? kStridedCost : 1;
  int64_t left = llvm::divideCeil(*row, *columns) >= 1 << 10
                     ? 1 << 20
                     : llvm::divideCeil((outer + kStoreCost) * *row, *columns) +
                           *taps * cost;
  return left * kOfParts < outer * *taps * cost * kPartLeft;
}

SmallVector<Statement, 2> WindowSeparator::run() {
  Statement &second = program.statements[number];
  Array rows{Array::Kind::Intermediate, window.loc};
  rows.elementType = program.arrays[window.target].elementType;
  rows.extents.assign(window.extents.begin(), window.extents.begin() + rank);
  rows.extents[column] =
      program.arrays[image.getTensor().number].extents.back();
  Statement first{0, window.loc, rows.extents, {}};
  first.reduction = window.reduction;
  // The dimensions of the target keep their numbers, those of each part of the
  // window follow.
  auto renumber = [&](Expr value, ArrayRef<unsigned> dims) {
    return transform(value, [&](Expr e) -> Expr {
      if (e.getKind() != Expr::Kind::Variable || e.getVariable() < rank)
        return {};
      const auto *found = llvm::find(dims, e.getVariable());
      return variable(rank + (found - dims.begin()), program.context);
    });
  };
  for (unsigned dim : outerTaps)
    first.extents.push_back(window.extents[dim]);
  SmallVector<Expr> whole;
  for (Expr index : ArrayRef(image.getOperands()).drop_back())
    whole.push_back(renumber(index, outerTaps));
  whole.push_back(variable(column, program.context));
  first.pieces.push_back(
      {{}, access(image.getTensor(), whole, image.getType())});
  // What is combined is not what others read, so that it can be in registers.
  first.target = program.addArray(rows);
  ArrayId stored = program.addArray(std::move(rows));

  SmallVector<Expr> read;
  for (unsigned dim = 0; dim < column; ++dim)
    read.push_back(variable(dim, program.context));
  read.push_back(renumber(image.getOperands().back(), {tap}));
  second.extents.resize(rank);
  second.extents.push_back(window.extents[tap]);
  second.names.clear();
  second.pieces.front().value =
      access(TensorRef::operand(stored), read, image.getType());
  Statement store = makeStore(program, first.target, stored, window.loc);
  return {std::move(first), std::move(store)};
}

void espalier::graphtopoly::separateWindows(StatementList &program) {
  std::vector<Statement> statements;
  for (unsigned number = 0; number < program.statements.size(); ++number) {
    WindowSeparator separator(program, number);
    if (succeeded(separator.analyze()))
      llvm::append_range(statements, separator.run());
    statements.push_back(program.statements[number]);
  }
  program.statements = std::move(statements);
}
