//===- Expr.cpp - Scalar expressions of operator definitions --------------===//

#include "espalier/Definition/Expr.h"
#include "ExprNode.h"
#include "espalier/Definition/Evaluate.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include <cassert>

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;

//===----------------------------------------------------------------------===//
// The tables
//===----------------------------------------------------------------------===//

namespace {
struct ScalarFnInfo {
  llvm::StringLiteral name;
  unsigned arity;
  ScalarResult result;
};
} // namespace

static constexpr ScalarFnInfo kScalarFns[] = {
#define SCALAR_FN(id, name, arity, result) {name, arity, ScalarResult::result},
#include "espalier/Definition/ScalarFunctions.def"
};

StringRef definition::getName(ScalarFn fn) {
  return kScalarFns[static_cast<unsigned>(fn)].name;
}

unsigned definition::getArity(ScalarFn fn) {
  return kScalarFns[static_cast<unsigned>(fn)].arity;
}

ScalarResult definition::getResultRule(ScalarFn fn) {
  return kScalarFns[static_cast<unsigned>(fn)].result;
}

std::optional<ScalarFn> definition::lookupScalarFn(StringRef name) {
  for (auto [number, info] : llvm::enumerate(kScalarFns))
    if (info.name == name)
      return static_cast<ScalarFn>(number);
  return std::nullopt;
}

StringRef definition::getName(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return "sum";
  case ReduceKind::Product:
    return "prod";
  case ReduceKind::Max:
    return "max";
  case ReduceKind::Min:
    return "min";
  }
  llvm_unreachable("every kind is handled above");
}

ScalarFn definition::getCombiner(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return ScalarFn::Add;
  case ReduceKind::Product:
    return ScalarFn::Mul;
  case ReduceKind::Max:
    return ScalarFn::Max;
  case ReduceKind::Min:
    return ScalarFn::Min;
  }
  llvm_unreachable("every kind is handled above");
}

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

Expr::Kind Expr::getKind() const { return node->kind; }
Type Expr::getType() const { return node->type; }
double Expr::getFloat() const { return node->floatValue; }
std::optional<int64_t> Expr::getInt() const { return node->intValue; }
VarId Expr::getVariable() const { return node->number; }
TensorRef Expr::getTensor() const { return node->tensor; }
unsigned Expr::getNumber() const { return node->number; }
ArrayRef<Expr> Expr::getOperands() const { return node->operands; }
ScalarFn Expr::getFn() const { return node->fn; }
ReduceKind Expr::getReduceKind() const { return node->reduceKind; }
ArrayRef<IndexVar> Expr::getReduceVars() const { return node->vars; }
Expr Expr::getGuard() const { return node->guard; }

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

static Expr make(Expr::Node node) {
  return Expr(std::make_shared<const Expr::Node>(std::move(node)));
}

static Expr typedConstant(Type type, double value,
                          std::optional<int64_t> intValue) {
  Expr::Node node{Expr::Kind::Constant, type};
  node.floatValue = value;
  node.intValue = intValue;
  return make(std::move(node));
}

Expr definition::constant(int64_t value) {
  return typedConstant({}, static_cast<double>(value), value);
}

Expr definition::constant(double value) {
  return typedConstant({}, value, std::nullopt);
}

Expr definition::variable(VarId id, MLIRContext *context) {
  Expr::Node node{Expr::Kind::Variable, IndexType::get(context)};
  node.number = id;
  return make(std::move(node));
}

Expr definition::size(TensorRef tensor, unsigned dim, MLIRContext *context) {
  Expr::Node node{Expr::Kind::Size, IndexType::get(context)};
  node.tensor = tensor;
  node.number = dim;
  return make(std::move(node));
}

Expr definition::parameter(unsigned number, MLIRContext *context) {
  Expr::Node node{Expr::Kind::Parameter, IndexType::get(context)};
  node.number = number;
  return make(std::move(node));
}

Expr definition::access(TensorRef tensor, ArrayRef<Expr> indices,
                        Type elementType) {
  Expr::Node node{Expr::Kind::Access, elementType};
  node.tensor = tensor;
  auto index = IndexType::get(elementType.getContext());
  for (Expr expr : indices)
    node.operands.push_back(cast(index, expr));
  return make(std::move(node));
}

static bool isConstantInt(Expr expr, int64_t value) {
  return expr.getKind() == Expr::Kind::Constant && expr.getInt() == value;
}

static bool isNarrowFloat(Type type) {
  return type && isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32;
}

