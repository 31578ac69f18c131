//===- Refactor.cpp - Moves terms of a child to the child's cell ----------===//
//
// A term of one child and of weights is a function of the child alone. So the
// child can compute it, as a further result:
//
//   f(n) = g(.., u h(child(n)), ..)   becomes   f(n) = g(.., t(child(n)), ..)
//                                               t(n) = u h(n)
//
// The move of the cut of the recursion in Cortex (Fegade and others, MLSys
// 2021, section 3.1); here the term alone moves, and each node computes it at
// most once more often than before: where no parent needs it.
//
//===----------------------------------------------------------------------===//

#include "espalier/Dialect/Rec/Transforms/Passes.h"
#include "espalier/Dialect/Rec/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace espalier::rec {
#define GEN_PASS_DEF_RECREFACTORPASS
#include "espalier/Dialect/Rec/Transforms/Passes.h.inc"
} // namespace espalier::rec

using namespace mlir;
using namespace espalier;
using namespace espalier::rec;

template <typename... Parts>
static llvm::Error refuse(Parts &&...parts) {
  std::string text;
  llvm::raw_string_ostream os(text);
  (os << ... << parts);
  return llvm::createStringError(text);
}

namespace {
/// A term, and what it is made of.
struct Term {
  /// What moves, operands first; the term last.
  llvm::SetVector<Operation *> ops;
  /// Of which child: that of calls, or of the body of `rec.children`.
  std::optional<uint64_t> child;
  ChildrenOp children;

  bool hasChild() const { return child || children; }
};
} // namespace

/// If `value` is a result of a child, its number.
static std::optional<unsigned> getChildResult(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (isa<ChildrenOp>(argument.getOwner()->getParentOp()))
      return argument.getArgNumber();
    return std::nullopt;
  }
  if (value.getDefiningOp<CallOp>())
    return cast<OpResult>(value).getResultNumber();
  return std::nullopt;
}

/// Adds the child that `value` is a result of.
static llvm::Error addChild(Term &term, Value value) {
  std::optional<uint64_t> child;
  ChildrenOp children;
  if (auto call = value.getDefiningOp<CallOp>())
    child = call.getChild();
  else
    children = cast<ChildrenOp>(value.getParentBlock()->getParentOp());
  if (term.hasChild() && (term.child != child || term.children != children))
    return refuse("expects a term of one child, but got one of several");
  term.child = child;
  term.children = children;
  return llvm::Error::success();
}

/// Collects what `op` needs. Operands are visited by a stack, as chains may be
/// long.
static llvm::Expected<Term> collect(Operation *op) {
  Term term;
  SmallVector<std::pair<Operation *, unsigned>> stack{{op, 0}};
  while (!stack.empty()) {
    auto &[next, operand] = stack.back();
    if (operand == next->getNumOperands()) {
      term.ops.insert(next);
      stack.pop_back();
      continue;
    }
    Value value = next->getOperand(operand++);
    if (getChildResult(value)) {
      if (llvm::Error error = addChild(term, value))
        return std::move(error);
      continue;
    }
    Operation *producer = value.getDefiningOp();
    if (!producer || term.ops.contains(producer))
      continue; // A weight.
    if (isa<FeatureOp>(producer))
      return refuse("expects a term of a child, but got one of the node's "
                    "features");
    if (isa<ChildrenOp>(producer))
      return refuse("expects a term of one child, but got one of several");
    stack.push_back({producer, 0});
  }
  if (!term.hasChild())
    return refuse("expects a term of a child, but got one of weights alone");
  return term;
}

/// Whether two values are the same term, of a child each.
static bool areTwins(Value lhs, Value rhs) {
  SmallVector<std::pair<Value, Value>> worklist{{lhs, rhs}};
  llvm::DenseSet<std::pair<Value, Value>> seen;
  while (!worklist.empty()) {
    auto [left, right] = worklist.pop_back_val();
    if (!seen.insert({left, right}).second)
      continue;
    std::optional<unsigned> number = getChildResult(left);
    if (number != getChildResult(right))
      return false;
    if (number)
      continue;
    if (left == right)
      continue;
    Operation *a = left.getDefiningOp(), *b = right.getDefiningOp();
    if (!a || !b || a->getName() != b->getName() ||
        a->getAttrDictionary() != b->getAttrDictionary() ||
        a->getResultTypes() != b->getResultTypes() ||
        a->getNumOperands() != b->getNumOperands() || a->getNumRegions() != 0 ||
        cast<OpResult>(left).getResultNumber() !=
            cast<OpResult>(right).getResultNumber())
      return false;
    for (auto [first, second] :
         llvm::zip_equal(a->getOperands(), b->getOperands()))
      worklist.emplace_back(first, second);
  }
  return true;
}

