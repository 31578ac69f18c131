//===- SymbolicSizes.cpp - Shapes that fit both sides of a rule -----------===//

#include "SymbolicSizes.h"
#include "Derived.h"
#include <algorithm>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

SymbolicSizes::SymbolicSizes(const Terms &terms, const TermPair &pair,
                             Condition condition)
    : terms(terms), condition(condition) {
  TermList roots = pair.lhs;
  roots.append(pair.rhs.begin(), pair.rhs.end());
  for (TermId term : terms.getPostOrder(roots)) {
    unsigned i = 0;
    operands.fill(nullptr);
    for (TermId operand : terms.getOperands(term))
      operands[i++] = &types[operand];
    types[term] = infer(term);
    if (!possible)
      return;
  }
  for (unsigned i = 0; i < pair.lhs.size(); ++i)
    unify(types[pair.lhs[i]], types[pair.rhs[i]]);
}

//===----------------------------------------------------------------------===//
// Equations
//===----------------------------------------------------------------------===//

SymbolicSizes::Dim SymbolicSizes::add(DimKind kind, Dim lhs, Dim rhs,
                                      int number) {
  DimNode node;
  node.kind = kind;
  node.lhs = lhs;
  node.rhs = rhs;
  node.number = number;
  node.link = nodes.size();
  nodes.push_back(node);
  return node.link;
}

SymbolicSizes::Dim SymbolicSizes::addNumber(int number) {
  auto [known, isNew] = numbers.try_emplace(number, nodes.size());
  return isNew ? add(DimKind::Number, 0, 0, number) : known->second;
}

SymbolicSizes::Dim SymbolicSizes::find(Dim dim) const {
  while (nodes[dim].link != dim)
    dim = nodes[dim].link;
  return dim;
}

bool SymbolicSizes::occurs(Dim symbol, Dim in) const {
  in = find(in);
  if (in == symbol)
    return true;
  if (nodes[in].kind == DimKind::Derived)
    return llvm::any_of(extents[nodes[in].lhs].types, [&](const Type &type) {
      return llvm::any_of(llvm::ArrayRef(type.dims).take_front(type.rank),
                          [&](Dim dim) { return occurs(symbol, dim); });
    });
  return nodes[in].kind > DimKind::Number &&
         (occurs(symbol, nodes[in].lhs) || occurs(symbol, nodes[in].rhs));
}

/// What has no solution by substitution is left to drawing.
void SymbolicSizes::unify(Dim lhs, Dim rhs) {
  lhs = find(lhs);
  rhs = find(rhs);
  if (lhs == rhs)
    return;
  if (nodes[lhs].kind < nodes[rhs].kind)
    std::swap(lhs, rhs); // Of two symbols, the stronger one remains.
  if (isSymbol(lhs) && isSymbol(rhs)) {
    nodes[lhs].link = rhs;
    return;
  }
  if (isSymbol(rhs)) {
    if (!occurs(rhs, lhs))
      nodes[rhs].link = lhs;
    return;
  }
  if (nodes[lhs].kind != nodes[rhs].kind)
    return;
  if (nodes[lhs].kind == DimKind::Number) {
    possible &= nodes[lhs].number == nodes[rhs].number;
  } else if (nodes[lhs].kind == DimKind::Sum ||
             nodes[lhs].kind == DimKind::Difference ||
             nodes[lhs].kind == DimKind::Product) {
    if (find(nodes[lhs].lhs) == find(nodes[rhs].lhs))
      unify(nodes[lhs].rhs, nodes[rhs].rhs);
    else if (find(nodes[lhs].rhs) == find(nodes[rhs].rhs))
      unify(nodes[lhs].lhs, nodes[rhs].lhs);
  }
}

void SymbolicSizes::unify(const Type &lhs, const Type &rhs) {
  possible &= lhs.rank == rhs.rank;
  for (unsigned i = 0; i < lhs.rank && possible; ++i)
    unify(lhs.dims[i], rhs.dims[i]);
}

//===----------------------------------------------------------------------===//
// Typing
//===----------------------------------------------------------------------===//

SymbolicSizes::Type SymbolicSizes::addSymbols(const Shape &shape,
                                              bool isWeight) {
  Type type;
  type.rank = shape.rank;
  for (unsigned i = 0; i < shape.rank; ++i)
    type.dims[i] = add(i < 2 || shape.rank < 4 ? DimKind::Extent
                       : isWeight              ? DimKind::Kernel
                                               : DimKind::Image);
  return type;
}

