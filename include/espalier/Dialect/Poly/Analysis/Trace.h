//===- Trace.h - What a kernel does for given sizes -------------*- C++ -*-===//
//
// A kernel's points in the order in which its schedule runs them, and the
// dependences between them, for pictures. Small sizes only: everything is
// enumerated.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_ANALYSIS_TRACE_H
#define ESPALIER_DIALECT_POLY_ANALYSIS_TRACE_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Polyhedral/Dependence.h"

namespace espalier::poly {

/// One point of a computation, and the iteration of each loop around it.
struct TracedPoint {
  unsigned computation;
  llvm::SmallVector<int64_t> point;
  /// Index of each enclosing loop in `KernelTrace::loops`, and its value.
  llvm::SmallVector<std::pair<unsigned, int64_t>> iterations;
};

/// Two points that touch the same element, one right after the other in program
/// order.
struct TracedDependence {
  polyhedral::DependenceKind kind;
  unsigned source; ///< Number of a point in the order of execution.
  unsigned sink;
  /// It joins updates of one reduction, so it may be reversed.
  bool isReduction;

  bool operator<(const TracedDependence &other) const {
    return std::tie(source, sink, kind, isReduction) <
           std::tie(other.source, other.sink, other.kind, other.isReduction);
  }
};

/// All that a kernel does.
struct KernelTrace {
  llvm::SmallVector<ComputeOp> computations;
  std::vector<std::string> loops;  ///< Names.
  std::vector<TracedPoint> points; ///< As they run.
  std::vector<TracedDependence> dependences;
};

/// Runs the schedule of `kernel` for these values of its parameters, at all
/// points of the domains, also those that data may exclude. Accesses that
/// depend on data are left out. Fails if there are more than `maxPoints`
/// points.
llvm::Expected<KernelTrace> traceKernel(KernelOp kernel,
                                        llvm::ArrayRef<int64_t> parameters,
                                        size_t maxPoints = 20000);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_ANALYSIS_TRACE_H
