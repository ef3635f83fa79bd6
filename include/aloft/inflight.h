/* Requests in flight for a protocol of your own: the table that both clients are built on.
 *
 * Starting an operation here gives it an id that no other operation of the table has had. The id
 * goes to the peer with the request; when an answer names it, the operation is finished by that id.
 * A late, duplicate or invented id finds nothing and is counted. Timeout and cancellation are the
 * operation's own members: what is not used is not touched. */
#ifndef ALOFT_INFLIGHT_H
#define ALOFT_INFLIGHT_H

#include <aloft/loop.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aloft_inflight aloft_inflight;

typedef struct aloft_inflight_config {
  size_t size;   /* sizeof(aloft_inflight_config) */
  uint32_t max;  /* operations in flight at once; 0: 65,536; at most 16,777,215 */
  uint32_t room; /* places made by the open; 0: none. More are made, doubling, as needed */
} aloft_inflight_config;

/* A table on a loop. `config` [call] may be NULL. With nothing in flight it does not keep
 * aloft_loop_run running.
 * ALOFT_ARGUMENT (a value out of its range), ALOFT_NO_MEMORY, ALOFT_CLOSED (the loop closes). */
ALOFT_API aloft_status aloft_inflight_open(aloft_inflight **table, aloft_loop *loop,
                                           const aloft_inflight_config *config);

/* Completes what is in flight with ALOFT_CLOSED. The table is freed behind those completions (when
 * the loop closes: behind all of the loop's): inside them a start is refused with ALOFT_CLOSED,
 * afterwards nothing may name the table. */
ALOFT_API void aloft_inflight_close(aloft_inflight *table);

/* Puts `op` in flight. `id` [call] gets its id. op->written is the caller's to set, at any time
 * before done: whether the peer may act on the request.
 * ALOFT_TOO_MANY (`max` are in flight: finish some), ALOFT_NO_MEMORY, ALOFT_CLOSED, ALOFT_ARGUMENT
 * (no done; another loop's cancellation), ALOFT_IN_USE, ALOFT_CANCELLED, ALOFT_TIMEOUT. */
ALOFT_API aloft_status aloft_inflight_start(aloft_inflight *table, aloft_op *op, uint64_t *id);

/* Completes the operation under `id`: its done runs in this turn of the loop, or in the next one
 * when called from a callback. `error` [done] may be NULL; with ALOFT_OK it is not kept. `status`
 * is not ALOFT_PENDING. ALOFT_WRONG_STATE: nothing is in flight under that id; it is counted as
 * unmatched. */
ALOFT_API aloft_status aloft_inflight_finish(aloft_inflight *table, uint64_t id,
                                             aloft_status status, const aloft_error *error);

/* The operation in flight under `id`, for taking its answer in before finishing it. NULL: none. */
ALOFT_API aloft_op *aloft_inflight_find(const aloft_inflight *table, uint64_t id);

/* An id as text of a fixed width, of the letters 'a' to 'p', without a terminating zero. */
enum { ALOFT_INFLIGHT_TOKEN_SIZE = 16 };
ALOFT_API void aloft_inflight_token(uint64_t id,
                                    char token[ALOFT_INFLIGHT_TOKEN_SIZE]); /* [call] */
/* False: not the text of an id. */
ALOFT_API bool aloft_inflight_parse(const char token[ALOFT_INFLIGHT_TOKEN_SIZE], uint64_t *id);

typedef struct aloft_inflight_info {
  size_t size;        /* sizeof(aloft_inflight_info), set by the caller */
  uint32_t count;     /* in flight */
  uint32_t retired;   /* places used up: each has had all its ids */
  uint64_t unmatched; /* ids that found nothing */
} aloft_inflight_info;
ALOFT_API void aloft_inflight_get_info(const aloft_inflight *table, aloft_inflight_info *info);

#ifdef __cplusplus
}
#endif
#endif
