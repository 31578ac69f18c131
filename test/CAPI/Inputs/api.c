/* Builds y = relu(x * w) through the C API, compiles and runs it, and makes
   every mistake that a caller can make. */

#include "espalier-c/IRBuilder.h"
#include "espalier-c/Interpreter.h"
#include "espalier-c/Program.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 2, K = 3, M = 2 };

static const float kWeights[K * M] = {1, -1, 2, -2, 3, -3};
static const int64_t kWeightExtents[2] = {K, M};
static const int64_t kInputExtents[2] = {-1, K};

static void put(const char *text, size_t size, void *user) {
  fwrite(text, 1, size, user);
}

static void count_release(void *user) { ++*(int *)user; }

/* Prints what a call on a module should not have accepted. */
static void refuse(const char *what, espalier_module *m, int failed) {
  printf("%s: %s\n", what,
         failed ? espalier_module_last_error(m) : "not refused");
}

static espalier_value add_input(espalier_module *m) {
  const char *symbols[2] = {"n", NULL};
  espalier_value x = {NULL};
  espalier_module_input(m, "x", "f32", 2, kInputExtents, symbols, &x);
  return x;
}

static espalier_value add_op(espalier_module *m, const char *name,
                             const espalier_value *operands, size_t count) {
  espalier_operation op = {name, NULL, operands, count, NULL, 0};
  espalier_value result = {NULL};
  espalier_module_op(m, &op, &result, 1);
  return result;
}

static espalier_module *build(int *released) {
  espalier_module *m = espalier_module_create();
  espalier_value operands[2] = {add_input(m), {NULL}};
  espalier_module_constant(m, "f32", 2, kWeightExtents, kWeights,
                           sizeof(kWeights), count_release, released,
                           &operands[1]);
  espalier_value product = add_op(m, "graph.matmul", operands, 2);
  espalier_value y = add_op(m, "graph.relu", &product, 1);
  const char *names[1] = {"y"};
  if (espalier_module_finish(m, &y, names, 1)) {
    printf("cannot build: %s\n", espalier_module_last_error(m));
    exit(1);
  }
  return m;
}

static void describe(const espalier_module *m) {
  printf("%d inputs, %d outputs: ", espalier_module_num_inputs(m),
         espalier_module_num_outputs(m));
  espalier_module_input_name(m, 0, put, stdout);
  printf(" -> ");
  espalier_module_output_name(m, 0, put, stdout);
  printf("\n");
}

static void print_floats(const char *what, const float *data, int count) {
  printf("%s:", what);
  for (int i = 0; i < count; ++i)
    printf(" %g", data[i]);
  printf("\n");
}

/*===----------------------------------------------------------------------===*
 * Mistakes while building
 *===----------------------------------------------------------------------===*/

static void misbuild_values(espalier_module *m, espalier_value x) {
  espalier_value v;
  const int64_t negative[1] = {-2}, one[1] = {1};
  refuse("input without name", m,
         espalier_module_input(m, NULL, "f32", 0, NULL, NULL, &v) < 0);
  refuse("input without place", m,
         espalier_module_input(m, "z", "f32", 0, NULL, NULL, NULL) < 0);
  refuse("input without extents", m,
         espalier_module_input(m, "z", "f32", 2, NULL, NULL, &v) < 0);
  refuse("input of negative rank", m,
         espalier_module_input(m, "z", "f32", -1, NULL, NULL, &v) < 0);
  refuse("input of negative extent", m,
         espalier_module_input(m, "z", "f32", 1, negative, NULL, &v) < 0);
  refuse("input of unknown type", m,
         espalier_module_input(m, "z", "f31", 1, one, NULL, &v) < 0);
  refuse("input without type", m,
         espalier_module_input(m, "z", NULL, 1, one, NULL, &v) < 0);
  refuse("limit of numbers that are not whole", m,
         espalier_module_limit_input(m, x, NULL, 4) < 0);
  refuse("limit of nothing", m,
         espalier_module_limit_input(m, (espalier_value){NULL}, NULL, 4) < 0);
  espalier_module_input(m, "lengths", "i32", 1, one, NULL, &v);
  refuse("limit at a size that is not there", m,
         espalier_module_limit_input(m, v, "steps", 0) < 0);
  refuse("limit below 0", m, espalier_module_limit_input(m, v, NULL, -1) < 0);
  refuse("constant without data", m,
         espalier_module_constant(m, "f32", 1, one, NULL, 4, NULL, NULL, &v) <
             0);
  refuse("constant that is too short", m,
         espalier_module_constant(m, "f32", 1, one, "1", 1, NULL, NULL, &v) <
             0);
  refuse("bound input of an unfinished module", m,
         espalier_module_bind_input(m, "x", "1234", 4, NULL, NULL) < 0);
  refuse("bound input without name", m,
         espalier_module_bind_input(m, NULL, "1234", 4, NULL, NULL) < 0);
  refuse("dimension that is not there", m,
         espalier_module_dim(m, x, 2, &v) < 0);
  v.ptr = NULL;
  refuse("dimension of nothing", m, espalier_module_dim(m, v, 0, &v) < 0);
  refuse("index without place", m, espalier_module_index(m, 1, NULL) < 0);
  refuse("sum of tensors", m, espalier_module_index_op(m, "add", x, x, &v) < 0);
  espalier_module_index(m, 1, &v);
  refuse("unknown function", m,
         espalier_module_index_op(m, "gcd", v, v, &v) < 0);
  printf("nothing: rank %d, extent %d\n",
         espalier_value_rank((espalier_value){NULL}),
         (int)espalier_value_extent(x, 7));
}

