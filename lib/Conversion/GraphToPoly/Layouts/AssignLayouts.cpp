//===- AssignLayouts.cpp - Where the elements of arrays lie ---------------===//
//
// One decision drives the rest: which dimension of a contraction is vectorized.
// Its result has that dimension innermost, and everything that reads the result
// follows, so that a convolutional network runs channels-last without a single
// transposition. The operand that has the vectorized dimension is stored in
// panels of a few vectors, each panel contiguous along the reduction:
//
//   B[k, j]  lies at  [j floordiv 32, k, j mod 32]
//
// Terms that an instruction takes in pairs lie in pairs (PairTerms.h).
//
//===----------------------------------------------------------------------===//

#include "LayoutAssigner.h"
#include "PairTerms.h"
#include "espalier/Support/CodeSize.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Fewer passes over an operand do not pay for copying it into panels, nor, if
/// it is as many times as large as the cache, that many.
static constexpr int64_t kMinPanelPasses = 9, kMaxFarPasses = 4, kFarCaches = 4;
/// The same for one whose vectors would be gathered, row by row; and where both
/// operands have what is summed side by side, so that sums have lanes.
static constexpr int64_t kMinColumnPasses = 4, kMinRowProducts = 8;
/// The same for the points of an image of which lines of all channels share a
/// set of the cache.
static constexpr int64_t kMinCrowdedPasses = 4;
/// As many elements at most are not worth copying.
static constexpr int64_t kMaxUnpacked = 1024;

/// Whether the elements along `index` are neighbours in a memory so small that
/// its rows stay in cache anyway.
static bool isSmallRowMajor(const Array &array, unsigned index) {
  int64_t numElements = 1;
  for (AffineExpr extent : array.extents) {
    auto number = dyn_cast<AffineConstantExpr>(extent);
    if (!number || number.getValue() > kMaxUnpacked)
      return false;
    numElements *= number.getValue();
    if (numElements > kMaxUnpacked)
      return false;
  }
  return !array.layout && index + 1 == array.extents.size();
}

void espalier::graphtopoly::setPanelLayout(const StatementList &program,
                                           Array &array, unsigned panelIndex,
                                           ArrayRef<unsigned> outer,
                                           ArrayRef<unsigned> inner) {
  int64_t lanes = program.vectorLanes;
  int64_t width = lanes * kPanelVectors;
  AffineExpr extent = array.extents[panelIndex];
  if (auto number = dyn_cast<AffineConstantExpr>(extent))
    width = std::clamp<int64_t>(llvm::alignTo(number.getValue(), lanes), lanes,
                                width);
  AffineExpr vector = getAffineDimExpr(panelIndex, program.context);
  SmallVector<AffineExpr> results;
  array.storedExtents.clear();
  auto append = [&](unsigned p) {
    results.push_back(getAffineDimExpr(p, program.context));
    array.storedExtents.push_back(array.extents[p]);
  };
  llvm::for_each(outer, append);
  results.push_back(vector.floorDiv(width));
  array.storedExtents.push_back(extent.ceilDiv(width));
  llvm::for_each(inner, append);
  results.push_back(vector % width);
  array.storedExtents.push_back(getAffineConstantExpr(width, program.context));
  array.layout =
      AffineMap::get(array.extents.size(), 0, results, program.context);
}

/// Sums of no more terms than this take less time than to store their results
/// in another order than the caller wants.
static constexpr int64_t kFewTerms = 16;
/// The same where a window, of up to `kFewTermsOfWindow` terms, passes over as
/// few rows of the operand, which stay in cache from one tap to the next.
static constexpr int64_t kFewRows = 8;

/// Rows that are so many times longer than the vectorized dimension fill lanes
/// better, even if not all.
static constexpr int64_t kWiderRows = 2;
/// Unless the other's are so many times fuller.
static constexpr double kMuchFuller = 1.3;

