#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <openssl/ssl.h>

#include "heap.h"
#include "nats_toy.h"
#include "stream.h"
#include "timer.h"
#include "tls_files.h"

enum { OUTPUT_MAX = 64 << 20, FIELDS_MAX = 6 };

typedef struct toy_sub {
  struct toy_sub *next;
  char *subject, *queue; /* queue NULL: none */
  uint64_t sid, max, delivered;
} toy_sub;

typedef struct toy_connection {
  struct toy_connection *next;
  nats_toy *toy;
  alo_stream stream;
  alo_buffer in;
  toy_sub *subs;
  uint64_t sent;
  uint32_t pongs;
  bool logged_in, echo, headers, dead;
} toy_connection;

typedef struct toy_delay {
  alo_timer timer;
  struct toy_delay *next, **back;
  nats_toy *toy;
  char *reply;
  size_t size;
  uint8_t data[];
} toy_delay;

typedef struct nats_toy_own {
  alo_ops *ops;
  nats_toy *toy;
  alo_watch watch;
  alo_socket *listener;
  toy_connection *connections; /* dead ones stay until the next one is accepted, or close */
  toy_delay *delays;
  unsigned turn; /* of queue groups */
} nats_toy_own;

typedef struct toy_message {
  aloft_text subject, reply, headers;
  aloft_bytes data;
} toy_message;

static void *must(void *memory) {
  if (!memory)
    abort();
  return memory;
}

static char *copy_text(aloft_text text) {
  char *copy = must(malloc(text.size + 1));
  memcpy(copy, text.data, text.size);
  copy[text.size] = 0;
  return copy;
}

/* ---- output ---- */

static void drop_subs(toy_connection *connection) {
  while (connection->subs) {
    toy_sub *sub = connection->subs;
    connection->subs = sub->next;
    free(sub->subject);
    free(sub->queue);
    free(sub);
  }
}

static void drop(toy_connection *connection) {
  connection->dead = true;
  if (connection->toy->options.cut && connection->stream.tls)
    connection->stream.tls->failed = ALOFT_LOST; /* and says nothing of the end */
  drop_subs(connection);
  alo_stream_close(&connection->stream);
}

static void send_bytes(toy_connection *connection, const void *data, size_t size) {
  if (connection->dead || connection->stream.want_drained)
    return;
  uint64_t close_at = connection->toy->options.close_at;
  bool last = close_at && connection->sent + size >= close_at;
  if (last)
    size = close_at > connection->sent ? (size_t)(close_at - connection->sent) : 0;
  if (alo_buffer_append(&connection->stream.tx, data, size) != ALOFT_OK) {
    drop(connection);
    return;
  }
  connection->sent += size;
  connection->stream.want_drained = last;
  alo_stream_send(&connection->stream);
}

static void send_text(toy_connection *connection, const char *text) {
  send_bytes(connection, text, strlen(text));
}

static void send_info(toy_connection *connection, bool lame_duck) {
  const nats_toy_options *options = &connection->toy->options;
  bool tls = options->tls_required || (connection->toy->tls && !options->tls_available);
  char text[512];
  snprintf(text, sizeof text,
           "INFO {\"server_id\":\"TOY\",\"server_name\":\"toy\",\"version\":\"2.9.0\",\"proto\":1,"
           "\"headers\":%s,\"max_payload\":%llu,\"tls_required\":%s,\"tls_available\":%s,"
           "\"auth_required\":%s%s}\r\n",
           options->no_headers ? "false" : "true",
           (unsigned long long)(options->max_payload ? options->max_payload : 1 << 20),
           tls && !options->tls_unsaid ? "true" : "false",
           options->tls_available && !options->tls_unsaid ? "true" : "false",
           options->user || options->token ? "true" : "false", lame_duck ? ",\"ldm\":true" : "");
  send_text(connection, text);
}

/* ---- routing ---- */

/* One token of a dotted text, which is moved past it. */
static aloft_text next_token(aloft_text *rest) {
  const char *dot = memchr(rest->data, '.', rest->size);
  aloft_text token = {rest->data, dot ? (size_t)(dot - rest->data) : rest->size};
  size_t taken = token.size + (dot ? 1 : 0);
  rest->data += taken;
  rest->size -= taken;
  return token;
}

