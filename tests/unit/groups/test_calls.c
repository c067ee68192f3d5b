/*
 * test_calls.c - the server's collective calls: all who make the same call get the same list, also if the numbers that
 * they know have a gap, and if they ask twice.
 */
#include "groups/proto.h"
#include "groups/server/calls.h"
#include "pvm3.h"
#include "tests/unit/unit.h"

enum { MEMBERS = 3, GAP = 1000 };

static struct group *g;
static struct member *members[MEMBERS];

static void setup(void)
{
    g = pvmg_roster_add("g");
    for (int i = 0; i < MEMBERS; i++)
        members[i] = pvmg_roster_add_member(g, 0x40001 + i);
}

/* The number of the call that the member enters with the number that it knows; negative: an error. */
static int enter(int i, int number)
{
    int code = PvmOk;
    bool begun;
    struct list *l = pvmg_calls_enter(g, members[i], number, &code, &begun);
    if (!l)
        return code;
    ck_assert_int_eq(l->size, g->size);
    pvmg_list_unref(l);
    return members[i]->calls - 1;
}

START_TEST(without_gaps_the_numbers_are_those_asked_for)
{
    setup();
    for (int call = 0; call < 3; call++)
        for (int i = 0; i < MEMBERS; i++)
            ck_assert_int_eq(enter(i, call), call);
    ck_assert_int_eq(g->calls, 3);
    ck_assert_int_eq(enter(0, 4), PvmBadParam); /* nobody has made call 3 */
    pvmg_roster_drop(g);
}
END_TEST

START_TEST(behind_a_gap_all_get_the_same_call)
{
    setup();
    for (int i = 0; i < MEMBERS; i++)
        enter(i, 0);
    g->calls += GAP;
    ck_assert_int_eq(enter(0, 25), 1 + GAP);
    ck_assert_int_eq(enter(0, 2 + GAP), 2 + GAP); /* runs ahead */
    ck_assert_int_eq(enter(1, 25), 1 + GAP);
    ck_assert_int_eq(enter(2, -1), 1 + GAP);
    ck_assert_int_eq(enter(2, 2 + GAP), 2 + GAP);
    ck_assert_int_eq(enter(1, 2 + GAP), 2 + GAP);
    pvmg_roster_drop(g);
}
END_TEST

/* A member whose answer was lost asks again with the number that it knows. */
START_TEST(who_asks_again_gets_the_same_call)
{
    setup();
    g->calls = GAP;
    ck_assert_int_eq(enter(0, 25), GAP);
    ck_assert_int_eq(enter(0, 25), GAP);
    ck_assert_int_eq(enter(1, 25), GAP);
    ck_assert_int_eq(enter(1, GAP + 1), GAP + 1);
    ck_assert_int_eq(enter(0, 25), GAP);
    ck_assert_int_eq(enter(0, GAP + 1), GAP + 1);
    pvmg_roster_drop(g);
}
END_TEST

START_TEST(a_group_has_no_more_calls_than_fit)
{
    setup();
    g->calls = PVMG_CALL_NUMBER_MAX;
    ck_assert_int_eq(enter(0, PVMG_CALL_NUMBER_MAX), PvmOutOfRes);
    pvmg_roster_drop(g);
}
END_TEST

UNIT_MAIN("calls", without_gaps_the_numbers_are_those_asked_for, behind_a_gap_all_get_the_same_call,
          who_asks_again_gets_the_same_call, a_group_has_no_more_calls_than_fit)
