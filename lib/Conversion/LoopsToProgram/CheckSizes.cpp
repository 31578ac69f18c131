//===- CheckSizes.cpp - Makes @main_plan report sizes out of range --------===//

#include "espalier/Conversion/LoopsToProgram/Passes.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "llvm/ADT/MapVector.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMCHECKSIZESPASS
#include "espalier/Conversion/LoopsToProgram/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

static constexpr llvm::StringLiteral kOverflowMessage =
    "expects sizes that fit into 63 bits, but got an overflow while computing "
    "them from these inputs";
static constexpr llvm::StringLiteral kDivisorMessage =
    "expects positive divisors in the computation of sizes, but got one that "
    "is not from these inputs";

namespace {
/// Collects, per message, the conditions under which it applies.
class SizeChecker {
public:
  explicit SizeChecker(func::FuncOp plan)
      : builder(plan.getContext()), plan(plan) {}

  LogicalResult run();

private:
  void addFailure(StringRef message, Value fails);
  void checkArithmetic(Operation *op);
  void checkDivision(Operation *op);
  Value createIsNegative(Location loc, Value value);
  void finish();

  OpBuilder builder;
  func::FuncOp plan;
  llvm::MapVector<StringAttr, SmallVector<Value>> failures;
};
} // namespace

void SizeChecker::addFailure(StringRef message, Value fails) {
  failures[builder.getStringAttr(message)].push_back(fails);
}

Value SizeChecker::createIsNegative(Location loc, Value value) {
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, value,
                               zero);
}

/// Adds the condition for overflow of an addition, subtraction or
/// multiplication (Warren, Hacker's Delight, section 2-13).
void SizeChecker::checkArithmetic(Operation *op) {
  Location loc = op->getLoc();
  builder.setInsertionPointAfter(op);
  Value a = op->getOperand(0), b = op->getOperand(1), r = op->getResult(0);
  auto createXor = [&](Value x, Value y) -> Value {
    return arith::XOrIOp::create(builder, loc, x, y);
  };
  if (isa<arith::MulIOp>(op)) {
    auto wide = arith::MulSIExtendedOp::create(builder, loc, a, b);
    Value shift = arith::ConstantIndexOp::create(builder, loc, 63);
    Value sign = arith::ShRSIOp::create(builder, loc, wide.getLow(), shift);
    Value fails = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne,
                                        wide.getHigh(), sign);
    return addFailure(kOverflowMessage, fails);
  }
  Value sides = isa<arith::AddIOp>(op) ? createXor(b, r) : createXor(a, b);
  Value both = arith::AndIOp::create(builder, loc, createXor(a, r), sides);
  addFailure(kOverflowMessage, createIsNegative(loc, both));
}

/// Replaces the divisor of `op` by 1 where it is not positive.
void SizeChecker::checkDivision(Operation *op) {
  Location loc = op->getLoc();
  builder.setInsertionPoint(op);
  Value divisor = op->getOperand(1);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value fails = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                                      divisor, one);
  op->setOperand(1, arith::SelectOp::create(builder, loc, fails, one, divisor));
  addFailure(kDivisorMessage, fails);
}

/// Makes the last result `-k` where message k applies; assertions win over
/// what may have followed from them.
void SizeChecker::finish() {
  Operation *terminator = plan.getBody().front().getTerminator();
  builder.setInsertionPoint(terminator);
  unsigned last = terminator->getNumOperands() - 1;
  Value result = terminator->getOperand(last);
  SmallVector<Attribute> messages;
  for (auto &[message, conditions] : failures) {
    messages.push_back(message);
    Value fails = conditions.front();
    for (Value condition : llvm::drop_begin(conditions))
      fails =
          arith::OrIOp::create(builder, condition.getLoc(), fails, condition);
    Value code = arith::ConstantIndexOp::create(
        builder, fails.getLoc(), -static_cast<int64_t>(messages.size()));
    result =
        arith::SelectOp::create(builder, fails.getLoc(), fails, code, result);
  }
  terminator->setOperand(last, result);
  plan->setAttr(kPlanMessagesAttr, builder.getArrayAttr(messages));
}

LogicalResult SizeChecker::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : plan.getBody().front().without_terminator())
    ops.push_back(&op);
  builder.setInsertionPointToStart(&plan.getBody().front());
  SmallVector<cf::AssertOp> asserts;
  for (Operation *op : ops) {
    if (op->getNumRegions() != 0)
      return op->emitError("expects straight-line code in @") << kPlanName;
    if (auto assertion = dyn_cast<cf::AssertOp>(op)) {
      asserts.push_back(assertion);
      continue;
    }
    bool isIndex =
        op->getNumResults() == 1 && op->getResult(0).getType().isIndex();
    if (!isIndex)
      continue;
    if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      checkArithmetic(op);
    else if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                 arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(
                 op))
      checkDivision(op);
  }
  // The first assertion that fails is the one to report, and later messages
  // replace earlier ones.
  for (cf::AssertOp assertion : llvm::reverse(asserts)) {
    builder.setInsertionPoint(assertion);
    Value one = arith::ConstantIntOp::create(builder, assertion.getLoc(),
                                             builder.getI1Type(), 1);
    addFailure(assertion.getMsg(),
               arith::XOrIOp::create(builder, assertion.getLoc(),
                                     assertion.getArg(), one));
    assertion.erase();
  }
  finish();
  return success();
}

LogicalResult espalier::checkSizes(ModuleOp module) {
  FailureOr<ProgramFunctions> functions = findProgram(module);
  if (failed(functions))
    return failure();
  if (functions->plan.getNumResults() == 0)
    return emitError(functions->plan.getLoc(),
                     "expects the arena's size as a result; "
                     "run -program-plan-memory before");
  functions->main.walk([](cf::AssertOp assertion) { assertion.erase(); });
  return SizeChecker(functions->plan).run();
}

namespace {
struct ProgramCheckSizesPass
    : espalier::impl::ProgramCheckSizesPassBase<ProgramCheckSizesPass> {
  void runOnOperation() override {
    if (failed(checkSizes(getOperation())))
      signalPassFailure();
  }
};
} // namespace
