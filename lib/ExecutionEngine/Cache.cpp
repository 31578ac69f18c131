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
#include "llvm/Support/Process.h"

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
    stream << options.optLevel << ' ' << options.vectorBits;
#define PIPELINE_OPTION(name, value, summary)                                  \
  stream << ' ' << options.pipeline.name;
#include "espalier-c/PipelineOptions.def"
    stream << '\n';
    add(options.schedulesKey);
    OpPrintingFlags flags;
    flags.elideLargeResourceString(0);
    module.print(stream, flags);
    // Messages say which node of a network asks for other sizes.
    module.walk([&](Operation *op) {
      if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
        add(name.getName());
    });
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

/// Says what is wrong with the entry whose reading ended in `error`; nothing if
/// there is none.
static std::string describeDamage(llvm::Error error) {
  std::string reason;
  llvm::handleAllErrors(std::move(error), [&](const llvm::ErrorInfoBase &info) {
    std::error_code code = info.convertToErrorCode();
    if (code != std::errc::no_such_file_or_directory &&
        code != std::errc::not_a_directory)
      reason = info.message();
  });
  return reason;
}

/// Reads the entry `path` and marks it as used.
static llvm::Expected<CompiledProgram> loadEntry(StringRef path,
                                                 StringRef key) {
  llvm::Expected<CompiledProgram> program = CompiledProgram::load(path, key);
  if (!program)
    return program;
  int file;
  if (!llvm::sys::fs::openFileForRead(path, file)) {
    // In a folder of somebody else this fails, and nothing is lost.
    (void)llvm::sys::fs::setLastAccessAndModificationTime(
        file, std::chrono::system_clock::now());
    (void)llvm::sys::Process::SafelyCloseFileDescriptor(file);
  }
  return program;
}

/// The start of the names of entries, which nothing else in the folder has.
static constexpr StringLiteral kEntryPrefix = "llvmcache-";

/// Removes the least recently used entries of `folder` beyond `limit` bytes, if
/// that is not 0, and beyond three quarters of what they and free space take.
/// What another process removes at the same time is gone as well.
/// (`llvm::pruneCache` ends the process where the folder itself is removed.)
static void pruneEntries(StringRef folder, uint64_t limit) {
  struct Entry {
    llvm::sys::TimePoint<> used;
    uint64_t bytes;
    std::string path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator file(folder, code), end;
       !code && file != end; file.increment(code)) {
    if (!llvm::sys::path::filename(file->path()).starts_with(kEntryPrefix))
      continue;
    if (llvm::ErrorOr<llvm::sys::fs::basic_file_status> status =
            file->status()) {
      entries.push_back(
          {status->getLastAccessedTime(), status->getSize(), file->path()});
      total += status->getSize();
    }
  }
  llvm::ErrorOr<llvm::sys::fs::space_info> disk =
      llvm::sys::fs::disk_space(folder);
  if (!disk)
    return;
  uint64_t share = (total + disk->available) / 4 * 3;
  limit = limit == 0 ? share : std::min(limit, share);
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.used, a.path) < std::tie(b.used, b.path);
  });
  for (const Entry &entry : entries) {
    if (total <= limit)
      return;
    (void)llvm::sys::fs::remove(entry.path);
    total -= entry.bytes;
  }
}

/// Stores an entry, and removes others. A process that is about to read one of
/// them compiles instead; what is mapped stays until it is unmapped.
static llvm::Error storeEntry(const CompiledProgram &program, StringRef path,
                              StringRef key, const CacheOptions &cache) {
  if (std::error_code code = llvm::sys::fs::create_directories(cache.dir))
    return llvm::errorCodeToError(code);
  if (llvm::Error error = program.save(path, key))
    return error;
  pruneEntries(cache.dir, cache.limit);
  return llvm::Error::success();
}

FailureOr<CompiledProgram>
espalier::compileCached(StringRef key, Location loc, const CacheOptions &cache,
                        function_ref<FailureOr<CompiledProgram>()> compile,
                        CacheResult *result) {
  CacheResult unused;
  CacheResult &outcome = result ? *result : unused;
  outcome = CacheResult::Disabled;
  if (cache.dir.empty())
    return compile();

  SmallString<128> path(cache.dir);
  llvm::sys::path::append(path, kEntryPrefix + key + ".espalier");
  llvm::Expected<CompiledProgram> known = loadEntry(path, key);
  if (known) {
    outcome = CacheResult::Hit;
    return std::move(*known);
  }
  std::string damage = describeDamage(known.takeError());
  outcome = damage.empty() ? CacheResult::Miss : CacheResult::Damaged;
  if (!damage.empty())
    emitRemark(loc, "compiles again: ") << damage;
  FailureOr<CompiledProgram> program = compile();
  if (failed(program))
    return failure();
  if (llvm::Error error = storeEntry(*program, path, key, cache))
    emitWarning(loc, "cannot write the cache '")
        << path << "': " << llvm::toString(std::move(error));
  return program;
}

FailureOr<CompiledProgram>
espalier::compileCached(ModuleOp module, const CodegenOptions &options,
                        const CacheOptions &cache, CacheResult *result) {
  std::string key;
  if (!cache.dir.empty())
    key = computeCacheKey(module, options);
  return compileCached(
      key, module.getLoc(), cache,
      [&] { return compileModule(module, options); }, result);
}
