//===- GroupEntries.cpp - Rows of entries that share what they read -------===//
//
// Neighbouring rows of a sparse constant have some places in common. Their sums
// then read the same element of the other operand, once for all of them if they
// run together. So a group of rows has a list for each subset of them: the
// places where these rows, and no others of the group, have an entry.
//
//   Y[i, j] (+)= X[i, k[e]] * w[e]                  starts[j] <= e < starts[j +
//   1]
//
// becomes, for groups of two rows, j = 2 g + r,
//
//   A[i, g, r] = 0
//   A[i, g, q]     (+)= X[i, k1[e]] * w1[e, q]      q < 1, row 0 alone
//   A[i, g, q + 1] (+)= X[i, k2[e]] * w2[e, q]      q < 1, row 1 alone
//   A[i, g, q]     (+)= X[i, k3[e]] * w3[e, q]      q < 2, both
//   Y[i, 2 g + r] = A[i, g, r]
//
// where the entries of list s are from starts_s[g] to starts_s[g + 1]. A is in
// use for one tile at a time: its elements are registers across all lists.
//
// Where nothing but the rows has several elements, the product with one vector,
// the rows of a group are lanes, and each has a list of its own:
//
//   A[i, g, r] (+)= X[i, k[e, r]] * w[e, r]         starts[g] <= e < starts[g +
//   1]
//
//===----------------------------------------------------------------------===//

#include "GroupEntries.h"
#include "../PoolingWindows.h"
#include "../Renumber.h"
#include "EntryLists.h"
#include "PlaceEntries.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Interpreter/Tensor.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;
using poly::EntryFormat;
using poly::EntryLists;

/// Registers beside those of the sums: the vector that is shared, and one that
/// has a weight in all lanes for each row.
static constexpr int64_t kSharedRegisters = 1;
/// Vectors of one row side by side; and where vectors of other points of the
/// result, neighbours in an image, read what the first ones have brought close.
static constexpr int64_t kVectors = 4, kVectorsOfImage = 7;
/// Groups whose rows read less together than this share of what they would read
/// alone pay for their many lists.
static constexpr double kMaxShare = 0.95;
/// Lists that are so short on average end before they are worth a loop.
static constexpr double kMinPlaces = 4;
/// Lists side by side, of which more are zeros, take longer than rows alone.
static constexpr double kMaxPadded = 2;

namespace {

class EntryGrouper {
public:
  EntryGrouper(StatementList &program, FusionGroup &fusionGroup,
               const llvm::DenseSet<ArrayId> &local)
      : program(program), context(program.context), fusionGroup(fusionGroup),
        local(local), sum(program.statements[fusionGroup.statements.front()]) {}

  /// Returns why the rows stay alone, and nothing if they are groups.
  std::string run();

private:
  /// The formats that are worth a try, the best first.
  SmallVector<EntryFormat> getCandidates() const;
  bool isWorthwhile(const EntryFormat &format, ArrayRef<EntryList> lists) const;
  /// What is wrong with a format that somebody has chosen.
  std::string check(const EntryFormat &format) const;
  /// Whether what the sum reads beside its lists is the same for all rows.
  bool dependsOnEntriesAlone() const {
    bool isSame = true;
    walk(sum.pieces.front().value, [&](Expr e) {
      isSame &= e.getKind() != Expr::Kind::Variable || e.getVariable() != row;
    });
    return isSame;
  }
  /// Writes the statements for groups.
  void group(const EntryFormat &format, ArrayRef<EntryList> lists);
  /// The dimension along which the elements of an array are neighbours.
  std::optional<unsigned> getLaneDim(ArrayId array) const;
  /// The order of the memory of a local array of the group.
  SmallVector<AffineExpr> getOrder(ArrayId array, bool areLanes) const;
  Statement makeSum(const Statement &renumbered, const EntryList &list);
  ArrayId addStarts(const EntryList &list);
  ArrayId addColumns(unsigned number, const EntryList &list);
  ArrayId addValues(const EntryList &list);
  void add(Statement statement) {
    statements.push_back(program.statements.size());
    program.statements.push_back(std::move(statement));
  }

  StatementList &program;
  MLIRContext *context;
  FusionGroup &fusionGroup;
  const llvm::DenseSet<ArrayId> &local;
  const Statement sum;
  EntryTable table;
  unsigned row = 0; ///< The dimension that is the number of a row.
  /// Whether elements that are neighbours in memory are of one row.
  bool hasLanes = true;
  SmallVector<unsigned> statements;
};

} // namespace

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

