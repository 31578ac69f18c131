//===- Cache.cpp - Compiled programs keyed by content ---------------------===//

#include "Codegen.h"
#include "espalier/ExecutionEngine/Compile.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace espalier;

namespace {
/// Hashes what is printed to it.
class HashStream : public llvm::raw_ostream {
public:
  explicit HashStream(llvm::BLAKE3 &hash) : hash(hash) {
    SetBufferSize(1 << 16);
  }
  ~HashStream() override { flush(); }

private:
  void write_impl(const char *data, size_t size) override {
    hash.update(StringRef(data, size));
    position += size;
  }
  uint64_t current_pos() const override { return position; }

  llvm::BLAKE3 &hash;
  uint64_t position = 0;
};
} // namespace

/// Calls `visit` for every resource that `module` refers to, in the order of
/// the operations.
static void
visitResources(ModuleOp module,
               function_ref<void(DenseResourceElementsAttr attr)> visit) {
  llvm::SmallDenseSet<Attribute> seen;
  AttrTypeWalker walker;
  walker.addWalk([&](DenseResourceElementsAttr attr) {
    if (seen.insert(attr).second)
      visit(attr);
  });
  module.walk<WalkOrder::PreOrder>(
      [&](Operation *op) { walker.walk(op->getAttrDictionary()); });
}

std::string espalier::computeCacheKey(ModuleOp module,
                                      const CodegenOptions &options) {
  llvm::BLAKE3 hash;
  {
    HashStream stream(hash);
    // Lengths separate what might run together.
    auto add = [&](StringRef text) { stream << text.size() << ':' << text; };
    add(getCompilerIdentity());
    llvm::Expected<TargetCPU> target = resolveTarget(options);
    if (target) {
      add(target->cpu);
      add(target->features);
    } else {
      // The compilation reports what is wrong.
      llvm::consumeError(target.takeError());
    }
    stream << options.optLevel << ' ' << options.vectorBits << ' '
           << options.threads << '\n';
    OpPrintingFlags flags;
    flags.elideLargeResourceString(0);
    module.print(stream, flags);
    visitResources(module, [&](DenseResourceElementsAttr attr) {
      add(attr.getRawHandle().getKey());
      if (AsmResourceBlob *blob = attr.getRawHandle().getBlob()) {
        stream << blob->getData().size() << ':';
        stream.flush();
        hash.update(StringRef(blob->getData().data(), blob->getData().size()));
      }
    });
  }
  return llvm::toHex(hash.final<20>(), /*LowerCase=*/true);
}

FailureOr<CompiledProgram>
espalier::compileCached(ModuleOp module, const CodegenOptions &options,
                        StringRef cacheDir, CacheResult *result) {
  CacheResult unused;
  CacheResult &outcome = result ? *result : unused;
  outcome = CacheResult::Disabled;
  if (cacheDir.empty())
    return compileModule(module, options);

  outcome = CacheResult::Miss;
  SmallString<128> path(cacheDir);
  llvm::sys::path::append(path, computeCacheKey(module, options) + ".espalier");
  if (llvm::sys::fs::exists(path)) {
    llvm::Expected<CompiledProgram> known = CompiledProgram::load(path);
    if (known) {
      outcome = CacheResult::Hit;
      return std::move(*known);
    }
    outcome = CacheResult::Damaged;
    emitRemark(module.getLoc(), "compiles again: ")
        << llvm::toString(known.takeError());
  }
  FailureOr<CompiledProgram> program = compileModule(module, options);
  if (failed(program))
    return failure();
  std::error_code code = llvm::sys::fs::create_directories(cacheDir);
  llvm::Error error = code ? llvm::errorCodeToError(code) : program->save(path);
  if (error)
    emitWarning(module.getLoc(), "cannot write the cache '")
        << path << "': " << llvm::toString(std::move(error));
  return program;
}
