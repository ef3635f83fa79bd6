/* SqlClient's connection strings: what is understood, what is refused and how, and that no error
 * shows a password. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "connection_string.h"
#include "guard.h"

struct parsed {
  aloft_status status;
  alo_connection_string settings;
  guard_buffer memory;
  char error[ALO_CONNECTION_ERROR_ROOM];
};

/* Text and memory end at guard pages. */
static struct parsed parse_text(aloft_text text) {
  struct parsed parsed;
  guard_buffer copy = guard_copy(text.data, text.size);
  parsed.memory = guard_take(text.size);
  parsed.status =
      alo_connection_string_parse((aloft_text){copy.data, copy.size}, parsed.memory.data,
                                  &parsed.settings, parsed.error, sizeof parsed.error);
  assert_non_null(memchr(parsed.error, 0, sizeof parsed.error));
  assert_int_equal(parsed.status == ALOFT_OK, parsed.error[0] == '\0');
  guard_give(&copy);
  return parsed;
}

static struct parsed parse(const char *text) {
  return parse_text(aloft_text_of(text));
}

static void check_text(aloft_text text, const char *expected) {
  if (!expected) {
    assert_null(text.data);
    return;
  }
  assert_int_equal(text.size, strlen(expected));
  assert_memory_equal(text.data, expected, text.size);
}

/* ---- understood ---- */

static void test_everything_at_once(void **state) {
  (void)state;
  struct parsed parsed =
      parse("Server=tcp:db.example.org,1500;Database=shop;User ID=app;Password=p;Encrypt=Optional;"
            "TrustServerCertificate=True;Connect Timeout=3;Packet Size=512;"
            "Application Name=orders;Workstation ID=w;Current Language=Deutsch");
  assert_int_equal(parsed.status, ALOFT_OK);
  check_text(parsed.settings.host, "db.example.org");
  assert_int_equal(parsed.settings.port, 1500);
  check_text(parsed.settings.database, "shop");
  check_text(parsed.settings.user, "app");
  check_text(parsed.settings.password, "p");
  assert_int_equal(parsed.settings.encrypt, ALO_ENCRYPT_OPTIONAL);
  assert_true(parsed.settings.trust_server_certificate);
  assert_true(parsed.settings.connect_timeout_ns == ALOFT_SECONDS(3));
  assert_int_equal(parsed.settings.packet_size, 512);
  check_text(parsed.settings.application, "orders");
  check_text(parsed.settings.workstation, "w");
  check_text(parsed.settings.language, "Deutsch");
  guard_give(&parsed.memory);
}

static void check_defaults(const char *text) {
  struct parsed parsed = parse(text);
  assert_int_equal(parsed.status, ALOFT_OK);
  check_text(parsed.settings.host, NULL);
  assert_int_equal(parsed.settings.port, 1433);
  check_text(parsed.settings.user, NULL);
  check_text(parsed.settings.password, NULL);
  assert_int_equal(parsed.settings.encrypt, ALO_ENCRYPT_MANDATORY);
  assert_false(parsed.settings.trust_server_certificate);
  assert_true(parsed.settings.connect_timeout_ns == ALOFT_SECONDS(15));
  assert_int_equal(parsed.settings.packet_size, 8000);
  guard_give(&parsed.memory);
}

static void test_defaults(void **state) {
  (void)state;
  check_defaults("");
  check_defaults(" ;; \t; ");
  check_defaults("Server=;User ID=;Password=;Encrypt=;TrustServerCertificate=;Connect Timeout=;"
                 "Packet Size=;MARS_Connection=;Pooling=");
  check_defaults("Server=a,9;User ID=u;Password=p;Encrypt=no;TrustServerCertificate=yes;Timeout=1;"
                 "Packet Size=600;Server=;User ID=;Password='';Encrypt=;TrustServerCertificate=;"
                 "Timeout=;Packet Size=\"\"");
}

