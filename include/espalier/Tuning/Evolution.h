//===- Evolution.h - Generations of drafts ----------------------*- C++ -*-===//
//
// The evolutionary search of Ansor (section 5.1): what is scored high has
// descendants, several times, before anything is built.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TUNING_EVOLUTION_H
#define ESPALIER_TUNING_EVOLUTION_H

#include "espalier/Tuning/Features.h"
#include "espalier/Tuning/Sketch.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace espalier::tuning {

/// A candidate that may be tried.
struct Proposal {
  unsigned sketch = 0;
  Selection selection;
  /// The script of the trial that it descends from, by mothers; empty if from
  /// none.
  std::string parent;
};

/// One that is rated.
struct Draft : Proposal {
  Features features;
  double score = 0; ///< The higher the better.
};

/// How long drafts descend from drafts.
struct Generations {
  unsigned number = 4;
  /// Drafts that are made for each.
  unsigned children = 128;
  /// Those that live on, of parents and children.
  size_t survivors = 64;
};

/// The best first; those of the same score stay in their order.
void rankDrafts(std::vector<Draft> &drafts);

/// Lets `drafts` have descendants, the best the most, and returns who lives at
/// the end, the best first. `breed` makes a descendant of two; nothing if that
/// is one that there was before. `score` rates drafts.
std::vector<Draft>
evolve(std::vector<Draft> drafts, const Generations &generations,
       llvm::function_ref<std::optional<Draft>(const Draft &, const Draft &)>
           breed,
       llvm::function_ref<void(llvm::MutableArrayRef<Draft>)> score,
       Sketch::Random &random);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_EVOLUTION_H
