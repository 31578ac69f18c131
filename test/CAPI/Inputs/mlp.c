/* Runs the program mlp through its typed entry point. */

#include "mlp.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 3, K = 4, M = 32 };

static int die(const char *message) {
  fprintf(stderr, "%s\n", message);
  return 1;
}

/* Compares y with tanh(x * 0.25 + 0.5) * 2. */
static int errors(const float *x, const float *y) {
  int count = 0;
  for (int i = 0; i < N; ++i) {
    double sum = 0.5;
    for (int k = 0; k < K; ++k)
      sum += 0.25 * x[i * K + k];
    for (int j = 0; j < M; ++j)
      count += fabs(y[i * M + j] - 2 * tanh(sum)) > 1e-6;
  }
  return count;
}

int main(void) {
  espalier_context *ctx;
  float x[N * K], y[N * M];
  int64_t extents[2];
  for (int i = 0; i < N * K; ++i)
    x[i] = 0.1f * i - 0.5f;
  if (espalier_context_create(&mlp_program, &ctx))
    return die(espalier_last_error(NULL));
  if (mlp_plan(ctx, N, extents))
    return die(espalier_last_error(ctx));
  printf("planned %d x %d\n", (int)extents[0], (int)extents[1]);
  if (mlp_run(ctx, N, x, y))
    return die(espalier_last_error(ctx));
  printf("error %d\n", errors(x, y));
  if (espalier_set_num_threads(ctx, 2) || mlp_run(ctx, N, x, y))
    return die(espalier_last_error(ctx));
  printf("2 threads: error %d\n", errors(x, y));
  if (mlp_run(ctx, -1, x, y))
    printf("refused: %s\n", espalier_last_error(ctx));
  if (mlp_run(ctx, N, x, x))
    printf("refused: %s\n", espalier_last_error(ctx));
  espalier_context_destroy(ctx);
  return 0;
}
