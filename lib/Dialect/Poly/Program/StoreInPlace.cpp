//===- StoreInPlace.cpp - Results inside larger arrays --------------------===//
//
// A copy moves all of an array, the source, into a part of another one, the
// host. The source can be computed there in the first place:
//
//   X[y] = f(y);  P[q] = X[q - 1] where 1 <= q <= N;  P[q] = 0 elsewhere
//
// becomes  P[y + 1] = f(y);  P[q] = 0 elsewhere
//
// Kernels have been formed by then, so nothing that wants to read X at the
// point where it is computed is lost.
//
//===----------------------------------------------------------------------===//

#include "ProgramSizes.h"
#include "espalier/Dialect/Poly/Program/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYSTOREINPLACEPASS
#include "espalier/Dialect/Poly/Program/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier::poly;

namespace {

/// An access of a computation, where it runs.
struct Access {
  KernelCall call;
  ComputeOp compute;
  unsigned number; ///< Of the read, or of the write.
  bool isWrite;
  AffineMap map;
};

/// A copy of all of an array.
struct Copy {
  KernelCall call;
  ComputeOp compute;
  Value source, host;
  /// What to add to an index of the source, over the kernel's parameters.
  SmallVector<AffineExpr> offset;
};

/// Distances of indices, as expressions over `sizes`, as symbols.
struct Shift {
  SmallVector<AffineExpr> distances;
  SmallVector<Value> sizes;
};

class InPlaceStorer {
public:
  InPlaceStorer(FunctionOpInterface function,
                const llvm::DenseMap<Operation *, KernelOp> &kernels)
      : sizes(function) {
    function->walk([&](CallOp call) {
      order[call] = order.size();
      if (KernelOp kernel = kernels.lookup(call))
        calls.push_back({call, kernel});
      kernelOf[call] = kernels.lookup(call);
    });
  }
  /// Returns how many copies are gone.
  unsigned run();

private:
  /// The memory of an array: that of the caller, or one of the kernel's own.
  static Value getMemory(KernelCall call, Value array) {
    auto argument = dyn_cast<BlockArgument>(array);
    return argument ? call.getOperand(argument) : array;
  }
  std::optional<Copy> readCopy(KernelCall call, ComputeOp compute) const;
  /// Collects the accesses to the memory; fails if it has other users.
  LogicalResult collect(Value memory, KernelCall owner,
                        SmallVectorImpl<Access> &accesses) const;
  bool collectViews(Value memory, SmallVectorImpl<Value> &views) const;
  /// The call that computes the source, if nothing keeps it from doing so in
  /// the host.
  std::optional<KernelCall> findProducer(const Copy &copy,
                                         ArrayRef<Access> accesses) const;
  /// Whether nobody else writes the part of the host, or reads it before.
  bool isFree(const Copy &copy, Value memory, const Part &part) const;
  bool isBefore(const Access &access, const Copy &copy) const;
  bool tryMove(KernelCall call, ComputeOp compute);
  /// Makes an array of the kernel's own one of the caller's, made before
  /// `user`.
  Value expose(KernelCall call, ArrayOp array, Operation *user);
  Shift getShift(const Copy &copy) const;
  /// Whether nothing is said of `memory` in the kernel that is called.
  bool mayEdit(Operation *call, Value memory) const;
  /// Makes the kernel use `host` in place of `source`.
  void redirect(KernelCall call, Value source, Value host, const Shift &shift);

  ProgramSizes sizes;
  SmallVector<KernelCall> calls;
  /// Every call, and those of kernels that may be edited.
  llvm::DenseMap<Operation *, unsigned> order;
  llvm::DenseMap<Operation *, KernelOp> kernelOf;
  /// The parts of hosts that hold others, and what reads in them only.
  struct Held {
    Part part;
    SmallVector<std::pair<Operation *, unsigned>> reads;
  };
  llvm::DenseMap<Value, SmallVector<Held, 2>> held;
};

} // namespace

/// Whether `value` is there when `user` runs, or can be.
static bool canHoist(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != user->getBlock() || op->isBeforeInBlock(user))
    return true;
  return (isPure(op) || isa<memref::AllocOp>(op)) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return canHoist(operand, user); });
}

/// Whether a run of the function reaches at most one of them.
static bool areAlternatives(Operation *first, Operation *second) {
  return isa<scf::IfOp>(first->getParentOp()) &&
         first->getParentOp() == second->getParentOp() &&
         first->getParentRegion() != second->getParentRegion();
}

static void hoist(Value value, Operation *user) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != user->getBlock() || op->isBeforeInBlock(user))
    return;
  for (Value operand : op->getOperands())
    hoist(operand, user);
  op->moveBefore(user);
}

