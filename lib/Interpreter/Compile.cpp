//===- Compile.cpp - Compiles a step to its flat form ---------------------===//

#include "Program.h"
#include "espalier/Definition/EvaluateInline.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace espalier::interpreter;
using namespace espalier::definition;
using inlined::Wrapping;

namespace {
/// A compiled expression. `level` is the region in which it becomes known.
struct Value {
  Register reg{false, 0};
  unsigned level = 0;
};

/// `constant + sum of coefficient * value`, which wraps: what a select leaves
/// out may address anything.
struct LinearForm {
  int64_t constant = 0;
  SmallVector<std::pair<int64_t, Value>> terms;
};

class Compiler {
public:
  Compiler(const Step &step, ArrayRef<SmallVector<int64_t>> shapes,
           ArrayRef<ElementKind> kinds, unsigned numOperands, Rounding rounding,
           llvm::function_ref<void(const Twine &)> error)
      : step(step), shapes(shapes), kinds(kinds), numOperands(numOperands),
        rounding(rounding), error(error) {}

  FailureOr<Program> run() {
    program.regions.resize(1);
    program.indices.resize(step.indices.size());
    program.recurrence = step.recurrence;
    for (auto [number, index] : llvm::enumerate(step.indices)) {
      program.extents.push_back(*index.extent.getInt());
      indexNumbers[index.id] = number;
    }
    program.resultKind = *getElementKind(step.elementType);
    program.result = compile(step.value).reg;
    if (hasFailed)
      return failure();
    return std::move(program);
  }

private:
  //===--------------------------------------------------------------------===//
  // Emission
  //===--------------------------------------------------------------------===//

  Register makeRegister(bool isVarying) {
    if (isVarying)
      return {true, program.numVarying++};
    program.uniforms.push_back({});
    return {false, static_cast<unsigned>(program.uniforms.size() - 1)};
  }

  static bool isFloat(Expr expr) { return isa<FloatType>(expr.getType()); }

  /// Emits `instruction`, which depends on `operands`, and returns its result.
  Value emit(Instruction instruction, ArrayRef<Value> operands) {
    Value result;
    bool isVarying =
        instruction.opcode == Opcode::Load && instruction.a.isVarying;
    for (const Value &operand : operands) {
      isVarying |= operand.reg.isVarying;
      result.level = std::max(result.level, operand.level);
    }
    instruction.dst = result.reg = makeRegister(isVarying);
    program.regions[levels[result.level]].push_back(instruction);
    return result;
  }

  Value makeConstant(Word word) {
    Value value{makeRegister(false), 0};
    program.uniforms[value.reg.number] = word;
    return value;
  }
  Value makeInteger(int64_t integer) {
    Word word;
    word.integer = integer;
    return makeConstant(word);
  }

  //===--------------------------------------------------------------------===//
  // Expressions
  //===--------------------------------------------------------------------===//

  Value compile(Expr expr) {
    auto known = values.find(expr.getNode());
    if (known != values.end())
      return known->second;
    Value value = compileNew(expr);
    if (rounding == Rounding::Functions)
      value = round(expr, value);
    values[expr.getNode()] = value;
    compiled.push_back(expr.getNode());
    return value;
  }

  /// The value of a floating-point expression as its type can hold it.
  Value round(Expr expr, Value value) {
    switch (expr.getKind()) {
    case Expr::Kind::Constant:
    case Expr::Kind::Apply:
    case Expr::Kind::Reduce:
      break;
    case Expr::Kind::Cast:
      if (isFloat(expr.getOperands()[0]))
        return value;
      break;
    default:
      return value;
    }
    if (!isFloat(expr) || expr.getType().isF64())
      return value;
    Instruction round(Opcode::RoundFloat);
    round.a = value.reg;
    round.kind = *getElementKind(expr.getType());
    return emit(round, value);
  }

