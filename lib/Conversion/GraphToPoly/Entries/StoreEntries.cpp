//===- StoreEntries.cpp - Sums over what sparse constants store -----------===//
//
// A sum of products with a constant, most of whose elements are zero, runs over
// the others. What is stored of it is a list of entries, row by row:
//
//   Y[i, j] (+)= X[i, k] * W[k, j]      becomes
//   Y[i, j] (+)= X[i, k[e]] * w[e]      for starts[j] <= e < starts[j + 1]
//
// The constant's type says what is a row: the dimensions that its encoding
// stores densely. They have to be dimensions of the result, and the others all
// that the sum runs over. Of a block all elements are entries if one is not
// zero:
//
//   (i floordiv 2 : dense, j floordiv 3 : compressed, i mod 2, j mod 3 : dense)
//
// and of each four elements of a row at most two may be others than zero here:
//
//   (i : dense, j floordiv 4 : dense, j mod 4 : structured[2, 4])
//
//===----------------------------------------------------------------------===//

#include "../Contraction.h"
#include "../Normalize.h"
#include "espalier/Interpreter/Tensor.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Entries, and places along a dimension, are numbers of 32 bits.
static constexpr int64_t kMaxEntries = std::numeric_limits<int32_t>::max() - 1;

namespace {

/// The dimensions of a constant that say which row an entry is in, and those
/// that are stored with it, in the order of the levels.
struct Format {
  SmallVector<unsigned> rows, columns;
  /// By dimension, the extent of a block, of which all or no elements are
  /// entries.
  SmallVector<int64_t> block;
  /// Of each `of` neighbours along the only column, as many as `most` are not
  /// zero; 0 if there is no such rule.
  int64_t most = 0, of = 0;
};

/// What is stored of a constant.
struct Stored {
  ArrayId starts, values;
  SmallVector<ArrayId> columns;
  int64_t numEntries;
};

class EntryWriter {
public:
  explicit EntryWriter(StatementList &program) : program(program) {}

  FailureOr<unsigned> run(bool wanted, const llvm::DenseSet<ArrayId> &askedFor);

private:
  /// The format that the type of a constant says; nothing if it is dense, or of
  /// a kind that entries row by row are not.
  std::optional<Format> getFormat(const Array &array) const;
  FailureOr<Stored> store(ArrayId array, const Format &format);
  /// Reports neighbours of which too many are not zero.
  LogicalResult checkStructure(const Array &array, const Format &format,
                               ArrayRef<char> bytes) const;
  ArrayId addNumbers(ArrayRef<int32_t> numbers, int64_t bound, Location loc);
  /// Lets `statement` run over the entries of what `access` reads. Returns why
  /// it cannot, and nothing if it can.
  StringRef rewrite(Statement &statement, Expr access);

  StatementList &program;
  llvm::DenseMap<ArrayId, Stored> known;
  bool hasError = false;
};

/// What a level says of a dimension: its index, the number of its block or, if
/// `isPlace`, the place there.
struct LevelIndex {
  unsigned dim;
  int64_t size = 1;
  bool isPlace = false;
};
} // namespace

/// What the type of a constant says of its entries; null if it is dense.
static sparse_tensor::SparseTensorEncodingAttr getEncoding(const Array &array) {
  if (array.kind != Array::Kind::Constant)
    return {};
  return dyn_cast_or_null<sparse_tensor::SparseTensorEncodingAttr>(
      cast<RankedTensorType>(array.constant.getType()).getEncoding());
}

/// Reports entries that are asked for and cannot be stored.
static LogicalResult reportDense(Location loc, StringRef reason) {
  return emitError(loc)
         << "expects a sum of products that runs over the entries of a "
            "constant, as is asked for, so that what its encoding does not "
            "store densely is all that is summed, and the others are "
            "dimensions of the result, but got "
         << reason
         << "; the choice dense, or a type without an encoding, is for any";
}

