/*
 * boards.h - the boards (groups/board.h) of groups whose members are all on this host. The server offers one to members
 * that meet often, and closes it before it takes a request that its members do not expect there.
 */
#ifndef PVMG_BOARDS_H
#define PVMG_BOARDS_H

#include "roster.h"

/* All members wait in a barrier that is about to end: opens the group's board, or offers one if it is time. */
void pvmg_boards_meet(struct group *g);

/*
 * Members have entered a new call, which is counted here: offers a board if it is time, or lets them count those that
 * follow at the board, if all have found it.
 */
void pvmg_boards_call(struct group *g);

/* Whether the members count this call at the board. Sets more numbers aside if need be. */
bool pvmg_boards_have_call(struct group *g, int number);

/* Offers a frozen group a board, whose root opens it. */
void pvmg_boards_offer(struct group *g);

/* Closes the group's board, or withdraws one that was offered, before the group changes. */
void pvmg_boards_close(struct group *g);

/* The same only if it is open, or a member has closed it, before a member waits by messages. */
void pvmg_boards_close_used(struct group *g);

#endif
