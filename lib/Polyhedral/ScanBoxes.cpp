//===- ScanBoxes.cpp - Loops over boxes, by the form of a schedule --------===//
//
// Each statement has a box, which filters cut. A loop of a band runs over one
// digit of a dimension: (d mod modulus) floordiv divisor. If the box begins and
// ends at multiples of a divisor, or all of it is between two multiples, then
// the digits above and those below take their values independently of each
// other. So the loops over digits that together are the dimension visit each of
// its values once, in the order of the schedule.
//
// What does not have this form is left to isl: loops that statements share
// although they have different values of them, bounds that depend on sizes,
// dimensions that no band orders, long programs of unrolled loops.
//
//===----------------------------------------------------------------------===//

#include "ScanBoxes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier::polyhedral;

namespace {
/// The dimension of what a band orders by that is a constant.
constexpr unsigned kNoDim = ~0u;
/// Isl may find that too many copies of unrolled loops are too much.
constexpr unsigned kMaxCalls = 1 << 12;

/// The integers from `begin` to less than `end`.
struct Span {
  int64_t begin = std::numeric_limits<int64_t>::min() / 4;
  int64_t end = std::numeric_limits<int64_t>::max() / 4;

  int64_t size() const { return std::max<int64_t>(end - begin, 0); }
  bool isBounded() const { return begin > Span().begin && end < Span().end; }
  bool operator==(const Span &other) const {
    return begin == other.begin && end == other.end;
  }
};

/// A digit of a dimension d, ((d + offset) mod modulus) floordiv divisor, and
/// the value that loops give it plus `added`.
struct Digit {
  unsigned dim = 0;
  int64_t offset = 0;
  int64_t modulus = 0; ///< 0 for none.
  int64_t divisor = 1;
  int64_t added = 0;
  AffineExpr value = {};
  /// Its loop ends where the dimension does.
  bool isCut = false;
};

/// A statement inside some loops.
struct Active {
  unsigned statement;
  llvm::SmallVector<Span> box;
  llvm::SmallVector<Digit> digits = {};

  bool isEmpty() const {
    return llvm::any_of(box, [](const Span &range) { return !range.size(); });
  }
};

class BoxScanner {
public:
  explicit BoxScanner(const Program &program) : program(program) {}
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
  /// Reads what a member of a band orders `actives` by, and its values, which
  /// they share; `rest` is where a loop that is cut ends. Nothing for another
  /// form.
  std::optional<Span> readMember(const ScheduleNode &band, unsigned member,
                                 const Actives &actives,
                                 llvm::SmallVectorImpl<Digit> &digits,
                                 AffineExpr &rest) const;
  /// The number of values that are left in the last of the loops over the
  /// digits above `digit`, where that is not all of them; null if loops over
  /// these are not there yet.
  AffineExpr getRest(const Active &active, const Digit &digit) const;

  const Program &program;
  unsigned numIterators = 0, numCalls = 0;
  /// The bands around that keep full tiles apart: for these, isl simplifies
  /// what ends where a dimension does.
  unsigned numSeparated = 0;
};
} // namespace

/// `expr` as `factor * d + constant` of one dimension, which is `dim`.
static bool readLinear(AffineExpr expr, unsigned &dim, int64_t &factor,
                       int64_t &constant) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
    factor = 0;
    constant = number.getValue();
    return true;
  }
  if (auto variable = dyn_cast<AffineDimExpr>(expr)) {
    dim = variable.getPosition();
    factor = 1;
    constant = 0;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  unsigned left = 0, right = 0;
  int64_t leftFactor, leftConstant, rightFactor, rightConstant;
  if (!binary || !readLinear(binary.getLHS(), left, leftFactor, leftConstant) ||
      !readLinear(binary.getRHS(), right, rightFactor, rightConstant))
    return false;
  if (expr.getKind() == AffineExprKind::Mul && rightFactor == 0) {
    dim = left;
    return !llvm::MulOverflow(leftFactor, rightConstant, factor) &&
           !llvm::MulOverflow(leftConstant, rightConstant, constant);
  }
  if (expr.getKind() != AffineExprKind::Add ||
      (leftFactor != 0 && rightFactor != 0 && left != right))
    return false;
  dim = leftFactor != 0 ? left : right;
  return !llvm::AddOverflow(leftFactor, rightFactor, factor) &&
         !llvm::AddOverflow(leftConstant, rightConstant, constant);
}