  Value compileNew(Expr expr) {
    switch (expr.getKind()) {
    case Expr::Kind::Constant: {
      if (!isFloat(expr))
        return makeInteger(*expr.getInt());
      Word word;
      word.real = expr.getFloat();
      return makeConstant(word);
    }
    case Expr::Kind::Variable:
      return compileVariable(expr.getVariable());
    case Expr::Kind::Access:
      return compileAccess(expr);
    case Expr::Kind::Apply:
      return compileApply(expr);
    case Expr::Kind::Select: {
      Instruction select(Opcode::Select);
      Value condition = compile(expr.getOperands()[0]);
      Value thenValue = compile(expr.getOperands()[1]);
      Value elseValue = compile(expr.getOperands()[2]);
      select.a = condition.reg;
      select.b = thenValue.reg;
      select.c = elseValue.reg;
      return emit(select, {condition, thenValue, elseValue});
    }
    case Expr::Kind::Cast:
      return compileCast(expr);
    case Expr::Kind::Reduce:
      return compileReduce(expr);
    case Expr::Kind::Size:
    case Expr::Kind::Parameter:
      break;
    }
    llvm_unreachable("sizes and parameters are numbers by now");
  }

  Value compileVariable(VarId id) {
    if (auto reduced = reductionVars.find(id); reduced != reductionVars.end())
      return reduced->second;
    auto known = indexNumbers.find(id);
    if (known == indexNumbers.end()) {
      fail("expects variables of the step, but got another one");
      return {};
    }
    unsigned number = known->second;
    std::optional<Register> &reg = program.indices[number];
    if (!reg)
      reg = makeRegister(step.recurrence != number);
    return {*reg, 0};
  }

  Value compileApply(Expr expr) {
    ArrayRef<Expr> args = expr.getOperands();
    SmallVector<Value, 2> operands;
    for (Expr arg : args)
      operands.push_back(compile(arg));
    Instruction apply(Opcode::IntegerFn);
    apply.fn = expr.getFn();
    if (isFloat(args[0]))
      apply.opcode = getResultRule(apply.fn) == ScalarResult::Boolean
                         ? Opcode::FloatPredicate
                         : Opcode::FloatFn;
    else
      apply.format = IntegerFormat::get(args[0].getType());
    apply.a = operands.front().reg;
    apply.b = operands.back().reg;
    return emit(apply, operands);
  }

  Value compileCast(Expr expr) {
    Expr from = expr.getOperands()[0];
    Value operand = compile(from);
    Instruction cast(Opcode::RoundFloat);
    cast.a = operand.reg;
    if (isFloat(expr)) {
      cast.kind = *getElementKind(expr.getType());
      if (!isFloat(from)) {
        cast.opcode = Opcode::IntegerToFloat;
        cast.format = IntegerFormat::get(from.getType());
      } else if (expr.getType().getIntOrFloatBitWidth() >
                 from.getType().getIntOrFloatBitWidth()) {
        return operand;
      }
    } else {
      cast.opcode =
          isFloat(from) ? Opcode::FloatToInteger : Opcode::ConvertInteger;
      cast.format = IntegerFormat::get(expr.getType());
    }
    return emit(cast, operand);
  }

  //===--------------------------------------------------------------------===//
  // Accesses
  //===--------------------------------------------------------------------===//

  void addTerms(Expr expr, int64_t coefficient, LinearForm &form) {
    ArrayRef<Expr> operands = expr.getOperands();
    auto isConstant = [](Expr operand) {
      return operand.getKind() == Expr::Kind::Constant;
    };
    if (isConstant(expr)) {
      form.constant = Wrapping::add(form.constant,
                                    Wrapping::mul(coefficient, *expr.getInt()));
      return;
    }
    if (expr.getKind() == Expr::Kind::Apply && expr.getType().isIndex()) {
      switch (expr.getFn()) {
      case ScalarFn::Sub:
        addTerms(operands[1], Wrapping::sub(0, coefficient), form);
        return addTerms(operands[0], coefficient, form);
      case ScalarFn::Add:
        addTerms(operands[1], coefficient, form);
        return addTerms(operands[0], coefficient, form);
      case ScalarFn::Mul:
        if (isConstant(operands[1]))
          return addTerms(operands[0],
                          Wrapping::mul(coefficient, *operands[1].getInt()),
                          form);
        if (isConstant(operands[0]))
          return addTerms(operands[1],
                          Wrapping::mul(coefficient, *operands[0].getInt()),
                          form);
        break;
      default:
        break;
      }
    }
    Value value = compile(expr);
    for (auto &[known, term] : form.terms)
      if (term.reg.isVarying == value.reg.isVarying &&
          term.reg.number == value.reg.number) {
        known = Wrapping::add(known, coefficient);
        return;
      }
    form.terms.push_back({coefficient, value});
  }

