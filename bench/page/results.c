#include "results.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool copy_text(const aloft_json *json, char *to, size_t room) {
  aloft_text text;
  if (aloft_json_string(json, to, room - 1, &text) != ALOFT_OK || text.size >= room)
    return false;
  memmove(to, text.data, text.size);
  to[text.size] = '\0';
  return true;
}

static bool read_value(aloft_json *json, alo_result_member *to) {
  to->text[0] = '\0';
  to->number = NAN;
  switch (aloft_json_next(json)) {
  case ALOFT_JSON_NUMBER:
    return aloft_json_double(json, &to->number) == ALOFT_OK;
  case ALOFT_JSON_STRING:
    return copy_text(json, to->text, sizeof to->text);
  case ALOFT_JSON_NULL:
    return true;
  default:
    return false;
  }
}

static bool read_row(aloft_json *json, alo_result *row) {
  row->count = 0;
  while (aloft_json_next(json) == ALOFT_JSON_NAME) {
    if (row->count == ALO_RESULT_MEMBERS_MAX)
      return false;
    alo_result_member *to = &row->members[row->count++];
    if (!copy_text(json, to->key, sizeof to->key) || !read_value(json, to))
      return false;
  }
  return json->kind == ALOFT_JSON_CLOSE;
}

bool alo_results_read(alo_results *results, aloft_text text) {
  aloft_json json;
  results->count = 0;
  aloft_json_init(&json, text);
  if (aloft_json_next(&json) != ALOFT_JSON_ARRAY)
    return false;
  while (aloft_json_next(&json) == ALOFT_JSON_OBJECT) {
    if (results->count == ALO_RESULTS_MAX || !read_row(&json, &results->rows[results->count++]))
      return false;
  }
  return json.kind == ALOFT_JSON_CLOSE && aloft_json_next(&json) == ALOFT_JSON_END;
}

const alo_result_member *alo_result_find(const alo_result *row, const char *key) {
  for (size_t i = 0; i < row->count; i++) {
    if (strcmp(row->members[i].key, key) == 0)
      return &row->members[i];
  }
  return NULL;
}

bool alo_result_is(const alo_result *row, const char *key, const char *value) {
  const alo_result_member *member = alo_result_find(row, key);
  char *end;
  if (!member)
    return false;
  if (isnan(member->number))
    return strcmp(member->text, value) == 0;
  double number = strtod(value, &end);
  return *end == '\0' && end != value && number == member->number;
}
