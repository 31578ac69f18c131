//===- EntryLists.cpp - The entries of a sparse constant ------------------===//

#include "EntryLists.h"
#include "espalier/Interpreter/Tensor.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static FailureOr<interpreter::Tensor> getVector(const Array &array) {
  if (array.kind != Array::Kind::Constant || array.extents.size() != 1 ||
      array.layout || array.reshapeOf)
    return failure();
  return interpreter::Tensor::get(array.constant);
}

/// The elements of a constant list of 32-bit numbers.
static FailureOr<std::vector<int32_t>> getNumbers(const Array &array) {
  FailureOr<interpreter::Tensor> tensor = getVector(array);
  if (failed(tensor) || !tensor->getElementType().isInteger(32))
    return failure();
  std::vector<int32_t> numbers(tensor->getNumElements());
  if (!numbers.empty())
    std::memcpy(numbers.data(), tensor->getBytes().data(),
                tensor->getBytes().size());
  return numbers;
}

/// Finds the lists that are read at the entries of `sum`.
static LogicalResult findLists(const Statement &sum,
                               std::optional<unsigned> row, EntryTable &table) {
  unsigned entry = sum.getNumDims() - 1;
  bool hasOthers = false;
  std::optional<ArrayId> values;
  auto isOfEntry = [&](Expr e) {
    return e.getKind() == Expr::Kind::Access && e.getOperands().size() == 1 &&
           e.getOperands()[0].getKind() == Expr::Kind::Variable &&
           e.getOperands()[0].getVariable() == entry;
  };
  auto visit = [&](auto &self, Expr e, bool isInIndex) -> void {
    if (isOfEntry(e)) {
      ArrayId array = e.getTensor().number;
      if (isInIndex) {
        if (!llvm::is_contained(table.columns, array))
          table.columns.push_back(array);
      } else {
        hasOthers |= values && *values != array;
        values = array;
      }
      return;
    }
    hasOthers |= e.getKind() == Expr::Kind::Variable &&
                 (e.getVariable() == entry || e.getVariable() == row);
    for (Expr operand : e.getOperands())
      self(self, operand, isInIndex || e.getKind() == Expr::Kind::Access);
  };
  visit(visit, sum.pieces.front().value, false);
  // Without columns there is a single place.
  if (!values || hasOthers || llvm::is_contained(table.columns, *values))
    return failure();
  table.values = *values;
  return success();
}

/// Whether rows begin one after the other, and have different places in order.
static bool isOrdered(const EntryTable &table) {
  int64_t numEntries = table.bytes.size() / table.valueBytes;
  for (auto [column, bound] : llvm::zip_equal(table.places, table.bounds)) {
    if (int64_t(column.size()) != numEntries)
      return false;
    for (int32_t number : column)
      if (number < 0 || number >= bound)
        return false;
  }
  if (table.starts.front() < 0 || table.starts.back() > numEntries)
    return false;
  for (int64_t row = 0; row < table.countRows(); ++row) {
    if (table.starts[row] > table.starts[row + 1])
      return false;
    for (int64_t e = table.starts[row] + 1; e < table.starts[row + 1]; ++e)
      if (table.compare(e - 1, e) >= 0)
        return false;
  }
  return true;
}

FailureOr<EntryTable>
espalier::graphtopoly::readEntryTable(const StatementList &program,
                                      const Statement &sum,
                                      std::optional<unsigned> row) {
  EntryTable table;
  if (sum.getNumDims() != program.getRank(sum.target) + 1 ||
      sum.pieces.size() != 1 || !sum.pieces.front().domain.empty() ||
      failed(findLists(sum, row, table)))
    return failure();
  FailureOr<std::vector<int32_t>> starts =
      getNumbers(program.arrays[sum.entries->starts]);
  if (failed(starts) || starts->size() < 2)
    return failure();
  // In order before anything is looked up there.
  if (!llvm::is_sorted(*starts))
    return failure();
  table.starts.assign(starts->begin(), starts->end());
  for (ArrayId array : table.columns) {
    FailureOr<std::vector<int32_t>> numbers = getNumbers(program.arrays[array]);
    if (failed(numbers) || !program.arrays[array].bound)
      return failure();
    table.places.push_back(std::move(*numbers));
    table.bounds.push_back(*program.arrays[array].bound);
  }
  FailureOr<interpreter::Tensor> values =
      getVector(program.arrays[table.values]);
  if (failed(values))
    return failure();
  // Of equal values, the attribute has one alone: the tensor holds all.
  table.tensor = *values;
  table.bytes = table.tensor.getBytes();
  table.valueBytes = *interpreter::getElementBytes(values->getElementType());
  if (!isOrdered(table))
    return failure();
  return table;
}

static bool dependsOnData(Expr index) {
  bool depends = false;
  walk(index, [&](Expr e) { depends |= e.getKind() == Expr::Kind::Access; });
  return depends;
}

unsigned espalier::graphtopoly::getFirstDataIndex(Expr read) {
  return llvm::find_if(read.getOperands(), dependsOnData) -
         read.getOperands().begin();
}

std::optional<Expr>
espalier::graphtopoly::findReadAtData(const Statement &sum) {
  std::optional<Expr> read;
  bool isOnly = true;
  forEachAccess(sum, [&](Expr access) {
    if (llvm::none_of(access.getOperands(), dependsOnData))
      return;
    isOnly &= !read || read->getNode() == access.getNode();
    read = access;
  });
  return isOnly ? read : std::nullopt;
}

