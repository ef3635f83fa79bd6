/* The code pages of a loop: tables made through iconv when first asked for, and kept until the loop
 * closes. A page of two-byte characters takes about 130 KiB and a few milliseconds, the others
 * 2 KiB. */
#ifndef ALO_CODE_PAGES_H
#define ALO_CODE_PAGES_H

#include "code_page.h"
#include "heap.h"

enum { ALO_CODE_PAGES = 16 };

typedef struct alo_made_page alo_made_page;

typedef struct alo_page_store {
  const aloft_allocator *heap;
  alo_code_pages pages; /* what finds in this store */
  alo_made_page *made[ALO_CODE_PAGES];
  bool missing[ALO_CODE_PAGES]; /* iconv does not have it */
} alo_page_store;

/* `heap` is kept. The store does not move afterwards. */
void alo_page_store_init(alo_page_store *store, const aloft_allocator *heap);
void alo_page_store_fini(alo_page_store *store);

#endif
