/* ece.c - see ece.h. */
#include "ece.h"
#include <stdlib.h>
#include "pcaal.h"

struct pvma_ece_settings pvma_ece_defaults(bool duplicating)
{
    return (struct pvma_ece_settings){
        .duplicating = duplicating, .polls = 1, .linger = PVMA_S, .lme = pvma_lme_defaults()};
}

void pvma_ece_init(struct pvma_ece *ece, const struct pvma_ece_settings *settings, struct pvma_sender *sender,
                   struct pvma_receiver *receiver)
{
    *ece = (struct pvma_ece){.settings = *settings,
                             .sender = sender,
                             .receiver = receiver,
                             .periodic = PVMA_NEVER,
                             .until_poll = settings->polls};
    pvma_lme_init(&ece->lme, &settings->lme);
}

void pvma_ece_free(struct pvma_ece *ece)
{
    free(ece->replica);
}

/* ---- SDs that are doubled ---- */

static void grow(struct pvma_ece *ece)
{
    enum { SIZE_FIRST = 64 };
    size_t size = ece->replica_size ? 2 * ece->replica_size : SIZE_FIRST;
    int64_t *ring = pvma_new(size * sizeof *ring);
    for (size_t i = 0; i < ece->replicas; i++)
        ring[i] = ece->replica[(ece->replica_first + i) & (ece->replica_size - 1)];
    free(ece->replica);
    ece->replica = ring;
    ece->replica_first = 0;
    ece->replica_size = size;
}

static int64_t pop_replica(struct pvma_ece *ece)
{
    int64_t n = ece->replica[ece->replica_first];
    ece->replica_first = (ece->replica_first + 1) & (ece->replica_size - 1);
    ece->replicas--;
    return n;
}

/* As many wait as the window has SDs; of more, the oldest is worth least. */
static void double_later(struct pvma_ece *ece, int64_t n)
{
    if ((int64_t)ece->replicas >= ece->sender->window_sds)
        pop_replica(ece);
    if (ece->replicas == ece->replica_size)
        grow(ece);
    ece->replica[(ece->replica_first + ece->replicas++) & (ece->replica_size - 1)] = n;
}

/* The next one that is not acknowledged by now. */
static bool next_replica(struct pvma_ece *ece, struct pvma_pdu *pdu)
{
    while (ece->replicas)
        if (pvma_sender_repeat(ece->sender, pop_replica(ece), pdu))
            return true;
    return false;
}

/* Retransmit3. */
static void double_since(struct pvma_ece *ece, pvma_ps since)
{
    for (int64_t n = ece->sender->a; n < ece->sender->s; n++) {
        if (pvma_sender_issued(ece->sender, n) < since)
            continue;
        double_later(ece, n);
        ece->count.retransmit3++;
    }
}

/* ---- sending ---- */

static bool is_doubled(const struct pvma_ece *ece)
{
    return ece->high && ece->settings.duplicating;
}

/* Where SDs and POLLs go; of SDs that are doubled, the first. */
static enum pvma_path main_path(const struct pvma_ece *ece)
{
    return ece->high && !ece->settings.duplicating ? PVMA_BACKUP : PVMA_ORDINARY;
}

static bool next_poll(struct pvma_ece *ece, enum pvma_path path, struct pvma_pdu *pdu)
{
    if (path != main_path(ece) || (!ece->poll_due && !pvma_sender_wants_poll(ece->sender)))
        return false;
    ece->poll_due = false;
    pvma_sender_poll(ece->sender, pdu);
    return true;
}

static bool next_stamp(struct pvma_ece *ece, enum pvma_path path, struct pvma_pdu *pdu)
{
    if (path != PVMA_ORDINARY || !ece->stamp_due)
        return false;
    ece->stamp_due = false;
    ece->count.stamps++;
    pdu->type = PVMA_STAMP;
    return true;
}

static bool next_sd(struct pvma_ece *ece, enum pvma_path path, pvma_ps now, struct pvma_pdu *pdu,
                    enum pvma_asked *asked)
{
    if (path == PVMA_BACKUP && next_replica(ece, pdu)) {
        *asked = PVMA_REPLICA;
        ece->count.replicas++;
        return true;
    }
    if (path != main_path(ece) || !pvma_sender_next(ece->sender, now, pdu, asked))
        return false;
    if (is_doubled(ece))
        double_later(ece, pdu->n);
    return true;
}

/* A report of a receiver that wants another mode is an LSTAT, in all its cells. */
static bool next_report(struct pvma_ece *ece, pvma_ps now, struct pvma_pdu *pdu)
{
    bool first = !ece->receiver->begun;
    unsigned elements = ece->lstat_due ? PVMA_PCAAL_LSTAT_ELEMENTS : PVMA_PCAAL_STAT_ELEMENTS;
    if (!pvma_receiver_report(ece->receiver, elements, false, pdu))
        return false;
    if (pdu->type != PVMA_STAT || !ece->lstat_due)
        return true;
    pdu->type = PVMA_LSTAT;
    pdu->stamp = ece->lme.offender;
    pdu->high = ece->lme.high;
    ece->lstat_at = now;
    ece->count.lstats += first;
    ece->lstat_due = ece->receiver->stat;
    return true;
}

