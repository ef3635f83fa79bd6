/* Randomness for inboxes and delays. */
#ifndef ALO_RANDOM_H
#define ALO_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Below `bound`, which is not 0. */
uint64_t alo_random_below(uint64_t bound);

/* Fills `text` with letters and digits, and a NUL in its last place. */
void alo_random_name(char *text, size_t size);

#endif
