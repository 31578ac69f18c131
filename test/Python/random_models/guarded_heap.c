/* A heap beside pages that nobody may touch, for LD_PRELOAD.
   While `guard_heap` says so, memory that is aligned as buffers of programs are
   has no accessible byte before it, or up to 63 behind it. */

#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, MOST = 1 << 14, ALIGNMENT = 64, UNWRITTEN = 0xA5 };

extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *data);

static struct {
  void *data;
  char *base;
  size_t bytes;
} blocks[MOST];
static int number, side, lock;

static void acquire(void) {
  while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
    ;
}

static void release(void) { __atomic_store_n(&lock, 0, __ATOMIC_RELEASE); }

/* 1: guards are right before memory; 2: right behind it; 0: there are none. */
void guard_heap(int where) { side = where; }

void *aligned_alloc(size_t alignment, size_t size) {
  if (side == 0 || alignment != ALIGNMENT)
    return __libc_memalign(alignment, size);
  size_t inner = (size + PAGE - 1) / PAGE * PAGE;
  char *base = mmap(NULL, inner + 2 * PAGE, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED)
    return NULL;
  if (inner && mprotect(base + PAGE, inner, PROT_READ | PROT_WRITE))
    abort();
  memset(base + PAGE, UNWRITTEN, inner);
  void *data = base + PAGE + (side == 1 ? 0 : inner - size);
  acquire();
  if (number == MOST)
    abort();
  blocks[number].data = data;
  blocks[number].base = base;
  blocks[number++].bytes = inner + 2 * PAGE;
  release();
  return data;
}

void free(void *data) {
  if (number > 0 && data) {
    acquire();
    for (int i = number - 1; i >= 0; --i)
      if (blocks[i].data == data) {
        munmap(blocks[i].base, blocks[i].bytes);
        blocks[i] = blocks[--number];
        release();
        return;
      }
    release();
  }
  __libc_free(data);
}
