/* Requests to the endpoint `fortunes` of a gateway, 64 of them in flight at all times, each reply
 * compared byte by byte with what it must be.
 *
 *   aloft_demo_load NATS_URL [SECONDS]
 *
 * Ends with requests per second, the latency's median and 99th percentile, and the heap calls of
 * this whole process per request, when it is started with libaloft_heap_count.so preloaded. The
 * first second warms up and does not count. Exit status: 0 when every reply was right. */
#include <aloft/aloft.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { IN_FLIGHT = 64, SECONDS = 5, REPLY_MAX = 4096, BUCKETS = 64 * 16 };

#define STEPS ((size_t)16) /* of the histogram, in each doubling */

static const char *const fortunes[] = {
    "fortune: No such file or directory",
    "A computer scientist is someone who fixes things that aren't broken.",
    "After enough decimal places, nobody gives a damn.",
    "A bad random number generator: 1, 1, 1, 1, 1, 4.33e+67, 1, 1, 1",
    "A computer program does what you tell it to do, not what you want it to do.",
    "Emacs is a nice operating system, but I prefer UNIX. — Tom Christaensen",
    "Any program that runs right is obsolete.",
    "A list is only as strong as its weakest link. — Donald Knuth",
    "Feature: A bug with seniority.",
    "Computers make very fast, very accurate mistakes.",
    "<script>alert(\"This should not be displayed in a browser alert box.\");</script>",
    "フレームワークのベンチマーク",
};

typedef struct load load;

/* The caller's own struct holds the operation. */
typedef struct call {
  aloft_nats_request request;
  uint64_t started_ns;
  load *load;
} call;

/* The counts of libaloft_heap_count.so: allocations, resizes, releases, bytes, mappings. */
typedef void heap_count(uint64_t counts[5]);

struct load {
  aloft_loop *loop;
  aloft_nats *nats;
  heap_count *heap_count; /* NULL: not preloaded */
  call calls[IN_FLIGHT];
  size_t in_flight;
  bool stop;
  char expected[REPLY_MAX];
  size_t expected_size;
  uint64_t right, wrong;
  uint64_t buckets[BUCKETS]; /* of latencies; 16 for each doubling */
};

static uint64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * ALOFT_SECONDS(1) + (uint64_t)time.tv_nsec;
}

static void make_expected(load *run) {
  aloft_json_writer writer;
  aloft_json_writer_init(&writer, run->expected, sizeof run->expected);
  aloft_json_write_array(&writer);
  for (size_t i = 0; i < sizeof fortunes / sizeof fortunes[0]; i++) {
    aloft_json_write_object(&writer);
    aloft_json_write_name(&writer, ALOFT_TEXT("id"));
    aloft_json_write_int64(&writer, (int64_t)i + 1);
    aloft_json_write_name(&writer, ALOFT_TEXT("message"));
    aloft_json_write_string(&writer, aloft_text_of(fortunes[i]));
    aloft_json_write_close(&writer);
  }
  aloft_json_write_close(&writer);
  run->expected_size = writer.size;
}

/* ---- latencies ---- */

static size_t bucket_of(uint64_t ns) {
  size_t doublings = 0;
  while (doublings < 59 && ns >> doublings >= 2 * STEPS)
    doublings++;
  return doublings * STEPS + (size_t)(ns >> doublings);
}

static uint64_t bucket_ns(size_t bucket) {
  if (bucket < 2 * STEPS)
    return bucket;
  size_t doublings = bucket / STEPS - 1;
  return (uint64_t)(bucket - doublings * STEPS) << doublings;
}

static double percentile_ms(const load *run, uint64_t percent) {
  uint64_t below = 0;
  for (size_t i = 0; i < BUCKETS; i++) {
    below += run->buckets[i];
    if (below * 100 >= run->right * percent)
      return (double)bucket_ns(i) / 1e6;
  }
  return 0;
}

/* ---- requests ---- */

static void report_wrong(load *run, const char *what, aloft_text detail) {
  if (run->wrong++ == 0)
    fprintf(stderr, "\nload: %s: %.*s\n", what, ALOFT_PRINT(detail));
}

static void check(load *run, const aloft_nats_message *reply) {
  aloft_text error;
  if (aloft_nats_header_find(reply, ALOFT_TEXT("Nats-Service-Error"), &error))
    report_wrong(run, "an error instead of rows", error);
  else if (reply->data.size != run->expected_size ||
           memcmp(reply->data.data, run->expected, run->expected_size) != 0)
    report_wrong(run, "not the rows expected", (aloft_text){reply->data.data, reply->data.size});
  else
    run->right++;
}

static void start(call *each);

static void answered(aloft_op *op, aloft_status status) {
  call *each = ALOFT_CONTAINER(op, call, request.op);
  load *run = each->load;
  run->in_flight--;
  if (status == ALOFT_OK)
    check(run, &each->request.reply);
  else
    report_wrong(run, aloft_status_name(status), op->error->message);
  run->buckets[bucket_of(now_ns() - each->started_ns)]++;
  if (!run->stop && run->wrong == 0)
    start(each);
}

