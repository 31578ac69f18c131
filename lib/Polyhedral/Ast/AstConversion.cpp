//===- AstConversion.cpp - isl's AST in our terms -------------------------===//

#include "AstConversion.h"
#include "../Isl.h"
#include "llvm/ADT/StringMap.h"
#include <isl/id.h>
#include <isl/val.h>

using namespace mlir;
using namespace espalier::polyhedral;

using AstExprPtr = isl::Ptr<isl_ast_expr, isl_ast_expr_copy, isl_ast_expr_free>;
using AstNodePtr = isl::Ptr<isl_ast_node, isl_ast_node_copy, isl_ast_node_free>;

namespace {
/// Translates expressions and nodes; `failed` is set by whatever has no
/// counterpart.
class AstConverter {
public:
  AstConverter(const Program &program, llvm::ArrayRef<MarkInfo> marks)
      : program(program), marks(marks) {}

  Ast convert(AstNodePtr node);
  llvm::StringRef getFault() const { return fault; }

private:
  AstExpr convertExpr(const AstExprPtr &expr);
  AstExpr convertOp(const AstExprPtr &expr);
  AstCondition convertCondition(const AstExprPtr &expr);
  Ast convertFor(const AstNodePtr &node);
  Ast convertIf(const AstNodePtr &node);
  Ast convertMark(const AstNodePtr &node);
  Ast convertUser(const AstNodePtr &node);

  AstExpr makeConstant(int64_t value) {
    return AstExpr(getAffineConstantExpr(value, program.context));
  }
  AstExpr fail(llvm::StringRef what) {
    if (fault.empty())
      fault = what.str();
    return makeConstant(0);
  }
  /// The sum of an arbitrary and an affine expression.
  AstExpr add(const AstExpr &lhs, const AstExpr &rhs);
  AstExpr negate(const AstExpr &expr);

  const Program &program;
  llvm::ArrayRef<MarkInfo> marks;
  std::string fault;
  /// The innermost band above, and the values of isl's iterators.
  std::optional<MarkInfo> band;
  llvm::StringMap<AstExpr> iterators;
  unsigned numIterators = 0;
};
} // namespace

/// Applies a monotonic function to the leaves.
static AstExpr mapLeaves(const AstExpr &expr, bool increasing,
                         llvm::function_ref<AffineExpr(AffineExpr)> function) {
  if (expr.kind == AstExpr::Kind::Affine)
    return AstExpr(function(expr.affine));
  AstExpr result = expr;
  if (!increasing && expr.kind == AstExpr::Kind::Max)
    result.kind = AstExpr::Kind::Min;
  if (!increasing && expr.kind == AstExpr::Kind::Min)
    result.kind = AstExpr::Kind::Max;
  for (AstExpr &operand : result.operands)
    operand = mapLeaves(operand, increasing, function);
  return result;
}

AstExpr AstConverter::add(const AstExpr &lhs, const AstExpr &rhs) {
  if (rhs.kind == AstExpr::Kind::Affine)
    return mapLeaves(lhs, true,
                     [&](AffineExpr leaf) { return leaf + rhs.affine; });
  if (lhs.kind == AstExpr::Kind::Affine)
    return add(rhs, lhs);
  return fail("a sum of two bounds that are not affine");
}

AstExpr AstConverter::negate(const AstExpr &expr) {
  return mapLeaves(expr, false, [](AffineExpr leaf) { return -leaf; });
}

static llvm::SmallVector<AstExprPtr> getArguments(const AstExprPtr &expr) {
  llvm::SmallVector<AstExprPtr> arguments;
  for (isl_size i = 0, e = isl_ast_expr_get_op_n_arg(expr.get()); i < e; ++i)
    arguments.emplace_back(isl_ast_expr_get_op_arg(expr.get(), i));
  return arguments;
}

static std::string getIdName(const AstExprPtr &expr) {
  isl::Id id(isl_ast_expr_get_id(expr.get()));
  return isl_id_get_name(id.get());
}

