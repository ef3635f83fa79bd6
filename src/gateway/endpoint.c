#include "endpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "duration.h"
#include "sql_scan.h"
#include "utf8_text.h"

/* A file being read. */
typedef struct loading {
  alo_endpoint *endpoint;
  char *error;
  size_t line;
  bool has_subject, has_timeout;
  aloft_text variables[ALO_ENDPOINT_VARIABLES_MAX]; /* declared in the SQL */
  size_t variable_count;
} loading;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static bool
refuse(loading *load, const char *format, ...) {
  int size = 0;
  if (load->line > 0)
    size =
        snprintf(load->error, ALO_ENDPOINT_ERROR_MAX, "%s:%zu: ", load->endpoint->path, load->line);
  else
    size = snprintf(load->error, ALO_ENDPOINT_ERROR_MAX, "%s: ", load->endpoint->path);
  if (size < 0 || size >= ALO_ENDPOINT_ERROR_MAX)
    return false;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(load->error + size, ALO_ENDPOINT_ERROR_MAX - (size_t)size, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- pieces of a line ---- */

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

static aloft_text trim(aloft_text text) {
  while (text.size > 0 && is_blank(text.data[0]))
    text = (aloft_text){text.data + 1, text.size - 1};
  while (text.size > 0 && is_blank(text.data[text.size - 1]))
    text.size--;
  return text;
}

/* Takes the first `size` bytes off the text. */
static aloft_text take(aloft_text *text, size_t size) {
  aloft_text first = {text->data, size};
  *text = (aloft_text){text->data + size, text->size - size};
  return first;
}

static size_t find(aloft_text text, char c) {
  const char *at = text.size > 0 ? memchr(text.data, c, text.size) : NULL;
  return at != NULL ? (size_t)(at - text.data) : text.size;
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t name_size(aloft_text text) {
  size_t size = 0;
  while (size < text.size && (is_letter(text.data[size]) ||
                              (size > 0 && text.data[size] >= '0' && text.data[size] <= '9')))
    size++;
  return size;
}

/* ---- subject and timeout ---- */

static bool is_subject(aloft_text text) {
  bool token = false; /* the token before has at least one character */
  for (size_t i = 0; i < text.size; i++) {
    unsigned char c = (unsigned char)text.data[i];
    if (c <= ' ' || c == 0x7f || c == '*' || c == '>' || (c == '.' && !token))
      return false;
    token = c != '.';
  }
  return token && text.size <= ALO_ENDPOINT_SUBJECT_MAX;
}

static bool read_subject(loading *load, aloft_text value) {
  if (load->has_subject)
    return refuse(load, "a second subject: a file has one");
  if (!is_subject(value))
    return refuse(
        load,
        "the subject '%.*s' is not one: words without blanks and wildcards, joined by dots, at "
        "most %d bytes",
        ALOFT_PRINT(value), ALO_ENDPOINT_SUBJECT_MAX);
  load->has_subject = true;
  load->endpoint->subject = value;
  return true;
}

static bool read_timeout(loading *load, aloft_text value) {
  char text[32];
  uint64_t ns = 0;
  if (load->has_timeout)
    return refuse(load, "a second timeout: a file has one");
  snprintf(text, sizeof text, "%.*s", ALOFT_PRINT(value));
  if (value.size >= sizeof text || !alo_duration_parse(text, &ns) || ns == 0 ||
      ns > ALO_ENDPOINT_TIMEOUT_MAX)
    return refuse(load, "the timeout is not a duration such as 2s or 250ms, above 0 and up to 24h");
  load->has_timeout = true;
  load->endpoint->timeout_ns = ns;
  return true;
}

/* ---- parameters ---- */

/* 'text', with '' for one quote, into the memory of the defaults. */
static bool read_literal_text(loading *load, aloft_text text, alo_written *written) {
  alo_endpoint *endpoint = load->endpoint;
  char *out = endpoint->defaults + endpoint->defaults_size;
  size_t size = 0, at = 1;
  for (; at < text.size; at++) {
    if (text.data[at] == '\'' && (at + 1 == text.size || text.data[++at] != '\''))
      break;
    out[size++] = text.data[at];
  }
  if (at + 1 < text.size || text.data[text.size - 1] != '\'' || text.size < 2)
    return refuse(load, "the default has no closing quote, or goes on after it");
  endpoint->defaults_size += size;
  *written = (alo_written){ALO_WRITTEN_STRING, {out, size}};
  return true;
}

static bool read_hexadecimal(loading *load, aloft_text text, alo_written *written) {
  char *out = load->endpoint->defaults + load->endpoint->defaults_size;
  memcpy(out, text.data, text.size);
  load->endpoint->defaults_size += text.size;
  *written = (alo_written){ALO_WRITTEN_STRING, {out, text.size}};
  return true;
}

static bool read_literal(loading *load, aloft_text text, alo_written *written) {
  if (alo_sql_name_equal(text, ALOFT_TEXT("null"))) {
    *written = (alo_written){.kind = ALO_WRITTEN_NULL};
    return true;
  }
  if (text.size > 1 && (text.data[0] == 'N' || text.data[0] == 'n') && text.data[1] == '\'')
    take(&text, 1);
  if (text.size > 0 && text.data[0] == '\'')
    return read_literal_text(load, text, written);
  if (text.size > 1 && text.data[0] == '0' && (text.data[1] == 'x' || text.data[1] == 'X'))
    return read_hexadecimal(load, text, written);
  *written = (alo_written){ALO_WRITTEN_NUMBER, text};
  return true;
}

static bool read_default(loading *load, alo_parameter *parameter, aloft_text text) {
  alo_written written = {.kind = ALO_WRITTEN_NULL};
  if (!read_literal(load, text, &written))
    return false;
  parameter->optional = true;
  parameter->nullable = written.kind == ALO_WRITTEN_NULL;
  parameter->fallback = (aloft_tds_param){
      .type = parameter->type.type, .scale = parameter->type.scale, .null = parameter->nullable};
  if (parameter->nullable) {
    parameter->fallback.value.decimal.precision = parameter->type.precision;
    parameter->fallback.value.decimal.scale = parameter->type.scale;
    return true;
  }
  const char *wrong = alo_parameter_convert(&parameter->type, &written, &parameter->fallback);
  return wrong == NULL ||
         refuse(load, "the default of %.*s %s", ALOFT_PRINT(parameter->name), wrong);
}

static bool check_name(loading *load, aloft_text name) {
  alo_endpoint *endpoint = load->endpoint;
  if (name.size == 0 || name.size > ALO_ENDPOINT_NAME_MAX)
    return refuse(load,
                  "a parameter begins with its name: '-- param: NAME TYPE' or '-- param: NAME "
                  "TYPE = DEFAULT'");
  for (size_t i = 0; i < endpoint->parameter_count; i++) {
    if (alo_sql_name_equal(endpoint->parameters[i].name, name))
      return refuse(load, "the parameter %.*s is declared twice, first in line %zu",
                    ALOFT_PRINT(name), endpoint->parameters[i].line);
  }
  if (endpoint->parameter_count == ALO_ENDPOINT_PARAMETERS_MAX)
    return refuse(load, "more than %d parameters", ALO_ENDPOINT_PARAMETERS_MAX);
  return true;
}

static bool read_parameter(loading *load, aloft_text value) {
  alo_endpoint *endpoint = load->endpoint;
  if (value.size > 0 && value.data[0] == '@')
    take(&value, 1);
  aloft_text name = take(&value, name_size(value));
  if (!check_name(load, name))
    return false;
  size_t equals = find(value, '=');
  bool has_default = equals < value.size;
  aloft_text declared = trim(take(&value, equals));
  alo_parameter *parameter = &endpoint->parameters[endpoint->parameter_count];
  *parameter = (alo_parameter){
      .name = name, .declared = declared.data, .declared_size = declared.size, .line = load->line};
  const char *wrong = alo_parameter_type_read(&parameter->type, declared);
  if (wrong != NULL)
    return refuse(load, "the type '%.*s' of %.*s %s", ALOFT_PRINT(declared), ALOFT_PRINT(name),
                  wrong);
  if (has_default) {
    take(&value, 1);
    if (!read_default(load, parameter, trim(value)))
      return false;
  }
  parameter->fallback.name = name;
  endpoint->parameter_count++;
  return true;
}

/* ---- the header: the comment lines at the top ---- */

/* A comment that begins with a word and a colon is a setting; any other is only a comment. */
static bool read_comment(loading *load, aloft_text comment) {
  aloft_text key = take(&comment, name_size(comment));
  if (key.size == 0 || comment.size == 0 || comment.data[0] != ':')
    return true;
  take(&comment, 1);
  aloft_text value = trim(comment);
  if (aloft_text_equal(key, ALOFT_TEXT("subject")))
    return read_subject(load, value);
  if (aloft_text_equal(key, ALOFT_TEXT("timeout")))
    return read_timeout(load, value);
  if (aloft_text_equal(key, ALOFT_TEXT("param")))
    return read_parameter(load, value);
  return refuse(load,
                "unknown setting '%.*s': there are subject, timeout and param; a mere comment "
                "does not begin with a word and a colon",
                ALOFT_PRINT(key));
}

static bool read_header(loading *load, aloft_text text) {
  for (load->line = 1; text.size > 0; load->line++) {
    size_t size = find(text, '\n');
    aloft_text line = trim(take(&text, size));
    if (text.size > 0)
      take(&text, 1);
    if (line.size == 0)
      continue;
    if (line.size < 2 || line.data[0] != '-' || line.data[1] != '-')
      break;
    take(&line, 2);
    if (!read_comment(load, trim(line)))
      return false;
  }
  return true;
}

/* ---- the SQL's variables against the parameters ---- */

static alo_parameter *find_parameter(const alo_endpoint *endpoint, aloft_text name) {
  for (size_t i = 0; i < endpoint->parameter_count; i++) {
    if (alo_sql_name_equal(endpoint->parameters[i].name, name))
      return &endpoint->parameters[i];
  }
  return NULL;
}

static bool note_declared(loading *load, const alo_sql_scan *scan) {
  load->line = scan->line;
  if (find_parameter(load->endpoint, scan->name) != NULL)
    return refuse(load, "@%.*s is declared here and as a parameter: rename one of them",
                  ALOFT_PRINT(scan->name));
  if (load->variable_count == ALO_ENDPOINT_VARIABLES_MAX)
    return refuse(load, "more than %d variables are declared", ALO_ENDPOINT_VARIABLES_MAX);
  load->variables[load->variable_count++] = scan->name;
  return true;
}

static bool note_used(loading *load, const alo_sql_scan *scan) {
  load->line = scan->line;
  alo_parameter *parameter = find_parameter(load->endpoint, scan->name);
  if (parameter != NULL) {
    parameter->used = true;
    return true;
  }
  for (size_t i = 0; i < load->variable_count; i++) {
    if (alo_sql_name_equal(load->variables[i], scan->name))
      return true;
  }
  return refuse(load, "@%.*s is not declared: add '-- param: %.*s TYPE' at the top",
                ALOFT_PRINT(scan->name), ALOFT_PRINT(scan->name));
}

static bool check_variables(loading *load) {
  alo_endpoint *endpoint = load->endpoint;
  alo_sql_scan scan;
  bool good = true;
  alo_sql_scan_init(&scan, (aloft_text){endpoint->text, endpoint->size});
  for (alo_sql_use use; good && (use = alo_sql_scan_next(&scan)) != ALO_SQL_END;) {
    load->line = scan.line;
    if (use == ALO_SQL_WRONG)
      return refuse(load, "%s", scan.wrong);
    good = use == ALO_SQL_DECLARED ? note_declared(load, &scan) : note_used(load, &scan);
  }
  load->line = 0;
  if (good && !alo_sql_scan_some(&scan))
    return refuse(load, "holds no SQL");
  for (size_t i = 0; good && i < endpoint->parameter_count; i++) {
    load->line = endpoint->parameters[i].line;
    if (!endpoint->parameters[i].used)
      return refuse(load, "the parameter %.*s is not used in the SQL: remove it, or use @%.*s",
                    ALOFT_PRINT(endpoint->parameters[i].name),
                    ALOFT_PRINT(endpoint->parameters[i].name));
  }
  return good;
}

/* ---- the whole ---- */

static aloft_text without_mark(aloft_text text) {
  if (text.size >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0)
    take(&text, 3);
  return text;
}

static bool check_encoding(loading *load, aloft_text text) {
  size_t valid = alo_utf8_text_size(text);
  for (size_t i = 0; i < valid; i++)
    load->line += text.data[i] == '\n';
  load->line++;
  if (valid < text.size)
    return refuse(load, "this is not UTF-8 text: save the file as UTF-8");
  load->line = 0;
  return true;
}

static bool keep_text(loading *load, aloft_text text) {
  alo_endpoint *endpoint = load->endpoint;
  endpoint->text = malloc(text.size + 1);
  endpoint->defaults = malloc(text.size + 1);
  endpoint->parameters = calloc(ALO_ENDPOINT_PARAMETERS_MAX, sizeof *endpoint->parameters);
  if (endpoint->text == NULL || endpoint->defaults == NULL || endpoint->parameters == NULL)
    return refuse(load, "out of memory");
  memcpy(endpoint->text, text.data, text.size);
  endpoint->text[text.size] = '\0';
  endpoint->size = text.size;
  return true;
}

static bool name_it(loading *load, aloft_text name) {
  alo_endpoint *endpoint = load->endpoint;
  load->line = 0;
  if (load->has_subject)
    return true;
  if (!is_subject(name))
    return refuse(load, "the file's name is not a subject: add '-- subject: NAME' at the top");
  /* The name in the path, which stays as long as the endpoint. */
  size_t size = strlen(endpoint->path), suffix = sizeof ".sql" - 1;
  if (size < name.size + suffix)
    return refuse(load, "the file's name does not end in .sql");
  endpoint->subject = (aloft_text){endpoint->path + size - suffix - name.size, name.size};
  return true;
}

bool alo_endpoint_parse(alo_endpoint *endpoint, const char *path, aloft_text name, aloft_text text,
                        char error[ALO_ENDPOINT_ERROR_MAX]) {
  loading load = {.endpoint = endpoint, .error = error};
  *endpoint = (alo_endpoint){.path = strdup(path), .timeout_ns = ALO_ENDPOINT_TIMEOUT};
  error[0] = '\0';
  if (endpoint->path == NULL) {
    snprintf(error, ALO_ENDPOINT_ERROR_MAX, "%s: out of memory", path);
    return false;
  }
  if (text.size > ALO_ENDPOINT_FILE_MAX)
    return refuse(&load, "more than %d bytes", ALO_ENDPOINT_FILE_MAX);
  text = without_mark(text);
  return check_encoding(&load, text) && keep_text(&load, text) &&
         read_header(&load, (aloft_text){endpoint->text, endpoint->size}) && name_it(&load, name) &&
         check_variables(&load);
}

/* The file's bytes, one more than allowed at most; -1 with errno. */
static ssize_t read_file(const char *path, char *buffer, size_t room) {
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  struct stat status;
  size_t size = 0;
  ssize_t got = -1;
  if (file < 0)
    return -1;
  if (fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
    errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
  else
    do {
      got = read(file, buffer + size, room - size);
      size += got > 0 ? (size_t)got : 0;
    } while ((got > 0 && size < room) || (got < 0 && errno == EINTR));
  int reason = errno;
  close(file);
  errno = reason;
  return got < 0 ? -1 : (ssize_t)size;
}

bool alo_endpoint_load(alo_endpoint *endpoint, const char *path, aloft_text name,
                       char error[ALO_ENDPOINT_ERROR_MAX]) {
  *endpoint = (alo_endpoint){0};
  size_t room = ALO_ENDPOINT_FILE_MAX + 1;
  char *buffer = malloc(room);
  ssize_t size = -1;
  if (buffer != NULL)
    size = read_file(path, buffer, room);
  bool good = false;
  if (size < 0)
    snprintf(error, ALO_ENDPOINT_ERROR_MAX, "%s: cannot be read: %s", path, strerror(errno));
  else
    good = alo_endpoint_parse(endpoint, path, name, (aloft_text){buffer, (size_t)size}, error);
  free(buffer);
  return good;
}

void alo_endpoint_free(alo_endpoint *endpoint) {
  free(endpoint->path);
  free(endpoint->text);
  free(endpoint->parameters);
  free(endpoint->defaults);
  *endpoint = (alo_endpoint){0};
}
