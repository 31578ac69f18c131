//===- BuildStatements.cpp - From operators to statements -----------------===//
//
// Instantiates each operator's definition over the arrays of the program. One
// equation becomes a chain of statements: every reduction inside it is given an
// array of its own, so that what remains is a map.
//
//   R[i, j] = relu(sum(k) A[i, k] * B[k, j])
//
// becomes  S[i, j] (+)= A[i, k] * B[k, j];  R[i, j] = relu(S[i, j]).
//
//===----------------------------------------------------------------------===//

#include "StepLowering.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Dialect/Poly/IR/Origin.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

namespace {

class ProgramBuilder {
public:
  ProgramBuilder(func::FuncOp function, Block *variant) : variant(variant) {
    program.context = function.getContext();
    program.function = function;
  }

  FailureOr<StatementList> run();

private:
  LogicalResult addArguments();
  LogicalResult addOperations(Block &block);
  LogicalResult addOperation(Operation &op);
  LogicalResult addOperator(graph::DefinedOpInterface op);
  void addConstant(Value value, ElementsAttr attr);
  /// The array to return for `array`: a copy of it where its memory is not
  /// computed here, or is returned already.
  ArrayId getOutput(ArrayId array);
  LogicalResult addReshape(graph::ReshapeOp reshape);
  LogicalResult addCast(tensor::CastOp cast);
  /// The affine value of an index computation of the function.
  AffineExpr getIndex(Value value);
  /// Extents of `value`: static ones from its type, else `symbolic`.
  SmallVector<AffineExpr> getExtents(RankedTensorType type,
                                     llvm::function_ref<AffineExpr(unsigned)>);

  /// State of one operator's instantiation.
  struct Instance {
    const Definition *definition;
    SmallVector<ArrayId> operands, steps;
    SmallVector<AffineExpr> parameters;
    Location loc;
    /// The indices of each step that its array has dimensions for.
    SmallVector<SmallVector<unsigned>> dims = {};
  };
  ArrayId getArray(const Instance &instance, TensorRef tensor) {
    return tensor.isOperand() ? instance.operands[tensor.number]
                              : instance.steps[tensor.number];
  }
  /// Adds the array of step `number`.
  void addArray(Instance &instance, unsigned number, Location loc);
  /// Replaces the operator's tensors, sizes and parameters by the program's.
  Expr import(const Instance &instance, Expr expr);
  void addStep(Instance &instance, const Step &step, unsigned group);
  Instance makeInstance(graph::DefinedOpInterface op,
                        const Definition &definition);
  /// Checks what an operator requires of its operands.
  LogicalResult addRequirements(Operation *op, const Instance &instance);
  /// Checks that extents are those of a type of `op`, and gives it what the
  /// type knows.
  LogicalResult setExtents(Operation *op, RankedTensorType type,
                           MutableArrayRef<AffineExpr> extents);
  void setOrder(const Instance &instance, unsigned firstSum,
                ArrayRef<int64_t> order);

