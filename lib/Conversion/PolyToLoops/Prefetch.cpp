//===- Prefetch.cpp - Reads that a later iteration needs ------------------===//

#include "KernelLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstNode;

namespace {
/// What a mark that the command `prefetch` made asks for.
struct Request {
  StringRef computation;
  unsigned read;
  int64_t distance;
};
} // namespace

static std::optional<Request> getRequest(Attribute mark) {
  auto attributes = cast<DictionaryAttr>(mark);
  auto computation = attributes.getAs<FlatSymbolRefAttr>("computation");
  auto read = attributes.getAs<IntegerAttr>("read");
  auto distance = attributes.getAs<IntegerAttr>("distance");
  if (attributes.getAs<StringAttr>("name").getValue() != "prefetch" ||
      !computation || !read || !distance)
    return std::nullopt;
  return Request{computation.getValue(), unsigned(read.getInt()),
                 distance.getInt()};
}

/// Prefetches what the calls below `node` read, at the first iteration of each
/// loop but those that are unrolled.
void KernelLoops::emitPrefetches(const AstNode &node, StringRef computation,
                                 unsigned read,
                                 SmallVectorImpl<AffineExpr> &done) {
  if (node.kind == AstNode::Kind::Call) {
    poly::ComputeOp compute = computes[node.statement];
    if (compute.getSymName() != computation ||
        read >= compute.getReads().size())
      return;
    poly::ComputeAccess access = compute.getReadAccesses()[read];
    const Memory &memory = memories.find(access.array)->second;
    AffineExpr address = getAddress(access, node);
    if (memory.inRegisters || readsData(address) ||
        llvm::is_contained(done, address))
      return;
    done.push_back(address);
    memref::PrefetchOp::create(builder, compute.getLoc(), memory.flat,
                               emitIndex(address), /*isWrite=*/false,
                               /*localityHint=*/3, /*isDataCache=*/true);
    return;
  }
  auto emitChildren = [&] {
    for (const polyhedral::Ast &child : node.children)
      emitPrefetches(*child, computation, read, done);
  };
  if (node.kind != AstNode::Kind::For)
    return emitChildren();
  poly::LoopAttr kind = getLoopKind(node);
  std::optional<int64_t> lower = getConstant(node.lower);
  std::optional<int64_t> upper = getConstant(node.upper);
  if (kind && kind.isUnroll() && lower && upper) {
    for (int64_t value = *lower; value < *upper; value += node.step) {
      unrolled[node.iterator] = value;
      emitChildren();
    }
    unrolled.erase(node.iterator);
    return;
  }
  iterators[node.iterator] = emitExpr(node.lower);
  emitChildren();
  iterators.erase(node.iterator);
}

void KernelLoops::emitPrefetches(const AstNode &mark) {
  std::optional<Request> request = getRequest(mark.mark);
  if (!request || !innermost || lanes)
    return;
  // The last iteration stands for those beyond the end.
  Value now = iterators.lookup(innermost->iterator);
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value later = arith::AddIOp::create(
      builder, loc, now, number(request->distance * innermost->step));
  Value last = arith::SubIOp::create(builder, loc, innermostUpper, number(1));
  iterators[innermost->iterator] =
      arith::MinSIOp::create(builder, loc, later, last);
  SmallVector<AffineExpr> done;
  for (const polyhedral::Ast &child : mark.children)
    emitPrefetches(*child, request->computation, request->read, done);
  iterators[innermost->iterator] = now;
}
