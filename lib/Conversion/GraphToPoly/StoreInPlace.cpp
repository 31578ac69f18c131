//===- StoreInPlace.cpp - Results inside larger arrays --------------------===//
//
// A padded copy, or a concatenation, moves all of an array into a part of
// another one. The array can be computed there in the first place:
//
//   X[y] = f(y);  P[q] = X[q - 1] where 1 <= q <= N, else 0
//
// becomes  P[y + 1] = f(y);  P[q] = 0 where q < 1;  P[q] = 0 where q > N
//
// Kernels have been formed by then, so nothing that wants to read X at the
// point where it is computed is lost.
//
//===----------------------------------------------------------------------===//

#include "StepProgram.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

std::optional<SmallVector<AffineExpr>>
espalier::graphtopoly::getPlace(const StepProgram &program,
                                const Statement &copy, const Piece &piece) {
  const Expr &access = piece.value;
  if (access.getKind() != Expr::Kind::Access)
    return std::nullopt;
  const Array &source = program.arrays[access.getTensor().number];
  if (source.extents.size() != copy.extents.size())
    return std::nullopt;
  SmallVector<AffineExpr> offset, host;
  for (auto [dim, index] : llvm::enumerate(access.getOperands())) {
    AffineExpr self = getAffineDimExpr(dim, program.context);
    std::optional<AffineExpr> affine = program.affine(index);
    if (!affine)
      return std::nullopt;
    offset.push_back(program.simplify(self - *affine));
    if (!offset.back().isSymbolicOrConstant())
      return std::nullopt;
    host.push_back(self + offset.back());
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
      return std::nullopt;
  for (const Condition &condition : piece.domain)
    if (condition.isEquality ||
        !holds(program.simplify(condition.expr.replaceDims(host))))
      return std::nullopt;
  return offset;
}

namespace {

class InPlaceStorer {
public:
  InPlaceStorer(StepProgram &program, SmallVectorImpl<Cluster> &clusters)
      : program(program), clusters(clusters), readersOf(findReaders(program)) {
    for (auto [number, array] : llvm::enumerate(program.arrays))
      if (array.reshapeOf) {
        reshaped.insert(number);
        reshaped.insert(*array.reshapeOf);
      }
  }
  void run();

private:
  bool canMove(ArrayId source, const Statement &copy) const;
  void move(ArrayId source, ArrayId host, ArrayRef<AffineExpr> offset);
  /// Removes the statements that have nothing left to do.
  void removeEmpty();

  StepProgram &program;
  SmallVectorImpl<Cluster> &clusters;
  /// The statements that compute an array, and the cluster of a statement.
  llvm::DenseMap<ArrayId, SmallVector<unsigned, 1>> producers;
  llvm::DenseMap<unsigned, unsigned> clusterOf;
  /// Arrays that have others inside them.
  llvm::DenseSet<ArrayId> hosts;
  /// Arrays that are the same memory as others, under other extents.
  llvm::DenseSet<ArrayId> reshaped;
  std::vector<SmallVector<unsigned, 2>> readersOf;
};

bool InPlaceStorer::canMove(ArrayId source, const Statement &copy) const {
  const Array &array = program.arrays[source];
  const Array &host = program.arrays[copy.target];
  auto writers = producers.find(source);
  if (array.kind != Array::Kind::Intermediate || !array.outputs.empty() ||
      writers == producers.end() || hosts.contains(source) ||
      reshaped.contains(source) || host.reshapeOf ||
      host.layout != array.layout ||
      (host.layout && !host.layout.isPermutation()) ||
      host.elementType != array.elementType)
    return false;
  const Cluster &cluster = clusters[clusterOf.lookup(writers->second.front())];
  bool sharesLoops =
      llvm::is_contained(cluster.statements, &copy - program.statements.data());
  // An accumulator is better off in registers, and so is whatever shares loops
  // with its readers.
  for (unsigned number : writers->second)
    if (program.statements[number].recurrence ||
        (program.statements[number].reduction && sharesLoops))
      return false;
  return llvm::none_of(cluster.statements, [&](unsigned number) {
    const Statement &other = program.statements[number];
    return &other != &copy && llvm::is_contained(getReads(other), source);
  });
}

void InPlaceStorer::move(ArrayId source, ArrayId host,
                         ArrayRef<AffineExpr> offset) {
  for (unsigned number : producers.lookup(source)) {
    Statement &writer = program.statements[number];
    if (writer.targetIndices.empty())
      for (unsigned dim = 0; dim < offset.size(); ++dim)
        writer.targetIndices.push_back(getAffineDimExpr(dim, program.context));
    for (auto [index, shift] : llvm::zip_equal(writer.targetIndices, offset))
      index = program.simplify(index + shift);
    writer.target = host;
  }
  hosts.insert(host);
  // A host stays where it is, so that its new readers are never asked for.
  for (unsigned reader : readersOf[source])
    for (Piece &piece : program.statements[reader].pieces)
      piece.value = transform(piece.value, [&](Expr e) -> Expr {
        if (e.getKind() != Expr::Kind::Access || e.getTensor().number != source)
          return {};
        SmallVector<Expr> indices;
        for (auto [index, shift] : llvm::zip_equal(e.getOperands(), offset))
          indices.push_back(index + program.expression(shift));
        return access(TensorRef::operand(host), indices, e.getType());
      });
}

void InPlaceStorer::removeEmpty() {
  for (Cluster &cluster : clusters)
    llvm::erase_if(cluster.statements, [&](unsigned number) {
      return program.statements[number].pieces.empty();
    });
  llvm::erase_if(clusters, [](const Cluster &cluster) {
    return cluster.statements.empty();
  });
}

void InPlaceStorer::run() {
  for (auto [number, cluster] : llvm::enumerate(clusters))
    for (unsigned statement : cluster.statements) {
      producers[program.statements[statement].target].push_back(statement);
      clusterOf[statement] = number;
    }
  for (Statement &copy : program.statements) {
    // A place is where the copy's own point puts it.
    if (copy.reduction || copy.recurrence || !copy.targetIndices.empty())
      continue;
    for (unsigned number = 0; number < copy.pieces.size();) {
      const Piece &piece = copy.pieces[number];
      std::optional<SmallVector<AffineExpr>> offset =
          getPlace(program, copy, piece);
      if (!offset || !canMove(piece.value.getTensor().number, copy)) {
        ++number;
        continue;
      }
      move(piece.value.getTensor().number, copy.target, *offset);
      // Nothing is left to copy.
      copy.pieces.erase(copy.pieces.begin() + number);
    }
  }
  removeEmpty();
}

} // namespace

void espalier::graphtopoly::storeInPlace(StepProgram &program,
                                         SmallVectorImpl<Cluster> &clusters) {
  InPlaceStorer(program, clusters).run();
}
