//===- LawTerms.cpp - What combiners compute, as terms of Z3 --------------===//

#include "LawProver.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier::poly;

/// What Z3 may do for one question, in its own units: about half a second. The
/// milliseconds are for what it does not count, and far more.
static constexpr const char *kMaxOperations = "5000000";
static constexpr const char *kMaxMilliseconds = "10000";

/// The most that a summand in an exponential is multiplied by.
static constexpr int kMaxFactor = 8;

Prover::Prover() {
  Z3_config config = Z3_mk_config();
  Z3_set_param_value(config, "rlimit", kMaxOperations);
  Z3_set_param_value(config, "timeout", kMaxMilliseconds);
  context = Z3_mk_context(config);
  Z3_del_config(config);
  Z3_set_error_handler(context, nullptr);
  solver = Z3_mk_simple_solver(context);
  Z3_solver_inc_ref(context, solver);
  real = Z3_mk_real_sort(context);
}

//===----------------------------------------------------------------------===//
// Numbers and variables
//===----------------------------------------------------------------------===//

unsigned espalier::poly::getWidth(Type type) {
  return type.isIndex() ? IndexType::kInternalStorageBitWidth
                        : type.getIntOrFloatBitWidth();
}

Z3_sort Prover::getSort(Type type) {
  if (isa<FloatType>(type))
    return real;
  return type.isInteger(1) ? Z3_mk_bool_sort(context)
                           : Z3_mk_bv_sort(context, getWidth(type));
}

Z3_ast Prover::makeVariable(Type type, const Twine &name) {
  Z3_ast variable = Z3_mk_const(
      context, Z3_mk_string_symbol(context, name.str().c_str()), getSort(type));
  if (isa<FloatType>(type)) {
    facts.push_back(Z3_mk_le(context, variable, getInfinity(false)));
    facts.push_back(Z3_mk_ge(context, variable, getInfinity(true)));
  }
  return variable;
}

Terms Prover::makeUnknown(StringRef name, TypeRange types) {
  Terms terms;
  for (auto [number, type] : llvm::enumerate(types)) {
    terms.push_back(makeVariable(type, name + "." + Twine(number)));
    unknowns[name].push_back({type, terms.back()});
  }
  return terms;
}

Z3_ast Prover::getInfinity(bool isNegative) {
  if (infinities.empty()) {
    for (const char *name : {"infinity", "-infinity"})
      infinities.push_back(
          Z3_mk_const(context, Z3_mk_string_symbol(context, name), real));
    facts.push_back(
        Z3_mk_gt(context, infinities[0],
                 getReal(APFloat::getLargest(APFloat::IEEEdouble()))));
    facts.push_back(Z3_mk_eq(context, infinities[1],
                             Z3_mk_unary_minus(context, infinities[0])));
  }
  return infinities[isNegative];
}

/// A finite number, as it is.
Z3_ast Prover::getReal(const APFloat &value) {
  int exponent = 0;
  APFloat fraction = frexp(value, exponent, APFloat::rmNearestTiesToEven);
  unsigned precision = APFloat::semanticsPrecision(value.getSemantics());
  fraction = scalbn(fraction, precision, APFloat::rmNearestTiesToEven);
  exponent -= precision;
  bool isExact;
  APSInt mantissa(precision + 2, /*isUnsigned=*/false);
  fraction.convertToInteger(mantissa, APFloat::rmTowardZero, &isExact);
  unsigned shift = std::abs(exponent);
  APInt power = APInt::getOneBitSet(shift + 2, shift);
  auto toNumber = [&](const APInt &number) {
    return Z3_mk_numeral(
        context, llvm::toString(number, 10, /*Signed=*/true).c_str(), real);
  };
  Z3_ast whole = toNumber(mantissa), scale = toNumber(power);
  return exponent < 0 ? Z3_mk_div(context, whole, scale)
                      : makeBinary(Z3_mk_mul, whole, scale);
}

