#include "endpoint_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUFFIX = sizeof ".sql" - 1 };

static int is_endpoint(const struct dirent *entry) {
  size_t size = strlen(entry->d_name);
  return entry->d_name[0] != '.' && size > SUFFIX &&
         strcmp(entry->d_name + size - SUFFIX, ".sql") == 0;
}

static bool load_one(alo_endpoint_folder *folder, const char *path, const char *name, char *error) {
  size_t name_size = strlen(name), size = strlen(path) + name_size + 2;
  char *whole = malloc(size);
  if (whole == NULL) {
    snprintf(error, ALO_ENDPOINT_ERROR_MAX, "%s: out of memory", path);
    return false;
  }
  bool slash = path[0] != '\0' && path[strlen(path) - 1] == '/';
  snprintf(whole, size, "%s%s%s", path, slash ? "" : "/", name);
  bool good = alo_endpoint_load(&folder->endpoints[folder->count++], whole,
                                (aloft_text){name, name_size - SUFFIX}, error);
  free(whole);
  return good;
}

static int compare_subjects(const void *left, const void *right) {
  const alo_endpoint *a = *(const alo_endpoint *const *)left;
  const alo_endpoint *b = *(const alo_endpoint *const *)right;
  size_t size = a->subject.size < b->subject.size ? a->subject.size : b->subject.size;
  int order = memcmp(a->subject.data, b->subject.data, size);
  if (order != 0)
    return order;
  return (a->subject.size > b->subject.size) - (a->subject.size < b->subject.size);
}

static bool check_subjects(const alo_endpoint_folder *folder, char *error) {
  const alo_endpoint **sorted = calloc(folder->count, sizeof(alo_endpoint *));
  bool good = sorted != NULL;
  if (!good)
    snprintf(error, ALO_ENDPOINT_ERROR_MAX, "out of memory");
  for (size_t i = 0; good && i < folder->count; i++)
    sorted[i] = &folder->endpoints[i];
  if (good)
    qsort(sorted, folder->count, sizeof *sorted, compare_subjects);
  for (size_t i = 1; good && i < folder->count; i++) {
    good = compare_subjects(&sorted[i - 1], &sorted[i]) != 0;
    if (!good)
      snprintf(error, ALO_ENDPOINT_ERROR_MAX,
               "%s: the subject '%.*s' is also that of %s: change one of them", sorted[i]->path,
               ALOFT_PRINT(sorted[i]->subject), sorted[i - 1]->path);
  }
  free(sorted);
  return good;
}

static bool load_all(alo_endpoint_folder *folder, const char *path, struct dirent **names,
                     size_t count, char *error) {
  if (count == 0 || count > ALO_ENDPOINTS_MAX) {
    snprintf(error, ALO_ENDPOINT_ERROR_MAX,
             count == 0 ? "%s: holds no .sql file: each is to be an endpoint"
                        : "%s: holds more .sql files than can be served: split the folder",
             path);
    return false;
  }
  folder->endpoints = calloc(count, sizeof *folder->endpoints);
  if (folder->endpoints == NULL) {
    snprintf(error, ALO_ENDPOINT_ERROR_MAX, "%s: out of memory", path);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    if (!load_one(folder, path, names[i]->d_name, error))
      return false;
  }
  return check_subjects(folder, error);
}

bool alo_endpoint_folder_load(alo_endpoint_folder *folder, const char *path,
                              char error[ALO_ENDPOINT_ERROR_MAX]) {
  struct dirent **names = NULL;
  *folder = (alo_endpoint_folder){0};
  int count = scandir(path, &names, is_endpoint, alphasort);
  if (count < 0) {
    snprintf(error, ALO_ENDPOINT_ERROR_MAX, "%s: cannot be read: %s", path, strerror(errno));
    return false;
  }
  bool good = load_all(folder, path, names, (size_t)count, error);
  for (int i = 0; i < count; i++)
    free(names[i]);
  free(names);
  return good;
}

void alo_endpoint_folder_free(alo_endpoint_folder *folder) {
  for (size_t i = 0; i < folder->count; i++)
    alo_endpoint_free(&folder->endpoints[i]);
  free(folder->endpoints);
  *folder = (alo_endpoint_folder){0};
}
