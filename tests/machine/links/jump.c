/*
 * jump - calls that the program leaves with siglongjmp() while they wait, and what works afterwards:
 * jump CASE.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <ucontext.h>
#include "tests/machine/runner/check.h"

enum { TAG_WORD = 1, TAG_NEVER, TAG_ECHO, TAG_HANDLED, TAG_GO, TAG_BULK, TAG_END };
enum { ROUNDS = 20, WAIT_US = 20000, AGAIN_US = 1000, HELD_US = 1500000, BULK_BYTES = 8 << 20 };

static sigjmp_buf way_out;
static volatile sig_atomic_t round_, handled;
static int echo_tid;
static char bulk[BULK_BYTES];

static void alarm_after(int us)
{
    struct itimerval soon = {.it_value = {us / 1000000, us % 1000000}};
    setitimer(ITIMER_REAL, &soon, NULL);
}

/* Whether the signal has interrupted a system call that waits. */
static int has_interrupted_wait(const ucontext_t *at)
{
#if defined __x86_64__
    return at->uc_mcontext.gregs[REG_RAX] == -EINTR;
#elif defined __aarch64__
    return at->uc_mcontext.regs[0] == (unsigned long)-EINTR;
#else
#error "where does a system call return its error?"
#endif
}

/* On a busy machine the alarm may come before the task waits. A jump is promised to be safe only out of a wait. */
static void jump(int signal, siginfo_t *info, void *at)
{
    (void)signal, (void)info;
    if (!has_interrupted_wait(at)) {
        alarm_after(AGAIN_US);
        return;
    }
    siglongjmp(way_out, 1);
}