static std::optional<LevelIndex> readIndex(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return LevelIndex{dim.getPosition()};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto dim = binary ? dyn_cast<AffineDimExpr>(binary.getLHS()) : nullptr;
  auto size = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS()) : nullptr;
  bool isPlace = expr.getKind() == AffineExprKind::Mod;
  if (!dim || !size || size.getValue() < 2 ||
      (!isPlace && expr.getKind() != AffineExprKind::FloorDiv))
    return std::nullopt;
  return LevelIndex{dim.getPosition(), size.getValue(), isPlace};
}

std::optional<Format> EntryWriter::getFormat(const Array &array) const {
  sparse_tensor::SparseTensorEncodingAttr encoding = getEncoding(array);
  if (!encoding)
    return std::nullopt;
  unsigned rank = array.extents.size();
  AffineMap levels = encoding.getDimToLvl();
  if (!levels)
    levels = AffineMap::getMultiDimIdentityMap(rank, program.context);
  Format format;
  format.block.assign(rank, 1);
  llvm::SmallBitVector isWhole(rank), isCut(rank); // What levels are about.
  for (auto [expr, type] :
       llvm::zip_equal(levels.getResults(), encoding.getLvlTypes())) {
    bool isFirst = format.columns.empty();
    std::optional<LevelIndex> index = readIndex(expr);
    if (!index)
      return std::nullopt;
    if (index->isPlace) {
      // The place in a block, which is after all that say which block it is.
      if (isCut[index->dim] || index->size != format.block[index->dim] ||
          isWhole.count() < rank)
        return std::nullopt;
      isCut.set(index->dim);
      if (sparse_tensor::isNOutOfMLT(type)) {
        // Elements of one row: that is no block whose elements are all there.
        auto row = llvm::find(format.rows, index->dim);
        if (!isFirst || row + 1 != format.rows.end() || format.of ||
            sparse_tensor::getM(type) != uint64_t(index->size))
          return std::nullopt;
        format.rows.erase(row);
        format.columns.push_back(index->dim);
        format.most = sparse_tensor::getN(type);
        format.of = index->size;
        format.block[index->dim] = 1;
      } else if (!sparse_tensor::isDenseLT(type)) {
        return std::nullopt;
      }
      continue;
    }
    if (isWhole[index->dim])
      return std::nullopt;
    isWhole.set(index->dim);
    format.block[index->dim] = index->size;
    if (isFirst && sparse_tensor::isDenseLT(type))
      format.rows.push_back(index->dim);
    else if (isFirst ? sparse_tensor::isCompressedLT(type)
                     : sparse_tensor::isSingletonLT(type))
      format.columns.push_back(index->dim);
    else
      return std::nullopt;
  }
  for (unsigned dim = 0; dim < rank; ++dim)
    if (!isWhole[dim] || (format.block[dim] > 1 && !isCut[dim]))
      return std::nullopt;
  return format;
}

ArrayId EntryWriter::addNumbers(ArrayRef<int32_t> numbers, int64_t bound,
                                Location loc) {
  Type type = IntegerType::get(program.context, 32);
  Array array{Array::Kind::Constant, loc, type};
  int64_t size = numbers.size();
  array.extents.push_back(getAffineConstantExpr(size, program.context));
  array.constant =
      DenseElementsAttr::get(RankedTensorType::get({size}, type), numbers);
  array.bound = bound;
  return program.addArray(std::move(array));
}

