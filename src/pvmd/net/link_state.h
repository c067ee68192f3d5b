/* link_state.h - what link.c and flow.c know of a link. */
#ifndef PVMD_LINK_STATE_H
#define PVMD_LINK_STATE_H

#include <ev.h>
#include "link.h"
#include "pvmd/frames/queue.h"
#include "wire/address.h"
#include "wire/window.h"

struct pvmd_link {
    struct pvmd_host *host;
    enum pvmd_link_state state;
    struct pvmd_queue queue;

    struct pvmw_window window; /* sent, and not yet acknowledged by a count */
    bool kept_much;            /* since it was empty */
    uint32_t next_out;         /* number of the next frame for this connection: in the window, or window.end */
    size_t unasked_bytes;      /* sent since we last requested a count */
    unsigned unasked;

    uint32_t received; /* frames received on this link, over all connections */
    uint32_t told;     /* the part of `received` that the other side knows of */
    bool count_due;    /* the other side has requested a count */
    bool answer_due;   /* RELAYED: ... by a question */

    struct pvmd_dial *dial;          /* our call in progress, or NULL */
    struct pvmd_stream *stream;      /* the connection, or one in its handshake, or NULL */
    bool stream_is_call;             /* we called */
    uint32_t epoch;                  /* number of connections so far */
    uint32_t caller_epoch;           /* as the caller of `stream` counts them */
    struct pvmw_addresses addresses; /* where to call */
    ev_timer tick;                   /* while OPENING or LOST, or while the other side calls an UP link */
    unsigned ticks;                  /* loop turns, not time, so that a daemon that was stopped does not hurry */
    unsigned refusals;               /* calls refused one after the other */
    int64_t proven_us;               /* silence before this does not count */
    bool is_of_use;                  /* since it is UP, frames got across or there were none */
    uint32_t first_up;               /* window.first when it became UP */
    int64_t before_up_us;            /* proven_us before it became UP */
    int64_t called_us;               /* when the other side called an UP link */
    bool has_called;                 /* a call of ours got through: so will the next one */
    bool resting;                    /* UP: we have asked the other side to close the connection, which nobody uses */
    int64_t idle_since_us;           /* at a look of liveness.c; 0: not looked at since it is UP */
    uint32_t end_at_look;            /* window.end then */
    uint32_t received_at_look;       /* received then */
    bool goodbye;                    /* the other daemon is about to end */
    bool dead;                       /* no daemon listens where it did */
    bool out;                        /* the host is the master, and has told us that we are no host any more */
    bool count_awaited;              /* RELAYED: frames wait for the other side's count */
    uint32_t first_at_look;          /* RELAYED: window.first at the last question, or look of liveness.c */

    bool dirty; /* in the list of links to be flushed */
    struct pvmd_link *prev, *next;
};

#endif
