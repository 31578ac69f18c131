//===- RandomCommands.cpp - Random scheduling commands --------------------===//

#include "RandomCommands.h"
#include "espalier/Dialect/Poly/Transforms/Plan.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace espalier::poly;
using namespace espalier::poly::fuzz;

namespace {
using Names = std::vector<std::string>;
using Numbers = SmallVector<int64_t>;

/// Makes commands for one computation.
class CommandMaker {
public:
  CommandMaker(Random &random, KernelOp kernel);
  Command make();

private:
  Command makeOrder();
  Command makeStructure();
  Command makeExecution();
  Command makePeel();
  Command makeCut();
  Command makeRetile();
  Command makeSpecialize();
  Command makeArrange();
  Command makePlan();
  Command makePrefetch();
  Command makeRemap();
  Command makeShift();

  /// A command `name` for the computation: `rest` is the text of its arguments,
  /// `apply` its function.
  Command makeOne(const Twine &name, const Twine &rest,
                  std::function<llvm::Error(ComputeOp)> apply);
  /// The same for two computations.
  Command makePair(const Twine &name, const Twine &between, const Twine &rest,
                   std::function<llvm::Error(ComputeOp, ComputeOp)> apply);
  std::string pickLoop() { return random.choose(ArrayRef(loops)); }
  /// Between `low` and `high` different loops, in any order.
  Names pickLoops(int64_t low, int64_t high);
  Numbers pickNumbers(size_t count, int64_t low, int64_t high);
  /// A number, or a parameter plus a number.
  AffineExpr pickAmount(int64_t low, int64_t high);
  std::string printAmount(AffineExpr amount);

  Random &random;
  KernelOp kernel;
  MLIRContext *context;
  unsigned numParams;
  SmallVector<std::string> computes;
  std::string compute;
  SmallVector<std::string> loops;
};
} // namespace

static std::string quote(StringRef name) { return ("\"" + name + "\"").str(); }

static std::string quote(const Names &names) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(names, os, [&](StringRef name) { os << quote(name); });
  return "[" + text + "]";
}

static std::string list(ArrayRef<int64_t> numbers) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(numbers, os);
  return "[" + text + "]";
}

static SmallVector<StringRef> refs(const Names &names) {
  return SmallVector<StringRef>(names.begin(), names.end());
}

SmallVector<std::string> fuzz::getLoopNames(ComputeOp op) {
  SmallVector<std::string> loops;
  StringRef symbol = op.getSymName();
  if (ScheduleOp schedule = op.getKernel().getSchedule())
    schedule.walk<WalkOrder::PreOrder>([&](BandOp band) {
      if (band.getMap(symbol) && band.getNames())
        for (StringRef name : band.getNames()->getAsValueRange<StringAttr>())
          loops.push_back(name.str());
    });
  else
    for (unsigned dim = 0; dim < op.getNumDims(); ++dim)
      loops.push_back(op.getDimName(dim).str());
  if (loops.empty())
    loops.push_back("none");
  return loops;
}

CommandMaker::CommandMaker(Random &random, KernelOp kernel)
    : random(random), kernel(kernel), context(kernel.getContext()),
      numParams(kernel.getNumParameters()) {
  for (ComputeOp op : kernel.getComputes())
    computes.push_back(op.getSymName().str());
  compute = random.choose(ArrayRef(computes));
  loops = getLoopNames(kernel.lookupCompute(compute));
}

Names CommandMaker::pickLoops(int64_t low, int64_t high) {
  SmallVector<std::string> all = loops;
  random.shuffle(all);
  all.resize(std::min<size_t>(all.size(), random.pick(low, high)));
  return Names(all.begin(), all.end());
}

Numbers CommandMaker::pickNumbers(size_t count, int64_t low, int64_t high) {
  Numbers numbers(count);
  // The least number stands for one that is open.
  const int64_t extremes[] = {std::numeric_limits<int64_t>::min() + 1,
                              -(1ll << 32),
                              -1,
                              0,
                              (1ll << 31) - 1,
                              1ll << 31,
                              1ll << 32,
                              (1ll << 32) + 1,
                              std::numeric_limits<int64_t>::max()};
  for (int64_t &number : numbers)
    number = random.chance(2) ? random.choose(ArrayRef(extremes))
                              : random.pick(low, high);
  return numbers;
}