LogicalResult EntryWriter::checkStructure(const Array &array,
                                          const Format &format,
                                          ArrayRef<char> bytes) const {
  if (!format.of)
    return success();
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(array.constant.getType()).getShape();
  unsigned size = *interpreter::getElementBytes(array.elementType);
  bool hasSign = isa<FloatType>(array.elementType);
  unsigned column = format.columns.front();
  int64_t step = 1; // Between neighbours.
  for (unsigned dim = column + 1; dim < shape.size(); ++dim)
    step *= shape[dim];
  int64_t numElements = bytes.size() / size;
  for (int64_t first = 0; first < numElements; ++first) {
    int64_t at = first / step % shape[column];
    if (at % format.of != 0)
      continue;
    int64_t count = 0, end = std::min(at + format.of, shape[column]);
    for (int64_t place = at; place < end; ++place)
      count += !interpreter::isZero(
          bytes.slice((first + (place - at) * step) * size, size), hasSign);
    if (count <= format.most)
      continue;
    std::string index;
    int64_t rest = first;
    for (unsigned dim = shape.size(); dim-- > 0; rest /= shape[dim])
      index = std::to_string(rest % shape[dim]) +
              (index.empty() ? "" : ", " + index);
    return emitError(array.loc)
           << "expects structured[" << format.most << ", " << format.of
           << "], at most " << format.most << " of " << format.of
           << " neighbours along dimension " << column
           << " that are not zero, but got " << count << " from element ["
           << index << "] on";
  }
  return success();
}

/// Which elements are entries: those of blocks where some element is not zero.
static llvm::BitVector findEntries(ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> block,
                                   llvm::function_ref<bool(int64_t)> isZero,
                                   int64_t numElements) {
  llvm::BitVector isEntry(numElements);
  SmallVector<int64_t> numBlocks;
  for (auto [extent, size] : llvm::zip_equal(shape, block))
    numBlocks.push_back(llvm::divideCeil(extent, size));
  auto getBlock = [&](int64_t element) {
    int64_t number = 0, factor = 1;
    for (unsigned dim = shape.size(); dim-- > 0; element /= shape[dim]) {
      number += element % shape[dim] / block[dim] * factor;
      factor *= numBlocks[dim];
    }
    return number;
  };
  bool hasBlocks = llvm::any_of(block, [](int64_t size) { return size > 1; });
  llvm::BitVector isStored(hasBlocks ? numElements : 0);
  for (int64_t element = 0; element < numElements; ++element)
    if (!isZero(element)) {
      isEntry.set(element);
      if (hasBlocks)
        isStored.set(getBlock(element));
    }
  for (int64_t element = 0; hasBlocks && element < numElements; ++element)
    if (isStored[getBlock(element)])
      isEntry.set(element);
  return isEntry;
}

