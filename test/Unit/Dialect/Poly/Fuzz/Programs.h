//===- Programs.h - Random programs of kernels ------------------*- C++ -*-===//
//
// A program starts as one call of a kernel, which commands make several of. It
// is run call by call, and has to do to its arguments what the kernel did.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_PROGRAMS_H
#define ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_PROGRAMS_H

#include "Execute.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace espalier::poly::fuzz {

/// A command on the kernels of a program, as text for people.
struct ProgramCommand {
  std::string text;
  std::function<llvm::Error(mlir::ModuleOp)> apply;
};

/// A module with a copy of `kernel`, and `@main` that calls it with its own
/// arguments.
mlir::OwningOpRef<mlir::ModuleOp> makeProgram(KernelOp kernel);

/// A random command: one that moves work or memory between kernels and the
/// program, or one on a kernel.
ProgramCommand makeProgramCommand(Random &random, mlir::ModuleOp program);

/// What differs in the arguments of `@main` after a run of `program` with these
/// sizes and after one of `original` by its definition. Parallel loops run as
/// `runLoops` says. Nothing if a kernel takes too long to scan.
std::optional<std::string> findProgramMismatch(mlir::ModuleOp program,
                                               KernelOp original,
                                               llvm::ArrayRef<int64_t> sizes,
                                               Random *random);

} // namespace espalier::poly::fuzz

#endif // ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_PROGRAMS_H
