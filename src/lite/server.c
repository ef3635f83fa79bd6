#include "lite_connection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void listener_ready(alo_watch *watch, unsigned events) {
  (void)events;
  alo_lite_accept(ALOFT_CONTAINER(watch, alo_lite, watch));
}

static char *copy(aloft_text text, size_t *size) {
  char *own = malloc(text.size + 1);
  if (own && text.size)
    memcpy(own, text.data, text.size);
  *size = text.size;
  return own;
}

static void release(alo_lite *lite) {
  if (lite->password)
    explicit_bzero(lite->password, lite->password_size);
  free(lite->password);
  free(lite->user);
  alo_lite_tls_close(lite);
  alo_engine_close(lite->engine);
  free(lite);
}

static uint64_t loop_clock(void *context) {
  alo_driver *driver = context;
  return driver->methods->now(driver);
}

/* Its errors do not name the file. */
static aloft_status open_engine(alo_lite *lite, const alo_engine_config *config, char *error) {
  char reason[256] = "no memory";
  alo_engine_config own = *config;
  if (!own.steady_clock) {
    own.steady_clock = loop_clock;
    own.steady_context = lite->loop->driver;
  }
  aloft_status status = alo_engine_open(&lite->engine, &own, reason);
  if (status != ALOFT_OK)
    snprintf(error, 256, "%.100s: %.150s", config->path, reason);
  return status;
}

static aloft_status listen_at(alo_lite *lite, const alo_address *at, char *error) {
  alo_driver *driver = lite->loop->driver;
  alo_address bound;
  int failed = driver->methods->listen(driver, at, &lite->watch, &lite->listener, &bound);
  if (failed < 0) {
    snprintf(error, 256, "cannot listen: %s; choose another address or port 0", strerror(-failed));
    return ALOFT_SYSTEM;
  }
  lite->port = ntohs(bound.base.sa_family == AF_INET6 ? bound.in6.sin6_port : bound.in.sin_port);
  return ALOFT_OK;
}

aloft_status alo_lite_open(alo_lite **made, aloft_loop *loop, const alo_lite_config *config,
                           char *error) {
  alo_lite *lite = calloc(1, sizeof *lite);
  if (!lite) {
    snprintf(error, 256, "no memory");
    return ALOFT_NO_MEMORY;
  }
  lite->ops = &loop->ops;
  lite->loop = loop;
  lite->watch.ready = listener_ready;
  lite->connections_max = config->connections_max ? config->connections_max : 1024;
  lite->login_timeout_ns = config->login_timeout_ns ? config->login_timeout_ns : ALOFT_SECONDS(30);
  lite->next_spid = 51; /* the lower ones are SQL Server's own */
  lite->log = config->log;
  lite->stopping = config->stopping;
  lite->user = copy(config->user, &lite->user_size);
  lite->password = copy(config->password, &lite->password_size);
  aloft_status status = lite->user && lite->password ? ALOFT_OK : ALOFT_NO_MEMORY;
  if (status == ALOFT_OK)
    status = open_engine(lite, &config->engine, error);
  else
    snprintf(error, 256, "no memory");
  if (status == ALOFT_OK)
    status = alo_lite_tls_open(lite, config, error);
  if (status == ALOFT_OK)
    status = listen_at(lite, &config->address, error);
  if (status != ALOFT_OK) {
    release(lite);
    return status;
  }
  *made = lite;
  return ALOFT_OK;
}

uint16_t alo_lite_port(const alo_lite *lite) {
  return lite->port;
}

alo_lite_counters alo_lite_get_counters(const alo_lite *lite) {
  return lite->counters;
}

void alo_lite_close(alo_lite *lite) {
  if (!lite)
    return;
  lite->loop->driver->methods->shut(lite->listener);
  alo_timer_clear(&lite->accept_again);
  while (lite->connections)
    alo_lite_drop(lite->connections);
  /* What was queued for them runs now, and frees them. */
  alo_ops_run_completions(&lite->loop->ops);
  release(lite);
}
