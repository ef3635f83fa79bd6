/* What a connect needs: the connection string, and the config over it. */
#include <string.h>

#include "tds_connection.h"
#include "utf16.h"

enum { FIELD_MAX = 128 /* UTF-16 units of a text in LOGIN7 */ };

static aloft_status refuse(alo_tds_detail *detail, aloft_status status, const char *text) {
  alo_tds_detail_format(detail, status, "%s", text);
  return status;
}

static aloft_status check_field(alo_tds_detail *detail, const char *name, aloft_text text) {
  size_t units = text.data ? alo_utf8_utf16_count(text.data, text.size) : 0;
  if (units <= FIELD_MAX)
    return ALOFT_OK;
  alo_tds_detail_format(detail, ALOFT_ARGUMENT,
                        units == SIZE_MAX ? "the %s is not well-formed UTF-8"
                                          : "the %s is longer than 128 characters",
                        name);
  return ALOFT_ARGUMENT;
}

static aloft_status check_settings(alo_tds_detail *detail, const alo_connection_string *settings) {
  const struct {
    const char *name;
    aloft_text text;
  } fields[] = {{"server", settings->host},
                {"database", settings->database},
                {"user", settings->user},
                {"password", settings->password},
                {"application name", settings->application},
                {"workstation id", settings->workstation},
                {"language", settings->language}};
  if (!settings->host.size)
    return refuse(detail, ALOFT_ARGUMENT, "the connection string names no Server");
  aloft_status status = ALOFT_OK;
  for (size_t at = 0; at < sizeof fields / sizeof *fields && status == ALOFT_OK; at++)
    status = check_field(detail, fields[at].name, fields[at].text);
  return status;
}

/* The config's own text in place of the string's; the next free place in memory. */
static char *replace(aloft_text *text, aloft_text own, char *memory) {
  if (!own.data)
    return memory;
  if (own.size)
    memcpy(memory, own.data, own.size);
  *text = (aloft_text){memory, own.size};
  return memory + own.size;
}

size_t alo_tds_settings_room(const aloft_tds_config *config) {
  return config->connection_string.size + config->user.size + config->password.size +
         config->host_name_in_certificate.size + config->server_certificate.size +
         config->ca_file.size + 1;
}

/* The files' names come from two places: here they are all known. */
static aloft_status check_names(alo_tds_detail *detail, const alo_connection_string *settings) {
  const aloft_text names[] = {settings->host_name_in_certificate, settings->server_certificate,
                              settings->ca_file};
  for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
    if (names[at].size && memchr(names[at].data, 0, names[at].size))
      return refuse(detail, ALOFT_ARGUMENT, "the name of a certificate or its file holds a NUL");
  }
  return ALOFT_OK;
}

aloft_status alo_tds_settings_read(const aloft_tds_config *config, char *memory,
                                   alo_connection_string *settings, alo_tds_detail *detail) {
  char error[ALO_CONNECTION_ERROR_ROOM];
  aloft_text string = config->connection_string;
  if (!string.data)
    string = ALOFT_TEXT("");
  aloft_status status = alo_connection_string_parse(string, memory, settings, error, sizeof error);
  if (status != ALOFT_OK)
    return refuse(detail, status, error);
  memory = replace(&settings->user, config->user, memory + string.size);
  memory = replace(&settings->password, config->password, memory);
  memory = replace(&settings->host_name_in_certificate, config->host_name_in_certificate, memory);
  memory = replace(&settings->server_certificate, config->server_certificate, memory);
  replace(&settings->ca_file, config->ca_file, memory);
  if (!settings->application.data)
    settings->application = ALOFT_TEXT("Aloft");
  if (config->connect_timeout_ns)
    settings->connect_timeout_ns = config->connect_timeout_ns;
  status = check_names(detail, settings);
  return status == ALOFT_OK ? check_settings(detail, settings) : status;
}
