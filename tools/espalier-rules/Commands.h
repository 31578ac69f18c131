//===- Commands.h - What espalier-rules can do ------------------*- C++ -*-===//

#ifndef ESPALIER_TOOLS_ESPALIER_RULES_COMMANDS_H
#define ESPALIER_TOOLS_ESPALIER_RULES_COMMANDS_H

#include <optional>

namespace espalier::rules {

/// Each runs its command if that is the one on the command line, and returns
/// the exit status.
std::optional<int> runGenerate();

} // namespace espalier::rules

#endif // ESPALIER_TOOLS_ESPALIER_RULES_COMMANDS_H
