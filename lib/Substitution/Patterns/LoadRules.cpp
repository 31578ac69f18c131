//===- LoadRules.cpp - Reads and proves files of rules --------------------===//

#include "espalier/Substitution/Patterns/Patterns.h"
#include "espalier/Substitution/RuleProver.h"
#include "espalier/Support/OutputFile.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using espalier::OutputFile;
using namespace espalier::substitution;
using Report = llvm::function_ref<void(const llvm::Twine &)>;

/// Calls of mlir-pdll that take longer are given up.
static constexpr unsigned kMaxSeconds = 60;

static LogicalResult parseText(StringRef path, StringRef text,
                               std::vector<Rule> &rules, Report error) {
  return parseRules(text, rules, [&](unsigned line, const Twine &message) {
    error(path + ":" + Twine(line) + ": error: " + message);
  });
}

static LogicalResult parsePatterns(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                   MLIRContext *context,
                                   std::vector<Rule> &rules, Report error) {
  context->loadDialect<pdl::PDLDialect>();
  LogicalResult result = failure();
  // Diagnostics name places in the file, which is not what is compiled. They
  // are reported at last, since `error` may emit diagnostics itself.
  SmallVector<std::string> messages;
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      llvm::raw_string_ostream os(messages.emplace_back());
      if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
        os << place.getFilename().getValue() << ':' << place.getLine() << ": ";
      os << "error: " << diagnostic;
    });
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(std::move(buffer), SMLoc());
    OwningOpRef<ModuleOp> module =
        parseSourceFile<ModuleOp>(sources, ParserConfig(context));
    if (module)
      result = importPatterns(*module, rules);
  }
  for (const std::string &message : messages)
    error(message);
  return result;
}

/// Translates a file of PDLL. Null, and an error, if that fails.
static std::unique_ptr<llvm::MemoryBuffer> translatePdll(StringRef path,
                                                         Report error) {
  // LLVM's own folder is seldom on the path, and what is there may be of
  // another version.
  auto program =
      llvm::sys::findProgramByName("mlir-pdll", {ESPALIER_LLVM_TOOLS_DIR});
  if (!program)
    program = llvm::sys::findProgramByName("mlir-pdll");
  if (!program) {
    error(path + ": error: expects the command 'mlir-pdll' to read PDLL, but "
                 "it is neither in " ESPALIER_LLVM_TOOLS_DIR
                 " nor on the path");
    return nullptr;
  }
  SmallString<128> folder;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  auto output = OutputFile::create(folder);
  auto messages = output ? OutputFile::create(folder) : output.takeError();
  if (!messages) {
    error(path + ": error: cannot write to '" + folder +
          "': " + llvm::toString(messages.takeError()));
    return nullptr;
  }
  std::string outputPath = output->getPath(),
              messagesPath = messages->getPath();
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(outputPath),
                                          StringRef(messagesPath)};
  std::string file = path.str();
  int status = llvm::sys::ExecuteAndWait(*program, {*program, file, "-x=mlir"},
                                         std::nullopt, redirects, kMaxSeconds);
  auto buffer =
      llvm::MemoryBuffer::getFile(status == 0 ? outputPath : messagesPath);
  if (status == 0 && buffer)
    return std::move(*buffer);
  error(path + ": error: mlir-pdll failed: " +
        (buffer ? (*buffer)->getBuffer().trim() : ""));
  return nullptr;
}

LogicalResult espalier::substitution::loadRuleFile(
    StringRef path, bool allowUnproved, MLIRContext *context,
    std::vector<UsableRule> &rules, Report error, Report warn) {
  std::vector<Rule> parsed;
  bool isFaulty = false;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  if (path.ends_with(".pdll")) {
    buffer = translatePdll(path, error);
  } else if (auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true)) {
    buffer = std::move(*file);
  } else {
    error(path + ": error: " + file.getError().message());
  }
  if (!buffer)
    return failure();
  bool isPattern = path.ends_with(".mlir") || path.ends_with(".pdll");
  isFaulty = failed(
      isPattern ? parsePatterns(std::move(buffer), context, parsed, error)
                : parseText(path, buffer->getBuffer(), parsed, error));
  RuleProver prover;
  for (Rule &rule : parsed) {
    Verdict verdict = prover.prove(rule);
    if (!verdict.isProved()) {
      std::string text;
      llvm::raw_string_ostream(text) << verdict;
      (allowUnproved ? warn : error)(
          path + ": " + (allowUnproved ? "warning" : "error") + ": rule '" +
          rule.name + "' is not proved: " + text);
      isFaulty |= !allowUnproved;
      if (!allowUnproved || verdict.isIllTyped)
        continue;
      rule.arithmetic = Arithmetic::Reassociates;
    }
    rules.push_back({std::move(rule), verdict.isProved()});
  }
  return failure(isFaulty);
}
