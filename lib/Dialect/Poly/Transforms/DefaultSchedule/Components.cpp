//===- Components.cpp - Computations that share loops ---------------------===//

#include "../KernelShape.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace espalier::poly;

namespace {
/// How a value flows along one dimension of two computations.
enum class Flow { Same, Carried, Unrelated };
} // namespace

/// Whether the reader's point uses, along `dim`, what the writer's point with
/// the same index made, or one with a smaller index.
static Flow getFlow(const ComputeAccess &write, const ComputeAccess &read,
                    unsigned dim) {
  AffineExpr self = getAffineDimExpr(dim, write.map.getContext());
  Flow best = Flow::Unrelated;
  for (auto [w, r] : llvm::zip(write.map.getResults(), read.map.getResults())) {
    if (w != self)
      continue;
    if (r == self)
      return Flow::Same;
    auto distance = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
        self - r, read.map.getNumDims(), read.map.getNumSymbols()));
    if (distance && distance.getValue() > 0)
      best = Flow::Carried;
  }
  return best;
}

/// Whether points of one computation that write and read one element agree in
/// `dim`, because both indices of a panel are in the map.
static bool isSameElement(const ComputeAccess &write, const ComputeAccess &read,
                          unsigned dim) {
  AffineExpr self = getAffineDimExpr(dim, write.map.getContext());
  auto has = [&](AffineExpr index) {
    return llvm::is_contained(write.map.getResults(), index);
  };
  return write.map == read.map &&
         llvm::any_of(write.map.getResults(), [&](AffineExpr index) {
           auto binary = dyn_cast<AffineBinaryOpExpr>(index);
           return binary && binary.getLHS() == self &&
                  has(self.floorDiv(binary.getRHS())) &&
                  has(self % binary.getRHS());
         });
}

namespace {
/// A value flows from a write of one computation to a read of another.
struct Edge {
  unsigned writer, reader;
  const ComputeAccess *write, *read;
};
} // namespace

static SmallVector<Edge> findEdges(ArrayRef<ComputeShape> shapes) {
  SmallVector<Edge> edges;
  for (unsigned w = 0; w < shapes.size(); ++w)
    for (const ComputeAccess &write : shapes[w].writes)
      for (unsigned r = 0; r < shapes.size(); ++r)
        for (const ComputeAccess &read : shapes[r].reads)
          if (read.array == write.array)
            edges.push_back({w, r, &write, &read});
  return edges;
}

/// The loops of a computation that are not those of a reduction: every write
/// depends on them, or they are the first `numOuter`.
static unsigned countOwnLoops(const ComputeShape &shape,
                              unsigned numOuter = 0) {
  unsigned own = numOuter;
  while (own < shape.getNumDims() &&
         llvm::all_of(
             shape.writes,
             [&](const ComputeAccess &write) {
               return write.map.isFunctionOfDim(own);
             }))
    ++own;
  return own;
}

/// Whether what an edge is about passes from one iteration of the first
/// `numOuter` loops to a later one.
static bool isCarried(const Edge &edge, unsigned numOuter) {
  return llvm::any_of(llvm::seq(numOuter), [&](unsigned dim) {
    return getFlow(*edge.write, *edge.read, dim) == Flow::Carried;
  });
}

/// Finds the loops that the computations of `component` can share.
static void findSharedLoops(ArrayRef<ComputeShape> shapes, ArrayRef<Edge> edges,
                            Component &component) {
  unsigned numOuter = component.numOuter, shared = ~0u;
  for (unsigned i : component.computes)
    shared = std::min(shared, countOwnLoops(shapes[i], numOuter));
  component.sequential.assign(shared, false);
  for (const Edge &edge : edges) {
    if (!llvm::is_contained(component.computes, edge.writer) ||
        !llvm::is_contained(component.computes, edge.reader) ||
        isCarried(edge, numOuter))
      continue;
    for (unsigned dim = numOuter; dim < shared; ++dim) {
      Flow flow = getFlow(*edge.write, *edge.read, dim);
      // A computation that reads what it writes keeps its own order.
      if (edge.writer == edge.reader) {
        if (flow != Flow::Same && !isSameElement(*edge.write, *edge.read, dim))
          component.sequential[dim] = true;
      } else if (flow == Flow::Unrelated)
        shared = dim;
      else if (flow == Flow::Carried)
        component.sequential[dim] = true;
    }
  }
  component.sequential.resize(shared);
  std::fill_n(component.sequential.begin(), numOuter, true);
  component.sharedDims = shared;
}

