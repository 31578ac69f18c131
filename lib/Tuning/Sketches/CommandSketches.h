//===- CommandSketches.h - Sketches of many commands ------------*- C++ -*-===//
//
// What no plan says is a script of other commands. Whether it is legal is found
// by the checks of these: it is applied to a copy of the kernel.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_TUNING_COMMANDSKETCHES_H
#define ESPALIER_LIB_TUNING_COMMANDSKETCHES_H

#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Tuning/Sketch.h"

namespace espalier::tuning {

/// What the text of a script calls the type of a handle.
inline constexpr llvm::StringLiteral kHandle = "!transform.any_op";

/// Derives sketches of the only kernel of a module.
class CommandSketcher {
public:
  explicit CommandSketcher(mlir::ModuleOp module);

protected:
  /// Lanes of a vector of what a computation writes.
  int64_t getWidth(poly::ComputeOp compute);
  /// As the text of a script has it.
  mlir::Attribute quote(const llvm::Twine &name);
  /// Handles `%c0` and so on, to all computations.
  std::string printHandles();
  /// A choice `name` of `sizes`, called `value`, that selects `usual`.
  std::string printKnob(llvm::StringRef value, const llvm::Twine &name,
                        llvm::ArrayRef<int64_t> sizes, int64_t usual);
  /// A copy of the module after `commands`; null if they are not legal.
  mlir::OwningOpRef<mlir::ModuleOp> apply(llvm::StringRef commands);
  /// A sketch of `commands`, if what it selects by default is legal.
  std::optional<Sketch> make(llvm::StringRef rule, llvm::StringRef commands);

  mlir::ModuleOp module;
  poly::KernelOp kernel;
  poly::TargetAttr target;
  llvm::SmallVector<poly::ComputeOp> computes;
};

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_COMMANDSKETCHES_H
