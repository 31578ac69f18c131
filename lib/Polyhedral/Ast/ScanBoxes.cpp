//===- ScanBoxes.cpp - Loops over boxes, by the form of a schedule --------===//
//
// Bounds of a box may depend on sizes where a loop runs over the dimension as
// it is. A loop that statements share runs over all their values, and those
// that have only some of them are inside of a condition.
//
// What does not have this form is left to isl: dimensions that no band orders,
// long programs of unrolled loops, and, unless that takes isl too long,
// conditions on parameters alone and tiles of unknown extents of which full
// ones are to have code of their own.
//
//===----------------------------------------------------------------------===//

#include "ScanBoxes.h"
#include "Boxes.h"

using namespace mlir;
using namespace espalier::polyhedral;
using namespace espalier::polyhedral::boxes;

namespace {
/// Isl may find that too many copies of unrolled loops are too much.
constexpr unsigned kMaxCalls = 1 << 12;

class BoxScanner {
public:
  BoxScanner(const Program &program, bool joinsTiles, bool asksParameters)
      : program(program), joinsTiles(joinsTiles),
        asksParameters(asksParameters) {}
  /// Null if the form is another one.
  Ast run(const ScheduleNode *schedule);

private:
  using Actives = llvm::SmallVector<Active>;

  /// Appends the loops of `node` around `actives` to `to`.
  bool scan(const ScheduleNode *node, const Actives &actives,
            std::vector<Ast> &to);
  /// Appends the loops of `band` from that of a member on.
  bool scanBand(const ScheduleNode &band, unsigned member,
                const Actives &actives, std::vector<Ast> &to);
  bool scanSequence(const ScheduleNode &sequence, const Actives &actives,
                    std::vector<Ast> &to);
  bool scanLeaf(const Active &active, std::vector<Ast> &to);
  /// Reads what a member of a band orders `actives` by, and the values of each;
  /// `rest` is where a loop that is cut ends. False for another form.
  bool readMember(const ScheduleNode &band, unsigned member,
                  const Actives &actives, llvm::SmallVectorImpl<Digit> &digits,
                  llvm::SmallVectorImpl<Values> &values,
                  AffineExpr &rest) const;

  const Program &program;
  /// Whether tiles of unknown extents are scanned, full ones as others.
  const bool joinsTiles;
  /// Whether conditions on parameters alone are asked as they are.
  const bool asksParameters;
  unsigned numIterators = 0, numCalls = 0;
  /// The bands around that keep full tiles apart: for these, isl simplifies
  /// what ends where a dimension does.
  unsigned numSeparated = 0;
};
} // namespace

/// One node that does what `nodes` do.
static Ast join(std::vector<Ast> nodes) {
  if (nodes.size() == 1)
    return std::move(nodes.front());
  auto block = std::make_unique<AstNode>(AstNode::Kind::Block);
  block->children = std::move(nodes);
  return block;
}

/// Appends `nodes`, under the guards, to `to`.
static void addGuarded(llvm::ArrayRef<Guard> guards, std::vector<Ast> nodes,
                       std::vector<Ast> &to) {
  if (nodes.empty())
    return;
  if (guards.empty()) {
    llvm::move(nodes, std::back_inserter(to));
    return;
  }
  AstCondition condition;
  condition.kind = AstCondition::Kind::And;
  for (const Guard &guard : guards) {
    AstCondition &part = condition.operands.emplace_back();
    part.kind = guard.isZero ? AstCondition::Kind::Zero
                             : AstCondition::Kind::NonNegative;
    part.value = AstExpr(guard.expr);
  }
  auto check = std::make_unique<AstNode>(AstNode::Kind::If);
  check->condition =
      guards.size() == 1 ? condition.operands.front() : condition;
  check->children.push_back(join(std::move(nodes)));
  to.push_back(std::move(check));
}