/* The synonyms of each, and how values may be written: all give the same. */
static void test_synonyms(void **state) {
  (void)state;
  static const struct {
    const char *keyword;
    size_t member;
  } synonyms[] = {
#define MEMBER(keyword, member) {keyword, offsetof(alo_connection_string, member)}
      MEMBER("Server", host),
      MEMBER("data source", host),
      MEMBER("ADDR", host),
      MEMBER("Address", host),
      MEMBER("Network Address", host),
      MEMBER("Database", database),
      MEMBER("Initial Catalog", database),
      MEMBER("User ID", user),
      MEMBER("User Id", user),
      MEMBER("UID", user),
      MEMBER("User", user),
      MEMBER("Password", password),
      MEMBER("pwd", password),
      MEMBER("Application Name", application),
      MEMBER("App", application),
      MEMBER("Workstation ID", workstation),
      MEMBER("WSID", workstation),
      MEMBER("Current Language", language),
      MEMBER("Language", language),
  };
  static const char *const spellings[] = {"%s=value", " %s = value ;", ";;\t%s='value';",
                                          "%s=\"value\" ;", "%s=other;%s=value"};
  for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++) {
    for (size_t k = 0; k < sizeof spellings / sizeof *spellings; k++) {
      char text[128];
      snprintf(text, sizeof text, spellings[k], synonyms[i].keyword, synonyms[i].keyword);
      struct parsed parsed = parse(text);
      assert_int_equal(parsed.status, ALOFT_OK);
      check_text(*(aloft_text *)(void *)((char *)&parsed.settings + synonyms[i].member), "value");
      guard_give(&parsed.memory);
    }
  }
}

