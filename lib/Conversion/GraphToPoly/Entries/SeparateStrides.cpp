//===- SeparateStrides.cpp - Images whose windows move by several points --===//
//
// A window that moves by two points reads every second element of a line, and
// no vectors:
//
//   Y[n, o, y, x] (+)= X[n, k[e], 2 y + i[e], 2 x + j[e]] * w[e]
//
// So the elements of each phase of a line are copied side by side, and an entry
// says in which phase it reads, where j[e] is 2 t[e] + q[e]:
//
//   Z[n, k, r, q, x] = X[n, k, r, 2 x + q]
//   Y[n, o, y, x] (+)= Z[n, k[e], 2 y + i[e], q[e], x + t[e]] * w[e]
//
// Where all entries read one phase, as those of a filter of one point do, the
// others are not copied; nor are lines that nobody reads.
//
//===----------------------------------------------------------------------===//

#include "../Normalize.h"
#include "EntryLists.h"
#include "espalier/Dialect/Poly/IR/Target.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

namespace {

/// An index `stride * dim` plus what an entry says.
struct StridedIndex {
  unsigned index, dim;
  int64_t stride;
  std::vector<int32_t> places;  ///< What each entry says.
  std::optional<int64_t> phase; ///< The only one that entries read.

  int64_t countSteps() const { return *llvm::max_element(places) / stride + 1; }
};

class StrideSeparator {
public:
  StrideSeparator(StatementList &program, unsigned number)
      : program(program), context(program.context), number(number),
        sum(program.statements[number]) {}

  /// Returns the array that is copied; nothing, with nothing changed, if the
  /// sum reads none in steps.
  std::optional<ArrayId> run();

private:
  /// Reads an index of the image; nothing if it is of another form.
  std::optional<StridedIndex> readIndex(unsigned index) const;
  /// Whether lanes are to lie along the line that is read in steps: they fill
  /// vectors there, or at least as well as along a dimension without steps.
  bool isForLanes(const StridedIndex &own) const;
  /// Adds the array of the copy, and how it is read.
  void addImage();
  /// The copy, which computes itself what somebody has copied with a border.
  Statement makeCopy();
  /// Lets the sum read the copy at entries in the order of their places there.
  void rewriteSum();

  const StridedIndex *findStrided(unsigned index) const {
    const auto *found = llvm::find_if(
        strided, [&](const StridedIndex &s) { return s.index == index; });
    return found == strided.end() ? nullptr : found;
  }

  StatementList &program;
  MLIRContext *context;
  unsigned number;
  Statement sum;
  EntryTable table;
  Expr read;
  SmallVector<StridedIndex> strided;
  ArrayId image = 0;
  /// The index of the image that each of the copy's is a part of, and whether
  /// it is the phase there.
  SmallVector<std::pair<unsigned, bool>> parts;
};

} // namespace

