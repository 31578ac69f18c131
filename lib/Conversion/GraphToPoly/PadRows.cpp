//===- PadRows.cpp - Rows in different sets of the cache ------------------===//
//
// A register tile of a contraction reads, for each term of its sums, a number
// of each of its rows. Where these are a multiple of 4096 bytes apart, their
// lines fall into one set of the first-level cache, which has room for fewer
// lines than a tile has rows: each line comes from the next level again for
// every term, though sixteen terms use it. Rows that are a line longer fall
// into different sets. An array that the program computes is simply stored so;
// one that others see is copied where enough passes over it pay for that.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "StatementList.h"
#include "espalier/Dialect/Poly/IR/Target.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Fewer rows than this find room in a set.
static constexpr int64_t kMinRows = 8;
/// Vectors side by side in a tile, each pass over the rows computes.
static constexpr int64_t kPassVectors = 2;
/// Fewer passes over the rows do not pay for copying them.
static constexpr int64_t kMinPasses = 8;

namespace {
class RowPadder {
public:
  explicit RowPadder(StatementList &program) : program(program) {}
  void run();

private:
  /// The access to the rows of `statement`'s tiles if their lines share a set;
  /// null otherwise.
  Expr findCrowdedRows(const Statement &statement,
                       const Contraction &contraction) const;
  /// The elements between those that `access` is to at two values of `dim`, one
  /// after the other; nothing if that depends on sizes.
  std::optional<int64_t> getStride(Expr access, unsigned dim) const;
  bool isSeenByOthers(ArrayId number) const;
  void pad(Array &array) const;
  /// Copies an array to rows that are padded.
  ArrayId copy(const Statement &reader, ArrayId source);

  StatementList &program;
  std::vector<Statement> result;
  llvm::DenseMap<ArrayId, ArrayId> copies;
};
} // namespace

/// The extent of a dimension; 0 if that is not known.
static int64_t getExtent(const Statement &statement, unsigned dim) {
  auto extent = dyn_cast<AffineConstantExpr>(statement.extents[dim]);
  return extent ? extent.getValue() : 0;
}

std::optional<int64_t> RowPadder::getStride(Expr access, unsigned dim) const {
  const Array &array = program.arrays[access.getTensor().number];
  ArrayRef<AffineExpr> extents =
      array.layout ? ArrayRef(array.storedExtents) : ArrayRef(array.extents);
  SmallVector<AffineExpr> indices;
  unsigned numDims = dim + 1;
  for (Expr index : access.getOperands()) {
    std::optional<AffineExpr> expr = program.affine(index);
    if (!expr)
      return std::nullopt;
    indices.push_back(*expr);
    for (unsigned used : getDims(index))
      numDims = std::max(numDims, used + 1);
  }
  AffineMap map =
      AffineMap::get(numDims, program.symbols.size(), indices, program.context);
  if (array.layout)
    map = array.layout.compose(map);
  AffineExpr place = getAffineConstantExpr(0, program.context);
  for (auto [index, extent] : llvm::zip(map.getResults(), extents)) {
    if (!isa<AffineConstantExpr>(extent))
      return std::nullopt;
    place = place * extent + index;
  }
  SmallVector<AffineExpr> values(numDims,
                                 getAffineConstantExpr(0, program.context));
  auto first = dyn_cast<AffineConstantExpr>(place.replaceDims(values));
  values[dim] = getAffineConstantExpr(1, program.context);
  auto second = dyn_cast<AffineConstantExpr>(place.replaceDims(values));
  if (!first || !second)
    return std::nullopt;
  return second.getValue() - first.getValue();
}

Expr RowPadder::findCrowdedRows(const Statement &statement,
                                const Contraction &contraction) const {
  Expr rows;
  forEachAccess(statement, [&](Expr access) {
    if (access.getNode() != contraction.panel.getNode() &&
        !access.getType().isIndex())
      rows = access;
  });
  if (!rows ||
      program.arrays[rows.getTensor().number].kind == Array::Kind::Constant)
    return {};
  // Tiles have several points along the last dimension that has more than one.
  SmallVector<unsigned> dims = getDims(rows);
  SmallVector<unsigned> panelDims = getDims(contraction.panel);
  for (unsigned dim = program.getRank(statement.target); dim-- > 0;) {
    if (!llvm::is_contained(dims, dim) || llvm::is_contained(panelDims, dim) ||
        getExtent(statement, dim) == 1)
      continue;
    std::optional<int64_t> stride = getStride(rows, dim);
    if (!stride || *stride == 0 || getExtent(statement, dim) < kMinRows)
      return {};
    int64_t bytes = *stride * rows.getType().getIntOrFloatBitWidth() / 8;
    return bytes % poly::kWayBytes == 0 ? rows : Expr();
  }
  return {};
}

bool RowPadder::isSeenByOthers(ArrayId number) const {
  const Array &array = program.arrays[number];
  return array.kind != Array::Kind::Intermediate || array.rowMajor ||
         !array.order.empty() || !array.outputs.empty() || array.reshapeOf ||
         (array.layout && !array.layout.isPermutation()) ||
         llvm::any_of(program.arrays, [&](const Array &other) {
           return other.reshapeOf == number;
         });
}

void RowPadder::pad(Array &array) const {
  if (!array.layout) {
    array.layout = AffineMap::getMultiDimIdentityMap(array.extents.size(),
                                                     program.context);
    array.storedExtents = array.extents;
  }
  array.storedExtents.back() =
      array.storedExtents.back() +
      poly::kLineBytes * 8 / array.elementType.getIntOrFloatBitWidth();
}

ArrayId RowPadder::copy(const Statement &reader, ArrayId source) {
  auto [known, isNew] = copies.try_emplace(source, 0);
  if (!isNew)
    return known->second;
  Array copy{Array::Kind::Intermediate, reader.loc,
             program.arrays[source].elementType,
             program.arrays[source].extents};
  pad(copy);
  known->second = program.addArray(std::move(copy));
  result.push_back(makeStore(program, source, known->second, reader.loc));
  return known->second;
}

void RowPadder::run() {
  for (Statement &statement : program.statements) {
    auto contraction = getContraction(program, statement);
    Expr rows = contraction && !statement.keepsRowMajor && !statement.recurrence
                    ? findCrowdedRows(statement, *contraction)
                    : Expr();
    if (rows) {
      ArrayId array = rows.getTensor().number;
      int64_t passes =
          llvm::divideCeil(getExtent(statement, contraction->vectorDim),
                           kPassVectors * program.vectorLanes);
      if (!isSeenByOthers(array))
        pad(program.arrays[array]);
      else if (passes >= kMinPasses)
        redirect(statement, array, copy(statement, array));
    }
    result.push_back(statement);
  }
  program.statements.assign(result.begin(), result.end());
}

void espalier::graphtopoly::padRows(StatementList &program) {
  RowPadder(program).run();
}
