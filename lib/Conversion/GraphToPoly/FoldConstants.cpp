//===- FoldConstants.cpp - Statements on constants alone ------------------===//
//
// The reference interpreter evaluates what does not depend on the inputs: the
// scale of a batch normalization, the table of a resize, concatenated weights.
// It works on statements, not operators, because a part of an operator may be
// constant.
//
//===----------------------------------------------------------------------===//

#include "Normalize.h"
#include "PackConstant.h"
#include "espalier/Definition/FoldLimits.h"
#include "espalier/Interpreter/Interpreter.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;
using espalier::interpreter::Tensor;

namespace {

class ConstantFolder {
public:
  ConstantFolder(StatementList &program, FoldedStatements which)
      : program(program), which(which) {
    for (auto [number, array] : llvm::enumerate(program.arrays))
      if (!array.outputs.empty())
        returned.insert(program.getBase(number));
  }

  unsigned run() {
    std::vector<Statement> rest;
    for (Statement &statement : program.statements)
      if (!fold(statement))
        rest.push_back(std::move(statement));
    for (ArrayId array = 0; array < program.arrays.size(); ++array)
      (void)getConstant(array);
    unsigned numFolded = program.statements.size() - rest.size();
    program.statements = std::move(rest);
    return numFolded;
  }

private:
  /// Makes the target of `statement` a constant; false if it is none, or
  /// expensive.
  bool fold(const Statement &statement);
  bool isCandidate(const Statement &statement);
  /// The value of a constant, or null. A view of a constant becomes one itself.
  ElementsAttr getConstant(ArrayId number);
  Expr getCondition(const Conjunction &domain) const;
  /// The element of the target, as one expression over the dimensions.
  Expr getValue(const Statement &statement, ArrayRef<IndexVar> vars) const;

