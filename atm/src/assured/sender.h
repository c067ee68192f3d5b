/*
 * sender.h - the sending side of SSCOP and PC-AAL, as in figure 5.5 of the thesis: a window of SDs, each with the
 * number of the POLL before its last transmission. It has neither clock nor wire: who owns it asks for the next PDU
 * and says when it is.
 *
 * Memory is bounded by the window, whatever the peer says. No timeout sends an SD again: a STAT does, if its POLL was
 * sent after the SD (Retransmit1), or a USTAT in any case (Retransmit2). Retransmit3, by time, is the owner's: ece.h.
 */
#ifndef PVMA_SENDER_H
#define PVMA_SENDER_H

#include "pdu.h"

/* What asked for a transmission. */
/* PVMA_REPLICA: sent before, and again by another way without being asked for (ECE). */
enum pvma_asked { PVMA_NEW, PVMA_BY_STAT, PVMA_BY_USTAT, PVMA_BY_LSTAT, PVMA_REPLICA, PVMA_ASKED };

/* An SD in the window. */
struct pvma_sd {
    struct pvma_sd *prev, *next; /* to be sent again */
    int64_t n;
    int64_t record; /* VT(PS) at its last transmission */
    pvma_ps issued; /* time of its last transmission */
    enum pvma_asked asked;
    bool queued; /* to be sent again */
    uint32_t tag, offset;
    size_t length;
    uint8_t data[];
};

struct pvma_sender {
    unsigned bits;
    size_t window_bytes;
    int64_t window_sds;
    int64_t a;                  /* VT(A): the first that is not acknowledged */
    int64_t s;                  /* VT(S): the next new one to be sent */
    int64_t end;                /* the next one to be put in */
    int64_t ps;                 /* VT(PS): of the last POLL */
    int64_t ms;                 /* VT(MS): the first that the peer does not take yet */
    int64_t answered;           /* the last POLL whose STAT has come */
    int64_t polled_a, polled_s; /* VT(A) and VT(S) at the last POLL */
    bool ends;                  /* no more will be put in: the last POLL does not wait for its time */
    struct pvma_sd **slot;      /* by number; NULL: acknowledged */
    size_t slots;               /* a power of two */
    struct pvma_sd *again;      /* to be sent again, in this order */
    size_t charge;              /* of the SDs in the window */
    size_t unpolled;            /* of those sent since the last POLL */
    uint64_t inhibited;         /* listed in a STAT, but sent after its POLL */
};

/* What an SD takes of a window: short ones cost more than their octets. */
static inline size_t pvma_sd_charge(size_t bytes)
{
    return bytes < 32 ? 32 : bytes;
}

/* The SDs that a window may hold, of the sender and of the receiver: it limits their tables. */
int64_t pvma_window_sds(size_t window_bytes);

/* An empty window. `first`: the number of the first SD, the same as the receiver's. */
void pvma_sender_init(struct pvma_sender *sender, unsigned bits, size_t window_bytes, int64_t first);
void pvma_sender_free(struct pvma_sender *sender);

/* The octets of the largest SD that fits now, 0 if none does. */
size_t pvma_sender_room(const struct pvma_sender *sender);

/* Puts a copy of the octets at the end. False: it does not fit. */
bool pvma_sender_put(struct pvma_sender *sender, const void *data, size_t length, uint32_t tag, uint32_t offset);

/* An SD is in the window, acknowledged by nobody: POLLs must go on. */
static inline bool pvma_sender_waits(const struct pvma_sender *sender)
{
    return sender->a < sender->end;
}

/*
 * The peer's window is full, or all is sent and no more will be put in. A POLL that follows no progress would only make
 * the peer ask for the same SDs again.
 */
static inline bool pvma_sender_is_stopped(const struct pvma_sender *sender)
{
    bool progress = sender->a > sender->polled_a || sender->s > sender->polled_s;
    bool last = sender->ends && sender->s == sender->end;
    return sender->unpolled && progress && !sender->again && sender->a < sender->end &&
           (sender->s >= sender->ms || last);
}

/* The next POLL must not wait for its time: half of the window was sent since the last one, or it is stopped. */
static inline bool pvma_sender_wants_poll(const struct pvma_sender *sender)
{
    return sender->unpolled >= sender->window_bytes / 2 || pvma_sender_is_stopped(sender);
}

/*
 * The next SD to be sent: one to be sent again, else a new one. Fills *pdu, whose data remain valid until the sender
 * is changed, and sets *asked. False: nothing may be sent now.
 */
bool pvma_sender_next(struct pvma_sender *sender, pvma_ps now, struct pvma_pdu *pdu, enum pvma_asked *asked);

/* Makes a POLL, to be sent at once. */
void pvma_sender_poll(struct pvma_sender *sender, struct pvma_pdu *pdu);

/* Takes a STAT, a USTAT or an LSTAT (as a STAT). False: no honest receiver sends it, and nothing has changed. */
bool pvma_sender_take(struct pvma_sender *sender, const struct pvma_pdu *pdu);

/* The time of the last transmission of an SD that was sent; -1 if it is acknowledged. */
pvma_ps pvma_sender_issued(const struct pvma_sender *sender, int64_t n);

/* Makes an SD that was sent once more, to be sent by another way. False: it is acknowledged. */
bool pvma_sender_repeat(struct pvma_sender *sender, int64_t n, struct pvma_pdu *pdu);

/* True if a number of the window is acknowledged, or lies before it. */
bool pvma_sender_is_acknowledged(const struct pvma_sender *sender, int64_t n);

#endif