/// How many loops the program runs around all computations of a component.
static unsigned countInterleaved(ArrayRef<ComputeShape> shapes,
                                 const Component &component) {
  unsigned count = component.computes.size() > 1 ? ~0u : 0;
  for (auto [first, second] :
       llvm::zip(component.computes, llvm::drop_begin(component.computes)))
    count = std::min<unsigned>(
        count, second == first + 1
                   ? shapes[second].op.getInterleaved().value_or(0)
                   : 0);
  return count;
}

/// Whether `shape` is a sum that reads an operand again along its own loops
/// inside of the first `numOuter`: its results are a tile in registers.
static bool hasTile(const ComputeShape &shape, unsigned numOuter) {
  unsigned own = std::max(numOuter, countOwnLoops(shape));
  return shape.op.getReduction() &&
         llvm::any_of(shape.reads, [&](const ComputeAccess &read) {
           return read.array != shape.writes.front().array &&
                  llvm::any_of(llvm::seq(numOuter, own), [&](unsigned dim) {
                    return !read.map.isFunctionOfDim(dim);
                  });
         });
}

/// Whether `shape` is a sum that reads an operand again along one of the loops
/// from `numOuter` to `numShared`: sharing these leaves one row to its tile.
static bool losesRows(const ComputeShape &shape, unsigned numOuter,
                      unsigned numShared) {
  return shape.op.getReduction() &&
         llvm::any_of(shape.reads, [&](const ComputeAccess &read) {
           return read.array != shape.writes.front().array &&
                  !llvm::all_of(llvm::seq(numOuter, numShared),
                                [&](unsigned dim) {
                                  return read.map.isFunctionOfDim(dim);
                                });
         });
}

/// Whether points of two computations that touch one element agree in `dim`: an
/// index is that dimension, or is in the part of the row that it numbers.
static bool isSameAlong(unsigned dim, const ComputeShape &first,
                        const ComputeAccess &access, const ComputeShape &second,
                        const ComputeAccess &other) {
  AffineExpr self = getAffineDimExpr(dim, access.map.getContext());
  for (auto [lhs, rhs] :
       llvm::zip_equal(access.map.getResults(), other.map.getResults())) {
    auto index = dyn_cast<AffineDimExpr>(lhs);
    if (!index || lhs != rhs)
      continue;
    const std::optional<Part> &part = first.parts[index.getPosition()];
    if (lhs == self || (part && part->row == self &&
                        second.parts[index.getPosition()] == part))
      return true;
  }
  return false;
}

/// Whether no iteration of the first loop of `component` touches what another
/// one writes.
static bool hasFreeOrder(ArrayRef<ComputeShape> shapes,
                         const Component &component) {
  auto isApart = [&](unsigned writer, const ComputeAccess &write,
                     ArrayRef<ComputeAccess> accesses, unsigned other) {
    return llvm::all_of(accesses, [&](const ComputeAccess &access) {
      return access.array != write.array ||
             isSameAlong(0, shapes[writer], write, shapes[other], access);
    });
  };
  for (unsigned writer : component.computes)
    for (const ComputeAccess &write : shapes[writer].writes)
      for (unsigned other : component.computes)
        if (!isApart(writer, write, shapes[other].reads, other) ||
            !isApart(writer, write, shapes[other].writes, other))
          return false;
  return true;
}

/// Leaves loops to the program that it runs around all computations: those of a
/// recurrence, or over blocks. A scan, whose computations share all loops, is a
/// component like others.
static void findOuterLoops(ArrayRef<ComputeShape> shapes,
                           Component &component) {
  bool isScan = llvm::all_of(component.computes, [&](unsigned i) {
    return shapes[i].getNumDims() == component.sharedDims;
  });
  if (isScan && component.sharedDims > 0)
    return;
  unsigned together = countInterleaved(shapes, component);
  // Blocks of independent iterations, with the tiles of several sums inside, or
  // of one with all its rows.
  if (together > 0 && together < component.sharedDims &&
      !llvm::is_contained(component.sequential, true) &&
      (llvm::count_if(
           component.computes,
           [&](unsigned i) { return hasTile(shapes[i], together); }) > 1 ||
       llvm::any_of(
           component.computes,
           [&](unsigned i) {
             return losesRows(shapes[i], together, component.sharedDims);
           }))) {
    component.sharedDims = together;
    component.sequential.resize(together);
    component.areBlocks = true;
  }
  if (component.sharedDims > 0 && !component.sequential.front())
    return;
  component.numOuter = together;
  if (component.numOuter == 0)
    return;
  component.sharedDims = component.numOuter;
  component.sequential.assign(component.numOuter, true);
  // Rows that have parts of one list, say.
  component.sequential.front() = !hasFreeOrder(shapes, component);
}

