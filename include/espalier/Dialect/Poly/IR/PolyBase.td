//===- PolyBase.td - The poly dialect ----------------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_POLYBASE_TD
#define ESPALIER_DIALECT_POLY_IR_POLYBASE_TD

include "mlir/IR/OpBase.td"

def Poly_Dialect : Dialect {
  let name = "poly";
  let cppNamespace = "::espalier::poly";
  let summary = "computations over integer sets, and their schedules";
  let description = [{
    A kernel is a list of computations, each with an integer domain, accesses to
    memory and a scalar body, and a schedule tree that says in which order their
    points run. The computations say what is computed and never change; the
    schedule is edited freely, and checked against exact dependences.

    Distinct memrefs of one kernel denote disjoint memory.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let useDefaultAttributePrinterParser = 1;
}

#endif // ESPALIER_DIALECT_POLY_IR_POLYBASE_TD
