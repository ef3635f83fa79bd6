#include "baseline_request.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline_map.h"
#include "heap_timer.h"

/* What is called when a source fires: in a ring that the source begins. */
typedef struct registration {
  struct registration *next, *previous;
  void (*call)(void *argument);
  void *argument;
} registration;

struct alo_baseline_source {
  registration ring;
  registration *in_parent; /* NULL: linked to none */
  struct source_timer *timer;
};

typedef struct source_timer {
  alo_heap_timer timer; /* first */
  alo_baseline_source *source;
  uint32_t users; /* of a shared one */
} source_timer;

typedef struct closure {
  alo_baseline_request *request;
  alo_baseline *baseline;
} closure;

struct alo_baseline_request {
  char *id;
  alo_baseline_source *source;
  registration *registered;
  closure *closure;
  source_timer *shared; /* the timer that others use too; NULL: none */
  registration *in_shared;
  alo_baseline_done *done;
  void *context;
};

struct alo_baseline {
  alo_baseline_map map;
  alo_heap_timers timers;
  uint64_t now_ns, last_id, coalesce_ns;
  source_timer *shared; /* the latest one */
};

/* ---- sources ---- */

static registration *enter(alo_baseline_source *source, void (*call)(void *argument),
                           void *argument) {
  registration *entered = malloc(sizeof *entered);
  if (!entered)
    return NULL;
  *entered = (registration){source->ring.next, &source->ring, call, argument};
  source->ring.next->previous = entered;
  source->ring.next = entered;
  return entered;
}

static void leave(registration *entered) {
  if (!entered)
    return;
  entered->previous->next = entered->next;
  entered->next->previous = entered->previous;
  free(entered);
}

alo_baseline_source *alo_baseline_source_open(void) {
  alo_baseline_source *source = malloc(sizeof *source);
  if (!source)
    return NULL;
  *source = (alo_baseline_source){.ring = {.next = &source->ring, .previous = &source->ring}};
  return source;
}

void alo_baseline_source_close(alo_baseline_source *source) {
  free(source);
}

/* A call takes its own registration out; the last one may free the source. */
void alo_baseline_source_fire(alo_baseline_source *source) {
  for (bool last = source->ring.next == &source->ring; !last;) {
    registration *first = source->ring.next;
    last = first->next == &source->ring;
    first->call(first->argument);
  }
}

static void fire_linked(void *argument) {
  alo_baseline_source_fire(argument);
}

/* ---- timers ---- */

static source_timer *make_timer(alo_baseline *baseline, alo_baseline_source *source,
                                uint64_t due_ns) {
  source_timer *timer = malloc(sizeof *timer);
  if (!timer)
    return NULL;
  *timer = (source_timer){.timer = {.due_ns = due_ns}, .source = source};
  if (!alo_heap_timers_add(&baseline->timers, &timer->timer)) {
    free(timer);
    return NULL;
  }
  source->timer = timer;
  return timer;
}

static void drop_timer(alo_baseline *baseline, source_timer *timer) {
  if (!timer)
    return;
  alo_heap_timers_remove(&baseline->timers, &timer->timer);
  free(timer);
}

static void drop_shared(alo_baseline *baseline, source_timer *shared) {
  if (--shared->users > 0)
    return;
  if (baseline->shared == shared)
    baseline->shared = NULL;
  alo_baseline_source_close(shared->source);
  drop_timer(baseline, shared);
}

/* The shared timer for what is due at `due_ns`: the latest, or a new one. */
static source_timer *take_shared(alo_baseline *baseline, uint64_t due_ns) {
  uint64_t span = baseline->coalesce_ns, end_ns = (due_ns / span + 1) * span;
  source_timer *shared = baseline->shared;
  if (!shared || shared->timer.due_ns != end_ns) {
    alo_baseline_source *source = alo_baseline_source_open();
    shared = source ? make_timer(baseline, source, end_ns) : NULL;
    if (!shared) {
      alo_baseline_source_close(source);
      return NULL;
    }
    baseline->shared = shared;
  }
  shared->users++;
  return shared;
}

/* ---- requests ---- */