bool pvma_ece_next(struct pvma_ece *ece, enum pvma_path path, pvma_ps now, struct pvma_pdu *pdu, enum pvma_asked *asked)
{
    if (path == PVMA_CONTROL)
        return next_report(ece, now, pdu);
    bool is_sd = false;
    if (!next_poll(ece, path, pdu) && !next_stamp(ece, path, pdu) && !(is_sd = next_sd(ece, path, now, pdu, asked)))
        return false;
    ece->count.sds[path] += is_sd;
    pdu->stamp = now;
    pdu->high = ece->high;
    pdu->last = ece->last && !is_sd;
    return true;
}

/* ---- what the peer's receiver says ---- */

static void change(struct pvma_ece *ece, const struct pvma_pdu *lstat)
{
    if (ece->high == lstat->high)
        return;
    ece->high = lstat->high;
    ece->count.changes++;
    if (is_doubled(ece))
        double_since(ece, lstat->stamp);
}

static enum pvma_taken take_report(struct pvma_ece *ece, const struct pvma_pdu *pdu)
{
    if (pdu->type == PVMA_USTAT && is_doubled(ece))
        return PVMA_TAKEN;
    if (!pvma_sender_take(ece->sender, pdu))
        return PVMA_REFUSED;
    if (pdu->type == PVMA_LSTAT)
        change(ece, pdu);
    return PVMA_TAKEN;
}

/* ---- what the peer's sender says ---- */

static bool is_periodic(const struct pvma_pdu *pdu)
{
    return pdu->type == PVMA_POLL || pdu->type == PVMA_STAMP;
}

static bool is_measured(const struct pvma_ece *ece, enum pvma_path path, const struct pvma_pdu *pdu)
{
    bool only_stamps = ece->lme.high && !ece->settings.duplicating;
    return path == PVMA_ORDINARY && (pdu->type == PVMA_STAMP || !only_stamps);
}

/* An LSTAT is a STAT, so it says what a STAT would say now. */
static void demand(struct pvma_ece *ece)
{
    ece->lstat_due = true;
    if (!ece->receiver->stat)
        pvma_receiver_report_again(ece->receiver);
}

static void monitor(struct pvma_ece *ece, enum pvma_path path, const struct pvma_pdu *pdu, pvma_ps now)
{
    bool changed = is_measured(ece, path, pdu) && pvma_lme_measure(&ece->lme, pdu->stamp, now);
    if (path == PVMA_ORDINARY && is_periodic(pdu))
        pvma_lme_expect(&ece->lme, pdu->stamp, pdu->last);
    bool deaf = is_periodic(pdu) && pdu->high != ece->lme.high && !ece->lstat_due &&
                pdu->stamp >= ece->lstat_at + ece->settings.lme.interval / 2;
    ece->count.repeated += !changed && deaf;
    if (changed || deaf)
        demand(ece);
}

/* A gap that is seen while SDs are doubled asks for nothing. One that the offending SD shows began before T_o. */
static enum pvma_taken take_from_sender(struct pvma_ece *ece, const struct pvma_pdu *pdu)
{
    unsigned gaps = ece->receiver->gaps;
    enum pvma_taken taken = pdu->type == PVMA_STAMP ? PVMA_TAKEN : pvma_receiver_take(ece->receiver, pdu);
    if (ece->lme.high && ece->settings.duplicating)
        ece->receiver->gaps = gaps;
    return taken;
}

enum pvma_taken pvma_ece_take(struct pvma_ece *ece, enum pvma_path path, const struct pvma_pdu *pdu, pvma_ps now)
{
    bool from_sender = pdu->type == PVMA_SD || is_periodic(pdu);
    if (!from_sender)
        return take_report(ece, pdu);
    enum pvma_taken taken = take_from_sender(ece, pdu);
    if (taken != PVMA_REFUSED)
        monitor(ece, path, pdu, now);
    return taken;
}

/* ---- time ---- */

void pvma_ece_use(struct pvma_ece *ece, pvma_ps now)
{
    ece->used = now;
    ece->last = false;
    if (ece->periodic == PVMA_NEVER)
        ece->periodic = now + ece->settings.lme.interval;
}

pvma_ps pvma_ece_due(const struct pvma_ece *ece)
{
    pvma_ps lost = pvma_lme_due(&ece->lme);
    return ece->periodic < lost ? ece->periodic : lost;
}

/* A periodic cell: the POLL is one if it goes by the ordinary VC. The last one says so, and no POLL follows it. */
static void beat(struct pvma_ece *ece, pvma_ps now)
{
    ece->last = !pvma_sender_waits(ece->sender) && now - ece->used >= ece->settings.linger;
    ece->periodic = ece->last ? PVMA_NEVER : ece->periodic + ece->settings.lme.interval;
    bool poll = !ece->last && --ece->until_poll == 0;
    if (poll)
        ece->until_poll = ece->settings.polls;
    ece->poll_due |= poll;
    ece->stamp_due |= !poll || main_path(ece) != PVMA_ORDINARY;
}

void pvma_ece_tick(struct pvma_ece *ece, pvma_ps now)
{
    if (now >= ece->periodic)
        beat(ece, now);
    if (pvma_lme_expire(&ece->lme, now))
        demand(ece);
}
