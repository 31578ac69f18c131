//===- Statement.cpp - What a proof is about ------------------------------===//

#include "Statement.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace espalier;
using namespace espalier::proof;
using namespace espalier::substitution;

std::string Statement::str() const {
  std::string text = "rule " + name + "\n";
  for (const std::string &output : src)
    text += "src " + output + "\n";
  for (const std::string &output : dst)
    text += "dst " + output + "\n";
  return text + (guard.empty() ? "proved" : "proved-if " + guard) + "\n";
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

/// The numbers of `1,2`, and of words that stand for some.
static std::optional<Param> readParam(llvm::StringRef text, ParamKind kind) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ',');
  llvm::SmallVector<int64_t, 4> numbers;
  bool isChoice = kind == ParamKind::Padding || kind == ParamKind::Activation;
  for (llvm::StringRef part : parts) {
    unsigned number;
    bool isWord = isChoice && parts.size() == 1;
    if (isWord && (part == "same" || part == "none"))
      return Param{0};
    if (isWord && (part == "valid" || part == "relu"))
      return Param{1};
    if (part.getAsInteger(10, number) || number > kMaxExtent)
      return std::nullopt;
    numbers.push_back(number);
  }
  bool isBorder = kind == ParamKind::Padding || kind == ParamKind::Border;
  bool isPair = kind == ParamKind::Pair || kind == ParamKind::Axes ||
                kind == ParamKind::Ranks;
  if (numbers.size() != (isBorder ? 4 : isPair ? 2 : 1))
    return std::nullopt;
  if (isBorder)
    return Border{numbers[0], numbers[1], numbers[2], numbers[3]}.getParam();
  bool isAxis = kind == ParamKind::Axis || kind == ParamKind::Axes;
  bool isRank = kind == ParamKind::Rank || kind == ParamKind::Ranks;
  int64_t least =
      kind == ParamKind::Ranks                                        ? 2
      : isRank || kind == ParamKind::Pair || kind == ParamKind::Count ? 1
                                                                      : 0;
  int64_t most = isAxis                    ? kMaxRank - 1
                 : isRank                  ? kMaxRank
                 : kind == ParamKind::Part ? 1
                                           : kMaxExtent;
  if (llvm::any_of(numbers, [&](int64_t n) { return n < least || n > most; }))
    return std::nullopt;
  return Param{numbers[0], isPair ? numbers[1] : 0};
}

namespace {
class Resolver {
public:
  explicit Resolver(Statement &statement) : statement(statement) {}

  std::string run() {
    for (bool isSrc : {true, false}) {
      for (const std::string &text : isSrc ? statement.src : statement.dst) {
        auto parsed = parseSExprs(text);
        if (!parsed || parsed->size() != 1)
          return "expects one expression, but got '" + text + "'";
        auto use = add(parsed->front(), isSrc);
        if (!use)
          return error;
        (isSrc ? statement.srcOutputs : statement.dstOutputs).push_back(*use);
      }
      if (isSrc)
        statement.numSrc = statement.uses.size();
    }
    if (statement.src.empty() || statement.src.size() != statement.dst.size())
      return "expects equally many outputs of src and dst";
    return "";
  }

private:
  std::optional<unsigned> fail(const SExpr &expr, llvm::StringRef expected) {
    error = ("expects " + expected + ", but got '" + expr.str() + "'").str();
    return std::nullopt;
  }

  std::optional<unsigned> add(const SExpr &expr, bool isSrc) {
    std::string key = expr.str();
    auto known = numbers.find(key);
    if (known != numbers.end())
      return known->second;
    Use use;
    if (!expr.isList()) {
      unsigned number;
      llvm::StringRef name = expr.word;
      bool isScalar = name.consume_front("?s");
      if ((!isScalar && !name.consume_front("?i")) ||
          name.getAsInteger(10, number) || !isSrc)
        return fail(expr, "a variable of src");
      use.node.kind =
          isScalar ? RuleNode::Kind::Scalar : RuleNode::Kind::Tensor;
      use.node.number = number;
      use.name = expr.word;
    } else if (!addOperator(expr, isSrc, use)) {
      return std::nullopt;
    }
    unsigned number = statement.uses.size();
    if (!use.isConstant())
      numbers[key] = number;
    statement.uses.push_back(std::move(use));
    return number;
  }

