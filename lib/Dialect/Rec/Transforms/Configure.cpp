//===- Configure.cpp - Says how the nodes of models are computed ----------===//

#include "espalier/Dialect/Rec/Transforms/Passes.h"

namespace espalier::rec {
#define GEN_PASS_DEF_RECCONFIGUREPASS
#include "espalier/Dialect/Rec/Transforms/Passes.h.inc"
} // namespace espalier::rec

using namespace mlir;
using namespace espalier::rec;

namespace {
struct RecConfigurePass
    : espalier::rec::impl::RecConfigurePassBase<RecConfigurePass> {
  using RecConfigurePassBase::RecConfigurePassBase;

  void runOnOperation() override {
    getOperation()->walk([&](ModelOp model) {
      model.setHoist(hoist);
      model.setSpecialize(specialize);
      model.setBatching(batching);
    });
  }
};
} // namespace
