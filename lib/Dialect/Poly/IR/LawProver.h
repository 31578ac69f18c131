//===- LawProver.h - Terms of laws, for Z3 ----------------------*- C++ -*-===//
//
// Both sides of a law become terms of Z3 over the components of partial
// results. A sum in `math.exp` becomes a product of one variable per summand,
//
//   exp(m - n)  ->  E_m * D_n      where E_m * D_m = 1 and E_m > 0
//
// and a choice in it a choice of products. Then sides are compared case by case
// of what they choose by: as polynomials, in which E_m and D_m cancel, or else
// by Z3, which finds values for which they differ.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_DIALECT_POLY_IR_LAWPROVER_H
#define ESPALIER_LIB_DIALECT_POLY_IR_LAWPROVER_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/MapVector.h"
#include <z3.h>

namespace espalier::poly {

using Terms = llvm::SmallVector<Z3_ast>;

/// Bits of integers, and of indices.
unsigned getWidth(mlir::Type type);

/// Terms for values, and what is known of them.
class Prover {
public:
  Prover();
  ~Prover() { Z3_del_context(context); }
  Prover(const Prover &) = delete;
  Prover &operator=(const Prover &) = delete;

  /// Unknown components of types, which messages call `name`.
  Terms makeUnknown(llvm::StringRef name, mlir::TypeRange types);
  Terms getConstants(llvm::ArrayRef<mlir::Attribute> values);
  /// What `block` yields for some of its arguments; what else it uses is the
  /// same in all calls.
  Terms apply(mlir::Block &block,
              llvm::SmallDenseMap<mlir::Value, Z3_ast> values);
  Terms combine(CombinerOp op, llvm::ArrayRef<Z3_ast> first,
                llvm::ArrayRef<Z3_ast> second);

  /// Why two lists are not known to be equal.
  std::string findFault(llvm::ArrayRef<Z3_ast> lhs, llvm::ArrayRef<Z3_ast> rhs);

private:
  Z3_sort getSort(mlir::Type type);
  Z3_ast makeVariable(mlir::Type type, const llvm::Twine &name);
  Z3_ast getConstant(mlir::TypedAttr value);
  Z3_ast getReal(const llvm::APFloat &value);
  Z3_ast getInfinity(bool isNegative);
  Z3_ast getNumber(int64_t value) { return Z3_mk_int64(context, value, real); }
  Z3_ast makeBinary(Z3_ast (*make)(Z3_context, unsigned, const Z3_ast *),
                    Z3_ast lhs, Z3_ast rhs) {
    Z3_ast both[] = {lhs, rhs};
    return make(context, 2, both);
  }
  Z3_ast choose(Z3_ast condition, Z3_ast lhs, Z3_ast rhs) {
    return Z3_mk_ite(context, condition, lhs, rhs);
  }

  /// Terms for the results of `op`.
  Terms translate(mlir::Operation &op, llvm::ArrayRef<Z3_ast> operands);
  Z3_ast translateReal(mlir::Operation &op, llvm::ArrayRef<Z3_ast> operands);
  Z3_ast translateInteger(mlir::Operation &op, llvm::ArrayRef<Z3_ast> operands);
  Z3_ast compare(mlir::arith::CmpFPredicate predicate, Z3_ast lhs, Z3_ast rhs);
  Z3_ast compare(mlir::arith::CmpIPredicate predicate, Z3_ast lhs, Z3_ast rhs);
  /// Functions, one for each result, of which nothing else is known.
  Terms applyUnknown(mlir::Operation &op, llvm::ArrayRef<Z3_ast> operands);

  Z3_ast makeExp(Z3_ast sum);
  Z3_ast makeExpOfProduct(Z3_ast product);
  /// The variables for the exponential of `term` and of its negative.
  std::pair<Z3_ast, Z3_ast> getExp(Z3_ast term);

  Z3_ast simplify(Z3_ast term);
  Z3_ast replace(Z3_ast term, Z3_ast from, Z3_ast to) {
    return Z3_substitute(context, term, 1, &from, &to);
  }
  bool isOf(Z3_ast term, std::initializer_list<Z3_decl_kind> kinds);
  Terms getOperands(Z3_ast term);
  /// The first choice below sums and products; null if there is none.
  Z3_ast findChoice(Z3_ast term);
  /// A condition without conditions inside that `term` chooses by, or null.
  Z3_ast findCondition(Z3_ast term, llvm::DenseSet<Z3_ast> &seen);
  void addFactors(Z3_ast term, Terms &factors);
  Terms getSummands(Z3_ast term);
  bool isZeroPolynomial(Z3_ast term);

  /// Adds that exponentials grow with what they are of.
  void addOrder();
  /// What stands for the variables of one side of `condition`, an equality, so
  /// that the other side's do; none if it is another condition.
  llvm::SmallVector<std::pair<Z3_ast, Z3_ast>>
  getReplacements(Z3_ast condition);
  std::string compareInCases(Z3_ast lhs, Z3_ast rhs, Terms &path,
                             unsigned &numCases);
  /// Whether the facts, `path` and `question` can hold; values for which they
  /// do are in `example`.
  Z3_lbool check(llvm::ArrayRef<Z3_ast> path, Z3_ast question,
                 std::string &example);
  std::string describe(Z3_model model);
  std::string describe(Z3_model model, mlir::Type type, Z3_ast term);

  Z3_context context;
  Z3_solver solver;
  Z3_sort real;
  Terms facts;
  /// By name.
  llvm::MapVector<llvm::StringRef,
                  llvm::SmallVector<std::pair<mlir::Type, Z3_ast>>>
      unknowns;
  llvm::SmallDenseMap<mlir::Value, Z3_ast> shared;
  llvm::MapVector<Z3_ast, std::pair<Z3_ast, Z3_ast>> exponentials;
  /// The positive and the negative one.
  Terms infinities;
  /// There are functions that may have other values in an example.
  bool hasFunctions = false;
};

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_IR_LAWPROVER_H
