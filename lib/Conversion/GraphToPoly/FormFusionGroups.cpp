//===- FormFusionGroups.cpp - Cutting the program into kernels ------------===//
//
// Greedy: a statement joins the kernel that computes one of its operands when
// it reads that kernel's arrays only at its own leading indices, so that both
// can share the loops over those, and when that closes no cycle of kernels.
//
// What changes the order of elements in memory is a kernel of its own: stores
// at a distance would take longer than all of a contraction, and whoever asked
// for the order has measured it alone.
//
// A contraction (a sum of products with reuse) keeps all loops over its target,
// because its tile lives in registers: maps over the same indices join it as
// its epilogue. Rows (softmax, normalization) share fewer loops; the rest of
// the row then stays in cache. What lies along a row must be neighbours in
// memory: loops that others share around it are no lanes.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "PoolingWindows.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Elements that one iteration of the shared loops may touch when sharing fewer
/// loops than the first statement has; beyond it the row leaves the cache.
static constexpr int64_t kMaxRowElements = 1 << 16;
/// Statements that may join one kernel: what decides and scans its order takes
/// more than linear time.
static constexpr size_t kMaxStatements = 32;

namespace {

class ClusterBuilder {
public:
  explicit ClusterBuilder(const StatementList &program) : program(program) {}
  SmallVector<FusionGroup> run();

private:
  struct Node {
    FusionGroup fusionGroup;
    bool isContraction = false;
    unsigned recurrenceGroup = 0;
    SmallVector<AffineExpr> extents; ///< Of the shared loops.
    llvm::BitVector dependsOn;       ///< Groups, transitively.
  };

  /// Whether a tile of the result lives in registers.
  bool isTiled(const Statement &statement) const {
    return statement.entries || getContraction(program, statement);
  }
  std::optional<unsigned> getProducer(ArrayId array) const {
    auto it = producer.find(program.getBase(array));
    if (it == producer.end())
      return std::nullopt;
    return it->second;
  }
  /// How many loops `statement` can share with `node`; none if it cannot join.
  std::optional<unsigned> getSharedDims(const Statement &statement,
                                        unsigned number) const;
  /// Whether `copy`, in `node`, adds a border to planes of what the caller
  /// gives, and `reader` is a sum that reads these plane by plane, or follows
  /// one.
  bool isGivenBorder(const Statement &copy, const Statement &reader,
                     const Node &node) const;
  /// Whether `node` pools what a sum over entries computes, in whose kernel the
  /// windows are then.
  bool poolsEntries(const Node &node) const;
  /// Whether somebody wants `statement` to join the node of that number.
  bool isAsked(const Statement &statement, unsigned number) const {
    return llvm::any_of(getReads(statement), [&](ArrayId array) {
      return program.isChosen(array, Fusion::Fused) &&
             getProducer(array) == number;
    });
  }
  /// What joins goes where somebody wants it; else a contraction's epilogue
  /// saves most, and then the latest producer does.
  std::tuple<bool, bool, unsigned> getPreference(const Statement &statement,
                                                 unsigned number) const {
    return {isAsked(statement, number), nodes[number].isContraction, number};
  }
  bool rowFits(const Node &node, const Statement &statement,
               unsigned shared) const;
  /// Whether neighbours in memory among the elements of `array` differ in one
  /// of the first `shared` indices.
  bool liesAcross(ArrayId array, unsigned shared) const;
  /// Whether `statement` reads a row whose elements are no neighbours.
  bool readsAcross(const Statement &statement, unsigned shared) const;
  void join(unsigned number, unsigned statement);
  void addDependences(Node &node, const Statement &statement);

