#include "sql_batch.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "line_reader.h"

/* What a script comes to: each batch in brackets, "xN" after one that runs N times, "!" for a
 * refused line, "R" for reset, "Q" for quit. */
static void trace(const char *script, bool dollar_is_text, char *text, size_t room) {
  alo_sql_batch batch = {.terminator = "GO", .dollar_is_text = dollar_is_text};
  alo_line_reader reader = {.descriptor = -1, .text = aloft_text_of(script)};
  aloft_text line;
  int at = 0;
  text[0] = '\0';
  while (alo_line_reader_next(&reader, &line) == ALO_LINE_OK) {
    switch (alo_sql_batch_add(&batch, line)) {
    case ALO_SQL_GO:
      at += snprintf(text + at, room - (size_t)at, "[%.*s]x%d", (int)batch.size,
                     batch.size > 0 ? batch.text : "", (int)batch.count);
      alo_sql_batch_clear(&batch);
      break;
    case ALO_SQL_RESET:
      at += snprintf(text + at, room - (size_t)at, "R");
      break;
    case ALO_SQL_QUIT:
      at += snprintf(text + at, room - (size_t)at, "Q");
      break;
    case ALO_SQL_ERROR:
      assert_non_null(batch.error);
      at += snprintf(text + at, room - (size_t)at, "!");
      break;
    case ALO_SQL_TEXT:
      break;
    }
  }
  snprintf(text + at, room - (size_t)at, "[%.*s]%s", (int)batch.size,
           batch.size > 0 ? batch.text : "", alo_sql_batch_is_open(&batch) ? "open" : "");
  alo_sql_batch_free(&batch);
}

static void split_at_go(void **state) {
  static const struct {
    const char *script, *trace;
  } cases[] = {
      {"select 1", "[select 1\n]"},
      {"select 1\nGO\nselect 2\ngo\n", "[select 1\n]x1[select 2\n]x1[]"},
      {"a\r\nGo\r\n", "[a\n]x1[]"},
      {"a\n  GO  3  \n", "[a\n]x3[]"},
      {"a\nGO 2 -- twice\n", "[a\n]x2[]"},
      {"a\nGO--x\n", "[a\n]x1[]"},
      {"GO\nGO", "[]x1[]x1[]"},
      {"a\nGO x\nb", "![a\nb\n]"},
      {"a\nGO 0\n", "![a\n]"},
      {"a\nGO 1000001\n", "![a\n]"},
      {"a\nGO 99999999999999999999999\n", "![a\n]"},
      {"a\nGO;\n", "[a\nGO;\n]"},
      {"GOTO done\ngo_on\ngo2", "[GOTO done\ngo_on\ngo2\n]"},
      {"'a\nGO\nb'\nGO", "['a\nGO\nb'\n]x1[]"},
      {"\"a\nGO\nb\"\nGO", "[\"a\nGO\nb\"\n]x1[]"},
      {"[a\nGO\nb]\nGO", "[[a\nGO\nb]\n]x1[]"},
      {"'it''s\nGO\n'\nGO", "['it''s\nGO\n'\n]x1[]"},
      {"/* a\nGO\n*/\nGO", "[/* a\nGO\n*/\n]x1[]"},
      {"/* /* */\nGO\n*/\nGO", "[/* /* */\nGO\n*/\n]x1[]"},
      {"a -- it's /* '\nGO", "[a -- it's /* '\n]x1[]"},
      {"a /* ' */\nGO", "[a /* ' */\n]x1[]"},
      {"a '/*'\nGO", "[a '/*'\n]x1[]"},
      {"'open", "['open\n]open"},
      {"/* open", "[/* open\n]open"},
      {"a\nreset\nb", "R[b\n]"},
      {"a\nquit", "Q[a\n]"},
      {"a\n:EXIT", "Q[a\n]"},
      {"exit", "Q[]"},
      {"exit(select 1)", "![]"},
      {":r other.sql\n:setvar a b\n!!ls\n:!!ls", "!!!![]"},
      {"geography\n::Parse('x')", "[geography\n::Parse('x')\n]"},
      {"exit_code = 1\nquitter", "[exit_code = 1\nquitter\n]"},
      {"select '$(name)'", "![]"},
      {"select '$()', '$(a b)', '$(a'", "[select '$()', '$(a b)', '$(a'\n]"},
      {"select '\xff'", "![]"},
      {"select '\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80'",
       "[select '\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80'\n]"},
      {"select '\xed\xa0\x80'", "![]"},
      {"select '\xc0\xaf'", "![]"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[512];
    trace(cases[i].script, false, text, sizeof text);
    assert_string_equal(text, cases[i].trace);
  }
}

static void dollars_as_text(void **state) {
  char text[64];
  (void)state;
  trace("$(name)", true, text, sizeof text);
  assert_string_equal(text, "[$(name)\n]");
}

static void another_terminator(void **state) {
  alo_sql_batch batch = {.terminator = ";"};
  (void)state;
  assert_int_equal(alo_sql_batch_add(&batch, ALOFT_TEXT("GO")), ALO_SQL_TEXT);
  assert_false(alo_sql_batch_is_blank(&batch));
  assert_int_equal(alo_sql_batch_add(&batch, ALOFT_TEXT(";")), ALO_SQL_GO);
  alo_sql_batch_free(&batch);
}

static void a_batch_has_a_limit(void **state) {
  alo_sql_batch batch = {.terminator = "GO"};
  size_t size = (size_t)1 << 20;
  char *line = malloc(size);
  alo_sql_line kind = ALO_SQL_TEXT;
  int lines = 0;
  (void)state;
  assert_non_null(line);
  memset(line, 'x', size);
  for (; lines < 40 && kind == ALO_SQL_TEXT; lines++)
    kind = alo_sql_batch_add(&batch, (aloft_text){line, size});
  assert_int_equal(kind, ALO_SQL_ERROR);
  assert_int_equal(lines, 32);
  free(line);
  alo_sql_batch_free(&batch);
}

static int file_of(const char *text, size_t size) {
  FILE *file = tmpfile();
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, size, file), size);
  rewind(file);
  int descriptor = dup(fileno(file));
  fclose(file);
  return descriptor;
}

