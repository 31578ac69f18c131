//===- ReadProgram.cpp - From kernels and buffers to statements -----------===//
//
// Memory is one array for each shape under which it is seen: the one that
// kernels write, or that it was made with, and views of that.
//
//===----------------------------------------------------------------------===//

#include "ReadProgram.h"
#include "../StepAttributes.h"
#include "KernelReader.h"
#include "SizeReader.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

namespace {

class BlockReader {
public:
  BlockReader(func::FuncOp main, Block &block, NotRead &notRead)
      : main(main), block(block), notRead(notRead) {}

  FailureOr<ReadBlock> run();

private:
  /// Memory under a shape.
  struct Buffer {
    Value root;
    SmallVector<AffineExpr> extents;
  };
  LogicalResult addArguments();
  LogicalResult addBuffer(Operation &op);
  LogicalResult addView(memref::ReinterpretCastOp op);
  LogicalResult addOperation(Operation &op);
  LogicalResult addCall(poly::CallOp call);
  LogicalResult addCopy(memref::CopyOp copy);
  LogicalResult findWritten();
  LogicalResult setWritten(Operation *op, Value memory);
  LogicalResult checkUses();
  /// Checks that what is read has been written, and finds parts.
  LogicalResult checkOrder();
  FailureOr<ArrayId> getArray(Operation *user, Value memory);
  LogicalResult makeBase(Operation *user, Value root,
                         ArrayRef<AffineExpr> extents);
  SmallVector<AffineExpr> getExtents(MemRefType type, ValueRange sizes);
  LogicalResult refuse(Operation *op, const Twine &reason) {
    if (!notRead.op)
      notRead = {op, reason.str()};
    return failure();
  }

  func::FuncOp main;
  Block &block;
  NotRead &notRead;
  SymbolTableCollection symbols;
  unsigned numInputs = 0;
  ReadBlock result;
  StatementList *program = nullptr;
  std::optional<SizeReader> sizes;
  llvm::DenseMap<Value, Buffer> buffers;
  /// The shape under which kernels write memory.
  llvm::DenseMap<Value, SmallVector<AffineExpr>> writtenAs;
  /// What is asked for memory under the shape of a view.
  llvm::DenseMap<Value, DictionaryAttr> factsOf;
  llvm::DenseMap<Value, ArrayId> baseOf;
  llvm::DenseMap<Value, SmallVector<ArrayId, 1>> viewsOf;
};

} // namespace

SmallVector<AffineExpr> BlockReader::getExtents(MemRefType type,
                                                ValueRange values) {
  SmallVector<AffineExpr> extents;
  for (int64_t extent : type.getShape()) {
    if (!ShapedType::isDynamic(extent)) {
      extents.push_back(getAffineConstantExpr(extent, program->context));
      continue;
    }
    extents.push_back(sizes->get(values.front()));
    values = values.drop_front();
  }
  return extents;
}

LogicalResult BlockReader::addArguments() {
  auto number = main->getAttrOfType<IntegerAttr>(kNumInputsAttr);
  auto plan = main->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(
      (main.getName() + "_plan").str());
  if (!number || !plan || plan.isDeclaration() || number.getInt() < 0 ||
      number.getInt() > main.getNumArguments())
    return refuse(main, "expects a program and its plan");
  numInputs = number.getInt();
  unsigned numExtents = 0, numResults = 0;
  for (BlockArgument argument : main.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type || !type.getLayout().isIdentity())
      return refuse(main, "expects arguments in memory");
    (argument.getArgNumber() < numInputs ? numExtents : numResults) +=
        type.getRank();
  }
  auto returned = dyn_cast<func::ReturnOp>(plan.getBody().front().back());
  if (!plan.getBody().hasOneBlock() || plan.getNumArguments() != numExtents ||
      !returned || returned.getNumOperands() != numResults)
    return refuse(main, "expects a program and its plan");
  sizes.emplace(*program, numInputs);
  sizes->read(main.getBody().front());
  if (&block != &main.getBody().front())
    sizes->read(block);
  sizes->bindPlan(plan);
  unsigned numKnown = program->symbols.size();
  sizes->read(plan.getBody().front());
  for (const Symbol &symbol : ArrayRef(program->symbols).drop_front(numKnown))
    if (symbol.value)
      return refuse(main, "expects a plan of sizes that the program computes");
  auto extent = returned.getOperands().begin();
  for (BlockArgument argument : main.getArguments()) {
    Buffer &buffer = buffers[argument];
    buffer.root = argument;
    if (argument.getArgNumber() < numInputs) {
      buffer.extents =
          llvm::to_vector(sizes->getExtents(argument.getArgNumber()));
      continue;
    }
    for (int64_t size : cast<MemRefType>(argument.getType()).getShape()) {
      Value planned = *extent++;
      buffer.extents.push_back(
          ShapedType::isDynamic(size)
              ? sizes->get(planned)
              : getAffineConstantExpr(size, program->context));
    }
  }
  return success();
}

