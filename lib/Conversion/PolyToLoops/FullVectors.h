//===- FullVectors.h - Only the last vector of a row has a mask -*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_POLYTOLOOPS_FULLVECTORS_H
#define ESPALIER_LIB_CONVERSION_POLYTOLOOPS_FULLVECTORS_H

#include "espalier/Polyhedral/Ast.h"

namespace espalier::polytoloops {

/// Cuts loops around vectors where masks begin.
void separateFullVectors(polyhedral::Ast &node);

} // namespace espalier::polytoloops

#endif // ESPALIER_LIB_CONVERSION_POLYTOLOOPS_FULLVECTORS_H
