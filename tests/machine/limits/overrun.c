/*
 * overrun HOSTS BYTES - a task of host 1 keeps sending to a sleeping task although its daemon tells it to hold, in
 * frames of BYTES; overrun asks: it keeps asking its daemon and reads no answer; overrun tells: it makes the daemon
 * send. Its socket is no longer read, so that no daemon grows by more than four times PVM_QUEUE_MAX. Messages to it
 * arrive and others are served. Its socket is read again once the receiver wakes up or dies.
 */
#include "tests/machine/runner/check.h"
#include <pthread.h>
#include <sys/socket.h>
#include "tests/machine/runner/raw.h"

enum {
    TAG_START = 1,
    TAG_DATA,
    TAG_PING,
    TAG_DONE,
    FLOOD_BYTES = 128 << 20,
    FRAME_COST = 400, /* minimum cost in bytes of a frame in its daemon */
    REQUESTS = 1000000,
    GROWTH_KIB = 4 * (8 << 10),
    ROUNDS = 2,
};

static char gate[4096], heard[4096];

static void make_file(const char *path)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fclose(file);
}

static void name_files(void)
{
    snprintf(gate, sizeof gate, "%s/gate", getenv("PVM_TMP"));
    snprintf(heard, sizeof heard, "%s/heard", getenv("PVM_TMP"));
}

/* Number of frames of that size that make a flood: small ones cost memory, too. */
static int frame_count(int bytes)
{
    return FLOOD_BYTES / (bytes + FRAME_COST);
}

/* ---- the roles ---- */

/* Stays outside libpvm until the gate opens, so that it receives nothing; then receives everything. */
static void sleeper(int argc, char **argv)
{
    (void)argc;
    name_files();
    int sender = check_receive_int(pvm_parent(), TAG_START);
    while (access(gate, F_OK) == 0)
        check_sleep_ms(10);
    for (int i = 0; i < frame_count(atoi(argv[1])); i++)
        check_receive(sender, TAG_DATA);
    check_send_int(pvm_parent(), TAG_DONE, 0);
}

/* Waits for anything other than HOLD and RELEASE: the one message that is sent to it. */
static void *listen_to_daemon(void *arg)
{
    const struct raw_task *t = arg;
    struct raw_header h;
    char payload[4096];
    while (recv(t->fd, &h, sizeof h, MSG_WAITALL) == sizeof h && h.length <= sizeof payload) {
        if (h.length && recv(t->fd, payload, h.length, MSG_WAITALL) != (ssize_t)h.length)
            break;
        if (h.tag == TAG_PING && h.ctx < RAW_CTX_TM)
            make_file(heard);
    }
    return NULL;
}

/* Sends its tid to the master in the first frame, and floods the given task. */
static void flooder(int argc, char **argv)
{
    (void)argc;
    static struct raw_task t; /* the listener outlives this function */
    pthread_t listener;
    int bytes = atoi(argv[1]), victim = check_receive_int(pvm_parent(), TAG_START);
    name_files();
    raw_connect(&t);
    t.patience_ms = -1;
    check_send_int(pvm_parent(), TAG_START, (int)t.tid);
    check_receive_int(pvm_parent(), TAG_START);
    CHECK_EQ(pthread_create(&listener, NULL, listen_to_daemon, &t), 0);
    for (int i = 0; i < frame_count(bytes); i++) {
        struct raw_header h = raw_header(&t, (uint32_t)victim, (uint32_t)i, (uint32_t)bytes);
        h.tag = TAG_DATA;
        CHECK(raw_send(&t, &h, NULL));
    }
    check_receive_int(pvm_parent(), TAG_DONE);
}

static void asker(int argc, char **argv)
{
    (void)argc, (void)argv;
    struct raw_task t;
    struct raw_body all = {0};
    raw_put_u32(&all, 0);
    raw_connect(&t);
    t.patience_ms = 2000 * check_slowness();
    struct raw_header h = raw_header(&t, RAW_DAEMON, 0, (uint32_t)all.length);
    h.tag = (int32_t)RAW_TASKS;
    h.ctx = RAW_CTX_TM;
    for (h.wid = 1; h.wid < REQUESTS && raw_send(&t, &h, all.data); h.wid++)
        ;
    CHECK(h.wid < REQUESTS); /* the daemon has stopped reading */
    check_send_int(pvm_parent(), TAG_DONE, h.wid);
    check_receive_int(pvm_parent(), TAG_DONE);
    raw_free(&all);
}

/* Makes its daemon send to the sleeper again and again. */
static void teller(int argc, char **argv)
{
    (void)argc;
    struct raw_task t;
    struct raw_body option = {0};
    raw_put_u32(&option, PvmSelfTraceTid);
    raw_put_u32(&option, (uint32_t)strtoul(argv[1], NULL, 16));
    raw_connect(&t);
    t.patience_ms = 2000 * check_slowness();
    struct raw_header h = raw_header(&t, RAW_DAEMON, 0, (uint32_t)option.length);
    h.tag = (int32_t)RAW_SETOPT;
    h.ctx = RAW_CTX_TM;
    int n = 0;
    while (n < REQUESTS && raw_send(&t, &h, option.data))
        n++;
    CHECK(n < REQUESTS);
    check_send_int(pvm_parent(), TAG_DONE, n);
    check_receive_int(pvm_parent(), TAG_DONE);
    raw_free(&option);
}

