#include "inflight_contestant.h"

#include <aloft/inflight.h>

#include <stdlib.h>
#include <string.h>

#include "baseline_request.h"
#include "heap_timer.h"
#include "report.h"

/* Requests answered before a turn of the loop: many, so that what is counted is the request. */
enum { BATCH = 1000, ID_SIZE = 24 };

/* The baseline's clock moves by this for each request; Aloft reads a real one. */
enum { STEP_NS = 100 };

/* ---- the order of answers ---- */

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  *state ^= *state << 17;
  return *state;
}

/* Pointers to the `count` things of `size` bytes, shuffled always in the same way, or in their
 * order. NULL: no memory. */
static void **make_queue(void *memory, size_t size, uint32_t count, bool random) {
  void **queue = calloc(count, sizeof *queue);
  uint64_t state = UINT64_C(88172645463325252);
  for (uint32_t i = 0; queue && i < count; i++) {
    uint32_t other = random ? (uint32_t)(next_random(&state) % (i + 1)) : i;
    queue[i] = queue[other];
    queue[other] = (char *)memory + i * size;
  }
  return queue;
}

/* ---- Aloft ---- */

typedef struct request {
  aloft_op op;
  uint64_t id;
  aloft_inflight *table;
} request;

typedef struct timed_request {
  request request; /* first */
  alo_heap_timer timer;
  alo_inflight_contestant *owner;
} timed_request;

/* A request of the baseline lives as long as one flight; this is who waits for it. */
typedef struct waiter {
  char id[ID_SIZE];
} waiter;

struct alo_inflight_contestant {
  alo_inflight_plan plan;
  void *memory; /* of requests, timed requests or waiters */
  void **queue; /* pointers to them in the order of their answers */
  uint32_t at;  /* in the queue: whose answer comes next */
  bool failed;  /* a request did */
  struct {
    aloft_loop *loop;
    aloft_inflight *table;
    aloft_cancel token;
    alo_heap_timers timers;
  } aloft;
  struct {
    alo_baseline *client;
    alo_baseline_source *token;
  } baseline;
};

/* The memory of one request in flight. */
static size_t size_of(const alo_inflight_plan *plan) {
  if (plan->baseline)
    return sizeof(waiter);
  return plan->heap_timer ? sizeof(timed_request) : sizeof(request);
}

/* A start that is refused, or left out, is found by its next answer: nothing is in flight then. */
static void answered(aloft_op *op, aloft_status status) {
  request *self = ALOFT_CONTAINER(op, request, op);
  if (status == ALOFT_OK)
    (void)aloft_inflight_start(self->table, op, &self->id);
}

static bool arm(timed_request *self) {
  self->timer.due_ns = aloft_loop_now(self->owner->aloft.loop) + ALO_INFLIGHT_TIMEOUT_NS;
  return alo_heap_timers_add(&self->owner->aloft.timers, &self->timer);
}

static void timed_answered(aloft_op *op, aloft_status status) {
  timed_request *self = ALOFT_CONTAINER(op, timed_request, request.op);
  alo_heap_timers_remove(&self->owner->aloft.timers, &self->timer);
  answered(op, status);
  if (status == ALOFT_OK && !arm(self))
    self->owner->failed = true;
}

static aloft_status start_first(alo_inflight_contestant *self, request *first) {
  const alo_inflight_plan *plan = &self->plan;
  first->table = self->aloft.table;
  first->op.done = answered;
  first->op.timeout_ns = plan->timeout && !plan->heap_timer ? ALO_INFLIGHT_TIMEOUT_NS : 0;
  first->op.cancel = plan->token ? &self->aloft.token : NULL;
  if (plan->heap_timer) {
    timed_request *timed = ALOFT_CONTAINER(first, timed_request, request);
    timed->owner = self;
    first->op.done = timed_answered;
    if (!arm(timed))
      return ALOFT_NO_MEMORY;
  }
  return aloft_inflight_start(self->aloft.table, &first->op, &first->id);
}

static bool open_aloft(alo_inflight_contestant *self) {
  uint32_t count = self->plan.outstanding;
  aloft_loop_config loop = {.size = sizeof loop, .tick_ns = self->plan.tick_ns};
  aloft_inflight_config table = {.size = sizeof table, .max = count, .room = count};
  aloft_status status = aloft_loop_open(&self->aloft.loop, &loop);
  if (status != ALOFT_OK)
    return false;
  aloft_cancel_init(&self->aloft.token, self->aloft.loop, NULL);
  status = aloft_inflight_open(&self->aloft.table, self->aloft.loop, &table);
  for (uint32_t i = 0; i < count && status == ALOFT_OK; i++)
    status = start_first(self, self->queue[i]);
  return status == ALOFT_OK;
}

