//===- ShareSums.cpp - Long sums of few results ---------------------------===//
//
// Threads compute different results. A sum, maximum or product of a whole
// tensor has one; by associativity, the threads can have parts of it:
//
//   R = sum(i < P * N, j) f(i, j)
//
// becomes
//
//   T[p] = sum(i < N, j) f(p * N + i, j)
//   R = sum(p < P) T[p]
//
//===----------------------------------------------------------------------===//

#include "../Contraction.h"
#include "../Renumber.h"
#include "Sums.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Sums of fewer terms do not pay for waking threads.
static constexpr int64_t kMinTerms = 1 << 18;
/// Parts that each thread finds, so that none waits long for the others.
static constexpr int64_t kPartsPerThread = 4;
/// Parts are as many at most.
static constexpr int64_t kMaxParts = 1 << 10;
/// The shortest part of a row, which lanes lie along.
static constexpr int64_t kMinRow = 1 << 8;

/// The product of constant extents, up to a large number; nothing if one is not
/// known.
static std::optional<int64_t> countPoints(ArrayRef<AffineExpr> extents) {
  uint64_t points = 1;
  for (AffineExpr extent : extents) {
    auto constant = dyn_cast<AffineConstantExpr>(extent);
    if (!constant || constant.getValue() < 0)
      return std::nullopt;
    points = llvm::SaturatingMultiply<uint64_t>(points, constant.getValue());
  }
  return std::min<uint64_t>(points, uint64_t(1) << 62);
}

/// Into how many equal parts a dimension is cut: at least `wanted`, which is
/// positive, but not many more, or else as many as there can be; 1 if there are
/// none.
static int64_t findParts(int64_t extent, int64_t wanted) {
  int64_t most = std::min(extent, kMaxParts);
  for (int64_t parts = wanted; parts <= most; ++parts)
    if (extent % parts == 0)
      return parts;
  int64_t parts = std::min(wanted, most);
  while (parts > 1 && extent % parts != 0)
    --parts;
  return std::max<int64_t>(parts, 1);
}

/// Whether the order in which `statement` combines its terms is free, and each
/// of its results is a point of its own.
static bool isPlainReduction(const StatementList &program,
                             const Statement &statement) {
  // Parts in a narrow type would be rounded.
  auto type = dyn_cast<FloatType>(program.arrays[statement.target].elementType);
  return statement.reduction && !statement.recurrence && !statement.entries &&
         !statement.addsToTarget && !statement.algorithm &&
         statement.targetIndices.empty() && (!type || type.getWidth() >= 32) &&
         !getContraction(program, statement);
}

/// Whether something passes as many points as `sum` with what is made of its
/// results, as a softmax does: that shares the loops around one row.
static bool isForRows(const StatementList &program, const Statement &sum) {
  llvm::SmallDenseSet<ArrayId> made = {program.getBase(sum.target)};
  auto isMade = [&](ArrayId array) {
    return made.contains(program.getBase(array));
  };
  // What reads an array comes after what makes it.
  for (const Statement &reader : program.statements) {
    if (!llvm::any_of(getReads(reader), isMade))
      continue;
    if (countPoints(reader.extents).value_or(kMinTerms) >= kMinTerms)
      return true;
    made.insert(program.getBase(reader.target));
  }
  return false;
}

/// Cuts the sum into parts along `dim`; returns the sums of these.
static Statement cutSum(StatementList &program, Statement &sum, unsigned dim,
                        int64_t parts) {
  MLIRContext *context = program.context;
  unsigned rank = program.getRank(sum.target);
  int64_t size = cast<AffineConstantExpr>(sum.extents[dim]).getValue() / parts;
  // The part comes after the dimensions of the target.
  SmallVector<AffineExpr> dims, extents(sum.extents);
  for (unsigned i = 0; i < sum.getNumDims(); ++i)
    dims.push_back(getAffineDimExpr(i < rank ? i : i + 1, context));
  dims[dim] = getAffineDimExpr(rank, context) * size + dims[dim];
  extents[dim] = getAffineConstantExpr(size, context);
  extents.insert(extents.begin() + rank, getAffineConstantExpr(parts, context));
  Statement first = substitute(program, sum, dims, extents);
  first.names.clear();

  Array results{Array::Kind::Intermediate, sum.loc};
  results.elementType = program.arrays[sum.target].elementType;
  results.extents.assign(extents.begin(), extents.begin() + rank + 1);
  Type type = results.elementType;
  first.target = program.addArray(std::move(results));
  SmallVector<Expr> indices;
  for (unsigned i = 0; i <= rank; ++i)
    indices.push_back(variable(i, context));
  sum.extents.resize(rank);
  sum.extents.push_back(extents[rank]);
  sum.names.clear();
  sum.pieces.assign(
      1, {{}, access(TensorRef::operand(first.target), indices, type)});
  return first;
}

/// The dimension of `sum` that has as many parts as `wanted`, the outermost, or
/// the most, and how many; 1 if none has several.
static std::pair<unsigned, int64_t> chooseParts(const Statement &sum,
                                                unsigned rank, int64_t wanted) {
  std::pair<unsigned, int64_t> best(rank, 1);
  for (unsigned dim = rank; dim < sum.getNumDims(); ++dim) {
    int64_t extent = cast<AffineConstantExpr>(sum.extents[dim]).getValue();
    // Lanes lie along the last one.
    int64_t most = dim + 1 == sum.getNumDims() ? extent / kMinRow : extent;
    if (most < 2)
      continue;
    int64_t parts = findParts(extent, std::min(wanted, most));
    if (parts <= most && std::min(parts, wanted) > best.second)
      best = {dim, parts};
  }
  return best;
}

void espalier::graphtopoly::shareSums(StatementList &program) {
  std::vector<Statement> statements;
  for (unsigned number = 0; number < program.statements.size(); ++number) {
    Statement &sum = program.statements[number];
    unsigned rank = program.getRank(sum.target);
    std::optional<int64_t> points = countPoints(sum.extents);
    std::optional<int64_t> results =
        countPoints(ArrayRef(sum.extents).take_front(rank));
    if (points && *results > 0 && *results < program.cores &&
        *points / *results >= kMinTerms && isPlainReduction(program, sum) &&
        !isForRows(program, sum)) {
      auto [dim, parts] = chooseParts(
          sum, rank,
          llvm::divideCeil(kPartsPerThread * program.cores, *results));
      if (parts > 1)
        statements.push_back(cutSum(program, sum, dim, parts));
    }
    statements.push_back(sum);
  }
  program.statements = std::move(statements);
}
