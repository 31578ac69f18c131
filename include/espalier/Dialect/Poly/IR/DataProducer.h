//===- DataProducer.h - Operations that promise data ------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_DATAPRODUCER_H
#define ESPALIER_DIALECT_POLY_IR_DATAPRODUCER_H

#include "espalier/Dialect/Poly/IR/Poly.h"

#include "espalier/Dialect/Poly/IR/PolyInterfaces.h.inc"

#endif // ESPALIER_DIALECT_POLY_IR_DATAPRODUCER_H
