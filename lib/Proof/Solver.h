//===- Solver.h - Questions for the program z3 ------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_PROOF_SOLVER_H
#define ESPALIER_LIB_PROOF_SOLVER_H

#include "Index.h"
#include <set>

namespace espalier::proof {

/// Conditions of which all must hold, of one alternative or another.
using Clause = std::vector<Conditions>;

/// A question whether facts can hold together.
class Question {
public:
  void assume(const Conditions &conditions);
  void assume(const Clause &clause);
  /// Any formula, of which `declareReal` and `print` have seen all variables.
  void assume(const std::string &formula);
  /// A real variable, or a function of reals.
  void declareReal(const std::string &name, unsigned arity = 0);
  /// In SMT-LIB; what the integer is made of is declared and defined.
  std::string print(const Index &index);
  std::string print(const Condition &condition);
  std::string print(const Conditions &conditions);
  std::string print(const Clause &clause);
  /// `formula` for all values of variables that nothing else mentions.
  std::string forAll(const std::vector<std::string> &names,
                     const std::string &formula);

  std::string str() const;

private:
  std::set<std::string> declarations;
  std::vector<std::string> formulas;
  std::set<std::string> known;
};

/// The program z3, which runs as long as this lives.
class Solver {
public:
  /// One question may take `seconds`, beside what z3 counts by itself.
  explicit Solver(unsigned seconds = 20) : seconds(seconds) {}
  ~Solver();
  Solver(const Solver &) = delete;
  Solver &operator=(const Solver &) = delete;

  /// Whether the answer is `unsat`. Any other answer, none within the limits,
  /// and no program z3, are no.
  bool isImpossible(const Question &question);
  /// How much was asked: more for what is not easy.
  unsigned getEffort() const { return effort; }
  /// Why there is no answer, if the program does not run.
  const std::string &getError() const { return error; }

private:
  bool start();
  void stop();

  /// What z3 prints for commands; nothing if it does not run. A z3 that keeps
  /// to no limit is ended, and is one without an answer.
  std::string ask(const std::string &commands, llvm::StringRef limit);

  unsigned seconds;
  int socket = -1, process = -1;
  unsigned effort = 0;
  std::map<std::string, bool> answers;
  std::string error;
};

} // namespace espalier::proof

#endif // ESPALIER_LIB_PROOF_SOLVER_H
