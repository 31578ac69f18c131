//===- Prefetch.cpp - Nodes that fetch ahead ------------------------------===//

#include "KernelLoops.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstNode;

/// The dimensions of the first point of `compute` below `node`, over the
/// iterators outside of it; nothing if there is none.
static std::optional<SmallVector<AffineExpr>>
getFirstPoint(const AstNode &node, unsigned statement,
              const DataLoops &dataLoops) {
  if (node.kind == AstNode::Kind::Call) {
    if (node.statement != statement)
      return std::nullopt;
    return SmallVector<AffineExpr>(node.values);
  }
  for (const polyhedral::Ast &child : node.children) {
    std::optional<SmallVector<AffineExpr>> point =
        getFirstPoint(*child, statement, dataLoops);
    if (!point)
      continue;
    if (node.kind != AstNode::Kind::For)
      return point;
    const DataLoop *data = dataLoops.find(node);
    if (node.lower.kind != polyhedral::AstExpr::Kind::Affine ||
        (data && !data->lower.empty()))
      return std::nullopt;
    AffineExpr iterator =
        getAffineDimExpr(node.iterator, node.lower.affine.getContext());
    for (AffineExpr &value : *point)
      value = value.replace(iterator, node.lower.affine);
    return point;
  }
  return std::nullopt;
}

/// After how many iterations of `iterator` places that are functions of it
/// change: 1 if that is in each, or not every few.
static int64_t getPeriod(ArrayRef<AffineExpr> places, AffineExpr iterator) {
  int64_t period = 0;
  bool isPeriodic = true;
  for (AffineExpr place : places) {
    AffineExpr rest = place;
    place.walk([&](AffineExpr expr) {
      auto division = dyn_cast<AffineBinaryOpExpr>(expr);
      if (!division || division.getKind() != AffineExprKind::FloorDiv ||
          division.getLHS() != iterator)
        return;
      auto factor = dyn_cast<AffineConstantExpr>(division.getRHS());
      isPeriodic &= factor && (period == 0 || period == factor.getValue());
      period = factor ? factor.getValue() : 0;
      rest =
          rest.replace(expr, getAffineConstantExpr(0, iterator.getContext()));
    });
    isPeriodic &=
        !rest.isFunctionOfDim(cast<AffineDimExpr>(iterator).getPosition());
  }
  return isPeriodic && llvm::isPowerOf2_64(period) ? period : 1;
}

LogicalResult KernelLoops::emitMark(const AstNode &node) {
  if (DictionaryAttr prefetch = poly::getPrefetch(node.mark))
    emitPrefetch(node, prefetch);
  return emitChildren(node);
}

