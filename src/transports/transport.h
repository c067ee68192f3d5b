/*
 * transport.h - what carries frames between two processes. Every transport is this one table of functions.
 *
 * There are two ways to connect, and a transport has one of them:
 *  - by address (unix): one side listens, others connect() to the address it was opened with; `accepted` tells.
 *  - by offer (between tasks): one side makes an offer(), an opaque blob and maybe a descriptor, which the daemons
 * carry to the other side; that one calls join() with it. Neither needs a name or a port that others could find.
 *
 * The shape is: completion driven, one pollable descriptor, an arm() before sleeping.
 *  - Nothing blocks. send() takes a frame or refuses it with PVMC_EAGAIN; after a refusal tx_ready comes, from
 * progress().
 *  - Callbacks come only from inside progress(), never from send() or connect(). They may call send() and disconnect().
 *  - down comes exactly once for each endpoint that was not disconnected by its owner; the endpoint is dead from then
 * on and is freed by disconnect().
 *  - Frames of one endpoint arrive in order, whole, once, or down tells that the rest is lost.
 *  - No timers inside: time limits and heartbeats are kept above.
 * Who uses it: src/libpvm for a task's links, src/pvmd for its tasks. How to add one: doc/adding-a-transport.md.
 */
#ifndef PVMT_TRANSPORT_H
#define PVMT_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/clock.h"
#include "core/message/frame.h"

#define PVMT_OFFER_MAX 1024 /* bytes of an offer or reply */

struct pvmt_transport; /* an open transport: knows its endpoints */
struct pvmt_endpoint;  /* one end of a connection */

/* First member of every transport's endpoint struct. */
struct pvmt_endpoint {
    struct pvmt_transport *transport;
    void *owner; /* the layer above sets it, e.g. in accepted; the transport never looks */
};

struct pvmt_attributes {
    uint32_t frame_max;     /* largest payload of a frame, bytes */
    uint32_t copy_max;      /* up to this size copying a payload is cheaper than referring to it, bytes */
    unsigned latency_ns;    /* typical, one way */
    unsigned bandwidth_mbs; /* typical, 10^6 bytes per second */
    bool local_only;        /* reaches this host only */
    /*
     * What send() took reaches a peer that lives, however the connection ends: the frames are in memory of both. Where
     * this is false the layer above keeps frames until they are acknowledged, and sends them again by another route.
     */
    bool lossless;
    bool by_name_only;   /* "auto" leaves it out: used where the user's list names it */
    const char *secrecy; /* of what crosses the network: "in the clear", "encrypted ..."; NULL: nothing does */
    /*
     * A peer that dies without a word is not noticed while nothing is due from it; down comes when something is, and no
     * answer in a long time. The daemons tell of the end of tasks.
     */
    bool end_unseen;
    bool by_reference; /* wants whole messages: a payload in message memory with a location (mem.h) is not copied */
    bool registers;    /* registers message memory with a device: wants it in arenas, too */
    /*
     * Its network has a clock of its own, by which the process lives while the transport is open (pvmc_virtual_clock):
     * a task opens it when it enrols, before it has done anything.
     */
    bool has_clock;
};

/* Who is at the other end, as the kernel vouches for it; -1 where the transport cannot tell. */
struct pvmt_credentials {
    pid_t pid;
    uid_t uid;
};

