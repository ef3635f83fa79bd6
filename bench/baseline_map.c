#include "baseline_map.h"

#include <stdlib.h>
#include <string.h>

typedef struct alo_baseline_node {
  struct alo_baseline_node *next;
  const char *id;
  struct alo_baseline_request *request;
} node;

bool alo_baseline_map_init(alo_baseline_map *map, uint32_t count) {
  uint32_t chains = 1;
  while (chains / 2 < count && chains < UINT32_C(1) << 31)
    chains *= 2;
  map->chains = calloc(chains, sizeof(node *));
  map->mask = chains - 1;
  return map->chains != NULL;
}

void alo_baseline_map_fini(alo_baseline_map *map) {
  free(map->chains);
  map->chains = NULL;
}

/* FNV-1a */
static node **chain_of(const alo_baseline_map *map, const char *id) {
  uint32_t hash = 2166136261U;
  while (*id)
    hash = (hash ^ (unsigned char)*id++) * 16777619U;
  return &map->chains[hash & map->mask];
}

bool alo_baseline_map_add(alo_baseline_map *map, const char *id,
                          struct alo_baseline_request *request) {
  node *added = malloc(sizeof *added);
  if (!added)
    return false;
  node **chain = chain_of(map, id);
  *added = (node){.next = *chain, .id = id, .request = request};
  *chain = added;
  return true;
}

struct alo_baseline_request *alo_baseline_map_take(alo_baseline_map *map, const char *id) {
  node **at = chain_of(map, id);
  while (*at && strcmp((*at)->id, id) != 0)
    at = &(*at)->next;
  node *found = *at;
  if (!found)
    return NULL;
  struct alo_baseline_request *request = found->request;
  *at = found->next;
  free(found);
  return request;
}
