//===- Ast.h - Loops that scan a schedule tree ------------------*- C++ -*-===//
//
// The result of scanning: loops, conditions and statement instances, with
// MLIR's affine expressions. Dimension `d<k>` of any expression is the iterator
// of the enclosing loop with `iterator == k`; symbol `s<p>` is parameter p.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_POLYHEDRAL_AST_H
#define ESPALIER_POLYHEDRAL_AST_H

#include "espalier/Polyhedral/Schedule.h"
#include "espalier/Polyhedral/Set.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace espalier::polyhedral {

struct AstCondition;

/// An integer: an affine expression, or the maximum or minimum of others, or a
/// choice between two.
struct AstExpr {
  enum class Kind { Affine, Max, Min, Select };

  Kind kind = Kind::Affine;
  mlir::AffineExpr affine;       ///< Affine.
  std::vector<AstExpr> operands; ///< Max, Min: two or more. Select: two.
  std::shared_ptr<AstCondition> condition; ///< Select: operand 0 if it holds.

  AstExpr() = default;
  explicit AstExpr(mlir::AffineExpr affine) : affine(affine) {}

  /// The value, if it is a constant.
  std::optional<int64_t> getConstant() const;
  /// Calls `visit` for each affine expression, those of conditions included.
  void walk(llvm::function_ref<void(mlir::AffineExpr)> visit) const;
};

/// A condition over integers.
struct AstCondition {
  enum class Kind { True, NonNegative, Zero, And, Or, Not };

  Kind kind = Kind::True;
  AstExpr value;                      ///< NonNegative: value >= 0; Zero.
  std::vector<AstCondition> operands; ///< And, Or: any number. Not: one.

  void walk(llvm::function_ref<void(mlir::AffineExpr)> visit) const;
};

struct AstNode;
using Ast = std::unique_ptr<AstNode>;

/// A node of the loop program.
struct AstNode {
  enum class Kind {
    For,   ///< for (d<iterator> = lower; < upper; += step) children[0]
    If,    ///< if (condition) children[0] [else children[1]]
    Block, ///< children in order
    Call,  ///< statement(values)
    Mark,  ///< mark children[0]
  };

  Kind kind;
  /// For. The member of the tree's band that the loop runs over, and its tag;
  /// null for a loop over what the tree left unordered.
  unsigned iterator = 0;
  AstExpr lower;
  AstExpr upper; ///< Exclusive.
  int64_t step = 1;
  const BandMember *member = nullptr;
  mlir::Attribute tag;
  /// If.
  AstCondition condition;
  /// Call: the statement's number, and the value of each of its dimensions.
  unsigned statement = 0;
  llvm::SmallVector<mlir::AffineExpr> values;
  /// Mark.
  mlir::Attribute mark;
  std::vector<Ast> children;

  explicit AstNode(Kind kind) : kind(kind) {}

  /// A copy, with all nodes below.
  Ast clone() const;
  /// The least number above all iterators of the loops.
  unsigned countIterators() const;
};

/// The loops that execute `program` as `schedule` says (null: a single leaf).
/// Fails with a message when the schedule cannot be scanned, or when that takes
/// more than `limits` allow. An empty program gives an empty block.
llvm::Expected<Ast> scanSchedule(const Program &program,
                                 const ScheduleNode *schedule,
                                 const Limits &limits = {});

/// The value of an affine expression. A dimension or symbol beyond the lists
/// does not occur.
int64_t evaluate(mlir::AffineExpr expr, llvm::ArrayRef<int64_t> dims,
                 llvm::ArrayRef<int64_t> symbols);

/// One execution of a statement, inside loops with values.
struct AstInstance {
  unsigned statement;
  llvm::SmallVector<int64_t> point;
  llvm::ArrayRef<std::pair<const AstNode *, int64_t>> loops;
};

/// Runs the loops for given parameters: calls `visit` for one instance after
/// the other. Stops when it returns false, and then returns false.
bool runAst(const AstNode &node, llvm::ArrayRef<int64_t> parameters,
            llvm::function_ref<bool(const AstInstance &)> visit);

/// What printed loops are called.
struct AstNames {
  /// By number; `s<p>` for those without one.
  llvm::SmallVector<std::string> parameters;
  /// The name of a loop with a tag, and what else is to be said of it. Without
  /// this function, `d<iterator>` and the tag.
  std::function<std::pair<std::string, std::string>(mlir::Attribute)> loop;
};

/// An expression of parameters as text.
std::string toText(mlir::AffineExpr expr, const AstNames &names);

/// Prints loops, one per line.
void print(const Program &program, const AstNode &node, llvm::raw_ostream &os,
           const AstNames &names = {});

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_AST_H
