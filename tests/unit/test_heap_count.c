/* The preloaded counter: the program runs itself under it, once for each thing to count. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  #define OWN_HEAP 1 /* the sanitizer has replaced malloc itself */
#elif defined(__has_feature)
  #if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    #define OWN_HEAP 1
  #endif
#endif

enum { ALLOCATIONS, RESIZES, RELEASES, BYTES, MAPPINGS, COUNTS };

#define COUNTER ALOFT_BINARY_DIR "/bench/libaloft_heap_count.so"

typedef void heap_count(uint64_t counts[COUNTS]);

static heap_count *find_counter(void) {
  union {
    void *object;
    heap_count *function;
  } found = {.object = dlsym(RTLD_DEFAULT, "aloft_heap_count")};
  return found.function;
}

static void *volatile held; /* so that no call is optimised away */

static void use_heap(void) {
  held = malloc(10);
  held = realloc(held, 30);
  free(held);
  held = calloc(3, 20);
  free(held);
  free(NULL);
  void *aligned = NULL;
  if (posix_memalign(&aligned, 64, 128) == 0)
    free(aligned);
}

static void use_mappings(void) {
  void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  page = mremap(page, 4096, 8192, MREMAP_MAYMOVE);
  munmap(page, 8192);
  held = sbrk(0);
}

static void use_nothing(void) {}

static const struct {
  const char *name;
  void (*use)(void);
  uint64_t counts[COUNTS];
} cases[] = {
    {"nothing", use_nothing, {0, 0, 0, 0, 0}},
    {"heap", use_heap, {3, 1, 3, 10 + 30 + 60 + 128, 0}},
    {"mappings", use_mappings, {0, 0, 0, 0, 3}},
};

/* In the child: 0 if the counter counted just what the case says. */
static int count_case(const char *name) {
  heap_count *count = find_counter();
  if (count == NULL)
    return 3;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    if (strcmp(cases[i].name, name) != 0)
      continue;
    uint64_t before[COUNTS], after[COUNTS];
    count(before);
    cases[i].use();
    count(after);
    for (int j = 0; j < COUNTS; j++)
      if (after[j] - before[j] != cases[i].counts[j]) {
        fprintf(stderr, "%s: count %d is %llu\n", name, j,
                (unsigned long long)(after[j] - before[j]));
        return 1;
      }
    return 0;
  }
  return 2;
}

static int run_under_counter(const char *name, const char *report) {
  pid_t child = fork();
  if (child == 0) {
    setenv("LD_PRELOAD", COUNTER, 1);
    if (report != NULL)
      setenv("ALOFT_HEAP_REPORT", report, 1);
    execl("/proc/self/exe", "test_heap_count", name, (char *)NULL);
    _exit(127);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void counts_just_what_is_called(void **state) {
  (void)state;
#ifdef OWN_HEAP
  skip();
#endif
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(run_under_counter(cases[i].name, NULL), 0);
}

static void reports_at_exit(void **state) {
  (void)state;
#ifdef OWN_HEAP
  skip();
#endif
  char path[] = "/tmp/aloft-heap-XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  int code = run_under_counter("heap", path);
  char line[256] = "";
  ssize_t size = read(fd, line, sizeof line - 1);
  close(fd);
  unlink(path);
  assert_int_equal(code, 0);
  assert_true(size > 0);
  unsigned long long pid = 0, counts[COUNTS] = {0};
  assert_int_equal(sscanf(line, "%llu %llu %llu %llu %llu %llu", &pid, &counts[0], &counts[1],
                          &counts[2], &counts[3], &counts[4]),
                   6);
  assert_true(counts[ALLOCATIONS] >= 3 && counts[RESIZES] >= 1 && counts[BYTES] >= 228);
}

int main(int argc, char **argv) {
  if (argc == 2)
    return count_case(argv[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(counts_just_what_is_called),
      cmocka_unit_test(reports_at_exit),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
