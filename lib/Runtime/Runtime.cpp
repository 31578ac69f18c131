//===- Runtime.cpp - Contexts of compiled programs ------------------------===//

#include "Context.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

using namespace espalier::runtime;

/// Alignment of the arena. Compiled code relies on it.
static constexpr size_t kArenaAlignment = 64;

/// The message of the calling thread's last failed espalier_context_create.
static thread_local char creationMessage[256];

ESPALIER_MERGED espalier_status espalier::runtime::fail(espalier_context *ctx,
                                                        espalier_status status,
                                                        const char *format,
                                                        ...) {
  va_list arguments;
  va_start(arguments, format);
  if (ctx)
    vsnprintf(ctx->message, sizeof(ctx->message), format, arguments);
  else
    vsnprintf(creationMessage, sizeof(creationMessage), format, arguments);
  va_end(arguments);
  return status;
}

ESPALIER_MERGED size_t espalier_dtype_size(int32_t dtype) {
  switch (dtype) {
#define SIZE_CASE(name, spelling, bytes, ctype)                                \
  case ESPALIER_##name:                                                        \
    return bytes;
    ESPALIER_FOR_EACH_DTYPE(SIZE_CASE)
#undef SIZE_CASE
  default:
    return 0;
  }
}

ESPALIER_MERGED const char *espalier_dtype_name(int32_t dtype) {
  switch (dtype) {
#define NAME_CASE(name, spelling, bytes, ctype)                                \
  case ESPALIER_##name:                                                        \
    return spelling;
    ESPALIER_FOR_EACH_DTYPE(NAME_CASE)
#undef NAME_CASE
  default:
    return "?";
  }
}

static int64_t countExtents(const espalier_tensor_info *infos, int32_t count) {
  int64_t total = 0;
  for (int32_t i = 0; i < count; ++i)
    total += infos[i].rank;
  return total;
}

ESPALIER_MERGED espalier_status espalier_context_create(
    const espalier_program *program, espalier_context **ctx) {
  if (!ctx)
    return fail(nullptr, ESPALIER_INVALID_ARGUMENT,
                "expects a place for the context, but got a null pointer");
  *ctx = nullptr;
  if (!program)
    return fail(nullptr, ESPALIER_INVALID_ARGUMENT,
                "expects a program, but got a null pointer");
  if (program->abi_version != ESPALIER_ABI_VERSION)
    return fail(nullptr, ESPALIER_UNSUPPORTED,
                "expects a program with ABI version %d, but got version %u",
                ESPALIER_ABI_VERSION, program->abi_version);
  for (const char *const *feature = program->features; feature && *feature;
       ++feature)
    if (!machineHas(*feature))
      return fail(nullptr, ESPALIER_UNSUPPORTED,
                  "program '%s' for %s expects a machine with %s, but got one "
                  "without it",
                  program->name, program->cpu, *feature);
  auto *made = (espalier_context *)calloc(1, sizeof(espalier_context));
  if (made) {
    made->program = program;
    made->numInputExtents = countExtents(program->inputs, program->num_inputs);
    made->numOutputExtents =
        countExtents(program->outputs, program->num_outputs);
    // One more, since calloc(0) may return null.
    made->extents =
        (int64_t *)calloc(made->numInputExtents + made->numOutputExtents + 1 +
                              ESPALIER_PLAN_VALUES,
                          sizeof(int64_t));
    made->data = (void **)calloc(program->num_inputs + program->num_outputs + 1,
                                 sizeof(void *));
  }
  if (!made || !made->extents || !made->data) {
    espalier_context_destroy(made);
    return fail(nullptr, ESPALIER_OUT_OF_MEMORY,
                "expects memory for a context, but got none");
  }
  *ctx = made;
  return ESPALIER_OK;
}

ESPALIER_MERGED void espalier_context_destroy(espalier_context *ctx) {
  if (!ctx)
    return;
  free(ctx->arena);
  free(ctx->extents);
  free(ctx->data);
  free(ctx);
}

/// Marks `ctx` as in use; false if it already is.
static bool acquire(espalier_context *ctx) {
  return __atomic_exchange_n(&ctx->busy, 1, __ATOMIC_ACQUIRE) == 0;
}