/// Takes the guards from `actives` if they are the same for all; others are for
/// what is inside.
static Guards takeGuards(llvm::MutableArrayRef<Active> actives) {
  Guards guards = actives.front().guards;
  if (llvm::any_of(actives, [&](const Active &active) {
        return active.guards != guards;
      }))
    return {};
  for (Active &active : actives)
    active.guards.clear();
  return guards;
}

bool BoxScanner::scanLeaf(const Active &active, std::vector<Ast> &to) {
  if (++numCalls > kMaxCalls)
    return false;
  auto call = std::make_unique<AstNode>(AstNode::Kind::Call);
  call->statement = active.statement;
  for (unsigned dim = 0; dim < active.box.size(); ++dim) {
    AffineExpr value = getValue(active, dim, program.context);
    if (!value)
      return false;
    call->values.push_back(value);
  }
  std::vector<Ast> nodes;
  nodes.push_back(std::move(call));
  addGuarded(active.guards, std::move(nodes), to);
  return true;
}

/// Whether loops run over a digit of a dimension.
static bool hasDigits(const Active &active, unsigned dim) {
  return llvm::any_of(active.digits,
                      [&](const Digit &digit) { return digit.dim == dim; });
}

bool BoxScanner::readMember(const ScheduleNode &band, unsigned member,
                            const Actives &actives,
                            llvm::SmallVectorImpl<Digit> &digits,
                            llvm::SmallVectorImpl<Values> &values,
                            AffineExpr &rest) const {
  LoopShape shape = band.members[member].shape;
  for (const Active &active : actives) {
    const BandMap *map = llvm::find_if(band.maps, [&](const BandMap &other) {
      return other.statement == active.statement;
    });
    if (map == band.maps.end())
      return false;
    AffineExpr expr = map->map.getResult(member), ownRest;
    std::optional<Digit> digit;
    std::optional<Values> own;
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      own = Values{Span{constant.getValue(), constant.getValue() + 1}};
      digit = Digit();
      digit->dim = kNoDim;
    } else if ((digit = readDigit(expr))) {
      const Values &range = active.box[digit->dim];
      if (!hasDigits(active, digit->dim))
        dropModulus(*digit, range);
      if (!range.isConstant() && !digit->isWhole() && !joinsTiles)
        return false;
      own = getValues(range, *digit);
      if (own) {
        Active copy = active;
        takeBounds(copy, *digit, *own);
      }
      if (!own && numSeparated == 0 &&
          (shape == LoopShape::Atomic ||
           (shape == LoopShape::Unroll && joinsTiles)) &&
          (ownRest = getRest(active, *digit, program.context))) {
        own = Values{Span{0, digit->modulus / digit->divisor}};
        digit->isCut = true;
      }
    }
    if (!own || (!values.empty() && rest != ownRest))
      return false;
    rest = ownRest;
    values.push_back(*own);
    digits.push_back(*digit);
  }
  return true;
}

/// Values that have those of all `parts`, and maybe others.
static Values joinValues(llvm::ArrayRef<Values> parts) {
  Values all = parts.front();
  for (const Values &range : parts.drop_front()) {
    all.span.begin = std::min(all.span.begin, range.span.begin);
    all.span.end = std::max(all.span.end, range.span.end);
    llvm::erase_if(all.begins, [&](AffineExpr bound) {
      return !llvm::is_contained(range.begins, bound);
    });
    llvm::erase_if(all.ends, [&](AffineExpr bound) {
      return !llvm::is_contained(range.ends, bound);
    });
  }
  return all;
}