AstExpr AstConverter::convertExpr(const AstExprPtr &expr) {
  switch (isl_ast_expr_get_type(expr.get())) {
  case isl_ast_expr_int: {
    auto value = isl::toInt(isl::Val(isl_ast_expr_get_val(expr.get())));
    return value ? makeConstant(*value) : fail("a number beyond 64 bits");
  }
  case isl_ast_expr_id: {
    std::string name = getIdName(expr);
    unsigned parameter;
    if (llvm::StringRef(name).starts_with("p") &&
        !llvm::StringRef(name).drop_front().getAsInteger(10, parameter))
      return AstExpr(getAffineSymbolExpr(parameter, program.context));
    auto it = iterators.find(name);
    return it == iterators.end() ? fail("an unknown iterator") : it->second;
  }
  case isl_ast_expr_op:
    return convertOp(expr);
  case isl_ast_expr_error:
    break;
  }
  return fail("an expression that isl could not build");
}

AstExpr AstConverter::convertOp(const AstExprPtr &expr) {
  llvm::SmallVector<AstExprPtr> arguments = getArguments(expr);
  isl_ast_expr_op_type type = isl_ast_expr_get_op_type(expr.get());
  auto convertArgument = [&](unsigned i) { return convertExpr(arguments[i]); };
  switch (type) {
  case isl_ast_expr_op_max:
  case isl_ast_expr_op_min: {
    AstExpr result;
    result.kind =
        type == isl_ast_expr_op_max ? AstExpr::Kind::Max : AstExpr::Kind::Min;
    for (unsigned i = 0; i < arguments.size(); ++i) {
      AstExpr operand = convertArgument(i);
      if (operand.kind == result.kind)
        llvm::append_range(result.operands, operand.operands);
      else
        result.operands.push_back(operand);
    }
    return result;
  }
  case isl_ast_expr_op_cond:
  case isl_ast_expr_op_select: {
    AstExpr result;
    result.kind = AstExpr::Kind::Select;
    result.condition =
        std::make_shared<AstCondition>(convertCondition(arguments[0]));
    result.operands = {convertArgument(1), convertArgument(2)};
    return result;
  }
  case isl_ast_expr_op_minus:
    return negate(convertArgument(0));
  case isl_ast_expr_op_add:
    return add(convertArgument(0), convertArgument(1));
  case isl_ast_expr_op_sub:
    return add(convertArgument(0), negate(convertArgument(1)));
  case isl_ast_expr_op_mul: {
    AstExpr lhs = convertArgument(0), rhs = convertArgument(1);
    if (lhs.getConstant())
      std::swap(lhs, rhs);
    std::optional<int64_t> factor = rhs.getConstant();
    if (!factor)
      return fail("a product of two variables");
    return mapLeaves(lhs, *factor >= 0,
                     [&](AffineExpr leaf) { return leaf * *factor; });
  }
  case isl_ast_expr_op_div:
  case isl_ast_expr_op_fdiv_q:
  case isl_ast_expr_op_pdiv_q: {
    std::optional<int64_t> divisor = convertArgument(1).getConstant();
    if (!divisor || *divisor <= 0)
      return fail("a division by a variable");
    return mapLeaves(convertArgument(0), true,
                     [&](AffineExpr leaf) { return leaf.floorDiv(*divisor); });
  }
  case isl_ast_expr_op_pdiv_r:
  case isl_ast_expr_op_zdiv_r: {
    AstExpr dividend = convertArgument(0);
    std::optional<int64_t> divisor = convertArgument(1).getConstant();
    if (!divisor || *divisor <= 0 || dividend.kind != AstExpr::Kind::Affine)
      return fail("a remainder that is not affine");
    return AstExpr(dividend.affine % *divisor);
  }
  default:
    return fail("an operator without counterpart");
  }
}

