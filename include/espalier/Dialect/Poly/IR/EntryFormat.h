//===- EntryFormat.h - How sparse constants are stored ----------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_ENTRYFORMAT_H
#define ESPALIER_DIALECT_POLY_IR_ENTRYFORMAT_H

#include "mlir/IR/BuiltinAttributes.h"
#include <optional>

namespace espalier::poly {

/// Which lists of entries a group of rows has.
enum class EntryLists {
  /// One for each row, side by side and as long as the longest: rows are lanes.
  /// With one row, these are compressed rows (CSR).
  Each,
  /// One of the places where any row has an entry, with a value for each row,
  /// as in blocks.
  Union,
  /// For each subset of the rows, one of the places where these have an entry
  /// and the others of the group have none.
  Subsets,
  /// Those that the format says, each of some rows.
  Own,
};

/// How the entries of a sparse constant are stored: `rows` neighbouring rows
/// are a group, which has `lists`. Written `subsets:3`, or with lists of its
/// own, of rows 0 and 1, of row 0 and of row 1, `lists:0+1,0,1`.
struct EntryFormat {
  EntryLists lists = EntryLists::Each;
  int64_t rows = 1;
  /// The rows that each list of its own is of: an arithmetic progression. Each
  /// row is in some list.
  std::vector<llvm::SmallVector<unsigned>> own = {};

  static constexpr int64_t kMaxRows = 64, kMaxRowsOfSubsets = 4, kMaxLists = 16;

  std::string str() const;
  /// The rows that each list is of, unless rows are side by side.
  std::vector<llvm::SmallVector<unsigned>> getLists() const;
  bool operator==(const EntryFormat &other) const {
    return lists == other.lists && rows == other.rows && own == other.own;
  }
};

/// Of a constant, or of a computation that runs over its entries until kernels
/// are formed: the format, as text.
inline constexpr llvm::StringLiteral kEntriesAttr = "poly.entries";

/// Of a constant that nobody has asked to be sparse by itself, without a value:
/// it has all elements where its entries cannot be stored, which is an error of
/// others.
inline constexpr llvm::StringLiteral kMayStayDenseAttr = "poly.may_stay_dense";

/// Reads a format. Returns what is expected if it is none, and nothing if all
/// is well.
std::string readEntryFormat(llvm::StringRef text, EntryFormat &format);
/// The same for an attribute, which may be null.
std::string readEntryFormat(mlir::Attribute attr,
                            std::optional<EntryFormat> &format);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_IR_ENTRYFORMAT_H