FailureOr<Stored> EntryWriter::store(ArrayId number, const Format &format) {
  auto found = known.find(number);
  if (found != known.end())
    return found->second;
  const Array array = program.arrays[number];
  auto type = cast<RankedTensorType>(array.constant.getType());
  ArrayRef<int64_t> shape = type.getShape();
  unsigned rank = shape.size();
  int64_t numRows = 1;
  for (unsigned dim : format.rows)
    numRows *= shape[dim];
  for (unsigned dim : format.columns)
    if (shape[dim] > kMaxEntries)
      return failure();
  if (type.getNumElements() == 0 || numRows > kMaxEntries)
    return failure();
  unsigned size = *interpreter::getElementBytes(array.elementType);
  bool hasSign = isa<FloatType>(array.elementType);
  // Of a value that is 0 everywhere, only the shape is looked at.
  FailureOr<interpreter::Tensor> splat =
      interpreter::Tensor::getSplat(array.constant);
  bool isEmpty =
      succeeded(splat) && interpreter::isZero(splat->getBytes(), hasSign);
  if (succeeded(splat) && !isEmpty && type.getNumElements() > kMaxEntries)
    return failure();
  FailureOr<interpreter::Tensor> tensor =
      isEmpty ? splat : interpreter::Tensor::get(array.constant);
  if (failed(tensor))
    return failure();
  ArrayRef<char> bytes = tensor->getBytes();
  if (!isEmpty && failed(checkStructure(array, format, bytes))) {
    hasError = true;
    return failure();
  }

  // Positions of elements in the order in which they are stored.
  SmallVector<int64_t> strides(rank, 1), index(rank, 0);
  for (unsigned dim = rank; dim-- > 1;)
    strides[dim - 1] = strides[dim] * shape[dim];
  SmallVector<unsigned> order(format.rows);
  llvm::append_range(order, format.columns);
  std::vector<int32_t> starts{0};
  std::vector<std::vector<int32_t>> columns(format.columns.size());
  std::vector<char> values;
  int64_t numInRow = isEmpty ? 0 : type.getNumElements() / numRows;
  llvm::BitVector isEntry = findEntries(
      shape, format.block,
      [&](int64_t place) {
        return interpreter::isZero(bytes.slice(place * size, size), hasSign);
      },
      isEmpty ? 0 : type.getNumElements());
  for (int64_t row = 0; row < numRows; ++row) {
    for (int64_t step = 0; step < numInRow; ++step) {
      int64_t place = 0;
      for (unsigned dim = 0; dim < rank; ++dim)
        place += index[dim] * strides[dim];
      if (isEntry[place]) {
        llvm::append_range(values, bytes.slice(place * size, size));
        for (auto [column, dim] : llvm::zip_equal(columns, format.columns))
          column.push_back(index[dim]);
      }
      for (unsigned dim : llvm::reverse(order)) {
        if (++index[dim] < shape[dim])
          break;
        index[dim] = 0;
      }
    }
    int64_t numEntries = values.size() / size;
    if (numEntries > kMaxEntries)
      return failure();
    starts.push_back(numEntries);
  }
  if (values.empty()) { // Of which nobody reads anything.
    values.resize(size);
    for (std::vector<int32_t> &column : columns)
      column.push_back(0);
  }
  int64_t numEntries = values.size() / size;
  Stored stored;
  stored.numEntries = numEntries;
  stored.starts = addNumbers(starts, numEntries + 1, array.loc);
  program.arrays[stored.starts].isMonotonic = true;
  for (auto [column, dim] : llvm::zip_equal(columns, format.columns))
    stored.columns.push_back(addNumbers(column, shape[dim], array.loc));
  Array list{Array::Kind::Constant, array.loc, array.elementType};
  list.extents.push_back(getAffineConstantExpr(numEntries, program.context));
  list.constant =
      interpreter::Tensor::wrap(
          RankedTensorType::get({numEntries}, array.elementType), values)
          .toAttribute();
  stored.values = program.addArray(std::move(list));
  known.try_emplace(number, stored);
  return stored;
}