static void misbuild_operations(espalier_module *m, espalier_value x) {
  espalier_value none = {NULL}, v;
  espalier_attribute text = {"mode", ESPALIER_ATTRIBUTE_TEXT, "#", 0, 0, 0, 0};
  espalier_attribute kind = {"axis", (espalier_attribute_kind)9, 0, 0, 0, 0, 0};
  const struct {
    const char *what;
    espalier_operation op;
  } cases[] = {
      {"operation without name", {NULL, "", &x, 1, NULL, 0}},
      {"unknown operation", {"graph.frobnicate", "", &x, 1, NULL, 0}},
      {"operation without operands", {"graph.relu", "", NULL, 1, NULL, 0}},
      {"operation on nothing", {"graph.relu", "", &none, 1, NULL, 0}},
      {"operand that is missing", {"graph.matmul", "node", &x, 1, NULL, 0}},
      {"attribute that is no text", {"graph.relu", "", &x, 1, &text, 1}},
      {"attribute of no kind", {"graph.relu", "", &x, 1, &kind, 1}},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i)
    refuse(cases[i].what, m, espalier_module_op(m, &cases[i].op, &v, 1) < 0);
  refuse("no operation", m, espalier_module_op(m, NULL, &v, 1) < 0);
  const char *names[1] = {NULL};
  refuse("output without name", m, espalier_module_finish(m, &x, names, 1) < 0);
  refuse("output without value", m,
         espalier_module_finish(m, &none, names, 1) < 0);
  refuse("no outputs", m, espalier_module_finish(m, NULL, NULL, 1) < 0);
}

static void misbuild(void) {
  espalier_value v;
  printf("no module: %d %d %d\n",
         espalier_module_input(NULL, "x", "f32", 0, NULL, NULL, &v),
         espalier_module_finish(NULL, NULL, NULL, 0),
         espalier_module_num_inputs(NULL));
  espalier_module *m = espalier_module_create();
  espalier_value x = add_input(m);
  misbuild_values(m, x);
  misbuild_operations(m, x);
  espalier_module_finish(m, NULL, NULL, 0);
  refuse("input of a finished module", m,
         espalier_module_input(m, "z", "f32", 0, NULL, NULL, &v) < 0);
  espalier_module_destroy(m);

  static const char *texts[] = {"func.func @main(",
                                "func.func @f() { nope.op }"};
  for (int i = 0; i < 2; ++i) {
    m = espalier_module_parse(texts[i], strlen(texts[i]));
    refuse("text", NULL, !m);
  }
  refuse("no text", NULL, !espalier_module_parse(NULL, 3));
}

/*===----------------------------------------------------------------------===*
 * Mistakes while compiling and running
 *===----------------------------------------------------------------------===*/

static int32_t cancel(void *user) { return *(int32_t *)user; }

static void miscompile(void) {
  int released = 0;
  espalier_module *m = build(&released);
  espalier_compile_options options = espalier_default_compile_options();
  options.cpu = "nope";
  refuse("cpu", m, !espalier_compile(m, &options));
  options = espalier_default_compile_options();
  int32_t cancelled = 1;
  options.cancelled = cancel;
  options.user = &cancelled;
  refuse("cancelled", m, !espalier_compile(m, &options));
  cancelled = 0;
  espalier_executable *e = espalier_compile(m, &options);
  printf("compiled afterwards: %d\n", e != NULL);
  espalier_executable_destroy(e);
  printf("no module to compile: %d\n",
         espalier_compile(NULL, &options) == NULL);
  espalier_module_destroy(m);

  static const char text[] = "func.func @other() { return }";
  m = espalier_module_parse(text, strlen(text));
  printf("no @main: %d inputs\n", espalier_module_num_inputs(m));
  refuse("module without @main", m, !espalier_compile(m, NULL));
  espalier_module_destroy(m);
}

static void print_status(const char *what, espalier_context *ctx,
                         espalier_status status) {
  printf("%s: %d %s\n", what, (int)status, espalier_last_error(ctx));
}

