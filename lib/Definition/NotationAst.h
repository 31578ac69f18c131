//===- NotationAst.h - Syntax trees of the index notation -------*- C++ -*-===//
//
// What the text of a definition says before ranks and types are known.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_DEFINITION_NOTATIONAST_H
#define ESPALIER_LIB_DEFINITION_NOTATIONAST_H

#include "espalier/Definition/Expr.h"
#include "mlir/Support/LLVM.h"
#include <vector>

namespace espalier::definition {

/// `i` or `b..`.
struct IndexName {
  llvm::StringRef name;
  bool isPack;
};

struct Ast;
using AstPtr = std::unique_ptr<Ast>;

/// A node of the syntax tree.
struct Ast {
  enum class Kind {
    Number,      ///< `number`.
    Name,        ///< `name`: an index or an attribute.
    Pack,        ///< `name..` as an index.
    Access,      ///< `name[args]`.
    Call,        ///< `name(args)`, operators included (`fn` is set for these).
    Conditional, ///< `args[1] if args[0] else args[2]`.
    Reduce,      ///< `kind(vars < extents | args[1]) args[0]`.
  } kind;
  llvm::StringRef text; ///< The source, for diagnostics.
  llvm::StringRef name;
  std::variant<int64_t, double> number = int64_t(0);
  std::optional<ScalarFn> fn;
  ReduceKind reduceKind = ReduceKind::Sum;
  bool isMean = false; ///< A sum that is divided by the number of points.
  llvm::SmallVector<IndexName, 2> vars;
  std::vector<AstPtr> extents; ///< Of each variable; null if not given.
  std::vector<AstPtr> args;
};

/// `name[indices < extents] = value`.
struct Equation {
  llvm::StringRef name;
  llvm::SmallVector<IndexName> indices;
  std::vector<AstPtr> extents; ///< Of each index; null if not given.
  AstPtr value;
};

using NotationError = llvm::function_ref<void(const llvm::Twine &)>;

/// Parses the equations of `text`. `isAttribute` tells the names that are
/// attributes, which keeps `max(alpha, beta)` apart from `max(k) A[k]`.
mlir::FailureOr<std::vector<Equation>>
parseEquations(llvm::StringRef text,
               llvm::function_ref<bool(llvm::StringRef)> isAttribute,
               NotationError error);

} // namespace espalier::definition

#endif // ESPALIER_LIB_DEFINITION_NOTATIONAST_H
