//===- GraphScanOp.cpp - A cell for each step of a sequence ---------------===//
//
// The definition consists of those of the operators in the body, each for all
// steps t:
//
//   C[t, j] = initial[j] if t == 0 else S[t - 1, j]      (the state)
//   S[t, j] = C[t, j] + X[t, j] * W[j]                   (what is yielded)
//   R[j] = S[size(X, 0) - 1, j] if size(X, 0) > 0 else initial[j]
//
//===----------------------------------------------------------------------===//

#include "espalier/Dialect/Graph/IR/CellBuilder.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

static RankedTensorType getElement(Type sequence) {
  auto type = cast<RankedTensorType>(sequence);
  return RankedTensorType::get(type.getShape().drop_front(),
                               type.getElementType());
}

namespace {
class ScanBuilder : private CellBuilder {
public:
  ScanBuilder(ScanOp::Adaptor op, MLIRContext *context, DefinitionError error)
      : CellBuilder(context), op(op), error(error), body(op.getBody().front()),
        types(graph::detail::getTensorTypes(op.getOperands())),
        numStates(op.getStates().size()) {}

  FailureOr<Definition> run();

private:
  LogicalResult fail(const Twine &reason) const {
    error(reason);
    return failure();
  }
  RankedTensorType getType(unsigned operand) const { return types[operand]; }
  Expr getSize(unsigned operand, unsigned dim) const;
  SmallVector<IndexVar> makeVars(unsigned state);
  Expr readInitial(unsigned state, ArrayRef<Expr> at) const;
  LogicalResult requireEqual(Expr value, Expr bound, const Twine &rule);

  LogicalResult verifyBody();
  LogicalResult verifySequences();
  void addArguments();
  LogicalResult addState(unsigned state, const CellValue &next);
  void addLast(unsigned state);
  void addCollected(Value value);

  ScanOp::Adaptor op;
  DefinitionError error;
  Block &body;
  SmallVector<RankedTensorType> types;
  unsigned numStates;
};
} // namespace

Expr ScanBuilder::getSize(unsigned operand, unsigned dim) const {
  RankedTensorType type = getType(operand);
  return type.isDynamicDim(dim)
             ? size(TensorRef::operand(operand), dim, context)
             : index(type.getDimSize(dim));
}

SmallVector<IndexVar> ScanBuilder::makeVars(unsigned state) {
  SmallVector<IndexVar> vars;
  for (unsigned dim = 0; dim < getType(state).getRank(); ++dim)
    vars.push_back(
        definition.makeVar("j" + std::to_string(dim), getSize(state, dim)));
  return vars;
}

Expr ScanBuilder::readInitial(unsigned state, ArrayRef<Expr> at) const {
  return access(TensorRef::operand(state), at, getType(state).getElementType());
}

LogicalResult ScanBuilder::requireEqual(Expr value, Expr bound,
                                        const Twine &rule) {
  Requirement requirement{Requirement::Kind::Equal, value, bound, rule.str()};
  std::optional<bool> met = isMet(requirement, definition, types);
  if (!met)
    definition.requirements.push_back(std::move(requirement));
  else if (!*met)
    return fail(explain(requirement.kind, requirement.rule,
                        Twine(evaluateExtent(value, definition, types)),
                        Twine(evaluateExtent(bound, definition, types))));
  return success();
}

LogicalResult ScanBuilder::verifySequences() {
  // C1
  unsigned numSequences = op.getSequences().size();
  for (unsigned number = 0; number < numSequences; ++number)
    if (getType(numStates + number).getRank() == 0)
      return fail("expects sequences with a dimension, but sequence #" +
                  Twine(number) + " has none");
  for (unsigned number = 1; number < numSequences; ++number)
    if (failed(requireEqual(getSize(numStates + number, 0),
                            getSize(numStates, 0),
                            "sequence #" + Twine(number) +
                                " to have the length of sequence #0")))
      return failure();
  return success();
}

LogicalResult ScanBuilder::verifyBody() {
  auto show = [](TypeRange types) {
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::interleaveComma(types, os);
    return text;
  };
  // C2
  SmallVector<Type> expected =
      llvm::map_to_vector(types, [](Type type) { return dropEncoding(type); });
  for (Type &type :
       MutableArrayRef(expected).slice(numStates, op.getSequences().size()))
    type = getElement(type);
  if (body.getArgumentTypes() != TypeRange(expected))
    return fail("expects a body with arguments of types " +
                show(TypeRange(expected)) + ", but got " +
                show(body.getArgumentTypes()));
  // C3
  auto yield = body.empty() ? YieldOp() : dyn_cast<YieldOp>(body.back());
  if (!yield || yield.getNumOperands() < numStates)
    return fail("expects a body that yields " + Twine(numStates) +
                " states, but got " +
                Twine(yield ? yield.getNumOperands() : 0));
  for (unsigned state = 0; state < numStates; ++state) {
    RankedTensorType initial = getType(state);
    auto next = cast<RankedTensorType>(yield.getOperand(state).getType());
    if (initial.getElementType() != next.getElementType() ||
        initial.getRank() != next.getRank())
      return fail("expects state #" + Twine(state) +
                  " to keep the element type and rank of " +
                  show(Type(initial)) + ", but got " + show(Type(next)));
  }
  // C5
  for (Operation &operation : body.without_terminator())
    if (failed(verifyCellOp(operation)))
      return failure();
  return success();
}