/* Makes a call that waits, and jumps out of it. */
#define LEAVE(call)                                                                                                    \
    do {                                                                                                               \
        if (!sigsetjmp(way_out, 1)) {                                                                                  \
            alarm_after(WAIT_US);                                                                                      \
            long got_ = (long)(call);                                                                                  \
            check_failed(__FILE__, __LINE__, "%s ended: %ld", #call, got_);                                            \
        }                                                                                                              \
        alarm_after(0);                                                                                                \
    } while (0)

/* Overwrites what the abandoned call had on the stack. */
static __attribute__((noinline)) void reuse_stack(void)
{
    volatile char stack[32768];
    memset((char *)stack, 0xa5, sizeof stack);
}

static void talk_to(int tid, int value)
{
    check_send_int(tid, TAG_ECHO, value);
    CHECK_EQ(check_receive_int(tid, TAG_ECHO), value);
}

/* Also from deeper in the stack than the abandoned call. */
static __attribute__((noinline)) void talk_from_below(int value)
{
    volatile char stack[8192];
    memset((char *)stack, 0x5a, sizeof stack);
    check_send_int(pvm_mytid(), TAG_WORD, value);
    CHECK_EQ(check_receive_int(pvm_mytid(), TAG_WORD), value);
    talk_to(echo_tid, value + stack[100]);
}

/* Everything still works, and nothing is left behind. */
static void check_all(int value)
{
    reuse_stack();
    if (value % 2)
        talk_from_below(value);
    check_send_int(pvm_mytid(), TAG_WORD, value);
    CHECK_EQ(check_receive_int(-1, TAG_WORD), value);
    talk_to(echo_tid, value);
    talk_from_below(value);
    CHECK_EQ(pvm_pstat(echo_tid), PvmOk);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
    CHECK_EQ(pvm_getcontext(), 0);
    CHECK_EQ(pvm_getopt(PvmResvTids), 0);
}

static int precv_int(int tid, int tag, int *value)
{
    return pvm_precv(tid, tag, value, 1, PVM_INT, NULL, NULL, NULL);
}

/* ---- receiving ---- */

static void leave_receives(void)
{
    struct timeval long_time = {100, 0};
    int value;
    for (round_ = 0; round_ < ROUNDS; round_++) {
        LEAVE(pvm_recv(-1, TAG_NEVER));
        check_all(round_);
        LEAVE(pvm_recv(echo_tid, -1));
        check_all(round_);
        LEAVE(pvm_trecv(-1, TAG_NEVER, &long_time));
        check_all(round_);
        LEAVE(precv_int(-1, TAG_NEVER, &value));
        check_all(round_);
        check_send_int(echo_tid, TAG_ECHO, round_);
        CHECK_EQ(precv_int(echo_tid, TAG_ECHO, &value), 0);
        CHECK_EQ(value, round_);
        LEAVE(pvm_recvinfo("never", 0, PvmMboxWaitForInfo));
        check_all(round_);
    }
}

static int match(int mid, int tid, int tag)
{
    int from, its_tag;
    pvm_bufinfo(mid, NULL, &its_tag, &from);
    return (tid == -1 || tid == from) && (tag == -1 || tag == its_tag);
}

static int match_and_jump(int mid, int tid, int tag)
{
    (void)mid, (void)tid, (void)tag;
    siglongjmp(way_out, 1);
}

static void leave_matches(void)
{
    for (round_ = 0; round_ < ROUNDS; round_++) {
        pvm_recvf(match);
        check_send_int(pvm_mytid(), TAG_HANDLED, 1); /* something to ask for */
        LEAVE(pvm_recv(-1, TAG_NEVER));
        CHECK_EQ(check_receive_int(-1, TAG_HANDLED), 1);
        check_all(round_);
        check_send_int(pvm_mytid(), TAG_HANDLED, 2);
        pvm_recvf(match_and_jump);
        LEAVE(pvm_recv(-1, TAG_NEVER));
        pvm_recvf(NULL);
        CHECK_EQ(check_receive_int(-1, TAG_HANDLED), 2);
        check_all(round_);
    }
}

/* ---- handlers ---- */

static int handle_and_jump(int mid)
{
    CHECK(mid > 0);
    handled++;
    siglongjmp(way_out, 1);
}

static int handle_and_wait(int mid)
{
    CHECK(mid > 0);
    handled++;
    return pvm_recv(-1, TAG_NEVER);
}

/* Jumps out of the wait in the handler, which then ends. */
static int handle_and_leave(int mid)
{
    CHECK(mid > 0);
    handled++;
    LEAVE(pvm_recv(-1, TAG_NEVER));
    talk_to(echo_tid, 77);
    return 0;
}

static void leave_handlers(void)
{
    static int (*const functions[])(int) = {handle_and_jump, handle_and_wait};
    static int f, id, buffer;
    for (f = 0; f < 2; f++) {
        id = pvm_addmhf(-1, TAG_HANDLED, -1, functions[f]);
        CHECK(id > 0);
        handled = 0;
        for (round_ = 0; round_ < ROUNDS; round_++) {
            buffer = pvm_mkbuf(PvmDataDefault);
            pvm_setsbuf(buffer);
            LEAVE((pvm_send(pvm_mytid(), TAG_HANDLED), pvm_recv(-1, TAG_NEVER)));
            CHECK_EQ(handled, round_ + 1);
            CHECK_EQ(pvm_getsbuf(), buffer); /* not the handler's */
            check_all(round_);
        }
        CHECK_EQ(pvm_delmhf(id), 0);
    }
    id = pvm_addmhf(-1, TAG_HANDLED, -1, handle_and_leave);
    for (round_ = handled = 0; round_ < ROUNDS; round_++) {
        check_send_int(pvm_mytid(), TAG_HANDLED, 0);
        CHECK_EQ(pvm_nrecv(-1, TAG_NEVER), 0);
        CHECK_EQ(handled, round_ + 1);
        check_send_int(echo_tid, TAG_HANDLED, 0); /* it arrives while we wait in vain */
        struct timeval time = {100, 0};
        check_send_int(echo_tid, TAG_WORD, 5);
        CHECK(pvm_trecv(echo_tid, TAG_WORD, &time) > 0);
        CHECK_EQ(handled, round_ + 2);
        check_all(round_);
        handled = round_ + 1;
    }
    CHECK_EQ(pvm_delmhf(id), 0);
}

/* ---- groups ---- */

static void leave_groups(void)
{
    int value = 1;
    for (round_ = 0; round_ < ROUNDS; round_++) {
        CHECK_EQ(pvm_joingroup("g"), 0);
        LEAVE(pvm_barrier("g", 2));
        check_all(round_);
        CHECK_EQ(pvm_gsize("g"), 1);
        CHECK_EQ(pvm_lvgroup("g"), 0);
        CHECK_EQ(pvm_joingroup("h"), 0);
        LEAVE(pvm_freezegroup("h", 2));
        check_all(round_);
        CHECK_EQ(pvm_lvgroup("h"), 0);
        CHECK_EQ(pvm_joingroup("i"), 0);
        CHECK_EQ(pvm_barrier("i", 1), 0);
        CHECK_EQ(pvm_reduce(PvmSum, &value, 1, PVM_INT, 3, "i", 0), 0);
        CHECK_EQ(pvm_lvgroup("i"), 0);
    }
}

/* The other of two members comes too late for the first calls. */
static void leave_frozen_group(void)
{
    int value = 1, other;
    CHECK_EQ(pvm_joingroup("two"), 0);
    check_spawn("member", NULL, NULL, 1, &other);
    CHECK_EQ(pvm_freezegroup("two", 2), 2);
    LEAVE(pvm_reduce(PvmSum, &value, 1, PVM_INT, 3, "two", 0));
    check_all(1);
    LEAVE(pvm_barrier("two", 2));
    check_all(2);
    CHECK_EQ(pvm_gsize("two"), 2);
    check_send_int(other, TAG_GO, 0);
    check_wait_exit(1, &other);
    CHECK_EQ(pvm_lvgroup("two"), 0);
    check_all(3);
}

static void member(int argc, char **argv)
{
    (void)argc, (void)argv;
    CHECK_EQ(pvm_joingroup("two"), 1);
    CHECK_EQ(pvm_freezegroup("two", 2), 2);
    check_receive_int(pvm_parent(), TAG_GO);
}

/* ---- sending ---- */

/*
 * The receiver does not receive: the sender is held and jumps out, and everything arrives in order when the receiver
 * continues.
 */
static void leave_sends(void)
{
    int stalled;
    volatile unsigned sent = 0;
    check_spawn("stalled", NULL, NULL, 1, &stalled);
    check_receive_int(stalled, TAG_GO);
    if (!sigsetjmp(way_out, 1)) {
        for (;; sent++) {
            pvm_initsend(PvmDataRaw);
            check_fill(bulk, BULK_BYTES, sent);
            pvm_pkbyte(bulk, BULK_BYTES, 1);
            alarm_after(HELD_US); /* a send that takes so long must be waiting, not working */
            CHECK_EQ(pvm_send(stalled, TAG_BULK), 0);
            alarm_after(0);
        }
    }
    memset(bulk, 0, sizeof bulk);
    pvm_pkint((int[]){1, 2, 3}, 3, 1); /* the message being sent must not get these */
    check_all(1);
    pvm_sendsig(stalled, SIGUSR1);
    check_send_int(stalled, TAG_END, (int)sent);
    printf("%u messages, and one that was left\n", sent);
    CHECK_EQ(check_receive_int(stalled, TAG_END), sent + 1);
    for (round_ = 0; round_ < 3; round_++)
        talk_to(stalled, round_);
    check_all(2);
    check_send_int(stalled, TAG_END, 0);
    check_wait_exit(1, &stalled);
}

static void go_on(int signal)
{
    (void)signal;
}

static void echo(int argc, char **argv);

static void stalled(int argc, char **argv)
{
    int tag, messages = 0;
    signal(SIGUSR1, go_on);
    pvm_mytid();
    check_send_int(pvm_parent(), TAG_GO, 0);
    pause();
    for (;; messages++) {
        pvm_bufinfo(check_receive(pvm_parent(), -1), NULL, &tag, NULL);
        if (tag == TAG_END)
            break;
        CHECK_EQ(pvm_upkbyte(bulk, BULK_BYTES, 1), 0);
        CHECK(check_same(bulk, BULK_BYTES, (unsigned)messages));
    }
    check_send_int(pvm_parent(), TAG_END, messages);
    echo(argc, argv);
}

/* ---- several threads ---- */

static pthread_barrier_t turns;

/* Waits, when it is its turn, until the other thread sends. */
static void *receive_beside(void *arg)
{
    (void)arg;
    sigset_t alarms;
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        pthread_barrier_wait(&turns);
        CHECK_EQ(check_receive_int(-1, TAG_GO), i);
        talk_to(echo_tid, 1000 + i);
        pthread_barrier_wait(&turns);
    }
    return NULL;
}

