//===- Emptiness.cpp - Whether constraints have a solution ----------------===//

#include "espalier/Polyhedral/Emptiness.h"
#include "mlir/Analysis/Presburger/Simplex.h"

using namespace espalier::polyhedral;

std::optional<bool>
espalier::polyhedral::isEmpty(const Context &context, unsigned numDims,
                              llvm::ArrayRef<LinearConstraint> constraints) {
  mlir::presburger::Simplex simplex(numDims);
  llvm::SmallVector<int64_t> row;
  for (const LinearConstraint &constraint : constraints) {
    row.assign(constraint.coefficients.begin(), constraint.coefficients.end());
    row.push_back(constraint.constant);
    auto numbers = mlir::presburger::getDynamicAPIntVec(row);
    if (constraint.isEquality)
      simplex.addEquality(numbers);
    else
      simplex.addInequality(numbers);
    // Nothing rational, nothing integer.
    if (simplex.isEmpty())
      return true;
  }
  if (simplex.getSamplePointIfIntegral())
    return false;
  return Set::get(context, numDims, constraints).isEmpty();
}
