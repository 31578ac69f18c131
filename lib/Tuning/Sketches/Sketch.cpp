//===- Sketch.cpp - Scripts with open choices -----------------------------===//

#include "espalier/Tuning/Sketch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

FailureOr<Sketch> Sketch::create(StringRef rule, OwningOpRef<ModuleOp> script,
                                 ArrayRef<SelectionLimits> limits) {
  FailureOr<SmallVector<poly::Choice>> choices = poly::getChoices(*script);
  if (failed(choices))
    return failure();
  Sketch sketch;
  sketch.rule = rule.str();
  sketch.script = std::move(script);
  for (const poly::Choice &choice : *choices) {
    auto options = dyn_cast<ArrayAttr>(choice.options);
    if (!options || options.empty())
      return sketch.script->emitError("expects a list of options for \"")
             << choice.name << "\", but got " << choice.options;
    auto *place = llvm::find(options, choice.selected);
    sketch.selected.push_back(place == options.end() ? 0
                                                     : place - options.begin());
  }
  sketch.choices = std::move(*choices);
  for (const SelectionLimits &names : limits)
    sketch.limits.push_back(sketch.findLimits(names));
  sketch.selected = sketch.repairBlocks(std::move(sketch.selected));
  return std::move(sketch);
}

Sketch::Limits Sketch::findLimits(const SelectionLimits &names) const {
  Limits found;
  std::optional<unsigned> block, tile;
  for (auto [index, choice] : llvm::enumerate(choices)) {
    if (!names.tilePrefix.empty() && choice.name.starts_with(names.tilePrefix))
      found.tiles.push_back(index);
    if (choice.name == names.block)
      block = index;
    if (choice.name == names.tile)
      tile = index;
  }
  if (block && tile)
    found.blockAndTile = {*block, *tile};
  // What the compiler does by itself is within the limit.
  found.mostPoints = std::max(names.mostPoints, countPoints(found, selected));
  return found;
}

OwningOpRef<ModuleOp> Sketch::select(const Selection &selection) const {
  // The choices of the copy are found as those of the script were.
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>((*script)->clone()));
  FailureOr<SmallVector<poly::Choice>> copied = poly::getChoices(*copy);
  for (auto [choice, option] : llvm::zip_equal(*copied, selection))
    if (failed(poly::select(choice, cast<ArrayAttr>(choice.options)[option])))
      return nullptr;
  return copy;
}

Selection Sketch::translate(ModuleOp script) const {
  Selection selection = selected;
  FailureOr<SmallVector<poly::Choice>> others = poly::getChoices(script);
  if (failed(others))
    return selection;
  for (auto [choice, option] : llvm::zip_equal(choices, selection))
    for (const poly::Choice &other : *others) {
      auto options = cast<ArrayAttr>(choice.options);
      auto *place = llvm::find(options, other.selected);
      if (other.name == choice.name && place != options.end())
        option = place - options.begin();
    }
  return selection;
}

/// 1 for what is no number.
int64_t Sketch::getNumber(unsigned choice, unsigned option) const {
  auto options = cast<ArrayAttr>(choices[choice].options);
  auto number = dyn_cast<IntegerAttr>(options[option]);
  return number ? number.getInt() : 1;
}

int64_t Sketch::countPoints(const Limits &plan,
                            const Selection &selection) const {
  int64_t points = 1;
  for (unsigned tile : plan.tiles)
    points *= getNumber(tile, selection[tile]);
  return points;
}

/// Options are in rising order.
Selection Sketch::repair(Selection selection, Random &random) const {
  for (const Limits &plan : limits)
    while (countPoints(plan, selection) > plan.mostPoints) {
      SmallVector<unsigned> large;
      for (unsigned tile : plan.tiles)
        if (selection[tile] > 0)
          large.push_back(tile);
      if (large.empty())
        break;
      --selection[large[random() % large.size()]];
    }
  return repairBlocks(std::move(selection));
}

Selection Sketch::repairBlocks(Selection selection) const {
  for (const Limits &plan : limits) {
    if (!plan.blockAndTile)
      continue;
    auto [block, tile] = *plan.blockAndTile;
    int64_t size = getNumber(tile, selection[tile]);
    unsigned wanted = selection[block];
    std::optional<unsigned> nearest;
    for (unsigned option = 0; option < getNumOptions(block); ++option)
      if (getNumber(block, option) % size == 0 &&
          (!nearest ||
           std::max(option, wanted) - std::min(option, wanted) <
               std::max(*nearest, wanted) - std::min(*nearest, wanted)))
        nearest = option;
    selection[block] = nearest.value_or(wanted);
  }
  return selection;
}

Selection Sketch::selectAny(Random &random) const {
  Selection selection;
  for (unsigned i = 0; i < choices.size(); ++i)
    selection.push_back(random() % getNumOptions(i));
  return repair(std::move(selection), random);
}

Selection Sketch::mutate(Selection selection, Random &random) const {
  if (choices.empty())
    return selection;
  for (unsigned change = 0, count = 1 + random() % 2; change < count;
       ++change) {
    unsigned choice = random() % choices.size();
    unsigned numOptions = getNumOptions(choice), &option = selection[choice];
    // A neighbour is like what was there; sometimes something else is needed.
    if (random() % 3 == 0)
      option = random() % numOptions;
    else if (option + 1 < numOptions && (option == 0 || random() % 2))
      ++option;
    else if (option > 0)
      --option;
  }
  return repair(std::move(selection), random);
}

Selection Sketch::cross(const Selection &first, const Selection &second,
                        Random &random) const {
  Selection selection = first;
  for (auto [option, other] : llvm::zip_equal(selection, second))
    if (random() % 2)
      option = other;
  return repair(std::move(selection), random);
}
