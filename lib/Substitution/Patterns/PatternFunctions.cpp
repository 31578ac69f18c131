//===- PatternFunctions.cpp - What patterns of rules call -----------------===//

#include "Names.h"
#include "espalier/Substitution/OperatorText.h"
#include "espalier/Substitution/Patterns/Patterns.h"
#include "espalier/Substitution/Search/GraphOperators.h"
#include "espalier/Substitution/Shapes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace espalier::substitution;

namespace {
/// A rule that a pattern carries as text.
struct KnownRule {
  Rule rule;
  RuleTensors uses;
  unsigned number; ///< In the solver.
};

/// What the functions of one pattern module share.
struct Functions {
  ShapeSolver solver;
  llvm::StringMap<std::unique_ptr<KnownRule>> rules;
  std::function<void(const Rule &, Operation *)> onApply;

  /// Null if the text is not one rule.
  const KnownRule *getRule(PDLValue attribute) {
    auto text = dyn_cast_or_null<StringAttr>(attribute.dyn_cast<Attribute>());
    if (!text)
      return nullptr;
    auto [entry, isNew] = rules.try_emplace(text.getValue());
    if (!isNew)
      return entry->second.get();
    std::vector<Rule> parsed;
    bool isFaulty = failed(
        parseRules(text.getValue(), parsed, [](unsigned, const Twine &) {}));
    if (isFaulty || parsed.size() != 1)
      return nullptr;
    auto known = std::make_unique<KnownRule>();
    known->rule = std::move(parsed[0]);
    known->uses = listTensors(known->rule);
    known->number = solver.add(known->rule, known->rule.where);
    entry->second = std::move(known);
    return entry->second.get();
  }
};

/// The tensors that a pattern has found for those of `src`.
class Match {
public:
  /// Nothing if they are not what the rule has.
  static std::optional<Match> get(Functions &functions,
                                  ArrayRef<PDLValue> args) {
    Match match(functions);
    match.known = args.empty() ? nullptr : functions.getRule(args.front());
    if (!match.known || args.size() < 1 + match.known->uses.numSrc)
      return std::nullopt;
    const RuleTensors &uses = match.known->uses;
    for (unsigned number = 0; number < uses.numSrc; ++number) {
      PDLValue arg = args[1 + number];
      Operation *op = arg ? arg.dyn_cast<Operation *>() : nullptr;
      Value value = op    ? op->getResult(0)
                    : arg ? arg.dyn_cast<Value>()
                          : Value();
      bool isOp = !match.getNode(number).isVariable();
      if (!value || isOp != (op != nullptr))
        return std::nullopt;
      match.values.push_back(value);
    }
    return match;
  }

  const Rule &getRule() const { return known->rule; }
  Operation *getOp(unsigned number) const {
    return getNode(number).isVariable() ? nullptr
                                        : values[number].getDefiningOp();
  }
  /// The operation before which those of `dst` are created.
  Operation *getFirstOutput() const {
    Operation *first = getOp(known->uses.src.front());
    for (unsigned output : known->uses.src) {
      Operation *op = getOp(output);
      if (op->getBlock() == first->getBlock() && op->isBeforeInBlock(first))
        first = op;
    }
    return first;
  }

  bool fits();
  bool simplifies() const;
  /// The operators of `dst`, in the order of uses, after the tensors of `src`.
  std::optional<std::vector<OperatorInstance>> plan();

private:
  explicit Match(Functions &functions) : functions(functions) {}

  const RuleNode &getNode(unsigned number) const {
    return known->rule.graph[known->uses.list[number].node];
  }
  bool isConstant(unsigned number) const {
    return !getNode(number).isVariable() &&
           getNode(number).getInfo().isConstant();
  }
  bool isPlaceable() const;
  bool areDistinct() const;
  bool haveRightCuts(const RuleShapes &shapes) const;

  Functions &functions;
  const KnownRule *known = nullptr;
  SmallVector<Value> values;
};
} // namespace

/// Different operators of a rule are different operations; constants may be
/// one.
bool Match::areDistinct() const {
  llvm::SmallPtrSet<Operation *, 8> ops;
  for (unsigned number = 0; number < values.size(); ++number)
    if (!getNode(number).isVariable() && !isConstant(number) &&
        !ops.insert(getOp(number)).second)
      return false;
  return true;
}

