//===- Laws.h - Proofs about combiners --------------------------*- C++ -*-===//
//
// Floats are real numbers, infinities a number beyond all others, and integers
// what they are. Of functions such as `math.tanh` it is known that they are
// functions, of `math.exp` that sums become products. What is not proved is
// refused, with values for which it does not hold if there are any.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_DIALECT_POLY_IR_LAWS_H
#define ESPALIER_LIB_DIALECT_POLY_IR_LAWS_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// What a combiner promises.
enum class Law { Neutral, Associative, Commutative };

/// Why `law` is not proved of `combiner`, a well-formed one: values for which
/// it does not hold, say. Empty if it is.
std::string findLawFault(CombinerOp combiner, Law law);

/// Why it is not proved that the body of `compute`, whose elements are the
/// arguments `elements`, combines these with what it makes of the neutral ones;
/// empty if it is.
std::string findUpdateFault(ComputeOp compute, CombinerOp combiner,
                            llvm::ArrayRef<unsigned> elements);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_IR_LAWS_H
