/* The life of the operations of one loop: started, finished exactly once, completed in order.
 *
 *   idle --start--> flying --finish--> finished --run--> idle, `done` called
 *
 * The object that an operation is of (a connection) starts it here and finishes it when its answer
 * is there. A deadline or a cancellation finds it through the wheel or the cancellation's list,
 * asks the object to let go of it (`stop`), and finishes it with its own status. */
#ifndef ALO_OPS_H
#define ALO_OPS_H

#include "wheel.h"

typedef struct alo_ops alo_ops;

/* What an item in a queue is: an operation, a delivery, a post. */
typedef struct aloft_item_kind {
  void (*run)(aloft_item *item);
} alo_item_kind;

typedef struct alo_queue {
  aloft_item *first, **end; /* `end`: where the next one goes; nothing valid lies there */
} alo_queue;

struct alo_ops {
  alo_wheel wheel;
  uint64_t now_ns;             /* set by the loop */
  bool fresh;                  /* now_ns is of this turn; otherwise a start reads the clock */
  alo_queue completions;       /* finished operations and deliveries, in order */
  aloft_item *posted;          /* atomic: stack of what any thread has posted */
  void (*wake)(void *context); /* from any thread */
  uint64_t (*clock)(void *context);
  void *context; /* of both */
};

/* own.state: 0 when idle, one of the first two, and what else knows of a flying operation. */
enum { ALO_OP_FLYING = 1, ALO_OP_FINISHED = 2, ALO_OP_TIMED = 4, ALO_OP_CANCELLABLE = 8 };

static inline bool alo_op_idle(const aloft_op *op) {
  return op->own.state == 0;
}

static inline bool alo_op_flying(const aloft_op *op) {
  return op->own.state & ALO_OP_FLYING;
}

/* A kind of operation of one object, in which it lies: an operation finds its object by it. */
typedef struct alo_op_kind {
  alo_item_kind item; /* {alo_op_run}, or what calls it */
  /* Lets go of the operation, which is then finished with `why`. False: an answer has arrived
   * already and will finish it (only for ALOFT_TIMEOUT). */
  bool (*stop)(aloft_op *op, aloft_status why);
  alo_ops *ops;
} alo_op_kind;

/* The kind of an operation that has been started. */
static inline alo_op_kind *alo_op_kind_of(const aloft_op *op) {
  return (alo_op_kind *)(uintptr_t)op->own.item.kind; /* its first member */
}

/* The object, of `type`, whose kind `member` an operation is of. */
#define ALO_OP_OBJECT(op_, type_, member_) ALOFT_CONTAINER(alo_op_kind_of(op_), type_, member_)

void alo_ops_init(alo_ops *ops, uint64_t tick_ns, uint64_t now_ns);

/* Starts an operation: registers its deadline and cancellation, if it has them. Refusals leave it
 * idle, with status and error set: ALOFT_ARGUMENT (no done, another loop's cancellation),
 * ALOFT_IN_USE, ALOFT_TIMEOUT (deadline past), ALOFT_CANCELLED (fired already). */
aloft_status alo_op_start(alo_op_kind *kind, aloft_op *op);

/* As a start, in two parts: the checks alone, for owners that must reserve before. */
aloft_status alo_op_check(alo_ops *ops, aloft_op *op);
void alo_op_fly(alo_op_kind *kind, aloft_op *op);

/* The last part of alo_op_fly: registers the deadline and the cancellation of a flying operation.
 */
void alo_op_watch(alo_ops *ops, aloft_op *op);

/* Refuses a start: sets status and error (NULL: the status's constant one); returns the status. One
 * in flight is not touched: ALOFT_IN_USE. */
aloft_status alo_op_refuse(aloft_op *op, aloft_status status, const aloft_error *error);

/* Decides a flying operation and queues it. `error` [done], NULL: the status's constant one. */
void alo_op_finish(aloft_op *op, aloft_status status, const aloft_error *error);

/* Takes an operation out of flight as if it had not been started. */
void alo_op_withdraw(aloft_op *op);

/* The run of every operation's kind. */
void alo_op_run(aloft_item *item);

/* Queues an item behind all others. */
void alo_ops_push(alo_ops *ops, aloft_item *item);

/* The phases of a turn. Each runs only what was there when it began. */
void alo_ops_run_posted(alo_ops *ops);
void alo_ops_run_deadlines(alo_ops *ops);
void alo_ops_run_completions(alo_ops *ops);

/* Stops what still waits for a deadline, with ALOFT_CLOSED, and runs completions until there are
 * none. */
void alo_ops_close(alo_ops *ops);

/* True when the next turn has something to do without input. */
bool alo_ops_pending(const alo_ops *ops);

/* From any thread: queues an item for run_posted, and wakes the loop. */
void alo_ops_post(alo_ops *ops, aloft_item *item);

/* Stops an operation of any kind: aloft_op_cancel with another status. */
aloft_status alo_op_stop(aloft_op *op, aloft_status why);

#endif
