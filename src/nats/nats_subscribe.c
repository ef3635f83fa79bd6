#include "nats_client.h"

#include <string.h>

/* In op.own.flags: no message is shown any more, whatever is queued. */
enum { MUTED = 1 };

aloft_nats_subscription *alo_nats_subscription_of(aloft_op *op) {
  return ALOFT_CONTAINER(op, aloft_nats_subscription, op);
}

static uint64_t sid_of(const aloft_nats *nats, const aloft_op *op) {
  return alo_inflight_key(&nats->subscriptions, op) + ALO_NATS_SID_FIRST;
}

/* ---- sending ---- */

static aloft_status send_sub(aloft_nats *nats, aloft_nats_subscription *subscription) {
  uint64_t sid = sid_of(nats, &subscription->op);
  size_t sub_size = alo_nats_sub_size(subscription->subject, subscription->queue, sid);
  uint8_t unsub[ALO_NATS_UNSUB_ROOM];
  size_t unsub_size =
      subscription->messages_max ? alo_nats_unsub_write(sid, subscription->messages_max, unsub) : 0;
  const alo_nats_record record = {.size = (uint32_t)(sub_size + unsub_size),
                                  .kind = ALO_NATS_HELD_SUB,
                                  .key = sid - ALO_NATS_SID_FIRST};
  aloft_status status;
  uint8_t *out = alo_nats_reserve(nats, &record, &status);
  if (!out)
    return status;
  alo_nats_sub_write(subscription->subject, subscription->queue, sid, out);
  memcpy(out + sub_size, unsub, unsub_size);
  subscription->own.tx_end = alo_nats_commit(nats, &record);
  return ALOFT_OK;
}

static aloft_status send_unsub(aloft_nats *nats, uint64_t sid) {
  if (nats->phase == ALO_NATS_PHASE_DEAD || nats->leaving)
    return ALOFT_OK;
  uint8_t unsub[ALO_NATS_UNSUB_ROOM];
  const alo_nats_record record = {.size = (uint32_t)alo_nats_unsub_write(sid, 0, unsub),
                                  .kind = ALO_NATS_HELD_OTHER};
  aloft_status status;
  uint8_t *out = alo_nats_reserve(nats, &record, &status);
  if (!out)
    return status;
  memcpy(out, unsub, record.size);
  (void)alo_nats_commit(nats, &record);
  return ALOFT_OK;
}

/* When there is no room for UNSUB the next message of that sid is the occasion to try again. */
static void unsubscribe_sid(aloft_nats *nats, uint64_t sid) {
  if (send_unsub(nats, sid) != ALOFT_OK)
    nats->unsubs_missed++;
}

/* ---- the operation ---- */

static void leave(aloft_nats *nats, aloft_op *op) {
  aloft_nats_subscription *subscription = alo_nats_subscription_of(op);
  unsubscribe_sid(nats, sid_of(nats, op));
  alo_inflight_remove(&nats->subscriptions, op);
  op->own.flags |= MUTED;
  op->written = alo_nats_written(nats, subscription->own.tx_end);
}

static bool subscription_stop(aloft_op *op, aloft_status why) {
  (void)why;
  leave(ALO_OP_OBJECT(op, aloft_nats, subscription_kind), op);
  return true;
}

void alo_nats_subscribe_init(aloft_nats *nats) {
  nats->subscription_kind = (alo_op_kind){{alo_op_run}, subscription_stop, nats->ops};
}

static aloft_status check_subscription(aloft_nats *nats, aloft_nats_subscription *subscription) {
  aloft_op *op = &subscription->op;
  if (!subscription->message)
    return alo_nats_refuse(nats, op, ALOFT_ARGUMENT, "a subscription needs its message callback");
  if (!alo_nats_subject_valid(subscription->subject, true))
    return alo_nats_refuse(nats, op, ALOFT_ARGUMENT,
                           "the subject is not valid: tokens without blanks, joined by dots; '*' "
                           "and a last '>' are whole tokens");
  if (subscription->queue.size && !alo_nats_subject_valid(subscription->queue, false))
    return alo_nats_refuse(nats, op, ALOFT_ARGUMENT, "the queue group's name is not valid");
  return ALOFT_OK;
}

