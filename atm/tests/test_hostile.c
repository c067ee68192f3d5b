/*
 * test_hostile.c - programs that break the rules of the network process: each raw client takes as much as it can of
 * one thing. It is refused or disconnected at a bound, the log says why, and a well-behaved program beside it notices
 * nothing.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "atm/src/fore/message.h"
#include "core/error.h"
#include "programs.h"

#define ASAP    4000
#define US      1000
#define MS      1000000
#define S       INT64_C(1000000000)
#define WAIT_MS 20000

static uint8_t bytes[PVMA_FORE_MESSAGE_BYTES];

/* ---- raw clients ---- */

static int raw_dial(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path, getenv("PVM_ATM_SOCKET"));
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    NEED(fd >= 0 && !connect(fd, (struct sockaddr *)&address, sizeof address));
    return fd;
}

static int raw_tell(int fd, const struct pvma_fore_message *m)
{
    return pvma_fore_message_send(fd, m, -1, true);
}

/* Receives a message of that type; others before it are dropped. False: the connection has ended. */
static bool raw_hear(int fd, enum pvma_fore_message_type type, struct pvma_fore_message *m)
{
    int came = -1;
    do {
        struct pollfd set = {.fd = fd, .events = POLLIN};
        NEED(poll(&set, 1, WAIT_MS) == 1);
        if (pvma_fore_message_receive(fd, bytes, sizeof bytes, m, &came, true))
            return false;
        if (came >= 0)
            close(came);
    } while (m->type != type);
    return true;
}

static bool raw_ask(int fd, const struct pvma_fore_message *m, struct pvma_fore_message *reply)
{
    return !raw_tell(fd, m) && raw_hear(fd, PVMA_FORE_REPLY, reply);
}

static int raw_join(const char *host)
{
    struct pvma_fore_message hello = {.type = PVMA_FORE_HELLO, .number = PVMA_FORE_MAGIC, .version = PVMA_FORE_VERSION};
    int fd = raw_dial();
    snprintf(hello.host, sizeof hello.host, "%s", host);
    NEED(!raw_tell(fd, &hello) && raw_hear(fd, PVMA_FORE_WELCOME, &hello));
    return fd;
}

/* Begins to sleep for ever, so that time can go on. */
static void raw_sleep(int fd)
{
    static uint32_t number;
    struct pvma_fore_message wait = {.type = PVMA_FORE_WAIT, .number = ++number, .time_ns = PVMA_FORE_NEVER};
    NEED(!raw_tell(fd, &wait));
}

/* Sends up to `count` messages, each after change(m, i). Returns how many were sent before the connection ended. */
static unsigned raw_flood(int fd, struct pvma_fore_message *m, void (*change)(struct pvma_fore_message *m, unsigned i),
                          unsigned count)
{
    unsigned i = 0;
    for (; i < count; i++) {
        change(m, i);
        if (raw_tell(fd, m))
            break;
    }
    return i;
}

/* Whether the network ends the connection. */
static bool raw_is_dropped(int fd)
{
    struct pvma_fore_message m;
    return !raw_hear(fd, PVMA_FORE_NONE, &m);
}

/* ---- a well-behaved pair ---- */

static int64_t now(void)
{
    int64_t ns;
    NEED(!atm_sim_time(&ns));
    return ns;
}

static void nap(int64_t ns)
{
    NEED(atm_sim_poll(NULL, 0, ns) == 0);
}

static int behaves(void *arg)
{
    (void)arg;
    int64_t begun = now();
    for (int i = 0; i < 100; i++)
        nap(MS);
    NEED(now() >= begun + 100 * MS);
    return 0;
}

/* The network carries out what others want, and ends without a complaint. */
static void others_go_on(void)
{
    ck_assert(network_lives());
    program_wait(program_start("d", behaves, NULL));
}

/* Runs hostile() as a program of its own beside a well-behaved one, and checks what the log says. */
static void attack(bool is_virtual, int (*hostile)(void *arg), void *arg, const char *said)
{
    network_start(&(struct network){.is_virtual = is_virtual, .logs = true});
    program_wait(program_start("a", hostile, arg));
    ck_assert_msg(!said || network_said(said), "the log does not say \"%s\"", said);
    others_go_on();
    network_stop();
}

