//===- WidenOperands.cpp - Arrays of short numbers as they are computed ---===//
//
// Elements of f16 and bf16 are computed as f32 and rounded when they are
// stored. What sums read many times is converted each time, and that takes
// longer than the products. Such arrays hold f32 instead, with the same,
// rounded values:
//
//   P[i] = f16(A[i]);  R[o] = sum(i) f32(P[i]) * f32(W[o, i])
//   P[i] = f32(f16(A[i]));  R[o] = sum(i) P[i] * W[o, i]
//
// Where an instruction takes pairs of bf16, their arrays stay as they are.
//
//===----------------------------------------------------------------------===//

#include "Layouts/PairTerms.h"
#include "PackConstant.h"
#include "StatementList.h"
#include "espalier/Interpreter/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstring>

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;
using espalier::interpreter::Tensor;

/// Elements that are read this often pay for twice the memory.
static constexpr int64_t kMinReads = 4;

static bool isShort(Type type) { return type.isF16() || type.isBF16(); }

namespace {

class OperandWidener {
public:
  explicit OperandWidener(StatementList &program)
      : program(program), wide(Float32Type::get(program.context)) {}

  void run();

private:
  /// How many points there are for each element that is converted, where sizes
  /// that are not known count as one.
  int64_t countReads(const Statement &statement, ArrayId array) const;
  /// Finds the arrays that may hold f32: each with all that share its memory.
  void findCandidates();
  /// Adds an array, if it has short numbers, and those that it is a mere copy
  /// of, as they are or as f32.
  void choose(ArrayId base);
  /// Whether the elements are the caller's.
  bool isGiven(ArrayId array) const {
    return program.arrays[program.getBase(array)].kind == Array::Kind::Input;
  }
  /// The value of an element that is stored as f32.
  Expr widen(Expr value) const;
  void rewrite(Statement &statement) const;
  ElementsAttr widen(ElementsAttr constant, RankedTensorType type);
  void widenConstants();
  /// Copies what statements read often of the caller's memory.
  void copyInputs();

  StatementList &program;
  Type wide;
  llvm::DenseSet<ArrayId> candidates, chosen; ///< Without views.
  /// The statements that compute an array.
  llvm::DenseMap<ArrayId, SmallVector<unsigned, 1>> writers;
  /// The f32 with the value of each number of 16 bits, by type.
  llvm::SmallDenseMap<Type, std::vector<float>> values;
};

} // namespace

static int64_t multiplyKnown(ArrayRef<AffineExpr> extents) {
  int64_t product = 1;
  for (AffineExpr extent : extents)
    if (auto known = dyn_cast<AffineConstantExpr>(extent))
      product = llvm::SaturatingMultiply<uint64_t>(
          product, std::max<int64_t>(known.getValue(), 1));
  return product;
}

int64_t OperandWidener::countReads(const Statement &statement,
                                   ArrayId array) const {
  if (readsPairs(program, statement))
    return 0;
  return multiplyKnown(statement.extents) /
         multiplyKnown(program.arrays[array].extents);
}

void OperandWidener::findCandidates() {
  llvm::DenseSet<ArrayId> fixed;
  for (auto [number, array] : llvm::enumerate(program.arrays)) {
    if (isShort(array.elementType) && !isGiven(number))
      candidates.insert(program.getBase(number));
    if (!isShort(array.elementType) || !array.outputs.empty() ||
        !array.order.empty() ||
        (array.kind == Array::Kind::Constant &&
         !llvm::all_of(array.extents, llvm::IsaPred<AffineConstantExpr>)))
      fixed.insert(program.getBase(number));
  }
  for (auto [number, statement] : llvm::enumerate(program.statements)) {
    ArrayId base = program.getBase(statement.target);
    writers[base].push_back(number);
    // What is combined, or read again by later points, is no mere value.
    if (statement.reduction || statement.recurrence)
      fixed.insert(base);
  }
  for (ArrayId array : fixed)
    candidates.erase(array);
}

void OperandWidener::choose(ArrayId base) {
  SmallVector<ArrayId> pending = {base};
  llvm::DenseSet<ArrayId> seen;
  while (!pending.empty()) {
    ArrayId array = pending.pop_back_val();
    bool isWide = program.arrays[array].elementType == wide;
    if (!seen.insert(array).second || (!isWide && !candidates.contains(array)))
      continue;
    if (!isWide)
      chosen.insert(array);
    for (unsigned number : writers.lookup(array))
      for (const Piece &piece : program.statements[number].pieces) {
        Expr value = piece.value;
        if (isWide && value.getKind() == Expr::Kind::Cast)
          value = value.getOperands()[0];
        if (value.getKind() == Expr::Kind::Access)
          pending.push_back(program.getBase(value.getTensor().number));
      }
  }
}

