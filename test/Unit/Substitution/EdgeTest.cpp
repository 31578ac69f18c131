//===- EdgeTest.cpp - Rules that are wrong at edges -----------------------===//
//
// Makes rules of laws of real numbers that fail somewhere: where a window lies
// in a border, at poles, for roots of negative numbers, infinities, extents of
// 1, strides beyond kernels. What is proved is evaluated without rounding at
// inputs that look for these, and must not differ where `src` is defined.
//
//===----------------------------------------------------------------------===//

#include "Exact.h"
#include "espalier/Interpreter/Interpreter.h"
#include "espalier/Substitution/Shapes.h"
#include "espalier/Substitution/Verify.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace espalier;
using namespace espalier::substitution;

namespace {

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

/// A term in the notation of rules.
struct Text {
  std::string head; ///< The operator and its parameters, or a variable.
  std::vector<Text> operands;

  std::string str() const {
    if (operands.empty() && head[0] == '?')
      return head;
    std::string text = "(" + head;
    for (const Text &operand : operands)
      text += " " + operand.str();
    return text + ")";
  }
  bool is(const char *name) const {
    return llvm::StringRef(head).split(' ').first == name;
  }
};

class RuleMaker {
public:
  explicit RuleMaker(uint64_t seed) : random(seed) {}

