/* Runs a TreeLSTM on two trees, and compares its roots with a recursion. */

#include "tree_lstm.h"
#include "espalier-c/Structures.h"
#include <math.h>
#include <stdio.h>

enum { H = 4, WORDS = 3 };

static float emb[WORDS * H], u[2 * H * 5 * H], b[5 * H];
/* Nodes 0 to 4 are a tree, node 5 is another; words count at leaves. */
static const int64_t starts[] = {0, 5, 6};
static const int32_t children[] = {1, 2, 3, 4, -1, -1, -1, -1, -1, -1, -1, -1};
static const int32_t words[] = {0, 0, 2, 0, 1, 1};

extern long num_allocations;

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void recurse(int node, double *h, double *c) {
  double hl[2 * H], cl[2 * H], gate[5 * H];
  const int32_t *child = children + 2 * node;
  for (int j = 0; j < H; ++j)
    h[j] = emb[words[node] * H + j], c[j] = 0;
  if (child[0] < 0)
    return;
  recurse(child[0], hl, cl), recurse(child[1], hl + H, cl + H);
  for (int j = 0; j < 5 * H; ++j) {
    gate[j] = b[j];
    for (int k = 0; k < 2 * H; ++k)
      gate[j] += hl[k] * u[k * 5 * H + j];
  }
  for (int j = 0; j < H; ++j) {
    c[j] = sigmoid(gate[j]) * tanh(gate[2 * H + j]) +
           sigmoid(gate[3 * H + j]) * cl[j] +
           sigmoid(gate[4 * H + j]) * cl[H + j];
    h[j] = sigmoid(gate[H + j]) * tanh(c[j]);
  }
}

int main(void) {
  float h[2 * H], c[2 * H];
  double expected[2][H], unused[H], worst = 0;
  for (int i = 0; i < 2 * H * 5 * H; ++i)
    u[i] = (float)sin(i) / 2,
    emb[i % (WORDS * H)] = b[i % (5 * H)] = (float)cos(i);
  espalier_linearizer *linearizer = espalier_linearizer_create();
  espalier_structures in = {
      ESPALIER_TREE, 2,     2,     starts, children,         2,
      NULL,          words, WORDS, 0,      ESPALIER_SOONEST, NULL};
  espalier_linearization t;
  espalier_context *ctx;
  if (espalier_context_create(&tree_lstm_program, &ctx) ||
      espalier_set_num_threads(ctx, 1))
    return puts(espalier_last_error(ctx));
  /* The first run allocates what the program needs for structures so large. */
  long before = 0;
  for (int run = 0; run < 2; ++run) {
    before = num_allocations;
    if (espalier_linearize(linearizer, &in, &t))
      return puts(espalier_linearizer_last_error(linearizer));
    if (tree_lstm_run(ctx, t.num_nodes, t.num_nodes - t.num_leaves,
                      t.num_levels + 1, t.num_roots, t.arity, t.children,
                      t.levels, t.roots, t.words, emb, u, b, h, c))
      return puts(espalier_last_error(ctx));
  }
  long allocated = num_allocations - before;
  recurse(0, expected[0], unused), recurse(5, expected[1], unused);
  for (int i = 0; i < 2 * H; ++i)
    worst = fmax(worst, fabs(h[i] - expected[i / H][i % H]));
  printf("%d nodes, %d roots, error %d, then %ld allocations\n",
         (int)t.num_nodes, (int)t.num_roots, worst > 1e-5, allocated);
  espalier_context_destroy(ctx);
  espalier_linearizer_destroy(linearizer);
  return 0;
}
