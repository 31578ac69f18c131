//===- ImportPatterns.cpp - Reads PDL patterns as rules -------------------===//
//
// A pattern is a rule if each of its operations is an operator of the text
// form. Which one an operation is follows from its name and attributes where
// these are enough, and otherwise from `espalier_is`. Whatever else a pattern
// says is refused, since a proof of the rule would be none of the pattern.
//
//===----------------------------------------------------------------------===//

#include "Names.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/OperatorText.h"
#include "espalier/Substitution/Patterns/Patterns.h"
#include "espalier/Substitution/Search/GraphOperators.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

/// As in the text form, where larger rules are refused too.
static constexpr unsigned kMaxOperators = 1000;
static constexpr unsigned kMaxDepth = 100;

namespace {
class PatternImporter {
public:
  explicit PatternImporter(pdl::PatternOp pattern) : pattern(pattern) {}

  FailureOr<Rule> run() {
    rule.name = pattern.getSymName().value_or("pattern").str();
    if (StringRef(rule.name).find_first_of(" \t\r\n:") != StringRef::npos)
      return pattern.emitOpError(
                 "expects a name without spaces or colons, but got '")
             << rule.name << "'";
    if (failed(collectOperators()))
      return failure();
    for (Operation &op : pattern.getBodyRegion().front())
      if (failed(importMatch(&op)))
        return failure();
    pdl::RewriteOp rewrite = pattern.getRewriter();
    if (rewrite.getName())
      return rewrite.emitOpError("expects its rewrite in the pattern, but got "
                                 "the external function '")
             << *rewrite.getName() << "'";
    for (Operation &op : rewrite.getBodyRegion().front())
      if (failed(importRewrite(&op)))
        return failure();
    std::string complaint = check(rule);
    if (!complaint.empty())
      return pattern.emitOpError(complaint);
    if (failed(importConditions()))
      return failure();
    return std::move(rule);
  }

private:
  LogicalResult refuse(Operation *op) {
    return op->emitOpError("expects what rules can say, but got another "
                           "condition or change");
  }

  /// The text of a constant attribute.
  static std::optional<StringRef> getText(Value value) {
    auto attribute = value.getDefiningOp<pdl::AttributeOp>();
    auto text = attribute
                    ? dyn_cast_or_null<StringAttr>(attribute.getValueAttr())
                    : StringAttr();
    return text ? std::optional(text.getValue()) : std::nullopt;
  }

  FailureOr<OperatorText> parse(Operation *op, Value text) {
    std::optional<StringRef> spelled = getText(text);
    if (!spelled)
      return op->emitOpError(
          "expects a constant text that names an operator of rules");
    std::string complaint;
    std::optional<OperatorText> parsed = parseOperator(*spelled, complaint);
    if (!parsed)
      return op->emitOpError(complaint);
    return *parsed;
  }

  /// Reads what `espalier_is` says of operations.
  LogicalResult collectOperators() {
    for (auto constraint :
         pattern.getBodyRegion().getOps<pdl::ApplyNativeConstraintOp>()) {
      StringRef name = constraint.getName();
      bool isOurs = name == names::kFits || name == names::kSimplifies;
      if (isOurs && constraint.getIsNegated() == false)
        continue;
      if (name != names::kIs || constraint.getIsNegated() ||
          constraint.getArgs().size() != 2)
        return constraint.emitOpError("expects the constraint '")
               << names::kIs << "', but got '" << name << "'";
      FailureOr<OperatorText> text = parse(constraint, constraint.getArgs()[1]);
      if (failed(text))
        return failure();
      stated[constraint.getArgs()[0]] = *text;
    }
    return success();
  }

  LogicalResult importMatch(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<pdl::OperandOp, pdl::AttributeOp, pdl::ApplyNativeConstraintOp,
              pdl::RewriteOp>([](auto) { return success(); })
        .Case<pdl::TypeOp>([&](pdl::TypeOp type) {
          return type.getConstantType() ? refuse(op) : success();
        })
        .Case<pdl::TypesOp>([&](pdl::TypesOp types) {
          return types.getConstantTypes() ? refuse(op) : success();
        })
        .Case<pdl::OperationOp>([&](pdl::OperationOp operation) {
          return importOperation(operation, /*isMatch=*/true);
        })
        .Case<pdl::ResultOp>([&](pdl::ResultOp result) {
          return importResult(result, result.getParent(), result.getIndex());
        })
        .Case<pdl::ResultsOp>([&](pdl::ResultsOp results) {
          return importResult(results, results.getParent(),
                              results.getIndex().value_or(0));
        })
        .Default([&](Operation *) { return refuse(op); });
  }

