#include "connection_string.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ascii_words.h"
#include "server_name.h"
#include "utf16.h"

enum {
  KEYWORD_MAX = 40, /* longer than any; what is longer is not shown either */
  TIMEOUT_DEFAULT = 15,
  PACKET_DEFAULT = 8000,
  PACKET_MIN = 512,
  PACKET_MAX = 32767
};

/* One keyword and its value where it was last given. */
struct pair {
  aloft_text keyword; /* as written */
  aloft_text value;
  size_t keyword_at, value_at; /* in the text */
};

struct parser {
  aloft_text text;
  size_t at;
  char *memory; /* where the next value goes */
  char *error;
  size_t error_room;
  bool after_password; /* the pair before was one */
  alo_connection_string *settings;
};

typedef aloft_status (*read_function)(struct parser *parser, const struct pair *pair);

/* A keyword with its synonyms. Either Aloft acts on it through `read`, or it takes only the values
 * in `accepted`, which ask for nothing else than it does; `advice` says what to do instead. */
struct setting {
  const char *names; /* in lower case, | between them */
  read_function read;
  const char *accepted; /* in lower case, | between them; NULL: none */
  const char *advice;
};

/* ---- errors ---- */

static unsigned character_at(aloft_text text, size_t offset) {
  unsigned character = 1;
  for (size_t i = 0; i < offset && i < text.size; i++) {
    character += ((unsigned char)text.data[i] & 0xC0) != 0x80 ? 1 : 0;
  }
  return character;
}

static aloft_status refuse(struct parser *parser, size_t offset, const char *format, ...) {
  if (parser->error_room == 0) {
    return ALOFT_ARGUMENT;
  }
  int size = snprintf(parser->error, parser->error_room,
                      "connection string, character %u: ", character_at(parser->text, offset));
  if (size > 0 && (size_t)size < parser->error_room) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(parser->error + size, parser->error_room - (size_t)size, format, arguments);
    va_end(arguments);
  }
  return ALOFT_ARGUMENT;
}

static aloft_status refuse_value(struct parser *parser, const struct pair *pair,
                                 const char *wanted) {
  return refuse(parser, pair->value_at, "the value of %.*s is not %s", ALOFT_PRINT(pair->keyword),
                wanted);
}

/* ---- values ---- */

static aloft_status read_bool(struct parser *parser, const struct pair *pair, bool *value) {
  *value = alo_one_of(pair->value, "true|yes");
  return *value || alo_one_of(pair->value, "false|no")
             ? ALOFT_OK
             : refuse_value(parser, pair, "True, False, Yes or No");
}

static aloft_status read_encrypt(struct parser *parser, const struct pair *pair) {
  alo_encrypt *encrypt = &parser->settings->encrypt;
  if (alo_one_of(pair->value, "mandatory|true|yes")) {
    *encrypt = ALO_ENCRYPT_MANDATORY;
  } else if (alo_one_of(pair->value, "optional|false|no")) {
    *encrypt = ALO_ENCRYPT_OPTIONAL;
  } else if (alo_one_of(pair->value, "strict")) {
    *encrypt = ALO_ENCRYPT_STRICT;
  } else {
    return refuse_value(parser, pair, "Mandatory, Optional, Strict, True, False, Yes or No");
  }
  return ALOFT_OK;
}

static aloft_status read_trust(struct parser *parser, const struct pair *pair) {
  return read_bool(parser, pair, &parser->settings->trust_server_certificate);
}

/* A file or a name: one with a NUL in it cannot be either. */
static aloft_status keep_name(struct parser *parser, const struct pair *pair, aloft_text *text) {
  if (memchr(pair->value.data, 0, pair->value.size))
    return refuse_value(parser, pair, "a text without a NUL");
  *text = pair->value;
  return ALOFT_OK;
}

static aloft_status read_certificate_host(struct parser *parser, const struct pair *pair) {
  return keep_name(parser, pair, &parser->settings->host_name_in_certificate);
}

static aloft_status read_server_certificate(struct parser *parser, const struct pair *pair) {
  return keep_name(parser, pair, &parser->settings->server_certificate);
}

static aloft_status read_ca_file(struct parser *parser, const struct pair *pair) {
  return keep_name(parser, pair, &parser->settings->ca_file);
}

static aloft_status read_timeout(struct parser *parser, const struct pair *pair) {
  uint32_t seconds;
  if (!alo_number_of(pair->value, &seconds)) {
    return refuse_value(parser, pair, "a number of seconds from 0 (no limit) to 999999999");
  }
  parser->settings->connect_timeout_ns = ALOFT_SECONDS(seconds);
  return ALOFT_OK;
}

