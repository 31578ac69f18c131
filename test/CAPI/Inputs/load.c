/* Loads libraries whose programs have one name, and runs them. */

#include "negative.h"
#undef negative_program
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static int run(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  __typeof__(&espalier_context_create) create =
      dlsym(library, "espalier_context_create");
  __typeof__(&espalier_run) execute = dlsym(library, "espalier_run");
  const espalier_program *program = dlsym(library, "negative_program");

  float x[4] = {-1, 2, -3, 4}, y[4];
  const int64_t extents[1] = {4};
  const espalier_tensor input = {x, ESPALIER_F32, 1, extents};
  const espalier_tensor output = {y, ESPALIER_F32, 1, extents};
  espalier_context *ctx;
  if (create(program, &ctx) || execute(ctx, &input, 1, &output, 1))
    return 1;
  printf("%s: %g %g\n", strrchr(path, '/') + 1, y[0], y[1]);
  return 0;
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; ++i)
    if (run(argv[i]))
      return 1;
  return 0;
}