  LogicalResult importResult(Operation *op, Value parent, uint32_t index) {
    if (index != 0)
      return refuse(op);
    NodeId node = nodes.lookup(parent);
    nodes[op->getResult(0)] = node;
    return success();
  }

  /// The node of a value; a variable if it is an operand of the pattern.
  FailureOr<NodeId> getNode(Operation *user, Value value, bool isScalar) {
    auto known = nodes.find(value);
    if (known != nodes.end()) {
      bool wasScalar = rule.graph[known->second].kind == RuleNode::Kind::Scalar;
      if (wasScalar != isScalar)
        return user->emitOpError(
            "expects a value to be either a tensor or a scalar factor");
      return known->second;
    }
    auto operand = value.getDefiningOp<pdl::OperandOp>();
    if (!operand)
      return user->emitOpError("expects operands that are 'pdl.operand' or "
                               "results of operations of the pattern");
    NodeId node = isScalar ? rule.graph.addScalar(numScalars++)
                           : rule.graph.addTensor(numTensors++);
    nodes[value] = node;
    return node;
  }

  FailureOr<NodeId> makeNode(Operation *op, const OperatorText &text,
                             ValueRange values) {
    const OperatorInfo &info = getInfo(text.kind);
    if (!info.takes(values.size()))
      return op->emitOpError("expects ")
             << info.numOperands << " operands of '" << info.name
             << "', but got " << values.size();
    SmallVector<NodeId> operands;
    unsigned size = 1, depth = 1;
    for (auto [position, value] : llvm::enumerate(values)) {
      FailureOr<NodeId> node =
          getNode(op, value, info.isScalarOperand(position));
      if (failed(node))
        return failure();
      operands.push_back(*node);
      size += sizes[*node].first;
      depth = std::max(depth, sizes[*node].second + 1);
    }
    if (size > kMaxOperators || depth > kMaxDepth)
      return op->emitOpError("expects at most ")
             << kMaxOperators << " operators, of which at most " << kMaxDepth
             << " are nested, but got " << size << " and " << depth;
    NodeId result = rule.graph.addOperator(text.kind, text.params, operands);
    sizes[result] = {size, depth};
    return result;
  }

  LogicalResult importOperation(pdl::OperationOp op, bool isMatch) {
    auto known = stated.find(op.getOp());
    std::optional<OperatorText> text;
    if (known != stated.end()) {
      text = known->second;
      if (op.getOpName() && *op.getOpName() != getGraphName(text->kind))
        return op.emitOpError("expects '")
               << getGraphName(text->kind) << "', as '" << names::kIs
               << "' says, but got '" << *op.getOpName() << "'";
      if (!op.getAttributeValueNames().empty())
        return op.emitOpError("expects no attributes beside those of '")
               << names::kIs << "'";
    } else {
      FailureOr<OperatorText> derived = derive(op, isMatch);
      if (failed(derived))
        return failure();
      text = *derived;
    }
    FailureOr<NodeId> node = makeNode(op, *text, op.getOperandValues());
    if (failed(node))
      return failure();
    nodes[op.getOp()] = *node;
    return success();
  }

