//===- Normalize.cpp - Conditionals, computed indices, padding ------------===//
//
// After this, a conditional on indices is a set of pieces with domains, an
// index is affine in dimensions and in integers read from memory, and a sum
// over a window reads a padded copy instead of leaving points out:
//
//   S[y] (+)= X[y + k - 1] * W[k]   where 0 <= y + k - 1 < N
//
// becomes  P[q] = X[q - 1] where 1 <= q <= N, else 0;  S[y] (+)= P[y + k] *
// W[k]
//
//===----------------------------------------------------------------------===//

#include "Normalize.h"
#include "espalier/Definition/Formulas.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

namespace {

/// Makes reads safe that a condition on data guards. Code evaluates both sides
/// of such a conditional, whether the condition holds or not:
///
///   R[i] = U[L[i]] if L[i] >= 0 else X[i]
///
/// becomes  R[i] = U[clamp(L[i])] if L[i] >= 0 else X[i]  where U has elements,
/// and R[i] = X[i] where it has none.
class ReadGuard {
public:
  ReadGuard(const StatementList &program, const Statement &statement,
            ArrayRef<Condition> domain)
      : program(program), statement(statement), domain(domain) {}

  /// The value of a piece; null if all of its reads are safe.
  Expr apply(Expr value) {
    Expr safe = rewrite(value);
    if (!isChanged)
      return {};
    return existence.empty() ? safe : choose(value, 0);
  }

private:
  /// What there is if the arrays from number `first` of `existence` on have
  /// elements or not, each for itself.
  Expr choose(Expr value, unsigned first) {
    if (first == existence.size())
      return rewrite(value);
    auto [array, exists] = existence.begin()[first];
    Expr with = choose(value, first + 1);
    empty.insert(array);
    Expr without = choose(value, first + 1);
    empty.erase(array);
    return select(exists, with, without);
  }

  /// With clamped reads, or with a number instead where there are no elements.
  Expr rewrite(Expr value) {
    return transform(value, [&](Expr e) -> Expr {
      if (e.getKind() != Expr::Kind::Select ||
          getConjunctions(program, e.getOperands()[0]))
        return {};
      auto guardBranch = [&](Expr branch) {
        return transform(branch, [&](Expr read) -> Expr {
          return read.getKind() == Expr::Kind::Access ? guard(read) : Expr();
        });
      };
      return select(e.getOperands()[0], guardBranch(e.getOperands()[1]),
                    guardBranch(e.getOperands()[2]));
    });
  }
  Expr guard(Expr read);
  bool isInside(Expr index, AffineExpr extent) const;

