//===- EmitGivens.cpp - What the data of recurrences must be --------------===//
//
// A recurrence through an array of indices reads what it has computed at
// numbers that are data, say the children of a node:
//
//   H[m, j] = tanh(H[children[m, 0] - leaves, j])
//
// The kernel computes what it is asked for, in its order, whatever the numbers
// are; but a number of an element that comes later, or in the same level, gives
// what memory held before. So the kernel states that there is none, and that
// levels leave out no point. The program checks it before it runs, in as much
// time as there are points.
//
//===----------------------------------------------------------------------===//

#include "../StepAttributes.h"
#include "KernelEmitter.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

bool KernelEmitter::canStateData() const {
  return facts.empty() && isAlwaysRun &&
         llvm::all_of(fusionGroup.statements, [&](unsigned number) {
           std::optional<ArrayId> levels = program.statements[number].levels;
           return !levels || program.arrays[*levels].kind == Array::Kind::Input;
         });
}

//===----------------------------------------------------------------------===//
// What is read at numbers that are data
//===----------------------------------------------------------------------===//

/// The statement that computes all of `array` by one formula; null if there is
/// none.
static const Statement *findFormula(const StatementList &program,
                                    ArrayId array) {
  const Statement *formula = nullptr;
  for (const Statement &statement : program.statements) {
    if (statement.target != array)
      continue;
    if (formula || statement.reduction || statement.pieces.size() != 1 ||
        !statement.pieces.front().domain.empty() ||
        !statement.targetIndices.empty())
      return nullptr;
    formula = &statement;
  }
  return formula;
}

Expr KernelEmitter::traceToInputs(Expr index, unsigned numSteps) const {
  return transform(index, [&](Expr part) -> Expr {
    if (part.getKind() == Expr::Kind::Apply &&
        (part.getFn() == ScalarFn::Min || part.getFn() == ScalarFn::Max)) {
      // What is read where a limit matters is out of the array, or not used. A
      // number below an upper limit is no later one; a lower limit above 0 is.
      auto isLimit = [&](Expr operand) {
        return part.getFn() == ScalarFn::Min
                   ? isExtent(operand)
                   : operand.getInt().value_or(1) <= 0;
      };
      auto operands = part.getOperands();
      return isLimit(operands[1])   ? operands[0]
             : isLimit(operands[0]) ? operands[1]
                                    : Expr();
    }
    if (part.getKind() != Expr::Kind::Access || numSteps == 0)
      return {};
    const Statement *formula = findFormula(program, part.getTensor().number);
    if (!formula)
      return {};
    auto at = llvm::to_vector(part.getOperands());
    Expr value = transform(formula->pieces.front().value, [&](Expr e) {
      return e.getKind() == Expr::Kind::Variable ? at[e.getVariable()] : Expr();
    });
    return cast(part.getType(), traceToInputs(value, numSteps - 1));
  });
}

void KernelEmitter::findEarlierReads(unsigned number, const Piece &piece) {
  const Statement &statement = program.statements[number];
  walk(piece.value, [&](Expr access) {
    if (access.getKind() != Expr::Kind::Access)
      return;
    auto isSource = [&](unsigned other) {
      const Statement &source = program.statements[other];
      return source.target == access.getTensor().number && source.recurrence &&
             source.recurrenceGroup == statement.recurrenceGroup &&
             source.targetIndices.empty();
    };
    auto source = llvm::find_if(fusionGroup.statements, isSource);
    if (source == fusionGroup.statements.end())
      return;
    EarlierRead earlier{number, &piece, {}, {}};
    bool areInputs = true;
    unsigned along = *program.statements[*source].recurrence;
    std::optional<AffineExpr> place =
        program.affine(traceToInputs(access.getOperands()[along]), [&](Expr e) {
          const Array &array = program.arrays[e.getTensor().number];
          areInputs &= array.kind == Array::Kind::Input && !array.layout &&
                       array.elementType.isSignlessInteger() &&
                       llvm::all_of(e.getOperands(), [&](Expr index) {
                         return program.affine(index).has_value();
                       });
          earlier.data.push_back(e);
          return getAffineSymbolExpr(program.symbols.size() +
                                         earlier.data.size() - 1,
                                     program.context);
        });
    if (!place || !areInputs || earlier.data.empty())
      return;
    earlier.number = *place;
    earlierReads.push_back(std::move(earlier));
  });
}

