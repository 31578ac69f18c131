//===- SymbolicSizes.h - Shapes that fit both sides of a rule ---*- C++ -*-===//
//
// Draws sizes of the inputs and constants of two graphs such that both are well
// typed and their outputs agree in shape. Sizes are symbols; most of what
// typing asks is an equation between symbols, and what is left (divisibility by
// groups, windows that fit) is met by drawing again.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_SYMBOLICSIZES_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_SYMBOLICSIZES_H

#include "Terms.h"
#include "espalier/Substitution/OperatorSemantics.h"

namespace espalier::substitution::generator {

/// What is assumed of the operators of an equation.
struct Condition {
  bool hasOneGroup = false;     ///< Of all convolutions.
  bool hasEqualWeights = false; ///< In features and channels, and of groups.
  /// Constants keep the extent of what they are multiplied with.
  bool hasSquareConstants = false;

  bool isNone() const {
    return !hasOneGroup && !hasEqualWeights && !hasSquareConstants;
  }
  bool operator==(Condition other) const {
    return hasOneGroup == other.hasOneGroup &&
           hasEqualWeights == other.hasEqualWeights &&
           hasSquareConstants == other.hasSquareConstants;
  }
};

class SymbolicSizes {
public:
  SymbolicSizes(const Terms &terms, const TermPair &pair, Condition condition);

  /// Whether the sides can be typed at all, as far as equations tell.
  bool isPossible() const { return possible; }
  /// Draws shapes of variables and constants.
  void draw(Random &random);
  /// The shape that was drawn; nothing if it is impossible.
  std::optional<Shape> getShape(TermId term) const;

private:
  using Dim = unsigned;
  enum class DimKind : uint8_t {
    // Symbols; of two that are equal, the kind that comes first counts.
    Kernel,
    Groups,
    Extent,
    Image,
    // Others.
    Number,
    Sum,
    Difference,
    Product,
    Derived, ///< What number `lhs` of `extents` is.
  };
  struct DimNode {
    DimKind kind;
    Dim lhs = 0, rhs = 0;
    int number = 0;
    Dim link;
    int value = 0;
  };
  using Dims = llvm::SmallVector<Dim, 3>;
  struct Type {
    unsigned rank = 0;
    std::array<Dim, kRank> dims{};
    std::array<Dims, kRank> boundaries;
  };
  /// An expression, and the operands whose extents it is made of; of a
  /// constant, its own.
  struct Extent {
    definition::Expr expr;
    const OperatorSemantics *semantics;
    std::array<Type, 2> types;
  };

  Dim add(DimKind kind, Dim lhs = 0, Dim rhs = 0, int number = 0);
  /// Equal numbers are one node.
  Dim addNumber(int number);
  Dim find(Dim dim) const;
  bool isSymbol(Dim dim) const { return nodes[dim].kind <= DimKind::Image; }
  bool occurs(Dim symbol, Dim in) const;
  void unify(Dim lhs, Dim rhs);
  void unify(const Type &lhs, const Type &rhs);
  int evaluate(Dim dim, Random &random);
  int evaluate(const Extent &extent, const definition::Expr &leaf,
               Random &random);

  Type addSymbols(const Shape &shape, bool isWeight);
  Type infer(TermId term);
  Dim translate(const definition::Expr &expr,
                const OperatorSemantics &semantics);
  Dim translate(Parameter parameter);
  void assumeSquare(TermId term);
  void drawGroups();
  Dim getRest(unsigned dim);
  // Boundaries of results: along the axis of a concatenation or of a part of
  // one, and along other dimensions.
  Dims join(unsigned axis);
  Dims cut(unsigned axis, unsigned part) const;
  Dims getCommon(llvm::ArrayRef<std::pair<unsigned, unsigned>> sources);

  const Terms &terms;
  Condition condition;
  bool possible = true;
  std::vector<DimNode> nodes;
  std::map<int, Dim> numbers;
  std::vector<Extent> extents;
  std::map<TermId, Type> types;
  std::array<Type *, 2> operands;
  Type chosen; ///< Of a constant.
  std::optional<std::array<Dim, 2>> firstWeight;
  std::optional<Dim> sharedGroups;
};

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_SYMBOLICSIZES_H
