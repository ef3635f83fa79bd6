#include "lite.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server.h"

enum { EXIT_USAGE = 2, EXIT_UNABLE = 3, SECRET_MAX = 1024 };

typedef struct options {
  const char *path, *listen, *user, *password_file, *database;
  bool verbose;
  char password[SECRET_MAX];
  size_t password_size;
  alo_address address;
} options;

static const char usage[] =
    "usage: aloft lite FILE.db --user NAME [--listen 127.0.0.1:0] [--password-file FILE]\n"
    "                  [--database NAME] [--verbose]\n"
    "\n"
    "Serves a SQLite file as a SQL Server database (TDS 7.4, without TLS). FILE.db is created if\n"
    "absent; \":memory:\" is a database that ends with the server. The password comes from\n"
    "ALOFT_LITE_PASSWORD or --password-file. Prints \"listening on ADDRESS:PORT\" when it is "
    "ready;\n"
    "SIGINT and SIGTERM stop it. With --verbose each statement is a line on standard error, and "
    "so\n"
    "is each one that an ATTENTION has stopped. docs/lite.md says which T-SQL it understands.\n";

static int complain(const char *format, const char *detail) {
  fputs("aloft lite: ", stderr);
  fprintf(stderr, format, detail);
  fputc('\n', stderr);
  return EXIT_USAGE;
}

/* ---- options ---- */

