/* Durations in the syntax of the Go language: "5s", "1m30s", "1.5h", "250ms". The command's options
 * have them too. */
#ifndef ALO_DURATION_H
#define ALO_DURATION_H

#include <stdbool.h>
#include <stdint.h>

/* Reads a non-negative duration into nanoseconds: one or more decimal numbers, each with a unit
 * (ns, us, µs, ms, s, m, h), or "0". False, `*ns` untouched: another text, a negative one, or more
 * than 2^63 - 1 ns. What is finer than 1 ns is cut off. */
bool alo_duration_parse(const char *text, uint64_t *ns);

enum { ALO_DURATION_TEXT = 32 };

/* Writes `ns` with the largest unit that leaves it above 1 and at most three decimals: "1.5s". */
void alo_duration_write(uint64_t ns, char text[ALO_DURATION_TEXT]);

#endif
