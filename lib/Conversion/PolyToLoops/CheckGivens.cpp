//===- CheckGivens.cpp - Checks what kernels state of data ----------------===//
//
// What callers pass is looked at before the program runs, by @main_check. What
// the program makes is looked at where it is complete, before the call of the
// kernel that relies on it, and the call is made only if nothing is wrong:
//
//   poly.call @make(%table)               poly.call @make(%table)
//   poly.call @use(%table)     becomes    if record[0] == 0:
//                                           poly.call @check_use(%table,
//                                           %record)
//                                         if record[0] == 0:
//                                           poly.call @use(%table)
//
// What follows computes with what is there, as any kernel may, and the caller
// is told.
//
//===----------------------------------------------------------------------===//

#include "CheckKernels.h"
#include "ConstantData.h"
#include "ProgramData.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/Analysis/Passes.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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

namespace {
struct PolyCheckGivensPass
    : espalier::impl::PolyCheckGivensPassBase<PolyCheckGivensPass> {
  void runOnOperation() override;

private:
  /// A statement of a kernel, and what a call of that passes.
  struct Stated {
    poly::CallOp call;
    poly::GivenOp given;
    llvm::SetVector<Value> arrays; ///< Arguments of the kernel.
  };

  LogicalResult discharge(poly::CallOp call);
  LogicalResult discharge(poly::CallOp call, poly::GivenOp given);
  LogicalResult discharge(poly::CallOp call, unsigned number);
  /// Whether somebody has looked at what the same statement says of the same.
  bool isDone(poly::CallOp call, poly::GivenOp given, ArrayRef<Value> passed,
              ArrayRef<Value> sizes);
  /// Lets @main_check check the statement, if all is there by then.
  FailureOr<bool> checkBefore(const Stated &stated);
  /// Makes the kernel that checks it.
  FailureOr<poly::KernelOp> makeCheck(const Stated &stated);
  /// Whether loops of the kernel of a check stay inside of its arrays.
  LogicalResult verify(poly::KernelOp checker);
  std::string getFreeName(const Twine &name);
  /// Has the program make `call` only if `checks`, before it, find nothing.
  void guard(poly::CallOp call, ArrayRef<poly::CallOp> checks);
  /// The program if `call` is made by it and it can have a check; null if not.
  func::FuncOp findMain(poly::CallOp call);
  /// What @main_check has in the place of a value of @main: an input, or what
  /// follows from sizes; null for others.
  Value getCopy(Value value);
  func::FuncOp getOrCreateCheck(func::FuncOp main);
  Value getOrCreateRecord(func::FuncOp main);

  func::FuncOp check;
  Value record; ///< Of @main.
  IRMapping copies;
  SmallVector<Attribute> messages;
  /// Statements and what they were checked for.
  SmallVector<std::pair<Attribute, SmallVector<Value>>> done;
  /// Checks to be made before the call that is looked at.
  SmallVector<poly::CallOp> pending;
};
} // namespace

//===----------------------------------------------------------------------===//
// Functions of the program
//===----------------------------------------------------------------------===//

func::FuncOp PolyCheckGivensPass::findMain(poly::CallOp call) {
  auto main = call->getParentOfType<func::FuncOp>();
  return main && main.getName() == kMainName &&
                 main->getAttrOfType<IntegerAttr>(kNumInputsAttr)
             ? main
             : func::FuncOp();
}

func::FuncOp PolyCheckGivensPass::getOrCreateCheck(func::FuncOp main) {
  if (check)
    return check;
  OpBuilder builder(main);
  unsigned numInputs =
      main->getAttrOfType<IntegerAttr>(kNumInputsAttr).getInt();
  auto inputs = main.getArgumentTypes().take_front(numInputs);
  SmallVector<Type> types(inputs);
  types.push_back(polytoloops::getRecordType(&getContext()));
  check = func::FuncOp::create(builder, main.getLoc(), kCheckName,
                               builder.getFunctionType(types, {}));
  Block *block = check.addEntryBlock();
  for (unsigned input = 0; input < inputs.size(); ++input)
    copies.map(main.getArgument(input), block->getArgument(input));
  builder.setInsertionPointToEnd(block);
  func::ReturnOp::create(builder, main.getLoc());
  return check;
}