AstCondition AstConverter::convertCondition(const AstExprPtr &expr) {
  AstCondition result;
  if (isl_ast_expr_get_type(expr.get()) == isl_ast_expr_int) {
    // isl writes true as 1 and false as 0.
    if (convertExpr(expr).getConstant() == 0) {
      result.kind = AstCondition::Kind::Or;
    }
    return result;
  }
  if (isl_ast_expr_get_type(expr.get()) != isl_ast_expr_op) {
    fail("a condition without counterpart");
    return result;
  }
  llvm::SmallVector<AstExprPtr> arguments = getArguments(expr);
  auto compare = [&](AstCondition::Kind kind, bool swap, int64_t offset) {
    result.kind = kind;
    result.value = add(convertExpr(arguments[swap ? 0 : 1]),
                       negate(convertExpr(arguments[swap ? 1 : 0])));
    result.value = add(result.value, makeConstant(offset));
    return result;
  };
  switch (isl_ast_expr_get_op_type(expr.get())) {
  case isl_ast_expr_op_and:
  case isl_ast_expr_op_and_then:
  case isl_ast_expr_op_or:
  case isl_ast_expr_op_or_else: {
    isl_ast_expr_op_type type = isl_ast_expr_get_op_type(expr.get());
    bool isAnd =
        type == isl_ast_expr_op_and || type == isl_ast_expr_op_and_then;
    result.kind = isAnd ? AstCondition::Kind::And : AstCondition::Kind::Or;
    for (const AstExprPtr &argument : arguments) {
      AstCondition operand = convertCondition(argument);
      if (operand.kind == result.kind)
        llvm::append_range(result.operands, operand.operands);
      else
        result.operands.push_back(std::move(operand));
    }
    return result;
  }
  case isl_ast_expr_op_eq:
    return compare(AstCondition::Kind::Zero, false, 0);
  case isl_ast_expr_op_le:
    return compare(AstCondition::Kind::NonNegative, false, 0);
  case isl_ast_expr_op_lt:
    return compare(AstCondition::Kind::NonNegative, false, -1);
  case isl_ast_expr_op_ge:
    return compare(AstCondition::Kind::NonNegative, true, 0);
  case isl_ast_expr_op_gt:
    return compare(AstCondition::Kind::NonNegative, true, -1);
  default:
    fail("a condition without counterpart");
    return result;
  }
}

Ast AstConverter::convertFor(const AstNodePtr &node) {
  AstExprPtr iterator(isl_ast_node_for_get_iterator(node.get()));
  std::string name = getIdName(iterator);
  auto result = std::make_unique<AstNode>(AstNode::Kind::For);
  result->lower =
      convertExpr(AstExprPtr(isl_ast_node_for_get_init(node.get())));
  AstNodePtr body(isl_ast_node_for_get_body(node.get()));
  bool isDegenerate =
      isl_ast_node_for_is_degenerate(node.get()) == isl_bool_true;
  if (isDegenerate && result->lower.kind == AstExpr::Kind::Affine) {
    iterators[name] = result->lower;
    return convert(body);
  }

  if (isDegenerate) {
    result->upper = add(result->lower, makeConstant(1));
  } else {
    AstExprPtr condition(isl_ast_node_for_get_cond(node.get()));
    llvm::SmallVector<AstExprPtr> arguments = getArguments(condition);
    bool inclusive =
        isl_ast_expr_get_op_type(condition.get()) == isl_ast_expr_op_le;
    if (arguments.size() != 2 ||
        (!inclusive &&
         isl_ast_expr_get_op_type(condition.get()) != isl_ast_expr_op_lt) ||
        isl_ast_expr_get_type(arguments[0].get()) != isl_ast_expr_id ||
        getIdName(arguments[0]) != name) {
      fail("a loop without upper bound");
      return result;
    }
    result->upper = convertExpr(arguments[1]);
    if (inclusive)
      result->upper = add(result->upper, makeConstant(1));
    std::optional<int64_t> step =
        convertExpr(AstExprPtr(isl_ast_node_for_get_inc(node.get())))
            .getConstant();
    if (!step || *step <= 0)
      fail("a loop without constant step");
    result->step = step.value_or(1);
  }

  result->iterator = numIterators++;
  iterators[name] =
      AstExpr(getAffineDimExpr(result->iterator, program.context));
  // isl names an iterator after its depth.
  unsigned depth = 0;
  if (band && !llvm::StringRef(name).drop_front().getAsInteger(10, depth) &&
      depth >= band->depth &&
      depth - band->depth < band->node->members.size()) {
    result->member = &band->node->members[depth - band->depth];
    result->tag = result->member->tag;
  }
  result->children.push_back(convert(body));
  return result;
}

