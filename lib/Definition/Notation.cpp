//===- Notation.cpp - Instantiates the index notation ---------------------===//

#include "espalier/Definition/Notation.h"
#include "NotationAst.h"
#include "espalier/Definition/Evaluate.h"
#include "espalier/Definition/Formulas.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;

namespace {
/// A value of the formula. What is computed of f16 is f32 until the result is
/// stored; `storage` remembers the element type that it stands for.
struct Value {
  Expr expr;
  Type storage;
};

/// A place where an index stands alone: `count` dimensions of a tensor from
/// `dim` on (several for a pack).
struct Occurrence {
  TensorRef tensor;
  unsigned dim;
  unsigned count;
};

using Binding = SmallVector<IndexVar, 4>;

class Instantiator {
public:
  Instantiator(const Instantiation &with, NotationError error)
      : with(with), error(error) {
    for (const OperandInfo &operand : with.operands) {
      tensors[operand.name] =
          TensorRef::operand(definition.operandNames.size());
      definition.operandNames.push_back(operand.name);
      operandTypes.push_back(operand.type);
    }
  }

  FailureOr<Definition> run(ArrayRef<Equation> equations) {
    for (const Equation &equation : equations)
      if (failed(addEquation(equation, &equation == &equations.back())))
        return failure();
    definition.results.push_back(definition.steps.size() - 1);
    return std::move(definition);
  }

private:
  //===--------------------------------------------------------------------===//
  // Ranges of indices
  //===--------------------------------------------------------------------===//

  unsigned getRank(TensorRef tensor) const {
    return tensor.isOperand() ? operandTypes[tensor.number].getRank()
                              : definition.steps[tensor.number].indices.size();
  }

  Expr getExtent(TensorRef tensor, unsigned dim) const {
    return definition.getExtent(tensor, dim, with.context);
  }

  int64_t getStaticExtent(TensorRef tensor, unsigned dim) const {
    return evaluateExtent(getExtent(tensor, dim), definition, operandTypes);
  }

  StringRef getTensorName(TensorRef tensor) const {
    return tensor.isOperand() ? definition.operandNames[tensor.number]
                              : StringRef(definition.steps[tensor.number].name);
  }

  /// Returns how many dimensions the pack among `access`'s indices stands for,
  /// or an error when the rank does not fit.
  FailureOr<unsigned> getPackLength(const Ast &access, TensorRef tensor) {
    unsigned numPacks = llvm::count_if(access.args, [](const AstPtr &arg) {
      return arg->kind == Ast::Kind::Pack;
    });
    unsigned numSingle = access.args.size() - numPacks;
    unsigned rank = getRank(tensor);
    if (numPacks > 1) {
      error("expects at most one pack in '" + access.text + "'");
      return failure();
    }
    if (rank < numSingle || (numPacks == 0 && rank != numSingle)) {
      error("expects " + access.name + " to have rank " +
            llvm::Twine(numSingle) + (numPacks ? " or more" : "") +
            ", but got rank " + llvm::Twine(rank));
      return failure();
    }
    return rank - numSingle;
  }

  /// Collects the places below `ast` where index `name` stands alone.
  LogicalResult collect(const Ast &ast, StringRef name,
                        SmallVectorImpl<Occurrence> &found) {
    auto known = tensors.find(ast.name);
    if (ast.kind == Ast::Kind::Access && known != tensors.end()) {
      TensorRef tensor = known->second;
      FailureOr<unsigned> packLength = getPackLength(ast, tensor);
      if (failed(packLength))
        return failure();
      unsigned dim = 0;
      for (const AstPtr &arg : ast.args) {
        bool isPack = arg->kind == Ast::Kind::Pack;
        unsigned count = isPack ? *packLength : 1;
        if ((isPack || arg->kind == Ast::Kind::Name) && arg->name == name)
          found.push_back({tensor, dim, count});
        dim += count;
      }
    }
    for (const AstPtr &arg : ast.args)
      if (failed(collect(*arg, name, found)))
        return failure();
    return success();
  }