static void misrun(espalier_context *ctx) {
  float data[N * K] = {0}, out[N * M];
  const int64_t extents[3] = {N, K, 1}, outs[2] = {N, M}, wrong[2] = {N, K};
  espalier_tensor x = {data, ESPALIER_F32, 2, extents}, bad = x;
  espalier_tensor y = {out, ESPALIER_F32, 2, outs};
  print_status("count", ctx, espalier_run(ctx, &x, 0, &y, 1));
  print_status("null inputs", ctx, espalier_run(ctx, NULL, 1, &y, 1));
  print_status("null outputs", ctx, espalier_run(ctx, &x, 1, NULL, 1));
  bad.data = NULL;
  print_status("null data", ctx, espalier_run(ctx, &bad, 1, &y, 1));
  bad = x;
  bad.extents = NULL;
  print_status("null extents", ctx, espalier_run(ctx, &bad, 1, &y, 1));
  bad = x;
  bad.rank = 3;
  print_status("rank", ctx, espalier_run(ctx, &bad, 1, &y, 1));
  bad = x;
  bad.dtype = ESPALIER_F64;
  print_status("dtype", ctx, espalier_run(ctx, &bad, 1, &y, 1));
  bad = y;
  bad.extents = wrong;
  print_status("output extents", ctx, espalier_run(ctx, &x, 1, &bad, 1));
  bad = y;
  bad.data = data;
  print_status("overlap", ctx, espalier_run(ctx, &x, 1, &bad, 1));
  print_status("threads", ctx, espalier_set_num_threads(ctx, 0));
  print_status("plan", ctx, espalier_plan(ctx, &x, 1, NULL));
  printf("no context: %d %d\n", (int)espalier_run(NULL, &x, 1, &y, 1),
         (int)espalier_plan(NULL, &x, 1, NULL));
  print_status("no program", NULL, espalier_context_create(NULL, &ctx));
}

/*===----------------------------------------------------------------------===*
 * What works
 *===----------------------------------------------------------------------===*/

static void print_progress(uint32_t done, uint32_t all, void *user) {
  *(int *)user += done == all;
}

static void interpret(espalier_module *m, const espalier_tensor *x) {
  espalier_results *results = espalier_interpret(m, x, 1);
  if (!results) {
    printf("cannot interpret: %s\n", espalier_module_last_error(m));
    return;
  }
  espalier_tensor y = espalier_results_get(results, 0);
  printf("%d result of type %s\n", espalier_results_count(results),
         espalier_dtype_name(y.dtype));
  print_floats("interpreted", y.data, N * M);
  espalier_results_destroy(results);
  const int64_t negative[2] = {-1, K};
  espalier_tensor bad = {x->data, ESPALIER_F32, 2, negative};
  refuse("interpreted input", m, !espalier_interpret(m, &bad, 1));
  bad.extents = NULL;
  refuse("interpreted input", m, !espalier_interpret(m, &bad, 1));
  refuse("interpreted inputs", m, !espalier_interpret(m, NULL, 1));
}

int main(int argc, char **argv) {
  int released = 0, finished = 0;
  espalier_module *m = build(&released);
  describe(m);
  float data[N * K] = {1, 1, 1, -1, 0, 1}, out[N * M];
  const int64_t extents[2] = {N, K};
  int64_t outs[2];
  espalier_tensor x = {data, ESPALIER_F32, 2, extents};
  interpret(m, &x);

  espalier_compile_options options = espalier_default_compile_options();
  options.progress = print_progress;
  options.user = &finished;
  espalier_executable *e = espalier_compile(m, &options);
  if (!e) {
    printf("cannot compile: %s\n", espalier_module_last_error(m));
    return 1;
  }
  printf("%d kernels, finished %d times, from the cache: %d\n",
         (int)espalier_executable_kernels(e), finished,
         espalier_executable_cached(e));
  espalier_context *ctx;
  if (espalier_context_create(espalier_executable_program(e), &ctx) ||
      espalier_plan(ctx, &x, 1, outs)) {
    printf("cannot plan: %s\n", espalier_last_error(NULL));
    return 1;
  }
  printf("planned %d x %d\n", (int)outs[0], (int)outs[1]);
  espalier_tensor y = {out, ESPALIER_F32, 2, outs};
  print_status("run", ctx, espalier_run(ctx, &x, 1, &y, 1));
  print_floats("computed", out, N * M);
  misrun(ctx);
  espalier_context_destroy(ctx);

  printf("saved: %d\n", argc > 1 ? espalier_executable_save(e, argv[1]) : 1);
  printf("saved nowhere: %d %s\n", espalier_executable_save(e, NULL),
         espalier_executable_last_error(e));
  espalier_executable_destroy(e);
  espalier_module_destroy(m);
  printf("released %d times\n", released);
  misbuild();
  miscompile();
  espalier_module_destroy(NULL);
  espalier_executable_destroy(NULL);
  espalier_context_destroy(NULL);
  espalier_results_destroy(NULL);
  return 0;
}
