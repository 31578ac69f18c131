//===- Threads.cpp - How many threads a run may have ----------------------===//
//
// OpenMP's library ends the process where the system starts fewer threads than
// it asks for. So as many are tried before, and then it has to start its own at
// once, before another caller tries. What is not seen: threads that others
// start meanwhile, and parallel regions of the callers' own.
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

using namespace espalier::runtime;

/// The threads of OpenMP that serve the calling one, which is included, as its
/// last run left them: those that a run does not need go to other callers, and
/// so do those beyond a number that is set.
static thread_local int numServing = 1;
/// The process in which they are: one that is forked has none of them.
static thread_local pid_t servingProcess = 0;

/// The process of the thread that starts others, 0 if there is none. Not a
/// mutex: one that another thread has while the process forks stays locked.
static pid_t starting = 0;
/// Threads of OpenMP's that callers gave back, and nobody took since.
static int numIdle = 0;
static pid_t idleProcess = 0;

static void beginStarting(pid_t process) {
  pid_t holder = 0;
  while (!__atomic_compare_exchange_n(&starting, &holder, process, false,
                                      __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
    // What another process was at when this one was forked is over here.
    if (holder != process)
      continue;
    sched_yield();
    holder = 0;
  }
  numIdle = idleProcess == process ? numIdle : 0;
  idleProcess = process;
}

static void endStarting() { __atomic_store_n(&starting, 0, __ATOMIC_RELEASE); }

namespace {
/// Where threads wait until all that can be started are.
struct Gate {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
  bool isOpen = false;
};
} // namespace

static void *waitAtGate(void *argument) {
  auto &gate = *static_cast<Gate *>(argument);
  pthread_mutex_lock(&gate.mutex);
  while (!gate.isOpen)
    pthread_cond_wait(&gate.opened, &gate.mutex);
  pthread_mutex_unlock(&gate.mutex);
  return nullptr;
}

/// Returns how many of `count` threads with stacks like those of OpenMP's the
/// system runs beside the ones that there are.
static int tryThreads(int count, size_t stackSize) {
  if (count <= 0)
    return 0;
  pthread_t threads[ESPALIER_MAX_THREADS];
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes))
    return 0;
  Gate gate;
  int started = 0;
  if (!stackSize || !pthread_attr_setstacksize(&attributes, stackSize))
    while (started < count && started < ESPALIER_MAX_THREADS &&
           !pthread_create(&threads[started], &attributes, waitAtGate, &gate))
      ++started;
  pthread_attr_destroy(&attributes);
  pthread_mutex_lock(&gate.mutex);
  gate.isOpen = true;
  pthread_cond_broadcast(&gate.opened);
  pthread_mutex_unlock(&gate.mutex);
  for (int i = 0; i < started; ++i)
    pthread_join(threads[i], nullptr);
  return started;
}

static void countItself(int32_t *, int32_t *, int32_t *count) {
  __atomic_add_fetch(count, 1, __ATOMIC_RELAXED);
}

ESPALIER_MERGED void
espalier::runtime::setNumThreads(const espalier_program &program, int count) {
  if (count >= numServing)
    return program.set_num_threads(count);
  // Nobody else may take these before they are counted.
  beginStarting(servingProcess);
  program.set_num_threads(count);
  numIdle += numServing - count;
  endStarting();
  numServing = count;
}

ESPALIER_MERGED void
espalier::runtime::startThreads(const espalier_program &program, int wanted) {
  pid_t process = getpid();
  if (servingProcess != process)
    numServing = 1;
  servingProcess = process;
  // The number that the caller's own code set last.
  int set = program.get_max_threads();
  numServing = set < numServing ? set : numServing;
  if (wanted <= numServing)
    return setNumThreads(program, wanted);
  size_t stackSize = program.get_stack_size ? program.get_stack_size() : 0;
  beginStarting(process);
  int missing = wanted - numServing;
  int taken = numIdle < missing ? numIdle : missing;
  numIdle -= taken;
  taken += tryThreads(missing - taken, stackSize);
  wanted = numServing + taken;
  program.set_num_threads(wanted);
  // Clang's description of a place in the source, which there is none of.
  static const struct {
    int32_t reserved1, flags, reserved2, reserved3;
    const char *source;
  } place = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};
  if (program.fork_threads && wanted > 1) {
    // There may be fewer, for reasons of OpenMP's own.
    int32_t count = 0;
    program.fork_threads(&place, 1, countItself, &count);
    wanted = count;
  }
  endStarting();
  numServing = wanted;
  program.set_num_threads(wanted);
}
