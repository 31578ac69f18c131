//===- JoinRows.cpp - Images that no cache holds --------------------------===//
//
// A convolution with a window of one point has its lanes along the channels, as
// others have: each panel of the weights passes all points, so that images that
// no cache holds come from memory for every panel, a line of each channel at a
// time. Few weights stay in the cache: with lanes along the points of the
// image, whose rows lie one after the other, an image is read once, panel by
// panel, and its result is written line by line, as the caller has both.
//
// With few registers, a tile has the points of less than half a line, which is
// gone when the next tile wants the rest: that pays off for all but small
// images.
// What is copied anyway, around a border, has many channels side by side
// instead.
//
//   y[n, o, h, w] = sum(c) W[o, c] x[n, c, h, w]
//   Y[n, o, p] = sum(c) W[o, c] X[n, c, p]
//
//===----------------------------------------------------------------------===//

#include "../Renumber.h"
#include "LayoutAssigner.h"
#include "espalier/Dialect/Poly/IR/Target.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Weights pass each panel, at most from the next cache: as many times what a
/// core's own holds.
static constexpr int64_t kMaxWeightCaches = 4;
/// As many channels are read, and computed, for each point.
static constexpr int64_t kMinLines = 32;
/// Channels of less bytes are near each other.
static constexpr int64_t kMinPartBytes = 1024;
/// So many terms of a sum, each on a page of its own, are too many for what
/// remembers where pages are. A copy has them side by side.
static constexpr int64_t kMinFarTerms = 512;

/// The number that an extent is; 0 if that is not known.
static int64_t getNumber(AffineExpr extent) {
  auto known = dyn_cast<AffineConstantExpr>(extent);
  return known ? known.getValue() : 0;
}

/// Whether `expr` depends on a dimension from `from` to less than `to`.
static bool dependsOn(Expr expr, unsigned from, unsigned to) {
  return llvm::any_of(getDims(expr),
                      [&](unsigned dim) { return dim >= from && dim < to; });
}

unsigned LayoutAssigner::countFarRows(const Statement &statement,
                                      const Contraction &weights,
                                      Expr image) const {
  unsigned rank = program.getRank(statement.target);
  ArrayId number = image.getTensor().number;
  const Array &array = program.arrays[number];
  unsigned numIndices = array.extents.size(), numRows = 0;
  std::optional<int64_t> bytes = program.getBytes(number);
  std::optional<int64_t> weightBytes =
      program.getBytes(weights.panel.getTensor().number);
  if (!bytes || !weightBytes ||
      *weightBytes > kMaxWeightCaches * program.cacheBytes || array.layout ||
      !array.order.empty())
    return 0;
  int64_t points = 1;
  for (; numRows < std::min(rank, numIndices); ++numRows) {
    unsigned dim = rank - 1 - numRows, place = numIndices - 1 - numRows;
    auto extent = dyn_cast<AffineConstantExpr>(statement.extents[dim]);
    std::optional<AffineExpr> index =
        program.affine(image.getOperands()[place]);
    if (!index || !extent || extent != array.extents[place])
      break;
    // A window of one point adds nothing to where it is.
    for (unsigned tap = rank; tap < statement.getNumDims(); ++tap)
      if (statement.extents[tap] == 1)
        index = index->replace(getAffineDimExpr(tap, program.context),
                               getAffineConstantExpr(0, program.context));
    if (*index != getAffineDimExpr(dim, program.context) ||
        dependsOn(weights.panel, dim, dim + 1))
      break;
    points *= extent.getValue();
  }
  unsigned first = rank - numRows;
  int64_t images = 1;
  for (unsigned place = 0; place + numRows < numIndices; ++place) {
    Expr index = image.getOperands()[place];
    if (dependsOn(index, first, rank))
      return 0;
    auto extent = dyn_cast<AffineConstantExpr>(array.extents[place]);
    if (dependsOn(index, 0, first) && extent)
      images *= extent.getValue();
  }
  if (points == 0 || images == 0 ||
      points % (kPanelVectors * program.vectorLanes) != 0)
    return 0;
  bool isFar = *bytes / images > program.cacheBytes;
  if (isFar && paysInPanels(statement, {rank - 1, image, numIndices - 1}))
    return numRows;
  bool isPart =
      hasPartsOfLines(number) && numRows < numIndices &&
      program.getBytes(number, numIndices - numRows).value_or(0) >=
          kMinPartBytes &&
      getNumber(array.extents[numIndices - 1 - numRows]) >= kMinLines &&
      getNumber(statement.extents[weights.vectorDim]) >= kMinLines;
  return isPart ? numRows : 0;
}