static void start(call *each) {
  load *run = each->load;
  each->request = (aloft_nats_request){.op = {.done = answered, .timeout_ns = ALOFT_SECONDS(10)},
                                       .subject = ALOFT_TEXT("fortunes")};
  each->started_ns = now_ns();
  aloft_status status = aloft_nats_request_start(run->nats, &each->request);
  if (status == ALOFT_OK)
    run->in_flight++;
  else
    report_wrong(run, aloft_status_name(status), each->request.op.error->message);
}

/* ---- the run ---- */

static bool is_terminal(void) {
  return isatty(STDOUT_FILENO) == 1;
}

static void show(const load *run, uint64_t elapsed_ns) {
  double seconds = (double)elapsed_ns / 1e9;
  printf("%s%4.1f s  %" PRIu64 " replies, all right  %.0f requests/s   %s",
         is_terminal() ? "\r" : "", seconds, run->right, (double)run->right / seconds,
         is_terminal() ? "" : "\n");
  fflush(stdout);
}

/* Turns the loop for `time_ns`, showing how it goes each `step_ns` (0: not). */
static uint64_t turn_for(load *run, uint64_t time_ns, uint64_t step_ns) {
  uint64_t begin = now_ns(), next = step_ns, elapsed = 0;
  while (run->wrong == 0 && (elapsed = now_ns() - begin) < time_ns) {
    if (aloft_loop_turn(run->loop, ALOFT_MILLISECONDS(100)) != ALOFT_OK)
      report_wrong(run, "the loop failed", ALOFT_TEXT(""));
    if (step_ns > 0 && now_ns() - begin >= next) {
      show(run, now_ns() - begin);
      next += step_ns;
    }
  }
  return elapsed;
}

static uint64_t heap_calls(const load *run) {
  uint64_t counts[5] = {0};
  if (run->heap_count != NULL)
    run->heap_count(counts);
  return counts[0] + counts[1] + counts[2] + counts[4];
}

static void sum_up(const load *run, uint64_t elapsed_ns, uint64_t calls) {
  printf("%s%" PRIu64 " requests, %d in flight, every reply right: %.0f requests/s, p50 %.2f ms, "
         "p99 %.2f ms\n",
         is_terminal() ? "\n" : "", run->right, IN_FLIGHT,
         (double)run->right / ((double)elapsed_ns / 1e9), percentile_ms(run, 50),
         percentile_ms(run, 99));
  if (run->heap_count == NULL)
    printf("heap calls: not counted (libaloft_heap_count.so is not preloaded)\n");
  else
    printf("client heap calls per request: %.4f (%" PRIu64 " in all, whole process, malloc, free "
           "and mmap)\n",
           run->right > 0 ? (double)calls / (double)run->right : 0.0, calls);
}

static void run_load(load *run, uint64_t time_ns) {
  make_expected(run);
  for (size_t i = 0; i < IN_FLIGHT; i++) {
    run->calls[i].load = run;
    start(&run->calls[i]);
  }
  turn_for(run, ALOFT_SECONDS(1), 0);
  run->right = 0;
  memset(run->buckets, 0, sizeof run->buckets);
  uint64_t before = heap_calls(run);
  uint64_t elapsed = turn_for(run, time_ns, ALOFT_SECONDS(1) / (is_terminal() ? 5 : 1));
  uint64_t calls = heap_calls(run) - before;
  if (run->wrong == 0)
    sum_up(run, elapsed, calls);
  run->stop = true;
  while (run->in_flight > 0 && aloft_loop_turn(run->loop, ALOFT_FOREVER) == ALOFT_OK) {
  }
}

static heap_count *find_heap_count(void) {
  union {
    void *object;
    heap_count *function;
  } found = {NULL};
  void *program = dlopen(NULL, RTLD_LAZY);
  if (program != NULL)
    found.object = dlsym(program, "aloft_heap_count");
  return found.function;
}

int main(int argc, char **argv) {
  static load run;
  long seconds = argc > 2 ? strtol(argv[2], NULL, 10) : SECONDS;
  if (argc < 2 || seconds < 1 || seconds > 3600) {
    fprintf(stderr, "usage: aloft_demo_load NATS_URL [SECONDS]\n");
    return 2;
  }
  static char output[BUFSIZ];
  setvbuf(stdout, output, _IOFBF, sizeof output); /* its memory is not the library's */
  run.heap_count = find_heap_count();
  aloft_nats_config config = {.size = sizeof config, .url = aloft_text_of(argv[1])};
  aloft_status status = aloft_loop_open(&run.loop, NULL);
  if (status == ALOFT_OK)
    status = aloft_nats_open(&run.nats, run.loop, &config, NULL);
  if (status != ALOFT_OK) {
    fprintf(stderr, "load: %s: %s\n", aloft_status_meaning(status), aloft_status_advice(status));
    return 3;
  }
  run_load(&run, ALOFT_SECONDS((uint64_t)seconds));
  aloft_loop_close(run.loop);
  return run.wrong == 0 && run.right > 0 ? 0 : 1;
}
