//===- DefaultSchedule.cpp - A good schedule for every kernel -------------===//
//
// For each component of a kernel (computations that feed one another) writes
//
//   tile loops over the shared dimensions        parallel where possible
//     sequence
//       each computation: its own loops, then the rows and vectors of the tile
//
// The result of a reduction is a register tile: its `poly.array` gets a storage
// map that keeps one tile, and the loops over the tile are unrolled. Where a
// tile does not divide an extent, the rest gets the same tree with a smaller
// tile (of the constant size that is left, or single rows if it is not known),
// so that no tile has conditions inside.
//
//===----------------------------------------------------------------------===//

#include "../ScheduleTree.h"
#include "ComponentScheduler.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/Transforms/Passes.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Remarks.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYDEFAULTSCHEDULEPASS
#include "espalier/Dialect/Poly/Transforms/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// The score of a dimension that has a single point.
static constexpr int64_t kNoLanes = -1000000;

std::optional<int64_t> ComponentScheduler::getSharedExtent(unsigned dim) const {
  auto number = dyn_cast_or_null<AffineConstantExpr>(getSharedBound(dim));
  if (!number)
    return std::nullopt;
  return number.getValue();
}

/// The extent of a shared dimension, if all computations agree in it.
AffineExpr ComponentScheduler::getSharedBound(unsigned dim) const {
  AffineExpr bound;
  for (unsigned i : component.computes) {
    if (!shapes[i].extents[dim] || (bound && bound != shapes[i].extents[dim]))
      return {};
    bound = shapes[i].extents[dim];
  }
  return bound;
}

std::optional<unsigned> ComponentScheduler::findReduction() const {
  std::optional<unsigned> best;
  for (unsigned p = 0; p < component.computes.size(); ++p)
    if (shape(p).op.getReduction() && shape(p).getNumDims() > numShared)
      if (!best || shape(p).getNumDims() > shape(*best).getNumDims())
        best = p;
  return best;
}

/// How well `dim` serves as lanes: contiguous or invariant accesses count for
/// it, others against.
int64_t ComponentScheduler::scoreVectorDim(const ComputeShape &compute,
                                           unsigned dim, int64_t lanes) const {
  int64_t score = 0;
  std::optional<int64_t> extent = compute.getExtent(dim);
  if ((extent && *extent < 2) || compute.restricted[dim])
    return kNoLanes;
  auto add = [&](const ComputeAccess &access, int64_t weight) {
    if (!access.map.isFunctionOfDim(dim))
      return;
    std::optional<int64_t> stride = getStride(access, dim, lanes);
    // Lanes at distances that vary cannot be loaded.
    if (!stride)
      score += kNoLanes;
    else if (stride == 1)
      score += 4 * weight;
    else if (*stride != 0)
      score -= (*stride == kUnknownStride ? 12 : 6) * weight;
  };
  for (const ComputeAccess &access : compute.reads)
    add(access, 1);
  for (const ComputeAccess &access : compute.writes)
    add(access, 2);
  if (extent && *extent < lanes)
    score = score / 2 - 1;
  return score;
}

void ComponentScheduler::chooseVectorDim() {
  // The widest element decides how many lanes a register has.
  int64_t bits = 8;
  auto widen = [&](Type type) {
    if (type.isIntOrFloat())
      bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
  };
  for (unsigned i : component.computes)
    for (const ComputeAccess &write : shapes[i].writes)
      widen(write.getType().getElementType());
  bits = std::max<int64_t>(bits, 32);
  lanes = std::max<int64_t>(1, target.getVectorBits() / bits);

  int64_t bestScore = 0;
  for (unsigned dim = outer.count; dim < numShared; ++dim) {
    if (component.sequential[dim] || isRestricted(dim))
      continue;
    int64_t score = 0;
    for (unsigned i : component.computes) {
      int64_t own = scoreVectorDim(shapes[i], dim, lanes);
      // The main reduction runs most often.
      score += own * (reduction && component.computes[*reduction] == i ? 8 : 1);
    }
    if (score >= bestScore && score > 0) {
      bestScore = score;
      vectorDim = dim;
    }
  }
  if (!vectorDim)
    return;
  // A loop of the computations' own may be better: a row of memory.
  int64_t ownScore = 0;
  for (unsigned i : component.computes) {
    int64_t best = 0;
    for (unsigned dim = numShared; dim < shapes[i].getNumDims(); ++dim)
      best = std::max(best, scoreVectorDim(shapes[i], dim, lanes));
    ownScore +=
        best * (reduction && component.computes[*reduction] == i ? 8 : 1);
  }
  if (ownScore > bestScore)
    vectorDim.reset();
}

/// Whether some operand of the reduction is the same for all lanes.
bool ComponentScheduler::readsBroadcast(const ComputeShape &compute) const {
  return llvm::any_of(compute.reads, [&](const ComputeAccess &read) {
    return !read.map.isFunctionOfDim(*vectorDim) && read.map.getNumResults();
  });
}

