#include "client_report.h"

#include <math.h>
#include <string.h>

#include <aloft/json.h>

static bool read_number(aloft_json *json, double *to) {
  return aloft_json_next(json) == ALOFT_JSON_NUMBER && aloft_json_double(json, to) == ALOFT_OK;
}

static bool read_samples(aloft_json *json, alo_client_report *to) {
  if (aloft_json_next(json) != ALOFT_JSON_ARRAY)
    return false;
  while (aloft_json_next(json) == ALOFT_JSON_NUMBER) {
    if (to->count == ALO_SAMPLES_MAX ||
        aloft_json_double(json, &to->samples[to->count++]) != ALOFT_OK)
      return false;
  }
  return json->kind == ALOFT_JSON_CLOSE;
}

static bool read_member(aloft_json *json, alo_client_report *to) {
  const struct {
    const char *name;
    double *number;
  } numbers[] = {
      {"n", &to->queries},
      {"sec", &to->seconds},
      {"cpu_us", &to->cpu_us},
      {"threads", &to->threads},
      {"own_heap_calls", &to->own_heap_calls},
      {"records", &to->records},
      {"copied", &to->copied},
      {"peak", &to->peak},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (aloft_json_is(json, aloft_text_of(numbers[i].name)))
      return read_number(json, numbers[i].number);
  }
  return aloft_json_is(json, ALOFT_TEXT("samples")) && read_samples(json, to);
}

bool alo_client_report_read(const char *output, alo_client_report *to) {
  aloft_json json;
  *to = (alo_client_report){.own_heap_calls = NAN, .records = NAN, .copied = NAN, .peak = NAN};
  aloft_json_init(&json, (aloft_text){output, strcspn(output, "\n")});
  if (aloft_json_next(&json) != ALOFT_JSON_OBJECT)
    return false;
  while (aloft_json_next(&json) == ALOFT_JSON_NAME) {
    if (!read_member(&json, to))
      return false;
  }
  return json.kind == ALOFT_JSON_CLOSE && to->seconds > 0;
}
