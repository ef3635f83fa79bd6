#include "client_figures.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

uint64_t alo_client_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t alo_client_cpu(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static uint64_t microseconds(struct timeval time) {
  return (uint64_t)time.tv_sec * 1000000u + (uint64_t)time.tv_usec;
}

void alo_client_moment_take(alo_client_moment *moment) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  moment->user_us = microseconds(usage.ru_utime);
  moment->system_us = microseconds(usage.ru_stime);
  moment->time_ns = alo_client_clock();
}

/* One entry for each, beside "." and "..". */
int alo_client_threads(void) {
  DIR *folder = opendir("/proc/self/task");
  int count = 0;
  while (folder != NULL && readdir(folder) != NULL)
    count++;
  if (folder != NULL)
    closedir(folder);
  return count > 2 ? count - 2 : 1;
}

void alo_client_figures_print(uint64_t count, const alo_client_moment *before,
                              const alo_client_moment *after, const alo_latency *latency,
                              int threads, const char *more) {
  const double seconds = (double)(after->time_ns - before->time_ns) / 1e9;
  const double requests = (double)count;
  const double user = (double)(after->user_us - before->user_us) / requests;
  const double system = (double)(after->system_us - before->system_us) / requests;
  printf("{\"n\":%" PRIu64 ",\"sec\":%.6f,\"rate\":%.0f,\"user_s_per_M\":%.4f,"
         "\"sys_s_per_M\":%.4f,\"cpu_s_per_M\":%.4f,\"threads\":%d,"
         "\"p50_us\":%.2f,\"p99_us\":%.2f,\"p999_us\":%.2f%s}\n",
         count, seconds, requests / seconds, user, system, user + system, threads,
         (double)alo_latency_at(latency, 0.5) / 1e3, (double)alo_latency_at(latency, 0.99) / 1e3,
         (double)alo_latency_at(latency, 0.999) / 1e3, more);
  fflush(stdout);
}

uint64_t alo_client_warm_up(uint32_t inflight) {
  enum { LEAST = 2000, ROUNDS = 20, MOST = 2000000 };
  uint64_t rounds = (LEAST + inflight - 1) / inflight;
  if (rounds < ROUNDS)
    rounds = (uint64_t)inflight * ROUNDS > MOST ? 1 : ROUNDS;
  return inflight * rounds;
}

const char *alo_client_url(void) {
  const char *url = getenv("NATS_URL");
  if (url == NULL) {
    fprintf(stderr, "NATS_URL is not set: nats://HOST:PORT\n");
    exit(2);
  }
  return url;
}

uint64_t alo_client_number(const char *text, const char *name, uint64_t max) {
  char *end;
  errno = 0;
  unsigned long long value = strtoull(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || *text == '-' || value == 0 || value > max) {
    fprintf(stderr, "%s '%s': a whole number from 1 to %" PRIu64 "\n", name, text, max);
    exit(2);
  }
  return value;
}
