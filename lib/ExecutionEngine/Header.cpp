//===- Header.cpp - The C header of a program -----------------------------===//

#include "Codegen.h"
#include "espalier-c/Runtime.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace espalier;

namespace {
/// Writes the header of one program.
class HeaderWriter {
public:
  HeaderWriter(const ProgramSignature &signature, uint64_t hash)
      : signature(signature), hash(hash), os(text) {}

  std::string write();

private:
  std::string makeIdentifier(llvm::StringRef name);
  void chooseNames();
  std::string describe(const TensorSignature &tensor);
  void writeTensors(llvm::StringRef variable,
                    llvm::ArrayRef<TensorSignature> tensors,
                    llvm::ArrayRef<std::string> names);
  void writeParameters(bool withData);
  void writePlan();
  void writeRun();

  const ProgramSignature &signature;
  uint64_t hash;
  std::string text;
  llvm::raw_string_ostream os;
  llvm::StringSet<> taken;
  std::vector<std::string> inputNames;
  std::vector<std::string> outputNames;
  /// Parameters for the run-time extents of the inputs, and which one each
  /// extent is ("" for a static extent).
  std::vector<std::string> sizes;
  std::vector<std::vector<std::string>> extentNames;
};
} // namespace

/// Turns `name` into an identifier of C that was not used before.
std::string HeaderWriter::makeIdentifier(llvm::StringRef name) {
  static constexpr llvm::StringLiteral kReserved[] = {
      "auto",     "break",    "case",     "char",   "const",   "continue",
      "default",  "do",       "double",   "else",   "enum",    "extern",
      "float",    "for",      "goto",     "if",     "inline",  "int",
      "long",     "register", "restrict", "return", "short",   "signed",
      "sizeof",   "static",   "struct",   "switch", "typedef", "union",
      "unsigned", "void",     "volatile", "while",  "ctx",     "class",
      "new",      "delete",   "template", "this",   "private", "public",
      "bool",     "operator", "namespace"};
  std::string base;
  for (char c : name)
    base += llvm::isAlnum(c) ? c : '_';
  if (base.empty() || llvm::isDigit(base.front()) ||
      llvm::is_contained(kReserved, base) ||
      llvm::StringRef(base).starts_with("espalier_"))
    base = "x_" + base;
  std::string result = base;
  for (unsigned i = 1; !taken.insert(result).second; ++i)
    result = base + "_" + std::to_string(i);
  return result;
}

void HeaderWriter::chooseNames() {
  for (const TensorSignature &tensor : signature.inputs)
    inputNames.push_back(makeIdentifier(tensor.name));
  for (const TensorSignature &tensor : signature.outputs)
    outputNames.push_back(makeIdentifier(tensor.name));
  llvm::StringMap<std::string> bySymbol;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const TensorSignature &tensor = signature.inputs[i];
    auto &names = extentNames.emplace_back();
    for (size_t dim = 0; dim < tensor.extents.size(); ++dim) {
      if (tensor.extents[dim] >= 0) {
        names.emplace_back();
        continue;
      }
      const std::string &symbol = tensor.symbols[dim];
      if (!symbol.empty() && bySymbol.count(symbol)) {
        names.push_back(bySymbol[symbol]);
        continue;
      }
      names.push_back(makeIdentifier(
          symbol.empty() ? inputNames[i] + "_extent" + std::to_string(dim)
                         : symbol));
      sizes.push_back(names.back());
      if (!symbol.empty())
        bySymbol[symbol] = names.back();
    }
  }
}

/// Text for a comment: "x: f32[n, 4]".
std::string HeaderWriter::describe(const TensorSignature &tensor) {
  std::string result =
      tensor.name + ": " + espalier_dtype_name(tensor.dtype) + "[";
  for (size_t dim = 0; dim < tensor.extents.size(); ++dim) {
    result += dim ? ", " : "";
    result += tensor.extents[dim] >= 0 ? std::to_string(tensor.extents[dim])
              : tensor.symbols[dim].empty() ? "?"
                                            : tensor.symbols[dim];
  }
  result += "]";
  // Names come from the model: they must not end the comment.
  for (size_t i = 1; i < result.size(); ++i)
    if ((result[i - 1] == '*' && result[i] == '/') || result[i] == '\n')
      result[i] = '_';
  return result;
}

static llvm::StringRef getCType(int32_t dtype) {
  static constexpr llvm::StringLiteral kTypes[] = {
#define CTYPE_ENTRY(name, spelling, bytes, ctype) #ctype,
      ESPALIER_FOR_EACH_DTYPE(CTYPE_ENTRY)
#undef CTYPE_ENTRY
  };
  return kTypes[dtype];
}

void HeaderWriter::writeParameters(bool withData) {
  os << "espalier_context *ctx";
  for (const std::string &size : sizes)
    os << ", int64_t " << size;
  if (!withData) {
    os << ", int64_t *espalier_extents";
    return;
  }
  for (auto [tensor, name] : llvm::zip(signature.inputs, inputNames))
    os << ", const " << getCType(tensor.dtype) << " *" << name;
  for (auto [tensor, name] : llvm::zip(signature.outputs, outputNames))
    os << ", " << getCType(tensor.dtype) << " *" << name;
}

