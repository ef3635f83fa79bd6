#include <aloft/inflight.h>

#include "heap.h"
#include "inflight.h"
#include "loop.h"
#include "op_path.h"

enum { MAX_DEFAULT = 65536 };

struct aloft_inflight {
  alo_op_kind kind; /* of its operations; first, so that storing it costs no sum */
  aloft_loop *loop;
  alo_inflight table;
  alo_resident resident;
  aloft_item bury; /* frees the table, behind everything queued before */
  uint64_t unmatched;
};

/* ---- open and close ---- */

static bool stop(aloft_op *op, aloft_status why) {
  (void)why;
  aloft_inflight *table = ALO_OP_OBJECT(op, aloft_inflight, kind);
  alo_inflight_remove(&table->table, op);
  return true;
}

static void bury(aloft_item *item) {
  aloft_inflight *self = ALOFT_CONTAINER(item, aloft_inflight, bury);
  alo_inflight_fini(&self->table);
  alo_heap_give(&self->loop->heap, self, sizeof *self);
}

static const alo_item_kind bury_kind = {bury};

void aloft_inflight_close(aloft_inflight *table) {
  if (!table || table->bury.kind)
    return;
  alo_loop_move_out(&table->resident);
  uint32_t cursor = 0;
  for (aloft_op *op; (op = alo_inflight_any(&table->table, &cursor));) {
    alo_inflight_remove(&table->table, op);
    alo_op_finish(op, ALOFT_CLOSED, NULL);
  }
  alo_inflight_shut(&table->table);
  table->bury.kind = &bury_kind;
  alo_ops_bury(table->kind.ops, &table->bury);
}

static void evict(alo_resident *resident) {
  aloft_inflight_close(ALOFT_CONTAINER(resident, aloft_inflight, resident));
}

static bool awake(alo_resident *resident) {
  uint32_t cursor = 0;
  return alo_inflight_any(&ALOFT_CONTAINER(resident, aloft_inflight, resident)->table, &cursor);
}

static aloft_status import_config(aloft_inflight_config *own, const aloft_inflight_config *config) {
  *own = (aloft_inflight_config){.size = sizeof *own};
  if (config && config->size != sizeof *own)
    return ALOFT_ARGUMENT;
  if (config)
    *own = *config;
  if (own->max == 0)
    own->max = MAX_DEFAULT;
  if (own->max > ALO_INFLIGHT_MAX || own->room > own->max)
    return ALOFT_ARGUMENT;
  return ALOFT_OK;
}

aloft_status aloft_inflight_open(aloft_inflight **table, aloft_loop *loop,
                                 const aloft_inflight_config *config) {
  aloft_inflight_config own;
  aloft_status status = loop->closing ? ALOFT_CLOSED : import_config(&own, config);
  aloft_inflight *self = status == ALOFT_OK ? alo_heap_take(&loop->heap, sizeof *self) : NULL;
  if (!self)
    return status == ALOFT_OK ? ALOFT_NO_MEMORY : status;
  self->kind = (alo_op_kind){{alo_op_run}, stop, &loop->ops};
  self->loop = loop;
  alo_inflight_init(&self->table, &loop->heap, own.max, ALO_INFLIGHT_GENERATION_BITS);
  status = alo_inflight_reserve(&self->table, own.room);
  if (status != ALOFT_OK) {
    alo_heap_give(&loop->heap, self, sizeof *self);
    return status;
  }
  self->resident.evict = evict;
  self->resident.awake = awake;
  alo_loop_settle_in(loop, &self->resident);
  *table = self;
  return ALOFT_OK;
}

/* ---- operations ---- */

/* The first use of a slot, a clock to be read, a parent to be asked, a refusal. */
ALO_ASIDE static aloft_status start_unusual(aloft_inflight *table, aloft_op *op, uint64_t *id) {
  aloft_status status = alo_op_check(table->kind.ops, op);
  if (status != ALOFT_OK)
    return status;
  status = alo_inflight_add(&table->table, op);
  if (status != ALOFT_OK)
    return alo_op_refuse(op, table->bury.kind ? ALOFT_CLOSED : status, NULL);
  *id = alo_inflight_key(&table->table, op);
  alo_op_fly_bare(&table->kind, op);
  alo_op_watch(table->kind.ops, op);
  return ALOFT_OK;
}

static void put_in_flight(aloft_inflight *table, aloft_op *op, uint64_t *id) {
  *id = alo_inflight_add_free(&table->table, op);
  alo_op_fly_bare(&table->kind, op);
}

ALO_APART static aloft_status start_timed(aloft_inflight *table, aloft_op *op, uint64_t *id) {
  alo_ops *ops = table->kind.ops;
  if (op->deadline_ns || !ops->fresh)
    return start_unusual(table, op, id);
  uint64_t due_ns = alo_op_after(ops->now_ns, op->timeout_ns);
  if (op->cancel) {
    if (!alo_cancel_open_to(op->cancel, ops))
      return start_unusual(table, op, id);
    put_in_flight(table, op, id);
    alo_op_fly_cancellable(op);
  } else {
    put_in_flight(table, op, id);
  }
  alo_op_fly_timed(ops, op, due_ns);
  return ALOFT_OK;
}

ALO_APART static aloft_status start_cancellable(aloft_inflight *table, aloft_op *op, uint64_t *id) {
  if (!alo_cancel_open_to(op->cancel, table->kind.ops))
    return start_unusual(table, op, id);
  put_in_flight(table, op, id);
  alo_op_fly_cancellable(op);
  return ALOFT_OK;
}

/* Cases are told apart once, and each then runs straight on. */
aloft_status aloft_inflight_start(aloft_inflight *table, aloft_op *op, uint64_t *id) {
  if (!alo_op_idle(op) || !op->done || table->table.free_first == ALO_INFLIGHT_NONE)
    return start_unusual(table, op, id);
  if (op->timeout_ns | op->deadline_ns)
    return start_timed(table, op, id);
  if (op->cancel)
    return start_cancellable(table, op, id);
  put_in_flight(table, op, id);
  return ALOFT_OK;
}

ALO_APART static aloft_status finish_with(aloft_inflight *table, uint64_t id, aloft_status status,
                                          const aloft_error *error) {
  alo_op_finish(alo_inflight_take(&table->table, id), status, status == ALOFT_OK ? NULL : error);
  return ALOFT_OK;
}

aloft_status aloft_inflight_finish(aloft_inflight *table, uint64_t id, aloft_status status,
                                   const aloft_error *error) {
  if (!alo_inflight_holds(&table->table, id)) {
    table->unmatched++;
    return ALOFT_WRONG_STATE;
  }
  if (status != table->kind.ops->quick_status)
    return finish_with(table, id, status, error);
  alo_op_finish_well(table->kind.ops, alo_inflight_take(&table->table, id));
  return ALOFT_OK;
}

aloft_op *aloft_inflight_find(const aloft_inflight *table, uint64_t id) {
  return alo_inflight_find(&table->table, id);
}

void aloft_inflight_token(uint64_t id, char token[ALOFT_INFLIGHT_TOKEN_SIZE]) {
  alo_inflight_token(id, token);
}

bool aloft_inflight_parse(const char token[ALOFT_INFLIGHT_TOKEN_SIZE], uint64_t *id) {
  return alo_inflight_parse(token, id);
}

void aloft_inflight_get_info(const aloft_inflight *table, aloft_inflight_info *info) {
  aloft_inflight_info found = {.size = info->size,
                               .count = alo_inflight_count(&table->table),
                               .retired = table->table.retired,
                               .unmatched = table->unmatched};
  if (info->size == sizeof found)
    *info = found;
}