static void close_aloft(alo_inflight_contestant *self) {
  if (!self->aloft.loop)
    return;
  aloft_loop_close(self->aloft.loop);
  aloft_cancel_fini(&self->aloft.token);
  alo_heap_timers_fini(&self->aloft.timers);
}

static void answer_aloft(alo_inflight_contestant *self, uint32_t end) {
  aloft_status failed = ALOFT_OK; /* any bit of it */
  for (uint32_t i = self->at; i < end; i++) {
    const request *next = self->queue[i];
    failed |= aloft_inflight_finish(self->aloft.table, next->id, ALOFT_OK, NULL);
  }
  if (failed != ALOFT_OK || aloft_loop_turn(self->aloft.loop, 0) != ALOFT_OK)
    self->failed = true;
}

/* ---- the baseline ---- */

static void ended(alo_baseline_request *ended, void *context, alo_baseline_end end) {
  alo_inflight_contestant *self = context;
  (void)ended;
  if (end != ALO_BASELINE_REPLIED)
    self->failed = true;
}

static bool start_baseline(alo_inflight_contestant *self, waiter *waits) {
  alo_baseline_request *started =
      alo_baseline_start(self->baseline.client, self->baseline.token,
                         self->plan.timeout ? ALO_INFLIGHT_TIMEOUT_NS : 0, ended, self);
  if (!started)
    return false;
  /* NOLINTNEXTLINE(clang-analyzer-security.insecureAPI.strcpy): it has 20 digits at most */
  strcpy(waits->id, alo_baseline_id(started));
  return true;
}

static bool open_baseline(alo_inflight_contestant *self) {
  uint32_t count = self->plan.outstanding;
  self->baseline.client = alo_baseline_open(count, self->plan.coalesce_ns);
  if (self->plan.token)
    self->baseline.token = alo_baseline_source_open();
  bool good = self->memory && self->baseline.client && (self->baseline.token || !self->plan.token);
  for (uint32_t i = 0; i < count && good; i++)
    good = start_baseline(self, self->queue[i]);
  return good;
}

static void close_baseline(alo_inflight_contestant *self) {
  for (uint32_t i = 0; self->queue && self->baseline.client && i < self->plan.outstanding; i++) {
    const waiter *waits = self->queue[i];
    if (waits->id[0])
      alo_baseline_reply(self->baseline.client, waits->id);
  }
  alo_baseline_source_close(self->baseline.token);
  alo_baseline_close(self->baseline.client);
}

static void answer_baseline(alo_inflight_contestant *self, uint32_t end) {
  for (uint32_t i = self->at; i < end; i++) {
    waiter *waits = self->queue[i];
    if (!alo_baseline_reply(self->baseline.client, waits->id))
      self->failed = true;
    alo_baseline_advance(self->baseline.client, STEP_NS);
    if (!start_baseline(self, waits))
      self->failed = true;
  }
}

/* ---- both ---- */

alo_inflight_contestant *alo_inflight_contestant_open(const alo_inflight_plan *plan) {
  alo_inflight_contestant *self = calloc(1, sizeof *self);
  if (self) {
    self->plan = *plan;
    self->memory = calloc(plan->outstanding, size_of(plan));
    if (self->memory)
      self->queue = make_queue(self->memory, size_of(plan), plan->outstanding, plan->random);
    if (self->queue && (plan->baseline ? open_baseline(self) : open_aloft(self)))
      return self;
  }
  alo_report("inflight: %s cannot be set up with %u outstanding: not enough memory", plan->name,
             (unsigned)plan->outstanding);
  alo_inflight_contestant_close(self);
  return NULL;
}

void alo_inflight_contestant_close(alo_inflight_contestant *self) {
  if (!self)
    return;
  if (self->plan.baseline)
    close_baseline(self);
  else
    close_aloft(self);
  free(self->memory);
  free(self->queue);
  free(self);
}

uint64_t alo_inflight_contestant_run(void *contestant, uint64_t operations) {
  alo_inflight_contestant *self = contestant;
  uint64_t count = 0;
  while (count < operations && !self->failed) {
    uint32_t left = self->plan.outstanding - self->at;
    uint32_t end = self->at + (left < BATCH ? left : BATCH);
    if (self->plan.baseline)
      answer_baseline(self, end);
    else
      answer_aloft(self, end);
    count += end - self->at;
    self->at = end < self->plan.outstanding ? end : 0;
  }
  if (!self->failed)
    return count;
  alo_report("inflight: %s: a request failed", self->plan.name);
  return 0;
}
