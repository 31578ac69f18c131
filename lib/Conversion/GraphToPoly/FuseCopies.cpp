//===- FuseCopies.cpp - Operands of a batch, rearranged one by one --------===//
//
// A contraction may read an operand in another order than it has: in panels, or
// with a border. Where the operand is one of a batch, it is rearranged right
// before it is used, and stays in the cache; the others never exist in that
// order.
//
//   for b:  P[j', k, j] = B[b, k, 16 j' + j];  C[b, i, j] = sum(k) A[b, i, k] *
//   P
//
// The panels of an operand are such a batch once they are numbered first:
//
//   for j':  P[k, j] = B[k, 16 j' + j];  C[i, 16 j' + j] = sum(k) A[i, k] * P
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "FuseKernels.h"
#include "Renumber.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// A batch of fewer operands for each thread leaves some without work.
static constexpr int64_t kMinBatch = 8;
/// Rows pass each panel from the next cache: as many times what a core's own
/// holds.
static constexpr int64_t kMaxPassedCaches = 6;
/// Short panels are copied together, up to this part of that cache, so that a
/// row of results is several lines, one after the other.
static constexpr int64_t kMaxTogether = 8, kPartOfTogether = 16;

namespace {

/// The panels of a contraction's operand, which a kernel of its own copies.
struct Panels {
  FusionGroup *copy;
  Contraction contraction;
  unsigned numOuter;     ///< Dimensions of a batch before the panels.
  int64_t width, number; ///< Of one panel; of those in an operand of the batch.
  int64_t together = 1;  ///< As many are copied before all rows pass them.
};

/// What a batch of operands takes of the cache, in bytes, and when rearranging
/// them one by one pays.
struct BatchSizes {
  int64_t part = 0, number = 1;      ///< One of them, and how many there are.
  int64_t minWhole = 0;              ///< Less of all of them stays near anyway.
  int64_t common = 0, maxCommon = 0; ///< What all of them meet.
};

class CopyFuser {
public:
  CopyFuser(StatementList &program, SmallVectorImpl<FusionGroup> &groups)
      : program(program), groups(groups), readers(findReaders(program)),
        escaping(findEscaping(program, groups)) {
    // Steps leave statements behind that no kernel has any more.
    llvm::DenseSet<unsigned> used;
    for (const FusionGroup &group : groups)
      used.insert(group.statements.begin(), group.statements.end());
    for (SmallVector<unsigned, 2> &own : readers)
      llvm::erase_if(own,
                     [&](unsigned reader) { return !used.contains(reader); });
    for (FusionGroup &group : groups)
      if (group.statements.size() == 1)
        copyOf[program.statements[group.statements.front()].target] = &group;
    for (auto [number, array] : llvm::enumerate(program.arrays))
      if (array.reshapeOf)
        views[*array.reshapeOf].push_back(number);
  }

  void run();

private:
  /// The kernels that each rearrange an operand for `group` alone.
  SmallVector<FusionGroup *> findCopies(const FusionGroup &group) const;
  /// How many leading dimensions leave a contraction rows enough.
  unsigned limitShared(const FusionGroup &group) const;
  /// Whether `group` alone reads the copy `array`: as it is, or as the only
  /// view of it.
  bool readsAlone(const FusionGroup &group, ArrayId array) const;
  /// Lets a copy store the elements of the only view of its target, if there is
  /// one, in an array that is no view.
  void storeView(ArrayId target);
  /// How many leading dimensions all statements of the kernels share, and read
  /// the arrays in `local` at.
  unsigned countShared(ArrayRef<const FusionGroup *> parts,
                       const llvm::DenseSet<ArrayId> &local) const;
  bool isWhole(const Statement &statement, unsigned dim, bool isLocal) const;
  /// Whether parts of the copied operands, and what all of them meet, stay in
  /// the cache, which the whole does not; only the first where somebody has
  /// asked for it.
  bool isWorthwhile(const llvm::DenseSet<ArrayId> &copied,
                    const BatchSizes &sizes) const;
  /// Adds up what the accesses of the sums of `group` have by `getBytes`; as
  /// much as the cache for each of which that is not known.
  int64_t
  addReads(const FusionGroup &group,
           llvm::function_ref<std::optional<int64_t>(Expr)> getBytes) const;
  /// Finds an operand whose panels can be numbered before all other dimensions
  /// of `group`.
  std::optional<Panels> findPanels(const FusionGroup &group) const;
  /// Lets the sum of `group` add up in an array that nobody else sees.
  void separateTarget(FusionGroup &group);
  void numberPanels(FusionGroup &group, const Panels &panels);
  /// Rearrange operands at each point of the dimensions shared with their
  /// copies, or panel by panel; false, with nothing changed, if they do not.
  bool fuseBatch(FusionGroup &group);
  bool fusePanels(FusionGroup &group);
  void fuse(FusionGroup &group);