bool LayoutAssigner::hasPartsOfLines(ArrayId number) const {
  int64_t elementBytes =
      *program.getBytes(number, program.arrays[number].extents.size());
  int64_t points = (program.vectorRegisters - 1) / kPanelVectors - 1;
  return 2 * points * elementBytes <= poly::kLineBytes;
}

bool LayoutAssigner::isCrowded(ArrayId number) const {
  ArrayRef<AffineExpr> extents = program.arrays[number].extents;
  if (extents.size() < 2 || !hasPartsOfLines(number))
    return false;
  int64_t bytes = program.getBytes(number, extents.size() - 1).value_or(0);
  return bytes > 0 && bytes % poly::kWayBytes == 0 &&
         getNumber(extents.drop_back().back()) >= kMinLines;
}

/// Whether a value depends on these dimensions otherwise than by what it reads.
static bool countsPoints(Expr value, unsigned from, unsigned to) {
  if (value.getKind() == Expr::Kind::Access)
    return false;
  if (value.getKind() == Expr::Kind::Variable)
    return value.getVariable() >= from && value.getVariable() < to;
  return llvm::any_of(value.getOperands(), [&](Expr operand) {
    return countsPoints(operand, from, to);
  });
}

SmallVector<unsigned> LayoutAssigner::findResultOfRows(unsigned number,
                                                       Expr image,
                                                       unsigned numRows) const {
  SmallVector<unsigned> chain;
  ArrayId before = 0;
  for (const Statement *next = &program.statements[number]; next;) {
    const Statement &statement = *next;
    const Array &target = program.arrays[statement.target];
    unsigned rank = target.extents.size(), first = rank - numRows;
    bool isFirst = chain.empty();
    bool joins =
        rank > numRows && statement.pieces.size() == 1 &&
        statement.pieces.front().domain.empty() &&
        statement.targetIndices.empty() && !statement.recurrence &&
        !statement.entries && !statement.addsToTarget &&
        !statement.keepsRowMajor && !statement.algorithm &&
        isFirst == statement.reduction.has_value() && !target.layout &&
        target.order.empty() && !target.reshapeOf &&
        llvm::none_of(program.arrays,
                      [&](const Array &other) {
                        return other.reshapeOf == statement.target;
                      }) &&
        llvm::count_if(program.statements, [&](const Statement &other) {
          return other.target == statement.target;
        }) == 1;
    if (!joins || countsPoints(statement.pieces.front().value, first, rank))
      return {};
    forEachAccess(statement, [&](Expr access) {
      if (access.getNode() == image.getNode())
        return;
      if (!dependsOn(access, first, rank)) {
        joins &= isFirst || access.getTensor().number != before;
        return;
      }
      const Array &array = program.arrays[access.getTensor().number];
      unsigned numIndices = array.extents.size();
      joins &= numIndices >= numRows && !array.layout && array.order.empty() &&
               array.kind != Array::Kind::Constant;
      for (unsigned place = 0; joins && place < numIndices; ++place) {
        Expr index = access.getOperands()[place];
        unsigned dim = first + place - (numIndices - numRows);
        joins &= place + numRows < numIndices
                     ? !dependsOn(index, first, rank)
                     : index.getKind() == Expr::Kind::Variable &&
                           index.getVariable() == dim &&
                           array.extents[place] == target.extents[dim];
      }
    });
    if (!joins)
      return {};
    chain.push_back(next - program.statements.data());
    before = statement.target;
    // Who reads it, if nobody else sees it.
    next = nullptr;
    for (const Statement &reader : program.statements)
      if (llvm::is_contained(getReads(reader), statement.target)) {
        if (next)
          return {};
        next = &reader;
      }
    if (!target.outputs.empty())
      return next ? SmallVector<unsigned>() : chain;
    if (next && next - program.statements.data() <= chain.back())
      return {};
  }
  return {};
}

