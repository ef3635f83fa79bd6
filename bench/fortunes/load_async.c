#include <stdlib.h>

#include "client_figures.h"
#include "load.h"
#include "task.h"

typedef struct async_load {
  alo_fortunes_load *load;
  aloft_loop *loop;
  alo_fortune_task *tasks;
  aloft_tds_pool *pool;
  const aloft_tds *connections[ALO_FORTUNES_TASKS_MAX]; /* that have executed anything */
  uint32_t connection_count;
  uint64_t executed; /* since the counter was reset */
  uint64_t started, target;
  bool warming_up;
} async_load;

static void remember_connection(async_load *self, const aloft_tds *tds) {
  for (uint32_t i = 0; i < self->connection_count; i++) {
    if (self->connections[i] == tds)
      return;
  }
  if (self->connection_count < ALO_FORTUNES_TASKS_MAX)
    self->connections[self->connection_count++] = tds;
}

/* The next begins where one ends, until there have been enough. */
static void executed(alo_fortune_task *task) {
  async_load *self = task->owner;
  self->executed++;
  if (self->warming_up)
    remember_connection(self, task->tds);
  if (self->started < self->target) {
    self->started++;
    alo_fortune_task_start(task);
  }
}

static void start_all(async_load *self, uint64_t target) {
  self->executed = 0;
  self->target = target;
  for (self->started = 0; self->started < self->load->tasks && self->started < target;)
    alo_fortune_task_start(&self->tasks[self->started++]);
}

static void turn(async_load *self, uint64_t wait_ns) {
  aloft_status status = aloft_loop_turn(self->loop, wait_ns);
  if (status != ALOFT_OK)
    alo_fortunes_fail("cannot wait", status, NULL);
}

/* Turns until that time. */
static void turn_until(async_load *self, uint64_t due_ns) {
  for (uint64_t now_ns; (now_ns = alo_client_clock()) < due_ns;)
    turn(self, due_ns - now_ns);
}

static void turn_through(async_load *self) {
  while (self->executed < self->target)
    turn(self, ALOFT_FOREVER);
}

static void open_tasks(async_load *self) {
  alo_fortunes_load *load = self->load;
  const aloft_loop_config config = {.size = sizeof config, .allocator = &alo_encrypted_heap};
  self->tasks = calloc(load->tasks, sizeof *self->tasks);
  if (self->tasks == NULL || aloft_loop_open(&self->loop, &config) != ALOFT_OK)
    alo_fortunes_fail("cannot begin", ALOFT_NO_MEMORY, NULL);
  if (!load->caching)
    self->pool = alo_fortunes_pool(self->loop, load->tasks);
  for (uint32_t i = 0; i < load->tasks; i++) {
    aloft_tds *tds = load->caching ? alo_fortunes_connect(self->loop) : NULL;
    alo_fortune_task_init(&self->tasks[i], tds, self->pool);
    self->tasks[i].executed = executed;
    self->tasks[i].owner = self;
  }
}

/* Connections are open then, and memory is there. */
static void begin(async_load *self) {
  self->warming_up = true;
  start_all(self, (uint64_t)self->load->tasks * ALO_FORTUNES_WARM_UP);
  turn_through(self);
  self->warming_up = false;
}

static alo_encrypted_moment take_encrypted(const async_load *self) {
  alo_encrypted_moment moment = alo_encrypted_take();
  for (uint32_t i = 0; i < self->connection_count; i++)
    alo_encrypted_add_tds(&moment, self->connections[i]);
  return moment;
}

static void run_count(async_load *self) {
  alo_fortunes_load *load = self->load;
  const alo_encrypted_moment before = take_encrypted(self);
  uint64_t began_ns = alo_client_clock(), cpu_ns = alo_client_cpu();
  start_all(self, load->count);
  turn_through(self);
  load->cpu_ns = alo_client_cpu() - cpu_ns;
  load->time_ns = alo_client_clock() - began_ns;
  load->queries = self->executed;
  const alo_encrypted_moment after = take_encrypted(self);
  if (after.records > 0)
    alo_encrypted_write(load->encrypted, load->queries, load->queries, &before, &after);
}

static void run_time(async_load *self) {
  alo_fortunes_load *load = self->load;
  start_all(self, UINT64_MAX);
  turn_until(self, alo_client_clock() + load->warm_up_ns);
  self->executed = 0;
  uint64_t began_ns = alo_client_clock(), cpu_ns = alo_client_cpu(), last_ns = began_ns;
  uint64_t counted = 0;
  for (uint32_t i = 0; i < load->samples; i++) {
    turn_until(self, began_ns + (i + 1) * load->sample_ns);
    uint64_t now_ns = alo_client_clock();
    load->per_second[i] = (double)(self->executed - counted) * 1e9 / (double)(now_ns - last_ns);
    counted = self->executed;
    last_ns = now_ns;
  }
  load->cpu_ns = alo_client_cpu() - cpu_ns;
  load->time_ns = last_ns - began_ns;
  load->queries = counted;
}

/* After a run by time queries are still in flight; the process's end closes their connections. */
void alo_fortunes_run_asynchronous(alo_fortunes_load *load) {
  static async_load self;
  self.load = load;
  open_tasks(&self);
  begin(&self);
  if (load->count > 0)
    run_count(&self);
  else
    run_time(&self);
  load->threads = alo_client_threads();
  if (load->count == 0)
    return;
  aloft_loop_close(self.loop);
  free(self.tasks);
}