  const StatementList &program;
  const Statement &statement;
  ArrayRef<Condition> domain;
  bool isChanged = false;
  /// That an array has elements, where it depends on sizes.
  llvm::MapVector<ArrayId, Expr> existence;
  /// The arrays that have none, in the case that is looked at.
  llvm::SmallDenseSet<ArrayId> empty;
  /// The reads that have been looked at, by their nodes, which stay.
  llvm::DenseMap<const void *, Expr> known;
};

bool ReadGuard::isInside(Expr index, AffineExpr extent) const {
  std::optional<AffineExpr> affine = program.affine(index);
  auto isNotNegative = [&](AffineExpr expr) {
    expr = program.simplify(expr);
    if (llvm::any_of(domain, [&](const Condition &condition) {
          return program.simplify(condition.expr) == expr;
        }))
      return true;
    auto range = getRange(program, expr, statement.extents);
    if (!range)
      return false;
    auto least = dyn_cast<AffineConstantExpr>(program.simplify(range->first));
    return least && least.getValue() >= 0;
  };
  return affine && isNotNegative(*affine) &&
         isNotNegative(extent - 1 - *affine);
}

Expr ReadGuard::guard(Expr read) {
  if (known.contains(read.getNode()))
    return {}; // In a conditional inside of another one.
  ArrayId array = read.getTensor().number;
  SmallVector<Expr> indices;
  Expr exists;
  bool isSafe = true, isEmpty = empty.contains(array);
  for (auto [index, extent] :
       llvm::zip_equal(read.getOperands(), program.arrays[array].extents)) {
    indices.push_back(index);
    if (isInside(index, extent))
      continue;
    isSafe = false;
    Expr size = program.expression(extent);
    indices.back() = clampIndex(index, size);
    if (auto number = dyn_cast<AffineConstantExpr>(extent))
      isEmpty |= number.getValue() == 0;
    else if (!llvm::is_contained(statement.extents, extent))
      // A point of the statement has an index below each of its extents.
      exists = conjoin(
          exists, espalier::definition::apply(ScalarFn::GreaterEqual,
                                              {size, constant(int64_t(1))}));
  }
  // Reads of one array differ in their indices, not in what has to exist.
  if (exists)
    existence.try_emplace(array, exists);
  Expr safe = isSafe    ? read
              : isEmpty ? cast(read.getType(), constant(int64_t(0)))
                        : access(read.getTensor(), indices, read.getType());
  isChanged |= !isSafe;
  known.try_emplace(safe.getNode(), safe);
  return safe;
}

/// Writes a condition of which a part is affine as two conditionals, the affine
/// one outside.
Expr separateConditions(const StatementList &program, Expr value) {
  return transform(value, [&](Expr e) -> Expr {
    if (e.getKind() != Expr::Kind::Select)
      return {};
    auto [affine, rest] = separateAffine(program, e.getOperands()[0]);
    if (!affine || !rest)
      return {};
    Expr otherwise = e.getOperands()[2];
    return select(affine, select(rest, e.getOperands()[1], otherwise),
                  otherwise);
  });
}

/// Whether two expressions without reductions are the same formula.
bool isSame(Expr a, Expr b) {
  if (a.getNode() == b.getNode())
    return true;
  if (a.getKind() != b.getKind() || a.getType() != b.getType() ||
      !llvm::equal(a.getOperands(), b.getOperands(), isSame))
    return false;
  switch (a.getKind()) {
  case Expr::Kind::Constant:
    return a.getInt() && a.getInt() == b.getInt();
  case Expr::Kind::Variable:
    return a.getVariable() == b.getVariable();
  case Expr::Kind::Size:
    return a.getTensor() == b.getTensor() && a.getNumber() == b.getNumber();
  case Expr::Kind::Parameter:
    return a.getNumber() == b.getNumber();
  case Expr::Kind::Access:
    return a.getTensor() == b.getTensor();
  case Expr::Kind::Apply:
    return a.getFn() == b.getFn();
  case Expr::Kind::Select:
  case Expr::Kind::Cast:
    return true;
  case Expr::Kind::Reduce:
    return false;
  }
  llvm_unreachable("an expression of no known kind");
}

/// Whether two statements, one for each value of an index, compute the same
/// elements in the same place of the program.
bool isSame(const Statement &a, const Statement &b) {
  return a.extents == b.extents && a.recurrence == b.recurrence &&
         a.recurrenceGroup == b.recurrenceGroup && a.levels == b.levels &&
         isSame(a.pieces.front().value, b.pieces.front().value);
}

class Normalizer {
public:
  explicit Normalizer(StatementList &program) : program(program) {}

  void run() {
    std::vector<Statement> input(
        std::make_move_iterator(program.statements.begin()),
        std::make_move_iterator(program.statements.end()));
    program.statements.clear();
    for (Statement &statement : input)
      add(std::move(statement));
  }

private:
  void add(Statement statement);
  void split(Expr value, Conjunction domain, SmallVectorImpl<Piece> &pieces);
  /// Computes `value` by a statement of its own, over those dimensions of
  /// `user` that it depends on, or reads what one has computed.
  Expr extract(const Statement &user, Expr value, Type type);
  Expr extractIndices(const Statement &user, Expr value);
  Expr extractSelects(const Statement &user, Expr value);
  void padReads(const Statement &statement, Piece &piece);
  bool padRead(const Statement &statement, Piece &piece, Expr access);
  Expr getPadding(const Statement &statement, Expr body, Expr access);
  /// How far below 0 the number of values of `expr` falls as it is counted,
  /// where there are no points: of windows that do not touch, the last one ends
  /// before the first one begins.
  int64_t getShortfall(AffineExpr expr, ArrayRef<AffineExpr> extents) const;
  ArrayId addPadded(ArrayId source, ArrayRef<AffineExpr> low,
                    ArrayRef<AffineExpr> extents, Expr value, Type type);

