/*
 * processes.c - two processes: `server` is this one, `client` the other. Sent and received frames are counted in shared
 * memory, so that the counts survive a kill.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "side.h"
#include "suites.h"

struct shared {
    atomic_uint sent; /* frames that the other process's send() accepted */
};

/*
 * The other process, and a socket to it: for offers, and for a byte that means "continue". As between tasks and
 * daemons, a network's virtual time must know of bytes on the socket.
 */
struct peer {
    pid_t pid;
    int control;
    struct pvmc_bypass aside;
};

static struct shared *shared;

enum ending { ENDS_DISCONNECTING, ENDS_CLOSING, ENDS_EXITING, ENDS_KILLED, ENDINGS };

/* What the other process does. */
static enum ending ending;
static bool other_offers;
static bool in_place; /* including frames with in-place data, which would be lost with its owner */

enum { WAITING_MAX = 2 }; /* processes that one test starts, one after the other */

/* ---- the control socket: the part of the daemons ---- */

static void control_send(struct peer *p, const void *data, size_t bytes, int fd)
{
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(sizeof fd)];
    } ancillary = {.header = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&ancillary.header), &fd, sizeof fd);
    struct iovec iov = {(void *)data, bytes};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    if (fd >= 0) {
        msg.msg_control = ancillary.room;
        msg.msg_controllen = sizeof ancillary.room;
    }
    p->aside.given += bytes;
    if (pvmc_virtual_clock)
        ck_assert_int_eq(pvmc_virtual_clock->give(&p->aside), 0);
    ck_assert_int_eq(sendmsg(p->control, &msg, MSG_NOSIGNAL), (ssize_t)bytes);
}

/* Makes progress while it waits: the other side may need retransmissions of frames that the wire has lost. */
static void await_control(struct peer *p)
{
    struct pollfd fd = {.fd = p->control, .events = POLLIN};
    while (poll(&fd, 1, 0) == 0)
        drive_beside(pvmc_virtual_clock ? INT64_MAX : pvmc_clock_us() + 2000, &p->aside);
}

static size_t control_receive(struct peer *p, void *data, size_t size, int *fd)
{
    char room[CMSG_SPACE(sizeof *fd)];
    struct iovec iov = {data, size};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    await_control(p);
    ssize_t n = recvmsg(p->control, &msg, MSG_CMSG_CLOEXEC);
    ck_assert_msg(n > 0, "the other process is gone");
    p->aside.taken += (uint64_t)n;
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
    if (fd)
        *fd = -1;
    if (c && fd)
        memcpy(fd, CMSG_DATA(c), sizeof *fd);
    return (size_t)n;
}

static void say_go(struct peer *p)
{
    control_send(p, "g", 1, -1);
}

static void wait_for_go(struct peer *p)
{
    char byte;
    control_receive(p, &byte, 1, NULL);
}

/* ---- connecting ---- */

static void offer_to_other(struct side *s, struct peer *p)
{
    uint8_t blob[PVMT_OFFER_MAX + 1] = {0}, reply[PVMT_OFFER_MAX + 1] = {0};
    int fd, length = ops->offer(s->transport, s, blob + 1, &fd, &s->ep);
    ck_assert_int_ge(length, 0);
    control_send(p, blob, (size_t)length + 1, fd); /* preceded by a byte, since a blob may be empty */
    if (fd >= 0)
        close(fd);
    size_t answer = control_receive(p, reply, sizeof reply, NULL) - 1;
    if (answer && ops->joined)
        ck_assert_int_eq(ops->joined(s->ep, reply + 1, answer), 0);
    DRIVE_UNTIL(s->ready == 1);
    s->ready = 0;
}

static void join_other(struct side *s, struct peer *p)
{
    uint8_t blob[PVMT_OFFER_MAX + 1] = {0}, reply[PVMT_OFFER_MAX + 1] = {0};
    int fd;
    size_t length = control_receive(p, blob, sizeof blob, &fd) - 1;
    int answer = ops->join(s->transport, blob + 1, length, fd, s, reply + 1, &s->ep);
    ck_assert_int_ge(answer, 0);
    control_send(p, reply, (size_t)answer + 1, -1);
}

static void connect_to_other(struct side *s)
{
    const char *path = address_in_folder();
    ck_assert_int_eq(ops->connect(s->transport, (const uint8_t *)path, strlen(path), s, &s->ep), 0);
}

