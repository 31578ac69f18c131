//===- EmitKernels.cpp - From fusion groups to poly.kernel ----------------===//

#include "../StepAttributes.h"
#include "EmitExpr.h"
#include "KernelEmitter.h"
#include "espalier/Conversion/LoopsToProgram/ProgramBuilder.h"
#include "espalier/Dialect/Poly/IR/Origin.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

ArrayAttr espalier::graphtopoly::getDimNames(Builder &builder,
                                             const Statement &statement) {
  if (statement.names.size() != statement.getNumDims() ||
      llvm::all_of(statement.names,
                   [](const std::string &name) { return name.empty(); }))
    return {};
  llvm::StringSet<> used;
  SmallVector<Attribute> names;
  if (statement.levels) {
    used.insert(kLevelName);
    names.push_back(builder.getStringAttr(kLevelName));
  }
  for (auto [dim, name] : llvm::enumerate(statement.names)) {
    std::string base = name.empty() ? "d" + std::to_string(dim) : name;
    std::string unique = base;
    for (unsigned number = 1; !used.insert(unique).second; ++number)
      unique = base + "_" + std::to_string(number);
    names.push_back(builder.getStringAttr(unique));
  }
  return builder.getArrayAttr(names);
}

/// What the computations of a statement are of. One that no operator asks for
/// moves elements.
static Location getOrigin(const Statement &statement) {
  return poly::getOperator(statement.loc).empty()
             ? poly::getOrigin(statement.loc, poly::kMoveOrigin)
             : statement.loc;
}

static poly::Reduction getReduction(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return poly::Reduction::Add;
  case ReduceKind::Product:
    return poly::Reduction::Mul;
  case ReduceKind::Max:
    return poly::Reduction::Max;
  case ReduceKind::Min:
    return poly::Reduction::Min;
  }
  llvm_unreachable("all kinds are handled");
}

ArrayRef<AffineExpr>
espalier::graphtopoly::getStoredExtents(const Array &array) {
  return array.layout ? ArrayRef(array.storedExtents) : ArrayRef(array.extents);
}

void KernelEmitter::collect() {
  llvm::SmallSetVector<ArrayId, 8> written, read;
  for (unsigned number : fusionGroup.statements) {
    const Statement &statement = program.statements[number];
    written.insert(statement.target);
    for (ArrayId array : getReads(statement))
      read.insert(array);
    if (statement.levels) {
      read.insert(*statement.levels);
      parameters.add(program.arrays[*statement.levels].extents.front());
    }
    if (statement.entries) {
      read.insert(statement.entries->starts);
      parameters.add(statement.entries->row);
    }
    for (AffineExpr expr : llvm::concat<const AffineExpr>(
             statement.extents, statement.targetIndices))
      parameters.add(expr);
    for (const Piece &piece : statement.pieces) {
      for (const Condition &rule : piece.domain)
        parameters.add(rule.expr);
      walk(piece.value, [&](Expr e) {
        if (e.getKind() == Expr::Kind::Parameter)
          parameters.add(getAffineSymbolExpr(e.getNumber(), program.context));
      });
    }
  }
  if (canStateData())
    findEarlierReads();
  for (const EarlierRead &earlier : earlierReads) {
    parameters.add(earlier.number);
    for (Expr data : earlier.data) {
      read.insert(data.getTensor().number);
      for (AffineExpr extent : program.arrays[data.getTensor().number].extents)
        parameters.add(extent);
    }
  }
  for (ArrayId array : read)
    if (!written.contains(array))
      arguments.push_back(array);
  for (ArrayId array : written) {
    if (escaping.contains(array))
      arguments.push_back(array);
    else
      local.insert(array);
    // Sizes of local memory are parameters, whatever their form.
    for (AffineExpr extent : getStoredExtents(program.arrays[array]))
      if (local.contains(array) && !isa<AffineConstantExpr>(extent))
        parameters.addExtent(extent);
  }
  // Steps read what was written in terms of nodes.
  if (!facts.empty())
    return;
  findStepArrays();
  countsFromLevels = canCountFromLevels();
}

