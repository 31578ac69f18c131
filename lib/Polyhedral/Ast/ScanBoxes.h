//===- ScanBoxes.h - Loops over boxes by a schedules form -------*- C++ -*-===//
//
// Most schedules tile boxes of constant size: their loops run over digits of
// the dimensions, `i floordiv 48`, `(i mod 48) floordiv 6` and `i mod 6`, and
// which values these have follows from their form. That takes microseconds,
// where isl's code generation takes tens of milliseconds.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_POLYHEDRAL_AST_SCANBOXES_H
#define ESPALIER_LIB_POLYHEDRAL_AST_SCANBOXES_H

#include "espalier/Polyhedral/Ast.h"

namespace espalier::polyhedral {

/// The loops of a schedule under which every statement runs over all digits of
/// a box; null for others, which may have such loops too. With `joinsTiles`,
/// tiles may be of dimensions of unknown extents, and full tiles have no code
/// of their own; with `asksParameters`, there may be conditions on parameters
/// alone, which isl would simplify and put where they save time.
Ast scanBoxes(const Program &program, const ScheduleNode *schedule,
              bool joinsTiles = false, bool asksParameters = false);

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_AST_SCANBOXES_H