static void expect_line(alo_line_reader *reader, const char *text) {
  aloft_text line;
  assert_int_equal(alo_line_reader_next(reader, &line), ALO_LINE_OK);
  assert_int_equal(line.size, strlen(text));
  assert_memory_equal(line.data, text, line.size);
}

static void lines_of_a_file(void **state) {
  static const char text[] = "abc\n\n12345\nend";
  alo_line_reader reader = {.line_max = 5};
  aloft_text line;
  (void)state;
  reader.descriptor = file_of(text, sizeof text - 1);
  expect_line(&reader, "abc");
  expect_line(&reader, "");
  expect_line(&reader, "12345");
  expect_line(&reader, "end");
  assert_int_equal(alo_line_reader_next(&reader, &line), ALO_LINE_END);
  close(reader.descriptor);
  reader.descriptor = file_of(text, sizeof text - 1);
  reader.line_max = 4;
  expect_line(&reader, "abc");
  expect_line(&reader, "");
  assert_int_equal(alo_line_reader_next(&reader, &line), ALO_LINE_FAILED);
  assert_int_equal(errno, EFBIG);
  alo_line_reader_free(&reader);
  close(reader.descriptor);
}

/* Line ends before, at and after the end of a block. */
static void lines_across_blocks(void **state) {
  (void)state;
  for (size_t size = ALO_LINE_BLOCK - 2; size < ALO_LINE_BLOCK + 2; size++) {
    alo_line_reader reader = {.line_max = (size_t)ALO_LINE_BLOCK * 2};
    char *text = malloc(size + 4);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text + size, "\nab", 4);
    reader.descriptor = file_of(text, size + 3);
    text[size] = '\0';
    expect_line(&reader, text);
    expect_line(&reader, "ab");
    alo_line_reader_free(&reader);
    close(reader.descriptor);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(split_at_go),        cmocka_unit_test(dollars_as_text),
      cmocka_unit_test(another_terminator), cmocka_unit_test(a_batch_has_a_limit),
      cmocka_unit_test(lines_of_a_file),    cmocka_unit_test(lines_across_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