AffineExpr CommandMaker::pickAmount(int64_t low, int64_t high) {
  AffineExpr amount = getAffineConstantExpr(random.pick(low, high), context);
  if (numParams > 0 && random.chance(30))
    amount =
        getAffineSymbolExpr(random.pick(0, numParams - 1), context) + amount;
  return amount;
}

std::string CommandMaker::printAmount(AffineExpr amount) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (isa<AffineConstantExpr>(amount))
    os << amount;
  else
    os << AffineMapAttr::get(AffineMap::get(0, numParams, amount));
  return text;
}

Command CommandMaker::makeOne(const Twine &name, const Twine &rest,
                              std::function<llvm::Error(ComputeOp)> apply) {
  return {("transform.poly." + name + " %" + compute + " " + rest +
           " : !transform.any_op")
              .str(),
          [apply = std::move(apply), compute = compute](KernelOp kernel) {
            return apply(kernel.lookupCompute(compute));
          }};
}

Command
CommandMaker::makePair(const Twine &name, const Twine &between,
                       const Twine &rest,
                       std::function<llvm::Error(ComputeOp, ComputeOp)> apply) {
  std::string other = random.choose(ArrayRef(computes));
  std::string first = compute;
  return {("transform.poly." + name + " %" + first + " " + between + " %" +
           other + rest + " : !transform.any_op, !transform.any_op")
              .str(),
          [=](KernelOp kernel) {
            return apply(kernel.lookupCompute(first),
                         kernel.lookupCompute(other));
          }};
}

Command CommandMaker::makeShift() {
  std::string loop = pickLoop();
  AffineExpr amount = pickAmount(-3, 3);
  return makeOne("shift", "loop " + quote(loop) + " by " + printAmount(amount),
                 [=](ComputeOp op) { return shift(op, loop, amount); });
}

Command CommandMaker::makeRemap() {
  Names names = pickLoops(1, 3);
  SmallVector<AffineExpr> results;
  Names into;
  for (int64_t i = 0, e = random.chance(80) ? names.size() : random.pick(1, 3);
       i < e; ++i) {
    AffineExpr sum = getAffineDimExpr(i % int64_t(names.size()), context) *
                     (random.chance(80) ? 1 : random.pick(-2, 2));
    for (unsigned dim = 0; dim < names.size(); ++dim)
      if (random.chance(25))
        sum = sum + getAffineDimExpr(dim, context) * random.pick(-1, 2);
    if (random.chance(10))
      sum = random.chance(50) ? sum.floorDiv(random.pick(2, 3))
                              : sum % random.pick(2, 3);
    if (random.chance(10))
      sum = sum + pickAmount(-2, 2);
    results.push_back(sum);
    into.push_back("r" + std::to_string(i));
  }
  AffineMap map = AffineMap::get(names.size(), numParams, results, context);
  bool hasNames = results.size() != names.size() || random.chance(30);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "loops " << quote(names) << " by " << AffineMapAttr::get(map);
  if (hasNames)
    os << " into " << quote(into);
  return makeOne("remap", text, [=](ComputeOp op) {
    return remap(op, refs(names), map,
                 hasNames ? refs(into) : SmallVector<StringRef>());
  });
}

Command CommandMaker::makeOrder() {
  switch (random.pick(0, 9)) {
  case 0:
  case 1: {
    std::string loop = pickLoop();
    Numbers factors = pickNumbers(random.chance(80) ? 1 : 2, 1, 4);
    return makeOne("split", "loop " + quote(loop) + " factors " + list(factors),
                   [=](ComputeOp op) { return split(op, loop, factors); });
  }
  case 2: {
    Names names = pickLoops(1, 3);
    SmallVector<Numbers> sizes{pickNumbers(names.size(), 1, 4)};
    std::string text = list(sizes.front());
    if (random.chance(20)) {
      Numbers outer;
      for (int64_t size : sizes.front())
        outer.push_back(uint64_t(size) * random.pick(1, 2));
      text = list(outer) + ", " + text;
      sizes.insert(sizes.begin(), outer);
    }
    return makeOne("tile", "loops " + quote(names) + " sizes [" + text + "]",
                   [=](ComputeOp op) { return tile(op, refs(names), sizes); });
  }
  case 3:
  case 4: {
    Names names = pickLoops(2, 3);
    return makeOne("interchange", "loops " + quote(names),
                   [=](ComputeOp op) { return interchange(op, refs(names)); });
  }
  case 5: {
    std::string loop = pickLoop();
    Names others = pickLoops(1, random.chance(80) ? 1 : 2);
    Numbers factors = pickNumbers(others.size(), -2, 3);
    return makeOne(
        "skew",
        "loop " + quote(loop) + " by " + list(factors) + " of " + quote(others),
        [=](ComputeOp op) { return skew(op, loop, factors, refs(others)); });
  }
  case 6: {
    std::string loop = pickLoop();
    return makeOne("reverse", "loop " + quote(loop),
                   [=](ComputeOp op) { return reverse(op, loop); });
  }
  case 7:
    return makeShift();
  case 8:
    return makeRemap();
  default: {
    Names names = pickLoops(2, 3);
    Numbers factors = pickNumbers(names.size(), 1, 2);
    return makeOne(
        "wavefront", "loops " + quote(names) + " factors " + list(factors),
        [=](ComputeOp op) { return wavefront(op, refs(names), factors); });
  }
  }
}

