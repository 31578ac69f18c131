//===- StatementList.cpp - A function as loop statements over arrays ------===//

#include "StatementList.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

std::optional<AffineExpr> StatementList::affine(Expr index) const {
  return affine(index, [](Expr) { return AffineExpr(); });
}

std::optional<AffineExpr>
StatementList::affine(Expr index,
                      llvm::function_ref<AffineExpr(Expr)> dataSymbol) const {
  std::optional<AffineExpr> result =
      toAffine(index, context, [&](Expr leaf) -> AffineExpr {
        switch (leaf.getKind()) {
        case Expr::Kind::Variable:
          return getAffineDimExpr(leaf.getVariable(), context);
        case Expr::Kind::Parameter:
          return getAffineSymbolExpr(leaf.getNumber(), context);
        case Expr::Kind::Access:
          return dataSymbol(leaf);
        default:
          return {};
        }
      });
  if (result)
    result = simplify(*result);
  return result;
}

AffineExpr StatementList::addExtent(Expr extent) {
  if (std::optional<AffineExpr> known = affine(extent))
    return *known;
  return addSymbol({0, 0, {}, extent});
}

/// An order of expressions that does not depend on where they are in memory.
static bool comesBefore(AffineExpr lhs, AffineExpr rhs) {
  if (lhs == rhs)
    return false;
  if (lhs.getKind() != rhs.getKind())
    return lhs.getKind() < rhs.getKind();
  if (auto number = dyn_cast<AffineConstantExpr>(lhs))
    return number.getValue() < cast<AffineConstantExpr>(rhs).getValue();
  if (auto dim = dyn_cast<AffineDimExpr>(lhs))
    return dim.getPosition() < cast<AffineDimExpr>(rhs).getPosition();
  if (auto symbol = dyn_cast<AffineSymbolExpr>(lhs))
    return symbol.getPosition() < cast<AffineSymbolExpr>(rhs).getPosition();
  auto first = cast<AffineBinaryOpExpr>(lhs),
       second = cast<AffineBinaryOpExpr>(rhs);
  return first.getLHS() == second.getLHS()
             ? comesBefore(first.getRHS(), second.getRHS())
             : comesBefore(first.getLHS(), second.getLHS());
}

/// Adds what `expr` is a sum or product of to `operands`, each one sorted.
static void addSorted(AffineExprKind kind, AffineExpr expr,
                      SmallVectorImpl<AffineExpr> &operands);

/// `expr` with the operands of sums and products in one order.
static AffineExpr sortOperands(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExprKind kind = expr.getKind();
  if (kind != AffineExprKind::Add && kind != AffineExprKind::Mul)
    return getAffineBinaryOpExpr(kind, sortOperands(binary.getLHS()),
                                 sortOperands(binary.getRHS()));
  SmallVector<AffineExpr> operands;
  addSorted(kind, expr, operands);
  llvm::sort(operands, comesBefore);
  AffineExpr result = operands.front();
  for (AffineExpr operand : ArrayRef(operands).drop_front())
    result = getAffineBinaryOpExpr(kind, result, operand);
  return result;
}

