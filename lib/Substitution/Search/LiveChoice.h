//===- LiveChoice.h - What a choice costs as it changes ---------*- C++ -*-===//
//
// Searches try many choices that differ in a few nodes. Here the uses of each
// class are counted, so that a change takes the time of what comes to be needed
// and what no longer is, and can be undone exactly.
//
// Cycles are not noticed: whoever wants to keep a change asks
// `Extraction::getCost`.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_LIVECHOICE_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_LIVECHOICE_H

#include "Extract.h"

namespace espalier::substitution {

class LiveChoice {
public:
  /// `choice` is valid.
  LiveChoice(const Extraction &problem, Choice choice);

  const Choice &get() const { return choice; }
  /// Without a cycle, the same as `Extraction::getCost` but for rounding.
  double getCost() const { return numMissing == 0 ? cost : kImpossible; }
  bool isNeeded(ClassId id) const { return numUses[graph.find(id)] != 0; }

  /// To be called with a cost that this choice had before, or has in truth:
  /// rounding would add up.
  void correctCost(double exact) { cost = exact; }

  /// Chooses another node for a class, and returns the one before.
  ENodeId choose(ClassId id, ENodeId node);

  /// Chooses for classes that were made since their first nodes.
  void addClasses();
  /// To be called when the e-graph has let a class stand for `from`, and in
  /// reverse order before it restores `from`.
  void redirect(ClassId from);
  void restore(ClassId from);

private:
  void addUses(ClassId id, unsigned count);
  void removeUses(ClassId id, unsigned count);
  template <typename Callback>
  void forOperands(ENodeId id, Callback callback) const;
  void count(ENodeId id, bool isNeeded);

  const EGraph &graph;
  NodeCosts &costs;
  Choice choice;
  std::vector<unsigned> numUses;
  /// How many uses were redirected, and the cost before.
  llvm::SmallVector<std::pair<unsigned, double>> moved;
  double cost = 0;
  unsigned numMissing = 0; ///< Classes that are needed and have no node.
};

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_LIVECHOICE_H