  std::string make() {
    rank = pick({1, 2, 4, 4});
    Text src = makeTerm(1 + draw(3)), dst = src;
    for (unsigned number = 1 + draw(2); number > 0; --number)
      changeSomewhere(dst);
    if (draw(2))
      std::swap(src, dst);
    return "rule r\nsrc " + src.str() + "\ndst " + dst.str() + "\n";
  }

private:
  unsigned draw(unsigned count) { return random() % count; }
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + draw(values.size()));
  }
  static Text apply(std::string head, std::vector<Text> operands) {
    return {std::move(head), std::move(operands)};
  }

  std::string getNumbers(unsigned count, unsigned least, unsigned most) {
    std::string text;
    for (unsigned number = 0; number < count; ++number)
      text +=
          (number ? "," : "") + std::to_string(least + draw(most - least + 1));
    return text;
  }
  std::string getPadding() {
    return pick<std::string>({"same", "valid", getNumbers(4, 0, 3), "1,1,1,1"});
  }
  std::string getPool(const std::string &kind) {
    return "pool" + kind + " :kernel " + getNumbers(2, 1, 3) + " :stride " +
           pick<std::string>({"1,1", "1,1", getNumbers(2, 1, 3), "16,16"}) +
           " :pad " + getPadding();
  }
  std::string getAxis() {
    return " :axis " + std::to_string(draw(rank)) + " :ndim " +
           std::to_string(rank);
  }

  Text makeLeaf() { return {"?i" + std::to_string(draw(3)), {}}; }

  Text makeTerm(unsigned depth) {
    if (depth == 0)
      return makeLeaf();
    unsigned choice = draw(rank == 4 ? 13 : rank == 2 ? 11 : 9);
    switch (choice) {
    case 0:
    case 1:
      return apply(pick<std::string>({"ewadd", "ewsub", "ewmul", "ewmax"}),
                   {makeTerm(depth - 1), makeTerm(depth - 1)});
    case 2:
    case 3:
      return apply("ewdiv", {makeTerm(depth - 1), makeTerm(depth - 1)});
    case 4:
      return apply("sqrt", {makeTerm(depth - 1)});
    case 5:
      return apply(pick<std::string>({"exp", "tanh", "sigmoid"}),
                   {makeTerm(depth - 1)});
    case 6:
      return apply("relu", {makeTerm(depth - 1)});
    case 7:
      return apply("slice" + getAxis() + " :begin " + getNumbers(1, 0, 1) +
                       " :size " + getNumbers(1, 1, 2),
                   {makeTerm(depth - 1)});
    case 8:
      return apply("pad" + getAxis() + " :low " + getNumbers(1, 0, 2) +
                       " :high " + getNumbers(1, 0, 2),
                   {makeTerm(depth - 1)});
    case 9:
    case 10:
      if (rank == 2)
        return apply("matmul :act " + pick<std::string>({"none", "relu"}),
                     {makeTerm(depth - 1), makeTerm(depth - 1)});
      return apply(getPool("max"), {makeTerm(depth - 1)});
    case 11:
      return apply(getPool("avg"), {makeTerm(depth - 1)});
    default:
      return apply("conv2d :stride " + getNumbers(2, 1, 2) + " :pad " +
                       getPadding() + " :act none",
                   {makeTerm(depth - 1), {"?i3", {}}});
    }
  }

  void changeSomewhere(Text &term) {
    if (!term.operands.empty() && draw(3) != 0) {
      Text &operand = term.operands[draw(term.operands.size())];
      if (operand.head != "?i3")
        return changeSomewhere(operand);
    }
    term = change(term);
  }

  /// Of the same shape as `term`, if that has one that variables have too.
  Text makeSimilar(const Text &term) {
    switch (draw(5)) {
    case 0:
      return apply("relu", {term});
    case 1:
      return apply("ewmul", {term, term});
    case 2:
      return apply("exp", {term});
    case 3:
      return makeLeaf();
    default:
      return term;
    }
  }

  /// A law about the operator of a term, or one about any.
  Text change(const Text &term) {
    if (draw(3) == 0)
      return changeAny(term);
    const auto &operands = term.operands;
    auto wrap = [&](const std::string &function) {
      return apply(term.head, {apply(function, {operands[0]})});
    };
    bool isMovable = term.is("poolmax") || term.is("pad") || term.is("slice") ||
                     term.is("poolavg");
    bool hasMovable = operands.size() == 1 &&
                      (operands[0].is("poolmax") || operands[0].is("pad") ||
                       operands[0].is("slice"));
    // f(pool(x)) and pool(f(x)).
    if (hasMovable && !isMovable)
      return apply(operands[0].head,
                   {apply(term.head, {operands[0].operands[0]})});
    if (isMovable && operands[0].operands.size() == 1)
      return apply(operands[0].head,
                   {apply(term.head, {operands[0].operands[0]})});
    if (isMovable && operands[0].operands.size() == 2 &&
        operands[0].head[0] == 'e')
      return apply(operands[0].head,
                   {apply(term.head, {operands[0].operands[0]}),
                    apply(term.head, {operands[0].operands[1]})});
    if (term.is("poolmax"))
      return draw(2) ? apply("relu", {wrap("relu")}) : wrap("relu");
    if (term.is("ewdiv") && operands[0].is("ewdiv"))
      return apply("ewdiv",
                   {operands[0].operands[0],
                    apply("ewmul", {operands[0].operands[1], operands[1]})});
    if (term.is("ewdiv") && operands[1].is("ewdiv"))
      return apply("ewdiv",
                   {apply("ewmul", {operands[0], operands[1].operands[1]}),
                    operands[1].operands[0]});
    if (term.is("ewdiv") && draw(2))
      return apply("ewmul", {operands[0],
                             apply("ewdiv", {{"const_one", {}}, operands[1]})});
    if (term.is("ewdiv"))
      return apply("ewdiv", {apply("ewmul", {operands[0], operands[1]}),
                             apply("ewmul", {operands[1], operands[1]})});
    if (term.is("sqrt"))
      return apply("ewdiv", {operands[0], term});
    if (term.is("exp"))
      return apply(
          "ewdiv",
          {apply("exp", {apply("ewadd", {operands[0], operands[0]})}), term});
    if (term.is("relu"))
      return apply("ewmax",
                   {operands[0], apply("ewsub", {operands[0], operands[0]})});
    if (term.is("ewmul") && draw(2))
      return apply("ewdiv", {operands[0],
                             apply("ewdiv", {{"const_one", {}}, operands[1]})});
    if (term.is("conv2d") || term.is("matmul"))
      return apply("ewsub", {apply(term.head,
                                   {apply("ewadd", {operands[0], operands[0]}),
                                    operands[1]}),
                             term});
    return changeAny(term);
  }

  Text changeAny(const Text &term) {
    Text other = makeSimilar(term);
    Text nothing = apply("ewsub", {other, other});
    switch (draw(11)) {
    case 0:
      return apply("ewadd", {term, nothing});
    case 1:
      return apply("ewadd",
                   {term, apply("ewdiv", {nothing, makeSimilar(term)})});
    case 2:
      return apply(
          "ewadd",
          {term,
           apply("ewmul", {nothing, apply("sqrt", {makeSimilar(term)})})});
    case 3:
      return apply("ewdiv", {apply("ewmul", {term, other}), other});
    case 4:
      return apply("ewmul", {term, apply("ewdiv", {other, other})});
    case 5:
      return apply("sqrt", {apply("ewmul", {term, term})});
    case 6:
      return apply("ewmul", {apply("sqrt", {term}), apply("sqrt", {term})});
    case 7:
      return apply("ewmax",
                   {term, apply("ewsub", {term, apply("relu", {other})})});
    case 8:
      return apply("relu", {term});
    case 9:
      return apply("ewsub", {apply("ewadd", {term, other}), other});
    default:
      return apply("ewdiv", {{"const_one", {}},
                             apply("ewdiv", {{"const_one", {}}, term})});
    }
  }

  std::mt19937_64 random;
  unsigned rank = 1;
};

