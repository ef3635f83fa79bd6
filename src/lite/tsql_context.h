/* What one piece of work of the engine (parsing, binding, evaluating) stands on: memory that is
 * given back all at once, and one way out. alo_throw leaves through the context's `out`, so that
 * the recursive code in between holds nothing but this memory. */
#ifndef ALO_TSQL_CONTEXT_H
#define ALO_TSQL_CONTEXT_H

#include <setjmp.h>

#include <aloft/base.h>

typedef struct tsql_block tsql_block;

#define TSQL_ARENA_MAX ((size_t)512 * 1024 * 1024)

/* Zero is an empty arena. */
typedef struct tsql_arena {
  tsql_block *blocks;
  size_t held; /* bytes taken from the heap */
} tsql_arena;

/* Zeroed, aligned for any type; NULL when the heap has none, or the arena would hold more than
 * TSQL_ARENA_MAX. */
void *alo_arena_take(tsql_arena *arena, size_t size);
/* Forgets everything, keeping one block for the next use. */
void alo_arena_reset(tsql_arena *arena);
void alo_arena_free(tsql_arena *arena);

/* How far an error reaches. */
typedef enum tsql_reach {
  TSQL_ENDS_STATEMENT, /* the batch goes on */
  TSQL_ENDS_BATCH,
  TSQL_ENDS_TRANSACTION /* the batch ends, and what is open is rolled back */
} tsql_reach;

enum { TSQL_ERROR_TEXT = 1024 };

typedef struct tsql_error {
  int32_t number; /* 0: none */
  uint8_t severity;
  uint8_t state;
  tsql_reach reach;
  uint32_t line; /* 0: the statement's */
  char text[TSQL_ERROR_TEXT];
} tsql_error;

typedef struct tsql_context {
  tsql_arena arena;
  tsql_error error;
  int date_order; /* SET DATEFORMAT: a tsql_date_order */
  jmp_buf out;
} tsql_context;

/* Begins a piece of work: 0, or, after a throw, not 0 with `error` set. */
#define ALO_TRY(context) setjmp((context)->out)

/* Throws the error of docs/lite.md's list; the arguments are those of its text. */
_Noreturn void alo_throw(tsql_context *context, int number, ...);
/* Fills in `error` without a jump. */
void alo_tsql_error_set(tsql_error *error, int number, ...);
_Noreturn void alo_rethrow(tsql_context *context, const tsql_error *error);

/* Zeroed memory of the context; throws 701 when there is none. */
void *alo_take(tsql_context *context, size_t size);
#define ALO_NEW(context, type) ((type *)alo_take((context), sizeof(type)))
/* A copy, with a NUL after it. */
aloft_text alo_copy(tsql_context *context, aloft_text text);

/* As alo_text_prefix, for statements: a cut inside a surrogate pair, which UTF-8 cannot hold,
 * throws 40510 rather than give a wrong answer. */
size_t alo_prefix_whole(tsql_context *context, aloft_text text, size_t units);
/* Throws the same when `text` has a character of two UTF-16 units. */
void alo_refuse_pairs(tsql_context *context, aloft_text text);

/* Text that grows in a context's memory. */
typedef struct tsql_string {
  tsql_context *context;
  char *data;
  size_t size;
  size_t room;
} tsql_string;
void alo_string_add(tsql_string *string, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
void alo_string_bytes(tsql_string *string, const void *bytes, size_t size);
aloft_text alo_string_text(tsql_string *string);

#endif
