//===- CheckGivens.cpp - Checks what kernels state of data ----------------===//
//
// A statement becomes a kernel over the same points and reads: one computation
// for each constraint, which runs only where the constraint does not hold, and
// leaves the point and what it has read. Its loops are bounded by data where
// those of a kernel with the same `where` are; so a check costs as much as
// there are points to look at.
//
//===----------------------------------------------------------------------===//

#include "ConstantData.h"
#include "espalier-c/Runtime.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/Analysis/Passes.h"
#include "espalier/Dialect/Poly/IR/GivenLimits.h"
#include "espalier/Polyhedral/Ast.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SetVector.h"

namespace espalier {
#define GEN_PASS_DEF_POLYCHECKGIVENSPASS
#include "espalier/Conversion/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

//===----------------------------------------------------------------------===//
// The kernel of a check
//===----------------------------------------------------------------------===//

/// `levels[l + 1]`, as messages call a read.
static std::string describeRead(poly::GivenOp given,
                                const poly::ComputeAccess &read) {
  poly::KernelOp kernel = given.getKernel();
  polyhedral::AstNames names;
  for (BlockArgument parameter : kernel.getParameters())
    names.parameters.push_back(
        kernel.getArgumentName(parameter.getArgNumber()));
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < given.getNumDims(); ++dim) {
    dims.push_back(
        getAffineSymbolExpr(names.parameters.size(), given.getContext()));
    names.parameters.push_back(given.getDimName(dim).str());
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << kernel.getArgumentName(cast<BlockArgument>(read.array).getArgNumber())
     << "[";
  llvm::interleaveComma(read.map.getResults(), os, [&](AffineExpr index) {
    os << polyhedral::toText(index.replaceDims(dims), names);
  });
  os << "]";
  return text;
}

/// `text` inside a message, where `%` stands for a number.
static std::string escape(StringRef text) {
  std::string escaped;
  for (char letter : text)
    escaped.append(letter == '%' ? 2 : 1, letter);
  return escaped;
}

/// What a message says of a point, with `%` for numbers.
static std::string describePoint(poly::GivenOp given) {
  std::string text = escape(("expects @" + given.getSymName() + " of @" +
                             given.getKernel().getSymName() +
                             " to hold for its data, but got ")
                                .str());
  bool isFirst = true;
  auto add = [&](const Twine &name) {
    text += (isFirst ? "" : ", ") + escape(name.str()) + " = %";
    isFirst = false;
  };
  for (unsigned dim = 0; dim < given.getNumDims(); ++dim)
    add(given.getDimName(dim).getValue());
  for (const poly::ComputeAccess &read : given.getReadAccesses())
    add(describeRead(given, read));
  return text;
}

/// Adds the computation that runs where `violated` >= 0, and writes `message`,
/// the point and the values to `record`.
static void addViolation(OpBuilder &builder, poly::GivenOp given,
                         ArrayRef<poly::ComputeAccess> reads, Value record,
                         AffineExpr violated, int64_t message,
                         const Twine &name) {
  MLIRContext *context = builder.getContext();
  unsigned numDims = given.getNumDims();
  unsigned numParams = given.getKernel().getNumParameters();
  SmallVector<poly::ComputeAccess> writes;
  for (unsigned place = 0; place < 1 + numDims + reads.size(); ++place)
    writes.push_back({record,
                      AffineMap::get(numDims, numParams,
                                     getAffineConstantExpr(place, context)),
                      {}});
  Type i64 = builder.getI64Type();
  auto compute = poly::ComputeOp::create(
      builder, given.getLoc(), name.str(), given.getDomainSets(), reads, writes,
      std::nullopt, [&](OpBuilder &b, Location loc, ValueRange values) {
        SmallVector<Value> yields{
            arith::ConstantIntOp::create(b, loc, i64, message)};
        for (unsigned dim = 0; dim < numDims; ++dim)
          yields.push_back(arith::IndexCastOp::create(
              b, loc, i64, poly::IndexOp::create(b, loc, dim)));
        for (Value value : values)
          yields.push_back(value.getType() == i64
                               ? value
                               : arith::ExtSIOp::create(b, loc, i64, value));
        poly::YieldOp::create(b, loc, yields);
      });
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> isEquality;
  if (std::optional<IntegerSet> where = given.getWhere()) {
    llvm::append_range(constraints, where->getConstraints());
    llvm::append_range(isEquality, where->getEqFlags());
  }
  constraints.push_back(violated);
  isEquality.push_back(false);
  compute.setWhereAttr(IntegerSetAttr::get(IntegerSet::get(
      numDims, numParams + reads.size(), constraints, isEquality)));
  compute.setDimsAttr(given.getDimsAttr());
}

/// Adds computations that look for elements of `array`, argument `argument` of
/// the kernel of `given`, with which its conditions cannot be calculated. They
/// calculate quotients alone, which fit for each element.
static void addRangeChecks(OpBuilder &builder, poly::GivenOp given, Value array,
                           unsigned argument, Value record, int64_t message) {
  MLIRContext *context = builder.getContext();
  poly::KernelOp kernel = given.getKernel();
  unsigned numParams = kernel.getNumParameters();
  auto type = cast<MemRefType>(array.getType());
  unsigned rank = type.getRank();
  auto shape = kernel.getArgAttrOfType<AffineMapAttr>(
      argument, poly::KernelOp::getShapeAttrName());
  SmallVector<AffineExpr> bounds, indices;
  for (unsigned dim = 0; dim < rank; ++dim) {
    indices.push_back(builder.getAffineDimExpr(dim));
    AffineExpr extent =
        shape ? shape.getValue().getResult(dim)
              : builder.getAffineConstantExpr(type.getDimSize(dim));
    llvm::append_values(bounds, indices.back(), extent - 1 - indices.back());
  }
  if (bounds.empty())
    bounds.push_back(builder.getAffineConstantExpr(0));
  IntegerSet domain = IntegerSet::get(rank, numParams, bounds,
                                      SmallVector<bool>(bounds.size(), false));
  SmallVector<poly::ComputeAccess> reads{
      {array, AffineMap::get(rank, numParams, indices, context), {}}};
  SmallVector<poly::ComputeAccess> writes;
  for (unsigned place : {0, 1})
    writes.push_back(
        {record,
         AffineMap::get(rank, numParams, getAffineConstantExpr(place, context)),
         {}});
  AffineExpr quotient =
      builder.getAffineSymbolExpr(numParams).floorDiv(poly::kMaxGivenValue);
  const AffineExpr outside[] = {quotient - 1, -quotient - 2};
  for (auto [number, violated] : llvm::enumerate(outside)) {
    auto compute = poly::ComputeOp::create(
        builder, given.getLoc(),
        ("range_" + Twine(argument) + "_" + Twine(number)).str(), {domain},
        reads, writes, std::nullopt,
        [&](OpBuilder &b, Location loc, ValueRange values) {
          Value own =
              arith::ConstantIntOp::create(b, loc, b.getI64Type(), message);
          poly::YieldOp::create(b, loc, {own, values.front()});
        });
    compute.setWhereAttr(IntegerSetAttr::get(
        IntegerSet::get(rank, numParams + 1, {violated}, {false})));
  }
}

/// The kernel that checks `given`: its arguments are `arrays`, which that
/// reads, then the parameters and the record. Appends the messages after
/// number `message` to `ranges`.
static poly::KernelOp makeCheckKernel(OpBuilder &builder, poly::GivenOp given,
                                      ArrayRef<Value> arrays, StringRef name,
                                      int64_t message,
                                      SmallVectorImpl<std::string> &ranges) {
  poly::KernelOp kernel = given.getKernel();
  unsigned numParams = kernel.getNumParameters();
  SmallVector<Type> types(ValueRange(arrays).getTypes());
  types.append(numParams, builder.getIndexType());
  types.push_back(
      MemRefType::get({ESPALIER_RECORD_SIZE}, builder.getI64Type()));
  auto check =
      poly::KernelOp::create(builder, given.getLoc(), name, TypeRange(types));
  if (IntegerSet assumptions = kernel.getAssumptions())
    check->setAttr(poly::KernelOp::getAssumptionsAttrName(),
                   IntegerSetAttr::get(assumptions));
  auto shape = AffineMap::get(
      0, numParams, builder.getAffineConstantExpr(ESPALIER_RECORD_SIZE));
  check.setArgAttr(types.size() - 1, poly::KernelOp::getShapeAttrName(),
                   AffineMapAttr::get(shape));
  IRMapping mapping;
  for (auto [number, array] : llvm::enumerate(arrays)) {
    unsigned source = cast<BlockArgument>(array).getArgNumber();
    mapping.map(array, check.getArgument(number));
    for (StringRef attr :
         {StringRef(poly::KernelOp::getShapeAttrName()), StringRef(kNameAttr)})
      if (Attribute value = kernel.getArgAttr(source, attr))
        check.setArgAttr(number, attr, value);
  }
  SmallVector<poly::ComputeAccess> reads = given.getReadAccesses();
  for (poly::ComputeAccess &read : reads)
    read.array = mapping.lookup(read.array);
  OpBuilder body = OpBuilder::atBlockEnd(&check.getBody().front());
  unsigned number = 0;
  polyhedral::forEachConstraint(given.getHolds(), [&](AffineExpr constraint) {
    addViolation(body, given, reads, check.getArguments().back(),
                 -constraint - 1, message,
                 given.getSymName() + "_" + Twine(number++));
  });
  // These come last: what they leave is what the program says.
  for (Value array : arrays) {
    if (!cast<MemRefType>(array.getType()).getElementType().isInteger(64))
      continue;
    unsigned source = cast<BlockArgument>(array).getArgNumber();
    ranges.push_back(
        escape(("expects '" + kernel.getArgumentName(source) + "' of @" +
                kernel.getSymName() + ", of which @" + given.getSymName() +
                " states something, to be from -2^31 to less than 2^31, but "
                "got ")
                   .str()) +
        "%");
    addRangeChecks(body, given, mapping.lookup(array), source,
                   check.getArguments().back(), message + ranges.size());
  }
  return check;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PolyCheckGivensPass
    : espalier::impl::PolyCheckGivensPassBase<PolyCheckGivensPass> {
  void runOnOperation() override;

private:
  LogicalResult discharge(poly::CallOp call, poly::GivenOp given);
  /// Lets @main_check check the statement.
  LogicalResult addCheck(poly::CallOp call, poly::GivenOp given,
                         ArrayRef<Value> arrays);
  /// What @main_check has in the place of a value of @main: an input, or what
  /// follows from sizes; null for others.
  Value getCopy(Value value);
  func::FuncOp getOrCreateCheck();

  func::FuncOp check;
  IRMapping copies;
  SmallVector<Attribute> messages;
  /// Statements and what they were checked for.
  SmallVector<std::pair<Attribute, SmallVector<Value>>> done;
};
} // namespace

func::FuncOp PolyCheckGivensPass::getOrCreateCheck() {
  if (check)
    return check;
  auto main = getOperation().lookupSymbol<func::FuncOp>(kMainName);
  auto numInputs =
      main ? main->getAttrOfType<IntegerAttr>(kNumInputsAttr) : IntegerAttr();
  if (!numInputs)
    return {};
  OpBuilder builder(main);
  auto inputs = main.getArgumentTypes().take_front(numInputs.getInt());
  SmallVector<Type> types(inputs);
  types.push_back(
      MemRefType::get({ESPALIER_RECORD_SIZE}, builder.getI64Type()));
  check = func::FuncOp::create(builder, main.getLoc(), kCheckName,
                               builder.getFunctionType(types, {}));
  Block *block = check.addEntryBlock();
  for (unsigned input = 0; input < inputs.size(); ++input)
    copies.map(main.getArgument(input), block->getArgument(input));
  builder.setInsertionPointToEnd(block);
  func::ReturnOp::create(builder, main.getLoc());
  return check;
}

Value PolyCheckGivensPass::getCopy(Value value) {
  if (Value known = copies.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getNumRegions() > 0 || !isPure(op) ||
      isa<memref::GetGlobalOp>(op))
    return {};
  for (Value operand : op->getOperands())
    if (!getCopy(operand))
      return {};
  OpBuilder builder(check.getBody().front().getTerminator());
  builder.clone(*op, copies);
  return copies.lookup(value);
}

/// The input of @main that `array` is a part of; null for others.
static BlockArgument findRoot(Value array) {
  while (Operation *op = array.getDefiningOp()) {
    auto isArray = [](Value operand) {
      return isa<MemRefType>(operand.getType());
    };
    auto source = llvm::find_if(op->getOperands(), isArray);
    if (source == op->operand_end())
      return {};
    array = *source;
  }
  return cast<BlockArgument>(array);
}

/// Whether the program may write `array`, or parts of it.
static bool isWritten(Value array) {
  return array && llvm::any_of(array.getUses(), [&](OpOperand &use) {
           Operation *user = use.getOwner();
           if (auto call = dyn_cast<poly::CallOp>(user)) {
             auto kernel = SymbolTable::lookupNearestSymbolFrom<poly::KernelOp>(
                 call, call.getCalleeAttr());
             Value own = kernel.getArgument(use.getOperandNumber());
             return llvm::any_of(
                 kernel.getComputes(), [&](poly::ComputeOp compute) {
                   return llvm::is_contained(compute.getWrites(), own);
                 });
           }
           if (isPure(user) && (!user->hasTrait<OpTrait::IsTerminator>() ||
                                isa<func::ReturnOp>(user)))
             return llvm::any_of(user->getResults(), [](Value result) {
               return isa<MemRefType>(result.getType()) && isWritten(result);
             });
           return !isa<memref::DimOp, memref::LoadOp>(user);
         });
}

LogicalResult PolyCheckGivensPass::addCheck(poly::CallOp call,
                                            poly::GivenOp given,
                                            ArrayRef<Value> arrays) {
  auto fail = [&](const Twine &what) {
    return given.emitOpError("expects ") << what;
  };
  poly::KernelOp kernel = given.getKernel();
  if (given.getNumDims() + given.getReads().size() >= ESPALIER_RECORD_SIZE)
    return fail("fewer than " + Twine(ESPALIER_RECORD_SIZE) +
                " dimensions and reads together, to tell which do not hold");
  if (!getOrCreateCheck())
    return fail("a program, @main, that checks it");
  Operation *parent = call->getParentOp();
  if (parent != getOperation().lookupSymbol(kMainName) ||
      !call->getBlock()->isEntryBlock())
    return fail("a call that the program makes in any case, but it depends on "
                "what is known only then");
  SmallVector<Value> operands;
  auto addOperand = [&](Value argument) {
    operands.push_back(getCopy(
        call.getArguments()[cast<BlockArgument>(argument).getArgNumber()]));
    return bool(operands.back());
  };
  for (Value array : arrays) {
    unsigned number = cast<BlockArgument>(array).getArgNumber();
    if (isWritten(findRoot(call.getArguments()[number])))
      return fail("data that is there before the program runs, but '" +
                  kernel.getArgumentName(number) + "' is written by it");
    if (!addOperand(array))
      return fail("data that is there before the program runs: inputs, or "
                  "constants alone; but '" +
                  kernel.getArgumentName(number) + "' is made by the program");
    if (!cast<MemRefType>(array.getType()).hasStaticShape() &&
        !kernel.getArgAttr(number, poly::KernelOp::getShapeAttrName()))
      return fail("the extents of '" + kernel.getArgumentName(number) +
                  "', 'poly.shape', inside which it reads");
  }
  for (BlockArgument parameter : kernel.getParameters())
    if (!addOperand(parameter))
      return fail("sizes that are known before the program runs, but '" +
                  kernel.getArgumentName(parameter.getArgNumber()) +
                  "' is not");
  operands.push_back(check.getArguments().back());
  OpBuilder builder(kernel);
  messages.push_back(builder.getStringAttr(describePoint(given)));
  std::string name =
      ("check_" + kernel.getSymName() + "_" + given.getSymName()).str();
  for (unsigned number = 1; getOperation().lookupSymbol(name); ++number)
    name = ("check_" + kernel.getSymName() + "_" + given.getSymName() + "_" +
            Twine(number))
               .str();
  SmallVector<std::string> ranges;
  poly::KernelOp checker =
      makeCheckKernel(builder, given, arrays, name, messages.size(), ranges);
  for (const std::string &range : ranges)
    messages.push_back(builder.getStringAttr(range));
  OpPassManager accesses(poly::KernelOp::getOperationName());
  accesses.addPass(poly::createPolyVerifyAccessesPass());
  if (failed(runPipeline(accesses, checker)))
    return failure();
  builder.setInsertionPoint(check.getBody().front().getTerminator());
  poly::CallOp::create(builder, given.getLoc(), checker, operands);
  return success();
}

LogicalResult PolyCheckGivensPass::discharge(poly::CallOp call,
                                             poly::GivenOp given) {
  auto getPassed = [&](Value argument) {
    return call.getArguments()[cast<BlockArgument>(argument).getArgNumber()];
  };
  SmallVector<Value> passed = llvm::map_to_vector(given.getReads(), getPassed);
  SmallVector<Value> sizes;
  for (BlockArgument parameter : given.getKernel().getParameters())
    sizes.push_back(getPassed(parameter));
  SmallVector<Value> key = passed;
  llvm::append_range(key, sizes);
  auto orUnit = [&](Attribute attr) {
    return attr ? attr : UnitAttr::get(&getContext());
  };
  poly::KernelOp kernel = given.getKernel();
  auto statement = ArrayAttr::get(
      &getContext(),
      {given->getAttrDictionary(), orUnit(kernel.getArgAttrsAttr()),
       orUnit(kernel->getAttr(poly::KernelOp::getAssumptionsAttrName()))});
  std::pair<Attribute, SmallVector<Value>> own(statement, key);
  if (llvm::is_contained(done, own))
    return success();
  done.push_back(own);
  if (llvm::all_of(passed, polytoloops::isConstantData))
    return polytoloops::evaluateGiven(given, passed, sizes);
  llvm::SetVector<Value> arrays(given.getReads().begin(),
                                given.getReads().end());
  return addCheck(call, given, arrays.getArrayRef());
}

void PolyCheckGivensPass::runOnOperation() {
  ModuleOp module = getOperation();
  SmallVector<poly::CallOp> calls;
  module.walk([&](poly::CallOp call) { calls.push_back(call); });
  for (poly::CallOp call : calls) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<poly::KernelOp>(
        call, call.getCalleeAttr());
    for (poly::GivenOp given : kernel.getGivens())
      if (failed(discharge(call, given)))
        return signalPassFailure();
  }
  if (check)
    check->setAttr(kCheckMessagesAttr, ArrayAttr::get(&getContext(), messages));
}
