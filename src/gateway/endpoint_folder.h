/* The endpoints of a folder. */
#ifndef ALO_ENDPOINT_FOLDER_H
#define ALO_ENDPOINT_FOLDER_H

#include "endpoint.h"

enum { ALO_ENDPOINTS_MAX = 4096 };

typedef struct alo_endpoint_folder {
  alo_endpoint *endpoints; /* in the order of their files' names */
  size_t count;
} alo_endpoint_folder;

/* Loads each NAME.sql in the folder `path`; other and hidden files are left alone, and folders
 * inside are not entered. False: one line in `error` names the file, where that is the matter,
 * and says what to do. Two endpoints with one subject are such an error, and a folder without any
 * too. Free it in both cases. */
bool alo_endpoint_folder_load(alo_endpoint_folder *folder, const char *path,
                              char error[ALO_ENDPOINT_ERROR_MAX]);

void alo_endpoint_folder_free(alo_endpoint_folder *folder);

#endif
