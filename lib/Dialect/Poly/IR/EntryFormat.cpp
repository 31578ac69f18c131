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

std::string EntryFormat::str() const {
  for (auto [name, known] : kLists)
    if (known == lists)
      return (name + ":" + Twine(rows)).str();
  llvm_unreachable("all kinds of lists have a name");
}

std::string espalier::poly::readEntryFormat(StringRef text,
                                            EntryFormat &format) {
  StringRef lists, number;
  std::tie(lists, number) = text.split(':');
  const auto *found = llvm::find_if(
      kLists, [&](const auto &known) { return known.first == lists; });
  int64_t most = lists == "subsets" ? EntryFormat::kMaxRowsOfSubsets
                                    : EntryFormat::kMaxRows;
  int64_t rows = 0;
  if (found == std::end(kLists) || number.getAsInteger(10, rows) || rows < 1 ||
      rows > most)
    return "a format of entries, which is each:N or union:N with N from 1 to " +
           std::to_string(EntryFormat::kMaxRows) +
           ", or subsets:N with N from 1 to " +
           std::to_string(EntryFormat::kMaxRowsOfSubsets) + ", but got '" +
           text.str() + "'";
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
