//===- AddMain.cpp - Makes a program of a module that is one kernel -------===//

#include "espalier/Conversion/LoopsToProgram/ProgramBuilder.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/Analysis/Accesses.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Polyhedral/Ast.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringMap.h"

namespace espalier {
#define GEN_PASS_DEF_POLYADDMAINPASS
#include "espalier/Conversion/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

namespace {
/// Builds the two functions of the program that a kernel is.
class MainBuilder {
public:
  explicit MainBuilder(poly::KernelOp kernel)
      : kernel(kernel), builder(kernel.getContext()), loc(kernel.getLoc()),
        functions(loc, kMainName) {
    builder.setInsertionPointAfter(kernel);
    for (poly::ComputeOp compute : kernel.getComputes())
      for (const poly::ComputeAccess &write : compute.getWriteAccesses())
        written.insert(write.array);
  }

  LogicalResult run();

private:
  /// An argument of @main and where it comes from: a size has no argument of
  /// the kernel if it is an extent that only the caller knows.
  struct Argument {
    std::string name;
    MemRefType type;
    std::optional<unsigned> source;
    SmallVector<Attribute> dims;
    bool isSize = false;
  };

  AffineMap getShape(unsigned argument);
  /// What callers have to know of an argument.
  DictionaryAttr describe(const Argument &argument);
  /// What is known of the values of the kernel's argument `source`.
  void addProperties(unsigned source, NamedAttrList &attrs);
  void addSize(const std::string &name, std::optional<unsigned> source);
  void addArgument(unsigned argument);
  void collectArguments();
  void buildMain();
  void buildPlan(ArrayRef<poly::ForbiddenSizes> forbidden);
  SmallVector<AffineExpr> getDivisors();
  void checkParameters(OpBuilder &b, ValueRange parameters);
  void checkAccesses(OpBuilder &b, func::FuncOp plan, ValueRange parameters,
                     ArrayRef<poly::ForbiddenSizes> forbidden);
  Value getUnstatedExtent(func::FuncOp plan, poly::UnstatedExtent extent);

  poly::KernelOp kernel;
  OpBuilder builder;
  Location loc;
  llvm::SmallPtrSet<Value, 8> written;
  SmallVector<Argument> arguments;
  ProgramBuilder functions;
};
} // namespace

/// The extents in terms of the kernel's parameters, or null.
AffineMap MainBuilder::getShape(unsigned argument) {
  auto shape = kernel.getArgAttrOfType<AffineMapAttr>(
      argument, poly::KernelOp::getShapeAttrName());
  return shape ? shape.getValue() : AffineMap();
}

void MainBuilder::addProperties(unsigned source, NamedAttrList &attrs) {
  if (Attribute dtype = kernel.getArgAttr(source, kDtypeAttr))
    attrs.set(kDtypeAttr, dtype);
  if (kernel.getArgAttr(source, poly::KernelOp::getMonotonicAttrName()))
    attrs.set(kMonotonicAttr, builder.getUnitAttr());
  auto bound = kernel.getArgAttrOfType<AffineMapAttr>(
      source, poly::KernelOp::getBoundAttrName());
  if (!bound)
    return;
  AffineExpr value = bound.getValue().getResult(0);
  auto getName = [&](AffineExpr symbol) {
    unsigned position = cast<AffineSymbolExpr>(symbol).getPosition();
    return builder.getStringAttr(kernel.getArgumentName(
        kernel.getParameters()[position].getArgNumber()));
  };
  Attribute attr;
  if (auto constant = dyn_cast<AffineConstantExpr>(value)) {
    attr = builder.getI64IntegerAttr(constant.getValue());
  } else if (auto sum = dyn_cast<AffineBinaryOpExpr>(value)) {
    auto offset = cast<AffineConstantExpr>(sum.getRHS());
    attr = builder.getArrayAttr(
        {getName(sum.getLHS()), builder.getI64IntegerAttr(offset.getValue())});
  } else {
    attr = getName(value);
  }
  attrs.set(kBoundAttr, attr);
  if (kernel.getArgAttr(source, poly::KernelOp::getInjectiveAttrName()))
    attrs.set(kInjectiveAttr, builder.getUnitAttr());
}

DictionaryAttr MainBuilder::describe(const Argument &argument) {
  NamedAttrList attrs;
  attrs.set(kNameAttr, builder.getStringAttr(argument.name));
  attrs.set(kDimsAttr, builder.getArrayAttr(argument.dims));
  if (argument.source)
    addProperties(*argument.source, attrs);
  return attrs.getDictionary(builder.getContext());
}

void MainBuilder::addSize(const std::string &name,
                          std::optional<unsigned> source) {
  auto type =
      MemRefType::get({ShapedType::kDynamic, 0}, builder.getIntegerType(8));
  arguments.push_back({name,
                       type,
                       source,
                       {builder.getStringAttr(name), builder.getStringAttr("")},
                       /*isSize=*/true});
}

void MainBuilder::addArgument(unsigned number) {
  Type type = kernel.getArgumentTypes()[number];
  if (type.isIndex())
    return addSize(kernel.getArgumentName(number), number);
  auto memref = dyn_cast<MemRefType>(type);
  Argument argument{kernel.getArgumentName(number),
                    memref ? memref : MemRefType::get({}, type),
                    number,
                    {}};
  SmallVector<BlockArgument> parameters = kernel.getParameters();
  AffineMap shape = getShape(number);
  for (int64_t dim = 0; dim < argument.type.getRank(); ++dim) {
    std::string symbol;
    if (shape) {
      if (auto expr = dyn_cast<AffineSymbolExpr>(shape.getResult(dim)))
        symbol = kernel.getArgumentName(
            parameters[expr.getPosition()].getArgNumber());
    } else if (argument.type.isDynamicDim(dim)) {
      symbol = (argument.name + "." + Twine(dim)).str();
    }
    argument.dims.push_back(builder.getStringAttr(symbol));
  }
  arguments.push_back(std::move(argument));
}

/// Inputs come first, in the order of the kernel's arguments; then the sizes
/// that no argument tells; then outputs.
void MainBuilder::collectArguments() {
  SmallVector<unsigned> outputs;
  for (BlockArgument argument : kernel.getArguments())
    if (written.contains(argument))
      outputs.push_back(argument.getArgNumber());
    else
      addArgument(argument.getArgNumber());
  for (unsigned output : outputs) {
    auto type = cast<MemRefType>(kernel.getArgumentTypes()[output]);
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim) && !getShape(output))
        addSize((kernel.getArgumentName(output) + "." + Twine(dim)).str(),
                std::nullopt);
  }
  for (const Argument &argument : arguments)
    functions.addInput(argument.type, describe(argument));
  for (unsigned output : outputs) {
    addArgument(output);
    functions.addOutput(arguments.back().type, describe(arguments.back()));
  }
}

