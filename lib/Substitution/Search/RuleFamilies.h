//===- RuleFamilies.h - What rules take for granted -------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_RULEFAMILIES_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_RULEFAMILIES_H

#include "Match.h"
#include <memory>

namespace espalier::substitution {

/// Rules of families that have too many members to be listed, such as slices of
/// slices. Each is proved when it is asked for the first time.
class FamilyRules {
public:
  /// The rule, ready to be applied; null if it is not proved.
  const RulePattern *prove(const Rule &rule);

private:
  struct Proved {
    ProvedRule rule;
    std::unique_ptr<RulePattern> pattern; ///< Null if it is not proved.
  };
  std::unique_ptr<Verifier> verifier; ///< Made when it is needed.
  Recognizer recognizer;
  std::map<std::string, std::unique_ptr<Proved>> known; ///< By text.
};

/// Adds equal nodes of the forms that rules speak of, to what is said in other
/// ways. Returns whether anything was new.
bool addFamilyMembers(EGraph &graph, FamilyRules &rules, unsigned maxNodes);
/// The classes of such nodes that are equal to one.
llvm::SmallVector<ClassId, 2> findFamilyMembers(EGraph &graph,
                                                FamilyRules &rules, ENodeId id);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_RULEFAMILIES_H
