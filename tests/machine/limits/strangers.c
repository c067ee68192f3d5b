/*
 * strangers - a task that meets new tasks all its life forgets those that have ended: strangers [HOSTS]
 *
 * Its peers are counted by their rows in its answer about routes (TC_ROUTES, doc/protocol.md).
 */
#include "tests/machine/runner/check.h"

enum {
    CONTEXT_CONTROL = 0x7ffff,
    TAG_ROUTES = (int)0x80030040,
    TAG_SERVER = 1,
    TAG_ASK,
    TAG_ANSWER,
    TAG_ROWS,
    AT_ONCE = 50,
    BATCHES = 20,
    ROWS_MAX = 400, /* 256 may come before it asks about them, and a batch may be there */
};

/* Answers everybody. */
static void server(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int from;;) {
        CHECK_EQ(pvm_bufinfo(check_receive(-1, TAG_ASK), NULL, NULL, &from), 0);
        check_send_int(from, TAG_ANSWER, 0);
        if (from == pvm_parent())
            return;
    }
}

static void stranger(int argc, char **argv)
{
    (void)argc, (void)argv;
    int tid = check_receive_int(pvm_parent(), TAG_SERVER);
    check_send_int(tid, TAG_ASK, 0);
    check_receive_int(tid, TAG_ANSWER);
}

static int rows_of(int tid)
{
    int address[2] = {pvm_getcontext(), TAG_ROWS}, option, n;
    char choice[256];
    int old = pvm_setcontext(CONTEXT_CONTROL), reserved = pvm_setopt(PvmResvTids, 1);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(address, 2, 1), 0);
    CHECK_EQ(pvm_send(tid, TAG_ROUTES), 0);
    pvm_setopt(PvmResvTids, reserved);
    pvm_setcontext(old);
    check_receive(tid, TAG_ROWS);
    CHECK_EQ(pvm_upkstr(choice), 0);
    CHECK_EQ(pvm_upkint(&option, 1, 1), 0);
    CHECK_EQ(pvm_upkint(&n, 1, 1), 0);
    return n;
}

static void run_batch(int tid, const char *host)
{
    int tids[AT_ONCE];
    check_spawn("stranger", NULL, host, AT_ONCE, tids);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&tid, 1, 1), 0);
    CHECK_EQ(pvm_mcast(tids, AT_ONCE, TAG_SERVER), 0);
    check_wait_exit(AT_ONCE, tids);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1, tid, most = 0;
    check_hosts(hosts);
    check_spawn("server", NULL, ".", 1, &tid);
    for (int i = 0; i < BATCHES; i++) {
        run_batch(tid, check_host_name(i % hosts));
        int rows = rows_of(tid);
        most = rows > most ? rows : most;
    }
    printf("%d strangers; at most %d peers at a time\n", AT_ONCE * BATCHES, most);
    CHECK(most > AT_ONCE && most <= ROWS_MAX);
    check_send_int(tid, TAG_ASK, 0);
    check_receive_int(tid, TAG_ANSWER);
    check_wait_exit(1, &tid);
}

static const struct check_role roles[] = {{"server", server}, {"stranger", stranger}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
