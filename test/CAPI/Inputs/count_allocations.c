/* Counts what the process allocates, in place of the C library's functions. */

#include <errno.h>
#include <stddef.h>

long num_allocations;

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  ++num_allocations;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  ++num_allocations;
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  ++num_allocations;
  return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  ++num_allocations;
  return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
  ++num_allocations;
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : ENOMEM;
}
