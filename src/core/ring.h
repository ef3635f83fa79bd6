/* A circular list: its head is a link too, so that joining and leaving take no branch. */
#ifndef ALO_RING_H
#define ALO_RING_H

#include <aloft/op.h>

static inline void alo_ring_init(aloft_link *head) {
  head->next = head->back = head;
}

static inline bool alo_ring_empty(const aloft_link *head) {
  return head->next == head;
}

/* Behind the head, before all others. */
static inline void alo_ring_join(aloft_link *head, aloft_link *link) {
  aloft_link *next = head->next;
  link->next = next;
  next->back = link;
  link->back = head;
  head->next = link;
}

static inline void alo_ring_leave(aloft_link *link) {
  aloft_link *next = link->next, *back = link->back;
  next->back = back;
  back->next = next;
}

#endif