static aloft_status read_packet_size(struct parser *parser, const struct pair *pair) {
  uint32_t size;
  if (!alo_number_of(pair->value, &size) || size < PACKET_MIN || size > PACKET_MAX) {
    return refuse_value(parser, pair, "a number from 512 to 32767");
  }
  parser->settings->packet_size = size;
  return ALOFT_OK;
}

static aloft_status keep(aloft_text *text, const struct pair *pair) {
  *text = pair->value;
  return ALOFT_OK;
}

static aloft_status read_database(struct parser *parser, const struct pair *pair) {
  return keep(&parser->settings->database, pair);
}

static aloft_status read_user(struct parser *parser, const struct pair *pair) {
  return keep(&parser->settings->user, pair);
}

static aloft_status read_password(struct parser *parser, const struct pair *pair) {
  return keep(&parser->settings->password, pair);
}

static aloft_status read_application(struct parser *parser, const struct pair *pair) {
  return keep(&parser->settings->application, pair);
}

static aloft_status read_workstation(struct parser *parser, const struct pair *pair) {
  return keep(&parser->settings->workstation, pair);
}

static aloft_status read_language(struct parser *parser, const struct pair *pair) {
  return keep(&parser->settings->language, pair);
}

/* ---- Server ---- */

static aloft_status read_server(struct parser *parser, const struct pair *pair) {
  alo_connection_string *settings = parser->settings;
  const char *problem = alo_server_name_parse(pair->value, &settings->host, &settings->port);
  return problem ? refuse(parser, pair->value_at, "%.*s: %s", ALOFT_PRINT(pair->keyword), problem)
                 : ALOFT_OK;
}

/* ---- keywords ---- */

#define NO                 "false|no"
#define YES                "true|yes"
#define POOL_ADVICE        "the program sets the limits of its pool itself"
#define WINDOWS            "only SQL Server logins (User ID and Password) are supported so far"
#define CLIENT_CERTIFICATE "SQL Server logins are by User ID and Password"
#define ODBC_ADVICE        "it belongs to ODBC strings; Aloft reads SqlClient's"

static const struct setting settings_table[] = {
    {"server|data source|addr|address|network address", read_server, NULL, NULL},
    {"database|initial catalog", read_database, NULL, NULL},
    {"user id|uid|user", read_user, NULL, NULL},
    {"password|pwd", read_password, NULL, NULL},
    {"encrypt", read_encrypt, NULL, NULL},
    {"trustservercertificate|trust server certificate", read_trust, NULL, NULL},
    {"host name in certificate|hostnameincertificate", read_certificate_host, NULL, NULL},
    {"server certificate|servercertificate", read_server_certificate, NULL, NULL},
    {"ca file|cafile", read_ca_file, NULL, NULL}, /* Aloft's own, as FreeTDS spells it */
    {"connect timeout|connection timeout|connecttimeout|timeout", read_timeout, NULL, NULL},
    {"packet size|packetsize", read_packet_size, NULL, NULL},
    {"application name|app", read_application, NULL, NULL},
    {"workstation id|workstationid|wsid", read_workstation, NULL, NULL},
    {"current language|language", read_language, NULL, NULL},

    {"integrated security|trusted_connection", NULL, NO, WINDOWS},
    {"authentication", NULL, "sqlpassword|sql password", WINDOWS},
    {"persist security info|persistsecurityinfo", NULL, NO, "Aloft never shows a password"},
    {"multipleactiveresultsets|multiple active result sets", NULL, NO,
     "one query at a time is on a connection: the others wait, or use another connection"},
    {"pooling", NULL, NO, "a connection is pooled only where the program makes a pool"},
    {"max pool size", NULL, "100", POOL_ADVICE},
    {"min pool size", NULL, "0", POOL_ADVICE},
    {"load balance timeout|connection lifetime", NULL, "0", POOL_ADVICE},
    {"pool blocking period|poolblockingperiod", NULL, "neverblock", POOL_ADVICE},
    {"connection reset", NULL, YES, "a connection is always reset when it is used again"},
    {"enlist", NULL, NO, "there are no distributed transactions"},
    {"transaction binding", NULL, "implicit unbind", "there are no distributed transactions"},
    {"command timeout", NULL, "0", "each query has a timeout of its own"},
    {"connect retry count|connectretrycount", NULL, "0", "a lost connection is not retried"},
    {"connect retry interval|connectretryinterval", NULL, "10", "a lost connection is not retried"},
    {"application intent|applicationintent", NULL, "readwrite", "read-only routing is not there"},
    {"multi subnet failover|multisubnetfailover", NULL, NO, "addresses are tried in turn"},
    {"failover partner|failoverpartner|failover partner spn|failoverpartnerspn", NULL, NULL,
     "database mirroring is not there"},
    {"server spn|serverspn", NULL, NULL, WINDOWS},
    {"ip address preference|ipaddresspreference", NULL, "useplatformdefault",
     "addresses are tried in the order of the system's resolver"},
    {"transparent network ip resolution|transparentnetworkipresolution", NULL, "false|no|disabled",
     "addresses are tried in turn"},
    {"network library|network|net", NULL, "dbmssocn", "only TCP is supported"},
    {"client certificate|clientcertificate", NULL, NULL, CLIENT_CERTIFICATE},
    {"client key|clientkey", NULL, NULL, CLIENT_CERTIFICATE},
    {"client key password|clientkeypassword", NULL, NULL, CLIENT_CERTIFICATE},
    {"column encryption setting|column encryption|columnencryption", NULL, "disabled",
     "Always Encrypted is not there"},
    {"enclave attestation url", NULL, NULL, "Always Encrypted is not there"},
    {"attestation protocol", NULL, "none", "Always Encrypted is not there"},
    {"attachdbfilename|extended properties|initial file name", NULL, NULL,
     "attach the file on the server"},
    {"user instance", NULL, NO, "it starts servers on Windows only"},
    {"context connection", NULL, NO, "it is for code inside SQL Server"},
    {"replication", NULL, NO, "it is for SQL Server's own agents"},
    {"asynchronous processing|async", NULL, YES, "Aloft is always asynchronous"},
    {"type system version", NULL, "latest", "values always have the server's types"},

    {"driver|dsn|filedsn|savefile|mars_connection|quotedid|ansinpw", NULL, NULL, ODBC_ADVICE},
};