static espalier_status release(espalier_context *ctx, espalier_status status) {
  if (status == ESPALIER_OK)
    ctx->message[0] = 0;
  __atomic_store_n(&ctx->busy, 0, __ATOMIC_RELEASE);
  return status;
}

/// Prints the shapes of the inputs that have dimensions, as far as they fit.
static void describeInputs(const espalier_context *ctx, char *text,
                           size_t size) {
  const espalier_program &program = *ctx->program;
  const int64_t *extent = ctx->extents;
  text[0] = 0;
  for (int32_t i = 0; i < program.num_inputs; ++i)
    for (int32_t dim = 0; dim < program.inputs[i].rank; ++dim, ++extent) {
      size_t used = strlen(text);
      const char *name = dim ? "" : program.inputs[i].name;
      const char *before = dim ? "x" : used ? ", " : "; got ";
      snprintf(text + used, size - used, "%s%s%s%lld", before, name,
               dim ? "" : ": ", (long long)*extent);
    }
}

/// Prints a message with `numbers` in the places of its `%`; there may be fewer
/// numbers than places. `%%` stands for `%`.
static void printMessage(const char *message, const int64_t *numbers,
                         int32_t count, char *text, size_t size) {
  constexpr size_t kLongestNumber = 24;
  const int64_t *end = numbers + count;
  size_t used = 0;
  for (const char *next = message; *next && used + kLongestNumber < size;
       ++next) {
    if (next[0] == '%' && next[1] != '%' && numbers < end)
      used += snprintf(text + used, size - used, "%lld", (long long)*numbers++);
    else
      text[used++] = *next;
    if (next[0] == '%' && next[1] == '%')
      ++next;
  }
  text[used] = 0;
}

/// Fills the extents of the outputs and the size of the arena from those of the
/// inputs, and checks that they make sense.
static espalier_status plan(espalier_context *ctx) {
  const espalier_program &program = *ctx->program;
  int64_t *planned = ctx->extents + ctx->numInputExtents;
  program.plan(ctx->extents, planned);
  int64_t arenaSize = planned[ctx->numOutputExtents];
  if (arenaSize < 0) {
    uint64_t code = 0 - (uint64_t)arenaSize;
    char inputs[sizeof(ctx->message) / 2], text[sizeof(ctx->message)];
    describeInputs(ctx, inputs, sizeof(inputs));
    printMessage(code <= (uint64_t)program.num_plan_messages
                     ? program.plan_messages[code - 1]
                     : "expects sizes that fit into 63 bits",
                 planned + ctx->numOutputExtents + 1, ESPALIER_PLAN_VALUES,
                 text, sizeof(text));
    return fail(ctx, ESPALIER_INVALID_ARGUMENT, "program '%s' %s%s",
                program.name, text, inputs);
  }
  for (int32_t i = 0; i < program.num_outputs; ++i)
    for (int32_t dim = 0; dim < program.outputs[i].rank; ++dim, ++planned)
      if (*planned < 0)
        return fail(ctx, ESPALIER_INVALID_ARGUMENT,
                    "output '%s' expects inputs that give it an extent of at "
                    "least 0 in dimension %d, but got %lld",
                    program.outputs[i].name, dim, (long long)*planned);
  return ESPALIER_OK;
}

ESPALIER_MERGED espalier_status espalier_plan(espalier_context *ctx,
                                              const espalier_tensor *inputs,
                                              int32_t num_inputs,
                                              int64_t *output_extents) {
  if (!ctx)
    return ESPALIER_INVALID_ARGUMENT;
  if (!acquire(ctx))
    return ESPALIER_BUSY;
  espalier_status status = checkInputs(ctx, inputs, num_inputs, false);
  if (!status)
    status = plan(ctx);
  if (!status && !output_extents && ctx->numOutputExtents > 0)
    status = fail(ctx, ESPALIER_INVALID_ARGUMENT,
                  "expects a place for the extents, but got a null pointer");
  if (!status && ctx->numOutputExtents > 0)
    memcpy(output_extents, ctx->extents + ctx->numInputExtents,
           ctx->numOutputExtents * sizeof(int64_t));
  return release(ctx, status);
}