/* ---- what time waits for ---- */

static void another_process(struct pvma_fore_message *m, unsigned i)
{
    m->process = 100000000 + i;
}

/* Names processes in messages like this until it is dropped. */
static int name_all(const char *host, struct pvma_fore_message m)
{
    enum { PROCESSES = 400000 };
    int fd = raw_join(host);
    NEED(raw_flood(fd, &m, another_process, PROCESSES) < PROCESSES && raw_is_dropped(fd));
    return 0;
}

static int exchanges_with_all(void *arg)
{
    return name_all(arg, (struct pvma_fore_message){.type = PVMA_FORE_LOCAL, .given = 1});
}

START_TEST(a_program_exchanges_bytes_with_few)
{
    attack(true, exchanges_with_all, "a", "exchanges bytes with, or has announced, too many processes");
}
END_TEST

START_TEST(a_daemon_exchanges_bytes_with_many)
{
    attack(true, exchanges_with_all, "-", "exchanges bytes with, or has announced, too many processes");
}
END_TEST

static int announces_all(void *arg)
{
    return name_all(arg, (struct pvma_fore_message){.type = PVMA_FORE_EXPECT});
}

START_TEST(a_program_announces_few)
{
    attack(true, announces_all, "a", "exchanges bytes with, or has announced, too many processes");
}
END_TEST

START_TEST(a_daemon_announces_many)
{
    attack(true, announces_all, "-", "exchanges bytes with, or has announced, too many processes");
}
END_TEST

static int sleeps_beside_all(void *arg)
{
    (void)arg;
    struct pvma_fore_message m = {.type = PVMA_FORE_SLEEP, .given = 0}, wake;
    int fd = raw_join("a");
    unsigned i = 0;
    do
        another_process(&m, i);
    while (++i < 2000 && !raw_tell(fd, &m) && raw_hear(fd, PVMA_FORE_WAKE, &wake));
    NEED(i < 2000);
    return 0;
}

START_TEST(a_program_sleeps_beside_few)
{
    attack(true, sleeps_beside_all, NULL, "exchanges bytes with, or has announced, too many processes");
}
END_TEST

/* Says that it has given bytes to the daemon, of which that one knows nothing; and leaves, sleeps or talks on. */
enum after { LEAVES, SLEEPS, TALKS };

static int claims_bytes(void *arg)
{
    enum after after = *(enum after *)arg;
    int daemon = raw_join("-"), fd;
    NEED(daemon >= 0);
    pid_t claimant = fork();
    NEED(claimant >= 0);
    if (claimant) {
        pause(); /* it lives as long as the test */
        return 0;
    }
    struct pvma_fore_message m = {.type = PVMA_FORE_LOCAL, .process = (uint32_t)getppid(), .given = 100};
    fd = raw_join("a");
    NEED(!raw_tell(fd, &m));
    tell(getpid());
    if (after == LEAVES)
        _exit(0);
    raw_sleep(fd);
    while (after == TALKS && !raw_tell(fd, &m))
        nanosleep(&(struct timespec){.tv_nsec = 10 * MS}, NULL);
    NEED(raw_is_dropped(fd));
    _exit(0);
}

START_TEST(bytes_of_which_nobody_knows_hold_time_for_a_while)
{
    enum after after = _i;
    setenv("PVM_ATM_PATIENCE", "2", 1);
    network_start(&(struct network){.is_virtual = true, .logs = true});
    pid_t hostile = program_start("a", claims_bytes, &after);
    told();
    others_go_on();
    ck_assert(network_said("which knows nothing of it"));
    kill(hostile, SIGKILL);
    waitpid(hostile, NULL, 0);
    others_go_on();
    network_stop();
}
END_TEST

/* With the real clock no time waits for them. */
START_TEST(nobody_is_announced_in_real_time)
{
    network_start(&(struct network){.logs = true});
    int fd = raw_join("a");
    struct pvma_fore_message m = {.type = PVMA_FORE_EXPECT};
    ck_assert_uint_eq(raw_flood(fd, &m, another_process, 1000), 1000);
    m.type = PVMA_FORE_LOCAL;
    ck_assert_uint_eq(raw_flood(fd, &m, another_process, 1000), 1000);
    m = (struct pvma_fore_message){.type = PVMA_FORE_TIME};
    ck_assert(raw_ask(fd, &m, &m));
    close(fd);
    others_go_on();
    network_stop();
}
END_TEST

