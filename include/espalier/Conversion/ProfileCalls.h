//===- ProfileCalls.h - Programs that time their kernels --------*- C++ -*-===//

#ifndef ESPALIER_CONVERSION_PROFILECALLS_H
#define ESPALIER_CONVERSION_PROFILECALLS_H

#include "mlir/IR/BuiltinOps.h"
#include <string>
#include <vector>

namespace espalier {

/// The output with what a profiled program measures: for each call a row of
/// nanoseconds, floating-point operations, and bytes of the arrays that the
/// kernel is called with.
constexpr llvm::StringLiteral kProfileName = "kernel_profile";

/// A call of a kernel in @main.
struct ProfiledCall {
  std::string kernel;
  /// The operators that the kernel is of.
  std::vector<std::string> operators;
  /// The nodes of the model that the call is for, as far as they have names.
  std::vector<std::string> nodes;
};

/// Lets @main time its calls of kernels (see -poly-profile-calls) and returns
/// them, one for each row. On failure an error was reported and `module` is as
/// before.
mlir::FailureOr<std::vector<ProfiledCall>> profileCalls(mlir::ModuleOp module);

} // namespace espalier

#endif // ESPALIER_CONVERSION_PROFILECALLS_H
