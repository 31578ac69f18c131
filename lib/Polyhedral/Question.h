//===- Question.h - Bounded work of isl -------------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_QUESTION_H
#define ESPALIER_LIB_POLYHEDRAL_QUESTION_H

#include "espalier/Polyhedral/Set.h"
#include "llvm/ADT/Hashing.h"
#include <isl/ctx.h>
#include <unordered_map>
#include <vector>

namespace espalier::polyhedral {

struct Context::Answers {
  /// Constraints in any fixed order, each once, then the number of parameters.
  using Key = std::vector<uintptr_t>;
  struct Hash {
    size_t operator()(const Key &key) const {
      return llvm::hash_combine_range(key.begin(), key.end());
    }
  };
  std::unordered_map<Key, bool, Hash> isEmpty;
};

} // namespace espalier::polyhedral

namespace espalier::polyhedral::isl {

/// A context of isl's that knows its limits.
isl_ctx *makeContext(const Limits &limits);

/// Grants what one question may take, while it lives. It does nothing inside
/// another one, or if the context limits all questions together.
class Question {
public:
  /// \p factor scales what the context grants to a question.
  explicit Question(isl_ctx *ctx, double factor = 1);
  Question(const Question &) = delete;
  ~Question();
  /// Does not count it as unanswered: the answer is not needed.
  void withdraw();

private:
  isl_ctx *ctx = nullptr;
};

} // namespace espalier::polyhedral::isl

#endif // ESPALIER_LIB_POLYHEDRAL_QUESTION_H