  static bool isSameExtent(Expr lhs, Expr rhs) {
    if (lhs.getKind() != rhs.getKind())
      return false;
    if (lhs.getKind() == Expr::Kind::Size)
      return lhs.getTensor() == rhs.getTensor() &&
             lhs.getNumber() == rhs.getNumber();
    return lhs.getNode() == rhs.getNode();
  }

  /// One dimension that an index runs over.
  struct Place {
    TensorRef tensor;
    unsigned dim;
  };

  /// Picks the extent of an index from the places where it stands alone, a
  /// static one if there is any, and checks that the others agree.
  FailureOr<Expr> unify(StringRef name, ArrayRef<Place> places) {
    const Place *best = &places.front();
    for (const Place &place : places)
      if (ShapedType::isDynamic(getStaticExtent(best->tensor, best->dim)))
        if (!ShapedType::isDynamic(getStaticExtent(place.tensor, place.dim)))
          best = &place;
    Expr extent = getExtent(best->tensor, best->dim);
    int64_t expected = getStaticExtent(best->tensor, best->dim);
    for (const Place &place : places) {
      int64_t actual = getStaticExtent(place.tensor, place.dim);
      Expr other = getExtent(place.tensor, place.dim);
      bool isKnown =
          !ShapedType::isDynamic(actual) && !ShapedType::isDynamic(expected);
      if (isKnown && actual != expected) {
        error("expects extents of " + name + " to agree, but dimension " +
              llvm::Twine(best->dim) + " of " + getTensorName(best->tensor) +
              " is " + llvm::Twine(expected) + " and dimension " +
              llvm::Twine(place.dim) + " of " + getTensorName(place.tensor) +
              " is " + llvm::Twine(actual));
        return failure();
      }
      if (!isKnown && !isSameExtent(extent, other))
        definition.requirements.push_back(
            {Requirement::Kind::Equal, other, extent,
             "extents of " + name.str() + " to agree"});
    }
    return extent;
  }

  /// Gives `index` its variables; `bodies` are the expressions in its scope.
  LogicalResult bind(IndexName index, ArrayRef<const Ast *> bodies) {
    SmallVector<Occurrence> found;
    for (const Ast *body : bodies)
      if (failed(collect(*body, index.name, found)))
        return failure();
    if (found.empty()) {
      error("expects index '" + index.name +
            "' to stand alone in some access, which gives its range");
      return failure();
    }
    unsigned count = 0;
    for (const Occurrence &occurrence : found)
      count = std::max(count, occurrence.count);

    Binding &binding = scope[index.name];
    binding.clear();
    for (unsigned position : llvm::seq(count)) {
      // Shorter packs align right; an extent of 1 repeats where another is not.
      SmallVector<Place> places, repeated;
      for (const Occurrence &occurrence : found) {
        unsigned missing = count - occurrence.count;
        if (position < missing)
          continue;
        Place place{occurrence.tensor, occurrence.dim + position - missing};
        bool repeats =
            index.isPack && getStaticExtent(place.tensor, place.dim) == 1;
        (repeats ? repeated : places).push_back(place);
      }
      std::string name =
          index.name.str() + (index.isPack ? std::to_string(position) : "");
      FailureOr<Expr> extent = unify(name, places.empty() ? repeated : places);
      if (failed(extent))
        return failure();
      binding.push_back(definition.makeVar(name, *extent));
    }
    return success();
  }

