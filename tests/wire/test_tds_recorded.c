/* What a T-SQL server that is not ours answered, decoded to what it means: whole, at every split,
 * in small pieces, and in packets of other sizes. Skips where the recordings are not there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <aloft/json.h>

#include "tds_cuts.h"

enum { FILE_MAX = 1 << 20 };

typedef struct recording {
  uint8_t *data;
  size_t size;
} recording;

static const char *folder(void) {
  const char *set = getenv("ALOFT_WIRE");
  return set ? set : ALOFT_SOURCE_DIR "/../shared/wire";
}

static recording load(const char *name) {
  char path[1024];
  recording file = {0};
  snprintf(path, sizeof path, "%s/%s", folder(), name);
  FILE *stream = fopen(path, "rb");
  if (!stream) {
    return file;
  }
  file.data = malloc(FILE_MAX);
  assert_non_null(file.data);
  file.size = fread(file.data, 1, FILE_MAX, stream);
  fclose(stream);
  return file;
}

/* ---- what is expected ---- */

typedef struct expectation {
  tds_transcript lines; /* columns and rows, in order */
  bool has_lines;
  tds_transcript others; /* lines that must be there, as prefixes, one a line */
  int row_count;         /* -1: not told */
  char all_null_but[256];
} expectation;

static void next(aloft_json *json, aloft_json_kind kind) {
  aloft_json_kind got = aloft_json_next(json);
  if (got != kind) {
    fail_msg("cases.json: unexpected token at %zu", json->offset);
  }
}

static void string_value(const aloft_json *json, char *out, size_t room) {
  aloft_text text;
  static char buffer[FILE_MAX];
  assert_int_equal(aloft_json_string(json, buffer, sizeof buffer, &text), ALOFT_OK);
  assert_true(text.size < room);
  memcpy(out, text.data, text.size);
  out[text.size] = 0;
}

static void add_piece(tds_transcript *lines, const char *text) {
  tds_transcript_add(lines, text, strlen(text));
}

static void expect_columns(aloft_json *json, expectation *expected) {
  static char text[256];
  next(json, ALOFT_JSON_ARRAY);
  add_piece(&expected->lines, "columns");
  for (bool first = true; aloft_json_next(json) == ALOFT_JSON_OBJECT; first = false) {
    add_piece(&expected->lines, first ? " " : "|");
    for (int member = 0; member < 2; member++) { /* name, type */
      next(json, ALOFT_JSON_NAME);
      next(json, ALOFT_JSON_STRING);
      string_value(json, text, sizeof text);
      add_piece(&expected->lines, member ? " " : "");
      add_piece(&expected->lines, text);
    }
    next(json, ALOFT_JSON_CLOSE);
  }
  add_piece(&expected->lines, "\n");
}

static void expect_rows(aloft_json *json, expectation *expected) {
  static char text[FILE_MAX];
  next(json, ALOFT_JSON_ARRAY);
  while (aloft_json_next(json) == ALOFT_JSON_ARRAY) {
    add_piece(&expected->lines, "row");
    bool first = true;
    while (aloft_json_next(json) != ALOFT_JSON_CLOSE) {
      add_piece(&expected->lines, first ? " " : "|");
      first = false;
      if (json->kind == ALOFT_JSON_NULL) {
        add_piece(&expected->lines, "<null>");
      } else {
        string_value(json, text, sizeof text);
        add_piece(&expected->lines, text);
      }
    }
    add_piece(&expected->lines, "\n");
  }
}

static void expect_results(aloft_json *json, expectation *expected) {
  expected->has_lines = true;
  next(json, ALOFT_JSON_ARRAY);
  while (aloft_json_next(json) == ALOFT_JSON_OBJECT) {
    while (aloft_json_next(json) == ALOFT_JSON_NAME) {
      if (aloft_json_is(json, ALOFT_TEXT("columns"))) {
        expect_columns(json, expected);
      } else {
        expect_rows(json, expected);
      }
    }
  }
}

static void expect_errors(aloft_json *json, expectation *expected) {
  next(json, ALOFT_JSON_ARRAY);
  while (aloft_json_next(json) == ALOFT_JSON_OBJECT) {
    int64_t number = 0;
    int64_t severity = 0;
    int64_t state = 0;
    char text[256] = "";
    while (aloft_json_next(json) == ALOFT_JSON_NAME) {
      int64_t *into = aloft_json_is(json, ALOFT_TEXT("number"))     ? &number
                      : aloft_json_is(json, ALOFT_TEXT("severity")) ? &severity
                      : aloft_json_is(json, ALOFT_TEXT("state"))    ? &state
                                                                    : NULL;
      aloft_json_next(json);
      if (into) {
        assert_int_equal(aloft_json_int64(json, into), ALOFT_OK);
      } else {
        string_value(json, text, sizeof text);
      }
    }
    tds_transcript_line(&expected->others, "error %lld %lld %lld * %s", (long long)number,
                        (long long)severity, (long long)state, text);
  }
}