LogicalResult BlockReader::addView(memref::ReinterpretCastOp op) {
  auto source = buffers.find(op.getSource());
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets();
  if (source == buffers.end() ||
      sizes->get(offsets.front()) != getAffineConstantExpr(0, program->context))
    return refuse(op, "expects a view of all of an array");
  Buffer view{source->second.root, {}};
  for (OpFoldResult size : op.getMixedSizes())
    view.extents.push_back(sizes->get(size));
  AffineExpr stride = getAffineConstantExpr(1, program->context);
  SmallVector<OpFoldResult> strides = op.getMixedStrides();
  auto dims = llvm::zip_equal(strides, view.extents);
  for (auto [given, extent] : llvm::reverse(dims)) {
    if (program->simplify(sizes->get(given) - stride) !=
        getAffineConstantExpr(0, program->context))
      return refuse(op, "expects a view of neighbours");
    stride = program->simplify(stride * extent);
  }
  buffers[op] = std::move(view);
  return success();
}

LogicalResult BlockReader::addBuffer(Operation &op) {
  if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
    if (!alloc.getSymbolOperands().empty() ||
        !alloc.getType().getLayout().isIdentity())
      return refuse(&op, "expects memory in the order of its indices");
    buffers[alloc] = {alloc,
                      getExtents(alloc.getType(), alloc.getDynamicSizes())};
    return success();
  }
  if (auto global = dyn_cast<memref::GetGlobalOp>(op)) {
    buffers[global] = {global, getExtents(global.getType(), {})};
    return success();
  }
  if (auto view = dyn_cast<memref::ReinterpretCastOp>(op))
    return addView(view);
  auto source =
      op.getNumOperands() ? buffers.find(op.getOperand(0)) : buffers.end();
  if (source == buffers.end())
    return refuse(&op, "expects views of arrays");
  Buffer view = source->second;
  auto type = cast<MemRefType>(op.getResult(0).getType());
  if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
    view.extents.clear();
    for (OpFoldResult size : expand.getMixedOutputShape())
      view.extents.push_back(sizes->get(size));
  } else if (auto collapse = dyn_cast<memref::CollapseShapeOp>(op)) {
    SmallVector<AffineExpr> extents;
    for (const ReassociationIndices &dims :
         collapse.getReassociationIndices()) {
      AffineExpr product = getAffineConstantExpr(1, program->context);
      for (int64_t dim : dims)
        product = product * view.extents[dim];
      extents.push_back(program->simplify(product));
    }
    view.extents = std::move(extents);
  }
  for (auto [extent, size] : llvm::zip_equal(view.extents, type.getShape()))
    if (!ShapedType::isDynamic(size))
      extent = getAffineConstantExpr(size, program->context);
  if (op.hasAttr(kOrderAttr))
    factsOf[view.root] = op.getDiscardableAttrDictionary();
  buffers[op.getResult(0)] = std::move(view);
  return success();
}

LogicalResult BlockReader::setWritten(Operation *op, Value memory) {
  auto buffer = buffers.find(memory);
  if (buffer == buffers.end())
    return refuse(op, "expects to write arrays");
  Value root = buffer->second.root;
  auto argument = dyn_cast<BlockArgument>(root);
  if (root.getDefiningOp<memref::GetGlobalOp>() ||
      (argument && argument.getArgNumber() < numInputs))
    return refuse(op, "expects inputs and constants to stay as they are");
  auto [known, isNew] = writtenAs.try_emplace(root, buffer->second.extents);
  if (!isNew && known->second != buffer->second.extents)
    return refuse(op, "expects memory to be written under one shape");
  return success();
}

LogicalResult BlockReader::findWritten() {
  for (Operation &op : block) {
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      if (failed(setWritten(&op, copy.getTarget())))
        return failure();
      continue;
    }
    auto call = dyn_cast<poly::CallOp>(op);
    if (!call)
      continue;
    auto kernel = symbols.lookupNearestSymbolFrom<poly::KernelOp>(
        call, call.getCalleeAttr());
    for (poly::ComputeOp compute : kernel.getComputes())
      for (Value array : compute.getWrites())
        if (auto argument = dyn_cast<BlockArgument>(array))
          if (failed(setWritten(&op,
                                call.getArguments()[argument.getArgNumber()])))
            return failure();
  }
  return success();
}

