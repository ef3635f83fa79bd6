/* A TCP stream on a loop: dialled or accepted, received bytes in a chain, output in one bounded
 * buffer that is written at the end of each turn. */
#ifndef ALO_STREAM_H
#define ALO_STREAM_H

#include "buffer.h"
#include "loop.h"

enum { ALO_ADDRESSES_MAX = 16, ALO_HOST_MAX = 255 };

typedef enum alo_stream_event {
  ALO_STREAM_CONNECTED, /* may write; once */
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
  uint64_t tx_written; /* bytes given to the kernel, in all */
  size_t tx_peak;      /* most that waited to be written; the user sets it back */
  uint64_t rx_bytes;   /* received, in all */
  aloft_status failed; /* ALOFT_RESOLVE, ALOFT_CONNECT, ALOFT_LOST...; ALOFT_OK: the peer's close */
  int error;           /* errno of it, 0: none */
  bool open, connected, paused, ended, want_drained;
  bool tx_failed; /* the kernel refuses output: what the peer sent before is read, then it ends */
  int tx_error;   /* errno of that */
  size_t rx_max;  /* unread bytes in `rx` beyond which reading waits; 0: none */
  alo_watch watch;
  alo_output output;
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
  return stream->tx_written + alo_buffer_size(&stream->tx);
}
/* Drops bytes from the front of `rx`; reading goes on when it had waited for room. */
void alo_stream_drop(alo_stream *stream, size_t size);
/* Stops and resumes reading. */
void alo_stream_pause(alo_stream *stream, bool paused);
/* Closes the socket at once; what `tx` holds is lost, what `rx` holds stays. No event after it. */
void alo_stream_close(alo_stream *stream);

#endif