Ast AstConverter::convertIf(const AstNodePtr &node) {
  auto result = std::make_unique<AstNode>(AstNode::Kind::If);
  result->condition =
      convertCondition(AstExprPtr(isl_ast_node_if_get_cond(node.get())));
  result->children.push_back(
      convert(AstNodePtr(isl_ast_node_if_get_then_node(node.get()))));
  if (isl_ast_node_if_has_else_node(node.get()) == isl_bool_true)
    result->children.push_back(
        convert(AstNodePtr(isl_ast_node_if_get_else_node(node.get()))));
  return result;
}

Ast AstConverter::convertMark(const AstNodePtr &node) {
  isl::Id id(isl_ast_node_mark_get_id(node.get()));
  AstNodePtr body(isl_ast_node_mark_get_node(node.get()));
  unsigned number = 0;
  llvm::StringRef(isl_id_get_name(id.get()))
      .drop_front()
      .getAsInteger(10, number);
  const MarkInfo &info = marks[number];
  if (info.node->kind == ScheduleNode::Kind::Band) {
    auto outer = std::exchange(band, info);
    Ast result = convert(body);
    band = outer;
    return result;
  }
  auto result = std::make_unique<AstNode>(AstNode::Kind::Mark);
  result->mark = info.node->mark;
  result->children.push_back(convert(body));
  return result;
}

Ast AstConverter::convertUser(const AstNodePtr &node) {
  AstExprPtr expr(isl_ast_node_user_get_expr(node.get()));
  llvm::SmallVector<AstExprPtr> arguments = getArguments(expr);
  auto call = std::make_unique<AstNode>(AstNode::Kind::Call);
  call->statement = isl::getStatementNumber(getIdName(arguments.front()));
  // A value with cases becomes that of a loop which runs once.
  llvm::SmallVector<Ast> loops;
  for (const AstExprPtr &argument : llvm::drop_begin(arguments)) {
    AstExpr value = convertExpr(argument);
    if (value.kind != AstExpr::Kind::Affine) {
      auto loop = std::make_unique<AstNode>(AstNode::Kind::For);
      loop->lower = value;
      loop->upper = add(value, makeConstant(1));
      loop->iterator = numIterators++;
      value.affine = getAffineDimExpr(loop->iterator, program.context);
      loops.push_back(std::move(loop));
    }
    call->values.push_back(value.affine);
  }
  Ast result = std::move(call);
  for (Ast &loop : llvm::reverse(loops)) {
    loop->children.push_back(std::move(result));
    result = std::move(loop);
  }
  return result;
}

Ast AstConverter::convert(AstNodePtr node) {
  switch (isl_ast_node_get_type(node.get())) {
  case isl_ast_node_for:
    return convertFor(node);
  case isl_ast_node_if:
    return convertIf(node);
  case isl_ast_node_mark:
    return convertMark(node);
  case isl_ast_node_user:
    return convertUser(node);
  case isl_ast_node_block: {
    auto result = std::make_unique<AstNode>(AstNode::Kind::Block);
    isl_ast_node_list *list = isl_ast_node_block_get_children(node.get());
    for (isl_size i = 0, e = isl_ast_node_list_n_ast_node(list); i < e; ++i)
      result->children.push_back(
          convert(AstNodePtr(isl_ast_node_list_get_ast_node(list, i))));
    isl_ast_node_list_free(list);
    return result;
  }
  case isl_ast_node_error:
    break;
  }
  fail("a node that isl could not build");
  return std::make_unique<AstNode>(AstNode::Kind::Block);
}

llvm::Expected<Ast>
espalier::polyhedral::convertAst(const Program &program, isl_ast_node *node,
                                 llvm::ArrayRef<MarkInfo> marks) {
  AstConverter converter(program, marks);
  Ast ast = converter.convert(AstNodePtr(isl_ast_node_copy(node)));
  if (!converter.getFault().empty())
    return llvm::createStringError("the loops need " + converter.getFault());
  return ast;
}