/* One frame each way: afterwards both know that the connection is up, and neither leaves before the other knows. */
static void greet(struct side *s, struct peer *p)
{
    DRIVE_UNTIL(s->ep && side_send(s, 0, 1000, 1, PAYLOAD_OWN) == 0);
    DRIVE_UNTIL(s->done >= 1 && ops->pending(s->ep) == 0);
    ck_assert_int_eq(s->down, 0);
    say_go(p);
    wait_for_go(p);
}

static void meet_other(struct side *s, struct peer *p, bool offers)
{
    if (!ops->offer && s == &client)
        connect_to_other(s);
    else if (!ops->offer)
        DRIVE_UNTIL(s->accepted == 1);
    else if (offers)
        offer_to_other(s, p);
    else
        join_other(s, p);
    greet(s, p);
}

/* ---- the other process ---- */

/* The other process is here. Both wait for each other, so that a network's clock knows of it. */
static struct peer shake_hands(pid_t pid, int control, bool begins)
{
    struct peer p = {.pid = pid, .control = control, .aside = {.pid = pid}};
    if (begins)
        say_go(&p);
    wait_for_go(&p);
    if (!begins)
        say_go(&p);
    return p;
}

/* In a process just forked: does what the test wants it to, and ends. */
static __attribute__((noreturn)) void be_the_other(void (*run)(struct peer *p), pid_t parent, int control)
{
    side_open(&client, NULL);
    struct peer p = shake_hands(parent, control, true);
    run(&p);
    _exit(0);
}

static pid_t fork_other(int pair[2])
{
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    close(pair[pid ? 1 : 0]);
    if (!pid) {
        in_other_process = true;
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        pvmc_mem_after_fork();
    }
    return pid;
}

/*
 * With devices_stay, the other processes are forked before this one has opened any, and wait for what to do. Their
 * sockets stay open, because each test counts descriptors.
 */
struct order {
    void (*run)(struct peer *p);
    enum ending ending;
    bool whole, offers, in_place;
};

static struct {
    pid_t pid;
    int control;
} waiting[WAITING_MAX];
static unsigned waiting_count;

static __attribute__((noreturn)) void await_order(pid_t parent, int control)
{
    struct order o;
    if (read(control, &o, sizeof o) != (ssize_t)sizeof o)
        _exit(0);
    use_whole = o.whole;
    ending = o.ending;
    other_offers = o.offers;
    in_place = o.in_place;
    be_the_other(o.run, parent, control);
}

static void fork_waiting(void)
{
    for (unsigned i = 0; devices_stay && i < WAITING_MAX; i++) {
        int pair[2];
        pid_t parent = getpid(), pid = fork_other(pair);
        if (!pid)
            await_order(parent, pair[1]);
        waiting[i].pid = pid;
        waiting[i].control = pair[0];
        waiting_count++;
    }
}

static struct peer order_waiting(void (*run)(struct peer *p))
{
    struct order o = {.run = run, .ending = ending, .whole = use_whole, .offers = other_offers, .in_place = in_place};
    ck_assert_uint_gt(waiting_count, 0);
    waiting_count--;
    ck_assert_int_eq(write(waiting[waiting_count].control, &o, sizeof o), sizeof o);
    int control = fcntl(waiting[waiting_count].control, F_DUPFD_CLOEXEC, 0);
    return shake_hands(waiting[waiting_count].pid, control, false);
}

static struct peer start(void (*run)(struct peer *p))
{
    int pair[2];
    atomic_store(&shared->sent, 0);
    if (devices_stay)
        return order_waiting(run);
    pid_t parent = getpid(), pid = fork_other(pair);
    if (pid)
        return shake_hands(pid, pair[0], false);
    ops->close(server.transport); /* our copy */
    server.transport = NULL;
    server.ep = NULL;
    be_the_other(run, parent, pair[1]);
}

/* In virtual time the process may still need time, for which we must sleep. */
static int await_end(const struct peer *p)
{
    int status;
    pid_t ended;
    while (!(ended = waitpid(p->pid, &status, pvmc_virtual_clock ? WNOHANG : 0)))
        ck_assert_int_ge(pvmc_virtual_clock->sleep(INT64_MAX, &p->aside), 0);
    ck_assert_int_eq(ended, p->pid);
    return status;
}

/* The other process has ended: by itself with code 0, or by SIGKILL. */
static void finish(struct peer *p, bool killed)
{
    int status = await_end(p);
    if (killed)
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "the other process ended with 0x%x", status);
    else
        ck_assert_msg(!status, "the other process ended with 0x%x", status);
    close(p->control);
}