LogicalResult BlockReader::makeBase(Operation *user, Value root,
                                    ArrayRef<AffineExpr> extents) {
  auto type = cast<MemRefType>(root.getType());
  Array array{Array::Kind::Intermediate, root.getLoc()};
  array.elementType = type.getElementType();
  array.extents = llvm::to_vector(extents);
  DictionaryAttr facts = factsOf.lookup(root);
  if (auto argument = dyn_cast<BlockArgument>(root)) {
    unsigned number = argument.getArgNumber();
    array.rowMajor = true;
    if (number < numInputs) {
      array.kind = Array::Kind::Input;
      array.argument = number;
    } else if (Attribute order = main.getArgAttr(number, kOrderAttr)) {
      facts = DictionaryAttr::get(
          program->context,
          NamedAttribute(StringAttr::get(program->context, kOrderAttr), order));
    }
  } else if (!facts) {
    facts = root.getDefiningOp()->getDiscardableAttrDictionary();
  }
  if (auto get = root.getDefiningOp<memref::GetGlobalOp>()) {
    auto global = symbols.lookupNearestSymbolFrom<memref::GlobalOp>(
        get, get.getNameAttr());
    auto value = dyn_cast_or_null<ElementsAttr>(
        global.getInitialValue().value_or(Attribute()));
    if (!global.getConstant() || !value)
      return refuse(user, "expects constants of known value");
    array.kind = Array::Kind::Constant;
    array.constant = value;
  }
  if (facts)
    if (std::string fault = readAttributes(facts, array); !fault.empty()) {
      Operation *op = root.getDefiningOp();
      notRead = {op ? op : main, "expects " + fault, /*isError=*/true};
      return failure();
    }
  baseOf[root] = program->addArray(std::move(array));
  return success();
}

FailureOr<ArrayId> BlockReader::getArray(Operation *user, Value memory) {
  auto found = buffers.find(memory);
  if (found == buffers.end())
    return refuse(user, "expects arrays");
  const Buffer &buffer = found->second;
  auto base = baseOf.find(buffer.root);
  if (base == baseOf.end()) {
    auto written = writtenAs.find(buffer.root);
    if (failed(makeBase(user, buffer.root,
                        written == writtenAs.end()
                            ? buffers[buffer.root].extents
                            : written->second)))
      return failure();
    base = baseOf.find(buffer.root);
  }
  ArrayId number = base->second;
  if (program->arrays[number].extents == buffer.extents)
    return number;
  for (ArrayId view : viewsOf[buffer.root])
    if (program->arrays[view].extents == buffer.extents)
      return view;
  Array view{Array::Kind::Intermediate, memory.getLoc()};
  view.elementType = program->arrays[number].elementType;
  view.extents = buffer.extents;
  view.reshapeOf = number;
  view.rowMajor = program->arrays[number].rowMajor = true;
  if (program->arrays[number].layout)
    return refuse(user, "expects no views of memory in another layout");
  ArrayId added = program->addArray(std::move(view));
  viewsOf[buffer.root].push_back(added);
  return added;
}

LogicalResult BlockReader::addCall(poly::CallOp call) {
  auto kernel = symbols.lookupNearestSymbolFrom<poly::KernelOp>(
      call, call.getCalleeAttr());
  if (!kernel.isPrivate())
    return refuse(kernel, "expects private kernels");
  result.isOwn &= kernel->hasAttr(kSharedDimsAttr);
  SmallVector<std::optional<ArrayId>> arguments;
  SmallVector<AffineExpr> parameters;
  for (Value operand : call.getArguments()) {
    arguments.emplace_back();
    if (operand.getType().isIndex()) {
      parameters.push_back(sizes->get(operand));
    } else if (isa<MemRefType>(operand.getType())) {
      FailureOr<ArrayId> array = getArray(call, operand);
      if (failed(array))
        return failure();
      arguments.back() = *array;
    }
  }
  unsigned group = result.variant.fusionGroups.size() + 1;
  FailureOr<FusionGroup> fusionGroup =
      KernelReader(*program, kernel, arguments, parameters, group, notRead)
          .read();
  if (failed(fusionGroup))
    return failure();
  result.variant.fusionGroups.push_back(std::move(*fusionGroup));
  return success();
}

