//===- EmitFunction.cpp - The function that calls the kernels -------------===//

#include "../PackConstant.h"
#include "../StepAttributes.h"
#include "EmitExpr.h"
#include "KernelEmitter.h"
#include "espalier/Conversion/LoopsToProgram/ProgramBuilder.h"
#include "espalier/Dialect/Poly/IR/Origin.h"
#include "espalier/Support/AffineArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;

namespace {

/// Emits the values of symbols and of affine expressions over them.
class SizeEmitter {
public:
  SizeEmitter(const StatementList &program, OpBuilder &builder, Location loc,
              std::function<Value(unsigned argument, unsigned dim)> extent)
      : program(program), builder(builder), loc(loc),
        extent(std::move(extent)) {}

  Value emit(AffineExpr expr) {
    Value &known = emitted[expr];
    if (known)
      return known;
    Value value = emitNode(expr);
    return emitted[expr] = value;
  }

  Value emit(const SizeParameters::Parameter &parameter) {
    Value value = emit(parameter.expr);
    if (!parameter.mayBeNegative)
      return value;
    return arith::MaxSIOp::create(
        builder, loc, value, emit(getAffineConstantExpr(0, program.context)));
  }

  /// Copies the computation of an index value of the original function; null if
  /// it depends on elements of tensors.
  Value clone(Value value) {
    if (program.isInMemory)
      return value;
    if (Value known = cloned.lookup(value))
      return known;
    Operation *op = value.getDefiningOp();
    Value result;
    if (auto dim = dyn_cast_or_null<tensor::DimOp>(op)) {
      auto argument = dyn_cast<BlockArgument>(dim.getSource());
      std::optional<int64_t> index = dim.getConstantIndex();
      if (argument && index)
        result = extent(argument.getArgNumber(), *index);
    } else if (op && op->getNumRegions() == 0 && isPure(op)) {
      IRMapping mapping;
      for (Value operand : op->getOperands()) {
        Value copy = clone(operand);
        if (!copy)
          return {};
        mapping.map(operand, copy);
      }
      result = builder.clone(*op, mapping)
                   ->getResult(cast<OpResult>(value).getResultNumber());
    }
    return cloned[value] = result;
  }

private:
  Value emitNode(AffineExpr expr) {
    if (auto number = dyn_cast<AffineConstantExpr>(expr))
      return arith::ConstantIndexOp::create(builder, loc, number.getValue());
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
      const Symbol &source = program.symbols[symbol.getPosition()];
      if (source.expr)
        return emitExpr(builder, loc, source.expr, [&](definition::Expr leaf) {
          return emit(getAffineSymbolExpr(leaf.getNumber(), program.context));
        });
      return source.value ? clone(source.value)
                          : extent(source.argument, source.dim);
    }
    auto binary = cast<AffineBinaryOpExpr>(expr);
    Value lhs = emit(binary.getLHS()), rhs = emit(binary.getRHS());
    return emitAffineOperation(builder, loc, expr.getKind(), lhs, rhs);
  }

  const StatementList &program;
  OpBuilder &builder;
  Location loc;
  std::function<Value(unsigned, unsigned)> extent;
  llvm::DenseMap<AffineExpr, Value> emitted;
  llvm::DenseMap<Value, Value> cloned;
};

/// What the versions of a function have in common.
struct Shared {
  Form form;
  func::FuncOp main;
  unsigned numInputs;
  llvm::StringSet<> names; ///< Of symbols that others have.
  unsigned numKernels = 0;
  unsigned numGlobals = 0;

  Shared(Form form, func::FuncOp main, unsigned numInputs)
      : form(form), main(main), numInputs(numInputs) {
    for (auto symbol :
         main->getParentOfType<ModuleOp>().getOps<SymbolOpInterface>())
      names.insert(symbol.getName());
  }
  /// A name that nobody has: `stem` and a number from `next` on.
  std::string makeName(StringRef stem, unsigned &next) {
    while (true) {
      std::string name = (stem + Twine(next++)).str();
      if (names.insert(name).second)
        return name;
    }
  }
};