std::optional<Contraction>
LayoutAssigner::joinFarRows(unsigned number, const Contraction &weights) {
  const Statement &sum = program.statements[number];
  if (program.arrays[weights.panel.getTensor().number].kind !=
          Array::Kind::Constant ||
      weights.vectorDim + 1 >= program.getRank(sum.target))
    return std::nullopt;
  Expr image;
  forEachAccess(sum, [&](Expr access) {
    if (access.getNode() != weights.panel.getNode())
      image = access;
  });
  if (!image || llvm::is_contained(getDims(image), weights.vectorDim))
    return std::nullopt;
  unsigned numRows = countFarRows(sum, weights, image);
  if (numRows == 0)
    return std::nullopt;
  SmallVector<unsigned> chain = findResultOfRows(number, image, numRows);
  if (chain.empty())
    return std::nullopt;

  // The same elements with one index for all rows.
  llvm::DenseMap<ArrayId, ArrayId> joined;
  auto join = [&](ArrayId source) {
    auto [known, isNew] = joined.try_emplace(source, 0);
    if (!isNew)
      return known->second;
    Array array = program.arrays[source];
    AffineExpr points = getAffineConstantExpr(1, program.context);
    for (unsigned row = 0; row < numRows; ++row)
      points = points * array.extents.pop_back_val();
    array.extents.push_back(program.simplify(points));
    array.outputs.clear();
    array.kind = Array::Kind::Intermediate;
    array.reshapeOf = source;
    array.rowMajor = true;
    // What computes it may get its layout after this.
    program.arrays[program.getBase(source)].rowMajor = true;
    known->second = program.addArray(std::move(array));
    return known->second;
  };
  for (unsigned place : chain) {
    Statement &statement = program.statements[place];
    unsigned rank = program.getRank(statement.target), first = rank - numRows;
    SmallVector<AffineExpr> dims, extents;
    for (unsigned dim = 0; dim < statement.getNumDims(); ++dim) {
      // Taps of a window that has one are no loops, but for one in all.
      bool isJoined = dim >= first && dim + 1 < rank;
      bool isNeeded =
          dim + 1 == statement.getNumDims() && extents.size() == first + 1;
      bool isTap = dim >= rank && statement.extents[dim] == 1 && !isNeeded;
      bool isNone = isJoined || isTap;
      dims.push_back(isNone
                         ? getAffineConstantExpr(0, program.context)
                         : getAffineDimExpr(extents.size(), program.context));
      if (!isNone)
        extents.push_back(statement.extents[dim]);
    }
    // A result is a view of what is computed, and what lies between them is
    // another array.
    ArrayId target = statement.target;
    bool isResult = place == chain.back();
    bool isRowMajor = isResult || program.arrays[target].rowMajor;
    ArrayId points = join(target);
    program.arrays[points].reshapeOf.reset();
    program.arrays[points].rowMajor = isRowMajor;
    if (isResult)
      program.arrays[target].reshapeOf = points;
    extents[first] = program.arrays[points].extents.back();
    statement.pieces.front().value =
        transform(statement.pieces.front().value, [&](Expr e) -> Expr {
          if (e.getKind() != Expr::Kind::Access || !dependsOn(e, first, rank))
            return {};
          SmallVector<Expr> indices(e.getOperands().drop_back(numRows));
          indices.push_back(variable(rank - 1, program.context));
          return access(TensorRef::operand(join(e.getTensor().number)), indices,
                        e.getType());
        });
    statement = substitute(program, statement, dims, extents);
    statement.target = points;
  }
  Contraction result = weights;
  unsigned last = program.getRank(program.statements[number].target) - 1;
  forEachAccess(program.statements[number], [&](Expr access) {
    if (llvm::is_contained(getDims(access), last))
      result = {last, access, unsigned(access.getOperands().size() - 1)};
  });
  return result;
}

void LayoutAssigner::alignTerms(const Statement &statement,
                                const Contraction &contraction) {
  unsigned rank = program.getRank(statement.target);
  SmallVector<Expr> factors;
  getFactors(statement.pieces.front().value, factors);
  for (Expr rows : factors) {
    ArrayId number = rows.getTensor().number;
    Array &array = program.arrays[number];
    if (rows.getNode() == contraction.panel.getNode() || statement.recurrence ||
        !isCopyForOne(number))
      continue;
    for (auto [place, index] : llvm::enumerate(rows.getOperands())) {
      if (index.getKind() != Expr::Kind::Variable ||
          index.getVariable() < rank || place + 1 == rows.getOperands().size())
        continue;
      auto terms =
          dyn_cast<AffineConstantExpr>(statement.extents[index.getVariable()]);
      if (!terms || terms.getValue() < kMinFarTerms ||
          program.getBytes(number, place + 1).value_or(0) < poly::kWayBytes)
        continue;
      setOrder(array, getOrderWithLast(array.extents.size(), place));
      return;
    }
  }
}
