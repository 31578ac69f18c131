//===- SeparateGroups.cpp - Grouped convolutions, group by group ----------===//
//
// A convolution in groups of G features reads the channels of its group,
//
//   R[n, o, y] = sum(c, k) X[n, (o floordiv G) * C + c, y + k] * W[o, c, k]
//
// Neighbours along o read the same operand, but for a few. With a dimension for
// the group and one for a feature of it,
//
//   T[n, g, f, y] = sum(c, k) X[n, g * C + c, y + k] * V[g, f, c, k]
//   R[n, o, y] = T[n, o floordiv G, o mod G, y]
//
// it is a product for each group, whose lanes and register tile take the
// features as those of others do. The weights are viewed under other extents,
// and the maps behind the sum are aligned with it (`alignOutputs`).
//
//===----------------------------------------------------------------------===//

#include "../Contraction.h"
#include "../PackConstant.h"
#include "Sums.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

namespace {

/// A dimension of a sum's target that counts the features of all groups.
struct Grouping {
  unsigned dim;
  int64_t features; ///< Of one group.
};

class GroupSeparator {
public:
  explicit GroupSeparator(StatementList &program) : program(program) {}
  void run();

private:
  std::optional<Grouping> findGrouping(const Statement &sum) const;
  /// Whether lanes along rows, which slide over the taps, are filled as well as
  /// lanes along the features of a group would be.
  bool slidesInRows(const Statement &sum, Grouping grouping) const;
  bool hasFewTerms(const Statement &sum) const;
  /// The sum over groups and features apart; nothing if some access does not
  /// follow from these.
  std::optional<Statement> separate(const Statement &sum, Grouping grouping);
  /// The access in the dimensions of `separate`; null if that cannot be.
  Expr separateAccess(Expr access, Grouping grouping);
  /// A constant, or what the caller gives, under other extents.
  std::optional<ArrayId> split(ArrayId array, unsigned index,
                               Grouping grouping);
  /// Whether `statement` is a map without conditions that reads features by
  /// their number.
  bool mayReadParts(const Statement &statement) const;
  /// Lets `statement` read what is computed group by group.
  void readParts(Statement &statement) const;
  ArrayId addSeparated(ArrayId target, Grouping grouping);

  StatementList &program;
  /// Arrays that are computed group by group, and how.
  struct Separated {
    ArrayId array;
    Grouping grouping;
  };
  llvm::DenseMap<ArrayId, Separated> separated;
};

} // namespace