  /// Gives an index whose extent is written out its variable.
  LogicalResult bindTo(IndexName index, const Ast &extent) {
    FailureOr<Value> value = evaluate(extent);
    if (failed(value))
      return failure();
    Expr expr = value->expr;
    if (index.isPack || !isExtent(expr)) {
      error("expects an extent for '" + index.name + "', but got '" +
            extent.text + "'");
      return failure();
    }
    expr = cast(IndexType::get(with.context), expr);
    scope[index.name] = {definition.makeVar(index.name, expr)};
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Equations
  //===--------------------------------------------------------------------===//

  LogicalResult addEquation(const Equation &equation, bool isLast) {
    scope.clear();
    Step step;
    step.name = equation.name.str();
    for (auto [index, extent] :
         llvm::zip_equal(equation.indices, equation.extents)) {
      if (failed(extent ? bindTo(index, *extent)
                        : bind(index, equation.value.get())))
        return failure();
      llvm::append_range(step.indices, scope[index.name]);
    }
    FailureOr<Value> value = evaluate(*equation.value);
    if (failed(value))
      return failure();
    Type type = value->expr.getType();
    if (isLast)
      type = with.resultElementType ? with.resultElementType : value->storage;
    if (!type || (type.isIndex() && !with.resultElementType)) {
      error("expects '" + equation.value->text +
            "' to have an element type of its own");
      return failure();
    }
    step.value = cast(type, value->expr);
    step.elementType = type;
    storageOfStep.push_back(value->storage);
    tensors[equation.name] = definition.addStep(std::move(step));
    return success();
  }

  //===--------------------------------------------------------------------===//
  // Expressions
  //===--------------------------------------------------------------------===//

  FailureOr<Value> evaluate(const Ast &ast) {
    switch (ast.kind) {
    case Ast::Kind::Number:
      return number(ast.number);
    case Ast::Kind::Name:
      return evaluateName(ast);
    case Ast::Kind::Pack:
      error("expects a pack only as an index, but got '" + ast.text + "'");
      return failure();
    case Ast::Kind::Access:
      return evaluateAccess(ast);
    case Ast::Kind::Call:
      return evaluateCall(ast);
    case Ast::Kind::Conditional:
      return evaluateConditional(ast);
    case Ast::Kind::Reduce:
      return evaluateReduce(ast);
    }
    llvm_unreachable("every kind is handled above");
  }

  static Value number(std::variant<int64_t, double> number) {
    if (auto *integer = std::get_if<int64_t>(&number))
      return {constant(*integer), {}};
    return {constant(std::get<double>(number)), {}};
  }

  FailureOr<Value> evaluateName(const Ast &ast) {
    if (auto bound = scope.find(ast.name); bound != scope.end()) {
      if (bound->second.size() != 1) {
        error("expects a pack only as an index, but got '" + ast.text + "'");
        return failure();
      }
      Expr expr = variable(bound->second.front().id, with.context);
      return Value{expr, expr.getType()};
    }
    if (auto known = with.numbers.find(ast.name); known != with.numbers.end())
      return number(known->second);
    error("expects the name of an index or attribute, but got '" + ast.name +
          "'");
    return failure();
  }

  FailureOr<TensorRef> lookupTensor(const Ast &ast) {
    auto known = tensors.find(ast.name);
    if (known != tensors.end())
      return known->second;
    error("expects the name of a tensor, but got '" + ast.name + "'");
    return failure();
  }

  FailureOr<Value> evaluateAccess(const Ast &ast) {
    FailureOr<TensorRef> tensor = lookupTensor(ast);
    if (failed(tensor))
      return failure();
    FailureOr<unsigned> packLength = getPackLength(ast, *tensor);
    if (failed(packLength))
      return failure();
    SmallVector<Expr> indices;
    for (const AstPtr &arg : ast.args) {
      if (arg->kind == Ast::Kind::Pack) {
        if (failed(appendPack(*arg, *tensor, *packLength, indices)))
          return failure();
        continue;
      }
      FailureOr<Value> index = evaluate(*arg);
      if (failed(index))
        return failure();
      indices.push_back(index->expr);
    }
    bool isOperand = tensor->isOperand();
    Type type = isOperand ? operandTypes[tensor->number].getElementType()
                          : definition.steps[tensor->number].elementType;
    return Value{access(*tensor, indices, type),
                 isOperand ? type : storageOfStep[tensor->number]};
  }

  /// Appends the last `count` indices of a pack; where the tensor has extent 1
  /// and the pack has not, the element repeats.
  LogicalResult appendPack(const Ast &pack, TensorRef tensor, unsigned count,
                           SmallVectorImpl<Expr> &indices) {
    auto bound = scope.find(pack.name);
    if (bound == scope.end()) {
      error("expects the name of an index, but got '" + pack.text + "'");
      return failure();
    }
    for (const IndexVar &var : ArrayRef(bound->second).take_back(count)) {
      bool repeats = getStaticExtent(tensor, indices.size()) == 1 &&
                     evaluateExtent(var.extent, definition, operandTypes) != 1;
      indices.push_back(repeats ? constant(int64_t(0))
                                : variable(var.id, with.context));
    }
    return success();
  }

  FailureOr<Value> evaluateSize(const Ast &ast) {
    if (ast.args.size() != 2 || ast.args[0]->kind != Ast::Kind::Name) {
      error("expects a tensor and a dimension in '" + ast.text + "'");
      return failure();
    }
    FailureOr<TensorRef> tensor = lookupTensor(*ast.args[0]);
    FailureOr<Value> dim = evaluate(*ast.args[1]);
    if (failed(tensor) || failed(dim))
      return failure();
    std::optional<int64_t> number;
    if (dim->expr.getKind() == Expr::Kind::Constant)
      number = dim->expr.getInt();
    if (!number || *number < 0 || *number >= getRank(*tensor)) {
      error("expects a dimension of " + ast.args[0]->name + " in '" + ast.text +
            "'");
      return failure();
    }
    Expr extent = getExtent(*tensor, *number);
    return Value{extent, extent.getType()};
  }

  FailureOr<Value> evaluateCall(const Ast &ast) {
    if (!ast.fn && ast.name == "size")
      return evaluateSize(ast);
    SmallVector<Value, 2> args;
    for (const AstPtr &arg : ast.args) {
      FailureOr<Value> value = evaluate(*arg);
      if (failed(value))
        return failure();
      args.push_back(*value);
    }
    if (auto known = with.functions.find(ast.name);
        !ast.fn && known != with.functions.end() && args.size() == 1)
      return Value{known->second(args[0].expr), args[0].storage};
    if (auto formula = lookupFormula(ast.name);
        !ast.fn && formula && args.size() == 1)
      return Value{formula(args[0].expr), args[0].storage};

    std::optional<ScalarFn> fn = ast.fn ? ast.fn : lookupScalarFn(ast.name);
    if (!fn || getArity(*fn) != args.size()) {
      error("expects the name of a function of " + llvm::Twine(args.size()) +
            (args.size() == 1 ? " argument" : " arguments") + ", but got '" +
            ast.name + "'");
      return failure();
    }
    FailureOr<Type> storage = checkTypes(ast, args, 0);
    if (failed(storage) || failed(checkSupport(*fn, ast, *storage)))
      return failure();
    SmallVector<Expr, 2> exprs;
    for (const Value &arg : args)
      exprs.push_back(arg.expr);
    Expr expr = apply(*fn, exprs);
    bool isBoolean = getResultRule(*fn) == ScalarResult::Boolean;
    return Value{expr, isBoolean ? expr.getType() : *storage};
  }

  /// Checks that `values`, which stand at `firstArg` and on among the
  /// arguments of `ast`, have one element type, up to literals and indices.
  FailureOr<Type> checkTypes(const Ast &ast, ArrayRef<Value> values,
                             unsigned firstArg) {
    const Value *decisive = nullptr;
    for (const Value &value : values) {
      Type type = value.storage;
      if (!type || (decisive && type.isIndex()))
        continue;
      if (decisive && !decisive->storage.isIndex() &&
          decisive->storage != type) {
        std::string message;
        llvm::raw_string_ostream os(message);
        os << "expects operands of one element type, but '"
           << ast.args[firstArg + (decisive - values.begin())]->text << "' is "
           << decisive->storage << " and '"
           << ast.args[firstArg + (&value - values.begin())]->text << "' is "
           << type;
        error(message);
        return failure();
      }
      if (!decisive || decisive->storage.isIndex())
        decisive = &value;
    }
    if (!decisive)
      return Type();
    for (const Value &value : values) {
      if (!value.storage && !value.expr.getInt() &&
          !isa<FloatType>(decisive->storage)) {
        std::string message;
        llvm::raw_string_ostream os(message);
        os << "expects an integer to go with " << decisive->storage
           << ", but got '"
           << ast.args[firstArg + (&value - values.begin())]->text << "'";
        error(message);
        return failure();
      }
    }
    return decisive->storage;
  }

  LogicalResult checkSupport(ScalarFn fn, const Ast &ast, Type type) {
    bool isSupported =
        !type || (isa<FloatType>(type) ? isSupportedOnFloats(fn)
                                       : isSupportedOnIntegers(fn));
    if (isSupported)
      return success();
    std::string message;
    llvm::raw_string_ostream os(message);
    os << "expects "
       << (isa<FloatType>(type) ? "integers" : "floating-point numbers")
       << " in '" << ast.text << "', but got " << type;
    error(message);
    return failure();
  }

  FailureOr<Value> evaluateCondition(const Ast &ast) {
    FailureOr<Value> condition = evaluate(ast);
    if (failed(condition))
      return failure();
    Expr expr = condition->expr;
    bool isLiteral = expr.getKind() == Expr::Kind::Constant && !expr.getType();
    if (isLiteral || expr.getType().isInteger(1))
      return condition;
    error("expects '" + ast.text + "' to be a condition");
    return failure();
  }

  FailureOr<Value> evaluateConditional(const Ast &ast) {
    FailureOr<Value> condition = evaluateCondition(*ast.args[0]);
    if (failed(condition))
      return failure();
    SmallVector<Value, 2> branches;
    for (const AstPtr &arg : ArrayRef(ast.args).drop_front()) {
      FailureOr<Value> value = evaluate(*arg);
      if (failed(value))
        return failure();
      branches.push_back(*value);
    }
    FailureOr<Type> storage = checkTypes(ast, branches, 1);
    if (failed(storage))
      return failure();
    return Value{select(condition->expr, branches[0].expr, branches[1].expr),
                 *storage};
  }

  FailureOr<Value> evaluateReduce(const Ast &ast) {
    SmallVector<const Ast *, 2> bodies;
    for (const AstPtr &arg : ast.args)
      bodies.push_back(arg.get());
    SmallVector<IndexVar> vars;
    Expr count = constant(int64_t(1));
    for (auto [var, extent] : llvm::zip_equal(ast.vars, ast.extents)) {
      if (failed(extent ? bindTo(var, *extent) : bind(var, bodies)))
        return failure();
      for (const IndexVar &bound : scope[var.name]) {
        vars.push_back(bound);
        count = count * bound.extent;
      }
    }
    FailureOr<Value> body = evaluate(*ast.args[0]);
    if (failed(body))
      return failure();
    if (!body->storage) {
      error("expects '" + ast.args[0]->text +
            "' to have an element type of its own");
      return failure();
    }
    Expr guard;
    if (ast.args.size() == 2) {
      FailureOr<Value> condition = evaluateCondition(*ast.args[1]);
      if (failed(condition))
        return failure();
      guard = condition->expr;
    }
    for (IndexName var : ast.vars)
      scope.erase(var.name);
    Expr reduced =
        reduce(ast.reduceKind, vars, guard, body->expr,
               getAccumulatorType(ast.reduceKind, body->expr.getType()));
    if (ast.isMean)
      reduced = apply(ScalarFn::Div, {reduced, count});
    return Value{reduced, body->storage};
  }

  const Instantiation &with;
  NotationError error;
  Definition definition;
  SmallVector<RankedTensorType> operandTypes;
  SmallVector<Type> storageOfStep;
  llvm::StringMap<TensorRef> tensors;
  llvm::StringMap<Binding> scope;
};
} // namespace

FailureOr<Definition> definition::parseDefinition(
    StringRef text, const Instantiation &instantiation,
    llvm::function_ref<void(const llvm::Twine &)> error) {
  auto isAttribute = [&](StringRef name) {
    return instantiation.numbers.contains(name);
  };
  FailureOr<std::vector<Equation>> equations =
      parseEquations(text, isAttribute, error);
  if (failed(equations))
    return failure();
  return Instantiator(instantiation, error).run(*equations);
}
