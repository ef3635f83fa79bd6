#include "loop.h"

#include <limits.h>
#include <poll.h>
#include <string.h>

#include "cancel.h"
#include "heap.h"

/* After this many turns with input left over, deadlines are looked at all the same: a flood must
 * not keep them from expiring for ever. At a stream's share of 512 KiB a turn that is 8 MiB, more
 * than a socket holds by Linux's defaults (6 MiB): what had arrived when the loop was held up is
 * read by then. */
enum { INPUT_LEFT_TURNS_MAX = 16 };

static void wake_driver(void *context) {
  alo_driver *driver = ((aloft_loop *)context)->driver;
  driver->methods->wake(driver);
}

/* Tells the foreign loop, if there is one, that what it knows of this loop's wants is out of date.
 */
static void tell_changed(void *context) {
  aloft_loop *loop = context;
  if (!loop->changed || loop->changed_told || loop->turning)
    return;
  loop->changed_told = true;
  loop->changed(loop, loop->changed_context);
}

/* Operations read the clock when they are started with a deadline outside of a turn, or by input.
 */
static uint64_t read_clock(void *context) {
  aloft_loop *loop = context;
  tell_changed(loop);
  return loop->driver->methods->now(loop->driver);
}

/* Nothing but the wheel and the cancellation holds a sleep. */
static bool let_go(aloft_op *op, aloft_status why) {
  (void)op;
  (void)why;
  return true;
}

static size_t or_default(size_t value, size_t otherwise) {
  return value ? value : otherwise;
}

/* There has been one version of the struct so far: a size that would cut a member is refused. */
static aloft_status import_config(aloft_loop_config *own, const aloft_loop_config *config) {
  memset(own, 0, sizeof *own);
  if (!config)
    return ALOFT_OK;
  if (config->size != sizeof *own)
    return ALOFT_ARGUMENT;
  *own = *config;
  if (own->tick_ns && own->tick_ns < 1000)
    return ALOFT_ARGUMENT;
  if (own->block_size && (own->block_size < 4096 || own->block_size > (size_t)1 << 30))
    return ALOFT_ARGUMENT;
  return ALOFT_OK;
}

aloft_status alo_loop_open_on(aloft_loop **made, const aloft_loop_config *config,
                              alo_driver *driver) {
  aloft_loop_config own;
  aloft_status status = import_config(&own, config);
  const aloft_allocator *heap = own.allocator ? own.allocator : &alo_heap_default;
  aloft_loop *loop = status == ALOFT_OK ? alo_heap_take(heap, sizeof *loop) : NULL;
  if (!loop) {
    driver->methods->close(driver);
    return status == ALOFT_OK ? ALOFT_NO_MEMORY : status;
  }
  loop->heap = *heap;
  loop->driver = driver;
  alo_ops_init(&loop->ops, own.tick_ns ? own.tick_ns : ALOFT_MILLISECONDS(1),
               driver->methods->now(driver));
  loop->ops.wake = wake_driver;
  loop->ops.clock = read_clock;
  loop->ops.context = loop;
  loop->ops.outside = tell_changed;
  driver->changed = tell_changed;
  driver->context = loop;
  loop->sleeps = (alo_op_kind){{alo_op_run}, let_go, &loop->ops};
  alo_blocks_init(&loop->blocks, &loop->heap, or_default(own.block_size, (size_t)64 << 10),
                  or_default(own.blocks_bytes_max, (size_t)8 << 20));
  alo_page_store_init(&loop->code_pages, &loop->heap);
  *made = loop;
  return ALOFT_OK;
}

aloft_status aloft_loop_open(aloft_loop **loop, const aloft_loop_config *config) {
  int error = 0;
  const aloft_allocator *heap = config && config->size == sizeof *config && config->allocator
                                    ? config->allocator
                                    : &alo_heap_default;
  alo_driver *driver = alo_driver_uv_open(heap, &error);
  if (!driver)
    return error ? ALOFT_SYSTEM : ALOFT_NO_MEMORY;
  return alo_loop_open_on(loop, config, driver);
}

/* ---- refusals ---- */

const aloft_error *alo_loop_refuse(aloft_loop *loop, aloft_status status,
                                   const aloft_error *error) {
  loop->refused = error ? *error : *aloft_status_error(status);
  loop->refused.server = loop->refused.procedure = (aloft_text){NULL, 0};
  aloft_text *message = &loop->refused.message;
  if (message->size >= sizeof loop->refused_text)
    message->size = sizeof loop->refused_text - 1;
  if (message->size)
    memcpy(loop->refused_text, message->data, message->size);
  message->data = loop->refused_text;
  return &loop->refused;
}

const aloft_error *aloft_loop_error(const aloft_loop *loop) {
  return loop->refused.status == ALOFT_OK ? NULL : &loop->refused;
}

/* ---- inputs, outputs and residents ---- */

void alo_loop_input(aloft_loop *loop, alo_input *input) {
  if (input->queued)
    return;
  if (!loop->turning)
    tell_changed(loop);
  input->queued = true;
  input->next = loop->inputs;
  loop->inputs = input;
}

