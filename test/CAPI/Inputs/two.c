/* Runs two programs in one process. */

#include "negative.h"
#include "positive-1.h"
#include <stdio.h>

static int fail(const espalier_context *ctx) {
  fprintf(stderr, "%s\n", espalier_last_error(ctx));
  return 1;
}

int main(void) {
  const float x[4] = {-1, 2, -3, 4};
  float y[4], z[4];
  espalier_context *first, *second;
  if (espalier_context_create(&negative_program, &first) ||
      espalier_context_create(&positive_1_program, &second))
    return fail(NULL);
  if (negative_run(first, x, y))
    return fail(first);
  if (positive_1_run(second, x, z))
    return fail(second);
  for (int i = 0; i < 4; ++i)
    printf("%g %g\n", y[i], z[i]);
  espalier_context_destroy(first);
  espalier_context_destroy(second);
  return 0;
}
