/* What the aloft command's exit status says; the table of aloft(1). */
#ifndef ALO_EXIT_STATUS_H
#define ALO_EXIT_STATUS_H

typedef enum alo_exit {
  ALO_EXIT_OK = 0,
  ALO_EXIT_ANSWER = 1,        /* the server or the service answered with an error */
  ALO_EXIT_USAGE = 2,         /* the command line is wrong; nothing was done */
  ALO_EXIT_CONNECTION = 3,    /* no connection, refused credentials, connection lost */
  ALO_EXIT_TIMEOUT = 4,       /* no answer within the time given */
  ALO_EXIT_NO_RESPONDERS = 5, /* nobody listens on the subject */
  ALO_EXIT_LOCAL = 6,         /* a file, the output, memory or a size limit */
  ALO_EXIT_SIGNAL = 128       /* plus the signal's number: stopped by it */
} alo_exit;

#endif