std::optional<SmallVector<unsigned>>
LayoutAssigner::getOrder(ArrayId number) const {
  const Array &array = program.arrays[number];
  SmallVector<unsigned> order;
  if (!array.layout) {
    llvm::append_range(order, llvm::seq<unsigned>(0, array.extents.size()));
    return order;
  }
  if (!array.layout.isPermutation())
    return std::nullopt;
  for (AffineExpr expr : array.layout.getResults())
    order.push_back(cast<AffineDimExpr>(expr).getPosition());
  return order;
}

void LayoutAssigner::setOrder(Array &array, ArrayRef<unsigned> order) {
  if (array.rowMajor || array.kind == Array::Kind::Input)
    return;
  AffineMap layout = AffineMap::getPermutationMap(order, program.context);
  if (layout.isIdentity())
    return;
  array.layout = layout;
  array.storedExtents.clear();
  for (unsigned dim : order)
    array.storedExtents.push_back(array.extents[dim]);
}

unsigned LayoutAssigner::countReaders(ArrayId array) const {
  unsigned count = 0;
  for (const Statement &statement : program.statements)
    count += llvm::is_contained(getReads(statement), array);
  for (const Array &other : program.arrays)
    count += other.reshapeOf == array;
  return count;
}

bool LayoutAssigner::isReturned(ArrayId array) const {
  while (program.arrays[array].outputs.empty()) {
    const Statement *reader = nullptr;
    for (const Statement &statement : program.statements)
      if (llvm::is_contained(getReads(statement), array)) {
        if (reader)
          return false;
        reader = &statement;
      }
    bool isReshaped = llvm::any_of(program.arrays, [&](const Array &other) {
      return other.reshapeOf == array;
    });
    if (!reader || reader->reduction || reader->recurrence || isReshaped)
      return false;
    array = reader->target;
  }
  return true;
}

bool LayoutAssigner::isShort(const Statement &statement,
                             const Contraction &contraction) const {
  unsigned rank = program.getRank(statement.target), last = rank - 1;
  auto getExtent = [&](unsigned dim) {
    auto number = dyn_cast<AffineConstantExpr>(statement.extents[dim]);
    return number ? number.getValue() : 0;
  };
  int64_t terms = 1, rows = 1;
  for (unsigned dim = rank; dim < statement.extents.size(); ++dim)
    terms *= std::min(getExtent(dim), kFewTermsOfWindow + 1);
  if (terms < 1 || terms > kFewTermsOfWindow)
    return false;
  if (terms <= kFewTerms)
    return true;
  // Rows without gaps, most of whose lanes are full.
  int64_t lanes = program.vectorLanes, width = getExtent(last);
  bool isWindow = int64_t(llvm::alignTo(width, lanes)) * 4 <= width * 5;
  forEachAccess(statement, [&](Expr access) {
    if (access.getNode() == contraction.panel.getNode())
      return;
    for (Expr index : access.getOperands()) {
      SmallVector<unsigned> dims = getDims(index);
      if (llvm::all_of(dims, [&](unsigned dim) { return dim >= rank; }))
        for (unsigned dim : dims)
          rows *= getExtent(dim);
      if (!llvm::is_contained(dims, last))
        continue;
      AffineExpr self = getAffineDimExpr(last, program.context);
      std::optional<AffineExpr> affine = program.affine(index);
      isWindow &= affine &&
                  program.simplify(affine->replace(self, self + 1) - *affine) ==
                      getAffineConstantExpr(1, program.context);
    }
  });
  return isWindow && rows <= kFewRows;
}