/// Cuts `box` by a set whose constraints are on one dimension each; false for
/// others. Cuts no dimension of which loops run over digits already.
static bool cut(Active &active, IntegerSet set) {
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    unsigned dim = 0;
    int64_t factor, constant;
    if (!readLinear(set.getConstraint(i), dim, factor, constant))
      return false;
    bool isEquality = set.isEq(i);
    if (factor == 0) {
      if (isEquality ? constant != 0 : constant < 0)
        active.box.assign(std::max<size_t>(active.box.size(), 1), {0, 0});
      continue;
    }
    // Ends farther out than those of `Span` could overflow.
    if (std::abs(factor) != 1 || constant < Span().begin ||
        constant > Span().end)
      return false;
    Span range = active.box[dim];
    if (factor == 1 || isEquality)
      range.begin = std::max(range.begin, -factor * constant);
    if (factor == -1 || isEquality)
      range.end = std::min(range.end, -factor * constant + 1);
    if (range == active.box[dim])
      continue;
    if (llvm::any_of(active.digits,
                     [&](const Digit &digit) { return digit.dim == dim; }))
      return false;
    active.box[dim] = range;
  }
  return true;
}

/// Reads what a band orders by; nothing if that is no digit.
static std::optional<Digit> readDigit(AffineExpr expr) {
  Digit digit;
  if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
      sum && expr.getKind() == AffineExprKind::Add &&
      !isa<AffineDimExpr>(sum.getLHS()))
    if (auto number = dyn_cast<AffineConstantExpr>(sum.getRHS())) {
      digit.added = number.getValue();
      expr = sum.getLHS();
    }
  auto take = [&](AffineExprKind kind, int64_t &number) {
    if (expr.getKind() != kind)
      return;
    auto binary = cast<AffineBinaryOpExpr>(expr);
    auto rhs = dyn_cast<AffineConstantExpr>(binary.getRHS());
    if (rhs && rhs.getValue() > 0) {
      number = rhs.getValue();
      expr = binary.getLHS();
    }
  };
  take(AffineExprKind::FloorDiv, digit.divisor);
  take(AffineExprKind::Mod, digit.modulus);
  int64_t factor;
  if (digit.modulus % digit.divisor != 0 ||
      !readLinear(expr, digit.dim, factor, digit.offset) || factor != 1)
    return std::nullopt;
  return digit;
}

static Span shift(Span range, int64_t offset) {
  return {range.begin + offset, range.end + offset};
}

/// The values of `d mod modulus` for d in `range`, if each goes with each value
/// of `d floordiv modulus`.
static std::optional<Span> getRemainders(Span range, int64_t modulus) {
  int64_t first = llvm::divideFloorSigned(range.begin, modulus);
  if (first == llvm::divideFloorSigned(range.end - 1, modulus))
    return Span{range.begin - first * modulus, range.end - first * modulus};
  if (range.begin % modulus != 0 || range.end % modulus != 0)
    return std::nullopt;
  return Span{0, modulus};
}

/// The values of a digit.
static std::optional<Span> getValues(Span range, const Digit &digit) {
  range = shift(range, digit.offset);
  if (digit.modulus != 0) {
    std::optional<Span> remainders = getRemainders(range, digit.modulus);
    if (!remainders)
      return std::nullopt;
    range = *remainders;
  }
  return shift({llvm::divideFloorSigned(range.begin, digit.divisor),
                llvm::divideFloorSigned(range.end - 1, digit.divisor) + 1},
               digit.added);
}

