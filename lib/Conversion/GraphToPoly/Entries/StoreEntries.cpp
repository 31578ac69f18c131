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
// that the sum runs over.
//
//===----------------------------------------------------------------------===//

#include "../Contraction.h"
#include "../Normalize.h"
#include "espalier/Interpreter/Tensor.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/Remarks.h"
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

  unsigned run(bool wanted);

private:
  /// The format that the type of a constant says; nothing if it is dense, or of
  /// a kind that entries row by row are not.
  std::optional<Format> getFormat(const Array &array) const;
  FailureOr<Stored> store(ArrayId array, const Format &format);
  ArrayId addNumbers(ArrayRef<int32_t> numbers, int64_t bound, Location loc);
  /// Lets `statement` run over the entries of what `access` reads. Returns why
  /// it cannot, and nothing if it can.
  StringRef rewrite(Statement &statement, Expr access);

  StatementList &program;
  llvm::DenseMap<ArrayId, Stored> known;
};

} // namespace

std::optional<Format> EntryWriter::getFormat(const Array &array) const {
  if (array.kind != Array::Kind::Constant)
    return std::nullopt;
  auto encoding = dyn_cast_or_null<sparse_tensor::SparseTensorEncodingAttr>(
      cast<RankedTensorType>(array.constant.getType()).getEncoding());
  if (!encoding)
    return std::nullopt;
  unsigned rank = array.extents.size();
  AffineMap levels = encoding.getDimToLvl();
  if (!levels)
    levels = AffineMap::getMultiDimIdentityMap(rank, program.context);
  if (!levels.isPermutation())
    return std::nullopt;
  Format format;
  for (auto [expr, type] :
       llvm::zip_equal(levels.getResults(), encoding.getLvlTypes())) {
    bool isFirst = format.columns.empty();
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (isFirst && sparse_tensor::isDenseLT(type))
      format.rows.push_back(dim);
    else if (isFirst ? sparse_tensor::isCompressedLT(type)
                     : sparse_tensor::isSingletonLT(type))
      format.columns.push_back(dim);
    else
      return std::nullopt;
  }
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
  ArrayRef<char> bytes = tensor->getBytes();
  for (int64_t row = 0; row < numRows; ++row) {
    for (int64_t step = 0; step < numInRow; ++step) {
      int64_t place = 0;
      for (unsigned dim = 0; dim < rank; ++dim)
        place += index[dim] * strides[dim];
      ArrayRef<char> element = bytes.slice(place * size, size);
      if (!interpreter::isZero(element, hasSign)) {
        llvm::append_range(values, element);
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

unsigned EntryWriter::run(bool wanted) {
  unsigned count = 0;
  for (Statement &statement : program.statements) {
    Expr entry;
    forEachAccess(statement, [&](Expr access) {
      const Array &array = program.arrays[access.getTensor().number];
      if (!entry && array.kind == Array::Kind::Constant &&
          isa_and_nonnull<sparse_tensor::SparseTensorEncodingAttr>(
              cast<RankedTensorType>(array.constant.getType()).getEncoding()))
        entry = access;
    });
    if (!entry)
      continue;
    StringRef reason =
        wanted ? rewrite(statement, entry)
               : "sums over entries, which leave out products with zero, are "
                 "not asked for";
    if (reason.empty())
      ++count;
    else
      remark::missed(statement.loc, remark::RemarkOpts::name("StaysDense")
                                        .category("convert-graph-to-poly"))
          << remark::metric("Reason", reason);
  }
  return count;
}

unsigned espalier::graphtopoly::storeEntries(StatementList &program,
                                             bool wanted) {
  return EntryWriter(program).run(wanted);
}
