#include "lite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "certificate.h"
#include "server.h"
#include "utf16.h"

enum { NAME_UNITS_MAX = 128, HOST_MAX = 64, SERVER_ERROR_MAX = 256 };

/* ---- settings ---- */

/* LOGIN7 has no room for more. */
static bool is_name(const char *text, size_t size) {
  return alo_utf8_utf16_count(text, size) <= NAME_UNITS_MAX;
}

static const char *wrong_name(const alo_lite_settings *settings) {
  if (!*settings->user || !is_name(settings->user, strlen(settings->user)))
    return "the user's name is not UTF-8 of 1 to 128 characters";
  if (settings->name && (!*settings->name || !is_name(settings->name, strlen(settings->name))))
    return "the database's name is not UTF-8 of 1 to 128 characters";
  if (!is_name(settings->password, settings->password_size))
    return "the password is not UTF-8 of at most 128 characters";
  return NULL;
}

static bool read_port(const char *text, uint16_t *port) {
  unsigned long value = 0;
  size_t digits = strspn(text, "0123456789");
  if (digits == 0 || digits > 5 || text[digits])
    return false;
  for (size_t i = 0; i < digits; i++)
    value = value * 10 + (unsigned long)(text[i] - '0');
  *port = (uint16_t)value;
  return value <= UINT16_MAX;
}

/* "127.0.0.1:1433", "[::1]:0". */
static bool read_address(const char *text, alo_address *address) {
  char host[HOST_MAX];
  uint16_t port;
  const char *colon = strrchr(text, ':');
  if (!colon || !read_port(colon + 1, &port))
    return false;
  bool bracketed = *text == '[' && colon > text + 1 && colon[-1] == ']';
  const char *begin = text + bracketed;
  size_t size = (size_t)(colon - begin) - bracketed;
  if (size >= sizeof host)
    return false;
  memcpy(host, begin, size);
  host[size] = 0;
  memset(address, 0, sizeof *address);
  if (!bracketed && inet_pton(AF_INET, host, &address->in.sin_addr) == 1) {
    address->in.sin_family = AF_INET;
    address->in.sin_port = htons(port);
    return true;
  }
  address->in6.sin6_family = AF_INET6;
  address->in6.sin6_port = htons(port);
  return bracketed && inet_pton(AF_INET6, host, &address->in6.sin6_addr) == 1;
}

/* ---- signals ---- */

static aloft_loop *the_loop; /* for the handler */
static aloft_post stop_post;
static volatile sig_atomic_t stopping;

static void stop(aloft_post *post) {
  (void)post;
  aloft_loop_stop(the_loop);
}

static void on_signal(int number) {
  (void)number;
  stopping = 1;
  aloft_loop_post(the_loop, &stop_post);
}

static void catch_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_signal;
  action.sa_flags = (int)SA_RESETHAND; /* a second one ends the process */
  stop_post.run = stop;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  action.sa_handler = SIG_IGN;
  action.sa_flags = 0;
  sigaction(SIGPIPE, &action, NULL);
}

/* The loop goes; a signal that comes now has nothing to stop. */
static void ignore_signals(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = SIG_IGN;
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

/* ---- serving ---- */

static bool print_address(const alo_address *address, uint16_t port) {
  char host[HOST_MAX] = "";
  if (address->base.sa_family == AF_INET6) {
    inet_ntop(AF_INET6, &address->in6.sin6_addr, host, sizeof host);
    printf("listening on [%s]:%u\n", host, (unsigned)port);
  } else {
    inet_ntop(AF_INET, &address->in.sin_addr, host, sizeof host);
    printf("listening on %s:%u\n", host, (unsigned)port);
  }
  return fflush(stdout) == 0;
}

static alo_lite_end turn_until_stopped(const alo_address *address, uint16_t port,
                                       const char *fingerprint, char *error) {
  if (*fingerprint)
    printf("certificate SHA-256 %s\n", fingerprint);
  if (!print_address(address, port)) {
    snprintf(error, ALO_LITE_ERROR_MAX, "cannot print the address to standard output: %s",
             strerror(errno));
    return ALO_LITE_UNABLE;
  }
  while (!the_loop->stopped) {
    aloft_status status = aloft_loop_turn(the_loop, ALOFT_FOREVER);
    if (status != ALOFT_OK) {
      snprintf(error, ALO_LITE_ERROR_MAX, "%s: %s", aloft_status_meaning(status),
               aloft_status_advice(status));
      return ALO_LITE_UNABLE;
    }
  }
  return ALO_LITE_STOPPED;
}

static bool have_certificate(alo_certificate *certificate, const alo_lite_settings *settings,
                             const alo_address *address, char *error) {
  _Static_assert((int)ALO_CERTIFICATE_ERROR_MAX <= (int)ALO_LITE_ERROR_MAX, "it takes the text");
  if (settings->tls == ALO_LITE_TLS_OFF)
    return true;
  if (settings->certificate_file)
    return alo_certificate_read(certificate, settings->certificate_file, settings->key_file, error);
  return alo_certificate_make(certificate, address, error) &&
         (!settings->certificate_out ||
          alo_certificate_write(certificate, settings->certificate_out, error));
}

static alo_lite_end serve_on_loop(const alo_lite_settings *settings, const alo_address *address,
                                  const alo_certificate *certificate, char *error) {
  char reason[SERVER_ERROR_MAX] = "";
  const alo_lite_config config = {
      .engine = {.path = settings->path, .name = aloft_text_of(settings->name)},
      .user = aloft_text_of(settings->user),
      .password = {settings->password, settings->password_size},
      .address = *address,
      .tls = settings->tls,
      .certificate = {certificate->chain, certificate->chain_size},
      .key = {certificate->key, certificate->key_size},
      .certificate_name = aloft_text_of(settings->certificate_file),
      .key_name = aloft_text_of(settings->key_file),
      .log = settings->verbose ? stderr : NULL,
      .stopping = &stopping};
  alo_lite *lite = NULL;
  aloft_status status = alo_lite_open(&lite, the_loop, &config, reason);
  explicit_bzero(settings->password, settings->password_size);
  if (status != ALOFT_OK) {
    snprintf(error, ALO_LITE_ERROR_MAX, "%s", reason);
    return ALO_LITE_UNABLE;
  }
  alo_lite_end end =
      turn_until_stopped(address, alo_lite_port(lite), certificate->fingerprint, error);
  alo_lite_close(lite);
  return end;
}

alo_lite_end alo_lite_serve(const alo_lite_settings *settings, char *error) {
  alo_address address;
  const char *wrong = wrong_name(settings);
  *error = 0;
  if (!wrong && !read_address(settings->listen, &address))
    wrong = "the address to listen at is not numeric with a port, as 127.0.0.1:1433 or [::1]:0";
  if (wrong) {
    snprintf(error, ALO_LITE_ERROR_MAX, "%s", wrong);
    return ALO_LITE_WRONG;
  }
  if (aloft_loop_open(&the_loop, NULL) != ALOFT_OK) {
    snprintf(error, ALO_LITE_ERROR_MAX, "cannot open an event loop: %s", strerror(errno));
    return ALO_LITE_UNABLE;
  }
  catch_signals();
  alo_certificate certificate = {.chain = NULL};
  alo_lite_end end = ALO_LITE_UNABLE;
  if (have_certificate(&certificate, settings, &address, error))
    end = serve_on_loop(settings, &address, &certificate, error);
  alo_certificate_drop(&certificate);
  ignore_signals();
  aloft_loop_close(the_loop);
  return end;
}
