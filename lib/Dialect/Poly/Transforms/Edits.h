//===- Edits.h - What commands do, unchecked --------------------*- C++ -*-===//
//
// For commands that are several in one: the order of what comes out is checked
// once, at the end. Each does what the command of its name does to a kernel
// whose loops have names, or refuses; dependences are not looked at.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_EDITS_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_EDITS_H

#include "espalier/Dialect/Poly/Transforms/DataCommands.h"

namespace espalier::poly {

llvm::Error splitLoop(ComputeOp compute, llvm::StringRef loop,
                      llvm::ArrayRef<int64_t> factors,
                      llvm::ArrayRef<llvm::StringRef> names = {});
llvm::Error interchangeLoops(ComputeOp compute,
                             llvm::ArrayRef<llvm::StringRef> loops);
llvm::Error separateTileLoops(ComputeOp compute,
                              llvm::ArrayRef<llvm::StringRef> loops);
llvm::Error vectorizeLoop(ComputeOp compute, llvm::StringRef loop,
                          int64_t width, bool peelTail = false);
/// With `jam`, as `unrollAndJam` does.
llvm::Error unrollLoop(ComputeOp compute, llvm::StringRef loop,
                       std::optional<int64_t> factor = {}, bool jam = false);
/// The proof that a copy changes nothing is part of the edit.
llvm::Expected<LocalCopy> cacheWriteOf(ComputeOp compute, uint64_t write,
                                       llvm::StringRef loop,
                                       const LocalOptions &options);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_EDITS_H
