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
 * ALOFT_CLOSED before this returns; in these callbacks every start is refused with ALOFT_CLOSED,
 * and behind the last of them what was opened on the loop is freed. A name that the
 * system's resolver is still looking up is waited for: it cannot be called back, and may take as
 * long as the resolver's own time limit. Not from inside a callback. */
ALOFT_API void aloft_loop_close(aloft_loop *loop);

/* One turn, waiting at most `wait_ns` for something to do (0: do not wait; ALOFT_FOREVER).
 * ALOFT_OK; ALOFT_SYSTEM: waiting itself failed; ALOFT_WRONG_STATE: called from a callback. */
ALOFT_API aloft_status aloft_loop_turn(aloft_loop *loop, uint64_t wait_ns);

/* ---- inside another event loop ---- */

/* What a foreign loop waits for, to call aloft_loop_turn(loop, 0) when any of it is due: `events`
 * on `descriptor`, or the deadline. Adapters: <aloft/adapters/epoll.h>, libevent.h, glib.h. */
typedef struct aloft_loop_wants {
  size_t size;          /* sizeof(aloft_loop_wants), set by the caller */
  int descriptor;       /* the loop's own, to wait on and nothing else; always the same one */
  short events;         /* as poll(2) has them; always the same, POLLIN */
  uint64_t deadline_ns; /* on the loop's clock. 0: at once; ALOFT_FOREVER: there is none */
  uint64_t timeout_ns;  /* the same, from now on. 0: at once; ALOFT_FOREVER: there is none */
  int timeout_ms;       /* the same, as poll(2) takes it: rounded up, -1: there is none */
} aloft_loop_wants;

/* Good until the next call to anything on the loop: ask again before each wait, or be told by
 * aloft_loop_on_change. What another thread posts or cancels shows on the descriptor.
 * ALOFT_ARGUMENT: `size`; ALOFT_WRONG_STATE: called from a callback, the turn is not over;
 * ALOFT_UNSUPPORTED: this loop has no descriptor. */
ALOFT_API aloft_status aloft_loop_get_wants(aloft_loop *loop, aloft_loop_wants *wants);

/* Has `changed` called when the wants may have become earlier than they were when last asked for:
 * by a start, a cancel or another call outside of a turn, and at the end of each turn. Once, until
 * they are asked for again. On the loop's thread and from within that call: it makes a note, or the
 * foreign loop call back soon, and calls nothing on the loop. NULL: no more. One at a time. */
typedef void aloft_loop_changed(aloft_loop *loop, void *context);
ALOFT_API void aloft_loop_on_change(aloft_loop *loop, aloft_loop_changed *changed, void *context);

/* ---- running by itself ---- */

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
