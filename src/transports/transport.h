/*
 * transport.h - what carries frames between two processes. Every transport is this one table of functions.
 *
 * There are two ways to connect, and each transport supports one of them:
 * - by address (unix): one side listens, others connect() to the address it was opened with; `accepted` reports them.
 * - by offer (between tasks): one side makes an offer(), an opaque blob and maybe a descriptor, which the daemons carry
 *   to the other side; that side calls join() with it. Neither side needs a name or a port that others could find.
 *
 * The interface is completion driven, with one pollable descriptor and an arm() before sleeping.
 * - Nothing blocks. send() accepts a frame or refuses it with PVMC_EAGAIN; after a refusal, progress() calls tx_ready.
 * - Callbacks come only from inside progress(), never from send() or connect(). They may call send() and disconnect().
 * - down comes exactly once for each endpoint that its owner has not disconnected. The endpoint is dead from then on,
 *   and disconnect() frees it.
 * - Frames of one endpoint arrive complete, in order and once, or down reports that the rest is lost.
 * - A transport has no timers: the layer above handles time limits and heartbeats.
 *
 * Users: src/libpvm for a task's links, src/pvmd for its tasks. How to add one: doc/adding-a-transport.md.
 */
#ifndef PVMT_TRANSPORT_H
#define PVMT_TRANSPORT_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/clock.h"
#include "core/message/frame.h"

#define PVMT_OFFER_MAX 1024 /* bytes of an offer or reply */
#define PVMT_SLEEP_FDS 2    /* descriptors of sleep_on() */

struct pvmt_transport; /* an open transport: knows its endpoints */
struct pvmt_endpoint;  /* one end of a connection */

/* First member of every transport's endpoint struct. */
struct pvmt_endpoint {
    struct pvmt_transport *transport;
    void *owner; /* set by the layer above, e.g. in accepted; the transport never uses it */
};

struct pvmt_attributes {
    uint32_t frame_max;     /* largest payload of a frame, bytes */
    uint32_t copy_max;      /* up to this size, bytes, copying a payload is cheaper than referring to it */
    unsigned latency_ns;    /* typical, one way */
    unsigned bandwidth_mbs; /* typical, 10^6 bytes per second */
    bool local_only;        /* reaches this host only */
    /*
     * A frame accepted by send() reaches a living peer however the connection ends, because it is in memory of both. If
     * this is false, the layer above keeps frames until they are acknowledged, and sends them again by another route.
     */
    bool lossless;
    bool by_name_only;   /* "auto" leaves it out: the user must name it */
    const char *secrecy; /* of what crosses the network: "in the clear", "encrypted ..."; NULL: nothing does */
    /*
     * The death of a peer goes unnoticed while nothing is due from it. If something is due and no answer comes for
     * long, down comes. The daemons report the end of tasks.
     */
    bool end_unseen;
    /*
     * No descriptor tells when something arrives: while there are connected endpoints, fd() becomes readable about once
     * in this time, so that a sleeper calls progress(). 0: it is readable only if there is something to do.
     */
    unsigned look_us;
    /*
     * Frames are slow enough to be worth reading one by one: a message of several frames goes out as a stream
     * (partial.h in core/message), which the receiver gets with the first frame and unpacks as they come. frame_max
     * says how many bytes are read at once.
     */
    bool early;
    uint32_t stream_bytes; /* of a message that is still being packed: worth sending; 0: libpvm's own choice */
    bool by_reference; /* prefers whole messages: a payload in message memory with a location (mem.h) is not copied */
    bool registers;    /* registers message memory with a device, so it needs that memory in arenas, too */
    /*
     * Its network has a clock of its own, by which the process lives while the transport is open (pvmc_virtual_clock).
     * A task opens it on enrolment, before anything else.
     */
    bool has_clock;
};

/* The peer's identity as the kernel reports it; -1 if the transport cannot tell. */
struct pvmt_credentials {
    pid_t pid;
    uid_t uid;
};