Expr OperandWidener::widen(Expr value) const {
  if (value.getKind() != Expr::Kind::Constant)
    return cast(wide, value);
  // A literal is as precise as it was written.
  APFloat number(value.getFloat());
  bool losesInfo;
  number.convert(cast<FloatType>(value.getType()).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  return cast(wide, constant(number.convertToDouble()));
}

void OperandWidener::rewrite(Statement &statement) const {
  auto isChosen = [&](Expr e) {
    return e.getKind() == Expr::Kind::Access &&
           chosen.contains(program.getBase(e.getTensor().number));
  };
  bool isTarget = chosen.contains(program.getBase(statement.target));
  for (Piece &piece : statement.pieces) {
    Type type = program.arrays[statement.target].elementType;
    piece.value = transform(piece.value, [&](Expr e) -> Expr {
      if (isChosen(e))
        return cast(e.getType(), access(e.getTensor(), e.getOperands(), wide));
      // The value that was read, as it lies there.
      if (e.getKind() == Expr::Kind::Cast && e.getType() == wide &&
          e.getOperands()[0].getKind() == Expr::Kind::Cast &&
          isChosen(e.getOperands()[0].getOperands()[0]))
        return e.getOperands()[0].getOperands()[0];
      return {};
    });
    if (!isTarget)
      continue;
    Expr value = cast(type, piece.value);
    bool isCopy =
        value.getKind() == Expr::Kind::Cast && isChosen(value.getOperands()[0]);
    piece.value = isCopy ? value.getOperands()[0] : widen(value);
  }
}

ElementsAttr OperandWidener::widen(ElementsAttr constant,
                                   RankedTensorType type) {
  if (ElementsAttr unknown = getWithoutValues(constant, type))
    return unknown;
  FailureOr<Tensor> tensor = Tensor::get(constant);
  if (failed(tensor))
    return {};
  auto element = cast<FloatType>(constant.getElementType());
  std::vector<float> &table = values[element];
  for (uint64_t bits = table.size(); bits < (1 << 16); ++bits) {
    APFloat value(element.getFloatSemantics(), APInt(16, bits));
    bool losesInfo;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    table.push_back(value.convertToFloat());
  }
  if (tensor->getNumElements() == 0)
    return DenseElementsAttr::get(type, ArrayRef<float>());
  auto blob = allocateBlob(tensor->getNumElements() * sizeof(float));
  if (!blob)
    return {};
  auto *target = reinterpret_cast<float *>(blob->getMutableData().data());
  for (int64_t i = 0; i < tensor->getNumElements(); ++i) {
    uint16_t bits;
    std::memcpy(&bits, tensor->getBytes().data() + i * sizeof(bits),
                sizeof(bits));
    target[i] = table[bits];
  }
  return DenseResourceElementsAttr::get(type, "widened", std::move(*blob));
}

void OperandWidener::widenConstants() {
  for (ArrayId number : llvm::to_vector(chosen)) {
    Array &array = program.arrays[number];
    if (array.kind != Array::Kind::Constant)
      continue;
    auto type = RankedTensorType::get(
        llvm::map_to_vector(
            array.extents,
            [](AffineExpr extent) {
              return cast<AffineConstantExpr>(extent).getValue();
            }),
        wide);
    if (ElementsAttr value = widen(array.constant, type))
      array.constant = value;
    else
      chosen.erase(number);
  }
}

void OperandWidener::copyInputs() {
  llvm::MapVector<ArrayId, ArrayId> copies;
  for (Statement &statement : program.statements)
    for (ArrayId number : getReads(statement)) {
      const Array &array = program.arrays[number];
      if (!isGiven(number) || !isShort(array.elementType) ||
          countReads(statement, number) < kMinReads)
        continue;
      auto [copy, isNew] = copies.try_emplace(number);
      if (isNew) {
        Array held{Array::Kind::Intermediate, array.loc, array.elementType};
        held.extents = array.extents;
        copy->second = program.addArray(std::move(held));
      }
      redirect(statement, number, copy->second);
    }
  std::vector<Statement> statements;
  for (auto [input, copy] : copies)
    statements.push_back(
        makeStore(program, input, copy, program.arrays[copy].loc));
  llvm::append_range(statements, program.statements);
  program.statements = std::move(statements);
}

void OperandWidener::run() {
  copyInputs();
  findCandidates();
  if (candidates.empty())
    return;
  llvm::DenseMap<ArrayId, int64_t> reads;
  for (const Statement &statement : program.statements)
    for (ArrayId array : getReads(statement))
      reads[program.getBase(array)] += countReads(statement, array);
  for (auto [array, count] : reads)
    if (count >= kMinReads)
      choose(array);
  widenConstants();
  if (chosen.empty())
    return;
  for (Statement &statement : program.statements)
    rewrite(statement);
  for (auto [number, array] : llvm::enumerate(program.arrays))
    if (chosen.contains(program.getBase(number)))
      array.elementType = wide;
}

void espalier::graphtopoly::widenOperands(StatementList &program) {
  OperandWidener(program).run();
}
