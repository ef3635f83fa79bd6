/* A pool of connections: taken by an operation, given back, reset by the first query after. */
#include <string.h>

#include "tds_connection.h"
#include "heap.h"

enum { CONNECTIONS_MAX = 100, WAITING_MAX = 1024 };

typedef enum slot_state { SLOT_EMPTY, SLOT_OPENING, SLOT_IDLE, SLOT_TAKEN } slot_state;

/* A place for one connection. */
typedef struct slot {
  aloft_tds_pool *pool;
  aloft_tds *tds;
  aloft_op opening;
  struct slot *next; /* in `empty` or `idle` */
  slot_state state;
  bool used; /* has been taken before: its session is to be reset */
} slot;

struct aloft_tds_pool {
  alo_ops *ops;
  alo_op_kind acquire_kind, close_kind;
  aloft_loop *loop;
  alo_resident resident;
  aloft_item end; /* frees the pool */
  bool closing;
  aloft_tds_config config; /* its texts lie in `texts` */
  alo_tds_contexts contexts;
  char *texts;
  size_t texts_size, texts_used;
  slot *slots, *empty, *idle; /* the last one given back is the first taken */
  uint32_t slots_max, opening_count, idle_count, used_count;
  aloft_tds_acquire *first, *last; /* waiting */
  uint32_t waiting_count, waiting_max;
};

/* ---- waiting acquisitions: own.link is {before, after} ---- */

static void queue_last(aloft_tds_pool *pool, aloft_tds_acquire *acquire) {
  acquire->own.link[0] = pool->last;
  acquire->own.link[1] = NULL;
  if (pool->last)
    pool->last->own.link[1] = acquire;
  else
    pool->first = acquire;
  pool->last = acquire;
  pool->waiting_count++;
}

static void unqueue(aloft_tds_pool *pool, aloft_tds_acquire *acquire) {
  aloft_tds_acquire *before = acquire->own.link[0], *after = acquire->own.link[1];
  if (before)
    before->own.link[1] = after;
  else
    pool->first = after;
  if (after)
    after->own.link[0] = before;
  else
    pool->last = before;
  pool->waiting_count--;
}

static bool stop_waiting(aloft_op *op, aloft_status why) {
  (void)why;
  unqueue(ALO_OP_OBJECT(op, aloft_tds_pool, acquire_kind),
          ALOFT_CONTAINER(op, aloft_tds_acquire, op));
  return true;
}

/* ---- slots ---- */

static void push(slot **list, slot *place) {
  place->next = *list;
  *list = place;
}

static slot *pop(slot **list) {
  slot *place = *list;
  *list = place->next;
  return place;
}

static void hand_over(slot *place, aloft_tds_acquire *acquire) {
  place->state = SLOT_TAKEN;
  place->tds->reset = place->tds->reset || place->used;
  place->used = true;
  acquire->tds = place->tds;
  alo_op_finish(&acquire->op, ALOFT_OK, NULL);
}

static void make_available(slot *place) {
  aloft_tds_pool *pool = place->pool;
  aloft_tds_acquire *acquire = pool->first;
  if (acquire) {
    unqueue(pool, acquire);
    hand_over(place, acquire);
    return;
  }
  place->state = SLOT_IDLE;
  push(&pool->idle, place);
  pool->idle_count++;
}

static void make_empty(slot *place) {
  alo_tds_end(place->tds);
  place->tds = NULL;
  place->state = SLOT_EMPTY;
  push(&place->pool->empty, place);
  place->pool->used_count--;
}

static void opened(aloft_op *op, aloft_status status);

/* Begins to connect at an empty place. */
static aloft_status open_one(aloft_tds_pool *pool) {
  slot *place = pool->empty;
  place->opening = (aloft_op){.done = opened};
  aloft_status status =
      alo_tds_open(&place->tds, pool->loop, &pool->config, &place->opening, &pool->contexts);
  if (status != ALOFT_OK)
    return status;
  pop(&pool->empty);
  place->tds->pool = pool;
  place->tds->slot = place;
  place->state = SLOT_OPENING;
  place->used = false;
  pool->opening_count++;
  pool->used_count++;
  return ALOFT_OK;
}

