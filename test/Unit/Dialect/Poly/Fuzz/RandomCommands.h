//===- RandomCommands.h - Random scheduling commands ------------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_RANDOMCOMMANDS_H
#define ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_RANDOMCOMMANDS_H

#include "Random.h"
#include "espalier/Dialect/Poly/Transforms/Commands.h"
#include <functional>

namespace espalier::poly::fuzz {

/// A scheduling command with its arguments.
struct Command {
  /// The operation of the transform dialect; a computation `@c0` is `%c0`, also
  /// if another command makes it, and the array that it writes is `%@c0`.
  std::string text;
  std::function<llvm::Error(KernelOp)> apply;
};

/// The loops of a computation, outermost first, or a name that none has.
llvm::SmallVector<std::string> getLoopNames(ComputeOp compute);

/// A random command for a computation of `kernel`. Its arguments are mostly
/// such that it can be applied, but for the dependences.
Command makeCommand(Random &random, KernelOp kernel);

/// The same for commands on data: mostly for `compute`, which has these loops.
Command makeDataCommand(Random &random, KernelOp kernel,
                        llvm::StringRef compute,
                        llvm::ArrayRef<std::string> loops);

/// A module with `kernel` and a script that applies the commands to it, for
/// `espalier-opt -transform-interpreter`.
std::string printScript(KernelOp kernel, llvm::ArrayRef<Command> commands);

} // namespace espalier::poly::fuzz

#endif // ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_RANDOMCOMMANDS_H
