/*
 * stream.h - one TLS connection between two daemons, divided into frames and signals. It knows nothing of hosts, lost
 * connections or routes, which link.c handles.
 *
 * Each frame travels as its 64 header bytes and its payload. The header's last word, which is 0 elsewhere, carries the
 * number of frames that the sender has received on this link so far. A flag in the header requests such a count.
 * Signals have the size of a header and a magic number of their own.
 */
#ifndef PVMD_STREAM_H
#define PVMD_STREAM_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include "core/message/frame.h"
#include "machine.h"

struct pvmd_stream;

enum pvmd_signal {
    PVMD_SIGNAL_HELLO = 1, /* the first signal of each side */
    PVMD_SIGNAL_COUNT,     /* only carries the count */
    PVMD_SIGNAL_PING,      /* answer with PONG */
    PVMD_SIGNAL_PONG,
    PVMD_SIGNAL_BYE,    /* the daemon is ending: do not call again */
    PVMD_SIGNAL_DETOUR, /* the next frame has a detour; only stream.c uses it */
    PVMD_SIGNAL_REST,   /* nobody uses this connection: close it, unless you need it */
    PVMD_SIGNAL_LAST = PVMD_SIGNAL_REST,
};

/* The stream's events for its owner, always from the loop. The owner may close the stream in each of them. */
struct pvmd_stream_events {
    void (*ready)(void *owner); /* the handshake is done: frames may be sent */
    /* A frame has arrived (the owner references it to keep it); `asked`: the other side requests our count soon. */
    void (*frame)(void *owner, struct pvmc_frame *f, uint32_t count, bool asked);
    void (*signal)(void *owner, enum pvmd_signal signal, uint32_t count);
    void (*writable)(void *owner);              /* after pvmd_stream_frame() refused one */
    void (*down)(void *owner, const char *why); /* called once; the owner then closes the stream */
};

/*
 * Takes over the connected, non-blocking socket fd and begins the handshake. `key` is copied. NULL when out of memory:
 * fd is then closed.
 */
struct pvmd_stream *pvmd_stream_new(struct ev_loop *loop, int fd, bool caller, const uint8_t key[PVMD_KEY_BYTES],
                                    const struct pvmd_stream_events *events, void *owner);

/* Closes and frees; no event follows. */
void pvmd_stream_close(struct pvmd_stream *s);

/* The same for a connection that has failed: the kernel forgets what it has not delivered. */
void pvmd_stream_abort(struct pvmd_stream *s);

/*
 * Sends a frame, and its detour, with our count (keeps a reference as long as it needs one): true, or false when the
 * socket is full; `writable` follows. The frame may be buffered until pvmd_stream_flush().
 */
bool pvmd_stream_frame(struct pvmd_stream *s, struct pvmc_frame *f, uint32_t count, bool ask);

/* The same for a signal. A signal waits behind the frame being written, but is never refused. */
void pvmd_stream_signal(struct pvmd_stream *s, enum pvmd_signal signal, uint32_t count);

/* Sends what is buffered. Each caller of the two functions above calls it last. */
void pvmd_stream_flush(struct pvmd_stream *s);

/* When bytes last arrived, by pvmc_clock_us(). */
int64_t pvmd_stream_heard_us(const struct pvmd_stream *s);

/* Looks at what the kernel knows of the connection; called regularly, for the two functions below. */
void pvmd_stream_look(struct pvmd_stream *s);

/* Until when bytes got through both ways: theirs arrived, and at a look their kernel had acknowledged more of ours. */
int64_t pvmd_stream_proven_us(const struct pvmd_stream *s);

/* How many of our bytes their kernel had acknowledged at the last look. */
uint64_t pvmd_stream_acked(const struct pvmd_stream *s);

/* Whether nothing of ours was under way from the last look but one to the last. */
bool pvmd_stream_is_quiet(const struct pvmd_stream *s);

/* The socket, for tests and for the addresses of both ends. */
int pvmd_stream_fd(const struct pvmd_stream *s);

#endif
