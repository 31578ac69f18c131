//===- SparseChoices.cpp - Choices of sparse weights, as text -------------===//

#include "espalier/Dialect/Poly/IR/EntryFormat.h"
#include "espalier/Optimize/ChooseSparse.h"

using namespace espalier;

/// Their place is that of the enumerator.
static constexpr llvm::StringLiteral kOthers[] = {"none", "off", "all", "auto"};

static std::string toText(const llvm::json::Value *value) {
  std::string text = "nothing";
  if (value) {
    text.clear();
    llvm::raw_string_ostream(text) << *value;
  }
  return text;
}

static llvm::Expected<SparseChoice> readChoice(const llvm::json::Value &value,
                                               size_t number) {
  std::string place = "choice #" + std::to_string(number);
  const llvm::json::Object *object = value.getAsObject();
  if (!object)
    return llvm::createStringError(place + ": expects an object, but got " +
                                   toText(&value));
  auto node = object->getString("node");
  if (!node)
    return llvm::createStringError(place +
                                   ": expects the name of a node as node, "
                                   "but got " +
                                   toText(object->get("node")));
  place = "node '" + node->str() + "'";
  auto choice = object->getString("choice");
  if (!choice || (*choice != "sparse" && *choice != "dense"))
    return llvm::createStringError(place +
                                   ": expects sparse or dense as choice, but "
                                   "got " +
                                   toText(object->get("choice")));
  SparseChoice result{node->str(), *choice == "sparse", "", std::nullopt};
  if (const llvm::json::Value *density = object->get("density")) {
    result.density = density->getAsNumber();
    if (!result.density || !(*result.density >= 0 && *result.density <= 1))
      return llvm::createStringError(
          place + ": expects density to be a number from 0 to 1, but got " +
          toText(density));
  }
  const llvm::json::Value *format = object->get("format");
  if (!format || !result.isSparse)
    return result;
  poly::EntryFormat known;
  auto text = format->getAsString();
  result.format = text ? text->str() : toText(format);
  std::string fault = poly::readEntryFormat(result.format, known);
  if (!fault.empty())
    return llvm::createStringError(place + ": expects format to be " + fault);
  return result;
}

llvm::Expected<SparseChoices>
espalier::readSparseChoices(llvm::StringRef others, llvm::StringRef named) {
  const auto *found = llvm::find(kOthers, others);
  if (found == std::end(kOthers))
    return llvm::createStringError(
        llvm::Twine("expects one of ") +
        llvm::join(llvm::ArrayRef(kOthers), ", ") +
        " for weights that no choice is about, but got '" + others + "'");
  SparseChoices choices;
  choices.others = static_cast<OtherWeights>(found - kOthers);
  if (named.empty())
    return choices;
  llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(named);
  if (!parsed)
    return parsed.takeError();
  const llvm::json::Array *array = parsed->getAsArray();
  if (!array)
    return llvm::createStringError("expects an array of choices, but got " +
                                   toText(&*parsed));
  llvm::StringSet<> seen;
  for (auto [number, value] : llvm::enumerate(*array)) {
    llvm::Expected<SparseChoice> choice = readChoice(value, number);
    if (!choice)
      return choice.takeError();
    if (!seen.insert(choice->node).second)
      return llvm::createStringError("node '" + choice->node +
                                     "': expects one choice, but got two");
    choices.named.push_back(std::move(*choice));
  }
  return choices;
}
