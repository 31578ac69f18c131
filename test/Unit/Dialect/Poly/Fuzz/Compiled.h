//===- Compiled.h - Kernels as machine code ---------------------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_COMPILED_H
#define ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_COMPILED_H

#include "Execute.h"
#include "mlir/IR/BuiltinOps.h"

namespace espalier::poly::fuzz {

/// Adds what `findCompiledMismatch` needs to a context.
void registerCompilation(mlir::DialectRegistry &registry);

/// Compiles the kernels of `module`, runs each with every one of the sizes that
/// `getSizes` says for its number of parameters, and compares the arguments
/// with those after a run of the definition. Returns what differs. Cases that
/// touch elements with a negative index are left out.
std::optional<std::string> findCompiledMismatch(
    mlir::ModuleOp module,
    llvm::function_ref<std::vector<llvm::SmallVector<int64_t>>(unsigned)>
        getSizes);

} // namespace espalier::poly::fuzz

#endif // ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_COMPILED_H