Z3_ast Prover::getConstant(TypedAttr value) {
  Type type = value.getType();
  if (auto number = dyn_cast<FloatAttr>(value)) {
    APFloat own = number.getValue();
    if (own.isInfinity())
      return getInfinity(own.isNegative());
    return own.isFinite() ? getReal(own) : makeVariable(type, "nan");
  }
  APInt own = cast<IntegerAttr>(value).getValue();
  if (type.isInteger(1))
    return own.isZero() ? Z3_mk_false(context) : Z3_mk_true(context);
  return Z3_mk_numeral(context,
                       llvm::toString(own, 10, /*Signed=*/false).c_str(),
                       getSort(type));
}

Terms Prover::getConstants(ArrayRef<Attribute> values) {
  return llvm::map_to_vector(values, [&](Attribute value) {
    return getConstant(cast<TypedAttr>(value));
  });
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Terms Prover::apply(Block &block, llvm::SmallDenseMap<Value, Z3_ast> values) {
  auto lookup = [&](Value value) {
    if (Z3_ast own = values.lookup(value))
      return own;
    Z3_ast &known = shared[value];
    if (!known)
      known = makeVariable(value.getType(), "shared." + Twine(shared.size()));
    return known;
  };
  for (Operation &op : block.without_terminator()) {
    TypedAttr constant;
    if (auto own = dyn_cast<arith::ConstantOp>(op))
      constant = dyn_cast<TypedAttr>(own.getValue());
    bool isOwn = llvm::any_of(op.getOperands(), [&](Value operand) {
      return values.contains(operand);
    });
    if (constant)
      values[op.getResult(0)] = getConstant(constant);
    else if (isOwn)
      for (auto [result, term] : llvm::zip_equal(
               op.getResults(),
               translate(op, llvm::map_to_vector(op.getOperands(), lookup))))
        values[result] = term;
  }
  return llvm::map_to_vector(block.getTerminator()->getOperands(), lookup);
}

Terms Prover::combine(CombinerOp op, ArrayRef<Z3_ast> first,
                      ArrayRef<Z3_ast> second) {
  Block &block = op.getBody().front();
  llvm::SmallDenseMap<Value, Z3_ast> values;
  for (auto [argument, term] : llvm::zip_equal(
           block.getArguments(), llvm::concat<const Z3_ast>(first, second)))
    values[argument] = term;
  return apply(block, std::move(values));
}

Z3_ast Prover::compare(arith::CmpFPredicate predicate, Z3_ast lhs, Z3_ast rhs) {
  using Predicate = arith::CmpFPredicate;
  switch (predicate) {
  case Predicate::OEQ:
  case Predicate::UEQ:
    return Z3_mk_eq(context, lhs, rhs);
  case Predicate::ONE:
  case Predicate::UNE:
    return Z3_mk_not(context, Z3_mk_eq(context, lhs, rhs));
  case Predicate::OGT:
  case Predicate::UGT:
    return Z3_mk_gt(context, lhs, rhs);
  case Predicate::OGE:
  case Predicate::UGE:
    return Z3_mk_ge(context, lhs, rhs);
  case Predicate::OLT:
  case Predicate::ULT:
    return Z3_mk_lt(context, lhs, rhs);
  case Predicate::OLE:
  case Predicate::ULE:
    return Z3_mk_le(context, lhs, rhs);
  case Predicate::AlwaysTrue:
  case Predicate::ORD:
    return Z3_mk_true(context);
  case Predicate::AlwaysFalse:
  case Predicate::UNO:
    return Z3_mk_false(context);
  }
  llvm_unreachable("all predicates are handled");
}

Z3_ast Prover::compare(arith::CmpIPredicate predicate, Z3_ast lhs, Z3_ast rhs) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::eq:
    return Z3_mk_eq(context, lhs, rhs);
  case Predicate::ne:
    return Z3_mk_not(context, Z3_mk_eq(context, lhs, rhs));
  case Predicate::slt:
    return Z3_mk_bvslt(context, lhs, rhs);
  case Predicate::sle:
    return Z3_mk_bvsle(context, lhs, rhs);
  case Predicate::sgt:
    return Z3_mk_bvsgt(context, lhs, rhs);
  case Predicate::sge:
    return Z3_mk_bvsge(context, lhs, rhs);
  case Predicate::ult:
    return Z3_mk_bvult(context, lhs, rhs);
  case Predicate::ule:
    return Z3_mk_bvule(context, lhs, rhs);
  case Predicate::ugt:
    return Z3_mk_bvugt(context, lhs, rhs);
  case Predicate::uge:
    return Z3_mk_bvuge(context, lhs, rhs);
  }
  llvm_unreachable("all predicates are handled");
}