/// Makes the arena as large as the plan asks.
static espalier_status growArena(espalier_context *ctx) {
  int64_t size = ctx->extents[ctx->numInputExtents + ctx->numOutputExtents];
  if (size <= ctx->arenaSize)
    return ESPALIER_OK;
  free(ctx->arena);
  ctx->arena = nullptr;
  ctx->arenaSize = 0;
  if (posix_memalign(&ctx->arena, kArenaAlignment, size)) {
    ctx->arena = nullptr;
    return fail(ctx, ESPALIER_OUT_OF_MEMORY,
                "program '%s' expects %lld bytes for intermediate tensors, but "
                "got none",
                ctx->program->name, (long long)size);
  }
  ctx->arenaSize = size;
  return ESPALIER_OK;
}

/// Reports what a check has left in `record`, if anything.
static espalier_status reportRecord(espalier_context *ctx,
                                    const int64_t *record) {
  const espalier_program &program = *ctx->program;
  if (record[0] == 0)
    return ESPALIER_OK;
  char text[400];
  printMessage(program.check_messages[record[0] - 1], record + 1,
               ESPALIER_RECORD_SIZE - 1, text, sizeof(text));
  return fail(ctx, ESPALIER_INVALID_ARGUMENT, "program '%s' %s", program.name,
              text);
}

/// Checks the data of the inputs, which are in place.
static espalier_status checkData(espalier_context *ctx) {
  const espalier_program &program = *ctx->program;
  int64_t record[ESPALIER_RECORD_SIZE] = {0};
  if (program.check)
    program.check(ctx->data, ctx->extents, record);
  return reportRecord(ctx, record);
}

/// Runs the program on data that is in place.
static espalier_status execute(espalier_context *ctx) {
  const espalier_program &program = *ctx->program;
  int64_t record[ESPALIER_RECORD_SIZE] = {0};
  ctx->data[program.num_inputs + program.num_outputs] = record;
  auto run = [&] {
    program.run(ctx->data, ctx->extents, ctx->arena, program.constants);
  };
  if (program.set_num_threads) {
    int previous = program.get_max_threads();
    startThreads(program, ctx->numThreads > 0 ? ctx->numThreads : previous);
    run();
    setNumThreads(program, previous);
  } else {
    run();
  }
  return reportRecord(ctx, record);
}

ESPALIER_MERGED espalier_status espalier_run(espalier_context *ctx,
                                             const espalier_tensor *inputs,
                                             int32_t num_inputs,
                                             const espalier_tensor *outputs,
                                             int32_t num_outputs) {
  if (!ctx)
    return ESPALIER_INVALID_ARGUMENT;
  if (!acquire(ctx))
    return ESPALIER_BUSY;
  espalier_status status = checkInputs(ctx, inputs, num_inputs, true);
  if (!status)
    status = plan(ctx);
  if (!status)
    status = checkOutputs(ctx, inputs, outputs, num_outputs);
  if (!status)
    status = growArena(ctx);
  if (!status) {
    for (int32_t i = 0; i < num_inputs; ++i)
      ctx->data[i] = inputs[i].data;
    for (int32_t i = 0; i < num_outputs; ++i)
      ctx->data[num_inputs + i] = outputs[i].data;
    status = checkData(ctx);
  }
  if (!status)
    status = execute(ctx);
  return release(ctx, status);
}

ESPALIER_MERGED espalier_status espalier_set_num_threads(espalier_context *ctx,
                                                         int32_t num_threads) {
  if (!ctx)
    return ESPALIER_INVALID_ARGUMENT;
  if (!acquire(ctx))
    return ESPALIER_BUSY;
  espalier_status status = ESPALIER_OK;
  if (num_threads < 1 || num_threads > ESPALIER_MAX_THREADS)
    status = fail(ctx, ESPALIER_INVALID_ARGUMENT,
                  "expects 1 to %d threads, but got %d", ESPALIER_MAX_THREADS,
                  num_threads);
  else if (num_threads > 1 && !ctx->program->set_num_threads)
    status = fail(ctx, ESPALIER_UNSUPPORTED,
                  "program '%s' expects 1 thread, for which it was compiled, "
                  "but got %d",
                  ctx->program->name, num_threads);
  else
    ctx->numThreads = num_threads;
  return release(ctx, status);
}

ESPALIER_MERGED const char *espalier_last_error(const espalier_context *ctx) {
  return ctx ? ctx->message : creationMessage;
}