static void addSorted(AffineExprKind kind, AffineExpr expr,
                      SmallVectorImpl<AffineExpr> &operands) {
  if (expr.getKind() != kind) {
    operands.push_back(sortOperands(expr));
    return;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  addSorted(kind, binary.getLHS(), operands);
  addSorted(kind, binary.getRHS(), operands);
}

std::optional<int64_t> StatementList::getBytes(ArrayId number,
                                               unsigned shared) const {
  const Array &array = arrays[number];
  int64_t bytes = llvm::divideCeil(
      array.elementType.isIndex() ? 64
                                  : array.elementType.getIntOrFloatBitWidth(),
      8);
  for (AffineExpr extent : ArrayRef(array.extents).drop_front(shared)) {
    auto known = dyn_cast<AffineConstantExpr>(extent);
    if (!known || llvm::MulOverflow(bytes, known.getValue(), bytes))
      return std::nullopt;
  }
  return bytes;
}

AffineExpr StatementList::simplify(AffineExpr expr) const {
  unsigned numDims = 0, numSymbols = 0;
  expr.walk([&](AffineExpr e) {
    if (auto dim = dyn_cast<AffineDimExpr>(e))
      numDims = std::max(numDims, dim.getPosition() + 1);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      numSymbols = std::max(numSymbols, symbol.getPosition() + 1);
  });
  AffineExpr result = simplifyAffineExpr(expr, numDims, numSymbols);
  // That turns products of symbols around, each time again.
  return result.isPureAffine() ? result : sortOperands(result);
}

Expr StatementList::expression(AffineExpr expr) const {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return constant(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
    return variable(cast<AffineDimExpr>(expr).getPosition(), context);
  case AffineExprKind::SymbolId:
    return parameter(cast<AffineSymbolExpr>(expr).getPosition(), context);
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Expr lhs = expression(binary.getLHS()), rhs = expression(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    // As definitions are written.
    if (rhs.getKind() == Expr::Kind::Constant && *rhs.getInt() < 0)
      return lhs - constant(int64_t(-uint64_t(*rhs.getInt())));
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::FloorDiv:
    return floorDiv(lhs, rhs);
  case AffineExprKind::Mod:
    return mod(lhs, rhs);
  case AffineExprKind::CeilDiv:
    return floorDiv(lhs + rhs - 1, rhs);
  default:
    llvm_unreachable("an affine expression of no known kind");
  }
}

std::optional<std::pair<AffineExpr, AffineExpr>>
espalier::graphtopoly::getRange(const StatementList &program, AffineExpr expr,
                                ArrayRef<AffineExpr> extents) {
  unsigned numDims = extents.size(), numSymbols = program.symbols.size();
  // A quotient grows with what is divided.
  if (auto quotient = dyn_cast<AffineBinaryOpExpr>(expr);
      quotient && expr.getKind() == AffineExprKind::FloorDiv) {
    auto divisor = dyn_cast<AffineConstantExpr>(quotient.getRHS());
    auto range = getRange(program, quotient.getLHS(), extents);
    if (!divisor || divisor.getValue() <= 0 || !range)
      return std::nullopt;
    return std::make_pair(
        program.simplify(range->first.floorDiv(divisor.getValue())),
        program.simplify(range->second.floorDiv(divisor.getValue())));
  }
  // What is the same everywhere moves both ends.
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
      sum && expr.getKind() == AffineExprKind::Add &&
      sum.getRHS().isSymbolicOrConstant()) {
    auto range = getRange(program, sum.getLHS(), extents);
    if (!range)
      return std::nullopt;
    return std::make_pair(program.simplify(range->first + sum.getRHS()),
                          program.simplify(range->second + sum.getRHS()));
  }
  SmallVector<int64_t> flat;
  // Flattening does not return for a product of symbols.
  if (!expr.isPureAffine() ||
      failed(getFlattenedAffineExpr(expr, numDims, numSymbols, &flat)) ||
      flat.size() != numDims + numSymbols + 1)
    return std::nullopt;
  AffineExpr rest = getAffineConstantExpr(flat.back(), program.context);
  for (unsigned s = 0; s < numSymbols; ++s)
    rest = rest + getAffineSymbolExpr(s, program.context) * flat[numDims + s];
  AffineExpr low = rest, high = rest;
  for (unsigned d = 0; d < numDims; ++d)
    (flat[d] > 0 ? high : low) =
        (flat[d] > 0 ? high : low) + (extents[d] - 1) * flat[d];
  return std::make_pair(low, high);
}

void espalier::graphtopoly::forEachAccess(
    const Statement &statement, llvm::function_ref<void(Expr)> visit) {
  for (const Piece &piece : statement.pieces)
    walk(piece.value, [&](Expr expr) {
      if (expr.getKind() == Expr::Kind::Access)
        visit(expr);
    });
}

SmallVector<ArrayId>
espalier::graphtopoly::getReads(const Statement &statement) {
  SmallVector<ArrayId> reads;
  forEachAccess(statement, [&](Expr access) {
    reads.push_back(access.getTensor().number);
  });
  return reads;
}

std::vector<SmallVector<unsigned, 2>>
espalier::graphtopoly::findReaders(const StatementList &program) {
  std::vector<SmallVector<unsigned, 2>> readers(program.arrays.size());
  for (auto [number, statement] : llvm::enumerate(program.statements))
    for (ArrayId array : getReads(statement))
      if (readers[array].empty() || readers[array].back() != number)
        readers[array].push_back(number);
  return readers;
}

unsigned
espalier::graphtopoly::countIdentityIndices(const StatementList &program,
                                            Expr access) {
  unsigned count = 0;
  for (Expr index : access.getOperands()) {
    if (index.getKind() != Expr::Kind::Variable || index.getVariable() != count)
      break;
    ++count;
  }
  return count;
}

bool espalier::graphtopoly::changesLayout(const StatementList &program,
                                          const Statement &statement) {
  const Array &target = program.arrays[statement.target];
  bool changes = false;
  forEachAccess(statement, [&](Expr access) {
    const Array &source = program.arrays[access.getTensor().number];
    changes |= source.extents == target.extents && source.order != target.order;
  });
  return changes && !target.order.empty() && !statement.reduction;
}

void espalier::graphtopoly::redirect(Statement &statement, ArrayId from,
                                     ArrayId to) {
  for (Piece &piece : statement.pieces)
    piece.value = transform(piece.value, [&](Expr e) -> Expr {
      if (e.getKind() != Expr::Kind::Access || e.getTensor().number != from)
        return {};
      return access(TensorRef::operand(to), e.getOperands(), e.getType());
    });
}
