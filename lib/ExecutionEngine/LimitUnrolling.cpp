//===- LimitUnrolling.cpp - Bounds what LLVM unrolls ----------------------===//
//
// LLVM counts the instructions of a loop that it considers to unroll. Its time
// grows with another number, the accesses to memory without a branch between
// them: stores are merged and scheduled in pairs, so that 64 rows of a border,
// each a memset of 448 bytes and a masked store, take three seconds.
//
//===----------------------------------------------------------------------===//

#include "Codegen.h"
#include "espalier/Support/CodeSize.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace {
/// Counts the accesses of loops, inner loops first.
class AccessCounter {
public:
  AccessCounter(LoopInfo &loops, ScalarEvolution &evolution,
                const DataLayout &layout, unsigned vectorBytes)
      : loops(loops), evolution(evolution), layout(layout),
        vectorBytes(vectorBytes) {}

  /// Returns the accesses of the code that `loop` becomes, after it has marked
  /// what must remain a loop.
  uint64_t limit(Loop &loop);

private:
  uint64_t countOf(const Instruction &instruction) const;

  LoopInfo &loops;
  ScalarEvolution &evolution;
  const DataLayout &layout;
  unsigned vectorBytes;
};
} // namespace

/// Returns the accesses that `instruction` becomes.
uint64_t AccessCounter::countOf(const Instruction &instruction) const {
  auto pieces = [&](uint64_t bytes) {
    return std::max<uint64_t>(divideCeil(bytes, vectorBytes), 1);
  };
  if (auto *memory = dyn_cast<MemIntrinsic>(&instruction)) {
    auto *length = dyn_cast<ConstantInt>(memory->getLength());
    return length ? pieces(length->getZExtValue()) : 1;
  }
  if (!instruction.mayReadOrWriteMemory())
    return 0;
  Type *type = instruction.getType();
  if (type->isVoidTy() && instruction.getNumOperands() > 0)
    type = instruction.getOperand(0)->getType();
  return type->isSized() ? pieces(layout.getTypeStoreSize(type)) : 1;
}

/// Whether LLVM may turn `loop` into one over vectors. A mark against unrolling
/// would also keep it from interleaving that loop.
static bool isForVectorizer(const Loop &loop) {
  if (!loop.isInnermost())
    return false;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &instruction : *block)
      if (isa<VectorType>(instruction.getType()))
        return false;
  return true;
}

uint64_t AccessCounter::limit(Loop &loop) {
  uint64_t count = 0;
  for (Loop *inner : loop)
    count = SaturatingAdd(count, limit(*inner));
  for (BasicBlock *block : loop.blocks())
    if (loops.getLoopFor(block) == &loop)
      for (const Instruction &instruction : *block)
        count = SaturatingAdd(count, countOf(instruction));
  unsigned trips = evolution.getSmallConstantTripCount(&loop);
  if (trips == 0)
    return count;
  // Some iterations of it are asked for.
  if (std::optional<int> times =
          getOptionalIntLoopAttribute(&loop, "llvm.loop.unroll.count"))
    return SaturatingMultiply<uint64_t>(count, std::max(*times, 1));
  uint64_t unrolled = SaturatingMultiply<uint64_t>(count, trips);
  if (unrolled <= espalier::kMaxStraightAccesses || isForVectorizer(loop))
    return unrolled;
  loop.setLoopAlreadyUnrolled();
  return count;
}

void espalier::limitUnrolling(Function &function,
                              FunctionAnalysisManager &analyses,
                              unsigned vectorBits) {
  if (function.isDeclaration())
    return;
  auto &loops = analyses.getResult<LoopAnalysis>(function);
  AccessCounter counter(
      loops, analyses.getResult<ScalarEvolutionAnalysis>(function),
      function.getParent()->getDataLayout(), std::max(vectorBits / 8, 8u));
  for (Loop *loop : loops)
    counter.limit(*loop);
}
