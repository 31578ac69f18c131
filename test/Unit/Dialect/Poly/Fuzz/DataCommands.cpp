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

static Command makeContract(const Target &target) {
  return {"transform.poly.contract %" + target.compute + " loop \"" +
              target.loop + "\" : !transform.any_op",
          [=](KernelOp kernel) {
            return contract(kernel.lookupCompute(target.compute), 0,
                            target.loop);
          }};
}

static Command makeDecompose(const Target &target) {
  return {"transform.poly.decompose %" + target.compute + " loop \"" +
              target.loop + "\" : !transform.any_op",
          [=](KernelOp kernel) {
            return decompose(kernel.lookupCompute(target.compute), target.loop);
          }};
}

static Command makePack(Random &random, const Target &target, unsigned read,
                        unsigned rank) {
  SmallVector<int64_t> blocks;
  std::string text;
  for (unsigned dim = 0; dim < rank; ++dim) {
    blocks.push_back(random.chance(40) ? 0 : random.pick(2, 4));
    text += (dim ? ", " : "") + std::to_string(blocks.back());
  }
  return {"transform.poly.pack %" + target.compute + " read " +
              std::to_string(read) + " blocks [" + text + "]" + target.at() +
              getType(2),
          [=](KernelOp kernel) {
            return toError(pack(kernel.lookupCompute(target.compute), read,
                                target.loop, blocks));
          }};
}

static Command makeRegisterBlock(Random &random, const Target &target,
                                 ArrayRef<std::string> loops) {
  std::string other = random.choose(loops);
  int64_t rows = random.pick(1, 3), width = random.pick(1, 3);
  int64_t columns = width * random.pick(1, 2);
  return {"transform.poly.register_block %" + target.compute + " loops [\"" +
              other + "\", \"" + target.loop + "\"] sizes [" +
              std::to_string(rows) + ", " + std::to_string(columns) +
              "] width " + std::to_string(width) + getType(3),
          [=](KernelOp kernel) {
            return toError(registerBlock(kernel.lookupCompute(target.compute),
                                         {other, target.loop}, {rows, columns},
                                         width));
          }};
}

Command fuzz::makeDataCommand(Random &random, KernelOp kernel,
                              StringRef compute, ArrayRef<std::string> loops) {
  Target target{compute.str(), random.choose(loops)};
  ComputeOp op = kernel.lookupCompute(compute);
  int64_t kind = random.pick(1, 15);
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
  if (kind == 6)
    return makeRfactor(target);
  if (kind <= 8)
    return makeContract(target);
  if (kind == 9)
    return makeDecompose(target);
  if (kind == 10)
    return makeRegisterBlock(random, target, loops);
  if (random.chance(15))
    target.loop = "";
  unsigned read = random.pick(0, op.getReads().size());
  if (kind <= 12)
    return makeCacheWrite(target);
  if (kind == 13 && read < op.getReads().size())
    return makePack(random, target, read,
                    cast<MemRefType>(op.getReads()[read].getType()).getRank());
  return makeCacheRead(target, read);
}
