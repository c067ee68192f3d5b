/*
 * test_board.c - calls that members count at a board: only those set aside, and none that nobody has begun before the
 * board was closed.
 */
#include "groups/board.h"
#include "tests/unit/unit.h"

enum { MEMBERS = 2, TID = 0x40001, FIRST_CALL = 5, LIMIT = 8 };

static struct pvmg_board *server, *members[MEMBERS];

static void setup(void)
{
    const int tids[MEMBERS] = {TID, TID + 1};
    int ticket[PVMG_TICKET_INTS];
    server = pvmg_board_make(tids, MEMBERS, ticket);
    ck_assert_ptr_nonnull(server);
    for (int i = 0; i < MEMBERS; i++) {
        ck_assert(!pvmg_board_is_found(server));
        members[i] = pvmg_board_find(ticket, TID + i);
        ck_assert_ptr_nonnull(members[i]);
    }
    ck_assert(pvmg_board_is_found(server));
}

static void teardown(void)
{
    for (int i = 0; i < MEMBERS; i++)
        pvmg_board_free(members[i]);
    pvmg_board_free(server);
}

START_TEST(only_what_is_set_aside_is_theirs)
{
    setup();
    ck_assert(!pvmg_board_begin_call(members[0], 0));
    ck_assert(!pvmg_board_is_theirs(server, 0));
    pvmg_board_set_aside(server, FIRST_CALL, LIMIT);
    ck_assert(!pvmg_board_begin_call(members[0], FIRST_CALL - 1));
    ck_assert(!pvmg_board_begin_call(members[0], LIMIT));
    ck_assert(pvmg_board_begin_call(members[0], FIRST_CALL));
    ck_assert(pvmg_board_begin_call(members[1], LIMIT - 1));
    ck_assert(!pvmg_board_is_theirs(server, FIRST_CALL - 1));
    ck_assert(pvmg_board_is_theirs(server, LIMIT)); /* the next one */
    ck_assert(!pvmg_board_is_theirs(server, LIMIT + 1));
    pvmg_board_set_aside(server, LIMIT, LIMIT + 1);
    ck_assert(pvmg_board_begin_call(members[0], LIMIT));
    ck_assert(pvmg_board_begin_call(members[0], FIRST_CALL)); /* the first one of all stays */
    teardown();
}
END_TEST

START_TEST(a_call_begun_stays_when_the_board_closes)
{
    int first, end;
    setup();
    pvmg_board_set_aside(server, FIRST_CALL, LIMIT);
    ck_assert(pvmg_board_begin_call(members[0], FIRST_CALL + 1));
    pvmg_board_close(server);
    ck_assert(pvmg_board_begin_call(members[1], FIRST_CALL));
    ck_assert(pvmg_board_begin_call(members[1], FIRST_CALL + 1));
    ck_assert(!pvmg_board_begin_call(members[0], FIRST_CALL + 2));
    ck_assert(!pvmg_board_is_theirs(server, FIRST_CALL));
    pvmg_board_calls(members[1], &first, &end);
    ck_assert_int_eq(first, FIRST_CALL);
    ck_assert_int_eq(end, FIRST_CALL + 2);
    teardown();
}
END_TEST

START_TEST(a_closed_board_vouches_for_nothing)
{
    setup();
    ck_assert(pvmg_board_vouches(members[0]));
    pvmg_board_close(members[1]);
    ck_assert(!pvmg_board_vouches(members[0]));
    teardown();
}
END_TEST

START_TEST(without_its_server_a_board_is_closed)
{
    setup();
    pvmg_board_set_aside(server, FIRST_CALL, LIMIT);
    ck_assert(pvmg_board_begin_call(members[0], FIRST_CALL));
    pvmg_board_free(server);
    server = NULL;
    ck_assert(!pvmg_board_vouches(members[0]));
    ck_assert(!pvmg_board_begin_call(members[1], FIRST_CALL + 1));
    ck_assert(pvmg_board_begin_call(members[1], FIRST_CALL));
    teardown();
}
END_TEST

UNIT_MAIN("board", only_what_is_set_aside_is_theirs, a_call_begun_stays_when_the_board_closes,
          a_closed_board_vouches_for_nothing, without_its_server_a_board_is_closed)