static bool matches(const char *pattern_text, aloft_text subject) {
  aloft_text pattern = aloft_text_of(pattern_text);
  while (pattern.size && subject.size) {
    aloft_text wanted = next_token(&pattern), token = next_token(&subject);
    if (aloft_text_equal(wanted, ALOFT_TEXT(">")))
      return true;
    if (!aloft_text_equal(wanted, ALOFT_TEXT("*")) && !aloft_text_equal(wanted, token))
      return false;
  }
  return pattern.size == 0 && subject.size == 0;
}

static void send_message(toy_connection *connection, uint64_t sid, const toy_message *message) {
  char line[2600];
  bool headers = message->headers.data && connection->headers;
  size_t header_size = headers ? message->headers.size : 0;
  char sizes[48];
  if (headers)
    snprintf(sizes, sizeof sizes, "%zu %zu", header_size, header_size + message->data.size);
  else
    snprintf(sizes, sizeof sizes, "%zu", message->data.size);
  snprintf(line, sizeof line, "%s %.*s %llu %.*s%s%s\r\n", headers ? "HMSG" : "MSG",
           ALOFT_PRINT(message->subject), (unsigned long long)sid, ALOFT_PRINT(message->reply),
           message->reply.size ? " " : "", sizes);
  send_text(connection, line);
  send_bytes(connection, message->headers.data, header_size);
  send_bytes(connection, message->data.data, message->data.size);
  send_text(connection, "\r\n");
}

static void end_sub(toy_connection *connection, toy_sub **at) {
  (void)connection;
  toy_sub *sub = *at;
  *at = sub->next;
  free(sub->subject);
  free(sub->queue);
  free(sub);
}

static void deliver(toy_connection *connection, toy_sub **at, const toy_message *message) {
  toy_sub *sub = *at;
  send_message(connection, sub->sid, message);
  if (!connection->dead && sub->max && ++sub->delivered >= sub->max)
    end_sub(connection, at);
}

/* The members of a queue group that match; the `pick`-th of them is delivered to. */
static size_t visit_group(nats_toy *toy, const toy_message *message, const char *queue,
                          size_t pick) {
  size_t found = 0;
  for (toy_connection *to = toy->own->connections; to; to = to->next)
    for (toy_sub **at = &to->subs; *at; at = &(*at)->next) {
      if (!(*at)->queue || strcmp((*at)->queue, queue) != 0 ||
          !matches((*at)->subject, message->subject))
        continue;
      if (found++ == pick) {
        deliver(to, at, message);
        return found;
      }
    }
  return found;
}

static bool is_first_of_group(nats_toy *toy, const toy_message *message, const toy_sub *sub) {
  for (toy_connection *to = toy->own->connections; to; to = to->next)
    for (toy_sub *at = to->subs; at; at = at->next)
      if (at->queue && strcmp(at->queue, sub->queue) == 0 && matches(at->subject, message->subject))
        return at == sub;
  return false;
}

/* Deliveries to all who want it; returns how many. */
static size_t route(nats_toy *toy, const toy_connection *from, const toy_message *message) {
  char *groups[16];
  size_t group_count = 0, count = 0;
  for (toy_connection *to = toy->own->connections; to; to = to->next) {
    if (to == from && !from->echo)
      continue;
    for (toy_sub **at = &to->subs, **next; *at; at = next) {
      toy_sub *sub = *at;
      next = &sub->next;
      if (!matches(sub->subject, message->subject))
        continue;
      if (sub->queue) {
        if (group_count < 16 && is_first_of_group(toy, message, sub))
          groups[group_count++] = copy_text(aloft_text_of(sub->queue));
        continue;
      }
      count++;
      deliver(to, at, message);
      if (to->dead)
        break;
      if (*at != sub)
        next = at;
    }
  }
  for (size_t i = 0; i < group_count; i++) {
    size_t members = visit_group(toy, message, groups[i], SIZE_MAX);
    count += members ? 1 : 0;
    if (members)
      visit_group(toy, message, groups[i], toy->own->turn++ % members);
    free(groups[i]);
  }
  return count;
}

static void respond(nats_toy *toy, aloft_text reply, const void *data, size_t size) {
  const toy_message message = {.subject = reply, .data = {data, size}};
  (void)route(toy, NULL, &message);
}

uint64_t nats_toy_respond(nats_toy *toy, aloft_text reply, aloft_bytes data) {
  const toy_message message = {.subject = reply, .data = data};
  uint64_t sent = 0;
  for (toy_connection *to = toy->own->connections; to; to = to->next)
    for (toy_sub **at = &to->subs; *at; at = &(*at)->next) {
      if (!matches((*at)->subject, reply))
        continue;
      deliver(to, at, &message);
      sent = to->dead ? 0 : to->sent;
      break;
    }
  return sent;
}

