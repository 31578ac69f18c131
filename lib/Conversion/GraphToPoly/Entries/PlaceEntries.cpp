//===- PlaceEntries.cpp - How an image's filters are stored ---------------===//
//
// A sum over the entries of filters looks up where each one reads an image, a
// number for each dimension:
//
//   Y[n, o, y, x] (+)= X[n, k[e], y + i[e], x + j[e]] * w[e]
//                                                 starts[o] <= e < starts[o +
//                                                 1]
//
// Where the planes of the image, of 30 x 30 points here, are of constant size,
// one number says it, where Z is X with the last three dimensions as one:
//
//   Y[n, o, y, x] (+)= Z[n, at[e] + 30 y + x] * w[e]
//
// What a tile of Y reads of many channels leaves the first-level cache before
// the next filter o reads it again. So entries are stored in blocks of
// channels, and all filters pass one before the next:
//
//   Y[n, o, y, x] (+)= Z[n, at[e] + 30 y + x] * w[e]                      b <
//   16
//                             starts[512 b + o] <= e < starts[512 b + o + 1]
//
//===----------------------------------------------------------------------===//

#include "PlaceEntries.h"
#include "EntryLists.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Entries of a filter in a block, on average: fewer do not pay for fetching
/// and storing a tile of sums again.
static constexpr int64_t kMinBlockEntries = 8;
/// Vectors of a row of a tile, which is half of the registers in all.
static constexpr int64_t kTileVectors = 2;

//===----------------------------------------------------------------------===//
// One place
//===----------------------------------------------------------------------===//

namespace {
/// The read of an image at places that data says.
struct ImageRead {
  Expr access;
  unsigned first; ///< The first index that data says.
};
} // namespace

/// Where `read` is among the elements from its first index on, over the
/// dimensions and, from `firstSymbol` on, a symbol for each column of `table`;
/// and how many elements there are.
static std::optional<std::pair<AffineExpr, int64_t>>
flatten(const StatementList &program, const ImageRead &read,
        const EntryTable &table, unsigned firstSymbol) {
  const Array &image = program.arrays[read.access.getTensor().number];
  AffineExpr flat = getAffineConstantExpr(0, program.context);
  int64_t size = 1;
  for (unsigned i = read.first; i < image.extents.size(); ++i) {
    bool isKnown = true;
    std::optional<AffineExpr> index =
        program.affine(read.access.getOperands()[i], [&](Expr data) {
          const auto *column =
              llvm::find(table.columns, data.getTensor().number);
          isKnown &= column != table.columns.end();
          return getAffineSymbolExpr(
              firstSymbol + (column - table.columns.begin()), program.context);
        });
    auto extent = dyn_cast<AffineConstantExpr>(image.extents[i]);
    if (!index || !isKnown || !extent || extent.getValue() < 1)
      return std::nullopt;
    flat = flat * extent.getValue() + *index;
    size = llvm::SaturatingMultiply<uint64_t>(size, extent.getValue());
    if (size > std::numeric_limits<int32_t>::max())
      return std::nullopt;
  }
  return std::pair(program.simplify(flat), size);
}

/// How far from the first point each entry reads, if that is a sum of multiples
/// of its places.
static std::optional<std::vector<int64_t>>
getOffsets(const StatementList &program, AffineExpr flat,
           const EntryTable &table, unsigned firstSymbol,
           SmallVectorImpl<int64_t> &factors) {
  for (unsigned column = 0; column < table.columns.size(); ++column) {
    AffineExpr self =
        getAffineSymbolExpr(firstSymbol + column, program.context);
    auto factor = dyn_cast<AffineConstantExpr>(
        program.simplify(flat.replace(self, self + 1) - flat));
    if (!factor)
      return std::nullopt;
    factors.push_back(factor.getValue());
  }
  std::vector<int64_t> offsets(table.places.front().size());
  for (auto [factor, places] : llvm::zip_equal(factors, table.places))
    for (auto [offset, place] : llvm::zip_equal(offsets, places))
      offset += factor * place;
  // Lists stay in the order of their places.
  for (int64_t row = 0; row < table.countRows(); ++row)
    for (int64_t e = table.starts[row] + 1; e < table.starts[row + 1]; ++e)
      if (offsets[e - 1] >= offsets[e])
        return std::nullopt;
  return offsets;
}