struct pvmt_callbacks {
    /* A peer has connected to our address. Set ep->owner. Nonzero refuses it: the transport then frees ep. */
    int (*accepted)(void *arg, struct pvmt_endpoint *ep, const struct pvmt_credentials *who);
    /*
     * A frame with this (checked) header arrives. Return the place for its h->length payload bytes; the memory must
     * stay until rx_done or down. NULL refuses the frame: its payload is read and dropped and rx_done is not called.
     * Also called for frames without payload: the result is then not written to, but must not be NULL to accept.
     */
    uint8_t *(*rx_place)(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h);
    /* The payload announced by the last rx_place on ep is in place. */
    void (*rx_done)(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h);
    /*
     * Optional; NULL: rx_place and rx_done are used for all frames. A frame that is a whole message (offset 0, length
     * equals body_length) has arrived with its payload at data. With mem, data stays in place: the callee gets the
     * reference to mem and releases it when it is done with the message. Without mem, data is valid until this returns.
     * The callee must not write there. Nonzero refuses the frame, and mem stays the transport's.
     */
    int (*rx_whole)(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, struct pvmc_mem *mem,
                    const uint8_t *data);
    /*
     * Optional; NULL: rx_place and rx_done are used for all frames. Unix sockets only. The next frame begins at `wire`,
     * unchecked, and `count` bytes are there until this returns, at least a header and no descriptor. If the frame is
     * whole the callee may deal with it, e.g. by send_wire(), but not pause or disconnect ep: returns the frame's
     * bytes, or 0 for rx_place and rx_done to follow.
     */
    size_t (*rx_wire)(void *arg, struct pvmt_endpoint *ep, const uint8_t *wire, size_t count);
    /*
     * Optional; NULL: descriptors are closed. The frame of the last rx_place brought a descriptor (PVMC_FRAME_FD),
     * which the callee now owns. Comes before rx_done. -1: it was lost, because this process has no descriptors left.
     */
    void (*rx_descriptor)(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, int fd);
    /*
     * Optional; NULL: the connection is lost and that is logged. The peer sent at least these bytes, which are no valid
     * frame. Disconnect ep, now or later; until then all its input is dropped. Unix sockets only.
     */
    void (*rx_foreign)(void *arg, struct pvmt_endpoint *ep, const uint8_t bytes[PVMC_FRAME_HEADER_BYTES], int reason);
    /* The endpoint accepts frames (again): after a PVMC_EAGAIN, and when the peer has joined an offered endpoint. */
    void (*tx_ready)(void *arg, struct pvmt_endpoint *ep);
    /* Optional; NULL: 1. The number that the virtual machine has assigned to this host, from 1. */
    uint16_t (*node)(void *arg);
    /* The connection ended: `reason` is 0 when the peer closed it cleanly between frames, else a PVMC_E code. */
    void (*down)(void *arg, struct pvmt_endpoint *ep, int reason);
};

/* A whole message as peek_whole() finds it. */
struct pvmt_whole {
    struct pvmc_envelope envelope;
    uint32_t seq, length; /* of the payload, not 0 */
    const uint8_t *data;
};

struct pvmt_transport_ops {
    const char *name;
    const char *summary; /* one line for pvm-info */

    /* 0 if usable on this machine, else a PVMC_E code and the reason in why[size]. Opens nothing. */
    int (*available)(char *why, size_t size);

    /* Optional: calls `line` for each device, with its state or why it cannot be used. For pvm-info -d. */
    void (*describe)(void (*line)(void *arg, const char *text), void *arg);

    /* Optional, for a network that may have a clock: what the daemon reports to it. NULL: not here, see why[size]. */
    const struct pvmc_clock_watch *(*clock_watch)(char *why, size_t size);

    /*
     * Opens the transport. `address` is where to listen, in the transport's own notation; NULL: only connect out.
     * callbacks and arg must outlive it.
     */
    int (*open)(const char *address, const struct pvmt_callbacks *callbacks, void *arg, struct pvmt_transport **out);