  /// What an operation is by its name and attributes.
  FailureOr<OperatorText> derive(pdl::OperationOp op, bool isMatch) {
    StringRef name = op.getOpName().value_or("");
    NamedAttrList attributes;
    for (auto [key, value] : llvm::zip_equal(
             op.getAttributeValueNamesAttr().getAsRange<StringAttr>(),
             op.getAttributeValues())) {
      auto attribute = value.getDefiningOp<pdl::AttributeOp>();
      if (!attribute || !attribute.getValueAttr())
        return op.emitOpError("expects a constant for '") << key << "'";
      attributes.set(key, attribute.getValueAttr());
    }
    DictionaryAttr given = attributes.getDictionary(op.getContext());
    SmallVector<std::pair<OperatorText, DictionaryAttr>> forms =
        getForms(name, op.getContext());
    // What is made has defaults; what matches may have any.
    DictionaryAttr all =
        isMatch ? given : addDefaults(op.getLoc(), name, given);
    for (const auto &[text, attributes] : forms)
      if (attributes == all)
        return text;
    InFlightDiagnostic diagnostic = op.emitOpError("expects '")
                                    << (isMatch ? names::kIs : names::kCreate)
                                    << "' to say which operator of rules '"
                                    << name << "' is";
    if (!forms.empty()) {
      diagnostic << ", or its attributes to be one of [";
      llvm::interleaveComma(llvm::make_second_range(forms), diagnostic);
      diagnostic << "], but got " << given;
    }
    return diagnostic;
  }

  /// The operators of rules that one of `graph` is whatever the ranks are, and
  /// its attributes then: what else parameters say is in types, which patterns
  /// do not have.
  static SmallVector<std::pair<OperatorText, DictionaryAttr>>
  getForms(StringRef name, MLIRContext *context) {
    SmallVector<std::pair<OperatorText, DictionaryAttr>> forms;
    for (const OperatorInfo &info : getOperators()) {
      bool hasOthers = llvm::any_of(info.params, [](const ParamInfo &param) {
        return param.kind != ParamKind::Activation;
      });
      if (name != getGraphName(info.kind) || info.isConstant() || hasOthers ||
          info.has(kScalarLast))
        continue;
      for (int64_t activation : {kNoActivation, kReluActivation}) {
        OperatorText text{info.kind, {}};
        text.params.assign(info.params.size(), Param{activation});
        SmallVector<RankedTensorType> operands;
        for (unsigned operand = 0; operand < info.numOperands; ++operand)
          operands.push_back(RankedTensorType::get(
              SmallVector<int64_t>(
                  getRequiredRank(info.kind, text.params, operand).value_or(2),
                  ShapedType::kDynamic),
              Float32Type::get(context)));
        auto instance =
            makeOperator(info.kind, text.params, operands, {}, context);
        if (instance &&
            (forms.empty() || forms.back().second != instance->attributes))
          forms.emplace_back(text, instance->attributes);
      }
    }
    return forms;
  }

  /// The attributes of an operation that is made with these.
  static DictionaryAttr addDefaults(Location loc, StringRef name,
                                    DictionaryAttr given) {
    OperationState state(loc, name);
    state.addAttributes(given.getValue());
    Operation *made = Operation::create(state);
    DictionaryAttr all = made->getAttrDictionary();
    made->destroy();
    return all;
  }

  LogicalResult importRewrite(Operation *op) {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<pdl::AttributeOp, pdl::TypeOp, pdl::TypesOp>(
            [](auto) { return success(); })
        .Case<pdl::OperationOp>([&](pdl::OperationOp operation) {
          return importOperation(operation, /*isMatch=*/false);
        })
        .Case<pdl::ResultOp>([&](pdl::ResultOp result) {
          return importResult(result, result.getParent(), result.getIndex());
        })
        .Case<pdl::ResultsOp>([&](pdl::ResultsOp results) {
          return importResult(results, results.getParent(),
                              results.getIndex().value_or(0));
        })
        .Case<pdl::ApplyNativeRewriteOp>(
            [&](pdl::ApplyNativeRewriteOp call) { return importCall(call); })
        .Case<pdl::ReplaceOp>(
            [&](pdl::ReplaceOp replace) { return importReplace(replace); })
        .Default([&](Operation *) { return refuse(op); });
  }

