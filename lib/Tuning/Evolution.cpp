//===- Evolution.cpp - Generations of drafts ------------------------------===//

#include "espalier/Tuning/Evolution.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier;
using namespace espalier::tuning;

void tuning::rankDrafts(std::vector<Draft> &drafts) {
  llvm::stable_sort(
      drafts, [](const Draft &a, const Draft &b) { return a.score > b.score; });
}

std::vector<Draft> tuning::evolve(
    std::vector<Draft> drafts, const Generations &generations,
    llvm::function_ref<std::optional<Draft>(const Draft &, const Draft &)>
        breed,
    llvm::function_ref<void(llvm::MutableArrayRef<Draft>)> score,
    Sketch::Random &random) {
  auto select = [&] {
    rankDrafts(drafts);
    if (drafts.size() > generations.survivors)
      drafts.resize(generations.survivors);
  };
  score(drafts);
  select();
  for (unsigned i = 0; i < generations.number && !drafts.empty(); ++i) {
    std::vector<Draft> children;
    for (unsigned j = 0; j < generations.children; ++j) {
      size_t one = random() % drafts.size(), other = random() % drafts.size();
      const Draft &mother = drafts[std::min(one, other)];
      const Draft &father = drafts[random() % drafts.size()];
      if (std::optional<Draft> child = breed(mother, father))
        children.push_back(std::move(*child));
    }
    score(children);
    drafts.insert(drafts.end(), std::make_move_iterator(children.begin()),
                  std::make_move_iterator(children.end()));
    select();
  }
  return drafts;
}