enum { SETTINGS = sizeof settings_table / sizeof *settings_table };

static size_t setting_of(aloft_text keyword) {
  for (size_t i = 0; i < SETTINGS; i++) {
    if (alo_one_of(keyword, settings_table[i].names)) {
      return i;
    }
  }
  return SETTINGS;
}

/* Whether it may be shown. After a password that should have been quoted, a piece of it stands
 * where a keyword should; most of those do not look like one. */
static bool looks_like_keyword(aloft_text keyword) {
  for (size_t i = 0; i < keyword.size; i++) {
    char c = alo_lower(keyword.data[i]);
    bool letter = c >= 'a' && c <= 'z';
    if (!letter && (i == 0 || (c != ' ' && c != '_' && (c < '0' || c > '9')))) {
      return false;
    }
  }
  return keyword.size <= KEYWORD_MAX;
}

static aloft_status refuse_keyword(struct parser *parser, const struct pair *pair) {
  const char *advice =
      parser->after_password ? "; a password with ; in it has to be in quotes" : "";
  if (!looks_like_keyword(pair->keyword)) {
    return refuse(parser, pair->keyword_at, "this is not a keyword of SqlClient%s", advice);
  }
  return refuse(parser, pair->keyword_at, "%.*s is not a keyword of SqlClient%s",
                ALOFT_PRINT(pair->keyword), advice);
}

/* ---- syntax ---- */

static bool at_end(const struct parser *parser) {
  return parser->at == parser->text.size;
}

static char here(const struct parser *parser) {
  return parser->text.data[parser->at];
}

static void skip_blanks(struct parser *parser, bool semicolons) {
  while (!at_end(parser) && (alo_is_blank(here(parser)) || (semicolons && here(parser) == ';'))) {
    parser->at++;
  }
}

/* Up to the `=` that is not doubled. No keyword has one in it, so that a doubled one is left as it
 * is: it makes an unknown keyword either way. */
static aloft_status take_keyword(struct parser *parser, struct pair *pair) {
  size_t begin = parser->at;
  for (; !at_end(parser); parser->at++) {
    if (alo_is_control(here(parser))) {
      return refuse(parser, parser->at, "a control character");
    }
    if (here(parser) != '=') {
      continue;
    }
    if (parser->at + 1 < parser->text.size && parser->text.data[parser->at + 1] == '=') {
      parser->at++;
      continue;
    }
    pair->keyword_at = begin;
    pair->keyword = alo_trim((aloft_text){parser->text.data + begin, parser->at - begin});
    parser->at++;
    return pair->keyword.size > 0 ? ALOFT_OK
                                  : refuse(parser, begin, "there is no keyword before =");
  }
  return refuse(parser, begin, "there is no = after the keyword%s",
                parser->after_password ? "; a password with ; in it has to be in quotes" : "");
}