Value PolyCheckGivensPass::getOrCreateRecord(func::FuncOp main) {
  if (record)
    return record;
  getOrCreateCheck(main); // It has the messages.
  Builder builder(&getContext());
  unsigned number = main.getNumArguments();
  (void)main.insertArgument(number, polytoloops::getRecordType(&getContext()),
                            builder.getDictionaryAttr(builder.getNamedAttr(
                                kRecordAttr, builder.getUnitAttr())),
                            main.getLoc());
  return record = main.getArgument(number);
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

std::string PolyCheckGivensPass::getFreeName(const Twine &name) {
  std::string free = name.str();
  for (unsigned number = 1; getOperation().lookupSymbol(free); ++number)
    free = (name + "_" + Twine(number)).str();
  return free;
}

LogicalResult PolyCheckGivensPass::verify(poly::KernelOp checker) {
  OpPassManager accesses(poly::KernelOp::getOperationName());
  accesses.addPass(poly::createPolyVerifyAccessesPass());
  return runPipeline(accesses, checker);
}

/// What `call` passes for an argument of its kernel.
static Value getPassed(poly::CallOp call, Value argument) {
  return call.getArguments()[cast<BlockArgument>(argument).getArgNumber()];
}

void PolyCheckGivensPass::guard(poly::CallOp call,
                                ArrayRef<poly::CallOp> checks) {
  OpBuilder builder(call);
  Location loc = call.getLoc();
  auto runIfRight = [&](ArrayRef<poly::CallOp> calls) {
    builder.setInsertionPoint(call);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    Value message = memref::LoadOp::create(builder, loc, record, zero);
    Value none =
        arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 0);
    Value isRight = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::eq, message, none);
    auto guard = scf::IfOp::create(builder, loc, isRight,
                                   /*withElseRegion=*/false);
    for (poly::CallOp inside : calls)
      inside->moveBefore(guard.thenBlock()->getTerminator());
    builder.setInsertionPointAfter(guard);
  };
  runIfRight(checks);
  runIfRight(call);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

bool PolyCheckGivensPass::isDone(poly::CallOp call, poly::GivenOp given,
                                 ArrayRef<Value> passed,
                                 ArrayRef<Value> sizes) {
  SmallVector<Value> key(passed);
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
    return true;
  done.push_back(own);
  return false;
}

FailureOr<poly::KernelOp> PolyCheckGivensPass::makeCheck(const Stated &stated) {
  poly::GivenOp given = stated.given;
  poly::KernelOp kernel = given.getKernel();
  if (given.getNumDims() + given.getReads().size() >= ESPALIER_RECORD_SIZE)
    return given.emitOpError("expects fewer than ")
           << ESPALIER_RECORD_SIZE
           << " dimensions and reads together, to tell which do not hold";
  for (Value array : stated.arrays) {
    unsigned number = cast<BlockArgument>(array).getArgNumber();
    if (!cast<MemRefType>(array.getType()).hasStaticShape() &&
        !kernel.getArgAttr(number, poly::KernelOp::getShapeAttrName()))
      return given.emitOpError("expects the extents of '")
             << kernel.getArgumentName(number)
             << "', 'poly.shape', inside which it reads";
  }
  OpBuilder builder(kernel);
  poly::KernelOp checker = polytoloops::makeStatementCheck(
      builder, given, stated.arrays.getArrayRef(),
      getFreeName("check_" + kernel.getSymName() + "_" + given.getSymName()),
      messages);
  if (failed(verify(checker)))
    return failure();
  return checker;
}

FailureOr<bool> PolyCheckGivensPass::checkBefore(const Stated &stated) {
  poly::CallOp call = stated.call;
  func::FuncOp main = findMain(call);
  if (call->getParentOp() != main || !call->getBlock()->isEntryBlock())
    return false;
  getOrCreateCheck(main);
  SmallVector<Value> operands;
  for (Value array : stated.arrays) {
    Value passed = getPassed(call, array);
    operands.push_back(polytoloops::isUnchangedInput(passed) ? getCopy(passed)
                                                             : Value());
  }
  for (BlockArgument parameter :
       stated.given->getParentOfType<poly::KernelOp>().getParameters())
    operands.push_back(getCopy(getPassed(call, parameter)));
  if (llvm::is_contained(operands, Value()))
    return false;
  FailureOr<poly::KernelOp> checker = makeCheck(stated);
  if (failed(checker))
    return failure();
  operands.push_back(check.getArguments().back());
  OpBuilder builder(check.getBody().front().getTerminator());
  poly::CallOp::create(builder, stated.given->getLoc(), *checker, operands);
  return true;
}

