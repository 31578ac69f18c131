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
    if (condition.hasSquareConstants)
      assumeSquare(term);
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
    return llvm::any_of(extents[nodes[in].lhs].second, [&](const Type &type) {
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
             nodes[lhs].kind == DimKind::Product) {
    if (find(nodes[lhs].lhs) == find(nodes[rhs].lhs))
      unify(nodes[lhs].rhs, nodes[rhs].rhs);
    else if (find(nodes[lhs].rhs) == find(nodes[rhs].rhs))
      unify(nodes[lhs].lhs, nodes[rhs].lhs);
  } else if (nodes[lhs].kind == DimKind::Windows && nodes[lhs].number == 1 &&
             nodes[rhs].number == 1) {
    // Windows at each place: what is lost is the kernel less one.
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

SymbolicSizes::Type SymbolicSizes::inferConstant(const Operation &operation) {
  bool isKernel = !getInfo(operation.kind).params.empty();
  Type type = addSymbols(operation.constantShape, isKernel);
  if (isKernel)
    for (unsigned i = 0; i < 2; ++i)
      type.dims[2 + i] = addNumber(operation.kernel[i]);
  return type;
}

void SymbolicSizes::setWindows(const Operation &operation, Type &type,
                               Dim height, Dim width) {
  for (unsigned i = 0; i < 2; ++i) {
    if (operation.isSame && operation.stride[i] == 1)
      continue;
    int stride = operation.stride[i];
    type.dims[2 + i] =
        add(DimKind::Windows, type.dims[2 + i], i == 0 ? height : width,
            operation.isSame ? -stride : stride);
    type.boundaries[2 + i].clear();
  }
}

SymbolicSizes::Type SymbolicSizes::inferConv(const Operation &operation) {
  Type type = *operands[0];
  Dim channels = find(type.dims[1]);
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
  type.dims[1] = operands[1]->dims[0];
  type.boundaries[1] = operands[1]->boundaries[0];
  setWindows(operation, type, operands[1]->dims[2], operands[1]->dims[3]);
  return type;
}

SymbolicSizes::Type SymbolicSizes::inferConcat(const Operation &operation) {
  Type type = *operands[0];
  const Type &other = *operands[1];
  unsigned axis = operation.axis;
  for (unsigned i = 0; i < type.rank; ++i)
    if (i != axis)
      unify(type.dims[i], other.dims[i]);
  Dim cut = type.dims[axis];
  type.dims[axis] = add(DimKind::Sum, cut, other.dims[axis]);
  for (Dim at : other.boundaries[axis])
    type.boundaries[axis].push_back(add(DimKind::Sum, cut, at));
  type.boundaries[axis].push_back(cut);
  return type;
}

SymbolicSizes::Type SymbolicSizes::inferSplit(const Operation &operation) {
  Type type = *operands[0];
  unsigned axis = operation.axis;
  if (type.boundaries[axis].empty()) {
    possible = false;
    return type;
  }
  Dim cut = type.boundaries[axis].pop_back_val();
  Dim size = find(type.dims[axis]);
  if (operation.part == 0) {
    type.dims[axis] = cut;
  } else if (nodes[size].kind == DimKind::Sum &&
             find(nodes[size].lhs) == find(cut)) {
    type.dims[axis] = nodes[size].rhs;
  } else {
    Dim rest = add(DimKind::Extent);
    unify(size, add(DimKind::Sum, cut, rest));
    type.dims[axis] = rest;
  }
  // Which older boundaries lie in the part follows from how they came about.
  llvm::SmallVector<Dim, 3> kept;
  for (Dim at : type.boundaries[axis]) {
    const DimNode &node = nodes[find(at)];
    bool isBehind = node.kind == DimKind::Sum && find(node.lhs) == find(cut);
    if (isBehind == (operation.part == 1))
      kept.push_back(isBehind ? node.rhs : at);
  }
  type.boundaries[axis] = kept;
  return type;
}

SymbolicSizes::Type
SymbolicSizes::inferBatchMatmul(const Operation &operation) {
  const Type &lhs = *operands[0], &rhs = *operands[1];
  Type type = lhs.rank < rhs.rank ? rhs : lhs;
  unify(lhs.dims[lhs.rank - 1], rhs.dims[rhs.rank - 2]);
  for (unsigned i = 3; i <= std::min(lhs.rank, rhs.rank); ++i)
    unify(lhs.dims[lhs.rank - i], rhs.dims[rhs.rank - i]);
  type.dims[type.rank - 2] = lhs.dims[lhs.rank - 2];
  type.boundaries[type.rank - 2] = lhs.boundaries[lhs.rank - 2];
  type.dims[type.rank - 1] = rhs.dims[rhs.rank - 1];
  type.boundaries[type.rank - 1] = rhs.boundaries[rhs.rank - 1];
  return type;
}

SymbolicSizes::Type SymbolicSizes::inferMatmul(const Operation &operation) {
  Type type = *operands[0];
  unify(type.dims[1], operands[1]->dims[0]);
  type.dims[1] = operands[1]->dims[1];
  type.boundaries[1] = operands[1]->boundaries[1];
  return type;
}

SymbolicSizes::Type
SymbolicSizes::inferElementwise(const Operation &operation) {
  Type type = *operands[0];
  unify(type, *operands[1]);
  for (unsigned i = 0; i < type.rank; ++i) {
    const auto &other = operands[1]->boundaries[i];
    if (other.size() != type.boundaries[i].size())
      type.boundaries[i].clear();
    for (unsigned j = 0; j < type.boundaries[i].size(); ++j)
      unify(type.boundaries[i][j], other[j]);
  }
  return type;
}

SymbolicSizes::Type SymbolicSizes::inferPool(const Operation &operation) {
  Type type = *operands[0];
  setWindows(operation, type, addNumber(operation.kernel[0]),
             addNumber(operation.kernel[1]));
  return type;
}

/// An extent as a node: sums as such, and the rest as it stands.
SymbolicSizes::Dim SymbolicSizes::translate(const definition::Expr &expr) {
  using definition::Expr;
  llvm::ArrayRef<Expr> args = expr.getOperands();
  switch (expr.getKind()) {
  case Expr::Kind::Size:
    return operands[expr.getTensor().number]->dims[expr.getNumber()];
  case Expr::Kind::Constant:
    return addNumber(expr.getInt().value_or(0));
  case Expr::Kind::Cast:
    return translate(args[0]);
  case Expr::Kind::Apply:
    if (expr.getFn() == definition::ScalarFn::Add)
      return add(DimKind::Sum, translate(args[0]), translate(args[1]));
    break;
  default:
    break;
  }
  std::array<Type, 2> types;
  for (auto [type, operand] : llvm::zip_equal(types, operands))
    if (operand)
      type = *operand;
  extents.emplace_back(expr, std::move(types));
  return add(DimKind::Derived, extents.size() - 1);
}

SymbolicSizes::Type SymbolicSizes::inferDerived(const Operation &operation) {
  llvm::SmallVector<unsigned, 2> ranks;
  for (unsigned i = 0; i < operation.getNumOperands(); ++i)
    ranks.push_back(operands[i]->rank);
  Type type;
  const DerivedOperator::AtRank *at =
      operation.derived ? operation.derived->get(ranks) : nullptr;
  if (!at) {
    possible = false;
    return type;
  }
  using definition::Requirement;
  for (const Requirement &requirement : at->definition->requirements)
    if (requirement.kind == Requirement::Kind::Equal)
      unify(translate(requirement.value), translate(requirement.bound));
  for (const definition::IndexVar &index : at->getResult().indices) {
    auto &boundaries = type.boundaries[type.rank];
    bool isFirst = true;
    for (auto [operand, dim] : at->trace[type.rank]) {
      const auto &other = operands[operand]->boundaries[dim];
      if (isFirst)
        boundaries = other;
      else if (boundaries.size() != other.size())
        boundaries.clear();
      for (unsigned i = 0; i < boundaries.size() && !isFirst; ++i)
        unify(boundaries[i], other[i]);
      isFirst = false;
    }
    type.dims[type.rank++] = translate(index.extent);
  }
  return type;
}

void SymbolicSizes::assumeSquare(TermId term) {
  if (terms[term].numOperands != 2)
    return;
  auto isConstant = [&](unsigned i) {
    TermId operand = terms[term].operands[i];
    return !terms[operand].isVariable() && terms[operand].numOperands == 0;
  };
  OpKind kind = terms.getOperation(term).kind;
  if (kind == OpKind::Conv2d && isConstant(1))
    unify(operands[0]->dims[1], operands[1]->dims[0]);
  for (unsigned i = 0; i < 2 && kind == OpKind::Matmul; ++i)
    if (isConstant(i))
      unify(operands[i]->dims[0], operands[i]->dims[1]);
}

SymbolicSizes::Type SymbolicSizes::infer(TermId term) {
  if (terms[term].isVariable()) {
    const LeafTemplate &leaf = terms.getLeaf(term);
    return addSymbols(leaf.shape, leaf.isWeight);
  }
  const Operation &operation = terms.getOperation(term);
  if (Rule rule = getRule(operation.kind))
    return (this->*rule)(operation);
  return inferDerived(operation);
}

SymbolicSizes::Rule SymbolicSizes::getRule(OpKind kind) {
  // Sizes that cuts, groups and windows ask for are drawn; those of the other
  // operators that have kernels are equations.
  static constexpr std::pair<OpKind, Rule> kRules[] = {
      {OpKind::Conv2d, &SymbolicSizes::inferConv},
      {OpKind::Matmul, &SymbolicSizes::inferMatmul},
      {OpKind::Bmm, &SymbolicSizes::inferBatchMatmul},
      {OpKind::EwAdd, &SymbolicSizes::inferElementwise},
      {OpKind::EwMul, &SymbolicSizes::inferElementwise},
      {OpKind::SMul, &SymbolicSizes::inferFirst},
      {OpKind::Relu, &SymbolicSizes::inferFirst},
      {OpKind::Concat, &SymbolicSizes::inferConcat},
      {OpKind::Split, &SymbolicSizes::inferSplit},
      {OpKind::PoolAvg, &SymbolicSizes::inferPool},
      {OpKind::PoolMax, &SymbolicSizes::inferPool},
      {OpKind::ConstIConv, &SymbolicSizes::inferConstant},
      {OpKind::ConstPool, &SymbolicSizes::inferConstant},
      {OpKind::ConstImm, &SymbolicSizes::inferConstant},
      {OpKind::ConstOne, &SymbolicSizes::inferConstant}};
  const auto *found = llvm::find_if(
      kRules, [&](const auto &rule) { return rule.first == kind; });
  return found == std::end(kRules) ? nullptr : found->second;
}

//===----------------------------------------------------------------------===//
// Drawing
//===----------------------------------------------------------------------===//

/// An impossible size is 0.
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
  case DimKind::Windows: {
    int size = evaluate(node.lhs, random), kernel = evaluate(node.rhs, random);
    value = node.number < 0 ? (size - node.number - 1) / -node.number
            : size < kernel ? 0
                            : (size - kernel) / node.number + 1;
    break;
  }
  case DimKind::Derived: {
    const auto &[expr, types] = extents[node.lhs];
    value = evaluateIndex(
        expr,
        [&, &types = types](unsigned operand, unsigned number) -> int64_t {
          return evaluate(types[operand].dims[number], random);
        },
        [](definition::VarId) -> int64_t { return 0; });
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
