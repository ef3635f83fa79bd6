/* The most memory that a process has had. */
#ifndef ALO_PEAK_H
#define ALO_PEAK_H

/* A member of a JSON object with a comma before it: ",\"peak\":BYTES"; "" when it is not told. */
typedef struct alo_peak {
  char text[40];
} alo_peak;

/* VmHWM of proc(5): getrusage would count what the program was before it was this one. */
alo_peak alo_peak_take(void);

#endif
