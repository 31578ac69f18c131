//===- EGraph.h - Equal expressions in little room --------------*- C++ -*-===//
//
// An e-graph (Nelson 1980; Willsey et al., "egg", POPL 2021) over operators of
// `graph`, and whatever else a block contains. A class is a set of nodes that
// compute the same value; a node is an operator applied to classes. Equal nodes
// are one (hash-consing); when classes are united, `rebuild` unites their users
// that have become equal.
//
// An operation that is no operator instance is a node that stands for itself
// (`Operation`); its results are `Result` nodes of it. If it has side effects
// or regions, it is a barrier, and has as an operand the barrier before it:
// whatever is extracted without a cycle can then be put in the order of the
// program.
//
// Without unions it is a pool of shared expressions, which is how the
// backtracking search uses it.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_EGRAPH_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_EGRAPH_H

#include "espalier/Substitution/Search/GraphOperators.h"
#include "llvm/ADT/DenseMap.h"
#include <unordered_map>

namespace espalier::substitution {

using ClassId = unsigned;
using ENodeId = unsigned;
constexpr unsigned kNone = ~0u;

struct ENode {
  enum class Kind : uint8_t {
    Operator,  ///< `symbol` applied to operands.
    Value,     ///< A value from outside of the block.
    Operation, ///< An operation that stays as it is, with other operands.
    Result,    ///< Result `number` of the operation that is its operand.
  } kind = Kind::Operator;
  /// Of an `Operator`: name and attributes, as the e-graph numbers them.
  unsigned symbol = kNone;
  unsigned number = 0;          ///< Of a `Result`.
  const void *entity = nullptr; ///< A value or an operation.
  llvm::SmallVector<ClassId, 4> operands;
  ClassId owner = kNone; ///< The class of the node, or one united with it.
  /// Which application of a rule has made it; `kNone` if it was there.
  unsigned origin = kNone;
  /// Of a `Value`: the block is computed often, and it is the same each time.
  bool isInvariant = false;
  bool isDead = false; ///< Another node of the class is equal to it.
  mlir::Operation *source = nullptr; ///< For locations.
};

/// The name and the attributes of an operator of `graph`.
struct Symbol {
  mlir::StringAttr name;
  mlir::DictionaryAttr attributes;
  bool isCommutative = false;
};

struct EClass {
  std::vector<ENodeId> nodes;
  std::vector<ENodeId> users;
  mlir::Type
      type; ///< The most precise one that is known; null without a value.
  bool isConstant = false; ///< One of the nodes is computed ahead of time.
};

class EGraph {
public:
  explicit EGraph(mlir::MLIRContext *context) : context(context) {}

  unsigned getSymbol(llvm::StringRef name, mlir::DictionaryAttr attributes);
  const Symbol &getSymbol(unsigned symbol) const { return symbols[symbol]; }
  unsigned getNumSymbols() const { return symbols.size(); }

  ClassId find(ClassId id) const;
  /// Adds a node of this type and returns its class.
  ClassId add(ENode node, mlir::Type type);
  /// The class of a node, if it is there.
  ClassId lookup(ENode node) const;
  /// States that two classes are equal. Returns false if their types show that
  /// they are not, or if they are one. `rebuild` must follow.
  bool unite(ClassId lhs, ClassId rhs);
  void rebuild();

  /// Lets `to` stand for `from` until `restore`, in an e-graph without unions
  /// since the last `rebuild`.
  void redirect(ClassId from, ClassId to) {
    numRedirected += parents[from] == from;
    parents[from] = to;
  }
  void restore(ClassId from) {
    numRedirected -= parents[from] != from;
    parents[from] = from;
  }
  /// Leaves one node in a class.
  void keepOnly(ENodeId id);

  const EClass &operator[](ClassId id) const { return classes[find(id)]; }
  const ENode &getNode(ENodeId id) const { return nodes[id]; }
  ENode &getNode(ENodeId id) { return nodes[id]; }
  unsigned getNumNodes() const { return nodes.size(); }
  /// Class identifiers are below this; only some are canonical.
  unsigned getNumClassIds() const { return classes.size(); }
  bool isCanonical(ClassId id) const { return parents[id] == id; }
  mlir::MLIRContext *getContext() const { return context; }

  /// Whether a node is an operator that needs constants and invariant values
  /// alone and is computed ahead of time, or is such a value.
  bool isConstant(const ENode &node) const;
  /// The instance that a node of `graph` is, for the types that are known of
  /// its operands.
  std::optional<OperatorInstance> getInstance(ENodeId id) const {
    return getInstance(nodes[id]);
  }

private:
  struct Hash {
    size_t operator()(const ENode &node) const;
  };
  struct Equal {
    bool operator()(const ENode &lhs, const ENode &rhs) const;
  };
  std::optional<OperatorInstance> getInstance(const ENode &node) const;
  void canonicalize(ENode &node) const;
  void refine(ClassId id);
  void rehash(ENodeId id);

  mlir::MLIRContext *context;
  std::vector<Symbol> symbols;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, unsigned>
      knownSymbols;
  std::vector<ENode> nodes;
  std::vector<EClass> classes;
  mutable std::vector<ClassId> parents;
  unsigned numRedirected = 0;
  std::unordered_map<ENode, ENodeId, Hash, Equal> known;
  std::vector<ClassId> dirty;
};

/// The better known one of two types of equal values; null if they differ.
mlir::Type meetTypes(mlir::Type lhs, mlir::Type rhs);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_EGRAPH_H
