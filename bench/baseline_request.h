/* The design that Aloft's operations replace, for benchmarks only: a request in flight with an
 * allocation of its own, an id as text, a source of cancellation linked to the caller's, a timer in
 * a heap, a registration and a closure, all of them allocated for each request and found again in a
 * map of strings. It works, and it is as the original was in this too: whatever fires, the request
 * ends with a timeout, also when its caller has cancelled it. */
#ifndef ALO_BASELINE_REQUEST_H
#define ALO_BASELINE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

typedef enum alo_baseline_end { ALO_BASELINE_REPLIED, ALO_BASELINE_TIMED_OUT } alo_baseline_end;

typedef struct alo_baseline_request alo_baseline_request;
typedef void alo_baseline_done(alo_baseline_request *request, void *context, alo_baseline_end end);

/* One client: its requests, its timers, and the time, which the caller sets. */
typedef struct alo_baseline alo_baseline;

/* A caller's source of cancellation, a token. */
typedef struct alo_baseline_source alo_baseline_source;

/* For about `count` requests at once. `coalesce_ns` not 0: requests that are due within the same
 * such span share one timer, which fires at its end. NULL: no memory. */
alo_baseline *alo_baseline_open(uint32_t count, uint64_t coalesce_ns);
/* With no request in flight. */
void alo_baseline_close(alo_baseline *baseline);

/* Moves the clock; fires what is due. */
void alo_baseline_advance(alo_baseline *baseline, uint64_t elapsed_ns);

/* NULL: no memory. Fired once, what is linked to it ends; nothing is started with it any more.
 * Closed when nothing is linked to it. */
alo_baseline_source *alo_baseline_source_open(void);
void alo_baseline_source_fire(alo_baseline_source *source);
void alo_baseline_source_close(alo_baseline_source *source);

/* Starts a request. `token` NULL: none. `timeout_ns` 0: none. `done` is called once, and the
 * request is freed behind it. NULL: no memory. */
alo_baseline_request *alo_baseline_start(alo_baseline *baseline, alo_baseline_source *token,
                                         uint64_t timeout_ns, alo_baseline_done *done,
                                         void *context);
/* [op] */
const char *alo_baseline_id(const alo_baseline_request *request);

/* Ends the request with this id. False: there is none. */
bool alo_baseline_reply(alo_baseline *baseline, const char *id);

#endif