static void fail_first(aloft_tds_pool *pool, aloft_status status, const aloft_error *error) {
  aloft_tds_acquire *acquire = pool->first;
  if (!acquire)
    return;
  unqueue(pool, acquire);
  alo_op_finish(&acquire->op, status, error);
}

/* As many connects as acquisitions wait, where there is a place. */
static void open_wanted(aloft_tds_pool *pool) {
  while (pool->opening_count < pool->waiting_count && pool->empty) {
    aloft_status status = open_one(pool);
    if (status != ALOFT_OK)
      fail_first(pool, status, NULL);
  }
}

/* The error of a connection lives until that is freed, which is later. */
static void opened(aloft_op *op, aloft_status status) {
  slot *place = ALOFT_CONTAINER(op, slot, opening);
  aloft_tds_pool *pool = place->pool;
  const aloft_tds *tds = place->tds;
  pool->opening_count--;
  if (pool->closing)
    return;
  if (status != ALOFT_OK) {
    fail_first(pool, status, op->error);
  } else if (tds->phase == ALO_TDS_DEAD) { /* login and the end came in one phase of input */
    fail_first(pool, tds->failed, &tds->failure.error);
  } else {
    make_available(place);
    return;
  }
  make_empty(place);
  open_wanted(pool);
}

/* ---- take and give ---- */

static slot *take_out(aloft_tds_pool *pool, slot **at) {
  pool->idle_count--;
  return pop(at);
}

/* One that is owed nothing, so that the next query need not wait, or else any. Connections that
 * have died while idle make room for new ones. */
static slot *take_idle(aloft_tds_pool *pool) {
  slot **at = &pool->idle;
  while (*at) {
    const aloft_tds *tds = (*at)->tds;
    if (tds->phase == ALO_TDS_DEAD)
      make_empty(take_out(pool, at));
    else if (tds->owed)
      at = &(*at)->next;
    else
      return take_out(pool, at);
  }
  return pool->idle ? take_out(pool, &pool->idle) : NULL;
}

/* An acquisition that has to wait. */
static aloft_status wait_for_one(aloft_tds_pool *pool, aloft_tds_acquire *acquire) {
  if (pool->waiting_count >= pool->waiting_max)
    return alo_op_refuse(&acquire->op, ALOFT_TOO_MANY, NULL);
  if (pool->opening_count <= pool->waiting_count && pool->empty) {
    aloft_status status = open_one(pool);
    if (status != ALOFT_OK)
      return alo_op_refuse(&acquire->op, status, aloft_loop_error(pool->loop));
  }
  alo_op_fly(&pool->acquire_kind, &acquire->op);
  queue_last(pool, acquire);
  return ALOFT_OK;
}

aloft_status aloft_tds_pool_take(aloft_tds_pool *pool, aloft_tds_acquire *acquire) {
  aloft_status status = alo_op_check(pool->ops, &acquire->op);
  if (status != ALOFT_OK)
    return status;
  if (pool->closing)
    return alo_op_refuse(&acquire->op, ALOFT_CLOSED, NULL);
  acquire->tds = NULL;
  slot *place = take_idle(pool);
  if (!place)
    return wait_for_one(pool, acquire);
  alo_op_fly(&pool->acquire_kind, &acquire->op);
  hand_over(place, acquire);
  return ALOFT_OK;
}

void aloft_tds_pool_give(aloft_tds_pool *pool, aloft_tds *tds) {
  if (pool->closing || tds->pool != pool)
    return;
  slot *place = tds->slot;
  if (place->state != SLOT_TAKEN)
    return;
  alo_tds_cancel_queries(tds);
  if (tds->phase == ALO_TDS_DEAD) {
    make_empty(place);
    open_wanted(pool);
  } else {
    make_available(place);
  }
}

