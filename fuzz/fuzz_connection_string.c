/* Any bytes as a connection string: read, written anew with every value in quotes, and read again,
 * with the same meaning. */
#include <stdio.h>
#include <string.h>

#include "connection_string.h"
#include "fuzz_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct output {
  char *text;
  size_t size;
} output;

static void put(output *out, const char *text) {
  size_t size = strlen(text);
  memcpy(out->text + out->size, text, size);
  out->size += size;
}

static void put_text(output *out, const char *keyword, aloft_text value) {
  if (value.size == 0) {
    return;
  }
  put(out, keyword);
  put(out, "='");
  for (size_t i = 0; i < value.size; i++) {
    out->text[out->size++] = value.data[i];
    if (value.data[i] == '\'') {
      out->text[out->size++] = '\'';
    }
  }
  put(out, "';");
}

static void put_settings(output *out, const alo_connection_string *settings) {
  static const char *const encrypt[] = {"Mandatory", "Optional", "Strict"};
  char numbers[256];
  snprintf(numbers, sizeof numbers, "Connect Timeout=%u;Packet Size=%u;Encrypt=%s;%s;",
           (unsigned)(settings->connect_timeout_ns / ALOFT_SECONDS(1)),
           (unsigned)settings->packet_size, encrypt[settings->encrypt],
           settings->trust_server_certificate ? "TrustServerCertificate=yes" : "");
  put(out, numbers);
  put_text(out, "Database", settings->database);
  put_text(out, "User ID", settings->user);
  put_text(out, "Password", settings->password);
  put_text(out, "Application Name", settings->application);
  put_text(out, "Workstation ID", settings->workstation);
  put_text(out, "Language", settings->language);
  put_text(out, "HostNameInCertificate", settings->host_name_in_certificate);
  put_text(out, "ServerCertificate", settings->server_certificate);
  put_text(out, "CA File", settings->ca_file);
  if (settings->host.size > 0) {
    char server[300];
    snprintf(server, sizeof server, "Server=tcp:%.*s,%u", ALOFT_PRINT(settings->host),
             (unsigned)settings->port);
    put(out, server);
  }
}

/* An absent text and an empty one ask for the same. */
static bool same(aloft_text a, aloft_text b) {
  return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

static void check_same(const alo_connection_string *first, const alo_connection_string *again) {
  CHECK(same(first->host, again->host));
  CHECK(first->host.size == 0 || first->port == again->port);
  CHECK(same(first->database, again->database));
  CHECK(same(first->user, again->user));
  CHECK(same(first->password, again->password));
  CHECK(same(first->application, again->application));
  CHECK(same(first->workstation, again->workstation));
  CHECK(same(first->language, again->language));
  CHECK(same(first->host_name_in_certificate, again->host_name_in_certificate));
  CHECK(same(first->server_certificate, again->server_certificate));
  CHECK(same(first->ca_file, again->ca_file));
  CHECK(first->encrypt == again->encrypt);
  CHECK(first->trust_server_certificate == again->trust_server_certificate);
  CHECK(first->connect_timeout_ns == again->connect_timeout_ns);
  CHECK(first->packet_size == again->packet_size);
}

static void check_again(const alo_connection_string *first, size_t size) {
  alo_connection_string again;
  char error[ALO_CONNECTION_ERROR_ROOM];
  output out = {.text = malloc(2 * size + 1024)};
  CHECK(out.text);
  put_settings(&out, first);
  char *memory = malloc(out.size);
  CHECK(memory);
  CHECK(alo_connection_string_parse((aloft_text){out.text, out.size}, memory, &again, error,
                                    sizeof error) == ALOFT_OK);
  check_same(first, &again);
  free(memory);
  free(out.text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  alo_connection_string settings;
  char error[ALO_CONNECTION_ERROR_ROOM];
  char *memory = malloc(size > 0 ? size : 1);
  CHECK(memory);
  aloft_status status = alo_connection_string_parse((aloft_text){(const char *)data, size}, memory,
                                                    &settings, error, sizeof error);
  CHECK(memchr(error, 0, sizeof error));
  CHECK((status == ALOFT_OK) == (error[0] == '\0'));
  if (status == ALOFT_OK) {
    check_again(&settings, size);
  }
  free(memory);
  return 0;
}