/// What is divided into groups is drawn as a product.
void SymbolicSizes::drawGroups() {
  Dim channels = find(operands[0]->dims[1]);
  Dim groupChannels = find(operands[1]->dims[1]);
  Dim features = find(operands[1]->dims[0]);
  if (condition.hasEqualWeights) {
    if (firstWeight) {
      unify(features, (*firstWeight)[0]);
      unify(groupChannels, (*firstWeight)[1]);
    }
    firstWeight = {features, groupChannels};
  }
  if (condition.hasOneGroup) {
    unify(channels, groupChannels);
  } else if (isSymbol(channels) && channels != groupChannels) {
    // Convolutions of equal weights have equally many groups too.
    Dim groups = condition.hasEqualWeights && sharedGroups
                     ? *sharedGroups
                     : add(DimKind::Groups);
    sharedGroups = groups;
    unify(channels, add(DimKind::Product, groups, groupChannels));
    features = find(features);
    if (isSymbol(features) && !occurs(features, channels))
      unify(features, add(DimKind::Product, groups, add(DimKind::Groups)));
  }
}

/// The extent behind the last boundary of a dimension of the first operand.
SymbolicSizes::Dim SymbolicSizes::getRest(unsigned dim) {
  Dim cut = operands[0]->boundaries[dim].back();
  Dim size = find(operands[0]->dims[dim]);
  if (nodes[size].kind == DimKind::Sum && find(nodes[size].lhs) == find(cut))
    return nodes[size].rhs;
  Dim rest = add(DimKind::Extent);
  unify(size, add(DimKind::Sum, cut, rest));
  return rest;
}

SymbolicSizes::Dims SymbolicSizes::join(unsigned axis) {
  Dims joined = operands[0]->boundaries[axis];
  Dim cut = operands[0]->dims[axis];
  for (Dim at : operands[1]->boundaries[axis])
    joined.push_back(add(DimKind::Sum, cut, at));
  joined.push_back(cut);
  return joined;
}

/// Which older boundaries lie in a part follows from how they came about.
SymbolicSizes::Dims SymbolicSizes::cut(unsigned axis, unsigned part) const {
  Dims kept, all = operands[0]->boundaries[axis];
  Dim cut = all.pop_back_val();
  for (Dim at : all) {
    const DimNode &node = nodes[find(at)];
    bool isBehind = node.kind == DimKind::Sum && find(node.lhs) == find(cut);
    if (isBehind == (part == 1))
      kept.push_back(isBehind ? node.rhs : at);
  }
  return kept;
}

/// What all that a dimension runs along have in common, which are equal where
/// they are equally many.
SymbolicSizes::Dims SymbolicSizes::getCommon(
    llvm::ArrayRef<std::pair<unsigned, unsigned>> sources) {
  Dims common;
  for (auto [operand, dim] : sources) {
    const Dims &other = operands[operand]->boundaries[dim];
    if (operand == sources.front().first)
      common = other;
    else if (common.size() != other.size())
      common.clear();
    for (auto [lhs, rhs] : llvm::zip(common, other))
      unify(lhs, rhs);
  }
  return common;
}

SymbolicSizes::Dim SymbolicSizes::translate(Parameter parameter) {
  switch (parameter.kind) {
  case Parameter::Kind::Chosen:
    return chosen.dims[parameter.dim];
  case Parameter::Kind::Size:
    return operands[0]->dims[parameter.dim];
  case Parameter::Kind::Cut:
    return operands[0]->boundaries[parameter.dim].back();
  case Parameter::Kind::AfterCut:
    return getRest(parameter.dim);
  }
  llvm_unreachable("every kind is handled above");
}

/// An extent as a node: sums and differences as such, and the rest as it
/// stands.
SymbolicSizes::Dim
SymbolicSizes::translate(const definition::Expr &expr,
                         const OperatorSemantics &semantics) {
  using definition::Expr;
  using definition::ScalarFn;
  llvm::ArrayRef<Expr> args = expr.getOperands();
  switch (expr.getKind()) {
  case Expr::Kind::Size:
    return operands[expr.getTensor().number]->dims[expr.getNumber()];
  case Expr::Kind::Parameter:
    return translate(semantics.parameters[expr.getNumber()]);
  case Expr::Kind::Constant:
    return addNumber(expr.getInt().value_or(0));
  case Expr::Kind::Cast:
    return translate(args[0], semantics);
  case Expr::Kind::Apply:
    if (expr.getFn() == ScalarFn::Add || expr.getFn() == ScalarFn::Sub) {
      Dim lhs = translate(args[0], semantics);
      Dim rhs = translate(args[1], semantics);
      return add(expr.getFn() == ScalarFn::Add ? DimKind::Sum
                                               : DimKind::Difference,
                 lhs, rhs);
    }
    break;
  default:
    break;
  }
  Extent extent{expr, &semantics, {chosen, Type()}};
  for (auto [type, operand] : llvm::zip_equal(extent.types, operands))
    if (operand)
      type = *operand;
  extents.push_back(std::move(extent));
  return add(DimKind::Derived, extents.size() - 1);
}