/// How far apart the scalars are that neighbours along `dim` read; 0 if they
/// read the same one, or that is not known.
int64_t ComponentScheduler::getRowBytes(const ComputeShape &compute,
                                        unsigned dim) const {
  for (const ComputeAccess &read : compute.reads) {
    if (read.map.isFunctionOfDim(*vectorDim) || !read.map.isFunctionOfDim(dim))
      continue;
    std::optional<int64_t> stride = getStride(read, dim, lanes);
    if (stride && *stride != kUnknownStride)
      return std::abs(*stride) * getBytes(read.getType().getElementType());
  }
  return 0;
}

void ComponentScheduler::chooseTile() {
  tile.rows.assign(numShared, 1);
  tile.vectors = 1;
  if (!vectorDim || !reduction)
    return;
  TileProblem problem{target, lanes, {}, *vectorDim, {}, false};
  const ComputeShape &main = shape(*reduction);
  problem.broadcastsRows = readsBroadcast(main);
  for (unsigned dim = numShared; dim < getFirstOwn(main); ++dim)
    problem.window *= *main.getExtent(dim);
  for (unsigned dim = 0; dim < numShared; ++dim) {
    problem.extents.push_back(getSharedExtent(dim));
    // Rows share the operands that do not depend on them.
    bool shares = llvm::any_of(main.reads, [&](const ComputeAccess &read) {
      return !read.map.isFunctionOfDim(dim);
    });
    if (dim >= outer.count && dim != *vectorDim && !component.sequential[dim] &&
        !isRestricted(dim) && getSharedBound(dim) && shares)
      problem.rowDims.push_back(dim);
  }
  ArrayRef<unsigned> rows = problem.rowDims;
  if (!rows.empty())
    problem.innerRowBytes = getRowBytes(main, rows.back());
  if (rows.size() > 1)
    problem.outerRowBytes = getRowBytes(main, rows[rows.size() - 2]);
  tile = chooseRegisterTile(problem);
}

bool ComponentScheduler::isShared(Value array) const {
  // By the uses of the array: a kernel may have thousands of computations.
  return llvm::any_of(array.getUsers(), [&](Operation *user) {
    auto compute = dyn_cast<ComputeOp>(user);
    return compute && llvm::none_of(component.computes, [&](unsigned number) {
             return shapes[number].op == compute;
           });
  });
}

void ComponentScheduler::placeArrays() {
  llvm::DenseMap<Value, const ComputeAccess *> writers;
  // An element in a register is written in every iteration.
  llvm::SmallDenseSet<Value> partial;
  for (unsigned i : component.computes)
    for (const ComputeAccess &write : shapes[i].writes) {
      writers.try_emplace(write.array, &write);
      if (!shapes[i].op.getReduction() &&
          (shapes[i].op.getWhere() ||
           llvm::is_contained(
               ArrayRef(shapes[i].restricted).take_front(numShared), true)))
        partial.insert(write.array);
    }
  for (auto [value, write] : writers) {
    auto array = value.getDefiningOp<ArrayOp>();
    if (!array || array.getStorage() || isShared(array))
      continue;
    // One tile along each shared dimension, all of the others.
    auto type = cast<MemRefType>(array.getType());
    SmallVector<AffineExpr> results;
    SmallVector<int64_t> shape;
    llvm::SmallDenseSet<unsigned> covered;
    bool possible = true;
    for (auto [position, index] : llvm::enumerate(write->map.getResults())) {
      AffineExpr self = getAffineDimExpr(position, context);
      auto dim = dyn_cast<AffineDimExpr>(index);
      if (!dim || dim.getPosition() >= numShared ||
          component.sequential[dim.getPosition()]) {
        results.push_back(self);
        shape.push_back(type.getDimSize(position));
        continue;
      }
      unsigned number = dim.getPosition();
      covered.insert(number);
      if (llvm::is_contained(rowsInsideSum, number)) {
        bool isBlocked = number == blockedRow;
        results.push_back(isBlocked ? self % rowsOfBlock : self);
        shape.push_back(isBlocked ? rowsOfBlock : type.getDimSize(position));
        continue;
      }
      int64_t size =
          number == vectorDim ? lanes * tile.vectors : tile.rows[number];
      if (size == 1)
        continue;
      results.push_back(self % size);
      shape.push_back(size);
    }
    // Without some shared dimension, iterations would share the memory.
    possible &= covered.size() == numShared ||
                llvm::all_of(llvm::seq(0u, numShared), [&](unsigned dim) {
                  return covered.contains(dim) || component.sequential[dim];
                });
    if (!possible || llvm::is_contained(component.sequential, true))
      continue;
    auto storage = MemRefType::get(shape, type.getElementType());
    array.setStorageAttr(AffineMapAttr::get(
        AffineMap::get(type.getRank(), 0, results, context)));
    array.setStorageTypeAttr(TypeAttr::get(storage));
    // Registers are written and read under the same conditions: where the
    // computations agree in the extents.
    bool isTile = rowsInsideSum.empty() &&
                  results.size() <= covered.size() + component.numWindow &&
                  storage.hasStaticShape() && !partial.contains(value) &&
                  llvm::all_of(llvm::seq(0u, numShared), [&](unsigned dim) {
                    return bool(getSharedBound(dim));
                  });
    if (isTile)
      for (auto [position, index] : llvm::enumerate(write->map.getResults()))
        isTile &= isa<AffineDimExpr>(index) &&
                  cast<AffineDimExpr>(index).getPosition() <
                      numShared + component.numWindow;
    if (isTile)
      array.setPlacement(Placement::Register);
    else if (fitsStack(storage))
      array.setPlacement(Placement::Stack);
  }
}

