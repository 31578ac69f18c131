//===- TrainedTrees.cpp - Models of costs as text -------------------------===//

#include "espalier/Tuning/TrainedTrees.h"
#include "espalier/Tuning/Features.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace espalier;
using namespace espalier::tuning;

namespace json = llvm::json;

//===----------------------------------------------------------------------===//
// XGBoost's text
//===----------------------------------------------------------------------===//

static llvm::Error makeForeign(const llvm::Twine &what) {
  return llvm::createStringError("trees: expects " + what +
                                 " of XGBoost, but got another model");
}

/// The member of nested objects, null if there is none.
static const json::Value *find(const json::Value *value,
                               llvm::ArrayRef<llvm::StringLiteral> path) {
  for (llvm::StringRef name : path) {
    const json::Object *object = value ? value->getAsObject() : nullptr;
    value = object ? object->get(name) : nullptr;
  }
  return value;
}

/// A list of numbers, empty if it is none.
static std::vector<double> getNumbers(const json::Value *value) {
  std::vector<double> numbers;
  if (const json::Array *list = value ? value->getAsArray() : nullptr)
    for (const json::Value &one : *list)
      numbers.push_back(one.getAsNumber().value_or(NAN));
  return numbers;
}

llvm::Expected<TreeSum> TreeSum::readXGBoost(llvm::StringRef text) {
  auto parsed = json::parse(text);
  if (!parsed)
    return parsed.takeError();
  const json::Value *base =
      find(&*parsed, {"learner", "learner_model_param", "base_score"});
  const json::Value *list =
      find(&*parsed, {"learner", "gradient_booster", "model", "trees"});
  if (!base || !base->getAsString() || !list || !list->getAsArray())
    return makeForeign("trees");
  TreeSum sum;
  // One number, or a list of it.
  double number = 0;
  if (base->getAsString()->trim("[]").getAsDouble(number))
    return makeForeign("one number");
  sum.base = number;
  for (const json::Value &one : *list->getAsArray()) {
    auto get = [&](llvm::StringLiteral name) {
      return getNumbers(find(&one, {name}));
    };
    std::vector<double> left = get("left_children"),
                        right = get("right_children"),
                        columns = get("split_indices"),
                        values = get("split_conditions");
    if (left.empty() || left.size() != right.size() ||
        left.size() != columns.size() || left.size() != values.size())
      return makeForeign("trees");
    Tree tree;
    for (auto [l, r, column, value] : llvm::zip(left, right, columns, values))
      tree.push_back(l < 0 ? Node{-1, float(value), 0, 0}
                           : Node{int(column), float(value), int(l), int(r)});
    if (!isTree(tree, 2 * kNumFeatures))
      return makeForeign("trees");
    sum.trees.push_back(std::move(tree));
  }
  return std::move(sum);
}

//===----------------------------------------------------------------------===//
// Our text
//===----------------------------------------------------------------------===//

/// Whether a walk comes to an end, and within the columns.
bool TreeSum::isTree(const Tree &tree, unsigned numColumns) {
  for (auto [number, node] : llvm::enumerate(tree)) {
    if (!std::isfinite(node.value))
      return false;
    if (node.column < 0)
      continue;
    if (unsigned(node.column) >= numColumns)
      return false;
    for (int child : {node.left, node.right})
      if (child <= int(number) || child >= int(tree.size()))
        return false;
  }
  return !tree.empty();
}

float TreeSum::predict(llvm::ArrayRef<float> row) const {
  float sum = base;
  for (const Tree &tree : trees) {
    const Node *node = tree.data();
    while (node->column >= 0)
      node = &tree[row[node->column] < node->value ? node->left : node->right];
    sum += node->value;
  }
  return sum;
}

/// As few digits as tell a float.
static json::Value writeFloat(float value) {
  double number = 0;
  llvm::StringRef(llvm::formatv("{0:e6}", value).str()).getAsDouble(number);
  return number;
}

