/* The event loop: one thread, one clock, one timing wheel, one completion queue.
 *
 * A turn is: input, then deadlines, then completions and deliveries in wire order, then all output
 * of the turn. A loop that was held up does not time out replies that have already arrived.
 * Everything on a loop belongs to the thread that turns it; only aloft_cancel_fire and
 * aloft_loop_post may be called from elsewhere. */
#ifndef ALOFT_LOOP_H
#define ALOFT_LOOP_H

#include <aloft/op.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aloft_loop_config {
  size_t size;                      /* sizeof(aloft_loop_config) */
  const aloft_allocator *allocator; /* [call] copied; NULL: malloc, realloc, free */
  uint64_t tick_ns;                 /* deadlines within one tick share it; 0: 1 ms */
  size_t block_size;                /* of a receive block, in bytes; 0: 64 KiB */
  size_t blocks_bytes_max;          /* kept for reuse; 0: 8 MiB */
} aloft_loop_config;

#define ALOFT_FOREVER UINT64_MAX

/* A loop on the calling thread. `config` [call] may be NULL.
 * ALOFT_ARGUMENT, ALOFT_NO_MEMORY, ALOFT_SYSTEM (no descriptor to be had: close some). */
ALOFT_API aloft_status aloft_loop_open(aloft_loop **loop, const aloft_loop_config *config);

/* Ends a loop. Everything still open on it is closed at once: operations in flight complete with
 * ALOFT_CLOSED before this returns, and objects opened on the loop are freed. A name that the
 * system's resolver is still looking up is waited for: it cannot be called back, and may take as
 * long as the resolver's own time limit. Not from inside a callback. */
ALOFT_API void aloft_loop_close(aloft_loop *loop);

/* One turn, waiting at most `wait_ns` for something to do (0: do not wait; ALOFT_FOREVER).
 * ALOFT_OK; ALOFT_SYSTEM: waiting itself failed; ALOFT_WRONG_STATE: called from a callback. */
ALOFT_API aloft_status aloft_loop_turn(aloft_loop *loop, uint64_t wait_ns);

/* Turns until aloft_loop_stop, or until nothing is left that could happen: no operation in flight,
 * no connection open. */
ALOFT_API aloft_status aloft_loop_run(aloft_loop *loop);
ALOFT_API void aloft_loop_stop(aloft_loop *loop);

/* Turns until `op` is done and returns its status. For programs that want to block; `op` is still
 * read after its done. ALOFT_WRONG_STATE: not in flight, or called from a callback; ALOFT_SYSTEM:
 * waiting itself failed, `op` may be in flight. */
ALOFT_API aloft_status aloft_wait(aloft_loop *loop, aloft_op *op);

/* The loop's clock, as of the beginning of this turn. */
ALOFT_API uint64_t aloft_loop_now(const aloft_loop *loop);

/* Why the last open on this loop was refused (aloft_tds_open, aloft_tds_pool_open...), until the
 * next one is; NULL: none was. Opens keep it here, since there is no object yet. */
ALOFT_API const aloft_error *aloft_loop_error(const aloft_loop *loop);

/* A timer: completes with ALOFT_TIMEOUT when its timeout or deadline (one is required) is over. */
ALOFT_API aloft_status aloft_sleep_start(aloft_loop *loop, aloft_op *op);

/* Runs `run` on the loop's thread in its next turn. The caller owns the struct, [op]: until `run`
 * is called. Posting one that is already posted does nothing. From any thread and from a signal
 * handler. What was posted before aloft_loop_close runs in it; what a callback posts during it is
 * not run. No other thread may post any more then. */
typedef struct aloft_post aloft_post;
struct aloft_post {
  struct {
    aloft_item item;
    void *ops;
    int posted;
  } own;
  void (*run)(aloft_post *post);
};
ALOFT_API void aloft_loop_post(aloft_loop *loop, aloft_post *post);

#ifdef __cplusplus
}
#endif
#endif
