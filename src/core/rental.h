/* A one-place cache for an object that is needed now and then and only once at a time. Taking
 * leaves the place empty, so that the object can never be used twice; giving back to a full place
 * hands the surplus object back to be freed. One loop, one thread: no interlocked operation. */
#ifndef ALO_RENTAL_H
#define ALO_RENTAL_H

#include <stddef.h>

typedef struct alo_rental {
  void *object;       /* NULL: the place is empty */
  size_t taken, made; /* counted by the user: rents, and objects created because it was empty */
} alo_rental;

/* The cached object, or NULL: make one. */
static inline void *alo_rental_take(alo_rental *rental) {
  void *object = rental->object;
  rental->object = NULL;
  rental->taken++;
  rental->made += object == NULL;
  return object;
}

/* NULL, or the object that the caller must free. */
static inline void *alo_rental_give(alo_rental *rental, void *object) {
  if (rental->object)
    return object;
  rental->object = object;
  return NULL;
}

#endif