  /// Replaces the varying part by the element's number where it is that.
  bool useLinear(LinearForm &form) {
    if (step.recurrence)
      return false;
    int64_t stride = 1;
    SmallVector<std::pair<unsigned, int64_t>> expected;
    for (unsigned number : llvm::reverse(llvm::seq(program.extents.size()))) {
      if (program.extents[number] != 1)
        expected.push_back({number, stride});
      stride *= program.extents[number];
    }
    LinearForm rest;
    rest.constant = form.constant;
    for (auto [coefficient, value] : form.terms) {
      if (!value.reg.isVarying) {
        rest.terms.push_back({coefficient, value});
        continue;
      }
      int64_t scale = coefficient;
      unsigned number = value.reg.number;
      auto *match = llvm::find_if(expected, [&](auto entry) {
        std::optional<Register> &reg = program.indices[entry.first];
        return reg && reg->number == number && entry.second == scale;
      });
      if (match != expected.end())
        expected.erase(match);
      else if (!isUnitIndex(value.reg))
        return false;
    }
    if (!expected.empty())
      return false;
    if (!program.linear)
      program.linear = makeRegister(true);
    form = std::move(rest);
    form.terms.push_back({1, Value{*program.linear, 0}});
    return true;
  }

  /// True for the index of a dimension of extent 1, which is always 0.
  bool isUnitIndex(Register reg) const {
    for (auto [index, extent] :
         llvm::zip_equal(program.indices, program.extents))
      if (index && index->isVarying && index->number == reg.number)
        return extent == 1;
    return false;
  }

  /// Sums the terms of one kind of register, level by level, so that an inner
  /// loop adds only what it changes.
  std::optional<Value> sumTerms(const LinearForm &form, bool isVarying) {
    SmallVector<std::pair<int64_t, Value>> terms;
    for (auto term : form.terms)
      if (term.second.reg.isVarying == isVarying && term.first != 0)
        terms.push_back(term);
    if (terms.empty())
      return std::nullopt;
    llvm::sort(terms, [](const auto &lhs, const auto &rhs) {
      return lhs.second.level < rhs.second.level;
    });
    std::optional<Value> sum;
    for (auto [coefficient, value] : terms) {
      if (!sum && coefficient == 1) {
        sum = value;
        continue;
      }
      Value base = sum ? *sum : makeInteger(0);
      Instruction add(Opcode::AddScaled);
      add.a = base.reg;
      add.b = value.reg;
      add.immediate = coefficient;
      sum = emit(add, {base, value});
    }
    return sum;
  }

  Value compileAccess(Expr expr) {
    TensorRef tensor = expr.getTensor();
    unsigned number =
        tensor.isOperand() ? tensor.number : numOperands + tensor.number;
    ArrayRef<int64_t> shape = shapes[number];
    LinearForm form;
    int64_t stride = 1;
    for (auto [index, extent] :
         llvm::reverse(llvm::zip_equal(expr.getOperands(), shape))) {
      addTerms(index, stride, form);
      stride *= extent;
    }
    Instruction load(Opcode::Load);
    load.isContiguous = useLinear(form);
    load.tensor = number;
    load.kind = kinds[number];
    load.immediate = form.constant;
    // Absent parts are the constant 0.
    std::optional<Value> varying = sumTerms(form, true);
    std::optional<Value> uniform = sumTerms(form, false);
    Value a = varying ? *varying : makeInteger(0);
    Value b = uniform ? *uniform : makeInteger(0);
    load.a = a.reg;
    load.b = b.reg;
    return emit(load, {a, b});
  }

  //===--------------------------------------------------------------------===//
  // Reductions
  //===--------------------------------------------------------------------===//