LogicalResult PolyCheckGivensPass::discharge(poly::CallOp call,
                                             poly::GivenOp given) {
  Stated stated{call, given, {}};
  stated.arrays.insert_range(given.getReads());
  SmallVector<Value> passed, sizes;
  for (Value read : given.getReads())
    passed.push_back(getPassed(call, read));
  for (BlockArgument parameter : given.getKernel().getParameters())
    sizes.push_back(getPassed(call, parameter));
  bool isUnchanging = llvm::all_of(passed, [](Value array) {
    return polytoloops::isConstantData(array) ||
           polytoloops::isUnchangedInput(array);
  });
  if (isUnchanging && call->getBlock()->isEntryBlock() &&
      isDone(call, given, passed, sizes))
    return success();
  if (llvm::all_of(passed, polytoloops::isConstantData))
    return polytoloops::evaluateGiven(given, passed, sizes);
  func::FuncOp main = findMain(call);
  if (!main)
    return given.emitOpError("expects a program, @main, that checks it");
  FailureOr<bool> isChecked = checkBefore(stated);
  if (failed(isChecked) || *isChecked)
    return isChecked;
  FailureOr<poly::KernelOp> checker = makeCheck(stated);
  if (failed(checker))
    return failure();
  SmallVector<Value> operands;
  for (Value array : stated.arrays)
    operands.push_back(getPassed(call, array));
  llvm::append_range(operands, sizes);
  operands.push_back(getOrCreateRecord(main));
  OpBuilder builder(call);
  pending.push_back(
      poly::CallOp::create(builder, given.getLoc(), *checker, operands));
  return success();
}

//===----------------------------------------------------------------------===//
// Properties of one array
//===----------------------------------------------------------------------===//

/// The extents of `array`, then what its values are less than by `bound`.
static SmallVector<Value> emitSizes(OpBuilder &builder, poly::CallOp call,
                                    poly::KernelOp kernel, Value array,
                                    AffineMapAttr bound) {
  Location loc = call.getLoc();
  SmallVector<Value> sizes;
  int64_t rank = cast<MemRefType>(array.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    sizes.push_back(memref::DimOp::create(builder, loc, array, dim));
  if (!bound)
    return sizes;
  SmallVector<Value> parameters;
  for (BlockArgument parameter : kernel.getParameters())
    parameters.push_back(getPassed(call, parameter));
  Value limit = affine::expandAffineExpr(
      builder, loc, bound.getValue().getResult(0), {}, parameters);
  // Sizes are no less than 0; no value is below either.
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  sizes.push_back(arith::MaxSIOp::create(builder, loc, limit, zero));
  return sizes;
}

LogicalResult PolyCheckGivensPass::discharge(poly::CallOp call,
                                             unsigned number) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<poly::KernelOp>(
      call, call.getCalleeAttr());
  Value array = call.getArguments()[number];
  func::FuncOp main = findMain(call);
  if (!main || !kernel.hasKnownValues(number) ||
      polytoloops::isConstantData(array) ||
      polytoloops::isCheckedOfCallers(call, kernel, number))
    return success();
  OpBuilder builder(kernel);
  poly::KernelOp checker = polytoloops::makePropertyCheck(
      builder, kernel, number,
      getFreeName("check_" + kernel.getSymName() + "_" +
                  kernel.getArgumentName(number)),
      messages);
  if (failed(verify(checker)))
    return failure();
  builder.setInsertionPoint(call);
  SmallVector<Value> operands{array};
  llvm::append_range(
      operands, emitSizes(builder, call, kernel, array,
                          kernel.getArgAttrOfType<AffineMapAttr>(
                              number, poly::KernelOp::getBoundAttrName())));
  operands.push_back(getOrCreateRecord(main));
  pending.push_back(
      poly::CallOp::create(builder, call.getLoc(), checker, operands));
  SmallVector<int64_t> checked{number};
  if (auto known =
          call->getAttrOfType<DenseI64ArrayAttr>(polytoloops::kCheckedAttr))
    checked.append(known.asArrayRef().begin(), known.asArrayRef().end());
  call->setAttr(polytoloops::kCheckedAttr,
                builder.getDenseI64ArrayAttr(checked));
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

LogicalResult PolyCheckGivensPass::discharge(poly::CallOp call) {
  call->removeAttr(polytoloops::kCheckedAttr);
  auto kernel = SymbolTable::lookupNearestSymbolFrom<poly::KernelOp>(
      call, call.getCalleeAttr());
  for (unsigned number = 0; number < kernel.getNumArguments(); ++number)
    if (failed(discharge(call, number)))
      return failure();
  for (poly::GivenOp given : kernel.getGivens())
    if (failed(discharge(call, given)))
      return failure();
  if (!pending.empty())
    guard(call, pending);
  pending.clear();
  return success();
}

void PolyCheckGivensPass::runOnOperation() {
  SmallVector<poly::CallOp> calls;
  getOperation().walk([&](poly::CallOp call) { calls.push_back(call); });
  for (poly::CallOp call : calls)
    if (failed(discharge(call)))
      return signalPassFailure();
  if (check)
    check->setAttr(kCheckMessagesAttr, ArrayAttr::get(&getContext(), messages));
}