Terms Prover::applyUnknown(Operation &op, ArrayRef<Z3_ast> operands) {
  hasFunctions = true;
  std::string name =
      (op.getName().getStringRef() + debugString(op.getAttrDictionary())).str();
  SmallVector<Z3_sort> sorts;
  for (Value operand : op.getOperands()) {
    sorts.push_back(getSort(operand.getType()));
    name += " " + debugString(operand.getType());
  }
  return llvm::map_to_vector(op.getResults(), [&](OpResult result) {
    Type type = result.getType();
    std::string own = name + " " + std::to_string(result.getResultNumber()) +
                      " " + debugString(type);
    Z3_func_decl function =
        Z3_mk_func_decl(context, Z3_mk_string_symbol(context, own.c_str()),
                        sorts.size(), sorts.data(), getSort(type));
    return Z3_mk_app(context, function, operands.size(), operands.data());
  });
}

/// Returns null for what is no such operation.
Z3_ast Prover::translateReal(Operation &op, ArrayRef<Z3_ast> operands) {
  auto order = [&](bool isLargest) {
    Z3_ast isFirst = Z3_mk_ge(context, operands[0], operands[1]);
    return choose(isFirst, operands[isLargest ? 0 : 1],
                  operands[isLargest ? 1 : 0]);
  };
  auto twoOf = [&](auto make) {
    return makeBinary(make, operands[0], operands[1]);
  };
  return llvm::TypeSwitch<Operation *, Z3_ast>(&op)
      .Case([&](arith::AddFOp) { return twoOf(Z3_mk_add); })
      .Case([&](arith::SubFOp) { return twoOf(Z3_mk_sub); })
      .Case([&](arith::MulFOp) { return twoOf(Z3_mk_mul); })
      .Case([&](arith::NegFOp) {
        return Z3_mk_unary_minus(context, operands[0]);
      })
      .Case([&](math::FmaOp) {
        return makeBinary(Z3_mk_add, twoOf(Z3_mk_mul), operands[2]);
      })
      .Case<arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { return order(true); })
      .Case<arith::MinimumFOp, arith::MinNumFOp>(
          [&](auto) { return order(false); })
      .Case([&](arith::CmpFOp compared) {
        return compare(compared.getPredicate(), operands[0], operands[1]);
      })
      .Case([&](math::ExpOp) { return makeExp(operands[0]); })
      .Default([](Operation *) { return Z3_ast(); });
}

