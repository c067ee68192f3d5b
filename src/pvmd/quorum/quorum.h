/*
 * quorum.h - how daemons agree on who leads, and on which changes of the machine's tables hold for ever. A state
 * machine without clock or I/O, so that a test can walk through all its states.
 *
 * The leader makes each change in its own tables and sends it to the other members, which make it too and acknowledge
 * it. A change is committed once half of the members have it, the leader included; only then may the leader answer the
 * request that caused it. When the leader is lost, a member that more than half of the members vote for leads in a new
 * term. Half and more than half always share a member, and a member votes only for those that have all its changes: so
 * the new leader has every committed change. While a change of the members is not known to be committed, both rules
 * hold for the old members and for the new ones.
 *
 * This differs from Raft in that there is no log, because two things are true here: links between daemons lose and
 * reorder nothing while both live, and a daemon that has ended never comes back (only a leader may, from its journal).
 * So a member that has missed a change gets the tables whole. And a leader may count a member that has provably ended
 * as if it had the change, because that member will never vote; so a machine outlives the death of most of its hosts.
 * This holds only for a member that ended before it can have voted in a later term: see pvmd_quorum_dead(); and not for
 * one that may come back. Only a leader that was installed has a journal, so half of the members had its first change
 * and know that it has led. Who gets the tables whole is told; so all that have its first change, or a later one, know.
 */
#ifndef PVMD_QUORUM_H
#define PVMD_QUORUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/buf.h"

#ifndef PVMD_QUORUM_MAX
#define PVMD_QUORUM_MAX 4095 /* members at a time: all hosts */
#endif

/* Names the state of the tables: two members with the same version have the same tables. */
struct pvmd_version {
    uint32_t term; /* of the leader that made the last change */
    uint32_t seq;  /* number of changes so far */
};

enum pvmd_quorum_kind {
    PVMD_QUORUM_CHANGE = 1, /* from the leader: a change of tables that have the version `base` */
    PVMD_QUORUM_STATE,      /* from the leader: the tables, whole */
    PVMD_QUORUM_COMMITTED,  /* from the leader: changes up to `committed` hold for ever */
    PVMD_QUORUM_DONE,       /* to the leader: we have the version */
    PVMD_QUORUM_LACKING,    /* to the leader: we need the tables whole */
    PVMD_QUORUM_ASK,        /* from a candidate, which has the version: vote for us in this term */
    PVMD_QUORUM_VOTE,       /* to the candidate: we have voted for you in this term */
    PVMD_QUORUM_REFUSED,    /* to a candidate or former leader: we know of this term */
};

/* A set of members, by their ids (pvmd_host.incarnation), which are random: no two hosts ever share one. */
struct pvmd_quorum_set {
    const uint32_t *ids;
    unsigned count;
};

struct pvmd_quorum_message {
    enum pvmd_quorum_kind kind;
    uint32_t term;               /* of the sender */
    struct pvmd_version version; /* of the sender; with a CHANGE, after it */
    struct pvmd_version base;    /* CHANGE: before it */
    uint32_t committed;          /* from a leader */
    union {
        struct pvmd_quorum_set now;    /* STATE: the members */
        struct pvmd_quorum_set joined; /* CHANGE: those that become members */
    };
    union {
        struct pvmd_quorum_set
            then; /* STATE: the members before a change that is not known to be committed, or empty */
        struct pvmd_quorum_set left; /* CHANGE: those that are members no more */
    };
    struct pvmd_quorum_set led; /* STATE: those of the members that have led */
    const uint8_t *data;        /* the change, or the tables */
    size_t length;
};

enum pvmd_quorum_role { PVMD_QUORUM_FOLLOWER, PVMD_QUORUM_CANDIDATE, PVMD_QUORUM_LEADER };

/* Called from inside the functions below; they may not call them. */
struct pvmd_quorum_events {
    /* Leader: keeps a change that it is about to send, in its journal. May be NULL. */
    void (*record)(void *arg, const struct pvmd_quorum_message *m);

    /* Sends a message. It may get lost only if the sender, the receiver or their link is lost for good. */
    void (*send)(void *arg, uint32_t to, const struct pvmd_quorum_message *m);

    /* Follower: makes a change. A PVMC_E code if it cannot: the leader then sends the tables whole. */
    int (*apply)(void *arg, const uint8_t *change, size_t length);

    void (*save)(void *arg, struct pvmc_buf *tables); /* writes the tables whole */

