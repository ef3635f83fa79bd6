/* The name of a procedure in an RPC request (MS-TDS 2.2.6.6). */
#include "tds_request.h"
#include "utf16.h"

enum {
  NAME_UNITS_MAX = 523, /* 1,046 bytes */
  PARTS_MAX = 4         /* server, database, schema, name */
};

static const char not_a_name[] =
    "a procedure's name is \"name\", \"schema.name\" or \"database.schema.name\"; a part with "
    "other "
    "characters than letters, digits and _ @ $ # is put in brackets: [my procedure]";

/* Outside ASCII the server says what may stand in a name; none of it separates. */
static bool plain_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '@' || c == '$' || c == '#' || (uint8_t)c >= 0x80;
}

/* What follows a part in quotes, which `close` ends unless it stands twice. 0: it has no end, or
 * nothing in it. */
static size_t pass_quoted(aloft_text name, size_t at, char close) {
  size_t begin = ++at;
  for (; at < name.size && name.data[at] != '\0'; at++) {
    if (name.data[at] != close) {
      continue;
    }
    if (at + 1 == name.size || name.data[at + 1] != close) {
      return at > begin ? at + 1 : 0;
    }
    at++;
  }
  return 0;
}

/* What follows the part at `at`, which is `at` itself when there is nothing in it; 0: as above. */
static size_t pass_part(aloft_text name, size_t at) {
  if (at < name.size && (name.data[at] == '[' || name.data[at] == '"')) {
    return pass_quoted(name, at, name.data[at] == '[' ? ']' : '"');
  }
  while (at < name.size && plain_character(name.data[at])) {
    at++;
  }
  return at;
}

/* ";2": one of several procedures of the same name. */
static bool is_number(aloft_text name, size_t at) {
  size_t begin = ++at;
  while (at < name.size && name.data[at] >= '0' && name.data[at] <= '9') {
    at++;
  }
  return at > begin && at == name.size;
}

/* The first part and the last are there: "database..name" leaves the schema out. */
static bool is_name(aloft_text name) {
  size_t at = 0;
  for (unsigned part = 1; part <= PARTS_MAX; part++, at++) {
    size_t begin = at;
    at = pass_part(name, begin);
    if (at < begin || (at == begin && part == 1)) {
      return false;
    }
    if (at == name.size) {
      return at > begin;
    }
    if (name.data[at] == ';') {
      return at > begin && is_number(name, at);
    }
    if (name.data[at] != '.') {
      return false;
    }
  }
  return false;
}

const char *alo_tds_check_procedure(aloft_text name) {
  size_t units = alo_utf8_utf16_count(name.data, name.size);
  if (units == SIZE_MAX) {
    return "the procedure's name is not well-formed UTF-8";
  }
  if (units > NAME_UNITS_MAX) {
    return "a procedure's name has at most 523 characters";
  }
  return is_name(name) ? NULL : not_a_name;
}