Command CommandMaker::makePeel() {
  std::string loop = pickLoop();
  int64_t count = random.pick(1, 3);
  std::string text = "loop " + quote(loop);
  switch (random.pick(0, 2)) {
  case 0:
    return makeOne("peel", text + " first " + Twine(count),
                   [=](ComputeOp op) { return peelFirst(op, loop, count); });
  case 1:
    return makeOne("peel", text + " last " + Twine(count),
                   [=](ComputeOp op) { return peelLast(op, loop, count); });
  default:
    AffineExpr bound = pickAmount(-1, 4);
    return makeOne("peel", text + " at " + printAmount(bound),
                   [=](ComputeOp op) { return cutAt(op, loop, bound); });
  }
}

/// Cuts where an expression of other loops says.
Command CommandMaker::makeCut() {
  std::string loop = pickLoop();
  Names of = pickLoops(1, 2);
  AffineExpr bound = pickAmount(-2, 3);
  for (unsigned dim = 0; dim < of.size(); ++dim)
    bound = bound + getAffineDimExpr(dim, context) * random.pick(-1, 2);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "loop " << quote(loop) << " at "
     << AffineMapAttr::get(AffineMap::get(of.size(), numParams, bound))
     << " of " << quote(of);
  return makeOne("peel", text, [=](ComputeOp op) {
    return cutAt(op, loop, bound, refs(of));
  });
}

/// Smaller tiles for the rest, mostly of a loop over tiles.
Command CommandMaker::makeRetile() {
  SmallVector<std::string> tiles;
  for (const std::string &loop : loops)
    if (StringRef(loop).contains(".0"))
      tiles.push_back(loop);
  std::string loop = tiles.empty() || random.chance(10)
                         ? pickLoop()
                         : random.choose(ArrayRef(tiles));
  std::optional<int64_t> size;
  if (random.chance(80))
    size = random.pick(1, 2);
  return makeOne("retile",
                 "loop " + quote(loop) +
                     (size ? " by " + std::to_string(*size) : ""),
                 [=](ComputeOp op) { return retile(op, loop, size); });
}

/// Versions by the iterations of a loop or by the sizes.
Command CommandMaker::makeSpecialize() {
  std::string loop = pickLoop();
  std::string text = "loop " + quote(loop);
  if (random.chance(50)) {
    SmallVector<int64_t> extents{random.pick(1, 4)};
    if (random.chance(50))
      extents.push_back(extents.front() + random.pick(1, 3));
    return makeOne(
        "specialize", text + " extents " + list(extents),
        [=](ComputeOp op) { return specializeExtents(op, loop, extents); });
  }
  AffineExpr size = pickAmount(-1, 2);
  bool isEquality = random.chance(50);
  if (isEquality)
    size = size % random.pick(2, 4);
  IntegerSet set = IntegerSet::get(0, numParams, size, isEquality);
  std::string condition;
  llvm::raw_string_ostream(condition) << IntegerSetAttr::get(set);
  return makeOne("specialize", text + " when " + condition,
                 [=](ComputeOp op) { return specializeSizes(op, loop, set); });
}