/* Restores `server`. */
static void renew_server(void)
{
    side_disconnect(&server);
    side_release(&server, 0);
    ck_assert_uint_eq(side_inplace(&server), 0);
    server.accepted = server.done = server.ready = server.down = 0;
    server.next_seq = 0;
}

/* ---- the tests ---- */

/* Valgrind checks the same code with fewer frames, and takes seconds instead of minutes. */
static uint32_t frames_to_exchange(void)
{
    return getenv("DPVM_VALGRIND") ? 100 : 600;
}

static void exchange(struct side *s, uint32_t count)
{
    uint32_t seq = 1;
    int64_t end_us = pvmc_clock_us() + 2 * LIMIT_US;
    s->hold = 5;
    while (seq < count || s->done < (int)count) {
        bool sent = seq < count && side_send_mixed(s, seq) == 0;
        seq += sent;
        bool over = seq == count && s->done == (int)count;
        if (sent && seq < count) /* a side that can still send must not sleep, since the other may wait for it */
            ck_assert_int_ge(ops->progress(s->transport), 0);
        else
            ck_assert_msg(over || drive(end_us), "stuck: %u frames sent, %d came", seq, s->done);
    }
    DRIVE_UNTIL(ops->pending(s->ep) == 0 && side_inplace(s) == 0);
    side_release(s, 0);
    ASSERT_RIGHT(*s);
    ck_assert_int_eq(s->down, 0);
}

static void run_exchange(struct peer *p)
{
    meet_other(&client, p, other_offers);
    exchange(&client, frames_to_exchange());
    drive_idly(); /* references go back */
    wait_for_go(p);
    side_close(&client);
}

START_TEST(processes_exchange_everything)
{
    other_offers = _i;
    side_close(&client);
    struct peer p = start(run_exchange);
    meet_other(&server, &p, !other_offers);
    exchange(&server, frames_to_exchange());
    say_go(&p);
    side_await_down(&server);
    ck_assert_int_eq(server.done, (int)frames_to_exchange());
    ck_assert(wire_loses || server.down_reason == 0);
    finish(&p, false);
}
END_TEST

/* The number of ways in which the other process may end: the last is to be killed. */
static unsigned endings(void)
{
    return kills_spread ? ENDS_KILLED : ENDINGS;
}

/* Sends what is accepted, without waiting for the receiver, and exits. */
static void run_send_and_go(struct peer *p)
{
    meet_other(&client, p, true);
    wait_for_go(p);
    uint32_t seq = 1;
    for (int refusals = 0; seq < frames_to_exchange() && refusals < 3;) {
        if (side_send_kept(&client, seq) == 0)
            seq++;
        else
            refusals++;
    }
    atomic_store(&shared->sent, seq);
    if (ending == ENDS_KILLED)
        raise(SIGKILL);
    if (ending == ENDS_DISCONNECTING)
        side_disconnect(&client);
    if (ending != ENDS_EXITING)
        ops->close(client.transport);
    _exit(0);
}

/*
 * A kernel that carries the connection reports the end of a process; other transports go down when an answer is
 * missing.
 */
static void miss_an_answer(void)
{
    if (side_attributes(&server).end_unseen && !server.down)
        DRIVE_UNTIL(server.down == 1 || side_send(&server, 1, 100, 1, PAYLOAD_OWN) == 0);
}

/* The receiver reads only after the sender's exit: the strictest test that accepted frames arrive. */
START_TEST(taken_frames_survive_the_sender)
{
    ending = (enum ending)(_i % (int)endings());
    side_close(&client);
    struct peer p = start(run_send_and_go);
    meet_other(&server, &p, false);
    say_go(&p);
    finish(&p, ending == ENDS_KILLED);
    if (ending == ENDS_EXITING || ending == ENDS_KILLED)
        miss_an_answer();
    side_await_down(&server);
    ASSERT_RIGHT(server);
    ck_assert_int_gt((int)atomic_load(&shared->sent), 1);
    ck_assert_int_le(server.done, (int)atomic_load(&shared->sent));
    if (side_attributes(&server).lossless)
        ck_assert_int_eq(server.done, (int)atomic_load(&shared->sent));
    ck_assert_int_eq(side_send(&server, 1, 100, 1, PAYLOAD_OWN), PVMC_EDOWN);
}
END_TEST

