//===- EmitVersions.cpp - A block in two versions -------------------------===//

#include "EmitVersions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace espalier::substitution;

bool espalier::substitution::canHaveVersions(Block &block) {
  return isa<FunctionOpInterface>(block.getParentOp()) &&
         block.getParent()->hasOneBlock();
}

void espalier::substitution::emitVersions(BlockGraph &block,
                                          const Choice &choice,
                                          ArrayRef<Clause> clauses,
                                          const ExtentTable &extents,
                                          RewriterBase &rewriter) {
  Block &body = *block.block;
  Operation *end = body.getTerminator();
  Location loc = body.getParentOp()->getLoc();
  // A copy of what is there, for the second version.
  Block original;
  IRMapping mapping;
  rewriter.setInsertionPointToEnd(&original);
  for (Operation &op : body.without_terminator())
    rewriter.clone(op, mapping);
  auto yielded = llvm::map_to_vector(end->getOperands(), [&](Value value) {
    return mapping.lookupOrDefault(value);
  });

  emitBlock(block, choice, rewriter);
  SmallVector<Operation *> optimized;
  for (Operation &op : body.without_terminator())
    optimized.push_back(&op);
  rewriter.setInsertionPointToStart(&body);
  Value holds = emitChecks(clauses, extents, rewriter, loc);
  auto versions =
      scf::IfOp::create(rewriter, loc, end->getOperandTypes(), holds,
                        /*addThenBlock=*/true, /*addElseBlock=*/true);
  auto fill = [&](Block *version, ArrayRef<Operation *> ops,
                  ValueRange results) {
    // Without results, a builder has put the end there already.
    if (!version->empty())
      rewriter.eraseOp(&version->back());
    for (Operation *op : ops)
      rewriter.moveOpBefore(op, version, version->end());
    rewriter.setInsertionPointToEnd(version);
    scf::YieldOp::create(rewriter, loc, results);
  };
  fill(versions.thenBlock(), optimized, end->getOperands());
  auto copied =
      llvm::map_to_vector(original, [](Operation &op) { return &op; });
  fill(versions.elseBlock(), copied, yielded);
  rewriter.modifyOpInPlace(end,
                           [&] { end->setOperands(versions.getResults()); });
}