static bool unlink_input(alo_input **at, alo_input *input) {
  while (*at && *at != input)
    at = &(*at)->next;
  if (!*at)
    return false;
  *at = input->next;
  return true;
}

void alo_loop_input_forget(aloft_loop *loop, alo_input *input) {
  if (!input->queued)
    return;
  if (!unlink_input(&loop->inputs, input))
    (void)unlink_input(&loop->inputs_now, input);
  input->queued = false;
}

/* What is queued from here on waits for the next turn: callbacks come between. */
static void take_inputs(aloft_loop *loop) {
  loop->inputs_now = loop->inputs;
  loop->inputs = NULL;
}

static void read_inputs(aloft_loop *loop) {
  while (loop->inputs_now) {
    alo_input *input = loop->inputs_now;
    loop->inputs_now = input->next;
    input->queued = false;
    input->read(input);
  }
}

void alo_loop_output(aloft_loop *loop, alo_output *output) {
  if (output->queued)
    return;
  if (!loop->turning)
    tell_changed(loop);
  output->queued = true;
  output->next = loop->outputs;
  loop->outputs = output;
}

void alo_loop_output_forget(aloft_loop *loop, alo_output *output) {
  if (!output->queued)
    return;
  alo_output **at = &loop->outputs;
  while (*at != output)
    at = &(*at)->next;
  *at = output->next;
  output->queued = false;
}

void alo_loop_settle_in(aloft_loop *loop, alo_resident *resident) {
  resident->next = loop->residents;
  resident->back = &loop->residents;
  if (resident->next)
    resident->next->back = &resident->next;
  loop->residents = resident;
}

void alo_loop_move_out(alo_resident *resident) {
  if (!resident->back)
    return;
  *resident->back = resident->next;
  if (resident->next)
    resident->next->back = resident->back;
  resident->back = NULL;
}

static void write_outputs(aloft_loop *loop) {
  while (loop->outputs) {
    alo_output *output = loop->outputs;
    loop->outputs = output->next;
    output->queued = false;
    output->write(output);
  }
}

/* ---- a turn ---- */

static void tell_time(aloft_loop *loop) {
  loop->ops.now_ns = loop->driver->methods->now(loop->driver);
}

static uint64_t wait_until(aloft_loop *loop, uint64_t wait_ns) {
  if (wait_ns == 0 || alo_ops_pending(&loop->ops) || loop->input_left || loop->inputs)
    return 0;
  uint64_t now = loop->driver->methods->now(loop->driver);
  uint64_t until = wait_ns > UINT64_MAX - now ? UINT64_MAX : now + wait_ns;
  uint64_t next = alo_wheel_next(&loop->ops.wheel);
  return next < until ? next : until;
}

/* Deadlines are not looked at while received bytes wait unread, for the answer may be in them. */
static void expire(aloft_loop *loop) {
  if ((loop->input_left || loop->inputs_held) && ++loop->input_left_turns < INPUT_LEFT_TURNS_MAX)
    return;
  loop->input_left_turns = 0;
  alo_ops_run_deadlines(&loop->ops);
}

static int phases(aloft_loop *loop, uint64_t wait_ns) {
  write_outputs(loop); /* what was started outside of a turn */
  uint64_t until = wait_until(loop, wait_ns);
  loop->input_left = false;
  take_inputs(loop);
  /* Time passes in the wait: what a received byte starts there counts from its own moment. */
  loop->ops.fresh = false;
  int error = loop->driver->methods->wait(loop->driver, until);
  tell_time(loop);
  loop->ops.fresh = true;
  read_inputs(loop);
  alo_ops_run_posted(&loop->ops);
  expire(loop);
  alo_ops_run_completions(&loop->ops);
  write_outputs(loop);
  loop->turns++;
  return error;
}

aloft_status aloft_loop_turn(aloft_loop *loop, uint64_t wait_ns) {
  if (loop->turning)
    return ALOFT_WRONG_STATE;
  loop->turning = true;
  alo_ops_set_telling(&loop->ops, false);
  int error = phases(loop, wait_ns);
  loop->turning = loop->ops.fresh = false;
  if (loop->changed) {
    alo_ops_set_telling(&loop->ops, true);
    tell_changed(loop);
  }
  return error < 0 ? ALOFT_SYSTEM : ALOFT_OK;
}

/* What is in flight belongs to a resident or, a sleep, to the wheel. */
static bool alive(aloft_loop *loop) {
  if (alo_ops_pending(&loop->ops) || alo_wheel_next(&loop->ops.wheel) != UINT64_MAX)
    return true;
  for (alo_resident *at = loop->residents; at; at = at->next)
    if (!at->awake || at->awake(at))
      return true;
  return false;
}

aloft_status aloft_loop_run(aloft_loop *loop) {
  if (loop->turning)
    return ALOFT_WRONG_STATE;
  aloft_status status = ALOFT_OK;
  while (status == ALOFT_OK && !loop->stopped && alive(loop))
    status = aloft_loop_turn(loop, ALOFT_FOREVER);
  loop->stopped = false;
  return status;
}

void aloft_loop_stop(aloft_loop *loop) {
  loop->stopped = true;
}