void KernelEmitter::findEarlierReads() {
  for (unsigned number : fusionGroup.statements)
    if (program.statements[number].recurrence)
      for (const Piece &piece : program.statements[number].pieces)
        findEarlierReads(number, piece);
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void KernelEmitter::give(OpBuilder &builder, Location loc, StringRef name,
                         ArrayAttr dims, IntegerSet domain, IntegerSet where,
                         ArrayRef<poly::ComputeAccess> reads,
                         IntegerSet holds) {
  SmallVector<Value> arrays;
  SmallVector<AffineMap> maps;
  for (const poly::ComputeAccess &read : reads) {
    arrays.push_back(read.array);
    maps.push_back(read.map);
  }
  poly::GivenOp::create(builder, loc, builder.getStringAttr(name), dims,
                        builder.getArrayAttr(IntegerSetAttr::get(domain)),
                        where ? IntegerSetAttr::get(where) : IntegerSetAttr(),
                        arrays, builder.getAffineMapArrayAttr(maps),
                        IntegerSetAttr::get(holds));
}

void KernelEmitter::emitLevelBounds(OpBuilder &builder,
                                    const Statement &statement) {
  Value levels = memory.lookup(*statement.levels);
  AffineExpr level = getAffineDimExpr(0, program.context);
  AffineExpr begin = getAffineSymbolExpr(parameters.size(), program.context);
  AffineExpr end = getAffineSymbolExpr(parameters.size() + 1, program.context);
  AffineExpr ends = toKernel(program.arrays[*statement.levels].extents.front());
  auto give = [&](StringRef name, ArrayRef<AffineExpr> points,
                  ArrayRef<AffineExpr> places, ArrayRef<AffineExpr> holds,
                  bool isEquality) {
    auto getSet = [&](ArrayRef<AffineExpr> constraints, unsigned numValues,
                      bool areEqualities) {
      return IntegerSet::get(
          1, parameters.size() + numValues, constraints,
          SmallVector<bool>(constraints.size(), areEqualities));
    };
    SmallVector<poly::ComputeAccess> reads;
    for (AffineExpr place : places)
      reads.push_back(
          {levels, AffineMap::get(1, parameters.size(), place), {}});
    this->give(builder, statement.loc, name,
               builder.getStrArrayAttr({kLevelName}),
               getSet(points, 0, /*areEqualities=*/false), {}, reads,
               getSet(holds, places.size(), isEquality));
  };
  AffineExpr size = toKernel(statement.extents.front());
  give("levels", {level, ends - 2 - level}, {level, level + 1},
       {begin, size - end}, /*isEquality=*/false);
  // One begins where another ends, so none of the nodes is left out.
  give("first_level", {level, -level, ends - 1}, {level}, {begin},
       /*isEquality=*/true);
  give("last_level", {level, level - ends + 1, ends - 1 - level}, {level},
       {begin - size}, /*isEquality=*/true);
}

/// The dimensions, of so many, that `expr` is a function of.
static llvm::SmallBitVector getDims(AffineExpr expr, unsigned numDims) {
  llvm::SmallBitVector dims(numDims);
  for (unsigned dim = 0; dim < numDims; ++dim)
    if (expr.isFunctionOfDim(dim))
      dims.set(dim);
  return dims;
}

/// `statement` at the points that differ in `isUsed`; `dims` receives what its
/// dimensions become.
static Statement project(const Statement &statement,
                         const llvm::SmallBitVector &isUsed,
                         SmallVectorImpl<AffineExpr> &dims) {
  Statement result{statement.target, statement.loc, {}, {}};
  result.levels = statement.levels;
  dims.resize(isUsed.size());
  for (unsigned dim : isUsed.set_bits()) {
    dims[dim] = getAffineDimExpr(result.getNumDims(),
                                 statement.extents.front().getContext());
    if (dim == statement.recurrence)
      result.recurrence = result.getNumDims();
    result.extents.push_back(statement.extents[dim]);
    if (statement.names.size() == isUsed.size())
      result.names.push_back(statement.names[dim]);
  }
  return result;
}

void KernelEmitter::emitEarlierRead(OpBuilder &builder,
                                    const EarlierRead &earlier) {
  const Statement &statement = program.statements[earlier.statement];
  llvm::SmallBitVector isUsed = getDims(earlier.number, statement.getNumDims());
  isUsed.set(*statement.recurrence);
  for (Expr data : earlier.data)
    for (Expr index : data.getOperands())
      isUsed |= getDims(*program.affine(index), isUsed.size());
  SmallVector<AffineExpr> dims;
  Statement points = project(statement, isUsed, dims);
  Conjunction rules;
  for (const Condition &rule : earlier.piece->domain) {
    // Those on sizes alone ask whether there is anything at all.
    llvm::SmallBitVector others = getDims(rule.expr, isUsed.size());
    if (others.any() && !others.test(isUsed))
      rules.push_back({rule.expr.replaceDims(dims), rule.isEquality});
  }
  IntegerSet domain = getDomain(points, rules);

  unsigned numDims = domain.getNumDims(), numParams = parameters.size();
  unsigned numOuter = getNumOuter(points), numValues = 2 * numOuter;
  AffineExpr node =
      getAffineDimExpr(*points.recurrence + numOuter, program.context);
  AffineExpr first = node; // Of those that may not be there yet.
  SmallVector<poly::ComputeAccess> reads;
  IntegerSet where;
  if (points.levels) {
    addLevel(points, reads);
    first = getAffineSymbolExpr(numParams, program.context);
    AffineExpr end = getAffineSymbolExpr(numParams + 1, program.context);
    where = IntegerSet::get(numDims, numParams + numValues,
                            {node - first, end - 1 - node}, {false, false});
  }
  for (Expr data : earlier.data) {
    SmallVector<AffineExpr> indices;
    for (Expr index : data.getOperands())
      indices.push_back(program.affine(index)->replaceDims(dims));
    reads.push_back(
        {memory.lookup(data.getTensor().number), getMap(points, indices), {}});
  }
  AffineExpr number = parameters.rewrite(earlier.number, numParams + numValues)
                          .replaceDims(dims)
                          .shiftDims(points.getNumDims(), numOuter);
  unsigned numSymbols = numParams + reads.size();
  auto holds = IntegerSet::get(
      numDims, numSymbols,
      {simplifyAffineExpr(first - 1 - number, numDims, numSymbols)}, {false});
  auto isSame = [](const auto &a, const auto &b) {
    return a.array == b.array && a.map == b.map;
  };
  SmallVector<poly::GivenOp> others = kernel.getGivens();
  for (poly::GivenOp other : others)
    if (other.getHolds() == holds && other.getDomainSets().front() == domain &&
        llvm::equal(other.getReadAccesses(), reads, isSame))
      return; // Another result of the same node.
  give(builder, statement.loc, "earlier_" + std::to_string(others.size()),
       getDimNames(builder, points), domain, where, reads, holds);
}

void KernelEmitter::emitGivens(OpBuilder &builder) {
  if (!canStateData())
    return;
  auto setShape = [&](ArrayId array) {
    SmallVector<AffineExpr> extents;
    for (AffineExpr extent : program.arrays[array].extents)
      extents.push_back(toKernel(extent));
    kernel.setArgAttr(cast<BlockArgument>(memory.lookup(array)).getArgNumber(),
                      poly::KernelOp::getShapeAttrName(),
                      AffineMapAttr::get(AffineMap::get(
                          0, parameters.size(), extents, program.context)));
  };
  for (const EarlierRead &earlier : earlierReads) {
    for (Expr data : earlier.data)
      setShape(data.getTensor().number);
    emitEarlierRead(builder, earlier);
  }
  // What fails last is what the program says.
  if (const Statement *statement = findLevelStatement()) {
    setShape(*statement->levels);
    emitLevelBounds(builder, *statement);
  }
}
