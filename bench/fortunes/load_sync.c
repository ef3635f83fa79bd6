#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "client_figures.h"
#include "load.h"
#include "task.h"

typedef struct sync_load sync_load;

/* A thread, and a loop, as a program has them that blocks. */
typedef struct sync_thread {
  sync_load *owner;
  pthread_t thread;
  uint64_t count; /* by count: how many to execute */
  _Atomic uint64_t executed;
} sync_thread;

struct sync_load {
  alo_fortunes_load *load;
  sync_thread *threads;
  pthread_barrier_t warm, begin; /* all have connected and warmed up; the moment has been taken */
};

static void execute(sync_thread *self, alo_fortune_task *task, aloft_loop *loop) {
  alo_fortune_task_run(task, loop);
  atomic_fetch_add_explicit(&self->executed, 1, memory_order_relaxed);
}

static void *run_thread(void *argument) {
  sync_thread *self = argument;
  const alo_fortunes_load *load = self->owner->load;
  aloft_loop *loop;
  alo_fortune_task task;
  if (aloft_loop_open(&loop, NULL) != ALOFT_OK)
    alo_fortunes_fail("cannot begin", ALOFT_NO_MEMORY, NULL);
  alo_fortune_task_init(&task, load->caching ? alo_fortunes_connect(loop) : NULL,
                        load->caching ? NULL : alo_fortunes_pool(loop, 1));
  for (int i = 0; i < ALO_FORTUNES_WARM_UP; i++)
    execute(self, &task, loop);
  pthread_barrier_wait(&self->owner->warm);
  pthread_barrier_wait(&self->owner->begin);
  for (uint64_t i = 0; i < self->count; i++)
    execute(self, &task, loop);
  aloft_loop_close(loop);
  return NULL;
}

static void start_threads(sync_load *self) {
  const alo_fortunes_load *load = self->load;
  self->threads = calloc(load->tasks, sizeof *self->threads);
  if (self->threads == NULL || pthread_barrier_init(&self->warm, NULL, load->tasks + 1) != 0 ||
      pthread_barrier_init(&self->begin, NULL, load->tasks + 1) != 0)
    alo_fortunes_fail("cannot begin", ALOFT_NO_MEMORY, NULL);
  for (uint32_t i = 0; i < load->tasks; i++) {
    self->threads[i].owner = self;
    self->threads[i].count =
        load->count > 0 ? load->count / load->tasks + (i < load->count % load->tasks) : UINT64_MAX;
    if (pthread_create(&self->threads[i].thread, NULL, run_thread, &self->threads[i]) != 0)
      alo_fortunes_fail("cannot start a thread", ALOFT_SYSTEM, NULL);
  }
}

static uint64_t executed(const sync_load *self) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < self->load->tasks; i++)
    sum += atomic_load_explicit(&self->threads[i].executed, memory_order_relaxed);
  return sum;
}

static void sleep_until(uint64_t due_ns) {
  const struct timespec due = {.tv_sec = (time_t)(due_ns / UINT64_C(1000000000)),
                               .tv_nsec = (long)(due_ns % UINT64_C(1000000000))};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) != 0) {
  }
}

static void take_samples(sync_load *self) {
  alo_fortunes_load *load = self->load;
  sleep_until(alo_client_clock() + load->warm_up_ns);
  uint64_t began_ns = alo_client_clock(), cpu_ns = alo_client_cpu(), last_ns = began_ns;
  uint64_t began = executed(self), counted = began;
  for (uint32_t i = 0; i < load->samples; i++) {
    sleep_until(began_ns + (i + 1) * load->sample_ns);
    uint64_t now_ns = alo_client_clock(), now = executed(self);
    load->per_second[i] = (double)(now - counted) * 1e9 / (double)(now_ns - last_ns);
    counted = now;
    last_ns = now_ns;
  }
  load->cpu_ns = alo_client_cpu() - cpu_ns;
  load->time_ns = last_ns - began_ns;
  load->queries = counted - began;
}

static void wait_for_all(sync_load *self, uint64_t began_ns, uint64_t cpu_ns) {
  alo_fortunes_load *load = self->load;
  for (uint32_t i = 0; i < load->tasks; i++)
    pthread_join(self->threads[i].thread, NULL);
  load->cpu_ns = alo_client_cpu() - cpu_ns;
  load->time_ns = alo_client_clock() - began_ns;
  load->queries = executed(self) - (uint64_t)load->tasks * ALO_FORTUNES_WARM_UP;
  free(self->threads);
}

/* A run by time ends with the process: threads that block have no other end. */
void alo_fortunes_run_synchronous(alo_fortunes_load *load) {
  static sync_load self;
  self.load = load;
  start_threads(&self);
  pthread_barrier_wait(&self.warm);
  load->threads = alo_client_threads() - 1;
  uint64_t began_ns = alo_client_clock(), cpu_ns = alo_client_cpu();
  pthread_barrier_wait(&self.begin);
  if (load->count > 0)
    wait_for_all(&self, began_ns, cpu_ns);
  else
    take_samples(&self);
}