/// Computations of components that are joined, at most.
static constexpr size_t kMaxJoined = 24;

/// The sum of `component` with the most loops, if it has one.
static const ComputeShape *findSum(ArrayRef<ComputeShape> shapes,
                                   const Component &component) {
  const ComputeShape *sum = nullptr;
  for (unsigned i : component.computes)
    if (shapes[i].op.getReduction() &&
        (!sum || shapes[i].getNumDims() > sum->getNumDims()))
      sum = &shapes[i];
  return sum;
}

/// The operand of `sum` that depends on the fewest of the shared loops; of
/// equals, the smallest.
static const ComputeAccess *findReused(const ComputeShape &sum,
                                       unsigned sharedDims) {
  const ComputeAccess *reused = nullptr;
  std::pair<unsigned, int64_t> least(~0u, 0);
  for (const ComputeAccess &read : sum.reads) {
    MemRefType type = read.getType();
    auto isUsed = [&](unsigned dim) { return read.map.isFunctionOfDim(dim); };
    std::pair<unsigned, int64_t> size(
        llvm::count_if(llvm::seq(sharedDims), isUsed),
        type.hasStaticShape() ? type.getNumElements() : INT64_MAX);
    if (!isa<BlockArgument>(read.array) || size >= least)
      continue;
    reused = &read;
    least = size;
  }
  return reused;
}

/// Whether two components are parts of one operator, such as the phases of a
/// transposed convolution: sums over the same points of the same operands,
/// whose results go into one array that does not stay in cache, while the
/// operand that most points of a tile use does.
static bool arePhases(ArrayRef<ComputeShape> shapes, const Component &first,
                      const Component &second, int64_t cacheBytes) {
  const ComputeShape *lhs = findSum(shapes, first);
  const ComputeShape *rhs = findSum(shapes, second);
  if (!lhs || !rhs || first.computes.size() != second.computes.size() ||
      first.sequential != second.sequential ||
      llvm::is_contained(first.sequential, true) ||
      lhs->extents != rhs->extents || lhs->begins != rhs->begins ||
      lhs->reads.size() != rhs->reads.size())
    return false;
  for (auto [one, other] : llvm::zip_equal(lhs->reads, rhs->reads))
    if (one.array != other.array && isa<BlockArgument>(one.array))
      return false;
  auto stays = [&](const ComputeAccess &access) {
    MemRefType type = access.getType();
    return type.hasStaticShape() &&
           type.getNumElements() * getBytes(type.getElementType()) <=
               cacheBytes / 2;
  };
  const ComputeAccess *reused = findReused(*lhs, first.sharedDims);
  if (reused && !stays(*reused))
    return false;
  const ComputeShape &last = shapes[first.computes.back()];
  return llvm::any_of(last.writes, [&](const ComputeAccess &write) {
    return isa<BlockArgument>(write.array) && !stays(write) &&
           llvm::any_of(shapes[second.computes.back()].writes,
                        [&](const ComputeAccess &other) {
                          return other.array == write.array;
                        });
  });
}

/// Lets phases run tile by tile: what they read stays in cache, and what one
/// leaves out of a line of the result is written soon.
static SmallVector<Component> joinPhases(ArrayRef<ComputeShape> shapes,
                                         ArrayRef<Component> components,
                                         int64_t cacheBytes) {
  SmallVector<Component> joined;
  const Component *first = nullptr; // Of what is last in `joined`.
  for (const Component &component : components) {
    if (first && joined.back().computes.size() <= kMaxJoined &&
        arePhases(shapes, *first, component, cacheBytes)) {
      llvm::append_range(joined.back().computes, component.computes);
    } else {
      joined.push_back(component);
      first = &component;
    }
  }
  return joined;
}