LogicalResult BlockReader::addCopy(memref::CopyOp copy) {
  FailureOr<ArrayId> source = getArray(copy, copy.getSource());
  FailureOr<ArrayId> target = getArray(copy, copy.getTarget());
  if (failed(source) || failed(target))
    return failure();
  if (program->arrays[*source].extents != program->arrays[*target].extents)
    return refuse(copy, "expects copies of equal extents");
  Statement move = makeStore(*program, *source, *target, copy.getLoc());
  result.variant.fusionGroups.push_back({{unsigned(program->statements.size())},
                                         unsigned(program->getRank(*target))});
  program->statements.push_back(std::move(move));
  return success();
}

LogicalResult BlockReader::addOperation(Operation &op) {
  if (auto call = dyn_cast<poly::CallOp>(op)) {
    result.operations.push_back(&op);
    return addCall(call);
  }
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    result.operations.push_back(&op);
    return addCopy(copy);
  }
  if (isa<memref::AllocOp, memref::GetGlobalOp, memref::ReinterpretCastOp,
          memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(op))
    result.operations.push_back(&op);
  else if (!isa<memref::DimOp, cf::AssertOp>(op) &&
           !op.hasTrait<OpTrait::IsTerminator>() &&
           (!isPure(&op) || op.getNumRegions() != 0 ||
            llvm::any_of(op.getOperandTypes(), llvm::IsaPred<MemRefType>)))
    return refuse(&op, "expects sizes, memory and calls of kernels");
  return success();
}

/// What is replaced must not be used by what stays.
LogicalResult BlockReader::checkUses() {
  llvm::DenseSet<Operation *> replaced(result.operations.begin(),
                                       result.operations.end());
  for (Operation *op : result.operations)
    for (Operation *user : op->getUsers())
      if (!replaced.contains(user))
        return refuse(user, "expects sizes of inputs only");
  return success();
}

LogicalResult BlockReader::checkOrder() {
  llvm::DenseSet<ArrayId> written;
  for (const FusionGroup &fusionGroup : result.variant.fusionGroups) {
    llvm::DenseSet<ArrayId> own;
    for (unsigned number : fusionGroup.statements)
      if (program->statements[number].recurrence)
        own.insert(program->statements[number].target);
    for (unsigned number : fusionGroup.statements) {
      const Statement &statement = program->statements[number];
      for (ArrayId read : getReads(statement)) {
        ArrayId base = program->getBase(read);
        if (program->arrays[base].kind == Array::Kind::Intermediate &&
            !written.contains(base) && !own.contains(base))
          return refuse(main,
                        "expects arrays to be written before they are read");
      }
      result.hasParts |= !written.insert(statement.target).second;
      result.hasOrders |= !statement.targetIndices.empty();
    }
  }
  for (BlockArgument argument : main.getArguments().drop_front(numInputs))
    if (!written.contains(baseOf.lookup(argument)))
      return refuse(main, "expects kernels that write all outputs");
  return success();
}

FailureOr<ReadBlock> BlockReader::run() {
  program = &result.variant.program;
  program->context = main.getContext();
  program->function = main;
  program->isInMemory = true;
  if (failed(addArguments()))
    return failure();
  for (Operation &op : block)
    if (isa<memref::AllocOp, memref::GetGlobalOp, memref::ReinterpretCastOp,
            memref::CastOp, memref::ExpandShapeOp, memref::CollapseShapeOp>(
            op) &&
        failed(addBuffer(op)))
      return failure();
  if (failed(findWritten()))
    return failure();
  for (BlockArgument argument : main.getArguments().take_front(numInputs))
    if (failed(getArray(main, argument)))
      return failure();
  for (Operation &op : block)
    if (failed(addOperation(op)))
      return failure();
  if (result.variant.fusionGroups.empty())
    return refuse(main, "expects calls of kernels");
  for (BlockArgument argument : main.getArguments().drop_front(numInputs)) {
    FailureOr<ArrayId> array = getArray(main, argument);
    if (failed(array))
      return failure();
    program->arrays[*array].outputs.push_back(argument.getArgNumber() -
                                              numInputs);
  }
  if (failed(checkUses()) || failed(checkOrder()))
    return failure();
  // What cannot be proved of what was read must not become an error later.
  ScopedDiagnosticHandler quiet(main.getContext(),
                                [](Diagnostic &) { return success(); });
  if (failed(verifyWritten(result.variant)))
    return refuse(main, "expects kernels that write what is read");
  return std::move(result);
}

FailureOr<ReadBlock> espalier::graphtopoly::readKernels(func::FuncOp main,
                                                        Block &block,
                                                        NotRead &notRead) {
  return BlockReader(main, block, notRead).run();
}
