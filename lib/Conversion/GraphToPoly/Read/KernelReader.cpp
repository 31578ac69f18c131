//===- KernelReader.cpp - From poly.compute to statements -----------------===//
//
// A computation is a statement, or a piece of one: those that follow each other
// and compute parts of one array over one box are a statement. A reduction
// takes the place of the computation before it that stores the first value:
//
//   @s_init  S[i] = 0;  @s  S[i] += A[i, k]       becomes  S[i] (+)= A[i, k]
//   @s_init  S[i] = B[i];  @s  S[i] += A[i, k]    becomes  T[i] (+)= A[i, k];
//                                                          S[i] = B[i] + T[i]
//
//===----------------------------------------------------------------------===//

#include "KernelReader.h"
#include "../Renumber.h"
#include "../StepAttributes.h"
#include "ReadExpr.h"
#include "espalier/Definition/Evaluate.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Longer bodies are left alone.
static constexpr size_t kMaxOperations = 256;
/// So are arrays of more parts.
static constexpr size_t kMaxPieces = 256;

KernelReader::KernelReader(StatementList &program, poly::KernelOp kernel,
                           ArrayRef<std::optional<ArrayId>> arguments,
                           ArrayRef<AffineExpr> parameters, unsigned group,
                           NotRead &notRead)
    : program(program), kernel(kernel), parameters(parameters), group(group),
      notRead(notRead), isOwn(kernel->hasAttr(kSharedDimsAttr)) {
  for (auto [argument, array] :
       llvm::zip_equal(kernel.getArguments(), arguments))
    if (array)
      arrayOf[argument] = *array;
  for (auto [argument, value] :
       llvm::zip_equal(kernel.getParameters(), parameters))
    parameterOf[argument] = value;
}

LogicalResult KernelReader::refuse(Operation *op, const Twine &reason) {
  if (!notRead.op)
    notRead = {op, reason.str()};
  return failure();
}

LogicalResult KernelReader::reject(Operation *op, const Twine &reason) {
  notRead = {op, reason.str(), /*isError=*/true};
  return failure();
}

AffineExpr KernelReader::import(AffineExpr expr) const {
  MLIRContext *context = program.context;
  llvm::DenseMap<AffineExpr, AffineExpr> replacement;
  unsigned numSymbols = program.symbols.size();
  expr.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      replacement[part] =
          getAffineDimExpr(dim.getPosition() - numOuter, context);
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    if (!symbol)
      return;
    unsigned number = symbol.getPosition();
    replacement[part] =
        number < parameters.size()
            ? parameters[number]
            : getAffineSymbolExpr(numSymbols + number - parameters.size(),
                                  context);
  });
  return program.simplify(expr.replace(replacement));
}

Expr KernelReader::getIndex(AffineExpr expr) const {
  unsigned numSymbols = program.symbols.size();
  return transform(program.expression(import(expr)), [&](Expr e) -> Expr {
    if (e.getKind() != Expr::Kind::Parameter || e.getNumber() < numSymbols)
      return {};
    return cast(IndexType::get(program.context),
                reads[e.getNumber() - numSymbols]);
  });
}