/// The digits of a dimension, the highest first.
static llvm::SmallVector<Digit> getDigits(const Active &active, unsigned dim) {
  llvm::SmallVector<Digit> digits;
  for (const Digit &digit : active.digits)
    if (digit.dim == dim)
      digits.push_back(digit);
  llvm::sort(digits, [](const Digit &lhs, const Digit &rhs) {
    return lhs.divisor > rhs.divisor;
  });
  return digits;
}

/// `start` and `factor` times the number that the digits of a dimension from
/// the highest one down to `divisor` make, divided by `unit`. Null unless these
/// are all there, and take their values independently of each other.
static AffineExpr combine(const Active &active, unsigned dim, int64_t divisor,
                          MLIRContext *context, int64_t start,
                          int64_t factor = 1, int64_t unit = 1) {
  llvm::SmallVector<Digit> digits = getDigits(active, dim);
  int64_t below = 0;
  AffineExpr value = getAffineConstantExpr(0, context);
  for (const Digit &digit : digits) {
    if (digit.modulus != below)
      return {};
    if (below != 0) {
      int64_t offset = digits.front().offset;
      if ((digit.offset - offset) % below != 0 ||
          (!digit.isCut &&
           !getRemainders(shift(active.box[dim], offset), below)))
        return {};
    }
    below = digit.divisor;
    int64_t weight = factor * (digit.divisor / unit);
    start -= digit.added * weight;
    if (auto number = dyn_cast<AffineConstantExpr>(digit.value))
      start += number.getValue() * weight;
    else
      value = value + digit.value * weight;
  }
  return below == divisor ? value + start : AffineExpr();
}

AffineExpr BoxScanner::getRest(const Active &active, const Digit &digit) const {
  llvm::SmallVector<Digit> above = getDigits(active, digit.dim);
  if (above.empty() || digit.modulus == 0 || digit.added != 0)
    return {};
  Span range = shift(active.box[digit.dim], above.front().offset);
  if (range.begin % digit.modulus != 0 ||
      (digit.offset - above.front().offset) % digit.modulus != 0)
    return {};
  return combine(active, digit.dim, digit.modulus, program.context,
                 /*start=*/llvm::divideCeilSigned(range.end, digit.divisor),
                 /*factor=*/-1, /*unit=*/digit.divisor);
}

bool BoxScanner::scanLeaf(const Active &active, std::vector<Ast> &to) {
  if (++numCalls > kMaxCalls)
    return false;
  auto call = std::make_unique<AstNode>(AstNode::Kind::Call);
  call->statement = active.statement;
  for (auto [dim, range] : llvm::enumerate(active.box)) {
    // What has one value needs no loop.
    llvm::SmallVector<Digit> digits = getDigits(active, dim);
    AffineExpr value;
    if (!digits.empty())
      value = combine(active, dim, /*divisor=*/1, program.context,
                      /*start=*/-digits.front().offset);
    else if (range.size() == 1)
      value = getAffineConstantExpr(range.begin, program.context);
    if (!value)
      return false;
    call->values.push_back(value);
  }
  to.push_back(std::move(call));
  return true;
}

std::optional<Span> BoxScanner::readMember(const ScheduleNode &band,
                                           unsigned member,
                                           const Actives &actives,
                                           llvm::SmallVectorImpl<Digit> &digits,
                                           AffineExpr &rest) const {
  std::optional<Span> values;
  for (const Active &active : actives) {
    const BandMap *map = llvm::find_if(band.maps, [&](const BandMap &other) {
      return other.statement == active.statement;
    });
    if (map == band.maps.end())
      return std::nullopt;
    AffineExpr expr = map->map.getResult(member), ownRest;
    std::optional<Digit> digit;
    std::optional<Span> own;
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      own = Span{constant.getValue(), constant.getValue() + 1};
      digit = Digit();
      digit->dim = kNoDim;
    } else if ((digit = readDigit(expr))) {
      own = getValues(active.box[digit->dim], *digit);
      if (!own && numSeparated == 0 &&
          band.members[member].shape == LoopShape::Atomic &&
          (ownRest = getRest(active, *digit))) {
        own = Span{0, digit->modulus / digit->divisor};
        digit->isCut = true;
      }
    }
    if (!own || (values && (!(*values == *own) || rest != ownRest)))
      return std::nullopt;
    values = own;
    rest = ownRest;
    digits.push_back(*digit);
  }
  return values;
}