/// Whether all that `dst` may use is there before the first output. With one
/// output, its operands are.
bool Match::isPlaceable() const {
  Operation *first = getFirstOutput();
  for (auto [number, value] : llvm::enumerate(values)) {
    if (llvm::is_contained(known->uses.src, number)) {
      if (getOp(number)->getBlock() != first->getBlock())
        return false;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (op && op->getBlock() == first->getBlock() &&
        !op->isBeforeInBlock(first))
      return false;
  }
  return true;
}

bool Match::haveRightCuts(const RuleShapes &shapes) const {
  for (unsigned number = 0; number < values.size(); ++number) {
    auto type = cast<RankedTensorType>(values[number].getType());
    if (type.getShape() != ArrayRef<int64_t>(shapes.shapes[number]))
      return false;
    if (!getNode(number).getInfo().has(kCut))
      continue;
    std::optional<OperatorInstance> instance = getInstance(getOp(number));
    if (!instance ||
        getCut(*instance, getNode(number).params) != shapes.cuts[number])
      return false;
  }
  return true;
}

std::optional<std::vector<OperatorInstance>> Match::plan() {
  Type elementType;
  for (Value value : values) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() ||
        !isa<FloatType>(type.getElementType()) ||
        (elementType && elementType != type.getElementType()))
      return std::nullopt;
    elementType = type.getElementType();
  }
  std::string why;
  auto getShape = [&](unsigned use) -> std::optional<Shape> {
    auto type = cast<RankedTensorType>(values[use].getType());
    return Shape(type.getShape());
  };
  std::optional<RuleShapes> shapes =
      functions.solver.solve(known->number, getShape, why);
  if (!shapes || !haveRightCuts(*shapes))
    return std::nullopt;
  const RuleTensors &uses = known->uses;
  SmallVector<RankedTensorType> types;
  for (const Shape &shape : shapes->shapes)
    types.push_back(RankedTensorType::get(shape, elementType));
  std::vector<OperatorInstance> result;
  for (unsigned number = uses.numSrc; number < uses.list.size(); ++number) {
    SmallVector<RankedTensorType> operands;
    for (unsigned operand : uses.list[number].operands)
      operands.push_back(types[operand]);
    Choices choices;
    choices.cut = shapes->cuts[number].value_or(0);
    choices.type = types[number];
    std::optional<OperatorInstance> made =
        makeOperator(getNode(number).op, getNode(number).params, operands,
                     choices, elementType.getContext());
    if (!made || made->result != types[number])
      return std::nullopt;
    result.push_back(std::move(*made));
  }
  for (auto [src, dst] : llvm::zip_equal(uses.src, uses.dst))
    if (types[src] != types[dst])
      return std::nullopt;
  return result;
}

bool Match::fits() {
  return areDistinct() && isPlaceable() && plan().has_value();
}

/// Whether a value depends on constants alone.
static bool isKnown(Value value, unsigned depth = 0) {
  constexpr unsigned kMaxDepth = 16;
  Operation *op = value.getDefiningOp();
  if (!op || depth > kMaxDepth)
    return false;
  if (op->hasTrait<OpTrait::ConstantLike>())
    return true;
  return getInstance(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
           return isKnown(operand, depth + 1);
         });
}