/* ---- close ---- */

static void release(aloft_tds_pool *pool) {
  const aloft_allocator *heap = &pool->loop->heap;
  if (pool->texts)
    alo_tds_wipe(pool->texts, pool->texts_size);
  alo_tds_contexts_give(&pool->contexts);
  alo_heap_give(heap, pool->texts, pool->texts_size);
  alo_heap_give(heap, pool->slots, pool->slots_max * sizeof *pool->slots);
  alo_heap_give(heap, pool, sizeof *pool);
}

static void run_end(aloft_item *item) {
  release(ALOFT_CONTAINER(item, aloft_tds_pool, end));
}

static const alo_item_kind end_kind = {run_end};

static void shut(aloft_tds_pool *pool) {
  pool->closing = true;
  while (pool->first)
    fail_first(pool, ALOFT_CLOSED, NULL);
  for (uint32_t at = 0; at < pool->slots_max; at++)
    if (pool->slots[at].tds)
      alo_tds_end(pool->slots[at].tds);
  alo_loop_move_out(&pool->resident);
}

static void queue_end(aloft_tds_pool *pool) {
  pool->end.kind = &end_kind;
  alo_ops_bury(pool->ops, &pool->end);
}

static bool let_go(aloft_op *op, aloft_status why) {
  (void)op;
  (void)why;
  return true;
}

aloft_status aloft_tds_pool_close(aloft_tds_pool *pool, aloft_op *op) {
  if (pool->closing)
    return op ? alo_op_refuse(op, ALOFT_CLOSED, NULL) : ALOFT_CLOSED;
  aloft_status status = op ? alo_op_check(pool->ops, op) : ALOFT_OK;
  if (status != ALOFT_OK)
    return status;
  shut(pool);
  if (op) {
    alo_op_fly(&pool->close_kind, op);
    alo_op_finish(op, ALOFT_OK, NULL);
  }
  queue_end(pool);
  return ALOFT_OK;
}

static void evict(alo_resident *resident) {
  aloft_tds_pool *pool = ALOFT_CONTAINER(resident, aloft_tds_pool, resident);
  shut(pool);
  queue_end(pool);
}

/* ---- open ---- */

static void keep_text(aloft_tds_pool *pool, aloft_text *text) {
  if (!text->data)
    return;
  char *at = pool->texts + pool->texts_used;
  if (text->size)
    memcpy(at, text->data, text->size);
  pool->texts_used += text->size;
  text->data = at;
}

static bool keep_config(aloft_tds_pool *pool, const aloft_tds_config *config) {
  aloft_tds_config *own = &pool->config;
  *own = *config;
  pool->texts_size = alo_tds_settings_room(own);
  pool->texts = alo_heap_take(&pool->loop->heap, pool->texts_size);
  if (!pool->texts)
    return false;
  keep_text(pool, &own->connection_string);
  keep_text(pool, &own->user);
  keep_text(pool, &own->password);
  keep_text(pool, &own->host_name_in_certificate);
  keep_text(pool, &own->server_certificate);
  keep_text(pool, &own->ca_file);
  return true;
}

static bool make_slots(aloft_tds_pool *pool) {
  pool->slots = alo_heap_take(&pool->loop->heap, pool->slots_max * sizeof *pool->slots);
  if (!pool->slots)
    return false;
  for (uint32_t at = pool->slots_max; at-- > 0;) {
    pool->slots[at].pool = pool;
    push(&pool->empty, &pool->slots[at]);
  }
  return true;
}

