//===- Classes.h - Graphs with equal fingerprints ---------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_CLASSES_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_CLASSES_H

#include "Terms.h"

namespace espalier::substitution::generator {

/// Graphs of one fingerprint, in the order of their codes.
using ClassCodes = std::vector<GraphCode>;

struct ClassCounts {
  uint64_t fingerprints = 0;
  /// Graphs beyond the first of each fingerprint.
  uint64_t equalities = 0;
};

/// Appends the classes of several graphs of a sorted shard, without those that
/// are others under a renaming of inputs.
void collectClasses(const Expressions &expressions,
                    llvm::ArrayRef<GraphRecord> shard,
                    std::vector<ClassCodes> &classes, ClassCounts &counts);

/// A graph as what its outputs are.
struct Side {
  TermList outputs; ///< In the order of their values.
  uint8_t numOperators = 0;
  uint8_t numVariables = 0;
  bool isCanonical = false; ///< Its inputs are used in order.
};

/// Translates graphs into terms.
class SideBuilder {
public:
  SideBuilder(const Expressions &expressions, Terms &terms)
      : expressions(expressions), terms(terms) {}

  Side get(const GraphCode &code);
  /// All sides of a class. Nothing if these are no graphs of the expressions,
  /// which the partition of another version need not have.
  std::optional<std::vector<Side>> get(const ClassCodes &codes);

private:
  bool isGraph(const GraphCode &code);
  TermId getTerm(TensorId tensor);
  TermId getTerm(const Application &application, unsigned part);

  const Expressions &expressions;
  Terms &terms;
  Results results;
  std::unordered_map<TensorId, TermId> known;
};

/// Whether a graph uses inputs of a shape in order: the first one first.
bool usesInputsInOrder(const Expressions &expressions, const GraphCode &code);

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_CLASSES_H