static std::optional<EntryTable> readTable(const StatementList &program,
                                           const Statement &sum) {
  auto row = dyn_cast<AffineDimExpr>(sum.entries->row);
  FailureOr<EntryTable> table = failure();
  if (row)
    table = readEntryTable(program, sum, row.getPosition());
  if (failed(table) || table->starts.front() == table->starts.back())
    return std::nullopt;
  return std::move(*table);
}

std::optional<ImagePlaces>
espalier::graphtopoly::combinePlaces(StatementList &program, unsigned number,
                                     const llvm::DenseSet<ArrayId> &written) {
  Statement &sum = program.statements[number];
  std::optional<EntryTable> table = readTable(program, sum);
  std::optional<Expr> found = findReadAtData(sum);
  // A single place is one already.
  if (!table || table->columns.size() < 2 || !found)
    return std::nullopt;
  ImageRead read{*found, getFirstDataIndex(*found)};
  ArrayId image = read.access.getTensor().number;
  const Array &array = program.arrays[image];
  // An image that another kernel rearranges for this one has an order.
  bool isRowMajor = llvm::is_sorted(array.order) &&
                    (!array.layout || array.layout.isIdentity());
  if (written.contains(image) || array.kind == Array::Kind::Constant ||
      !isRowMajor)
    return std::nullopt;
  unsigned firstSymbol = program.symbols.size();
  auto flat = flatten(program, read, *table, firstSymbol);
  if (!flat)
    return std::nullopt;
  SmallVector<int64_t> factors;
  auto offsets = getOffsets(program, flat->first, *table, firstSymbol, factors);
  if (!offsets)
    return std::nullopt;

  ImagePlaces places;
  places.channels = table->places.front();
  places.numChannels = table->bounds.front();
  places.channelBytes =
      flat->second /
      cast<AffineConstantExpr>(array.extents[read.first]).getValue() *
      int64_t(table->valueBytes);
  for (int64_t bound : ArrayRef(table->bounds).drop_front().drop_back())
    places.filterRows *= bound;

  int64_t least = *llvm::min_element(*offsets);
  int64_t bound = *llvm::max_element(*offsets) - least + 1;
  std::vector<int32_t> numbers;
  for (int64_t offset : *offsets)
    numbers.push_back(offset - least);
  AffineExpr point = flat->first;
  for (unsigned column = 0; column < factors.size(); ++column)
    point = point.replace(
        getAffineSymbolExpr(firstSymbol + column, program.context),
        getAffineConstantExpr(0, program.context));
  point = program.simplify(point + least);

  Array view{Array::Kind::Intermediate, array.loc, array.elementType};
  view.extents =
      llvm::to_vector(ArrayRef(array.extents).take_front(read.first));
  view.extents.push_back(getAffineConstantExpr(flat->second, program.context));
  view.reshapeOf = image;
  view.rowMajor = program.arrays[image].rowMajor = true;
  ArrayId flatImage = program.addArray(std::move(view));
  ArrayId column = addPlaces(program, sum.loc, numbers, bound);
  Expr entry = variable(sum.getNumDims() - 1, program.context);
  Expr place = cast(IndexType::get(program.context),
                    access(TensorRef::operand(column), {entry},
                           program.arrays[column].elementType));
  SmallVector<Expr> indices(read.access.getOperands().take_front(read.first));
  indices.push_back(program.expression(point) + place);
  Piece &piece = sum.pieces.front();
  piece.value = transform(piece.value, [&](Expr e) -> Expr {
    if (e.getNode() != read.access.getNode())
      return {};
    return access(TensorRef::operand(flatImage), indices, e.getType());
  });
  return places;
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

/// Bytes of what a tile of the result reads of a channel: whole lines of its
/// rows and of those that the filter has beyond.
static int64_t getTileBytes(const StatementList &program,
                            const ImagePlaces &places) {
  int64_t rows =
      std::max<int64_t>(1, program.vectorRegisters / 2 / kTileVectors) +
      places.filterRows - 1;
  int64_t vectorBytes = poly::getTarget(program.function).getVectorBits() / 8;
  int64_t bytes =
      rows * llvm::alignTo(kTileVectors * vectorBytes + 1, poly::kLineBytes);
  return std::min(bytes, places.channelBytes);
}

bool espalier::graphtopoly::leavesFirstLevelCache(const StatementList &program,
                                                  const ImagePlaces &places) {
  return places.numChannels * getTileBytes(program, places) >
         poly::getTarget(program.function).getL1();
}

/// How many channels a block has; 0 if entries stay row by row.
static int64_t chooseBlock(const StatementList &program,
                           const ImagePlaces &places, int64_t numRows) {
  poly::TargetAttr target = poly::getTarget(program.function);
  int64_t bytes = getTileBytes(program, places);
  int64_t most = std::max<int64_t>(1, target.getL1() / 4 * 3 / bytes);
  int64_t numEntries = places.channels.size();
  int64_t numBlocks = std::min<int64_t>(
      llvm::divideCeil(places.numChannels, most),
      std::max<int64_t>(1, numEntries / (numRows * kMinBlockEntries)));
  int64_t channels = llvm::divideCeil(places.numChannels, numBlocks);
  return channels * bytes <= target.getL2() / 2 ? channels : 0;
}

bool espalier::graphtopoly::blockEntries(StatementList &program,
                                         unsigned number,
                                         const ImagePlaces &places) {
  Statement &sum = program.statements[number];
  std::optional<EntryTable> table = readTable(program, sum);
  if (!table)
    return false;
  int64_t numRows = table->countRows();
  int64_t size = chooseBlock(program, places, numRows);
  if (size == 0)
    return false;
  // Places are in order in each row, so a block has a part of it.
  std::vector<int32_t> starts{0}, numbers;
  std::vector<char> values;
  std::vector<int64_t> next(ArrayRef(table->starts).drop_back());
  for (int64_t end = size; end - size < places.numChannels; end += size)
    for (int64_t row = 0; row < numRows; ++row) {
      int64_t &e = next[row];
      for (; e < table->starts[row + 1] && places.channels[e] < end; ++e) {
        numbers.push_back(table->places.front()[e]);
        llvm::append_range(values, table->bytes.slice(e * table->valueBytes,
                                                      table->valueBytes));
      }
      starts.push_back(numbers.size());
    }
  MLIRContext *context = program.context;
  unsigned rank = program.getRank(sum.target);
  int64_t numEntries = numbers.size();
  ArrayId startsOf = addPlaces(program, sum.loc, starts, numEntries + 1);
  program.arrays[startsOf].isMonotonic = true;
  ArrayId columnOf =
      addPlaces(program, sum.loc, numbers, table->bounds.front());
  ArrayId valuesOf =
      addEntryArray(program, sum.loc, program.arrays[table->values].elementType,
                    numEntries, values);
  Piece &piece = sum.pieces.front();
  piece.value = transform(piece.value, [&](Expr e) -> Expr {
    if (e.getKind() == Expr::Kind::Variable && e.getVariable() >= rank)
      return variable(e.getVariable() + 1, context);
    if (e.getKind() != Expr::Kind::Access)
      return {};
    ArrayId array = e.getTensor().number;
    if (array != table->values && array != table->columns.front())
      return {};
    return access(
        TensorRef::operand(array == table->values ? valuesOf : columnOf),
        {variable(rank + 1, context)}, e.getType());
  });
  AffineExpr block = getAffineDimExpr(rank, context);
  sum.entries = {startsOf, block * numRows + sum.entries->row};
  int64_t numBlocks = (int64_t(starts.size()) - 1) / numRows;
  sum.extents.insert(sum.extents.end() - 1,
                     getAffineConstantExpr(numBlocks, context));
  sum.extents.back() = getAffineConstantExpr(numEntries, context);
  if (!sum.names.empty())
    sum.names.insert(sum.names.end() - 1,
                     llvm::is_contained(sum.names, "b") ? "" : "b");
  remark::passed(sum.loc, remark::RemarkOpts::name("Blocks").category(
                              "poly-group-entries"))
      << remark::metric("Blocks", numBlocks)
      << remark::metric("Channels", size);
  return true;
}
