//===- PipelineCoverage.h - Did the passes of a pipeline run? ---*- C++ -*-===//
//
// MLIR runs a nested pipeline on the operations that its anchor names, and
// succeeds when there are none. A pipeline that is anchored wrongly, such as
//
//   builtin.module(builtin.module(canonicalize))
//
// therefore does nothing, without a word. Whoever accepts a pipeline as text
// watches it with a `PipelineCoverage`.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUPPORT_PIPELINECOVERAGE_H
#define ESPALIER_SUPPORT_PIPELINECOVERAGE_H

#include "mlir/Pass/PassManager.h"
#include <memory>
#include <string>

namespace espalier {

/// Records which parts of a pipeline ran. Copies share one record.
class PipelineCoverage {
public:
  PipelineCoverage();

  /// Records the coming runs of `pm` as well, which must not have been watched
  /// before.
  void watch(mlir::PassManager &pm);

  /// Returns why the runs so far did not do what the pipeline's text says, or
  /// an empty string if they did. A fault is that no pass ran at all although
  /// there were some, or that a part anchored on the very operation that it is
  /// nested in, such as `builtin.module` in `builtin.module`, met none.
  std::string findFault() const;

  struct Record;

private:
  std::shared_ptr<Record> record;
};

} // namespace espalier

#endif // ESPALIER_SUPPORT_PIPELINECOVERAGE_H