struct pvmt_callbacks {
    /* A peer connected to our address. Set ep->owner. Nonzero refuses it: the transport then frees ep. */
    int (*accepted)(void *arg, struct pvmt_endpoint *ep, const struct pvmt_credentials *who);
    /*
     * A frame with this (checked) header comes in. Return where its h->length payload bytes go; the memory must stay
     * until rx_done or down. NULL refuses the frame: its payload is read and dropped and rx_done is not called.
     * Called also for frames without payload (the result is then not written to, but must not be NULL to accept).
     */
    uint8_t *(*rx_place)(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h);
    /* The payload announced by the last rx_place on ep is in place. */
    void (*rx_done)(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h);
    /*
     * Optional; NULL: rx_place and rx_done are used for all frames. A frame that is a whole message (offset 0, length
     * equals body_length) came in, and its payload lies at data. With mem, data stays where it is: the callee gets the
     * reference to mem and gives it back when it is done with the message. Without, data is valid until this returns.
     * Nothing may be written there. Nonzero refuses the frame, and mem stays the transport's.
     */
    int (*rx_whole)(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, struct pvmc_mem *mem,
                    const uint8_t *data);
    /*
     * Optional; NULL: descriptors are closed. The frame of the last rx_place brought a descriptor (PVMC_FRAME_FD),
     * which is the callee's now. Comes before rx_done. -1: it was lost, because this process has no descriptors left.
     */
    void (*rx_descriptor)(void *arg, struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, int fd);
    /*
     * Optional; NULL: the connection is lost with a line in the log. What came, at least so many bytes, is no frame, or
     * one that breaks the rules. Disconnect ep, now or later: until then whatever comes is dropped. Unix sockets only.
     */
    void (*rx_foreign)(void *arg, struct pvmt_endpoint *ep, const uint8_t bytes[PVMC_FRAME_HEADER_BYTES], int reason);
    /* After send() gave PVMC_EAGAIN, and when the peer has joined an offered endpoint: it takes frames (again). */
    void (*tx_ready)(void *arg, struct pvmt_endpoint *ep);
    /* Optional; NULL: 1. The number that the virtual machine has given this host, from 1. */
    uint16_t (*node)(void *arg);
    /* The connection ended: `reason` is 0 when the peer closed it cleanly between frames, else a PVMC_E code. */
    void (*down)(void *arg, struct pvmt_endpoint *ep, int reason);
};

struct pvmt_transport_ops {
    const char *name;
    const char *summary; /* one line for pvm-info */

    /* 0 if usable on this machine, else a PVMC_E code and the reason in why[size]. Opens nothing. */
    int (*available)(char *why, size_t size);

    /* Optional: one line for each device that there is: its state, or why it cannot be used. For pvm-info -d. */
    void (*describe)(void (*line)(void *arg, const char *text), void *arg);

    /* Optional: its network may have a clock; what the daemon tells that network. NULL: not here, see why[size]. */
    const struct pvmc_clock_watch *(*clock_watch)(char *why, size_t size);

    /*
     * Opens the transport. `address` is where to listen, in the transport's own notation; NULL: only connect out.
     * callbacks and arg must outlive it.
     */
    int (*open)(const char *address, const struct pvmt_callbacks *callbacks, void *arg, struct pvmt_transport **out);

    /*
     * Closes it and frees all its endpoints without calling down. Also called in a forked child, for the copies that it
     * inherited: the parent's connections must not notice.
     */
    void (*close)(struct pvmt_transport *t);

    /* Its attributes; t is NULL before it is open: what can then be said, for the order of choice. */
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
     * Makes an endpoint that waits for its peer, and what the peer must get: up to PVMT_OFFER_MAX bytes in blob (their
     * number is returned) and, from local_only transports, a descriptor in *fd, which is the caller's to pass on and to
     * close; else *fd is -1. send() gives PVMC_EAGAIN until the peer has joined; tx_ready tells. PVMC_ELIMIT: out of
     * descriptors, or PVMC_E code. The owner calls disconnect when it has waited long enough.
     */
    int (*offer)(struct pvmt_transport *t, void *owner, uint8_t blob[PVMT_OFFER_MAX], int *fd,
                 struct pvmt_endpoint **out);