/* The text between quotes, with doubled ones made single, and what may follow it. */
static aloft_status take_quoted(struct parser *parser, struct pair *pair) {
  char quote = here(parser);
  char *out = parser->memory;
  pair->value.data = out;
  for (parser->at++; !at_end(parser); parser->at++) {
    if (here(parser) == '\0') {
      return refuse(parser, parser->at, "a control character");
    }
    if (here(parser) == quote) {
      parser->at++;
      if (at_end(parser) || here(parser) != quote) {
        pair->value.size = (size_t)(out - pair->value.data);
        parser->memory = out;
        skip_blanks(parser, false);
        return at_end(parser) || here(parser) == ';'
                   ? ALOFT_OK
                   : refuse(parser, parser->at,
                            "after a quoted value there has to be ; or the end");
      }
    }
    *out++ = here(parser);
  }
  return refuse(parser, pair->value_at, "the quote that opens here does not close");
}

static aloft_status take_unquoted(struct parser *parser, struct pair *pair) {
  size_t begin = parser->at;
  while (!at_end(parser) && here(parser) != ';') {
    if (alo_is_control(here(parser))) {
      return refuse(parser, parser->at, "a control character");
    }
    parser->at++;
  }
  aloft_text value = alo_trim((aloft_text){parser->text.data + begin, parser->at - begin});
  if (value.size > 0 && strchr("'\"", value.data[value.size - 1])) {
    return refuse(parser, pair->value_at,
                  "a value that ends with a quote has to be in quotes, with its own ones doubled");
  }
  if (value.size > 0) {
    memcpy(parser->memory, value.data, value.size);
  }
  pair->value = (aloft_text){parser->memory, value.size};
  parser->memory += value.size;
  return ALOFT_OK;
}

static aloft_status take_pair(struct parser *parser, struct pair *pair) {
  aloft_status status = take_keyword(parser, pair);
  if (status != ALOFT_OK) {
    return status;
  }
  skip_blanks(parser, false);
  pair->value_at = parser->at;
  bool quoted = !at_end(parser) && (here(parser) == '\'' || here(parser) == '"');
  return quoted ? take_quoted(parser, pair) : take_unquoted(parser, pair);
}

/* ---- the whole ---- */

static aloft_status take_pairs(struct parser *parser, struct pair pairs[SETTINGS]) {
  for (;;) {
    skip_blanks(parser, true);
    if (at_end(parser)) {
      return ALOFT_OK;
    }
    struct pair pair = {.value_at = 0};
    aloft_status status = take_pair(parser, &pair);
    if (status != ALOFT_OK) {
      return status;
    }
    size_t setting = setting_of(pair.keyword);
    if (setting == SETTINGS) {
      return refuse_keyword(parser, &pair);
    }
    pairs[setting] = pair;
    parser->after_password = settings_table[setting].read == read_password;
  }
}

static aloft_status apply(struct parser *parser, const struct setting *setting,
                          const struct pair *pair) {
  if (pair->value.size == 0) {
    return ALOFT_OK;
  }
  if (setting->read) {
    return setting->read(parser, pair);
  }
  if (setting->accepted && alo_one_of(pair->value, setting->accepted)) {
    return ALOFT_OK;
  }
  return refuse(parser, pair->keyword_at, "%.*s is not supported%s: %s; leave it out",
                ALOFT_PRINT(pair->keyword), setting->accepted ? " with this value" : "",
                setting->advice);
}

static aloft_status parse(struct parser *parser) {
  struct pair pairs[SETTINGS] = {{.value_at = 0}};
  size_t valid = alo_utf8_valid(parser->text.data, parser->text.size);
  if (valid != parser->text.size) {
    return refuse(parser, valid, "this is not UTF-8");
  }
  aloft_status status = take_pairs(parser, pairs);
  for (size_t i = 0; i < SETTINGS && status == ALOFT_OK; i++) {
    status = apply(parser, &settings_table[i], &pairs[i]);
  }
  return status;
}

/* Through a volatile pointer, so that it is not left out as without effect. */
static void wipe(char *memory, size_t size) {
  volatile char *bytes = memory;
  for (size_t i = 0; i < size; i++) {
    bytes[i] = 0;
  }
}

aloft_status alo_connection_string_parse(aloft_text text, char *memory,
                                         alo_connection_string *settings, char *error,
                                         size_t error_room) {
  struct parser parser = {.text = text,
                          .memory = memory,
                          .error = error,
                          .error_room = error_room,
                          .settings = settings};
  *settings = (alo_connection_string){.port = ALO_SERVER_PORT,
                                      .connect_timeout_ns = ALOFT_SECONDS(TIMEOUT_DEFAULT),
                                      .packet_size = PACKET_DEFAULT};
  if (error_room > 0) {
    error[0] = '\0';
  }
  aloft_status status = parse(&parser);
  if (status != ALOFT_OK) {
    wipe(memory, text.size);
    *settings = (alo_connection_string){.port = 0};
  }
  return status;
}