bool LayoutAssigner::fillsLanesInRows(const Statement &statement,
                                      const Contraction &contraction) const {
  unsigned last = program.getRank(statement.target) - 1;
  auto getExtent = [&](unsigned dim) {
    auto number = dyn_cast<AffineConstantExpr>(statement.extents[dim]);
    return number ? number.getValue() : 0;
  };
  int64_t lanes = program.vectorLanes;
  int64_t features = getExtent(contraction.vectorDim);
  if (contraction.vectorDim == last || statement.recurrence ||
      getExtent(last) < std::min(lanes, kWiderRows * features) ||
      llvm::is_contained(getDims(contraction.panel), last))
    return false;
  bool isEmpty = 2 * features <= lanes;
  bool hasFewTerms = !isEmpty && isShort(statement, contraction);
  if (!isEmpty && !hasFewTerms)
    return false;
  // Narrower vectors may suit the features, and rows leave many lanes empty.
  auto getFull = [](int64_t extent, int64_t lanes) {
    return double(extent) / llvm::alignTo(extent, lanes);
  };
  int64_t narrow =
      std::max<int64_t>(espalier::kMinLanes, llvm::PowerOf2Ceil(features));
  if (isEmpty && getFull(features, std::min(narrow, lanes)) >
                     kMuchFuller * getFull(getExtent(last), lanes))
    return false;
  bool isInRows = true;
  forEachAccess(statement, [&](Expr access) {
    if (access.getNode() == contraction.panel.getNode())
      return;
    std::optional<SmallVector<unsigned>> order =
        getOrder(access.getTensor().number);
    isInRows &=
        order && !order->empty() &&
        llvm::is_contained(getDims(access.getOperands()[order->back()]), last);
    // Vectors of a group serve its features alone.
    isInRows &=
        !hasFewTerms || llvm::none_of(access.getOperands(), [&](Expr index) {
          return llvm::is_contained(getDims(index), contraction.vectorDim);
        });
  });
  // Last, since it looks at all statements.
  return isInRows && (isEmpty || isReturned(statement.target));
}

bool LayoutAssigner::isInRows(ArrayId array, unsigned index) const {
  std::optional<SmallVector<unsigned>> order = getOrder(array);
  return !order || order->empty() || order->back() == index;
}

bool LayoutAssigner::isProductOfRows(const Statement &statement) const {
  unsigned term = program.countPoints(statement);
  bool hasRows = statement.getNumDims() == term + 1;
  forEachAccess(statement, [&](Expr access) {
    std::optional<SmallVector<unsigned>> order =
        getOrder(access.getTensor().number);
    hasRows &= order && !order->empty() &&
               getDims(access.getOperands()[order->back()]) ==
                   SmallVector<unsigned>{term};
  });
  return hasRows;
}

/// How many terms of one sum lie along `dim`, where that is a number: of a
/// transposed convolution with stride, one of so many taps.
static std::optional<int64_t> countTerms(const Statement &statement,
                                         unsigned dim) {
  auto extent = dyn_cast<AffineConstantExpr>(statement.extents[dim]);
  if (!extent)
    return std::nullopt;
  int64_t period = 1;
  for (const Condition &condition : statement.pieces.front().domain)
    if (condition.isEquality && condition.expr.isFunctionOfDim(dim))
      condition.expr.walk([&](AffineExpr part) {
        if (part.getKind() != AffineExprKind::Mod &&
            part.getKind() != AffineExprKind::FloorDiv)
          return;
        auto divisor = dyn_cast<AffineConstantExpr>(
            cast<AffineBinaryOpExpr>(part).getRHS());
        if (divisor && divisor.getValue() > 0)
          period = divisor.getValue();
      });
  return llvm::divideCeil(extent.getValue(), period);
}

