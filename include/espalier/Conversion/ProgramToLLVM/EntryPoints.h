//===- EntryPoints.h - The C ABI of a compiled program ----------*- C++ -*-===//

#ifndef ESPALIER_CONVERSION_PROGRAMTOLLVM_ENTRYPOINTS_H
#define ESPALIER_CONVERSION_PROGRAMTOLLVM_ENTRYPOINTS_H

#include "espalier/Conversion/LoopsToProgram/Program.h"

namespace espalier {

constexpr llvm::StringLiteral kSignatureAttr = "espalier.signature";

/// Names of the functions and data of the program called `name`.
std::string getPlanSymbol(llvm::StringRef name);
std::string getRunSymbol(llvm::StringRef name);
std::string getCheckSymbol(llvm::StringRef name);
std::string getConstantsSymbol(llvm::StringRef name);

/// Adds the functions of the C ABI to `module`, which is of stage `program`
/// (see -program-add-entry-points). On failure an error was reported and the
/// module is to be thrown away.
mlir::LogicalResult addEntryPoints(mlir::ModuleOp module);

/// Returns the signature that `addEntryPoints` left at `module`, at whichever
/// stage it is now. Reports an error at the module when there is none.
mlir::FailureOr<ProgramSignature> getSignature(mlir::ModuleOp module);

} // namespace espalier

#endif // ESPALIER_CONVERSION_PROGRAMTOLLVM_ENTRYPOINTS_H