  StatementList &program;
  /// What has been given statements of its own, before it was normalized: the
  /// same number is read for each of a child's results.
  std::vector<Statement> extracted;
  /// Padded copies made so far.
  struct Padded {
    ArrayId source;
    SmallVector<AffineExpr> low, extents;
    double value;
    ArrayId array;
  };
  SmallVector<Padded> padded;
};

Expr Normalizer::extract(const Statement &user, Expr value, Type type) {
  llvm::SmallDenseSet<VarId> used;
  walk(value, [&](Expr e) {
    if (e.getKind() == Expr::Kind::Variable)
      used.insert(e.getVariable());
  });
  if (user.recurrence)
    used.insert(*user.recurrence);
  Array array{Array::Kind::Intermediate, user.loc};
  array.elementType = type;
  Statement statement{
      0, user.loc, {}, {}, std::nullopt, std::nullopt, user.recurrenceGroup};
  llvm::SmallDenseMap<VarId, unsigned> position;
  SmallVector<Expr> indices;
  for (unsigned dim = 0; dim < user.getNumDims(); ++dim) {
    if (!used.contains(dim))
      continue;
    if (user.recurrence == dim) {
      statement.recurrence = indices.size();
      statement.levels = user.levels;
    }
    position[dim] = indices.size();
    indices.push_back(variable(dim, program.context));
    array.extents.push_back(user.extents[dim]);
    statement.extents.push_back(user.extents[dim]);
    statement.names.push_back(dim < user.names.size() ? user.names[dim] : "");
  }
  if (value.getType() != type)
    value = cast(type, value);
  Expr renamed = transform(value, [&](Expr e) -> Expr {
    if (e.getKind() != Expr::Kind::Variable)
      return {};
    return variable(position.lookup(e.getVariable()), program.context);
  });
  statement.pieces.push_back({{}, renamed});
  auto known = llvm::find_if(extracted, [&](const Statement &other) {
    return program.arrays[other.target].elementType == type &&
           isSame(statement, other);
  });
  if (known != extracted.end())
    return access(TensorRef::operand(known->target), indices, type);
  ArrayId target = statement.target = program.addArray(std::move(array));
  extracted.push_back(statement);
  add(std::move(statement));
  return access(TensorRef::operand(target), indices, type);
}

/// Whether `expr` is an integer element read at affine indices.
static bool isPlainIntegerRead(const StatementList &program, Expr expr) {
  return expr.getKind() == Expr::Kind::Access &&
         expr.getType().isIntOrIndex() && !expr.getType().isInteger(1) &&
         llvm::all_of(expr.getOperands(), [&](Expr index) {
           return program.affine(index).has_value();
         });
}

Expr Normalizer::extractIndices(const Statement &user, Expr value) {
  return transform(value, [&](Expr e) -> Expr {
    if (e.getKind() != Expr::Kind::Access)
      return {};
    SmallVector<Expr> indices;
    bool changed = false;
    for (Expr index : e.getOperands()) {
      bool plain = program
                       .affine(index,
                               [&](Expr read) -> AffineExpr {
                                 if (!isPlainIntegerRead(program, read))
                                   return {};
                                 return getAffineSymbolExpr(
                                     program.symbols.size(), program.context);
                               })
                       .has_value();
      if (!plain) {
        index = extract(user, index, IntegerType::get(program.context, 64));
        changed = true;
      }
      indices.push_back(index);
    }
    if (!changed)
      return {};
    return access(e.getTensor(), indices, e.getType());
  });
}

Expr Normalizer::extractSelects(const Statement &user, Expr value) {
  return transform(value, [&](Expr e) -> Expr {
    if (e.getKind() != Expr::Kind::Select ||
        !getConjunctions(program, e.getOperands()[0]))
      return {};
    bool reads = false;
    walk(e, [&](Expr part) { reads |= part.getKind() == Expr::Kind::Access; });
    if (!reads)
      return {};
    return extract(user, e, e.getType());
  });
}

void Normalizer::split(Expr value, Conjunction domain,
                       SmallVectorImpl<Piece> &pieces) {
  // A conversion of a conditional is a conditional of conversions.
  Type castTo;
  Expr inner = value;
  if (value.getKind() == Expr::Kind::Cast) {
    castTo = value.getType();
    inner = value.getOperands()[0];
  }
  if (inner.getKind() == Expr::Kind::Select) {
    Expr condition = inner.getOperands()[0];
    auto holds = getConjunctions(program, condition);
    auto fails = getConjunctions(program, condition, /*negate=*/true);
    if (holds && fails) {
      auto branch = [&](Expr part, ArrayRef<Conjunction> sets) {
        if (castTo)
          part = cast(castTo, part);
        for (const Conjunction &set : sets) {
          Conjunction both(domain);
          llvm::append_range(both, set);
          split(part, std::move(both), pieces);
        }
      };
      branch(inner.getOperands()[1], *holds);
      branch(inner.getOperands()[2], *fails);
      return;
    }
  }
  pieces.push_back({std::move(domain), value});
}

void Normalizer::add(Statement statement) {
  SmallVector<Piece> parts, pieces;
  for (Piece &piece : statement.pieces)
    split(separateConditions(program, piece.value), std::move(piece.domain),
          parts);
  for (Piece &part : parts) {
    Expr safe = ReadGuard(program, statement, part.domain).apply(part.value);
    split(safe ? safe : part.value, std::move(part.domain), pieces);
  }
  for (Piece &piece : pieces) {
    piece.value = extractSelects(statement, piece.value);
    piece.value = extractIndices(statement, piece.value);
    if (statement.reduction)
      padReads(statement, piece);
  }
  statement.pieces = std::move(pieces);
  program.statements.push_back(std::move(statement));
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// What `access` may yield outside its array so that the reduction of `body`
/// does not notice; null if there is no such value.
Expr Normalizer::getPadding(const Statement &statement, Expr body,
                            Expr access) {
  while (body.getKind() == Expr::Kind::Cast)
    body = body.getOperands()[0];
  if (body.getNode() == access.getNode())
    return getNeutral(*statement.reduction, access.getType());
  if (*statement.reduction != ReduceKind::Sum)
    return {};
  if (body.getKind() == Expr::Kind::Apply && body.getFn() == ScalarFn::Mul)
    for (Expr factor : body.getOperands())
      if (getPadding(statement, factor, access))
        return getNeutral(ReduceKind::Sum, access.getType());
  return {};
}

void Normalizer::padReads(const Statement &statement, Piece &piece) {
  if (llvm::all_of(piece.domain, [](const Condition &condition) {
        return condition.isEquality;
      }))
    return;
  SmallVector<Expr> accesses;
  walk(piece.value, [&](Expr e) {
    if (e.getKind() == Expr::Kind::Access)
      accesses.push_back(e);
  });
  for (Expr access : accesses)
    if (padRead(statement, piece, access))
      return;
}

bool Normalizer::padRead(const Statement &statement, Piece &piece,
                         Expr access) {
  Expr padding = getPadding(statement, piece.value, access);
  ArrayId source = access.getTensor().number;
  if (!padding || statement.recurrence)
    return false;
  // Every inequality has to say that some index of this access is in bounds.
  SmallVector<bool> pad(access.getOperands().size());
  for (const Condition &condition : piece.domain) {
    bool explained = condition.isEquality;
    for (auto [dim, index] : llvm::enumerate(access.getOperands())) {
      std::optional<AffineExpr> e = program.affine(index);
      if (!e || condition.isEquality)
        continue;
      AffineExpr extent = program.arrays[source].extents[dim];
      AffineExpr below = program.simplify(extent - 1 - *e);
      AffineExpr rule = program.simplify(condition.expr);
      if (rule == *e || rule == below)
        pad[dim] = explained = true;
    }
    if (!explained)
      return false;
  }
  // The same element may be read twice, as in a square; whatever else reads at
  // a padded index would be out of bounds.
  auto isSame = [&](Expr other) {
    return other.getTensor() == access.getTensor() &&
           llvm::all_of_zip(other.getOperands(), access.getOperands(),
                            [&](Expr a, Expr b) {
                              return program.affine(a) == program.affine(b);
                            });
  };
  bool isAlone = true;
  walk(piece.value, [&](Expr e) {
    if (e.getKind() != Expr::Kind::Access || isSame(e))
      return;
    for (Expr index : e.getOperands())
      for (auto [dim, own] : llvm::enumerate(access.getOperands()))
        isAlone &= !pad[dim] || program.affine(index) != program.affine(own);
  });
  if (!isAlone)
    return false;
  SmallVector<AffineExpr> low, extents;
  SmallVector<Expr> indices;
  AffineExpr zero = getAffineConstantExpr(0, program.context);
  for (auto [dim, index] : llvm::enumerate(access.getOperands())) {
    if (!pad[dim]) {
      low.push_back(zero);
      extents.push_back(program.arrays[source].extents[dim]);
      indices.push_back(index);
      continue;
    }
    AffineExpr e = *program.affine(index);
    auto range = getRange(program, e, statement.extents);
    if (!range)
      return false;
    low.push_back(range->first);
    extents.push_back(program.simplify(range->second - range->first + 1 +
                                       getShortfall(e, statement.extents)));
    indices.push_back(program.expression(program.simplify(e - range->first)));
  }
  ArrayId copy = addPadded(source, low, extents, padding, access.getType());
  Expr replacement = espalier::definition::access(TensorRef::operand(copy),
                                                  indices, access.getType());
  piece.value = transform(piece.value, [&](Expr e) -> Expr {
    return e.getKind() == Expr::Kind::Access && isSame(e) ? replacement
                                                          : Expr();
  });
  llvm::erase_if(piece.domain, [](const Condition &condition) {
    return !condition.isEquality;
  });
  return true;
}

int64_t Normalizer::getShortfall(AffineExpr expr,
                                 ArrayRef<AffineExpr> extents) const {
  SmallVector<AffineExpr> least;
  for (AffineExpr extent : extents)
    least.push_back(isa<AffineConstantExpr>(extent)
                        ? extent
                        : getAffineConstantExpr(0, program.context));
  auto range = getRange(program, expr, least);
  auto count = range ? dyn_cast<AffineConstantExpr>(
                           program.simplify(range->second - range->first + 1))
                     : AffineConstantExpr();
  return count ? std::max<int64_t>(0, -count.getValue()) : 0;
}

ArrayId Normalizer::addPadded(ArrayId source, ArrayRef<AffineExpr> low,
                              ArrayRef<AffineExpr> extents, Expr value,
                              Type type) {
  double number = value.getFloat();
  for (const Padded &known : padded)
    if (known.source == source && ArrayRef(known.low) == low &&
        ArrayRef(known.extents) == extents && known.value == number)
      return known.array;

  Location loc = program.arrays[source].loc;
  Array array{Array::Kind::Intermediate, loc};
  array.elementType = program.arrays[source].elementType;
  array.extents.assign(extents.begin(), extents.end());
  ArrayId target = program.addArray(std::move(array));
  Statement copy{target,       loc, llvm::to_vector(extents), {}, std::nullopt,
                 std::nullopt, 0};
  Conjunction inside;
  SmallVector<Expr> indices;
  for (auto [dim, offset] : llvm::enumerate(low)) {
    AffineExpr index = getAffineDimExpr(dim, program.context) + offset;
    AffineExpr last = program.arrays[source].extents[dim] - 1;
    indices.push_back(program.expression(index));
    if (extents[dim] == program.arrays[source].extents[dim] &&
        offset == getAffineConstantExpr(0, program.context))
      continue;
    for (AffineExpr rule : {index, last - index}) {
      Conjunction outside(inside);
      outside.push_back({-rule - 1, false});
      copy.pieces.push_back({std::move(outside), cast(type, value)});
      inside.push_back({rule, false});
    }
  }
  copy.pieces.push_back(
      {std::move(inside), access(TensorRef::operand(source), indices, type)});
  program.statements.push_back(std::move(copy));
  padded.push_back(
      {source, llvm::to_vector(low), llvm::to_vector(extents), number, target});
  return target;
}

} // namespace

void espalier::graphtopoly::normalize(StatementList &program) {
  Normalizer(program).run();
}