    /*
     * Closes it and frees all its endpoints without calling down. Also called in a forked child, for inherited copies:
     * the parent's connections must not be affected.
     */
    void (*close)(struct pvmt_transport *t);

    /* Its attributes. With t NULL, before it is open: those already known, which decide the order of choice. */
    void (*query)(const struct pvmt_transport *t, struct pvmt_attributes *out);

    /* By address; NULL in transports that connect by offer. */

    /* Our address as an opaque blob that another process can connect to; returns its length, or PVMC_ELIMIT. */
    int (*address)(const struct pvmt_transport *t, uint8_t *blob, size_t size);

    /* How well a peer with this address can be reached: 0 not at all, more is better. */
    int (*reach)(const struct pvmt_transport *t, const uint8_t *blob, size_t length);

    /* Starts a connection. Frames may be sent at once. Failure comes here or later by down. */
    int (*connect)(struct pvmt_transport *t, const uint8_t *blob, size_t length, void *owner,
                   struct pvmt_endpoint **out);

    /* By offer; NULL in transports that connect by address. */

    /*
     * Creates an endpoint that waits for its peer, and what the peer needs: up to PVMT_OFFER_MAX bytes in blob (their
     * number is returned) and, from local_only transports, a descriptor in *fd, which the caller passes on and closes;
     * else *fd is -1. send() returns PVMC_EAGAIN until the peer has joined and tx_ready comes. PVMC_ELIMIT: out of
     * descriptors; or another PVMC_E code. The owner calls disconnect when it has waited long enough.
     */
    int (*offer)(struct pvmt_transport *t, void *owner, uint8_t blob[PVMT_OFFER_MAX], int *fd,
                 struct pvmt_endpoint **out);

    /*
     * Joins an offer. Takes ownership of fd in any case (-1: none came). Frames may be sent at once; failure comes here
     * or later by down. Writes up to PVMT_OFFER_MAX bytes to reply, which the caller carries back to the offering side
     * for joined(). Returns their number, 0 if there is nothing to carry back, or a PVMC_E code (PVMC_EFORMAT: a
     * malformed blob).
     */
    int (*join)(struct pvmt_transport *t, const uint8_t *blob, size_t length, int fd, void *owner,
                uint8_t reply[PVMT_OFFER_MAX], struct pvmt_endpoint **out);

    /*
     * Processes the reply to an offered endpoint. 0 or a PVMC_E code; NULL in transports whose join() gives no reply.
     */
    int (*joined)(struct pvmt_endpoint *ep, const uint8_t *reply, size_t length);

    /* Ends a connection and frees ep. Frames accepted but not yet carried are lost. No callback follows. */
    void (*disconnect)(struct pvmt_endpoint *ep);

    /*
     * 0: accepted (the transport references the frame as long as it needs it); PVMC_EAGAIN: not accepted; PVMC_EDOWN.
     */
    int (*send)(struct pvmt_endpoint *ep, struct pvmc_frame *f);

    /*
     * Optional; NULL: send() is used for all frames. Like send(), for a frame that is a whole message: its `length`
     * bytes at data are copied before this returns. PVMC_EUNSUPPORTED: too large, or not now: call send(), which also
     * reports why.
     */
    int (*send_whole)(struct pvmt_endpoint *ep, const struct pvmc_envelope *e, uint32_t seq, const uint8_t *data,
                      uint32_t length);

    /*
     * Optional, by address only: forwards a frame from rx_wire, header and payload, which are copied before this
     * returns if need be. 0: accepted. Any other result: not accepted, and send() reports why; tx_ready does not
     * follow.
     */
    int (*send_wire)(struct pvmt_endpoint *ep, const uint8_t *wire, size_t length);

    /*
     * Optional; NULL: send() is used for each. Sends frames[i] by eps[i], endpoints of one transport. The frames belong
     * to one message to several receivers and differ only in their headers, so the common part may be sent once. 0: all
     * are accepted; PVMC_EAGAIN: none, and tx_ready follows for each endpoint; any other error: none, and send()
     * reports it for each. Delivery and order are those of send().
     */
    int (*send_to_many)(struct pvmt_endpoint **eps, struct pvmc_frame **frames, unsigned count);