static int read_password_file(options *own) {
  int fd = open(own->password_file, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd < 0 ? -1 : read(fd, own->password, sizeof own->password);
  int error = errno;
  if (fd >= 0)
    close(fd);
  if (size < 0) {
    fprintf(stderr, "aloft lite: cannot read the password file %s: %s\n", own->password_file,
            strerror(error));
    return EXIT_USAGE;
  }
  if (size == (ssize_t)sizeof own->password)
    return complain("the password in %s is too long: at most 128 characters", own->password_file);
  const char *line = memchr(own->password, '\n', (size_t)size);
  own->password_size = line ? (size_t)(line - own->password) : (size_t)size;
  if (own->password_size && own->password[own->password_size - 1] == '\r')
    own->password_size--;
  return 0;
}

static int read_password(options *own) {
  char *secret = getenv("ALOFT_LITE_PASSWORD");
  if (own->password_file)
    return read_password_file(own);
  if (!secret)
    return complain("no password: set %s or give --password-file", "ALOFT_LITE_PASSWORD");
  own->password_size = strlen(secret);
  if (own->password_size >= sizeof own->password)
    return complain("the password in %s is too long: at most 128 characters",
                    "ALOFT_LITE_PASSWORD");
  memcpy(own->password, secret, own->password_size);
  explicit_bzero(secret, own->password_size);
  return 0;
}

/* "127.0.0.1:1433", "[::1]:0". */
static int parse_address(options *own) {
  char host[64];
  const char *colon = strrchr(own->listen, ':');
  const char *begin = own->listen, *end = colon;
  if (!colon)
    return complain("--listen wants ADDRESS:PORT, not '%s'", own->listen);
  if (*begin == '[' && end > begin && end[-1] == ']') {
    begin++;
    end--;
  }
  char *rest = NULL;
  unsigned long port = strtoul(colon + 1, &rest, 10);
  if (colon[1] < '0' || colon[1] > '9' || *rest || port > 65535 ||
      (size_t)(end - begin) >= sizeof host)
    return complain("--listen wants ADDRESS:PORT, not '%s'", own->listen);
  memcpy(host, begin, (size_t)(end - begin));
  host[end - begin] = 0;
  memset(&own->address, 0, sizeof own->address);
  if (inet_pton(AF_INET, host, &own->address.in.sin_addr) == 1) {
    own->address.in.sin_family = AF_INET;
    own->address.in.sin_port = htons((uint16_t)port);
    return 0;
  }
  if (inet_pton(AF_INET6, host, &own->address.in6.sin6_addr) == 1) {
    own->address.in6.sin6_family = AF_INET6;
    own->address.in6.sin6_port = htons((uint16_t)port);
    return 0;
  }
  return complain("--listen wants a numeric address, as 127.0.0.1:1433 or [::1]:0, not '%s'",
                  own->listen);
}

static int parse_options(int argc, char **argv, options *own, bool *help) {
  static const struct option known[] = {{"listen", required_argument, NULL, 'l'},
                                        {"user", required_argument, NULL, 'u'},
                                        {"password-file", required_argument, NULL, 'p'},
                                        {"database", required_argument, NULL, 'd'},
                                        {"verbose", no_argument, NULL, 'v'},
                                        {"help", no_argument, NULL, 'h'},
                                        {NULL, 0, NULL, 0}};
  own->listen = "127.0.0.1:0";
  opterr = 0;
  optind = 1;
  for (int found; (found = getopt_long(argc, argv, ":", known, NULL)) != -1;) {
    switch (found) {
    case 'l':
      own->listen = optarg;
      break;
    case 'u':
      own->user = optarg;
      break;
    case 'p':
      own->password_file = optarg;
      break;
    case 'd':
      own->database = optarg;
      break;
    case 'v':
      own->verbose = true;
      break;
    case 'h':
      *help = true;
      return 0;
    case ':':
      return complain("%s needs a value; see aloft lite --help", argv[optind - 1]);
    default:
      return complain("unknown option %s; see aloft lite --help", argv[optind - 1]);
    }
  }
  if (optind + 1 != argc)
    return complain("%s; see aloft lite --help",
                    optind == argc ? "give the database file" : "give one database file only");
  own->path = argv[optind];
  if (!own->user || !*own->user)
    return complain("%s; see aloft lite --help", "give --user NAME, who may log in");
  int code = parse_address(own);
  return code ? code : read_password(own);
}

/* ---- running ---- */

static aloft_loop *the_loop; /* for the handler */
static aloft_post stop_post;

static void stop(aloft_post *post) {
  (void)post;
  aloft_loop_stop(the_loop);
}

static void on_signal(int number) {
  (void)number;
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

static void print_address(const options *own, uint16_t port) {
  char host[64] = "";
  if (own->address.base.sa_family == AF_INET6) {
    inet_ntop(AF_INET6, &own->address.in6.sin6_addr, host, sizeof host);
    printf("listening on [%s]:%u\n", host, (unsigned)port);
  } else {
    inet_ntop(AF_INET, &own->address.in.sin_addr, host, sizeof host);
    printf("listening on %s:%u\n", host, (unsigned)port);
  }
  fflush(stdout);
}

static int serve(options *own) {
  char error[256] = "";
  const alo_lite_config config = {
      .engine = {.path = own->path, .name = aloft_text_of(own->database)},
      .user = aloft_text_of(own->user),
      .password = {own->password, own->password_size},
      .address = own->address,
      .log = own->verbose ? stderr : NULL};
  alo_lite *lite = NULL;
  aloft_status status = alo_lite_open(&lite, the_loop, &config, error);
  explicit_bzero(own->password, sizeof own->password);
  if (status != ALOFT_OK) {
    fprintf(stderr, "aloft lite: %s\n", error);
    return EXIT_UNABLE;
  }
  catch_signals();
  print_address(own, alo_lite_port(lite));
  while (!the_loop->stopped && status == ALOFT_OK)
    status = aloft_loop_turn(the_loop, ALOFT_FOREVER);
  alo_lite_close(lite);
  if (status != ALOFT_OK)
    fprintf(stderr, "aloft lite: %s: %s\n", aloft_status_meaning(status),
            aloft_status_advice(status));
  return status == ALOFT_OK ? 0 : EXIT_UNABLE;
}

int aloft_lite_main(int argc, char **argv) {
  options own;
  bool help = false;
  memset(&own, 0, sizeof own);
  int code = parse_options(argc, argv, &own, &help);
  if (help)
    return fputs(usage, stdout) < 0;
  if (code)
    return code;
  if (aloft_loop_open(&the_loop, NULL) != ALOFT_OK)
    return complain("cannot open an event loop: %s", strerror(errno)) + 1;
  code = serve(&own);
  aloft_loop_close(the_loop);
  return code;
}
