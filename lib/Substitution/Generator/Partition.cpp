//===- Partition.cpp - Part of the classes, and its file ------------------===//
//
// A file is a line of text, `espalier-partition 1 KEY`, the numbers of the
// partition in the machine's byte order, and a hash of all that.
//
//===----------------------------------------------------------------------===//

#include "Partition.h"
#include "espalier/Support/OutputFile.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/xxhash.h"
#include <cstring>

using namespace espalier;
using namespace espalier::substitution;
using namespace espalier::substitution::generator;

static void writeNumber(uint64_t number, std::string &bytes) {
  bytes.append(reinterpret_cast<const char *>(&number), sizeof(number));
}

static bool readNumber(llvm::StringRef &bytes, uint64_t &number) {
  if (bytes.size() < sizeof(number))
    return false;
  std::memcpy(&number, bytes.data(), sizeof(number));
  bytes = bytes.drop_front(sizeof(number));
  return true;
}

void generator::write(const Partition &partition, std::string &bytes) {
  for (uint64_t number :
       {partition.enumeration.graphs, partition.enumeration.evaluations,
        partition.counts.fingerprints, partition.counts.equalities,
        uint64_t(partition.classes.size())})
    writeNumber(number, bytes);
  for (const ClassCodes &codes : partition.classes) {
    writeNumber(codes.size(), bytes);
    bytes.append(reinterpret_cast<const char *>(codes.data()),
                 codes.size() * sizeof(GraphCode));
  }
}

bool generator::read(llvm::StringRef &bytes, Partition &partition) {
  uint64_t numClasses;
  for (uint64_t *number :
       {&partition.enumeration.graphs, &partition.enumeration.evaluations,
        &partition.counts.fingerprints, &partition.counts.equalities,
        &numClasses})
    if (!readNumber(bytes, *number))
      return false;
  for (uint64_t i = 0; i < numClasses; ++i) {
    uint64_t size;
    if (!readNumber(bytes, size) || size == 0 ||
        size > bytes.size() / sizeof(GraphCode))
      return false;
    ClassCodes codes(size);
    std::memcpy(codes.data(), bytes.data(), size * sizeof(GraphCode));
    bytes = bytes.drop_front(size * sizeof(GraphCode));
    partition.classes.push_back(std::move(codes));
  }
  return true;
}

static std::string getHeader(llvm::StringRef key) {
  return ("espalier-partition 1 " + key + "\n").str();
}

bool generator::save(const Partition &partition, llvm::StringRef path,
                     llvm::StringRef key, ErrorFunction error) {
  std::string bytes = getHeader(key);
  write(partition, bytes);
  writeNumber(llvm::xxh3_64bits(bytes), bytes);
  llvm::Error failure =
      writeFile(path, [&](llvm::raw_ostream &os) { os << bytes; });
  if (failure)
    error("expects to write '" + path +
          "', but got: " + llvm::toString(std::move(failure)));
  return !failure;
}

Loaded generator::load(Partition &partition, llvm::StringRef path,
                       llvm::StringRef key, ErrorFunction error) {
  if (!llvm::sys::fs::exists(path))
    return Loaded::NoFile;
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    error("expects to read '" + path +
          "', but got: " + buffer.getError().message());
    return Loaded::Failed;
  }
  llvm::StringRef bytes = (*buffer)->getBuffer();
  llvm::StringRef line = bytes.take_until([](char c) { return c == '\n'; });
  if ((line + "\n").str() != getHeader(key)) {
    error("expects '" + path + "' to be of '" + key + "', but got '" +
          line.take_front(100) + "'");
    return Loaded::Failed;
  }
  uint64_t hash = 0;
  llvm::StringRef tail = bytes.take_back(sizeof(hash));
  llvm::StringRef content = bytes.drop_back(tail.size());
  llvm::StringRef numbers = content.drop_front(line.size() + 1);
  if (!readNumber(tail, hash) || hash != llvm::xxh3_64bits(content) ||
      !read(numbers, partition) || !numbers.empty()) {
    error("expects '" + path +
          "' to be intact, but its hash differs; remove it to make it again");
    return Loaded::Failed;
  }
  return Loaded::Yes;
}
