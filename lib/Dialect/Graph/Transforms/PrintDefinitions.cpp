//===- PrintDefinitions.cpp - Prints what each operator computes ----------===//

#include "espalier/Definition/Definition.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Dialect/Graph/Transforms/Passes.h"

namespace espalier::graph {
#define GEN_PASS_DEF_GRAPHPRINTDEFINITIONSPASS
#include "espalier/Dialect/Graph/Transforms/Passes.h.inc"
} // namespace espalier::graph

using namespace mlir;
using namespace espalier::graph;

namespace {
struct GraphPrintDefinitionsPass
    : espalier::graph::impl::GraphPrintDefinitionsPassBase<
          GraphPrintDefinitionsPass> {
  void runOnOperation() override {
    getOperation()->walk([](DefinedOpInterface op) {
      std::string text;
      llvm::raw_string_ostream os(text);
      espalier::definition::print(op.getVerifiedDefinition(), os);
      op->emitRemark() << StringRef(text).rtrim();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
