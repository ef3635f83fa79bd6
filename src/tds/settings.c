/* What a connect needs, from the connection string and the config over it. */
#include <string.h>

#include "connection.h"
#include "utf16.h"

enum {
  PORT_DEFAULT = 1433,
  NUMBER_MAX = 1 << 20,
  FIELD_MAX = 128 /* UTF-16 units of a text in LOGIN7 */
};

static bool same_word(aloft_text a, const char *b) {
  for (size_t at = 0; at < a.size; at++) {
    char c = a.data[at];
    if ((c >= 'A' && c <= 'Z' ? (char)(c + 32) : c) != b[at])
      return false;
  }
  return b[a.size] == 0;
}

static aloft_text trimmed(const char *begin, const char *end) {
  while (begin < end && *begin == ' ')
    begin++;
  while (begin < end && end[-1] == ' ')
    end--;
  return (aloft_text){begin, (size_t)(end - begin)};
}

static bool number(aloft_text text, uint32_t *value) {
  *value = 0;
  for (size_t at = 0; at < text.size; at++) {
    if (text.data[at] < '0' || text.data[at] > '9' || *value > NUMBER_MAX)
      return false;
    *value = *value * 10 + (uint32_t)(text.data[at] - '0');
  }
  return text.size > 0;
}

static bool server(alo_tds_settings *settings, aloft_text text) {
  uint32_t port = PORT_DEFAULT;
  if (text.size >= 4 && same_word((aloft_text){text.data, 4}, "tcp:"))
    text.data += 4, text.size -= 4;
  const char *comma = memchr(text.data, ',', text.size);
  const char *end = text.data + text.size;
  settings->host = trimmed(text.data, comma ? comma : end);
  if (comma && (!number(trimmed(comma + 1, end), &port) || port == 0 || port > UINT16_MAX))
    return false;
  settings->port = (uint16_t)port;
  return settings->host.size > 0;
}

static bool seconds(alo_tds_settings *settings, aloft_text text) {
  uint32_t count;
  bool good = number(text, &count);
  settings->connect_timeout_ns = good ? ALOFT_SECONDS(count) : 0;
  return good;
}

static bool encrypt(alo_tds_settings *settings, aloft_text text) {
  settings->encrypt =
      !same_word(text, "optional") && !same_word(text, "false") && !same_word(text, "no");
  return true;
}

static bool set(alo_tds_settings *settings, aloft_text key, aloft_text value, bool *known) {
  *known = true;
  if (same_word(key, "server") || same_word(key, "data source"))
    return server(settings, value);
  if (same_word(key, "encrypt"))
    return encrypt(settings, value);
  if (same_word(key, "connect timeout"))
    return seconds(settings, value);
  if (same_word(key, "packet size"))
    return number(value, &settings->packet_size) && settings->packet_size >= ALO_TDS_PACKET_MIN &&
           settings->packet_size <= ALO_TDS_PACKET_MAX;
  if (same_word(key, "database") || same_word(key, "initial catalog"))
    return settings->database = value, true;
  if (same_word(key, "user id"))
    return settings->user = value, true;
  if (same_word(key, "password"))
    return settings->password = value, true;
  if (same_word(key, "application name"))
    return settings->application = value, true;
  if (same_word(key, "workstation id"))
    return settings->workstation = value, true;
  return *known = same_word(key, "trustservercertificate");
}

static aloft_status read_pair(alo_tds_detail *detail, alo_tds_settings *settings, const char *begin,
                              const char *end) {
  bool known = false;
  const char *sign = memchr(begin, '=', (size_t)(end - begin));
  aloft_text key = trimmed(begin, sign ? sign : end);
  if (!key.size && !sign)
    return ALOFT_OK;
  if (sign && set(settings, key, trimmed(sign + 1, end), &known))
    return ALOFT_OK;
  if (key.size > 64)
    key.size = 64;
  alo_tds_detail_format(detail, ALOFT_ARGUMENT,
                        known ? "connection string: the value of \"%.*s\" is not valid"
                              : "connection string: unknown keyword \"%.*s\"",
                        ALOFT_PRINT(key));
  return ALOFT_ARGUMENT;
}

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

static aloft_status check_settings(alo_tds_detail *detail, const alo_tds_settings *settings) {
  const struct {
    const char *name;
    aloft_text text;
  } fields[] = {{"server", settings->host},
                {"database", settings->database},
                {"user", settings->user},
                {"password", settings->password},
                {"application name", settings->application},
                {"workstation id", settings->workstation}};
  if (settings->encrypt)
    return refuse(detail, ALOFT_ENCRYPTION,
                  "this build of Aloft cannot encrypt, and encryption is asked for (it is the "
                  "default): Encrypt=Optional connects in the clear, for trusted networks only");
  if (!settings->host.size)
    return refuse(detail, ALOFT_ARGUMENT, "the connection string names no Server");
  aloft_status status = ALOFT_OK;
  for (size_t at = 0; at < sizeof fields / sizeof *fields && status == ALOFT_OK; at++)
    status = check_field(detail, fields[at].name, fields[at].text);
  return status;
}

aloft_status alo_tds_settings_read(const aloft_tds_config *config, alo_tds_settings *settings,
                                   alo_tds_detail *detail) {
  *settings =
      (alo_tds_settings){.port = PORT_DEFAULT, .encrypt = true, .application = ALOFT_TEXT("Aloft")};
  const char *at = config->connection_string.data;
  const char *end = at ? at + config->connection_string.size : NULL;
  while (at < end) {
    const char *semicolon = memchr(at, ';', (size_t)(end - at));
    const char *stop = semicolon ? semicolon : end;
    aloft_status status = read_pair(detail, settings, at, stop);
    if (status != ALOFT_OK)
      return status;
    at = semicolon ? semicolon + 1 : end;
  }
  if (config->user.data)
    settings->user = config->user;
  if (config->password.data)
    settings->password = config->password;
  if (config->connect_timeout_ns)
    settings->connect_timeout_ns = config->connect_timeout_ns;
  return check_settings(detail, settings);
}