static aloft_status add(aloft_nats *nats, aloft_nats_subscription *subscription) {
  aloft_op *op = &subscription->op;
  aloft_status status = alo_inflight_add(&nats->subscriptions, op);
  if (status == ALOFT_TOO_MANY)
    return alo_nats_refuse(nats, op, status, "subscriptions_max (%u) subscriptions are open",
                           nats->subscriptions.max);
  if (status != ALOFT_OK)
    return alo_op_refuse(op, status, NULL);
  status = send_sub(nats, subscription);
  if (status == ALOFT_OK)
    return ALOFT_OK;
  alo_inflight_remove(&nats->subscriptions, op);
  return alo_op_refuse(op, status, NULL);
}

aloft_status aloft_nats_subscribe(aloft_nats *nats, aloft_nats_subscription *subscription) {
  aloft_op *op = &subscription->op;
  aloft_status status = alo_op_check(nats->ops, op);
  if (status == ALOFT_OK)
    status = alo_nats_usable(nats, op);
  if (status == ALOFT_OK)
    status = check_subscription(nats, subscription);
  if (status == ALOFT_OK && !alo_nats_deliveries_ready(nats))
    status = ALOFT_NO_MEMORY;
  if (status == ALOFT_OK)
    status = add(nats, subscription);
  if (status != ALOFT_OK)
    return status;
  subscription->delivered = 0;
  subscription->own.received = 0;
  op->own.flags = 0;
  alo_op_fly(&nats->subscription_kind, op);
  return ALOFT_OK;
}

aloft_status aloft_nats_unsubscribe(aloft_nats_subscription *subscription) {
  aloft_op *op = &subscription->op;
  if (alo_op_idle(op))
    return ALOFT_WRONG_STATE;
  if (alo_op_flying(op)) {
    leave(ALO_OP_OBJECT(op, aloft_nats, subscription_kind), op);
    alo_op_finish(op, ALOFT_OK, NULL);
  }
  op->own.flags |= MUTED; /* also what its last messages had queued */
  return ALOFT_OK;
}

aloft_status aloft_nats_drain(aloft_nats_subscription *subscription) {
  aloft_op *op = &subscription->op;
  if (!alo_op_flying(op))
    return ALOFT_WRONG_STATE;
  return send_unsub(ALO_OP_OBJECT(op, aloft_nats, subscription_kind),
                    sid_of(ALO_OP_OBJECT(op, aloft_nats, subscription_kind), op));
}

/* ---- messages ---- */

/* Most of these were on their way when the subscription ended. */
static void message_unmatched(aloft_nats *nats, uint64_t sid) {
  nats->messages_unmatched++;
  if (nats->unsubs_missed == 0)
    return;
  nats->unsubs_missed--;
  unsubscribe_sid(nats, sid);
}

void alo_nats_message_in(aloft_nats *nats, const alo_nats_event *event, alo_block *block) {
  aloft_op *op = event->sid < ALO_NATS_SID_FIRST
                     ? NULL
                     : alo_inflight_find(&nats->subscriptions, event->sid - ALO_NATS_SID_FIRST);
  if (!op) {
    message_unmatched(nats, event->sid);
    return;
  }
  aloft_nats_subscription *subscription = alo_nats_subscription_of(op);
  alo_nats_deliver(nats, subscription, event, block);
  if (++subscription->own.received != subscription->messages_max)
    return;
  alo_inflight_remove(&nats->subscriptions, op);
  op->written = true;
  alo_op_finish(op, ALOFT_OK, NULL);
}

void alo_nats_show(aloft_nats_subscription *subscription, const aloft_nats_message *message) {
  if (subscription->op.own.flags & MUTED)
    return;
  subscription->delivered++;
  subscription->message(subscription, message);
}
