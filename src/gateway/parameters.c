#include "parameters.h"

#include <aloft/json.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS_ROOM_MIN = 1024, SHOWN_MAX = 80 };

typedef struct reading {
  const alo_endpoint *endpoint;
  alo_parameter_texts *texts;
  aloft_tds_param *params; /* one without a name has not been seen yet */
  aloft_json json;
  char *error;
} reading;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
refuse(const reading *read, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(read->error, ALO_PARAMETERS_ERROR_MAX, format, arguments);
  va_end(arguments);
  return false;
}

/* For errors: not more of a text of the sender's than one wants to read. */
static aloft_text shown(aloft_text text) {
  return text.size <= SHOWN_MAX ? text : (aloft_text){text.data, SHOWN_MAX};
}

static bool refuse_json(const reading *read) {
  return refuse(read, "the request is not a JSON object: %s at byte %zu", read->json.reason,
                read->json.offset);
}

/* Unescaped, a body's strings together are not longer than the body. */
static bool make_room(alo_parameter_texts *texts, size_t size) {
  texts->size = 0;
  if (size <= texts->room)
    return true;
  size_t room = texts->room > 0 ? texts->room : TEXTS_ROOM_MIN;
  while (room < size)
    room *= 2;
  char *memory = realloc(texts->memory, room);
  if (memory == NULL)
    return false;
  texts->memory = memory;
  texts->room = room;
  return true;
}

void alo_parameter_texts_free(alo_parameter_texts *texts) {
  free(texts->memory);
  *texts = (alo_parameter_texts){0};
}

/* The last string, copied: the message it came in does not last. */
static bool keep_string(reading *read, aloft_text *text) {
  alo_parameter_texts *texts = read->texts;
  char *out = texts->memory + texts->size;
  if (aloft_json_string(&read->json, out, texts->room - texts->size, text) != ALOFT_OK)
    return false;
  if (text->size > 0 && text->data != out)
    memcpy(out, text->data, text->size);
  text->data = out;
  texts->size += text->size;
  return true;
}

/* False, without an error set: not a value that a parameter can have. */
static bool take_value(reading *read, alo_written *written) {
  written->text = read->json.raw;
  switch (read->json.kind) {
  case ALOFT_JSON_NULL:
    written->kind = ALO_WRITTEN_NULL;
    return true;
  case ALOFT_JSON_FALSE:
    written->kind = ALO_WRITTEN_FALSE;
    return true;
  case ALOFT_JSON_TRUE:
    written->kind = ALO_WRITTEN_TRUE;
    return true;
  case ALOFT_JSON_NUMBER:
    written->kind = ALO_WRITTEN_NUMBER;
    return true;
  case ALOFT_JSON_STRING:
    written->kind = ALO_WRITTEN_STRING;
    return keep_string(read, &written->text);
  default:
    return false;
  }
}

static bool set_value(reading *read, const alo_parameter *parameter, aloft_tds_param *param) {
  alo_written written;
  if (!take_value(read, &written))
    return refuse(read, "the parameter '%.*s' is %s", ALOFT_PRINT(parameter->name),
                  read->json.kind == ALOFT_JSON_STRING ? "not well-formed Unicode"
                                                       : "an array or an object, not one value");
  *param = parameter->fallback;
  param->name = parameter->name;
  if (written.kind == ALO_WRITTEN_NULL)
    return parameter->nullable ||
           refuse(read, "the parameter '%.*s' must not be null", ALOFT_PRINT(parameter->name));
  const char *wrong = alo_parameter_convert(&parameter->type, &written, param);
  return wrong == NULL ||
         refuse(read, "the parameter '%.*s' %s: %.*s", ALOFT_PRINT(parameter->name), wrong,
                (int)parameter->declared_size, parameter->declared);
}

static bool read_member(reading *read) {
  const alo_endpoint *endpoint = read->endpoint;
  size_t i = 0;
  while (i < endpoint->parameter_count && !aloft_json_is(&read->json, endpoint->parameters[i].name))
    i++;
  if (i == endpoint->parameter_count)
    return refuse(read, "unknown parameter '%.*s'", ALOFT_PRINT(shown(read->json.raw)));
  if (read->params[i].name.data != NULL)
    return refuse(read, "the parameter '%.*s' is given twice",
                  ALOFT_PRINT(endpoint->parameters[i].name));
  if (aloft_json_next(&read->json) == ALOFT_JSON_ERROR)
    return refuse_json(read);
  return set_value(read, &endpoint->parameters[i], &read->params[i]);
}

static bool read_object(reading *read) {
  if (aloft_json_next(&read->json) == ALOFT_JSON_ERROR)
    return refuse_json(read);
  if (read->json.kind != ALOFT_JSON_OBJECT)
    return refuse(read, "the request is not a JSON object");
  while (aloft_json_next(&read->json) == ALOFT_JSON_NAME) {
    if (!read_member(read))
      return false;
  }
  if (read->json.kind == ALOFT_JSON_CLOSE)
    aloft_json_next(&read->json);
  return read->json.kind == ALOFT_JSON_END || refuse_json(read);
}

static bool fill_in(const reading *read) {
  const alo_endpoint *endpoint = read->endpoint;
  for (size_t i = 0; i < endpoint->parameter_count; i++) {
    const alo_parameter *parameter = &endpoint->parameters[i];
    if (read->params[i].name.data != NULL)
      continue;
    if (!parameter->optional)
      return refuse(read, "the parameter '%.*s' is missing: %.*s", ALOFT_PRINT(parameter->name),
                    (int)parameter->declared_size, parameter->declared);
    read->params[i] = parameter->fallback;
  }
  return true;
}

bool alo_parameters_read(const alo_endpoint *endpoint, aloft_text body, alo_parameter_texts *texts,
                         aloft_tds_param *params, char error[ALO_PARAMETERS_ERROR_MAX]) {
  reading read = {.endpoint = endpoint, .texts = texts, .params = params, .error = error};
  for (size_t i = 0; i < endpoint->parameter_count; i++)
    params[i] = (aloft_tds_param){.type = ALOFT_TDS_UNKNOWN};
  if (!make_room(texts, body.size))
    return refuse(&read, "the gateway has no memory for the request: try again");
  aloft_json_init(&read.json, body);
  if (body.size > 0 && !read_object(&read))
    return false;
  return fill_in(&read);
}