AffineMap
LayoutAssigner::getPanelLayout(const Statement &statement,
                               const Contraction &contraction,
                               SmallVectorImpl<AffineExpr> &storedExtents) {
  const Array &panel = program.arrays[contraction.panel.getTensor().number];
  unsigned rank = program.getRank(statement.target);
  unsigned numDims = panel.extents.size();

  // The reduced dimension that the other operand has innermost goes innermost,
  // unless it is no loop to speak of.
  std::optional<unsigned> innermost;
  forEachAccess(statement, [&](Expr access) {
    if (access.getNode() == contraction.panel.getNode())
      return;
    if (auto order = getOrder(access.getTensor().number))
      for (unsigned position : llvm::reverse(*order))
        for (unsigned dim : getDims(access.getOperands()[position]))
          if (!innermost && dim >= rank &&
              countTerms(statement, dim).value_or(espalier::kFewSteps + 1) >
                  espalier::kFewSteps)
            innermost = dim;
  });
  SmallVector<unsigned> outer, inner;
  for (unsigned p = 0; p < numDims; ++p) {
    if (p == contraction.panelIndex)
      continue;
    SmallVector<unsigned> dims = getDims(contraction.panel.getOperands()[p]);
    bool reduced = llvm::any_of(dims, [&](unsigned d) { return d >= rank; });
    (reduced ? inner : outer).push_back(p);
  }
  llvm::stable_sort(inner, [&](unsigned a, unsigned b) {
    auto isLast = [&](unsigned p) {
      return innermost &&
             llvm::is_contained(getDims(contraction.panel.getOperands()[p]),
                                *innermost);
    };
    return isLast(a) < isLast(b);
  });

  Array stored = panel;
  if (contraction.offset % (program.vectorLanes * kPanelVectors) != 0) {
    // Vectors would be parts of two panels.
    SmallVector<unsigned> order(outer);
    llvm::append_range(order, inner);
    order.push_back(contraction.panelIndex);
    storedExtents = llvm::map_to_vector(
        order, [&](unsigned dim) { return panel.extents[dim]; });
    return AffineMap::getPermutationMap(order, program.context);
  }
  setPanelLayout(program, stored, contraction.panelIndex, outer, inner);
  storedExtents = stored.storedExtents;
  return stored.layout;
}

bool LayoutAssigner::isThereBefore(const Statement &statement,
                                   Expr access) const {
  ArrayId array = program.getBase(access.getTensor().number);
  return !llvm::is_contained(getDims(access), *statement.recurrence) &&
         llvm::none_of(program.statements, [&](const Statement &other) {
           return other.target == array && other.recurrence &&
                  other.recurrenceGroup == statement.recurrenceGroup;
         });
}

bool LayoutAssigner::readsConstant(const Statement &statement) const {
  bool isRead = false;
  forEachAccess(statement, [&](Expr access) {
    isRead |=
        program.arrays[access.getTensor().number].kind == Array::Kind::Constant;
  });
  return isRead;
}

bool LayoutAssigner::paysInPanels(const Statement &statement,
                                  const Contraction &contraction) const {
  ArrayId source = contraction.panel.getTensor().number;
  // A pass serves as many rows as have registers beside the panel's.
  int64_t rows = (program.vectorRegisters - 1) / kPanelVectors - 1;
  bool isFar =
      program.getBytes(source).value_or(0) > kFarCaches * program.cacheBytes;
  int64_t minReuse = isFar ? kMaxFarPasses * rows + 1 : kMinPanelPasses * rows;
  int64_t reuse = 1;
  SmallVector<unsigned> dims = getDims(contraction.panel);
  for (unsigned dim = 0; dim < program.getRank(statement.target); ++dim)
    if (!llvm::is_contained(dims, dim)) {
      auto extent = dyn_cast<AffineConstantExpr>(statement.extents[dim]);
      reuse *= extent ? extent.getValue() : minReuse;
    }
  if (!isInRows(source, contraction.panelIndex))
    minReuse = isProductOfRows(statement) ? kMinRowProducts : kMinColumnPasses;
  else if (contraction.panelIndex + 1 ==
               program.arrays[source].extents.size() &&
           isCrowded(source) && readsConstant(statement))
    minReuse = std::min(minReuse, kMinCrowdedPasses * rows);
  return reuse >= minReuse &&
         !isSmallRowMajor(program.arrays[source], contraction.panelIndex);
}

