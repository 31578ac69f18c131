//===- RecOps.cpp - What rec operations must be ---------------------------===//

#include "espalier/Dialect/Graph/IR/CellBuilder.h"
#include "espalier/Dialect/Rec/IR/Rec.h"
#include "espalier/Support/FunctionSyntax.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::rec;

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

ParseResult ModelOp::parse(OpAsmParser &parser, OperationState &result) {
  return parseFunction<ModelOp>(parser, result);
}

void ModelOp::print(OpAsmPrinter &printer) { printFunction(printer, *this); }

NodeType ModelOp::getNodeType() {
  return cast<NodeType>(getArgumentTypes().front());
}

ArrayRef<BlockArgument> ModelOp::getTensorArguments() {
  return getBody().getArguments().drop_front();
}

CaseOp ModelOp::getCase(Case kind) {
  for (auto op : getBody().getOps<CaseOp>())
    if (op.getKind() == kind)
      return op;
  return {};
}

LogicalResult ModelOp::verify() {
  // C1
  ArrayRef<Type> arguments = getArgumentTypes();
  if (arguments.empty() || !isa<NodeType>(arguments.front()))
    return emitOpError("expects a node as its first argument, but got ")
           << getFunctionType();
  for (auto [number, type] : llvm::enumerate(arguments))
    if (number != 0 && !isa<RankedTensorType>(type))
      return emitOpError(
                 "expects ranked tensors after the node, but argument #")
             << number << " is " << type;
  // C2
  if (getResultTypes().empty())
    return emitOpError("expects a result, but got ") << getFunctionType();
  for (auto [number, type] : llvm::enumerate(getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return emitOpError("expects results of known extents, but result #")
             << number << " is " << type;
  }
  // C3
  if (getBody().empty())
    return emitOpError("expects a body, but got none");
  unsigned numLeaf = 0, numInterior = 0;
  for (Operation &op : getBody().front()) {
    auto caseOp = dyn_cast<CaseOp>(op);
    if (!caseOp)
      return op.emitOpError("expects to be in a case of '@")
             << getSymName() << "'";
    ++(caseOp.getKind() == Case::Leaf ? numLeaf : numInterior);
  }
  if (numLeaf != 1 || numInterior != 1)
    return emitOpError("expects one case for leaves and one for interior "
                       "nodes, but got ")
           << numLeaf << " and " << numInterior;
  // C4
  if (!isPrivate())
    return emitOpError("expects to be private, but got a public model");
  return success();
}

/// Checks that a cell of a model may have `op`; `C2` and `C3` of `rec.case`.
static LogicalResult verifyOperation(Operation &op) {
  if (isa<FeatureOp, CallOp, ChildrenOp, YieldOp>(op))
    return success();
  return graph::verifyCellOp(op);
}

LogicalResult CaseOp::verifyRegions() {
  // C1
  Block &block = getBody().front();
  if (block.empty() || !isa<YieldOp>(block.back()))
    return emitOpError("expects a cell that ends in 'rec.yield'");
  if (block.getNumArguments() != 0)
    return emitOpError("expects a cell without arguments, but got ")
           << block.getNumArguments();
  // C2
  for (Operation &op : block)
    if (failed(verifyOperation(op)))
      return failure();
  return success();
}

/// Checks the types of what stands for a node's results.
static LogicalResult verifyResults(Operation *op, TypeRange types,
                                   StringRef what) {
  auto model = op->getParentOfType<ModelOp>();
  if (types == TypeRange(model.getResultTypes()))
    return success();
  return op->emitOpError("expects ")
         << what << " of types " << model.getResultTypes() << ", but got "
         << types;
}

LogicalResult YieldOp::verify() {
  // C1
  if (isa<CaseOp>((*this)->getParentOp()))
    return verifyResults(*this, getOperandTypes(), "the results of the model,");
  return success();
}

//===----------------------------------------------------------------------===//
// Inside of a cell
//===----------------------------------------------------------------------===//

LogicalResult FeatureOp::verify() {
  // C1
  auto argument = dyn_cast<BlockArgument>(getTensor());
  if (!argument || !isa<ModelOp>(argument.getOwner()->getParentOp()))
    return emitOpError("expects an argument of the model");
  // C2
  auto type = cast<RankedTensorType>(getTensor().getType());
  if (type.getRank() == 0)
    return emitOpError("expects a tensor with a row for each node, but got ")
           << type;
  auto row = RankedTensorType::get(type.getShape().drop_front(),
                                   type.getElementType());
  if (row != getType())
    return emitOpError("expects a row of type ")
           << row << ", but got " << getType();
  return success();
}

/// Checks that `op` is for nodes that have children.
static LogicalResult verifyInterior(Operation *op) {
  auto parent = dyn_cast<CaseOp>(op->getParentOp());
  if (!parent || parent.getKind() != Case::Interior)
    return op->emitOpError("expects to be in the case of interior nodes");
  return success();
}

LogicalResult CallOp::verify() {
  // C1
  if (failed(verifyInterior(*this)))
    return failure();
  // C2
  NodeType type = getNode().getType();
  if (!type.hasFixedArity() || getChild() >= type.getArity())
    return emitOpError("expects a child that each interior node has, but got ")
           << getChild() << " of " << type;
  // C3
  return verifyResults(*this, getResultTypes(), "the results of the model,");
}

LogicalResult ChildrenOp::verifyRegions() {
  // C1
  if (failed(verifyInterior(*this)))
    return failure();
  // C2
  Block &block = getBody().front();
  if (failed(verifyResults(*this, block.getArgumentTypes(),
                           "arguments of the body,")))
    return failure();
  // C3
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getNumOperands() != getReductions().size() ||
      yield.getOperandTypes() != getResultTypes())
    return emitOpError("expects a body that yields ")
           << getReductions().size() << " values of types " << getResultTypes();
  for (Type type : getResultTypes())
    if (!cast<RankedTensorType>(type).hasStaticShape())
      return emitOpError("expects results of known extents, but got ") << type;
  // C4
  for (Type type : getResultTypes())
    if (!isa<FloatType>(cast<RankedTensorType>(type).getElementType()))
      return emitOpError("expects floating-point numbers to be combined, but "
                         "got ")
             << type;
  for (Operation &op : block)
    if (failed(verifyOperation(op)))
      return failure();
  return success();
}

