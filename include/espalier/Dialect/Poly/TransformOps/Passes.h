//===- Passes.h - Scripts of schedules --------------------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_PASSES_H
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_PASSES_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace espalier::poly {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "espalier/Dialect/Poly/TransformOps/Passes.h.inc"

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_PASSES_H