void LayoutAssigner::storePanel(Statement &statement,
                                const Contraction &contraction) {
  // A single column has what is added side by side.
  if (statement.extents[contraction.vectorDim] == 1)
    return;
  ArrayId source = contraction.panel.getTensor().number;
  bool isConstant = program.arrays[source].kind == Array::Kind::Constant;
  if (!isConstant && !paysInPanels(statement, contraction))
    return;
  SmallVector<AffineExpr> storedExtents;
  AffineMap layout = getPanelLayout(statement, contraction, storedExtents);
  std::optional<unsigned> paired =
      findPairedIndex(program, statement, contraction.panel);
  if (paired)
    layout = pairTerms(layout, *paired, storedExtents);
  storeAs(statement, source, layout, storedExtents);
  if (paired)
    splitIntoPairs(program, statement,
                   contraction.panel.getOperands()[*paired].getVariable());
}

void LayoutAssigner::storeAs(Statement &statement, ArrayId source,
                             AffineMap layout,
                             ArrayRef<AffineExpr> storedExtents) {
  Array &array = program.arrays[source];
  bool isConstant = array.kind == Array::Kind::Constant;
  if (array.kind == Array::Kind::Intermediate && !array.rowMajor &&
      !array.layout && countReaders(source) == 1 && !statement.recurrence) {
    array.layout = layout;
    array.storedExtents = llvm::to_vector(storedExtents);
    return;
  }
  auto [known, isNew] = copies.try_emplace({source, layout}, 0);
  if (isNew) {
    Array copy = array;
    copy.fusion.reset();
    copy.layout = layout;
    copy.storedExtents = llvm::to_vector(storedExtents);
    copy.rowMajor = false;
    copy.outputs.clear();
    copy.reshapeOf.reset();
    if (!isConstant)
      copy.kind = Array::Kind::Intermediate;
    known->second = program.addArray(std::move(copy));
    if (!isConstant) {
      // A recurrence is not interrupted.
      auto place = result.end();
      while (statement.recurrence && place != result.begin() &&
             std::prev(place)->recurrence &&
             std::prev(place)->recurrenceGroup == statement.recurrenceGroup)
        --place;
      result.insert(place,
                    makeStore(program, source, known->second, statement.loc));
    }
  }
  redirect(statement, source, known->second);
}

void LayoutAssigner::assignContraction(Statement &statement,
                                       const Contraction &contraction) {
  unsigned rank = program.getRank(statement.target);
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (dim != contraction.vectorDim)
      order.push_back(dim);
  order.push_back(contraction.vectorDim);
  if (!program.arrays[statement.target].isLayoutGiven)
    setOrder(program.arrays[statement.target], order);
  if (program.arrays[contraction.panel.getTensor().number].isLayoutGiven)
    return;
  alignTerms(statement, contraction);
  // What a recurrence computes cannot be copied ahead of it.
  if (!statement.recurrence || isThereBefore(statement, contraction.panel))
    storePanel(statement, contraction);
}

/// Constant operands are stored with `innermost` innermost.
void LayoutAssigner::alignConstants(Statement &statement, unsigned innermost) {
  SmallVector<Expr> accesses;
  forEachAccess(statement, [&](Expr e) { accesses.push_back(e); });
  for (Expr e : accesses) {
    ArrayId source = e.getTensor().number;
    const Array &array = program.arrays[source];
    unsigned rank = array.extents.size();
    if (array.kind != Array::Kind::Constant || rank < 2 || array.layout)
      continue;
    SmallVector<unsigned> order;
    std::optional<unsigned> last;
    for (auto [position, index] : llvm::enumerate(e.getOperands())) {
      if (!last && index.getKind() == Expr::Kind::Variable &&
          index.getVariable() == innermost)
        last = position;
      else
        order.push_back(position);
    }
    if (!last || *last == rank - 1)
      continue;
    order.push_back(*last);
    Array copy = array;
    setOrder(copy, order);
    auto [known, isNew] = copies.try_emplace({source, copy.layout}, 0);
    if (isNew)
      known->second = program.addArray(std::move(copy));
    redirect(statement, source, known->second);
  }
}

