//===- NumberSyntax.h - How numbers of commands are written -----*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMOPS_NUMBERSYNTAX_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMOPS_NUMBERSYNTAX_H

#include "mlir/IR/OpImplementation.h"

namespace espalier::poly {

using Param = mlir::OpAsmParser::UnresolvedOperand;

/// A number, or a parameter: `4`, `%rows`.
mlir::ParseResult parseNumber(mlir::OpAsmParser &parser,
                              std::optional<Param> &param,
                              mlir::IntegerAttr &number);
void printNumber(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                 mlir::Value param, mlir::IntegerAttr number);

/// A list of them: `[4, %rows]`.
mlir::ParseResult parseNumbers(mlir::OpAsmParser &parser,
                               llvm::SmallVectorImpl<Param> &params,
                               mlir::DenseI64ArrayAttr &numbers);
void printNumbers(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                  mlir::OperandRange params, mlir::DenseI64ArrayAttr numbers);

/// A list of lists: `[[64, 64], [4, %rows]]`.
mlir::ParseResult parseNumberLists(mlir::OpAsmParser &parser,
                                   llvm::SmallVectorImpl<Param> &params,
                                   mlir::ArrayAttr &lists);
void printNumberLists(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::OperandRange params, mlir::ArrayAttr lists);

/// A number, a parameter or a map: `affine_map<()[N] -> (N - 1)>`.
mlir::ParseResult parseAmount(mlir::OpAsmParser &parser,
                              std::optional<Param> &param,
                              mlir::AffineMapAttr &amount);
void printAmount(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                 mlir::Value param, mlir::AffineMapAttr amount);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMOPS_NUMBERSYNTAX_H
