//===- DataCommands.cpp - Random commands on data -------------------------===//

#include "espalier/Dialect/Poly/Transforms/DataCommands.h"
#include "RandomCommands.h"

using namespace mlir;
using namespace espalier::poly;
using namespace espalier::poly::fuzz;

namespace {
/// A command on one computation, which returns what it makes.
struct Target {
  std::string compute;
  std::string loop;

  std::string at() const { return loop.empty() ? "" : " at \"" + loop + "\""; }
};
} // namespace

/// The error of what a command returns.
static llvm::Error toError(llvm::Expected<LocalCopy> result) {
  return result.takeError();
}

/// How a command of the transform dialect ends that returns `numResults`
/// handles.
static std::string getType(unsigned numResults) {
  std::string text = " : (!transform.any_op) -> (";
  for (unsigned i = 0; i < numResults; ++i)
    text += i ? ", !transform.any_op" : "!transform.any_op";
  return text + ")";
}

static Command makeCacheRead(const Target &target, unsigned read) {
  return {"transform.poly.cache_read %" + target.compute + " read " +
              std::to_string(read) + target.at() + getType(2),
          [=](KernelOp kernel) {
            return toError(cacheRead(kernel.lookupCompute(target.compute), read,
                                     target.loop));
          }};
}

static Command makeCacheWrite(const Target &target) {
  return {"transform.poly.cache_write %" + target.compute + " write 0" +
              target.at() + getType(3),
          [=](KernelOp kernel) {
            return toError(cacheWrite(kernel.lookupCompute(target.compute), 0,
                                      target.loop));
          }};
}

static Command makeRfactor(const Target &target) {
  return {"transform.poly.rfactor %" + target.compute + " loop \"" +
              target.loop + "\"" + getType(3),
          [=](KernelOp kernel) {
            return toError(
                rfactor(kernel.lookupCompute(target.compute), target.loop));
          }};
}

static Command makeInline(const std::string &producer) {
  return {"transform.poly.inline %" + producer + " : !transform.any_op",
          [=](KernelOp kernel) {
            return inlineProducer(kernel.lookupCompute(producer),
                                  [](Operation *op) { op->erase(); });
          }};
}

static Command makeComputeAt(const std::string &producer,
                             const Target &consumer) {
  return {"transform.poly.compute_at %" + producer + " in %" +
              consumer.compute + " loop \"" + consumer.loop +
              "\" : !transform.any_op, !transform.any_op",
          [=](KernelOp kernel) {
            return computeAt(kernel.lookupCompute(producer),
                             kernel.lookupCompute(consumer.compute),
                             consumer.loop);
          }};
}

Command fuzz::makeDataCommand(Random &random, KernelOp kernel,
                              StringRef compute, ArrayRef<std::string> loops) {
  Target target{compute.str(), random.choose(loops)};
  ComputeOp op = kernel.lookupCompute(compute);
  int64_t kind = random.pick(1, 10);
  if (kind <= 5) {
    // A computation that writes what this one reads, if there is one.
    SmallVector<std::string> others, producers;
    for (ComputeOp other : kernel.getComputes()) {
      others.push_back(other.getSymName().str());
      if (other != op && llvm::any_of(other.getWrites(), [&](Value array) {
            return llvm::is_contained(op.getReads(), array);
          }))
        producers.push_back(others.back());
    }
    if (producers.empty() || random.chance(5))
      producers = others;
    std::string producer = random.choose(ArrayRef(producers));
    return kind == 1 ? makeInline(producer) : makeComputeAt(producer, target);
  }
  if (random.chance(15) && kind <= 9)
    target.loop = "";
  if (kind <= 7)
    return makeCacheRead(target, random.pick(0, op.getReads().size()));
  return kind <= 9 ? makeCacheWrite(target) : makeRfactor(target);
}
