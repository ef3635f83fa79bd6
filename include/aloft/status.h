/* The one list of statuses. Each has a class, and a sentence that says what to do. */
#ifndef ALOFT_STATUS_H
#define ALOFT_STATUS_H

#include <aloft/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum aloft_class {
  ALOFT_CLASS_OK,        /* not an error */
  ALOFT_CLASS_ARGUMENT,  /* the caller's mistake: mend the call */
  ALOFT_CLASS_LIMIT,     /* a configured bound was met: wait, or raise it */
  ALOFT_CLASS_TIMEOUT,   /* the caller's time was over */
  ALOFT_CLASS_CANCELLED, /* the caller took it back */
  ALOFT_CLASS_TRANSPORT, /* the network: look at the error's `system`, try again */
  ALOFT_CLASS_PROTOCOL,  /* the peer broke the protocol; the connection is dead */
  ALOFT_CLASS_SERVER,    /* the peer answered with an error */
  ALOFT_CLASS_AUTH,      /* credentials or encryption were refused */
  ALOFT_CLASS_CLOSED     /* closed by this program */
} aloft_class;

/* X(name, number, class, meaning, what to do). Numbers never change. */
#define ALOFT_STATUS_TABLE(X)                                                                      \
  X(ALOFT_OK, 0, OK, "success", "nothing")                                                         \
  X(ALOFT_ROW, 1, OK, "a row is ready", "read its columns, then step again")                       \
  X(ALOFT_RESULT, 2, OK, "a new result set begins", "look at its columns, then step again")        \
  X(ALOFT_DONE, 3, OK, "the answer is complete", "nothing: the operation's done follows")          \
  X(ALOFT_PENDING, 4, OK, "more bytes are needed", "step again when ready is called")              \
  X(ALOFT_MORE, 5, OK, "more columns of the same row are ready", "read them, then step again")     \
  X(ALOFT_OUTPUT, 6, OK, "an output parameter's value is ready", "read it, then step again")       \
  X(ALOFT_ARGUMENT, 16, ARGUMENT, "an argument is not valid", "mend the call; see the error text") \
  X(ALOFT_IN_USE, 17, ARGUMENT, "the operation is already in flight",                              \
    "wait for its done, or use another")                                                           \
  X(ALOFT_WRONG_TYPE, 18, ARGUMENT, "the value is not of the accessor's type",                     \
    "use the accessor for the column's type, and ask for NULL first")                              \
  X(ALOFT_WRONG_STATE, 19, ARGUMENT, "not possible in this state", "see the function's contract")  \
  X(ALOFT_FULL, 32, LIMIT, "the output limit is reached",                                          \
    "wait for output to drain, or raise tx_bytes_max")                                             \
  X(ALOFT_TOO_MANY, 33, LIMIT, "the limit on things at one time is reached",                       \
    "wait for one to end, or raise the limit that the error text names")                           \
  X(ALOFT_TOO_LARGE, 34, LIMIT, "one thing is over its size limit",                                \
    "send less, or raise the limit that the error text names")                                     \
  X(ALOFT_NO_MEMORY, 35, LIMIT, "the allocator gave no memory", "free some and try again")         \
  X(ALOFT_BUSY, 36, LIMIT, "the connection is in use by another operation",                        \
    "wait for its done, or take another connection")                                               \
  X(ALOFT_TIMEOUT, 48, TIMEOUT, "the time given was over", "try again, or give more time")         \
  X(ALOFT_CANCELLED, 64, CANCELLED, "cancelled by the caller", "nothing")                          \
  X(ALOFT_RESOLVE, 80, TRANSPORT, "the host name was not resolved",                                \
    "check the name and the resolver")                                                             \
  X(ALOFT_CONNECT, 81, TRANSPORT, "no connection could be made",                                   \
    "check address and port, and that the server runs")                                            \
  X(ALOFT_LOST_UNSENT, 82, TRANSPORT, "the connection was lost before the request was written",    \
    "it was not executed: send it again on a new connection")                                      \
  X(ALOFT_LOST, 83, TRANSPORT, "the connection was lost after the request was written",            \
    "it may have been executed: find out before sending it again")                                 \
  X(ALOFT_SYSTEM, 84, TRANSPORT, "a system call failed", "see the error's system (errno)")         \
  X(ALOFT_PROTOCOL, 96, PROTOCOL, "the peer broke the protocol",                                   \
    "report the error text to the server's makers; connect anew")                                  \
  X(ALOFT_UNSUPPORTED, 97, PROTOCOL, "a part of the protocol that Aloft does not have",            \
    "avoid what the error text names")                                                             \
  X(ALOFT_SERVER, 112, SERVER, "the server answered with an error", "see number and text")         \
  X(ALOFT_NO_RESPONDERS, 113, SERVER, "nobody listens on the subject",                             \
    "start a responder, or check the subject")                                                     \
  X(ALOFT_AUTH, 128, AUTH, "the server refused the credentials", "check user and password")        \
  X(ALOFT_ENCRYPTION, 129, AUTH, "the encryption asked for is not available",                      \
    "see the error text for the option to set")                                                    \
  X(ALOFT_CLOSED, 144, CLOSED, "closed by this program", "open anew")

typedef enum aloft_status {
#define ALOFT_STATUS_ENUM(name, number, class, meaning, advice) name = (number),
  ALOFT_STATUS_TABLE(ALOFT_STATUS_ENUM)
#undef ALOFT_STATUS_ENUM
} aloft_status;

/* What is known of a failure. Shown by an operation's `error`; every text in it is valid as long
 * as that pointer. Absent texts have `data` NULL; absent numbers are 0. */
typedef struct aloft_error {
  aloft_status status;
  int32_t system;     /* errno of the failed call */
  int32_t number;     /* SQL Server's error number, or a NATS status code */
  uint32_t line;      /* of the SQL batch or procedure */
  uint8_t state;      /* SQL Server's state */
  uint8_t severity;   /* SQL Server's class, 0 to 25 */
  aloft_text message; /* one line that says what happened and what to do */
  aloft_text server;  /* SQL Server's name */
  aloft_text procedure;
} aloft_error;

/* Name ("ALOFT_TIMEOUT"), meaning, advice and class; for a number not in the table "ALOFT_UNKNOWN",
 * and the class ARGUMENT. The strings are constant. */
ALOFT_API const char *aloft_status_name(aloft_status status);
ALOFT_API const char *aloft_status_meaning(aloft_status status);
ALOFT_API const char *aloft_status_advice(aloft_status status);
ALOFT_API aloft_class aloft_status_class(aloft_status status);

/* The constant error of a status that has no more to tell: its message is meaning and advice. */
ALOFT_API const aloft_error *aloft_status_error(aloft_status status);

#ifdef __cplusplus
}
#endif
#endif
