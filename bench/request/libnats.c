/* The same load with libnats, the NATS client that C programs use today, in the two ways in which
 * it is used; the server is that of the environment's NATS_URL:
 *   aloft-bench-libnats pipelined SUBJECT INFLIGHT COUNT SIZE
 *     publications with a reply subject, and an asynchronous subscription that takes the replies:
 *     the fastest that its interface offers
 *   aloft-bench-libnats synchronous SUBJECT THREADS COUNT SIZE
 *     natsConnection_Request on so many threads: what most programs do */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nats/nats.h>

#include "client_figures.h"

enum { INFLIGHT_MAX = 65536, SIZE_MAX_BYTES = 65536, TIMEOUT_MS = 30000 };

typedef struct load {
  natsConnection *connection;
  const char *subject;
  char data[SIZE_MAX_BYTES];
  int size;
  uint32_t inflight;
  uint64_t target;
  alo_latency latency;
  int threads; /* while it ran */

  /* pipelined */
  char inbox[64]; /* with its last dot */
  uint64_t *started_ns;
  _Atomic uint64_t started;
  uint64_t answered; /* on the subscription's thread */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool over;
} load;

static load self = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void check(natsStatus status, const char *what) {
  if (status == NATS_OK)
    return;
  fprintf(stderr, "aloft-bench-libnats: %s: %s\n", what, natsStatus_GetText(status));
  exit(1);
}

/* ---- pipelined ---- */

static void start_next(uint32_t place) {
  char reply[sizeof self.inbox + 16];
  snprintf(reply, sizeof reply, "%s%" PRIu32, self.inbox, place);
  self.started_ns[place] = alo_client_clock();
  check(natsConnection_PublishRequest(self.connection, self.subject, reply, self.data, self.size),
        "cannot publish");
}

static void say_over(void) {
  pthread_mutex_lock(&self.lock);
  self.over = true;
  pthread_cond_signal(&self.changed);
  pthread_mutex_unlock(&self.lock);
}

static void take_reply(natsConnection *connection, natsSubscription *subscription, natsMsg *message,
                       void *closure) {
  (void)connection;
  (void)subscription;
  (void)closure;
  unsigned long place = strtoul(natsMsg_GetSubject(message) + strlen(self.inbox), NULL, 10);
  natsMsg_Destroy(message);
  if (place >= self.inflight)
    return;
  alo_latency_add(&self.latency, alo_client_clock() - self.started_ns[place]);
  self.answered++;
  if (atomic_fetch_add(&self.started, 1) < self.target)
    start_next((uint32_t)place);
  else if (self.answered == self.target)
    say_over();
}

static void run_pipelined(uint64_t count) {
  uint32_t first = count < self.inflight ? (uint32_t)count : self.inflight;
  self.answered = 0;
  self.target = count;
  self.over = false;
  alo_latency_clear(&self.latency);
  atomic_store(&self.started, first);
  for (uint32_t i = 0; i < first; i++)
    start_next(i);
  self.threads = alo_client_threads();
  pthread_mutex_lock(&self.lock);
  while (!self.over)
    pthread_cond_wait(&self.changed, &self.lock);
  pthread_mutex_unlock(&self.lock);
}

static void open_pipelined(void) {
  natsInbox *inbox = NULL;
  natsSubscription *subscription = NULL;
  char subject[sizeof self.inbox + 1];
  self.started_ns = self.inflight > 0 ? calloc(self.inflight, sizeof *self.started_ns) : NULL;
  check(self.started_ns != NULL ? NATS_OK : NATS_NO_MEMORY, "cannot begin");
  check(natsInbox_Create(&inbox), "cannot make an inbox");
  snprintf(self.inbox, sizeof self.inbox, "%s.", inbox);
  natsInbox_Destroy(inbox);
  snprintf(subject, sizeof subject, "%s*", self.inbox);
  check(natsConnection_Subscribe(&subscription, self.connection, subject, take_reply, NULL),
        "cannot subscribe");
  check(natsSubscription_SetPendingLimits(subscription, -1, -1), "cannot set limits");
  check(natsConnection_Flush(self.connection), "cannot subscribe");
}