  StatementList &program;
  SmallVectorImpl<FusionGroup> &groups;
  std::vector<SmallVector<unsigned, 2>> readers;
  llvm::DenseSet<ArrayId> escaping;
  llvm::DenseMap<ArrayId, SmallVector<ArrayId, 1>> views;
  llvm::DenseMap<ArrayId, FusionGroup *> copyOf; ///< Alone in its kernel.
};

} // namespace

bool CopyFuser::readsAlone(const FusionGroup &group, ArrayId array) const {
  auto isAlone = [&](ArrayId read) {
    return llvm::all_of(readers[read], [&](unsigned reader) {
      return llvm::is_contained(group.statements, reader);
    });
  };
  auto found = views.find(array);
  if (found == views.end())
    return isAlone(array);
  ArrayId view = found->second.front();
  ArrayRef<AffineExpr> extents = program.arrays[array].extents,
                       joined = program.arrays[view].extents;
  return readers[array].empty() && found->second.size() == 1 &&
         !views.contains(view) && isAlone(view) && !joined.empty() &&
         joined.size() <= extents.size() &&
         joined.drop_back() == extents.take_front(joined.size() - 1);
}

void CopyFuser::storeView(ArrayId target) {
  auto found = views.find(target);
  if (found == views.end())
    return;
  Array &view = program.arrays[found->second.front()];
  ArrayRef<AffineExpr> extents = program.arrays[target].extents;
  Statement &copy =
      program.statements[copyOf.lookup(target)->statements.front()];
  // Both have the same first dimensions, and the view's last one has the
  // others.
  unsigned last = view.extents.size() - 1;
  AffineExpr flat = getAffineConstantExpr(0, program.context);
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    AffineExpr self = getAffineDimExpr(dim, program.context);
    if (dim < last)
      copy.targetIndices.push_back(self);
    else
      flat = flat * extents[dim] + self;
  }
  copy.targetIndices.push_back(program.simplify(flat));
  copy.target = found->second.front();
  view.reshapeOf.reset();
}

SmallVector<FusionGroup *>
CopyFuser::findCopies(const FusionGroup &group) const {
  llvm::SmallSetVector<FusionGroup *, 2> copies;
  for (unsigned number : group.statements)
    for (ArrayId read : getReads(program.statements[number])) {
      ArrayId array = program.getBase(read);
      FusionGroup *copy = copyOf.lookup(array);
      if (!copy || copy == &group || copy->statements.empty())
        continue;
      const Statement &statement = program.statements[copy->statements.front()];
      const Array &target = program.arrays[array];
      if (target.kind == Array::Kind::Intermediate && target.outputs.empty() &&
          target.fusion != Fusion::Separate && !statement.reduction &&
          !statement.recurrence && !statement.entries &&
          statement.targetIndices.empty() && readsAlone(group, array))
        copies.insert(copy);
    }
  return copies.takeVector();
}