/* ---- packets ahead of time ---- */

static const uint8_t zeros[PVMA_FORE_PDU_MAX];

/* In the far future, so that they stay where they are: the first cost is a day. */
static unsigned send_ahead(int fd, unsigned count)
{
    struct pvma_fore_message m = {.type = PVMA_FORE_SEND, .cost_ns = 86400 * S, .data = zeros, .length = 60000};
    unsigned sent = 0;
    int tries = 0;
    for (; sent < count && tries < 100; m.cost_ns = 0)
        if (!pvma_fore_message_send(fd, &m, -1, false)) {
            sent++;
            tries = 0;
        } else {
            nanosleep(&(struct timespec){.tv_nsec = 5 * MS}, NULL);
            tries++;
        }
    return sent;
}

static int sends_a_day_ahead(void *arg)
{
    (void)arg;
    int fd = raw_join("a");
    NEED(send_ahead(fd, 400) < 200);
    return 0;
}

/* Naps until something can be read from the descriptor, so that time does not jump ahead. */
static int naps_on(void *arg)
{
    struct pollfd end = {.fd = *(int *)arg, .events = POLLIN};
    nap(MS);
    tell(0);
    while (!poll(&end, 1, 0))
        nap(MS);
    return 0;
}

static int end_of_naps[2];

static pid_t start_naps(void)
{
    ck_assert_int_eq(pipe2(end_of_naps, O_CLOEXEC), 0);
    pid_t pid = program_start("d", naps_on, &end_of_naps[0]);
    told();
    return pid;
}

static void end_naps(pid_t pid)
{
    ck_assert_int_eq(write(end_of_naps[1], "", 1), 1);
    program_wait(pid);
    close(end_of_naps[0]);
    close(end_of_naps[1]);
}

START_TEST(packets_ahead_of_time_wait_in_the_socket)
{
    network_start(&(struct network){.is_virtual = true});
    pid_t other = start_naps();
    program_wait(program_start("a", sends_a_day_ahead, NULL));
    end_naps(other);
    network_stop();
}
END_TEST

enum { MANY = 2000, LONG = 9000 };

static int send_much(void *arg)
{
    (void)arg;
    static char packet[LONG];
    Atm_endpoint to = {.asap = ASAP};
    int rc, fd = atm_open(NULL, 0, NULL);
    NEED(fd >= 0 && !atm_gethostbyname("b", &to.nsap) && !atm_bind(fd, 0, NULL, 0));
    while ((rc = atm_connect(fd, &to, NULL, NULL, aal_type_5, duplex)) && atm_errno == ECONNREFUSED)
        nap(MS);
    NEED(!rc);
    int64_t begun = now();
    for (uint32_t i = 0; i < MANY; i++) {
        memcpy(packet, &i, sizeof i);
        NEED(atm_send(fd, packet, sizeof packet) == sizeof packet);
    }
    tell(now() - begun);
    return atm_close(fd);
}

static int receive_much(void *arg)
{
    (void)arg;
    static char packet[LONG];
    uint32_t number;
    int id, listener = atm_open(NULL, 0, NULL), fd = atm_open(NULL, 0, NULL);
    NEED(listener >= 0 && fd >= 0 && !atm_bind(listener, ASAP, NULL, 8));
    NEED(!atm_listen(listener, &id, NULL, NULL, NULL) && !atm_accept(listener, fd, id, NULL, duplex));
    for (uint32_t i = 0; i < MANY; i++) {
        NEED(atm_recv(fd, packet, sizeof packet) == sizeof packet);
        memcpy(&number, packet, sizeof number);
        NEED(number == i);
    }
    return atm_close(fd) || atm_close(listener);
}

