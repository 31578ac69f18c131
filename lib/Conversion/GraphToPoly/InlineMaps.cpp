//===- InlineMaps.cpp - Writing maps into their readers -------------------===//

#include "StatementList.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Beyond this many nodes a formula is not made longer.
static constexpr unsigned kMaxExprSize = 96;
/// A map of at most this many cheap operations may be repeated.
static constexpr unsigned kMaxRepeatedWork = 2;

namespace {

/// What evaluating an expression once costs.
struct Work {
  unsigned nodes = 0, cheap = 0, costly = 0, reads = 0;
};

Work getWork(Expr expr) {
  Work work;
  walk(expr, [&](Expr e) {
    ++work.nodes;
    if (e.getKind() == Expr::Kind::Access)
      ++work.reads;
    if (e.getKind() == Expr::Kind::Select)
      ++work.cheap;
    if (e.getKind() != Expr::Kind::Apply || e.getType().isIndex())
      return;
    switch (e.getFn()) {
    case ScalarFn::Div:
    case ScalarFn::Pow:
    case ScalarFn::Rsqrt:
    case ScalarFn::Rem:
    case ScalarFn::Mod:
#define MATH_FN(id, name, function, operation) case ScalarFn::id:
#include "espalier/Definition/ScalarFunctions.def"
      ++work.costly;
      break;
    default:
      ++work.cheap;
    }
  });
  return work;
}

/// Literals in place of constants that have one value everywhere.
void inlineSplats(StatementList &program) {
  for (Statement &statement : program.statements)
    for (Piece &piece : statement.pieces)
      piece.value = transform(piece.value, [&](Expr e) -> Expr {
        if (e.getKind() != Expr::Kind::Access)
          return {};
        const Array &array = program.arrays[e.getTensor().number];
        if (array.kind != Array::Kind::Constant ||
            !isa<DenseElementsAttr>(array.constant) ||
            !array.constant.isSplat())
          return {};
        Type type = e.getType();
        if (isa<FloatType>(type))
          return cast(
              type,
              constant(
                  array.constant.getSplatValue<APFloat>().convertToDouble()));
        if (!type.isIntOrIndex())
          return {};
        APInt value = array.constant.getSplatValue<APInt>();
        return cast(type, constant(type.isUnsignedInteger() || type.isInteger(1)
                                       ? int64_t(value.getZExtValue())
                                       : value.getSExtValue()));
      });
}

} // namespace

/// Whether `piece` of `copy` copies all of an array to one place, element i to
/// i plus an offset, and does nothing else: `poly-store-in-place` computes it
/// there then.
static bool movesAll(const StatementList &program, const Statement &copy,
                     const Piece &piece) {
  const Expr &access = piece.value;
  if (access.getKind() != Expr::Kind::Access)
    return false;
  const Array &source = program.arrays[access.getTensor().number];
  if (source.extents.size() != copy.extents.size())
    return false;
  SmallVector<AffineExpr> host;
  for (auto [dim, index] : llvm::enumerate(access.getOperands())) {
    AffineExpr self = getAffineDimExpr(dim, program.context);
    std::optional<AffineExpr> affine = program.affine(index);
    if (!affine)
      return false;
    AffineExpr offset = program.simplify(self - *affine);
    if (!offset.isSymbolicOrConstant())
      return false;
    host.push_back(self + offset);
  }
  // All of the source is inside, and in this piece.
  auto holds = [&](AffineExpr expr) {
    auto range = getRange(program, expr, source.extents);
    if (!range)
      return false;
    auto least = dyn_cast<AffineConstantExpr>(program.simplify(range->first));
    return least && least.getValue() >= 0;
  };
  for (auto [index, extent] : llvm::zip_equal(host, copy.extents))
    if (!holds(index) || !holds(extent - 1 - index))
      return false;
  for (const Condition &condition : piece.domain)
    if (condition.isEquality ||
        !holds(program.simplify(condition.expr.replaceDims(host))))
      return false;
  return true;
}

namespace {

class Inliner {
public:
  explicit Inliner(StatementList &program)
      : program(program), readersOf(findReaders(program)),
        isInlined(program.statements.size(), false) {
    for (const Array &array : program.arrays)
      if (array.reshapeOf)
        needed.insert(*array.reshapeOf);
    // An index has to stay an element that is read.
    for (const Statement &statement : program.statements)
      forEachAccess(statement, [&](Expr access) {
        for (Expr index : access.getOperands())
          walk(index, [&](Expr e) {
            if (e.getKind() == Expr::Kind::Access)
              needed.insert(e.getTensor().number);
          });
      });
  }

  void run() {
    for (unsigned i = 0; i < program.statements.size(); ++i)
      isInlined[i] = mayVanish(program.statements[i]) && inlineIntoReaders(i);
    std::vector<Statement> rest;
    for (auto [number, statement] : llvm::enumerate(program.statements))
      if (!isInlined[number])
        rest.push_back(std::move(statement));
    program.statements = std::move(rest);
  }

private:
  bool mayVanish(const Statement &statement) const {
    return !changesLayout(program, statement) && !statement.reduction &&
           !program.arrays[statement.target].fusion && staysInStep(statement) &&
           statement.pieces.size() == 1 && statement.pieces[0].domain.empty() &&
           program.arrays[statement.target].outputs.empty() &&
           !needed.contains(statement.target);
  }
  /// Whether a statement reads nothing that other steps of its recurrence
  /// compute: so it can be computed anywhere in its step.
  bool staysInStep(const Statement &statement) const;
  bool mayInline(const Statement &producer, const Statement &reader,
                 unsigned numReaders) const;
  bool inlineIntoReaders(unsigned number);

