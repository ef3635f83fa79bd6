/* The prepared statements of one session: handles of sp_prepare, each with its text. */
#ifndef ALO_LITE_PREPARED_H
#define ALO_LITE_PREPARED_H

#include <aloft/status.h>

enum {
  ALO_PREPARED_MAX = 1024,          /* statements */
  ALO_PREPARED_BYTES_MAX = 16 << 20 /* of all their texts */
};

typedef struct alo_prepared {
  int32_t handle; /* 1 or more */
  aloft_text sql, declarations;
} alo_prepared;

/* Zero is empty. */
typedef struct alo_prepared_table {
  alo_prepared *items; /* sorted by handle */
  size_t count, room, bytes;
  int32_t last;
} alo_prepared_table;

/* Copies the texts. ALOFT_TOO_MANY: at one of the limits; ALOFT_NO_MEMORY. */
aloft_status alo_prepared_add(alo_prepared_table *table, aloft_text sql, aloft_text declarations,
                              int32_t *handle);
/* NULL: there is none. Valid until the next call that changes the table. */
const alo_prepared *alo_prepared_find(const alo_prepared_table *table, int64_t handle);
/* False: there is none. */
bool alo_prepared_remove(alo_prepared_table *table, int64_t handle);
void alo_prepared_clear(alo_prepared_table *table);

#endif