static void test_values_with_quotes(void **state) {
  (void)state;
  static const struct {
    const char *text, *password;
  } cases[] = {
      {"Password='a;b'", "a;b"},
      {"Password=\"a;b=c\"", "a;b=c"},
      {"Password='it''s'", "it's"},
      {"Password=\"say \"\"so\"\"\"", "say \"so\""},
      {"Password='\"'", "\""},
      {"Password=\"'\"", "'"},
      {"Password=' blanks '  ;", " blanks "},
      {"Password=''''", "'"},
      {"Password=a'b", "a'b"},
      {"Password=a=b==c", "a=b==c"},
      {"Password= a b ", "a b"},
      {"Password={a}", "{a}"},
      {"Password='line\nline'", "line\nline"},
      {"Password=p\xC3\xA4ss", "p\xC3\xA4ss"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct parsed parsed = parse(cases[i].text);
    assert_int_equal(parsed.status, ALOFT_OK);
    check_text(parsed.settings.password, cases[i].password);
    guard_give(&parsed.memory);
  }
}

static void test_servers(void **state) {
  (void)state;
  static const struct {
    const char *server, *host;
    uint16_t port;
  } cases[] = {
      {"host", "host", 1433},
      {"host,1", "host", 1},
      {"host , 65535", "host", 65535},
      {"tcp:host", "host", 1433},
      {"TCP: host,1434", "host", 1434},
      {".", "localhost", 1433},
      {"(local)", "localhost", 1433},
      {"(LOCAL),5", "localhost", 5},
      {"tcp:.,7", "localhost", 7},
      {"localhost", "localhost", 1433},
      {"10.0.0.1,1433", "10.0.0.1", 1433},
      {"::1", "::1", 1433},
      {"[::1],99", "::1", 99},
      {"tcp:fe80::1%eth0,99", "fe80::1%eth0", 99},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[128];
    snprintf(text, sizeof text, "Server=%s;", cases[i].server);
    struct parsed parsed = parse(text);
    assert_int_equal(parsed.status, ALOFT_OK);
    check_text(parsed.settings.host, cases[i].host);
    assert_int_equal(parsed.settings.port, cases[i].port);
    guard_give(&parsed.memory);
  }
}

static void test_encrypt(void **state) {
  (void)state;
  static const struct {
    const char *text;
    alo_encrypt encrypt;
  } cases[] = {
      {"Encrypt=Mandatory", ALO_ENCRYPT_MANDATORY},     {"Encrypt=true", ALO_ENCRYPT_MANDATORY},
      {"Encrypt=YES", ALO_ENCRYPT_MANDATORY},           {"Encrypt=optional", ALO_ENCRYPT_OPTIONAL},
      {"Encrypt=False", ALO_ENCRYPT_OPTIONAL},          {"Encrypt=no", ALO_ENCRYPT_OPTIONAL},
      {"Encrypt=' no '", ALO_ENCRYPT_OPTIONAL},         {"Encrypt=Strict", ALO_ENCRYPT_STRICT},
      {"Encrypt=no;Encrypt=yes", ALO_ENCRYPT_MANDATORY}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct parsed parsed = parse(cases[i].text);
    assert_int_equal(parsed.status, ALOFT_OK);
    assert_int_equal(parsed.settings.encrypt, cases[i].encrypt);
    guard_give(&parsed.memory);
  }
}

static bool is(aloft_text text, const char *wanted) {
  return text.size == strlen(wanted) && memcmp(text.data, wanted, text.size) == 0;
}

static void test_certificates(void **state) {
  (void)state;
  struct parsed parsed = parse("HostNameInCertificate=db.example.org;Server Certificate='/a b.pem';"
                               "CAFile=x;CA File=/etc/ca.pem");
  assert_int_equal(parsed.status, ALOFT_OK);
  assert_true(is(parsed.settings.host_name_in_certificate, "db.example.org"));
  assert_true(is(parsed.settings.server_certificate, "/a b.pem"));
  assert_true(is(parsed.settings.ca_file, "/etc/ca.pem"));
  guard_give(&parsed.memory);
}

static void test_numbers(void **state) {
  (void)state;
  struct parsed parsed = parse("Connection Timeout=0;Packet Size=32767");
  assert_int_equal(parsed.status, ALOFT_OK);
  assert_true(parsed.settings.connect_timeout_ns == 0);
  assert_int_equal(parsed.settings.packet_size, 32767);
  guard_give(&parsed.memory);
}

static void test_keywords_that_ask_for_what_is_so_anyway(void **state) {
  (void)state;
  struct parsed parsed =
      parse("Integrated Security=False;Trusted_Connection=no;MultipleActiveResultSets=False;"
            "Persist Security Info=False;Pooling=False;Max Pool Size=100;Min Pool Size=0;"
            "Load Balance Timeout=0;Command Timeout=0;ConnectRetryCount=0;ConnectRetryInterval=10;"
            "ApplicationIntent=ReadWrite;MultiSubnetFailover=False;Failover Partner=;Enlist=false;"
            "Authentication=SqlPassword;Column Encryption Setting=Disabled;HostNameInCertificate=;"
            "ServerCertificate=;Type System Version=Latest;Network Library=dbmssocn;Async=true");
  assert_int_equal(parsed.status, ALOFT_OK);
  guard_give(&parsed.memory);
}

/* ---- refused ---- */

struct refused {
  const char *text;
  unsigned character;
  const char *reason;
};

static void check_refused(const struct refused *refused) {
  char position[32];
  struct parsed parsed = parse(refused->text);
  assert_int_equal(parsed.status, ALOFT_ARGUMENT);
  snprintf(position, sizeof position, "character %u: ", refused->character);
  if (!strstr(parsed.error, position) || !strstr(parsed.error, refused->reason)) {
    print_error("%s\n  gave: %s\n", refused->text, parsed.error);
    fail();
  }
  assert_null(parsed.settings.password.data);
  for (size_t i = 0; i < parsed.memory.size; i++) { /* wiped */
    assert_int_equal(((const char *)parsed.memory.data)[i], 0);
  }
  guard_give(&parsed.memory);
}

static void check_all_refused(const struct refused *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    check_refused(&cases[i]);
  }
}

