//===- Search.h - Finds the steps of a proof --------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_PROOF_SEARCH_SEARCH_H
#define ESPALIER_LIB_PROOF_SEARCH_SEARCH_H

#include "../Goal.h"

namespace espalier::proof {

/// Finds steps that prove goals. What it returns is checked by others.
class Search {
public:
  /// `offered` is what holds where `src` has values.
  Search(Steps &steps, Solver &solver, const std::vector<Demand> &offered)
      : steps(steps), solver(solver), offered(offered) {}

  /// Steps that prove the goal, if it finds some within a number of questions.
  std::optional<SExpr> prove(const Goal &goal, unsigned maxQuestions);
  /// How a demand is met that was posed, by its sign or by what `src` asks for.
  std::optional<SExpr> meet(const Goal &goal, Demand::Kind kind,
                            unsigned depth = 0);

private:
  struct Limits {
    unsigned depth = 0;
    unsigned nesting = 0; ///< In functions that are compared.
    unsigned attained = 0;
    unsigned compared = 0;
    bool onlyMatches = false;
    bool hasUsed = false; ///< What `src` asks for.
    bool hasGathered = false;
    std::set<std::string> tried;                  ///< Comparisons of maxima.
    std::vector<std::vector<std::string>> points; ///< Where they are attained.
  };

  bool isSpent() const { return solver.getEffort() > limit; }
  std::optional<SExpr> prove(Goal goal, Limits limits);

  std::optional<SExpr> match(const Goal &goal, Limits limits);
  std::optional<SExpr> unify(const Goal &goal, unsigned into, unsigned term,
                             Limits limits, Member &member);
  std::optional<SExpr> unifyBy(const Goal &goal, Merge merge, Limits limits,
                               Member &member);
  /// With equations between variables; those that they do not mention are
  /// paired in some order.
  std::optional<SExpr> unifyInOrder(const Goal &goal, Merge merge,
                                    const Conditions &equations, Limits limits,
                                    Member &member);

  /// Terms whose summands are zero together.
  std::optional<SExpr> gather(const Goal &goal, Limits limits);
  /// What `src` asks for, wherever that is about what the goal reads.
  std::optional<SExpr> use(const Goal &goal, Limits limits);
  /// Gives names to quotients of sizes; the steps that do so.
  std::vector<SExpr> nameSizes(Goal &goal);
  std::optional<SExpr> distinguish(const Goal &goal, const Condition &condition,
                                   Limits limits);
  std::optional<SExpr> split(const Goal &goal, Limits limits);
  /// A variable that nothing reads, and that has few values.
  std::optional<SExpr> expand(const Goal &goal, Limits limits);
  std::optional<SExpr> cancel(const Goal &goal, Limits limits);
  std::optional<SExpr> rewrite(const Goal &goal, Limits limits);
  std::optional<SExpr> scalar(const Goal &goal, Limits limits);
  std::optional<SExpr> attain(const Goal &goal, Limits limits);
  std::optional<SExpr> compare(const Goal &goal, Limits limits);

  Steps &steps;
  Solver &solver;
  const std::vector<Demand> &offered;
  unsigned limit = 0;
  unsigned numCancelled = 0; ///< Pairs that are being looked at.
};

/// Lists of equations that may say where `other` is about the same as `sum`:
/// what both read. The first has all of them.
std::vector<Conditions> listEquations(const Sum &sum, const Sum &other);
/// Solves linear equations for variables, by those with unit coefficients;
/// false if some stay unknown.
bool solveAll(Conditions equations, const Names &unknowns,
              std::vector<Index> &solutions);

} // namespace espalier::proof

#endif // ESPALIER_LIB_PROOF_SEARCH_SEARCH_H
