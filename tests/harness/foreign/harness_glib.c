#include "harness_foreign.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

#include <aloft/adapters/glib.h>

extern const harness_foreign harness_glib;

typedef struct timer {
  void (*call)(void *context);
  void *context;
} timer;

static GMainContext *own;
static aloft_glib adapter;

static void open_context(void) {
  own = g_main_context_new();
}

static void close_context(void) {
  g_main_context_unref(own);
  own = NULL;
}

static aloft_status attach(aloft_loop *loop) {
  return aloft_glib_attach(&adapter, loop, own);
}

static void detach(void) {
  aloft_glib_detach(&adapter);
}

static aloft_status close_loop(void) {
  return aloft_glib_close(&adapter);
}

static bool attached(void) {
  return adapter.loop != NULL;
}

static gboolean nothing(gpointer context) {
  (void)context;
  return G_SOURCE_REMOVE;
}

static aloft_status iterate(int wait_ms) {
  if (wait_ms <= 0) {
    g_main_context_iteration(own, wait_ms < 0);
    return adapter.status;
  }
  GSource *limit = g_timeout_source_new((guint)wait_ms);
  g_source_set_callback(limit, nothing, NULL, NULL);
  g_source_attach(limit, own);
  g_main_context_iteration(own, TRUE);
  g_source_destroy(limit);
  g_source_unref(limit);
  return adapter.status;
}

static gboolean fired(gpointer context) {
  timer *at = context;
  at->call(at->context);
  return G_SOURCE_REMOVE;
}

static void after(int ms, void (*call)(void *context), void *context) {
  timer *at = g_new(timer, 1);
  *at = (timer){call, context};
  GSource *source = ms ? g_timeout_source_new((guint)ms) : g_idle_source_new();
  g_source_set_priority(source, G_PRIORITY_DEFAULT);
  g_source_set_callback(source, fired, at, g_free);
  g_source_attach(source, own);
  g_source_unref(source);
}

/* A source of the same priority that is attached later is prepared later. */
static timer before;

static gboolean prepare_later(GSource *source, gint *timeout_ms) {
  (void)source;
  *timeout_ms = -1;
  before.call(before.context);
  g_source_destroy(source);
  return FALSE;
}

static gboolean check_nothing(GSource *source) {
  (void)source;
  return FALSE;
}

static void before_wait(void (*call)(void *context), void *context) {
  static GSourceFuncs functions = {.prepare = prepare_later, .check = check_nothing};
  before = (timer){call, context};
  GSource *source = g_source_new(&functions, sizeof(GSource));
  g_source_attach(source, own);
  g_source_unref(source);
}

const harness_foreign harness_glib = {
    .name = "glib",
    .open = open_context,
    .close = close_context,
    .attach = attach,
    .detach = detach,
    .close_loop = close_loop,
    .attached = attached,
    .iterate = iterate,
    .after = after,
    .before_wait = before_wait,
    .nests = true,
};