/// Whether it runs together with the one before it, or the one after it.
static bool isInterleaved(ComputeOp compute) {
  auto next = dyn_cast_or_null<ComputeOp>(compute->getNextNode());
  return compute.getInterleaved() || (next && next.getInterleaved());
}

std::optional<Copy> InPlaceStorer::readCopy(KernelCall call,
                                            ComputeOp compute) const {
  if (compute.getReads().size() != 1 || compute.getWrites().size() != 1 ||
      compute.getReduction() || compute.getWhere() || isInterleaved(compute) ||
      compute.getYield().getValues().front() !=
          compute.getBody().getArgument(0))
    return std::nullopt;
  ComputeAccess read = compute.getReadAccesses().front();
  ComputeAccess write = compute.getWriteAccesses().front();
  unsigned rank = compute.getNumDims();
  unsigned numParams = call.kernel.getNumParameters();
  if (read.array == write.array ||
      read.getType().getElementType() != write.getType().getElementType() ||
      read.map.getNumResults() != rank || write.map.getNumResults() != rank ||
      read.map.getNumSymbols() != numParams ||
      write.map.getNumSymbols() != numParams) // No place that is read.
    return std::nullopt;
  Copy copy{call, compute, read.array, write.array, {}};
  llvm::SmallDenseSet<unsigned> dims;
  for (auto [from, to] :
       llvm::zip_equal(read.map.getResults(), write.map.getResults())) {
    AffineExpr offset = simplifyAffineExpr(to - from, rank, numParams);
    // One dimension each, the same in both.
    unsigned dim = 0;
    while (dim < rank && !from.isFunctionOfDim(dim))
      ++dim;
    if (dim == rank || !dims.insert(dim).second ||
        !offset.isSymbolicOrConstant() ||
        !simplifyAffineExpr(from - getAffineDimExpr(dim, from.getContext()),
                            rank, numParams)
             .isSymbolicOrConstant())
      return std::nullopt;
    copy.offset.push_back(offset);
  }
  return copy;
}

/// Adds `memory` and all views of what it views. Returns whether they are of
/// one value, and used by calls and for their sizes only.
bool InPlaceStorer::collectViews(Value memory,
                                 SmallVectorImpl<Value> &views) const {
  while (auto view = memory.getDefiningOp<ViewLikeOpInterface>())
    memory = view.getViewSource();
  views.push_back(memory);
  for (unsigned number = 0; number < views.size(); ++number)
    for (Operation *user : views[number].getUsers()) {
      if (isa<ViewLikeOpInterface>(user))
        llvm::append_range(views, user->getResults());
      else if (!isa<CallOp>(user) && !isMemoryEffectFree(user))
        return false;
    }
  return true;
}

LogicalResult InPlaceStorer::collect(Value memory, KernelCall owner,
                                     SmallVectorImpl<Access> &accesses) const {
  auto addAccesses = [&](KernelCall call, Value array) {
    for (ComputeOp compute : call.kernel.getComputes()) {
      for (auto [number, access] : llvm::enumerate(compute.getReadAccesses()))
        if (access.array == array)
          accesses.push_back(
              {call, compute, unsigned(number), false, access.map});
      for (auto [number, access] : llvm::enumerate(compute.getWriteAccesses()))
        if (access.array == array)
          accesses.push_back(
              {call, compute, unsigned(number), true, access.map});
    }
  };
  if (memory.getDefiningOp<ArrayOp>()) {
    addAccesses(owner, memory);
    return success();
  }
  for (Operation *user : memory.getUsers()) {
    auto call = dyn_cast<CallOp>(user);
    if (!call) {
      if (!isMemoryEffectFree(user))
        return failure();
      continue;
    }
    KernelOp kernel = kernelOf.lookup(call);
    if (areAlternatives(call, owner.call))
      continue;
    if (call->getBlock() != owner.call->getBlock())
      return failure();
    if (!kernel || llvm::count(call.getArguments(), memory) != 1)
      return failure();
    KernelCall reader{call, kernel};
    addAccesses(reader, reader.findArgument(memory));
  }
  return success();
}

bool InPlaceStorer::isBefore(const Access &access, const Copy &copy) const {
  if (access.call.call != copy.call.call)
    return order.lookup(access.call.call) < order.lookup(copy.call.call);
  return access.compute->isBeforeInBlock(copy.compute);
}

std::optional<KernelCall>
InPlaceStorer::findProducer(const Copy &copy, ArrayRef<Access> accesses) const {
  std::optional<KernelCall> producer;
  for (const Access &access : accesses)
    if (access.isWrite) {
      if ((producer && producer->call != access.call.call) ||
          !isBefore(access, copy))
        return std::nullopt;
      producer = access.call;
    }
  if (!producer)
    return std::nullopt;
  // An accumulator is better off in registers, and so is whatever shares loops
  // with its readers.
  bool sharesLoops = producer->call == copy.call.call;
  for (const Access &access : accesses) {
    if (access.call.call != producer->call || access.compute == copy.compute)
      continue;
    ComputeOp compute = access.compute;
    bool accumulates = compute.getReduction() && !sharesLoops;
    if (compute.getInterleaved() || (compute.getReduction() && sharesLoops) ||
        (!access.isWrite && !accumulates))
      return std::nullopt;
  }
  return producer;
}

