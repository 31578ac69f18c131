//===- WindowRules.cpp - Rules for the windows of a program ---------------===//
//
// Rules about convolutions are listed for a few strides and paddings. For the
// others, which may have any numbers, the member of the family with the
// program's numbers is made and proved.
//
//===----------------------------------------------------------------------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/RuleTensors.h"
#include "espalier/Substitution/Search/GraphOperators.h"
#include "espalier/Substitution/Search/RuleSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

namespace {
/// How convolutions slide over an image.
struct Window {
  Param stride, padding;
  Param kernel; ///< 0 where it is not known.
  bool isListed = false;

  bool operator==(const Window &other) const {
    return stride == other.stride && padding == other.padding;
  }
};

constexpr Param kSingleSteps = {1, 1};

/// The windows of the convolutions of a rule.
std::vector<Window> getWindows(const Rule &rule) {
  std::vector<Window> windows;
  for (NodeId id = 0; id < rule.graph.size(); ++id)
    if (rule.graph[id].has(kGroups))
      windows.push_back({rule.graph[id].params[0], rule.graph[id].params[1]});
  return windows;
}

/// The window of a convolution, whatever its numbers are; nothing if they are
/// too large, or it has none in the text form.
std::optional<Window> getWindow(const OperatorInstance &instance) {
  if (instance.operands.size() != 2 || instance.result.getRank() != 4)
    return std::nullopt;
  auto get = [&](StringRef name) {
    return instance.attributes.getAs<DenseI64ArrayAttr>(name).asArrayRef();
  };
  ArrayRef<int64_t> strides = get("strides");
  ArrayRef<int64_t> low = get("pads_low"), high = get("pads_high");
  auto fits = [](int64_t number) {
    return number >= 0 && number <= kMaxExtent;
  };
  for (ArrayRef<int64_t> numbers : {strides, low, high})
    if (!llvm::all_of(numbers, fits))
      return std::nullopt;
  auto getKernel = [&](unsigned dim) {
    int64_t extent = instance.operands[1].getDimSize(dim);
    return ShapedType::isDynamic(extent) || extent > kMaxExtent ? 0 : extent;
  };
  return Window{{strides[0], strides[1]},
                Border{low[0], low[1], high[0], high[1]}.getParam(),
                {getKernel(2), getKernel(3)}};
}

/// A rule with another window in all its convolutions.
Rule replaceWindow(const Rule &rule, const Window &window) {
  Rule result;
  result.name = rule.name + "-at-other-windows";
  std::vector<NodeId> copies;
  for (NodeId id = 0; id < rule.graph.size(); ++id) {
    const RuleNode &node = rule.graph[id];
    SmallVector<NodeId> operands;
    for (NodeId operand : node.operands)
      operands.push_back(copies[operand]);
    SmallVector<Param> params(node.params.begin(), node.params.end());
    if (node.has(kGroups)) {
      params[0] = window.stride;
      params[1] = window.padding;
    }
    copies.push_back(node.kind == RuleNode::Kind::Tensor
                         ? result.graph.addTensor(node.number)
                     : node.kind == RuleNode::Kind::Scalar
                         ? result.graph.addScalar(node.number)
                         : result.graph.addOperator(node.op, params, operands));
  }
  for (NodeId root : rule.src)
    result.src.push_back(copies[root]);
  for (NodeId root : rule.dst)
    result.dst.push_back(copies[root]);
  return result;
}

/// The number of a node of `src` in `listTensors`.
unsigned getUse(const Rule &rule, NodeId node) {
  RuleTensors uses = listTensors(rule);
  return llvm::find_if(
             uses.list,
             [&](const RuleTensor &use) { return use.node == node; }) -
         uses.list.begin();
}

/// The convolution by a kernel with zeros around it, which then has the window
/// `to`, for one with the window `from`.
Rule enlargeKernel(const Window &from, const Window &to) {
  Rule rule;
  rule.name = "enlarge-kernel-at-other-windows";
  NodeId x = rule.graph.addTensor(0), weight = rule.graph.addTensor(1);
  auto convolve = [&](const Window &window, NodeId kernel) {
    return rule.graph.addOperator(
        OpKind::Conv2d, {window.stride, window.padding, {kNoActivation}},
        {x, kernel});
  };
  rule.src.push_back(convolve(from, weight));
  rule.dst.push_back(
      convolve(to, rule.graph.addOperator(OpKind::Enlarge, to.kernel, weight)));
  for (auto [axis, extent] :
       {std::pair(2u, from.kernel.first), {3u, from.kernel.second}}) {
    SizeTerm term;
    term.use = getUse(rule, weight);
    term.node = weight;
    term.axis = axis;
    rule.where.add(
        {GuardAtom::Kind::Equal, SizeExpr::get(term), SizeExpr::get(extent)});
  }
  return rule;
}

/// Whether zeros around the kernel might make the one window the other.
bool mayEnlarge(const Window &from, const Window &to) {
  bool isLarger = to.kernel.first > from.kernel.first ||
                  to.kernel.second > from.kernel.second;
  return from.stride == to.stride && isLarger && from.kernel.first != 0 &&
         from.kernel.second != 0 && to.kernel.first >= from.kernel.first &&
         to.kernel.second >= from.kernel.second;
}
} // namespace

void RuleSet::addWindowRules(Operation *root) {
  std::vector<Window> listed, windows;
  std::vector<Rule> families;
  for (const ProvedRule &proved : rules) {
    std::vector<Window> own = getWindows(proved.rule);
    llvm::append_range(listed, own);
    bool isFamily = !own.empty() && llvm::all_of(own, [](const Window &window) {
      return window == Window{kSingleSteps, {kValid}, {}};
    });
    if (isFamily)
      families.push_back(proved.rule);
  }
  root->walk([&](graph::ConvOp conv) {
    std::optional<OperatorInstance> instance = getInstance(conv);
    std::optional<Window> window =
        instance ? getWindow(*instance) : std::nullopt;
    if (!window)
      return;
    window->isListed = llvm::any_of(listed, [&](const Window &other) {
      return llvm::any_of(
          ArrayRef<Param>{{kNoActivation}, {kReluActivation}}, [&](Param act) {
            return isOperator(*instance, OpKind::Conv2d,
                              {other.stride, other.padding, act});
          });
    });
    bool isKnown = llvm::any_of(windows, [&](const Window &other) {
      return other == *window && other.kernel == window->kernel;
    });
    if (!isKnown)
      windows.push_back(*window);
  });
  if (llvm::all_of(windows,
                   [](const Window &window) { return window.isListed; }))
    return;
  Verifier verifier;
  auto prove = [&](Rule rule) {
    Verdict verdict = verifier.verify(rule);
    if (verdict.isProved())
      add({std::move(rule), std::move(verdict.guard)});
  };
  for (auto [number, window] : llvm::enumerate(windows)) {
    bool isRepeated =
        llvm::is_contained(ArrayRef(windows).take_front(number), window);
    if (!isRepeated && !window.isListed)
      for (const Rule &rule : families)
        prove(replaceWindow(rule, window));
    for (const Window &other : windows)
      if (mayEnlarge(window, other))
        prove(enlargeKernel(window, other));
  }
}