  Value compileReduce(Expr expr) {
    // Loops nest in the order of the variables, each in a region of its own.
    unsigned outer = levels.size() - 1;
    size_t numCompiled = compiled.size();
    SmallVector<Instruction> loops;
    for (const IndexVar &var : expr.getReduceVars()) {
      Instruction loop(Opcode::Loop);
      loop.a = makeRegister(false);
      loop.immediate = *var.extent.getInt();
      loop.region = program.regions.size();
      loops.push_back(loop);
      program.regions.emplace_back();
      levels.push_back(loop.region);
      reductionVars[var.id] = {loop.a,
                               static_cast<unsigned>(levels.size() - 1)};
    }
    unsigned inner = levels.size() - 1;

    std::optional<Value> guard;
    if (Expr condition = expr.getGuard())
      guard = compileGuard(condition, outer);
    Expr body = expr.getOperands()[0];
    Value value = compile(body);
    Instruction accumulate(Opcode::Accumulate);
    accumulate.fn = getCombiner(expr.getReduceKind());
    accumulate.isFloat = isFloat(expr);
    if (!accumulate.isFloat)
      accumulate.format = IntegerFormat::get(expr.getType());
    accumulate.a = value.reg;
    accumulate.isGuarded = guard.has_value();
    if (guard)
      accumulate.b = guard->reg;
    Value result;
    result.level = outer;
    bool isVarying = value.reg.isVarying || (guard && guard->reg.isVarying);
    result.reg = accumulate.dst = makeRegister(isVarying);
    program.regions[levels[inner]].push_back(accumulate);

    // What was computed inside of the loops is not known outside of them.
    for (const Expr::Node *node : ArrayRef(compiled).drop_front(numCompiled)) {
      auto known = values.find(node);
      if (known != values.end() && known->second.level > outer)
        values.erase(known);
    }
    levels.resize(outer + 1);

    Word neutral;
    if (accumulate.isFloat)
      neutral.real = getNeutralFloat(expr.getReduceKind());
    else
      neutral.integer =
          getNeutralInteger(expr.getReduceKind(), accumulate.format);
    Instruction clear(Opcode::Copy);
    clear.a = makeConstant(neutral).reg;
    clear.dst = result.reg;
    program.regions[levels[outer]].push_back(clear);
    unsigned region = levels[outer];
    for (const Instruction &loop : loops) {
      program.regions[region].push_back(loop);
      region = loop.region;
    }
    return result;
  }

  /// Compiles the conjuncts of a guard. A uniform one skips the rest of its
  /// loop's iteration; the varying ones are returned.
  std::optional<Value> compileGuard(Expr condition, unsigned outer) {
    if (condition.getKind() == Expr::Kind::Apply &&
        condition.getFn() == ScalarFn::And) {
      std::optional<Value> lhs =
          compileGuard(condition.getOperands()[0], outer);
      std::optional<Value> rhs =
          compileGuard(condition.getOperands()[1], outer);
      if (!lhs || !rhs)
        return lhs ? lhs : rhs;
      Instruction both(Opcode::IntegerFn);
      both.fn = ScalarFn::And;
      both.a = lhs->reg;
      both.b = rhs->reg;
      return emit(both, {*lhs, *rhs});
    }
    Value value = compile(condition);
    if (value.reg.isVarying || value.level <= outer)
      return value;
    Instruction skip(Opcode::SkipUnless);
    skip.a = value.reg;
    program.regions[levels[value.level]].push_back(skip);
    return std::nullopt;
  }

  void fail(const Twine &reason) {
    if (!hasFailed)
      error(reason);
    hasFailed = true;
  }

  const Step &step;
  ArrayRef<SmallVector<int64_t>> shapes;
  ArrayRef<ElementKind> kinds;
  unsigned numOperands;
  Rounding rounding;
  llvm::function_ref<void(const Twine &)> error;
  bool hasFailed = false;
  Program program;
  /// The region of each nesting level that is open.
  SmallVector<unsigned> levels{0};
  llvm::DenseMap<VarId, unsigned> indexNumbers;
  llvm::DenseMap<VarId, Value> reductionVars;
  llvm::DenseMap<const Expr::Node *, Value> values;
  SmallVector<const Expr::Node *> compiled;
};
} // namespace

FailureOr<Program> espalier::interpreter::compile(
    const Step &step, ArrayRef<SmallVector<int64_t>> shapes,
    ArrayRef<ElementKind> kinds, unsigned numOperands, Rounding rounding,
    llvm::function_ref<void(const Twine &)> error) {
  return Compiler(step, shapes, kinds, numOperands, rounding, error).run();
}