bool InPlaceStorer::isFree(const Copy &copy, Value memory,
                           const Part &part) const {
  SmallVector<Access> accesses;
  if (failed(collect(memory, copy.call, accesses)))
    return false;
  if (!memory.getDefiningOp<ArrayOp>()) {
    // Who sees the same memory in another way may read it later.
    SmallVector<Value> views;
    if (!collectViews(memory, views))
      return false;
    for (Value view : views)
      for (Operation *user : view.getUsers()) {
        auto call = dyn_cast<CallOp>(user);
        if (!call || view == memory || areAlternatives(call, copy.call.call))
          continue;
        KernelOp kernel = kernelOf.lookup(call);
        if (!kernel || call->getBlock() != copy.call.call->getBlock() ||
            order.lookup(call) < order.lookup(copy.call.call))
          return false;
        BlockArgument argument = KernelCall{call, kernel}.findArgument(view);
        for (ComputeOp compute : kernel.getComputes())
          if (llvm::is_contained(compute.getWrites(), argument))
            return false;
      }
  }
  // What was moved there is read in its own part only.
  llvm::DenseSet<std::pair<Operation *, unsigned>> apart;
  if (auto known = held.find(memory); known != held.end())
    for (const Held &other : known->second)
      if (sizes.areDisjoint(other.part, part))
        apart.insert(other.reads.begin(), other.reads.end());
  return llvm::all_of(accesses, [&](const Access &access) {
    if (access.compute == copy.compute ||
        (!access.isWrite && (!isBefore(access, copy) ||
                             apart.contains({access.compute, access.number}))))
      return true;
    return sizes.areDisjoint(part, access.call, access.compute, access.map);
  });
}

Value InPlaceStorer::expose(KernelCall call, ArrayOp array, Operation *user) {
  SmallVector<Value> operands;
  for (Value size : array.getSizes())
    operands.push_back(call.getOperand(cast<BlockArgument>(size)));
  for (Value operand : operands)
    hoist(operand, user);
  OpBuilder builder(user);
  Value memory = memref::AllocOp::create(
      builder, array.getLoc(), cast<MemRefType>(array.getType()), operands,
      builder.getI64IntegerAttr(64));
  array.replaceAllUsesWith(Value(addArgument(call, memory)));
  array.erase();
  return memory;
}

Shift InPlaceStorer::getShift(const Copy &copy) const {
  KernelCall call = copy.call;
  SmallVector<BlockArgument> parameters = call.kernel.getParameters();
  Shift shift;
  SmallVector<AffineExpr> symbols(parameters.size());
  for (AffineExpr distance : copy.offset)
    distance.walk([&](AffineExpr part) {
      auto symbol = dyn_cast<AffineSymbolExpr>(part);
      if (!symbol || symbols[symbol.getPosition()])
        return;
      symbols[symbol.getPosition()] =
          getAffineSymbolExpr(shift.sizes.size(), part.getContext());
      shift.sizes.push_back(call.getOperand(parameters[symbol.getPosition()]));
    });
  for (AffineExpr distance : copy.offset)
    shift.distances.push_back(distance.replaceSymbols(symbols));
  return shift;
}

bool InPlaceStorer::mayEdit(Operation *op, Value memory) const {
  KernelCall call{cast<CallOp>(op), kernelOf.lookup(op)};
  BlockArgument argument = call.findArgument(memory);
  return !argument || FunctionOpInterface(call.kernel)
                          .getArgAttrs(argument.getArgNumber())
                          .empty();
}

void InPlaceStorer::redirect(KernelCall call, Value source, Value host,
                             const Shift &shift) {
  SmallVector<AffineExpr> symbols;
  for (Value size : shift.sizes) {
    BlockArgument parameter = call.findArgument(size);
    if (!parameter)
      parameter = addArgument(call, size);
    SmallVector<BlockArgument> parameters = call.kernel.getParameters();
    symbols.push_back(getAffineSymbolExpr(llvm::find(parameters, parameter) -
                                              parameters.begin(),
                                          size.getContext()));
  }
  Value from = source, to = host;
  if (!source.getDefiningOp<ArrayOp>())
    from = call.findArgument(source);
  if (!host.getDefiningOp<ArrayOp>())
    to = call.findArgument(host);
  if (!to) {
    to = from;
    replaceOperand(call, cast<BlockArgument>(from), host);
  }
  for (ComputeOp compute : call.kernel.getComputes())
    updateAccesses(compute, [&](ComputeAccess &access) {
      if (access.array != from)
        return;
      SmallVector<AffineExpr> indices;
      for (auto [index, distance] :
           llvm::zip_equal(access.map.getResults(), shift.distances))
        indices.push_back(index + distance.replaceSymbols(symbols));
      access.array = to;
      access.map = simplifyAffineMap(
          AffineMap::get(access.map.getNumDims(), access.map.getNumSymbols(),
                         indices, access.map.getContext()));
    });
  eraseUnusedArguments(call.kernel, call.call);
}

