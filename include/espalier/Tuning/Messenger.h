//===- Messenger.h - Processes that search together -------------*- C++ -*-===//

#ifndef ESPALIER_TUNING_MESSENGER_H
#define ESPALIER_TUNING_MESSENGER_H

#include "espalier/Tuning/Tuner.h"

namespace espalier::tuning {

/// What a search needs of message passing between the ranks of a program, such
/// as MPI's: rank 0 searches, and the others measure for it.
class Messenger {
public:
  struct Message {
    unsigned rank = 0; ///< Who sent it.
    std::string bytes;
  };

  virtual ~Messenger() = default;

  /// The number of ranks, this one among them.
  virtual unsigned getSize() const = 0;
  /// Sends `bytes` to a rank, without waiting for it. Messages to one rank
  /// arrive in their order, or are lost if it is.
  virtual void send(unsigned rank, llvm::StringRef bytes) = 0;
  /// Returns the next message of any rank; nothing if none comes within
  /// `limit`.
  virtual std::optional<Message> receive(std::chrono::milliseconds limit) = 0;
};

/// Measures the candidates that rank 0 sends, until it sends an empty message
/// or the options' `isCancelled` ends this; it sends that once its searches are
/// over. Only how to measure counts of `options`, and it has to be the same on
/// all ranks. The context of `module` has the dialects of kernels and scripts.
/// Rank 0 learns what is wrong with this one.
void measureForRanks(mlir::ModuleOp module, Messenger &messenger,
                     const TuneOptions &options);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_MESSENGER_H
