#include <aloft/base.h>

#include <string.h>

aloft_text aloft_text_of(const char *string) {
  return (aloft_text){string, string ? strlen(string) : 0};
}

bool aloft_text_equal(aloft_text a, aloft_text b) {
  if (!a.data || !b.data)
    return !a.data && !b.data;
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}
