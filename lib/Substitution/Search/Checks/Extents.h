//===- Extents.h - Unknown extents as variables -----------------*- C++ -*-===//
//
// The extents that only the run knows, of tensors of one block, as linear forms
// (Linear.h). Variables stand for extents of the values that come into the
// block, for quotients of forms, which the windows of convolutions and pools
// make, and for what follows from neither.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_EXTENTS_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_EXTENTS_H

#include "../../Linear.h"
#include "mlir/IR/Builders.h"
#include <vector>

namespace espalier::substitution {

/// What a variable stands for; nothing that is known if both `value` and
/// `divisor` are null.
struct ExtentInfo {
  mlir::Value value; ///< A value that comes into the block,
  unsigned dim = 0;  ///< and its dimension.
  Linear dividend;   ///< floor(dividend / divisor).
  int64_t divisor = 0;

  bool isEntry() const { return static_cast<bool>(value); }
  bool isQuotient() const { return divisor != 0; }
};

/// The variables of one block.
class ExtentTable {
public:
  /// An extent of a value that comes into the block. Those that
  /// `espalier.dims` gives one name are one: callers see to that.
  Linear getEntry(mlir::Value value, unsigned dim);
  Linear getQuotient(const Linear &dividend, int64_t divisor);
  Linear makeUnknown();

  unsigned size() const { return infos.size(); }
  const ExtentInfo &operator[](Var var) const { return infos[var]; }

  /// Whether the form can be computed before the block is run, without an
  /// overflow if no extent exceeds `kMaxExtent`.
  bool isComputable(const Linear &form) const;

  void print(const Linear &form, llvm::raw_ostream &os) const;
  /// `a == b` or `a >= b`, without negative numbers.
  void print(const Constraint &constraint, llvm::raw_ostream &os) const;

  /// No check holds for larger extents than this.
  static constexpr int64_t kMaxExtent = (int64_t(1) << 31) - 1;

private:
  std::optional<int64_t> getMagnitude(const Linear &form) const;
  void printTerms(const Linear &form, int64_t sign,
                  llvm::raw_ostream &os) const;

  Linear add(ExtentInfo info);

  std::vector<ExtentInfo> infos;
};

/// A condition on extents: the constraints of one of the alternatives hold.
using Clause = std::vector<Constraints>;

std::string toString(const Clause &clause, const ExtentTable &extents);

/// Computes whether all clauses hold, and all extents of values that come into
/// the block are from 1 to `kMaxExtent`. Nothing that is computed overflows,
/// whatever they are.
mlir::Value emitChecks(llvm::ArrayRef<Clause> clauses,
                       const ExtentTable &extents, mlir::OpBuilder &builder,
                       mlir::Location loc);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_EXTENTS_H