bool KernelEmitter::isOfOneStep(const Statement &statement,
                                ArrayId array) const {
  if (!local.contains(array) || statement.recurrence != 0u)
    return false;
  AffineMap layout = program.arrays[array].layout;
  if (layout && layout.getResult(0) != getAffineDimExpr(0, program.context))
    return false;
  for (unsigned number : fusionGroup.statements) {
    const Statement &user = program.statements[number];
    bool isOwn = user.recurrence == 0u && user.targetIndices.empty() &&
                 user.recurrenceGroup == statement.recurrenceGroup;
    if (user.target == array && !isOwn)
      return false;
    bool readsOwn = true;
    forEachAccess(user, [&](Expr access) {
      if (access.getTensor().number != array)
        return;
      ArrayRef<Expr> indices = access.getOperands();
      readsOwn &= isOwn && !indices.empty() &&
                  indices.front().getKind() == Expr::Kind::Variable &&
                  indices.front().getVariable() == 0;
    });
    if (!readsOwn)
      return false;
  }
  return true;
}

void KernelEmitter::findStepArrays() {
  for (unsigned number : fusionGroup.statements) {
    const Statement &statement = program.statements[number];
    if (!isOfOneStep(statement, statement.target))
      continue;
    stepArrays[statement.target] = statement.levels.has_value();
    if (statement.levels)
      parameters.addExtent(program.arrays[*statement.levels].extents.front());
  }
}

bool KernelEmitter::canCountFromLevels() const {
  return canStateData() &&
         llvm::all_of(fusionGroup.statements, [&](unsigned number) {
           const Statement &statement = program.statements[number];
           if (!statement.levels)
             return true;
           // What is read is as for one update as what is written, of which
           // the place may depend on values.
           bool isSumKept =
               !statement.reduction || stepArrays.contains(statement.target);
           bool isCut = llvm::any_of(statement.pieces, [](const Piece &piece) {
             return llvm::any_of(piece.domain, [](const Condition &condition) {
               return condition.expr.isFunctionOfDim(0);
             });
           });
           return statement.recurrence == 0u &&
                  statement.targetIndices.empty() && isSumKept && !isCut;
         });
}

MemRefType
espalier::graphtopoly::getMemRefType(const Array &array,
                                     SmallVectorImpl<AffineExpr> *sizes) {
  SmallVector<int64_t> shape;
  for (AffineExpr extent : getStoredExtents(array)) {
    auto number = dyn_cast<AffineConstantExpr>(extent);
    shape.push_back(number ? number.getValue() : ShapedType::kDynamic);
    if (!number && sizes)
      sizes->push_back(extent);
  }
  return MemRefType::get(shape, getStoredType(array.elementType));
}

IntegerSet KernelEmitter::getDomain(const Statement &statement,
                                    const Conjunction &rules) {
  unsigned numOuter = getNumOuter(statement), numDims = statement.getNumDims();
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> equalities;
  auto add = [&](AffineExpr expr, bool isEquality) {
    constraints.push_back(toKernel(expr).shiftDims(numDims, numOuter));
    equalities.push_back(isEquality);
  };
  if (statement.levels) {
    AffineExpr level = getAffineDimExpr(0, program.context);
    AffineExpr ends = program.arrays[*statement.levels].extents.front();
    constraints = {level, toKernel(ends) - 2 - level};
    equalities = {false, false};
  }
  for (auto [dim, extent] : llvm::enumerate(statement.extents)) {
    AffineExpr index = getAffineDimExpr(dim, program.context);
    add(index, false);
    add(extent - 1 - index, false);
  }
  for (const Condition &rule : rules)
    add(rule.expr, rule.isEquality);
  if (constraints.empty()) // A single point.
    add(getAffineConstantExpr(0, program.context), true);
  return IntegerSet::get(numDims + numOuter, parameters.size(), constraints,
                         equalities);
}

AffineMap KernelEmitter::getMap(const Statement &statement,
                                ArrayRef<AffineExpr> exprs,
                                unsigned numValues) const {
  unsigned numOuter = getNumOuter(statement), numDims = statement.getNumDims();
  SmallVector<AffineExpr> shifted;
  for (AffineExpr expr : exprs)
    shifted.push_back(toKernel(expr).shiftDims(numDims, numOuter));
  return AffineMap::get(numDims + numOuter, parameters.size() + numValues,
                        shifted, program.context);
}

