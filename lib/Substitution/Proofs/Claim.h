//===- Claim.h - What a condition promises ----------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_PROOFS_CLAIM_H
#define ESPALIER_LIB_SUBSTITUTION_PROOFS_CLAIM_H

#include "../Typing.h"

namespace espalier::substitution {

/// Says in SMT-LIB that `dst` has a meaning, and outputs of the shapes of those
/// of `src`, wherever `src` has a meaning and `guard` holds: a script in which
/// every answer must be `unsat`.
///
/// It is made of the definitions of operators, with products and quotients of
/// sizes as they stand there. What the typing has concluded from them is asked
/// before it is used.
std::string writeClaim(const Typing &typing, const Guard &guard);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_PROOFS_CLAIM_H