/// One node that does what `nodes` do.
static Ast join(std::vector<Ast> nodes) {
  if (nodes.size() == 1)
    return std::move(nodes.front());
  auto block = std::make_unique<AstNode>(AstNode::Kind::Block);
  block->children = std::move(nodes);
  return block;
}

bool BoxScanner::scanBand(const ScheduleNode &band, unsigned member,
                          const Actives &actives, std::vector<Ast> &to) {
  if (member == band.members.size())
    return scan(band.children.empty() ? nullptr : band.children.front().get(),
                actives, to);
  llvm::SmallVector<Digit> digits;
  AffineExpr rest;
  std::optional<Span> values = readMember(band, member, actives, digits, rest);
  if (!values)
    return false;
  auto scanInside = [&](AffineExpr value, std::vector<Ast> &body) {
    Actives inside = actives;
    for (auto [active, digit] : llvm::zip_equal(inside, digits)) {
      digit.value = value;
      if (digit.dim != kNoDim)
        active.digits.push_back(digit);
    }
    return scanBand(band, member + 1, inside, body);
  };
  const BandMember &loopMember = band.members[member];
  if (values->size() == 1 || loopMember.shape == LoopShape::Unroll) {
    if (values->size() > kMaxCalls)
      return false;
    for (int64_t value = values->begin; value < values->end; ++value)
      if (!scanInside(getAffineConstantExpr(value, program.context), to))
        return false;
    return true;
  }

  auto loop = std::make_unique<AstNode>(AstNode::Kind::For);
  loop->iterator = numIterators++;
  loop->lower = AstExpr(getAffineConstantExpr(values->begin, program.context));
  loop->upper = AstExpr(getAffineConstantExpr(values->end, program.context));
  if (rest) {
    AstExpr upper;
    upper.kind = AstExpr::Kind::Min;
    upper.operands = {loop->upper, AstExpr(rest)};
    loop->upper = upper;
  }
  loop->member = &loopMember;
  loop->tag = loopMember.tag;
  std::vector<Ast> body;
  if (!scanInside(getAffineDimExpr(loop->iterator, program.context), body))
    return false;
  if (body.empty())
    return true;
  loop->children.push_back(join(std::move(body)));
  to.push_back(std::move(loop));
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
          if (part.set && !cut(own, part.set))
            return false;
          if (!own.isEmpty())
            kept.push_back(std::move(own));
        }
    if (!kept.empty() &&
        !scan(filter->children.empty() ? nullptr
                                       : filter->children.front().get(),
              kept, to))
      return false;
  }
  return true;
}

bool BoxScanner::scan(const ScheduleNode *node, const Actives &actives,
                      std::vector<Ast> &to) {
  if (!node)
    return actives.size() == 1 && scanLeaf(actives.front(), to);
  switch (node->kind) {
  case ScheduleNode::Kind::Band: {
    numSeparated += node->separateFullTiles;
    bool isScanned = scanBand(*node, /*member=*/0, actives, to);
    numSeparated -= node->separateFullTiles;
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
    Active active{unsigned(number), llvm::SmallVector<Span>(statement.numDims)};
    if (statement.domain.size() != 1 || !cut(active, statement.domain.front()))
      return nullptr;
    if (active.isEmpty())
      continue;
    if (!llvm::all_of(active.box,
                      [](const Span &range) { return range.isBounded(); }))
      return nullptr;
    actives.push_back(std::move(active));
  }
  std::vector<Ast> nodes;
  if (!actives.empty() && !scan(schedule, actives, nodes))
    return nullptr;
  return join(std::move(nodes));
}

Ast espalier::polyhedral::scanBoxes(const Program &program,
                                    const ScheduleNode *schedule) {
  return BoxScanner(program).run(schedule);
}
