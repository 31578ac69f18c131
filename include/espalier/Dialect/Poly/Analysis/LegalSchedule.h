//===- LegalSchedule.h - A proof that passes share --------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_ANALYSIS_LEGALSCHEDULE_H
#define ESPALIER_DIALECT_POLY_ANALYSIS_LEGALSCHEDULE_H

#include "mlir/IR/Operation.h"

namespace espalier::poly {

/// An analysis of a kernel: whether its schedule keeps the dependences, as
/// `poly-verify-schedule` asks. A pass that proves what it has made preserves
/// the analysis, so that nobody proves it a second time.
class LegalSchedule {
public:
  explicit LegalSchedule(mlir::Operation *kernel);

  /// Whether that is proved, within the usual limits.
  bool isProved() const { return proved; }

private:
  bool proved;
};

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_ANALYSIS_LEGALSCHEDULE_H