json::Value TreeSum::write() const {
  json::Array list;
  for (const Tree &tree : trees) {
    json::Array columns, values, left, right;
    for (const Node &node : tree) {
      columns.push_back(node.column);
      values.push_back(writeFloat(node.value));
      left.push_back(node.left);
      right.push_back(node.right);
    }
    list.push_back(json::Object{{"columns", std::move(columns)},
                                {"values", std::move(values)},
                                {"left", std::move(left)},
                                {"right", std::move(right)}});
  }
  return json::Object{{"base", writeFloat(base)}, {"trees", std::move(list)}};
}

llvm::Expected<TreeSum> TreeSum::read(const json::Value &value,
                                      unsigned numColumns) {
  auto fail = [] {
    return llvm::createStringError("trees: expects a sum of trees, but got "
                                   "something else");
  };
  const json::Value *base = find(&value, {"base"});
  const json::Value *list = find(&value, {"trees"});
  if (!base || !base->getAsNumber() || !list || !list->getAsArray())
    return fail();
  TreeSum sum;
  sum.base = *base->getAsNumber();
  for (const json::Value &one : *list->getAsArray()) {
    auto get = [&](llvm::StringLiteral name) {
      return getNumbers(find(&one, {name}));
    };
    std::vector<double> columns = get("columns"), values = get("values"),
                        left = get("left"), right = get("right");
    if (columns.size() != values.size() || columns.size() != left.size() ||
        columns.size() != right.size())
      return fail();
    Tree tree;
    for (auto [column, number, l, r] : llvm::zip(columns, values, left, right))
      tree.push_back({int(column), float(number), int(l), int(r)});
    if (!isTree(tree, numColumns))
      return fail();
    sum.trees.push_back(std::move(tree));
  }
  return std::move(sum);
}

//===----------------------------------------------------------------------===//
// The file
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kFormat = "espalier-trees";

/// The features that columns are of.
static json::Array listFeatures() {
  return json::Array{
#define ESPALIER_FEATURE_NAME(name, meaning) #name,
      ESPALIER_FOR_EACH_FEATURE(ESPALIER_FEATURE_NAME)
#undef ESPALIER_FEATURE_NAME
  };
}

std::string TrainedTrees::print() const {
  return llvm::formatv("{0}\n",
                       json::Value(json::Object{{"format", kFormat},
                                                {"version", kVersion},
                                                {"features", listFeatures()},
                                                {"speed", speed.write()},
                                                {"success", success.write()}}))
      .str();
}

llvm::Expected<TrainedTrees> TrainedTrees::parse(llvm::StringRef text) {
  auto parsed = json::parse(text);
  if (!parsed)
    return llvm::createStringError("trees: " +
                                   llvm::toString(parsed.takeError()));
  const json::Value *format = find(&*parsed, {"format"});
  const json::Value *version = find(&*parsed, {"version"});
  if (!format || format->getAsString() != llvm::StringRef(kFormat))
    return llvm::createStringError("trees: expects a file of trained trees, "
                                   "but got another");
  if (!version || version->getAsInteger() != kVersion)
    return llvm::createStringError("trees: expects version " +
                                   llvm::Twine(kVersion) + ", but got another");
  const json::Value *features = find(&*parsed, {"features"});
  const json::Value *speed = find(&*parsed, {"speed"});
  const json::Value *success = find(&*parsed, {"success"});
  if (!features || *features != json::Value(listFeatures()))
    return llvm::createStringError("trees: expects the features of this build, "
                                   "but got others");
  if (!speed || !success)
    return llvm::createStringError("trees: expects 'speed' and 'success', but "
                                   "one is missing");
  auto first = TreeSum::read(*speed, 2 * kNumFeatures);
  if (!first)
    return first.takeError();
  auto second = TreeSum::read(*success, 2 * kNumFeatures);
  if (!second)
    return second.takeError();
  return TrainedTrees{std::move(*first), std::move(*second)};
}