static void expect_texts(aloft_json *json, expectation *expected) {
  char text[256];
  next(json, ALOFT_JSON_ARRAY);
  while (aloft_json_next(json) == ALOFT_JSON_STRING) {
    string_value(json, text, sizeof text);
    tds_transcript_line(&expected->others, "info * * * * %s", text);
  }
}

static void expect_outputs(aloft_json *json, expectation *expected) {
  char name[64];
  char text[256];
  next(json, ALOFT_JSON_OBJECT);
  while (aloft_json_next(json) == ALOFT_JSON_NAME) {
    string_value(json, name, sizeof name);
    next(json, ALOFT_JSON_STRING);
    string_value(json, text, sizeof text);
    tds_transcript_line(&expected->others, "value @%s int|%s", name, text);
  }
}

static void expect_nulls(aloft_json *json, expectation *expected) {
  char name[64];
  next(json, ALOFT_JSON_ARRAY);
  strcpy(expected->all_null_but, "|");
  while (aloft_json_next(json) == ALOFT_JSON_STRING) {
    string_value(json, name, sizeof name);
    strcat(expected->all_null_but, name);
    strcat(expected->all_null_but, "|");
  }
}

static void read_expectation(aloft_json *json, expectation *expected) {
  int64_t number;
  *expected = (expectation){.row_count = -1};
  tds_transcript_init(&expected->lines, 0);
  tds_transcript_init(&expected->others, 0);
  next(json, ALOFT_JSON_OBJECT);
  while (aloft_json_next(json) == ALOFT_JSON_NAME) {
    if (aloft_json_is(json, ALOFT_TEXT("results"))) {
      expect_results(json, expected);
    } else if (aloft_json_is(json, ALOFT_TEXT("errors"))) {
      expect_errors(json, expected);
    } else if (aloft_json_is(json, ALOFT_TEXT("messages"))) {
      expect_texts(json, expected);
    } else if (aloft_json_is(json, ALOFT_TEXT("outputs"))) {
      expect_outputs(json, expected);
    } else if (aloft_json_is(json, ALOFT_TEXT("all_null_but"))) {
      expect_nulls(json, expected);
    } else {
      bool status = aloft_json_is(json, ALOFT_TEXT("return_status"));
      next(json, ALOFT_JSON_NUMBER);
      assert_int_equal(aloft_json_int64(json, &number), ALOFT_OK);
      if (status) {
        tds_transcript_line(&expected->others, "status %lld", (long long)number);
      } else {
        expected->row_count = (int)number;
      }
    }
  }
}

static void expectation_fini(expectation *expected) {
  tds_transcript_fini(&expected->lines);
  tds_transcript_fini(&expected->others);
}

/* ---- comparing ---- */

/* True when `line` begins with `pattern`, in which a '*' stands for a word. */
static bool line_matches(const char *line, const char *pattern, size_t size) {
  for (size_t at = 0; at < size; at++) {
    if (pattern[at] == '*') {
      while (*line && *line != ' ') {
        line++;
      }
    } else if (*line++ != pattern[at]) {
      return false;
    }
  }
  return true;
}

static bool has_line(const char *text, const char *pattern, size_t size) {
  for (const char *line = text; line && *line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (line_matches(line, pattern, size)) {
      return true;
    }
  }
  return false;
}

static void check_all_null(const char *text, const char *but) {
  char columns[8192];
  char row[8192];
  const char *line = strstr(text, "columns ");
  assert_non_null(line);
  assert_int_equal(sscanf(line, "columns %8191[^\n]\nrow %8191[^\n]", columns, row), 2);
  char *column = columns;
  char *value = row;
  while (column) {
    char *column_end = strchr(column, '|');
    char *value_end = strchr(value, '|');
    char name[128];
    assert_int_equal(sscanf(column, "%126s", name), 1);
    char marked[130];
    snprintf(marked, sizeof marked, "|%s|", name);
    bool is_null = strncmp(value, "<null>", 6) == 0;
    if (is_null == (strstr(but, marked) != NULL)) {
      fail_msg("column %s is %s", name, is_null ? "NULL" : "not NULL");
    }
    column = column_end ? column_end + 1 : NULL;
    value = value_end ? value_end + 1 : value;
  }
}

static void check(const char *name, const tds_transcript *got, const expectation *expected) {
  tds_transcript results;
  tds_transcript_init(&results, 0);
  for (const char *line = got->text; *line;) {
    size_t size = strcspn(line, "\n") + 1;
    if (strncmp(line, "columns", 7) == 0 || strncmp(line, "row", 3) == 0) {
      tds_transcript_add(&results, line, size);
    }
    line += size;
  }
  if (expected->has_lines && strcmp(results.text, expected->lines.text) != 0) {
    fail_msg("%s: got\n%swanted\n%s", name, results.text, expected->lines.text);
  }
  for (const char *line = expected->others.text; *line;) {
    size_t size = strcspn(line, "\n");
    if (!has_line(got->text, line, size)) {
      fail_msg("%s: no line \"%.*s\" in\n%s", name, (int)size, line, got->text);
    }
    line += size + 1;
  }
  if (expected->row_count >= 0) {
    assert_int_equal(got->rows, expected->row_count);
  }
  if (expected->all_null_but[0]) {
    check_all_null(got->text, expected->all_null_but);
  }
  assert_int_equal(got->ends, 1);
  assert_false(got->broken);
  tds_transcript_fini(&results);
}