/* ---- what the toy answers itself ---- */

static void free_delay(toy_delay *delay) {
  *delay->back = delay->next;
  if (delay->next)
    delay->next->back = delay->back;
  alo_timer_clear(&delay->timer);
  free(delay->reply);
  free(delay);
}

static void delay_due(alo_timer *timer) {
  toy_delay *delay = ALOFT_CONTAINER(timer, toy_delay, timer);
  respond(delay->toy, aloft_text_of(delay->reply), delay->data, delay->size);
  free_delay(delay);
}

static void respond_after(nats_toy *toy, const toy_message *message, uint64_t after_ns) {
  toy_delay *delay = must(calloc(1, sizeof *delay + message->data.size));
  delay->toy = toy;
  delay->reply = copy_text(message->reply);
  delay->size = message->data.size;
  memcpy(delay->data, message->data.data, message->data.size);
  delay->next = toy->own->delays;
  delay->back = &toy->own->delays;
  if (delay->next)
    delay->next->back = &delay->next;
  toy->own->delays = delay;
  alo_timer_set(toy->own->ops, &delay->timer, after_ns + 1, delay_due);
}

/* As respond, but under a changed subject or sid. */
static void respond_wrongly(nats_toy *toy, const toy_message *message, bool wrong_sid) {
  for (toy_connection *to = toy->own->connections; to; to = to->next)
    for (toy_sub *at = to->subs; at; at = at->next) {
      if (!matches(at->subject, message->reply))
        continue;
      char *subject = copy_text(message->reply);
      /* Still one that this subscription matches, but of a use that is far away. */
      if (!wrong_sid && message->reply.size > 11)
        subject[message->reply.size - 11] = 'B';
      const toy_message changed = {.subject = {subject, message->reply.size},
                                   .data = message->data};
      send_message(to, wrong_sid ? at->sid + 1000000 : at->sid, &changed);
      free(subject);
      return;
    }
}

static void respond_size(nats_toy *toy, const toy_message *message, size_t size) {
  uint8_t *bytes = must(malloc(size + 1));
  for (size_t i = 0; i < size; i++)
    bytes[i] = (uint8_t)(i * 7 + (i >> 8));
  respond(toy, message->reply, bytes, size);
  free(bytes);
}

static void respond_anew(toy_connection *connection, const toy_message *message) {
  SSL *ssl = connection->stream.tls->ssl;
  assert_int_equal(SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED), 1);
  respond(connection->toy, message->reply, message->data.data, message->data.size);
}

static bool is(const toy_message *message, const char *subject) {
  return aloft_text_equal(message->subject, aloft_text_of(subject));
}

static bool begins(const toy_message *message, const char *with, uint64_t *number) {
  size_t size = strlen(with);
  char digits[24] = "";
  if (message->subject.size <= size || memcmp(message->subject.data, with, size) != 0 ||
      message->subject.size - size >= sizeof digits)
    return false;
  memcpy(digits, message->subject.data + size, message->subject.size - size);
  *number = strtoull(digits, NULL, 10);
  return true;
}

/* False: no subject of the toy's own. */
static bool answer(toy_connection *connection, const toy_message *message) {
  nats_toy *toy = connection->toy;
  uint64_t number;
  const void *data = message->data.data;
  size_t size = message->data.size;
  if (is(message, "toy.echo")) {
    respond(toy, message->reply, data, size);
  } else if (is(message, "toy.twice")) {
    respond(toy, message->reply, data, size);
    respond(toy, message->reply, data, size);
  } else if (begins(message, "toy.after.", &number)) {
    respond_after(toy, message, number * 1000000);
  } else if (is(message, "toy.rewritten") || is(message, "toy.sid")) {
    respond_wrongly(toy, message, is(message, "toy.sid"));
  } else if (begins(message, "toy.size.", &number)) {
    respond_size(toy, message, (size_t)number);
  } else if (is(message, "toy.update")) {
    respond_anew(connection, message);
  } else if (is(message, "toy.close")) {
    drop(connection);
  } else if (is(message, "toy.raw")) {
    send_bytes(connection, data, size);
  } else {
    return is(message, "toy.never");
  }
  return true;
}

/* ---- input ---- */

