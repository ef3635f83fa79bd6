/* Tables as text, markdown and JSON. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "table.h"

static alo_table table, other;
static char text[8192];

static void fill(void) {
  table = (alo_table){.caption = "Caption",
                      .note = "Note",
                      .columns = alo_published_columns,
                      .column_count = ALO_PUBLISHED_COLUMNS};
  alo_cell *row = alo_table_add(&table);
  row[ALO_METHOD] = ALO_CELL_TEXT("aloft \"x\"");
  row[ALO_CATEGORIES] = ALO_CELL_TEXT("Client token");
  row[ALO_TIMEOUT] = ALO_CELL_NUMBER(999999);
  row[ALO_MEAN] = ALO_CELL_NUMBER(81.814);
  row[ALO_ERROR] = ALO_CELL_NUMBER(1026.69);
  row[ALO_STDDEV] = ALO_CELL_NUMBER(0);
  row[ALO_MEDIAN] = ALO_CELL_NUMBER(123.45);
  row[ALO_RATIO] = ALO_CELL_NUMBER(0.2215);
  row[ALO_RATIO_SD] = ALO_CELL_NUMBER(nan(""));
  row[ALO_ALLOCATED] = ALO_CELL_NUMBER(0);
  assert_non_null(alo_table_add(&table));
  other = (alo_table){.columns = alo_published_columns, .column_count = 2, .text_only = true};
  assert_non_null(alo_table_add(&other));
}

static const char *print(alo_format format) {
  memset(text, 0, sizeof text);
  FILE *file = fmemopen(text, sizeof text, "w");
  assert_non_null(file);
  const alo_table *const both[] = {&table, &other};
  assert_true(alo_tables_print(both, 2, format, file));
  fclose(file);
  return text;
}

static void as_text(void **state) {
  static const char wanted[] =
      "Caption\n\n"
      "Method     Categories    Timeout      Mean     Error   StdDev    Median  Ratio  RatioSD  "
      "Allocated\n"
      "---------  ------------  -------  --------  --------  -------  --------  -----  -------  "
      "---------\n"
      "aloft \"x\"  Client token  999,999  81.81 ns  1,027 ns  0.00 ns  123.5 ns  0.222        -  "
      "      0 B\n"
      "-          -                   -         -         -        -         -      -        -  "
      "        -\n"
      "\nNote\n\n"
      "Method  Categories\n"
      "------  ----------\n"
      "-       -\n";
  (void)state;
  fill();
  assert_string_equal(print(ALO_FORMAT_TABLE), wanted);
}

static void as_markdown(void **state) {
  (void)state;
  fill();
  print(ALO_FORMAT_MARKDOWN);
  assert_non_null(strstr(text, "**Caption**\n\n| Method    | Categories   | Timeout |"));
  assert_non_null(strstr(text, "\n| --------- | ------------ | ------: |"));
  assert_non_null(strstr(text, "\n| aloft \"x\" | Client token | 999,999 | 81.81 ns |"));
  for (const char *at = text; (at = strchr(at, '|')); at = strchr(at, '\n'))
    assert_int_equal(strchr(at, '\n')[-1], '|');
}

static void as_json(void **state) {
  static const char wanted[] =
      "[{\"method\":\"aloft \\\"x\\\"\",\"categories\":\"Client token\",\"timeout\":999999,"
      "\"mean\":81.814,\"error\":1026.69,\"stddev\":0,\"median\":123.45,\"ratio\":0.2215,"
      "\"ratiosd\":null,\"allocated\":0},"
      "{\"method\":null,\"categories\":null,\"timeout\":null,\"mean\":null,\"error\":null,"
      "\"stddev\":null,\"median\":null,\"ratio\":null,\"ratiosd\":null,\"allocated\":null}]\n";
  (void)state;
  fill();
  assert_string_equal(print(ALO_FORMAT_JSON), wanted);
}

static void numbers_have_commas(void **state) {
  static const struct {
    double number;
    int decimals;
    const char *words;
  } known[] = {{0, 0, "0"},
               {999, 0, "999"},
               {1000, 0, "1,000"},
               {-1000, 0, "-1,000"},
               {-999, 1, "-999.0"},
               {1234567.891, 2, "1,234,567.89"},
               {100000, 1, "100,000.0"}};
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    char words[ALO_NUMBER_WORDS_MAX];
    alo_number_words(words, known[i].number, known[i].decimals);
    assert_string_equal(words, known[i].words);
  }
  char words[ALO_NUMBER_WORDS_MAX];
  alo_number_words(words, 1e300, 2); /* cut, not overrun */
  assert_true(strlen(words) < ALO_NUMBER_WORDS_MAX);
}

/* A column of times is never wider than eight. */
static void times_have_units(void **state) {
  static const struct {
    double ns;
    const char *words;
  } known[] = {{0, "0.00 ns"},       {99.994, "99.99 ns"},   {99.996, "100.0 ns"},
               {999.96, "1,000 ns"}, {9999.4, "9,999 ns"},   {9999.6, "10.00 us"},
               {123456, "123.5 us"}, {9.9996e6, "10.00 ms"}, {2.5e9, "2,500 ms"},
               {3e10, "30.00 s"},    {3e12, "3,000 s"}};
  static const alo_column time = {"Time", ALO_COLUMN_TIME};
  (void)state;
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    table = (alo_table){.columns = &time, .column_count = 1};
    other = table;
    alo_table_add(&table)[0] = ALO_CELL_NUMBER(known[i].ns);
    if (!strstr(print(ALO_FORMAT_MARKDOWN), known[i].words))
      fail_msg("not '%s' but %s", known[i].words, text);
  }
}

static void formats_have_names(void **state) {
  alo_format format;
  (void)state;
  assert_true(alo_format_read("markdown", &format));
  assert_int_equal(format, ALO_FORMAT_MARKDOWN);
  assert_false(alo_format_read("xml", &format));
  assert_false(alo_format_read("", &format));
}

static void there_is_a_last_row(void **state) {
  (void)state;
  fill();
  while (table.row_count < ALO_TABLE_ROWS_MAX)
    assert_non_null(alo_table_add(&table));
  assert_null(alo_table_add(&table));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_text),
      cmocka_unit_test(as_markdown),
      cmocka_unit_test(as_json),
      cmocka_unit_test(numbers_have_commas),
      cmocka_unit_test(times_have_units),
      cmocka_unit_test(formats_have_names),
      cmocka_unit_test(there_is_a_last_row),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