//===----------------------------------------------------------------------===//
// The judge
//===----------------------------------------------------------------------===//

/// Evaluates rules at shapes at which they would be applied.
class Judge {
public:
  Judge() : semantics(context) {}

  /// What is wrong with a proved rule, if that is found.
  std::string findMistake(const Rule &rule, const Guard &guard, uint64_t seed) {
    random.seed(seed);
    uses = listTensors(rule);
    unsigned number = solver.add(rule, guard);
    for (unsigned tried = 0; tried < kMaxShapes; ++tried) {
      std::string error;
      unsigned open[] = {unsigned(random() % 5), unsigned(random() % 5)};
      auto instances = makeInstances(rule, error, open);
      if (!instances || !setShapes(number, *instances))
        continue;
      for (unsigned mode = 0; mode < kNumModes; ++mode) {
        std::string mistake = compare(*instances, mode);
        if (!mistake.empty())
          return mistake;
      }
    }
    return "";
  }

  unsigned numCompared = 0;

private:
  static constexpr unsigned kMaxShapes = 24, kNumModes = 5;

  /// Draws shapes of what `src` reads, and takes over what follows.
  bool setShapes(unsigned number, Instances &instances) {
    std::string why;
    // Strides beyond kernels need one long side.
    bool isWide = random() % 3 == 0;
    std::vector<int64_t> extents;
    for (unsigned dim = 0; dim < kMaxRank; ++dim)
      extents.push_back(1 + random() % (isWide ? 2 : 4));
    if (isWide)
      extents[2 + random() % 2] = 14 + random() % 5;
    std::map<unsigned, Shape> known;
    auto shapes = solver.solve(
        number,
        [&](unsigned use) -> std::optional<Shape> {
          const Instance &instance = instances.list[use];
          auto [shape, isNew] = known.try_emplace(use);
          if (!isNew)
            return shape->second;
          for (unsigned dim = 0; dim < instance.rank; ++dim)
            shape->second.push_back(random() % 4 == 0 ? 1 + random() % 4
                                                      : extents[dim]);
          return shape->second;
        },
        why);
    if (!shapes)
      return false;
    for (auto [use, instance] : llvm::enumerate(instances.list)) {
      int64_t size = 1;
      for (int64_t extent : shapes->shapes[use]) {
        instance.shape.push_back(extent);
        size *= extent;
      }
      if (size > 400 || (!instance.node->isVariable() &&
                         !setMeaning(instances, instance, shapes->shapes[use])))
        return false;
    }
    return true;
  }

  bool setMeaning(const Instances &instances, Instance &instance,
                  const Shape &shape) {
    llvm::SmallVector<unsigned> ranks;
    for (unsigned operand : instance.operands)
      ranks.push_back(instances.list[operand].rank);
    ranks.push_back(instance.rank);
    std::string error;
    instance.semantics = semantics.get(*instance.node, ranks, error);
    if (!instance.semantics)
      return false;
    for (Parameter parameter : instance.semantics->parameters) {
      if (parameter.kind != Parameter::Kind::Chosen &&
          parameter.kind != Parameter::Kind::Size)
        return false;
      instance.parameters.push_back(
          parameter.kind == Parameter::Kind::Chosen
              ? Linear(shape[parameter.dim])
              : instances.list[instance.operands[0]].shape[parameter.dim]);
    }
    return true;
  }