/// Emits one version of a function.
class VariantEmitter {
public:
  VariantEmitter(DispatchVariant &variant, Shared &shared)
      : program(variant.program), fusionGroups(variant.fusionGroups),
        shared(shared), main(shared.main),
        module(main->getParentOfType<ModuleOp>()), builder(main) {
    outputs.resize(main.getNumArguments() - shared.numInputs);
    for (auto [number, array] : llvm::enumerate(program.arrays))
      for (unsigned output : array.outputs)
        outputs[output] = number;
    if (shared.form == Form::Attributes)
      for (Array &array : program.arrays)
        facts.push_back(takeAttributes(program, array));
  }

  /// Calls the kernels.
  LogicalResult emitCalls(OpBuilder &b);
  /// Makes the function that computes the extents of outputs.
  void makePlan(const ProgramBuilder &functions);

private:
  void emitCheck(OpBuilder &b, SizeEmitter &sizes, const Check &check);
  Value getBuffer(OpBuilder &b, SizeEmitter &sizes, ArrayId array);
  Value makeBuffer(OpBuilder &b, SizeEmitter &sizes, ArrayId array);
  /// What the caller's memory for output `number` must be known for.
  void describeOutput(unsigned number);
  Value reshape(OpBuilder &b, SizeEmitter &sizes, Value buffer, ArrayId to);
  ArrayRef<AffineExpr> getResultExtents(unsigned number) const;

  StatementList &program;
  ArrayRef<FusionGroup> fusionGroups;
  Shared &shared;
  func::FuncOp main;
  ModuleOp module;
  OpBuilder builder;
  llvm::DenseMap<ArrayId, Value> buffers;
  /// The attributes of each array, in `Form::Attributes`.
  SmallVector<DictionaryAttr> facts;
  /// The array that each output of the function is.
  SmallVector<ArrayId> outputs;
  bool lacksMemory = false;
};

Value VariantEmitter::reshape(OpBuilder &b, SizeEmitter &sizes, Value buffer,
                              ArrayId to) {
  const Array &array = program.arrays[to];
  MemRefType type = getMemRefType(array);
  if (buffer.getType() == type)
    return buffer;
  Location loc = array.loc;
  SmallVector<OpFoldResult> shape, strides(type.getRank());
  AffineExpr stride = getAffineConstantExpr(1, program.context);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    auto number = dyn_cast<AffineConstantExpr>(stride);
    strides[dim] = number ? OpFoldResult(b.getIndexAttr(number.getValue()))
                          : OpFoldResult(sizes.emit(stride));
    stride = stride * array.extents[dim];
  }
  for (AffineExpr extent : array.extents) {
    auto number = dyn_cast<AffineConstantExpr>(extent);
    shape.push_back(number ? OpFoldResult(b.getIndexAttr(number.getValue()))
                           : OpFoldResult(sizes.emit(extent)));
  }
  auto strided = MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(
          b.getContext(), 0, llvm::map_to_vector(strides, [](OpFoldResult s) {
            return getConstantIntValue(s).value_or(ShapedType::kDynamic);
          })));
  Value view = memref::ReinterpretCastOp::create(
      b, loc, strided, buffer, OpFoldResult(b.getIndexAttr(0)), shape, strides);
  // Row-major by construction; the kernels' types say so.
  return memref::CastOp::create(b, loc, type, view);
}

