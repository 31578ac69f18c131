//===- Link.cpp - Libraries and objects of compiled programs --------------===//

#include "espalier/ExecutionEngine/Link.h"
#include "Codegen.h"
#include "espalier/Conversion/ProgramToLLVM/EntryPoints.h"
#include "espalier/ExecutionEngine/LoadedProgram.h"
#include "espalier/Support/OutputFile.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Object/ArchiveWriter.h"
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
  llvm::ELF::Elf64_Shdr sections[6] = {};
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
  header.e_shnum = std::size(object.sections);
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
  addName(names, ".note.GNU-stack");
  setSection(3, ".shstrtab", SHT_STRTAB, names.size(), 1);
  Elf64_Shdr &data =
      setSection(4, ".lrodata", SHT_PROGBITS, size, kBufferAlignment);
  data.sh_flags = SHF_ALLOC | (isX86 ? uint64_t(SHF_X86_64_LARGE) : 0);
  // Without it, linkers take an object for one that runs code on its stack.
  setSection(5, ".note.GNU-stack", SHT_PROGBITS, 0, 1);
  return object;
}

/// Prints the object file that defines `symbol` as `bytes`.
static void printConstantsObject(llvm::raw_ostream &os, llvm::StringRef symbol,
                                 llvm::StringRef bytes) {
  DataObject object = describeData(symbol, bytes.size());
  uint64_t written = 0;
  auto put = [&](const void *data, size_t size) {
    os.write(static_cast<const char *>(data), size);
    written += size;
  };
  auto align = [&](unsigned section) {
    uint64_t zeros = object.sections[section].sh_offset - written;
    os.write_zeros(zeros);
    written += zeros;
  };
  put(&object.header, sizeof(object.header));
  put(object.sections, sizeof(object.sections));
  align(1);
  put(object.symbols, sizeof(object.symbols));
  put(object.symbolNames.data(), object.symbolNames.size());
  put(object.sectionNames.data(), object.sectionNames.size());
  align(4);
  put(bytes.data(), bytes.size());
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

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

namespace {
/// What is linked and how. No file of it has a name, so that none stays when
/// this process is ended while it waits for the linker.
class Link {
public:
  Link(const CompiledProgram &program, llvm::StringRef path)
      : program(program), path(path) {}

  /// Links, and returns the object or the shared library.
  llvm::Expected<OutputFile> run(bool isObject, const LinkOptions &options);

private:
  /// Makes a file beside the result, so that a link is enough to make that
  /// appear.
  llvm::Expected<OutputFile> makeFile(unsigned mode = 0666);
  /// Adds a file with what `print` prints to the inputs.
  llvm::Error addInput(llvm::function_ref<void(llvm::raw_ostream &)> print);
  llvm::Error addProgram();
  void chooseLinker(const OutputFile &output);
  llvm::Error execute(const OutputFile &output);

  const CompiledProgram &program;
  llvm::StringRef path;
  std::vector<std::string> command;
  std::vector<OutputFile> inputs;
  bool writesToOutput = false;
};
} // namespace

static llvm::Error makeWriteError(llvm::StringRef path, llvm::Error error) {
  return llvm::createStringError("cannot write '" + path +
                                 "': " + llvm::toString(std::move(error)));
}

llvm::Expected<OutputFile> Link::makeFile(unsigned mode) {
  auto file = OutputFile::create(llvm::sys::path::parent_path(path), mode);
  if (!file)
    return makeWriteError(path, file.takeError());
  return file;
}

llvm::Error
Link::addInput(llvm::function_ref<void(llvm::raw_ostream &)> print) {
  llvm::Expected<OutputFile> file = makeFile();
  if (!file)
    return file.takeError();
  if (llvm::Error error = file->write(print))
    return makeWriteError(path, std::move(error));
  command.push_back(file->getPath());
  inputs.push_back(std::move(*file));
  return llvm::Error::success();
}

/// Adds the objects, as one archive, since a process has few descriptors; the
/// constants; and all of the runtime, whether the program refers to it or not.
llvm::Error Link::addProgram() {
  const ProgramInfo &info = program.getInfo();
  std::vector<std::string> names;
  for (size_t i = 0; i < program.getObjects().size(); ++i)
    names.push_back("part" + std::to_string(i) + ".o");
  std::vector<llvm::NewArchiveMember> members;
  for (auto [object, name] : llvm::zip(program.getObjects(), names))
    members.emplace_back(llvm::MemoryBufferRef(object->getBuffer(), name));
  auto archive = llvm::writeArchiveToBuffer(
      members, llvm::SymtabWritingMode::NoSymtab, llvm::object::Archive::K_GNU,
      /*Deterministic=*/true, /*Thin=*/false);
  if (!archive)
    return archive.takeError();
  command.push_back("-Wl,--whole-archive");
  if (llvm::Error error = addInput(
          [&](llvm::raw_ostream &os) { os << (*archive)->getBuffer(); }))
    return error;
  if (llvm::Error error = addInput([&](llvm::raw_ostream &os) {
        printConstantsObject(os, getConstantsSymbol(info.name),
                             program.getConstants().getBuffer());
      }))
    return error;
  if (llvm::Error error = addInput(
          [&](llvm::raw_ostream &os) { os << getEmbeddedRuntimeArchive(); }))
    return error;
  command.push_back("-Wl,--no-whole-archive");
  return llvm::Error::success();
}

/// Chooses a linker that writes to a file which is there already: LLVM's makes
/// another beside it, but knows standard output.
void Link::chooseLinker(const OutputFile &output) {
  llvm::StringRef compiler = command.front();
  llvm::StringRef tools = llvm::sys::path::parent_path(compiler);
  writesToOutput = compiler.contains("clang") &&
                   llvm::sys::findProgramByName("ld.lld", {tools});
  if (writesToOutput)
    command.push_back("-fuse-ld=lld");
  else if (llvm::sys::findProgramByName("ld.bfd"))
    command.push_back("-fuse-ld=bfd");
  command.push_back("-o");
  command.push_back(writesToOutput ? "-" : output.getPath());
}

/// Runs the command. Returns an error with what it printed if it fails.
llvm::Error Link::execute(const OutputFile &output) {
  llvm::Expected<OutputFile> log = makeFile();
  if (!log)
    return log.takeError();
  std::string logPath = log->getPath(), outputPath = output.getPath();
  std::optional<llvm::StringRef> redirects[] = {
      llvm::StringRef(""), writesToOutput ? outputPath : logPath, logPath};
  llvm::SmallVector<llvm::StringRef> arguments(command.begin(), command.end());
  std::string message;
  int status = llvm::sys::ExecuteAndWait(arguments.front(), arguments,
                                         std::nullopt, redirects,
                                         /*SecondsToWait=*/0,
                                         /*MemoryLimit=*/0, &message);
  if (status == 0)
    return llvm::Error::success();
  auto text = llvm::MemoryBuffer::getFile(logPath);
  return llvm::createStringError(
      "cannot link with " + command.front() + ": " + message + "\n" +
      (text ? (*text)->getBuffer() : llvm::StringRef()));
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

llvm::Expected<OutputFile> Link::run(bool isObject,
                                     const LinkOptions &options) {
  auto compiler = findCompiler(options.toolsDir);
  if (!compiler)
    return compiler.takeError();
  llvm::Expected<OutputFile> output = makeFile(isObject ? 0666 : 0777);
  if (!output)
    return output;
  command = {*compiler, isObject ? "-r" : "-shared"};
  chooseLinker(*output);
  if (llvm::Error error = addProgram())
    return error;
  if (isObject)
    command.push_back("-nostdlib");
  else if (llvm::Error error =
               addLibraries(command, program.getInfo(), options))
    return error;
  if (llvm::Error error = execute(*output))
    return error;
  return output;
}

llvm::Error espalier::linkProgram(const CompiledProgram &program,
                                  llvm::StringRef path,
                                  const LinkOptions &options) {
  bool isObject = path.ends_with(".o");
  if (!isObject && !path.ends_with(".so"))
    return llvm::createStringError(
        "expects a name that ends in .so or .o, but got '" + path + "'");
  llvm::Expected<OutputFile> output =
      Link(program, path).run(isObject, options);
  if (!output)
    return output.takeError();
  llvm::SmallString<128> header(path);
  llvm::sys::path::replace_extension(header, "h");
  if (llvm::Error error = writeFile(header, [&](llvm::raw_ostream &os) {
        os << program.getInfo().header;
      }))
    return error;
  return output->publish(path);
}
