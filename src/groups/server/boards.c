#include "boards.h"
#include "groups/board.h"
#include "groups/proto.h"
#include "calls.h"
#include "outbox.h"
#include "pvm3.h"
#include "record.h"

enum {
    BOARDS_MAX = 64,        /* each holds three descriptors */
    FIRST_MEETINGS = 2,     /* by messages, before a board is offered; twice as many for each that has closed */
    MEETINGS_MAX = 1 << 16, /* the limit of that */
    PATIENCE = 64,          /* meetings and calls until an offer is withdrawn that some members could not take */
    OFFERS_MAX = 16,        /* to a frozen group */
    SET_ASIDE = 1 << 16,    /* calls for members to count */
};

static int boards;

static bool all_are_here(const struct list *l)
{
    int here = pvm_tidtohost(pvm_mytid());

    for (int i = 0; i < l->size; i++)
        if (pvm_tidtohost(l->tids[i]) != here)
            return false;
    return true;
}

static void tell_ticket(const struct group *g, const struct list *l, int ticket[PVMG_TICKET_INTS])
{
    int head[] = {PVMG_PACKET_BOARD, g->id, l->generation};

    pvm_initsend(PvmDataDefault);
    pvm_pkint(head, 3, 1);
    pvm_pkint(ticket, PVMG_TICKET_INTS, 1);
    pvmg_outbox_send(PVMG_GROUP_CTX_MEMBERS, l->tids, l->size, PVMG_GROUP_TRAFFIC);
}

static void offer(struct group *g)
{
    const struct list *l = g->size > 1 && boards < BOARDS_MAX ? pvmg_roster_list(g) : NULL;
    int ticket[PVMG_TICKET_INTS];

    g->meetings = 0;
    if (!l || !all_are_here(l))
        return;
    g->board = pvmg_board_make(l->tids, l->size, ticket);
    if (!g->board)
        return;
    boards++;
    tell_ticket(g, l, ticket);
}

void pvmg_boards_meet(struct group *g)
{
    g->meetings++;
    if (!g->board) {
        if (g->meetings >= FIRST_MEETINGS << g->boards_closed)
            offer(g);
        return;
    }
    pvmg_board_open(g->board);
    if (!pvmg_board_is_open(g->board) && g->meetings >= PATIENCE)
        pvmg_boards_close(g);
}

/* A new server must know of them before any member does. */
static void set_aside(struct group *g)
{
    int first = g->calls;

    if (first > PVMG_CALL_NUMBER_MAX - SET_ASIDE)
        return;
    g->calls += SET_ASIDE;
    pvmg_roster_changed(g);
    pvmg_record_changes();
    pvmg_board_set_aside(g->board, first, g->calls);
}

/* Of the calls set aside at a board that has been closed, those that nobody has begun are counted here. */
static void take_back(struct group *g)
{
    int first, end;

    if (pvmg_board_calls(g->board, &first, &end) != g->calls || first < 0 || end > g->calls)
        return;
    g->calls = end > first ? end : first;
    pvmg_roster_changed(g);
}

void pvmg_boards_call(struct group *g)
{
    g->meetings++;
    if (!g->board && g->meetings >= FIRST_MEETINGS << g->boards_closed)
        offer(g);
    else if (g->board && pvmg_board_is_found(g->board))
        set_aside(g);
    else if (g->board && g->meetings >= PATIENCE)
        pvmg_boards_close(g);
}

bool pvmg_boards_have_call(struct group *g, int number)
{
    if (number == -1 || (g->board && pvmg_board_is_closed(g->board)))
        pvmg_boards_close(g); /* a member does not count, or has closed it */
    if (!g->board || !pvmg_board_is_theirs(g->board, number))
        return false;
    if (number == g->calls)
        set_aside(g);
    return number < g->calls;
}

void pvmg_boards_offer(struct group *g)
{
    if (g->board && pvmg_board_is_closed(g->board))
        pvmg_boards_close(g); /* by a member */
    if (!g->board && !g->broken && g->boards_offered++ < OFFERS_MAX)
        offer(g);
}

void pvmg_boards_close(struct group *g)
{
    if (!g->board)
        return;
    pvmg_board_close(g->board);
    take_back(g);
    pvmg_board_free(g->board);
    g->board = NULL;
    g->meetings = 0;
    if (FIRST_MEETINGS << g->boards_closed < MEETINGS_MAX)
        g->boards_closed++;
    boards--;
}

void pvmg_boards_close_used(struct group *g)
{
    if (g->board && pvmg_board_is_in_use(g->board))
        pvmg_boards_close(g);
}
