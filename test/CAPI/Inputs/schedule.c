/* Schedules a kernel through the C API, and makes every mistake that a caller
   can make. */

#include "espalier-c/Schedule.h"
#include "espalier-c/Program.h"
#include <stdio.h>
#include <string.h>

static const char *kKernel =
    "poly.kernel @shift(%A: memref<?xf32> {espalier.name = \"a\"},"
    "                   %N: index {espalier.name = \"n\"}) {"
    "  poly.compute @step dims [\"i\"]"
    "      domain [affine_set<(i)[N] : (i >= 0, N - 2 - i >= 0)>]"
    "      reads(%A[affine_map<(i)[N] -> (i)>] : memref<?xf32>)"
    "      writes(%A[affine_map<(i)[N] -> (i + 1)>] : memref<?xf32>) {"
    "  ^bb0(%x: f32):"
    "    poly.yield %x : f32"
    "  }"
    "}";

static const char *kScript =
    "module attributes {transform.with_named_sequence} {"
    "  transform.named_sequence @__transform_main("
    "      %%m: !transform.any_op {transform.readonly}) {"
    "    %%s = transform.poly.computation @shift::@step of %%m"
    "        : (!transform.any_op) -> !transform.any_op"
    "    transform.poly.%s : !transform.any_op"
    "    transform.yield"
    "  }"
    "}";

static void put(const char *text, size_t size, void *user) {
  fwrite(text, 1, size, user);
}

static int apply(espalier_schedule *s, const char *command) {
  char text[1024];
  snprintf(text, sizeof(text), kScript, command);
  return espalier_schedule_apply(s, text, strlen(text));
}

static void refuse(const char *what, espalier_module *m, int failed) {
  printf("%s: %s\n", what,
         failed ? espalier_module_last_error(m) : "not refused");
}

static const char *kSketch =
    "module attributes {transform.with_named_sequence} {"
    "  transform.named_sequence @__transform_main("
    "      %m: !transform.any_op {transform.readonly}) {"
    "    %s = transform.poly.computation @shift::@step of %m"
    "        : (!transform.any_op) -> !transform.any_op"
    "    %n = transform.tune.knob<\"size\"> options = [2, 4]"
    "        -> !transform.param<i64>"
    "    transform.poly.split %s loop \"i.1\" factors [%n] : !transform.any_op"
    "    transform.yield"
    "  }"
    "}";

/* A script with a choice is listed, refused while it is open, and filled in. */
static void choose(espalier_module *m, espalier_schedule *s) {
  size_t size = strlen(kSketch);
  espalier_module_describe_choices(m, kSketch, size, put, stdout);
  printf("\n");
  refuse("open", m, espalier_schedule_apply(s, kSketch, size));
  const char *bad = "{\"size\": 3}", *none = "{\"width\": 2}",
             *good = "{\"size\": 2}";
  refuse(
      "bad", m,
      espalier_module_select(m, kSketch, size, bad, strlen(bad), put, stdout));
  refuse("none", m,
         espalier_module_select(m, kSketch, size, none, strlen(none), put,
                                stdout));
  refuse("no values", m,
         espalier_module_select(m, kSketch, size, NULL, 0, put, stdout));
  refuse("no sketch", m,
         espalier_module_describe_choices(m, NULL, 0, put, stdout));
  printf("nothing: %d %d\n",
         espalier_module_describe_choices(NULL, kSketch, size, put, stdout),
         espalier_module_select(NULL, kSketch, size, good, strlen(good), put,
                                stdout));
  espalier_module_select(m, kSketch, size, good, strlen(good), put, stdout);
}

static void misuse(espalier_module *m, espalier_schedule *s) {
  const int64_t size = 3, negative = -1;
  refuse("no stage", m, espalier_module_lower(m, NULL, NULL));
  refuse("stage", m, espalier_module_lower(m, "nope", NULL));
  refuse("no script", m, espalier_module_transform(m, NULL, 0));
  refuse("empty script", m, espalier_schedule_apply(s, "", 0));
  refuse("no kernel", m, !espalier_schedule_create(m, NULL));
  refuse("kernel", m, !espalier_schedule_create(m, "nope"));
  refuse("no sizes", m, espalier_schedule_trace(s, NULL, 1, put, stdout));
  refuse("number of sizes", m,
         espalier_schedule_trace(s, &size, 0, put, stdout));
  refuse("negative size", m,
         espalier_schedule_trace(s, &negative, 1, put, stdout));
  printf("nothing: %d %d %d %d %d %d\n",
         espalier_module_lower(NULL, "poly", NULL),
         espalier_module_transform(NULL, "", 0),
         espalier_schedule_create(NULL, "shift") != NULL,
         espalier_schedule_apply(NULL, "", 0),
         espalier_schedule_loops(NULL, put, stdout),
         espalier_schedule_trace(NULL, &size, 1, put, stdout));
  espalier_module_describe_kernels(NULL, put, stdout);
  espalier_schedule_violation(NULL, put, stdout);
  espalier_schedule_print(NULL, put, stdout);
  espalier_schedule_destroy(NULL);
}

