/*
 * board.h - where the members of a group that are all on one host meet in barriers: shared memory with a counter, and a
 * bell that wakes all who sleep with one system call.
 *
 * A board only saves messages, it decides nothing. The group server offers one to the members of a group, and each of
 * them finds it by a ticket. It is opened while all wait for each other by messages, when all have found it: from then
 * on all meet there. Whoever has news that concerns the group closes it, for good: the server before it takes a request
 * that changes the group, a member when it hears of a death, of a server's end, or cannot come. A barrier under way
 * has then either ended, for all, or it has not: then all who waited ask again by messages, as if there were no board.
 *
 * The memory and the bells are nameless, and members open them in /proc while the server lives. Those who see another
 * /proc do not find them, and the board is never opened.
 *
 * The memory also has slots for collective calls (slots.h), which may be used as soon as all have found the board.
 *
 * And the members of a group that is not frozen count their collective calls there, so that they need not ask the
 * server who takes part in each: those who made the board, as long as it is not closed. The server sets numbers of
 * calls aside for that, when all have found it. A call that a member has begun at the board is one of the board for
 * all, also after the board is closed; then the server counts on, behind the numbers that it had set aside.
 */
#ifndef PVMG_BOARD_H
#define PVMG_BOARD_H

#include <stdbool.h>
#include <stdint.h>
#include "slots.h"

enum { PVMG_TICKET_INTS = 10 };

struct pvmg_board_memory;

struct pvmg_board {
    struct pvmg_board_memory *memory;
    size_t bytes;            /* of the memory */
    struct pvmg_slots slots; /* in members */
    int bells[2];            /* of barriers with even and with odd numbers: readable when the barrier has ended */
    int fd;                  /* of the memory, which members open; -1 in members */
    bool ours;               /* made by this process */
};

/* ---- the server ---- */

/*
 * Makes a board for these members and the ticket to it; this process holds it until it frees it or ends. NULL: out of
 * memory or descriptors, or without /proc.
 */
struct pvmg_board *pvmg_board_make(const int *tids, int size, int ticket[PVMG_TICKET_INTS]);

/* Sets calls aside for the members to count, up to number limit - 1: from `first` on, if it is the first time. */
void pvmg_board_set_aside(struct pvmg_board *b, int first, int limit);

/* Whether the members count this call, or would if it was set aside: it is the next one then. */
bool pvmg_board_is_theirs(const struct pvmg_board *b, int number);

/* ---- members ---- */

/* Task `tid` finds a board by its ticket, and counts as one of those who have. NULL: cannot. */
struct pvmg_board *pvmg_board_find(const int ticket[PVMG_TICKET_INTS], int tid);

/* Whether all members have found it. */
bool pvmg_board_is_found(const struct pvmg_board *b);

/* Arrives, for barriers that are open: the number of this one. False: the board is closed. */
bool pvmg_board_arrive(struct pvmg_board *b, uint32_t *number);

/* Whether barrier `number`, in which we have arrived, has ended. */
bool pvmg_board_has_ended(const struct pvmg_board *b, uint32_t number);

/* How many have arrived: it changes while others come. */
unsigned pvmg_board_arrived(const struct pvmg_board *b);

/* We are about to sleep until the bell of our barrier rings, or no longer. Look at the board again in between. */
void pvmg_board_sleep(struct pvmg_board *b, bool on);

int pvmg_board_size(const struct pvmg_board *b);

/*
 * Begins call `number` of the members, or joins those who have: its participants are the members of the board. False:
 * the number is not set aside, or the board was closed before anybody began the call. The server has to be asked.
 */
bool pvmg_board_begin_call(struct pvmg_board *b, int number);

/* Whether nothing has happened to the group since the board was made. */
bool pvmg_board_vouches(struct pvmg_board *b);

/* ---- both ---- */

/* Opens the board if all have found it and it is not closed. Whoever calls it knows that all are waiting. */
void pvmg_board_open(struct pvmg_board *b);
bool pvmg_board_is_open(const struct pvmg_board *b);

/*
 * The calls that have been begun are those from *first to *end - 1, if any; at a closed board there will be no more.
 * Returns the limit of those set aside, or 0.
 */
int pvmg_board_calls(const struct pvmg_board *b, int *first, int *end);

/* Closes the board and wakes all who wait there. NULL is allowed. */
void pvmg_board_close(struct pvmg_board *b);
bool pvmg_board_is_closed(const struct pvmg_board *b);

/* Whether it has been opened or closed: it is no longer merely offered. */
bool pvmg_board_is_in_use(const struct pvmg_board *b);

/* Frees this process' view of the board, which stays as it is for others. NULL is allowed. */
void pvmg_board_free(struct pvmg_board *b);

#endif