  /// Small numbers, or those of one sign, or zeros.
  double drawElement(unsigned mode) {
    int64_t number = random() % 6;
    switch (mode) {
    case 0:
      return static_cast<double>(number);
    case 1:
      return static_cast<double>(-number);
    case 2:
      return static_cast<double>(number) / 2 - 1;
    case 3:
      return 0;
    default:
      return static_cast<double>(number) - 2;
    }
  }

  std::string compare(const Instances &instances, unsigned mode) {
    std::vector<interpreter::Tensor> tensors;
    mlir::Type type = mlir::Float64Type::get(&context);
    for (const Instance &instance : instances.list) {
      llvm::SmallVector<int64_t> shape;
      if (instance.node->isVariable())
        for (const Linear &extent : instance.shape)
          shape.push_back(*extent.getValue());
      auto tensor =
          interpreter::Tensor::create(mlir::RankedTensorType::get(shape, type));
      auto *elements =
          reinterpret_cast<double *>(tensor->getMutableBytes().data());
      for (int64_t i = 0; i < tensor->getNumElements(); ++i)
        elements[i] = drawElement(mode);
      tensors.push_back(*tensor);
    }
    Budget budget(std::chrono::seconds(2));
    ExactEvaluator exact(
        instances, tensors, [](Var) -> int64_t { return 0; }, budget);
    for (unsigned output : instances.src)
      if (!forEachIndex(exact.getShape(output), [&](auto indices) {
            return exact.get(output, indices).isDefined();
          }))
        return "";
    std::string mistake = compareWithInterpreter(instances, tensors, exact);
    llvm::raw_string_ostream os(mistake);
    for (auto [src, dst] : llvm::zip_equal(instances.src, instances.dst)) {
      if (exact.getShape(src) != exact.getShape(dst))
        return "other shapes";
      forEachIndex(exact.getShape(src),
                   [&, &src = src, &dst = dst](auto indices) {
                     ++numCompared;
                     ExactValue left = exact.get(src, indices);
                     ExactValue right = exact.get(dst, indices);
                     if (left.differs(right))
                       os << left << " in src and " << right
                          << " in dst, inputs of kind " << mode;
                     return mistake.empty();
                   });
    }
    return mistake;
  }

  /// Where the interpreter has a number for outputs of `src`, it is near the
  /// exact value.
  std::string compareWithInterpreter(const Instances &instances,
                                     std::vector<interpreter::Tensor> tensors,
                                     ExactEvaluator &exact) {
    constexpr double kTolerance = 1e-6;
    for (unsigned number = 0; number < instances.numSrc; ++number) {
      const Instance &instance = instances.list[number];
      if (instance.node->isVariable())
        continue;
      llvm::SmallVector<interpreter::Tensor> operands;
      for (unsigned operand : instance.operands)
        operands.push_back(tensors[operand]);
      llvm::SmallVector<int64_t> parameters;
      for (const Linear &parameter : instance.parameters)
        parameters.push_back(*parameter.getValue());
      auto results =
          interpreter::evaluate(instance.semantics->definition, operands,
                                parameters, [](const llvm::Twine &) {});
      if (failed(results))
        return "the interpreter fails";
      tensors[number] = (*results)[0];
    }
    for (unsigned output : instances.src) {
      int64_t position = 0;
      bool isNear = forEachIndex(exact.getShape(output), [&](auto indices) {
        double value = tensors[output].getFloat(position++);
        ExactValue expected = exact.get(output, indices);
        double reach = kTolerance * (1 + std::fabs(value));
        return !expected.isNumber() || !(std::fabs(value) < 1e6) ||
               (value >= expected.low - reach &&
                value <= expected.high + reach);
      });
      if (!isNear)
        return "the interpreter has another value";
    }
    return "";
  }