static void test_syntax_that_is_refused(void **state) {
  (void)state;
  static const struct refused cases[] = {
      {"Server", 1, "no = after the keyword"},
      {"Server=a;Database", 10, "no = after the keyword"},
      {"=a", 1, "no keyword before ="},
      {"Server=a; =b", 11, "no keyword before ="},
      {"Server='a", 8, "does not close"},
      {"Server=\"a''", 8, "does not close"},
      {"Server='a'b", 11, "after a quoted value"},
      {"Server='a' 'b'", 12, "after a quoted value"},
      {"Server=a'", 8, "ends with a quote"},
      {"Server=a\";Database=b", 8, "ends with a quote"},
      {"Ser\1ver=a", 4, "control character"},
      {"Server=a\1", 9, "control character"},
      {"Server=\xFF", 8, "not UTF-8"},
      {"User=\xC3\xA4;Server=a\1", 16, "control character"}, /* characters, not bytes */
  };
  check_all_refused(cases, sizeof cases / sizeof *cases);
  struct parsed parsed = parse_text((aloft_text){"Server='a\0'", 11});
  assert_int_equal(parsed.status, ALOFT_ARGUMENT);
  guard_give(&parsed.memory);
}

static void test_keywords_that_are_refused(void **state) {
  (void)state;
  static const struct refused cases[] = {
      {"Colour=blue", 1, "Colour is not a keyword"},
      {"Server=a;  My Thing = 1", 12, "My Thing is not a keyword"},
      {"a==b=c", 1, "this is not a keyword"},
      {"Data  Source=a", 1, "Data  Source is not a keyword"},
      {"Server=a;Driver={ODBC Driver 18}", 10, "Driver is not supported: it belongs to ODBC"},
      {"DSN=x", 1, "DSN is not supported"},
      {"Integrated Security=SSPI", 1, "Integrated Security is not supported with this value"},
      {"Trusted_Connection=yes", 1, "Trusted_Connection is not supported"},
      {"MultipleActiveResultSets=True", 1, "MultipleActiveResultSets is not supported"},
      {"Persist Security Info=true", 1, "Persist Security Info is not supported"},
      {"Pooling=true", 1, "Pooling is not supported with this value"},
      {"Max Pool Size=5", 1, "Max Pool Size is not supported"},
      {"Min Pool Size=5", 1, "Min Pool Size is not supported"},
      {"Failover Partner=b", 1, "Failover Partner is not supported: "},
      {"ApplicationIntent=ReadOnly", 1, "ApplicationIntent is not supported"},
      {"MultiSubnetFailover=True", 1, "MultiSubnetFailover is not supported"},
      {"ConnectRetryCount=1", 1, "ConnectRetryCount is not supported"},
      {"Command Timeout=30", 1, "Command Timeout is not supported"},
      {"Load Balance Timeout=1", 1, "Load Balance Timeout is not supported"},
      {"Enlist=true", 1, "Enlist is not supported"},
      {"ClientCertificate=a", 1, "ClientCertificate is not supported"},
      {"Authentication=ActiveDirectoryDefault", 1, "Authentication is not supported"},
      {"Column Encryption Setting=Enabled", 1, "Column Encryption Setting is not supported"},
      {"AttachDbFilename=x.mdf", 1, "AttachDbFilename is not supported"},
  };
  check_all_refused(cases, sizeof cases / sizeof *cases);
}