/* One thread leaves calls while the other is outside; then the other one works. */
static void leave_with_threads(void)
{
    pthread_t other;
    pthread_barrier_init(&turns, NULL, 2);
    CHECK_EQ(pthread_create(&other, NULL, receive_beside, NULL), 0);
    for (round_ = 0; round_ < ROUNDS; round_++) {
        LEAVE(pvm_recv(-1, TAG_NEVER));
        check_all(round_);
        LEAVE(pvm_recvinfo("never", 0, PvmMboxWaitForInfo));
        pthread_barrier_wait(&turns);
        check_send_int(pvm_mytid(), TAG_GO, round_);
        pthread_barrier_wait(&turns);
    }
    CHECK_EQ(pthread_join(other, NULL), 0);
    check_all(1);
}

/* ---- roles ---- */

static void echo(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (;;) {
        int tag, value = 0;
        CHECK(pvm_recv(pvm_parent(), -1) > 0);
        pvm_bufinfo(pvm_getrbuf(), NULL, &tag, NULL);
        if (tag == TAG_END)
            return;
        pvm_upkint(&value, 1, 1);
        pvm_initsend(PvmDataRaw);
        pvm_pkint(&value, 1, 1);
        pvm_send(pvm_parent(), tag);
    }
}

static const struct {
    const char *name;
    void (*run)(void);
} cases[] = {
    {"receive", leave_receives},    {"match", leave_matches}, {"handler", leave_handlers},     {"group", leave_groups},
    {"frozen", leave_frozen_group}, {"send", leave_sends},    {"threads", leave_with_threads},
};

static void master(int argc, char **argv)
{
    CHECK(argc > 1);
    pvm_setopt(PvmAutoErr, 0);
    sigaction(SIGALRM, &(struct sigaction){.sa_sigaction = jump, .sa_flags = SA_SIGINFO}, NULL);
    check_spawn("echo", NULL, NULL, 1, &echo_tid);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (!strcmp(argv[1], cases[i].name))
            cases[i].run();
    check_send_int(echo_tid, TAG_END, 0);
    check_wait_exit(1, &echo_tid);
}

/* An abandoned call cannot free its memory. */
const char *__asan_default_options(void) __attribute__((visibility("default")));

const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

int main(int argc, char **argv)
{
    static const struct check_role roles[] = {{"echo", echo}, {"member", member}, {"stalled", stalled}, {NULL, NULL}};
    return check_main(argc, argv, master, roles);
}
