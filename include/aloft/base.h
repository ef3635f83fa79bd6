/* Words that every Aloft header uses: views, units, containers.
 *
 * Lifetimes. Every pointer in a signature or a public struct is marked with how long it must stay
 * valid (or stays valid):
 *   [call]  until the call returns
 *   [op]    until the operation's `done` runs
 *   [done]  until the callback that shows it returns; for rows, until the next step
 * There is no fourth. */
#ifndef ALOFT_BASE_H
#define ALOFT_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
  #define ALOFT_API __attribute__((visibility("default")))
#else
  #define ALOFT_API
#endif

/* A view of UTF-8 text. Not terminated by NUL. `data` NULL means absent, which is not the same as
 * empty (`data` set, `size` 0). `size` counts bytes. */
typedef struct aloft_text {
  const char *data;
  size_t size;
} aloft_text;

/* A view of bytes, under the same rules. */
typedef struct aloft_bytes {
  const void *data;
  size_t size;
} aloft_bytes;

#ifdef __cplusplus
  #define ALOFT_TEXT(literal) (aloft_text{"" literal, sizeof(literal) - 1})
#else
  #define ALOFT_TEXT(literal) ((aloft_text){"" literal, sizeof(literal) - 1})
#endif

/* For printf's "%.*s". */
#define ALOFT_PRINT(text) (int)(text).size, ((text).data ? (text).data : "")

/* A view of a C string; absent when the string is NULL. */
ALOFT_API aloft_text aloft_text_of(const char *string);
ALOFT_API bool aloft_text_equal(aloft_text a, aloft_text b);

/* All times are unsigned nanoseconds; points in time are read from the loop's monotonic clock. */
#define ALOFT_MICROSECONDS(n) ((uint64_t)(n)*UINT64_C(1000))
#define ALOFT_MILLISECONDS(n) ((uint64_t)(n)*UINT64_C(1000000))
#define ALOFT_SECONDS(n)      ((uint64_t)(n)*UINT64_C(1000000000))

/* The struct that embeds `pointer` as its member `member`. */
#define ALOFT_CONTAINER(pointer, type, member)                                                     \
  ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

/* Where a loop's memory comes from. All three are needed; `size` is never 0; `resize` and
 * `release` get the size given at allocation. Called on the loop's thread only. */
typedef struct aloft_allocator {
  void *(*allocate)(void *context, size_t size);
  void *(*resize)(void *context, void *memory, size_t old_size, size_t size);
  void (*release)(void *context, void *memory, size_t size);
  void *context;
} aloft_allocator;

#ifdef __cplusplus
}
#endif
#endif
