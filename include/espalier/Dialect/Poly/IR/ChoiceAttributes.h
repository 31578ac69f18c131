//===- ChoiceAttributes.h - Choices before kernels are formed ---*- C++ -*-===//
//
// Until kernels are formed, what is chosen for them stands in attributes. These
// are those that a person may choose (KernelCommands.h).
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_IR_CHOICEATTRIBUTES_H
#define ESPALIER_DIALECT_POLY_IR_CHOICEATTRIBUTES_H

#include "mlir/IR/AffineMap.h"
#include <optional>

namespace espalier::poly {

/// Of a module: the stage of compilation that it is at. The pipeline sets it at
/// the end of each; passes that lead from one to the next remove it.
inline constexpr llvm::StringLiteral kStageAttr = "espalier.stage";
/// The stage at which choices are made.
inline constexpr llvm::StringLiteral kStatementsStage = "statements";

/// Of a buffer or a constant of the program: where an element lies.
inline constexpr llvm::StringLiteral kLayoutAttr = "poly.layout";
/// Of a buffer of the program: whether those that read it are in the kernel
/// that writes it, one of `Fusion`.
inline constexpr llvm::StringLiteral kFusionAttr = "poly.fusion";
/// Of a computation: how it is computed, one of `Algorithm`.
inline constexpr llvm::StringLiteral kAlgorithmAttr = "poly.algorithm";

/// Where those that read a result are: in other kernels than the one that
/// computes it, or all in that.
enum class Fusion { Separate, Fused };
llvm::StringRef stringifyFusion(Fusion fusion);
/// Nothing if `name` is that of none.
std::optional<Fusion> symbolizeFusion(llvm::StringRef name);

/// What `kLayoutAttr` of an array of `shape` is expected to be, if `layout` is
/// something else: it has the indices, or their quotients and remainders by a
/// number, as results, gives each element a place of its own, and wastes
/// little.
std::string checkLayout(mlir::AffineMap layout, llvm::ArrayRef<int64_t> shape);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_IR_CHOICEATTRIBUTES_H