static int64_t send_much_once(void)
{
    network_start(&(struct network){.is_virtual = true, .wait_for = 2});
    pid_t b = program_start("b", receive_much, NULL), a = program_start("a", send_much, NULL);
    int64_t took = told();
    program_wait(a);
    program_wait(b);
    network_stop();
    return took;
}

/* 18 MB without a wait: all arrive in order, at the same time in each run. */
START_TEST(a_fast_sender_loses_nothing)
{
    int64_t took = send_much_once();
    ck_assert_int_eq(send_much_once(), took);
}
END_TEST

static int leaves_packets(void *arg)
{
    (void)arg;
    int fd = raw_join("a");
    NEED(send_ahead(fd, 40) == 40);
    return 0;
}

START_TEST(those_who_left_keep_little)
{
    network_start(&(struct network){.is_virtual = true, .logs = true});
    pid_t other = start_naps();
    for (int i = 0; i < 30; i++)
        program_wait(program_start("a", leaves_packets, NULL));
    ck_assert(network_said("its last packets are lost"));
    others_go_on();
    end_naps(other);
    network_stop();
}
END_TEST

/* ---- connections and endpoints ---- */

static int connects_often(void *arg)
{
    unsigned silent = *(const unsigned *)arg;
    struct pvma_fore_message m;
    for (unsigned i = 0; i < silent; i++)
        raw_dial();
    int fd = raw_dial();
    NEED(!raw_hear(fd, PVMA_FORE_NONE, &m));
    return 0;
}

START_TEST(a_process_has_few_connections)
{
    unsigned silent = 16;
    attack(_i, connects_often, &silent, "has 16 connections");
}
END_TEST

static int says_nothing(void *arg)
{
    (void)arg;
    for (int i = 0; i < 10; i++)
        raw_dial();
    tell(0);
    for (;;)
        pause();
    return 0;
}

static int naps_when_told(void *arg)
{
    nap(MS);
    tell(0);
    NEED(read(*(int *)arg, &(char){0}, 1) == 1);
    return behaves(NULL);
}

/* Without descriptors, newcomers are turned away, and the others live on. */
START_TEST(a_network_without_descriptors_goes_on)
{
    enum { MUTES = 8 };
    pid_t mutes[MUTES];
    int go[2];
    network_start(&(struct network){.is_virtual = true, .logs = true, .descriptors = 60});
    ck_assert_int_eq(pipe(go), 0);
    pid_t other = program_start("d", naps_when_told, &go[0]);
    told();
    for (int i = 0; i < MUTES; i++)
        mutes[i] = program_start("a", says_nothing, NULL);
    for (int i = 0; i < MUTES; i++)
        told();
    ck_assert(network_said("out of descriptors"));
    ck_assert_int_eq(write(go[1], "", 1), 1);
    program_wait(other);
    for (int i = 0; i < MUTES; i++) {
        kill(mutes[i], SIGKILL);
        waitpid(mutes[i], NULL, 0);
    }
    others_go_on();
    network_stop();
}
END_TEST

static int opens_endpoints(void *refusal)
{
    struct pvma_fore_message m = {.type = PVMA_FORE_OPEN}, reply = {.error = 0};
    int fd = raw_join("a");
    unsigned i = 0;
    while (i++ < 30000 && raw_ask(fd, &m, &reply) && !reply.error)
        ;
    NEED(reply.error == *(int *)refusal);
    tell(0);
    raw_sleep(fd);
    pause();
    return 0;
}

START_TEST(a_program_has_few_endpoints)
{
    int refusal = _i ? EMFILE : ENOBUFS;
    network_start(&(struct network){.is_virtual = true, .logs = true, .descriptors = _i ? 200 : 0});
    pid_t hostile = program_start("a", opens_endpoints, &refusal);
    told();
    others_go_on();
    kill(hostile, SIGKILL);
    waitpid(hostile, NULL, 0);
    others_go_on();
    network_stop();
}
END_TEST

/* ---- the daemons' route ---- */

static void name(int fd, uint32_t task)
{
    struct pvma_fore_message m = {.type = PVMA_FORE_TASK, .number = task};
    NEED(!raw_tell(fd, &m));
}

