/*
 * group.h - a task's view of its groups: one record per group, updated from the group server.
 *
 * A member of a frozen group no longer asks the server, nor does one of a group that meets at a board (board.h), until
 * the board is closed. All other tasks ask in each call; the server sends the members only if they have changed.
 * Records are reference-counted, because a message handler of the user may call group functions while another group
 * call waits.
 */
#ifndef PVMG_GROUP_H
#define PVMG_GROUP_H

#include <stdbool.h>
#include "core/hash.h"
#include "board.h"
#include "members.h"
#include "groups/collectives/packet.h"

struct pvmg_group {
    unsigned refs;
    char *name;
    int id; /* 0 until received from the server */
    bool frozen;
    bool stale;                   /* to be asked for again: it has been frozen by others, or its server has ended */
    struct pvmg_members *members; /* NULL until received from the server */

    /* collective calls */
    int number;                        /* of the call in progress, or the last one */
    int finished;                      /* calls below this number are finished here */
    struct pvmg_members *participants; /* of the call in progress, or NULL */
    struct pvmg_packet *retransmit;    /* the parts sent in the last call, in case a member loses them */
    int retransmit_number;
    unsigned runs_ahead; /* calls since it waited in vain for free slots (collectives/handover.c); 0: it has not */

    /* barriers of a frozen group */
    int broken;         /* error of all later barriers, or 0: a member has ended or left */
    int barrier_error;  /* error of the first barrier after that, or of the one in progress then; or 0 */
    bool told_broken;   /* a barrier has returned that error */
    int epoch, barrier; /* a mismatch starts a new epoch, in which barriers count from 0 */
    bool in_barrier, missed_mismatch;

    struct pvmg_board *board;           /* where the members meet in barriers, or NULL */
    int board_generation;               /* of the list of those who meet there, or met at the last one */
    struct pvmg_members *board_members; /* that list; NULL: not received yet */
    int board_calls, board_calls_end;   /* numbers of the calls that were begun at the last board, now closed */
    bool at_board, by_messages; /* a barrier is under way there, or by messages, or the program has jumped out of it */
    bool met;                   /* the barrier that the program has jumped out of has ended */

    UT_hash_handle by_name, by_id;
};

/*
 * Updates the record of a group and returns it in *group, with a reference that the caller releases. counted: a
 * collective call starts, which gets group->number and group->participants. The current context must be the server's.
 * PvmNoGroup; PvmNotInGroup (counted only); PvmDSysErr when the server has ended; PvmNoMem.
 */
int pvmg_group_fetch(const char *name, bool counted, struct pvmg_group **group);
void pvmg_group_release(struct pvmg_group *g); /* NULL is allowed */

/* Updates a record after the server has ended: members that have gone meanwhile, also of the call in progress. */
int pvmg_group_renew(struct pvmg_group *g);

/* Whether the record's members are those of now: no need to ask. */
bool pvmg_group_is_known(struct pvmg_group *g);

/*
 * The participants of this member's next collective call, if they are known without asking; that call is then begun,
 * for all members, and the caller has to make it. Else NULL. No reference.
 */
struct pvmg_members *pvmg_group_participants(struct pvmg_group *g);

/* Do the work of pvm_joingroup(), pvm_lvgroup() and pvm_freezegroup(). */
int pvmg_group_join(const char *name);
int pvmg_group_leave(const char *name);
int pvmg_group_freeze(const char *name, int size);

/* The record of a frozen group of which this task is a member, with a reference for the caller; NULL if there is none.
 */
struct pvmg_group *pvmg_group_frozen(const char *name);

/* The record with this id, or NULL. No reference. */
struct pvmg_group *pvmg_group_of(int id);

/* Whether this task is a member. */
bool pvmg_group_is_member(const struct pvmg_group *g);

/* Replaces the packet kept for retransmission; takes over p, which may be NULL. */
void pvmg_group_set_retransmit(struct pvmg_group *g, struct pvmg_packet *p);

/* Handles an event from the server (enum pvmg_group_event). */
void pvmg_group_event(int id, int kind, int value);

/* The server `from` offers a board to the members of the list with this generation. */
void pvmg_group_board(int from, int id, int generation, const int *ticket);

/* Closes the board, and frees it unless a barrier looks at it. */
void pvmg_group_drop_board(struct pvmg_group *g);

/* The record of this name as it is, or NULL. No reference. */
struct pvmg_group *pvmg_group_find(const char *name);

/* The server has ended: what it had to say may not have arrived. */
void pvmg_group_lose_all(void);

/* Drops all records: the task has a new tid. */
void pvmg_group_forget_all(void);

#endif
