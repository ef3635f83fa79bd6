/* What the tests of the SQL Server client share: a loop with a scripted server on it, and queries
 * that count their completions. Included by one test program each. */
#ifndef HARNESS_TDS_CLIENT_H
#define HARNESS_TDS_CLIENT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <aloft/tds.h>

#include "driver_sim.h"
#include "harness_heap.h"
#include "heap.h"
#include "tds_request.h"
#include "tds_server.h"
#include "tls_files.h"

/* ---- the world ---- */

typedef struct world {
  alo_driver *driver;
  aloft_loop *loop;
  tds_server server;
  aloft_tds *tds;
  char string[256];
  aloft_tds_config config;
} world;

enum { TURNS_MAX = 200000 };

/* What must hold whenever a `done` runs: not inside a start, not inside another. */
static unsigned starting, completing;

/* ---- TLS: ALOFT_TEST_TLS is optional, mandatory or strict; without it all is plain ---- */

static tls_files world_files;

static inline void drop_world_files(void) {
  tls_files_drop(&world_files);
}

/* One certificate for the whole process. */
static inline const tls_files *world_certificate(void) {
  if (!world_files.text_size) {
    tls_files_make(&world_files, NULL);
    atexit(drop_world_files);
  }
  return &world_files;
}

/* The server encrypts, and the client as `encrypt` says, which trusts it. */
static inline void world_encrypt(world *w, const char *encrypt) {
  bool strict = strcmp(encrypt, "strict") == 0, optional = strcmp(encrypt, "optional") == 0;
  const tls_files *files = world_certificate();
  w->server.tls =
      tls_files_server(files, &alo_heap_default, strict ? 0 : 12, strict ? "tds/8.0" : NULL);
  w->server.tls_first = strict;
  w->server.encryption = optional ? ALO_TDS_ENCRYPT_OFF : ALO_TDS_ENCRYPT_ON;
  snprintf(w->string, sizeof w->string,
           "Server=tcp:127.0.0.1,%u;User Id=someone;Password=Sesame77;Encrypt=%s;CA File=%.63s",
           (unsigned)w->server.port, encrypt, files->certificate);
  w->config.connection_string = aloft_text_of(w->string);
}

static inline void world_open_on(world *w, const aloft_allocator *heap, alo_driver *driver) {
  const aloft_loop_config config = {.size = sizeof config, .allocator = heap, .block_size = 4096};
  memset(w, 0, sizeof *w);
  starting = completing = 0;
  w->driver = driver;
  assert_non_null(w->driver);
  if (alo_loop_open_on(&w->loop, &config, w->driver) != ALOFT_OK) {
    w->loop = NULL;
    return;
  }
  tds_server_open(&w->server, w->loop);
  snprintf(w->string, sizeof w->string,
           "Server=tcp:127.0.0.1,%u;User Id=someone;Password=Sesame77;Encrypt=Optional",
           (unsigned)w->server.port);
  w->config =
      (aloft_tds_config){.size = sizeof w->config, .connection_string = aloft_text_of(w->string)};
  if (getenv("ALOFT_TEST_TLS"))
    world_encrypt(w, getenv("ALOFT_TEST_TLS"));
}

static inline void world_open_with(world *w, const aloft_allocator *heap, uint64_t seed,
                                   const alo_sim_faults *faults) {
  world_open_on(w, heap, alo_driver_sim_open(&alo_heap_default, seed, faults));
}

static inline void world_open(world *w) {
  const alo_sim_faults faults = {0};
  world_open_with(w, NULL, 1, &faults);
}

static inline void world_close(world *w) {
  if (!w->loop)
    return;
  tds_server_close(&w->server);
  aloft_loop_close(w->loop);
  alo_tls_context_give(w->server.tls);
}

static inline void turn(world *w) {
  aloft_status status = aloft_loop_turn(w->loop, 0);
  assert_int_equal(status, ALOFT_OK);
}

static inline void turns(world *w, unsigned count) {
  while (count--)
    turn(w);
}

/* ---- counted operations ---- */

static inline void enter_done(aloft_op *op, aloft_status status) {
  assert_int_equal(starting, 0);
  assert_int_equal(completing, 0);
  assert_int_equal(op->status, status);
  assert_true(status == ALOFT_OK || op->error != NULL);
  assert_false(aloft_op_in_flight(op));
  completing++;
}

static inline void leave_done(void) {
  completing--;
}

typedef struct counted {
  aloft_op op;
  unsigned done;
} counted;

static inline void counted_done(aloft_op *op, aloft_status status) {
  enter_done(op, status);
  ALOFT_CONTAINER(op, counted, op)->done++;
  leave_done();
}

static inline counted counted_op(void) {
  return (counted){.op = {.done = counted_done}};
}

/* ---- queries that keep what they saw ---- */

