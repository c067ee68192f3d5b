/*
 * context - messages of one context are invisible in another; children inherit it; handlers get only their own
 * messages.
 */
#include "tests/machine/runner/check.h"

enum { TAG_A = 1, TAG_B, TAG_CONTEXT, TAG_HANDLED, TAG_END };

static void child(int argc, char **argv)
{
    (void)argc;
    int given = atoi(argv[1]);
    CHECK_EQ(pvm_getcontext(), given);
    check_send_int(pvm_parent(), TAG_CONTEXT, given);
}

static void check_contexts(void)
{
    int me = pvm_mytid(), one = pvm_newcontext(), two = pvm_newcontext();
    CHECK(one > 0 && two > 0 && one != two);
    CHECK_EQ(pvm_getcontext(), PvmBaseContext);
    check_send_int(me, TAG_A, 100);
    CHECK_EQ(pvm_setcontext(one), PvmBaseContext);
    check_send_int(me, TAG_A, 101);
    CHECK_EQ(pvm_setcontext(two), one);
    check_send_int(me, TAG_A, 102);
    check_send_int(me, TAG_B, 0);
    check_receive(me, TAG_B); /* all have arrived */
    CHECK_EQ(check_receive_int(-1, -1), 102);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
    CHECK_EQ(pvm_probe(-1, TAG_A), 0);
    pvm_setcontext(-1); /* any: the oldest */
    CHECK_EQ(check_receive_int(-1, TAG_A), 100);
    pvm_setcontext(one);
    CHECK_EQ(check_receive_int(me, TAG_A), 101);
    pvm_setcontext(PvmBaseContext);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
    CHECK_EQ(pvm_freecontext(one), 0);
    CHECK_EQ(pvm_freecontext(one), PvmNotFound);
    CHECK_EQ(pvm_freecontext(two), 0);
}

static void check_inherited(const char *host)
{
    char given[16];
    int tid, context = pvm_newcontext();
    CHECK(context > 0);
    pvm_setcontext(context);
    snprintf(given, sizeof given, "%d", context);
    check_spawn("child", given, host, 1, &tid);
    CHECK_EQ(check_receive_int(tid, TAG_CONTEXT), context);
    check_wait_exit(1, &tid);
    pvm_setcontext(PvmBaseContext);
    CHECK_EQ(pvm_freecontext(context), 0);
}

static int handled, handled_sum, handler_context;

/* Runs with the message as receive buffer and its context current; its changes to buffers are undone. */
static int add_up(int mid)
{
    int value;
    CHECK_EQ(pvm_getrbuf(), mid);
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    handled++;
    handled_sum += value;
    handler_context = pvm_getcontext();
    check_send_int(pvm_mytid(), TAG_HANDLED, value);
    return 0;
}

static void check_handlers(void)
{
    int me = pvm_mytid(), context = pvm_newcontext();
    int any = pvm_addmhf(-1, TAG_A, PvmBaseContext, add_up);
    CHECK(any >= 0);
    CHECK_EQ(pvm_addmhf(me, TAG_A, PvmBaseContext, add_up), PvmExists);
    int other = pvm_addmhf(me, TAG_A, context, add_up);
    CHECK(other >= 0 && other != any);

    check_send_int(me, TAG_A, 1);
    check_send_int(me, TAG_B, 50);
    int kept = pvm_getsbuf();
    CHECK_EQ(check_receive_int(me, TAG_B), 50);
    CHECK_EQ(pvm_getsbuf(), kept);
    CHECK_EQ(handled, 1);
    CHECK_EQ(handler_context, PvmBaseContext);
    pvm_setcontext(context);
    check_send_int(me, TAG_A, 10);
    check_send_int(me, TAG_B, 51);
    CHECK_EQ(check_receive_int(me, TAG_B), 51);
    CHECK_EQ(handled, 2);
    CHECK_EQ(handler_context, context);
    CHECK_EQ(handled_sum, 11);
    CHECK_EQ(check_receive_int(me, TAG_HANDLED), 10);
    pvm_setcontext(PvmBaseContext);
    CHECK_EQ(check_receive_int(me, TAG_HANDLED), 1);

    CHECK_EQ(pvm_delmhf(any), 0);
    CHECK_EQ(pvm_delmhf(any), PvmNotFound);
    CHECK_EQ(pvm_delmhf(other), 0);
    check_send_int(me, TAG_A, 2); /* no handler any more: an ordinary message */
    CHECK_EQ(check_receive_int(me, TAG_A), 2);
    CHECK_EQ(handled, 2);
    CHECK_EQ(pvm_freecontext(context), 0);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1;
    check_hosts(hosts);
    pvm_setopt(PvmAutoErr, 0);
    check_contexts();
    check_inherited(check_host_name(hosts - 1));
    check_handlers();
}

static const struct check_role roles[] = {{"child", child}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