/// Writes the array `espalier_inputs`; with empty `names` its data pointers are
/// null.
void HeaderWriter::writeTensors(llvm::StringRef variable,
                                llvm::ArrayRef<TensorSignature> tensors,
                                llvm::ArrayRef<std::string> names) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    os << "  const int64_t " << variable << i << "[] = {";
    for (size_t dim = 0; dim < tensors[i].extents.size(); ++dim)
      os << (tensors[i].extents[dim] >= 0
                 ? std::to_string(tensors[i].extents[dim])
                 : extentNames[i][dim])
         << ", ";
    os << "0};\n";
  }
  os << "  const espalier_tensor " << variable << "[] = {\n";
  for (size_t i = 0; i < tensors.size(); ++i)
    os << "      {" << (names.empty() ? "0" : "(void *)" + names[i]) << ", "
       << tensors[i].dtype << ", " << tensors[i].extents.size() << ", "
       << variable << i << "},\n";
  os << "      {0, 0, 0, 0}};\n";
}

void HeaderWriter::writePlan() {
  os << "/** Computes the extents of the outputs, one output after the other. "
        "*/\n"
     << "static inline espalier_status " << signature.name << "_plan(";
  writeParameters(/*withData=*/false);
  os << ") {\n";
  writeTensors("espalier_inputs", signature.inputs, {});
  os << "  return espalier_plan(ctx, espalier_inputs, "
     << signature.inputs.size() << ", espalier_extents);\n}\n\n";
}

void HeaderWriter::writeRun() {
  size_t numExtents = 1;
  for (const TensorSignature &tensor : signature.outputs)
    numExtents += tensor.extents.size();
  os << "/** Runs the program. Outputs must hold the extents that "
     << signature.name << "_plan gives. */\n"
     << "static inline espalier_status " << signature.name << "_run(";
  writeParameters(/*withData=*/true);
  os << ") {\n";
  writeTensors("espalier_inputs", signature.inputs, inputNames);
  os << "  int64_t espalier_extents[" << numExtents << "];\n"
     << "  const espalier_tensor espalier_outputs[] = {\n";
  size_t first = 0;
  for (auto [tensor, name] : llvm::zip(signature.outputs, outputNames)) {
    os << "      {" << name << ", " << tensor.dtype << ", "
       << tensor.extents.size() << ", espalier_extents + " << first << "},\n";
    first += tensor.extents.size();
  }
  os << "      {0, 0, 0, 0}};\n"
     << "  espalier_status espalier_result = espalier_plan(ctx, "
        "espalier_inputs, "
     << signature.inputs.size() << ", espalier_extents);\n"
     << "  if (espalier_result)\n    return espalier_result;\n"
     << "  return espalier_run(ctx, espalier_inputs, "
     << signature.inputs.size() << ", espalier_outputs, "
     << signature.outputs.size() << ");\n}\n\n";
}

std::string HeaderWriter::write() {
  chooseNames();
  const std::string &name = signature.name;
  std::string guard = "ESPALIER_PROGRAM_" + name;
  os << "/* Program " << name << ", compiled by Espalier.\n";
  for (const TensorSignature &tensor : signature.inputs)
    os << "     input  " << describe(tensor) << "\n";
  for (const TensorSignature &tensor : signature.outputs)
    os << "     output " << describe(tensor) << "\n";
  os << "   Make a context from &" << name
     << "_program; every function returns 0 or an error. */\n\n"
     << "#ifndef " << guard << "\n#define " << guard << " 0x"
     << llvm::utohexstr(hash) << "ULL\n\n"
     << getEmbeddedRuntimeHeader() << "\n#ifdef __cplusplus\nextern \"C\" {\n"
     << "#endif\n\n/* Other programs of this name are told apart by what they "
        "are. "
        "With\n   ESPALIER_REPLACEABLE defined, the library may be replaced by "
        "another of this\n   name without compiling what uses it again, and "
        "must be "
        "the only one. */\n#ifndef ESPALIER_REPLACEABLE\n#define "
     << getDescriptorSymbol(name) << " " << getUniqueSymbol(name, hash)
     << "\n#endif\nextern const espalier_program " << getDescriptorSymbol(name)
     << ";\n\n";
  writePlan();
  writeRun();
  os << "#ifdef __cplusplus\n} /* extern \"C\" */\n#endif\n\n"
     << "#elif " << guard << " != 0x" << llvm::utohexstr(hash) << "ULL\n"
     << "#error \"two programs are called " << name
     << "; compile one of them with another name\"\n#endif\n";
  return text;
}

std::string espalier::makeHeader(const ProgramSignature &signature,
                                 uint64_t hash) {
  return HeaderWriter(signature, hash).write();
}
