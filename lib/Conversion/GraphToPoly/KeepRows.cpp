//===- KeepRows.cpp - Contractions between rows of the caller -------------===//
//
// A convolution whose lanes are channels transposes what the caller gives it
// and what it returns. With lanes along the rows of the image neither is
// needed, if the pooling behind it ends in whole vectors. `closeWindows` makes
// the kernel.
//
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Windows.h"

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
  explicit RowKeeper(StepProgram &program)
      : program(program), readers(findReaders(program)) {
    for (auto [number, statement] : llvm::enumerate(program.statements))
      writers[statement.target].push_back(number);
    for (const Array &array : program.arrays)
      if (array.reshapeOf)
        viewed.insert(*array.reshapeOf);
  }

  bool keepsRows(const Statement &statement) const;

private:
  /// Whether `array` is the caller's, or a copy of that for this reader alone.
  bool isGiven(ArrayId array) const;
  /// The statement that alone reads `array`, which nobody else sees.
  const Statement *getReader(ArrayId array) const;
  /// Follows maps from `array` to the reduction that reads their result.
  const Statement *findPooling(ArrayId &array) const;
  /// Whether maps of `array` become a result of the function.
  bool isReturned(ArrayId array) const;

  StepProgram &program;
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
                   program.arrays[value.getTensor().number].kind ==
                       Array::Kind::Input);
         });
}

const Statement *RowKeeper::getReader(ArrayId array) const {
  if (!program.arrays[array].outputs.empty() || viewed.contains(array) ||
      readers[array].size() != 1)
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

bool RowKeeper::keepsRows(const Statement &statement) const {
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
  std::optional<Windows> windows = getWindows(program, *pooling, pooled);
  if (!windows || windows->indices.size() != rank ||
      windows->indices[contraction->vectorDim].local ||
      windows->indices.back().dim != rank - 1)
    return false;
  int64_t size = 1;
  for (const Windows::Index &index : windows->indices)
    size *= index.size;
  // Lanes that are left over at the end of a row are lost.
  int64_t width =
      cast<AffineConstantExpr>(pooling->extents[rank - 1]).getValue();
  int64_t lanes = llvm::alignTo(width, program.vectorLanes);
  return size <= kMaxWindow && 4 * lanes <= 5 * width;
}

} // namespace

void espalier::graphtopoly::keepRows(StepProgram &program) {
  RowKeeper keeper(program);
  for (Statement &statement : program.statements)
    statement.keepsRows = keeper.keepsRows(statement);
}
