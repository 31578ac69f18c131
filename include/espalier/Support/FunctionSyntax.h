//===- FunctionSyntax.h - Text of operations like func.func -----*- C++ -*-===//

#ifndef ESPALIER_SUPPORT_FUNCTIONSYNTAX_H
#define ESPALIER_SUPPORT_FUNCTIONSYNTAX_H

#include "mlir/Interfaces/FunctionImplementation.h"

namespace espalier {

/// Reads a function operation as `func.func` is read.
template <typename Op>
mlir::ParseResult parseFunction(mlir::OpAsmParser &parser,
                                mlir::OperationState &result) {
  namespace impl = mlir::function_interface_impl;
  auto buildType =
      [](mlir::Builder &builder, llvm::ArrayRef<mlir::Type> arguments,
         llvm::ArrayRef<mlir::Type> results, impl::VariadicFlag,
         std::string &) { return builder.getFunctionType(arguments, results); };
  return impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                               Op::getFunctionTypeAttrName(result.name),
                               buildType, Op::getArgAttrsAttrName(result.name),
                               Op::getResAttrsAttrName(result.name));
}

/// Prints a function operation as `func.func` is printed.
template <typename Op>
void printFunction(mlir::OpAsmPrinter &printer, Op op) {
  mlir::function_interface_impl::printFunctionOp(
      printer, op, /*isVariadic=*/false, op.getFunctionTypeAttrName(),
      op.getArgAttrsAttrName(), op.getResAttrsAttrName());
}

} // namespace espalier

#endif // ESPALIER_SUPPORT_FUNCTIONSYNTAX_H
