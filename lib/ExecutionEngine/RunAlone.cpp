//===- RunAlone.cpp - Parallel regions that one thread executes -----------===//
//
// OpenMP's library makes a team of one thread, too, where there is no other:
// that takes as long as a narrow level of a recurrence. Outside of parallel
// regions the calling thread already is such a team.
//
//===----------------------------------------------------------------------===//

#include "Codegen.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;

/// Makes a function of the parameters of `fork` that calls the region itself
/// where the calling thread would be alone in it.
static Function *makeRunner(Module &module, Function &fork) {
  IRBuilder<> builder(module.getContext());
  Type *i32 = builder.getInt32Ty();
  PointerType *pointer = builder.getPtrTy();
  auto *runner = Function::Create(
      FunctionType::get(builder.getVoidTy(), {pointer, i32, pointer, pointer},
                        /*isVarArg=*/false),
      GlobalValue::InternalLinkage, "run_region", module);
  Value *place = runner->getArg(0), *region = runner->getArg(2),
        *data = runner->getArg(3);
  auto makeBlock = [&](const char *name) {
    return BasicBlock::Create(module.getContext(), name, runner);
  };
  BasicBlock *entry = makeBlock("entry"), *alone = makeBlock("alone"),
             *several = makeBlock("several");
  builder.SetInsertPoint(entry);
  Value *number = builder.CreateAlloca(i32);
  Value *bound = builder.CreateAlloca(i32);
  // The question of the library that makes regions: GCC's, which may be in the
  // process, answers `omp_in_parallel` for its own.
  FunctionCallee inParallel =
      module.getOrInsertFunction("__kmpc_in_parallel", i32, pointer);
  Value *isNested =
      builder.CreateIsNotNull(builder.CreateCall(inParallel, place));
  Value *isMany =
      builder.CreateICmpSGT(builder.CreateCall(module.getOrInsertFunction(
                                "omp_get_max_threads", i32)),
                            builder.getInt32(1));
  builder.CreateCondBr(builder.CreateOr(isNested, isMany), several, alone);

  builder.SetInsertPoint(alone);
  FunctionCallee threadOf =
      module.getOrInsertFunction("__kmpc_global_thread_num", i32, pointer);
  builder.CreateStore(builder.CreateCall(threadOf, place), number);
  builder.CreateStore(builder.getInt32(0), bound);
  builder.CreateCall(FunctionType::get(builder.getVoidTy(),
                                       {pointer, pointer, pointer},
                                       /*isVarArg=*/false),
                     region, {number, bound, data});
  builder.CreateRetVoid();

  builder.SetInsertPoint(several);
  builder.CreateCall(&fork, {place, runner->getArg(1), region, data});
  builder.CreateRetVoid();
  return runner;
}

void espalier::runRegionsAlone(Module &module) {
  Function *fork = module.getFunction("__kmpc_fork_call");
  if (!fork)
    return;
  // A region that reads nothing from outside has no fourth operand.
  SmallVector<CallInst *> calls;
  for (User *user : fork->users())
    if (auto *call = dyn_cast<CallInst>(user); call && call->arg_size() == 4)
      calls.push_back(call);
  if (calls.empty())
    return;
  Function *runner = makeRunner(module, *fork);
  for (CallInst *call : calls) {
    IRBuilder<>(call).CreateCall(runner, SmallVector<Value *>(call->args()));
    call->eraseFromParent();
  }
}