void MainBuilder::buildMain() {
  func::FuncOp main = functions.makeMain(builder);
  OpBuilder b = OpBuilder::atBlockEnd(&main.getBody().front());
  SmallVector<Value> operands(kernel.getNumArguments());
  for (auto [argument, value] : llvm::zip(arguments, main.getArguments())) {
    if (!argument.source)
      continue;
    Type type = kernel.getArgumentTypes()[*argument.source];
    Value operand = value;
    if (type.isIndex())
      operand = memref::DimOp::create(b, loc, value, 0);
    else if (!isa<MemRefType>(type))
      operand = memref::LoadOp::create(b, loc, value, ValueRange());
    operands[*argument.source] = operand;
  }
  poly::CallOp::create(b, loc, kernel, operands);
  func::ReturnOp::create(b, loc);
}

/// The divisors among the kernel's subscripts that depend on parameters.
SmallVector<AffineExpr> MainBuilder::getDivisors() {
  llvm::SmallSetVector<AffineExpr, 4> divisors;
  auto collect = [&](AffineExpr expr) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (binary && expr.getKind() != AffineExprKind::Add &&
        expr.getKind() != AffineExprKind::Mul &&
        !isa<AffineConstantExpr>(binary.getRHS()))
      divisors.insert(binary.getRHS());
  };
  for (poly::ComputeOp compute : kernel.getComputes()) {
    for (const poly::ComputeAccess &access : llvm::concat<poly::ComputeAccess>(
             compute.getReadAccesses(), compute.getWriteAccesses()))
      access.map.walkExprs(collect);
    if (std::optional<IntegerSet> where = compute.getWhere())
      where->walkExprs(collect);
  }
  return divisors.takeVector();
}

/// Checks what the kernel takes to hold for its parameters, and that it divides
/// by none that is 0.
void MainBuilder::checkParameters(OpBuilder &b, ValueRange parameters) {
  polyhedral::AstNames names;
  for (BlockArgument parameter : kernel.getParameters())
    names.parameters.push_back(
        kernel.getArgumentName(parameter.getArgNumber()));
  auto check = [&](AffineExpr expr, int64_t bound, bool isEquality) {
    Value value = affine::expandAffineExpr(b, loc, expr, {}, parameters);
    Value holds = arith::CmpIOp::create(
        b, loc,
        isEquality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge,
        value, arith::ConstantIndexOp::create(b, loc, bound));
    cf::AssertOp::create(b, loc, holds,
                         b.getStringAttr("expects sizes with " +
                                         polyhedral::toText(expr, names) +
                                         (isEquality ? " == " : " >= ") +
                                         Twine(bound)));
  };
  if (IntegerSet assumptions = kernel.getAssumptions())
    for (auto [expr, isEquality] :
         llvm::zip(assumptions.getConstraints(), assumptions.getEqFlags()))
      check(expr, 0, isEquality);
  for (AffineExpr divisor : getDivisors())
    check(divisor, 1, /*isEquality=*/false);
}

/// An extent of the kernel's argument: that of an input, or an input itself.
Value MainBuilder::getUnstatedExtent(func::FuncOp plan,
                                     poly::UnstatedExtent extent) {
  std::string size =
      (kernel.getArgumentName(extent.argument) + "." + Twine(extent.dim)).str();
  unsigned number = 0;
  while (number < functions.getNumInputs() &&
         arguments[number].source != extent.argument &&
         (!arguments[number].isSize || arguments[number].source ||
          arguments[number].name != size))
    ++number;
  return functions.getExtent(plan, number,
                             arguments[number].isSize ? 0 : extent.dim);
}