/// The same terms of all children, by their numbers; `op` alone where children
/// are reduced.
static llvm::Expected<SmallVector<Operation *>> findTwins(Operation *op,
                                                          const Term &term) {
  SmallVector<Operation *> twins{op};
  if (term.children)
    return twins;
  auto model = op->getParentOfType<ModelOp>();
  twins.assign(model.getNodeType().getArity(), nullptr);
  twins[*term.child] = op;
  for (Operation &other : *op->getBlock()) {
    if (&other == op || other.getName() != op->getName() ||
        !areTwins(op->getResult(0), other.getResult(0)))
      continue;
    llvm::Expected<Term> twin = collect(&other);
    if (!twin)
      llvm::consumeError(twin.takeError());
    else if (twin->child && !twins[*twin->child])
      twins[*twin->child] = &other;
  }
  for (auto [number, twin] : llvm::enumerate(twins))
    if (!twin)
      return refuse("expects the same term of each child, which nodes would "
                    "compute in vain otherwise, but child ",
                    number, " has none");
  return twins;
}

namespace {
struct Plan {
  Term term;
  SmallVector<Operation *> twins;
};
} // namespace

static llvm::Expected<Plan> makePlan(Operation *op) {
  auto cell = op->getParentOfType<CaseOp>();
  if (!cell || !isa<graph::DefinedOpInterface>(op) || op->getNumResults() != 1)
    return refuse("expects an operator with one result in a cell, but got '",
                  op->getName().getStringRef(), "'");
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape())
    return refuse("expects a term of known extents, but got ",
                  op->getResult(0).getType());
  llvm::Expected<Term> term = collect(op);
  if (!term)
    return term.takeError();
  auto twins = findTwins(op, *term);
  if (!twins)
    return twins.takeError();
  return Plan{std::move(*term), std::move(*twins)};
}

llvm::Error espalier::rec::checkRefactoring(Operation *term) {
  llvm::Expected<Plan> plan = makePlan(term);
  return plan ? llvm::Error::success() : plan.takeError();
}

/// Has a case compute the term of its own results, and yield it.
static Operation *addResult(RewriterBase &rewriter, CaseOp cell,
                            const Term &term) {
  Operation *yield = &cell.getBody().front().back();
  rewriter.setInsertionPoint(yield);
  IRMapping mapping;
  for (Operation *op : term.ops)
    for (Value operand : op->getOperands())
      if (std::optional<unsigned> number = getChildResult(operand))
        mapping.map(operand, yield->getOperand(*number));
  Operation *clone = nullptr;
  for (Operation *op : term.ops)
    clone = rewriter.clone(*op, mapping);
  rewriter.modifyOpInPlace(yield, [&] {
    yield->insertOperands(yield->getNumOperands(), clone->getResults());
  });
  return clone;
}

/// Replaces `op` by one with a further result.
static Operation *addResultType(RewriterBase &rewriter, Operation *op,
                                Type type) {
  rewriter.setInsertionPoint(op);
  OperationState state(op->getLoc(), op->getName(), op->getOperands(),
                       llvm::to_vector(op->getResultTypes()), op->getAttrs());
  state.types.push_back(type);
  Operation *fresh = rewriter.create(state);
  rewriter.replaceOp(op, fresh->getResults().drop_back());
  return fresh;
}

/// Gives the model and all that reads its results one more.
static void extend(RewriterBase &rewriter, ModelOp model,
                   RankedTensorType type) {
  FunctionType function = model.getFunctionType();
  SmallVector<Type> results(function.getResults());
  results.push_back(type);
  rewriter.modifyOpInPlace(model, [&] {
    model.setFunctionType(
        rewriter.getFunctionType(function.getInputs(), results));
    if (ArrayAttr attributes = model.getResAttrsAttr()) {
      SmallVector<Attribute> entries(attributes.getValue());
      entries.push_back(rewriter.getDictionaryAttr({}));
      model.setResAttrsAttr(rewriter.getArrayAttr(entries));
    }
  });
  SmallVector<Operation *> readers;
  model.walk([&](Operation *op) {
    if (isa<CallOp, ChildrenOp>(op))
      readers.push_back(op);
  });
  for (Operation *op : readers) {
    if (auto children = dyn_cast<ChildrenOp>(op))
      children.getBody().front().addArgument(type, op->getLoc());
    else
      addResultType(rewriter, op, type);
  }
  SmallVector<ApplyOp> applications;
  SymbolTable::getNearestSymbolTable(model->getParentOp())
      ->walk([&](ApplyOp apply) {
        // A module inside may have a model of the same name.
        if (SymbolTable::lookupNearestSymbolFrom(apply, apply.getModelAttr()) ==
            model.getOperation())
          applications.push_back(apply);
      });
  for (ApplyOp apply : applications) {
    auto first = cast<RankedTensorType>(apply.getResult(0).getType());
    SmallVector<int64_t> shape{first.getDimSize(0)};
    llvm::append_range(shape, type.getShape());
    addResultType(rewriter, apply,
                  RankedTensorType::get(shape, type.getElementType()));
  }
}

