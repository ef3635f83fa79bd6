/* An Aloft loop inside a GLib main loop. See aloft_adapters(3).
 *
 * From attach to detach the GMainContext turns the Aloft loop, all on the thread that iterates the
 * context; operations are started, cancelled and completed in callbacks of either.
 *
 * Detach or close the adapter before the Aloft loop is closed otherwise than by aloft_glib_close.
 * The context may go before or after. */
#ifndef ALOFT_ADAPTERS_GLIB_H
#define ALOFT_ADAPTERS_GLIB_H

#include <aloft/loop.h>

#include <glib.h>
#include <poll.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The caller's, from attach to detach at one place. Zero: not attached. */
typedef struct aloft_glib {
  aloft_loop *loop;    /* NULL: not attached */
  aloft_status status; /* not ALOFT_OK: turning the loop failed, and the context turns it no more */
  GSource *source;     /* to name it or to give it a priority */
  struct {             /* the adapter's own */
    gpointer tag;
    GIOCondition events;
    bool deaf;
    bool waiting; /* from prepare to check */
  } own;
} aloft_glib;

typedef struct alo_glib_source {
  GSource source; /* first */
  aloft_glib *adapter;
} alo_glib_source;

/* Inside a callback of the loop, where a nested main loop may run, its descriptor cannot be served
 * and is not listened to. (GLib's own way of that costs each dispatch three system calls.) */
static inline void alo_glib_listen(aloft_glib *adapter, bool listen) {
  adapter->own.deaf = !listen;
  g_source_modify_unix_fd(adapter->source, adapter->own.tag,
                          listen ? adapter->own.events : (GIOCondition)0);
}

static inline gboolean alo_glib_prepare(GSource *source, gint *timeout_ms) {
  aloft_glib *adapter = ((alo_glib_source *)source)->adapter;
  aloft_loop_wants wants;
  wants.size = sizeof wants;
  *timeout_ms = -1;
  if (!adapter || aloft_loop_get_wants(adapter->loop, &wants) != ALOFT_OK)
    return FALSE;
  if (adapter->own.deaf)
    alo_glib_listen(adapter, true);
  adapter->own.waiting = true;
  *timeout_ms = wants.timeout_ms;
  return wants.timeout_ms == 0;
}

/* GLib looks at the descriptor itself. */
static inline gboolean alo_glib_check(GSource *source) {
  aloft_glib *adapter = ((alo_glib_source *)source)->adapter;
  aloft_loop_wants wants;
  wants.size = sizeof wants;
  if (!adapter)
    return FALSE;
  adapter->own.waiting = false;
  return aloft_loop_get_wants(adapter->loop, &wants) == ALOFT_OK && wants.timeout_ms == 0;
}

/* GLib holds the source while this runs, also when a callback detaches. */
static inline gboolean alo_glib_dispatch(GSource *source, GSourceFunc unused, gpointer context) {
  alo_glib_source *own = (alo_glib_source *)source;
  (void)unused;
  (void)context;
  if (!own->adapter)
    return G_SOURCE_REMOVE;
  own->adapter->own.waiting = false;
  aloft_status status = aloft_loop_turn(own->adapter->loop, 0);
  if (status == ALOFT_WRONG_STATE)
    alo_glib_listen(own->adapter, false);
  if (status == ALOFT_OK || status == ALOFT_WRONG_STATE)
    return G_SOURCE_CONTINUE;
  if (own->adapter)
    own->adapter->status = status;
  return G_SOURCE_REMOVE;
}

/* Only what comes after prepare has asked would be forgotten. */
static inline void alo_glib_changed(aloft_loop *loop, void *context) {
  aloft_glib *adapter = (aloft_glib *)context;
  (void)loop;
  if (adapter->own.waiting && !g_source_is_destroyed(adapter->source))
    g_main_context_wakeup(g_source_get_context(adapter->source));
}

/* `context` NULL: the default one. ALOFT_WRONG_STATE: called from a callback of the loop;
 * ALOFT_UNSUPPORTED. */
static inline aloft_status aloft_glib_attach(aloft_glib *adapter, aloft_loop *loop,
                                             GMainContext *context) {
  static GSourceFuncs functions = {
      alo_glib_prepare, alo_glib_check, alo_glib_dispatch, NULL, NULL, NULL};
  aloft_loop_wants wants;
  wants.size = sizeof wants;
  aloft_status status = aloft_loop_get_wants(loop, &wants);
  if (status != ALOFT_OK)
    return status;
  adapter->loop = loop;
  adapter->status = ALOFT_OK;
  adapter->source = g_source_new(&functions, sizeof(alo_glib_source));
  adapter->own.waiting = adapter->own.deaf = false;
  ((alo_glib_source *)adapter->source)->adapter = adapter;
  g_source_set_name(adapter->source, "aloft");
  g_source_set_can_recurse(adapter->source, TRUE);
  adapter->own.events = (GIOCondition)((wants.events & POLLIN ? G_IO_IN : 0) |
                                       (wants.events & POLLOUT ? G_IO_OUT : 0));
  adapter->own.tag = g_source_add_unix_fd(adapter->source, wants.descriptor, adapter->own.events);
  aloft_loop_on_change(loop, alo_glib_changed, adapter);
  g_source_attach(adapter->source, context);
  return ALOFT_OK;
}

/* From then on the loop is only turned by others, if at all. Also from a callback; of one that is
 * not attached: nothing. */
static inline void aloft_glib_detach(aloft_glib *adapter) {
  if (!adapter->loop)
    return;
  aloft_loop_on_change(adapter->loop, NULL, NULL);
  ((alo_glib_source *)adapter->source)->adapter = NULL;
  g_source_destroy(adapter->source);
  g_source_unref(adapter->source);
  adapter->loop = NULL;
  adapter->source = NULL;
}

/* Detaches and closes the loop: what is in flight on it completes with ALOFT_CLOSED before this
 * returns. ALOFT_WRONG_STATE: called from a callback of the loop; nothing has happened. */
static inline aloft_status aloft_glib_close(aloft_glib *adapter) {
  aloft_loop *loop = adapter->loop;
  aloft_loop_wants wants;
  wants.size = sizeof wants;
  if (loop && aloft_loop_get_wants(loop, &wants) == ALOFT_WRONG_STATE)
    return ALOFT_WRONG_STATE;
  aloft_glib_detach(adapter);
  aloft_loop_close(loop);
  return ALOFT_OK;
}

#ifdef __cplusplus
}
#endif
#endif
