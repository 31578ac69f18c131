/* Runs a program of the name that another one has, too. */

#ifdef OTHER
#include "other.h"
#define HEADER "other.h"
#define RUN run_other
#else
#include "negative.h"
#define HEADER "negative.h"
#define RUN run_one
#endif
#include <stdio.h>

int run_one(void);
int run_other(void);

int RUN(void) {
  const float x[4] = {-1, 2, -3, 4};
  float y[4];
  espalier_context *ctx;
  if (espalier_context_create(&negative_program, &ctx) ||
      negative_run(ctx, x, y)) {
    fprintf(stderr, "%s\n", espalier_last_error(ctx));
    return 1;
  }
  printf("%s: %g %g\n", HEADER, y[0], y[1]);
  espalier_context_destroy(ctx);
  return 0;
}

#ifndef OTHER
int main(void) {
#ifdef ONLY
  return run_one();
#else
  return run_one() || run_other();
#endif
}
#endif