  StatementList &program;
  FoldedStatements which;
  /// The arrays that are results of the function, or that results are views of:
  /// a statement has to write them to the caller's memory.
  llvm::DenseSet<ArrayId> returned;
};

/// Whether the statement computes with elements rather than moving them.
bool computes(const Statement &statement) {
  bool found = statement.reduction.has_value();
  for (const Piece &piece : statement.pieces)
    walk(piece.value, [&](Expr e) {
      found |= e.getKind() == Expr::Kind::Select ||
               (e.getKind() == Expr::Kind::Apply && !e.getType().isIndex());
    });
  return found;
}

/// The extents of an array that has no symbols.
static SmallVector<int64_t> getShape(const Array &array) {
  return llvm::map_to_vector(array.extents, [](AffineExpr extent) {
    return cast<AffineConstantExpr>(extent).getValue();
  });
}

ElementsAttr ConstantFolder::getConstant(ArrayId number) {
  Array &array = program.arrays[number];
  if (array.kind == Array::Kind::Constant)
    return array.constant;
  if (!array.reshapeOf || !array.outputs.empty() ||
      !llvm::all_of(array.extents, llvm::IsaPred<AffineConstantExpr>))
    return {};
  ElementsAttr source = getConstant(*array.reshapeOf);
  if (!source)
    return {};
  SmallVector<int64_t> shape = getShape(array);
  // Sizes that do not fit are for the program to report.
  if (ShapedType::getNumElements(shape) != source.getNumElements())
    return {};
  ElementsAttr value =
      reshapeConstant(source, RankedTensorType::get(shape, array.elementType));
  if (!value)
    return {};
  array.kind = Array::Kind::Constant;
  array.constant = value;
  array.reshapeOf.reset();
  array.rowMajor = false;
  return value;
}

bool ConstantFolder::isCandidate(const Statement &statement) {
  const Array &target = program.arrays[statement.target];
  if (statement.recurrence || statement.entries ||
      returned.contains(statement.target) ||
      !llvm::all_of(statement.extents, llvm::IsaPred<AffineConstantExpr>) ||
      (which == FoldedStatements::Computing && !computes(statement)))
    return false;
  bool isKnown = true;
  double numNodes = 0;
  for (const Piece &piece : statement.pieces) {
    for (const Condition &condition : piece.domain)
      condition.expr.walk(
          [&](AffineExpr e) { isKnown &= !isa<AffineSymbolExpr>(e); });
    walk(piece.value, [&](Expr e) {
      ++numNodes;
      isKnown &= e.getKind() != Expr::Kind::Parameter;
    });
  }
  uint64_t operandBytes = 0;
  for (ArrayId array : getReads(statement)) {
    ElementsAttr value = getConstant(array);
    isKnown &= bool(value);
    // One value for all elements takes no memory until it is evaluated.
    if (isKnown && !value.isSplat())
      operandBytes +=
          interpreter::getDenseBytes(cast<RankedTensorType>(value.getType()))
              .value_or(0);
  }
  if (!isKnown)
    return false;
  double points = 1;
  for (AffineExpr extent : statement.extents)
    points *= static_cast<double>(
        std::max<int64_t>(cast<AffineConstantExpr>(extent).getValue(), 0));
  double targetBytes =
      interpreter::getElementBytes(target.elementType).value_or(0);
  for (AffineExpr extent : target.extents)
    targetBytes *=
        static_cast<double>(cast<AffineConstantExpr>(extent).getValue());
  return points * numNodes <= kMaxFoldedWork &&
         targetBytes <= static_cast<double>(operandBytes + kMaxFoldedGrowth);
}

Expr ConstantFolder::getCondition(const Conjunction &domain) const {
  Expr condition;
  for (const Condition &rule : domain)
    condition = conjoin(
        condition,
        apply(rule.isEquality ? ScalarFn::Equal : ScalarFn::GreaterEqual,
              {program.expression(rule.expr), constant(int64_t(0))}));
  return condition;
}

Expr ConstantFolder::getValue(const Statement &statement,
                              ArrayRef<IndexVar> vars) const {
  const Array &target = program.arrays[statement.target];
  Expr result;
  for (const Piece &piece : llvm::reverse(statement.pieces)) {
    Expr value = cast(target.elementType, piece.value);
    Expr condition = getCondition(piece.domain);
    if (statement.reduction) {
      value = reduce(*statement.reduction,
                     vars.drop_front(target.extents.size()), condition, value);
      result = result
                   ? apply(getCombiner(*statement.reduction), {value, result})
                   : value;
    } else {
      result = result && condition ? select(condition, value, result) : value;
    }
  }
  return result;
}

bool ConstantFolder::fold(const Statement &statement) {
  if (!isCandidate(statement))
    return false;
  Array &target = program.arrays[statement.target];
  Definition definition;
  SmallVector<IndexVar> vars;
  for (AffineExpr extent : statement.extents)
    vars.push_back(definition.makeVar("i", program.expression(extent)));

  auto type = RankedTensorType::get(getShape(target), target.elementType);
  SmallVector<Tensor> operands;
  llvm::DenseMap<ArrayId, unsigned> operandOf;
  for (ArrayId array : getReads(statement)) {
    if (!operandOf.try_emplace(array, operands.size()).second)
      continue;
    ElementsAttr constant = program.arrays[array].constant;
    if (ElementsAttr unknown = getWithoutValues(constant, type)) {
      target.kind = Array::Kind::Constant;
      target.constant = unknown;
      return true;
    }
    FailureOr<Tensor> operand = Tensor::get(constant);
    if (failed(operand))
      return false;
    operands.push_back(*operand);
  }
  Expr value = transform(getValue(statement, vars), [&](Expr e) -> Expr {
    if (e.getKind() != Expr::Kind::Access)
      return {};
    return access(TensorRef::operand(operandOf.lookup(e.getTensor().number)),
                  e.getOperands(), e.getType());
  });
  vars.resize(target.extents.size());
  definition.results = {
      definition.addStep({"R", target.elementType, vars, value, {}}).number};
  FailureOr<SmallVector<Tensor>> results = interpreter::evaluate(
      definition, operands, {}, [](const Twine &) {},
      interpreter::Rounding::Functions);
  if (failed(results))
    return false;
  target.kind = Array::Kind::Constant;
  target.constant = results->front().toAttribute();
  return true;
}

} // namespace

unsigned espalier::graphtopoly::foldConstants(StatementList &program,
                                              FoldedStatements which) {
  return ConstantFolder(program, which).run();
}