Value VariantEmitter::makeBuffer(OpBuilder &b, SizeEmitter &sizes,
                                 ArrayId number) {
  const Array &array = program.arrays[number];
  SmallVector<AffineExpr> extents;
  MemRefType type = getMemRefType(array, &extents);
  if (array.kind == Array::Kind::Constant) {
    std::string name = shared.makeName("constant_", shared.numGlobals);
    ElementsAttr value =
        packConstant(array.constant, array.layout, type.getShape());
    if (!value) {
      emitError(array.loc, "expects memory for the values of a constant of ")
          << type << ", but got none";
      lacksMemory = true;
    }
    OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
    memref::GlobalOp::create(top, array.loc, name, b.getStringAttr("private"),
                             type, value ? Attribute(value) : b.getUnitAttr(),
                             /*constant=*/true, b.getI64IntegerAttr(64));
    auto global = memref::GetGlobalOp::create(b, array.loc, type, name);
    if (!facts.empty())
      global->setDiscardableAttrs(facts[number]);
    return global;
  }
  // A kernel writes an output, or any other view of it, where the caller wants
  // it.
  for (auto [output, of] : llvm::enumerate(outputs))
    if (program.getBase(of) == number) {
      Value argument = main.getArgument(shared.numInputs + output);
      Value view = reshape(b, sizes, argument, number);
      if (!facts.empty() && view != argument)
        view.getDefiningOp()->setDiscardableAttrs(facts[number]);
      return view;
    }
  SmallVector<Value> operands;
  for (AffineExpr extent : extents)
    operands.push_back(sizes.emit(extent));
  auto alloc = memref::AllocOp::create(b, array.loc, type, operands,
                                       b.getI64IntegerAttr(64));
  if (!facts.empty())
    alloc->setDiscardableAttrs(facts[number]);
  return alloc;
}

Value VariantEmitter::getBuffer(OpBuilder &b, SizeEmitter &sizes,
                                ArrayId array) {
  if (Value known = buffers.lookup(array))
    return known;
  Value buffer;
  if (std::optional<ArrayId> source = program.arrays[array].reshapeOf)
    buffer = reshape(b, sizes, getBuffer(b, sizes, *source), array);
  else if (program.arrays[array].kind == Array::Kind::Input) {
    // The function's type may know less than the symbols do.
    buffer = main.getArgument(program.arrays[array].argument);
    MemRefType type = getMemRefType(program.arrays[array]);
    if (buffer.getType() != type)
      buffer =
          memref::CastOp::create(b, program.arrays[array].loc, type, buffer);
  } else
    buffer = makeBuffer(b, sizes, array);
  return buffers[array] = buffer;
}

void VariantEmitter::makePlan(const ProgramBuilder &functions) {
  Location loc = main.getLoc();
  builder.setInsertionPointAfter(main);
  func::FuncOp plan = functions.makePlan(builder);
  OpBuilder b = OpBuilder::atBlockEnd(&plan.getBody().front());
  SizeEmitter sizes(program, b, loc,
                    [&](unsigned argument, unsigned dim) -> Value {
                      return functions.getExtent(plan, argument, dim);
                    });
  SmallVector<Value> values;
  for (ArrayId output : outputs)
    for (AffineExpr extent : program.arrays[output].extents)
      values.push_back(sizes.emit(extent));
  func::ReturnOp::create(b, loc, values);
}

/// Planning memory moves the assertions to the plan, which is made first.
void VariantEmitter::emitCheck(OpBuilder &b, SizeEmitter &sizes,
                               const Check &check) {
  using Kind = definition::Requirement::Kind;
  auto compare = [&](arith::CmpIPredicate predicate, AffineExpr lhs,
                     AffineExpr rhs) -> Value {
    return arith::CmpIOp::create(b, check.loc, predicate, sizes.emit(lhs),
                                 sizes.emit(rhs));
  };
  Value holds =
      compare(check.kind == Kind::Equal    ? arith::CmpIPredicate::eq
              : check.kind == Kind::AtMost ? arith::CmpIPredicate::sle
                                           : arith::CmpIPredicate::sge,
              check.value, check.bound);
  for (AffineExpr exception : check.exceptions) {
    Value isEmpty = compare(arith::CmpIPredicate::sle, exception,
                            getAffineConstantExpr(0, program.context));
    holds = arith::OrIOp::create(b, check.loc, holds, isEmpty);
  }
  cf::AssertOp::create(b, check.loc, holds, check.message);
}

/// The order of what is returned is asked for, whoever computes it.
void VariantEmitter::describeOutput(unsigned number) {
  unsigned argument = shared.numInputs + number;
  if (facts.empty())
    main.removeArgAttr(argument, kOrderAttr);
  else if (Attribute order = facts[outputs[number]].get(kOrderAttr);
           order && !program.arrays[outputs[number]].reshapeOf)
    main.setArgAttr(argument, kOrderAttr, order);
}