static bool has(const char *json, const char *name, const char *value) {
  char wanted[256];
  snprintf(wanted, sizeof wanted, "\"%s\":\"%s\"", name, value ? value : "");
  return strstr(json, wanted) != NULL;
}

static bool may_log_in(const nats_toy *toy) {
  const nats_toy_options *options = &toy->options;
  if (options->token)
    return has(toy->connect, "auth_token", options->token);
  if (options->user)
    return has(toy->connect, "user", options->user) && has(toy->connect, "pass", options->password);
  return true;
}

static void connect_in(toy_connection *connection, aloft_text json) {
  nats_toy *toy = connection->toy;
  snprintf(toy->connect, sizeof toy->connect, "%.*s", ALOFT_PRINT(json));
  connection->echo = !strstr(toy->connect, "\"echo\":false");
  connection->headers =
      !toy->options.no_headers && strstr(toy->connect, "\"headers\":true") != NULL;
  if (!may_log_in(toy)) {
    send_text(connection, "-ERR 'Authorization Violation'\r\n");
    connection->toy->options.close_at = connection->sent; /* the text leaves, then it closes */
    send_text(connection, "");
    connection->toy->options.close_at = 0;
    return;
  }
  connection->logged_in = true;
  toy->logins++;
}

static void ping_in(toy_connection *connection) {
  nats_toy *toy = connection->toy;
  toy->pings++;
  if (connection->pongs++ == 0 && toy->options.login_answer) {
    send_text(connection, toy->options.login_answer);
    return;
  }
  if (toy->options.pongs_max == 0 || connection->pongs <= toy->options.pongs_max)
    send_text(connection, "PONG\r\n");
}

static void sub_in(toy_connection *connection, const aloft_text *fields, size_t count) {
  toy_sub *sub = must(calloc(1, sizeof *sub));
  sub->subject = copy_text(fields[1]);
  sub->queue = count == 4 ? copy_text(fields[2]) : NULL;
  sub->sid = strtoull(fields[count - 1].data, NULL, 10);
  sub->next = connection->subs;
  connection->subs = sub;
  connection->toy->subs++;
}

static void unsub_in(toy_connection *connection, const aloft_text *fields, size_t count) {
  uint64_t sid = strtoull(fields[1].data, NULL, 10);
  uint64_t max = count > 2 ? strtoull(fields[2].data, NULL, 10) : 0;
  connection->toy->unsubs++;
  for (toy_sub **at = &connection->subs; *at; at = &(*at)->next) {
    if ((*at)->sid != sid)
      continue;
    (*at)->max = max;
    if (max == 0 || (*at)->delivered >= max)
      end_sub(connection, at);
    return;
  }
}

static void publish_in(toy_connection *connection, const toy_message *message, size_t payload) {
  nats_toy *toy = connection->toy;
  static const char nobody[] = "NATS/1.0 503\r\n\r\n";
  if (toy->options.max_payload && payload > toy->options.max_payload) {
    send_text(connection, "-ERR 'Maximum Payload Violation'\r\n");
    drop(connection);
    return;
  }
  toy->publications++;
  toy->reply = message->reply;
  if (toy->published)
    toy->published(toy, message->subject, message->data);
  if (answer(connection, message) || route(toy, connection, message) || !message->reply.size ||
      !connection->headers)
    return;
  const toy_message none = {.subject = message->reply, .headers = {nobody, sizeof nobody - 1}};
  (void)route(toy, NULL, &none);
}

/* Splits the line at blanks; returns the count. */
static size_t split(aloft_text line, aloft_text *fields) {
  size_t count = 0;
  for (size_t at = 0; at < line.size && count < FIELDS_MAX;) {
    size_t begin = at;
    while (at < line.size && line.data[at] != ' ')
      at++;
    if (at > begin)
      fields[count++] = (aloft_text){line.data + begin, at - begin};
    at++;
  }
  return count;
}

/* Bytes taken; 0: more are needed. A publication's payload follows its line. */
static size_t take_publication(toy_connection *connection, const aloft_text *fields, size_t count,
                               size_t line_size, size_t size) {
  bool headers = fields[0].data[0] == 'H';
  size_t payload = strtoull(fields[count - 1].data, NULL, 10);
  size_t header_size = headers ? strtoull(fields[count - 2].data, NULL, 10) : 0;
  if (size < line_size + payload + 2)
    return 0;
  const char *body = fields[0].data + line_size;
  size_t least = headers ? 4 : 3;
  const toy_message message = {.subject = fields[1],
                               .reply = count > least ? fields[2] : (aloft_text){NULL, 0},
                               .headers = headers ? (aloft_text){body, header_size}
                                                  : (aloft_text){NULL, 0},
                               .data = {body + header_size, payload - header_size}};
  publish_in(connection, &message, payload);
  return line_size + payload + 2;
}

