/*
 * ece.h - the Effective Communication Engine of the thesis (section 6.1.3): PC-AAL over three VCs between the same
 * ends, one that costs little (ordinary, UBR), one with flow control (backup, ABR) and a fast one (control, VBR). It
 * decides which PDU goes by which VC, around one sender.h and one receiver.h. It has neither clock nor wire.
 *
 * A receiver whose LME finds high or low latency says so in an LSTAT, a STAT with the time T_o at which the offending
 * cell was sent; the sender changes its mode. STAT, USTAT and LSTAT go by control.
 *
 *               low                          high, switching          high, duplicating
 *   SD          ordinary                     backup                   both
 *   POLL        ordinary, measured           backup                   ordinary, measured
 *   measured    SD, POLL, periodic           periodic                 SD, POLL, periodic; all that come by ordinary
 *   USTAT       yes                          yes                      neither sent nor obeyed
 *
 * What an LSTAT makes the sender send again goes as the new mode demands: switching, by the other VC than before;
 * duplicating, by both on the way to high, by ordinary on the way to low. There, on the way to high, all that was sent
 * since T_o goes by backup too (Retransmit3): it is doubled later. What was lost before T_o the offending SD shows, and
 * a USTAT that goes before the LSTAT asks for it.
 *
 * One of N_POLL periodic cells is a POLL. Periodic cells are sent while the connection is in use, and a while after.
 * The thesis does not say what the loss of an LSTAT does. Here cells carry the sender's mode, and a POLL or periodic
 * cell in the wrong mode that was sent well after the LSTAT makes the receiver repeat it.
 */
#ifndef PVMA_ECE_H
#define PVMA_ECE_H

#include "lme.h"
#include "receiver.h"
#include "sender.h"

enum pvma_path { PVMA_ORDINARY, PVMA_BACKUP, PVMA_CONTROL, PVMA_PATHS };

struct pvma_ece_settings {
    bool duplicating;
    unsigned polls; /* N_POLL */
    pvma_ps linger; /* how long periodic cells go on after the last use */
    struct pvma_lme_settings lme;
};

/* Table 6.2: N_POLL 1; the others as in lme.h. Our choice: linger 1 s. */
struct pvma_ece_settings pvma_ece_defaults(bool duplicating);

struct pvma_ece_counts {
    uint64_t lstats;                /* made; one in several cells counts once */
    uint64_t repeated;              /* ... those that were repeated, because the first had no effect */
    uint64_t changes;               /* of the sender's mode */
    uint64_t stamps;                /* periodic cells that are no POLLs */
    uint64_t sds[PVMA_PATHS];       /* SDs by each VC */
    uint64_t replicas, retransmit3; /* of those by backup: doubled in time, and later */
};

struct pvma_ece {
    struct pvma_ece_settings settings;
    struct pvma_sender *sender;
    struct pvma_receiver *receiver;
    struct pvma_ece_counts count;
    /* sending */
    bool high;
    pvma_ps periodic; /* when the next periodic cell is due; PVMA_NEVER: not in use */
    pvma_ps used;     /* when it was used last */
    unsigned until_poll;
    bool poll_due, stamp_due, last;
    int64_t *replica; /* SDs that are to be doubled by backup: a ring of numbers */
    size_t replicas, replica_first, replica_size;
    /* receiving */
    struct pvma_lme lme;
    bool lstat_due;
    pvma_ps lstat_at; /* when the last one was made */
};

/* The engines are the caller's, and must outlive it. */
void pvma_ece_init(struct pvma_ece *ece, const struct pvma_ece_settings *settings, struct pvma_sender *sender,
                   struct pvma_receiver *receiver);
void pvma_ece_free(struct pvma_ece *ece);

/* Data were put into the sender. */
void pvma_ece_use(struct pvma_ece *ece, pvma_ps now);

/*
 * The next PDU for a VC, which is sent at once. Its data remain valid until the sender is changed; *asked is set for
 * SDs. False: none for this VC now.
 */
bool pvma_ece_next(struct pvma_ece *ece, enum pvma_path path, pvma_ps now, struct pvma_pdu *pdu,
                   enum pvma_asked *asked);

/* Takes a PDU that came by a VC. Then every VC may have something to send. */
enum pvma_taken pvma_ece_take(struct pvma_ece *ece, enum pvma_path path, const struct pvma_pdu *pdu, pvma_ps now);

/* When pvma_ece_tick() is to be called; PVMA_NEVER: not before another call. After it, as after pvma_ece_take(). */
pvma_ps pvma_ece_due(const struct pvma_ece *ece);
void pvma_ece_tick(struct pvma_ece *ece, pvma_ps now);

#endif
