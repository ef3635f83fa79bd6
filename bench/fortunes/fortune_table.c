#include "fortune_table.h"

#include <stdio.h>

#include "task.h"

enum { NO_SUCH_OBJECT = 208 };

typedef struct statement {
  aloft_tds_query query;
  aloft_status status;
  int32_t number; /* of the server's error */
} statement;

static void done(aloft_op *op, aloft_status status) {
  statement *self = ALOFT_CONTAINER(op, statement, query.op);
  self->status = status;
  self->number = op->error != NULL ? op->error->number : 0;
  if (status != ALOFT_OK && self->number != NO_SUCH_OBJECT)
    alo_fortunes_fail(self->query.sql.data, status, op->error);
}

static statement run(aloft_loop *loop, aloft_tds *tds, const char *sql,
                     const aloft_tds_param *params, size_t count) {
  statement self = {
      .query = {
          .op = {.done = done}, .sql = aloft_text_of(sql), .params = params, .param_count = count}};
  aloft_status status = aloft_tds_query_start(tds, &self.query);
  if (status != ALOFT_OK)
    alo_fortunes_fail(sql, status, self.query.op.error);
  aloft_wait(loop, &self.query.op);
  return self;
}

static void insert(aloft_loop *loop, aloft_tds *tds, int32_t id) {
  const aloft_tds_param params[] = {
      {.name = ALOFT_TEXT("id"), .type = ALOFT_TDS_INT, .value = {.integer = id}},
      {.name = ALOFT_TEXT("message"),
       .type = ALOFT_TDS_NVARCHAR,
       .value = {.text = alo_fortunes_message(id)}}};
  static const char sql[] = "INSERT INTO fortune (id, message) VALUES (@id, @message)";
  statement inserted = run(loop, tds, sql, params, 2);
  if (inserted.status != ALOFT_OK)
    alo_fortunes_fail(sql, inserted.status, NULL);
}

int alo_fortune_table_create(void) {
  aloft_loop *loop;
  if (aloft_loop_open(&loop, NULL) != ALOFT_OK)
    alo_fortunes_fail("cannot begin", ALOFT_NO_MEMORY, NULL);
  aloft_tds *tds = alo_fortunes_connect(loop);
  bool there = run(loop, tds, alo_fortunes_query, NULL, 0).status == ALOFT_OK;
  if (!there) {
    run(loop, tds,
        "CREATE TABLE fortune (id int NOT NULL PRIMARY KEY, message nvarchar(2048) NOT NULL)", NULL,
        0);
    for (int32_t id = 1; id <= ALO_FORTUNES; id++)
      insert(loop, tds, id);
  }
  printf(there ? "there\n" : "created\n");
  aloft_loop_close(loop);
  return 0;
}

int alo_fortune_table_drop(void) {
  aloft_loop *loop;
  if (aloft_loop_open(&loop, NULL) != ALOFT_OK)
    alo_fortunes_fail("cannot begin", ALOFT_NO_MEMORY, NULL);
  run(loop, alo_fortunes_connect(loop), "DROP TABLE fortune", NULL, 0);
  aloft_loop_close(loop);
  return 0;
}