static ParseResult parseReductions(OpAsmParser &parser, ArrayAttr &reductions) {
  SmallVector<Attribute> kinds;
  auto parseKind = [&]() -> ParseResult {
    FailureOr<Reduction> kind =
        mlir::FieldParser<Reduction, Reduction>::parse(parser);
    if (failed(kind))
      return failure();
    kinds.push_back(ReductionAttr::get(parser.getContext(), *kind));
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, parseKind))
    return failure();
  reductions = parser.getBuilder().getArrayAttr(kinds);
  return success();
}

static void printReductions(OpAsmPrinter &printer, Operation *,
                            ArrayAttr reductions) {
  printer << '[';
  llvm::interleaveComma(reductions.getAsRange<ReductionAttr>(), printer,
                        [&](ReductionAttr kind) {
                          printer << stringifyReduction(kind.getValue());
                        });
  printer << ']';
}

//===----------------------------------------------------------------------===//
// Outside of models
//===----------------------------------------------------------------------===//

LogicalResult ApplyOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C1
  auto model = symbols.lookupNearestSymbolFrom<ModelOp>(*this, getModelAttr());
  if (!model)
    return emitOpError("expects a model, but got ") << getModelAttr();
  // C2
  TypeRange expected = model.getArgumentTypes().drop_front();
  // How a constant is stored is nothing to a cell.
  auto given = llvm::map_range(getArguments().getTypes(), graph::dropEncoding);
  if (!llvm::equal(given, expected))
    return emitOpError("expects arguments of types ")
           << expected << ", but got " << getArguments().getTypes();
  return graph::detail::verifyResultTypes(*this);
}

#define GET_OP_CLASSES
#include "espalier/Dialect/Rec/IR/RecOps.cpp.inc"