aloft_status aloft_wait(aloft_loop *loop, aloft_op *op) {
  if (loop->turning || !aloft_op_in_flight(op))
    return ALOFT_WRONG_STATE;
  while (aloft_op_in_flight(op)) {
    aloft_status status = aloft_loop_turn(loop, ALOFT_FOREVER);
    if (status != ALOFT_OK)
      return status;
  }
  return op->status;
}

uint64_t aloft_loop_now(const aloft_loop *loop) {
  return loop->ops.now_ns;
}

/* ---- wants ---- */

/* As wait_until for a wait without end, but it is not this loop that waits: what it would do before
 * or at once in a wait is due now. */
static uint64_t next_deadline(aloft_loop *loop) {
  if (loop->outputs || loop->input_left || loop->inputs || alo_ops_pending(&loop->ops) ||
      loop->driver->methods->unsettled(loop->driver))
    return 0;
  return alo_wheel_next(&loop->ops.wheel);
}

/* Rounded up: a wait that ends too early finds nothing due, and would be made again. */
static int in_milliseconds(uint64_t ns) {
  if (ns == ALOFT_FOREVER)
    return -1;
  uint64_t ms = ns / 1000000 + (ns % 1000000 != 0);
  return ms > INT_MAX ? INT_MAX : (int)ms;
}

aloft_status aloft_loop_get_wants(aloft_loop *loop, aloft_loop_wants *wants) {
  if (wants->size != sizeof *wants)
    return ALOFT_ARGUMENT;
  if (loop->turning)
    return ALOFT_WRONG_STATE;
  int descriptor = loop->driver->methods->descriptor(loop->driver);
  if (descriptor < 0)
    return ALOFT_UNSUPPORTED;
  uint64_t deadline = next_deadline(loop), left = deadline;
  if (deadline != 0 && deadline != ALOFT_FOREVER) {
    uint64_t now = loop->driver->methods->now(loop->driver);
    left = deadline > now ? deadline - now : 0;
  }
  *wants = (aloft_loop_wants){.size = sizeof *wants,
                              .descriptor = descriptor,
                              .events = POLLIN,
                              .deadline_ns = deadline,
                              .timeout_ns = left,
                              .timeout_ms = in_milliseconds(left)};
  loop->changed_told = false;
  return ALOFT_OK;
}

void aloft_loop_on_change(aloft_loop *loop, aloft_loop_changed *changed, void *context) {
  loop->changed = changed;
  loop->changed_context = context;
  loop->changed_told = false;
  alo_ops_set_telling(&loop->ops, changed && !loop->turning);
}

/* ---- sleep, post, cancel ---- */

aloft_status aloft_sleep_start(aloft_loop *loop, aloft_op *op) {
  if (loop->closing)
    return alo_op_refuse(op, ALOFT_CLOSED, NULL);
  if (!(op->timeout_ns | op->deadline_ns))
    return alo_op_refuse(op, ALOFT_ARGUMENT, NULL);
  return alo_op_start(&loop->sleeps, op);
}

static void call_post(aloft_item *item) {
  aloft_post *post = ALOFT_CONTAINER(item, aloft_post, own.item);
  /* An exchange: what a thread wrote before a post that found this one posted is seen by `run`. */
  (void)__atomic_exchange_n(&post->own.posted, 0, __ATOMIC_ACQ_REL);
  post->run(post);
}

static const alo_item_kind call_kind = {call_post};

/* Users' code runs among the completions only. */
static void queue_post(aloft_item *item) {
  aloft_post *post = ALOFT_CONTAINER(item, aloft_post, own.item);
  item->kind = &call_kind;
  alo_ops_push(post->own.ops, item);
}

static const alo_item_kind post_kind = {queue_post};

void aloft_loop_post(aloft_loop *loop, aloft_post *post) {
  if (__atomic_load_n(&loop->closing, __ATOMIC_RELAXED))
    return;
  if (__atomic_exchange_n(&post->own.posted, 1, __ATOMIC_ACQ_REL))
    return;
  post->own.item.kind = &post_kind;
  post->own.ops = &loop->ops;
  alo_ops_post(&loop->ops, &post->own.item);
}

void aloft_cancel_init(aloft_cancel *cancel, aloft_loop *loop, aloft_cancel *parent) {
  alo_cancel_init(cancel, &loop->ops, parent);
}

/* ---- close ---- */

void aloft_loop_close(aloft_loop *loop) {
  if (!loop || loop->turning)
    return;
  __atomic_store_n(&loop->closing, true, __ATOMIC_RELAXED);
  loop->ops.closing = true;
  loop->turning = true; /* no callback below may turn the loop */
  while (loop->residents) {
    alo_resident *resident = loop->residents;
    alo_loop_move_out(resident);
    resident->evict(resident);
  }
  alo_ops_close(&loop->ops);
  alo_blocks_fini(&loop->blocks);
  alo_page_store_fini(&loop->code_pages);
  loop->driver->methods->close(loop->driver);
  aloft_allocator heap = loop->heap;
  heap.release(heap.context, loop, sizeof *loop);
}
