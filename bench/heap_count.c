/* Counts the heap calls of a whole process: linked into it, or loaded before it with
 * LD_PRELOAD=libaloft_heap_count.so
 *
 * In the process, aloft_heap_count (found with dlsym) shows the counts so far; a gate takes the
 * difference over its measured part. With ALOFT_HEAP_REPORT=PATH a line is appended to PATH when
 * the process exits:
 *   PID <tab> allocations <tab> resizes <tab> releases <tab> bytes <tab> mappings
 * Mappings are calls of mmap, mremap, brk and sbrk from outside the C library. What malloc maps for
 * itself is not among them: the call of malloc that made it do so is counted already. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "heap_count.h"

#define EXPORTED __attribute__((visibility("default")))
#define AT_EXIT  __attribute__((destructor))

/* The C library's own, under the names that need no look-up: a look-up allocates. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *memory);

static atomic_uint_fast64_t counts[ALOFT_HEAP_COUNTS];

static void add(int count, uint64_t n) {
  atomic_fetch_add_explicit(&counts[count], n, memory_order_relaxed);
}

static void add_call(int count, size_t size) {
  add(count, 1);
  add(ALOFT_HEAP_BYTES, size);
}

EXPORTED void aloft_heap_count(uint64_t out[ALOFT_HEAP_COUNTS]) {
  for (int i = 0; i < ALOFT_HEAP_COUNTS; i++)
    out[i] = atomic_load_explicit(&counts[i], memory_order_relaxed);
}

EXPORTED void *malloc(size_t size) {
  add_call(ALOFT_HEAP_ALLOCATIONS, size);
  return __libc_malloc(size);
}

EXPORTED void *calloc(size_t count, size_t size) {
  add_call(ALOFT_HEAP_ALLOCATIONS, count * size);
  return __libc_calloc(count, size);
}

EXPORTED void *realloc(void *memory, size_t size) {
  add_call(ALOFT_HEAP_RESIZES, size);
  return __libc_realloc(memory, size);
}

EXPORTED void *reallocarray(void *memory, size_t count, size_t size) {
  if (size != 0 && count > SIZE_MAX / size) {
    errno = ENOMEM;
    return NULL;
  }
  /* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): size 0 is passed on as it came */
  return realloc(memory, count * size);
}

EXPORTED void free(void *memory) {
  if (memory != NULL)
    add(ALOFT_HEAP_RELEASES, 1);
  __libc_free(memory);
}

EXPORTED void *memalign(size_t alignment, size_t size) {
  add_call(ALOFT_HEAP_ALLOCATIONS, size);
  return __libc_memalign(alignment, size);
}

EXPORTED void *aligned_alloc(size_t alignment, size_t size) {
  return memalign(alignment, size);
}

EXPORTED void *valloc(size_t size) {
  return memalign((size_t)sysconf(_SC_PAGESIZE), size);
}

EXPORTED int posix_memalign(void **out, size_t alignment, size_t size) {
  if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0)
    return EINVAL;
  int saved = errno;
  void *memory = memalign(alignment, size);
  errno = saved;
  if (memory == NULL)
    return ENOMEM;
  *out = memory;
  return 0;
}

/* The next definition of a function; ISO C has no cast from the object pointer that dlsym gives. */
typedef union next_function {
  void *object;
  void *(*mmap)(void *, size_t, int, int, int, off_t);
  void *(*mremap)(void *, size_t, size_t, int, ...);
  void *(*sbrk)(intptr_t);
  int (*brk)(void *);
} next_function;

static next_function next(const char *name) {
  add(ALOFT_HEAP_MAPPINGS, 1);
  return (next_function){.object = dlsym(RTLD_NEXT, name)};
}

EXPORTED void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
  return next("mmap").mmap(address, size, protection, flags, fd, offset);
}

EXPORTED void *mmap64(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
  return mmap(address, size, protection, flags, fd, offset); /* off_t has 64 bits: checked below */
}
_Static_assert(sizeof(off_t) == sizeof(int64_t), "mmap64 is mmap only where off_t has 64 bits");

EXPORTED void *mremap(void *old, size_t old_size, size_t size, int flags, ...) {
  void *place = NULL;
  if (flags & MREMAP_FIXED) {
    va_list rest;
    va_start(rest, flags);
    place = va_arg(rest, void *);
    va_end(rest);
  }
  return next("mremap").mremap(old, old_size, size, flags, place);
}

EXPORTED void *sbrk(intptr_t change) {
  return next("sbrk").sbrk(change);
}

EXPORTED int brk(void *end) {
  return next("brk").brk(end);
}

/* One write of a short line to a file open for appending: lines of several processes do not mix. */
AT_EXIT static void report(void) {
  uint64_t seen[ALOFT_HEAP_COUNTS];
  aloft_heap_count(seen);
  const char *path = getenv("ALOFT_HEAP_REPORT");
  if (path == NULL)
    return;
  char line[160];
  int size = snprintf(
      line, sizeof line, "%ld\t%llu\t%llu\t%llu\t%llu\t%llu\n", (long)getpid(),
      (unsigned long long)seen[ALOFT_HEAP_ALLOCATIONS],
      (unsigned long long)seen[ALOFT_HEAP_RESIZES], (unsigned long long)seen[ALOFT_HEAP_RELEASES],
      (unsigned long long)seen[ALOFT_HEAP_BYTES], (unsigned long long)seen[ALOFT_HEAP_MAPPINGS]);
  int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0 || write(fd, line, (size_t)size) != size)
    fprintf(stderr, "heap_count: cannot write %s\n", path);
  if (fd >= 0)
    close(fd);
}
