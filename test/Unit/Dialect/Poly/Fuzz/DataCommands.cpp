//===- DataCommands.cpp - Random commands on data -------------------------===//

#include "espalier/Dialect/Poly/Transforms/DataCommands.h"
#include "RandomCommands.h"
#include "llvm/Support/raw_ostream.h"

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

static Command makePrivatize(const Target &target) {
  return {"transform.poly.privatize %" + target.compute + " loop \"" +
              target.loop + "\" : !transform.any_op",
          [=](KernelOp kernel) {
            return privatize(kernel.lookupCompute(target.compute), 0,
                             target.loop);
          }};
}

static Command makeRebase(const Target &target) {
  return {"transform.poly.rebase %" + target.compute + " loop \"" +
              target.loop + "\" : !transform.any_op",
          [=](KernelOp kernel) {
            return rebase(kernel.lookupCompute(target.compute), target.loop);
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

/// A command on the array that a computation writes.
static Command makeArrayCommand(const std::string &name,
                                const std::string &compute,
                                const std::string &rest,
                                std::function<llvm::Error(ArrayOp)> apply) {
  return {"transform.poly." + name + " %@" + compute + rest +
              " : !transform.any_op",
          [=](KernelOp kernel) -> llvm::Error {
            auto array = kernel.lookupCompute(compute)
                             .getWrites()
                             .front()
                             .getDefiningOp<ArrayOp>();
            return array ? apply(array) : refuse("expects a local array");
          }};
}

/// Permutes the indices of the memory behind an array, and makes blocks of it.
static Command makeLayout(Random &random, ArrayOp array,
                          const std::string &compute) {
  auto type = cast<MemRefType>(
      array.getStorageType().value_or(array.getArray().getType()));
  MLIRContext *context = array.getContext();
  SmallVector<AffineExpr> results;
  for (unsigned dim = 0; dim < type.getRank(); ++dim) {
    AffineExpr index = getAffineDimExpr(dim, context);
    int64_t size = random.pick(2, 3);
    if (results.size() < 3 && random.chance(25)) {
      results.push_back(index.floorDiv(size));
      index = index % size;
    } else if (random.chance(10)) {
      index = index + random.pick(0, 1);
    }
    results.push_back(index);
  }
  random.shuffle(results);
  AffineMap map = AffineMap::get(type.getRank(), 0, results, context);
  SmallVector<int64_t> padding;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << " by " << AffineMapAttr::get(map);
  if (random.chance(40)) {
    for (size_t i = 0; i < results.size(); ++i)
      padding.push_back(random.pick(0, 2));
    os << " padding [";
    llvm::interleaveComma(padding, os);
    os << "]";
  }
  return makeArrayCommand("layout", compute, text, [=](ArrayOp array) {
    return changeLayout(array, map, padding);
  });
}

/// Changes where the array that a computation writes lies, if it is a local
/// one.
static Command makePlacement(Random &random, ComputeOp op) {
  std::string compute = op.getSymName().str();
  auto array = op.getWrites().front().getDefiningOp<ArrayOp>();
  int64_t kind = random.pick(1, 8);
  if (kind <= 2 || !array)
    return makeArrayCommand("unfold", compute, "", unfold);
  if (kind >= 7) {
    int64_t index = random.pick(0, 1), places = random.pick(1, 4);
    return makeArrayCommand(
        "fold_storage", compute,
        " index " + std::to_string(index) + " places " + std::to_string(places),
        [=](ArrayOp array) { return foldStorage(array, index, places); });
  }
  if (kind <= 4)
    return makeLayout(random, array, compute);
  Placement placement =
      random.choose(ArrayRef({Placement::Heap, Placement::Stack,
                              Placement::Register, Placement::Register}));
  return makeArrayCommand(
      "place", compute, (" " + stringifyPlacement(placement)).str(),
      [=](ArrayOp array) {
        return place(array, PlacementAttr::get(array.getContext(), placement));
      });
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
  // What keeps values at their positions in rows.
  for (ComputeOp other : kernel.getComputes())
    if (other.getWhere() &&
        other.getWrites().front().getDefiningOp<ArrayOp>() &&
        random.chance(30)) {
      std::string name = other.getSymName().str();
      return random.chance(50) ? makeInline(name)
                               : makePrivatize({name, target.loop});
    }
  if (op.getWhere() && random.chance(40))
    return makeRebase(target);
  int64_t kind = random.pick(1, 18);
  if (kind > 15) {
    // Mostly for one that writes a local array.
    SmallVector<ComputeOp> writers;
    for (ComputeOp other : kernel.getComputes())
      if (other.getWrites().front().getDefiningOp<ArrayOp>())
        writers.push_back(other);
    return makePlacement(
        random, writers.empty() ? op : random.choose(ArrayRef(writers)));
  }
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
  int64_t chance = op.getCombiner() ? 60 : op.getReduction() ? 30 : 0;
  if (kind == 6 || random.chance(chance))
    return makeRfactor(target);
  if (kind <= 8)
    return makePrivatize(target);
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