    /* Follower: replaces its tables. A PVMC_E code if it cannot: then pvmd_quorum_ask_tables() has to be called. */
    int (*load)(void *arg, const uint8_t *tables, size_t length);

    /* Follower: another member leads, and half of the members follow it. */
    void (*following)(void *arg, uint32_t leader);

    /* This member leads, and half of the members follow it: its first change, an empty one, is committed. */
    void (*leading)(void *arg);

    /* Leader: the changes up to this one are committed. */
    void (*committed)(void *arg, uint32_t seq);

    /* Leader: others follow another one, or are about to. This daemon must end. */
    void (*deposed)(void *arg);
};

struct pvmd_quorum_peer {
    uint32_t id;
    bool is_now, was_then; /* a member; a member before the change of members that is not known to be committed */
    bool voted;            /* for us, in this term */
    bool dead;             /* has provably ended */
    bool has_led;          /* it may come back from its journal: not counted when it is dead */
    bool in_step;          /* leader: it gets changes; else it waits for the tables */
    uint32_t done;         /* leader: the last change that it has acknowledged */
};

struct pvmd_quorum {
    const struct pvmd_quorum_events *events;
    void *arg;
    uint32_t self;
    enum pvmd_quorum_role role;
    uint32_t leader;          /* 0: none is known, or it is lost */
    bool is_installed;        /* half of the members follow the leader; if not, it may give way to another */
    uint32_t term, voted_for; /* the highest term that we know of, and our vote in it */
    uint32_t renewing;        /* leader: the later term in which it asks for votes, or 0 */
    bool is_patient;          /* we have voted for another member, and give it time */
    bool has_waited;          /* has given time to one since our last campaign */
    struct pvmd_version version;
    uint32_t committed;   /* changes up to this one are known to be committed */
    uint32_t members_seq; /* the last change of the members */
    bool lacking;         /* we wait for the tables whole */
    bool damaged;         /* our tables are not those of our version: we may vote, but not lead */
    bool half_elects;     /* a candidate needs half of the members only: see PVM_FAILOVER */
    unsigned peer_count;  /* with ourselves */
    struct pvmd_quorum_peer peers[2 * PVMD_QUORUM_MAX]; /* members now and then */
};

/* The first daemon of a machine: the only member, and leader. */
void pvmd_quorum_found(struct pvmd_quorum *q, uint32_t self, const struct pvmd_quorum_events *events, void *arg);

/*
 * A daemon that the leader will make a member: it follows, and lacks the tables. When the leader is lost it votes, but
 * does not lead: others may know it as a member already.
 */
void pvmd_quorum_join(struct pvmd_quorum *q, uint32_t self, uint32_t leader, const struct pvmd_quorum_events *events,
                      void *arg);

/*
 * Leader: the change has been made here; sends it to the others. Returns its number. `members`, if not NULL, replaces
 * the members by those given, which must include the leader; only when pvmd_quorum_is_settled().
 */
uint32_t pvmd_quorum_change(struct pvmd_quorum *q, const void *change, size_t length,
                            const struct pvmd_quorum_set *members);

/* Whether the last change of the members is known to be committed. */
bool pvmd_quorum_is_settled(const struct pvmd_quorum *q);

/*
 * Describes the members, the version and the term, as a STATE without tables; its sets are valid until the next call.
 * Whoever receives it, and then all later changes, has the state of this member.
 */
void pvmd_quorum_describe(const struct pvmd_quorum *q, struct pvmd_quorum_message *m);

/* The leader is lost for good: this member may vote, and be a candidate. */
void pvmd_quorum_leader_lost(struct pvmd_quorum *q);

/* Asks for votes in a new term, if no leader is known. Called again, after a while, until there is one. */
void pvmd_quorum_campaign(struct pvmd_quorum *q);

/*
 * A member, or the leader of one that joins, that has provably ended, not one that is silent; and that knew of no later
 * term than ours when it ended. A follower gives up its leader only after a time of silence, so the end of one that has
 * heard from us within this time may be told. The end of one that had been silent for longer may not, ever: it may have
 * voted for another leader, and even have led, before it ended.
 */
void pvmd_quorum_dead(struct pvmd_quorum *q, uint32_t id);

/*
 * Follower: its tables could not be loaded; asks the leader for them again. Called some time after that, so that the
 * two do not keep each other busy.
 */
void pvmd_quorum_ask_tables(struct pvmd_quorum *q);

/* A message of the daemon `from`, whose id its link has proved. */
void pvmd_quorum_receive(struct pvmd_quorum *q, uint32_t from, const struct pvmd_quorum_message *m);

#endif
