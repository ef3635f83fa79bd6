/* Connection strings as SqlClient has them: "Server=tcp:host,1433;Database=db;User ID=sa;...".
 *
 * Keywords in any case, blanks around keywords and values, values in ' or " with that quote doubled
 * inside, == for = in a keyword; of a keyword that comes twice the last one counts, and an empty
 * value stands for the default. */
#ifndef ALO_CONNECTION_STRING_H
#define ALO_CONNECTION_STRING_H

#include <aloft/status.h>

typedef enum alo_encrypt {
  ALO_ENCRYPT_MANDATORY, /* also True, Yes; the default */
  ALO_ENCRYPT_OPTIONAL,  /* also False, No */
  ALO_ENCRYPT_STRICT
} alo_encrypt;

enum { ALO_CONNECTION_ERROR_ROOM = 256 };

/* What Aloft acts on. A text that the string does not give is absent. */
typedef struct alo_connection_string {
  aloft_text host; /* of Server, without protocol, port and brackets */
  uint16_t port;   /* 1433 */
  aloft_text database, user, password, application, workstation, language;
  alo_encrypt encrypt;
  bool trust_server_certificate;
  aloft_text host_name_in_certificate; /* to verify in place of the host */
  aloft_text server_certificate;       /* a file: the certificate to be equal to */
  aloft_text ca_file;                  /* in place of the system's authorities */
  uint64_t connect_timeout_ns;         /* 15 s; 0: no limit, where the string says 0 */
  uint32_t packet_size;                /* 8,000; 512 to 32,767 */
} alo_connection_string;

/* Texts are views of `memory` (text.size bytes; it holds the password, so wipe it after use), but
 * for a host that is a constant.
 * ALOFT_ARGUMENT: `error` (ends with a NUL; ALO_CONNECTION_ERROR_ROOM is enough) says what is wrong
 * and at which character; it shows keywords, never values. So refused: bad syntax, a keyword that
 * SqlClient does not have, a value that is not one, and SqlClient's other keywords unless they ask
 * for what Aloft does anyway (Pooling=False, MultipleActiveResultSets=False, Command Timeout=0...).
 * Texts longer than LOGIN7 takes, or a missing Server, are for the caller to find. */
aloft_status alo_connection_string_parse(aloft_text text, char *memory,
                                         alo_connection_string *settings, char *error,
                                         size_t error_room);

#endif