/// Adds guards that a value of `all` is one of `own`; false if it never is.
static bool addGuards(Active &active, const Values &own, const Values &all,
                      AffineExpr value) {
  auto add = [&](AffineExpr expr, bool isZero) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr))
      return isZero ? constant.getValue() == 0 : constant.getValue() >= 0;
    active.guards.push_back({expr, isZero});
    return true;
  };
  bool holds = true;
  if (own.span.size() == 1 && !(own.span == all.span)) {
    holds &= add(value - own.span.begin, /*isZero=*/true);
  } else {
    if (own.span.begin != all.span.begin)
      holds &= add(value - own.span.begin, /*isZero=*/false);
    if (own.span.end != all.span.end)
      holds &= add(own.span.end - 1 - value, /*isZero=*/false);
  }
  for (AffineExpr bound : own.begins)
    if (!llvm::is_contained(all.begins, bound))
      holds &= add(value - bound, /*isZero=*/false);
  for (AffineExpr bound : own.ends)
    if (!llvm::is_contained(all.ends, bound))
      holds &= add(bound - 1 - value, /*isZero=*/false);
  return holds;
}

/// The bound of a loop: a number, if there is one, and expressions.
static AstExpr makeBound(AstExpr::Kind kind, std::optional<int64_t> number,
                         llvm::ArrayRef<AffineExpr> exprs,
                         MLIRContext *context) {
  AstExpr bound;
  bound.kind = kind;
  if (number)
    bound.operands.emplace_back(getAffineConstantExpr(*number, context));
  for (AffineExpr expr : exprs)
    bound.operands.emplace_back(expr);
  return bound.operands.size() == 1 ? AstExpr(bound.operands.front()) : bound;
}

bool BoxScanner::scanBand(const ScheduleNode &band, unsigned member,
                          const Actives &actives, std::vector<Ast> &to) {
  if (member == band.members.size())
    return scan(band.children.empty() ? nullptr : band.children.front().get(),
                actives, to);
  const BandMember &loopMember = band.members[member];
  llvm::SmallVector<Digit> digits;
  llvm::SmallVector<Values> values;
  AffineExpr rest;
  if (!readMember(band, member, actives, digits, values, rest))
    return false;
  Values all = joinValues(values);
  if (numSeparated != 0 || rest || loopMember.shape == LoopShape::Default ||
      loopMember.shape == LoopShape::Separate) {
    // isl cuts such loops where that saves conditions.
    if (!llvm::all_of(values, [&](const Values &own) { return own == all; }) ||
        (numSeparated != 0 && !all.isConstant()))
      return false;
  }
  bool hasBegin = all.span.hasBegin(), hasEnd = all.span.hasEnd();
  if ((!hasBegin && all.begins.empty()) || (!hasEnd && all.ends.empty()))
    return false;

  auto scanInside = [&](AffineExpr value, llvm::ArrayRef<Active> outside,
                        std::vector<Ast> &body) {
    Actives inside;
    for (auto [active, digit, own] : llvm::zip_equal(outside, digits, values)) {
      Active copy = active;
      if (!addGuards(copy, own, all, value))
        continue;
      digit.value = value;
      Values bounds;
      bool isBounded = takeBounds(copy, digit, bounds);
      // One that has a single value tells nothing that the box does not.
      if (digit.dim != kNoDim &&
          (isBounded || all.span.size() != 1 || !all.isConstant()))
        copy.digits.push_back(digit);
      if (!decideRelations(copy))
        return false;
      if (copy.isEmpty())
        continue;
      if (rest && value.isSymbolicOrConstant())
        copy.guards.push_back({rest - 1 - value, /*isZero=*/false});
      inside.push_back(std::move(copy));
    }
    return inside.empty() || scanBand(band, member + 1, inside, body);
  };
  if (all.isConstant() &&
      (all.span.size() == 1 || loopMember.shape == LoopShape::Unroll)) {
    if (all.span.size() > kMaxCalls)
      return false;
    for (int64_t value = all.span.begin; value < all.span.end; ++value)
      if (!scanInside(getAffineConstantExpr(value, program.context), actives,
                      to))
        return false;
    return true;
  }
  if (loopMember.shape == LoopShape::Unroll)
    return false;

  Actives around = actives;
  Guards guards = takeGuards(around);
  auto loop = std::make_unique<AstNode>(AstNode::Kind::For);
  loop->iterator = numIterators++;
  loop->lower =
      makeBound(AstExpr::Kind::Max,
                hasBegin ? std::optional(all.span.begin) : std::nullopt,
                all.begins, program.context);
  if (rest)
    all.ends.push_back(rest);
  loop->upper = makeBound(AstExpr::Kind::Min,
                          hasEnd ? std::optional(all.span.end) : std::nullopt,
                          all.ends, program.context);
  loop->member = &loopMember;
  loop->tag = loopMember.tag;
  std::vector<Ast> body;
  if (!scanInside(getAffineDimExpr(loop->iterator, program.context), around,
                  body))
    return false;
  if (body.empty())
    return true;
  loop->children.push_back(join(std::move(body)));
  std::vector<Ast> loops;
  loops.push_back(std::move(loop));
  addGuarded(guards, std::move(loops), to);
  return true;
}

