/* Runs the program that PROGRAM names: THREADS INPUTS, a file of each input's
   extents and elements. Valgrind is asked whether results are defined.

   With INPUTS_UNWRITTEN, the elements are left as memory has them. */

#include <espalier-c/Runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <valgrind/memcheck.h>

extern const espalier_program PROGRAM;

static size_t count_bytes(const espalier_tensor *tensor) {
  size_t bytes = espalier_dtype_size(tensor->dtype);
  for (int32_t i = 0; i < tensor->rank; ++i)
    bytes *= tensor->extents[i];
  return bytes;
}

static void take(FILE *file, void *data, size_t bytes) {
  if (bytes && fread(data, bytes, 1, file) != 1)
    exit(4);
}

static void check(espalier_status status, const espalier_context *context) {
  if (!status)
    return;
  puts(espalier_last_error(context));
  exit(1);
}

int main(int argc, char **argv) {
  const espalier_program *program = &PROGRAM;
  espalier_context *context;
  check(espalier_context_create(program, &context), NULL);
  espalier_tensor *inputs = calloc(program->num_inputs + 1, sizeof *inputs);
  espalier_tensor *outputs = calloc(program->num_outputs + 1, sizeof *outputs);
  FILE *file = fopen(argv[2], "rb");
  for (int32_t i = 0; i < program->num_inputs; ++i) {
    const espalier_tensor_info *info = &program->inputs[i];
    int64_t *extents = malloc((info->rank + 1) * sizeof *extents);
    take(file, extents, info->rank * sizeof *extents);
    inputs[i] = (espalier_tensor){NULL, info->dtype, info->rank, extents};
    size_t bytes = count_bytes(&inputs[i]);
    inputs[i].data = malloc(bytes + 1);
#ifndef INPUTS_UNWRITTEN
    take(file, inputs[i].data, bytes);
#else
    fseek(file, bytes, SEEK_CUR);
#endif
  }
  int64_t *extents =
      malloc((program->num_outputs + 1) * ESPALIER_MAX_RANK * sizeof *extents);
  check(espalier_plan(context, inputs, program->num_inputs, extents), context);
  for (int32_t i = 0; i < program->num_outputs; ++i) {
    const espalier_tensor_info *info = &program->outputs[i];
    outputs[i] = (espalier_tensor){NULL, info->dtype, info->rank, extents};
    outputs[i].data = malloc(count_bytes(&outputs[i]) + 1);
    extents += info->rank;
  }
  if (program->set_num_threads)
    check(espalier_set_num_threads(context, atoi(argv[1])), context);
  check(espalier_run(context, inputs, program->num_inputs, outputs,
                     program->num_outputs),
        context);
  for (int32_t i = 0; i < program->num_outputs; ++i)
    VALGRIND_CHECK_MEM_IS_DEFINED(outputs[i].data, count_bytes(&outputs[i]));
  return 0;
}