/* Sends and receives as much as it can until it is killed. */
static void run_stream(struct peer *p)
{
    meet_other(&client, p, other_offers);
    client.hold = 4;
    atomic_store(&shared->sent, 1);
    say_go(p);
    for (uint32_t seq = 1;;) {
        if ((in_place ? side_send_mixed(&client, seq) : side_send_kept(&client, seq)) == 0)
            atomic_store(&shared->sent, ++seq);
        if (!drive(pvmc_clock_us() + LIMIT_US) || client.wrong[0] || client.down)
            _exit(1);
    }
}

/* Streams until the connection is down; returns the number of frames accepted here. */
static uint32_t stream_until_down(struct peer *p, int64_t kill_us)
{
    uint32_t seq = 1;
    int64_t end_us = pvmc_clock_us() + LIMIT_US;
    bool killed = false;
    while (!server.down) {
        if (!killed && pvmc_clock_us() >= kill_us) {
            kill(p->pid, SIGKILL);
            killed = true;
        }
        int rc = side_send_mixed(&server, seq);
        ck_assert(rc == 0 || rc == PVMC_EAGAIN || rc == PVMC_EDOWN);
        seq += rc == 0;
        int64_t soon_us = pvmc_clock_us() + (killed ? LIMIT_US : 1000);
        ck_assert_msg(drive(soon_us) || !killed || server.down, "no down after a kill");
        ck_assert_msg(pvmc_clock_us() < end_us, "no down after a kill");
    }
    return seq;
}

/*
 * A process is killed at a random instruction: the other side gets all accepted frames, then down, and all its memory
 * back.
 */
START_TEST(killed_at_any_time)
{
    int rounds = side_attributes(&server).end_unseen ? 2 : getenv("DPVM_VALGRIND") ? 8 : 40; /* each waits */
    unsigned seed = (unsigned)_i + 1;
    size_t before, after, cached;
    side_close(&client);
    bool lossless = side_attributes(&server).lossless;
    for (int round = 0; round < rounds; round++) {
        pvmc_mem_usage(&before, &cached);
        other_offers = round % 2;
        in_place = (round / 2 + _i) % 2;
        struct peer p = start(run_stream);
        meet_other(&server, &p, !other_offers);
        server.hold = 4;
        wait_for_go(&p);
        stream_until_down(&p, pvmc_clock_us() + rand_r(&seed) % 5000);
        finish(&p, true);
        ASSERT_RIGHT(server);
        uint32_t taken = atomic_load(&shared->sent);
        ck_assert_int_le(server.done, (int)taken + 1); /* the kill may have come between send() and the count */
        if (lossless && !in_place)
            ck_assert_msg(server.done >= (int)taken, "%d of %u frames came", server.done, taken);
        renew_server();
        DRIVE_UNTIL((pvmc_mem_usage(&after, &cached), after <= before));
    }
}
END_TEST

/* A forked child closes its copies; the parent's links are not affected. */
START_TEST(forked_children_do_not_disturb)
{
    side_close(&client);
    struct peer p = start(run_exchange);
    other_offers = false;
    meet_other(&server, &p, true);
    for (int i = 0; i < 3; i++) {
        int status;
        pid_t child = fork();
        ck_assert_int_ge(child, 0);
        if (!child) {
            pvmc_mem_after_fork();
            ops->close(server.transport);
            _exit(0);
        }
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_msg(!status, "closing copies ended with 0x%x", status);
    }
    exchange(&server, frames_to_exchange());
    ck_assert(side_comes_to_rest(&server));
    say_go(&p);
    side_await_down(&server);
    finish(&p, false);
}
END_TEST

static void share_memory(void)
{
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(shared, MAP_FAILED);
}

TCase *processes_case(void)
{
    TCase *tc = tcase_create("processes");
    tcase_add_checked_fixture(tc, share_memory, NULL);
    tcase_add_checked_fixture(tc, fork_waiting, NULL); /* before sides are opened */
    tcase_add_loop_test(tc, processes_exchange_everything, 0, 2);
    int rounds = getenv("DPVM_VALGRIND") ? 1 : 3;
    tcase_add_loop_test(tc, taken_frames_survive_the_sender, 0, rounds * (int)endings());
    if (!kills_spread)
        tcase_add_loop_test(tc, killed_at_any_time, 0, 3);
    tcase_add_test(tc, forked_children_do_not_disturb);
    return tc;
}