static void echo(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int value; (value = check_receive_int(pvm_parent(), TAG_PING)) >= 0;)
        check_send_int(pvm_parent(), TAG_PING, value);
}

/* ---- the master ---- */

static pid_t daemons[2];
static long before_kib[2];
static int daemon_count, echoes[2];

static void note_daemons(int hosts)
{
    daemon_count = hosts;
    for (int i = 0; i < hosts; i++) {
        check_spawn("echo", NULL, check_host_name(i), 1, &echoes[i]);
        daemons[i] = check_daemon_of(echoes[i]);
        before_kib[i] = check_rss_kib(daemons[i]);
    }
}

static void check_daemons_small(void)
{
    for (int i = 0; i < daemon_count; i++) {
        long grown = check_rss_kib(daemons[i]) - before_kib[i];
        printf("daemon %d: %ld KiB more than before\n", i, grown);
        if (check_slowness() == 1) /* sanitizers need memory of their own */
            CHECK(grown < GROWTH_KIB);
    }
}

static void check_others_served(void)
{
    for (int i = 0; i < daemon_count; i++) {
        check_send_int(echoes[i], TAG_PING, i);
        CHECK_EQ(check_receive_int(echoes[i], TAG_PING), i);
    }
}

static void end_echoes(void)
{
    for (int i = 0; i < daemon_count; i++)
        check_send_int(echoes[i], TAG_PING, -1);
    check_wait_exit(daemon_count, echoes);
}

/* Waits until the task is paused, which is logged with its tid. */
static void await_pause(int tid)
{
    char line[64];
    snprintf(line, sizeof line, "t%x (pid %d) ignores the hold", (unsigned)tid, (int)check_pid_of(tid));
    for (int i = 0; i < check_limit_s() * 100 && !check_log_lines(line); i++) {
        check_daemons_small();
        check_sleep_ms(10);
    }
    CHECK(check_log_lines(line));
    check_sleep_ms(300);
}

static void check_flood(int hosts, char *bytes, bool dies)
{
    int sleeper, flooder, raw;
    make_file(gate);
    check_spawn("sleeper", bytes, check_host_name(hosts - 1), 1, &sleeper);
    check_spawn("flooder", bytes, check_host_name(0), 1, &flooder);
    check_send_int(flooder, TAG_START, sleeper);
    raw = check_receive_int(flooder, TAG_START);
    check_send_int(sleeper, TAG_START, raw);
    check_send_int(flooder, TAG_START, 0);
    await_pause(raw);
    check_daemons_small();
    check_others_served();
    check_send_int(raw, TAG_PING, 0);
    for (int i = 0; i < check_limit_s() * 100 && access(heard, F_OK) != 0; i++)
        check_sleep_ms(10);
    CHECK_EQ(access(heard, F_OK), 0);
    if (dies) {
        CHECK_EQ(pvm_kill(flooder), 0);
        check_wait_exit(1, &raw);
        CHECK_EQ(pvm_kill(sleeper), 0);
    }
    CHECK(!unlink(gate) && !unlink(heard));
    if (!dies) {
        check_receive_int(sleeper, TAG_DONE);
        check_send_int(flooder, TAG_DONE, 0);
    }
    check_wait_exit(1, &flooder);
    check_wait_exit(1, &sleeper);
}

static void check_asks(void)
{
    int asker;
    check_spawn("asker", NULL, NULL, 1, &asker);
    printf("%d requests were read\n", check_receive_int(asker, TAG_DONE));
    check_daemons_small();
    check_others_served();
    check_send_int(asker, TAG_DONE, 0);
    check_wait_exit(1, &asker);
}

static void check_tells(void)
{
    int sleeper, teller;
    char tid[16];
    make_file(gate);
    check_spawn("sleeper", "1", NULL, 1, &sleeper);
    check_send_int(sleeper, TAG_START, 0);
    snprintf(tid, sizeof tid, "%x", (unsigned)sleeper);
    check_spawn("teller", tid, NULL, 1, &teller);
    printf("%d requests were read\n", check_receive_int(teller, TAG_DONE));
    check_daemons_small();
    check_others_served();
    CHECK_EQ(pvm_kill(sleeper), 0);
    check_send_int(teller, TAG_DONE, 0);
    check_wait_exit(1, &teller);
    CHECK(!unlink(gate));
}

static void master(int argc, char **argv)
{
    CHECK(argc > 1);
    bool asks = !strcmp(argv[1], "asks"), tells = !strcmp(argv[1], "tells");
    int hosts = asks || tells ? 1 : atoi(argv[1]);
    name_files();
    check_hosts(hosts);
    note_daemons(hosts);
    if (asks)
        check_asks();
    if (tells)
        check_tells();
    for (int i = 0; i < ROUNDS && !asks && !tells; i++)
        check_flood(hosts, argv[2], i > 0);
    end_echoes();
}

static const struct check_role roles[] = {{"sleeper", sleeper}, {"flooder", flooder}, {"asker", asker},
                                          {"teller", teller},   {"echo", echo},       {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