bool InPlaceStorer::tryMove(KernelCall call, ComputeOp compute) {
  std::optional<Copy> copy = readCopy(call, compute);
  if (!copy)
    return false;
  Value source = getMemory(call, copy->source);
  Value host = getMemory(call, copy->host);
  auto sourceArray = source.getDefiningOp<ArrayOp>();
  auto hostArray = host.getDefiningOp<ArrayOp>();
  for (ArrayOp array : {sourceArray, hostArray})
    if (array && (!array.isIn(Placement::Heap) || array.getStorage()))
      return false;
  std::optional<SmallVector<AffineExpr>> extents =
      sizes.getExtents(source, call);
  // A host stays where it is, so that its readers are found once. Nobody may
  // see the source in another way.
  if (!extents || held.contains(source) ||
      (!sourceArray &&
       !llvm::all_of(source.getUsers(), llvm::IsaPred<CallOp, memref::DimOp>)))
    return false;

  SmallVector<Access> accesses;
  if (failed(collect(source, call, accesses)))
    return false;
  std::optional<KernelCall> producer = findProducer(*copy, accesses);
  if (!producer)
    return false;
  Part part;
  for (AffineExpr shift : copy->offset)
    part.offset.push_back(sizes.get(call, shift));
  part.extent = *extents;
  ComputeAccess write = compute.getWriteAccesses().front();
  if (!sizes.covers(call, compute, write.map, part) ||
      !isFree(*copy, host, part))
    return false;

  // All calls that see the source get the host, and what it is shifted by.
  Operation *first = producer->call;
  SmallVector<Value> needed;
  if (hostArray)
    for (Value size : hostArray.getSizes())
      needed.push_back(call.getOperand(cast<BlockArgument>(size)));
  else
    needed.push_back(host);
  Shift shift = getShift(*copy);
  llvm::append_range(needed, shift.sizes);
  llvm::SetVector<Operation *> users;
  for (const Access &access : accesses)
    users.insert(access.call.call);
  for (Operation *user : users)
    if (user->isBeforeInBlock(first) || !mayEdit(user, source))
      return false;
  if (!llvm::all_of(needed,
                    [&](Value value) { return canHoist(value, first); }))
    return false;

  for (Value value : needed)
    hoist(value, first);
  if (hostArray && !sourceArray) {
    Value exposed = expose(call, hostArray, first);
    SmallVector<Held, 2> before = std::move(held[host]);
    held.erase(host);
    held[exposed] = std::move(before);
    host = exposed;
  }
  Held &inside = held[host].emplace_back();
  inside.part = std::move(part);
  for (const Access &access : accesses)
    if (!access.isWrite && access.compute != compute)
      inside.reads.push_back({access.compute, access.number});
  compute.erase();
  for (Operation *user : users)
    redirect({cast<CallOp>(user), kernelOf.lookup(user)}, source, host, shift);
  if (sourceArray || source.use_empty())
    source.getDefiningOp()->erase();
  return true;
}

unsigned InPlaceStorer::run() {
  unsigned numMoved = 0;
  for (KernelCall call : calls) {
    for (ComputeOp compute : call.kernel.getComputes())
      numMoved += tryMove(call, compute);
    if (call.kernel.getComputes().empty()) {
      kernelOf.erase(call.call);
      call.call.erase();
      call.kernel.erase();
    }
  }
  return numMoved;
}

namespace {
struct PolyStoreInPlacePass
    : espalier::poly::impl::PolyStoreInPlacePassBase<PolyStoreInPlacePass> {
  void runOnOperation() override {
    llvm::StringMap<SmallVector<CallOp, 1>> callsOf;
    getOperation().walk(
        [&](CallOp call) { callsOf[call.getCallee()].push_back(call); });
    llvm::DenseMap<Operation *, KernelOp> kernels;
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      ArrayRef<CallOp> calls = callsOf[kernel.getSymName()];
      if (kernel.isPrivate() && !kernel.getSchedule() && calls.size() == 1)
        kernels[calls.front()] = kernel;
    }
    for (auto function :
         llvm::to_vector(getOperation().getOps<FunctionOpInterface>()))
      if (!isa<KernelOp>(function))
        numStored += InPlaceStorer(function, kernels).run();
  }
};
} // namespace
