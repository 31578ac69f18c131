//===- Link.cpp - Libraries and objects of compiled programs --------------===//

#include "espalier/ExecutionEngine/Link.h"
#include "Codegen.h"
#include "espalier/Conversion/ProgramToLLVM/EntryPoints.h"
#include "espalier/ExecutionEngine/LoadedProgram.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace espalier;

//===----------------------------------------------------------------------===//
// The object file of the constants
//===----------------------------------------------------------------------===//

namespace {
/// The parts of a relocatable object with one section of data and one symbol,
/// in the order of the file.
struct DataObject {
  llvm::ELF::Elf64_Ehdr header = {};
  llvm::ELF::Elf64_Shdr sections[5] = {};
  llvm::ELF::Elf64_Sym symbols[2] = {};
  std::string sectionNames;
  std::string symbolNames;
};
} // namespace

static uint32_t addName(std::string &table, llvm::StringRef name) {
  if (table.empty())
    table.push_back('\0');
  uint32_t offset = table.size();
  table += name;
  table.push_back('\0');
  return offset;
}

/// Describes an object that defines `symbol` as `size` bytes, which follow at
/// the end of the file. The section is of the kind that linkers place apart, so
/// that gigabytes of it do not come between code and its data.
static DataObject describeData(llvm::StringRef symbol, uint64_t size) {
  using namespace llvm::ELF;
  bool isX86 = llvm::Triple(llvm::sys::getDefaultTargetTriple()).isX86();
  DataObject object;
  Elf64_Ehdr &header = object.header;
  std::copy_n(ElfMagic, 4, header.e_ident);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_REL;
  header.e_machine = isX86 ? EM_X86_64 : EM_AARCH64;
  header.e_version = EV_CURRENT;
  header.e_shoff = sizeof(Elf64_Ehdr);
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = 5;
  header.e_shstrndx = 3;

  Elf64_Sym &global = object.symbols[1];
  global.st_name = addName(object.symbolNames, symbol);
  global.setBindingAndType(STB_GLOBAL, STT_OBJECT);
  global.st_other = STV_HIDDEN;
  global.st_shndx = 4;
  global.st_size = size;

  uint64_t offset = sizeof(object.header) + sizeof(object.sections);
  auto setSection = [&](unsigned index, llvm::StringRef name, uint32_t type,
                        uint64_t bytes, uint64_t alignment) -> Elf64_Shdr & {
    Elf64_Shdr &section = object.sections[index];
    offset = llvm::alignTo(offset, alignment);
    section.sh_name = addName(object.sectionNames, name);
    section.sh_type = type;
    section.sh_offset = offset;
    section.sh_size = bytes;
    section.sh_addralign = alignment;
    offset += bytes;
    return section;
  };
  Elf64_Shdr &symbols =
      setSection(1, ".symtab", SHT_SYMTAB, sizeof(object.symbols), 8);
  symbols.sh_link = 2;
  symbols.sh_info = 1;
  symbols.sh_entsize = sizeof(Elf64_Sym);
  setSection(2, ".strtab", SHT_STRTAB, object.symbolNames.size(), 1);
  // The names are complete before their size is taken.
  std::string names = object.sectionNames;
  addName(names, ".shstrtab");
  addName(names, ".lrodata");
  setSection(3, ".shstrtab", SHT_STRTAB, names.size(), 1);
  Elf64_Shdr &data =
      setSection(4, ".lrodata", SHT_PROGBITS, size, kBufferAlignment);
  data.sh_flags = SHF_ALLOC | (isX86 ? uint64_t(SHF_X86_64_LARGE) : 0);
  return object;
}

