//===- DataBounds.cpp - Loops between values of arrays --------------------===//
//
//   for n: for j from 0 to E - 1: if (rowptr[n] <= j < rowptr[n + 1]) S(n, j)
//
// is what the scan gives: the domain, and a condition on values that are read.
// A condition f * j + rest >= 0 bounds the loop over j,
//
//   j >= ceil(-rest / f) for f > 0,   j <= floor(rest / -f) for f < 0,
//
// if the loops outside decide which elements the values are of, and nobody
// writes these. What loops inside add to `rest` is replaced by the most that it
// can be; then the condition stays, for one of those loops or the call.
//
//===----------------------------------------------------------------------===//

#include "DataBounds.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstExpr;
using polyhedral::AstNode;

DataLoops::DataLoops(poly::KernelOp kernel, ArrayRef<poly::ComputeOp> computes)
    : kernel(kernel), computes(computes), numParams(kernel.getNumParameters()) {
}

SmallVector<AffineExpr> DataLoops::getAll(poly::ComputeOp compute) const {
  SmallVector<AffineExpr> conditions;
  std::optional<IntegerSet> where = compute.getWhere();
  if (!where)
    return conditions;
  for (auto [expr, isEquality] :
       llvm::zip_equal(where->getConstraints(), where->getEqFlags())) {
    conditions.push_back(expr);
    if (isEquality)
      conditions.push_back(-expr);
  }
  return conditions;
}

SmallVector<AffineExpr> DataLoops::getConditions(const AstNode &call) const {
  SmallVector<AffineExpr> left;
  auto known = satisfied.find(&call);
  for (auto [number, condition] :
       llvm::enumerate(getAll(computes[call.statement])))
    if (known == satisfied.end() || !known->second.contains(number))
      left.push_back(condition);
  return left;
}

bool DataLoops::isWritten(Value array) const {
  return !isa<BlockArgument>(array) ||
         llvm::any_of(computes, [&](poly::ComputeOp compute) {
           return llvm::is_contained(compute.getWrites(), array);
         });
}

/// A number that `expr` never exceeds, or never falls below.
static std::optional<int64_t> getNumber(const AstExpr &expr, bool isUpper) {
  if (expr.kind == AstExpr::Kind::Affine) {
    auto number = dyn_cast<AffineConstantExpr>(expr.affine);
    return number ? std::optional(number.getValue()) : std::nullopt;
  }
  if (expr.kind != (isUpper ? AstExpr::Kind::Min : AstExpr::Kind::Max))
    return std::nullopt;
  std::optional<int64_t> best;
  for (const AstExpr &operand : expr.operands)
    if (std::optional<int64_t> bound = getNumber(operand, isUpper))
      if (!best || (isUpper ? *bound < *best : *bound > *best))
        best = bound;
  return best;
}

/// `expr` of as many iterators and symbols as it has.
static AffineMap toMap(AffineExpr expr) {
  return AffineMap::inferFromExprList({expr}, expr.getContext()).front();
}

AffineExpr DataLoops::getMost(AffineExpr expr, const AstNode &loop,
                              const AstNode &call) {
  for (const AstNode *inner : around.find(&call)->second) {
    if (inner->iterator <= loop.iterator ||
        !expr.isFunctionOfDim(inner->iterator))
      continue;
    AffineExpr iterator = getAffineDimExpr(inner->iterator, expr.getContext());
    std::optional<int64_t> factor = polyhedral::getFactor(expr, iterator);
    if (!factor)
      return {};
    std::optional<int64_t> extreme = *factor > 0
                                         ? getNumber(inner->upper, true)
                                         : getNumber(inner->lower, false);
    if (!extreme)
      return {};
    expr = expr.replace(
        iterator, getAffineConstantExpr(*factor > 0 ? *extreme - 1 : *extreme,
                                        expr.getContext()));
  }
  return expr;
}

AffineExpr DataLoops::toElements(AffineExpr expr, const AstNode &loop,
                                 const AstNode &call) {
  MLIRContext *context = kernel.getContext();
  poly::ComputeOp compute = computes[call.statement];
  SmallVector<poly::ComputeAccess> reads = compute.getReadAccesses();
  SmallVector<AffineExpr> symbols;
  for (unsigned symbol = 0, end = toMap(expr).getNumSymbols(); symbol < end;
       ++symbol) {
    symbols.push_back(getAffineSymbolExpr(symbol, context));
    if (symbol < numParams || !expr.isFunctionOfSymbol(symbol))
      continue;
    const poly::ComputeAccess &read = reads[symbol - numParams];
    if (isWritten(read.array))
      return {};
    BoundElement element{read.array, {}};
    for (AffineExpr index : read.map.getResults()) {
      index = index.replaceDims(call.values);
      if (toMap(index).getNumDims() > loop.iterator ||
          toMap(index).getNumSymbols() > numParams)
        return {};
      element.indices.push_back(
          simplifyAffineExpr(index, loop.iterator, numParams));
    }
    unsigned number = llvm::find(elements, element) - elements.begin();
    if (number == elements.size())
      elements.push_back(element);
    symbols.back() = getAffineSymbolExpr(numParams + number, context);
  }
  return expr.replaceSymbols(symbols);
}

