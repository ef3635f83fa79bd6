#include "task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void alo_fortunes_fail(const char *what, aloft_status status, const aloft_error *error) {
  const aloft_text text = error != NULL ? error->message : aloft_text_of("no more is known");
  fprintf(stderr, "aloft-bench-tds: %s: status %d: %.*s\n", what, (int)status, ALOFT_PRINT(text));
  _Exit(1); /* from several threads at the same time */
}

/* ---- connections ---- */

aloft_text alo_fortunes_connection(void) {
  const char *string = getenv("ALOFT_BENCH_TDS");
  if (string == NULL) {
    fprintf(stderr, "ALOFT_BENCH_TDS is not set: a connection string\n");
    exit(2);
  }
  return aloft_text_of(string);
}

static void connected(aloft_op *op, aloft_status status) {
  if (status != ALOFT_OK)
    alo_fortunes_fail("cannot connect", status, op->error);
}

aloft_tds *alo_fortunes_connect(aloft_loop *loop) {
  const aloft_tds_config config = {.size = sizeof config,
                                   .connection_string = alo_fortunes_connection()};
  aloft_tds *tds;
  aloft_op ready = {.done = connected};
  aloft_status status = aloft_tds_open(&tds, loop, &config, &ready);
  if (status != ALOFT_OK)
    alo_fortunes_fail("cannot connect", status, ready.error);
  aloft_wait(loop, &ready);
  return tds;
}

aloft_tds_pool *alo_fortunes_pool(aloft_loop *loop, uint32_t connections) {
  const aloft_tds_pool_config config = {
      .size = sizeof config,
      .connection = {.size = sizeof config.connection,
                     .connection_string = alo_fortunes_connection()},
      .connections_max = connections,
      .waiting_max = connections};
  aloft_tds_pool *pool;
  aloft_status status = aloft_tds_pool_open(&pool, loop, &config);
  if (status != ALOFT_OK)
    alo_fortunes_fail("cannot open a pool", status, aloft_loop_error(loop));
  return pool;
}

/* ---- an execution ---- */

static void read_rows(aloft_tds_query *query) {
  alo_fortune_task *task = ALOFT_CONTAINER(query, alo_fortune_task, query);
  while (true) {
    aloft_status step = aloft_tds_step(query);
    if (step == ALOFT_RESULT)
      continue;
    if (step != ALOFT_ROW)
      return;
    if (!alo_fortunes_keep(&task->list, aloft_tds_int32(query, 0), aloft_tds_text(query, 1)))
      alo_fortunes_fail("more than 12 rows, or no memory", ALOFT_PROTOCOL, NULL);
  }
}

static void end(alo_fortune_task *task, aloft_status status) {
  if (status != ALOFT_OK)
    alo_fortunes_fail("a query failed", status, task->query.op.error);
  const char *wrong = alo_fortunes_wrong(&task->list);
  if (wrong != NULL)
    alo_fortunes_fail(wrong, ALOFT_PROTOCOL, NULL);
  alo_fortunes_drop(&task->list);
  if (task->pool != NULL)
    aloft_tds_pool_give(task->pool, task->tds);
}

static void query_done(aloft_op *op, aloft_status status) {
  alo_fortune_task *task = ALOFT_CONTAINER(op, alo_fortune_task, query.op);
  end(task, status);
  if (task->executed != NULL)
    task->executed(task);
}

/* A new query for each execution, or the task's own one again. */
static void start_query(alo_fortune_task *task) {
  if (task->pool != NULL)
    task->query = (aloft_tds_query){
        .op = {.done = query_done}, .sql = aloft_text_of(alo_fortunes_query), .ready = read_rows};
  aloft_status status = aloft_tds_query_start(task->tds, &task->query);
  if (status != ALOFT_OK)
    alo_fortunes_fail("a query was refused", status, task->query.op.error);
}

static void acquired(aloft_op *op, aloft_status status) {
  alo_fortune_task *task = ALOFT_CONTAINER(op, alo_fortune_task, acquire.op);
  if (status != ALOFT_OK)
    alo_fortunes_fail("cannot get a connection", status, op->error);
  task->tds = task->acquire.tds;
  if (task->executed != NULL)
    start_query(task);
}

static void take_connection(alo_fortune_task *task) {
  aloft_status status = aloft_tds_pool_take(task->pool, &task->acquire);
  if (status != ALOFT_OK)
    alo_fortunes_fail("cannot get a connection", status, task->acquire.op.error);
}

void alo_fortune_task_init(alo_fortune_task *task, aloft_tds *tds, aloft_tds_pool *pool) {
  *task = (alo_fortune_task){
      .query = {.op = {.done = query_done},
                .sql = aloft_text_of(alo_fortunes_query),
                .ready = read_rows},
      .acquire = {.op = {.done = acquired}},
      .tds = tds,
      .pool = pool,
      .list = {.room = ALO_FORTUNES},
  };
  task->list.rows = task->rows;
}

void alo_fortune_task_start(alo_fortune_task *task) {
  if (task->pool != NULL)
    take_connection(task);
  else
    start_query(task);
}

void alo_fortune_task_run(alo_fortune_task *task, aloft_loop *loop) {
  if (task->pool != NULL) {
    take_connection(task);
    aloft_wait(loop, &task->acquire.op);
  }
  start_query(task);
  aloft_wait(loop, &task->query.op);
}