bool Match::simplifies() const {
  const RuleTensors &uses = known->uses;
  llvm::SmallDenseSet<unsigned, 8> reused(uses.dst.begin(), uses.dst.end());
  SmallVector<bool> isConstantTensor;
  for (Value value : values)
    isConstantTensor.push_back(isKnown(value));
  unsigned numNew = 0, numNewKernels = 0;
  for (unsigned number = uses.numSrc; number < uses.list.size(); ++number) {
    llvm::ArrayRef<unsigned> operands = uses.list[number].operands;
    isConstantTensor.push_back(llvm::all_of(
        operands, [&](unsigned operand) { return isConstantTensor[operand]; }));
    numNew += !isConstantTensor.back();
    numNewKernels +=
        !isConstantTensor.back() && getNode(number).getInfo().has(kKernel);
    reused.insert(operands.begin(), operands.end());
  }
  // Users come behind their operands.
  llvm::SmallPtrSet<Operation *, 8> unused;
  unsigned numUnused = 0, numUnusedKernels = 0;
  for (unsigned number = uses.numSrc; number-- > 0;) {
    Operation *op = getOp(number);
    if (!op || reused.contains(number))
      continue;
    bool isUnused = llvm::is_contained(uses.src, number) ||
                    llvm::all_of(op->getUsers(), [&](Operation *user) {
                      return unused.contains(user);
                    });
    if (!isUnused || !unused.insert(op).second || isConstantTensor[number])
      continue;
    ++numUnused;
    numUnusedKernels += getNode(number).getInfo().has(kKernel);
  }
  return numUnused > numNew && numUnusedKernels >= numNewKernels;
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static std::optional<OperatorText> getOperator(PDLValue value) {
  auto text = dyn_cast_or_null<StringAttr>(value.dyn_cast<Attribute>());
  std::string complaint;
  return text ? parseOperator(text.getValue(), complaint) : std::nullopt;
}

/// espalier_is(op, text)
static LogicalResult is(PatternRewriter &, PDLResultList &,
                        ArrayRef<PDLValue> args) {
  if (args.size() != 2)
    return failure();
  std::optional<OperatorText> text = getOperator(args[1]);
  std::optional<OperatorInstance> instance =
      getInstance(args[0].cast<Operation *>());
  return success(text && instance &&
                 isOperator(*instance, text->kind, text->params));
}

static Value create(PatternRewriter &rewriter, const OperatorInstance &instance,
                    ArrayRef<PDLValue> operands) {
  SmallVector<Value> values;
  for (PDLValue operand : operands)
    values.push_back(operand.cast<Value>());
  return createOperation(rewriter, rewriter.getInsertionPoint()->getLoc(),
                         instance, values);
}

/// espalier_create(text, operands..)
static LogicalResult createPlain(PatternRewriter &rewriter,
                                 PDLResultList &results,
                                 ArrayRef<PDLValue> args) {
  std::optional<OperatorText> text =
      args.empty() ? std::nullopt : getOperator(args.front());
  if (!text || !getInfo(text->kind).takes(args.size() - 1))
    return failure();
  SmallVector<RankedTensorType> types;
  for (PDLValue operand : args.drop_front()) {
    auto type = dyn_cast<RankedTensorType>(operand.cast<Value>().getType());
    if (!type)
      return failure();
    types.push_back(type);
  }
  std::optional<OperatorInstance> instance = makeOperator(
      text->kind, text->params, types, Choices(), rewriter.getContext());
  if (!instance)
    return failure();
  results.push_back(create(rewriter, *instance, args.drop_front()));
  return success();
}

void espalier::substitution::registerPatternFunctions(
    PDLPatternModule &patterns,
    std::function<void(const Rule &, Operation *)> onApply) {
  auto functions = std::make_shared<Functions>();
  functions->onApply = std::move(onApply);
  patterns.registerConstraintFunction(names::kIs, PDLConstraintFunction(is));
  patterns.registerConstraintFunction(
      names::kFits,
      PDLConstraintFunction([functions](PatternRewriter &, PDLResultList &,
                                        ArrayRef<PDLValue> args) {
        std::optional<Match> match = Match::get(*functions, args);
        return success(match && match->fits());
      }));
  patterns.registerConstraintFunction(
      names::kSimplifies,
      PDLConstraintFunction([functions](PatternRewriter &, PDLResultList &,
                                        ArrayRef<PDLValue> args) {
        std::optional<Match> match = Match::get(*functions, args);
        return success(match && match->simplifies());
      }));
  patterns.registerRewriteFunction(
      names::kBegin,
      PDLRewriteFunction([functions](PatternRewriter &rewriter, PDLResultList &,
                                     ArrayRef<PDLValue> args) {
        std::optional<Match> match = Match::get(*functions, args);
        if (!match)
          return failure();
        rewriter.setInsertionPoint(match->getFirstOutput());
        if (functions->onApply)
          functions->onApply(match->getRule(), match->getFirstOutput());
        return success();
      }));
  patterns.registerRewriteFunction(names::kCreate,
                                   PDLRewriteFunction(createPlain));
  // (text, rule, number, tensors.., operands..)
  patterns.registerRewriteFunction(
      names::kCreateSized,
      PDLRewriteFunction([functions](PatternRewriter &rewriter,
                                     PDLResultList &results,
                                     ArrayRef<PDLValue> args) {
        if (args.size() < 3)
          return failure();
        auto number = dyn_cast<IntegerAttr>(args[2].cast<Attribute>());
        SmallVector<PDLValue> tensors{args[1]};
        llvm::append_range(tensors, args.drop_front(3));
        std::optional<Match> match = Match::get(*functions, tensors);
        if (!match || !number)
          return failure();
        unsigned numSrc = listTensors(match->getRule()).numSrc;
        std::optional<std::vector<OperatorInstance>> plan = match->plan();
        if (!plan || number.getInt() < numSrc ||
            number.getInt() - numSrc >= static_cast<int64_t>(plan->size()))
          return failure();
        results.push_back(create(rewriter, (*plan)[number.getInt() - numSrc],
                                 args.drop_front(3 + numSrc)));
        return success();
      }));
}
