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
// Rows that whole blocks leave are a block of their own, in a kernel after it.
// Each row is computed as it was; other than FlashAttention (Dao et al., 2022)
// no sum is taken in parts that are rescaled later, since a whole row fits.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "FuseKernels.h"
#include "Renumber.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Rows of a block whose length is not known: 1000 scores of each, and as many
/// weights, take a quarter of a megabyte.
static constexpr int64_t kOpenBlockRows = 32;
/// Terms of the first product and columns of the second one for each row of a
/// block, at most: with more, what each block reads of their other operands
/// takes longer than writing and reading scores.
static constexpr int64_t kMaxPassed = 16;
/// What the rows of a block are a multiple of, if there are blocks enough: the
/// usual numbers of rows of a register tile divide it.
static constexpr int64_t kRowStep = 4;

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

  /// The dimensions of blocks, and of the rows that whole blocks leave.
  struct Blocks {
    Renumbering whole;
    std::optional<Renumbering> rest;
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
  /// Whether somebody wants it to be one kernel, whatever that takes.
  bool isAsked(const Chain &chain) const {
    return program.isChosen(chain.scores, Fusion::Fused) ||
           program.isChosen(chain.weights, Fusion::Fused);
  }
  /// How many rows a block has; none if it is not worth it.
  std::optional<int64_t> chooseBlock(const Chain &chain) const;
  /// Statements in the dimensions `rows`, with `local` arrays of their own.
  std::vector<Statement> renumber(ArrayRef<unsigned> statements,
                                  const Renumbering &rows,
                                  const llvm::DenseSet<ArrayId> &local);
  /// How many elements of the products' other operands there are for each score
  /// of a row; none if that is not known.
  std::optional<int64_t> countPassed(const Chain &chain) const;
  Blocks cut(ArrayRef<AffineExpr> extents, int64_t rows) const;
  void fuse(const Chain &chain);

  StatementList &program;
  SmallVectorImpl<FusionGroup> &groups;
  std::vector<SmallVector<unsigned, 2>> readers;
  llvm::DenseSet<ArrayId> escaping;
  llvm::DenseMap<unsigned, FusionGroup *> groupOf; ///< Of a statement.
  llvm::DenseMap<ArrayId, unsigned> writer;
  /// Arrays that two kernels write: one of whole blocks, and one of the rows
  /// that these leave, after the group of that number.
  llvm::DenseSet<ArrayId> inParts;
  llvm::DenseMap<unsigned, FusionGroup> blocksLeft;
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
    if (result || inParts.contains(target) ||
        program.isChosen(target, Fusion::Separate) ||
        !program.arrays[target].outputs.empty() ||
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

static std::optional<int64_t> getNumber(AffineExpr extent) {
  auto number = dyn_cast<AffineConstantExpr>(extent);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

std::optional<int64_t> ProductFuser::chooseBlock(const Chain &chain) const {
  unsigned shared = chain.rows->sharedDims;
  if (shared == 0 || program.getRank(chain.scores) != shared + 1)
    return std::nullopt;
  ArrayRef<AffineExpr> extents = program.arrays[chain.scores].extents;
  uint64_t total = sizeof(float);
  for (AffineExpr extent : extents)
    total = llvm::SaturatingMultiply<uint64_t>(
        total, getNumber(extent).value_or(program.cacheBytes));
  std::optional<int64_t> rows = getNumber(extents[shared - 1]);
  std::optional<int64_t> length = getNumber(extents[shared]);
  bool stays = total <= uint64_t(program.cacheBytes) / 2;
  if ((stays && !isAsked(chain)) ||
      rows.value_or(kMinProductRows) < kMinProductRows)
    return std::nullopt;
  // Scores and weights of a block, beside the panels of the operands.
  int64_t most = length
                     ? program.cacheBytes / 4 / int64_t(*length * sizeof(float))
                     : kOpenBlockRows;
  if (most < kMinProductRows)
    return std::nullopt;
  if (!rows)
    return std::min(most, kOpenBlockRows);
  // A single block is all that there is.
  if (*rows <= most)
    return shared > 1 ? rows : std::nullopt;
  for (int64_t block = most; block >= std::max(most / 2, kMinProductRows);
       --block)
    if (*rows % block == 0)
      return block;
  int64_t even = llvm::divideCeil(*rows, llvm::divideCeil(*rows, most));
  return std::clamp<int64_t>(llvm::alignTo(even, kRowStep), kMinProductRows,
                             most);
}

std::vector<Statement>
ProductFuser::renumber(ArrayRef<unsigned> statements, const Renumbering &rows,
                       const llvm::DenseSet<ArrayId> &local) {
  Renumberer renumberer(program, rows);
  for (ArrayId array : local)
    renumberer.replace(array);
  std::vector<Statement> result;
  for (unsigned number : statements)
    result.push_back(renumberer.apply(program.statements[number]));
  return result;
}

ProductFuser::Blocks ProductFuser::cut(ArrayRef<AffineExpr> extents,
                                       int64_t rows) const {
  Blocks blocks;
  Renumbering &whole = blocks.whole;
  unsigned shared = extents.size();
  for (unsigned dim = 0; dim < shared; ++dim)
    whole.before.push_back(getAffineDimExpr(dim, program.context));
  whole.extents.assign(extents.begin(), extents.end());
  AffineExpr size = getAffineConstantExpr(rows, program.context);
  if (size == extents.back())
    return blocks;
  AffineExpr number = whole.before.back();
  AffineExpr row = getAffineDimExpr(shared, program.context);
  AffineExpr numBlocks = program.simplify(extents.back().floorDiv(size));
  AffineExpr numLeft = program.simplify(extents.back() % size);
  if (numLeft != getAffineConstantExpr(0, program.context)) {
    blocks.rest = whole;
    blocks.rest->before.back() =
        program.simplify((number + numBlocks) * size + row);
    blocks.rest->extents.back() = getAffineConstantExpr(1, program.context);
    blocks.rest->extents.push_back(numLeft);
  }
  whole.before.back() = number * size + row;
  whole.extents.back() = numBlocks;
  whole.extents.push_back(size);
  return blocks;
}

std::optional<int64_t> ProductFuser::countPassed(const Chain &chain) const {
  unsigned shared = chain.rows->sharedDims;
  auto getProduct = [](ArrayRef<AffineExpr> extents) {
    std::optional<int64_t> product = 1;
    for (AffineExpr extent : extents)
      if (std::optional<int64_t> number = getNumber(extent); number && product)
        product = llvm::SaturatingMultiply<uint64_t>(*product, *number);
      else
        product = std::nullopt;
    return product;
  };
  const Statement &first = program.statements[chain.first->statements.front()];
  const Statement &second =
      program.statements[chain.second->statements.front()];
  ArrayRef<AffineExpr> results = program.arrays[second.target].extents;
  // A sum over some of the shared dimensions needs all rows.
  if (results.size() < shared)
    return std::nullopt;
  std::optional<int64_t> terms = getProduct(
      ArrayRef(first.extents).drop_front(program.getRank(first.target)));
  std::optional<int64_t> columns = getProduct(results.drop_front(shared));
  return terms && columns ? std::optional(*terms + *columns) : std::nullopt;
}

void ProductFuser::fuse(const Chain &chain) {
  std::optional<int64_t> block = chooseBlock(chain);
  unsigned shared = chain.rows->sharedDims;
  if (!block || (!isAsked(chain) &&
                 countPassed(chain).value_or(INT64_MAX) > kMaxPassed * *block))
    return;
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

  Blocks blocks = cut(extents, *block);
  unsigned sharedDims = blocks.whole.extents.size() - 1;
  SmallVector<unsigned> statements;
  for (FusionGroup *part : parts)
    llvm::append_range(statements, std::exchange(part->statements, {}));
  if (blocks.rest) {
    FusionGroup &left = blocksLeft[chain.second - groups.data()];
    left = {{}, sharedDims, true};
    for (Statement &statement : renumber(statements, *blocks.rest, local)) {
      inParts.insert(statement.target);
      left.statements.push_back(program.statements.size());
      program.statements.push_back(std::move(statement));
    }
  }
  for (auto [number, statement] :
       llvm::zip_equal(statements, renumber(statements, blocks.whole, local)))
    program.statements[number] = std::move(statement);
  *chain.second = {statements, sharedDims, true};
}

void ProductFuser::run() {
  for (FusionGroup &group : groups)
    if (std::optional<Chain> chain = findChain(group))
      fuse(*chain);
  SmallVector<FusionGroup> result;
  for (auto [number, group] : llvm::enumerate(groups)) {
    if (!group.statements.empty())
      result.push_back(std::move(group));
    if (auto left = blocksLeft.find(number); left != blocksLeft.end())
      result.push_back(std::move(left->second));
  }
  groups = std::move(result);
}

void espalier::graphtopoly::fuseProducts(
    StatementList &program, SmallVectorImpl<FusionGroup> &fusionGroups) {
  ProductFuser(program, fusionGroups).run();
}