SmallVector<EntryFormat> EntryGrouper::getCandidates() const {
  if (!hasLanes) {
    // Lanes that are loaded one by one take as long as rows one after another.
    if (!poly::getTarget(program.function).hasFastGather())
      return {};
    return {{EntryLists::Each, program.vectorLanes}};
  }
  // Rows, lanes, and others.
  int64_t numLong =
      llvm::count_if(ArrayRef(sum.extents).drop_back(), [](AffineExpr extent) {
        auto number = dyn_cast<AffineConstantExpr>(extent);
        return !number || number.getValue() > 1;
      });
  int64_t vectors = numLong > 2 ? kVectorsOfImage : kVectors;
  SmallVector<EntryFormat> formats;
  for (int64_t rows = EntryFormat::kMaxRowsOfSubsets; rows > 1; --rows)
    if (rows * (vectors + 1) + kSharedRegisters <= program.vectorRegisters)
      formats.push_back({EntryLists::Subsets, rows});
  return formats;
}

bool EntryGrouper::isWorthwhile(const EntryFormat &format,
                                ArrayRef<EntryList> lists) const {
  int64_t numPlaces = 0, numStored = 0;
  int64_t numEntries = table.starts.back() - table.starts.front();
  for (const EntryList &list : lists) {
    numPlaces += list.countPlaces();
    numStored += list.entries.size();
  }
  if (format.lists == EntryLists::Each)
    return numStored <= kMaxPadded * numEntries;
  int64_t numLists = lists.size() * (table.countRows() / format.rows);
  return numPlaces <= kMaxShare * numEntries &&
         numPlaces >= kMinPlaces * numLists;
}

