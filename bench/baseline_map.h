/* The map of the replaced design: requests under their ids as text, chained. */
#ifndef ALO_BASELINE_MAP_H
#define ALO_BASELINE_MAP_H

#include <stdbool.h>
#include <stdint.h>

struct alo_baseline_request;

typedef struct alo_baseline_map {
  struct alo_baseline_node **chains;
  uint32_t mask;
} alo_baseline_map;

/* With twice as many chains as `count` or more. False: no memory. */
bool alo_baseline_map_init(alo_baseline_map *map, uint32_t count);
/* Gives back the chains of an empty map. */
void alo_baseline_map_fini(alo_baseline_map *map);

/* `id` stays the request's. False: no memory. */
bool alo_baseline_map_add(alo_baseline_map *map, const char *id,
                          struct alo_baseline_request *request);
/* Takes out what is under `id`; NULL: nothing. */
struct alo_baseline_request *alo_baseline_map_take(alo_baseline_map *map, const char *id);

#endif