  StatementList program;
  Block *variant; ///< Taken in place of the choice that it is in, or null.
  llvm::DenseMap<Value, ArrayId> arrayOf;
  llvm::DenseMap<Value, AffineExpr> indexOf;
  llvm::StringMap<AffineExpr> namedExtents;
  llvm::DenseSet<ArrayId> returned;
  unsigned numGroups = 0;
};

SmallVector<AffineExpr>
ProgramBuilder::getExtents(RankedTensorType type,
                           llvm::function_ref<AffineExpr(unsigned)> symbolic) {
  SmallVector<AffineExpr> extents;
  for (auto [dim, extent] : llvm::enumerate(type.getShape()))
    extents.push_back(ShapedType::isDynamic(extent)
                          ? symbolic(dim)
                          : getAffineConstantExpr(extent, program.context));
  return extents;
}

LogicalResult ProgramBuilder::addArguments() {
  func::FuncOp function = program.function;
  for (auto [number, type] : llvm::enumerate(function.getResultTypes()))
    if (!isa<RankedTensorType>(type))
      return function.emitError("expects ranked tensors as results, but "
                                "result #")
             << number << " is " << type;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    unsigned number = argument.getArgNumber();
    if (!type)
      return function.emitError("expects ranked tensors as arguments, but "
                                "argument #")
             << number << " is " << argument.getType();
    auto names = function.getArgAttrOfType<ArrayAttr>(number, "espalier.dims");
    Array array{Array::Kind::Input, argument.getLoc()};
    array.argument = number;
    array.rowMajor = true;
    array.elementType = type.getElementType();
    array.extents = getExtents(type, [&](unsigned dim) {
      StringRef name;
      if (names && dim < names.size())
        if (auto attr = dyn_cast<StringAttr>(names[dim]))
          name = attr.getValue();
      if (name.empty())
        return program.addSymbol({number, dim});
      AffineExpr &known = namedExtents[name];
      if (!known)
        known = program.addSymbol({number, dim});
      return known;
    });
    arrayOf[argument] = program.addArray(std::move(array));
  }
  return success();
}