static llvm::Error writeConstantsObject(llvm::StringRef path,
                                        llvm::StringRef symbol,
                                        llvm::StringRef bytes) {
  DataObject object = describeData(symbol, bytes.size());
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (code)
    return llvm::errorCodeToError(code);
  auto put = [&](const void *data, size_t size) {
    os.write(static_cast<const char *>(data), size);
  };
  put(&object.header, sizeof(object.header));
  put(object.sections, sizeof(object.sections));
  auto align = [&](unsigned section) {
    os.write_zeros(object.sections[section].sh_offset - os.tell());
  };
  align(1);
  put(object.symbols, sizeof(object.symbols));
  os << object.symbolNames << object.sectionNames;
  align(4);
  os << bytes;
  os.close();
  return llvm::errorCodeToError(os.error());
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

static llvm::Error writeFile(llvm::StringRef path, llvm::StringRef bytes) {
  std::error_code code;
  llvm::raw_fd_ostream os(path, code);
  if (code)
    return llvm::errorCodeToError(code);
  os << bytes;
  os.close();
  return llvm::errorCodeToError(os.error());
}

/// Returns the path of the OpenMP runtime to link with.
static llvm::Expected<std::string> findOpenMP(const LinkOptions &options) {
  if (!options.ompLibrary.empty())
    return options.ompLibrary;
  for (const std::string &candidate : getOpenMPCandidates())
    if (llvm::sys::path::is_absolute(candidate) &&
        llvm::sys::fs::exists(candidate))
      return candidate;
  return llvm::createStringError(
      "expects the OpenMP runtime libomp.so.5, but found none; install "
      "libomp5-22 or compile without threads");
}

/// Runs `arguments` and returns an error with what the program printed if it
/// fails. `logPath` is a file for that.
static llvm::Error runProgram(llvm::ArrayRef<std::string> arguments,
                              llvm::StringRef logPath) {
  llvm::SmallVector<llvm::StringRef> references(arguments.begin(),
                                                arguments.end());
  std::optional<llvm::StringRef> redirects[] = {llvm::StringRef(""), logPath,
                                                logPath};
  std::string message;
  int status = llvm::sys::ExecuteAndWait(arguments.front(), references,
                                         std::nullopt, redirects,
                                         /*SecondsToWait=*/0,
                                         /*MemoryLimit=*/0, &message);
  if (status == 0)
    return llvm::Error::success();
  auto log = llvm::MemoryBuffer::getFile(logPath);
  return llvm::createStringError(
      "cannot link with " + arguments.front() + ": " + message + "\n" +
      (log ? (*log)->getBuffer() : llvm::StringRef()));
}

/// Adds what a shared library is linked with to `command`.
static llvm::Error addLibraries(std::vector<std::string> &command,
                                const ProgramInfo &info,
                                const LinkOptions &options) {
  if (info.threads) {
    auto library = findOpenMP(options);
    if (!library)
      return library.takeError();
    command.push_back(*library);
    command.push_back("-Wl,-rpath," +
                      llvm::sys::path::parent_path(*library).str());
  }
  for (const char *flag :
       {"-Wl,-Bsymbolic", "-Wl,-z,noexecstack", "-Wl,-z,defs", "-lm"})
    command.push_back(flag);
  return llvm::Error::success();
}

/// Writes the inputs of the link into `folder` and returns the command that
/// makes an object or a shared library of them.
static llvm::Expected<std::vector<std::string>>
prepareLink(const CompiledProgram &program, llvm::StringRef folder,
            llvm::StringRef output, bool isObject, const LinkOptions &options) {
  auto compiler = findCompiler(options.toolsDir);
  if (!compiler)
    return compiler.takeError();
  std::vector<std::string> command = {*compiler, isObject ? "-r" : "-shared",
                                      "-o", output.str()};
  const ProgramInfo &info = program.getInfo();
  auto addFile = [&](const llvm::Twine &name) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    command.push_back(path.str().str());
    return command.back();
  };
  for (auto [index, object] : llvm::enumerate(program.getObjects()))
    if (llvm::Error error = writeFile(
            addFile("part" + llvm::Twine(index) + ".o"), object->getBuffer()))
      return error;
  if (llvm::Error error = writeConstantsObject(
          addFile("constants.o"), getConstantsSymbol(info.name),
          program.getConstants().getBuffer()))
    return error;
  // All of the runtime is exported, whether the program refers to it or not.
  command.push_back("-Wl,--whole-archive");
  if (llvm::Error error =
          writeFile(addFile("runtime.a"), getEmbeddedRuntimeArchive()))
    return error;
  command.push_back("-Wl,--no-whole-archive");
  if (isObject)
    command.push_back("-nostdlib");
  else if (llvm::Error error = addLibraries(command, info, options))
    return error;
  if (llvm::StringRef(*compiler).contains("clang") &&
      llvm::sys::findProgramByName("ld.lld",
                                   {llvm::sys::path::parent_path(*compiler)}))
    command.push_back("-fuse-ld=lld");
  return command;
}

llvm::Error espalier::linkProgram(const CompiledProgram &program,
                                  llvm::StringRef path,
                                  const LinkOptions &options) {
  bool isObject = path.ends_with(".o");
  if (!isObject && !path.ends_with(".so"))
    return llvm::createStringError(
        "expects a name that ends in .so or .o, but got '" + path + "'");
  auto fail = [&](std::error_code code, const llvm::Twine &what) {
    return llvm::createStringError(code, "cannot write " + what + ": " +
                                             code.message());
  };
  // Beside the result, so that a rename is enough to make it appear.
  llvm::SmallString<128> folder;
  llvm::SmallString<128> absolute(path);
  if (std::error_code code = llvm::sys::fs::make_absolute(absolute))
    return fail(code, path);
  if (std::error_code code =
          llvm::sys::fs::createUniqueDirectory(absolute + ".link", folder))
    return fail(code, path);
  llvm::scope_exit cleanup([&] { llvm::sys::fs::remove_directories(folder); });

  auto inFolder = [&](llvm::StringRef name) {
    llvm::SmallString<128> result(folder);
    llvm::sys::path::append(result, name);
    return result;
  };
  llvm::SmallString<128> linked = inFolder("out"), header = inFolder("out.h");
  auto command = prepareLink(program, folder, linked, isObject, options);
  if (!command)
    return command.takeError();
  if (llvm::Error error = runProgram(*command, inFolder("log.txt")))
    return error;
  if (llvm::Error error = writeFile(header, program.getInfo().header))
    return error;
  llvm::SmallString<128> headerPath(absolute);
  llvm::sys::path::replace_extension(headerPath, "h");
  if (std::error_code code = llvm::sys::fs::rename(header, headerPath))
    return fail(code, headerPath);
  if (std::error_code code = llvm::sys::fs::rename(linked, absolute))
    return fail(code, absolute);
  return llvm::Error::success();
}