  static bool
  forEachIndex(llvm::ArrayRef<int64_t> shape,
               llvm::function_ref<bool(llvm::ArrayRef<int64_t>)> visit) {
    llvm::SmallVector<int64_t> indices(shape.size(), 0);
    while (visit(indices)) {
      size_t dim = shape.size();
      while (dim > 0 && ++indices[dim - 1] == shape[dim - 1])
        indices[--dim] = 0;
      if (dim == 0)
        return true;
    }
    return false;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  SemanticsCache semantics;
  ShapeSolver solver;
  RuleTensors uses;
  std::mt19937_64 random;
};

//===----------------------------------------------------------------------===//
// Tests
//===----------------------------------------------------------------------===//

// What the judge does not see, it cannot find.
TEST(EdgeTest, MistakesAreSeen) {
  const std::pair<const char *, const char *> kFalse[] = {
      {"(relu (poolmax :kernel 2,2 :stride 1,1 :pad 3,3,3,3 (relu ?i0)))",
       "(poolmax :kernel 2,2 :stride 1,1 :pad 3,3,3,3 (relu ?i0))"},
      {"(relu (poolmax :kernel 2,2 :stride 16,16 :pad 0,0,3,3 (relu ?i0)))",
       "(poolmax :kernel 2,2 :stride 16,16 :pad 0,0,3,3 (relu ?i0))"},
      {"(ewadd ?i0 (ewsub ?i1 ?i1))",
       "(ewadd ?i0 (ewdiv (ewsub ?i1 ?i1) ?i1))"},
      {"(ewadd ?i0 (ewsub ?i1 ?i1))",
       "(ewadd ?i0 (ewmul (ewsub ?i1 ?i1) (sqrt ?i1)))"},
      {"(pad :axis 0 :ndim 1 :low 1 :high 0 (exp ?i0))",
       "(exp (pad :axis 0 :ndim 1 :low 1 :high 0 ?i0))"},
      {"(exp ?i0)", "(tanh ?i0)"}};
  Judge judge;
  for (auto [src, dst] : kFalse) {
    std::vector<Rule> rules;
    ASSERT_TRUE(succeeded(
        parseRules(std::string("rule r\nsrc ") + src + "\ndst " + dst + "\n",
                   rules, [](unsigned, auto &) {})));
    EXPECT_NE(judge.findMistake(rules[0], {}, 1), "") << src;
  }
}

class EdgeRun : public ::testing::TestWithParam<unsigned> {
protected:
  void run(unsigned numRules, uint64_t seed) {
    unsigned counts[4] = {};
    Judge judge;
    // What takes longer is hardly ever proved.
    VerifyOptions options;
    options.deadline = std::chrono::milliseconds(200);
    Verifier verifier(options);
    for (unsigned number = 0; number < numRules; ++number) {
      std::string text = RuleMaker(++seed).make();
      std::vector<Rule> rules;
      if (failed(parseRules(text, rules, [](unsigned, auto &) {})))
        continue;
      Verdict verdict = verifier.verify(rules[0]);
      if (verdict.isIllTyped)
        continue;
      ++counts[static_cast<unsigned>(verdict.kind)];
      if (verdict.isProved())
        EXPECT_EQ(judge.findMistake(rules[0], verdict.guard, seed), "")
            << text << toString(verdict.guard, listTensors(rules[0]));
    }
    unsigned numProved = counts[0] + counts[1];
    llvm::outs() << numProved << " proved, " << counts[2] << " refuted, "
                 << counts[3] << " unknown, " << judge.numCompared
                 << " values compared\n";
    // Of each there must be some, or the rules are not at edges.
    EXPECT_GT(numProved, numRules / 50);
    EXPECT_GT(counts[2], numRules / 50);
    EXPECT_GT(judge.numCompared, numRules);
  }
};

class RandomEdgeTest : public EdgeRun {};

TEST_P(RandomEdgeTest, NothingIsProvedThatFailsAtAnEdge) {
  run(NUM_EDGE_RULES, GetParam() * uint64_t(1'000'000));
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomEdgeTest, ::testing::Range(0u, 2u));

// A thousand rules each, from seeds that the suite does not use. By hand:
// --gtest_also_run_disabled_tests --gtest_filter=*ManyEdge*/1?
class ManyEdgeTest : public EdgeRun {};

TEST_P(ManyEdgeTest, DISABLED_NothingIsProvedThatFailsAtAnEdge) {
  run(1'000, GetParam() * uint64_t(1'000'000));
}

INSTANTIATE_TEST_SUITE_P(Many, ManyEdgeTest, ::testing::Range(2u, 1000u));

} // namespace
