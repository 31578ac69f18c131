//===- Question.cpp - Bounded work of isl ---------------------------------===//
//
// isl counts operations, not time: as the numbers in a tableau grow, so does
// the time that one takes. So the limit is one for each question rather than a
// large one for many, which a single question could use up in minutes.
//
//===----------------------------------------------------------------------===//

#include "Question.h"
#include <algorithm>
#include <cstdlib>
#include <isl/arg.h>
#include <isl/val.h>
#include <limits>

using namespace espalier::polyhedral;
using isl::Question;

/// After so many questions without an answer a context answers none.
static constexpr unsigned kMaxUnanswered = 3;

namespace {
/// What a context carries, as user options of isl's. isl frees it.
struct Budget {
  unsigned long maxOperations;
  bool isPerQuestion;
  bool isOpen; ///< A question is being asked.
  unsigned numUnanswered;
};
} // namespace

/// Describes `Budget` to isl: nothing that a command line sets.
static isl_args *getArguments() {
  static isl_arg none[] = {{isl_arg_end}};
  static isl_args arguments = {sizeof(Budget), none};
  return &arguments;
}

isl_ctx *isl::makeContext(const Limits &limits) {
  auto *budget = static_cast<Budget *>(calloc(1, sizeof(Budget)));
  if (!budget)
    return isl_ctx_alloc();
  *budget = {limits.maxOperations, limits.isPerQuestion, false, 0};
  isl_ctx *ctx = isl_ctx_alloc_with_options(getArguments(), budget);
  isl_ctx_set_max_operations(ctx, limits.maxOperations);
  return ctx;
}

static Budget *getBudget(isl_ctx *ctx) {
  return static_cast<Budget *>(isl_ctx_peek_options(ctx, getArguments()));
}

/// Whether `ctx` may not do anything more.
static bool isSpent(isl_ctx *ctx) {
  isl_val *value = isl_val_zero(ctx);
  isl_val_free(value);
  return !value;
}

Question::Question(isl_ctx *ctx, double factor) {
  Budget *budget = ctx ? getBudget(ctx) : nullptr;
  if (!budget || !budget->isPerQuestion || budget->isOpen ||
      budget->maxOperations == 0)
    return;
  this->ctx = ctx;
  budget->isOpen = true;
  if (budget->numUnanswered > kMaxUnanswered)
    return;
  isl_ctx_reset_operations(ctx);
  isl_ctx_set_max_operations(
      ctx,
      std::max(1ul, static_cast<unsigned long>(
                        static_cast<double>(budget->maxOperations) * factor)));
}

void Question::withdraw() {
  if (!ctx || getBudget(ctx)->numUnanswered > kMaxUnanswered)
    return;
  isl_ctx_reset_error(ctx);
  isl_ctx_reset_operations(ctx);
}

Question::~Question() {
  if (!ctx)
    return;
  Budget *budget = getBudget(ctx);
  budget->isOpen = false;
  budget->numUnanswered += isSpent(ctx);
  // What is put together until the next question.
  if (budget->numUnanswered <= kMaxUnanswered) {
    isl_ctx_reset_operations(ctx);
    isl_ctx_set_max_operations(ctx, budget->maxOperations);
  }
}
