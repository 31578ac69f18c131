//===- Names.h - What kernels and their loops are called --------*- C++ -*-===//
//
// A schedule script finds kernels and loops by name. So a name depends on
// nothing but the kernel: on its operators and their definitions, for people,
// and on a hash of its text. What is added elsewhere in a model changes none.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_NAMES_NAMES_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_NAMES_NAMES_H

#include "../Emit/KernelEmitter.h"

namespace espalier::graphtopoly {

/// The location of an operator, for the statements that it becomes: it says
/// what kind of operator that is.
mlir::Location getOrigin(mlir::Operation *op);
/// The location without that.
mlir::Location getSource(mlir::Location loc);

/// What a kernel is called: its operators, and a hash of its text. `kernel` has
/// a name that is no part of that.
std::string makeKernelName(const StepProgram &program, const Cluster &cluster,
                           poly::KernelOp kernel);

/// The names of a statement's dimensions, a different one for each; null if
/// none has one.
mlir::ArrayAttr getDimNames(mlir::Builder &builder, const Statement &statement);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_NAMES_NAMES_H
