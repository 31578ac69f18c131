//===- PolyInterfaces.td - Interfaces of the poly dialect --*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_POLYINTERFACES_TD
#define ESPALIER_DIALECT_POLY_IR_POLYINTERFACES_TD

include "mlir/IR/OpBase.td"

def DataProducerOpInterface : OpInterface<"DataProducerOpInterface"> {
  let description = [{
    An operation whose results hold data of which it promises something: that a
    child's number is below its level's first node, say. It has checked its own
    input for that, or its algorithm sees to it. So a program does not check
    a `poly.given` of such data again.
  }];
  let cppNamespace = "::espalier::poly";
  let methods = [
    InterfaceMethod<[{
      Whether the statement holds for the data, with these extents: `arrays` are
      results of this operation, one for each of the statement's reads, and
      `parameters` the values of the kernel's parameters. The statement may say
      anything; its text decides, not its name.
    }], "bool", "promises", (ins "::espalier::poly::GivenOp":$given,
                                 "::mlir::ValueRange":$arrays,
                                 "::mlir::ValueRange":$parameters)>];
}

#endif // ESPALIER_DIALECT_POLY_IR_POLYINTERFACES_TD