void KernelLoops::emitPrefetch(const AstNode &node, DictionaryAttr prefetch) {
  // The operation's verifier has looked at these.
  auto find = [&](StringRef attribute) {
    auto symbol = prefetch.getAs<FlatSymbolRefAttr>(attribute);
    return symbol ? kernel.lookupCompute(symbol.getValue()) : poly::ComputeOp();
  };
  poly::ComputeOp compute = find("computation"), other = find("owner");
  poly::ComputeOp owner = other ? other : compute;
  bool isWrite = prefetch.contains("is_write");
  AffineMap at = prefetch.getAs<AffineMapAttr>("at").getValue();
  int64_t bytes = prefetch.getAs<IntegerAttr>("bytes").getInt();
  int64_t number = prefetch.getAs<IntegerAttr>("number").getInt();
  unsigned statement = llvm::find(computes, compute) - computes.begin();
  std::optional<SmallVector<AffineExpr>> point =
      getFirstPoint(node, statement, dataLoops);
  poly::ComputeAccess access =
      (isWrite ? owner.getWriteAccesses() : owner.getReadAccesses())[number];
  auto found = memories.find(access.array);
  // What cannot be fetched ahead is fetched when it is used. An array that each
  // iteration of a loop has for itself is not there outside.
  if (!point || found == memories.end() || found->second.inRegisters)
    return;
  const Memory &memory = found->second;
  AstNode call(AstNode::Kind::Call);
  call.statement = llvm::find(computes, owner) - computes.begin();
  for (AffineExpr result : at.getResults())
    call.values.push_back(result.replaceDims(*point));
  OpBuilder::InsertionGuard guard(builder);
  // A line that several iterations need is fetched in the first of them: those
  // of another cache take a place in its queue each time.
  if (const AstNode *loop = enclosing.empty() ? nullptr : enclosing.back()) {
    AffineExpr inner = iterator(loop->iterator);
    if (int64_t period = getPeriod(call.values, inner); period > loop->step) {
      Value step = arith::ConstantIndexOp::create(builder, loc, loop->step);
      Value isFirst =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                emitIndex(inner % period, {}), step);
      auto fetch = scf::IfOp::create(builder, loc, isFirst);
      builder.setInsertionPointToStart(fetch.thenBlock());
    }
  }
  SmallVector<Value> data(owner.getReads().size());
  if (!emitIndexReads(access, owner, call, data))
    return;
  AffineExpr address = getAddress(access, call);
  int64_t elementBytes = llvm::divideCeil(
      memory.elementType.isIndex() ? 64
                                   : memory.elementType.getIntOrFloatBitWidth(),
      8);
  for (int64_t offset = 0; offset < bytes; offset += poly::kLineBytes)
    memref::PrefetchOp::create(builder, loc, memory.flat,
                               emitIndex(address + offset / elementBytes, data),
                               isWrite, /*localityHint=*/2,
                               /*isDataCache=*/true);
}

/// The reads on whose values `map` depends.
static SmallVector<unsigned> getReadsOf(AffineMap map, unsigned numParams) {
  SmallVector<unsigned> reads;
  for (unsigned symbol = numParams; symbol < map.getNumSymbols(); ++symbol)
    if (map.isFunctionOfSymbol(symbol))
      reads.push_back(symbol - numParams);
  return reads;
}

bool KernelLoops::emitIndexReads(const poly::ComputeAccess &access,
                                 poly::ComputeOp owner, const AstNode &call,
                                 MutableArrayRef<Value> data) {
  SmallVector<poly::ComputeAccess> reads = owner.getReadAccesses();
  // Those on which the places of others depend come before these.
  SmallVector<unsigned> needed = getReadsOf(access.map, numParams);
  for (unsigned next = 0; next < needed.size(); ++next)
    for (unsigned number : getReadsOf(reads[needed[next]].map, numParams))
      if (!llvm::is_contained(needed, number))
        needed.push_back(number);
  llvm::sort(needed);
  // Only arguments have all their elements at all times.
  for (unsigned number : needed)
    if (!scalars.lookupOrNull(reads[number].array))
      return false;
  while (!needed.empty()) {
    SmallVector<unsigned> ready, later;
    for (unsigned number : needed) {
      bool isReady =
          llvm::all_of(getReadsOf(reads[number].map, numParams),
                       [&](unsigned other) { return bool(data[other]); });
      (isReady ? ready : later).push_back(number);
    }
    Value isInside;
    for (unsigned number : ready) {
      Value memref = scalars.lookup(reads[number].array);
      for (auto [dim, index] :
           llvm::enumerate(getIndices(reads[number], call))) {
        Value extent = memref::DimOp::create(builder, loc, memref, dim);
        // A negative index is larger than any extent.
        Value isBelow =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                  emitIndex(index, data), extent);
        isInside = isInside
                       ? arith::AndIOp::create(builder, loc, isInside, isBelow)
                             .getResult()
                       : isBelow;
      }
    }
    // The last iterations have nothing to fetch ahead.
    if (isInside) {
      auto fetch = scf::IfOp::create(builder, loc, isInside);
      builder.setInsertionPointToStart(fetch.thenBlock());
    }
    for (unsigned number : ready)
      data[number] = memref::LoadOp::create(
          builder, loc, memories.find(reads[number].array)->second.flat,
          emitIndex(getAddress(reads[number], call), data));
    needed = later;
  }
  return true;
}