/// A new nest for all computations, in any order.
Command CommandMaker::makeArrange() {
  SmallVector<std::string> all = computes;
  if (random.chance(60))
    random.shuffle(all);
  compute = all.front();
  Names others(all.begin() + 1, all.end()), into;
  size_t numShared = random.pick(1, 2);
  SmallVector<AffineMap> maps;
  for (const std::string &name : all) {
    unsigned numDims = kernel.lookupCompute(name).getNumDims();
    numShared = std::min<size_t>(numShared, numDims);
    SmallVector<AffineExpr> results;
    for (unsigned dim = 0; dim < numDims; ++dim)
      results.push_back(getAffineDimExpr(dim, context));
    if (random.chance(30))
      random.shuffle(results);
    for (AffineExpr &result : results) {
      if (random.chance(15))
        result = result + results.front() * random.pick(-1, 1);
      if (random.chance(20))
        result = result + pickAmount(-2, 2);
    }
    maps.push_back(AffineMap::get(numDims, numParams, results, context));
  }
  for (size_t i = 0; i < numShared; ++i)
    into.push_back("a" + std::to_string(i));
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "with " << quote(others) << " by [";
  llvm::interleaveComma(maps, os,
                        [&](AffineMap map) { os << AffineMapAttr::get(map); });
  os << "] into " << quote(into);
  // Loops of the target, which is another computation now.
  std::string loop;
  if (random.chance(40)) {
    loop = pickLoop();
    os << " at " << quote(loop);
  }
  return makeOne("arrange", text, [=](ComputeOp op) {
    return arrange(op, refs(others), maps, refs(into), loop);
  });
}

Command CommandMaker::makeStructure() {
  switch (random.pick(0, 14)) {
  case 0:
  case 1:
  case 2:
  case 3: {
    int64_t numLoops = random.pick(1, 3);
    return makePair("fuse", "with", " loops " + Twine(numLoops),
                    [=](ComputeOp first, ComputeOp second) {
                      return llvm::Error(
                          fuse(first, second, numLoops).takeError());
                    });
  }
  case 4: {
    std::string loop = pickLoop();
    std::optional<int64_t> at;
    if (random.chance(50))
      at = random.pick(1, 3);
    std::string cut = at ? " at " + std::to_string(*at) : "";
    return makeOne("fission", "loop " + quote(loop) + cut,
                   [=](ComputeOp op) { return fission(op, loop, at); });
  }
  case 5:
    return makePair("move", "before", "", moveBefore);
  case 6: {
    Names names = pickLoops(1, 2);
    return makeOne(
        "separate_full_tiles", "loops " + quote(names),
        [=](ComputeOp op) { return separateFullTiles(op, refs(names)); });
  }
  case 7: {
    std::string loop = pickLoop();
    return makeOne("mark", "loop " + quote(loop) + " as \"m\"",
                   [=](ComputeOp op) { return mark(op, loop, "m"); });
  }
  case 8:
    return makeArrange();
  case 9:
    return makeCut();
  case 10:
    return makeSpecialize();
  case 11:
  case 12:
    return makeRetile();
  default:
    return makePeel();
  }
}

Command CommandMaker::makeExecution() {
  std::string loop = pickLoop();
  std::string text = "loop " + quote(loop);
  int64_t width = random.pick(2, 4);
  switch (random.pick(0, 7)) {
  case 0:
    return makeOne("serialize", text,
                   [=](ComputeOp op) { return serialize(op, loop); });
  case 1:
    return makeOne("unroll", text,
                   [=](ComputeOp op) { return unroll(op, loop); });
  case 2:
    return makeOne("unroll", text + " factor " + Twine(width),
                   [=](ComputeOp op) { return unroll(op, loop, width); });
  case 3:
    return makeOne("unroll_and_jam", text + " factor " + Twine(width),
                   [=](ComputeOp op) { return unrollAndJam(op, loop, width); });
  case 4:
  case 5: {
    bool peelTail = random.chance(30);
    text += " width " + std::to_string(width) + (peelTail ? " peel_tail" : "");
    return makeOne("vectorize", text, [=](ComputeOp op) {
      return vectorize(op, loop, width, peelTail);
    });
  }
  default:
    bool atomic = random.chance(15);
    return makeOne(
        "parallelize", text + (atomic ? " atomic" : ""),
        [=](ComputeOp op) { return parallelize(op, loop, {}, atomic); });
  }
}

Command CommandMaker::makePrefetch() {
  Prefetch it;
  it.distance = random.pick(1, 9);
  it.isWrite = random.chance(25);
  it.number = random.pick(0, 2);
  std::string loop = pickLoop();
  return makeOne("prefetch",
                 (it.isWrite ? "write " : "read ") + Twine(it.number) +
                     " loop " + quote(loop) + " distance " + Twine(it.distance),
                 [=](ComputeOp op) { return prefetch(op, loop, it); });
}

