//===- FuseProducts.cpp - Two products and the rows between them ----------===//
//
// The rows of a product may be all that another product reads, after what is
// done to each of them: in attention, the scores of a query, their softmax, and
// the mean of values that these weigh.
//
//   S[b, i, j] = sum(d) Q[b, i, d] * K[b, j, d]
//   P[b, i, j] = softmax(j) S[b, i, j]
//   O[b, i, e] = sum(j) P[b, i, j] * V[b, j, e]
//
// All of it is computed for a block of rows before the next, so that the scores
// of a block stay in the cache and the others never exist:
//
//   for b, i':  L[b, i', r, j] = sum(d) Q[b, B i' + r, d] * K[b, j, d]   ...
//
// Each row is computed as it was; other than FlashAttention (Dao et al., 2022)
// no sum is taken in parts that are rescaled later, since a whole row fits.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Renumber.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Rows of a block below which a product has too little reuse.
static constexpr int64_t kMinBlockRows = 16;

namespace {

class ProductFuser {
public:
  ProductFuser(StatementList &program, SmallVectorImpl<FusionGroup> &groups)
      : program(program), groups(groups), readers(findReaders(program)),
        escaping(findEscaping(program, groups)) {
    for (FusionGroup &group : groups)
      for (unsigned statement : group.statements)
        groupOf[statement] = &group;
    for (auto [number, statement] : llvm::enumerate(program.statements))
      writer[statement.target] = number;
  }

  void run();

private:
  /// The kernels of two products, and of what is done to rows between them.
  struct Chain {
    FusionGroup *first, *rows, *second;
    ArrayId scores, weights; ///< What they hand on.
  };

  bool isProduct(const FusionGroup &group) const {
    return getContraction(program, program.statements[group.statements.front()])
        .has_value();
  }
  /// The only array of `group` that others see, if it is an intermediate one
  /// without views, and only `reader` reads it.
  std::optional<ArrayId> findResult(const FusionGroup &group,
                                    const FusionGroup &reader) const;
  /// The kernel that computes what `reader` reads, if it is of the other kind
  /// of the two, and hands it on to nobody else.
  FusionGroup *findProducer(const FusionGroup &reader, bool isProduct) const;
  std::optional<Chain> findChain(FusionGroup &second) const;
  /// Whether statements have, and read `arrays` at, the same first dimensions.
  bool sharesRows(const FusionGroup &group,
                  const llvm::DenseSet<ArrayId> &arrays,
                  ArrayRef<AffineExpr> extents) const;
  /// How many rows a block has; none if it is not worth it.
  std::optional<int64_t> chooseBlock(const Chain &chain) const;
  void fuse(const Chain &chain);

  StatementList &program;
  SmallVectorImpl<FusionGroup> &groups;
  std::vector<SmallVector<unsigned, 2>> readers;
  llvm::DenseSet<ArrayId> escaping;
  llvm::DenseMap<unsigned, FusionGroup *> groupOf; ///< Of a statement.
  llvm::DenseMap<ArrayId, unsigned> writer;
};

} // namespace

std::optional<ArrayId>
ProductFuser::findResult(const FusionGroup &group,
                         const FusionGroup &reader) const {
  std::optional<ArrayId> result;
  for (unsigned number : group.statements) {
    ArrayId target = program.statements[number].target;
    if (!escaping.contains(target))
      continue;
    if (result || !program.arrays[target].outputs.empty() ||
        !llvm::all_of(readers[target], [&](unsigned other) {
          return groupOf.lookup(other) == &reader;
        }))
      return std::nullopt;
    result = target;
  }
  for (const Array &array : program.arrays)
    if (array.reshapeOf && array.reshapeOf == result)
      return std::nullopt;
  return result;
}

FusionGroup *ProductFuser::findProducer(const FusionGroup &reader,
                                        bool isProduct) const {
  for (unsigned number : reader.statements)
    for (ArrayId array : getReads(program.statements[number])) {
      auto known = writer.find(array);
      FusionGroup *group =
          known == writer.end() ? nullptr : groupOf.lookup(known->second);
      if (group && group != &reader && !group->statements.empty() &&
          this->isProduct(*group) == isProduct && findResult(*group, reader))
        return group;
    }
  return nullptr;
}