/* Parts that are not there are left out: a start that failed half way is released here too. */
static void release(alo_baseline *baseline, alo_baseline_request *request) {
  leave(request->registered);
  if (request->source) {
    leave(request->source->in_parent);
    drop_timer(baseline, request->source->timer);
    alo_baseline_source_close(request->source);
  }
  if (request->shared) {
    leave(request->in_shared);
    drop_shared(baseline, request->shared);
  }
  free(request->closure);
  free(request->id);
  free(request);
}

static void request_fired(void *argument) {
  const closure *fired = argument;
  alo_baseline_request *request = fired->request;
  alo_baseline *baseline = fired->baseline;
  alo_baseline_map_take(&baseline->map, request->id);
  request->done(request, request->context, ALO_BASELINE_TIMED_OUT);
  release(baseline, request);
}

static bool make_id(alo_baseline *baseline, alo_baseline_request *request) {
  char text[24];
  int size = snprintf(text, sizeof text, "%" PRIu64, ++baseline->last_id);
  request->id = malloc((size_t)size + 1);
  if (!request->id)
    return false;
  memcpy(request->id, text, (size_t)size + 1);
  return true;
}

static bool link_timeout(alo_baseline *baseline, alo_baseline_request *request,
                         uint64_t timeout_ns) {
  uint64_t due_ns = baseline->now_ns + timeout_ns;
  alo_baseline_source *source = request->source;
  if (!baseline->coalesce_ns)
    return make_timer(baseline, source, due_ns) != NULL;
  request->shared = take_shared(baseline, due_ns);
  if (!request->shared)
    return false;
  request->in_shared = enter(request->shared->source, fire_linked, source);
  return request->in_shared != NULL;
}

static bool build(alo_baseline *baseline, alo_baseline_request *request, alo_baseline_source *token,
                  uint64_t timeout_ns) {
  if (!make_id(baseline, request))
    return false;
  request->closure = malloc(sizeof *request->closure);
  request->source = alo_baseline_source_open();
  if (!request->closure || !request->source)
    return false;
  *request->closure = (closure){request, baseline};
  if (token) {
    request->source->in_parent = enter(token, fire_linked, request->source);
    if (!request->source->in_parent)
      return false;
  }
  if (timeout_ns && !link_timeout(baseline, request, timeout_ns))
    return false;
  request->registered = enter(request->source, request_fired, request->closure);
  return request->registered && alo_baseline_map_add(&baseline->map, request->id, request);
}

alo_baseline_request *alo_baseline_start(alo_baseline *baseline, alo_baseline_source *token,
                                         uint64_t timeout_ns, alo_baseline_done *done,
                                         void *context) {
  alo_baseline_request *request = malloc(sizeof *request);
  if (!request)
    return NULL;
  *request = (alo_baseline_request){.done = done, .context = context};
  if (build(baseline, request, token, timeout_ns))
    return request;
  release(baseline, request);
  return NULL;
}

const char *alo_baseline_id(const alo_baseline_request *request) {
  return request->id;
}

bool alo_baseline_reply(alo_baseline *baseline, const char *id) {
  alo_baseline_request *request = alo_baseline_map_take(&baseline->map, id);
  if (!request)
    return false;
  request->done(request, request->context, ALO_BASELINE_REPLIED);
  release(baseline, request);
  return true;
}

/* ---- the client ---- */

alo_baseline *alo_baseline_open(uint32_t count, uint64_t coalesce_ns) {
  alo_baseline *baseline = calloc(1, sizeof *baseline);
  if (!baseline)
    return NULL;
  baseline->coalesce_ns = coalesce_ns;
  if (alo_baseline_map_init(&baseline->map, count))
    return baseline;
  free(baseline);
  return NULL;
}

void alo_baseline_close(alo_baseline *baseline) {
  if (!baseline)
    return;
  alo_heap_timers_fini(&baseline->timers);
  alo_baseline_map_fini(&baseline->map);
  free(baseline);
}

void alo_baseline_advance(alo_baseline *baseline, uint64_t elapsed_ns) {
  baseline->now_ns += elapsed_ns;
  alo_heap_timer *due;
  while ((due = alo_heap_timers_due(&baseline->timers, baseline->now_ns))) {
    /* Its requests release it, the last of them a shared one. */
    alo_baseline_source_fire(((source_timer *)(void *)due)->source);
  }
}