unsigned CopyFuser::limitShared(const FusionGroup &group) const {
  const Statement &sum = program.statements[group.statements.front()];
  unsigned shared = group.sharedDims;
  std::optional<Contraction> contraction = getContraction(program, sum);
  if (!contraction)
    return shared;
  for (uint64_t rows = 1; shared > 0 && rows < kMinProductRows; --shared) {
    auto extent = dyn_cast<AffineConstantExpr>(sum.extents[shared - 1]);
    if (shared - 1 != contraction->vectorDim)
      rows = llvm::SaturatingMultiply<uint64_t>(rows, extent ? extent.getValue()
                                                             : kMinProductRows);
  }
  return shared;
}

/// Whether what `statement` computes at a point of `dim` is a part of its
/// target that lies together, `isLocal` to the kernel or not, of lists that are
/// the same for all points.
bool CopyFuser::isWhole(const Statement &statement, unsigned dim,
                        bool isLocal) const {
  const Array &target = program.arrays[statement.target];
  if (statement.entries &&
      (statement.entries->row.isFunctionOfDim(dim) ||
       (target.layout &&
        target.layout.getResults().back().isFunctionOfDim(dim))))
    return false;
  return !isLocal || statement.targetIndices.empty() ||
         statement.targetIndices[dim] == getAffineDimExpr(dim, program.context);
}

unsigned CopyFuser::countShared(ArrayRef<const FusionGroup *> parts,
                                const llvm::DenseSet<ArrayId> &local) const {
  const Statement &first =
      program.statements[parts.front()->statements.front()];
  unsigned shared = program.countPoints(first);
  for (const FusionGroup *part : parts)
    for (unsigned number : part->statements) {
      const Statement &statement = program.statements[number];
      shared = std::min(shared, program.countPoints(statement));
      for (unsigned dim = 0; dim < shared; ++dim)
        if (statement.extents[dim] != first.extents[dim])
          shared = dim;
      if (statement.recurrence)
        return 0;
      for (unsigned dim = 0; dim < shared; ++dim)
        if (!isWhole(statement, dim, local.contains(statement.target)))
          shared = dim;
      // Borders are pieces: each has loops of its own inside the shared ones.
      for (const Piece &piece : statement.pieces)
        for (const Condition &condition : piece.domain)
          for (unsigned dim = 0; dim < shared; ++dim)
            if (condition.expr.isFunctionOfDim(dim))
              shared = dim;
      forEachAccess(statement, [&](Expr access) {
        if (local.contains(program.getBase(access.getTensor().number)))
          shared = std::min(shared, countIdentityIndices(program, access));
      });
    }
  return shared;
}

int64_t CopyFuser::addReads(
    const FusionGroup &group,
    llvm::function_ref<std::optional<int64_t>(Expr)> getBytes) const {
  int64_t bytes = 0;
  for (unsigned number : group.statements)
    if (const Statement &sum = program.statements[number]; sum.reduction)
      forEachAccess(sum, [&](Expr access) {
        bytes += getBytes(access).value_or(program.cacheBytes);
      });
  return bytes;
}

bool CopyFuser::isWorthwhile(const llvm::DenseSet<ArrayId> &copied,
                             const BatchSizes &sizes) const {
  bool isAsked = llvm::any_of(copied, [&](ArrayId array) {
    return program.isChosen(array, Fusion::Fused);
  });
  bool pays = sizes.number >= kMinBatch * program.cores &&
              sizes.part * sizes.number > sizes.minWhole &&
              sizes.common <= sizes.maxCommon;
  return sizes.part <= program.cacheBytes / 2 && (isAsked || pays);
}

