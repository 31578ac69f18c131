//===- Module.h - What is behind espalier_module ----------------*- C++ -*-===//
//
// Shared by the parts of the C API; users see the opaque type only.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_CAPI_MODULE_H
#define ESPALIER_CAPI_MODULE_H

#include "espalier-c/Program.h"
#include "espalier/Measurement/MeasureKernel.h"
#include "espalier/Pipeline/Pipeline.h"
#include "espalier/Support/WorkerPool.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

/// A module with the context that it lives in.
struct espalier_module {
  espalier_module();

  /// Where the context's work is done.
  espalier::WorkerPool workers;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  /// The function under construction; null in a module that was parsed.
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  /// The body under construction that operations are added to; null for the
  /// function's. Constants and indices are always the function's.
  mlir::Block *body = nullptr;
  /// The diagnostics of the last call that failed.
  std::string error;
  /// The warnings of the last compilation, one per line.
  std::string warnings;
  /// Numbers the blobs of constants.
  unsigned numConstants = 0;
};

namespace espalier::capi {

/// What of `options`, or of the default ones if it is null, concerns code; they
/// have to outlive it.
CodegenOptions makeCodegenOptions(const espalier_compile_options *options);

/// How kernels of a module are measured with `options`, which outlive it.
MeasureOptions makeMeasureOptions(espalier_module *module,
                                  const espalier_compile_options *options);

/// Collects diagnostics, notes included, as text, one per line, while it
/// lives; remarks are left out, and so are warnings where there is no text
/// `warnings` for them. The metadata of an error, if it is a dictionary,
/// becomes `data`.
class ErrorCollector : public mlir::ScopedDiagnosticHandler {
public:
  ErrorCollector(mlir::MLIRContext *context, std::string &text,
                 mlir::DictionaryAttr *data = nullptr,
                 std::string *warnings = nullptr);
};

} // namespace espalier::capi

#endif // ESPALIER_CAPI_MODULE_H
