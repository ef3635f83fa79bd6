/* The processes that `aloft-bench request` measures, made with this library:
 *   aloft-bench-nats request SUBJECT INFLIGHT COUNT SIZE    the library's requests
 *   aloft-bench-nats by-hand SUBJECT INFLIGHT COUNT SIZE    subscribe, publish, match replies
 *   aloft-bench-nats responder SUBJECT
 *   aloft-bench-nats peer ROUND
 *   aloft-bench-nats certificate FILE KEYFILE               makes one, for a server here
 * The server is that of the environment's NATS_URL. Each is a process of its own so that CPU time,
 * system calls, heap calls and instructions are those of one side alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client_figures.h"
#include "encrypted.h"
#include "load.h"
#include "responder.h"

static int run_load(void (*run)(alo_load *load), uint64_t inflight_max, char **arguments) {
  static alo_load load;
  static char data[ALO_LOAD_SIZE_MAX];
  memset(data, 'x', sizeof data);
  load.url = alo_client_url();
  load.subject = aloft_text_of(arguments[0]);
  load.inflight = (uint32_t)alo_client_number(arguments[1], "INFLIGHT", inflight_max);
  load.count = alo_client_number(arguments[2], "COUNT", UINT32_MAX);
  load.data = (aloft_bytes){data, alo_client_number(arguments[3], "SIZE", ALO_LOAD_SIZE_MAX)};
  run(&load);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 6 && strcmp(argv[1], "request") == 0)
    return run_load(alo_load_run_request, ALO_LOAD_INFLIGHT_MAX, argv + 2);
  if (argc == 6 && strcmp(argv[1], "by-hand") == 0)
    return run_load(alo_load_run_by_hand, ALO_LOAD_BY_HAND_MAX, argv + 2);
  if (argc == 3 && strcmp(argv[1], "responder") == 0)
    return alo_responder_run(alo_client_url(), argv[2]);
  if (argc == 3 && strcmp(argv[1], "peer") == 0)
    return alo_scripted_peer_run(
        (uint32_t)alo_client_number(argv[2], "ROUND", ALO_LOAD_INFLIGHT_MAX));
  if (argc == 4 && strcmp(argv[1], "certificate") == 0)
    return alo_encrypted_make_certificate(argv[2], argv[3]);
  fprintf(stderr, "usage: aloft-bench-nats request|by-hand SUBJECT INFLIGHT COUNT SIZE\n"
                  "       aloft-bench-nats responder SUBJECT\n"
                  "       aloft-bench-nats peer ROUND\n"
                  "       aloft-bench-nats certificate FILE KEYFILE\n");
  return 2;
}
