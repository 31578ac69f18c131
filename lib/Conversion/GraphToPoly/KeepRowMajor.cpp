//===- KeepRowMajor.cpp - Contractions between rows of the caller ---------===//
//
// A convolution whose lanes are channels transposes what the caller gives it
// and what it returns. With lanes along the rows of the image neither is
// needed, if the pooling behind it ends in whole vectors. `poolInRegisters`
// makes the kernel.
//
// A map that does not decrease, such as relu, gives the same after a maximum as
// before it, and is evaluated once for each window then.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "PoolingWindows.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// As many results of one window at most are kept in registers.
static constexpr int64_t kMaxWindow = 9;

static bool isStatic(ArrayRef<AffineExpr> extents) {
  return llvm::all_of(extents, llvm::IsaPred<AffineConstantExpr>);
}

namespace {

class RowKeeper {
public:
  explicit RowKeeper(StatementList &program)
      : program(program), readers(findReaders(program)) {
    for (auto [number, statement] : llvm::enumerate(program.statements))
      writers[statement.target].push_back(number);
    for (const Array &array : program.arrays)
      if (array.reshapeOf)
        viewed.insert(*array.reshapeOf);
  }

  bool keepsRowMajor(const Statement &statement) const;
  /// Lets the maximum over windows of `array` take the place of the map before
  /// it, if there is one that does not decrease.
  bool swapMap(ArrayId array);

private:
  /// Whether `array` is the caller's, or a copy of that for this reader alone.
  bool isGiven(ArrayId array) const;
  /// Whether `array` is the caller's or computed of that (a resized image), and
  /// so has rows in the same order.
  bool isMadeOfInputs(ArrayId array) const;
  /// The statement that alone reads `array`, which nobody else sees.
  const Statement *getReader(ArrayId array) const;
  /// Follows maps from `array` to the reduction that reads their result.
  const Statement *findPooling(ArrayId &array) const;
  /// Whether maps of `array` become a result of the function.
  bool isReturned(ArrayId array) const;

  StatementList &program;
  std::vector<SmallVector<unsigned, 2>> readers;
  llvm::DenseMap<ArrayId, SmallVector<unsigned, 1>> writers;
  llvm::DenseSet<ArrayId> viewed;
};

bool RowKeeper::isGiven(ArrayId number) const {
  const Array &array = program.arrays[number];
  if (array.reshapeOf || !isStatic(array.extents))
    return false;
  if (array.kind == Array::Kind::Input)
    return true;
  auto writer = writers.find(number);
  if (writer == writers.end() || writer->second.size() != 1 ||
      !getReader(number))
    return false;
  // Rows are copied again for each row of windows that needs them: nothing may
  // be computed.
  const Statement &copy = program.statements[writer->second.front()];
  return !copy.reduction && !copy.recurrence &&
         llvm::all_of(copy.pieces, [&](const Piece &piece) {
           Expr value = piece.value;
           while (value.getKind() == Expr::Kind::Cast)
             value = value.getOperands()[0];
           return value.getKind() == Expr::Kind::Constant ||
                  (value.getKind() == Expr::Kind::Access &&
                   isMadeOfInputs(value.getTensor().number));
         });
}

bool RowKeeper::isMadeOfInputs(ArrayId array) const {
  auto isInput = [&](ArrayId number) {
    return program.arrays[number].kind != Array::Kind::Intermediate;
  };
  if (isInput(array))
    return true;
  auto writer = writers.find(array);
  return writer != writers.end() &&
         llvm::all_of(writer->second, [&](unsigned number) {
           const Statement &statement = program.statements[number];
           return !getContraction(program, statement) &&
                  llvm::all_of(getReads(statement), isInput);
         });
}

const Statement *RowKeeper::getReader(ArrayId array) const {
  if (!program.arrays[array].outputs.empty() || viewed.contains(array) ||
      program.isChosen(array, Fusion::Separate) || readers[array].size() != 1)
    return nullptr;
  return &program.statements[readers[array].front()];
}

const Statement *RowKeeper::findPooling(ArrayId &array) const {
  while (const Statement *reader = getReader(array)) {
    if (reader->reduction)
      return reader;
    array = reader->target;
  }
  return nullptr;
}

bool RowKeeper::isReturned(ArrayId array) const {
  while (program.arrays[array].outputs.empty()) {
    const Statement *reader = getReader(array);
    if (!reader || reader->reduction)
      return false;
    array = reader->target;
  }
  return true;
}

bool RowKeeper::keepsRowMajor(const Statement &statement) const {
  std::optional<Contraction> contraction = getContraction(program, statement);
  unsigned rank = program.getRank(statement.target);
  if (!contraction || statement.recurrence || !isStatic(statement.extents) ||
      contraction->vectorDim == rank - 1 ||
      program.arrays[contraction->panel.getTensor().number].kind !=
          Array::Kind::Constant ||
      llvm::is_contained(getDims(contraction->panel), rank - 1))
    return false;
  bool isGivenByCaller = true;
  forEachAccess(statement, [&](Expr access) {
    if (access.getNode() == contraction->panel.getNode())
      return;
    isGivenByCaller &=
        isGiven(access.getTensor().number) &&
        llvm::is_contained(getDims(access.getOperands().back()), rank - 1);
  });
  ArrayId pooled = statement.target;
  const Statement *pooling = isGivenByCaller ? findPooling(pooled) : nullptr;
  if (!pooling || !isStatic(pooling->extents) || !isReturned(pooling->target))
    return false;
  std::optional<PoolingWindows> windows = getWindows(program, *pooling, pooled);
  if (!windows || windows->indices.size() != rank ||
      windows->indices[contraction->vectorDim].local ||
      windows->indices.back().dim != rank - 1)
    return false;
  int64_t size = 1;
  for (const PoolingWindows::Index &index : windows->indices)
    size *= index.size;
  // Lanes that are left over at the end of a row are lost.
  int64_t width =
      cast<AffineConstantExpr>(pooling->extents[rank - 1]).getValue();
  int64_t lanes = llvm::alignTo(width, program.vectorLanes);
  return size <= kMaxWindow && 4 * lanes <= 5 * width;
}

} // namespace

