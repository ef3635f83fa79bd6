#include "guard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

guard_buffer guard_take(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  size_t usable = (size + page - 1) / page * page;
  guard_buffer taken = {.size = size, .mapping_size = usable + page};
  taken.mapping =
      mmap(NULL, taken.mapping_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(taken.mapping, MAP_FAILED);
  assert_int_equal(mprotect((char *)taken.mapping + usable, page, PROT_NONE), 0);
  taken.data = (char *)taken.mapping + usable - size;
  return taken;
}

guard_buffer guard_copy(const void *data, size_t size) {
  guard_buffer taken = guard_take(size);
  if (size)
    memcpy(taken.data, data, size);
  return taken;
}

void guard_give(guard_buffer *buffer) {
  munmap(buffer->mapping, buffer->mapping_size);
  *buffer = (guard_buffer){0};
}
