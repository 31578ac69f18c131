//===- Commands.h - What espalier-rules can do ------------------*- C++ -*-===//

#ifndef ESPALIER_TOOLS_ESPALIER_RULES_COMMANDS_H
#define ESPALIER_TOOLS_ESPALIER_RULES_COMMANDS_H

#include "espalier/Substitution/Generator/Communicator.h"
#include <memory>
#include <optional>

namespace espalier::rules {

/// Each runs its command if that is the one on the command line, and returns
/// the exit status.
std::optional<int> runGenerate();
std::optional<int> runProve();
std::optional<int> runEmit();

/// The processes that an MPI launcher started together, or this one alone. Null
/// if there is a launcher, but this was built without MPI.
std::unique_ptr<substitution::Communicator> makeCommunicator();

} // namespace espalier::rules

#endif // ESPALIER_TOOLS_ESPALIER_RULES_COMMANDS_H