/* To its own task. */
static int carries_without_end(void *arg)
{
    (void)arg;
    static uint8_t end[8] = {1};
    struct pvma_fore_message m = {.type = PVMA_FORE_CARRY, .given = 1 << 20, .data = end, .length = sizeof end}, reply;
    int fd = raw_join("a");
    unsigned i = 0;
    name(fd, 1);
    while (i < 1000 && raw_ask(fd, &m, &reply))
        i++;
    NEED(i < 1000);
    return 0;
}

START_TEST(a_program_hands_over_few_messages)
{
    attack(true, carries_without_end, NULL, "hands over too many messages at once");
}
END_TEST

static int carries_too_much(void *arg)
{
    (void)arg;
    static uint8_t ends[8000 * 8];
    struct pvma_fore_message reply,
        m = {.type = PVMA_FORE_CARRY, .given = 1 << 20, .data = ends, .length = sizeof ends};
    int fd = raw_join("a");
    name(fd, 1);
    for (unsigned i = 0; i < sizeof ends; i += 8)
        ends[i] = 1;
    NEED(raw_ask(fd, &m, &reply) && reply.error == EINVAL);
    m.length = 8;
    m.given++;
    NEED(raw_ask(fd, &m, &reply) && reply.error == EINVAL);
    m.given--;
    NEED(raw_ask(fd, &m, &reply) && !reply.error);
    return 0;
}

/* 8,000 times the same receiver, and more bytes than a frame has. */
START_TEST(a_message_has_each_receiver_once)
{
    attack(true, carries_too_much, NULL, NULL);
}
END_TEST

/* Two tasks that never say who they are. One leaves, the other one sleeps. */
static int stays_nameless(void *arg)
{
    (void)arg;
    struct pvma_fore_message reply, m = {.type = PVMA_FORE_KNOWS, .process = 1};
    int gone = raw_join("a");
    NEED(raw_ask(gone, &m, &reply));
    close(gone);
    int fd = raw_join("a");
    NEED(raw_ask(fd, &m, &reply));
    tell(0);
    raw_sleep(fd);
    pause();
    return 0;
}

static int carries_to_nobody(void *arg)
{
    (void)arg;
    struct atm_sim_end nobody = {.task = 99};
    NEED(!atm_sim_task(7));
    int64_t begun = now();
    for (int i = 0; i < 3; i++) {
        NEED(atm_sim_carry(&nobody, 1, 1000) == -1 && atm_errno == ESRCH);
        NEED(now() == begun);
    }
    return 0;
}

/* A message to a task outside of virtual time waits for them, but neither for ever nor in virtual time. */
START_TEST(the_nameless_hold_nobody_up)
{
    setenv("PVM_ATM_PATIENCE", "2", 1);
    network_start(&(struct network){.is_virtual = true});
    pid_t naps = start_naps(), hostile = program_start("a", stays_nameless, NULL);
    told();
    program_wait(program_start("b", carries_to_nobody, NULL));
    if (_i)
        end_naps(naps);
    program_wait(program_start("b", carries_to_nobody, NULL));
    kill(hostile, SIGKILL);
    waitpid(hostile, NULL, 0);
    if (!_i)
        end_naps(naps);
    network_stop();
}
END_TEST

/* ---- more shadows than one list has ---- */

enum { SENDERS = 9, EACH = 15, HANDED = 64, SHADOWS = SENDERS * EACH * HANDED };

static void hand_over(int fd, uint32_t task)
{
    static const uint8_t end[8] = {1};
    struct pvma_fore_message reply, m = {.type = PVMA_FORE_CARRY, .given = 1, .data = end, .length = sizeof end};
    name(fd, task);
    for (int i = 0; i < HANDED; i++)
        NEED(raw_ask(fd, &m, &reply) && !reply.error);
    raw_sleep(fd);
}

