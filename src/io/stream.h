/* A TCP stream on a loop: dialled or accepted, received bytes in a chain, output in one bounded
 * buffer that is written at the end of each turn. */
#ifndef ALO_STREAM_H
#define ALO_STREAM_H

#include "buffer.h"
#include "loop.h"
#include "tls.h"

enum { ALO_ADDRESSES_MAX = 16, ALO_HOST_MAX = 255 };

typedef enum alo_stream_event {
  ALO_STREAM_CONNECTED, /* may write; once */
  ALO_STREAM_SECURED,   /* the handshake that alo_stream_secure began is complete */
  ALO_STREAM_READABLE,  /* more bytes in `rx` */
  ALO_STREAM_DRAINED,   /* `tx` has become empty, or never will while the stream is paused (see
                           `tx_failed`; nothing else would tell). Only with `want_drained` */
  ALO_STREAM_ENDED      /* the peer closed, or `error`; bytes in `rx` are the last. Once */
} alo_stream_event;

typedef struct alo_stream alo_stream;
struct alo_stream {
  aloft_loop *loop;
  /* Called in the input phase, DRAINED and ENDED also in the output phase. May close it. */
  void (*event)(alo_stream *stream, alo_stream_event event);
  alo_chain rx;
  alo_buffer tx;
  uint64_t tx_taken;   /* bytes that have left `tx`, in all: given to the kernel, or encrypted */
  uint64_t tx_written; /* those of them that the kernel has, with TLS in whole records */
  size_t tx_peak;      /* most that waited to be written; the user sets it back */
  uint64_t rx_bytes;   /* received, in all */
  aloft_status failed; /* ALOFT_RESOLVE, ALOFT_CONNECT, ALOFT_LOST...; ALOFT_OK: the peer's close */
  int error;           /* errno of it, 0: none */
  alo_tls *tls;        /* NULL: plain */
  uint64_t tls_begin;  /* of `tx_written`, where the session's count begins */
  bool open, connected, paused, ended, want_drained;
  bool tx_failed; /* the kernel refuses output: what the peer sent before is read, then it ends */
  int tx_error;   /* errno of that */
  size_t rx_max;  /* unread bytes in `rx` beyond which reading waits; 0: none */
  alo_watch watch;
  alo_output output;
  alo_input input;
  alo_socket *socket;
  alo_resolve resolve;
  uint16_t port;
  unsigned next_address;
  alo_address addresses[ALO_ADDRESSES_MAX];
};

/* Zero, then init. `tx_max`: of output not yet written, in bytes. */
void alo_stream_init(alo_stream *stream, aloft_loop *loop, size_t tx_max);
/* Closes at once if open, and releases its memory. No event after it. */
void alo_stream_fini(alo_stream *stream);

/* Begins to resolve and connect; CONNECTED or ENDED follows, never inside this call. Its deadline
 * is the caller's. Refused: ALOFT_ARGUMENT (the host name), ALOFT_NO_MEMORY, ALOFT_RESOLVE,
 * ALOFT_CONNECT with `error`. */
aloft_status alo_stream_dial(alo_stream *stream, aloft_text host, uint16_t port);

/* Takes over a connection that waits at the listener. False: none waits, or `error`. */
bool alo_stream_accept(alo_stream *stream, alo_socket *listener);

/* `tx` holds more: it leaves at the end of the turn. */
void alo_stream_send(alo_stream *stream);
/* Bytes ever put into `tx`: the end of what has been appended so far. */
static inline uint64_t alo_stream_tx_end(const alo_stream *stream) {
  return stream->tx_taken + alo_buffer_size(&stream->tx);
}
/* Bytes ever put into `tx` that the kernel has not got, in `tx` or encrypted. */
static inline uint64_t alo_stream_tx_left(const alo_stream *stream) {
  return alo_stream_tx_end(stream) - stream->tx_written;
}
/* Why it ended, when a text says more than `error`; NULL: none. Valid as long as the stream. */
static inline const char *alo_stream_failure(const alo_stream *stream) {
  return stream->tls && stream->tls->failed != ALOFT_OK ? stream->tls->failure : NULL;
}
/* Drops bytes from the front of `rx`; reading goes on when it had waited for room. */
void alo_stream_drop(alo_stream *stream, size_t size);

/* Encrypts a connected stream from the next byte on, in both directions: bytes in `rx` become the
 * session's input, bytes in `tx` leave as they are; after it both are plain bytes again. Owns `tls`
 * from then on, also when it fails. A session that is not established makes its handshake now, and
 * SECURED or ENDED follows, never inside this call; until then `tx` is held. With an established
 * one there is no event. A peer that closes without close_notify ends the stream with ALOFT_LOST;
 * other failures with ALOFT_ENCRYPTION; alo_stream_failure has the sentence. ALOFT_NO_MEMORY,
 * ALOFT_WRONG_STATE: not connected, or encrypted already. */
aloft_status alo_stream_secure(alo_stream *stream, alo_tls *tls);
/* Goes on in the clear, as TDS does after a login: for when all output has been written (DRAINED),
 * and before the peer's next byte. What has come in and was not decrypted is plain. The session is
 * closed. ALOFT_WRONG_STATE: output is left, or there is no session. */
aloft_status alo_stream_unsecure(alo_stream *stream);

/* Stops and resumes reading. */
void alo_stream_pause(alo_stream *stream, bool paused);
/* Closes the socket at once; what `tx` holds is lost, what `rx` holds stays. No event after it. */
void alo_stream_close(alo_stream *stream);

#endif
