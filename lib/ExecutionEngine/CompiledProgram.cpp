//===- CompiledProgram.cpp - The file of a compiled program ---------------===//
//
// A file consists of a fixed header, a table of parts, and the parts, each at a
// multiple of 4096 bytes so that constants can be used where they are mapped:
//
//   "ESPALIER" | format version | number of parts
//   offset, size, checksum      of each part
//   the parts: ProgramInfo as JSON, constants, objects
//
//===----------------------------------------------------------------------===//

#include "espalier/ExecutionEngine/CompiledProgram.h"
#include "espalier/Support/OutputFile.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cstring>

using namespace espalier;

static constexpr char kMagic[8] = {'E', 'S', 'P', 'A', 'L', 'I', 'E', 'R'};
/// Increased with every change of the format or of what the parts mean.
static constexpr uint64_t kFormatVersion = 2;
static constexpr uint64_t kPartAlignment = 4096;
/// More parts than this do not fit into the table's page.
static constexpr uint64_t kMaxParts = 1u << 16;

namespace {
struct FileHeader {
  char magic[8];
  uint64_t version;
  uint64_t numParts;
  /// Of the table of parts.
  uint64_t checksum;
};

struct PartHeader {
  uint64_t offset;
  uint64_t size;
  uint64_t checksum;
};
} // namespace

static uint64_t computeChecksum(llvm::StringRef bytes) {
  return llvm::xxh3_64bits(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
}

static llvm::StringRef getTableBytes(llvm::ArrayRef<PartHeader> table) {
  return llvm::StringRef(reinterpret_cast<const char *>(table.data()),
                         table.size() * sizeof(PartHeader));
}

static std::string encodeInfo(const ProgramInfo &info, llvm::StringRef key) {
  llvm::json::Object object{
      {"key", key},
      {"name", info.name},
      {"cpu", info.cpu},
      {"features", info.features},
      {"threads", info.threads},
      {"num_kernels", static_cast<int64_t>(info.numKernels)},
      {"compile_seconds", info.compileSeconds},
      {"header", info.header},
      {"optimization", info.optimization}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
  return text;
}

/// Reads what `encodeInfo` made. Fails if a field is missing or of another
/// type, or the key is another one: a file may have come under another's name.
static llvm::Expected<ProgramInfo> decodeInfo(llvm::StringRef text,
                                              llvm::StringRef key) {
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return value.takeError();
  ProgramInfo info;
  std::string found;
  llvm::json::Path::Root root("program");
  llvm::json::ObjectMapper fields(*value, root);
  if (!fields || !fields.map("key", found) || !fields.map("name", info.name) ||
      !fields.map("cpu", info.cpu) || !fields.map("features", info.features) ||
      !fields.map("threads", info.threads) ||
      !fields.map("num_kernels", info.numKernels) ||
      !fields.map("compile_seconds", info.compileSeconds) ||
      !fields.map("header", info.header) ||
      !fields.map("optimization", info.optimization))
    return root.getError();
  if (found != key)
    return llvm::createStringError("expects the program of key '" + key +
                                   "', but got that of '" + found + "'");
  if (!info.optimization.empty()) {
    llvm::Expected<llvm::json::Value> report =
        llvm::json::parse(info.optimization);
    if (!report)
      return report.takeError();
    if (!report->getAsObject())
      return llvm::createStringError("expects an object that says what "
                                     "optimization did");
  }
  return info;
}

CompiledProgram CompiledProgram::withOptimization(std::string text) const {
  CompiledProgram result = *this;
  result.info.optimization = std::move(text);
  return result;
}

llvm::Error CompiledProgram::save(llvm::StringRef path,
                                  llvm::StringRef key) const {
  std::string infoText = encodeInfo(info, key);
  llvm::SmallVector<llvm::StringRef> parts = {infoText, constants->getBuffer()};
  for (const auto &object : objects)
    parts.push_back(object->getBuffer());

  std::vector<PartHeader> table;
  uint64_t offset = sizeof(FileHeader) + parts.size() * sizeof(PartHeader);
  for (llvm::StringRef part : parts) {
    offset = llvm::alignTo(offset, kPartAlignment);
    table.push_back({offset, part.size(), computeChecksum(part)});
    offset += part.size();
  }
  FileHeader header = {
      {}, kFormatVersion, parts.size(), computeChecksum(getTableBytes(table))};
  std::memcpy(header.magic, kMagic, sizeof(kMagic));
  return writeFile(path, [&](llvm::raw_ostream &os) {
    os.write(reinterpret_cast<const char *>(&header), sizeof(header));
    os << getTableBytes(table);
    uint64_t written = sizeof(header) + getTableBytes(table).size();
    for (auto [part, entry] : llvm::zip(parts, table)) {
      os.write_zeros(entry.offset - written);
      os << part;
      written = entry.offset + entry.size;
    }
  });
}

llvm::Expected<CompiledProgram> CompiledProgram::load(llvm::StringRef path,
                                                      llvm::StringRef key) {
  auto damaged = [&](const llvm::Twine &what) {
    return llvm::createStringError("expects " + what + " in '" + path + "'");
  };
  // Small files are read rather than mapped; constants must be aligned anyway.
  auto read = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false,
                                          /*IsVolatile=*/false,
                                          llvm::Align(kPartAlignment));
  if (!read)
    return llvm::createStringError(read.getError(),
                                   "cannot read '" + path +
                                       "': " + read.getError().message());
  Buffer file = std::move(*read);
  llvm::StringRef bytes = file->getBuffer();
  FileHeader header;
  if (bytes.size() < sizeof(header))
    return damaged("a header");
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    return damaged("the mark of a compiled program");
  if (header.version != kFormatVersion)
    return damaged("format version " + llvm::Twine(kFormatVersion) +
                   ", but got " + llvm::Twine(header.version));
  if (header.numParts < 2 || header.numParts > kMaxParts ||
      bytes.size() < sizeof(header) + header.numParts * sizeof(PartHeader))
    return damaged("a table of parts");
  std::vector<PartHeader> table(header.numParts);
  std::memcpy(table.data(), bytes.data() + sizeof(header),
              table.size() * sizeof(PartHeader));
  if (computeChecksum(getTableBytes(table)) != header.checksum)
    return damaged("an undamaged table of parts");

  llvm::SmallVector<llvm::StringRef> parts;
  for (const PartHeader &entry : table) {
    if (entry.offset > bytes.size() ||
        entry.size > bytes.size() - entry.offset ||
        entry.offset % kPartAlignment != 0)
      return damaged("parts inside the file");
    parts.push_back(bytes.substr(entry.offset, entry.size));
    if (computeChecksum(parts.back()) != entry.checksum)
      return damaged("undamaged parts");
  }
  llvm::Expected<ProgramInfo> info = decodeInfo(parts[0], key);
  if (!info)
    return llvm::createStringError("cannot read '" + path +
                                   "': " + llvm::toString(info.takeError()));
  auto makeView = [](llvm::StringRef part, const char *name) {
    return llvm::MemoryBuffer::getMemBuffer(part, name,
                                            /*RequiresNullTerminator=*/false);
  };
  std::vector<Buffer> objects;
  for (llvm::StringRef part : llvm::ArrayRef(parts).drop_front(2))
    objects.push_back(makeView(part, "object"));
  CompiledProgram program(std::move(*info), std::move(objects),
                          makeView(parts[1], "constants"));
  program.file = std::move(file);
  return program;
}