/// The first call of a child, which a term of it comes after.
static CallOp findCall(CaseOp cell, uint64_t child) {
  for (auto call : cell.getBody().getOps<CallOp>())
    if (call.getChild() == child)
      return call;
  llvm_unreachable("a term of a child is in a cell that calls it");
}

/// Erases what a term alone needed, users first.
static void eraseDead(RewriterBase &rewriter, CaseOp cell) {
  cell.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
    if (isOpTriviallyDead(op))
      rewriter.eraseOp(op);
  });
}

llvm::Expected<SmallVector<Operation *>>
espalier::rec::refactor(RewriterBase &rewriter, Operation *op) {
  llvm::Expected<Plan> plan = makePlan(op);
  if (!plan)
    return plan.takeError();
  auto cell = op->getParentOfType<CaseOp>();
  auto model = cell->getParentOfType<ModelOp>();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  unsigned result = model.getResultTypes().size();
  extend(rewriter, model, type);
  SmallVector<Operation *> moved;
  for (CaseOp cell : model.getBody().getOps<CaseOp>())
    moved.push_back(addResult(rewriter, cell, plan->term));
  ChildrenOp children = plan->term.children;
  for (auto [child, twin] : llvm::enumerate(plan->twins)) {
    rewriter.replaceOp(twin, children
                                 ? children.getBody().getArgument(result)
                                 : findCall(cell, child).getResult(result));
  }
  eraseDead(rewriter, cell);
  return moved;
}

/// Whether `op` is a sum over results of children, which is worth moving.
static bool isCandidate(Operation *op) {
  return hasSum(op) && getCellPart(op->getResult(0)) == CellPart::Recursion;
}

/// A candidate that can move and is not one of `moved`.
static Operation *findTerm(ModelOp model,
                           const llvm::DenseSet<Operation *> &moved) {
  Operation *found = nullptr;
  model.getCase(Case::Interior).walk([&](Operation *op) {
    if (!isCandidate(op) || moved.contains(op))
      return WalkResult::advance();
    if (llvm::Error error = checkRefactoring(op)) {
      llvm::consumeError(std::move(error));
      return WalkResult::advance();
    }
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

static void remarkMissed(Operation *op, StringRef reason, StringRef category) {
  remark::missed(op->getLoc(),
                 remark::RemarkOpts::name("Stays").category(category))
      << remark::metric("Reason", reason);
}

unsigned espalier::rec::refactorAll(RewriterBase &rewriter, ModelOp model,
                                    StringRef category) {
  // What has moved could be moved on, from child to child.
  llvm::DenseSet<Operation *> moved;
  unsigned numMoved = 0;
  bool hasGain = model.getNodeType().getArity() != 1;
  while (Operation *term = hasGain ? findTerm(model, moved) : nullptr) {
    Location loc = term->getLoc();
    for (Operation *op : llvm::cantFail(refactor(rewriter, term)))
      moved.insert(op);
    ++numMoved;
    remark::passed(loc, remark::RemarkOpts::name("Moved").category(category));
  }
  model.walk([&](Operation *op) {
    if (!isCandidate(op) || moved.contains(op))
      return;
    if (llvm::Error error = checkRefactoring(op))
      remarkMissed(op, llvm::toString(std::move(error)), category);
    else
      remarkMissed(op, "nodes have one child", category);
  });
  return numMoved;
}

namespace {
struct RecRefactorPass
    : espalier::rec::impl::RecRefactorPassBase<RecRefactorPass> {
  using RecRefactorPassBase::RecRefactorPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (auto model : getOperation().getOps<ModelOp>())
      numMoved += refactorAll(rewriter, model, getArgument());
  }
};
} // namespace
