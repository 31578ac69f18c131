//===- Communicator.h - Processes that work together ------------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_GENERATOR_COMMUNICATOR_H
#define ESPALIER_SUBSTITUTION_GENERATOR_COMMUNICATOR_H

#include <string>
#include <vector>

namespace espalier::substitution {

/// What the generator needs of message passing; this one is a single process.
class Communicator {
public:
  virtual ~Communicator() = default;

  virtual unsigned getRank() const { return 0; }
  virtual unsigned getSize() const { return 1; }
  /// Returns the bytes of every process, in the order of ranks, on rank 0;
  /// nothing on others.
  virtual std::vector<std::string> gather(const std::string &bytes) {
    return {bytes};
  }
  /// Sends the k-th bytes to process k, and returns what each sent to this one.
  virtual std::vector<std::string> exchange(std::vector<std::string> bytes) {
    return bytes;
  }
};

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_GENERATOR_COMMUNICATOR_H
