//===- OpenNumbers.h - Numbers that a script leaves open --------*- C++ -*-===//
//
// A number of a command is an attribute, or a parameter of the script stands
// for it: then the attribute has `kDynamic` in its place, as in other dialects,
// or is the empty map where it could be a map. A command that runs has numbers.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_OPENNUMBERS_H
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_OPENNUMBERS_H

#include "mlir/IR/OpDefinition.h"

namespace espalier::poly {

/// The type of what may stand for a number: `!transform.param<i64>`.
mlir::Type getNumberParamType(mlir::MLIRContext *context);

/// An attribute with numbers, and the parameters of those that are open. It is
/// a number, a list, a list of lists, or a map.
struct OpenNumber {
  llvm::StringRef attribute;
  mlir::OperandRange params;
};

/// Whether there are as many parameters as open numbers, or an error at `op`.
mlir::LogicalResult verifyOpenNumbers(mlir::Operation *op,
                                      llvm::ArrayRef<OpenNumber> numbers);

/// The trait of operations with a method `getOpenNumbers`.
template <typename ConcreteType>
class OpenNumbers : public mlir::OpTrait::TraitBase<ConcreteType, OpenNumbers> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyOpenNumbers(op, mlir::cast<ConcreteType>(op).getOpenNumbers());
  }
};

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_OPENNUMBERS_H
