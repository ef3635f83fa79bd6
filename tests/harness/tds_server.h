/* A scripted SQL Server for tests, on a loop of its own or on the client's. What it answers is
 * written in the query itself, or in the last part of the procedure's name ("dbo.[rows 3]"):
 *
 *   rows N                N rows (id int, name nvarchar(40)), then DONE
 *   large N               one row: int, nvarchar(max) of N characters, int
 *   larger N              one row: three times nvarchar(max) of N characters
 *   ill-formed            one row: nvarchar(max) that is not well-formed, int
 *   mixed                 one row of many types, and one of NULLs
 *   undated               one row: an int, and a date that there is not
 *   error N               an error of severity 16 with this number, then DONE with the error bit
 *   message               an INFO, one row, another INFO
 *   two                   two result sets of 2 and 3 rows
 *   begin, commit         ENVCHANGE with the transaction descriptor 0x1122334455667788, or 0
 *   state                 one row: descriptor of ALL_HEADERS, whether a reset was asked for
 *   size                  one row: characters of the sql, parameters
 *   return N              a return status
 *   nothing               DONE
 *   wrong                 DONE with the error bit, without an error
 *   garbage               bytes that are no token
 *   echo                  output parameters as they came, the large ones last, and a return status
 *   defaults              how many parameters are by default, as the return status
 *   function              a function's result: the largest bigint
 *   own                   what `answer` puts
 *
 * and after it, how:
 *
 *   hold B        stops after B bytes of the answer (0: before it) until ATTENTION; then the rest
 *                 follows, and the acknowledgement in a message of its own
 *
 *   interrupt B   the same, but the acknowledgement is the end of the answer
 *
 *   pause MS      answers after so long, unless ATTENTION comes before: then not at all
 *
 *   deaf          does not answer ATTENTION
 *
 *   late MS       acknowledges ATTENTION only after so long
 *
 *   again         answers twice
 *
 *   drop B        closes the connection after B bytes of the answer
 *
 *   cut           and says nothing of it in TLS
 *
 *   update        new keys before the answer, and asks for the client's (TLS 1.3) */
#ifndef HARNESS_TDS_SERVER_H
#define HARNESS_TDS_SERVER_H

#include "loop.h"
#include "tls.h"

#include "tds_packet.h"

enum { TDS_SERVER_STATUS = 42 }; /* of "echo" */

struct tds_session;

typedef struct tds_server {
  aloft_loop *loop;
  alo_socket *listener;
  alo_watch watch;
  uint16_t port;
  struct tds_session *sessions;

  /* how it behaves: set at any time */
  uint8_t encryption; /* in the answer to PRELOGIN; ALO_TDS_ENCRYPT_NOT_SUP at first */
  int login_error;    /* an error of this number in place of LOGINACK */
  bool route;         /* ENVCHANGE 20 in the answer to LOGIN7 */
  int json_version;   /* in the acknowledgement of JSON, when it is asked for; -1 at first: none */
  const uint8_t *collation; /* 5 bytes, told at login; NULL: it is not */
  /* The tokens of an answer up to its last DONE. */
  void (*answer)(alo_tds_writer *writer);
  unsigned padding;     /* characters of one more INFO in the answer to LOGIN7; at most 2,000 */
  bool mute;            /* PRELOGIN is not answered */
  alo_tls_context *tls; /* [op: until close] of the server; NULL: it cannot encrypt */
  bool tls_first;       /* begins with TLS, as TDS 8.0 has it */
  aloft_bytes nonsense; /* answers the wrapped handshake, wrapped too; absent: TLS does */
  bool stalls;          /* the wrapped handshake is not answered */
  unsigned wrap_size;   /* bytes of the handshake in one packet; 0: as many as fit */
  uint64_t kill_at;     /* closes the connection after so many bytes of all; 0: never */
  uint64_t spoil_at;    /* this byte of all, counted from 1, is changed; 0: none */
  uint8_t spoil_with;   /* by exclusive or */

  /* what it saw */
  unsigned handshakes;  /* complete */
  bool secret_in_clear; /* LOGIN7 came unencrypted */
  uint8_t json_asked;   /* the version in the last LOGIN7 */
  unsigned accepted, logins, requests, attentions, ignored, resets, ended;
  uint64_t sent;
  uint64_t wrapped_begin, wrapped_end; /* of them, the wrapped handshake in whole packets */
  size_t last_sql_size;
} tds_server;

void tds_server_open(tds_server *server, aloft_loop *loop);
/* Closes everything, before the loop is closed. */
void tds_server_close(tds_server *server);
/* Resets every connection at once. */
void tds_server_drop_all(tds_server *server);

#endif
