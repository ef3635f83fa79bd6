/* An operation in flight: a request waiting for its reply, a connect, a query, an acquisition.
 *
 * The caller owns it, embedded in a struct of the caller's, so that starting one allocates
 * nothing. Set the first four members (zero means: not used), start it with the start function of
 * its kind, and leave it alone until `done` runs.
 *
 * Exactly once: a start that returns an error never calls back; one that returns ALOFT_OK leads to
 * one call of `done` with one status, never inside the start and never inside another callback.
 * Inside `done` the operation may be started again, or its memory freed. */
#ifndef ALOFT_OP_H
#define ALOFT_OP_H

#include <aloft/status.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct aloft_op aloft_op;
typedef struct aloft_cancel aloft_cancel;
typedef struct aloft_loop aloft_loop;

typedef void aloft_done(aloft_op *op, aloft_status status);

/* The library's own: a place in the loop's queues. */
typedef struct aloft_item {
  struct aloft_item *next;
  const struct aloft_item_kind *kind;
} aloft_item;

/* The library's own: a place in a circular list. */
typedef struct aloft_link {
  struct aloft_link *next, *back;
} aloft_link;

struct aloft_op {
  aloft_done *done;     /* [op] required */
  uint64_t timeout_ns;  /* from the start; 0: none */
  uint64_t deadline_ns; /* on the loop's clock; 0: none. The earlier of the two counts; one
                           already past refuses the start with ALOFT_TIMEOUT */
  aloft_cancel *cancel; /* [op] NULL: none. One already fired refuses with ALOFT_CANCELLED */

  const aloft_error *error; /* [done] in `done`, and after a refused start until the next call on
                               the same object: the detail; NULL only with ALOFT_OK. A start of
                               one in flight (ALOFT_IN_USE) changes nothing here */
  aloft_status status;      /* of the last completion or refusal; a start that succeeds leaves it */
  bool written;             /* in `done`: the request has been written whole to the network, or
                               still will be, so the peer may act on it; false: it will not */

  struct { /* the library's own; zero before the first start */
    aloft_item item;
    aloft_link cancelling, timing;
    uint64_t due_ns;
    uint32_t slot;
    uint8_t state, phase, flags;
    void *spare;
  } own;
};

/* Cancels one operation. ALOFT_OK: its done will run with ALOFT_CANCELLED in this turn of the loop,
 * or in the next one when called from a callback. ALOFT_WRONG_STATE: not in flight, or already
 * decided otherwise; nothing changes. */
ALOFT_API aloft_status aloft_op_cancel(aloft_op *op);

/* True from a start that returned ALOFT_OK until just before `done` is called. */
ALOFT_API bool aloft_op_in_flight(const aloft_op *op);

/* A cancellation source for any number of operations of one loop. The caller owns it, and it
 * outlives the operations that name it. Zero, then init. */
struct aloft_cancel {
  struct { /* the library's own */
    aloft_link ops;
    void *loop_ops, *open_ops;
    aloft_item posted;
    aloft_cancel *parent, *child, *next, **back;
    bool fired, handled;
  } own;
};

/* Fires with its parent too, if one is given. The parent is of the same loop; either may be ended
 * first. [loop's thread] */
ALOFT_API void aloft_cancel_init(aloft_cancel *cancel, aloft_loop *loop, aloft_cancel *parent);

/* Cancels every operation that names it or a child of it, now and later. From any thread and from
 * a signal handler; any number of times. On the loop's thread the operations complete in this turn
 * or the next; from elsewhere the loop is woken. */
ALOFT_API void aloft_cancel_fire(aloft_cancel *cancel);

/* True if it or a parent of it has fired. From any thread, but not while a parent is being ended.
 */
ALOFT_API bool aloft_cancel_fired(const aloft_cancel *cancel);

/* Ends it: no operation may name it any more. Children live on without a parent; those of a
 * parent that has fired have fired too. No other thread may fire it any more. [loop's thread]
 * After its loop is closed this, and nothing else, may still be called. */
ALOFT_API void aloft_cancel_fini(aloft_cancel *cancel);

#ifdef __cplusplus
}
#endif
#endif