static std::optional<int64_t> getNumber(AffineExpr expr) {
  auto number = dyn_cast<AffineConstantExpr>(expr);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

/// The extents with those of a group and of its features for the one of all
/// features.
static SmallVector<AffineExpr> splitExtent(ArrayRef<AffineExpr> extents,
                                           unsigned index, int64_t features) {
  SmallVector<AffineExpr> result(extents);
  result[index] = extents[index].floorDiv(features);
  result.insert(result.begin() + index + 1,
                getAffineConstantExpr(features, extents[index].getContext()));
  return result;
}

bool GroupSeparator::slidesInRows(const Statement &sum,
                                  Grouping grouping) const {
  unsigned rank = program.getRank(sum.target), last = rank - 1;
  std::optional<int64_t> width = getNumber(sum.extents[last]);
  if (last == grouping.dim || !width || *width < 1)
    return false;
  AffineExpr self = getAffineDimExpr(last, program.context);
  bool isInRows = false, hasTaps = false;
  forEachAccess(sum, [&](Expr access) {
    for (Expr index : access.getOperands()) {
      std::optional<AffineExpr> affine = program.affine(index);
      if (!affine || llvm::is_contained(getDims(index), grouping.dim))
        continue;
      isInRows |= program.simplify(affine->replace(self, self + 1) - *affine) ==
                  getAffineConstantExpr(1, program.context);
      SmallVector<unsigned> dims = getDims(index);
      hasTaps |= dims.size() > 1 && llvm::any_of(dims, [&](unsigned dim) {
                   return dim >= rank && getNumber(sum.extents[dim]) != 1;
                 });
    }
  });
  auto getFill = [&](int64_t extent) {
    return double(extent) / llvm::alignTo(extent, program.vectorLanes);
  };
  return isInRows && hasTaps && getFill(*width) >= getFill(grouping.features);
}

bool GroupSeparator::hasFewTerms(const Statement &sum) const {
  uint64_t terms = 1;
  for (AffineExpr extent :
       ArrayRef(sum.extents).drop_front(program.getRank(sum.target)))
    terms = llvm::SaturatingMultiply<uint64_t>(
        terms, getNumber(extent).value_or(kFewTermsOfWindow + 1));
  return terms <= kFewTermsOfWindow;
}

std::optional<Grouping>
GroupSeparator::findGrouping(const Statement &sum) const {
  unsigned rank = program.getRank(sum.target);
  if (sum.reduction != ReduceKind::Sum || sum.pieces.size() != 1 ||
      sum.recurrence || sum.entries || sum.keepsRowMajor || sum.algorithm ||
      !sum.targetIndices.empty() || program.arrays[sum.target].layout)
    return std::nullopt;
  std::optional<Grouping> grouping;
  forEachAccess(sum, [&](Expr access) {
    for (Expr index : access.getOperands()) {
      std::optional<AffineExpr> affine = program.affine(index);
      if (!affine)
        continue;
      affine->walk([&](AffineExpr part) {
        auto quotient = dyn_cast<AffineBinaryOpExpr>(part);
        if (!quotient || part.getKind() != AffineExprKind::FloorDiv)
          return;
        auto dim = dyn_cast<AffineDimExpr>(quotient.getLHS());
        auto features = getNumber(quotient.getRHS());
        if (dim && dim.getPosition() < rank && features && *features > 1)
          grouping = {dim.getPosition(), *features};
      });
    }
  });
  if (!grouping)
    return std::nullopt;
  std::optional<int64_t> extent = getNumber(sum.extents[grouping->dim]);
  if (!extent || *extent % grouping->features != 0 ||
      *extent == grouping->features)
    return std::nullopt;
  // Lanes along rows slide over the taps of any feature, but groups of whole
  // vectors share what these read. Groups of half a panel fill panels together.
  bool isWhole = grouping->features % program.vectorLanes == 0;
  bool fillsPanels =
      grouping->features % (program.vectorLanes * kPanelVectors) == 0;
  if (isWhole ? !fillsPanels && !hasFewTerms(sum)
              : slidesInRows(sum, *grouping))
    return std::nullopt;
  return grouping;
}

std::optional<ArrayId> GroupSeparator::split(ArrayId number, unsigned index,
                                             Grouping grouping) {
  Array array = program.arrays[number];
  array.extents = splitExtent(array.extents, index, grouping.features);
  if (array.layout || !llvm::all_of(array.extents, getNumber))
    return std::nullopt;
  if (array.kind == Array::Kind::Constant) {
    SmallVector<int64_t> shape = llvm::map_to_vector(
        array.extents, [](AffineExpr extent) { return *getNumber(extent); });
    array.constant = reshapeConstant(
        array.constant, RankedTensorType::get(shape, array.elementType));
    if (!array.constant)
      return std::nullopt;
  } else if (array.kind == Array::Kind::Input) {
    array.kind = Array::Kind::Intermediate;
    array.reshapeOf = number;
  } else {
    return std::nullopt;
  }
  array.outputs.clear();
  return program.addArray(std::move(array));
}

Expr GroupSeparator::separateAccess(Expr e, Grouping grouping) {
  MLIRContext *context = program.context;
  AffineExpr feature = getAffineDimExpr(grouping.dim, context);
  ArrayId array = e.getTensor().number;
  SmallVector<Expr> indices;
  auto shift = [&](AffineExpr expr, unsigned numDims) {
    return expr.shiftDims(numDims, 1, grouping.dim + 1);
  };
  unsigned numDims = 0;
  for (unsigned dim : getDims(e))
    numDims = std::max(numDims, dim + 1);
  AffineExpr group = feature,
             inGroup = getAffineDimExpr(grouping.dim + 1, context);
  bool isSplit = false;
  for (auto [position, index] : llvm::enumerate(e.getOperands())) {
    std::optional<AffineExpr> affine = program.affine(index);
    if (!affine)
      return {};
    if (*affine == feature) {
      std::optional<ArrayId> view =
          isSplit ? std::nullopt : split(array, position, grouping);
      if (!view)
        return {};
      isSplit = true;
      array = *view;
      indices.push_back(program.expression(group));
      indices.push_back(program.expression(inGroup));
      continue;
    }
    // Dimensions that nothing else has stand for the two until all is shifted.
    AffineExpr mark = getAffineDimExpr(numDims, context);
    AffineExpr markIn = getAffineDimExpr(numDims + 1, context);
    AffineExpr expr =
        affine->replace({{feature.floorDiv(grouping.features), mark},
                         {feature % grouping.features, markIn}});
    if (expr.isFunctionOfDim(grouping.dim))
      return {};
    expr = shift(expr, numDims + 2)
               .replace({{getAffineDimExpr(numDims + 1, context), group},
                         {getAffineDimExpr(numDims + 2, context), inGroup}});
    indices.push_back(program.expression(program.simplify(expr)));
  }
  return access(TensorRef::operand(array), indices, e.getType());
}

std::optional<Statement> GroupSeparator::separate(const Statement &sum,
                                                  Grouping grouping) {
  Statement result = sum;
  Piece &piece = result.pieces.front();
  for (Condition &condition : piece.domain) {
    if (condition.expr.isFunctionOfDim(grouping.dim))
      return std::nullopt;
    condition.expr =
        condition.expr.shiftDims(sum.getNumDims(), 1, grouping.dim + 1);
  }
  Expr operation = transform(piece.value, [](Expr e) {
    return e.getKind() == Expr::Kind::Access ? constant(int64_t(0)) : Expr();
  });
  bool isPossible = getDims(operation).empty();
  piece.value = transform(piece.value, [&](Expr e) -> Expr {
    if (e.getKind() != Expr::Kind::Access)
      return {};
    Expr other = separateAccess(e, grouping);
    isPossible &= bool(other);
    return other ? other : e;
  });
  if (!isPossible)
    return std::nullopt;
  result.extents = splitExtent(sum.extents, grouping.dim, grouping.features);
  if (!result.names.empty())
    result.names.insert(result.names.begin() + grouping.dim, "");
  return result;
}

ArrayId GroupSeparator::addSeparated(ArrayId target, Grouping grouping) {
  Array array = program.arrays[target];
  array.outputs.clear();
  array.rowMajor = false;
  array.order.clear();
  // Who reads it in other kernels reads the whole.
  if (array.fusion == Fusion::Separate)
    array.fusion.reset();
  array.extents = splitExtent(array.extents, grouping.dim, grouping.features);
  ArrayId number = program.addArray(std::move(array));
  separated[target] = {number, grouping};
  return number;
}

bool GroupSeparator::mayReadParts(const Statement &statement) const {
  bool isPlain = !statement.reduction && !statement.recurrence &&
                 statement.pieces.size() == 1 &&
                 statement.pieces.front().domain.empty();
  forEachAccess(statement, [&](Expr access) {
    ArrayId array = access.getTensor().number;
    auto known = separated.find(array);
    isPlain &= known == separated.end() ||
               (!program.isChosen(array, Fusion::Separate) &&
                access.getOperands()[known->second.grouping.dim].getKind() ==
                    Expr::Kind::Variable);
  });
  return isPlain;
}

void GroupSeparator::readParts(Statement &statement) const {
  for (Piece &piece : statement.pieces)
    piece.value = transform(piece.value, [&](Expr e) -> Expr {
      auto known = e.getKind() == Expr::Kind::Access
                       ? separated.find(e.getTensor().number)
                       : separated.end();
      if (known == separated.end())
        return {};
      const Separated &parts = known->second;
      SmallVector<Expr> indices(e.getOperands());
      Expr feature = indices[parts.grouping.dim];
      Expr size = constant(parts.grouping.features);
      auto divide = [&](ScalarFn fn) {
        return espalier::definition::apply(fn, {feature, size});
      };
      indices[parts.grouping.dim] = divide(ScalarFn::FloorDiv);
      indices.insert(indices.begin() + parts.grouping.dim + 1,
                     divide(ScalarFn::Mod));
      return access(TensorRef::operand(parts.array), indices, e.getType());
    });
}

void GroupSeparator::run() {
  std::vector<Statement> statements;
  for (const Statement &statement : program.statements) {
    statements.push_back(statement);
    if (mayReadParts(statement))
      readParts(statements.back());
    std::optional<Grouping> grouping = findGrouping(statement);
    std::optional<Statement> sum =
        grouping ? separate(statement, *grouping) : std::nullopt;
    if (!sum)
      continue;
    sum->target = addSeparated(statement.target, *grouping);
    statements.back() = std::move(*sum);
    Statement whole =
        makeStore(program, statement.target, statement.target, statement.loc);
    readParts(whole);
    statements.push_back(std::move(whole));
  }
  if (separated.empty())
    return;
  llvm::DenseSet<ArrayId> needed;
  for (const Statement &statement : statements)
    for (ArrayId array : getReads(statement))
      needed.insert(program.getBase(array));
  for (auto [number, array] : llvm::enumerate(program.arrays))
    if (!array.outputs.empty())
      needed.insert(program.getBase(number));
  llvm::erase_if(statements, [&](const Statement &statement) {
    return separated.contains(statement.target) &&
           !needed.contains(statement.target);
  });
  program.statements.assign(std::make_move_iterator(statements.begin()),
                            std::make_move_iterator(statements.end()));
}

void espalier::graphtopoly::separateGroups(StatementList &program) {
  GroupSeparator(program).run();
}
