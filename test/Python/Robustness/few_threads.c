/* A system that runs few threads, for LD_PRELOAD. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static int left = 1 << 20;

struct start {
  void *(*run)(void *);
  void *argument;
};

/* As many threads may run beside those that run already. */
void allow_threads(int count) {
  __atomic_store_n(&left, count, __ATOMIC_SEQ_CST);
}

static void *run_counted(void *data) {
  struct start start = *(struct start *)data;
  free(data);
  void *result = start.run(start.argument);
  __atomic_add_fetch(&left, 1, __ATOMIC_SEQ_CST);
  return result;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                   void *(*run)(void *), void *argument) {
  int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                void *) = dlsym(RTLD_NEXT, "pthread_create");
  if (__atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST) < 0) {
    __atomic_add_fetch(&left, 1, __ATOMIC_SEQ_CST);
    return EAGAIN;
  }
  struct start *start = malloc(sizeof *start);
  start->run = run;
  start->argument = argument;
  return create(thread, attributes, run_counted, start);
}