void LayoutAssigner::assignOther(Statement &statement) {
  if (const LaneOrder *lanes = findEntryOrder(statement))
    followEntries(statement, LaneOrder(*lanes));
  Array &target = program.arrays[statement.target];
  unsigned rank = target.extents.size();
  // Follow the operand of highest rank, if it is not read in the usual order.
  std::optional<SmallVector<unsigned>> best;
  unsigned bestRank = 0;
  forEachAccess(statement, [&](Expr access) {
    ArrayId array = access.getTensor().number;
    auto order = getOrder(array);
    // What says where to read has no part in the result.
    bool isIndex =
        access.getType().isIntOrIndex() && !target.elementType.isIntOrIndex();
    if (!order || order->size() < bestRank || isIndex ||
        (order->size() == bestRank && best) ||
        program.arrays[array].kind == Array::Kind::Constant)
      return;
    SmallVector<unsigned> dims;
    // A dimension of two parts follows the inner one.
    for (unsigned position : llvm::reverse(*order)) {
      SmallVector<unsigned> inIndex = getDims(access.getOperands()[position]);
      for (unsigned dim : llvm::reverse(inIndex))
        if (dim < rank && !llvm::is_contained(dims, dim))
          dims.push_back(dim);
    }
    std::reverse(dims.begin(), dims.end());
    SmallVector<unsigned> full;
    for (unsigned dim = 0; dim < rank; ++dim)
      if (!llvm::is_contained(dims, dim))
        full.push_back(dim);
    llvm::append_range(full, dims);
    // Each step of a recurrence has its own elements side by side.
    if (statement.recurrence && full.back() == *statement.recurrence)
      return;
    bool isUsual = llvm::is_sorted(full);
    if (isUsual && order->size() == bestRank)
      return;
    // Of equals, one that is not in the usual order.
    if (order->size() > bestRank)
      best.reset();
    bestRank = order->size();
    if (!isUsual)
      best = full;
  });
  if (best && !target.layout)
    setOrder(target, *best);
  if (auto order = getOrder(statement.target); order && !order->empty())
    alignConstants(statement, order->back());
}

/// Stores the result in the order that the program asks for. Lanes follow: the
/// schedule chooses what lies side by side.
void LayoutAssigner::assignOrder(Statement &statement) {
  Array &target = program.arrays[statement.target];
  if (program.arrays[statement.target].isLayoutGiven ||
      (target.layout && !target.layout.isPermutation()))
    return; // In panels for its only reader.
  target.layout = {};
  setOrder(target, target.order);
  alignConstants(statement, target.order.back());
}

void LayoutAssigner::run() {
  alignRecurrences();
  // By index: packing adds arrays and, before the statement, statements.
  for (unsigned i = 0; i < program.statements.size(); ++i) {
    Statement &statement = program.statements[i];
    ArrayRef<unsigned> order = program.arrays[statement.target].order;
    auto contraction = getContraction(program, statement);
    if (contraction && order.empty()) {
      if (std::optional<Contraction> far = joinFarRows(i, *contraction))
        contraction = far;
      else if (layCopyInPanels(statement))
        contraction = getContraction(program, statement);
    }
    if (contraction && !statement.keepsRowMajor &&
        !fillsLanesInRows(statement, *contraction) &&
        (order.empty() || order.back() == contraction->vectorDim))
      assignContraction(statement, *contraction);
    else if (statement.entries && order.empty())
      assignEntries(statement);
    else if (!contraction && order.empty())
      assignOther(statement);
    if (!order.empty())
      assignOrder(statement);
    result.push_back(statement);
    if (std::optional<ArrayId> target = std::exchange(copied, std::nullopt))
      result.push_back(
          makeStore(program, statement.target, *target, statement.loc));
  }
  program.statements.assign(result.begin(), result.end());
}

void espalier::graphtopoly::assignLayouts(StatementList &program) {
  LayoutAssigner(program).run();
}
