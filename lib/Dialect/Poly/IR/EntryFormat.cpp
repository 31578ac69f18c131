//===- EntryFormat.cpp - How sparse constants are stored ------------------===//

#include "espalier/Dialect/Poly/IR/EntryFormat.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace espalier::poly;

static constexpr std::pair<StringLiteral, EntryLists> kLists[] = {
    {"each", EntryLists::Each},
    {"union", EntryLists::Union},
    {"subsets", EntryLists::Subsets}};
static constexpr StringLiteral kOwn = "lists";

std::string EntryFormat::str() const {
  if (lists == EntryLists::Own) {
    std::string text;
    for (ArrayRef<unsigned> list : own) {
      text += text.empty() ? kOwn.str() + ":" : ",";
      llvm::raw_string_ostream os(text);
      llvm::interleave(list, os, "+");
    }
    return text;
  }
  for (auto [name, known] : kLists)
    if (known == lists)
      return (name + ":" + Twine(rows)).str();
  llvm_unreachable("all kinds of lists have a name");
}

std::vector<SmallVector<unsigned>> EntryFormat::getLists() const {
  if (lists == EntryLists::Own)
    return own;
  bool isUnion = lists == EntryLists::Union;
  std::vector<SmallVector<unsigned>> result(isUnion ? 1 : (1u << rows) - 1);
  for (auto [number, list] : llvm::enumerate(result))
    for (unsigned row = 0; row < rows; ++row)
      if (isUnion || (number + 1) >> row & 1)
        list.push_back(row);
  return result;
}

/// Reads `0+1,0,1`. Returns what is wrong with it, and nothing if all is well.
static std::string readOwnLists(StringRef text, EntryFormat &format) {
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  if (parts.size() > EntryFormat::kMaxLists)
    return "at most " + std::to_string(EntryFormat::kMaxLists) +
           " lists, but got " + std::to_string(parts.size());
  format = {EntryLists::Own, 0};
  for (StringRef part : parts) {
    SmallVector<StringRef> numbers;
    part.split(numbers, '+');
    SmallVector<unsigned> rows;
    for (StringRef number : numbers) {
      unsigned row = 0;
      if (number.getAsInteger(10, row) || row >= EntryFormat::kMaxRows)
        return "rows from 0 to " + std::to_string(EntryFormat::kMaxRows - 1) +
               " in a list, but got '" + number.str() + "'";
      rows.push_back(row);
    }
    for (unsigned i = 1; i < rows.size(); ++i)
      if (rows[i] <= rows[i - 1] || rows[i] - rows[i - 1] != rows[1] - rows[0])
        return "rows in ascending order and at equal distances in a list, but "
               "got '" +
               part.str() + "'";
    if (llvm::is_contained(format.own, rows))
      return "lists of different rows, but got '" + part.str() + "' twice";
    format.rows = std::max<int64_t>(format.rows, rows.back() + 1);
    format.own.push_back(std::move(rows));
  }
  for (unsigned row = 0; row < format.rows; ++row)
    if (llvm::none_of(format.own, [&](ArrayRef<unsigned> list) {
          return llvm::is_contained(list, row);
        }))
      return "each of rows 0 to " + std::to_string(format.rows - 1) +
             " in some list, but got row " + std::to_string(row) + " in none";
  return "";
}

std::string espalier::poly::readEntryFormat(StringRef text,
                                            EntryFormat &format) {
  StringRef lists, number;
  std::tie(lists, number) = text.split(':');
  if (lists == kOwn) {
    std::string fault = readOwnLists(number, format);
    return fault.empty() ? ""
                         : "a format of entries with " + fault + " of '" +
                               text.str() + "'";
  }
  const auto *found = llvm::find_if(
      kLists, [&](const auto &known) { return known.first == lists; });
  int64_t most = lists == "subsets" ? EntryFormat::kMaxRowsOfSubsets
                                    : EntryFormat::kMaxRows;
  int64_t rows = 0;
  if (found == std::end(kLists) || number.getAsInteger(10, rows) || rows < 1 ||
      rows > most)
    return "a format of entries, which is each:N or union:N with N from 1 to " +
           std::to_string(EntryFormat::kMaxRows) +
           ", subsets:N with N from 1 to " +
           std::to_string(EntryFormat::kMaxRowsOfSubsets) +
           ", or lists of rows such as lists:0+1,0,1, but got '" + text.str() +
           "'";
  format = {found->second, rows};
  return "";
}

std::string
espalier::poly::readEntryFormat(Attribute attr,
                                std::optional<EntryFormat> &format) {
  if (!attr)
    return "";
  auto text = dyn_cast<StringAttr>(attr);
  return readEntryFormat(text ? text.str() : debugString(attr),
                         format.emplace());
}