SmallVector<Component>
espalier::poly::findComponents(ArrayRef<ComputeShape> shapes,
                               int64_t cacheBytes) {
  SmallVector<Edge> edges = findEdges(shapes);
  llvm::EquivalenceClasses<unsigned> classes;
  for (unsigned i = 0; i < shapes.size(); ++i)
    classes.insert(i);
  for (const Edge &edge : edges)
    classes.unionSets(edge.writer, edge.reader);

  SmallVector<Component> components;
  llvm::DenseMap<unsigned, unsigned> number;
  for (unsigned i = 0; i < shapes.size(); ++i) {
    unsigned leader = classes.getLeaderValue(i);
    auto [it, isNew] = number.try_emplace(leader, components.size());
    if (isNew)
      components.emplace_back();
    components[it->second].computes.push_back(i);
  }
  for (Component &component : components) {
    findSharedLoops(shapes, edges, component);
    findOuterLoops(shapes, component);
  }
  return joinPhases(shapes, components, cacheBytes);
}

/// As many results of a window at most are kept in registers.
static constexpr int64_t kMaxWindow = 9;

/// Whether the dimensions of `shape` after the shared ones of `component`, if
/// it has any, begin with the window of `like`.
static bool hasWindow(const ComputeShape &shape, unsigned begin,
                      const ComputeShape &like, unsigned end) {
  if (shape.getNumDims() == begin)
    return true;
  if (shape.getNumDims() < end)
    return false;
  for (unsigned dim = begin; dim < end; ++dim)
    if (shape.extents[dim] != like.extents[dim] || shape.isRestricted(dim))
      return false;
  return true;
}

/// Whether `read` is of one point of the window, from `begin` to `end`, that
/// `write` fills.
static bool readsPoint(const ComputeAccess &write, const ComputeAccess &read,
                       unsigned begin, unsigned end) {
  auto isOfWindow = [&](AffineExpr index) {
    return llvm::any_of(llvm::seq(begin, end), [&](unsigned dim) {
      return index.isFunctionOfDim(dim);
    });
  };
  return write.array == read.array &&
         llvm::all_of(
             llvm::zip_equal(write.map.getResults(), read.map.getResults()),
             [&](auto pair) {
               return !isOfWindow(std::get<0>(pair)) ||
                      isa<AffineConstantExpr>(std::get<1>(pair));
             });
}

/// Whether the sums of `group` are combined, window by window, by a reduction
/// over as many loops as `begin`, or by a map that has no more and reads points
/// of the window: then both can share these.
static bool isClosedBy(ArrayRef<ComputeShape> shapes,
                       const Component &component, const Component &group,
                       unsigned begin) {
  unsigned end = group.sharedDims;
  const ComputeShape &first = shapes[group.computes.front()];
  int64_t size = 1;
  for (unsigned dim = begin; dim < end; ++dim)
    size *=
        std::min(first.getExtent(dim).value_or(kMaxWindow + 1), kMaxWindow + 1);
  bool isSum = llvm::any_of(group.computes, [&](unsigned i) {
    return shapes[i].op.getReduction() && shapes[i].getNumDims() > end;
  });
  if (begin >= end || size < 2 || size > kMaxWindow || !isSum ||
      !llvm::all_of(group.computes, [&](unsigned i) {
        return hasWindow(shapes[i], begin, first, end);
      }))
    return false;
  return llvm::any_of(component.computes, [&](unsigned reader) {
    const ComputeShape &shape = shapes[reader];
    bool isMap = !shape.op.getReduction() && shape.getNumDims() == begin;
    bool isClosing = shape.op.getReduction() && countOwnLoops(shape) == begin &&
                     shape.getNumDims() == end &&
                     hasWindow(shape, begin, first, end);
    auto closes = [&](const ComputeAccess &write, const ComputeAccess &read) {
      return isMap ? readsPoint(write, read, begin, end)
                   : write.array == read.array;
    };
    return (isMap || isClosing) &&
           llvm::any_of(shape.reads, [&](const ComputeAccess &read) {
             return llvm::any_of(group.computes, [&](unsigned i) {
               return llvm::any_of(shapes[i].writes,
                                   [&](const ComputeAccess &write) {
                                     return closes(write, read);
                                   });
             });
           });
  });
}