std::optional<Panels> CopyFuser::findPanels(const FusionGroup &group) const {
  const Statement &sum = program.statements[group.statements.front()];
  std::optional<Contraction> contraction = getContraction(program, sum);
  if (!contraction || contraction->offset != 0 || sum.entries ||
      sum.addsToTarget || sum.recurrence || !sum.targetIndices.empty() ||
      contraction->vectorDim >= group.sharedDims ||
      !isPointwise(program, group, findLocal(program, group, escaping)))
    return std::nullopt;
  ArrayId array = contraction->panel.getTensor().number;
  SmallVector<FusionGroup *> copies = findCopies(group);
  auto copy = llvm::find_if(copies, [&](FusionGroup *other) {
    return program.statements[other->statements.front()].target == array;
  });
  const Array &panel = program.arrays[array];
  auto extent =
      dyn_cast<AffineConstantExpr>(sum.extents[contraction->vectorDim]);
  if (copy == copies.end() || !extent || !panel.layout ||
      panel.extents[contraction->panelIndex] != extent)
    return std::nullopt;
  // The batch, the panel, whole other dimensions, the place in the panel.
  ArrayRef<AffineExpr> stored = panel.layout.getResults();
  auto width = dyn_cast<AffineConstantExpr>(panel.storedExtents.back());
  AffineExpr index = getAffineDimExpr(contraction->panelIndex, program.context);
  if (!width || width.getValue() < 1 ||
      extent.getValue() % width.getValue() != 0 ||
      stored.size() != panel.extents.size() + 1 ||
      stored.back() != index % width)
    return std::nullopt;
  unsigned numOuter =
      llvm::find(stored, index.floorDiv(width)) - stored.begin();
  if (numOuter == stored.size() || numOuter > contraction->vectorDim)
    return std::nullopt;
  // A product with itself reads its rows, too, of which a panel has few.
  bool readsPanels = true;
  for (unsigned number : group.statements)
    forEachAccess(program.statements[number], [&](Expr access) {
      if (access.getTensor().number == array)
        readsPanels &=
            number == group.statements.front() &&
            countIdentityIndices(program, access) >= numOuter &&
            program.affine(access.getOperands()[contraction->panelIndex]) ==
                getAffineDimExpr(contraction->vectorDim, program.context);
    });
  if (!readsPanels)
    return std::nullopt;
  for (auto [place, expr] : llvm::enumerate(stored.drop_back())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (place == numOuter
            ? bool(dim)
            : !dim || (place < numOuter && dim.getPosition() != place))
      return std::nullopt;
  }
  // The rows of a border would be loops of their own.
  auto dependsOn = [&](unsigned number, unsigned dim) {
    return llvm::any_of(program.statements[number].pieces, [&](const Piece &p) {
      return llvm::any_of(p.domain, [&](const Condition &condition) {
        return condition.expr.isFunctionOfDim(dim);
      });
    });
  };
  if (dependsOn((*copy)->statements.front(), contraction->panelIndex) ||
      llvm::any_of(group.statements, [&](unsigned number) {
        return dependsOn(number, contraction->vectorDim);
      }))
    return std::nullopt;
  return Panels{*copy, *contraction, numOuter, width.getValue(),
                extent.getValue() / width.getValue()};
}

void CopyFuser::separateTarget(FusionGroup &group) {
  Statement &sum = program.statements[group.statements.front()];
  ArrayId result = sum.target;
  if (!escaping.contains(result))
    return;
  Array own = program.arrays[result];
  own.kind = Array::Kind::Intermediate;
  own.outputs.clear();
  own.rowMajor = false;
  ArrayId local = program.addArray(std::move(own));
  for (unsigned number : group.statements)
    redirect(program.statements[number], result, local);
  sum.target = local;
  Statement store = makeStore(program, local, result, sum.loc);
  group.statements.insert(group.statements.begin() + 1,
                          program.statements.size());
  program.statements.push_back(std::move(store));
}

