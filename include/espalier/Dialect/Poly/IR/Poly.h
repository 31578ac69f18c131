//===- Poly.h - The poly dialect --------------------------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_POLY_H
#define ESPALIER_DIALECT_POLY_IR_POLY_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>

#include "espalier/Dialect/Poly/IR/PolyAttrInterfaces.h.inc"
#include "espalier/Dialect/Poly/IR/PolyDialect.h.inc"
#include "espalier/Dialect/Poly/IR/PolyEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "espalier/Dialect/Poly/IR/PolyAttributes.h.inc"

namespace espalier::poly {

class ArrayOp;
class BandOp;
class CombinerOp;
class ComputeOp;
class GivenOp;
class KernelOp;
class ScheduleOp;
class YieldOp;

/// One read or write of a computation.
struct ComputeAccess {
  mlir::Value array;
  mlir::AffineMap map;
  /// Reads: the body's argument that holds the value. Null in builders.
  mlir::BlockArgument argument;

  mlir::MemRefType getType() const {
    return mlir::cast<mlir::MemRefType>(array.getType());
  }
};

/// The largest number in sets, maps and storages, so that index arithmetic
/// stays within 64 bits for sizes below 2^31.
inline constexpr int64_t kMaxIndexNumber = int64_t(1) << 31;

/// What is expected of numbers in an expression, and what they are instead:
/// divisors are positive, and none is beyond `kMaxIndexNumber`; empty if that
/// is so.
std::string findNumberFault(mlir::AffineExpr expr);

/// The same for an index, in which divisors may be parameters, too: the first
/// `numParams` symbols.
std::string findIndexFault(mlir::AffineExpr expr, unsigned numParams);

/// The same for an expression that has to be affine, too.
std::string findAffineFault(mlir::AffineExpr expr);

/// `parallel`, `vector(8)` and so on; what another target has, as it is.
std::string toText(LoopKindAttrInterface kind);

/// A kind of loop in an assembly format: `parallel`, `vector(8)` and so on, or
/// what another target has.
mlir::ParseResult parseLoopKind(mlir::OpAsmParser &parser,
                                LoopKindAttrInterface &kind);
void printLoopKind(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   LoopKindAttrInterface kind);

/// A memory space in an assembly format: `stack`, or what another target has.
mlir::ParseResult parseMemorySpace(mlir::OpAsmParser &parser,
                                   MemorySpaceAttrInterface &space);
void printMemorySpace(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      MemorySpaceAttrInterface space);

/// The schedule-tree node in `region`, or null.
mlir::Operation *getChildNode(mlir::Region &region);

} // namespace espalier::poly

#define GET_OP_CLASSES
#include "espalier/Dialect/Poly/IR/PolyOps.h.inc"

#endif // ESPALIER_DIALECT_POLY_IR_POLY_H