AffineExpr ProgramBuilder::getIndex(Value value) {
  if (AffineExpr known = indexOf.lookup(value))
    return known;
  AffineExpr result;
  APInt number;
  Operation *op = value.getDefiningOp();
  auto binary = [&](auto combine) {
    return combine(getIndex(op->getOperand(0)), getIndex(op->getOperand(1)));
  };
  if (matchPattern(value, m_ConstantInt(&number)))
    result = getAffineConstantExpr(number.getSExtValue(), program.context);
  else if (auto dim = dyn_cast_or_null<tensor::DimOp>(op)) {
    auto array = arrayOf.find(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    if (array != arrayOf.end() && index)
      result = program.arrays[array->second].extents[*index];
  } else if (isa_and_nonnull<arith::AddIOp>(op))
    result = binary([](AffineExpr a, AffineExpr b) { return a + b; });
  else if (isa_and_nonnull<arith::SubIOp>(op))
    result = binary([](AffineExpr a, AffineExpr b) { return a - b; });
  else if (isa_and_nonnull<arith::MulIOp>(op))
    result = binary([](AffineExpr a, AffineExpr b) { return a * b; });
  else if (isa_and_nonnull<arith::FloorDivSIOp, arith::DivUIOp>(op))
    result = binary([](AffineExpr a, AffineExpr b) { return a.floorDiv(b); });
  else if (isa_and_nonnull<arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    result = binary([](AffineExpr a, AffineExpr b) { return a.ceilDiv(b); });
  else if (isa_and_nonnull<arith::IndexCastOp>(op))
    result = getIndex(op->getOperand(0));
  if (!result)
    result = program.addSymbol({0, 0, value});
  result = program.simplify(result);
  return indexOf[value] = result;
}

void ProgramBuilder::addConstant(Value value, ElementsAttr attr) {
  auto type = cast<RankedTensorType>(attr.getType());
  Array array{Array::Kind::Constant, value.getLoc()};
  array.elementType = type.getElementType();
  for (int64_t extent : type.getShape())
    array.extents.push_back(getAffineConstantExpr(extent, program.context));
  array.constant = attr;
  arrayOf[value] = program.addArray(std::move(array));
}

ArrayId ProgramBuilder::getOutput(ArrayId array) {
  ArrayId base = array;
  while (program.arrays[base].reshapeOf)
    base = *program.arrays[base].reshapeOf;
  if (program.arrays[base].kind == Array::Kind::Intermediate &&
      returned.insert(base).second)
    return array;
  Array copy{Array::Kind::Intermediate, program.arrays[array].loc};
  copy.elementType = program.arrays[array].elementType;
  copy.extents = program.arrays[array].extents;
  SmallVector<Expr> indices;
  for (unsigned dim = 0; dim < copy.extents.size(); ++dim)
    indices.push_back(variable(dim, program.context));
  Statement statement{0, copy.loc, copy.extents, {}, std::nullopt, std::nullopt,
                      0};
  statement.pieces.push_back(
      {{}, access(TensorRef::operand(array), indices, copy.elementType)});
  statement.target = program.addArray(std::move(copy));
  ArrayId target = statement.target;
  program.statements.push_back(std::move(statement));
  return target;
}

LogicalResult ProgramBuilder::addReshape(graph::ReshapeOp reshape) {
  Definition definition = reshape.getVerifiedDefinition();
  if (failed(addRequirements(reshape, makeInstance(reshape, definition))))
    return failure();
  ArrayId source = arrayOf.lookup(reshape.getX());
  Array array{Array::Kind::Intermediate, reshape.getLoc()};
  array.elementType = program.arrays[source].elementType;
  auto sizes = reshape.getSizes();
  for (int64_t size : reshape.getStaticSizes()) {
    array.extents.push_back(ShapedType::isDynamic(size)
                                ? getIndex(sizes.front())
                                : getAffineConstantExpr(size, program.context));
    if (ShapedType::isDynamic(size))
      sizes = sizes.drop_front();
  }
  if (failed(setExtents(reshape, reshape.getType(), array.extents)))
    return failure();
  array.reshapeOf = source;
  array.rowMajor = true;
  program.arrays[source].rowMajor = true;
  arrayOf[reshape.getResult()] = program.addArray(std::move(array));
  return success();
}

LogicalResult ProgramBuilder::addCast(tensor::CastOp cast) {
  ArrayId array = arrayOf.lookup(cast.getSource());
  arrayOf[cast.getResult()] = array;
  SmallVector<AffineExpr> extents = program.arrays[array].extents;
  return setExtents(cast, mlir::cast<RankedTensorType>(cast.getType()),
                    extents);
}

/// In an operator whose points come in levels, these are the rows of products;
/// what has a single value is no row beside them, so arrays have no dimension
/// for it unless somebody else sees them.
void ProgramBuilder::addArray(Instance &instance, unsigned number,
                              Location loc) {
  const Definition &definition = *instance.definition;
  const Step &step = definition.steps[number];
  bool hasAll = llvm::is_contained(definition.results, number) ||
                llvm::none_of(definition.steps, [](const Step &other) {
                  return other.levels.has_value();
                });
  Array array{Array::Kind::Intermediate, loc};
  array.elementType = step.elementType;
  SmallVector<unsigned> &dims = instance.dims.emplace_back();
  for (auto [dim, var] : llvm::enumerate(step.indices)) {
    AffineExpr extent = program.addExtent(import(instance, var.extent));
    if (!hasAll && dim != step.recurrence &&
        extent == getAffineConstantExpr(1, program.context))
      continue;
    dims.push_back(dim);
    array.extents.push_back(extent);
  }
  instance.steps.push_back(program.addArray(std::move(array)));
}

Expr ProgramBuilder::import(const Instance &instance, Expr expr) {
  return transform(expr, [&](Expr e) -> Expr {
    switch (e.getKind()) {
    case Expr::Kind::Size: {
      TensorRef tensor = e.getTensor();
      unsigned dim = e.getNumber();
      if (!tensor.isOperand()) {
        ArrayRef<unsigned> dims = instance.dims[tensor.number];
        dim = llvm::find(dims, dim) - dims.begin();
        if (dim == dims.size())
          return constant(int64_t(1));
      }
      return program.expression(
          program.arrays[getArray(instance, tensor)].extents[dim]);
    }
    case Expr::Kind::Parameter:
      return program.expression(instance.parameters[e.getNumber()]);
    case Expr::Kind::Access: {
      TensorRef tensor = e.getTensor();
      SmallVector<Expr> indices(e.getOperands());
      if (!tensor.isOperand())
        indices = llvm::map_to_vector(
            instance.dims[tensor.number],
            [&](unsigned dim) { return e.getOperands()[dim]; });
      return access(TensorRef::operand(getArray(instance, tensor)), indices,
                    e.getType());
    }
    default:
      return {};
    }
  });
}

void ProgramBuilder::addStep(Instance &instance, const Step &step,
                             unsigned group) {
  StepLowering lowering(program, instance.loc);
  SmallVector<VarId> vars;
  unsigned number = &step - instance.definition->steps.begin();
  ArrayId target = instance.steps[number];
  for (auto [dim, extent] :
       llvm::zip_equal(instance.dims[number], program.arrays[target].extents)) {
    const IndexVar &var = step.indices[dim];
    lowering.declare({var.id, var.name, program.expression(extent)});
    vars.push_back(var.id);
  }
  // Others have no value but the first.
  Expr value = transform(import(instance, step.value), [&](Expr e) -> Expr {
    auto isOther = [&](const IndexVar &var) {
      return var.id == e.getVariable() && !llvm::is_contained(vars, var.id);
    };
    return e.getKind() == Expr::Kind::Variable &&
                   llvm::any_of(step.indices, isOther)
               ? constant(int64_t(0))
               : Expr();
  });
  if (step.recurrence) {
    lowering.recurrenceVar = step.indices[*step.recurrence].id;
    lowering.recurrenceGroup = group;
    if (step.levels)
      lowering.levels = instance.operands[*step.levels];
  }
  value = lowering.extractReductions(value);
  if (value.getType() != step.elementType)
    value = cast(step.elementType, value);
  lowering.addStatement(target, vars, value, std::nullopt, {});
}

ProgramBuilder::Instance
ProgramBuilder::makeInstance(graph::DefinedOpInterface op,
                             const Definition &definition) {
  Instance instance{&definition, {}, {}, {}, poly::getOrigin(op)};
  for (Value operand : op->getOperands()) {
    if (isa<RankedTensorType>(operand.getType()))
      instance.operands.push_back(arrayOf.lookup(operand));
    else
      instance.parameters.push_back(getIndex(operand));
  }
  return instance;
}

LogicalResult ProgramBuilder::addRequirements(Operation *op,
                                              const Instance &instance) {
  auto getSize = [&](Expr size) {
    return program.addExtent(import(instance, size));
  };
  for (const Requirement &requirement : instance.definition->requirements) {
    Check check{op->getLoc(), requirement.kind, getSize(requirement.value),
                getSize(requirement.bound)};
    for (Expr exception : requirement.exceptions)
      check.exceptions.push_back(getSize(exception));
    if (failed(addCheck(program, op, std::move(check), requirement.rule)))
      return failure();
  }
  return success();
}

LogicalResult ProgramBuilder::setExtents(Operation *op, RankedTensorType type,
                                         MutableArrayRef<AffineExpr> extents) {
  for (auto [dim, number] : llvm::enumerate(type.getShape())) {
    bool isStatic = !ShapedType::isDynamic(number);
    AffineExpr bound =
        getAffineConstantExpr(isStatic ? number : 0, program.context);
    // What would be negative is empty, if the type says so.
    auto kind = !isStatic     ? Requirement::Kind::AtLeast
                : number == 0 ? Requirement::Kind::AtMost
                              : Requirement::Kind::Equal;
    std::string rule = "a result ";
    llvm::raw_string_ostream os(rule);
    if (isStatic)
      os << "of type " << type;
    else
      os << "without negative extents";
    if (failed(addCheck(program, op, {op->getLoc(), kind, extents[dim], bound},
                        rule)))
      return failure();
    if (isStatic)
      extents[dim] = bound;
  }
  return success();
}

LogicalResult ProgramBuilder::addOperator(graph::DefinedOpInterface op) {
  Definition definition = op.getVerifiedDefinition();
  Instance instance = makeInstance(op, definition);
  if (failed(addRequirements(op, instance)))
    return failure();
  // The arrays come first: a recurrence refers to steps that follow.
  for (unsigned number = 0; number < definition.steps.size(); ++number)
    addArray(instance, number, op->getLoc());
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    ArrayId array = instance.steps[definition.results[number]];
    if (failed(setExtents(op, cast<RankedTensorType>(result.getType()),
                          program.arrays[array].extents)))
      return failure();
    arrayOf[result] = array;
  }
  unsigned group = ++numGroups;
  unsigned firstSum = program.arrays.size();
  for (const Step &step : definition.steps)
    addStep(instance, step, group);
  if (auto layout = op->getAttrOfType<DenseI64ArrayAttr>(
          graph::GraphDialect::getLayoutAttrName()))
    setOrder(instance, firstSum, layout.asArrayRef());
  return success();
}

/// Asks for an order of the result and of what it is computed from that has the
/// same dimensions.
void ProgramBuilder::setOrder(const Instance &instance, unsigned firstSum,
                              ArrayRef<int64_t> order) {
  auto set = [&](Array &array) {
    if (array.extents.size() == order.size())
      array.order.assign(order.begin(), order.end());
  };
  for (ArrayId step : instance.steps)
    set(program.arrays[step]);
  for (ArrayId sum = firstSum; sum < program.arrays.size(); ++sum)
    set(program.arrays[sum]);
}

LogicalResult ProgramBuilder::addOperation(Operation &op) {
  ElementsAttr constant;
  if (auto ret = dyn_cast<func::ReturnOp>(op)) {
    for (auto [number, value] : llvm::enumerate(ret.getOperands())) {
      ArrayId array = getOutput(arrayOf.lookup(value));
      program.arrays[array].outputs.push_back(number);
      program.arrays[array].rowMajor = true;
    }
  } else if (variant && variant->getParentOp() == &op) {
    if (failed(addOperations(*variant)))
      return failure();
    for (auto [result, value] : llvm::zip_equal(
             op.getResults(), variant->getTerminator()->getOperands()))
      arrayOf[result] = arrayOf.lookup(value);
  } else if (op.getNumResults() == 1 &&
             isa<RankedTensorType>(op.getResult(0).getType()) &&
             matchPattern(op.getResult(0), m_Constant(&constant))) {
    addConstant(op.getResult(0), constant);
    Array &array = program.arrays[arrayOf[op.getResult(0)]];
    array.mayStayDense = op.hasAttr(poly::kMayStayDenseAttr);
    std::string fault =
        poly::readEntryFormat(op.getAttr(poly::kEntriesAttr), array.format);
    if (!fault.empty())
      return op.emitError("expects poly.entries to be ") << fault;
  } else if (auto reshape = dyn_cast<graph::ReshapeOp>(op))
    return addReshape(reshape);
  else if (auto defined = dyn_cast<graph::DefinedOpInterface>(op))
    return addOperator(defined);
  else if (auto cast = dyn_cast<tensor::CastOp>(op))
    return addCast(cast);
  else if (op.getNumRegions() != 0 ||
           !llvm::all_of(op.getResultTypes(),
                         llvm::IsaPred<IndexType, IntegerType>))
    return op.emitError("expects only operators of the graph dialect and "
                        "index arithmetic, but got '")
           << op.getName() << "'";
  return success();
}

LogicalResult ProgramBuilder::addOperations(Block &block) {
  for (Operation &op : block)
    if (!isa<scf::YieldOp>(op) && failed(addOperation(op)))
      return failure();
  return success();
}

FailureOr<StatementList> ProgramBuilder::run() {
  if (failed(addArguments()) ||
      failed(addOperations(program.function.getBody().front())))
    return failure();
  return std::move(program);
}

} // namespace

FailureOr<StatementList>
espalier::graphtopoly::buildStatements(func::FuncOp function, Block *variant) {
  return ProgramBuilder(function, variant).run();
}