AffineMap KernelEmitter::getAccessMap(const Statement &statement, ArrayId array,
                                      ArrayRef<AffineExpr> indices,
                                      bool isIndirect,
                                      unsigned numReads) const {
  AffineMap layout = program.arrays[array].layout;
  auto step = stepArrays.find(array);
  bool isOfStep = step != stepArrays.end();
  SmallVector<AffineExpr> moved(indices);
  AffineExpr node = getAffineDimExpr(0, program.context);
  // The first value that is read is where the level begins.
  AffineExpr begin =
      getAffineSymbolExpr(program.symbols.size(), program.context);
  if (isCounted(statement) && !isOfStep)
    for (AffineExpr &index : moved) {
      isIndirect |= index.isFunctionOfDim(0);
      index = index.replace(node, node + begin);
    }
  AffineMap map = getMap(statement, moved, isIndirect ? numReads : 0);
  if (layout)
    map = layout.compose(map);
  if (isOfStep && step->second)
    map = map.insertResult(node, 0);
  return simplifyAffineMap(map);
}

void KernelEmitter::addLevel(
    const Statement &statement,
    SmallVectorImpl<poly::ComputeAccess> &reads) const {
  AffineExpr level = getAffineDimExpr(0, program.context);
  for (int64_t next : {0, 1})
    reads.push_back(
        {memory.lookup(*statement.levels),
         AffineMap::get(statement.getNumDims() + 1, parameters.size(),
                        level + next, program.context),
         {}});
}

void KernelEmitter::addLevelRules(const Statement &statement,
                                  SmallVectorImpl<AffineExpr> &rules) const {
  AffineExpr index =
      getAffineDimExpr(*statement.recurrence + 1, program.context);
  AffineExpr begin = getAffineSymbolExpr(parameters.size(), program.context);
  AffineExpr end = getAffineSymbolExpr(parameters.size() + 1, program.context);
  if (isCounted(statement)) {
    rules.push_back(end - begin - 1 - index);
    return;
  }
  rules.push_back(index - begin);
  rules.push_back(end - 1 - index);
}

void KernelEmitter::addRow(const Statement &statement,
                           SmallVectorImpl<poly::ComputeAccess> &reads) const {
  const auto &[starts, row] = *statement.entries;
  for (int64_t next : {0, 1})
    reads.push_back({memory.lookup(starts), getMap(statement, row + next), {}});
}

void KernelEmitter::addRowRules(const Statement &statement,
                                SmallVectorImpl<AffineExpr> &rules) const {
  AffineExpr entry = getAffineDimExpr(
      getNumOuter(statement) + statement.getNumDims() - 1, program.context);
  unsigned first = parameters.size() + (statement.levels ? 2 : 0);
  rules.push_back(entry - getAffineSymbolExpr(first, program.context));
  rules.push_back(getAffineSymbolExpr(first + 1, program.context) - 1 - entry);
}

std::optional<IntegerSet>
KernelEmitter::getWhere(const Statement &statement) const {
  SmallVector<AffineExpr> rules;
  unsigned numSymbols = parameters.size();
  if (statement.levels) {
    addLevelRules(statement, rules);
    numSymbols += 2;
  }
  if (statement.entries) {
    addRowRules(statement, rules);
    numSymbols += 2;
  }
  if (rules.empty())
    return std::nullopt;
  return IntegerSet::get(getNumOuter(statement) + statement.getNumDims(),
                         numSymbols, rules,
                         SmallVector<bool>(rules.size(), false));
}

AffineMap KernelEmitter::getTargetMap(const Statement &statement,
                                      unsigned numReads) {
  SmallVector<AffineExpr> indices;
  for (unsigned dim = 0; dim < program.getRank(statement.target); ++dim)
    indices.push_back(statement.targetIndices.empty()
                          ? getAffineDimExpr(dim, program.context)
                          : statement.targetIndices[dim]);
  return getAccessMap(statement, statement.target, indices,
                      /*isIndirect=*/false, numReads);
}

