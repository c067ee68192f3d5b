/*
 * board - members of one host that meet at a board, in shared memory: what each of them pays, and what happens when one
 * of them cannot come: board CASE HOSTS.
 */
#include <dlfcn.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include "team.h"

enum { MANY = 64, FEW = 4, FIRST = 12, ROUNDS = 50, CALLS_MAX = 4, LARGE = 8 << 20, WAIT_MS = 100, GROUPS = 66 };
enum { TAG_LARGE = TAG_TEAM_RESULT + 1, TAG_HANDLED, TAG_READY, TAG_TOLD };

/* ---- the system calls of libpvm3, which finds these functions before those of libc ---- */

static int calls;

#define COUNTED(type, name, parameters, arguments)                                                                     \
    __attribute__((visibility("default"))) type name parameters                                                        \
    {                                                                                                                  \
        static type(*next) parameters;                                                                                 \
        if (!next)                                                                                                     \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                                                                 \
        calls++;                                                                                                       \
        return next arguments;                                                                                         \
    }

COUNTED(int, ppoll, (struct pollfd * fds, nfds_t n, const struct timespec *limit, const sigset_t *mask),
        (fds, n, limit, mask))
COUNTED(int, __ppoll_chk,
        (struct pollfd * fds, nfds_t n, const struct timespec *limit, const sigset_t *mask, size_t room),
        (fds, n, limit, mask, room)) /* the same, hardened */
COUNTED(int, epoll_wait, (int epoll, struct epoll_event *events, int n, int ms), (epoll, events, n, ms))
COUNTED(int, sched_yield, (void), ())
COUNTED(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n))
COUNTED(ssize_t, write, (int fd, const void *from, size_t n), (fd, from, n))
COUNTED(ssize_t, send, (int fd, const void *from, size_t n, int flags), (fd, from, n, flags))
COUNTED(ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags), (fd, m, flags))
COUNTED(ssize_t, recv, (int fd, void *to, size_t n, int flags), (fd, to, n, flags))
COUNTED(ssize_t, recvmsg, (int fd, struct msghdr *m, int flags), (fd, m, flags))
COUNTED(int, close, (int fd), (fd))

/* ---- the members ---- */

static void meet(int n)
{
    CHECK_EQ(pvm_barrier("b", n), 0);
}

/* From here on all n members meet at a board. */
static int start(int n)
{
    pvm_setopt(PvmAutoErr, 0);
    int instance = team_join("b", n);
    for (int i = 0; i < FIRST; i++)
        meet(n);
    CHECK(team_has_board());
    return instance;
}

/* Each pays few system calls, even if all sleep until the last one comes. */
static void payer(int argc, char **argv)
{
    (void)argc, (void)argv;
    start(MANY);
    calls = 0;
    for (int i = 0; i < ROUNDS; i++)
        meet(MANY);
    int paid = calls;
    CHECK(paid <= CALLS_MAX * ROUNDS);
    CHECK(paid > 0); /* they are counted */
    pvm_lvgroup("b");
    team_done();
}

/* The same in collective calls. */
static void giver(int argc, char **argv)
{
    double mine = 1, all[MANY];
    team_join_kind("b", MANY, team_argument(argc, argv));
    for (int i = 0; i < FIRST; i++)
        meet(MANY);
    calls = 0;
    for (int i = 0; i < ROUNDS; i++) {
        CHECK_EQ(pvm_reduce(PvmSum, &mine, 1, PVM_DOUBLE, 1, "b", 0), 0);
        CHECK_EQ(pvm_gather(all, &mine, 1, PVM_DOUBLE, 1, "b", 0), 0);
        CHECK_EQ(pvm_scatter(&mine, all, 1, PVM_DOUBLE, 1, "b", 0), 0);
    }
    int paid = calls;
    if (pvm_getinst("b", pvm_mytid()) > 0)
        CHECK(paid <= CALLS_MAX * 3 * ROUNDS);
    meet(MANY);
    pvm_lvgroup("b");
    team_done();
}

/* Who waits at a board takes what others send, and runs handlers. */
static int handled;

static int handle(int mid)
{
    (void)mid;
    handled++;
    return 0;
}

static void receiver(int argc, char **argv)
{
    (void)argc, (void)argv;
    int instance = start(FEW);
    if (instance == 0) {
        CHECK(pvm_addmhf(-1, TAG_HANDLED, pvm_getcontext(), handle) >= 0);
        meet(FEW); /* the handler is there */
        meet(FEW); /* waits while the others send */
        CHECK_EQ(handled, FEW - 1);
        for (int i = 1; i < FEW; i++)
            check_receive(-1, TAG_LARGE);
    } else {
        static char data[LARGE];
        int to = pvm_gettid("b", 0);
        meet(FEW);
        check_sleep_ms(WAIT_MS);
        check_send_int(to, TAG_HANDLED, 1);
        CHECK(pvm_initsend(PvmDataInPlace) > 0);
        CHECK_EQ(pvm_pkbyte(data, LARGE, 1), 0);
        CHECK_EQ(pvm_send(to, TAG_LARGE), 0);
        meet(FEW);
    }
    meet(FEW);
    pvm_lvgroup("b");
    team_done();
}