typedef struct probe {
  aloft_tds_query query;
  world *world;
  const char *sql;
  unsigned done, rows, results, ready, messages;
  aloft_status status;
  int32_t error_number;
  char error_text[512];
  bool written;
  int64_t sum, first, second; /* of the int or bigint columns */
  size_t text_bytes;
  unsigned stop_after; /* rows after which reading stops; 0: it does not */
  bool by_hand;        /* ready does not step */
  void (*on_ready)(struct probe *probe);
  void (*on_message)(struct probe *probe);
  void (*on_done)(struct probe *probe);
} probe;

static inline probe *probe_of(aloft_op *op) {
  return ALOFT_CONTAINER(op, probe, query.op);
}

static inline void probe_done(aloft_op *op, aloft_status status) {
  probe *p = probe_of(op);
  enter_done(op, status);
  p->done++;
  p->status = status;
  p->written = op->written;
  if (op->error) {
    p->error_number = op->error->number;
    snprintf(p->error_text, sizeof p->error_text, "%.*s", ALOFT_PRINT(op->error->message));
    assert_int_equal(op->error->status, status);
  }
  if (p->on_done)
    p->on_done(p);
  leave_done();
}

static inline void probe_row(probe *p) {
  aloft_tds_query *query = &p->query;
  p->rows++;
  for (size_t at = 0; at < aloft_tds_column_count(query); at++) {
    const aloft_tds_column *column = aloft_tds_get_column(query, at);
    if (column && (column->type == ALOFT_TDS_INT || column->type == ALOFT_TDS_BIGINT)) {
      int64_t value = aloft_tds_int64(query, at);
      p->sum += value;
      p->first = at == 0 ? value : p->first;
      p->second = at == 1 ? value : p->second;
    } else {
      p->text_bytes += aloft_tds_text(query, at).size;
    }
  }
}

/* Steps until something but a row or a result set comes. */
static inline aloft_status probe_steps(probe *p) {
  aloft_status answer;
  for (;;) {
    answer = aloft_tds_step(&p->query);
    if (answer == ALOFT_ROW)
      probe_row(p);
    else if (answer == ALOFT_RESULT)
      p->results++;
    else
      return answer;
    if (p->stop_after && p->rows >= p->stop_after)
      return answer;
  }
}

static inline void probe_ready(aloft_tds_query *query) {
  probe *p = ALOFT_CONTAINER(query, probe, query);
  assert_int_equal(completing, 0);
  assert_int_equal(starting, 0);
  assert_true(aloft_op_in_flight(&query->op));
  p->ready++;
  if (p->on_ready)
    p->on_ready(p);
  if (!p->by_hand)
    probe_steps(p);
}

static inline void probe_message(aloft_tds_query *query, const aloft_error *message) {
  probe *p = ALOFT_CONTAINER(query, probe, query);
  (void)message;
  p->messages++;
  if (p->on_message)
    p->on_message(p);
}

static inline void probe_init(probe *p, world *w, const char *sql) {
  memset(p, 0, sizeof *p);
  p->world = w;
  p->sql = sql;
  p->query.op.done = probe_done;
  p->query.sql = aloft_text_of(sql);
  p->query.ready = probe_ready;
}

static inline aloft_status probe_start(probe *p) {
  starting++;
  aloft_status status = aloft_tds_query_start(p->world->tds, &p->query);
  starting--;
  return status;
}

static inline void probe_begin(probe *p, world *w, const char *sql) {
  probe_init(p, w, sql);
  assert_int_equal(probe_start(p), ALOFT_OK);
}

static inline void probe_wait(probe *p) {
  for (unsigned at = 0; !p->done; at++) {
    assert_true(at < TURNS_MAX);
    assert_int_equal(aloft_loop_turn(p->world->loop, ALOFT_FOREVER), ALOFT_OK);
  }
  assert_int_equal(p->done, 1);
}

static inline aloft_status probe_run(probe *p, world *w, const char *sql) {
  probe_begin(p, w, sql);
  probe_wait(p);
  return p->status;
}

static inline aloft_status world_connect_op(world *w, counted *opening) {
  starting++;
  aloft_status status = aloft_tds_open(&w->tds, w->loop, &w->config, &opening->op);
  starting--;
  return status;
}

static inline void world_connect(world *w) {
  counted opening = counted_op();
  assert_int_equal(world_connect_op(w, &opening), ALOFT_OK);
  assert_int_equal(aloft_wait(w->loop, &opening.op), ALOFT_OK);
  assert_int_equal(opening.done, 1);
}

/* The connection works: the answer is the right one's. */
static inline void prove(world *w) {
  probe p;
  assert_int_equal(probe_run(&p, w, "rows 3"), ALOFT_OK);
  assert_int_equal(p.rows, 3);
  assert_int_equal(p.sum, 3);
  assert_int_equal(p.query.rows_affected, 3);
}

static inline aloft_tds_info info_of(const world *w) {
  aloft_tds_info info = {.size = sizeof info};
  aloft_tds_get_info(w->tds, &info);
  return info;
}

#endif