/* Their turns come one after the other: while one runs, no other is welcome. */
static int hand_over_much(void *arg)
{
    struct pvma_fore_message hello = {.type = PVMA_FORE_HELLO, .number = PVMA_FORE_MAGIC, .version = PVMA_FORE_VERSION};
    uint32_t task = *(uint32_t *)arg;
    struct pollfd fds[EACH];
    for (int i = 0; i < EACH; i++) {
        fds[i] = (struct pollfd){.fd = raw_dial(), .events = POLLIN};
        NEED(!raw_tell(fds[i].fd, &hello));
    }
    tell(0);
    for (int n = 0, i = 0; n < EACH; n++) {
        NEED(poll(fds, EACH, WAIT_MS) > 0);
        for (i = 0; !fds[i].revents; i++)
            ;
        NEED(raw_hear(fds[i].fd, PVMA_FORE_WELCOME, &hello));
        hand_over(fds[i].fd, task + (uint32_t)n);
        fds[i].fd = -1;
    }
    pause();
    return 0;
}

static unsigned list_in_parts(unsigned max)
{
    static struct atm_sim_end list[ATM_SIM_ENDS_MAX];
    static unsigned from[2 + SENDERS * EACH];
    unsigned count = 0;
    int n, handing;
    memset(from, 0, sizeof from);
    do {
        n = atm_sim_under_way(count, list, max, &handing);
        NEED(n >= 0);
        for (int i = 0; i < n; i++)
            from[list[i].task]++;
        count += (unsigned)n;
    } while (n == (int)max);
    for (unsigned task = 2; task < 2 + SENDERS * EACH; task++)
        NEED(from[task] == HANDED);
    return count;
}

static int expects_much(void *arg)
{
    NEED(!atm_sim_task(1));
    tell(0);
    NEED(read(*(int *)arg, &(char){0}, 1) == 1);
    nap(US);
    NEED(list_in_parts(ATM_SIM_ENDS_MAX) == SHADOWS);
    NEED(list_in_parts(1000) == SHADOWS);
    return 0;
}

START_TEST(long_lists_are_read_in_parts)
{
    static uint32_t first[SENDERS];
    pid_t senders[SENDERS];
    int go[2];
    ck_assert_int_gt(SHADOWS, ATM_SIM_ENDS_MAX);
    network_start(&(struct network){.topology = STAR("hp735", "rate=oc3"), .is_virtual = true});
    ck_assert_int_eq(pipe(go), 0);
    pid_t receiver = program_start("a", expects_much, &go[0]);
    told();
    for (unsigned i = 0; i < SENDERS; i++) {
        first[i] = 2 + i * EACH;
        senders[i] = program_start("b", hand_over_much, &first[i]);
        told();
    }
    ck_assert_int_eq(write(go[1], "", 1), 1);
    program_wait(receiver);
    for (int i = 0; i < SENDERS; i++) {
        kill(senders[i], SIGKILL);
        waitpid(senders[i], NULL, 0);
    }
    network_stop();
}
END_TEST

/* ---- messages without end ---- */

static int talks_without_end(void *arg)
{
    (void)arg;
    struct pvma_fore_message m = {.type = PVMA_FORE_RESUME};
    int fd = raw_join("a");
    raw_sleep(fd);
    tell(0);
    while (!raw_tell(fd, &m))
        ;
    return 0;
}

/* They have always something to say, but they wait. */
START_TEST(talkers_do_not_stop_time)
{
    network_start(&(struct network){.is_virtual = true});
    pid_t hostile[4];
    for (int i = 0; i < 4; i++)
        hostile[i] = program_start("a", talks_without_end, NULL);
    for (int i = 0; i < 4; i++)
        told();
    others_go_on();
    for (int i = 0; i < 4; i++) {
        kill(hostile[i], SIGKILL);
        waitpid(hostile[i], NULL, 0);
    }
    network_stop();
}
END_TEST

/* ---- anything in any order: some calls, connections and shadows come up by chance ---- */

enum { WILD = 6, STEPS = 3000, KEPT = 32 };

struct wild {
    int fd;
    bool asked; /* an answer is due */
    bool waits; /* ... to wait `number` */
    uint32_t number;
    uint32_t last;                   /* endpoint */
    unsigned said;                   /* of its first commands */
    struct pvma_fore_message caller; /* to be answered; type NONE: there is none */
};

static uint64_t dice = 1;
static Atm_address hosts[4]; /* some addresses that there are */

static uint32_t roll(uint32_t sides)
{
    dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(dice >> 33) % sides;
}