/// Whether one group of computations has loops for a register tile that the
/// whole component does not have.
static bool hasInnerTile(ArrayRef<ComputeShape> shapes,
                         const Component &component,
                         ArrayRef<Component> groups) {
  return groups.size() > 1 && !llvm::is_contained(component.sequential, true) &&
         llvm::any_of(groups, [&](const Component &group) {
           return group.sharedDims > component.sharedDims + 1 &&
                  llvm::any_of(group.computes, [&](unsigned i) {
                    return shapes[i].op.getReduction() &&
                           shapes[i].getNumDims() > group.sharedDims;
                  });
         });
}

void ComponentScheduler::run() {
  SmallVector<Component> groups = findGroups(shapes, component);
  if (outer.count == 0 && hasInnerTile(shapes, component, groups)) {
    runGroups(groups);
    return;
  }
  reduction = findReduction();
  chooseVectorDim();
  chooseTile();
  if (std::optional<unsigned> term = findStreamedRows()) {
    emitStreamedRows(*term);
    return;
  }
  cutSum();
  placeArrays();
  emitSegments();
}

void ComponentScheduler::runGroups(ArrayRef<Component> groups) {
  // Arrays within one group are placed with it.
  tile.rows.assign(numShared, 1);
  SmallVector<Segment> whole(numShared, Segment{{}, {}, 1});
  OuterLoops loops{numShared, false};
  int64_t iterations = 1;
  for (unsigned dim = 0; dim < numShared; ++dim)
    iterations *= getSharedExtent(dim).value_or(target.getCores());
  // Few iterations do not occupy the threads; then the groups share the work.
  loops.areParallel = isParallelWorthwhile() && iterations >= target.getCores();
  emitTileLoops(getLoopOrder(), whole, loops.areParallel);
  emitSequence(kernel, shapes, groups, builder, [&](const Component &group) {
    ComponentScheduler(kernel, shapes, group, target, builder, loops).run();
  });
  placeArrays();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Writes a schedule for `kernel`. For kernels that are not elementwise
/// functions and reductions over boxes it may be illegal.
static void writeSchedule(KernelOp kernel, TargetAttr target) {
  std::vector<ComputeShape> shapes;
  for (ComputeOp op : kernel.getComputes())
    shapes.push_back(getShape(op));
  SmallVector<Component> components = findComponents(shapes);
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  auto schedule = ScheduleOp::create(builder, kernel.getLoc());
  builder.setInsertionPointToEnd(&schedule.getOrCreateBlock());
  emitSequence(
      kernel, shapes, components, builder, [&](const Component &component) {
        ComponentScheduler(kernel, shapes, component, target, builder).run();
      });
}

/// Whether the schedule of `kernel` is known to keep all dependences.
static bool isLegal(KernelOp kernel) {
  KernelModel model = buildModel(kernel);
  polyhedral::ScheduleTree tree =
      buildScheduleTree(model, kernel.getSchedule());
  return polyhedral::checkSchedule(model.program, tree.get()).verdict ==
         polyhedral::Legality::Verdict::Legal;
}

namespace {
struct PolyDefaultSchedulePass
    : espalier::poly::impl::PolyDefaultSchedulePassBase<
          PolyDefaultSchedulePass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (kernel.getSchedule() || kernel.getComputes().empty())
      return;
    OwningOpRef<KernelOp> trial(kernel.clone());
    writeSchedule(*trial, getTarget(kernel));
    if (isLegal(*trial)) {
      kernel.getBody().takeBody(trial->getBody());
      return;
    }
    remark::missed(
        kernel.getLoc(),
        remark::RemarkOpts::name("KeepsProgramOrder").category(getArgument()))
        << "the default schedule would not keep the dependences";
    getOrCreateSchedule(kernel);
  }
};
} // namespace
