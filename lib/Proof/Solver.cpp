//===- Solver.cpp - Questions for the program z3 --------------------------===//
//
// Each question stands for itself: `reset` comes before it. Its limit is one of
// z3's own units, so that answers do not depend on the machine.
//
//===----------------------------------------------------------------------===//

#include "Solver.h"
#include "llvm/ADT/STLExtras.h"
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace espalier::proof;

/// Of one question: about three seconds.
static constexpr const char *kLimit = "6000000";

//===----------------------------------------------------------------------===//
// Question
//===----------------------------------------------------------------------===//

std::string Question::print(const Index &index) {
  index.walk([&](const Part &part) {
    if (part.isVariable())
      declarations.insert("(declare-const " + part.text + " Int)");
    if (part.fn != "quotient" || !known.insert(part.text).second)
      return;
    std::string lhs = (*part.args)[0].str(), rhs = (*part.args)[1].str();
    std::string product = "(* " + part.text + " " + rhs + ")";
    assume("(=> (<= 1 " + rhs + ") (and (<= " + product + " " + lhs + ") (< " +
           lhs + " (+ " + product + " " + rhs + "))))");
  });
  return index.str();
}

std::string Question::print(const Condition &condition) {
  return (condition.isEquality ? "(= 0 " : "(<= 0 ") + print(condition.value) +
         ")";
}

std::string Question::print(const Conditions &conditions) {
  std::string text = "(and true";
  for (const Condition &condition : conditions)
    text += " " + print(condition);
  return text + ")";
}

std::string Question::print(const Clause &clause) {
  std::string text = "(or false";
  for (const Conditions &conditions : clause)
    text += " " + print(conditions);
  return text + ")";
}

void Question::assume(const std::string &formula) {
  formulas.push_back("(assert " + formula + ")");
}
void Question::assume(const Conditions &conditions) {
  for (const Condition &condition : conditions)
    assume(print(condition));
}
void Question::assume(const Clause &clause) {
  if (clause.size() == 1)
    return assume(clause.front());
  assume(print(clause));
}

void Question::declareReal(const std::string &name, unsigned arity) {
  std::string args;
  for (unsigned i = 0; i < arity; ++i)
    args += i == 0 ? "Real" : " Real";
  declarations.insert("(declare-fun " + name + " (" + args + ") Real)");
}

std::string Question::forAll(const std::vector<std::string> &names,
                             const std::string &formula) {
  if (names.empty())
    return formula;
  std::string text = "(forall (";
  for (const std::string &name : names)
    text += "(" + name + " Int)";
  return text + ") " + formula + ")";
}

std::string Question::str() const {
  std::string text =
      "(define-fun larger ((a Int) (b Int)) Int (ite (>= a b) a b))\n"
      "(declare-fun quotient (Int Int) Int)\n";
  for (const std::string &declaration : declarations)
    text += declaration + "\n";
  for (const std::string &formula : formulas)
    text += formula + "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Solver
//===----------------------------------------------------------------------===//

Solver::Solver() { std::signal(SIGPIPE, SIG_IGN); }
Solver::~Solver() { stop(); }

bool Solver::start() {
  int in[2], out[2];
  if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) {
    error = "cannot make a pipe";
    return false;
  }
  process = fork();
  if (process == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    execlp("z3", "z3", "-in", "-memory:2000", static_cast<char *>(nullptr));
    _exit(127);
  }
  close(in[0]);
  close(out[1]);
  input = in[1];
  output = out[0];
  if (process > 0)
    return true;
  error = "cannot start a process";
  return false;
}

void Solver::stop() {
  if (input >= 0)
    close(input);
  if (output >= 0)
    close(output);
  if (process > 0)
    waitpid(process, nullptr, 0);
  input = output = process = -1;
}

bool Solver::isImpossible(const Question &question) {
  std::string text = question.str();
  auto [answer, isNew] = answers.try_emplace(text, false);
  if (!isNew)
    return answer->second;
  if (process < 0 && !start())
    return false;
  ++numQuestions;
  if (const char *log = std::getenv("ESPALIER_PROOF_LOG")) {
    FILE *file = fopen(log, "a");
    fprintf(file, "(reset)\n(set-option :rlimit %s)\n%s(check-sat)\n", kLimit,
            text.c_str());
    fclose(file);
  }
  text = std::string("(reset)\n(set-option :rlimit ") + kLimit + ")\n" + text +
         "(check-sat)\n(echo \"done\")\n";
  size_t written = 0;
  while (written < text.size()) {
    ssize_t count =
        write(input, text.data() + written, text.size() - written);
    if (count <= 0)
      break;
    written += count;
  }
  std::string reply;
  while (!llvm::StringRef(reply).ends_with("done\n")) {
    char buffer[4096];
    ssize_t count = read(output, buffer, sizeof(buffer));
    if (count <= 0) {
      stop();
      error = "the program z3 does not answer";
      return false;
    }
    reply.append(buffer, count);
  }
  answer->second = reply == "unsat\ndone\n";
  return answer->second;
}