bool BoxScanner::scanSequence(const ScheduleNode &sequence,
                              const Actives &actives, std::vector<Ast> &to) {
  for (const ScheduleTree &filter : sequence.children) {
    Actives kept;
    for (FilterSet part : filter->filters)
      for (const Active &active : actives)
        if (active.statement == part.statement) {
          Active own = active;
          if (part.set && !cut(own, part.set, asksParameters))
            return false;
          if (!decideRelations(own))
            return false;
          if (!own.isEmpty())
            kept.push_back(std::move(own));
        }
    if (kept.empty())
      continue;
    Guards guards = takeGuards(kept);
    std::vector<Ast> part;
    if (!scan(filter->children.empty() ? nullptr
                                       : filter->children.front().get(),
              kept, part))
      return false;
    addGuarded(guards, std::move(part), to);
  }
  return true;
}

bool BoxScanner::scan(const ScheduleNode *node, const Actives &actives,
                      std::vector<Ast> &to) {
  if (!node)
    return actives.size() == 1 && scanLeaf(actives.front(), to);
  switch (node->kind) {
  case ScheduleNode::Kind::Band: {
    numSeparated += node->separateFullTiles && !joinsTiles;
    bool isScanned = scanBand(*node, /*member=*/0, actives, to);
    numSeparated -= node->separateFullTiles && !joinsTiles;
    return isScanned;
  }
  case ScheduleNode::Kind::Sequence:
    return scanSequence(*node, actives, to);
  case ScheduleNode::Kind::Mark: {
    std::vector<Ast> body;
    if (!scan(node->children.empty() ? nullptr : node->children.front().get(),
              actives, body))
      return false;
    if (body.empty())
      return true;
    auto mark = std::make_unique<AstNode>(AstNode::Kind::Mark);
    mark->mark = node->mark;
    mark->children.push_back(join(std::move(body)));
    to.push_back(std::move(mark));
    return true;
  }
  case ScheduleNode::Kind::Filter:
    return false;
  }
  llvm_unreachable("unknown kind");
}

Ast BoxScanner::run(const ScheduleNode *schedule) {
  Actives actives;
  for (auto [number, statement] : llvm::enumerate(program.statements)) {
    Active active{unsigned(number),
                  llvm::SmallVector<Values>(statement.numDims)};
    if (statement.domain.size() != 1 ||
        !cut(active, statement.domain.front(), asksParameters))
      return nullptr;
    if (active.isEmpty())
      continue;
    actives.push_back(std::move(active));
  }
  std::vector<Ast> nodes;
  if (!actives.empty() && !scan(schedule, actives, nodes))
    return nullptr;
  return join(std::move(nodes));
}

Ast espalier::polyhedral::scanBoxes(const Program &program,
                                    const ScheduleNode *schedule,
                                    bool joinsTiles, bool asksParameters) {
  return BoxScanner(program, joinsTiles, asksParameters).run(schedule);
}
