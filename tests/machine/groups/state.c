/*
 * state - group calls do not change the caller's buffers, context, options, match function, handlers and error code,
 * and report errors where PVM does.
 */
#include "team.h"

enum { MEMBERS = 3, TAG_OWN = 4, TAG_HANDLED, CONTEXT = 123, AHEAD = 7 };

static int handled;

static int refuse_all(int mid, int tid, int tag)
{
    (void)mid, (void)tid, (void)tag;
    return 0;
}

static int count(int mid)
{
    int value;
    (void)mid;
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    handled += value;
    return 0;
}

static void call_everything(int instance)
{
    int data = 1, all[MEMBERS] = {0}, part;
    CHECK_EQ(pvm_gsize("s"), MEMBERS);
    CHECK_EQ(pvm_getinst("s", pvm_mytid()), instance);
    CHECK_EQ(pvm_gettid("s", instance), pvm_mytid());
    CHECK_EQ(pvm_joingroup("t"), pvm_getinst("t", pvm_mytid()));
    CHECK_EQ(pvm_barrier("s", MEMBERS), 0);
    CHECK_EQ(pvm_reduce(PvmSum, &data, 1, PVM_INT, 1, "s", 1), 0);
    CHECK_EQ(pvm_gather(all, &data, 1, PVM_INT, 1, "s", 0), 0);
    CHECK_EQ(pvm_scatter(&part, all, 1, PVM_INT, 1, "s", 0), 0);
    CHECK_EQ(pvm_barrier("s", -1), 0);
    CHECK_EQ(pvm_lvgroup("t"), 0);
}

/* A half-packed message and a half-read one can be continued. */
static void check_buffers(int instance)
{
    int send, receive, value = 10;
    check_send_int(pvm_mytid(), TAG_OWN, AHEAD);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&value, 1, 1), 0);
    value = 20;
    CHECK_EQ(pvm_pkint(&value, 1, 1), 0);
    CHECK_EQ(pvm_send(pvm_mytid(), TAG_OWN), 0);
    CHECK_EQ(check_receive_int(-1, TAG_OWN), AHEAD);
    CHECK_EQ(check_receive_int(-1, TAG_OWN), 10);
    CHECK((send = pvm_initsend(PvmDataRaw)) > 0);
    CHECK_EQ(pvm_pkint(&instance, 1, 1), 0);
    receive = pvm_getrbuf();

    call_everything(instance);

    CHECK_EQ(pvm_getsbuf(), send);
    CHECK_EQ(pvm_getrbuf(), receive);
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    CHECK_EQ(value, 20);
    CHECK_EQ(pvm_pkint(&value, 1, 1), 0);
    CHECK_EQ(pvm_send(pvm_mytid(), TAG_OWN), 0);
    CHECK_EQ(check_receive_int(-1, TAG_OWN), instance);
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
    CHECK_EQ(value, 20);

    pvm_freebuf(pvm_setsbuf(0));
    pvm_freebuf(pvm_setrbuf(0));
    call_everything(instance);
    CHECK_EQ(pvm_getsbuf(), 0);
    CHECK_EQ(pvm_getrbuf(), 0);
}

static void check_settings(int instance)
{
    int options[PvmNoReset + 1];
    pvm_setopt(PvmAutoErr, 0);
    for (int i = PvmRoute; i <= PvmNoReset; i++)
        options[i] = pvm_getopt(i);
    pvm_errno = PvmOverflow;
    CHECK_EQ(pvm_setcontext(CONTEXT), 0);
    CHECK(pvm_recvf(refuse_all) != refuse_all);

    call_everything(instance);

    CHECK_EQ(pvm_errno, PvmOverflow);
    CHECK(pvm_recvf(NULL) == refuse_all);
    CHECK_EQ(pvm_setcontext(0), CONTEXT);
    for (int i = PvmRoute; i <= PvmNoReset; i++)
        CHECK_EQ(pvm_getopt(i), options[i]);
    CHECK_EQ(pvm_gsize("none"), PvmNoGroup);
    CHECK_EQ(pvm_errno, PvmNoGroup);
}

/* The user's handler gets its messages during our calls, and may make group calls itself. */
static int call_from_handler(int mid)
{
    (void)mid;
    handled += pvm_gsize("s");
    return 0;
}

static void check_handlers(int instance)
{
    int id = pvm_addmhf(-1, TAG_HANDLED, -1, count), next = pvm_gettid("s", (instance + 1) % MEMBERS);
    CHECK(id > 0);
    handled = 0;
    CHECK_EQ(pvm_barrier("s", MEMBERS), 0); /* all have their handlers */
    check_send_int(next, TAG_HANDLED, 5);
    call_everything(instance);
    CHECK_EQ(handled, 5);
    CHECK_EQ(pvm_delmhf(id), 0);
    id = pvm_addmhf(-1, TAG_HANDLED, -1, call_from_handler);
    CHECK(id > 0);
    handled = 0;
    CHECK_EQ(pvm_barrier("s", MEMBERS), 0); /* all have their handlers */
    check_send_int(next, TAG_HANDLED, 5);
    call_everything(instance);
    CHECK_EQ(handled, MEMBERS);
    CHECK_EQ(pvm_delmhf(id), 0);
}

static void member(int argc, char **argv)
{
    (void)argc, (void)argv;
    int instance = team_join("s", MEMBERS);
    check_buffers(instance);
    check_settings(instance);
    check_handlers(instance);
    CHECK_EQ(pvm_freezegroup("s", MEMBERS), MEMBERS);
    check_buffers(instance);
    check_settings(instance);
    check_handlers(instance);
    team_done();
}

/* Only reduce, gather and scatter report errors according to PvmAutoErr; the last value ends the process. */
static void clumsy(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_gsize("none");
    pvm_gather(&argc, &argc, 1, PVM_INT, 1, "none", 0);
    pvm_setopt(PvmAutoErr, 2);
    pvm_joingroup("");
    pvm_reduce(PvmSum, &argc, 0, PVM_INT, 1, "none", 0);
    printf("still there\n");
}

static void check_reports(void)
{
    char *text = NULL, expected[300];
    size_t length;
    int tid;
    FILE *file = open_memstream(&text, &length);
    pvm_catchout(file);
    pvm_setopt(PvmShowTids, 0);
    check_spawn("clumsy", NULL, NULL, 1, &tid);
    for (double end = check_now() + check_limit_s(); check_now() < end; check_sleep_ms(5)) {
        pvm_nrecv(-1, -1);
        fflush(file);
        if (text && strstr(text, "pvm_reduce") && strchr(strstr(text, "pvm_reduce"), '\n'))
            break;
    }
    check_wait_exit(1, &tid);
    check_sleep_ms(50); /* anything more? */
    pvm_nrecv(-1, -1);
    pvm_catchout(NULL);
    fclose(file);
    snprintf(expected, sizeof expected,
             "libpvm [t%x]: pvm_gather(): No such group\nlibpvm [t%x]: pvm_reduce(): Bad parameter\n", tid, tid);
    CHECK_TEXT(text, expected); /* and nothing from the group server that it started */
    free(text);
}

static void master(int argc, char **argv)
{
    struct team t;
    check_reports();
    team_start(&t, "member", 0, MEMBERS, team_hosts(argc, argv));
    team_finish(&t);
}

static const struct check_role roles[] = {{"member", member}, {"clumsy", clumsy}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