  const StatementList &program;
  std::vector<Node> nodes;
  llvm::DenseMap<ArrayId, unsigned> producer;
};

bool ClusterBuilder::isGivenBorder(const Statement &copy,
                                   const Statement &reader,
                                   const Node &node) const {
  // Pieces (of a concatenation, say) have loops of their own, without
  // conditions inside. What another kernel computes is stored in place.
  unsigned first = copy.getNumDims();
  for (const Piece &piece : copy.pieces)
    for (const Condition &condition : piece.domain)
      for (unsigned dim = 0; dim < first; ++dim)
        if (condition.expr.isFunctionOfDim(dim))
          first = dim;
  bool isGiven = !copy.reduction && first > 0;
  for (ArrayId array : getReads(copy))
    isGiven &= program.arrays[array].kind == Array::Kind::Input;
  bool isRead = false;
  forEachAccess(reader, [&](Expr access) {
    if (access.getTensor().number != copy.target)
      return;
    isRead = true;
    isGiven &= countIdentityIndices(program, access) == first;
  });
  return isGiven && (isRead ? reader.reduction.has_value()
                            : node.fusionGroup.sharedDims <= first);
}

bool ClusterBuilder::poolsEntries(const Node &node) const {
  const Statement &pooling =
      program.statements[node.fusionGroup.statements.front()];
  return llvm::any_of(getReads(pooling), [&](ArrayId pooled) {
    std::optional<unsigned> from = getProducer(pooled);
    auto windows = getWindows(program, pooling, pooled);
    return from && windows &&
           hasRowsOfTiles(
               program,
               program.statements[nodes[*from].fusionGroup.statements.front()],
               *windows);
  });
}

/// How many points there are, at most `limit`, where extents that are not known
/// count as `unknown`.
static int64_t countPoints(ArrayRef<AffineExpr> extents, int64_t unknown,
                           int64_t limit) {
  uint64_t points = 1;
  for (AffineExpr extent : extents) {
    auto number = dyn_cast<AffineConstantExpr>(extent);
    points =
        std::min<uint64_t>(llvm::SaturatingMultiply<uint64_t>(
                               points, number ? number.getValue() : unknown),
                           limit);
  }
  return points;
}

bool ClusterBuilder::rowFits(const Node &node, const Statement &statement,
                             unsigned shared) const {
  int64_t rows = countPoints(ArrayRef(node.extents).take_front(shared),
                             /*unknown=*/2, /*limit=*/2);
  auto count = [&](ArrayRef<AffineExpr> extents) {
    return countPoints(extents, /*unknown=*/1, kMaxRowElements + 1);
  };
  int64_t points = count(ArrayRef(statement.extents).drop_front(shared));
  if (rows < 2 || points <= kMaxRowElements)
    return rows >= 2;
  // Windows read elements several times.
  int64_t elements = count(ArrayRef(statement.extents)
                               .take_front(program.countPoints(statement))
                               .drop_front(shared));
  forEachAccess(statement, [&](Expr access) {
    SmallVector<AffineExpr> extents;
    for (auto [index, extent] :
         llvm::zip_equal(access.getOperands(),
                         program.arrays[access.getTensor().number].extents))
      if (llvm::any_of(getDims(index),
                       [&](unsigned dim) { return dim >= shared; }))
        extents.push_back(extent);
    elements = std::max(elements, count(extents));
  });
  return elements <= kMaxRowElements;
}

bool ClusterBuilder::liesAcross(ArrayId array, unsigned shared) const {
  unsigned rank = program.getRank(array);
  AffineMap layout = program.arrays[array].layout;
  if (!layout || layout.getNumResults() == 0)
    return rank > 0 && rank <= shared;
  AffineExpr fastest = layout.getResults().back();
  for (unsigned dim = 0; dim < std::min(shared, rank); ++dim)
    if (fastest.isFunctionOfDim(dim))
      return true;
  return false;
}

bool ClusterBuilder::readsAcross(const Statement &statement,
                                 unsigned shared) const {
  // The few taps of a window are no row.
  int64_t row = countPoints(ArrayRef(statement.extents).drop_front(shared),
                            kMaxRowElements, kMaxRowElements);
  if (row < program.vectorLanes)
    return false;
  bool isAcross = false;
  forEachAccess(statement, [&](Expr access) {
    ArrayId array = access.getTensor().number;
    AffineMap layout = program.arrays[array].layout;
    ArrayRef<Expr> indices = access.getOperands();
    auto isInRow = [&](unsigned index) {
      return llvm::any_of(getDims(indices[index]),
                          [&](unsigned dim) { return dim >= shared; });
    };
    auto isFastest = [&](unsigned index) {
      return layout ? layout.getNumResults() > 0 &&
                          layout.getResults().back().isFunctionOfDim(index)
                    : index + 1 == indices.size();
    };
    auto all = llvm::seq<unsigned>(0, indices.size());
    isAcross |=
        llvm::any_of(all, isInRow) && llvm::none_of(all, [&](unsigned index) {
          return isFastest(index) && isInRow(index);
        });
  });
  return isAcross;
}

std::optional<unsigned>
ClusterBuilder::getSharedDims(const Statement &statement,
                              unsigned number) const {
  const Node &node = nodes[number];
  bool hasPieces =
      llvm::any_of(node.fusionGroup.statements, [&](unsigned other) {
        return program.statements[other].pieces.size() > 1 &&
               !isGivenBorder(program.statements[other], statement, node);
      });
  if (node.fusionGroup.statements.size() >= kMaxStatements ||
      node.recurrenceGroup || statement.recurrence || hasPieces ||
      isTiled(statement) || changesLayout(program, statement))
    return std::nullopt;
  unsigned numTargetDims = program.countPoints(statement);
  unsigned shared = std::min(node.fusionGroup.sharedDims, numTargetDims);
  bool possible = true;
  forEachAccess(statement, [&](Expr access) {
    ArrayId array = access.getTensor().number;
    std::optional<unsigned> from = getProducer(array);
    if (!from)
      return;
    if (*from != number) {
      possible &= !nodes[*from].dependsOn.test(number);
      return;
    }
    if (program.arrays[array].reshapeOf ||
        program.isChosen(array, Fusion::Separate))
      possible = false;
    else
      shared = std::min(shared, countIdentityIndices(program, access));
  });
  if (!possible)
    return std::nullopt;
  for (unsigned dim = 0; dim < shared; ++dim)
    if (statement.extents[dim] != node.extents[dim])
      shared = dim;
  // Whether it pays is decided by who asks for it.
  bool isFree = isAsked(statement, number);
  if (!isFree && readsAcross(statement, shared))
    return std::nullopt;
  if (shared == node.fusionGroup.sharedDims &&
      (!node.isContraction ||
       (!statement.reduction && shared == numTargetDims)))
    return shared;
  if (node.isContraction || shared == 0 || !rowFits(node, statement, shared) ||
      (!isFree && poolsEntries(node)))
    return std::nullopt;
  // The statements already there get longer rows as well.
  for (unsigned other : node.fusionGroup.statements)
    if (!rowFits(node, program.statements[other], shared) ||
        (!isFree && liesAcross(program.statements[other].target, shared)))
      return std::nullopt;
  return shared;
}

void ClusterBuilder::addDependences(Node &node, const Statement &statement) {
  for (ArrayId array : getReads(statement))
    if (std::optional<unsigned> from = getProducer(array)) {
      unsigned self = &node - nodes.data();
      if (*from == self)
        continue;
      node.dependsOn.set(*from);
      node.dependsOn |= nodes[*from].dependsOn;
    }
}

void ClusterBuilder::join(unsigned number, unsigned statement) {
  Node &node = nodes[number];
  node.fusionGroup.statements.push_back(statement);
  addDependences(node, program.statements[statement]);
  producer[program.statements[statement].target] = number;
  // Whoever depends on this kernel now depends on its new operands as well.
  for (Node &other : nodes)
    if (other.dependsOn.test(number))
      other.dependsOn |= node.dependsOn;
}

SmallVector<FusionGroup> ClusterBuilder::run() {
  unsigned numStatements = program.statements.size();
  nodes.reserve(numStatements);
  for (unsigned i = 0; i < numStatements; ++i) {
    const Statement &statement = program.statements[i];
    if (statement.recurrence && !nodes.empty() &&
        nodes.back().recurrenceGroup == statement.recurrenceGroup) {
      join(nodes.size() - 1, i);
      continue;
    }
    std::optional<unsigned> best, bestShared;
    llvm::SmallSetVector<unsigned, 4> candidates;
    for (ArrayId array : getReads(statement))
      if (std::optional<unsigned> from = getProducer(array))
        candidates.insert(*from);
    for (unsigned candidate : candidates)
      if (auto shared = getSharedDims(statement, candidate))
        if (!best || getPreference(statement, candidate) >
                         getPreference(statement, *best)) {
          best = candidate;
          bestShared = shared;
        }
    if (best) {
      nodes[*best].fusionGroup.sharedDims = *bestShared;
      nodes[*best].extents.resize(*bestShared);
      join(*best, i);
      continue;
    }
    Node node;
    node.dependsOn.resize(numStatements);
    node.isContraction = isTiled(statement);
    node.fusionGroup.sharedDims = program.countPoints(statement);
    if (statement.recurrence) {
      node.recurrenceGroup = statement.recurrenceGroup;
      node.fusionGroup.sharedDims = 1;
    }
    node.extents.assign(statement.extents.begin(),
                        statement.extents.begin() +
                            node.fusionGroup.sharedDims);
    nodes.push_back(std::move(node));
    join(nodes.size() - 1, i);
  }

  // A kernel that was joined late may have to run after younger ones.
  SmallVector<FusionGroup> order;
  llvm::BitVector done(numStatements);
  while (order.size() < nodes.size())
    for (auto [number, node] : llvm::enumerate(nodes)) {
      llvm::BitVector missing(node.dependsOn);
      missing.reset(done);
      if (done.test(number) || missing.any())
        continue;
      done.set(number);
      order.push_back(node.fusionGroup);
    }
  return order;
}

} // namespace

SmallVector<FusionGroup>
espalier::graphtopoly::formFusionGroups(const StatementList &program) {
  return ClusterBuilder(program).run();
}

SmallVector<FusionGroup>
espalier::graphtopoly::separateKernels(const StatementList &program) {
  SmallVector<FusionGroup> kernels;
  unsigned group = 0; // The recurrence that the last kernel is of.
  for (auto [number, statement] : llvm::enumerate(program.statements)) {
    if (statement.recurrence && group == statement.recurrenceGroup &&
        group != 0) {
      kernels.back().statements.push_back(number);
      continue;
    }
    group = statement.recurrence ? statement.recurrenceGroup : 0;
    kernels.push_back(
        {{unsigned(number)},
         statement.recurrence ? 1 : program.countPoints(statement)});
  }
  return kernels;
}