StringRef EntryWriter::rewrite(Statement &statement, Expr entry) {
  unsigned rank = program.getRank(statement.target);
  ArrayId number = entry.getTensor().number;
  std::optional<Format> format = getFormat(program.arrays[number]);
  if (!format)
    return "no format of entries row by row";
  SmallVector<Expr> factors;
  if (statement.reduction == ReduceKind::Sum && statement.pieces.size() == 1 &&
      statement.pieces.front().domain.empty())
    getFactors(statement.pieces.front().value, factors);
  auto isEntry = [&](Expr e) {
    return e.getKind() == Expr::Kind::Access && e.getTensor().number == number;
  };
  if (llvm::count_if(factors, isEntry) != 1 ||
      llvm::count(getReads(statement), number) != 1)
    return "no sum of its products";
  if (statement.entries || !statement.targetIndices.empty())
    return "another list of entries";

  // Which index of the constant each dimension that is summed is. The others
  // say which row it is, of whatever form they are.
  unsigned numDims = statement.getNumDims();
  SmallVector<std::optional<unsigned>> place(numDims);
  for (unsigned position : format->columns) {
    Expr index = entry.getOperands()[position];
    if (index.getKind() != Expr::Kind::Variable || place[index.getVariable()])
      return "indices that are no loops of their own";
    place[index.getVariable()] = position;
  }
  for (unsigned dim = 0; dim < numDims; ++dim)
    if (place[dim].has_value() != (dim >= rank))
      return "a sum over other dimensions than those that are stored";
  MLIRContext *context = program.context;
  AffineExpr row = getAffineConstantExpr(0, context);
  for (unsigned position : format->rows) {
    std::optional<AffineExpr> index =
        program.affine(entry.getOperands()[position]);
    if (!index)
      return "rows at places that data says";
    row = row * program.arrays[number].extents[position] + *index;
  }
  for (unsigned dim = rank; dim < numDims; ++dim)
    if (row.isFunctionOfDim(dim))
      return "a sum over other dimensions than those that are stored";
  if (statement.recurrence && row.isFunctionOfDim(*statement.recurrence))
    return "rows that the recurrence runs over";
  FailureOr<Stored> stored = store(number, *format);
  if (failed(stored))
    return "no values, or too many";

  Expr self = variable(rank, context);
  auto read = [&](ArrayId array) {
    return access(TensorRef::operand(array), {self},
                  program.arrays[array].elementType);
  };
  Piece &piece = statement.pieces.front();
  piece.value = transform(piece.value, [&](Expr e) -> Expr {
    if (isEntry(e))
      return read(stored->values);
    if (e.getKind() != Expr::Kind::Variable || e.getVariable() < rank)
      return {};
    auto column = llvm::find(format->columns, *place[e.getVariable()]);
    return cast(IndexType::get(context),
                read(stored->columns[column - format->columns.begin()]));
  });
  statement.entries = {stored->starts, program.simplify(row)};
  statement.format = program.arrays[number].format;
  statement.extents.truncate(rank);
  statement.extents.push_back(
      getAffineConstantExpr(stored->numEntries, context));
  if (!statement.names.empty()) {
    statement.names.resize(rank);
    statement.names.push_back("e");
  }
  remark::passed(statement.loc, remark::RemarkOpts::name("SumOfEntries")
                                    .category("convert-graph-to-poly"))
      << remark::metric("Entries", stored->numEntries)
      << "products with zero are left out, whatever the other factor is";
  return "";
}

FailureOr<unsigned> EntryWriter::run(bool wanted,
                                     const llvm::DenseSet<ArrayId> &askedFor) {
  unsigned count = 0;
  for (Statement &statement : program.statements) {
    Expr entry;
    forEachAccess(statement, [&](Expr access) {
      ArrayId number = access.getTensor().number;
      if (!entry &&
          (getEncoding(program.arrays[number]) || askedFor.contains(number)))
        entry = access;
    });
    if (!entry)
      continue;
    StringRef reason =
        wanted ? rewrite(statement, entry)
               : "sums over entries, which leave out products with zero, are "
                 "not asked for";
    if (hasError)
      return failure();
    if (reason.empty())
      ++count;
    else if (wanted && askedFor.contains(entry.getTensor().number))
      return reportDense(statement.loc, reason);
    else
      remark::missed(statement.loc, remark::RemarkOpts::name("StaysDense")
                                        .category("convert-graph-to-poly"))
          << remark::metric("Reason", reason);
  }
  for (ArrayId number : llvm::seq<ArrayId>(0, program.arrays.size()))
    if (wanted && askedFor.contains(number) && !known.contains(number))
      return reportDense(program.arrays[number].loc,
                         "one that is computed of constants alone");
  return count;
}

llvm::DenseSet<ArrayId>
espalier::graphtopoly::findAskedFor(const StatementList &program) {
  llvm::DenseSet<ArrayId> askedFor;
  for (const Statement &statement : program.statements)
    forEachAccess(statement, [&](Expr access) {
      ArrayId number = access.getTensor().number;
      const Array &array = program.arrays[number];
      // Of no elements there is nothing to store.
      if (array.kind == Array::Kind::Constant && !array.mayStayDense &&
          (getEncoding(array) || array.format) &&
          cast<RankedTensorType>(array.constant.getType()).getNumElements() > 0)
        askedFor.insert(number);
    });
  return askedFor;
}

FailureOr<unsigned>
espalier::graphtopoly::storeEntries(StatementList &program, bool wanted,
                                    const llvm::DenseSet<ArrayId> &askedFor) {
  return EntryWriter(program).run(wanted, askedFor);
}
