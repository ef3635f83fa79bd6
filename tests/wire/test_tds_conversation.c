/* Whole conversations of FreeTDS's tsql with aloft lite, recorded (recordings/tsql): both sides,
 * read in every cut, say what NAME.txt says. `ALOFT_RECORD=1 test_tds_conversation` writes the
 * texts anew: then read the difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tds_cuts.h"
#include "tds_message.h"
#include "tds_request.h"

enum { FILE_MAX = 64 * 1024 };

static const char *path_of(const char *name, const char *ending) {
  static char path[512];
  snprintf(path, sizeof path, "%s/tests/wire/recordings/tsql/%s.%s", ALOFT_SOURCE_DIR, name,
           ending);
  return path;
}

static aloft_bytes load(const char *name, const char *ending) {
  FILE *file = fopen(path_of(name, ending), "rb");
  uint8_t *bytes = malloc(FILE_MAX);
  assert_non_null(file);
  assert_non_null(bytes);
  size_t size = fread(bytes, 1, FILE_MAX, file);
  assert_true(size < FILE_MAX);
  fclose(file);
  return (aloft_bytes){bytes, size};
}

static void give(aloft_bytes bytes) {
  void *memory;
  memcpy(&memory, &bytes.data, sizeof memory);
  free(memory);
}

/* ---- the client's side ---- */

static void say_text(tds_transcript *transcript, const char *what, aloft_bytes utf16) {
  char *text = malloc(ALO_UTF8_ROOM(utf16.size));
  assert_non_null(text);
  alo_utf16_cut cut = {.size = 0};
  size_t size = alo_utf16_to_utf8(&cut, utf16.data, utf16.size, true, text, NULL);
  tds_transcript_line(transcript, "%s %.*s", what, (int)size, text);
  free(text);
}

static void say_login(tds_transcript *transcript, aloft_bytes payload) {
  alo_tds_login login;
  char memory[4096];
  const char *unsupported;
  assert_null(alo_tds_parse_login(payload, &login, memory, sizeof memory, &unsupported));
  assert_null(unsupported);
  tds_transcript_line(transcript, "login7 %08X user %.*s password %.*s application %.*s",
                      (unsigned)login.tds_version, ALOFT_PRINT(login.user),
                      ALOFT_PRINT(login.password), ALOFT_PRINT(login.application));
}

static void say_request(tds_transcript *transcript, uint8_t type, aloft_bytes payload) {
  alo_tds_prelogin prelogin;
  aloft_bytes rest;
  uint64_t transaction;
  switch (type) {
  case ALO_TDS_PRELOGIN:
    assert_null(alo_tds_parse_prelogin(payload, &prelogin));
    tds_transcript_line(transcript, "prelogin encryption %u", (unsigned)prelogin.encryption);
    break;
  case ALO_TDS_LOGIN7:
    say_login(transcript, payload);
    break;
  case ALO_TDS_SQL_BATCH:
    assert_null(alo_tds_parse_headers(payload, &transaction, &rest));
    say_text(transcript, "batch", rest);
    break;
  default:
    fail_msg("a message of type %u", (unsigned)type);
  }
}

/* The stream in pieces: `first` bytes, then `piece` at a time, each before a guard page. */
static void read_client(tds_transcript *transcript, aloft_bytes stream, size_t first,
                        size_t piece) {
  alo_tds_frames frames = {0};
  uint8_t *message = malloc(stream.size);
  size_t size = 0;
  assert_non_null(message);
  for (size_t at = 0; at < stream.size;) {
    size_t part = at == 0 && first ? first : piece;
    if (part > stream.size - at)
      part = stream.size - at;
    guard_buffer copy = guard_copy((const uint8_t *)stream.data + at, part);
    aloft_bytes input = {copy.data, part}, payload;
    alo_tds_frame frame;
    while ((frame = alo_tds_frames_next(&frames, &input, &payload)) != ALO_TDS_FRAME_NEED) {
      assert_int_not_equal(frame, ALO_TDS_FRAME_BROKEN);
      if (frame == ALO_TDS_FRAME_PAYLOAD) {
        memcpy(message + size, payload.data, payload.size);
        size += payload.size;
      } else {
        say_request(transcript, frames.type, (aloft_bytes){message, size});
        size = 0;
      }
    }
    guard_give(&copy);
    at += part;
  }
  assert_int_equal(size, 0);
  free(message);
}

static void check_client(aloft_bytes stream, tds_transcript *whole) {
  tds_transcript got;
  tds_transcript_init(&got, 1);
  read_client(whole, stream, 0, stream.size);
  for (size_t cut = 1; cut < stream.size; cut++) {
    tds_transcript_clear(&got);
    read_client(&got, stream, cut, stream.size);
    assert_string_equal(got.text, whole->text);
  }
  for (size_t piece = 1; piece <= 7; piece++) {
    tds_transcript_clear(&got);
    read_client(&got, stream, 0, piece);
    assert_string_equal(got.text, whole->text);
  }
  tds_transcript_fini(&got);
}

/* ---- the server's side ---- */

/* After its answer to PRELOGIN, which is no token stream. */
static aloft_bytes after_prelogin(aloft_bytes stream) {
  const uint8_t *header = stream.data;
  assert_true(stream.size > ALO_TDS_HEADER_SIZE && (header[1] & ALO_TDS_STATUS_EOM));
  size_t size = (size_t)header[2] << 8 | header[3];
  alo_tds_prelogin prelogin;
  assert_null(alo_tds_parse_prelogin(
      (aloft_bytes){header + ALO_TDS_HEADER_SIZE, size - ALO_TDS_HEADER_SIZE}, &prelogin));
  assert_int_equal(prelogin.encryption, ALO_TDS_ENCRYPT_NOT_SUP);
  return (aloft_bytes){header + size, stream.size - size};
}

static void check_server(const char *name, aloft_bytes stream, tds_transcript *whole) {
  aloft_bytes answers = after_prelogin(stream);
  tds_cuts_read(whole, answers, answers.size, answers.size);
  assert_false(whole->broken);
  tds_cuts_check(name, answers, whole);
}

/* ---- both ---- */

static void check_text(const char *name, const tds_transcript *client,
                       const tds_transcript *server) {
  if (getenv("ALOFT_RECORD")) {
    FILE *file = fopen(path_of(name, "txt"), "wb");
    assert_non_null(file);
    fprintf(file, "%s----\n%s", client->text, server->text);
    fclose(file);
    return;
  }
  aloft_bytes kept = load(name, "txt");
  size_t first = strlen(client->text);
  assert_true(kept.size == first + 5 + strlen(server->text));
  assert_memory_equal(kept.data, client->text, first);
  assert_memory_equal((const char *)kept.data + first, "----\n", 5);
  assert_memory_equal((const char *)kept.data + first + 5, server->text, strlen(server->text));
  give(kept);
}

static void check(const char *name) {
  aloft_bytes sent = load(name, "client.tds"), received = load(name, "server.tds");
  tds_transcript client, server;
  tds_transcript_init(&client, 1);
  tds_transcript_init(&server, received.size);
  check_client(sent, &client);
  check_server(name, received, &server);
  check_text(name, &client, &server);
  tds_transcript_fini(&client);
  tds_transcript_fini(&server);
  give(sent);
  give(received);
}

static void types(void **state) {
  (void)state;
  check("types");
}

static void statements(void **state) {
  (void)state;
  check("statements");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(types), cmocka_unit_test(statements)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
