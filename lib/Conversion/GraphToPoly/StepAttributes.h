//===- StepAttributes.h - What steps have decided, as attributes *- C++ -*-===//
//
// Between the steps, what one of them has decided for another stands in the IR:
//
//   memref.alloc, memref.get_global, poly.array
//     poly.layout    where an element lies: a map from the array's indices to
//                    those of the memory, whose results are indices of the
//                    array, or their quotients and remainders by a number
//     poly.fusion    whether those that read it are in the kernel that computes
//                    it, where somebody has chosen that
//     poly.padding   what the memory has beyond that, along each of its indices
//     poly.order     the order in memory that the program asks for, outermost
//                    first; also on arguments of @main
//   poly.compute
//     poly.algorithm   how a sum is computed, where somebody has chosen it
//     poly.recurrence  the dimension along which a computation reads what it,
//                      or another one of the kernel, has computed before
//     poly.keeps_row_major  lanes lie along the rows that the caller has
//     poly.entries     how the entries of a sum are stored, where somebody has
//                      chosen it
//   poly.kernel
//     poly.shared_dims  the loops that its computations share
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_STEPATTRIBUTES_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_STEPATTRIBUTES_H

#include "StatementList.h"
#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::graphtopoly {

using poly::kAlgorithmAttr;
using poly::kFusionAttr;
using poly::kLayoutAttr;
inline constexpr llvm::StringLiteral kPaddingAttr = "poly.padding";
inline constexpr llvm::StringLiteral kOrderAttr = "poly.order";
inline constexpr llvm::StringLiteral kRecurrenceAttr = "poly.recurrence";
inline constexpr llvm::StringLiteral kKeepsRowMajorAttr =
    "poly.keeps_row_major";
inline constexpr llvm::StringLiteral kSharedDimsAttr = "poly.shared_dims";
/// The name of the loop over levels.
inline constexpr llvm::StringLiteral kLevelName = "level";

/// The attributes of an array, which lies in the order of its indices
/// afterwards.
mlir::DictionaryAttr takeAttributes(const StatementList &program, Array &array);
void setAttributes(poly::ComputeOp compute, const Statement &statement);
void setAttributes(poly::KernelOp kernel, const FusionGroup &fusionGroup);

/// Reads an attribute that is a number. Returns what it is expected to be if it
/// is not, and nothing if all is well or there is none.
std::string readNumber(mlir::Operation *op, llvm::StringRef name,
                       std::optional<int64_t> &number);

/// Reads an array's attributes. Returns what they are expected to be if they
/// are not, and nothing if all is well.
std::string readAttributes(mlir::DictionaryAttr facts, Array &array);
/// The same for a computation, but for its recurrence.
std::string readAttributes(poly::ComputeOp compute, Statement &statement);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_STEPATTRIBUTES_H
