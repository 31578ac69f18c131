//===- CheckSizes.cpp - Makes @main_plan report sizes out of range --------===//

#include "espalier/Conversion/LoopsToProgram/Passes.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
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
/// Collects, per message, the conditions under which it applies in a block.
class SizeChecker {
public:
  /// `messages` are those of all blocks.
  SizeChecker(Block &block, SmallVectorImpl<Attribute> &messages)
      : builder(block.getParentOp()->getContext()), block(block),
        messages(messages) {}

  LogicalResult run();

private:
  void addFailure(StringRef message, Value fails);
  void checkArithmetic(Operation *op);
  void checkDivision(Operation *op);
  LogicalResult checkVersions(Operation *op);
  Value createIsNegative(Location loc, Value value);
  void finish();

  OpBuilder builder;
  Block &block;
  SmallVectorImpl<Attribute> &messages;
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
  // What is looked for must not be taken for impossible.
  op->setAttr("overflowFlags",
              arith::IntegerOverflowFlagsAttr::get(
                  op->getContext(), arith::IntegerOverflowFlags::none));
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

/// Checks the sizes of two versions, of which the last result is one.
LogicalResult SizeChecker::checkVersions(Operation *op) {
  auto choice = dyn_cast<scf::IfOp>(op);
  bool isSize =
      choice && choice.elseBlock() && choice.getNumResults() == 1 &&
      block.getTerminator()->getOperands().back() == choice.getResult(0);
  if (!isSize)
    return op->emitError("expects straight-line code in @") << kPlanName;
  for (Region &region : choice->getRegions())
    if (failed(SizeChecker(region.front(), messages).run()))
      return failure();
  return success();
}

/// Makes the last result `-k` where message k applies; assertions win over
/// what may have followed from them.
void SizeChecker::finish() {
  Operation *terminator = block.getTerminator();
  builder.setInsertionPoint(terminator);
  unsigned last = terminator->getNumOperands() - 1;
  Value result = terminator->getOperand(last);
  for (auto &[message, conditions] : failures) {
    int64_t number = llvm::find(messages, message) - messages.begin();
    if (number == static_cast<int64_t>(messages.size()))
      messages.push_back(message);
    Value fails = conditions.front();
    for (Value condition : llvm::drop_begin(conditions))
      fails =
          arith::OrIOp::create(builder, condition.getLoc(), fails, condition);
    Value code =
        arith::ConstantIndexOp::create(builder, fails.getLoc(), -(number + 1));
    result =
        arith::SelectOp::create(builder, fails.getLoc(), fails, code, result);
  }
  terminator->setOperand(last, result);
}

LogicalResult SizeChecker::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator())
    ops.push_back(&op);
  SmallVector<cf::AssertOp> asserts;
  for (Operation *op : ops) {
    if (op->getNumRegions() != 0) {
      if (failed(checkVersions(op)))
        return failure();
      continue;
    }
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
  SmallVector<Attribute> messages;
  func::FuncOp plan = functions->plan;
  if (failed(SizeChecker(plan.getBody().front(), messages).run()))
    return failure();
  plan->setAttr(kPlanMessagesAttr,
                ArrayAttr::get(module.getContext(), messages));
  return success();
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