bool ProductFuser::sharesRows(const FusionGroup &group,
                              const llvm::DenseSet<ArrayId> &arrays,
                              ArrayRef<AffineExpr> extents) const {
  return llvm::all_of(group.statements, [&](unsigned number) {
    const Statement &statement = program.statements[number];
    bool shares =
        !statement.recurrence && !statement.entries &&
        program.countPoints(statement) >= extents.size() &&
        ArrayRef(statement.extents).take_front(extents.size()) == extents &&
        (statement.targetIndices.empty() || !arrays.contains(statement.target));
    forEachAccess(statement, [&](Expr access) {
      shares &= !arrays.contains(program.getBase(access.getTensor().number)) ||
                countIdentityIndices(program, access) >= extents.size();
    });
    return shares;
  });
}

std::optional<ProductFuser::Chain>
ProductFuser::findChain(FusionGroup &second) const {
  if (second.statements.empty() || !isProduct(second))
    return std::nullopt;
  Chain chain;
  chain.second = &second;
  chain.rows = findProducer(second, /*isProduct=*/false);
  chain.first =
      chain.rows ? findProducer(*chain.rows, /*isProduct=*/true) : nullptr;
  if (!chain.first)
    return std::nullopt;
  chain.scores = *findResult(*chain.first, *chain.rows);
  chain.weights = *findResult(*chain.rows, second);
  return chain;
}

std::optional<int64_t> ProductFuser::chooseBlock(const Chain &chain) const {
  unsigned shared = chain.rows->sharedDims;
  if (shared == 0 || program.getRank(chain.scores) != shared + 1)
    return std::nullopt;
  int64_t total = sizeof(float);
  for (AffineExpr extent : program.arrays[chain.scores].extents) {
    auto number = dyn_cast<AffineConstantExpr>(extent);
    if (!number || number.getValue() == 0)
      return std::nullopt;
    total *= number.getValue();
  }
  if (total <= program.cacheBytes / 2)
    return std::nullopt;
  auto getExtent = [&](unsigned dim) {
    return cast<AffineConstantExpr>(program.arrays[chain.scores].extents[dim])
        .getValue();
  };
  int64_t rows = getExtent(shared - 1);
  int64_t rowBytes = getExtent(shared) * sizeof(float);
  // Scores and weights of a block, beside the panels of the operands.
  int64_t most = program.cacheBytes / 4 / rowBytes;
  for (int64_t block = std::min(rows, most); block >= kMinBlockRows; --block)
    if (rows % block == 0)
      return block;
  return std::nullopt;
}

void ProductFuser::fuse(const Chain &chain) {
  std::optional<int64_t> block = chooseBlock(chain);
  if (!block)
    return;
  unsigned shared = chain.rows->sharedDims;
  SmallVector<AffineExpr> extents(
      ArrayRef(program.arrays[chain.scores].extents).take_front(shared));
  llvm::DenseSet<ArrayId> local{chain.scores, chain.weights};
  FusionGroup *parts[] = {chain.first, chain.rows, chain.second};
  for (FusionGroup *part : parts)
    for (ArrayId array : findLocal(program, *part, escaping))
      local.insert(array);
  for (FusionGroup *part : parts)
    if (!sharesRows(*part, local, extents))
      return;

  Renumbering rows;
  for (unsigned dim = 0; dim < shared; ++dim)
    rows.before.push_back(getAffineDimExpr(dim, program.context));
  rows.extents = extents;
  AffineExpr size = getAffineConstantExpr(*block, program.context);
  if (size != extents.back()) {
    rows.before.back() =
        rows.before.back() * *block + getAffineDimExpr(shared, program.context);
    rows.extents.back() = extents.back().floorDiv(*block);
    rows.extents.push_back(size);
  }
  Renumberer renumberer(program, rows);
  for (ArrayId array : local)
    renumberer.replace(array);
  SmallVector<unsigned> statements;
  for (FusionGroup *part : parts) {
    for (unsigned number : part->statements) {
      program.statements[number] = renumberer.apply(program.statements[number]);
      statements.push_back(number);
    }
    part->statements.clear();
  }
  chain.second->statements = statements;
  chain.second->sharedDims = rows.extents.size() - 1;
  chain.second->runsTogether = true;
}

void ProductFuser::run() {
  for (FusionGroup &group : groups)
    if (std::optional<Chain> chain = findChain(group))
      fuse(*chain);
  llvm::erase_if(groups, [](const FusionGroup &group) {
    return group.statements.empty();
  });
}

void espalier::graphtopoly::fuseProducts(
    StatementList &program, SmallVectorImpl<FusionGroup> &fusionGroups) {
  ProductFuser(program, fusionGroups).run();
}