bool espalier::poly::startsSum(ArrayRef<ComputeShape> shapes, unsigned first,
                               unsigned second) {
  const ComputeShape &start = shapes[first], &sum = shapes[second];
  unsigned numDims = start.getNumDims();
  return second == first + 1 && sum.op.getReduction() &&
         !start.op.getReduction() && start.writes.size() == 1 &&
         start.writes.front().array == sum.writes.front().array &&
         sum.getNumDims() >= numDims && countOwnLoops(sum) == numDims &&
         ArrayRef(sum.extents).take_front(numDims) == ArrayRef(start.extents);
}

bool espalier::poly::readsFarRows(ArrayRef<ComputeShape> shapes,
                                  const Component &group,
                                  const ComputeShape &map) {
  auto isSum = [&](unsigned i) {
    return shapes[i].op.getReduction() &&
           shapes[i].getNumDims() > group.sharedDims;
  };
  unsigned numParams = map.op.getKernel().getNumParameters();
  auto isFar = [&](const ComputeAccess &read) {
    return isa<BlockArgument>(read.array) && read.map.getNumResults() > 1 &&
           llvm::any_of(read.map.getResults(), [&](AffineExpr index) {
             return llvm::any_of(llvm::seq(numParams, read.map.getNumSymbols()),
                                 [&](unsigned symbol) {
                                   return index.isFunctionOfSymbol(symbol);
                                 });
           });
  };
  return group.numOuter > 0 && !map.op.getReduction() &&
         llvm::any_of(group.computes, isSum) && llvm::any_of(map.reads, isFar);
}

SmallVector<Component> espalier::poly::separate(ArrayRef<ComputeShape> shapes,
                                                const Component &component) {
  SmallVector<Edge> edges = findEdges(shapes);
  SmallVector<Component> groups;
  for (unsigned i : component.computes) {
    if (groups.empty() || groups.back().computes.size() > 1 ||
        !startsSum(shapes, groups.back().computes.back(), i)) {
      groups.emplace_back();
      groups.back().numOuter = component.numOuter;
    }
    groups.back().computes.push_back(i);
    findSharedLoops(shapes, edges, groups.back());
  }
  return groups;
}

SmallVector<Component> espalier::poly::findGroups(ArrayRef<ComputeShape> shapes,
                                                  const Component &component) {
  SmallVector<Edge> edges = findEdges(shapes);
  SmallVector<Component> groups;
  for (unsigned i : component.computes) {
    Component alone;
    alone.computes = {i};
    alone.numOuter = component.numOuter;
    findSharedLoops(shapes, edges, alone);
    if (groups.empty()) {
      groups.push_back(std::move(alone));
      continue;
    }
    Component joined = groups.back();
    auto isTile = [&](unsigned other) {
      return hasTile(shapes[other], component.sharedDims);
    };
    // What is done to the rows of a block runs row by row.
    if (component.areBlocks && !isTile(i) &&
        llvm::none_of(joined.computes, isTile)) {
      Component rows = joined;
      rows.computes.push_back(i);
      findSharedLoops(shapes, edges, rows);
      if (rows.sharedDims > component.sharedDims) {
        groups.back() = std::move(rows);
        continue;
      }
    }
    const ComputeShape &first = shapes[joined.computes.front()];
    if (joined.numWindow == 0 &&
        isClosedBy(shapes, component, joined, alone.sharedDims))
      joined.numWindow = joined.sharedDims - alone.sharedDims;
    // Whoever comes after a window that is closed may have one of its own.
    unsigned begin = joined.numWindow
                         ? std::min(joined.sharedDims, alone.sharedDims)
                         : alone.sharedDims;
    if ((joined.sharedDims == begin || joined.numWindow) &&
        !readsFarRows(shapes, joined, shapes[i]) &&
        hasWindow(shapes[i], begin, first, begin + joined.numWindow)) {
      joined.computes.push_back(i);
      findSharedLoops(shapes, edges, joined);
      if (joined.sharedDims == begin &&
          ArrayRef(first.extents).take_front(begin) ==
              ArrayRef(shapes[i].extents).take_front(begin)) {
        groups.back() = std::move(joined);
        continue;
      }
    }
    // What starts a sum stays with it.
    Component &before = groups.back();
    if (before.computes.size() > 1 && before.numWindow == 0 &&
        startsSum(shapes, before.computes.back(), i)) {
      before.computes.pop_back();
      alone.computes = {i - 1, i};
      findSharedLoops(shapes, edges, before);
      findSharedLoops(shapes, edges, alone);
    }
    groups.push_back(std::move(alone));
  }
  return groups;
}