static size_t take_line(toy_connection *connection, const char *data, size_t size) {
  const char *end = memchr(data, '\n', size);
  if (!end)
    return 0;
  size_t line_size = (size_t)(end - data) + 1;
  aloft_text line = {data, line_size - 2};
  aloft_text fields[FIELDS_MAX];
  size_t count = split(line, fields);
  if (count == 0)
    return line_size;
  aloft_text command = fields[0];
  if (aloft_text_equal(command, ALOFT_TEXT("PUB")) || aloft_text_equal(command, ALOFT_TEXT("HPUB")))
    return take_publication(connection, fields, count, line_size, size);
  if (aloft_text_equal(command, ALOFT_TEXT("CONNECT")))
    connect_in(connection, (aloft_text){data + 8, line.size - 8});
  else if (aloft_text_equal(command, ALOFT_TEXT("PING")))
    ping_in(connection);
  else if (aloft_text_equal(command, ALOFT_TEXT("SUB")))
    sub_in(connection, fields, count);
  else if (aloft_text_equal(command, ALOFT_TEXT("UNSUB")))
    unsub_in(connection, fields, count);
  else if (aloft_text_equal(command, ALOFT_TEXT("PONG")))
    connection->toy->pongs++;
  else
    fail_msg("the client sent a line that is none: %.*s", ALOFT_PRINT(line));
  return line_size;
}

static void take_input(toy_connection *connection) {
  alo_chain *rx = &connection->stream.rx;
  while (rx->size) {
    size_t here = rx->first->end - rx->first->begin;
    if (alo_buffer_append(&connection->in, rx->first->data + rx->first->begin, here) != ALOFT_OK) {
      drop(connection);
      return;
    }
    connection->toy->bytes_in += here;
    alo_stream_drop(&connection->stream, here);
  }
  while (!connection->dead && alo_buffer_size(&connection->in)) {
    size_t taken = take_line(connection, (const char *)connection->in.data + connection->in.begin,
                             alo_buffer_size(&connection->in));
    if (taken == 0)
      return;
    alo_buffer_take(&connection->in, taken);
  }
}

/* A greeting that a test gives is one of TLS too, where there is TLS. */
static void greet(toy_connection *connection) {
  const nats_toy *toy = connection->toy;
  const char *text = toy->options.greeting;
  static const char info[] = "INFO {";
  if (!text) {
    send_info(connection, toy->options.lame_duck);
    return;
  }
  if (toy->tls && strncmp(text, info, sizeof info - 1) == 0) {
    send_text(connection, "INFO {\"tls_required\":true,");
    text += sizeof info - 1;
  }
  send_text(connection, text);
}

static void secure(toy_connection *connection) {
  alo_tls *tls;
  nats_toy *toy = connection->toy;
  if (alo_tls_open(&tls, toy->tls, &toy->loop->blocks, NULL) != ALOFT_OK ||
      alo_stream_secure(&connection->stream, tls) != ALOFT_OK)
    drop(connection);
}

static void welcome(toy_connection *connection) {
  const nats_toy *toy = connection->toy;
  if (!toy->tls || !toy->tls_first)
    greet(connection);
  if (toy->tls && !connection->dead)
    secure(connection);
}

static void stream_event(alo_stream *stream, alo_stream_event event) {
  toy_connection *connection = ALOFT_CONTAINER(stream, toy_connection, stream);
  if (event == ALO_STREAM_READABLE)
    take_input(connection);
  else if (event == ALO_STREAM_SECURED && connection->toy->tls_first)
    greet(connection);
  else if (event == ALO_STREAM_SECURED)
    return;
  else if (event != ALO_STREAM_CONNECTED)
    drop(connection);
}

/* ---- life ---- */

static void free_connection(toy_connection *connection) {
  drop(connection);
  alo_stream_fini(&connection->stream);
  alo_buffer_fini(&connection->in);
  free(connection);
}

