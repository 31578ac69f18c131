//===- Replay.cpp - Has Z3 answer the questions of proofs again -----------===//
//
// The program `z3` is asked, in a process of its own with limits of its own;
// where there is none, Z3's library.
//
//===----------------------------------------------------------------------===//

#include "espalier/Substitution/Verify.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include <z3.h>

using namespace espalier::substitution;
using llvm::StringRef;

/// What one answer, and all answers of a file, may take.
static constexpr StringRef kMaxMilliseconds = "10000";
static constexpr unsigned kMaxSeconds = 300;
static constexpr StringRef kMaxMegabytes = "2048";

/// The number of questions of a script. Nothing if it is malformed, or has
/// commands that proofs do not have: some write files.
static std::optional<unsigned> countQuestions(StringRef text) {
  static constexpr StringRef kCommands[] = {
      "push",        "pop",           "assert",     "check-sat",
      "declare-fun", "declare-const", "define-fun", "set-info"};
  unsigned count = 0, depth = 0;
  while (!text.empty()) {
    char c = text.front();
    text = text.drop_front();
    if (c == ';') {
      text = text.drop_front(std::min(text.find('\n'), text.size()));
    } else if (c == '|' || c == '"') {
      size_t end = text.find(c);
      if (end == StringRef::npos)
        return std::nullopt;
      text = text.drop_front(end + 1);
    } else if (c == '(' && depth++ == 0) {
      StringRef command = text.take_while(
          [](char letter) { return llvm::isAlpha(letter) || letter == '-'; });
      if (!llvm::is_contained(kCommands, command))
        return std::nullopt;
      count += command == "check-sat";
    } else if (c == ')' && depth-- == 0) {
      return std::nullopt;
    }
  }
  return depth == 0 ? std::optional<unsigned>(count) : std::nullopt;
}

/// What the program prints.
static std::string askProgram(StringRef program, StringRef path) {
  llvm::SmallString<128> output;
  if (llvm::sys::fs::createTemporaryFile("espalier-answers", "txt", output))
    return "";
  llvm::FileRemover remover(output);
  std::string timeout = ("-t:" + kMaxMilliseconds).str();
  std::string memory = ("-memory:" + kMaxMegabytes).str();
  StringRef args[] = {program, "-smt2", timeout, memory, path};
  llvm::sys::ExecuteAndWait(program, args, /*Env=*/std::nullopt,
                            {std::nullopt, output.str(), std::nullopt},
                            kMaxSeconds);
  auto file = llvm::MemoryBuffer::getFile(output, /*IsText=*/true);
  return file ? (*file)->getBuffer().str() : "";
}

/// What the library answers.
static std::string askLibrary(StringRef text) {
  std::string script =
      ("(set-option :timeout " + kMaxMilliseconds +
       ")\n(set-option :memory_max_size " + kMaxMegabytes + ")\n" + text)
          .str();
  Z3_config config = Z3_mk_config();
  Z3_context context = Z3_mk_context(config);
  Z3_del_config(config);
  Z3_set_error_handler(context, nullptr);
  std::string answers = Z3_eval_smtlib2_string(context, script.c_str());
  Z3_del_context(context);
  return answers;
}

/// A line on a proof, and whether it is right.
static std::pair<std::string, bool> replay(const std::string &path,
                                           const std::string *program) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  StringRef text = file ? (*file)->getBuffer() : "";
  if (!text.starts_with("; espalier proof 1\n"))
    return {"expects a proof of version 1", false};
  std::optional<unsigned> count = countQuestions(text);
  if (!count)
    return {"expects questions alone", false};
  std::string answers = program ? askProgram(*program, path) : askLibrary(text);
  llvm::SmallVector<StringRef> lines;
  StringRef(answers).split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  bool isRight =
      lines.size() == *count && llvm::all_of(lines, [](StringRef line) {
        return line.trim() == "unsat";
      });
  if (!isRight)
    return {"an answer is wrong", false};
  return {llvm::utostr(*count) + " answers are right", true};
}

int espalier::substitution::checkProofs(StringRef folder, llvm::raw_ostream &os,
                                        llvm::raw_ostream &errors) {
  std::error_code failure;
  std::vector<std::string> paths;
  for (llvm::sys::fs::directory_iterator file(folder, failure), end;
       file != end && !failure; file.increment(failure))
    if (StringRef(file->path()).ends_with(".smt2"))
      paths.push_back(file->path());
  llvm::sort(paths);
  if (failure || paths.empty()) {
    errors << folder << ": error: "
           << (failure ? failure.message()
                       : std::string("expects proofs, but got none"))
           << '\n';
    return 2;
  }
  llvm::ErrorOr<std::string> program = llvm::sys::findProgramByName("z3");
  unsigned numWrong = 0;
  for (const std::string &path : paths) {
    auto [line, isRight] = replay(path, program ? &*program : nullptr);
    os << llvm::sys::path::filename(path) << ": " << line << '\n';
    numWrong += !isRight;
  }
  os << paths.size() << " proofs: " << numWrong << " wrong\n";
  return numWrong == 0 ? 0 : 1;
}