static const char *kModel =
    "func.func @main(%x: tensor<4x40xf32>, %w: tensor<40x48xf32>)"
    "    -> tensor<4x48xf32> {"
    "  %0 = graph.matmul %x, %w"
    "      : (tensor<4x40xf32>, tensor<40x48xf32>) -> tensor<4x48xf32>"
    "  return %0 : tensor<4x48xf32>"
    "}";

/* Chooses for a statement, then for the kernel that is formed of it. */
static const char *kChoices =
    "module attributes {transform.with_named_sequence} {"
    "  transform.named_sequence @__transform_statements("
    "      %m: !transform.any_op {transform.readonly}) {"
    "    %s = transform.poly.computation @matmul_fb4a1f81::@s0 of %m"
    "        : (!transform.any_op) -> !transform.any_op"
    "    transform.poly.algorithm %s direct : !transform.any_op"
    "    transform.yield"
    "  }"
    "}";

typedef struct {
  char text[8192];
  size_t size;
} buffer;

static void keep(const char *text, size_t size, void *user) {
  buffer *to = user;
  to->size = size < sizeof(to->text) ? size : 0;
  memcpy(to->text, text, to->size);
}

/* The script of the default schedule is printed and applied; what is chosen for
   statements has to come before. */
static void model(void) {
  espalier_module *m = espalier_module_parse(kModel, strlen(kModel));
  espalier_module *formed = espalier_module_parse(kModel, strlen(kModel));
  printf("statements: %d\n", espalier_module_lower(m, "statements", NULL));
  espalier_module_describe_kernels(m, put, stdout);
  printf("\nchosen: %d\n",
         espalier_module_schedule(m, kChoices, strlen(kChoices), NULL));
  espalier_module_describe_kernels(m, put, stdout);
  buffer script = {{0}, 0};
  printf("\ndefault: %d\n",
         espalier_module_default_schedule(m, NULL, NULL, keep, &script));
  fwrite(script.text, 1, script.size, stdout);
  printf("formed: %d\n", espalier_module_lower(formed, "poly", NULL));
  refuse("late", formed,
         espalier_module_schedule(formed, kChoices, strlen(kChoices), NULL));
  printf("applied: %d\n",
         espalier_module_schedule(formed, script.text, script.size, NULL));
  refuse("no script", formed, espalier_module_schedule(formed, NULL, 0, NULL));
  refuse("no kernel", formed,
         espalier_module_default_schedule(formed, "nope", NULL, put, stdout));
  printf("nothing: %d %d\n", espalier_module_schedule(NULL, "", 0, NULL),
         espalier_module_default_schedule(NULL, NULL, NULL, put, stdout));
  espalier_module_destroy(m);
  espalier_module_destroy(formed);
}

int main(void) {
  espalier_module *m = espalier_module_parse(kKernel, strlen(kKernel));
  if (!m) {
    printf("cannot parse: %s\n", espalier_module_last_error(NULL));
    return 1;
  }
  espalier_module_describe_kernels(m, put, stdout);
  espalier_schedule *s = espalier_schedule_create(m, "shift");
  printf("\nsplit: %d\n", apply(s, "split %s loop \"i\" factors [4]"));
  espalier_schedule_loops(s, put, stdout);
  refuse("parallelize", m, apply(s, "parallelize %s loop \"i.1\""));
  espalier_schedule_violation(s, put, stdout);
  printf("\n");
  espalier_schedule_print(s, put, stdout);
  const int64_t size = 3;
  espalier_schedule_trace(s, &size, 1, put, stdout);
  printf("\n");
  misuse(m, s);
  printf("\n");
  choose(m, s);
  espalier_schedule_destroy(s);
  espalier_module_destroy(m);
  model();
  return 0;
}
