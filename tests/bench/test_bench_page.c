/* aloft-bench-page: results in a template, and what is wrong with either. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "e2e_process.h"

static char folder[] = "/tmp/aloft_page.XXXXXX";

static const char results[] = "[{\"name\":\"a b\",\"mean\":12345678,\"share\":0.25,\"calls\":null},"
                              "{\"name\":\"c\",\"mean\":50,\"share\":1,\"calls\":7},"
                              "{\"other\":1234567,\"size\":10}]";

static void path_of(const char *name, char path[64]) {
  snprintf(path, 64, "%s/%s", folder, name);
}

static void write_file(const char *name, const char *text) {
  char path[64];
  path_of(name, path);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static void run(e2e_process *process, const char *template, int status) {
  char path[64];
  write_file("template", template);
  path_of("template", path);
  e2e_run(process, (const char *[]){ALOFT_BINARY_DIR "/aloft-bench-page", folder, path, NULL}, NULL,
          status);
}

static void expect(const char *template, const char *page) {
  e2e_process process;
  run(&process, template, 0);
  assert_string_equal(process.output.text, page);
  e2e_free(&process);
}

static void figures_stand_in_their_places(void **state) {
  (void)state;
  expect("a {{r.json name=a+b | mean:time}} b {{r.json name=c mean=50 | calls:count}}!\n",
         "a 12.35 ms b 7!\n");
  expect("{{r.json | other:thousands}} {{r.json name=a+b | share:percent}} "
         "{{r.json name=a+b | calls:count}}\n",
         "1,235,000 25 -\n");
  expect("{{text words}}.\n", "as they are\n.\n");
}

static void tables_have_the_rows_that_match(void **state) {
  (void)state;
  expect("{{table r.json | name:text mean:time:The+mean calls:count}}\n",
         "| Name | The mean | Calls |\n| ---- | -------: | ----: |\n| a b  | 12.35 ms |     - |\n"
         "| c    | 50.00 ns |     7 |\n\n");
  expect("{{table r.json size=10 | other:count}}\n",
         "|     Other |\n| --------: |\n| 1,234,567 |\n\n");
}

static void what_is_wrong_is_told_with_its_line(void **state) {
  static const struct {
    const char *template, *says;
  } cases[] = {
      {"\n{{r.json name=d | mean:time}}", "line 2: nothing matches that has: mean"},
      {"{{r.json name=c | mean:tide}}", "line 1: no such kind: tide"},
      {"{{r.json name=c | mean:time", "no }} in this line"},
      {"{{r.json name | mean:time}}", "not KEY=VALUE: name"},
      {"{{r.json name=c mean:time}}", "not one KEY:KIND behind |"},
      {"{{none.json | mean:time}}", "No such file"},
      {"{{words | mean:time}}", "it is not an array of results"},
      {"{{table r.json | nothing}}", "nothing matches, in: r.json"},
      {"{{table r.json | name:text size:count}}", "a result has no member: size"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    e2e_process process;
    run(&process, cases[i].template, 1);
    if (e2e_count(&process.errors, cases[i].says) != 1)
      fail_msg("not '%s' but '%s'", cases[i].says, process.errors.text);
    e2e_free(&process);
  }
}

static int begin(void **state) {
  (void)state;
  assert_non_null(mkdtemp(folder));
  write_file("r.json", results);
  write_file("words", "as they are\n");
  return 0;
}

static int end(void **state) {
  static const char *const names[] = {"r.json", "words", "template"};
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char path[64];
    path_of(names[i], path);
    unlink(path);
  }
  return rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_stand_in_their_places),
      cmocka_unit_test(tables_have_the_rows_that_match),
      cmocka_unit_test(what_is_wrong_is_told_with_its_line),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