Command CommandMaker::makePlan() {
  SmallVector<std::string> all = computes;
  if (random.chance(40))
    all.assign(1, compute);
  if (random.chance(20))
    random.shuffle(all);
  compute = all.front();
  Plan plan;
  plan.computations.assign(all.begin(), all.end());
  plan.numShared = random.pick(0, 3);
  for (const std::string &name : all)
    plan.numShared =
        std::min(plan.numShared, kernel.lookupCompute(name).getNumDims());
  for (const std::string &name : all)
    plan.own.emplace_back().order = llvm::to_vector(
        llvm::seq(plan.numShared, kernel.lookupCompute(name).getNumDims()));
  plan.loops = llvm::to_vector(llvm::seq(0u, plan.numShared));
  random.shuffle(plan.loops);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (all.size() > 1)
    os << "with " << quote(Names(all.begin() + 1, all.end())) << " ";
  os << "shared " << plan.numShared;
  auto name = [&](ArrayRef<unsigned> dims) {
    Names names;
    for (unsigned dim : dims)
      names.push_back(kernel.lookupCompute(compute).getDimName(dim).str());
    return quote(names);
  };
  if (plan.numShared > 0) {
    if (random.chance(50)) {
      plan.lanes = random.pick(0, plan.numShared - 1);
      plan.width = random.pick(2, 4);
    }
    SmallVector<int64_t> sizes;
    for (unsigned dim = 0; dim < plan.numShared; ++dim)
      sizes.push_back(random.pick(1, 3) * (dim == plan.lanes ? plan.width : 1));
    plan.tile.assign(sizes.begin(), sizes.end());
    if (random.chance(15) && plan.loops.size() > 1) {
      plan.insideSum.push_back(plan.loops.pop_back_val());
      plan.terms = random.pick(1, 8);
    }
    plan.numParallel = random.chance(15) ? 1 : 0;
    os << " loops " << name(plan.loops);
    if (plan.numParallel)
      os << " parallel 1";
    os << " tile " << name(llvm::to_vector(llvm::seq(0u, plan.numShared)))
       << " by " << list(sizes);
    if (plan.lanes)
      os << " lanes " << StringRef(name(*plan.lanes)).drop_front().drop_back()
         << " width " << plan.width;
    if (!plan.insideSum.empty())
      os << " inside_sum " << name(plan.insideSum) << " terms " << plan.terms;
  }
  Names kept;
  for (const std::string &other : all)
    if (random.chance(25))
      kept.push_back(other);
  plan.kept.assign(kept.begin(), kept.end());
  if (!kept.empty())
    os << " keep " << quote(kept);
  return makeOne("plan", text,
                 [=](ComputeOp op) { return applyPlan(op, plan); });
}

Command CommandMaker::make() {
  int64_t kind = random.pick(1, 100);
  if (kind <= 4)
    return makePlan();
  if (kind <= 6)
    return makePrefetch();
  if (kind <= 42)
    return makeOrder();
  if (kind <= 63)
    return makeStructure();
  if (kind <= 84)
    return makeExecution();
  return makeDataCommand(random, kernel, compute, loops);
}

Command fuzz::makeCommand(Random &random, KernelOp kernel) {
  return CommandMaker(random, kernel).make();
}

std::string fuzz::printScript(KernelOp kernel, ArrayRef<Command> commands) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "module attributes {transform.with_named_sequence} {\n"
     << kernel << "\n"
     << "transform.named_sequence @__transform_main(%module: !transform.any_op "
        "{transform.readonly}) {\n";
  // Looks up what a command names right before it: another may have made it.
  unsigned number = 0;
  for (const Command &command : commands) {
    std::string line = command.text;
    for (size_t begin = 0; (begin = line.find('%', begin)) != line.npos;) {
      size_t end = line.find_first_of(" :,", begin);
      std::string name = line.substr(begin + 1, end - begin - 1);
      bool isArray = StringRef(name).starts_with("@");
      std::string handle = "%" + std::to_string(number++);
      os << "  " << handle << " = transform.poly.computation @"
         << kernel.getSymName() << "::@\"" << name.substr(isArray ? 1 : 0)
         << "\" of %module : (!transform.any_op) -> !transform.any_op\n";
      if (isArray) {
        std::string array = "%" + std::to_string(number++);
        os << "  " << array << " = transform.poly.written_array of " << handle
           << " : (!transform.any_op) -> !transform.any_op\n";
        handle = array;
      }
      line.replace(begin, end - begin, handle);
      begin += handle.size();
    }
    os << "  " << line << "\n";
  }
  os << "  transform.yield\n}\n}\n";
  return text;
}