static void wild_join(struct wild *w)
{
    struct pvma_fore_message hello = {.type = PVMA_FORE_HELLO, .number = PVMA_FORE_MAGIC, .version = PVMA_FORE_VERSION};
    snprintf(hello.host, sizeof hello.host, "%c", "aaabbbc-"[roll(8)]);
    *w = (struct wild){.fd = raw_dial(), .asked = true};
    raw_tell(w->fd, &hello);
}

static void wild_part(struct wild *w)
{
    close(w->fd);
    wild_join(w);
}

static struct kept {
    int fd; /* 0: none */
    struct wild *w;
    uint32_t endpoint;
} kept[KEPT];

/* Keeps the descriptors of some endpoints, and closes those of others. */
static void keep(struct wild *w, int fd, uint32_t endpoint)
{
    struct kept *place = &kept[roll(KEPT)];
    if (place->fd)
        close(place->fd);
    *place = (struct kept){fd, w, endpoint};
}

/* Callers will be answered by the client. */
static void hear_callers(void)
{
    struct pvma_fore_message m;
    for (struct kept *k = kept; k < kept + KEPT; k++)
        if (k->fd && !pvma_fore_message_receive(k->fd, bytes, sizeof bytes, &m, NULL, false) &&
            m.type == PVMA_FORE_CALLER) {
            k->w->caller = m;
            k->w->caller.endpoint = k->endpoint;
        }
}

static void wild_hear(struct wild *w)
{
    struct pvma_fore_message m;
    int came = -1, rc;
    while (!(rc = pvma_fore_message_receive(w->fd, bytes, sizeof bytes, &m, &came, false))) {
        w->asked = w->waits = false;
        if (m.type == PVMA_FORE_WELCOME)
            hosts[roll(4)] = m.address.nsap;
        if (came >= 0)
            keep(w, came, w->last = m.endpoint);
    }
    if (rc != PVMC_EAGAIN)
        wild_part(w);
}

static void wild_ends(struct pvma_fore_message *m)
{
    static uint8_t ends[16] = {1, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 8};
    bool carries = m->type == PVMA_FORE_CARRY;
    m->data = carries ? ends : zeros;
    m->length = carries ? 8 * roll(3) : 1 + roll(9000);
}

static void wild_fill(struct pvma_fore_message *m, uint32_t last)
{
    m->cost_ns = roll(4) ? 0 : roll(100000);
    m->time_ns = roll(3) ? roll(2000000) : PVMA_FORE_NEVER;
    m->endpoint = last - roll(3);
    m->other = last - roll(3);
    m->number = m->type == PVMA_FORE_ACCEPT || m->type == PVMA_FORE_REJECT ? 1 + roll(30) : roll(3);
    m->process = (uint32_t)(roll(2) ? getpid() : getppid());
    m->item = roll(30);
    m->given = roll(3);
    m->taken = roll(8) ? roll(3) : UINT64_MAX;
    m->aal = roll(2) ? aal_type_5 : aal_type_3;
    m->dataflow = m->type == PVMA_FORE_CONNECT && roll(2) ? duplex : (Atm_dataflow)roll(3);
    m->address.asap = roll(5) ? 1024 + roll(2) : 0;
    m->address.nsap = hosts[roll(4)];
    m->qos.peak_bandwidth.target = roll(4) ? 0 : roll(200000);
    if (m->type == PVMA_FORE_RESOLVE || !roll(10))
        snprintf(m->host, sizeof m->host, "%c", "abcd"[roll(4)]);
}

/* First a listener, an endpoint to call with, and one to accept with. */
static enum pvma_fore_message_type wild_choice(struct wild *w)
{
    static const enum pvma_fore_message_type first[] = {PVMA_FORE_OPEN, PVMA_FORE_BIND, PVMA_FORE_OPEN,
                                                        PVMA_FORE_OPEN, PVMA_FORE_BIND, PVMA_FORE_ASSURE},
                                             silent[] = {PVMA_FORE_RESUME, PVMA_FORE_LOCAL},
                                             frequent[] = {PVMA_FORE_CONNECT, PVMA_FORE_SEND, PVMA_FORE_SEND,
                                                           PVMA_FORE_WRITE, PVMA_FORE_READ};
    if (w->asked)
        return silent[roll(2)];
    if (w->said < sizeof first / sizeof first[0])
        return first[w->said++];
    return roll(2) ? frequent[roll(5)] : PVMA_FORE_OPEN + roll(PVMA_FORE_LOW_WATER - 1);
}

