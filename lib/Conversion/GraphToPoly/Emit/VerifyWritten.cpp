//===- VerifyWritten.cpp - Is every element written that anybody sees? ----===//
//
// A pass that drops, moves or splits a statement may leave elements of an array
// to nobody. Its readers, or the caller, would find what was in memory before,
// and no result would look wrong until the memory does. So the list is checked
// at the end: the places that the statements of an array compute are all of a
// result, and all that is read of another array. Most arrays have a statement
// that computes all elements in their order; for the others the places are
// integer sets.
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "espalier/Polyhedral/Set.h"
#include <set>

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;

namespace {

class WriteChecker {
public:
  WriteChecker(const StatementList &program, ArrayRef<FusionGroup> fusionGroups)
      : program(program), fusionGroups(fusionGroups),
        readersOf(program.arrays.size()),
        extents(SizeParameters::collectExtents(program)),
        parameters(program, extents) {}

  LogicalResult run();

private:
  struct Writer {
    const Statement *statement;
    unsigned fusionGroup;
  };
  LogicalResult checkOrder();
  /// Whether what `statement` reads of `read` is written up to `fusionGroup`.
  LogicalResult checkRead(ArrayId read, const Statement &statement,
                          unsigned fusionGroup);
  LogicalResult checkArray(ArrayId array);
  /// Whether `statement` alone computes all elements, in their order.
  bool isWhole(const Statement &statement) const;
  /// Whether one of `writers` does, or each writes every so many elements along
  /// some indices, and all begin at others: the tiles of Winograd's algorithm.
  bool areWhole(ArrayRef<Writer> writers) const;
  /// The places that `statement` computes; null if they are not affine.
  polyhedral::Set getPlaces(const Statement &statement);
  /// The elements of an array that anybody wants.
  polyhedral::Set getNeeded(ArrayId array);
  polyhedral::Set getRead(ArrayId array, const Statement &statement);
  polyhedral::Map getMap(unsigned numDims, ArrayRef<AffineExpr> indices);
  polyhedral::Set getBox(ArrayRef<AffineExpr> extents,
                         const Conjunction &rules = {});
  /// Over parameters, and a symbol after all of them for data.
  AffineExpr linearize(AffineExpr expr);
  /// The parameters that `getBox` and the others may use.
  unsigned getNumParams() const { return program.symbols.size() + kProducts; }
  InFlightDiagnostic report(ArrayId array) const;

  static constexpr unsigned kProducts = 16;
  const StatementList &program;
  ArrayRef<FusionGroup> fusionGroups;
  llvm::DenseMap<ArrayId, SmallVector<Writer, 2>> writersOf;
  /// The statements of fusion groups that read each array, by itself.
  std::vector<llvm::SetVector<unsigned>> readersOf;
  SizeParameters::Extents extents;
  SizeParameters parameters;
  polyhedral::Context context;
};

bool WriteChecker::isWhole(const Statement &statement) const {
  ArrayRef<AffineExpr> extents = program.arrays[statement.target].extents;
  return statement.targetIndices.empty() &&
         ArrayRef(statement.extents).take_front(extents.size()) == extents &&
         (statement.reduction || llvm::any_of(statement.pieces, [](auto &p) {
            return p.domain.empty();
          }));
}

/// An index that takes every `period`-th value of an extent, from `first` on.
struct Grid {
  int64_t period, first;
};

/// Reads the index `expr` of a point in a box of `extents` as such a grid of
/// `extent` along a dimension, which is the result.
static std::optional<unsigned> getGrid(AffineExpr expr, AffineExpr extent,
                                       ArrayRef<AffineExpr> extents,
                                       Grid &grid) {
  auto size = dyn_cast<AffineConstantExpr>(extent);
  for (unsigned dim = 0; dim < extents.size(); ++dim) {
    AffineExpr self = getAffineDimExpr(dim, expr.getContext());
    if (expr == self && extents[dim] == extent) {
      grid = {1, 0};
      return dim;
    }
    auto count = dyn_cast<AffineConstantExpr>(extents[dim]);
    if (!expr.isFunctionOfDim(dim) || !size || !count || count.getValue() < 1 ||
        size.getValue() % count.getValue() != 0)
      continue;
    int64_t period = size.getValue() / count.getValue();
    auto first = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
        expr - self * period, extents.size(), /*numSymbols=*/0));
    if (!first || first.getValue() < 0 || first.getValue() >= period)
      return std::nullopt;
    grid = {period, first.getValue()};
    return dim;
  }
  return std::nullopt;
}