/// Makes the arguments of the body values: what is read at the step, or as it
/// is.
void ScanBuilder::addArguments() {
  IndexVar time = cellIndices.front();
  Expr t = use(time).front();
  for (unsigned state = 0; state < numStates; ++state) {
    Type type = getType(state).getElementType();
    SmallVector<IndexVar> vars = makeVars(state);
    SmallVector<Expr> at = use(vars);
    Expr initial = readInitial(state, at);
    at.insert(at.begin(), t - 1);
    Expr isFirst = apply(ScalarFn::Equal, {t, index(0)});
    Expr previous =
        select(isFirst, initial, access(getPlaceholder(state), at, type));
    vars.insert(vars.begin(), time);
    TensorRef step = addStep("C", vars, previous, type, /*isRecursive=*/true);
    valueOf[body.getArgument(state)] = makeValue(step, 1, /*isRecursive=*/true);
  }
  for (unsigned operand = numStates; operand < types.size(); ++operand) {
    CellValue &value = valueOf[body.getArgument(operand)];
    value = {{TensorRef::operand(operand)}};
    if (operand < numStates + op.getSequences().size()) {
      value.argument.leading = {t};
      value.numIndices = 1;
    }
  }
}

LogicalResult ScanBuilder::addState(unsigned state, const CellValue &next) {
  unsigned numLeading = next.argument.leading.size();
  SmallVector<IndexVar> vars = makeVars(state);
  for (auto [dim, var] : llvm::enumerate(vars))
    // C4
    if (failed(requireEqual(definition.getExtent(next.argument.tensor,
                                                 numLeading + dim, context),
                            var.extent,
                            "state #" + Twine(state) + " to keep extent #" +
                                Twine(dim))))
      return failure();
  // A step over all times holds the states as it is.
  if (next.numIndices == 1 && !next.argument.tensor.isOperand()) {
    addPlaced(next.argument.tensor);
    return success();
  }
  Type type = getType(state).getElementType();
  Expr element = read(next, use(vars), type);
  vars.insert(vars.begin(), cellIndices.front());
  addPlaced(addStep("S", vars, element, type, next.isRecursive));
  return success();
}

void ScanBuilder::addLast(unsigned state) {
  Type type = getType(state).getElementType();
  SmallVector<IndexVar> vars = makeVars(state);
  SmallVector<Expr> at = use(vars);
  Expr initial = readInitial(state, at);
  Expr length = cellIndices.front().extent;
  at.insert(at.begin(), length - 1);
  Expr last = access(getPlaceholder(state), at, type);
  RankedTensorType sequence = getType(numStates);
  if (sequence.isDynamicDim(0) || sequence.getDimSize(0) == 0)
    last = select(apply(ScalarFn::Greater, {length, index(0)}), last, initial);
  definition.results.push_back(addStep("R", vars, last, type).number);
}

/// Adds the result that has a value of all steps.
void ScanBuilder::addCollected(Value value) {
  const CellValue &part = valueOf.at(value);
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<IndexVar> vars;
  unsigned numLeading = part.argument.leading.size();
  for (unsigned dim = 0; dim < type.getRank(); ++dim)
    vars.push_back(definition.makeVar(
        "j" + std::to_string(dim),
        definition.getExtent(part.argument.tensor, numLeading + dim, context)));
  Expr element = read(part, use(vars), type.getElementType());
  vars.insert(vars.begin(), cellIndices.front());
  definition.results.push_back(
      addStep("Y", vars, element, type.getElementType()).number);
}

FailureOr<Definition> ScanBuilder::run() {
  for (unsigned operand = 0; operand < types.size(); ++operand)
    definition.operandNames.push_back("A" + std::to_string(operand));
  if (failed(verifySequences()) || failed(verifyBody()))
    return failure();
  cellIndices = {definition.makeVar("t", getSize(numStates, 0))};
  addArguments();
  for (Operation &operation : body.without_terminator())
    addOperation(operation);
  OperandRange yielded = body.getTerminator()->getOperands();
  for (unsigned state = 0; state < numStates; ++state)
    if (failed(addState(state, valueOf.at(yielded[state]))))
      return failure();
  for (unsigned state = 0; state < numStates; ++state)
    addLast(state);
  for (Value value : yielded.drop_front(numStates))
    addCollected(value);
  order();
  return std::move(definition);
}

FailureOr<Definition> ScanOp::define(Adaptor op, DefinitionError error) {
  // C1
  if (op.getSequences().empty()) {
    error("expects a sequence, but got none");
    return failure();
  }
  return ScanBuilder(op, op.getSequences().front().getContext(), error).run();
}
