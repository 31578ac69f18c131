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
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "FuseKernels.h"
#include "Renumber.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// A batch of fewer operands for each thread leaves some without work.
static constexpr int64_t kMinBatch = 8;

namespace {

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
  /// The bytes of `array`, or of its part at one point of the first `shared`
  /// dimensions; nothing if that is not known.
  std::optional<int64_t> getBytes(ArrayId array, unsigned shared = 0) const;
  /// Whether parts of the copied operands, and what all of them meet, stay in
  /// the cache, which the whole does not; only the first where somebody has
  /// asked for it.
  bool isWorthwhile(const FusionGroup &group,
                    const llvm::DenseSet<ArrayId> &copied,
                    unsigned shared) const;
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

std::optional<int64_t> CopyFuser::getBytes(ArrayId number,
                                           unsigned shared) const {
  const Array &array = program.arrays[number];
  int64_t bytes = llvm::divideCeil(
      array.elementType.isIndex() ? 64
                                  : array.elementType.getIntOrFloatBitWidth(),
      8);
  for (AffineExpr extent : ArrayRef(array.extents).drop_front(shared)) {
    auto known = dyn_cast<AffineConstantExpr>(extent);
    if (!known || llvm::MulOverflow(bytes, known.getValue(), bytes))
      return std::nullopt;
  }
  return bytes;
}

bool CopyFuser::isWorthwhile(const FusionGroup &group,
                             const llvm::DenseSet<ArrayId> &copied,
                             unsigned shared) const {
  int64_t part = 0, whole = 0, common = 0, batch = 1;
  for (ArrayId array : copied) {
    std::optional<int64_t> bytes = getBytes(array);
    if (!bytes)
      return false;
    whole += *bytes;
    part += *getBytes(array, shared);
  }
  const Statement &first = program.statements[group.statements.front()];
  for (unsigned dim = 0; dim < shared; ++dim)
    batch *= cast<AffineConstantExpr>(first.extents[dim]).getValue();
  for (unsigned number : group.statements)
    if (const Statement &sum = program.statements[number]; sum.reduction)
      forEachAccess(sum, [&](Expr access) {
        ArrayId array = access.getTensor().number;
        if (countIdentityIndices(program, access) == 0)
          common += getBytes(array).value_or(program.cacheBytes);
      });
  bool isAsked = llvm::any_of(copied, [&](ArrayId array) {
    return program.isChosen(array, Fusion::Fused);
  });
  bool pays = batch >= kMinBatch * program.cores &&
              whole > program.cacheBytes / 2 &&
              common <= program.cacheBytes / 4;
  return part <= program.cacheBytes / 2 && (isAsked || pays);
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
  if (copies.empty() || shared == 0 || shared >= group.sharedDims ||
      !isWorthwhile(group, copied, shared))
    return;
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
