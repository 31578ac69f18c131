//===- InitAll.h - Registration of all of Espalier --------------*- C++ -*-===//

#ifndef ESPALIER_INITALL_H
#define ESPALIER_INITALL_H

#include "espalier/Conversion/LoopsToProgram/Passes.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Dialect/Graph/Transforms/Passes.h"
#include "espalier/Dialect/Poly/Analysis/Passes.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Dialect/Poly/Program/Passes.h"
#include "espalier/Dialect/Poly/TransformOps/Passes.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/Passes.h"
#include "espalier/Dialect/Rec/IR/Rec.h"
#include "espalier/Dialect/Rec/TransformOps/RecTransformOps.h"
#include "espalier/Dialect/Rec/Transforms/Passes.h"
#include "espalier/Pipeline/Pipeline.h"
#include "espalier/Substitution/Patterns/Passes.h"
#include "espalier/Substitution/Search/Passes.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/DialectRegistry.h"

namespace espalier {

/// Adds every Espalier dialect and dialect extension to `registry`.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<graph::GraphDialect, poly::PolyDialect, rec::RecDialect,
                  mlir::sparse_tensor::SparseTensorDialect>();
  poly::registerTransformExtension(registry);
  rec::registerTransformExtension(registry);
}

/// Registers every Espalier pass and pipeline.
inline void registerAllPasses() {
  registerConversionPasses();
  registerFormerPassNames();
  registerLoopsToProgramPasses();
  registerProgramToLLVMPasses();
  graph::registerGraphPasses();
  poly::registerPolyAnalysisPasses();
  poly::registerPolyProgramPasses();
  poly::registerPolyTransformOpsPasses();
  poly::registerPolyTransformsPasses();
  rec::registerRecPasses();
  substitution::registerSubstitutionPatternsPasses();
  substitution::registerSubstitutionSearchPasses();
  registerPipelines();
}

} // namespace espalier

#endif // ESPALIER_INITALL_H