bool WriteChecker::areWhole(ArrayRef<Writer> writers) const {
  if (llvm::any_of(writers,
                   [&](const Writer &w) { return isWhole(*w.statement); }))
    return true;
  std::optional<SmallVector<int64_t>> common;
  std::set<SmallVector<int64_t>> beginnings;
  for (const Writer &writer : writers) {
    const Statement &statement = *writer.statement;
    ArrayRef<AffineExpr> extents = program.arrays[statement.target].extents;
    if (statement.reduction || statement.targetIndices.empty() ||
        llvm::none_of(statement.pieces,
                      [](const Piece &p) { return p.domain.empty(); }))
      continue;
    SmallVector<int64_t> periods, begin;
    llvm::SmallDenseSet<unsigned> dims;
    for (auto [index, extent] :
         llvm::zip_equal(statement.targetIndices, extents)) {
      Grid grid;
      auto number = dyn_cast<AffineConstantExpr>(index);
      auto size = dyn_cast<AffineConstantExpr>(extent);
      if (number && size && number.getValue() >= 0 &&
          number.getValue() < size.getValue())
        grid = {size.getValue(), number.getValue()};
      else if (auto dim = getGrid(index, extent, statement.extents, grid);
               !dim || !dims.insert(*dim).second)
        break;
      periods.push_back(grid.period);
      begin.push_back(grid.first);
    }
    if (periods.size() < extents.size() || (common && *common != periods))
      continue;
    common = periods;
    beginnings.insert(begin);
  }
  int64_t wanted = 1;
  for (int64_t period : common.value_or(SmallVector<int64_t>()))
    wanted = llvm::SaturatingMultiply<uint64_t>(wanted, period);
  return common && int64_t(beginnings.size()) == wanted;
}

AffineExpr WriteChecker::linearize(AffineExpr expr) {
  parameters.add(expr);
  return parameters.rewrite(expr, getNumParams());
}

polyhedral::Set WriteChecker::getBox(ArrayRef<AffineExpr> extents,
                                     const Conjunction &rules) {
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> isEquality;
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    AffineExpr index = getAffineDimExpr(dim, program.context);
    constraints.append({index, linearize(extent) - 1 - index});
    isEquality.append({false, false});
  }
  for (const Condition &rule : rules) {
    constraints.push_back(linearize(rule.expr));
    isEquality.push_back(rule.isEquality);
  }
  // Never an empty list, which would stand for no set at all.
  constraints.push_back(getAffineConstantExpr(0, program.context));
  isEquality.push_back(false);
  if (parameters.size() > getNumParams())
    return {};
  return polyhedral::Set::get(
      context,
      IntegerSet::get(extents.size(), getNumParams(), constraints, isEquality));
}

polyhedral::Map WriteChecker::getMap(unsigned numDims,
                                     ArrayRef<AffineExpr> indices) {
  SmallVector<AffineExpr> linear;
  for (AffineExpr index : indices)
    linear.push_back(linearize(index));
  if (parameters.size() > getNumParams())
    return {};
  // What depends on data may be anything, and is a symbol after the others.
  return polyhedral::Map::get(
      context, getNumParams(),
      AffineMap::get(numDims, getNumParams() + 1, linear, program.context),
      polyhedral::Map::Inexact::Any);
}

polyhedral::Set WriteChecker::getPlaces(const Statement &statement) {
  unsigned rank = program.getRank(statement.target);
  ArrayRef<AffineExpr> extents = statement.extents;
  polyhedral::Set points;
  // The first value of a reduction is stored whatever is combined with it.
  if (statement.reduction)
    points = getBox(extents = extents.take_front(rank));
  else
    for (const Piece &piece : statement.pieces) {
      polyhedral::Set part = getBox(extents, piece.domain);
      points = points ? points.unite(part) : part;
    }
  if (statement.targetIndices.empty())
    return points;
  return getMap(extents.size(), statement.targetIndices).apply(points);
}

polyhedral::Set WriteChecker::getRead(ArrayId array,
                                      const Statement &statement) {
  polyhedral::Set result;
  for (const Piece &piece : statement.pieces)
    walk(piece.value, [&](Expr access) {
      if (access.getKind() != Expr::Kind::Access ||
          access.getTensor().number != array)
        return;
      SmallVector<AffineExpr> indices;
      for (Expr index : access.getOperands())
        indices.push_back(program.affine(index).value_or(
            getAffineSymbolExpr(program.symbols.size(), program.context)));
      polyhedral::Set read =
          getMap(statement.getNumDims(), indices)
              .apply(getBox(statement.extents, piece.domain));
      result = result ? result.unite(read) : read;
    });
  return result;
}

