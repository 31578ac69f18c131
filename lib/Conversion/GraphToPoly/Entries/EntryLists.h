//===- EntryLists.h - The entries of a sparse constant ----------*- C++ -*-===//
//
// A format is a record: how many neighbouring rows are a group, and which lists
// a group has (`poly::EntryFormat`). Lists are made of the constants of a sum
// over entries, so nothing about them is claimed: what says where to read, and
// what is known of that, is computed here.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_ENTRYLISTS_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_ENTRYLISTS_H

#include "../StatementList.h"
#include "espalier/Interpreter/Tensor.h"

namespace espalier::graphtopoly {

/// The entries of a sparse constant row by row, in the order of their places.
struct EntryTable {
  llvm::SmallVector<ArrayId> columns; ///< What says where an entry is.
  ArrayId values;
  std::vector<int64_t> starts; ///< Of each row, and the end of the last.
  /// The place of each entry: a number for each array of columns.
  std::vector<std::vector<int32_t>> places;
  llvm::SmallVector<int64_t> bounds; ///< Of these numbers.
  interpreter::Tensor tensor;        ///< The values, whose bytes are:
  llvm::ArrayRef<char> bytes;
  unsigned valueBytes = 0;

  int64_t countRows() const { return starts.size() - 1; }
  /// -1, 0 or 1, as the place of one entry is before, at or behind another's.
  int compare(int64_t lhs, int64_t rhs) const {
    for (const std::vector<int32_t> &column : places)
      if (column[lhs] != column[rhs])
        return column[lhs] < column[rhs] ? -1 : 1;
    return 0;
  }
  /// The first place where `row` has no entry; nothing if it has all.
  std::optional<llvm::SmallVector<int32_t>> findGap(int64_t row) const;
};

/// Reads the lists of the sum over entries `sum`. Fails if it runs over
/// anything else, if what it reads beside them depends on the dimension `row`,
/// or if the lists are no constants, or not of rows of different places in
/// their order.
mlir::FailureOr<EntryTable> readEntryTable(const StatementList &program,
                                           const Statement &sum,
                                           std::optional<unsigned> row);

/// The only read of `sum` with indices that data says; nothing if there are
/// none or several.
std::optional<Expr> findReadAtData(const Statement &sum);
/// The first of these indices.
unsigned getFirstDataIndex(Expr read);

/// One list of every group of rows.
struct EntryList {
  llvm::SmallVector<unsigned> rows; ///< Of the group, that the list is of.
  bool hasOwnPlaces = false;        ///< Whether each row has places of its own.
  std::vector<int32_t> starts{0};   ///< Of each group, and the end of the last.
  /// Place after place, the entry of each row; -1 stands for a zero.
  std::vector<int64_t> entries;

  int64_t countPlaces() const { return starts.back(); }
};

/// Makes the lists of a format, without those that no group has. The number of
/// rows is a multiple of a group's.
llvm::SmallVector<EntryList> makeEntryLists(const EntryTable &table,
                                            const poly::EntryFormat &format);

/// Adds a constant of `shape` that has the elements `bytes`.
ArrayId addEntryArray(StatementList &program, mlir::Location loc,
                      mlir::Type type, llvm::ArrayRef<int64_t> shape,
                      llvm::ArrayRef<char> bytes);
/// One of numbers from 0 to less than `bound`.
ArrayId addPlaces(StatementList &program, mlir::Location loc,
                  llvm::ArrayRef<int32_t> numbers, int64_t bound);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_ENTRYLISTS_H