    /*
     * Number of frames accepted from this endpoint's owner that the transport still needs, or whose in-place data it
     * needs.
     */
    size_t (*pending)(const struct pvmt_endpoint *ep);

    /*
     * Optional, by address only: the traffic of this endpoint so far, in bytes, and the peer's identity. `given` counts
     * whole frames from when send() accepted them, `taken` what was read.
     */
    void (*traffic)(const struct pvmt_endpoint *ep, struct pvmc_bypass *out);

    /*
     * Optional, by address only: stops reading from this endpoint until it is resumed; what the peer sends waits in the
     * kernel, and then at the peer. May be called from rx_done: no later frame is delivered. Sending continues. What a
     * peer that is gone has left is still read.
     */
    void (*pause)(struct pvmt_endpoint *ep, bool on);

    /* Optional, by address only: like pause(), until the next progress(). */
    void (*yield)(struct pvmt_endpoint *ep);

    /* Optional; NULL: false. Whether this endpoint encrypts what it sends. */
    bool (*encrypts)(const struct pvmt_endpoint *ep);

    /*
     * Optional; NULL: as pending(). The part of pending() that may not reach a living peer before the next progress():
     * a sender that is about to compute waits for 0. For transports that need frames until the peer acknowledges them,
     * which it may not do while it computes.
     */
    size_t (*unsent)(const struct pvmt_endpoint *ep);

    /*
     * Optional, both or none, for lossless transports. If the next frame of this endpoint is a whole message that is in
     * memory, and progress() has nothing else to do for the endpoint: true, and *w. Its payload stays until the next
     * call for the transport. That may be take_whole(): the caller has taken the frame. Else the frame stays for
     * progress(), as after false. So a receive that waits for this peer needs no callbacks.
     */
    bool (*peek_whole)(struct pvmt_endpoint *ep, struct pvmt_whole *w);
    void (*take_whole)(struct pvmt_endpoint *ep, uint32_t length);

    /* Moves data without waiting, and calls back. Returns the number of events, or a PVMC_E code. */
    int (*progress)(struct pvmt_transport *t);

    /*
     * Optional; NULL: as progress(). The same for a task that calls it in a tight loop: it may look only at what is
     * likely to have an event, and at the rest in turn.
     */
    int (*glance)(struct pvmt_transport *t);

    /* A descriptor that becomes readable when progress() has something to do, provided that arm() returned 0 before. */
    int (*fd)(struct pvmt_transport *t);

    /* Call it before sleeping on fd(): 0 = sleep; 1 = there is work already, call progress(). */
    int (*arm)(struct pvmt_transport *t);

    /*
     * Optional; NULL: 0. For a caller that calls nothing of the transport while it sleeps: what to poll in place of
     * fd(), since each epoll between a socket and its sleeper takes 0.3 us of a wakeup. Returns the number of
     * descriptors, up to PVMT_SLEEP_FDS; 0: use arm() and fd().
     */
    unsigned (*sleep_on)(struct pvmt_transport *t, struct pollfd fds[PVMT_SLEEP_FDS]);
};

/* First member of every transport's own struct. */
struct pvmt_transport {
    const struct pvmt_transport_ops *ops;
    const struct pvmt_callbacks *callbacks;
    void *arg;
};

/* A row of the table of all transports. Transports that are known but not built have no ops; why_not says why. */
struct pvmt_transport_row {
    const char *name;
    const struct pvmt_transport_ops *ops; /* NULL: not built */
    const char *why_not;                  /* for rows without ops, and why internal ones are no routes */
    bool internal;                        /* never a route between tasks */
};

/* All rows; ends with name NULL. In table.c. */
extern const struct pvmt_transport_row pvmt_transport_table[];

/* The ops by name, or NULL. */
const struct pvmt_transport_ops *pvmt_transport_find(const char *name);

#endif