static void test_values_that_are_refused(void **state) {
  (void)state;
  static const struct refused cases[] = {
      {"Encrypt=maybe", 9, "Encrypt is not Mandatory, Optional, Strict"},
      {"TrustServerCertificate=1", 24, "TrustServerCertificate is not True"},
      {"Connect Timeout=-1", 17, "Connect Timeout is not a number"},
      {"Timeout=15s", 9, "Timeout is not a number"},
      {"Timeout=9999999999", 9, "Timeout is not a number"},
      {"Packet Size=511", 13, "Packet Size is not a number from 512"},
      {"Packet Size=32768", 13, "Packet Size is not a number from 512"},
      {"Server=np:host", 8, "named pipes"},
      {"Server=\\\\host\\pipe\\sql\\query", 8, "named pipes"},
      {"Server=lpc:host", 8, "shared memory"},
      {"Server=admin:host", 8, "administrator"},
      {"Server=host\\SQLEXPRESS", 8, "named instances"},
      {"Server=(localdb)\\x", 8, "named instances"},
      {"Server=host:1433", 8, "follows a comma"},
      {"Server={host}", 8, "braces"},
      {"Server=,1433", 8, "no host name"},
      {"Server=tcp:", 8, "no host name"},
      {"Server=host,", 8, "no port from 1 to 65535"},
      {"Server=host,0", 8, "no port from 1 to 65535"},
      {"Server=host,65536", 8, "no port from 1 to 65535"},
      {"Server=host,1,2", 8, "no port from 1 to 65535"},
      {"Server=a b", 8, "not a host name"},
      {"Server='a;b'", 8, "not a host name"},
      {"Server=a/b", 8, "not a host name"},
  };
  check_all_refused(cases, sizeof cases / sizeof *cases);
}

static void test_host_of_the_longest(void **state) {
  (void)state;
  char text[300] = "Server=";
  memset(text + 7, 'h', 255);
  struct parsed parsed = parse(text);
  assert_int_equal(parsed.status, ALOFT_OK);
  guard_give(&parsed.memory);
  text[7 + 255] = 'h';
  check_refused(&(struct refused){text, 8, "over 255"});
}

static void test_no_error_shows_a_password(void **state) {
  (void)state;
  static const char *const texts[] = {
      "Server=a;Password=hunter2;Bogus=1",
      "Server=a;Password=hunter2;Encrypt=maybe",
      "Server=a\\b;Password=hunter2",
      "Password=hunter2'",
      "Password='hunter2",
      "Password='x'hunter2",
      "Password=\"hunter2;Server=a",
      "Password={hunter2;hunter2}",
      "Password=x;hunter2",
      "Password=x;hunter2!=1",
      "Password=x;'hunter2'=1",
      "Password=hunter2\1",
      "Password=hunter2;Password",
      "Pwd=hunter2;Integrated Security=SSPI",
      "Client Key Password=hunter2",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct parsed parsed = parse(texts[i]);
    assert_int_equal(parsed.status, ALOFT_ARGUMENT);
    assert_null(strstr(parsed.error, "hunter2"));
    guard_give(&parsed.memory);
  }
}

/* Any room for the error, none too. */
static void test_error_in_little_room(void **state) {
  (void)state;
  for (size_t room = 0; room < 64; room++) {
    alo_connection_string settings;
    char memory[16];
    guard_buffer error = guard_take(room);
    assert_int_equal(
        alo_connection_string_parse(ALOFT_TEXT("Colour=blue"), memory, &settings, error.data, room),
        ALOFT_ARGUMENT);
    assert_true(room == 0 || memchr(error.data, 0, room));
    guard_give(&error);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_everything_at_once),
      cmocka_unit_test(test_defaults),
      cmocka_unit_test(test_synonyms),
      cmocka_unit_test(test_values_with_quotes),
      cmocka_unit_test(test_servers),
      cmocka_unit_test(test_encrypt),
      cmocka_unit_test(test_certificates),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_keywords_that_ask_for_what_is_so_anyway),
      cmocka_unit_test(test_syntax_that_is_refused),
      cmocka_unit_test(test_keywords_that_are_refused),
      cmocka_unit_test(test_values_that_are_refused),
      cmocka_unit_test(test_host_of_the_longest),
      cmocka_unit_test(test_no_error_shows_a_password),
      cmocka_unit_test(test_error_in_little_room),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
