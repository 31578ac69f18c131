//===- Solver.cpp - Questions for the program z3 --------------------------===//
//
// Limits are in z3's own units, so that answers do not depend on the machine. A
// question that is not easy stands for itself: `reset` comes before it.
//
//===----------------------------------------------------------------------===//

#include "Solver.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace espalier::proof;

/// Of an easy question, and of one that is not: about three seconds.
static constexpr const char *kEasyLimit = "300000", *kLimit = "4000000";
/// What a question counts that is not easy, and one without an answer.
static constexpr unsigned kHardEffort = 30, kLostEffort = 100;

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

/// With the variables v0, v1.. numbered in the order in which they come, so
/// that questions that differ in names alone are one.
static std::string renumber(llvm::StringRef text) {
  std::map<llvm::StringRef, size_t> numbers;
  std::string result;
  auto isEnd = [](char c) { return llvm::StringRef(" ()\n").contains(c); };
  while (!text.empty()) {
    size_t size = text.find_if(isEnd);
    llvm::StringRef word = text.take_front(size),
                    digits = word.drop_front(word.starts_with("v") ? 1 : 0);
    if (digits.size() < word.size() && !digits.empty() &&
        llvm::all_of(digits, llvm::isDigit))
      result +=
          "v" + std::to_string(
                    numbers.try_emplace(word, numbers.size()).first->second);
    else
      result += word;
    text = text.drop_front(word.size());
    result += text.take_front(1);
    text = text.drop_front(text.empty() ? 0 : 1);
  }
  return result;
}

std::string Question::str() const {
  std::string text;
  for (const std::string &formula : formulas)
    text += formula + "\n";
  for (const std::string &declaration : declarations)
    text += declaration + "\n";
  text = renumber(text);
  // Formulas have said the numbers; declarations come first.
  llvm::StringRef known = text;
  size_t size = known.find("(declare-");
  llvm::SmallVector<llvm::StringRef> lines;
  known.drop_front(std::min(size, known.size())).split(lines, '\n');
  llvm::sort(lines);
  return "(define-fun larger ((a Int) (b Int)) Int (ite (>= a b) a b))\n"
         "(declare-fun quotient (Int Int) Int)" +
         llvm::join(lines, "\n") + "\n" + known.take_front(size).str();
}

//===----------------------------------------------------------------------===//
// Solver
//===----------------------------------------------------------------------===//

Solver::~Solver() { stop(); }

bool Solver::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    error = "cannot talk to the program z3";
    return false;
  }
  std::string time = "-t:" + std::to_string(1000 * seconds);
  process = fork();
  if (process == 0) {
    dup2(ends[1], 0);
    dup2(ends[1], 1);
    // The time is for what z3 does not count, if it looks at it.
    execlp("z3", "z3", "-in", "-memory:2000", time.c_str(),
           static_cast<char *>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  socket = ends[0];
  if (process > 0)
    return true;
  error = "cannot start the program z3";
  return false;
}

void Solver::stop() {
  if (socket >= 0)
    close(socket);
  while (process > 0 && waitpid(process, nullptr, 0) < 0 && errno == EINTR)
    ;
  socket = process = -1;
}

bool Solver::isImpossible(const Question &question) {
  std::string text = question.str();
  auto [answer, isNew] = answers.try_emplace(text, false);
  if (!isNew)
    return answer->second;
  ++effort;
  // Most questions are easy, and a scope costs less than a new beginning.
  std::string reply =
      ask("(push 1)\n" + text + "(check-sat)\n(pop 1)\n", kEasyLimit);
  if (reply == "unknown\n" || reply == "timeout\n") {
    effort += kHardEffort;
    reply = ask("(reset)\n" + text + "(check-sat)\n(reset)\n", kLimit);
    if (reply != "unsat\n" && reply != "sat\n")
      effort += kLostEffort;
  }
  answer->second = reply == "unsat\n";
  return answer->second;
}

std::string Solver::ask(const std::string &commands, llvm::StringRef limit) {
  if (process < 0 && !start())
    return "";
  std::string text = "(set-option :rlimit " + limit.str() + ")\n" + commands +
                     "(echo \"done\")\n";
  for (size_t sent = 0; sent < text.size();) {
    ssize_t count =
        send(socket, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno != EINTR)
      break;
    sent += std::max<ssize_t>(count, 0);
  }
  // Some of what z3 does with polynomials keeps to no limit.
  using Clock = std::chrono::steady_clock;
  Clock::time_point end = Clock::now() + std::chrono::seconds(seconds + 1);
  std::string reply;
  while (!llvm::StringRef(reply).ends_with("done\n")) {
    auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    pollfd entry{socket, POLLIN, 0};
    int ready = poll(&entry, 1, std::max<int>(left.count(), 0));
    if (ready == 0) {
      kill(process, SIGKILL);
      stop();
      effort += kHardEffort + kLostEffort;
      return "";
    }
    if (ready < 0 && errno == EINTR)
      continue;
    char buffer[4096];
    ssize_t count = read(socket, buffer, sizeof(buffer));
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0) {
      stop();
      error = "the program z3 does not answer";
      return "";
    }
    reply.append(buffer, count);
  }
  reply.resize(reply.size() - 5);
  return reply;
}
