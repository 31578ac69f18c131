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
    for (FusionGroup &group : groups)
      if (group.statements.size() == 1)
        copyOf[program.statements[group.statements.front()].target] = &group;
    for (const Array &array : program.arrays)
      if (array.reshapeOf)
        viewed.insert(*array.reshapeOf);
  }

  void run();

private:
  /// The kernels that each rearrange an operand for `group` alone.
  SmallVector<FusionGroup *> findCopies(const FusionGroup &group) const;
  /// How many leading dimensions leave a contraction rows enough.
  unsigned limitShared(const FusionGroup &group) const;
  /// How many leading dimensions all statements of the kernels share, and read
  /// the arrays in `local` at.
  unsigned countShared(ArrayRef<const FusionGroup *> parts,
                       const llvm::DenseSet<ArrayId> &local) const;
  /// The bytes of `array`, or of its part at one point of the first `shared`
  /// dimensions; nothing if that is not known.
  std::optional<int64_t> getBytes(ArrayId array, unsigned shared = 0) const;
  /// Whether parts of the copied operands, and what all of them meet, stay in
  /// the cache, which the whole does not.
  bool isWorthwhile(const FusionGroup &group,
                    const llvm::DenseSet<ArrayId> &copied,
                    unsigned shared) const;
  void fuse(FusionGroup &group);

  StatementList &program;
  SmallVectorImpl<FusionGroup> &groups;
  std::vector<SmallVector<unsigned, 2>> readers;
  llvm::DenseSet<ArrayId> escaping, viewed;
  llvm::DenseMap<ArrayId, FusionGroup *> copyOf; ///< Alone in its kernel.
};

} // namespace

SmallVector<FusionGroup *>
CopyFuser::findCopies(const FusionGroup &group) const {
  llvm::SmallSetVector<FusionGroup *, 2> copies;
  for (unsigned number : group.statements)
    for (ArrayId array : getReads(program.statements[number])) {
      FusionGroup *copy = copyOf.lookup(array);
      if (!copy || copy == &group || copy->statements.empty())
        continue;
      const Statement &statement = program.statements[copy->statements.front()];
      const Array &target = program.arrays[array];
      if (target.kind == Array::Kind::Intermediate && target.outputs.empty() &&
          !viewed.contains(array) && !statement.reduction &&
          !statement.recurrence && !statement.entries &&
          statement.targetIndices.empty() &&
          llvm::all_of(readers[array], [&](unsigned reader) {
            return llvm::is_contained(group.statements, reader);
          }))
        copies.insert(copy);
    }
  return copies.takeVector();
}

unsigned CopyFuser::limitShared(const FusionGroup &group) const {
  const Statement &sum = program.statements[group.statements.front()];
  unsigned shared = group.sharedDims;
  unsigned lanes = getContraction(program, sum)->vectorDim;
  for (uint64_t rows = 1; shared > 0 && rows < kMinProductRows; --shared) {
    auto extent = dyn_cast<AffineConstantExpr>(sum.extents[shared - 1]);
    if (shared - 1 != lanes)
      rows = llvm::SaturatingMultiply<uint64_t>(rows, extent ? extent.getValue()
                                                             : kMinProductRows);
  }
  return shared;
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
      if (statement.recurrence || statement.entries ||
          (!statement.targetIndices.empty() &&
           local.contains(statement.target)))
        return 0;
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
  forEachAccess(first, [&](Expr access) {
    ArrayId array = access.getTensor().number;
    if (countIdentityIndices(program, access) == 0)
      common += getBytes(array).value_or(program.cacheBytes);
  });
  return batch >= kMinBatch * program.cores && whole > program.cacheBytes / 2 &&
         part <= program.cacheBytes / 2 && common <= program.cacheBytes / 4;
}

void CopyFuser::fuse(FusionGroup &group) {
  if (group.statements.empty() || group.runsTogether ||
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
  if (copies.empty() || !isWorthwhile(group, copied, shared))
    return;
  SmallVector<unsigned> statements;
  for (FusionGroup *copy : copies) {
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