  StatementList &program;
  /// Arrays that are viewed under another shape, or used as indices.
  llvm::DenseSet<ArrayId> needed;
  /// By array; those that were inlined themselves included.
  std::vector<SmallVector<unsigned, 2>> readersOf;
  std::vector<bool> isInlined; ///< By statement.
};

/// Whether each access of `statement` to `array` is at its own step, the first
/// dimension.
static bool readsOwnStep(const Statement &statement, ArrayId array) {
  bool isOwn = true;
  forEachAccess(statement, [&](Expr access) {
    ArrayRef<Expr> indices = access.getOperands();
    if (access.getTensor().number == array)
      isOwn &= !indices.empty() &&
               indices.front().getKind() == Expr::Kind::Variable &&
               indices.front().getVariable() == 0;
  });
  return isOwn;
}

bool Inliner::staysInStep(const Statement &statement) const {
  if (!statement.recurrence)
    return true;
  return statement.recurrence == 0u && statement.targetIndices.empty() &&
         llvm::all_of(program.statements, [&](const Statement &other) {
           return other.recurrence != 0u ||
                  other.recurrenceGroup != statement.recurrenceGroup ||
                  readsOwnStep(statement, other.target);
         });
}

/// Whether `copy` reads every second element along an index, or third.
static bool readsInSteps(const StatementList &program, const Statement &copy) {
  bool isInSteps = false;
  forEachAccess(copy, [&](Expr access) {
    for (Expr index : access.getOperands())
      if (std::optional<AffineExpr> affine = program.affine(index))
        for (unsigned dim = 0; dim < copy.getNumDims(); ++dim) {
          AffineExpr self = getAffineDimExpr(dim, program.context);
          auto step = dyn_cast<AffineConstantExpr>(
              program.simplify(affine->replace(self, self + 1) - *affine));
          isInSteps |= step && step.getValue() > 1;
        }
  });
  return isInSteps;
}

bool Inliner::mayInline(const Statement &producer, const Statement &reader,
                        unsigned numReaders) const {
  Expr value = producer.pieces[0].value;
  Work work = getWork(value);
  unsigned size = 0;
  for (const Piece &piece : reader.pieces)
    size = std::max(size, getWork(piece.value).nodes);
  bool isInStep = !producer.recurrence && !reader.recurrence;
  if (producer.recurrence && reader.recurrence == producer.recurrence)
    isInStep = reader.recurrenceGroup == producer.recurrenceGroup &&
               readsOwnStep(reader, producer.target);
  if (size + work.nodes > kMaxExprSize || !isInStep)
    return false;
  // Entries read lines of what is copied together.
  if (reader.entries && readsInSteps(program, producer))
    return false;
  // A copy, or an index computation, costs nothing to repeat.
  if (work.costly == 0 && work.cheap == 0)
    return true;
  // It can be computed in the place that the reader moves it to.
  auto moves = [&](const Piece &piece) {
    return piece.value.getKind() == Expr::Kind::Access &&
           piece.value.getTensor().number == producer.target &&
           movesAll(program, reader, piece);
  };
  if (reader.pieces.size() > 1 && llvm::any_of(reader.pieces, moves))
    return false;
  unsigned numAccesses = 0;
  bool covers = true;
  forEachAccess(reader, [&](Expr access) {
    if (access.getTensor().number != producer.target)
      return;
    ++numAccesses;
    llvm::SmallDenseSet<unsigned> dims;
    for (Expr index : access.getOperands())
      if (index.getKind() == Expr::Kind::Variable)
        dims.insert(index.getVariable());
    for (unsigned dim = 0; dim < reader.getNumDims(); ++dim)
      covers &=
          dims.contains(dim) ||
          reader.extents[dim] == getAffineConstantExpr(1, program.context);
  });
  bool isCheap =
      work.costly == 0 && work.cheap <= kMaxRepeatedWork && work.reads <= 1;
  if (numReaders == 1 && numAccesses == 1 && covers)
    return true;
  // Repeating work in an innermost reduction multiplies it.
  return isCheap && !reader.reduction;
}

bool Inliner::inlineIntoReaders(unsigned number) {
  const Statement &producer = program.statements[number];
  SmallVector<unsigned> readers;
  for (unsigned reader : readersOf[producer.target])
    if (!isInlined[reader])
      readers.push_back(reader);
  for (unsigned reader : readers)
    if (!mayInline(producer, program.statements[reader], readers.size()))
      return false;
  for (unsigned reader : readers)
    for (Piece &piece : program.statements[reader].pieces)
      piece.value = transform(piece.value, [&](Expr e) -> Expr {
        if (e.getKind() != Expr::Kind::Access ||
            e.getTensor().number != producer.target)
          return {};
        return transform(producer.pieces[0].value, [&](Expr v) -> Expr {
          if (v.getKind() != Expr::Kind::Variable)
            return {};
          return e.getOperands()[v.getVariable()];
        });
      });
  for (ArrayId array : getReads(producer)) {
    SmallVector<unsigned, 2> merged;
    std::set_union(readersOf[array].begin(), readersOf[array].end(),
                   readers.begin(), readers.end(), std::back_inserter(merged));
    readersOf[array] = std::move(merged);
  }
  return true;
}

} // namespace

void espalier::graphtopoly::inlineMaps(StatementList &program) {
  inlineSplats(program);
  Inliner(program).run();
}
