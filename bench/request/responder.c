#include "responder.h"

#include <stdio.h>

#include "load.h"

typedef struct responder {
  aloft_nats_subscription subscription;
  aloft_nats *nats;
} responder;

static void answer(aloft_nats_subscription *subscription, const aloft_nats_message *message) {
  responder *self = ALOFT_CONTAINER(subscription, responder, subscription);
  if (message->reply.size == 0)
    return;
  aloft_status status = aloft_nats_publish(
      self->nats, &(aloft_nats_message){.subject = message->reply, .data = message->data});
  if (status != ALOFT_OK)
    alo_load_fail("cannot answer", status, NULL);
}

static void subscription_ended(aloft_op *op, aloft_status status) {
  alo_load_fail("the subscription ended", status, op->error);
}

static void flushed(aloft_op *op, aloft_status status) {
  if (status != ALOFT_OK)
    alo_load_fail("cannot subscribe", status, op->error);
  printf("ready\n");
  fflush(stdout);
}

int alo_responder_run(const char *url, const char *subject) {
  aloft_loop *loop;
  responder self = {.subscription = {.op = {.done = subscription_ended},
                                     .subject = aloft_text_of(subject),
                                     .message = answer}};
  aloft_op flush = {.done = flushed};
  alo_load_connect(url, 0, &loop, &self.nats);
  aloft_status status = aloft_nats_subscribe(self.nats, &self.subscription);
  if (status != ALOFT_OK)
    alo_load_fail("cannot subscribe", status, self.subscription.op.error);
  status = aloft_nats_flush(self.nats, &flush);
  if (status != ALOFT_OK)
    alo_load_fail("cannot subscribe", status, flush.error);
  status = aloft_loop_run(loop);
  aloft_loop_close(loop);
  return status == ALOFT_OK ? 0 : 1;
}
