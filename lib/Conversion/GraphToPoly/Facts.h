//===- Facts.h - What steps have decided, as attributes ---------*- C++ -*-===//
//
// Between the steps, what one of them has decided for another stands in the IR:
//
//   memref.alloc, memref.get_global, poly.array
//     poly.layout    where an element lies: a map from the array's indices to
//                    those of the memory, whose results are indices of the
//                    array, or their quotients and remainders by a number
//     poly.padding   what the memory has beyond that, along each of its indices
//     poly.order     the order in memory that the program asks for, outermost
//                    first; also on arguments of @main
//   poly.compute
//     poly.algorithm   how a sum is computed, where somebody has chosen it
//     poly.recurrence  the dimension along which a computation reads what it,
//                      or another one of the kernel, has computed before
//     poly.keeps_rows  lanes lie along the rows that the caller has
//   poly.kernel
//     poly.shared_dims  the loops that its computations share
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_FACTS_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_FACTS_H

#include "StepProgram.h"
#include "espalier/Dialect/Poly/IR/Facts.h"
#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::graphtopoly {

using poly::kAlgorithmFact;
using poly::kLayoutFact;
inline constexpr llvm::StringLiteral kPaddingFact = "poly.padding";
inline constexpr llvm::StringLiteral kOrderFact = "poly.order";
inline constexpr llvm::StringLiteral kRecurrenceFact = "poly.recurrence";
inline constexpr llvm::StringLiteral kKeepsRowsFact = "poly.keeps_rows";
inline constexpr llvm::StringLiteral kSharedDimsFact = "poly.shared_dims";
/// The name of the loop over levels.
inline constexpr llvm::StringLiteral kLevelName = "level";

/// The attributes of an array, which lies in the order of its indices
/// afterwards.
mlir::DictionaryAttr takeFacts(const StepProgram &program, Array &array);
void setFacts(poly::ComputeOp compute, const Statement &statement);
void setFacts(poly::KernelOp kernel, const Cluster &cluster);

/// Reads an attribute that is a number. Returns what it is expected to be if it
/// is not, and nothing if all is well or there is none.
std::string readNumber(mlir::Operation *op, llvm::StringRef name,
                       std::optional<int64_t> &number);

/// Reads an array's attributes. Returns what they are expected to be if they
/// are not, and nothing if all is well.
std::string readFacts(mlir::DictionaryAttr facts, Array &array);
/// The same for a computation, but for its recurrence.
std::string readFacts(poly::ComputeOp compute, Statement &statement);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_FACTS_H
