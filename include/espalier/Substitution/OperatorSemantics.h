//===- OperatorSemantics.h - What operators of rules compute ----*- C++ -*-===//
//
// Each operator of the text form means a `definition::Definition`, with sizes
// that are symbols. Where `graph` has the operator, it is that one's own.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_OPERATORSEMANTICS_H
#define ESPALIER_SUBSTITUTION_OPERATORSEMANTICS_H

#include "espalier/Definition/Definition.h"
#include "espalier/Substitution/Boundaries.h"
#include "espalier/Substitution/Rule.h"
#include <memory>
#include <tuple>

namespace espalier::substitution {

/// What an index-typed parameter of a definition is, in a rule.
struct Parameter {
  enum class Kind {
    Chosen,   ///< A size of a constant, which the context decides.
    Size,     ///< The operand's extent along `dim`.
    Cut,      ///< Where the operand is split, along `dim`.
    AfterCut, ///< The operand's extent along `dim` behind the cut.
  } kind;
  unsigned dim = 0;
};

struct OperatorSemantics {
  definition::Definition definition;
  llvm::SmallVector<Parameter, 4> parameters;
};

/// What the dimensions of an operator's result run along.
Trace getTrace(const definition::Definition &definition);

/// Makes definitions and keeps them.
class SemanticsCache {
public:
  /// If `rounds`, an unknown function is around each sum, product and
  /// reduction.
  explicit SemanticsCache(mlir::MLIRContext &context, bool rounds = false)
      : context(context), rounds(rounds) {}

  /// The meaning of `node`, with a rank for each operand and, at the end, for
  /// the result. Null if it has none; `error` then says why.
  const OperatorSemantics *
  get(const RuleNode &node, llvm::ArrayRef<unsigned> ranks, std::string &error);
  mlir::MLIRContext &getContext() const { return context; }

private:
  mlir::MLIRContext &context;
  bool rounds;
  using Key = std::tuple<OpKind, std::vector<int64_t>, std::vector<unsigned>>;
  std::map<Key, std::unique_ptr<OperatorSemantics>> known;
};

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_OPERATORSEMANTICS_H
