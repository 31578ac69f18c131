//===- CheckFiles.cpp - Checks files of certificates ----------------------===//

#include "Certificate.h"
#include "espalier/Proof/Proof.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace espalier::proof;
using llvm::StringRef;

namespace {
/// Checks proofs, and compares what they state with rules.
class FileChecker {
public:
  FileChecker(llvm::raw_ostream &os, llvm::raw_ostream &errors)
      : os(os), errors(errors), checker(solver) {}

  int run(llvm::ArrayRef<std::string> paths, StringRef rules) {
    for (const std::string &path : paths)
      list(path);
    if (!rules.empty())
      readRules(rules);
    for (const std::string &file : files)
      check(file);
    for (const auto &[name, statement] : wanted)
      if (!stated.count(name)) {
        os << name << ": not checked: expects a proof, but got none\n";
        ++numWrong;
      }
    if (files.empty())
      fail(paths.empty() ? "" : paths.front(), "expects proofs, but got none");
    os << files.size() << " proofs: " << files.size() - numFailed
       << " checked, " << numFailed << " not checked\n";
    if (!solver.getError().empty())
      errors << "error: " << solver.getError() << '\n';
    return isUnreadable ? 2 : numWrong != 0 || numFailed != 0 ? 1 : 0;
  }

private:
  void fail(StringRef path, const llvm::Twine &reason) {
    errors << path << ": error: " << reason << '\n';
    isUnreadable = true;
  }

  void list(const std::string &path) {
    if (!llvm::sys::fs::is_directory(path)) {
      files.push_back(path);
      return;
    }
    std::error_code error;
    std::vector<std::string> found;
    for (llvm::sys::fs::directory_iterator entry(path, error), end;
         !error && entry != end; entry.increment(error))
      if (StringRef(entry->path()).ends_with(".proof"))
        found.push_back(entry->path());
    if (error)
      fail(path, error.message());
    llvm::sort(found);
    llvm::append_range(files, found);
  }

  std::optional<std::string> read(StringRef path) {
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
    if (file)
      return (*file)->getBuffer().str();
    fail(path, file.getError().message());
    return std::nullopt;
  }

  /// The statements of a file of rules: with the condition of `where` lines.
  void readRules(StringRef path) {
    auto text = read(path);
    if (!text)
      return;
    Statement *current = nullptr;
    StringRef rest = *text;
    while (!rest.empty()) {
      auto [line, after] = rest.split('\n');
      rest = after;
      line = line.trim();
      if (line.consume_front("rule ")) {
        current = &wanted[line.trim().str()];
        current->name = line.trim().str();
        continue;
      }
      if (line.empty())
        current = nullptr;
      if (!current)
        continue;
      if (line.consume_front("src "))
        current->src.push_back(clean(line));
      else if (line.consume_front("dst "))
        current->dst.push_back(clean(line));
      else if (line.consume_front("where "))
        current->guard +=
            (current->guard.empty() ? "" : " and ") + line.trim().str();
    }
  }

  static std::string clean(StringRef text) {
    auto lists = parseSExprs(text);
    return lists && lists->size() == 1 ? lists->front().str() : text.str();
  }

  void check(const std::string &path) {
    auto text = read(path);
    std::string error;
    auto certificate =
        text ? parseCertificate(*text, error) : std::optional<Certificate>();
    if (certificate)
      error = compare(certificate->statement);
    if (certificate && error.empty())
      error = checker.check(*certificate);
    if (!certificate || !error.empty()) {
      ++numFailed;
      if (text)
        os << path << ": not checked: " << error << '\n';
      return;
    }
    const Statement &statement = certificate->statement;
    stated.insert(statement.name);
    os << statement.name << ": checked: "
       << (statement.guard.empty() ? "proved" : "proved-if " + statement.guard)
       << '\n';
  }

  /// Whether the statement is that of the rule of its name.
  std::string compare(const Statement &statement) {
    if (wanted.empty())
      return "";
    auto rule = wanted.find(statement.name);
    if (rule == wanted.end())
      return "expects a rule of the file, but got '" + statement.name + "'";
    if (!(rule->second == statement))
      return "expects the rule\n" + rule->second.str() + "but got\n" +
             statement.str();
    return "";
  }

  llvm::raw_ostream &os, &errors;
  Solver solver;
  Checker checker;
  std::vector<std::string> files;
  std::map<std::string, Statement> wanted;
  std::set<std::string> stated;
  unsigned numFailed = 0, numWrong = 0;
  bool isUnreadable = false;
};
} // namespace

int espalier::proof::checkProofs(llvm::ArrayRef<std::string> paths,
                                 StringRef rules, llvm::raw_ostream &os,
                                 llvm::raw_ostream &errors) {
  return FileChecker(os, errors).run(paths, rules);
}