std::string EntryGrouper::check(const EntryFormat &format) const {
  if (table.countRows() % format.rows != 0)
    return "a multiple of " + std::to_string(format.rows) + " rows, but got " +
           std::to_string(table.countRows());
  return "";
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

ArrayId EntryGrouper::addStarts(const EntryList &list) {
  ArrayId starts =
      addPlaces(program, sum.loc, list.starts, list.countPlaces() + 1);
  program.arrays[starts].isMonotonic = true;
  return starts;
}

ArrayId EntryGrouper::addColumns(unsigned number, const EntryList &list) {
  int64_t numRows = list.rows.size(), numPlaces = list.countPlaces();
  const std::vector<int32_t> &column = table.places[number];
  std::vector<int32_t> numbers;
  for (auto [group, start] :
       llvm::enumerate(ArrayRef(list.starts).drop_back())) {
    // A zero that is stored stands where the constant has one.
    SmallVector<int32_t> gaps(numRows, 0);
    if (list.hasOwnPlaces)
      for (unsigned r = 0; r < numRows; ++r)
        if (auto gap = table.findGap(group * numRows + r))
          gaps[r] = (*gap)[number];
    for (int64_t place = start; place < list.starts[group + 1]; ++place) {
      ArrayRef<int64_t> entries =
          ArrayRef(list.entries).slice(place * numRows, numRows);
      if (!list.hasOwnPlaces)
        numbers.push_back(
            column[*llvm::find_if(entries, [](int64_t e) { return e >= 0; })]);
      else
        for (auto [entry, gap] : llvm::zip_equal(entries, gaps))
          numbers.push_back(entry < 0 ? gap : column[entry]);
    }
  }
  SmallVector<int64_t> shape{numPlaces};
  if (list.hasOwnPlaces)
    shape.push_back(numRows);
  ArrayId added =
      addEntryArray(program, sum.loc, IntegerType::get(context, 32), shape,
                    {reinterpret_cast<const char *>(numbers.data()),
                     numbers.size() * sizeof(int32_t)});
  program.arrays[added].bound = table.bounds[number];
  return added;
}

ArrayId EntryGrouper::addValues(const EntryList &list) {
  std::vector<char> bytes;
  for (int64_t entry : list.entries)
    if (entry >= 0)
      llvm::append_range(
          bytes, table.bytes.slice(entry * table.valueBytes, table.valueBytes));
    else
      bytes.resize(bytes.size() + table.valueBytes);
  return addEntryArray(program, sum.loc,
                       program.arrays[table.values].elementType,
                       {list.countPlaces(), int64_t(list.rows.size())}, bytes);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// The row that is number `self` of `rows`: an arithmetic progression, or some
/// of four.
static AffineExpr getRow(AffineExpr self, ArrayRef<unsigned> rows) {
  if (rows.size() == 1)
    return self + rows[0];
  int64_t step = rows[1] - rows[0];
  if (rows.back() - rows.front() == step * (rows.size() - 1))
    return self * step + rows[0];
  // Three of four, of which one between the others is left out.
  return self + (self + (step - 1)).floorDiv(2) + rows[0];
}

Statement EntryGrouper::makeSum(const Statement &renumbered,
                                const EntryList &list) {
  unsigned rank = program.getRank(renumbered.target);
  llvm::DenseMap<ArrayId, ArrayId> columns;
  for (auto [number, array] : llvm::enumerate(table.columns))
    columns[array] = addColumns(number, list);
  ArrayId values = addValues(list);
  Statement statement = renumbered;
  statement.format.reset();
  statement.entries = {addStarts(list), getAffineDimExpr(row, context)};
  statement.extents[rank - 1] =
      getAffineConstantExpr(list.rows.size(), context);
  statement.extents[rank] = getAffineConstantExpr(list.countPlaces(), context);
  Expr place = variable(rank, context), self = variable(rank - 1, context);
  Piece &piece = statement.pieces.front();
  piece.value = transform(piece.value, [&](Expr e) -> Expr {
    if (e.getKind() != Expr::Kind::Access)
      return {};
    ArrayId array = e.getTensor().number;
    auto column = columns.find(array);
    if (array != table.values && column == columns.end())
      return {};
    SmallVector<Expr> indices{place};
    if (array == table.values || list.hasOwnPlaces)
      indices.push_back(self);
    ArrayId stored = array == table.values ? values : column->second;
    return access(TensorRef::operand(stored), indices, e.getType());
  });
  return statement;
}

std::optional<unsigned> EntryGrouper::getLaneDim(ArrayId array) const {
  unsigned rank = fusionGroup.sharedDims;
  AffineMap layout = program.arrays[array].layout;
  if (!layout)
    return rank == 0 ? std::nullopt : std::optional(rank - 1);
  for (unsigned dim = 0; dim < rank; ++dim)
    if (layout.getResults().back().isFunctionOfDim(dim))
      return dim;
  return std::nullopt;
}

SmallVector<AffineExpr> EntryGrouper::getOrder(ArrayId array,
                                               bool areLanes) const {
  SmallVector<AffineExpr> order;
  std::optional<unsigned> lanes = getLaneDim(array);
  for (unsigned dim = 0; dim < fusionGroup.sharedDims; ++dim)
    if (dim != lanes)
      order.push_back(getAffineDimExpr(dim, context));
  order.push_back(getAffineDimExpr(*lanes, context));
  // The rows of a group lie around the lanes, or are these.
  order.insert(areLanes ? order.end() : order.end() - 1,
               getAffineDimExpr(fusionGroup.sharedDims, context));
  return order;
}

void EntryGrouper::group(const EntryFormat &format, ArrayRef<EntryList> lists) {
  unsigned rank = fusionGroup.sharedDims;
  int64_t width = format.rows;
  Renumbering renumbering;
  for (unsigned dim = 0; dim < rank; ++dim) {
    AffineExpr self = getAffineDimExpr(dim, context);
    renumbering.before.push_back(
        dim == row ? self * width + getAffineDimExpr(rank, context) : self);
    renumbering.extents.push_back(
        dim == row ? getAffineConstantExpr(table.countRows() / width, context)
                   : sum.extents[dim]);
  }
  renumbering.extents.push_back(getAffineConstantExpr(width, context));
  Renumberer renumberer(program, renumbering);
  for (ArrayId array : local) {
    SmallVector<AffineExpr> order =
        getOrder(array, format.lists == EntryLists::Each);
    Array &stored = program.arrays[renumberer.replace(array)];
    stored.layout = AffineMap::get(rank + 1, 0, order, context);
    stored.storedExtents.clear();
    for (AffineExpr index : order)
      stored.storedExtents.push_back(
          stored.extents[cast<AffineDimExpr>(index).getPosition()]);
  }
  Statement renumbered = renumberer.apply(sum);
  bool isWhole = lists.size() == 1 && int64_t(lists[0].rows.size()) == width;
  if (!isWhole) {
    Statement init{renumbered.target, sum.loc, renumbering.extents, {}};
    Type type = sum.pieces.front().value.getType();
    init.pieces.push_back({{}, cast(type, getNeutral(ReduceKind::Sum, type))});
    add(std::move(init));
  }
  for (const EntryList &list : lists) {
    Statement part = makeSum(renumbered, list);
    part.addsToTarget = !isWhole;
    for (unsigned dim = 0; dim <= rank && !isWhole; ++dim) {
      AffineExpr index = getAffineDimExpr(dim, context);
      part.targetIndices.push_back(
          dim == rank ? program.simplify(getRow(index, list.rows)) : index);
    }
    add(std::move(part));
  }
  for (unsigned number : ArrayRef(fusionGroup.statements).drop_front())
    add(renumberer.apply(program.statements[number]));
  fusionGroup.statements = statements;
  fusionGroup.sharedDims = rank + 1;
}

std::string EntryGrouper::run() {
  if (sum.format && sum.format->rows == 1)
    return "rows that are to stay alone";
  auto dim = dyn_cast<AffineDimExpr>(sum.entries->row);
  if (!dim)
    return "rows of several dimensions";
  row = dim.getPosition();
  for (ArrayId array : local) {
    std::optional<unsigned> lanes = getLaneDim(array);
    if (!lanes)
      return "sums of a single row";
    hasLanes &= lanes != row;
  }
  FailureOr<EntryTable> read = readEntryTable(program, sum, row);
  auto extent = dyn_cast<AffineConstantExpr>(sum.extents[row]);
  if (failed(read) || !extent || extent.getValue() != read->countRows()) {
    // Lists of equal numbers are none any more, and any format stores so few
    // entries alike.
    if (dependsOnEntriesAlone())
      program.statements[fusionGroup.statements.front()].format.reset();
    return "other lists than those of rows of different places in their order";
  }
  table = std::move(*read);
  if (table.starts.back() == table.starts.front()) {
    // Which any format stores alike.
    program.statements[fusionGroup.statements.front()].format.reset();
    return "no entries";
  }
  if (sum.format) {
    std::string fault = check(*sum.format);
    if (fault.empty())
      group(*sum.format, makeEntryLists(table, *sum.format));
    return fault;
  }
  for (const EntryFormat &format : getCandidates()) {
    if (!check(format).empty())
      continue;
    SmallVector<EntryList> lists = makeEntryLists(table, format);
    if (!isWorthwhile(format, lists))
      continue;
    remark::passed(sum.loc, remark::RemarkOpts::name("Grouped").category(
                                "poly-group-entries"))
        << remark::metric("Format", format.str());
    group(format, lists);
    return "";
  }
  return "rows that share little";
}

/// Lets the sums of a kernel, which are in use for one tile at a time, lie in
/// the order of their indices but for the lanes.
static void unpackLocal(StatementList &program,
                        const llvm::DenseSet<ArrayId> &local) {
  for (ArrayId number : local) {
    Array &array = program.arrays[number];
    if (!array.layout || array.layout.isPermutation())
      continue;
    SmallVector<AffineExpr> order;
    AffineExpr lanes;
    for (unsigned dim = 0; dim < array.extents.size(); ++dim)
      if (array.layout.getResults().back().isFunctionOfDim(dim))
        lanes = getAffineDimExpr(dim, program.context);
      else
        order.push_back(getAffineDimExpr(dim, program.context));
    order.push_back(lanes);
    array.layout =
        AffineMap::get(array.extents.size(), 0, order, program.context);
    array.storedExtents.clear();
    for (AffineExpr index : order)
      array.storedExtents.push_back(
          array.extents[cast<AffineDimExpr>(index).getPosition()]);
  }
}

/// Whether one of the arrays `written` in the kernel of `sum` is read by a
/// pooling that may be there, too.
static bool isPooled(const StatementList &program, const Statement &sum,
                     const llvm::DenseSet<ArrayId> &written) {
  return llvm::any_of(program.statements, [&](const Statement &reader) {
    return llvm::any_of(written, [&](ArrayId array) {
      auto windows = getWindows(program, reader, array);
      return windows && hasRowsOfTiles(program, sum, *windows);
    });
  });
}

void espalier::graphtopoly::groupEntries(
    StatementList &program, MutableArrayRef<FusionGroup> fusionGroups) {
  llvm::DenseSet<ArrayId> escaping = findEscaping(program, fusionGroups);
  for (FusionGroup &fusionGroup : fusionGroups) {
    unsigned number = fusionGroup.statements.front();
    const Statement &sum = program.statements[number];
    if (!sum.entries || sum.reduction != definition::ReduceKind::Sum ||
        sum.recurrence || sum.addsToTarget)
      continue;
    Location loc = sum.loc;
    llvm::DenseSet<ArrayId> local = findLocal(program, fusionGroup, escaping);
    llvm::DenseSet<ArrayId> written;
    for (unsigned statement : fusionGroup.statements)
      written.insert(program.statements[statement].target);
    std::optional<ImagePlaces> places = combinePlaces(program, number, written);
    std::string reason = "sums that others see before they are whole";
    // Rows in groups pass all channels at once, and are pooled by another
    // kernel.
    if (!sum.format && places && leavesFirstLevelCache(program, *places))
      reason = "an image that leaves the first-level cache, which each row "
               "passes in blocks of channels";
    else if (!sum.format && isPooled(program, sum, written))
      reason = "rows that are pooled in the kernel of their sums";
    else if (local.contains(sum.target) &&
             fusionGroup.sharedDims == program.getRank(sum.target) &&
             isPointwise(program, fusionGroup, local))
      reason = EntryGrouper(program, fusionGroup, local).run();
    if (reason.empty())
      continue;
    unpackLocal(program, local);
    if (places)
      blockEntries(program, number, *places);
    remark::missed(loc, remark::RemarkOpts::name("RowsStayAlone")
                            .category("poly-group-entries"))
        << remark::metric("Reason", reason);
  }
}