/* One dies while the others wait for it, or after it has arrived. Another one takes its place. */
static void mortal(int argc, char **argv)
{
    bool arrives = team_argument(argc, argv);
    int instance = start(FEW);
    if (instance == FEW - 1) {
        if (arrives) {
            check_send_int(pvm_parent(), TAG_READY, pvm_mytid());
            meet(FEW);
        } else {
            check_sleep_ms(WAIT_MS);
            raise(SIGKILL);
        }
    }
    if (arrives)
        check_receive(pvm_parent(), TAG_READY); /* it has died */
    CHECK_EQ(pvm_barrier("b", FEW), PvmNoTask);
    check_send_int(pvm_parent(), TAG_TOLD, 1);
    meet(FEW);
    for (int i = 0; i < FIRST; i++)
        meet(FEW);
    pvm_lvgroup("b");
    team_done();
}

static void heir(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK_EQ(pvm_joingroup("b"), FEW - 1);
    for (int i = 0; i <= FIRST; i++)
        meet(FEW);
    pvm_lvgroup("b");
    team_done();
}

/* A barrier of all waits for one who joined before it, even if nobody has heard of that. */
static void host(int argc, char **argv)
{
    (void)argc, (void)argv;
    start(FEW);
    check_send_int(pvm_parent(), TAG_TOLD, 1);
    check_receive(-1, TAG_READY);
    double before = check_now();
    meet(-1);
    CHECK(check_now() - before >= 0.9e-3 * WAIT_MS);
    for (int i = 0; i < FIRST; i++)
        meet(FEW + 1);
    pvm_lvgroup("b");
    team_done();
}

static void visitor(int argc, char **argv)
{
    (void)argc, (void)argv;
    int tids[FEW];
    while (pvm_gsize("b") != FEW)
        check_sleep_ms(1);
    for (int i = 0; i < FEW; i++)
        tids[i] = pvm_gettid("b", i);
    CHECK_EQ(pvm_joingroup("b"), FEW);
    for (int i = 0; i < FEW; i++)
        check_send_int(tids[i], TAG_READY, 1);
    check_sleep_ms(2 * WAIT_MS);
    meet(-1);
    for (int i = 0; i < FIRST; i++)
        meet(FEW + 1);
    pvm_lvgroup("b");
    team_done();
}

/* Counts that differ fail for all, and the group stays usable. */
static void differing(int argc, char **argv)
{
    bool frozen = team_argument(argc, argv);
    int instance = team_join_kind("b", FEW, frozen);
    pvm_setopt(PvmAutoErr, 0);
    for (int i = 0; i < FIRST; i++)
        meet(FEW);
    CHECK(team_has_board());
    if (instance == 0)
        check_sleep_ms(WAIT_MS);
    CHECK_EQ(pvm_barrier("b", instance ? FEW : FEW - 1), PvmMismatch);
    for (int i = 0; i < FIRST; i++)
        meet(FEW);
    pvm_lvgroup("b");
    team_done();
}

/* The server ends while all but one wait. */
static void orphan(int argc, char **argv)
{
    bool frozen = team_argument(argc, argv);
    int instance = team_join_kind("b", FEW, frozen);
    for (int i = 0; i < FIRST; i++)
        meet(FEW);
    CHECK(team_has_board());
    if (instance == 0) {
        int server = 0;
        check_sleep_ms(WAIT_MS);
        CHECK(pvm_recvinfo("pvmgs", 0, PvmMboxDefault) > 0);
        CHECK_EQ(pvm_upkint(&server, 1, 1), 0);
        CHECK_EQ(pvm_sendsig(server, SIGKILL), 0);
        check_sleep_ms(WAIT_MS);
    }
    for (int i = 0; i < FIRST; i++)
        meet(FEW);
    pvm_lvgroup("b");
    team_done();
}

/* One jumps out of the barrier, and calls it again. */
static sigjmp_buf place;

static void jump(int signal)
{
    (void)signal;
    siglongjmp(place, 1);
}