static void free_dead(nats_toy_own *own) {
  for (toy_connection **at = &own->connections; *at;) {
    toy_connection *connection = *at;
    if (connection->dead) {
      *at = connection->next;
      free_connection(connection);
    } else {
      at = &connection->next;
    }
  }
}

static void connection_waits(alo_watch *watch, unsigned events) {
  (void)events;
  nats_toy_own *own = ALOFT_CONTAINER(watch, nats_toy_own, watch);
  free_dead(own); /* none of them is being called */
  toy_connection *made = must(calloc(1, sizeof *made));
  alo_stream_init(&made->stream, own->toy->loop, OUTPUT_MAX);
  alo_buffer_init(&made->in, &own->toy->loop->heap, OUTPUT_MAX);
  made->stream.event = stream_event;
  made->toy = own->toy;
  if (!alo_stream_accept(&made->stream, own->listener)) {
    alo_stream_fini(&made->stream);
    free(made);
    return;
  }
  made->next = own->connections;
  own->connections = made;
  own->toy->accepted++;
  welcome(made);
}

/* ---- TLS by the environment ---- */

static tls_files files;

static void drop_files(void) {
  tls_files_drop(&files);
}

static void encrypt(nats_toy *toy) {
  const char *how = getenv("ALOFT_TEST_TLS");
  if (!how)
    return;
  if (!files.text_size) {
    tls_files_make(&files, NULL);
    atexit(drop_files);
  }
  toy->tls = tls_files_server(&files, &alo_heap_default, 0, NULL);
  toy->tls_first = strcmp(how, "first") == 0;
}

aloft_nats_config nats_toy_config(const nats_toy *toy) {
  bool tls = getenv("ALOFT_TEST_TLS") != NULL;
  return (aloft_nats_config){.size = sizeof(aloft_nats_config),
                             .url = aloft_text_of(toy->url),
                             .tls_ca_file = aloft_text_of(tls ? files.certificate : NULL),
                             .tls_first = toy->tls_first};
}

bool nats_toy_try_open(nats_toy *toy, aloft_loop *loop, const nats_toy_options *options) {
  memset(toy, 0, sizeof *toy);
  toy->loop = loop;
  if (options)
    toy->options = *options;
  nats_toy_own *own = must(calloc(1, sizeof *own));
  own->ops = &loop->ops;
  own->toy = toy;
  own->watch.ready = connection_waits;
  alo_address at = {.in = {.sin_family = AF_INET}}, bound;
  at.in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (loop->driver->methods->listen(loop->driver, &at, &own->watch, &own->listener, &bound) < 0) {
    free(own);
    return false;
  }
  encrypt(toy);
  toy->own = own;
  toy->port = ntohs(bound.in.sin_port);
  snprintf(toy->url, sizeof toy->url, "nats://127.0.0.1:%u", (unsigned)toy->port);
  return true;
}

void nats_toy_open(nats_toy *toy, aloft_loop *loop, const nats_toy_options *options) {
  assert_true(nats_toy_try_open(toy, loop, options));
}

void nats_toy_close(nats_toy *toy) {
  nats_toy_own *own = toy->own;
  if (!own)
    return;
  while (own->delays)
    free_delay(own->delays);
  while (own->connections) {
    toy_connection *connection = own->connections;
    own->connections = connection->next;
    free_connection(connection);
  }
  toy->loop->driver->methods->shut(own->listener);
  free(own);
  toy->own = NULL;
  alo_tls_context_give(toy->tls);
  toy->tls = NULL;
}

void nats_toy_send(nats_toy *toy, const char *text) {
  for (toy_connection *at = toy->own->connections; at; at = at->next)
    send_text(at, text);
}

void nats_toy_pause(nats_toy *toy, bool paused) {
  for (toy_connection *at = toy->own->connections; at; at = at->next)
    if (!at->dead)
      alo_stream_pause(&at->stream, paused);
}

void nats_toy_drop(nats_toy *toy) {
  for (toy_connection *at = toy->own->connections; at; at = at->next)
    drop(at);
}

size_t nats_toy_connections(const nats_toy *toy) {
  size_t count = 0;
  for (const toy_connection *at = toy->own->connections; at; at = at->next)
    count += !at->dead;
  return count;
}

size_t nats_toy_subscriptions(const nats_toy *toy) {
  size_t count = 0;
  for (const toy_connection *at = toy->own->connections; at; at = at->next)
    for (const toy_sub *sub = at->subs; sub; sub = sub->next)
      count++;
  return count;
}