/* Both structs may be of an older version: what follows the connection's then lies nearer. */
static bool import_config(aloft_tds_pool_config *own, const aloft_tds_pool_config *config) {
  const size_t before = offsetof(aloft_tds_pool_config, connection);
  const size_t after = sizeof *own - offsetof(aloft_tds_pool_config, connections_max);
  memset(own, 0, sizeof *own);
  if (!config || config->size < before + sizeof own->connection.size)
    return false;
  size_t size = config->connection.size;
  if (size < sizeof size || size > sizeof own->connection || config->size < before + size ||
      config->size > before + size + after)
    return false;
  own->size = sizeof *own;
  memcpy(&own->connection, &config->connection, size);
  memcpy(&own->connections_max, (const char *)config + before + size, config->size - before - size);
  return true;
}

/* A wrong connection string or file is told now, not by the first acquisition. */
static aloft_status check_config(aloft_loop *loop, const aloft_tds_config *config,
                                 alo_tds_contexts *contexts) {
  alo_connection_string settings;
  alo_tds_detail detail = {0};
  size_t size = alo_tds_settings_room(config);
  char *memory = alo_heap_take_raw(&loop->heap, size);
  if (!memory)
    return alo_loop_refuse(loop, ALOFT_NO_MEMORY, NULL)->status;
  alo_tds_detail_init(&detail, &loop->heap);
  aloft_status status = alo_tds_settings_read(config, memory, &settings, &detail);
  if (status == ALOFT_OK)
    status = alo_tds_contexts_open(contexts, &loop->heap, &settings, &detail);
  if (status != ALOFT_OK)
    alo_loop_refuse(loop, status, &detail.error);
  alo_tds_detail_fini(&detail);
  alo_tds_wipe(memory, size);
  alo_heap_give(&loop->heap, memory, size);
  return status;
}

/* Takes the contexts, also when it fails. */
static aloft_status build(aloft_tds_pool **made, aloft_loop *loop,
                          const aloft_tds_pool_config *config, alo_tds_contexts *contexts) {
  aloft_tds_pool *pool = alo_heap_take(&loop->heap, sizeof *pool);
  if (!pool) {
    alo_tds_contexts_give(contexts);
    return ALOFT_NO_MEMORY;
  }
  pool->contexts = *contexts;
  pool->ops = &loop->ops;
  pool->acquire_kind = (alo_op_kind){{alo_op_run}, stop_waiting, pool->ops};
  pool->close_kind = (alo_op_kind){{alo_op_run}, let_go, pool->ops};
  pool->loop = loop;
  pool->waiting_max = config->waiting_max ? config->waiting_max : WAITING_MAX;
  pool->slots_max = config->connections_max ? config->connections_max : CONNECTIONS_MAX;
  if (!keep_config(pool, &config->connection) || !make_slots(pool)) {
    release(pool);
    return ALOFT_NO_MEMORY;
  }
  pool->resident.evict = evict;
  alo_loop_settle_in(loop, &pool->resident);
  *made = pool;
  return ALOFT_OK;
}

aloft_status aloft_tds_pool_open(aloft_tds_pool **pool, aloft_loop *loop,
                                 const aloft_tds_pool_config *config) {
  aloft_tds_pool_config own;
  alo_tds_contexts contexts = {NULL, NULL};
  aloft_status status = loop->closing                 ? ALOFT_CLOSED
                        : import_config(&own, config) ? ALOFT_OK
                                                      : ALOFT_ARGUMENT;
  if (status == ALOFT_OK) {
    status = check_config(loop, &own.connection, &contexts);
    if (status != ALOFT_OK) {
      alo_tds_contexts_give(&contexts);
      return status;
    }
    status = build(pool, loop, &own, &contexts);
  }
  if (status != ALOFT_OK)
    alo_loop_refuse(loop, status, NULL);
  return status;
}

void aloft_tds_pool_get_info(const aloft_tds_pool *pool, aloft_tds_pool_info *info) {
  aloft_tds_pool_info full = {
      .connections = pool->used_count, .idle = pool->idle_count, .waiting = pool->waiting_count};
  size_t size = info->size < sizeof full ? info->size : sizeof full;
  full.size = size;
  memcpy(info, &full, size);
}
