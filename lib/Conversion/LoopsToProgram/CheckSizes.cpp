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
/// A condition under which a message applies, and the numbers in it, if any.
struct Failure {
  Value fails;
  std::array<Value, kNumPlanValues> values = {};
};

/// Collects, per message, the conditions under which it applies in a block.
class SizeChecker {
public:
  /// `messages` are those of all blocks.
  SizeChecker(Block &block, SmallVectorImpl<Attribute> &messages)
      : builder(block.getParentOp()->getContext()), block(block),
        messages(messages) {}

  LogicalResult run();

private:
  void addFailure(StringRef message, Failure failure);
  void checkAssertion(cf::AssertOp assertion);
  void checkArithmetic(Operation *op);
  void checkDivision(Operation *op);
  LogicalResult checkVersions(Operation *op);
  Value createIsNegative(Location loc, Value value);
  void finish();
  /// Whether the block is the plan's and not that of a version.
  bool isPlan() const { return isa<func::FuncOp>(block.getParentOp()); }

  OpBuilder builder;
  Block &block;
  SmallVectorImpl<Attribute> &messages;
  llvm::MapVector<StringAttr, SmallVector<Failure>> failures;
};
} // namespace

void SizeChecker::addFailure(StringRef message, Failure failure) {
  failures[builder.getStringAttr(message)].push_back(failure);
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
    return addFailure(kOverflowMessage, {fails});
  }
  Value sides = isa<arith::AddIOp>(op) ? createXor(b, r) : createXor(a, b);
  Value both = arith::AndIOp::create(builder, loc, createXor(a, r), sides);
  addFailure(kOverflowMessage, {createIsNegative(loc, both)});
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
  addFailure(kDivisorMessage, {fails});
}

/// What an assertion compares, unless some exception holds.
static arith::CmpIOp findComparison(Value condition) {
  while (auto either = condition.getDefiningOp<arith::OrIOp>())
    condition = either.getLhs();
  return condition.getDefiningOp<arith::CmpIOp>();
}

/// How the sides of a comparison that fails are to each other; "" for those
/// that sizes are not checked by.
static StringRef describeFailure(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return ": % is not %";
  case arith::CmpIPredicate::sle:
    return ": % is more than %";
  case arith::CmpIPredicate::sge:
    return ": % is less than %";
  default:
    return "";
  }
}

/// The two sizes that an assertion of the plan compares are part of what it
/// says; one version does not return them.
void SizeChecker::checkAssertion(cf::AssertOp assertion) {
  Location loc = assertion.getLoc();
  builder.setInsertionPoint(assertion);
  Value one =
      arith::ConstantIntOp::create(builder, loc, builder.getI1Type(), 1);
  Failure failure{arith::XOrIOp::create(builder, loc, assertion.getArg(), one)};
  std::string message;
  for (char c : assertion.getMsg())
    message += c == '%' ? "%%" : std::string(1, c);
  arith::CmpIOp comparison = findComparison(assertion.getArg());
  if (isPlan() && comparison && comparison.getLhs().getType().isIndex()) {
    StringRef values = describeFailure(comparison.getPredicate());
    message += values;
    if (!values.empty())
      failure.values = {comparison.getLhs(), comparison.getRhs()};
  }
  addFailure(message, failure);
  assertion.erase();
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
/// what may have followed from them. The plan returns the message's numbers
/// behind it.
void SizeChecker::finish() {
  Operation *terminator = block.getTerminator();
  builder.setInsertionPoint(terminator);
  unsigned last = terminator->getNumOperands() - 1;
  Value result = terminator->getOperand(last);
  Value zero = arith::ConstantIndexOp::create(builder, terminator->getLoc(), 0);
  SmallVector<Value> numbers(kNumPlanValues, zero);
  for (auto &[message, group] : failures) {
    int64_t number = llvm::find(messages, message) - messages.begin();
    if (number == static_cast<int64_t>(messages.size()))
      messages.push_back(message);
    Value fails;
    for (const Failure &failure : group) {
      Location loc = failure.fails.getLoc();
      fails = fails ? arith::OrIOp::create(builder, loc, fails, failure.fails)
                    : failure.fails;
      for (auto [number, value] : llvm::zip_equal(numbers, failure.values))
        if (value)
          number = arith::SelectOp::create(builder, loc, failure.fails, value,
                                           number);
    }
    Value code =
        arith::ConstantIndexOp::create(builder, fails.getLoc(), -(number + 1));
    result =
        arith::SelectOp::create(builder, fails.getLoc(), fails, code, result);
  }
  terminator->setOperand(last, result);
  if (isPlan())
    terminator->insertOperands(last + 1, numbers);
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
  for (cf::AssertOp assertion : llvm::reverse(asserts))
    checkAssertion(assertion);
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
  for (unsigned i = 0; i < kNumPlanValues; ++i)
    if (failed(plan.insertResult(plan.getNumResults(),
                                 IndexType::get(module.getContext()), {})))
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