    /*
     * Joins an offer. Takes over fd in any case (-1: none came). Frames may be sent at once, failure comes here or
     * later by down. Writes up to PVMT_OFFER_MAX bytes to reply, which the caller carries back to the offering side for
     * joined(); returns their number, 0: nothing need be carried back, or a PVMC_E code (PVMC_EFORMAT: a malformed
     * blob).
     */
    int (*join)(struct pvmt_transport *t, const uint8_t *blob, size_t length, int fd, void *owner,
                uint8_t reply[PVMT_OFFER_MAX], struct pvmt_endpoint **out);

    /* The reply to an offered endpoint. 0 or a PVMC_E code; NULL in transports whose join() gives no reply. */
    int (*joined)(struct pvmt_endpoint *ep, const uint8_t *reply, size_t length);

    /* Ends a connection and frees ep. Frames taken but not yet carried are lost. No callback follows. */
    void (*disconnect)(struct pvmt_endpoint *ep);

    /* 0: taken (the transport refs the frame as long as it needs it); PVMC_EAGAIN: not taken; PVMC_EDOWN. */
    int (*send)(struct pvmt_endpoint *ep, struct pvmc_frame *f);

    /*
     * Optional; NULL: send() is used for all frames. As send(), for a frame that is a whole message: its h->length
     * bytes lie at data and are copied before this returns. PVMC_EUNSUPPORTED: not so large a one, or not now: send()
     * does it, or tells why not.
     */
    int (*send_whole)(struct pvmt_endpoint *ep, const struct pvmc_frame_header *h, const uint8_t *data);

    /*
     * Optional; NULL: send() is used for each. Sends frames[i] by eps[i], endpoints of one transport; the frames are of
     * one message to several receivers and alike but for their headers, so that what they have in common may go but
     * once. 0: all are taken; PVMC_EAGAIN: none, and tx_ready follows for each endpoint; any other error: none, and
     * send() tells for each. As for delivery and order it is as if send() had taken them.
     */
    int (*send_to_many)(struct pvmt_endpoint **eps, struct pvmc_frame **frames, unsigned count);

    /* Frames that the transport took from this endpoint's owner and still needs, or whose in-place data it does. */
    size_t (*pending)(const struct pvmt_endpoint *ep);

    /*
     * Optional, by address only: what has gone by this endpoint so far, in bytes: given counts whole frames from when
     * send() took them on, taken what was read; and who is at the other end.
     */
    void (*traffic)(const struct pvmt_endpoint *ep, struct pvmc_bypass *out);

    /*
     * Optional, by address only: reads nothing of this endpoint until it is told to go on; what the peer sends waits in
     * the kernel, and then with the peer. May be called from rx_done: nothing behind that frame is taken in. Sending
     * goes on. What a peer that is gone has left is read all the same.
     */
    void (*pause)(struct pvmt_endpoint *ep, bool on);

    /* Optional, by address only: as pause(), until progress() is called next. */
    void (*yield)(struct pvmt_endpoint *ep);

    /* Optional; NULL: false. Whether what this endpoint sends is encrypted on its way. */
    bool (*encrypts)(const struct pvmt_endpoint *ep);

    /*
     * Optional; NULL: as pending(). Those of them that may not get to a peer that lives before progress() is called
     * again: a sender that is about to compute waits for 0. For transports that need frames until the peer says that
     * it has them, which it may not do while it computes.
     */
    size_t (*unsent)(const struct pvmt_endpoint *ep);

    /* Moves what can be moved, without waiting, and calls back. Returns how many things happened, or a PVMC_E code. */
    int (*progress)(struct pvmt_transport *t);

    /* A descriptor that polls readable when progress() has something to do, provided that arm() said so before. */
    int (*fd)(struct pvmt_transport *t);

    /* To be called before sleeping on fd(): 0 = sleep well, 1 = there is work already, call progress(). */
    int (*arm)(struct pvmt_transport *t);
};

/* First member of every transport's own struct. */
struct pvmt_transport {
    const struct pvmt_transport_ops *ops;
    const struct pvmt_callbacks *callbacks;
    void *arg;
};

/* A row of the table of all transports. Transports that are known but not built have no ops and say why. */
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