void KernelEmitter::emitPiece(OpBuilder &builder, const Statement &statement,
                              const Piece &piece, StringRef name) {
  SmallVector<poly::ComputeAccess> reads;
  if (statement.levels)
    addLevel(statement, reads);
  if (statement.entries)
    addRow(statement, reads);
  llvm::DenseMap<const void *, unsigned> readOf;
  unsigned numProgram = program.symbols.size();

  // Reads of data-dependent indices come before the reads that use them.
  auto addRead = [&](auto &self, Expr access) -> unsigned {
    auto known = readOf.find(access.getNode());
    if (known != readOf.end())
      return known->second;
    SmallVector<AffineExpr> indices;
    for (Expr index : access.getOperands())
      indices.push_back(*program.affine(index, [&](Expr data) {
        return getAffineSymbolExpr(numProgram + self(self, data),
                                   program.context);
      }));
    ArrayId array = access.getTensor().number;
    bool indirect = llvm::any_of(indices, [&](AffineExpr e) {
      return e
          .walk([&](AffineExpr part) {
            auto symbol = dyn_cast<AffineSymbolExpr>(part);
            return symbol && symbol.getPosition() >= numProgram
                       ? WalkResult::interrupt()
                       : WalkResult::advance();
          })
          .wasInterrupted();
    });
    AffineMap map =
        getAccessMap(statement, array, indices, indirect, reads.size());
    for (auto [number, other] : llvm::enumerate(reads))
      if (other.array == getMemory(array) && other.map == map)
        return readOf[access.getNode()] = number;
    reads.push_back({getMemory(array), map, {}});
    return readOf[access.getNode()] = reads.size() - 1;
  };
  walk(piece.value, [&](Expr e) {
    if (e.getKind() == Expr::Kind::Access)
      addRead(addRead, e);
  });

  const Array &target = program.arrays[statement.target];
  poly::ComputeAccess write{
      getMemory(statement.target), getTargetMap(statement, reads.size()), {}};
  std::optional<poly::Reduction> reduction;
  if (statement.reduction) {
    reduction = getReduction(*statement.reduction);
    reads.push_back(write);
  }
  Type type = piece.value.getType();
  if (!type)
    type = target.elementType;
  SmallVector<Value> symbols(llvm::to_vector_of<Value>(kernel.getParameters()));
  auto buildBody = [&](OpBuilder &b, Location loc, ValueRange values) {
    if (piece.value.getKind() == Expr::Kind::Access && !reduction) {
      poly::YieldOp::create(b, loc,
                            values[readOf.lookup(piece.value.getNode())]);
      return;
    }
    auto leaf = [&](Expr e) -> Value {
      switch (e.getKind()) {
      case Expr::Kind::Variable: {
        Value index = poly::IndexOp::create(
            b, loc, e.getVariable() + getNumOuter(statement));
        if (!isCounted(statement) || e.getVariable() != 0)
          return index;
        Value begin = emitCast(b, loc, values.front(), values.front().getType(),
                               index.getType());
        return arith::AddIOp::create(b, loc, index, begin);
      }
      case Expr::Kind::Parameter:
        return affine::expandAffineExpr(
            b, loc,
            toKernel(getAffineSymbolExpr(e.getNumber(), program.context)), {},
            symbols);
      default: {
        Value value = values[readOf.lookup(e.getNode())];
        return e.getType().isInteger(1)
                   ? emitCast(b, loc, value, b.getI8Type(), e.getType())
                   : value;
      }
      }
    };
    Value value = piece.value.getKind() == Expr::Kind::Constant
                      ? emitConstant(b, loc, piece.value, type)
                      : emitExpr(b, loc, piece.value, leaf);
    if (type.isInteger(1))
      value = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
    if (reduction) {
      value = emitScalarFn(b, loc, getCombiner(*statement.reduction), type,
                           {values.back(), value});
    }
    poly::YieldOp::create(b, loc, value);
  };
  auto compute = poly::ComputeOp::create(builder, getOrigin(statement), name,
                                         getDomain(statement, piece.domain),
                                         reads, write, reduction, buildBody);
  if (ArrayAttr dims = getDimNames(builder, statement))
    compute.setDimsAttr(dims);
  if (std::optional<IntegerSet> where = getWhere(statement))
    compute.setWhere(*where);
  if (!facts.empty())
    setAttributes(compute, statement);
}

void KernelEmitter::emitStatement(OpBuilder &builder,
                                  const Statement &statement, unsigned number) {
  std::string name = ("s" + Twine(number)).str();
  if (statement.reduction && !statement.addsToTarget) {
    Statement init{statement.target, statement.loc, {}, {}};
    init.extents.assign(statement.extents.begin(),
                        statement.extents.begin() +
                            program.getRank(statement.target));
    init.targetIndices = statement.targetIndices;
    init.recurrence = statement.recurrence;
    init.levels = statement.levels;
    if (statement.names.size() == statement.getNumDims())
      init.names.assign(statement.names.begin(),
                        statement.names.begin() + init.extents.size());
    Type type = statement.pieces[0].value.getType();
    emitPiece(builder, init,
              {{}, cast(type, getNeutral(*statement.reduction, type))},
              name + "_init");
  }
  for (auto [index, piece] : llvm::enumerate(statement.pieces))
    emitPiece(builder, statement, piece,
              statement.pieces.size() == 1
                  ? name
                  : name + "_" + std::to_string(index));
}