  LogicalResult importCall(pdl::ApplyNativeRewriteOp call) {
    StringRef name = call.getName();
    if (name == names::kBegin)
      return success();
    bool isSized = name == names::kCreateSized;
    if ((name != names::kCreate && !isSized) || call.getArgs().empty() ||
        call.getNumResults() != 1)
      return call.emitOpError("expects the function '")
             << names::kCreate << "', but got '" << name << "'";
    FailureOr<OperatorText> text = parse(call, call.getArgs()[0]);
    if (failed(text))
      return failure();
    const OperatorInfo &info = getInfo(text->kind);
    ValueRange args = call.getArgs();
    unsigned numOperands = isSized ? info.numOperands : args.size() - 1;
    if (args.size() < 1 + numOperands || !info.takes(numOperands))
      return call.emitOpError("expects ")
             << info.numOperands << " operands of '" << info.name
             << "', but got " << args.size() - 1;
    FailureOr<NodeId> node = makeNode(call, *text, args.take_back(numOperands));
    if (failed(node))
      return failure();
    nodes[call.getResult(0)] = *node;
    return success();
  }

  LogicalResult importReplace(pdl::ReplaceOp replace) {
    Value by = replace.getReplOperation();
    if (!by && replace.getReplValues().size() == 1)
      by = replace.getReplValues().front();
    if (!by || !nodes.count(replace.getOpValue()))
      return refuse(replace);
    FailureOr<NodeId> node = getNode(replace, by, /*isScalar=*/false);
    if (failed(node))
      return failure();
    rule.src.push_back(nodes[replace.getOpValue()]);
    rule.dst.push_back(*node);
    return success();
  }

  /// Takes over the condition of a pattern that was emitted.
  LogicalResult importConditions() {
    for (auto constraint :
         pattern.getBodyRegion().getOps<pdl::ApplyNativeConstraintOp>()) {
      if (constraint.getName() != names::kFits)
        continue;
      std::optional<StringRef> text;
      if (!constraint.getArgs().empty())
        text = getText(constraint.getArgs().front());
      std::vector<Rule> parsed;
      bool isFaulty =
          !text ||
          failed(parseRules(*text, parsed, [](unsigned, const Twine &) {}));
      if (isFaulty || parsed.size() != 1)
        return constraint.emitOpError("expects the text of one rule");
      // Printed, equal rules are equal but for the names of variables.
      RuleTensors uses = listTensors(rule), others = listTensors(parsed[0]);
      bool isSame = uses.list.size() == others.list.size() &&
                    uses.src == others.src && uses.dst == others.dst;
      for (auto [use, other] : llvm::zip(uses.list, others.list)) {
        const RuleNode &node = rule.graph[use.node];
        const RuleNode &second = parsed[0].graph[other.node];
        isSame &= use.operands == other.operands && node.kind == second.kind &&
                  (node.isVariable() ||
                   (node.op == second.op && node.params == second.params));
      }
      if (!isSame)
        return constraint.emitOpError(
            "expects the rule that the pattern says, but got another");
      rule.where.add(renumber(parsed[0].where, uses));
    }
    return success();
  }

  /// The same guard, about the nodes of `uses`.
  static Guard renumber(Guard guard, const RuleTensors &uses) {
    auto visit = [&](SizeExpr &expr, auto &self) -> void {
      expr.term.node = uses.list[expr.term.use].node;
      for (SizeExpr &operand : expr.operands)
        self(operand, self);
    };
    for (GuardClause &clause : guard.clauses)
      for (std::vector<GuardAtom> &atoms : clause)
        for (GuardAtom &atom : atoms) {
          visit(atom.lhs, visit);
          visit(atom.rhs, visit);
        }
    return guard;
  }

  pdl::PatternOp pattern;
  Rule rule;
  llvm::DenseMap<Value, OperatorText> stated;
  llvm::DenseMap<Value, NodeId> nodes;
  /// Of each node, written out as text: how many operators, how deep.
  llvm::DenseMap<NodeId, std::pair<unsigned, unsigned>> sizes;
  unsigned numTensors = 0, numScalars = 0;
};
} // namespace

LogicalResult espalier::substitution::importPatterns(ModuleOp module,
                                                     std::vector<Rule> &rules) {
  bool isFaulty = false;
  for (Operation &op : *module.getBody()) {
    auto pattern = dyn_cast<pdl::PatternOp>(op);
    if (!pattern) {
      op.emitOpError("expects patterns alone");
      isFaulty = true;
      continue;
    }
    FailureOr<Rule> rule = PatternImporter(pattern).run();
    isFaulty |= failed(rule);
    if (succeeded(rule))
      rules.push_back(std::move(*rule));
  }
  return failure(isFaulty);
}