static void jumper(int argc, char **argv)
{
    bool frozen = team_argument(argc, argv);
    int instance = team_join_kind("b", FEW, frozen);
    for (int i = 0; i < FIRST; i++)
        meet(FEW);
    CHECK(team_has_board());
    if (instance == 0) {
        signal(SIGALRM, jump);
        if (!sigsetjmp(place, 1)) {
            ualarm(WAIT_MS * 1000 / 2, 0);
            meet(FEW);
            CHECK(!"the others have not come");
        }
    } else {
        check_sleep_ms(2 * WAIT_MS);
    }
    double before = check_now();
    meet(FEW);
    if (instance == 0)
        CHECK(check_now() > before);
    for (int i = 0; i < FIRST; i++)
        meet(FEW);
    pvm_lvgroup("b");
    team_done();
}

/* The server has a limited number of boards. One that a member has closed, for good, does not count. */
static void closer(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    for (int group = 0; group < GROUPS; group++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", group);
        team_join_kind(name, FEW, 1);
        for (int i = 0; i < FIRST; i++)
            CHECK_EQ(pvm_barrier(name, FEW), 0);
        CHECK(team_has_board());
        CHECK_EQ(pvm_barrier(name, FEW + 1), PvmMismatch);
        CHECK(!team_has_board());
    }
    team_done();
}

/* Without shared memory among the transports there is no board. */
static void apart(int argc, char **argv)
{
    (void)argc, (void)argv;
    team_join("b", FEW);
    for (int i = 0; i < FIRST; i++)
        meet(FEW);
    CHECK(!team_has_board());
    pvm_lvgroup("b");
    team_done();
}

/* ---- the master ---- */

static void run(const char *role, int argument, int n)
{
    struct team t;
    team_start(&t, role, argument, n, 1);
    team_finish(&t);
}

static void run_both_kinds(const char *role, int n)
{
    run(role, 0, n);
    run(role, 1, n);
}

/* Kills the one that has arrived, and tells the others to come. */
static void kill_arrived(const struct team *t)
{
    int dead = check_receive_int(-1, TAG_READY);
    check_sleep_ms(WAIT_MS); /* it waits */
    CHECK_EQ(pvm_sendsig(dead, SIGKILL), 0);
    check_wait_exit(1, &dead);
    while (pvm_gsize("b") != FEW - 1) /* the server may hear of it later than we */
        check_sleep_ms(1);
    for (int i = 0; i < FEW; i++)
        if (t->tids[i] != dead)
            check_send_int(t->tids[i], TAG_READY, 1);
}

static void run_deaths(void)
{
    for (int arrives = 0; arrives <= 1; arrives++) {
        struct team t;
        int tid;
        team_start(&t, "mortal", arrives, FEW, 1);
        if (arrives)
            kill_arrived(&t);
        for (int i = 1; i < FEW; i++)
            check_receive(-1, TAG_TOLD);
        check_spawn("heir", NULL, ".", 1, &tid);
        for (int i = 0; i < FEW; i++)
            check_receive_int(-1, TAG_TEAM_DONE);
        check_wait_exit(FEW, t.tids);
        check_wait_exit(1, &tid);
    }
}

static void run_guest(void)
{
    struct team t;
    int tid;
    team_start(&t, "host", 0, FEW, 1);
    for (int i = 0; i < FEW; i++)
        check_receive_int(t.tids[i], TAG_TOLD); /* a guest that joins earlier takes the board away */
    check_spawn("visitor", NULL, ".", 1, &tid);
    check_receive_int(tid, TAG_TEAM_DONE);
    team_finish(&t);
}

static void master(int argc, char **argv)
{
    CHECK(argc > 1);
    if (!strcmp(argv[1], "calls"))
        run("payer", 0, MANY);
    else if (!strcmp(argv[1], "gifts"))
        run_both_kinds("giver", MANY);
    else if (!strcmp(argv[1], "messages"))
        run("receiver", 0, FEW);
    else if (!strcmp(argv[1], "death"))
        run_deaths();
    else if (!strcmp(argv[1], "guest"))
        run_guest();
    else if (!strcmp(argv[1], "counts"))
        run_both_kinds("differing", FEW);
    else if (!strcmp(argv[1], "server"))
        run_both_kinds("orphan", FEW);
    else if (!strcmp(argv[1], "closed"))
        run("closer", 0, FEW);
    else if (!strcmp(argv[1], "jump"))
        run_both_kinds("jumper", FEW);
    else
        run("apart", 0, FEW);
}

static const struct check_role roles[] = {{"payer", payer},     {"giver", giver},         {"receiver", receiver},
                                          {"mortal", mortal},   {"heir", heir},           {"host", host},
                                          {"visitor", visitor}, {"differing", differing}, {"orphan", orphan},
                                          {"closer", closer},   {"jumper", jumper},       {"apart", apart},
                                          {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
