//===- Passes.h - Passes from stage program to LLVM -------------*- C++ -*-===//

#ifndef ESPALIER_CONVERSION_PROGRAMTOLLVM_PASSES_H
#define ESPALIER_CONVERSION_PROGRAMTOLLVM_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Pass/Pass.h"

namespace espalier {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"

} // namespace espalier

#endif // ESPALIER_CONVERSION_PROGRAMTOLLVM_PASSES_H
