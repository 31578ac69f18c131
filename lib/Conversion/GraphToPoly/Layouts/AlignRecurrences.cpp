//===- AlignRecurrences.cpp - Lanes of recurrences over sparse weights ----===//
//
// The lanes of a sum over entries lie along a dimension that does not say which
// entries these are. Inside of a recurrence there are no copies in between: all
// that it computes has to lie with that dimension innermost, or nothing has.
//
//   S[t, b, g] (+)= H[t - 1, b, k[e]] * w[e]   for starts[g] <= e < ..
//   H[t, b, j] = tanh(S[t, b, j] + P[t, b, j])
//
// Here the batch `b` is innermost in `S` and `H`; and best in `P` too, which is
// there before.
//
// What a step copies for one product lies in panels at once. Lanes go along it
// even if the other operand is a constant, whose panels would cost nothing:
// each step would transpose what the one before has stored.
//
//===----------------------------------------------------------------------===//

#include "LayoutAssigner.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

std::optional<unsigned> LayoutAssigner::findPlace(Expr access,
                                                  unsigned dim) const {
  AffineExpr self = getAffineDimExpr(dim, program.context);
  std::optional<unsigned> found;
  for (auto [place, index] : llvm::enumerate(access.getOperands())) {
    if (!llvm::is_contained(getDims(index), dim))
      continue;
    std::optional<AffineExpr> affine = program.affine(index, [&](Expr) {
      return getAffineSymbolExpr(program.symbols.size(), program.context);
    });
    if (found || !affine ||
        program.simplify(affine->replace(self, self + 1) - *affine) !=
            getAffineConstantExpr(1, program.context))
      return std::nullopt;
    found = place;
  }
  return found;
}

SmallVector<unsigned> LayoutAssigner::getOrderWithLast(unsigned numDims,
                                                       unsigned last) {
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < numDims; ++dim)
    if (dim != last)
      order.push_back(dim);
  order.push_back(last);
  return order;
}

bool LayoutAssigner::isReadInSteps(ArrayId array, unsigned place) const {
  return llvm::any_of(program.statements, [&](const Statement &statement) {
    bool isRead = false;
    if (statement.recurrence && statement.target != array)
      forEachAccess(statement, [&](Expr access) {
        isRead |= access.getTensor().number == array &&
                  llvm::is_contained(getDims(access.getOperands()[place]),
                                     *statement.recurrence);
      });
    return isRead;
  });
}

/// The dimension of the result of a sum over entries, in a recurrence, whose
/// lanes are best filled.
static std::optional<unsigned> findLanes(const Statement &sum, unsigned rank,
                                         int64_t lanes) {
  std::optional<unsigned> best;
  double bestShare = 0;
  for (unsigned dim = 0; dim < rank; ++dim) {
    auto extent = dyn_cast<AffineConstantExpr>(sum.extents[dim]);
    if (dim == sum.recurrence || sum.entries->row.isFunctionOfDim(dim) ||
        (extent && extent.getValue() <= 1))
      continue;
    double share =
        extent
            ? static_cast<double>(extent.getValue()) /
                  static_cast<double>(llvm::alignTo(extent.getValue(), lanes))
            : 1;
    if (share < bestShare)
      continue;
    best = dim;
    bestShare = share;
  }
  return best;
}

namespace {
/// Which index of each array of a recurrence is innermost.
class Alignment {
public:
  explicit Alignment(LayoutAssigner &assigner) : assigner(assigner) {}

  /// Whether all arrays can follow `first`.
  bool follow(ArrayId first, unsigned place,
              ArrayRef<const Statement *> statements);

  llvm::MapVector<ArrayId, unsigned> innermost;
  /// The same for what is there before.
  llvm::MapVector<ArrayId, unsigned> before;

private:
  bool add(llvm::MapVector<ArrayId, unsigned> &places, ArrayId array,
           unsigned place) {
    auto [known, isNew] = places.try_emplace(array, place);
    hasGrown |= isNew;
    return known->second == place;
  }
  bool visit(const Statement &statement);
  bool visitRead(const Statement &statement, Expr access,
                 std::optional<unsigned> lanes);

  LayoutAssigner &assigner;
  llvm::DenseSet<ArrayId> written;
  bool hasGrown = false;
};
} // namespace