LogicalResult VariantEmitter::emitCalls(OpBuilder &b) {
  func::FuncOp original = program.function;
  llvm::DenseSet<ArrayId> escaping = findEscaping(program, fusionGroups);
  SizeEmitter sizes(program, b, original.getLoc(),
                    [&](unsigned argument, unsigned dim) -> Value {
                      return memref::DimOp::create(b, original.getLoc(),
                                                   main.getArgument(argument),
                                                   dim);
                    });
  for (const Symbol &symbol : program.symbols)
    if (symbol.value && !sizes.clone(symbol.value)) {
      InFlightDiagnostic diag =
          original.emitError("expects sizes that follow from the sizes of the "
                             "inputs, but one depends on data");
      diag.attachNote(symbol.value.getLoc()) << "this value does";
      return diag;
    }
  for (const Check &check : program.checks)
    emitCheck(b, sizes, check);
  SizeParameters::Extents extents = SizeParameters::collectExtents(program);
  for (const FusionGroup &fusionGroup : fusionGroups) {
    bool isAlwaysRun = b.getBlock()->getParentOp() == main;
    KernelEmitter emitter(program, fusionGroup, escaping, extents, facts,
                          isAlwaysRun);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(main);
    emitter.emit(builder, shared.makeName("kernel_", shared.numKernels));
    SmallVector<Value> operands;
    for (ArrayId array : emitter.arguments)
      operands.push_back(getBuffer(b, sizes, array));
    for (const SizeParameters::Parameter &parameter : emitter.getParameters())
      operands.push_back(sizes.emit(parameter));
    // Equal kernels become one, calls keep what they are for.
    SmallVector<Location> sources;
    for (unsigned number : fusionGroup.statements)
      sources.push_back(poly::getSource(program.statements[number].loc));
    poly::CallOp::create(b, FusedLoc::get(program.context, sources),
                         emitter.kernel, operands);
  }
  for (unsigned number = 0; number < outputs.size(); ++number)
    describeOutput(number);
  return failure(lacksMemory);
}

} // namespace

LogicalResult
espalier::graphtopoly::emitKernels(MutableArrayRef<DispatchVariant> variants,
                                   scf::IfOp choice) {
  func::FuncOp original = variants.front().program.function;
  Location loc = original.getLoc();
  OpBuilder builder(original);
  ProgramBuilder functions(original);
  Shared shared(Form::Attributes, functions.makeMain(builder),
                original.getNumArguments());
  std::vector<VariantEmitter> emitters;
  for (DispatchVariant &variant : variants)
    emitters.emplace_back(variant, shared);
  OpBuilder b = OpBuilder::atBlockEnd(&shared.main.getBody().front());
  if (choice) {
    SizeEmitter sizes(variants.front().program, b, loc,
                      [&](unsigned argument, unsigned dim) -> Value {
                        return memref::DimOp::create(
                            b, loc, shared.main.getArgument(argument), dim);
                      });
    Value condition = sizes.clone(choice.getCondition());
    if (!condition)
      return choice.emitError("expects a condition that follows from the sizes "
                              "of the inputs");
    auto branches = scf::IfOp::create(b, choice.getLoc(), condition,
                                      /*withElseRegion=*/true);
    OpBuilder first = branches.getThenBodyBuilder();
    OpBuilder second = branches.getElseBodyBuilder();
    if (failed(emitters.front().emitCalls(first)) ||
        failed(emitters.back().emitCalls(second)))
      return failure();
  } else if (failed(emitters.front().emitCalls(b))) {
    return failure();
  }
  func::ReturnOp::create(b, loc);
  // The second version is the one that is right for all sizes.
  emitters.back().makePlan(functions);
  original.erase();
  return success();
}

LogicalResult
espalier::graphtopoly::emitKernels(MutableArrayRef<DispatchVariant> variants,
                                   func::FuncOp main, ArrayRef<Block *> blocks,
                                   Form form) {
  Shared shared(form, main,
                main->getAttrOfType<IntegerAttr>(kNumInputsAttr).getInt());
  for (auto [variant, block] : llvm::zip_equal(variants, blocks)) {
    OpBuilder b(block->getTerminator());
    if (failed(VariantEmitter(variant, shared).emitCalls(b)))
      return failure();
  }
  return success();
}