std::optional<SmallVector<int32_t>> EntryTable::findGap(int64_t row) const {
  SmallVector<int32_t> place(places.size(), 0);
  for (int64_t e = starts[row]; e < starts[row + 1]; ++e) {
    bool isHere =
        llvm::all_of(llvm::seq<size_t>(0, places.size()),
                     [&](auto i) { return places[i][e] == place[i]; });
    if (!isHere)
      return place;
    unsigned last = place.size();
    while (last > 0 && ++place[last - 1] == bounds[last - 1])
      place[--last] = 0;
    if (last == 0)
      return std::nullopt;
  }
  return place;
}

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

/// A list for each row, side by side.
static EntryList makeRowLists(const EntryTable &table, int64_t numRows) {
  EntryList list;
  list.hasOwnPlaces = true;
  llvm::append_range(list.rows, llvm::seq<unsigned>(0, numRows));
  for (int64_t first = 0; first < table.countRows(); first += numRows) {
    int64_t longest = 0;
    for (int64_t row = first; row < first + numRows; ++row)
      longest = std::max(longest, table.starts[row + 1] - table.starts[row]);
    for (int64_t number = 0; number < longest; ++number)
      for (int64_t row = first; row < first + numRows; ++row) {
        int64_t entry = table.starts[row] + number;
        list.entries.push_back(entry < table.starts[row + 1] ? entry : -1);
      }
    list.starts.push_back(list.starts.back() + longest);
  }
  return list;
}

/// Calls `visit` with the entries of a group of rows at each place where some
/// of them have one, and -1 for the others.
static void forEachPlace(const EntryTable &table, int64_t first,
                         int64_t numRows,
                         llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  SmallVector<int64_t> next(numRows), entries(numRows);
  for (int64_t r = 0; r < numRows; ++r)
    next[r] = table.starts[first + r];
  while (true) {
    int64_t least = -1;
    for (int64_t r = 0; r < numRows; ++r) {
      entries[r] = -1;
      if (next[r] == table.starts[first + r + 1])
        continue;
      int order = least < 0 ? -1 : table.compare(next[r], least);
      if (order < 0) {
        std::fill_n(entries.begin(), r, -1);
        least = next[r];
      }
      if (order <= 0)
        entries[r] = next[r];
    }
    if (least < 0)
      return;
    visit(entries);
    for (int64_t r = 0; r < numRows; ++r)
      next[r] += entries[r] >= 0;
  }
}

/// The list that is to have the entries of a place: of those that have most of
/// them, the one with the fewest rows. Null if no entry is left.
static EntryList *findList(MutableArrayRef<EntryList> lists,
                           ArrayRef<int64_t> entries) {
  EntryList *best = nullptr;
  std::pair<int64_t, int64_t> most(0, 0); // Entries, then rows that have none.
  for (EntryList &list : lists) {
    int64_t count = llvm::count_if(
        list.rows, [&](unsigned row) { return entries[row] >= 0; });
    std::pair<int64_t, int64_t> score(count, -int64_t(list.rows.size()));
    if (count > 0 && (!best || score > most)) {
      best = &list;
      most = score;
    }
  }
  return best;
}

SmallVector<EntryList>
espalier::graphtopoly::makeEntryLists(const EntryTable &table,
                                      const poly::EntryFormat &format) {
  int64_t numRows = format.rows;
  if (format.lists == poly::EntryLists::Each)
    return {makeRowLists(table, numRows)};
  std::vector<SmallVector<unsigned>> rows = format.getLists();
  SmallVector<EntryList> lists(rows.size());
  for (auto [list, own] : llvm::zip_equal(lists, rows))
    list.rows = own;
  for (int64_t first = 0; first < table.countRows(); first += numRows) {
    forEachPlace(table, first, numRows, [&](ArrayRef<int64_t> entries) {
      SmallVector<int64_t> left(entries);
      while (EntryList *list = findList(lists, left))
        for (unsigned r : list->rows)
          list->entries.push_back(std::exchange(left[r], -1));
    });
    for (EntryList &list : lists)
      list.starts.push_back(list.entries.size() / list.rows.size());
  }
  llvm::erase_if(lists,
                 [](const EntryList &list) { return list.entries.empty(); });
  return lists;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

ArrayId espalier::graphtopoly::addEntryArray(StatementList &program,
                                             Location loc, Type type,
                                             ArrayRef<int64_t> shape,
                                             ArrayRef<char> bytes) {
  Array array{Array::Kind::Constant, loc, type};
  for (int64_t extent : shape)
    array.extents.push_back(getAffineConstantExpr(extent, program.context));
  array.constant =
      interpreter::Tensor::wrap(RankedTensorType::get(shape, type), bytes)
          .toAttribute();
  return program.addArray(std::move(array));
}

ArrayId espalier::graphtopoly::addPlaces(StatementList &program, Location loc,
                                         ArrayRef<int32_t> numbers,
                                         int64_t bound) {
  ArrayId added =
      addEntryArray(program, loc, IntegerType::get(program.context, 32),
                    {int64_t(numbers.size())},
                    {reinterpret_cast<const char *>(numbers.data()),
                     numbers.size() * sizeof(int32_t)});
  program.arrays[added].bound = bound;
  return added;
}
