/* Makes an ordinary program of a fuzz target: gives it each file named, and each file of a folder
 * named. Fails when a file cannot be read or there was none, so that no corpus is lost unseen. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long inputs;

/* The input in a block of just its size, so that a sanitizer sees a read beyond its end. */
static int replay_file(const char *path, size_t size) {
  FILE *file = fopen(path, "rb");
  uint8_t *data = malloc(size > 0 ? size : 1);
  size_t got = file != NULL && data != NULL ? fread(data, 1, size, file) : 0;
  int failed = file == NULL || data == NULL || got != size;
  if (failed)
    fprintf(stderr, "replay: cannot read %s\n", path);
  else
    LLVMFuzzerTestOneInput(data, size);
  inputs++;
  free(data);
  if (file != NULL)
    fclose(file);
  return failed;
}

static int replay(const char *path);

static int replay_folder(const char *path) {
  DIR *folder = opendir(path);
  if (folder == NULL)
    return 1;
  int failed = 0;
  const struct dirent *entry;
  while ((entry = readdir(folder)) != NULL) {
    char inside[4096];
    int size = snprintf(inside, sizeof inside, "%s/%s", path, entry->d_name);
    if (entry->d_name[0] != '.')
      failed |= size < 0 || (size_t)size >= sizeof inside || replay(inside);
  }
  closedir(folder);
  return failed;
}

static int replay(const char *path) {
  struct stat seen;
  if (stat(path, &seen) != 0) {
    fprintf(stderr, "replay: there is no %s\n", path);
    return 1;
  }
  return S_ISDIR(seen.st_mode) ? replay_folder(path) : replay_file(path, (size_t)seen.st_size);
}

int main(int argc, char **argv) {
  int failed = 0;
  for (int i = 1; i < argc; i++)
    failed |= replay(argv[i]);
  printf("replayed %lu inputs\n", inputs);
  if (inputs == 0)
    fprintf(stderr, "replay: no input\n");
  return failed || inputs == 0;
}