std::optional<StridedIndex> StrideSeparator::readIndex(unsigned index) const {
  unsigned firstSymbol = program.symbols.size();
  bool isKnown = true;
  std::optional<AffineExpr> affine =
      program.affine(read.getOperands()[index], [&](Expr data) {
        const auto *column = llvm::find(table.columns, data.getTensor().number);
        isKnown &= column != table.columns.end();
        return getAffineSymbolExpr(
            firstSymbol + (column - table.columns.begin()), context);
      });
  if (!affine || !isKnown)
    return std::nullopt;
  // What it grows by with `self`; nothing if that is no number.
  auto getFactor = [&](AffineExpr self) -> std::optional<int64_t> {
    auto factor = dyn_cast<AffineConstantExpr>(
        program.simplify(affine->replace(self, self + 1) - *affine));
    return factor ? std::optional(factor.getValue()) : std::nullopt;
  };
  AffineExpr rest = *affine, zero = getAffineConstantExpr(0, context);
  StridedIndex result{index, 0, 0, {}, std::nullopt};
  for (unsigned dim = 0; dim < program.getRank(sum.target); ++dim) {
    AffineExpr self = getAffineDimExpr(dim, context);
    std::optional<int64_t> factor = getFactor(self);
    if (!factor || (*factor != 0 && result.stride != 0))
      return std::nullopt;
    if (*factor == 0)
      continue;
    result.dim = dim;
    result.stride = *factor;
    rest = rest.replace(self, zero);
  }
  if (result.stride < 2)
    return std::nullopt;
  std::vector<int64_t> places(table.places.front().size(), 0);
  for (auto [column, numbers] : llvm::enumerate(table.places)) {
    AffineExpr self = getAffineSymbolExpr(firstSymbol + column, context);
    std::optional<int64_t> factor = getFactor(self);
    if (!factor)
      return std::nullopt;
    for (auto [place, number] : llvm::zip_equal(places, numbers))
      place += *factor * number;
    rest = rest.replace(self, zero);
  }
  auto first = dyn_cast<AffineConstantExpr>(program.simplify(rest));
  if (!first)
    return std::nullopt;
  result.phase = (first.getValue() + places.front()) % result.stride;
  for (int64_t place : places) {
    place += first.getValue();
    if (place < 0 || place > std::numeric_limits<int32_t>::max())
      return std::nullopt;
    result.places.push_back(place);
    if (place % result.stride != result.phase)
      result.phase.reset();
  }
  return result;
}

bool StrideSeparator::isForLanes(const StridedIndex &own) const {
  int64_t lanes = poly::getTarget(program.function).getLanes(read.getType());
  auto getShare = [&](unsigned dim) {
    auto extent = dyn_cast<AffineConstantExpr>(sum.extents[dim]);
    return !extent || extent.getValue() == 0
               ? 1.
               : static_cast<double>(extent.getValue()) /
                     llvm::alignTo(extent.getValue(), lanes);
  };
  double share = getShare(own.dim);
  return share >= 0.5 || llvm::none_of(read.getOperands(), [&](Expr index) {
           return index.getKind() == Expr::Kind::Variable &&
                  !sum.entries->row.isFunctionOfDim(index.getVariable()) &&
                  getShare(index.getVariable()) > share;
         });
}

void StrideSeparator::addImage() {
  const Array &source = program.arrays[read.getTensor().number];
  Array copy{Array::Kind::Intermediate, source.loc, source.elementType};
  for (unsigned index = 0; index < source.extents.size(); ++index) {
    const StridedIndex *found = findStrided(index);
    if (!found) {
      copy.extents.push_back(source.extents[index]);
    } else {
      if (!found->phase) {
        parts.emplace_back(index, true);
        copy.extents.push_back(getAffineConstantExpr(found->stride, context));
      }
      copy.extents.push_back(
          program.simplify(sum.extents[found->dim] + found->countSteps() - 1));
    }
    parts.emplace_back(index, false);
  }
  image = program.addArray(std::move(copy));
}

/// Leaves out what always holds; fails if something never does.
static LogicalResult simplifyDomain(const StatementList &program,
                                    ArrayRef<AffineExpr> extents,
                                    Conjunction &domain) {
  bool isEmpty = false;
  llvm::erase_if(domain, [&](const Condition &condition) {
    auto range = getRange(program, condition.expr, extents);
    if (!range || condition.isEquality)
      return false;
    auto least = dyn_cast<AffineConstantExpr>(program.simplify(range->first));
    auto most = dyn_cast<AffineConstantExpr>(program.simplify(range->second));
    isEmpty |= most && most.getValue() < 0;
    return least && least.getValue() >= 0;
  });
  return failure(isEmpty);
}