/// Checks that sizes are none for which the kernel would leave its arrays.
void MainBuilder::checkAccesses(OpBuilder &b, func::FuncOp plan,
                                ValueRange parameters,
                                ArrayRef<poly::ForbiddenSizes> forbidden) {
  if (forbidden.empty())
    return;
  SmallVector<Value> symbols(parameters);
  for (poly::UnstatedExtent extent : poly::getUnstatedExtents(kernel))
    symbols.push_back(getUnstatedExtent(plan, extent));
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value yes = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 1);
  auto isIn = [&](IntegerSet set) {
    Value all = yes;
    for (auto [expr, isEquality] :
         llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
      Value holds = arith::CmpIOp::create(
          b, loc,
          isEquality ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge,
          affine::expandAffineExpr(b, loc, expr, {}, symbols), zero);
      all = arith::AndIOp::create(b, loc, all, holds);
    }
    return all;
  };
  for (const poly::ForbiddenSizes &sizes : forbidden) {
    Value isFine = yes;
    for (IntegerSet set : sizes.sets)
      isFine = arith::AndIOp::create(
          b, loc, isFine, arith::XOrIOp::create(b, loc, isIn(set), yes));
    cf::AssertOp::create(b, loc, isFine, sizes.message);
  }
}

/// Outputs have the extents that their shapes say; those of inputs are checked.
void MainBuilder::buildPlan(ArrayRef<poly::ForbiddenSizes> forbidden) {
  func::FuncOp plan = functions.makePlan(builder);
  OpBuilder b = OpBuilder::atBlockEnd(&plan.getBody().front());

  llvm::StringMap<Value> sizes;
  for (auto [number, argument] : llvm::enumerate(arguments))
    if (argument.isSize)
      sizes[argument.name] = functions.getExtent(plan, number, 0);
  SmallVector<Value> parameters;
  for (BlockArgument parameter : kernel.getParameters())
    parameters.push_back(
        sizes[kernel.getArgumentName(parameter.getArgNumber())]);

  checkParameters(b, parameters);

  SmallVector<Value> results;
  for (auto [number, argument] : llvm::enumerate(arguments)) {
    bool isInput = number < functions.getNumInputs();
    AffineMap shape =
        argument.source ? getShape(*argument.source) : AffineMap();
    ArrayRef<Attribute> dims = argument.dims;
    MemRefType type = argument.type;
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      auto getExpected = [&]() -> Value {
        if (shape)
          return affine::expandAffineExpr(b, loc, shape.getResult(dim), {},
                                          parameters);
        if (type.isDynamicDim(dim))
          return sizes[cast<StringAttr>(dims[dim]).getValue()];
        return arith::ConstantIndexOp::create(b, loc, type.getDimSize(dim));
      };
      if (!isInput) {
        results.push_back(getExpected());
      } else if (shape) {
        Value holds = arith::CmpIOp::create(
            b, loc, arith::CmpIPredicate::eq,
            functions.getExtent(plan, number, dim), getExpected());
        cf::AssertOp::create(
            b, loc, holds,
            b.getStringAttr("argument '" + argument.name +
                            "' expects an extent that fits the others in "
                            "dimension " +
                            Twine(dim)));
      }
    }
  }
  checkAccesses(b, plan, parameters, forbidden);
  func::ReturnOp::create(b, loc, results);
}

LogicalResult MainBuilder::run() {
  auto forbidden = poly::findForbiddenSizes(kernel);
  if (failed(forbidden))
    return failure();
  collectArguments();
  buildMain();
  buildPlan(*forbidden);
  return success();
}

/// Erases private kernels that nothing refers to: micro-kernels whose schedules
/// have been used.
static void eraseUnused(ModuleOp module) {
  auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion());
  if (!uses)
    return;
  llvm::SmallDenseSet<StringAttr> used;
  for (const SymbolTable::SymbolUse &use : *uses)
    used.insert(use.getSymbolRef().getRootReference());
  for (auto kernel :
       llvm::make_early_inc_range(module.getOps<poly::KernelOp>()))
    if (kernel.isPrivate() && !used.contains(kernel.getSymNameAttr()))
      kernel.erase();
}

namespace {
struct PolyAddMainPass : espalier::impl::PolyAddMainPassBase<PolyAddMainPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    eraseUnused(module);
    auto kernels = llvm::to_vector(module.getOps<poly::KernelOp>());
    if (kernels.size() != 1 || !module.getOps<func::FuncOp>().empty())
      return;
    poly::KernelOp kernel = kernels.front();
    if (kernel.getSymName() == kMainName || kernel.getSymName() == kPlanName) {
      kernel.emitOpError("expects another name than that of the program's "
                         "function '")
          << kernel.getSymName() << "'";
      return signalPassFailure();
    }
    if (failed(MainBuilder(kernel).run()))
      signalPassFailure();
  }
};
} // namespace
