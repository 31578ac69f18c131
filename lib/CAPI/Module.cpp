//===- Module.cpp - Modules behind the C API ------------------------------===//

#include "espalier/CAPI/Module.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Rec/IR/Rec.h"
#include "espalier/Dialect/Rec/TransformOps/RecTransformOps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;

/// The dialects that a module may use before it is compiled.
static DialectRegistry inputDialects() {
  DialectRegistry registry;
  registry.insert<espalier::graph::GraphDialect, espalier::poly::PolyDialect,
                  affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect,
                  espalier::rec::RecDialect, linalg::LinalgDialect,
                  math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                  sparse_tensor::SparseTensorDialect, tensor::TensorDialect,
                  transform::TransformDialect, vector::VectorDialect>();
  espalier::poly::registerTransformExtension(registry);
  espalier::rec::registerTransformExtension(registry);
  return registry;
}

espalier_module::espalier_module()
    : context(inputDialects(), MLIRContext::Threading::DISABLED),
      builder(&context) {
  context.setThreadPool(workers);
  context.loadAllAvailableDialects();
  context.printOpOnDiagnostic(false);
}

/// Adds a line that says what `diagnostic` does, and where.
static void append(std::string &text, Diagnostic &diagnostic) {
  if (!text.empty())
    text += '\n';
  llvm::raw_string_ostream os(text);
  Location loc = diagnostic.getLocation();
  if (auto name = loc->findInstanceOf<NameLoc>())
    os << "node '" << name.getName().getValue() << "': ";
  else if (auto file = loc->findInstanceOf<FileLineColLoc>();
           file && file.getLine() > 0)
    // Text that is not from a file has a name, too, but no telling one.
    os << (llvm::sys::path::has_extension(file.getFilename().getValue())
               ? file.getFilename().str() + ":"
               : "line ")
       << file.getLine() << ": ";
  os << diagnostic;
}

espalier::capi::ErrorCollector::ErrorCollector(MLIRContext *context,
                                               std::string &text,
                                               DictionaryAttr *data,
                                               std::string *warnings)
    : ScopedDiagnosticHandler(context) {
  text.clear();
  if (warnings)
    warnings->clear();
  setHandler([&text, data, warnings](Diagnostic &diagnostic) {
    if (warnings && diagnostic.getSeverity() == DiagnosticSeverity::Warning)
      append(*warnings, diagnostic);
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return success();
    for (DiagnosticArgument &argument : diagnostic.getMetadata())
      if (data && argument.getKind() ==
                      DiagnosticArgument::DiagnosticArgumentKind::Attribute)
        *data = dyn_cast<DictionaryAttr>(argument.getAsAttribute());
    append(text, diagnostic);
    for (Diagnostic &note : diagnostic.getNotes())
      append(text, note);
    return success();
  });
}

/// The message of this thread's last failed parse.
static thread_local std::string parseError;

espalier_module *espalier_module_create() {
  auto *result = new espalier_module;
  Location loc = UnknownLoc::get(&result->context);
  result->module = ModuleOp::create(loc);
  result->builder.setInsertionPointToEnd(result->module->getBody());
  result->function = func::FuncOp::create(
      result->builder, loc, "main", result->builder.getFunctionType({}, {}));
  result->builder.setInsertionPointToEnd(result->function.addEntryBlock());
  return result;
}

espalier_module *espalier_module_parse(const char *text, size_t size) {
  if (!text) {
    parseError = "expects text, but got a null pointer";
    return nullptr;
  }
  auto result = std::make_unique<espalier_module>();
  {
    espalier::capi::ErrorCollector collector(&result->context, parseError);
    result->module =
        parseSourceString<ModuleOp>(StringRef(text, size), &result->context);
  }
  if (!result->module)
    return nullptr;
  parseError.clear();
  return result.release();
}

void espalier_module_destroy(espalier_module *module) { delete module; }

const char *espalier_module_last_error(const espalier_module *module) {
  return module ? module->error.c_str() : parseError.c_str();
}

const char *espalier_module_last_warnings(const espalier_module *module) {
  return module->warnings.c_str();
}

void espalier_module_print(const espalier_module *module,
                           void (*write)(const char *, size_t, void *),
                           void *user) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->module.get()->print(os);
  write(text.data(), text.size(), user);
}

int espalier_module_set_name(espalier_module *module, const char *name) {
  if (!module)
    return -1;
  if (!name) {
    module->error = "expects a name, but got a null pointer";
    return -1;
  }
  module->module.get().setSymName(name);
  return 0;
}

void espalier_module_name(const espalier_module *module,
                          void (*write)(const char *, size_t, void *),
                          void *user) {
  if (!module)
    return;
  ModuleOp op = *const_cast<espalier_module *>(module)->module;
  StringRef name = op.getSymName().value_or("");
  write(name.data(), name.size(), user);
}

//===----------------------------------------------------------------------===//
// The function of a module
//===----------------------------------------------------------------------===//

static func::FuncOp mainFunction(const espalier_module *module) {
  if (!module)
    return {};
  ModuleOp op = *const_cast<espalier_module *>(module)->module;
  return op.lookupSymbol<func::FuncOp>("main");
}

/// Writes a name, or `prefix` and the index where there is none.
static void writeName(Attribute name, StringRef prefix, int32_t index,
                      void (*write)(const char *, size_t, void *), void *user) {
  std::string text = (prefix + Twine(index)).str();
  if (auto string = dyn_cast_or_null<StringAttr>(name))
    text = string.str();
  write(text.data(), text.size(), user);
}

int32_t espalier_module_num_inputs(const espalier_module *module) {
  func::FuncOp function = mainFunction(module);
  return function ? function.getNumArguments() : -1;
}

int32_t espalier_module_num_outputs(const espalier_module *module) {
  func::FuncOp function = mainFunction(module);
  return function ? function.getNumResults() : -1;
}

void espalier_module_input_name(const espalier_module *module, int32_t index,
                                void (*write)(const char *, size_t, void *),
                                void *user) {
  Attribute name = mainFunction(module).getArgAttr(index, "espalier.name");
  writeName(name, "input", index, write, user);
}

void espalier_module_output_name(const espalier_module *module, int32_t index,
                                 void (*write)(const char *, size_t, void *),
                                 void *user) {
  Attribute name = mainFunction(module).getResultAttr(index, "espalier.name");
  writeName(name, "output", index, write, user);
}