Statement StrideSeparator::makeCopy() {
  ArrayId sourceOf = read.getTensor().number;
  const Array &source = program.arrays[sourceOf];
  ArrayRef<AffineExpr> extents = program.arrays[image].extents;
  Statement copy{image, source.loc, llvm::to_vector(extents), {}};
  SmallVector<AffineExpr> indices(source.extents.size());
  for (auto [dim, part] : llvm::enumerate(parts)) {
    AffineExpr self = getAffineDimExpr(dim, context);
    AffineExpr &index = indices[part.first];
    const StridedIndex *found = findStrided(part.first);
    if (part.second || !found)
      index = self;
    else
      index = self * found->stride +
              (index ? index : getAffineConstantExpr(*found->phase, context));
  }
  auto add = [&](Conjunction domain, Expr value) {
    if (succeeded(simplifyDomain(program, extents, domain)))
      copy.pieces.push_back({std::move(domain), value});
  };
  // Steps may end beyond the line, where no entry reads.
  Conjunction inside;
  for (const StridedIndex &index : strided) {
    AffineExpr rule = program.simplify(source.extents[index.index] - 1 -
                                       indices[index.index]);
    Conjunction outside(inside);
    outside.push_back({program.simplify(-rule - 1), false});
    add(std::move(outside), getNeutral(ReduceKind::Sum, read.getType()));
    inside.push_back({rule, false});
  }
  auto found =
      llvm::find_if(program.statements, [&](const Statement &statement) {
        return statement.target == sourceOf;
      });
  bool isPadded = found != program.statements.end() && !found->reduction &&
                  !found->recurrence && found->targetIndices.empty() &&
                  found->pieces.size() > 1;
  if (!isPadded) {
    SmallVector<Expr> operands;
    for (AffineExpr index : indices)
      operands.push_back(program.expression(index));
    add(inside, access(TensorRef::operand(sourceOf), operands, read.getType()));
    return copy;
  }
  for (const Piece &piece : found->pieces) {
    Conjunction domain(inside);
    for (const Condition &condition : piece.domain)
      domain.push_back({program.simplify(condition.expr.replaceDims(indices)),
                        condition.isEquality});
    add(std::move(domain), transform(piece.value, [&](Expr e) -> Expr {
          if (e.getKind() != Expr::Kind::Variable)
            return {};
          return program.expression(indices[e.getVariable()]);
        }));
  }
  return copy;
}

void StrideSeparator::rewriteSum() {
  // By index of the copy, in the order of which entries are sorted.
  struct Column {
    std::vector<int32_t> numbers;
    int64_t bound;
    ArrayId array = 0;
  };
  SmallVector<Column> columns;
  llvm::DenseMap<ArrayId, unsigned> kept; // Of columns that stay as they are.
  SmallVector<std::optional<unsigned>> columnOf(parts.size());
  for (auto [part, column] : llvm::zip_equal(parts, columnOf)) {
    const StridedIndex *found = findStrided(part.first);
    if (!found) {
      walk(read.getOperands()[part.first], [&](Expr e) {
        const auto *old = e.getKind() == Expr::Kind::Access
                              ? llvm::find(table.columns, e.getTensor().number)
                              : table.columns.end();
        if (old == table.columns.end() ||
            !kept.try_emplace(*old, columns.size()).second)
          return;
        unsigned place = old - table.columns.begin();
        columns.push_back({table.places[place], table.bounds[place]});
      });
      continue;
    }
    if (!part.second && found->countSteps() == 1)
      continue;
    column = columns.size();
    Column own{{}, part.second ? found->stride : found->countSteps()};
    for (int32_t place : found->places)
      own.numbers.push_back(part.second ? place % found->stride
                                        : place / found->stride);
    columns.push_back(std::move(own));
  }

  std::vector<int64_t> order(table.places.front().size());
  std::iota(order.begin(), order.end(), 0);
  for (int64_t row = 0; row < table.countRows(); ++row)
    std::sort(order.begin() + table.starts[row],
              order.begin() + table.starts[row + 1], [&](int64_t a, int64_t b) {
                for (const Column &column : columns)
                  if (column.numbers[a] != column.numbers[b])
                    return column.numbers[a] < column.numbers[b];
                return false;
              });
  for (Column &column : columns) {
    std::vector<int32_t> sorted;
    for (int64_t entry : order)
      sorted.push_back(column.numbers[entry]);
    column.array = addPlaces(program, sum.loc, sorted, column.bound);
  }
  std::vector<char> values;
  for (int64_t entry : order)
    llvm::append_range(
        values, table.bytes.slice(entry * table.valueBytes, table.valueBytes));
  ArrayId valuesOf =
      addEntryArray(program, sum.loc, program.arrays[table.values].elementType,
                    {int64_t(order.size())}, values);

  Expr entry = variable(sum.getNumDims() - 1, context);
  auto readList = [&](ArrayId list) {
    return access(TensorRef::operand(list), {entry},
                  program.arrays[list].elementType);
  };
  auto readColumn = [&](unsigned column) {
    return cast(IndexType::get(context), readList(columns[column].array));
  };
  SmallVector<Expr> indices;
  for (auto [part, column] : llvm::zip_equal(parts, columnOf)) {
    const StridedIndex *found = findStrided(part.first);
    Expr index;
    if (!found)
      index = transform(read.getOperands()[part.first], [&](Expr e) -> Expr {
        auto old = e.getKind() == Expr::Kind::Access
                       ? kept.find(e.getTensor().number)
                       : kept.end();
        return old == kept.end() ? Expr()
                                 : readList(columns[old->second].array);
      });
    else if (part.second)
      index = readColumn(*column);
    else if (!column)
      index = variable(found->dim, context);
    else
      index = variable(found->dim, context) + readColumn(*column);
    indices.push_back(index);
  }
  Piece &piece = sum.pieces.front();
  piece.value = transform(piece.value, [&](Expr e) -> Expr {
    if (e.getNode() == read.getNode())
      return access(TensorRef::operand(image), indices, e.getType());
    if (e.getKind() == Expr::Kind::Access &&
        e.getTensor().number == table.values)
      return readList(valuesOf);
    return {};
  });
}