/// The type that the operands meet in: an element type before `index`, `index`
/// before none; of two floating-point types, that which computes.
static Type getCommonType(ArrayRef<Expr> args) {
  Type common;
  for (Expr arg : args) {
    Type type = arg.getType();
    if (type && (!common || isa<IndexType>(common) || isNarrowFloat(common)))
      common = type;
  }
  return common;
}

/// Whether results may lie between the numbers of the operands' type.
static bool rounds(ScalarFn fn) {
  switch (fn) {
  case ScalarFn::Add:
  case ScalarFn::Sub:
  case ScalarFn::Mul:
  case ScalarFn::Div:
  case ScalarFn::FloorDiv:
  case ScalarFn::Mod:
  case ScalarFn::Pow:
  case ScalarFn::Rsqrt:
#define MATH_FN(id, name, function, operation) case ScalarFn::id:
#include "espalier/Definition/ScalarFunctions.def"
    return true;
  default:
    return false;
  }
}

/// Folds functions of literals and of index constants.
static Expr foldConstants(ScalarFn fn, ArrayRef<Expr> args, Type type) {
  bool areConstant = llvm::all_of(
      args, [](Expr arg) { return arg.getKind() == Expr::Kind::Constant; });
  if (!areConstant || (type && !isa<IndexType>(type)))
    return {};
  Expr lhs = args.front(), rhs = args.back();
  Type resultType = type;
  if (type && getResultRule(fn) == ScalarResult::Boolean)
    resultType = IntegerType::get(type.getContext(), 1);
  if (lhs.getInt() && rhs.getInt() && isSupportedOnIntegers(fn)) {
    int64_t value = evaluateInteger(fn, {}, *lhs.getInt(), *rhs.getInt());
    return typedConstant(resultType, static_cast<double>(value), value);
  }
  if (getResultRule(fn) == ScalarResult::Boolean) {
    bool value = evaluateFloatPredicate(fn, lhs.getFloat(), rhs.getFloat());
    return typedConstant(resultType, value, value);
  }
  return constant(evaluateFloat(fn, lhs.getFloat(), rhs.getFloat()));
}

/// Drops neutral operands; only of integers, where it is exact.
static Expr foldNeutral(ScalarFn fn, ArrayRef<Expr> args, Type type) {
  if (!type || isa<FloatType>(type) || args.size() != 2)
    return {};
  Expr lhs = args[0], rhs = args[1];
  switch (fn) {
  case ScalarFn::Add:
    return isConstantInt(lhs, 0) ? rhs : isConstantInt(rhs, 0) ? lhs : Expr();
  case ScalarFn::Sub:
    return isConstantInt(rhs, 0) ? lhs : Expr();
  case ScalarFn::Mul:
    if (isConstantInt(lhs, 0) || isConstantInt(rhs, 1))
      return lhs;
    return isConstantInt(rhs, 0) || isConstantInt(lhs, 1) ? rhs : Expr();
  case ScalarFn::FloorDiv:
  case ScalarFn::Div:
    return isConstantInt(rhs, 1) ? lhs : Expr();
  case ScalarFn::Mod:
    return isConstantInt(rhs, 1) ? typedConstant(type, 0, 0) : Expr();
  case ScalarFn::And:
    if (!type.isInteger(1))
      return {};
    if (isConstantInt(lhs, 0) || isConstantInt(rhs, 1))
      return lhs;
    return isConstantInt(rhs, 0) || isConstantInt(lhs, 1) ? rhs : Expr();
  default:
    return {};
  }
}

/// Collects the constants of sums of indices: (x + 3) - 5 becomes x - 2.
static Expr foldOffsets(ScalarFn fn, ArrayRef<Expr> args, Type type) {
  auto isOffset = [](Expr expr) {
    return expr.getKind() == Expr::Kind::Apply &&
           (expr.getFn() == ScalarFn::Add || expr.getFn() == ScalarFn::Sub) &&
           expr.getOperands()[1].getKind() == Expr::Kind::Constant;
  };
  bool isSum = fn == ScalarFn::Add || fn == ScalarFn::Sub;
  if (!isSum || !type || !isa<IndexType>(type) || !isOffset(args[0]) ||
      args[1].getKind() != Expr::Kind::Constant)
    return {};
  auto getSigned = [](ScalarFn fn, Expr offset) {
    return evaluateInteger(fn, {}, 0, *offset.getInt());
  };
  Expr base = args[0].getOperands()[0];
  int64_t sum = evaluateInteger(
      ScalarFn::Add, {}, getSigned(args[0].getFn(), args[0].getOperands()[1]),
      getSigned(fn, args[1]));
  if (sum >= 0)
    return base + sum;
  return base - evaluateInteger(ScalarFn::Neg, {}, sum);
}

