//===- PipelineCoverageTest.cpp - Pipelines that run, and that do not -----===//

#include "espalier/Support/PipelineCoverage.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include <gtest/gtest.h>

using namespace mlir;

/// Runs `pipeline`, a text, on `source` and returns the fault that is found.
static std::string run(StringRef pipeline, StringRef source) {
  registerTransformsPasses();
  MLIRContext context;
  context.loadDialect<func::FuncDialect>();
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(source, &context);
  PassManager pm(&context);
  espalier::PipelineCoverage coverage;
  coverage.watch(pm);
  EXPECT_TRUE(succeeded(parsePassPipeline(pipeline, pm)));
  EXPECT_TRUE(succeeded(pm.run(*module)));
  return coverage.findFault();
}

TEST(PipelineCoverage, AcceptsPassesOnTheModule) {
  EXPECT_EQ(run("cse,canonicalize", "module {}"), "");
}

TEST(PipelineCoverage, AcceptsPassesOnFunctions) {
  EXPECT_EQ(run("func.func(cse)", "func.func private @f()"), "");
}

TEST(PipelineCoverage, AcceptsAnEmptyPipeline) {
  EXPECT_EQ(run("", "module {}"), "");
}

TEST(PipelineCoverage, AcceptsAnIdlePartBesideOneThatRan) {
  EXPECT_EQ(run("cse,func.func(cse)", "module {}"), "");
}

TEST(PipelineCoverage, AcceptsModulesInModules) {
  EXPECT_EQ(run("builtin.module(cse)", "module { module {} }"), "");
}

TEST(PipelineCoverage, RejectsAPipelineOfWhichNothingRan) {
  EXPECT_EQ(run("func.func(cse)", "module {}"),
            "expects an operation for each pipeline to run on, but "
            "'builtin.module' contains no 'func.func'");
}

TEST(PipelineCoverage, RejectsAModulePipelineOnAModuleBesideOneThatRan) {
  EXPECT_EQ(run("cse,builtin.module(canonicalize)", "module {}"),
            "expects an operation for each pipeline to run on, but "
            "'builtin.module' contains no 'builtin.module'");
}