std::optional<ArrayId> StrideSeparator::run() {
  if (sum.reduction != ReduceKind::Sum || sum.recurrence)
    return std::nullopt;
  std::optional<Expr> found = findReadAtData(sum);
  FailureOr<EntryTable> known =
      readEntryTable(program, sum, /*row=*/std::nullopt);
  if (!found || failed(known) || known->columns.empty() ||
      known->starts.front() == known->starts.back())
    return std::nullopt;
  read = *found;
  table = std::move(*known);
  const Array &source = program.arrays[read.getTensor().number];
  if (source.kind == Array::Kind::Constant)
    return std::nullopt;
  for (unsigned index = 0; index < source.extents.size(); ++index) {
    std::optional<StridedIndex> own = readIndex(index);
    bool isLast = index + 1 == source.extents.size();
    if (own && (own->phase || (isLast && isForLanes(*own))))
      strided.push_back(std::move(*own));
  }
  if (strided.empty())
    return std::nullopt;
  ArrayId copied = read.getTensor().number;
  addImage();
  Statement copy = makeCopy();
  rewriteSum();
  program.statements[number] = std::move(sum);
  program.statements.insert(program.statements.begin() + number,
                            std::move(copy));
  return copied;
}

/// Removes the copy `array`, if nobody reads it any more.
static void eraseUnread(StatementList &program, ArrayId array) {
  const Array &stored = program.arrays[array];
  bool isNeeded = stored.kind != Array::Kind::Intermediate ||
                  !stored.outputs.empty() ||
                  llvm::any_of(program.arrays, [&](const Array &other) {
                    return other.reshapeOf == array;
                  });
  for (const Statement &statement : program.statements)
    isNeeded |= llvm::is_contained(getReads(statement), array);
  if (!isNeeded)
    llvm::erase_if(program.statements, [&](const Statement &statement) {
      return statement.target == array;
    });
}

void espalier::graphtopoly::separateStrides(StatementList &program) {
  SmallVector<ArrayId> unread;
  for (unsigned number = 0; number < program.statements.size(); ++number) {
    if (!program.statements[number].entries)
      continue;
    if (std::optional<ArrayId> copied =
            StrideSeparator(program, number).run()) {
      ++number;
      unread.push_back(*copied);
    }
  }
  for (ArrayId array : unread)
    eraseUnread(program, array);
}