/* ---- synchronous ---- */

typedef struct worker {
  pthread_t thread;
  uint64_t count;
  alo_latency latency;
} worker;

static worker *workers;

static void *request_on(void *argument) {
  worker *own = argument;
  for (uint64_t i = 0; i < own->count; i++) {
    natsMsg *reply = NULL;
    uint64_t started_ns = alo_client_clock();
    check(natsConnection_Request(&reply, self.connection, self.subject, self.data, self.size,
                                 TIMEOUT_MS),
          "a request failed");
    natsMsg_Destroy(reply);
    alo_latency_add(&own->latency, alo_client_clock() - started_ns);
  }
  return NULL;
}

static void run_synchronous(uint64_t count) {
  for (uint32_t i = 0; i < self.inflight; i++) {
    alo_latency_clear(&workers[i].latency);
    workers[i].count = count / self.inflight + (i < count % self.inflight);
    if (pthread_create(&workers[i].thread, NULL, request_on, &workers[i]) != 0)
      check(NATS_NO_MEMORY, "cannot start a thread");
  }
  self.threads = alo_client_threads();
  alo_latency_clear(&self.latency);
  for (uint32_t i = 0; i < self.inflight; i++) {
    pthread_join(workers[i].thread, NULL);
    alo_latency_merge(&self.latency, &workers[i].latency);
  }
}

static void open_synchronous(void) {
  workers = self.inflight > 0 ? calloc(self.inflight, sizeof *workers) : NULL;
  check(workers != NULL ? NATS_OK : NATS_NO_MEMORY, "cannot begin");
}

/* ---- both ---- */

/* Over TLS when the URL says so. */
static void connect_to(const char *url) {
  natsOptions *options = NULL;
  const char *authorities = getenv("NATS_CA");
  check(natsOptions_Create(&options), "cannot begin");
  check(natsOptions_SetURL(options, url), "the URL");
  if (strncmp(url, "tls://", 6) == 0) {
    check(natsOptions_SetSecure(options, true), "no TLS");
    if (authorities != NULL)
      check(natsOptions_LoadCATrustedCertificates(options, authorities), authorities);
  }
  check(natsConnection_Connect(&self.connection, options), "cannot connect");
  natsOptions_Destroy(options);
}

static void measure(void (*open)(void), void (*run)(uint64_t count), const char *url,
                    uint64_t count) {
  alo_client_moment before, after;
  connect_to(url);
  open();
  run(alo_client_warm_up(self.inflight));
  alo_client_moment_take(&before);
  run(count);
  alo_client_moment_take(&after);
  alo_client_figures_print(count, &before, &after, &self.latency, self.threads, "");
  natsConnection_Destroy(self.connection);
}

int main(int argc, char **argv) {
  bool pipelined = argc == 6 && strcmp(argv[1], "pipelined") == 0;
  if (!pipelined && (argc != 6 || strcmp(argv[1], "synchronous") != 0)) {
    fprintf(stderr, "usage: aloft-bench-libnats pipelined|synchronous SUBJECT INFLIGHT COUNT "
                    "SIZE\n");
    return 2;
  }
  self.subject = argv[2];
  self.inflight = (uint32_t)alo_client_number(argv[3], "INFLIGHT", pipelined ? INFLIGHT_MAX : 1024);
  uint64_t count = alo_client_number(argv[4], "COUNT", UINT32_MAX);
  self.size = (int)alo_client_number(argv[5], "SIZE", SIZE_MAX_BYTES);
  memset(self.data, 'x', sizeof self.data);
  if (pipelined)
    measure(open_pipelined, run_pipelined, alo_client_url(), count);
  else
    measure(open_synchronous, run_synchronous, alo_client_url(), count);
  return 0;
}