/// Whether `expr` does not decrease as a function of the one element that it
/// reads.
static bool isMonotone(Expr expr) {
  if (expr.getKind() == Expr::Kind::Access)
    return true;
  if (expr.getKind() != Expr::Kind::Apply ||
      (expr.getFn() != ScalarFn::Max && expr.getFn() != ScalarFn::Min))
    return false;
  auto isNumber = [](Expr operand) {
    while (operand.getKind() == Expr::Kind::Cast)
      operand = operand.getOperands()[0];
    return operand.getKind() == Expr::Kind::Constant;
  };
  Expr a = expr.getOperands()[0], b = expr.getOperands()[1];
  return (isNumber(b) && isMonotone(a)) || (isNumber(a) && isMonotone(b));
}

bool RowKeeper::swapMap(ArrayId array) {
  // The map and the maximum, with what each reads.
  std::optional<unsigned> map, pooling;
  while (const Statement *reader = getReader(array)) {
    pooling = reader - program.statements.data();
    if (reader->reduction)
      break;
    map = pooling;
    array = reader->target;
  }
  if (!map || !pooling || *map > *pooling)
    return false;
  Statement first = program.statements[*map];
  Statement second = program.statements[*pooling];
  if (second.reduction != ReduceKind::Max || first.pieces.size() != 1 ||
      !first.pieces.front().domain.empty() || first.recurrence ||
      !first.targetIndices.empty() || !isMonotone(first.pieces.front().value))
    return false;
  ArrayId operand = getReads(first).front();
  bool isIdentity = true;
  forEachAccess(first, [&](Expr access) {
    isIdentity &= countIdentityIndices(program, access) == first.getNumDims();
  });
  if (!isIdentity || program.arrays[operand].elementType !=
                         program.arrays[second.target].elementType)
    return false;

  Array maxima{Array::Kind::Intermediate, second.loc};
  maxima.elementType = program.arrays[operand].elementType;
  maxima.extents = program.arrays[second.target].extents;
  first.target = second.target;
  first.extents = maxima.extents;
  second.target = program.addArray(std::move(maxima));
  redirect(first, operand, second.target);
  redirect(second, array, operand);
  // Whatever else the maximum reads is there before the map, since it reads
  // nothing else.
  program.statements[*map] = std::move(second);
  program.statements[*pooling] = std::move(first);
  return true;
}

void espalier::graphtopoly::keepRowMajor(StatementList &program) {
  std::optional<RowKeeper> keeper(program);
  for (unsigned number = 0; number < program.statements.size(); ++number) {
    bool keeps = keeper->keepsRowMajor(program.statements[number]);
    program.statements[number].keepsRowMajor = keeps;
    while (keeps && keeper->swapMap(program.statements[number].target))
      keeper.emplace(program); // Who reads what has changed.
  }
}
