#include "e2e_gateway.h"
#include "e2e_sql_server.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- files ---- */

static void remove_files(const char *folder) {
  DIR *files = opendir(folder);
  struct dirent *entry;
  while (files != NULL && (entry = readdir(files)) != NULL) {
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.')
      unlink(path);
  }
  if (files != NULL)
    closedir(files);
}

void e2e_rig_clear(const e2e_rig *rig) {
  remove_files(rig->queries);
}

void e2e_rig_write(const e2e_rig *rig, const char *name, const char *text) {
  char path[200];
  snprintf(path, sizeof path, "%s/%s.%s.sql", rig->queries, rig->prefix, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

/* ---- servers ---- */

void e2e_rig_start_lite(e2e_rig *rig, const char *port) {
  static const char *const environment[] = {"ALOFT_LITE_PASSWORD=" E2E_PASSWORD, NULL};
  char path[96], listen[40];
  snprintf(path, sizeof path, "%s/test.db", rig->folder);
  snprintf(listen, sizeof listen, "127.0.0.1:%s", port);
  e2e_start(&rig->lite,
            ((const char *[]){ALOFT_COMMAND, "lite", path, "--listen", listen, "--user", "tester",
                              "--verbose", NULL}),
            environment, E2E_PIPED);
  e2e_wait_for(&rig->lite, &rig->lite.output, "\n", 2); /* certificate, address */
  const char *found = strstr(rig->lite.output.text, "127.0.0.1:");
  assert_non_null(found);
  found += strlen("127.0.0.1:");
  snprintf(rig->port, sizeof rig->port, "%.*s", (int)strspn(found, "0123456789"), found);
  snprintf(rig->sql, sizeof rig->sql,
           "ALOFT_SQL=Server=tcp:127.0.0.1,%s;User Id=tester;Password='" E2E_PASSWORD
           "';Encrypt=Optional",
           rig->port);
}

void e2e_rig_kill_lite(e2e_rig *rig) {
  kill(rig->lite.pid, SIGKILL);
  waitpid(rig->lite.pid, NULL, 0);
  rig->lite.pid = 0;
  e2e_free(&rig->lite);
}

static bool use_given_server(e2e_rig *rig) {
  const char *given = e2e_sql_server();
  if (given)
    snprintf(rig->sql, sizeof rig->sql, "ALOFT_SQL=%s", given);
  return given != NULL;
}

void e2e_rig_start(e2e_rig *rig, const char *configuration, bool own_servers) {
  const char *given = getenv("ALOFT_TEST_NATS");
  memset(rig, 0, sizeof *rig);
  own_servers = own_servers || configuration != NULL;
  snprintf(rig->folder, sizeof rig->folder, "/tmp/aloft-e2e-XXXXXX");
  assert_non_null(mkdtemp(rig->folder));
  snprintf(rig->queries, sizeof rig->queries, "%s/queries", rig->folder);
  assert_int_equal(mkdir(rig->queries, 0700), 0);
  snprintf(rig->prefix, sizeof rig->prefix, "test%d", (int)getpid());
  if (given == NULL || own_servers)
    e2e_nats_server_start(&rig->nats, configuration);
  snprintf(rig->nats_url, sizeof rig->nats_url, "NATS_URL=%s",
           rig->nats.url[0] != '\0' ? rig->nats.url : given);
  if (own_servers || !use_given_server(rig))
    e2e_rig_start_lite(rig, "0");
  rig->environment[0] = rig->nats_url;
  rig->environment[1] = rig->sql;
}

void e2e_rig_stop(e2e_rig *rig) {
  if (rig->nats.url[0] != '\0')
    e2e_nats_server_stop(&rig->nats);
  if (rig->lite.pid != 0)
    e2e_free(&rig->lite);
  remove_files(rig->queries);
  rmdir(rig->queries);
  remove_files(rig->folder);
  rmdir(rig->folder);
}

/* ---- gateways and requests ---- */

void e2e_rig_gateway(const e2e_rig *rig, e2e_process *gateway, const char *const *options) {
  const char *argv[16] = {ALOFT_COMMAND, "gateway", rig->queries, "--verbose"};
  for (size_t i = 0; options != NULL && options[i] != NULL && i < 11; i++)
    argv[4 + i] = options[i];
  e2e_start(gateway, argv, rig->environment, E2E_PIPED);
  e2e_wait_for(gateway, &gateway->output, "gateway ready: ", 1);
}

void e2e_rig_begin(const e2e_rig *rig, e2e_process *request, const char *name, const char *body,
                   const char *header) {
  char subject[128];
  const char *argv[12] = {ALOFT_COMMAND, "request", "--raw", "--timeout", "60s", subject};
  size_t count = 6;
  snprintf(subject, sizeof subject, "%s.%s", rig->prefix, name);
  if (body != NULL)
    argv[count++] = body;
  if (header != NULL) {
    argv[count++] = "-H";
    argv[count++] = header;
  }
  e2e_start(request, argv, rig->environment, E2E_PIPED);
}

int e2e_rig_request(const e2e_rig *rig, e2e_process *request, const char *name, const char *body,
                    const char *header) {
  e2e_rig_begin(rig, request, name, body, header);
  return e2e_finish(request);
}

void e2e_rig_expect_rows(const e2e_rig *rig, const char *name, const char *body, const char *rows) {
  e2e_process request;
  int status = e2e_rig_request(rig, &request, name, body, NULL);
  if (status != 0 || strncmp(request.output.text, rows, strlen(rows)) != 0 ||
      request.output.size != strlen(rows) + 1)
    fail_msg("%s %s: status %d, %s%s\nexpected %s", name, body != NULL ? body : "", status,
             request.output.text, request.errors.text, rows);
  e2e_free(&request);
}

void e2e_rig_expect_error(const e2e_rig *rig, const char *name, const char *body,
                          const char *header, const char *error) {
  e2e_process request;
  char expected[600];
  int status = e2e_rig_request(rig, &request, name, body, header);
  snprintf(expected, sizeof expected, "the service answered with error %s", error);
  if (status != 1 || strstr(request.errors.text, expected) == NULL)
    fail_msg("%s %s: status %d, %s%s\nexpected error %s", name, body != NULL ? body : "", status,
             request.output.text, request.errors.text, error);
  e2e_free(&request);
}

void e2e_expect_end(e2e_process *process, int signal, int status) {
  kill(process->pid, signal);
  int ended = e2e_finish(process);
  if (ended != status)
    fail_msg("exit status %d instead of %d: %s", ended, status, process->errors.text);
}

void e2e_expect_text(const e2e_stream *stream, const char *text) {
  if (e2e_count(stream, text) == 0)
    fail_msg("'%s' is not in: %s", text, stream->text);
}
