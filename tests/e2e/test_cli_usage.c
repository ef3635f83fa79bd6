/* What the command says to command lines that are wrong, without any server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "e2e_process.h"

typedef struct usage_case {
  const char *argv[8]; /* after the program */
  const char *says;    /* in the one line on standard error */
} usage_case;

static const usage_case cases[] = {
    {{"plub"}, "did you mean pub?"},
    {{"help", "nothing"}, "unknown command 'nothing'"},
    {{"pub"}, "SUBJECT is missing"},
    {{"pub", "a", "b", "c"}, "too many arguments"},
    {{"pub", "a", "b", "--tiemout", "1s"}, "did you mean --timeout?"},
    {{"pub", "a", "b", "--count", "0"}, "--count wants a whole number from 1"},
    {{"pub", "a", "b", "-H", "nocolon"}, "--header wants NAME:VALUE"},
    {{"pub", "a", "b", "-H", ":x"}, "--header wants NAME:VALUE"},
    {{"pub", "a", "b", "--force-stdin"}, "leave one of them out"},
    {{"pub", "a", "b", "--jetstream"}, "JetStream"},
    {{"pub", "a", "b", "--context", "c"}, "contexts"},
    {{"pub", "a", "b", "--creds", "c"}, "--creds is not available"},
    {{"pub", "a", "b", "--timeout", "5"}, "--timeout wants a duration"},
    {{"pub", "a", "b", "--timeout", "0"}, "--timeout is 0"},
    {{"pub", "a", "b", "-s", "nats://a,nats://b"}, "several servers"},
    {{"pub", "a", "b", "--password", "p"}, "without a user"},
    {{"pub", "a", "b", "--user", "u", "--token", "t"}, "leave one of them out"},
    {{"pub", "a", "b", "--user", "u"}, "set NATS_PASSWORD, or give --password-file"},
    {{"reply", "a", "b", "--echo"}, "leave one of them out"},
    {{"reply", "a", "--command", "ls"}, "--command is not available"},
    {{"request", "a", "--reply-timeout", "1s"}, "--replies above 1"},
    {{"sub"}, "SUBJECT is missing"},
    {{"sub", "a", "--stream", "s"}, "JetStream"},
    {{"version", "1"}, "too many arguments"},
    {{"sql", "-U", "u", "x"}, "too many arguments"},
    {{"sql", "-Q", "select 1"}, "no user is given"},
    {{"sql", "-U", "u", "-Q", "select 1"}, "set SQLCMDPASSWORD, or give --password-file"},
    {{"sql", "-E"}, "-E is not available"},
    {{"sql", "-v", "a=b"}, "-v is not available"},
    {{"sql", "-U", "u", "-P", "p", "--format", "xml"}, "--format wants table, csv, json or ndjson"},
    {{"sql", "-U", "u", "-P", "p", "-Nmaybe"}, "-N wants mandatory, optional or strict"},
    {{"sql", "-UuPx", "-Pp", "--format=csv", "-s,"}, "only with --format table"},
    {{"sql", "-Uu", "-Pp", "--format=json", "-h-1"}, "only with --format table or csv"},
    {{"sql", "-Uu", "-Pp", "-Qa", "-if.sql"}, "use one of them"},
    {{"sql", "-Uu", "-Pp", "-l0"}, "-l wants a whole number from 1"},
};

static void run(e2e_process *process, const usage_case *usage, int status) {
  const char *argv[10] = {ALOFT_COMMAND};
  for (size_t i = 0; i < 8 && usage->argv[i] != NULL; i++)
    argv[i + 1] = usage->argv[i];
  e2e_run(process, argv, NULL, status);
}

static void wrong_lines_are_explained(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    e2e_process process;
    run(&process, &cases[i], 2);
    if (e2e_count(&process.errors, cases[i].says) != 1)
      fail_msg("not '%s' but '%s'", cases[i].says, process.errors.text);
    assert_int_equal(e2e_count(&process.errors, "\n"), 1);
    assert_int_equal(process.output.size, 0);
    e2e_free(&process);
  }
}

static void files_that_are_not_there(void **state) {
  static const usage_case missing[] = {
      {{"sql", "-Uu", "-Pp", "-i/nonexistent/x.sql"}, "nothing was run"},
      {{"sql", "-Uu", "--password-file", "/nonexistent/p"}, "password file /nonexistent/p"},
      {{"pub", "a", "b", "--user", "u", "--password-file", "/nonexistent/p"}, "password file"},
      {{"sql", "-Uu", "-Pp", "-o", "/nonexistent/o"}, "output file /nonexistent/o"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof missing / sizeof missing[0]; i++) {
    e2e_process process;
    run(&process, &missing[i], 6);
    assert_int_equal(e2e_count(&process.errors, missing[i].says), 1);
    e2e_free(&process);
  }
}

static void help_goes_to_standard_output(void **state) {
  static const usage_case helps[] = {
      {{"help"}, "Usage: aloft COMMAND"},
      {{"--help"}, "Usage: aloft COMMAND"},
      {{"help", "pub"}, "aloft pub "},
      {{"sub", "-h"}, "aloft sub "},
      {{"sql", "-?"}, "aloft sql "},
      {{"reply", "--help"}, "aloft reply "},
      {{"request", "x", "--help"}, "aloft request "},
      {{"version"}, "aloft "},
      {{"--version"}, "aloft "},
  };
  (void)state;
  for (size_t i = 0; i < sizeof helps / sizeof helps[0]; i++) {
    e2e_process process;
    run(&process, &helps[i], 0);
    assert_true(e2e_count(&process.output, helps[i].says) >= 1);
    assert_int_equal(process.errors.size, 0);
    e2e_free(&process);
  }
}

static void no_command_is_wrong(void **state) {
  static const usage_case none = {{NULL}, NULL};
  e2e_process process;
  (void)state;
  run(&process, &none, 2);
  assert_true(e2e_count(&process.errors, "Usage:") == 1);
  e2e_free(&process);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(wrong_lines_are_explained),
      cmocka_unit_test(files_that_are_not_there),
      cmocka_unit_test(help_goes_to_standard_output),
      cmocka_unit_test(no_command_is_wrong),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
