#include <aloft/inflight.h>

#include "heap.h"
#include "inflight.h"
#include "loop.h"

enum { MAX_DEFAULT = 65536 };

struct aloft_inflight {
  alo_owner owner; /* first */
  aloft_loop *loop;
  alo_inflight table;
  alo_resident resident;
  aloft_item bury; /* frees the table, behind everything queued before */
  uint64_t unmatched;
};

/* ---- open and close ---- */

static void bury(alo_ops *ops, aloft_item *item) {
  (void)ops;
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
  table->bury.kind = &bury_kind;
  alo_ops_bury(table->owner.ops, &table->bury);
}

static void evict(alo_resident *resident) {
  aloft_inflight_close(ALOFT_CONTAINER(resident, aloft_inflight, resident));
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
  self->owner.ops = &loop->ops;
  self->loop = loop;
  alo_inflight_init(&self->table, &loop->heap, own.max, ALO_INFLIGHT_GENERATION_BITS);
  status = alo_inflight_reserve(&self->table, own.room);
  if (status != ALOFT_OK) {
    alo_heap_give(&loop->heap, self, sizeof *self);
    return status;
  }
  self->resident.evict = evict;
  self->resident.quiet = true;
  alo_loop_settle_in(loop, &self->resident);
  *table = self;
  return ALOFT_OK;
}

/* ---- operations ---- */

static bool stop(aloft_op *op, aloft_status why) {
  (void)why;
  aloft_inflight *table = op->own.owner;
  alo_inflight_remove(&table->table, op);
  return true;
}

static const alo_op_kind kind = {{alo_op_run}, stop};

aloft_status aloft_inflight_start(aloft_inflight *table, aloft_op *op, uint64_t *id) {
  aloft_status status = alo_op_check(&table->owner, op);
  if (status != ALOFT_OK)
    return status;
  status = table->bury.kind ? ALOFT_CLOSED : alo_inflight_add(&table->table, op);
  if (status != ALOFT_OK)
    return alo_op_refuse(op, status, NULL);
  *id = alo_inflight_key(&table->table, op);
  alo_op_fly(&table->owner, op, &kind);
  return ALOFT_OK;
}

aloft_status aloft_inflight_finish(aloft_inflight *table, uint64_t id, aloft_status status,
                                   const aloft_error *error) {
  aloft_op *op = alo_inflight_find(&table->table, id);
  if (!op) {
    table->unmatched++;
    return ALOFT_WRONG_STATE;
  }
  alo_inflight_remove(&table->table, op);
  alo_op_finish(op, status, error);
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
                               .count = table->table.count,
                               .retired = table->table.retired,
                               .unmatched = table->unmatched};
  if (info->size == sizeof found)
    *info = found;
}