  bool addOperator(const SExpr &expr, bool isSrc, Use &use) {
    auto kind = expr.list.empty() ? std::nullopt
                                  : lookupOperator(expr.list.front().word);
    if (!kind)
      return fail(expr, "an operator").has_value();
    use.node.kind = RuleNode::Kind::Operator;
    use.node.op = *kind;
    const OperatorInfo &info = substitution::getInfo(*kind);
    size_t next = 1;
    for (const ParamInfo &param : info.params) {
      if (next + 1 >= expr.list.size() + 1 ||
          expr.list[next].word != ":" + param.name.str() ||
          next + 1 >= expr.list.size())
        return fail(expr, ":" + param.name.str()).has_value();
      auto value = readParam(expr.list[next + 1].word, param.kind);
      if (!value)
        return fail(expr.list[next + 1], "a value of :" + param.name.str())
            .has_value();
      use.node.params.push_back(*value);
      next += 2;
    }
    std::string complaint = checkParams(*kind, use.node.params);
    if (!complaint.empty()) {
      error = complaint;
      return false;
    }
    for (; next < expr.list.size(); ++next)
      if (auto operand = add(expr.list[next], isSrc))
        use.operands.push_back(*operand);
      else
        return false;
    if (!info.takes(use.operands.size()))
      return fail(expr, "another number of operands").has_value();
    use.name =
        info.name.str() + "#" + std::to_string(++counts[info.name.str()]);
    return true;
  }

  Statement &statement;
  std::map<std::string, unsigned> numbers, counts;
  std::string error;
};
} // namespace

std::string espalier::proof::resolve(Statement &statement) {
  return Resolver(statement).run();
}

namespace {
/// Uses of one class have one rank.
class RankClasses {
public:
  explicit RankClasses(const Statement &statement) : statement(statement) {
    for (unsigned number = 0; number < statement.uses.size(); ++number)
      classes.push_back(number);
    ranks.resize(classes.size());
  }

  /// What the uses from `first` on ask for; false if that does not fit.
  bool require(unsigned first, unsigned last) {
    for (unsigned number = first; number < last; ++number) {
      const Use &use = statement.uses[number];
      if (use.node.kind == RuleNode::Kind::Scalar)
        set(number, 0);
      if (use.node.isVariable())
        continue;
      for (auto [position, operand] : llvm::enumerate(use.operands))
        if (auto rank = getRequiredRank(use.node.op, use.node.params, position))
          set(operand, *rank);
        else
          join(operand, number);
      if (auto rank = getRequiredRank(use.node.op, use.node.params,
                                      use.operands.size()))
        set(number, *rank);
    }
    return fits;
  }

  /// And what `dst` asks for.
  bool requireDst() {
    for (auto [src, dst] :
         llvm::zip_equal(statement.srcOutputs, statement.dstOutputs))
      join(src, dst);
    return require(statement.numSrc, classes.size());
  }

  /// Uses of classes below `count` whose rank is not known, one of each.
  std::vector<unsigned> listOpen(unsigned count) const {
    std::vector<unsigned> result;
    for (unsigned number = 0; number < count; ++number)
      if (!ranks[classes[number]] && llvm::none_of(result, [&](unsigned other) {
            return classes[other] == classes[number];
          }))
        result.push_back(number);
    return result;
  }

  void set(unsigned use, unsigned rank) {
    std::optional<unsigned> &known = ranks[classes[use]];
    fits &= !known || *known == rank;
    known = rank;
  }

  Ranks get(unsigned count) const {
    Ranks result;
    for (unsigned number = 0; number < count; ++number)
      result.push_back(*ranks[classes[number]]);
    return result;
  }

private:
  void join(unsigned lhs, unsigned rhs) {
    unsigned from = classes[rhs], to = classes[lhs];
    if (ranks[from])
      set(lhs, *ranks[from]);
    for (unsigned &name : classes)
      if (name == from)
        name = to;
  }

  const Statement &statement;
  std::vector<unsigned> classes;
  std::vector<std::optional<unsigned>> ranks;
  bool fits = true;
};
} // namespace

/// Calls `visit` with the classes where the open ones have all ranks.
static void forEachRank(const RankClasses &classes,
                        llvm::ArrayRef<unsigned> open,
                        llvm::function_ref<void(const RankClasses &)> visit) {
  if (open.empty())
    return visit(classes);
  for (unsigned rank = 0; rank <= kMaxOpenRank; ++rank) {
    RankClasses copy = classes;
    copy.set(open.front(), rank);
    forEachRank(copy, open.drop_front(), visit);
  }
}

std::optional<std::vector<Ranks>>
espalier::proof::listRanks(const Statement &statement) {
  RankClasses classes(statement);
  unsigned count = statement.uses.size();
  if (!classes.require(0, statement.numSrc))
    return std::nullopt;
  std::vector<unsigned> open = classes.listOpen(statement.numSrc);
  if (open.size() > kMaxOpenRanks)
    return std::nullopt;
  std::vector<Ranks> result;
  bool isTooOpen = false;
  forEachRank(classes, open, [&](const RankClasses &src) {
    RankClasses both = src;
    if (!both.requireDst()) {
      result.push_back(src.get(statement.numSrc));
      return;
    }
    std::vector<unsigned> more = both.listOpen(count);
    isTooOpen |= open.size() + more.size() > kMaxOpenRanks;
    if (!isTooOpen)
      forEachRank(both, more, [&](const RankClasses &all) {
        result.push_back(all.get(count));
      });
  });
  return isTooOpen ? std::nullopt : std::optional(std::move(result));
}