std::optional<DataLoops::Bound> DataLoops::getBound(const AstNode &loop,
                                                    const AstNode &call,
                                                    unsigned number,
                                                    AffineExpr condition) {
  AffineExpr expr = condition.replaceDims(call.values);
  std::optional<int64_t> factor = polyhedral::getFactor(
      expr, getAffineDimExpr(loop.iterator, expr.getContext()));
  // A condition without values is one of the domain's kind.
  if (!factor || *factor == 0 || toMap(expr).getNumSymbols() <= numParams)
    return std::nullopt;
  AffineExpr rest =
      expr.replace(getAffineDimExpr(loop.iterator, expr.getContext()),
                   getAffineConstantExpr(0, expr.getContext()));
  AffineExpr most = getMost(rest, loop, call);
  if (!most || toMap(most).getNumDims() > loop.iterator)
    return std::nullopt;
  AffineExpr bound = toElements(most, loop, call);
  if (!bound)
    return std::nullopt;
  bool isUpper = *factor < 0;
  bound = isUpper ? bound.floorDiv(-*factor) + 1 : (-bound).ceilDiv(*factor);
  bound = simplifyAffineMap(toMap(bound)).getResult(0);
  return Bound{&call, number, bound, isUpper, most == rest};
}

void DataLoops::addLoop(const AstNode &loop, ArrayRef<const AstNode *> calls) {
  if (loop.step != 1)
    return;
  for (bool isUpper : {false, true}) {
    DataBounds bounds;
    SmallVector<Bound> exact;
    for (const AstNode *call : calls) {
      SmallVector<AffineExpr, 1> own;
      for (auto [number, condition] :
           llvm::enumerate(getAll(computes[call->statement])))
        if (auto bound = getBound(loop, *call, number, condition);
            bound && bound->isUpper == isUpper) {
          if (!llvm::is_contained(own, bound->value))
            own.push_back(bound->value);
          if (bound->isExact)
            exact.push_back(*bound);
        }
      // A call without bounds runs in all iterations.
      if (own.empty()) {
        bounds.clear();
        break;
      }
      if (!llvm::is_contained(bounds, own))
        bounds.push_back(own);
    }
    if (bounds.empty())
      continue;
    (isUpper ? loops[&loop].upper : loops[&loop].lower) = bounds;
    if (bounds.size() == 1)
      for (const Bound &bound : exact)
        satisfied[bound.call].insert(bound.condition);
  }
}

/// Adds the calls below `node`.
static void collectCalls(const AstNode &node,
                         SmallVectorImpl<const AstNode *> &calls) {
  if (node.kind == AstNode::Kind::Call)
    calls.push_back(&node);
  for (const polyhedral::Ast &child : node.children)
    collectCalls(*child, calls);
}

void DataLoops::visit(const AstNode &node,
                      SmallVectorImpl<const AstNode *> &path) {
  if (node.kind == AstNode::Kind::Call)
    around[&node].assign(path.begin(), path.end());
  if (node.kind == AstNode::Kind::For)
    path.push_back(&node);
  for (const polyhedral::Ast &child : node.children)
    visit(*child, path);
  if (node.kind != AstNode::Kind::For)
    return;
  path.pop_back();
  SmallVector<const AstNode *> calls;
  collectCalls(node, calls);
  addLoop(node, calls);
}

void DataLoops::analyze(const AstNode &root) {
  if (llvm::none_of(computes, [](poly::ComputeOp compute) {
        return compute.getWhere().has_value();
      }))
    return;
  SmallVector<const AstNode *> path;
  visit(root, path);
}

void DataLoops::addIterators(const AstNode &loop,
                             SmallVectorImpl<unsigned> &iterators) const {
  const DataLoop *data = find(loop);
  if (!data)
    return;
  auto add = [&](AffineExpr expr) {
    expr.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        iterators.push_back(dim.getPosition());
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        if (symbol.getPosition() >= numParams)
          for (AffineExpr index :
               elements[symbol.getPosition() - numParams].indices)
            for (unsigned dim = 0; dim < loop.iterator; ++dim)
              if (index.isFunctionOfDim(dim))
                iterators.push_back(dim);
    });
  };
  for (const DataBounds *side : {&data->lower, &data->upper})
    for (const auto &bounds : *side)
      llvm::for_each(bounds, add);
}

bool DataLoops::dependsOn(const AstNode &loop, unsigned iterator) const {
  SmallVector<unsigned> iterators;
  addIterators(loop, iterators);
  return llvm::is_contained(iterators, iterator);
}
