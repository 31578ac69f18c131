//===- Model.h - Kernels as the polyhedral engine sees them -----*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_ANALYSIS_MODEL_H
#define ESPALIER_DIALECT_POLY_ANALYSIS_MODEL_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Polyhedral/Ast.h"
#include "espalier/Polyhedral/Dependence.h"

namespace espalier::poly {

/// A kernel as a polyhedral program. Statement i is `computes[i]`, array number
/// i is `arrays[i]`.
struct KernelModel {
  polyhedral::Program program;
  llvm::SmallVector<ComputeOp> computes;
  llvm::SmallVector<mlir::Value> arrays;
};

/// Names a memref of a kernel: `'x'` or, without a name, `argument #1`; `array
/// #0` for the first `poly.array` without one.
std::string describeArray(mlir::Value array);

/// Translates the computations of `kernel`, and the storage of arrays that have
/// a map for it or are in registers.
KernelModel buildModel(KernelOp kernel);

/// The node of a schedule tree that stands for a band.
using BandNodes = llvm::DenseMap<mlir::Operation *, polyhedral::ScheduleNode *>;

/// Translates the schedule of the kernel; without one, the program order. The
/// tags of the bands' members are their kinds, the attribute of a mark is
/// a dictionary: that of the `poly.mark` op, its name included, or one that
/// `getPrefetch` reads. Fills `nodes`.
polyhedral::ScheduleTree buildScheduleTree(const KernelModel &model,
                                           ScheduleOp schedule,
                                           BandNodes *nodes = nullptr);

/// The attributes of the `poly.prefetch` op that a mark's `tag` stands for;
/// null if it stands for a `poly.mark`.
mlir::DictionaryAttr getPrefetch(mlir::Attribute tag);

/// The loops that run `kernel` as it is scheduled, or an error.
llvm::Expected<polyhedral::Ast>
scanKernel(const KernelModel &model, ScheduleOp schedule,
           const polyhedral::Limits &limits = {});

/// The loops that run `kernel` as it is scheduled, as text: called as the bands
/// name them, with the kind of those that are not sequential. `parameters` are
/// the names of the kernel's parameters.
llvm::Expected<std::string> printLoops(KernelOp kernel,
                                       llvm::ArrayRef<std::string> parameters);

/// From the values of the loops around a loop of `band`, outermost first, to
/// its own values: of all points of all computations of the band.
polyhedral::Map getLoopValues(const polyhedral::Context &context, BandOp band,
                              unsigned position);

/// The values of a loop of `band`, wherever the loops around it are: of all
/// points of all computations of the band.
polyhedral::Set getLoopRange(const polyhedral::Context &context, BandOp band,
                             unsigned position);

/// The number of values from the least to the greatest of `getLoopRange`;
/// nothing if no constants bound them.
std::optional<int64_t> getLoopExtent(BandOp band, unsigned position);

/// What is expected of the vector loops of a schedule, and what they are
/// instead; empty if each has at most as many neighbouring iterations as lanes.
std::string checkLanes(ScheduleOp schedule,
                       const polyhedral::Limits &limits = {});

/// What is expected of the loops around the uses of an array for code to keep
/// it in registers, and what they are instead; empty if they suit it. Loops
/// that change the element are unrolled between numbers, or lanes over
/// neighbours.
std::string checkRegisters(ArrayOp array,
                           const polyhedral::Limits &limits = {});

/// What is expected of the points of `compute`, and what they are instead: they
/// are finitely many and, with `notEmpty`, there are some; empty if that is so.
std::string checkDomain(ComputeOp compute, bool notEmpty);

/// What a schedule does not keep: `to keep the flow dependence from @a(0) to
/// @a(1), distance (1), on 'x' (write 0 at [i], read 0 at [i - 1]), with n =
/// 2`. `nodes` are those of the schedule's tree.
std::string describeViolation(const KernelModel &model, const BandNodes &nodes,
                              const polyhedral::Violation &violation);

/// The same as an attribute: `{kind, source, source_point, sink, sink_point,
/// parameters}`, with strings for the kind and the computations.
mlir::DictionaryAttr encodeViolation(const KernelModel &model,
                                     const polyhedral::Violation &violation,
                                     mlir::MLIRContext *context);

/// Checks the kernel's schedule against its program order. Emits an error at
/// the schedule if it breaks a dependence, naming the pair of instances, or if
/// that cannot be decided within `limits`.
mlir::LogicalResult verifySchedule(KernelOp kernel,
                                   const polyhedral::Limits &limits = {});

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_ANALYSIS_MODEL_H