void CopyFuser::numberPanels(FusionGroup &group, const Panels &panels) {
  separateTarget(group);
  FusionGroup *copy = panels.copy;
  const Contraction &contraction = panels.contraction;
  unsigned numOuter = panels.numOuter;
  AffineExpr width = getAffineConstantExpr(panels.width, program.context);
  AffineExpr together = getAffineConstantExpr(panels.together, program.context);
  AffineExpr number =
      getAffineConstantExpr(panels.number / panels.together, program.context);
  bool areSeveral = panels.together > 1;
  auto getDim = [&](unsigned dim) {
    return getAffineDimExpr(dim, program.context);
  };

  // The number of a panel, of which the last part is dimension `part`.
  auto getPanel = [&](unsigned part) {
    return areSeveral ? getDim(numOuter) * together + getDim(part)
                      : getDim(numOuter);
  };

  // The copy is numbered as its elements are stored.
  unsigned copyNumber = copy->statements.front();
  ArrayId array = program.statements[copyNumber].target;
  AffineMap layout = program.arrays[array].layout;
  Renumbering stored;
  stored.extents = program.arrays[array].storedExtents;
  stored.extents[numOuter] = number;
  if (areSeveral)
    stored.extents.insert(stored.extents.begin() + numOuter + 1, together);
  stored.before.resize(program.getRank(array));
  for (auto [place, index] : llvm::enumerate(layout.getResults()))
    if (auto dim = dyn_cast<AffineDimExpr>(index))
      stored.before[dim.getPosition()] =
          getDim(place + (areSeveral && place > numOuter));
  stored.before[contraction.panelIndex] =
      getPanel(numOuter + 1) * width + getDim(stored.extents.size() - 1);
  Renumberer renumberCopy(program, stored);
  ArrayId panel = renumberCopy.replace(array);
  program.statements[copyNumber] =
      renumberCopy.apply(program.statements[copyNumber]);

  // All else has the panel after the batch, and the place in it last.
  const Statement &sum = program.statements[group.statements.front()];
  Renumbering points;
  for (unsigned dim = 0; dim < group.sharedDims; ++dim) {
    if (dim == numOuter)
      points.extents.push_back(number);
    if (dim != contraction.vectorDim)
      points.extents.push_back(sum.extents[dim]);
    points.before.push_back(getDim(points.extents.size() - 1));
  }
  if (areSeveral)
    points.extents.push_back(together);
  unsigned part = points.extents.size() - 1;
  points.extents.push_back(width);
  points.before[contraction.vectorDim] =
      getPanel(part) * width + getDim(points.extents.size() - 1);
  Renumberer renumberer(program, points);
  for (ArrayId own : findLocal(program, group, escaping))
    renumberer.replace(own);
  for (unsigned own : group.statements)
    program.statements[own] = renumberer.apply(program.statements[own]);
  for (Piece &piece : program.statements[group.statements.front()].pieces)
    piece.value = transform(piece.value, [&](Expr e) -> Expr {
      if (e.getKind() != Expr::Kind::Access || e.getTensor().number != array)
        return {};
      SmallVector<Expr> indices;
      for (AffineExpr index : layout.getResults())
        indices.push_back(
            isa<AffineDimExpr>(index)
                ? e.getOperands()[cast<AffineDimExpr>(index).getPosition()]
                : Expr());
      indices[numOuter] = variable(numOuter, program.context);
      if (areSeveral)
        indices.insert(indices.begin() + numOuter + 1,
                       variable(part, program.context));
      indices.back() = variable(points.extents.size() - 1, program.context);
      return access(TensorRef::operand(panel), indices, e.getType());
    });
  group.statements.insert(group.statements.begin(), copyNumber);
  copy->statements.clear();
  group.sharedDims = numOuter + 1;
  group.runsTogether = true;
}