/* ---- tests ---- */

static void check_case(const char *name, const expectation *expected) {
  static const char *const sizes[] = {"packet4096", "packet512"};
  for (size_t at = 0; at < 2; at++) {
    char path[256];
    snprintf(path, sizeof path, "recorded/%s/%s.tds", sizes[at], name);
    recording file = load(path);
    assert_non_null(file.data);
    tds_transcript whole;
    tds_transcript_init(&whole, file.size);
    aloft_bytes stream = {file.data, file.size};
    tds_cuts_read(&whole, stream, file.size, file.size);
    if (expected) {
      check(path, &whole, expected);
    }
    tds_cuts_check(path, stream, &whole);
    tds_transcript_fini(&whole);
    free(file.data);
  }
}

static void test_cases(void **state) {
  (void)state;
  recording cases = load("recorded/cases.json");
  if (!cases.data) {
    print_message("no recordings in %s: skipped\n", folder());
    skip();
  }
  aloft_json json;
  size_t count = 0;
  aloft_json_init(&json, (aloft_text){(const char *)cases.data, cases.size});
  next(&json, ALOFT_JSON_ARRAY);
  while (aloft_json_next(&json) == ALOFT_JSON_OBJECT) {
    char name[64] = "";
    while (aloft_json_next(&json) == ALOFT_JSON_NAME) {
      if (aloft_json_is(&json, ALOFT_TEXT("name"))) {
        next(&json, ALOFT_JSON_STRING);
        string_value(&json, name, sizeof name);
      } else if (aloft_json_is(&json, ALOFT_TEXT("expect"))) {
        expectation expected;
        read_expectation(&json, &expected);
        check_case(name, &expected);
        expectation_fini(&expected);
        count++;
      } else {
        aloft_json_next(&json);
        assert_int_equal(aloft_json_skip(&json), ALOFT_OK);
      }
    }
  }
  print_message("%zu recorded cases\n", count);
  assert_true(count >= 54);
  free(cases.data);
}

/* PRELOGIN's answer is not a token stream: the login's begins after it. */
static void test_login(void **state) {
  (void)state;
  recording file = load("recorded/packet4096/login.tds");
  if (!file.data) {
    print_message("no recordings in %s: skipped\n", folder());
    skip();
  }
  size_t prelogin = (size_t)(file.data[2] << 8 | file.data[3]);
  aloft_bytes login = {file.data + prelogin, file.size - prelogin};
  tds_transcript whole;
  tds_transcript_init(&whole, login.size);
  tds_cuts_read(&whole, login, login.size, login.size);
  assert_non_null(strstr(whole.text, "\nlogin 1 74000004 "));
  assert_non_null(strstr(whole.text, "\nend\n"));
  tds_cuts_check("login", login, &whole);
  tds_transcript_fini(&whole);
  free(file.data);
}

/* The answers among the examples of MS-TDS, section 4. */
static void test_examples(void **state) {
  (void)state;
  static const char *const names[][2] = {
      {"4.4_login_response.1.bin", "\nlogin 1 72090002 0.0.0.0 Microsoft SQL Server<0><0>\n"},
      {"4.5_login_response_with_federated_authentication_feature_ext.1.bin",
       "\nfeature 2 C908464E"},
      {"4.7_sql_batch_server_response.1.bin", "columns bar varchar\nrow foo\ndone FD 0010 193 1\n"},
      {"4.9_rpc_server_response.1.bin", "done FF 0011 193 1\nstatus 0\n"},
      {"4.15_sparsecolumn_select_statement.1.bin",
       "\nrow 2|<sparseProp1>1000</sparseProp1>\nrow 3|<sparseProp2>abcd</sparseProp2>\n"},
      {"4.18_table_response_with_sessionstate_token_data.1.bin", "done FD 0000 253 0\n"},
      {"4.21_featureextack_with_azuresqlsupport_feature_data.1.bin", "\nfeature 8 01\n"}};
  for (size_t at = 0; at < sizeof names / sizeof *names; at++) {
    char path[256];
    snprintf(path, sizeof path, "spec/%s", names[at][0]);
    recording file = load(path);
    if (!file.data) {
      print_message("no examples in %s: skipped\n", folder());
      skip();
    }
    aloft_bytes stream = {file.data, file.size};
    tds_transcript whole;
    tds_transcript_init(&whole, file.size);
    tds_cuts_read(&whole, stream, file.size, file.size);
    assert_int_equal(whole.ends, 1);
    assert_non_null(strstr(whole.text, names[at][1]));
    tds_cuts_check(names[at][0], stream, &whole);
    tds_transcript_fini(&whole);
    free(file.data);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_login),
                                     cmocka_unit_test(test_examples)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