polyhedral::Set WriteChecker::getNeeded(ArrayId array) {
  polyhedral::Set box = getBox(program.arrays[array].extents), read;
  for (auto [number, other] : llvm::enumerate(program.arrays))
    if (program.getBase(number) == array &&
        (number != array || !other.outputs.empty()))
      return box; // The caller's, or read by other indices.
  for (unsigned number : readersOf[array])
    if (polyhedral::Set more = getRead(array, program.statements[number]))
      read = read ? read.unite(more) : more;
  return read.intersect(box);
}

InFlightDiagnostic WriteChecker::report(ArrayId array) const {
  std::string what = "an array before it is read";
  for (auto [number, other] : llvm::enumerate(program.arrays))
    if (!other.outputs.empty() && program.getBase(number) == array)
      what = ("result #" + Twine(other.outputs.front())).str();
  return mlir::emitError(program.arrays[array].loc,
                         "expects kernels that write ")
         << what;
}

LogicalResult WriteChecker::checkArray(ArrayId array) {
  ArrayRef<Writer> writers = writersOf[array];
  if (areWhole(writers))
    return success();
  context.restart();
  polyhedral::Set missing = getBox(program.arrays[array].extents);
  for (const Writer &writer : writers)
    missing = missing.subtract(getPlaces(*writer.statement));
  // Sizes are never negative. What isl cannot say is let through.
  missing = missing.assumeNonnegativeParameters();
  if (!missing.samplePoint())
    return success();
  std::optional<SmallVector<int64_t>> point =
      missing.intersect(getNeeded(array)).samplePoint();
  if (!point)
    return success();
  InFlightDiagnostic diag = report(array);
  diag << ", but nobody writes element (";
  llvm::interleaveComma(ArrayRef(*point).drop_front(getNumParams()), diag);
  return diag << ")";
}

/// Whoever reads runs after those who write what it reads, or with them. Others
/// may write other elements later, or the same memory for other values.
LogicalResult WriteChecker::checkOrder() {
  for (auto [number, fusionGroup] : llvm::enumerate(fusionGroups))
    for (unsigned index : fusionGroup.statements)
      for (ArrayId read : getReads(program.statements[index]))
        if (failed(checkRead(read, program.statements[index], number)))
          return failure();
  return success();
}

LogicalResult WriteChecker::checkRead(ArrayId read, const Statement &statement,
                                      unsigned fusionGroup) {
  ArrayId array = program.getBase(read);
  auto known = writersOf.find(array);
  if (known == writersOf.end())
    return success();
  SmallVector<Writer, 2> before;
  for (const Writer &writer : known->second)
    if (writer.fusionGroup <= fusionGroup)
      before.push_back(writer);
  if (before.size() == known->second.size() || areWhole(before))
    return success();
  // A view is read by other indices. Which elements data chooses is not known:
  // none of those, perhaps, that surround what was stored in place.
  bool isKnown = read == array;
  forEachAccess(statement, [&](Expr access) {
    isKnown &= access.getTensor().number != read ||
               llvm::all_of(access.getOperands(), [&](Expr index) {
                 return program.affine(index).has_value();
               });
  });
  if (!isKnown && !before.empty())
    return success();
  context.restart();
  polyhedral::Set missing =
      getRead(read, statement).intersect(getBox(program.arrays[read].extents));
  for (const Writer &writer : before)
    missing = missing.subtract(getPlaces(*writer.statement));
  if (missing.assumeNonnegativeParameters().samplePoint())
    return report(array) << ", but it is read earlier";
  return success();
}

LogicalResult WriteChecker::run() {
  llvm::SetVector<ArrayId> seen;
  // A result is the caller's memory, whatever it was before.
  for (auto [number, array] : llvm::enumerate(program.arrays))
    if (!array.outputs.empty())
      seen.insert(program.getBase(number));
  for (auto [number, fusionGroup] : llvm::enumerate(fusionGroups))
    for (unsigned index : fusionGroup.statements) {
      const Statement &statement = program.statements[index];
      if (!statement.addsToTarget)
        writersOf[program.getBase(statement.target)].push_back(
            {&statement, unsigned(number)});
      for (ArrayId array : getReads(statement)) {
        readersOf[array].insert(index);
        if (ArrayId base = program.getBase(array);
            program.arrays[base].kind == Array::Kind::Intermediate)
          seen.insert(base);
      }
    }
  for (ArrayId array : seen)
    if (failed(checkArray(array)))
      return failure();
  return checkOrder();
}

} // namespace

LogicalResult
espalier::graphtopoly::verifyWritten(const DispatchVariant &variant) {
  return WriteChecker(variant.program, variant.fusionGroups).run();
}