LogicalResult KernelReader::readDomain(poly::ComputeOp compute,
                                       Statement &statement) {
  SmallVector<IntegerSet> sets = compute.getDomainSets();
  if (sets.size() != 1)
    return refuse(compute, "expects a domain that is one set");
  IntegerSet set = sets.front();
  unsigned numDims = compute.getNumDims() - numOuter;
  statement.extents.resize(numDims);
  llvm::SmallBitVector isNotNegative(numDims);
  Conjunction &rules = statement.pieces.emplace_back().domain;
  for (auto [constraint, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    if (numOuter == 1 && constraint.isFunctionOfDim(0))
      continue; // Of the levels.
    AffineExpr expr = import(constraint);
    auto known = dyn_cast<AffineConstantExpr>(expr);
    if (known && (isEquality ? known.getValue() == 0 : known.getValue() >= 0))
      continue;
    bool isBound = false;
    for (unsigned dim = 0; dim < numDims && !isEquality && !isBound; ++dim) {
      AffineExpr index = getAffineDimExpr(dim, program.context);
      if (!isNotNegative.test(dim) && expr == index) {
        isNotNegative.set(dim);
        isBound = true;
      } else if (!statement.extents[dim]) {
        AffineExpr extent = program.simplify(expr + index + 1);
        if (!extent.isSymbolicOrConstant() || !expr.isFunctionOfDim(dim))
          continue;
        statement.extents[dim] = extent;
        isBound = true;
      }
    }
    if (!isBound)
      rules.push_back({expr, isEquality});
  }
  if (!isNotNegative.all() ||
      !llvm::all_of(statement.extents, [](AffineExpr e) { return bool(e); }))
    return refuse(compute, "expects a domain from 0 to an extent along each "
                           "dimension");
  return success();
}

void KernelReader::readNames(poly::ComputeOp compute, Statement &statement) {
  ArrayAttr dims = compute.getDimsAttr();
  if (!dims)
    return;
  SmallVector<StringRef> names(dims.getAsValueRange<StringAttr>());
  for (auto [dim, name] :
       llvm::enumerate(ArrayRef(names).drop_front(numOuter))) {
    std::string known = name.str();
    if (known == "d" + std::to_string(dim))
      known.clear();
    // The number was added to tell two of one name apart.
    auto [stem, number] = name.rsplit('_');
    if (llvm::all_of(number, llvm::isDigit) && !number.empty() &&
        llvm::is_contained(ArrayRef(names).take_front(dim + numOuter), stem))
      known = stem.str();
    statement.names.push_back(known);
  }
}

LogicalResult KernelReader::readReads(poly::ComputeOp compute) {
  reads.clear();
  for (const poly::ComputeAccess &access : compute.getReadAccesses()) {
    auto array = arrayOf.find(access.array);
    if (array == arrayOf.end())
      return refuse(compute, "expects reads of arrays");
    SmallVector<Expr> indices;
    bool isLevel = numOuter == 1 && reads.size() < 2;
    for (AffineExpr index : access.map.getResults())
      indices.push_back(isLevel ? constant(int64_t(0)) : getIndex(index));
    if (!isLevel && numOuter == 1)
      for (AffineExpr index : access.map.getResults())
        if (index.isFunctionOfDim(0))
          return refuse(compute, "expects reads at the points of a level");
    reads.push_back(definition::access(TensorRef::operand(array->second),
                                       indices,
                                       access.getType().getElementType()));
  }
  return success();
}

LogicalResult KernelReader::readBody(poly::ComputeOp compute,
                                     Statement &statement) {
  llvm::DenseMap<Value, Expr> values;
  Block &body = compute.getBody().front();
  if (body.getOperations().size() > kMaxOperations)
    return refuse(compute, "expects a body of at most " +
                               Twine(kMaxOperations) + " operations");
  for (auto [argument, read] : llvm::zip_equal(body.getArguments(), reads))
    values[argument] = read;
  // Literals have a type in bodies.
  auto toIndex = [&](AffineExpr expr) {
    return cast(IndexType::get(program.context), program.expression(expr));
  };
  auto get = [&](Value value) -> Expr {
    if (Expr known = values.lookup(value))
      return known;
    AffineExpr parameter = parameterOf.lookup(value);
    return parameter ? toIndex(parameter) : Expr();
  };
  poly::YieldOp yield = compute.getYield();
  Value result = yield.getValues().front();
  Operation *combination = nullptr; // With what was there before.
  std::optional<poly::ReductionUpdate> update;
  if (compute.getReduction()) {
    update = poly::matchReduction(compute, *compute.getReduction());
    combination = result.getDefiningOp();
    Value before = update ? body.getArgument(update->read) : Value();
    if (!update || !combination || combination->getNumOperands() != 2 ||
        update->combiner != combination->getName().getIdentifier() ||
        !llvm::is_contained(combination->getOperands(), before) ||
        !before.hasOneUse() || !result.hasOneUse())
      return refuse(compute, "expects a reduction by one operation");
    result = combination->getOperand(combination->getOperand(0) == before);
  }
  for (Operation &op : body.without_terminator()) {
    if (&op == combination)
      continue;
    Expr expr;
    if (auto index = dyn_cast<poly::IndexOp>(op)) {
      if (index.getDim() < numOuter)
        return refuse(&op, "expects no use of a level's number");
      expr = variable(index.getDim() - numOuter, program.context);
    } else {
      SmallVector<Expr> operands;
      for (Value operand : op.getOperands()) {
        operands.push_back(get(operand));
        if (!operands.back())
          return refuse(&op, "expects no scalars from outside");
      }
      expr = readExpr(&op, operands);
    }
    if (!expr)
      return refuse(&op, "expects an operation that a scalar function stands "
                         "for");
    if (expr.getType() && expr.getType().isIndex())
      if (std::optional<AffineExpr> affine = program.affine(expr))
        expr = toIndex(*affine);
    values[op.getResult(0)] = expr;
  }
  Expr value = get(result);
  if (!value)
    return refuse(compute, "expects no scalars from outside");
  if (update) {
    switch (*compute.getReduction()) {
    case poly::Reduction::Add:
      statement.reduction = ReduceKind::Sum;
      break;
    case poly::Reduction::Mul:
      statement.reduction = ReduceKind::Product;
      break;
    case poly::Reduction::Max:
      statement.reduction = ReduceKind::Max;
      break;
    case poly::Reduction::Min:
      statement.reduction = ReduceKind::Min;
      break;
    default:
      return refuse(compute, "expects a sum, a product or an extreme value");
    }
    if (isa<arith::MaxNumFOp, arith::MinNumFOp>(combination))
      return refuse(compute, "expects extreme values that are not a number if "
                             "one is not");
    if (isa<arith::MaxUIOp, arith::MinUIOp>(combination))
      value = cast(IntegerType::get(program.context,
                                    value.getType().getIntOrFloatBitWidth(),
                                    IntegerType::Unsigned),
                   value);
  }
  statement.pieces.front().value = value;
  return success();
}

void KernelReader::arrange(Statement &statement) const {
  SmallVector<unsigned> order;
  for (AffineExpr index : statement.targetIndices) {
    auto dim = dyn_cast<AffineDimExpr>(index);
    if (!dim || llvm::is_contained(order, dim.getPosition()))
      return;
    order.push_back(dim.getPosition());
  }
  for (unsigned dim = 0; dim < statement.getNumDims(); ++dim)
    if (!llvm::is_contained(order, dim))
      order.push_back(dim);
  unsigned rank = statement.targetIndices.size();
  bool isMap = rank == statement.getNumDims();
  // What a step stores in another order is meant to run in its own.
  if (isOwn && isMap && !llvm::is_sorted(order))
    return;
  statement.targetIndices.clear();
  if (llvm::is_sorted(order))
    return;
  if (statement.entries && order.back() + 1 != order.size())
    return;
  SmallVector<AffineExpr> place(order.size());
  Statement before = statement;
  for (auto [number, dim] : llvm::enumerate(order)) {
    place[dim] = getAffineDimExpr(number, program.context);
    statement.extents[number] = before.extents[dim];
    if (!before.names.empty())
      statement.names[number] = before.names[dim];
  }
  if (statement.entries)
    statement.entries->row = statement.entries->row.replaceDims(place);
  for (Piece &piece : statement.pieces) {
    for (Condition &rule : piece.domain)
      rule.expr = rule.expr.replaceDims(place);
    piece.value = transform(piece.value, [&](Expr e) -> Expr {
      if (e.getKind() != Expr::Kind::Variable)
        return {};
      return program.expression(place[e.getVariable()]);
    });
  }
}

LogicalResult KernelReader::placeInTarget(poly::ComputeOp compute,
                                          Statement &statement) {
  const Array &target = program.arrays[statement.target];
  if (statement.targetIndices.empty() && statement.extents == target.extents)
    return success();
  unsigned numDims = statement.getNumDims();
  SmallVector<AffineExpr> indices = statement.targetIndices, place(numDims);
  if (indices.empty())
    for (unsigned dim = 0; dim < numDims; ++dim)
      indices.push_back(getAffineDimExpr(dim, program.context));
  Conjunction inside;
  for (auto [number, index] : llvm::enumerate(indices)) {
    AffineExpr self = getAffineDimExpr(number, program.context);
    std::optional<unsigned> dim;
    for (unsigned other = 0; other < numDims; ++other)
      if (index.isFunctionOfDim(other))
        dim = other;
    AffineExpr offset = program.simplify(
        dim ? index - getAffineDimExpr(*dim, program.context) : index);
    if (!offset.isSymbolicOrConstant() || (dim && place[*dim]))
      return refuse(compute, "expects elements of a box");
    if (!dim) {
      inside.push_back({program.simplify(self - offset), true});
      continue;
    }
    place[*dim] = program.simplify(self - offset);
    AffineExpr end = program.simplify(offset + statement.extents[*dim]);
    if (offset != getAffineConstantExpr(0, program.context))
      inside.push_back({place[*dim], false});
    if (end != target.extents[number])
      inside.push_back({program.simplify(end - 1 - self), false});
  }
  if (!llvm::all_of(place, [](AffineExpr expr) { return bool(expr); }))
    return refuse(compute, "expects to compute elements once");
  statement = substitute(program, statement, place, target.extents);
  statement.targetIndices.clear();
  llvm::append_range(inside, statement.pieces.front().domain);
  statement.pieces.front().domain = std::move(inside);
  return success();
}

/// Leaves the points of `part` out of a piece: one piece for each of its
/// conditions, where that is the first that does not hold.
static SmallVector<Piece> subtract(const StatementList &program,
                                   const Piece &piece,
                                   const Conjunction &part) {
  SmallVector<Piece> rest;
  Conjunction domain = piece.domain;
  for (const Condition &condition : part) {
    SmallVector<AffineExpr, 2> outside{-condition.expr - 1};
    if (condition.isEquality)
      outside.push_back(condition.expr - 1);
    for (AffineExpr expr : outside) {
      rest.push_back({domain, piece.value});
      rest.back().domain.push_back({program.simplify(expr), false});
    }
    domain.push_back(condition);
  }
  return rest;
}

bool KernelReader::isNeutral(const Statement &init,
                             const Statement &reduction) const {
  Expr value = init.pieces.front().value;
  if (value.getKind() != Expr::Kind::Constant)
    return false;
  Type type = reduction.pieces.front().value.getType();
  Expr neutral = cast(type, getNeutral(*reduction.reduction, type));
  return isa<FloatType>(type) ? value.getFloat() == neutral.getFloat()
                              : value.getInt() == neutral.getInt();
}

/// Whether both cannot hold anywhere.
static bool areDisjoint(const StatementList &program, const Conjunction &lhs,
                        const Conjunction &rhs) {
  auto isNegative = [&](AffineExpr sum) {
    auto number = dyn_cast<AffineConstantExpr>(program.simplify(sum));
    return number && number.getValue() < 0;
  };
  // Of parts in a row, such as operands that are joined, each begins with what
  // ends those before, and ends with what is its own.
  for (const Condition &a : llvm::reverse(lhs))
    for (const Condition &b : llvm::reverse(rhs))
      if (isNegative(a.expr + b.expr) ||
          (a.isEquality && isNegative(b.expr - a.expr)) ||
          (b.isEquality && isNegative(a.expr - b.expr)) ||
          (a.isEquality && b.isEquality && isNegative(-a.expr - b.expr)))
        return true;
  return false;
}

LogicalResult KernelReader::addReduction(poly::ComputeOp compute,
                                         Statement statement) {
  unsigned rank = program.getRank(statement.target);
  Statement *last = fusionGroup.statements.empty()
                        ? nullptr
                        : &program.statements[fusionGroup.statements.back()];
  bool isSame = last && last->target == statement.target &&
                last->targetIndices == statement.targetIndices;
  // More of the same.
  if (isSame && last->reduction == statement.reduction && !last->entries &&
      !statement.entries && last->extents == statement.extents) {
    last->pieces.push_back(std::move(statement.pieces.front()));
    return success();
  }
  // Of a step: it goes on with what is there.
  auto isTarget = [&](unsigned number) {
    return program.statements[number].target == statement.target;
  };
  auto isFirstValue = [&] {
    return isSame && !last->reduction && last->getNumDims() == rank &&
           statement.getNumDims() >= rank &&
           last->extents == SmallVector<AffineExpr>(
                                ArrayRef(statement.extents).take_front(rank));
  };
  if (isOwn && statement.entries && !isFirstValue() &&
      llvm::any_of(fusionGroup.statements, isTarget)) {
    statement.addsToTarget = true;
    fusionGroup.statements.push_back(program.statements.size());
    program.statements.push_back(std::move(statement));
    return success();
  }
  if (!isSame || last->reduction || last->pieces.size() != 1 ||
      !last->pieces.front().domain.empty() ||
      statement.getNumDims() < last->getNumDims() ||
      last->getNumDims() != rank ||
      last->extents !=
          SmallVector<AffineExpr>(ArrayRef(statement.extents).take_front(rank)))
    return refuse(compute, "expects a first value for each element, in the "
                           "computation before");
  if (isNeutral(*last, statement)) {
    *last = std::move(statement);
    return success();
  }
  if (statement.recurrence || !statement.targetIndices.empty())
    return refuse(compute, "expects a first value that changes nothing");
  // The reduction comes first, then what it is combined with.
  Array sum{Array::Kind::Intermediate, statement.loc,
            program.arrays[statement.target].elementType,
            program.arrays[statement.target].extents};
  Type type = statement.pieces.front().value.getType();
  ArrayId target = program.addArray(std::move(sum));
  SmallVector<Expr> indices;
  for (unsigned dim = 0; dim < rank; ++dim)
    indices.push_back(variable(dim, program.context));
  Statement combined = *last;
  Expr total = cast(type, access(TensorRef::operand(target), indices,
                                 program.arrays[target].elementType));
  Expr first = cast(type, combined.pieces.front().value);
  combined.pieces.front().value =
      apply(getCombiner(*statement.reduction), {first, total});
  statement.target = target;
  *last = std::move(statement);
  fusionGroup.statements.push_back(program.statements.size());
  program.statements.push_back(std::move(combined));
  return success();
}

LogicalResult KernelReader::addStatement(poly::ComputeOp compute,
                                         Statement statement) {
  if (statement.reduction)
    return addReduction(compute, std::move(statement));
  if (!fusionGroup.statements.empty()) {
    Statement &last = program.statements[fusionGroup.statements.back()];
    if (!last.reduction && last.target == statement.target &&
        last.extents == statement.extents &&
        last.targetIndices == statement.targetIndices) {
      Piece &piece = statement.pieces.front();
      SmallVector<Piece> pieces;
      for (const Piece &other : last.pieces)
        if (areDisjoint(program, other.domain, piece.domain))
          pieces.push_back(other);
        else // Overwritten.
          llvm::append_range(pieces, subtract(program, other, piece.domain));
      if (pieces.size() >= kMaxPieces)
        return refuse(compute, "expects at most " + Twine(kMaxPieces) +
                                   " parts of an array");
      pieces.push_back(std::move(piece));
      last.pieces = std::move(pieces);
      return success();
    }
  }
  fusionGroup.statements.push_back(program.statements.size());
  program.statements.push_back(std::move(statement));
  return success();
}

LogicalResult KernelReader::readCompute(poly::ComputeOp compute) {
  numOuter = 0;
  if (compute.getWrites().size() != 1)
    return refuse(compute, "expects computations of one array each");
  auto target = arrayOf.find(compute.getWrites().front());
  if (target == arrayOf.end())
    return refuse(compute, "expects computations of arrays");
  Statement statement{target->second, compute.getLoc(), {}, {}};
  if (failed(readAttributes(compute, statement)) ||
      failed(readDomain(compute, statement)) || failed(readReads(compute)))
    return failure();
  readNames(compute, statement);
  AffineMap write = compute.getWriteAccesses().front().map;
  if (write.getNumSymbols() > parameters.size())
    return refuse(compute, "expects places that do not depend on data");
  for (AffineExpr index : write.getResults()) {
    if (numOuter == 1 && index.isFunctionOfDim(0))
      return refuse(compute, "expects places that do not depend on levels");
    statement.targetIndices.push_back(import(index));
  }
  if (failed(readBody(compute, statement)))
    return failure();
  arrange(statement);
  if (statement.reduction && !isOwn && !statement.targetIndices.empty())
    return refuse(compute, "expects a reduction for each element");
  if (!statement.reduction && !isOwn && !statement.recurrence &&
      failed(placeInTarget(compute, statement)))
    return failure();
  return addStatement(compute, std::move(statement));
}

LogicalResult KernelReader::readValues(unsigned number) {
  auto found = arrayOf.find(kernel.getArgument(number));
  Array *array =
      found == arrayOf.end() ? nullptr : &program.arrays[found->second];
  for (NamedAttribute attr : FunctionOpInterface(kernel).getArgAttrs(number)) {
    StringRef name = attr.getName().getValue();
    if (!name.starts_with("poly."))
      continue;
    if (!array || array->kind != Array::Kind::Constant)
      return refuse(kernel, "expects kernels without facts about values that "
                            "are no constants");
    auto map = dyn_cast<AffineMapAttr>(attr.getValue());
    auto bound = map ? dyn_cast<AffineConstantExpr>(map.getValue().getResult(0))
                     : AffineConstantExpr();
    if (name == poly::KernelOp::getMonotonicAttrName())
      array->isMonotonic = true;
    else if (name == poly::KernelOp::getBoundAttrName() && bound)
      array->bound =
          std::min(bound.getValue(), array->bound.value_or(bound.getValue()));
    else
      return refuse(kernel, "expects no facts about values but bounds that are "
                            "numbers, and that they do not decrease");
  }
  return success();
}

FailureOr<FusionGroup> KernelReader::read() {
  if (kernel.getSchedule() || !kernel.getGivens().empty() ||
      kernel.getAssumptions())
    return refuse(kernel, "expects kernels without a schedule and without "
                          "facts about values");
  for (unsigned number = 0; number < kernel.getNumArguments(); ++number)
    if (failed(readValues(number)))
      return failure();
  for (poly::ArrayOp op : kernel.getArrays()) {
    if (!op.isIn(poly::Placement::Heap) || op.getStorage())
      return refuse(op, "expects arrays without a place");
    Array array{Array::Kind::Intermediate, op.getLoc()};
    auto type = cast<MemRefType>(op.getType());
    array.elementType = type.getElementType();
    auto size = op.getSizes().begin();
    for (int64_t extent : type.getShape())
      array.extents.push_back(
          ShapedType::isDynamic(extent)
              ? program.simplify(parameterOf.lookup(*size++))
              : getAffineConstantExpr(extent, program.context));
    if (std::string fault = graphtopoly::readAttributes(
            op->getDiscardableAttrDictionary(), array);
        !fault.empty())
      return reject(op, "expects " + fault);
    arrayOf[op] = program.addArray(std::move(array));
  }
  for (poly::ComputeOp compute : kernel.getComputes())
    if (failed(readCompute(compute)))
      return failure();
  if (failed(checkRecurrence()))
    return failure();
  if (fusionGroup.statements.empty())
    return refuse(kernel, "expects computations");
  const Statement &first = program.statements[fusionGroup.statements.front()];
  std::optional<int64_t> shared;
  if (std::string fault = readNumber(kernel, kSharedDimsAttr, shared);
      !fault.empty())
    return reject(kernel, "expects " + fault);
  unsigned numDims = first.getNumDims();
  if (shared && (*shared < 0 || *shared > numDims))
    return reject(kernel, "expects poly.shared_dims of at most " +
                              Twine(numDims) + ", but got " + Twine(*shared));
  fusionGroup.sharedDims =
      shared.value_or(first.recurrence ? 1 : program.countPoints(first));
  if (failed(checkTogether()))
    return failure();
  return std::move(fusionGroup);
}
