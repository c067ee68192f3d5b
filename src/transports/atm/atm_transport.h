/*
 * atm_transport.h - the parts of the transport atm and what they share.
 *
 *  atm.c       the table of functions, opening and closing
 *  link.c      a connection: offered, joined, up, over
 *  move.c      progress: callers and packets from descriptors, what is due, waiting in either clock
 *  offer.c     what the two sides tell each other beforehand
 *  library.c   the Fore API
 */
#ifndef PVMI_ATM_TRANSPORT_H
#define PVMI_ATM_TRANSPORT_H

#include <sys/types.h>
#include "../reliable/agenda.h"
#include "../reliable/frames.h"
#include "../transport.h"
#include "library.h"
#include "offer.h"

#define ATM_PACKET_MAX 65535

enum atm_state {
    ATM_OFFERED,  /* we wait for joined() */
    ATM_EXPECTED, /* and now for the peer's call */
    ATM_CALLING,  /* for the answer to ours */
    ATM_UP,
};

struct atm_link {
    struct pvmi_endpoint base;
    struct pvmi_frames frames;
    struct pvmi_agenda_entry agenda;
    enum atm_state state;
    bool dead;    /* disconnected or down: freed when progress() is over and its owner is done with it */
    bool told;    /* its owner is done with it */
    bool over;    /* the connection has ended, or never was: its owner is to be told `reason` */
    bool touched; /* in the list of those to be looked at */
    int reason;
    int fd; /* where we listen, then the connection; -1: closed */
    struct pvmi_atm_offer own, peer;
    struct atm_link *next_touched;
    struct atm_link *prev, *next; /* of the living or in the graveyard */
};

struct atm_transport {
    struct pvmi_transport base;
    const struct pvmi_atm_library *library;
    bool is_virtual; /* the network's clock */
    bool waits;      /* the network has been told that we wait */
    uint32_t mtu;
    Aal_type aal;
    int64_t dead_after_us;
    pid_t pid; /* whose it is: a forked child has only a copy */
    int epoll_fd, timer_fd;
    int64_t now_us; /* as of the current call */
    struct atm_link *links, *graveyard, *touched;
    struct pvmi_agenda agenda;
    bool in_progress;
    uint8_t packet[ATM_PACKET_MAX];
};

/* ---- link.c ---- */

int pvmi_atm_link_offer(struct pvmi_transport *base, void *owner, uint8_t blob[PVMI_OFFER_MAX], int *fd,
                        struct pvmi_endpoint **out);
int pvmi_atm_link_join(struct pvmi_transport *base, const uint8_t *blob, size_t length, int fd, void *owner,
                       uint8_t reply[PVMI_OFFER_MAX], struct pvmi_endpoint **out);
int pvmi_atm_link_joined(struct pvmi_endpoint *base, const uint8_t *reply, size_t length);
void pvmi_atm_link_disconnect(struct pvmi_endpoint *base);
int pvmi_atm_link_send(struct pvmi_endpoint *base, struct pvmi_frame *f);

/* Its descriptor is readable: a caller, the answer to our call, a packet or the end. Returns how many things happened.
 */
int pvmi_atm_link_ready(struct atm_link *l);

/* Does what is due: sends, calls back, notes when to look again. Returns how many things happened. */
int pvmi_atm_link_settle(struct atm_link *l);

/* Frees the dead whose owners are done with them. */
void pvmi_atm_links_bury(struct atm_transport *t);

/* Frees a link without telling anybody but the network. */
void pvmi_atm_link_free(struct atm_link *l);

/* ---- move.c ---- */

int pvmi_atm_progress(struct pvmi_transport *base);
int pvmi_atm_arm(struct pvmi_transport *base);

/* Notes that a link is to be settled. */
static inline void pvmi_atm_touch(struct atm_link *l)
{
    struct atm_transport *t = (struct atm_transport *)l->base.transport;
    if (l->touched)
        return;
    l->touched = true;
    l->next_touched = t->touched;
    t->touched = l;
}

#endif
