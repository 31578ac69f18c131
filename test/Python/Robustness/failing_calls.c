/* A system some of whose calls fail, for LD_PRELOAD. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { NONE, WRITING, READING, MEMORY, PROCESSES };

/* Less is asked for by LLVM, too, which ends the process without it. */
static const size_t large = 1 << 20;

static int chosen = NONE;
static int error = 0;
static long first = 0;
static long last = 0;
static long calls = 0;
static pid_t armed = 0;

/* From now on, calls FROM to TO of a kind fail in this process, counted from 1.
 */
void fail_calls(int kind, int with, long from, long to) {
  chosen = NONE;
  calls = 0;
  first = from;
  last = to;
  error = with;
  armed = getpid();
  __atomic_store_n(&chosen, kind, __ATOMIC_SEQ_CST);
}

/* Lets calls succeed again; returns how many of the kind there were. */
long stop_failing(void) {
  __atomic_store_n(&chosen, NONE, __ATOMIC_SEQ_CST);
  return calls;
}

static int fails(enum kind kind) {
  if (__atomic_load_n(&chosen, __ATOMIC_SEQ_CST) != (int)kind ||
      getpid() != armed)
    return 0;
  long call = __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
  if (call < first || call > last)
    return 0;
  errno = error;
  return 1;
}

/* Whether a file is on a disk: what goes through pipes, or is said to the
   user, does not fail with the disk. */
static int is_stored(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

/* What NAME would be without this library. */
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define FAILING(kind, result, failed, name, parameters, arguments)             \
  result name parameters {                                                     \
    return fails(kind) ? (failed) : NEXT(name) arguments;                      \
  }

static enum kind opening(int flags) {
  return (flags & O_ACCMODE) == O_RDONLY ? READING : WRITING;
}

static mode_t mode_of(int flags, va_list arguments) {
  return flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                             \
  int name(const char *path, int flags, ...) {                                 \
    va_list arguments;                                                         \
    va_start(arguments, flags);                                                \
    mode_t mode = mode_of(flags, arguments);                                   \
    va_end(arguments);                                                         \
    return fails(opening(flags)) ? -1 : NEXT(name)(path, flags, mode);         \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                           \
  int name(int folder, const char *path, int flags, ...) {                     \
    va_list arguments;                                                         \
    va_start(arguments, flags);                                                \
    mode_t mode = mode_of(flags, arguments);                                   \
    va_end(arguments);                                                         \
    return fails(opening(flags)) ? -1 : NEXT(name)(folder, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                            \
  FILE *name(const char *path, const char *mode) {                             \
    return fails(*mode == 'r' ? READING : WRITING) ? NULL                      \
                                                   : NEXT(name)(path, mode);   \
  }
FOPEN(fopen)
FOPEN(fopen64)

#define TRANSFER(kind, name, parameters, arguments)                            \
  ssize_t name parameters {                                                    \
    return is_stored(file) && fails(kind) ? -1 : NEXT(name) arguments;         \
  }
TRANSFER(WRITING, write, (int file, const void *data, size_t size),
         (file, data, size))
TRANSFER(WRITING, pwrite,
         (int file, const void *data, size_t size, off_t offset),
         (file, data, size, offset))
TRANSFER(WRITING, pwrite64,
         (int file, const void *data, size_t size, off64_t offset),
         (file, data, size, offset))
TRANSFER(WRITING, writev, (int file, const struct iovec *data, int count),
         (file, data, count))
FAILING(WRITING, int, -1, ftruncate, (int file, off_t size), (file, size))
FAILING(WRITING, int, -1, ftruncate64, (int file, off64_t size), (file, size))
FAILING(WRITING, ssize_t, -1, sendfile,
        (int target, int source, off_t *offset, size_t size),
        (target, source, offset, size))
FAILING(WRITING, int, -1, memfd_create, (const char *name, unsigned flags),
        (name, flags))
FAILING(WRITING, int, -1, fsync, (int file), (file))
FAILING(WRITING, int, -1, fdatasync, (int file), (file))
FAILING(WRITING, int, -1, link, (const char *from, const char *to), (from, to))
FAILING(WRITING, int, -1, linkat,
        (int source, const char *from, int target, const char *to, int flags),
        (source, from, target, to, flags))
FAILING(WRITING, int, -1, rename, (const char *from, const char *to),
        (from, to))
FAILING(WRITING, int, -1, renameat,
        (int source, const char *from, int target, const char *to),
        (source, from, target, to))
FAILING(WRITING, int, -1, mkdir, (const char *path, mode_t mode), (path, mode))

TRANSFER(READING, read, (int file, void *data, size_t size), (file, data, size))
TRANSFER(READING, pread, (int file, void *data, size_t size, off_t offset),
         (file, data, size, offset))
TRANSFER(READING, pread64, (int file, void *data, size_t size, off64_t offset),
         (file, data, size, offset))
FAILING(READING, DIR *, NULL, opendir, (const char *path), (path))

#define MMAP(name, offset_type)                                                \
  void *name(void *place, size_t size, int allowed, int flags, int file,       \
             offset_type offset) {                                             \
    int failed = flags & MAP_ANONYMOUS ? size >= large && fails(MEMORY)        \
                                       : fails(READING);                       \
    return failed ? MAP_FAILED                                                 \
                  : NEXT(name)(place, size, allowed, flags, file, offset);     \
  }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

/* The C library's own names: to ask for the next would need memory. */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static int lacks(size_t size) { return size >= large && fails(MEMORY); }

void *malloc(size_t size) { return lacks(size) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
  return lacks(count * size) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size) {
  return lacks(size) ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return lacks(size) ? NULL : __libc_memalign(alignment, size);
}

int posix_memalign(void **result, size_t alignment, size_t size) {
  void *made = lacks(size) ? NULL : __libc_memalign(alignment, size);
  if (!made)
    return ENOMEM;
  *result = made;
  return 0;
}

FAILING(PROCESSES, pid_t, -1, fork, (void), ())
FAILING(PROCESSES, int, -1, pipe, (int *ends), (ends))
FAILING(PROCESSES, int, -1, pipe2, (int *ends, int flags), (ends, flags))

#define SPAWN(name)                                                            \
  int name(pid_t *made, const char *path,                                      \
           const posix_spawn_file_actions_t *actions,                          \
           const posix_spawnattr_t *attributes, char *const *arguments,        \
           char *const *environment) {                                         \
    return fails(PROCESSES) ? error                                            \
                            : NEXT(name)(made, path, actions, attributes,      \
                                         arguments, environment);              \
  }
SPAWN(posix_spawn)
SPAWN(posix_spawnp)