static void wild_say(struct wild *w)
{
    struct pvma_fore_message m = {.type = w->caller.type && !w->asked ? PVMA_FORE_ACCEPT : wild_choice(w)};
    if (m.type == PVMA_FORE_EXPECT || (w->asked && roll(10)) || (m.type == PVMA_FORE_TASK && roll(10)))
        return;
    wild_fill(&m, w->last);
    if (m.type == PVMA_FORE_SEND || m.type == PVMA_FORE_CARRY || m.type == PVMA_FORE_WRITE)
        wild_ends(&m);
    if (m.type == PVMA_FORE_RESUME)
        m.number = w->number;
    if (m.type == PVMA_FORE_ACCEPT && w->caller.type) {
        m.endpoint = w->caller.endpoint;
        m.number = w->caller.number;
        m.dataflow = w->caller.dataflow;
        w->caller.type = PVMA_FORE_NONE;
    }
    bool silence = m.type == PVMA_FORE_SEND || m.type == PVMA_FORE_CLOSE || m.type == PVMA_FORE_RESUME ||
                   m.type == PVMA_FORE_LOCAL || m.type == PVMA_FORE_TASK || m.type == PVMA_FORE_LOW_WATER;
    w->waits = w->waits || m.type == PVMA_FORE_WAIT || m.type == PVMA_FORE_SLEEP;
    if (w->waits && !silence)
        w->number = m.number;
    w->asked = (w->asked || !silence) && !(m.type == PVMA_FORE_RESUME && w->waits);
    if (pvma_fore_message_send(w->fd, &m, -1, false) == PVMC_EDOWN)
        wild_part(w);
}

/* While all wait for answers, there is nothing to say. */
static void await_one(const struct wild *all)
{
    struct pollfd fds[WILD];
    for (int i = 0; i < WILD; i++) {
        if (!all[i].asked)
            return;
        fds[i] = (struct pollfd){.fd = all[i].fd, .events = POLLIN};
    }
    poll(fds, WILD, 2);
}

static int says_anything(void *arg)
{
    struct wild all[WILD];
    dice = *(uint64_t *)arg;
    for (int i = 0; i < WILD; i++)
        wild_join(&all[i]);
    for (int i = 0; i < STEPS; i++) {
        struct wild *w = &all[roll(WILD)];
        hear_callers();
        wild_hear(w);
        wild_say(w);
        if (!roll(1000))
            wild_part(w);
        await_one(all);
    }
    return 0;
}

START_TEST(anything_in_any_order)
{
    uint64_t seed = 1 + (uint64_t)_i;
    attack(_i % 2, says_anything, &seed, NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("hostile");
#define ADD(test, times) network_test_add(s, #test, test, times)
    ADD(a_program_exchanges_bytes_with_few, 1);
    ADD(a_daemon_exchanges_bytes_with_many, 1);
    ADD(a_program_announces_few, 1);
    ADD(a_daemon_announces_many, 1);
    ADD(a_program_sleeps_beside_few, 1);
    ADD(bytes_of_which_nobody_knows_hold_time_for_a_while, 3);
    ADD(nobody_is_announced_in_real_time, 1);
    ADD(packets_ahead_of_time_wait_in_the_socket, 1);
    ADD(a_fast_sender_loses_nothing, 1);
    ADD(those_who_left_keep_little, 1);
    ADD(a_process_has_few_connections, 2);
    ADD(a_network_without_descriptors_goes_on, 1);
    ADD(a_program_has_few_endpoints, 2);
    ADD(a_program_hands_over_few_messages, 1);
    ADD(a_message_has_each_receiver_once, 1);
    ADD(the_nameless_hold_nobody_up, 2);
    ADD(long_lists_are_read_in_parts, 1);
    ADD(talkers_do_not_stop_time, 1);
    ADD(anything_in_any_order, 2);
    SRunner *runner = srunner_create(s);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}
