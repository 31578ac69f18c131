//===- Guards.h - Conditions on sizes, as text ------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_PROOF_GUARDS_H
#define ESPALIER_LIB_PROOF_GUARDS_H

#include "Statement.h"

namespace espalier::proof {

/// Reads conditions. What they say has alternatives; nothing if the text has a
/// fault. What speaks of an extent that a tensor does not have is false.
class GuardReader {
public:
  /// The instances may be known in part.
  GuardReader(const Statement &statement,
              const std::vector<Instance> &instances)
      : statement(statement), instances(instances) {}

  std::optional<std::vector<Clause>> read(llvm::StringRef text);

  /// The extent that one of the text's clauses is an equation for, whose other
  /// side is known: what the condition says that a size of a constant is.
  std::optional<Index> getDefinition(llvm::StringRef text,
                                     llvm::StringRef extent);

private:
  std::optional<Clause> readClause();
  std::optional<Conditions> readAtom();
  std::optional<Index> readSum();
  std::optional<Index> readProduct();
  std::optional<Index> readFactor();
  std::optional<Index> readTerm(llvm::StringRef kind);
  std::optional<Index> divide(const Index &lhs, const Index &rhs, bool isExact);
  void split(llvm::StringRef text);
  bool consume(llvm::StringRef token);
  bool opensAlternatives() const;

  const Statement &statement;
  const std::vector<Instance> &instances;
  std::vector<std::string> tokens;
  size_t next = 0;
  unsigned depth = 0;
  Conditions defined;     ///< Where the sizes of an atom have a value.
  bool isMissing = false; ///< An atom speaks of what is not there.
};

} // namespace espalier::proof

#endif // ESPALIER_LIB_PROOF_GUARDS_H