SymbolicSizes::Type SymbolicSizes::infer(TermId term) {
  if (terms[term].isVariable()) {
    const LeafTemplate &leaf = terms.getLeaf(term);
    return addSymbols(leaf.shape, leaf.isWeight);
  }
  const ConcreteOperator &operation = terms.getOperation(term);
  const OperatorInfo &info = getInfo(operation.kind);
  llvm::SmallVector<unsigned, 2> ranks;
  for (unsigned i = 0; i < info.numOperands; ++i)
    ranks.push_back(operands[i]->rank);
  const DerivedOperator::AtRank *at = operation.getDerived().get(ranks);
  unsigned axis = operation.axis;
  if (!at || (info.has(kCut) && operands[0]->boundaries[axis].empty())) {
    possible = false;
    return Type();
  }
  if (info.isConstant())
    chosen = addSymbols(operation.constantShape, !info.params.empty());
  if (condition.hasSquareConstants)
    assumeSquare(term);
  if (info.has(kGroups))
    drawGroups();
  using definition::Requirement;
  for (const Requirement &requirement : at->semantics->definition.requirements)
    if (requirement.kind == Requirement::Kind::Equal)
      unify(translate(requirement.value, *at->semantics),
            translate(requirement.bound, *at->semantics));
  Type type;
  for (const definition::IndexVar &index : at->getResult().indices) {
    type.boundaries[type.rank] = getCommon(at->trace[type.rank]);
    type.dims[type.rank++] = translate(index.extent, *at->semantics);
  }
  if (info.has(kJoin))
    type.boundaries[axis] = join(axis);
  if (info.has(kCut))
    type.boundaries[axis] = cut(axis, operation.part);
  return type;
}

void SymbolicSizes::assumeSquare(TermId term) {
  if (terms[term].numOperands != 2)
    return;
  auto isConstant = [&](unsigned i) {
    TermId operand = terms[term].operands[i];
    return !terms[operand].isVariable() && terms[operand].numOperands == 0;
  };
  const OperatorInfo &info = getInfo(terms.getOperation(term).kind);
  for (unsigned i = 0; i < 2 && info.isProduct(); ++i)
    if (isConstant(i) && !info.has(kGroups))
      unify(operands[i]->dims[0], operands[i]->dims[1]);
    else if (isConstant(i) && i == 1)
      unify(operands[0]->dims[1], operands[1]->dims[0]);
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

/// What an expression is made of.
int SymbolicSizes::evaluate(const Extent &extent, const definition::Expr &leaf,
                            Random &random) {
  if (leaf.getKind() == definition::Expr::Kind::Size)
    return evaluate(
        extent.types[leaf.getTensor().number].dims[leaf.getNumber()], random);
  Parameter parameter = extent.semantics->parameters[leaf.getNumber()];
  const Type &type = extent.types[0];
  int size = evaluate(type.dims[parameter.dim], random);
  if (parameter.kind == Parameter::Kind::Chosen ||
      parameter.kind == Parameter::Kind::Size)
    return size;
  int cut = evaluate(type.boundaries[parameter.dim].back(), random);
  return parameter.kind == Parameter::Kind::Cut ? cut : size - cut;
}

/// An impossible size is 0, or negative.
int SymbolicSizes::evaluate(Dim dim, Random &random) {
  DimNode &node = nodes[find(dim)];
  if (node.value >= 0)
    return node.value;
  int value = 0;
  switch (node.kind) {
  case DimKind::Kernel:
    // Small ones fit `enlarge`; large ones show what depends on that.
    value = random.below(4) ? 1 + random.below(3) : 4 + random.below(4);
    break;
  case DimKind::Groups:
    value = 1 + random.below(3);
    break;
  case DimKind::Extent:
    // Large ones are divisible by several numbers of groups.
    value = random.below(4) ? 1 + random.below(4) : 5 + random.below(4);
    break;
  case DimKind::Image:
    value = 1 + random.below(8);
    break;
  case DimKind::Number:
    value = node.number;
    break;
  case DimKind::Sum:
    value = evaluate(node.lhs, random) + evaluate(node.rhs, random);
    break;
  case DimKind::Product:
    value = evaluate(node.lhs, random) * evaluate(node.rhs, random);
    break;
  case DimKind::Difference:
    value = evaluate(node.lhs, random) - evaluate(node.rhs, random);
    break;
  case DimKind::Derived: {
    const Extent &extent = extents[node.lhs];
    value = evaluateIndex(extent.expr, [&](const definition::Expr &leaf) {
      return evaluate(extent, leaf, random);
    });
    break;
  }
  }
  return node.value = value;
}

void SymbolicSizes::draw(Random &random) {
  for (DimNode &node : nodes)
    node.value = -1;
  for (Dim dim = 0; dim < nodes.size(); ++dim)
    evaluate(dim, random);
}

std::optional<Shape> SymbolicSizes::getShape(TermId term) const {
  const Type &type = types.at(term);
  Shape shape;
  shape.rank = type.rank;
  for (unsigned i = 0; i < type.rank; ++i) {
    int value = nodes[find(type.dims[i])].value;
    if (value < 1 || value > 255)
      return std::nullopt;
    shape.dims[i] = value;
  }
  return shape;
}
