/* Applies the script of a file to the kernels of another, and prints them. */

#include "espalier-c/Schedule.h"
#include <stdio.h>

typedef struct {
  char text[65536];
  size_t size;
} file;

static int load(const char *path, file *to) {
  FILE *from = fopen(path, "rb");
  if (!from)
    return -1;
  to->size = fread(to->text, 1, sizeof(to->text), from);
  fclose(from);
  return to->size < sizeof(to->text) ? 0 : -1;
}

static void put(const char *text, size_t size, void *user) {
  fwrite(text, 1, size, user);
}

int main(int argc, char **argv) {
  static file kernels, script;
  if (argc != 3 || load(argv[1], &kernels) || load(argv[2], &script)) {
    fprintf(stderr, "expects KERNELS.mlir SCRIPT.mlir of less than 64 KiB\n");
    return 1;
  }
  espalier_module *m = espalier_module_parse(kernels.text, kernels.size);
  int failed = !m || espalier_module_transform(m, script.text, script.size) < 0;
  if (failed)
    fprintf(stderr, "%s\n", espalier_module_last_error(m));
  else
    espalier_module_print(m, put, stdout);
  espalier_module_destroy(m);
  return failed;
}