bool Alignment::visitRead(const Statement &statement, Expr access,
                          std::optional<unsigned> lanes) {
  ArrayId array = access.getTensor().number;
  bool isOwn = written.contains(array);
  auto known = innermost.find(array);
  if (isOwn && known != innermost.end() && !lanes) {
    // What is read so has its lanes where the array has them.
    SmallVector<unsigned> dims = getDims(access.getOperands()[known->second]);
    return dims.size() == 1 && dims.front() < statement.getNumDims() &&
           assigner.findPlace(access, dims.front()) == known->second &&
           add(innermost, statement.target, dims.front());
  }
  if (!lanes)
    return true;
  bool isUsed = llvm::any_of(access.getOperands(), [&](Expr index) {
    return llvm::is_contained(getDims(index), *lanes);
  });
  std::optional<unsigned> place = assigner.findPlace(access, *lanes);
  if (!isOwn) {
    if (place && access.getOperands().size() > 1)
      (void)before.try_emplace(array, *place);
    return true;
  }
  return isUsed && place && add(innermost, array, *place);
}

bool Alignment::visit(const Statement &statement) {
  auto known = innermost.find(statement.target);
  std::optional<unsigned> lanes;
  if (known != innermost.end())
    lanes = known->second;
  bool isRight = true;
  forEachAccess(statement, [&](Expr access) {
    isRight = isRight && visitRead(statement, access, lanes);
  });
  return isRight;
}

bool Alignment::follow(ArrayId first, unsigned place,
                       ArrayRef<const Statement *> statements) {
  for (const Statement *statement : statements) {
    if (!statement->targetIndices.empty())
      return false;
    written.insert(statement->target);
  }
  innermost[first] = place;
  do {
    hasGrown = false;
    for (const Statement *statement : statements)
      if (!visit(*statement))
        return false;
  } while (hasGrown);
  return true;
}

void LayoutAssigner::alignRecurrence(unsigned group) {
  SmallVector<const Statement *> statements;
  const Statement *sum = nullptr;
  for (const Statement &statement : program.statements)
    if (statement.recurrence && statement.recurrenceGroup == group) {
      statements.push_back(&statement);
      if (statement.entries)
        sum = &statement;
    }
  std::optional<unsigned> lanes =
      sum ? findLanes(*sum, program.getRank(sum->target), program.vectorLanes)
          : std::nullopt;
  Alignment alignment(*this);
  if (!lanes || !alignment.follow(sum->target, *lanes, statements))
    return;
  auto isFree = [&](ArrayId number) {
    const Array &array = program.arrays[number];
    return array.kind == Array::Kind::Intermediate && !array.rowMajor &&
           !array.layout && !array.reshapeOf && array.order.empty();
  };
  if (!llvm::all_of(llvm::make_first_range(alignment.innermost), isFree))
    return;
  for (auto [array, place] : alignment.innermost) {
    setOrder(program.arrays[array],
             getOrderWithLast(program.getRank(array), place));
    aligned[array] = place;
  }
  for (auto [array, place] : alignment.before)
    if (isFree(array))
      wanted.try_emplace(array, place);
}

void LayoutAssigner::alignRecurrences() {
  llvm::SetVector<unsigned> groups;
  for (const Statement &statement : program.statements)
    if (statement.recurrence && statement.entries)
      groups.insert(statement.recurrenceGroup);
  for (unsigned group : groups)
    alignRecurrence(group);
}

bool LayoutAssigner::isCopyForOne(ArrayId number) const {
  const Array &array = program.arrays[number];
  return array.kind == Array::Kind::Intermediate && !array.layout &&
         !array.rowMajor && !array.reshapeOf && array.order.empty() &&
         array.outputs.empty() && countReaders(number) == 1 &&
         llvm::none_of(program.statements, [&](const Statement &other) {
           return other.target == number && other.reduction;
         });
}

bool LayoutAssigner::layCopyInPanels(const Statement &statement) {
  unsigned last = program.getRank(statement.target) - 1;
  auto width = dyn_cast<AffineConstantExpr>(statement.extents[last]);
  if (!statement.recurrence || !width || width.getValue() < program.vectorLanes)
    return false;
  SmallVector<Expr> factors;
  getFactors(statement.pieces.front().value, factors);
  for (Expr factor : factors) {
    std::optional<unsigned> place = findPlace(factor, last);
    ArrayId array = factor.getTensor().number;
    auto isCopied = [&](const Statement &other) {
      return other.target == array && other.recurrence &&
             other.recurrenceGroup == statement.recurrenceGroup;
    };
    if (!place || !isCopyForOne(array) ||
        llvm::none_of(program.statements, isCopied))
      continue;
    SmallVector<unsigned> outer, inner;
    for (auto [number, index] : llvm::enumerate(factor.getOperands())) {
      bool isTerm = llvm::any_of(getDims(index),
                                 [&](unsigned dim) { return dim > last; });
      if (number != *place)
        (isTerm ? inner : outer).push_back(number);
    }
    setPanelLayout(program, program.arrays[array], *place, outer, inner);
    return true;
  }
  return false;
}
