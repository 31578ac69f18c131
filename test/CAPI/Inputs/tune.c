/* Looks for schedules of a product with rules of its own, and says what became
   of their scripts. */

#include "espalier-c/Tune.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *kModel =
    "func.func @main(%a: tensor<32x64xf32>, %b: tensor<64x48xf32>)"
    "    -> tensor<32x48xf32> {"
    "  %0 = graph.matmul %a, %b"
    "      : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>"
    "  return %0 : tensor<32x48xf32>"
    "}";

static void put(const char *text, size_t size, void *user) {
  fwrite(text, 1, size, user);
}

/* Says the default schedule again, with one option for each choice. */
static const char *narrow(const char *kernel, const char *script,
                          void (*add)(const char *, void *), void *scripts,
                          void *user) {
  static const char before[] = "> = ", after[] = " : i64 from options = [";
  char *text = calloc(1, 2 * strlen(script) + 1), *to = text;
  *(int *)user += strstr(kernel, "poly.kernel @kernel") != NULL;
  for (const char *at = script; *at;) {
    const char *list = strstr(at, after);
    const char *value = list;
    while (value && value > at && memcmp(value - 4, before, 4))
      --value;
    size_t size = list ? (size_t)(list - at) + strlen(after) : strlen(at);
    memcpy(to, at, size);
    to += size, at += size;
    if (!list)
      break;
    memcpy(to, value, (size_t)(list - value));
    to += list - value;
    at += strcspn(at, "]");
  }
  add(text, scripts);
  free(text);
  return NULL;
}

static const char *fail(const char *kernel, const char *script,
                        void (*add)(const char *, void *), void *scripts,
                        void *user) {
  (void)kernel, (void)script, (void)add, (void)scripts, (void)user;
  return "a fault of mine";
}

int main(int argc, char **argv) {
  int num_kernels = 0;
  espalier_sketch_rule rules[] = {{"narrow", narrow, &num_kernels},
                                  {"broken", fail, NULL}};
  espalier_module *m = espalier_module_parse(kModel, strlen(kModel));
  espalier_compile_options compile = espalier_default_compile_options();
  espalier_tune_options tune = {0};
  if (argc != 2 || !m)
    return 1;
  compile.records = argv[1];
  tune.trials = 12;
  tune.search = "random";
  tune.rules = rules;
  tune.num_rules = 2;
  espalier_model_to_tune model = {m, 1, 0};
  if (espalier_tune(&model, 1, &compile, &tune, put, stdout))
    printf("%s", espalier_module_last_error(m));
  printf("\nkernels: %d\n", num_kernels);
  espalier_describe_records(argv[1], put, stdout);
  espalier_module_destroy(m);
  return 0;
}