bool CopyFuser::fuseBatch(FusionGroup &group) {
  llvm::DenseSet<ArrayId> copied, local = findLocal(program, group, escaping);
  SmallVector<FusionGroup *> copies;
  unsigned shared = limitShared(group);
  for (FusionGroup *copy : findCopies(group)) {
    ArrayId target = program.statements[copy->statements.front()].target;
    llvm::DenseSet<ArrayId> arrays(local);
    arrays.insert(target);
    // One that is the same for the whole batch stays where it is.
    unsigned common = countShared({&group, copy}, arrays);
    if (common == 0)
      continue;
    shared = std::min(shared, common);
    copies.push_back(copy);
    copied.insert(target);
  }
  if (copies.empty() || shared == 0 || shared >= group.sharedDims)
    return false;
  BatchSizes sizes;
  for (ArrayId array : copied) {
    if (!program.getBytes(array))
      return false;
    sizes.part += *program.getBytes(array, shared);
  }
  const Statement &first = program.statements[group.statements.front()];
  for (AffineExpr extent : ArrayRef(first.extents).take_front(shared))
    sizes.number *= cast<AffineConstantExpr>(extent).getValue();
  sizes.common = addReads(group, [&](Expr access) -> std::optional<int64_t> {
    if (countIdentityIndices(program, access) > 0)
      return 0;
    return program.getBytes(access.getTensor().number);
  });
  sizes.minWhole = program.cacheBytes / 2;
  sizes.maxCommon = program.cacheBytes / 4;
  if (!isWorthwhile(copied, sizes))
    return false;
  SmallVector<unsigned> statements;
  for (FusionGroup *copy : copies) {
    storeView(program.statements[copy->statements.front()].target);
    statements.append(copy->statements);
    copy->statements.clear();
  }
  statements.append(group.statements);
  group.statements = statements;
  group.sharedDims = shared;
  group.runsTogether = true;
  return true;
}

bool CopyFuser::fusePanels(FusionGroup &group) {
  std::optional<Panels> panels = findPanels(group);
  if (!panels)
    return false;
  ArrayId array = panels->contraction.panel.getTensor().number;
  std::optional<int64_t> bytes = program.getBytes(array);
  if (!bytes)
    return false;
  int64_t batch = 1;
  for (AffineExpr extent :
       ArrayRef(program.arrays[array].extents).take_front(panels->numOuter))
    batch *= cast<AffineConstantExpr>(extent).getValue();
  if (batch == 0)
    return false;
  BatchSizes sizes;
  sizes.number = batch * panels->number;
  sizes.part = *bytes / sizes.number;
  sizes.common = addReads(group, [&](Expr access) -> std::optional<int64_t> {
    ArrayId read = access.getTensor().number;
    if (read == array)
      return 0;
    return program.getBytes(
        read,
        std::min(panels->numOuter, countIdentityIndices(program, access)));
  });
  // Operands that the cache holds are rearranged whole.
  sizes.minWhole = batch * program.cacheBytes;
  sizes.maxCommon = kMaxPassedCaches * program.cacheBytes;
  if (!isWorthwhile({array}, sizes))
    return false;
  while (panels->together < kMaxTogether &&
         panels->number % (2 * panels->together) == 0 &&
         2 * panels->together * sizes.part <=
             program.cacheBytes / kPartOfTogether)
    panels->together *= 2;
  numberPanels(group, *panels);
  return true;
}

void CopyFuser::fuse(FusionGroup &group) {
  if (group.statements.empty() || group.runsTogether)
    return;
  bool hasEntries = llvm::any_of(group.statements, [&](unsigned number) {
    return program.statements[number].entries.has_value();
  });
  if (!hasEntries &&
      !getContraction(program, program.statements[group.statements.front()]))
    return;
  if (!fuseBatch(group))
    fusePanels(group);
}

void CopyFuser::run() {
  for (FusionGroup &group : groups)
    fuse(group);
  llvm::erase_if(groups, [](const FusionGroup &group) {
    return group.statements.empty();
  });
}

void espalier::graphtopoly::fuseCopies(
    StatementList &program, SmallVectorImpl<FusionGroup> &fusionGroups) {
  CopyFuser(program, fusionGroups).run();
}
