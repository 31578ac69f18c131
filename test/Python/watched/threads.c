/* OpenMP's library as far as compiled programs call it, of threads that
   Valgrind follows.

   With THREADS_REPEAT, each thread of a team takes itself for the first one and
   does all of the work: what they write meets. */

#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST_THREADS = 16, MOST_ARGUMENTS = 8 };

typedef void task(int32_t *, int32_t *, void *, void *, void *, void *, void *,
                  void *, void *, void *);

struct team {
  int count;
  pthread_barrier_t barrier;
  task *run;
  void *arguments[MOST_ARGUMENTS];
};

struct member {
  struct team *team;
  int32_t number;
};

static int max_threads = 1;
static __thread struct member self;

int omp_get_max_threads(void) { return max_threads; }
void omp_set_num_threads(int count) {
  max_threads = count < MOST_THREADS ? count : MOST_THREADS;
}
size_t kmp_get_stacksize_s(void) { return 0; }

int32_t __kmpc_global_thread_num(void *place) { return self.number; }
int32_t __kmpc_bound_thread_num(void *place) { return self.number; }
int32_t __kmpc_bound_num_threads(void *place) {
  return self.team ? self.team->count : 1;
}
int32_t __kmpc_in_parallel(void *place) { return self.team != NULL; }

void __kmpc_barrier(void *place, int32_t thread) {
  if (self.team)
    pthread_barrier_wait(&self.team->barrier);
}

static void *work(void *member) {
  struct member outer = self;
  self = *(struct member *)member;
#ifdef THREADS_REPEAT
  self.number = 0;
#endif
  int32_t number = self.number, bound = self.number;
  void **a = self.team->arguments;
  self.team->run(&number, &bound, a[0], a[1], a[2], a[3], a[4], a[5], a[6],
                 a[7]);
  self = outer;
  return NULL;
}

void __kmpc_fork_call(void *place, int32_t count, task *run, ...) {
  struct team team = {self.team ? 1 : max_threads, .run = run};
  if (count > MOST_ARGUMENTS)
    abort();
  va_list list;
  va_start(list, run);
  for (int32_t i = 0; i < count; ++i)
    team.arguments[i] = va_arg(list, void *);
  va_end(list);
  struct member members[MOST_THREADS];
  pthread_t threads[MOST_THREADS];
  pthread_barrier_init(&team.barrier, NULL, team.count);
  for (int32_t i = 0; i < team.count; ++i)
    members[i] = (struct member){&team, i};
  for (int32_t i = 1; i < team.count; ++i)
    if (pthread_create(&threads[i], NULL, work, &members[i]))
      abort();
  work(&members[0]);
  for (int32_t i = 1; i < team.count; ++i)
    pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&team.barrier);
}