/// Returns null for what is no such operation.
Z3_ast Prover::translateInteger(Operation &op, ArrayRef<Z3_ast> operands) {
  bool isTruth = op.getResult(0).getType().isInteger(1);
  bool isOfTruth = op.getOperand(0).getType().isInteger(1);
  auto twoOf = [&](auto make) {
    return make(context, operands[0], operands[1]);
  };
  auto order = [&](auto isFirst) {
    return choose(twoOf(isFirst), operands[0], operands[1]);
  };
  if (isTruth && isOfTruth)
    return llvm::TypeSwitch<Operation *, Z3_ast>(&op)
        .Case([&](arith::AndIOp) {
          return makeBinary(Z3_mk_and, operands[0], operands[1]);
        })
        .Case([&](arith::OrIOp) {
          return makeBinary(Z3_mk_or, operands[0], operands[1]);
        })
        .Case([&](arith::XOrIOp) { return twoOf(Z3_mk_xor); })
        .Default([](Operation *) { return Z3_ast(); });
  if (isOfTruth)
    return nullptr;
  return llvm::TypeSwitch<Operation *, Z3_ast>(&op)
      .Case([&](arith::CmpIOp compared) {
        return compare(compared.getPredicate(), operands[0], operands[1]);
      })
      .Case([&](arith::AddIOp) { return twoOf(Z3_mk_bvadd); })
      .Case([&](arith::SubIOp) { return twoOf(Z3_mk_bvsub); })
      .Case([&](arith::MulIOp) { return twoOf(Z3_mk_bvmul); })
      .Case([&](arith::AndIOp) { return twoOf(Z3_mk_bvand); })
      .Case([&](arith::OrIOp) { return twoOf(Z3_mk_bvor); })
      .Case([&](arith::XOrIOp) { return twoOf(Z3_mk_bvxor); })
      .Case([&](arith::MaxSIOp) { return order(Z3_mk_bvsge); })
      .Case([&](arith::MinSIOp) { return order(Z3_mk_bvsle); })
      .Case([&](arith::MaxUIOp) { return order(Z3_mk_bvuge); })
      .Case([&](arith::MinUIOp) { return order(Z3_mk_bvule); })
      .Default([](Operation *) { return Z3_ast(); });
}