Expr definition::apply(ScalarFn fn, ArrayRef<Expr> args) {
  assert(args.size() == getArity(fn) && "wrong number of arguments");
  Type type = getCommonType(args);
  if (Expr folded = foldConstants(fn, args, type))
    return folded;
  if (rounds(fn))
    type = getArithmeticType(type);

  Expr::Node node{Expr::Kind::Apply, type};
  node.fn = fn;
  for (Expr arg : args)
    node.operands.push_back(type ? cast(type, arg) : arg);
  if (Expr folded = foldNeutral(fn, node.operands, type))
    return folded;
  if (Expr folded = foldOffsets(fn, node.operands, type))
    return folded;
  if (type && getResultRule(fn) == ScalarResult::Boolean)
    node.type = IntegerType::get(type.getContext(), 1);
  return make(std::move(node));
}

Expr definition::select(Expr condition, Expr thenValue, Expr elseValue) {
  if (condition.getKind() == Expr::Kind::Constant)
    return condition.getInt() != 0 ? thenValue : elseValue;
  Expr::Node node{Expr::Kind::Select, getCommonType({thenValue, elseValue})};
  node.operands.push_back(condition);
  for (Expr value : {thenValue, elseValue})
    node.operands.push_back(node.type ? cast(node.type, value) : value);
  return make(std::move(node));
}

Expr definition::cast(Type type, Expr value) {
  if (value.getType() == type)
    return value;
  if (value.getKind() == Expr::Kind::Constant &&
      (!value.getType() || isa<IndexType>(value.getType()))) {
    std::optional<int64_t> integer = value.getInt();
    if (isa<FloatType>(type))
      return typedConstant(type, value.getFloat(), integer);
    IntegerFormat format = IntegerFormat::get(type);
    integer = integer ? format.wrap(*integer)
                      : convertToInteger(value.getFloat(), format);
    return typedConstant(type, convertToFloat(*integer, format), integer);
  }
  Expr::Node node{Expr::Kind::Cast, type};
  node.operands.push_back(value);
  return make(std::move(node));
}

Expr definition::reduce(ReduceKind kind, ArrayRef<IndexVar> vars, Expr guard,
                        Expr body, Type accumulatorType) {
  if (vars.empty() && !guard)
    return accumulatorType ? cast(accumulatorType, body) : body;
  Expr::Node node{Expr::Kind::Reduce,
                  accumulatorType ? accumulatorType : body.getType()};
  assert(node.type && "the sum of literals needs an accumulator type");
  node.reduceKind = kind;
  node.vars.assign(vars.begin(), vars.end());
  node.guard = guard;
  node.operands.push_back(cast(node.type, body));
  return make(std::move(node));
}

Type definition::getArithmeticType(Type type) {
  return isNarrowFloat(type) ? Float32Type::get(type.getContext()) : type;
}

Type definition::getAccumulatorType(ReduceKind kind, Type type) {
  return getArithmeticType(type);
}

Expr definition::operator+(Expr lhs, Expr rhs) {
  return apply(ScalarFn::Add, {lhs, rhs});
}
Expr definition::operator-(Expr lhs, Expr rhs) {
  return apply(ScalarFn::Sub, {lhs, rhs});
}
Expr definition::operator*(Expr lhs, Expr rhs) {
  return apply(ScalarFn::Mul, {lhs, rhs});
}
Expr definition::operator+(Expr lhs, int64_t rhs) {
  return lhs + constant(rhs);
}
Expr definition::operator-(Expr lhs, int64_t rhs) {
  return lhs - constant(rhs);
}
Expr definition::operator*(Expr lhs, int64_t rhs) {
  return lhs * constant(rhs);
}
Expr definition::floorDiv(Expr lhs, Expr rhs) {
  return apply(ScalarFn::FloorDiv, {lhs, rhs});
}
Expr definition::mod(Expr lhs, Expr rhs) {
  return apply(ScalarFn::Mod, {lhs, rhs});
}

Expr definition::inBounds(Expr value, Expr extent) {
  return conjoin(apply(ScalarFn::GreaterEqual, {value, constant(int64_t(0))}),
                 apply(ScalarFn::Less, {value, extent}));
}

Expr definition::conjoin(Expr lhs, Expr rhs) {
  if (!lhs || !rhs)
    return lhs ? lhs : rhs;
  return apply(ScalarFn::And, {lhs, rhs});
}
