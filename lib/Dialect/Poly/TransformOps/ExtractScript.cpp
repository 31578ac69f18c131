//===- ExtractScript.cpp - Kernels become their schedules' script ---------===//

#include "espalier/Dialect/Poly/TransformOps/Passes.h"
#include "espalier/Dialect/Poly/TransformOps/PlanScript.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYEXTRACTSCRIPTPASS
#include "espalier/Dialect/Poly/TransformOps/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier::poly;

namespace {
struct PolyExtractScriptPass
    : espalier::poly::impl::PolyExtractScriptPassBase<PolyExtractScriptPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    PolyExtractScriptPassBase::getDependentDialects(registry);
    registerTransformExtension(registry);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    OwningOpRef<ModuleOp> script = makeDefaultScript(module);
    module.getBodyRegion().takeBody(script->getBodyRegion());
    module->setAttrs((*script)->getAttrDictionary());
  }
};
} // namespace