Terms Prover::translate(Operation &op, ArrayRef<Z3_ast> operands) {
  if (isa<arith::SelectOp>(op))
    return {choose(operands[0], operands[1], operands[2])};
  if (op.getNumResults() != 1)
    return applyUnknown(op, operands);
  if (Z3_ast term = translateReal(op, operands))
    return {term};
  if (Z3_ast term = translateInteger(op, operands))
    return {term};
  return applyUnknown(op, operands);
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

std::pair<Z3_ast, Z3_ast> Prover::getExp(Z3_ast term) {
  hasFunctions = true;
  auto [known, isNew] = exponentials.try_emplace(term);
  if (!isNew)
    return known->second;
  std::string number = std::to_string(exponentials.size());
  auto make = [&](const char *prefix) {
    Z3_ast variable = Z3_mk_const(
        context, Z3_mk_string_symbol(context, (prefix + number).c_str()), real);
    facts.push_back(Z3_mk_gt(context, variable, getNumber(0)));
    return variable;
  };
  known->second = {make("exp."), make("exp.-")};
  facts.push_back(Z3_mk_eq(
      context, makeBinary(Z3_mk_mul, known->second.first, known->second.second),
      getNumber(1)));
  return known->second;
}

Z3_ast Prover::makeExpOfProduct(Z3_ast product) {
  Terms factors;
  addFactors(product, factors);
  int factor = 1;
  Z3_ast rest = nullptr;
  for (Z3_ast part : factors) {
    int number;
    if (isOf(part, {Z3_OP_ANUM}) &&
        Z3_get_numeral_int(context, part, &number) &&
        std::abs(number) <= kMaxFactor && factor == 1)
      factor = number;
    else if (!rest && !isOf(part, {Z3_OP_ANUM}))
      rest = part;
    else
      return getExp(product).first;
  }
  if (factor == 0)
    return getNumber(1);
  if (!rest)
    return getExp(product).first;
  auto [own, inverse] = getExp(rest);
  Z3_ast term = getNumber(1);
  for (int i = 0; i < std::abs(factor); ++i)
    term = makeBinary(Z3_mk_mul, term, factor > 0 ? own : inverse);
  return term;
}

Z3_ast Prover::makeExp(Z3_ast sum) {
  sum = simplify(sum);
  if (Z3_ast choice = findChoice(sum)) {
    Terms parts = getOperands(choice);
    return choose(parts[0], makeExp(replace(sum, choice, parts[1])),
                  makeExp(replace(sum, choice, parts[2])));
  }
  Z3_ast term = getNumber(1);
  for (Z3_ast part : getSummands(sum))
    term = makeBinary(Z3_mk_mul, term, makeExpOfProduct(part));
  return term;
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// A polynomial becomes a sum of products.
Z3_ast Prover::simplify(Z3_ast term) {
  Z3_params params = Z3_mk_params(context);
  Z3_params_inc_ref(context, params);
  Z3_params_set_bool(context, params, Z3_mk_string_symbol(context, "som"),
                     true);
  Z3_ast result = Z3_simplify_ex(context, term, params);
  Z3_params_dec_ref(context, params);
  return result;
}

bool Prover::isOf(Z3_ast term, std::initializer_list<Z3_decl_kind> kinds) {
  Z3_ast_kind kind = Z3_get_ast_kind(context, term);
  if (kind == Z3_NUMERAL_AST)
    return llvm::is_contained(kinds, Z3_OP_ANUM);
  if (kind != Z3_APP_AST)
    return false;
  Z3_func_decl function = Z3_get_app_decl(context, Z3_to_app(context, term));
  return llvm::is_contained(kinds, Z3_get_decl_kind(context, function));
}

Terms Prover::getOperands(Z3_ast term) {
  if (Z3_get_ast_kind(context, term) != Z3_APP_AST)
    return {};
  Z3_app app = Z3_to_app(context, term);
  return llvm::map_to_vector(
      llvm::seq<unsigned>(Z3_get_app_num_args(context, app)),
      [&](unsigned number) { return Z3_get_app_arg(context, app, number); });
}

Z3_ast Prover::findChoice(Z3_ast term) {
  if (isOf(term, {Z3_OP_ITE}))
    return term;
  if (isOf(term, {Z3_OP_ADD, Z3_OP_SUB, Z3_OP_MUL, Z3_OP_UMINUS, Z3_OP_POWER}))
    for (Z3_ast operand : getOperands(term))
      if (Z3_ast found = findChoice(operand))
        return found;
  return nullptr;
}

Z3_ast Prover::findCondition(Z3_ast term, llvm::DenseSet<Z3_ast> &seen) {
  if (!seen.insert(term).second)
    return nullptr;
  // What is inside comes first.
  Terms operands = getOperands(term);
  for (Z3_ast operand : operands)
    if (Z3_ast found = findCondition(operand, seen))
      return found;
  return isOf(term, {Z3_OP_ITE}) ? operands[0] : nullptr;
}

void Prover::addFactors(Z3_ast term, Terms &factors) {
  Terms operands = getOperands(term);
  int exponent;
  if (isOf(term, {Z3_OP_MUL})) {
    for (Z3_ast operand : operands)
      addFactors(operand, factors);
  } else if (isOf(term, {Z3_OP_POWER}) &&
             Z3_get_numeral_int(context, operands[1], &exponent) &&
             exponent > 0 && exponent <= kMaxFactor) {
    factors.append(exponent, operands[0]);
  } else {
    factors.push_back(term);
  }
}

Terms Prover::getSummands(Z3_ast term) {
  return isOf(term, {Z3_OP_ADD}) ? getOperands(term) : Terms{term};
}

/// Whether all products cancel, where each E_m that meets its D_m is left out.
bool Prover::isZeroPolynomial(Z3_ast term) {
  Z3_ast sum = getNumber(0);
  for (Z3_ast part : getSummands(simplify(term))) {
    Terms factors;
    addFactors(part, factors);
    for (auto &[of, pair] : exponentials)
      while (true) {
        auto *own = llvm::find(factors, pair.first);
        if (own == factors.end() || !llvm::is_contained(factors, pair.second))
          break;
        factors.erase(own);
        factors.erase(llvm::find(factors, pair.second));
      }
    Z3_ast product = getNumber(1);
    for (Z3_ast factor : factors)
      product = makeBinary(Z3_mk_mul, product, factor);
    sum = makeBinary(Z3_mk_add, sum, product);
  }
  return Z3_is_eq_ast(context, simplify(sum), getNumber(0));
}