void KernelEmitter::setValues(const Array &array, unsigned number) {
  if (array.bound)
    kernel.setArgAttr(
        number, poly::KernelOp::getBoundAttrName(),
        AffineMapAttr::get(AffineMap::get(
            0, parameters.size(),
            getAffineConstantExpr(*array.bound, program.context))));
  if (array.isMonotonic)
    kernel.setArgAttr(number, poly::KernelOp::getMonotonicAttrName(),
                      UnitAttr::get(program.context));
}

Value KernelEmitter::emitArray(OpBuilder &builder, ArrayId array) {
  SmallVector<AffineExpr> sizes;
  MemRefType type = getMemRefType(program.arrays[array], &sizes);
  AffineMapAttr storage;
  TypeAttr storageType;
  if (auto step = stepArrays.find(array); step != stepArrays.end()) {
    SmallVector<int64_t> shape(type.getShape());
    if (step->second) {
      AffineExpr ends =
          program.arrays[*findLevelStatement()->levels].extents.front();
      auto number = dyn_cast<AffineConstantExpr>(ends);
      shape.insert(shape.begin(),
                   number ? number.getValue() : ShapedType::kDynamic);
      if (!number)
        sizes.insert(sizes.begin(), ends);
      type = MemRefType::get(shape, type.getElementType());
    }
    storage = AffineMapAttr::get(AffineMap::getMinorIdentityMap(
        shape.size(), shape.size() - 1, program.context));
    storageType = TypeAttr::get(
        MemRefType::get(ArrayRef(shape).drop_front(), type.getElementType()));
  }
  SmallVector<Value> operands;
  for (AffineExpr size : sizes)
    operands.push_back(kernel.getParameters()[parameters.getNumber(size)]);
  return poly::ArrayOp::create(
      builder, kernel.getLoc(), type, operands,
      poly::PlacementAttr::get(program.context, poly::Placement::Heap), storage,
      storageType, /*extents=*/nullptr);
}

void KernelEmitter::emit(OpBuilder &builder, StringRef name) {
  collect();
  SmallVector<Type> types;
  for (ArrayId array : arguments)
    types.push_back(getMemRefType(program.arrays[array]));
  types.append(parameters.size(), builder.getIndexType());

  Location loc =
      poly::getSource(program.statements[fusionGroup.statements.front()].loc);
  kernel = poly::KernelOp::create(builder, loc, name, types);
  kernel.setPrivate();
  if (!facts.empty())
    setAttributes(kernel, fusionGroup);
  Block &body = kernel.getBody().front();
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  for (auto [array, argument] : llvm::zip(arguments, body.getArguments())) {
    memory[array] = argument;
    setValues(program.arrays[array], argument.getArgNumber());
  }
  for (ArrayId array : local) {
    memory[array] = emitArray(inside, array);
    if (!facts.empty())
      memory[array].getDefiningOp()->setDiscardableAttrs(facts[array]);
  }
  emitGivens(inside);
  unsigned group = 0; // The recurrence that the last computation belongs to.
  for (auto [number, index] : llvm::enumerate(fusionGroup.statements)) {
    const Statement &statement = program.statements[index];
    size_t numBefore = body.getOperations().size();
    emitStatement(inside, statement, number);
    if (!statement.recurrence) {
      group = 0;
      continue;
    }
    for (Operation &op : llvm::drop_begin(body, numBefore))
      if (std::exchange(group, statement.recurrenceGroup) ==
          statement.recurrenceGroup)
        cast<poly::ComputeOp>(op).setInterleaved(
            statement.levels ? 1 : *statement.recurrence + 1);
  }
  if (!fusionGroup.runsTogether)
    return;
  auto computes = kernel.getComputes();
  for (poly::ComputeOp compute : llvm::drop_begin(computes))
    compute.setInterleaved(fusionGroup.sharedDims);
}
