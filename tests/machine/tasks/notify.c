/* notify - TaskExit, HostAdd, HostDelete, their order, counts and cancelling: notify [HOSTS]. */
#include <signal.h>
#include "tests/machine/runner/check.h"

enum {
    TAG_EXIT = 1,
    TAG_AGAIN,
    TAG_CANCELLED,
    TAG_HOST_ADD,
    TAG_HOST_DELETE,
    TAG_GO,
    TAG_LATE,
    TAG_WORD,
    LAST_WORDS = 1000
};

static void child(int argc, char **argv)
{
    (void)argc, (void)argv;
    check_receive_int(-1, TAG_GO);
}

static void dies_unseen(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_mytid();
    raise(SIGKILL);
}

/* However a task ends - by pvm_exit, kill or crash - each request yields one message, at once. */
static void check_task_exit(const char *host)
{
    int tids[3], crashed;
    check_spawn("child", NULL, host, 3, tids);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 3, tids), 0);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_AGAIN, 1, tids), 0);
    CHECK_EQ(pvm_nrecv(-1, TAG_EXIT), 0);

    check_send_int(tids[0], TAG_GO, 0);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tids[0]);
    CHECK_EQ(check_receive_int(-1, TAG_AGAIN), tids[0]);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_LATE, 1, tids), 0); /* dead already */
    CHECK_EQ(check_receive_int(-1, TAG_LATE), tids[0]);

    double start = check_now();
    CHECK_EQ(pvm_sendsig(tids[1], SIGKILL), 0);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tids[1]);
    CHECK(check_now() - start < 1.0 * check_slowness());

    CHECK_EQ(pvm_notify(PvmTaskExit | PvmNotifyCancel, TAG_EXIT, 1, &tids[2]), 0);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tids[2]); /* cancelling delivers at once */
    CHECK_EQ(pvm_kill(tids[2]), 0);
    check_spawn("dies_unseen", NULL, host, 1, &crashed);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_CANCELLED, 1, &crashed), 0);
    CHECK_EQ(check_receive_int(-1, TAG_CANCELLED), crashed);
    CHECK_EQ(pvm_nrecv(-1, TAG_EXIT), 0); /* the cancelled one yields nothing */
}

static void last_words(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int i = 0; i < LAST_WORDS; i++)
        check_send_int(pvm_parent(), TAG_WORD, i);
}

/* What a task sent before its end arrives before the notice of its end. */
static void check_exit_comes_last(const char *host)
{
    int tid;
    check_spawn("last_words", NULL, host, 1, &tid);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tid);
    for (int i = 0; i < LAST_WORDS; i++) {
        int value = -1;
        CHECK(pvm_nrecv(tid, TAG_WORD) > 0);
        CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
        CHECK_EQ(value, i);
    }
}

static void check_context_of_notify(const char *host)
{
    int tid, context = pvm_newcontext();
    check_spawn("child", NULL, host, 1, &tid);
    pvm_setcontext(context);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
    pvm_setcontext(PvmBaseContext);
    CHECK_EQ(pvm_kill(tid), 0);
    pvm_setcontext(context);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tid);
    pvm_setcontext(PvmBaseContext);
    CHECK_EQ(pvm_freecontext(context), 0);
}

static void check_refused(void)
{
    int tid = pvm_mytid();
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 0, &tid), PvmBadParam);
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_EXIT, 0, &tid), PvmBadParam);
    CHECK_EQ(pvm_notify(77, TAG_EXIT, 1, &tid), PvmBadParam);
}

static int add_host(int index)
{
    char *name = (char *)check_host_name(index);
    int status;
    CHECK_EQ(pvm_addhosts(&name, 1, &status), 1);
    CHECK(status > 0);
    return status;
}

static void delete_host(int index)
{
    char *name = (char *)check_host_name(index);
    int status;
    CHECK_EQ(pvm_delhosts(&name, 1, &status), 1);
    CHECK_EQ(status, 0);
}

static void check_hosts_added_and_deleted(void)
{
    int n, added, tid;
    CHECK_EQ(pvm_notify(PvmHostAdd, TAG_HOST_ADD, 1, NULL), 0);
    int host = add_host(1);
    check_receive(-1, TAG_HOST_ADD);
    CHECK_EQ(pvm_upkint(&n, 1, 1), 0);
    CHECK_EQ(n, 1);
    CHECK_EQ(pvm_upkint(&added, 1, 1), 0);
    CHECK_EQ(added, host);

    check_spawn("child", NULL, check_host_name(1), 1, &tid);
    CHECK_EQ(pvm_tidtohost(tid), host);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST_DELETE, 1, &host), 0);
    delete_host(1);
    CHECK_EQ(check_receive_int(-1, TAG_HOST_DELETE), host);
    CHECK_EQ(check_receive_int(-1, TAG_EXIT), tid);
    CHECK_EQ(pvm_notify(PvmHostDelete, TAG_HOST_DELETE, 1, &host), 0); /* deleted already */
    CHECK_EQ(check_receive_int(-1, TAG_HOST_DELETE), host);

    int again = add_host(1); /* one request yielded one message; the new host has a new tid */
    CHECK(again != host);
    CHECK_EQ(pvm_nrecv(-1, TAG_HOST_ADD), 0);
    CHECK_EQ(pvm_notify(PvmHostAdd, TAG_HOST_ADD, -1, NULL), 0);
    delete_host(1);
    add_host(1);
    delete_host(1);
    add_host(1);
    check_receive(-1, TAG_HOST_ADD);
    check_receive(-1, TAG_HOST_ADD);
    CHECK_EQ(pvm_notify(PvmHostAdd, TAG_HOST_ADD, 0, NULL), 0); /* no more */
    delete_host(1);
    add_host(1);
    CHECK_EQ(pvm_nrecv(-1, TAG_HOST_ADD), 0);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1;
    pvm_setopt(PvmAutoErr, 0);
    if (hosts > 1)
        check_hosts_added_and_deleted();
    check_hosts(hosts);
    check_task_exit(check_host_name(hosts - 1));
    check_exit_comes_last(check_host_name(hosts - 1));
    check_context_of_notify(check_host_name(hosts - 1));
    check_refused();
}

static const struct check_role roles[] = {
    {"child", child}, {"dies_unseen", dies_unseen}, {"last_words", last_words}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
