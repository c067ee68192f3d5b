/*
 * pressure - 200 MB sent to a sleeping task do not fill up the daemons: the sender is held, other receivers and the
 * sender's own messages are still served, and everything arrives in the end.
 *
 *   pressure HOSTS many      in 800 messages
 *   pressure HOSTS one       in one message, of which no daemon may hold a large part
 *   pressure HOSTS linked    in 800 messages, over a link that was made before the task falls asleep
 */
#include "tests/machine/runner/check.h"

enum {
    TAG_START = 1,
    TAG_MEET,
    TAG_READY,
    TAG_DATA,
    TAG_PING,
    TAG_DONE,
    MEETINGS = 20,
    TOTAL = 200000000,
    GROWTH_KIB = 24 << 10
};

static int messages, bytes;
static int linked;
static char *data;

static void prepare(const char *how)
{
    messages = strcmp(how, "one") ? 800 : 1;
    bytes = TOTAL / messages;
    linked = !strcmp(how, "linked");
    data = malloc((size_t)bytes);
    CHECK(data != NULL);
    pvm_setopt(PvmRoute, linked ? PvmRouteDirect : PvmAllowDirect);
}

/* A link opens in the background. */
static void meet(int other)
{
    for (int i = 0; linked && i < MEETINGS; i++) {
        check_send_int(other, TAG_MEET, i);
        CHECK_EQ(check_receive_int(other, TAG_MEET), i);
        check_sleep_ms(10);
    }
}

static char gate[4096], asleep[4096];

static void name_gate(void)
{
    snprintf(gate, sizeof gate, "%s/gate", getenv("PVM_TMP"));
    snprintf(asleep, sizeof asleep, "%s/asleep", getenv("PVM_TMP"));
}

static void make_file(const char *path)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fclose(file);
}

/* Sleeps outside libpvm until a file appears, so that it receives nothing; then receives everything. */
static void sleeper(int argc, char **argv)
{
    (void)argc;
    prepare(argv[1]);
    int sender = check_receive_int(pvm_parent(), TAG_START);
    name_gate();
    meet(sender);
    make_file(asleep);
    while (access(gate, F_OK) == 0)
        check_sleep_ms(10);
    for (int i = 0; i < messages; i++) {
        CHECK_EQ(check_receive_int(sender, TAG_DATA), i);
        CHECK_EQ(pvm_upkbyte(data, bytes, 1), 0);
        CHECK(check_same(data, (size_t)bytes, (unsigned)i));
    }
    check_send_int(pvm_parent(), TAG_DONE, 0);
    free(data);
}

static void sender(int argc, char **argv)
{
    (void)argc;
    prepare(argv[1]);
    int sleeper = check_receive_int(pvm_parent(), TAG_START);
    meet(sleeper);
    for (int i = 0; i < messages; i++) {
        check_fill(data, (size_t)bytes, (unsigned)i);
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        CHECK_EQ(pvm_pkint(&i, 1, 1), 0);
        CHECK_EQ(pvm_pkbyte(data, bytes, 1), 0);
        if (i == 0) /* packing may take longer than sending */
            CHECK_EQ(pvm_psend(pvm_parent(), TAG_READY, NULL, 0, PVM_BYTE), 0);
        CHECK_EQ(pvm_send(sleeper, TAG_DATA), 0);
    }
    check_send_int(pvm_parent(), TAG_DONE, 0);
    free(data);
}

static void echo(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int value; (value = check_receive_int(pvm_parent(), TAG_PING)) >= 0;)
        check_send_int(pvm_parent(), TAG_PING, value);
}

/* While the sender is held, others on the same hosts communicate as usual. */
static void check_others_served(int *echoes)
{
    double start = check_now();
    for (int i = 0; i < 200; i++)
        for (int j = 0; j < 2; j++) {
            check_send_int(echoes[j], TAG_PING, i);
            CHECK_EQ(check_receive_int(echoes[j], TAG_PING), i);
        }
    CHECK(check_now() - start < 2.0 * check_slowness());
}

static void check_daemons_small(const pid_t *daemons, const long *before, const char *when)
{
    for (int i = 0; i < 2; i++) {
        long grown = check_rss_kib(daemons[i]) - before[i];
        printf("daemon %d: %ld KiB more than before, %s\n", i, grown, when);
        if (check_slowness() == 1) /* Valgrind and sanitizers need memory of their own */
            CHECK(grown < GROWTH_KIB);
    }
}

static void master(int argc, char **argv)
{
    CHECK(argc > 2);
    int hosts = atoi(argv[1]), tids[2], echoes[2];
    name_gate();
    make_file(gate);
    check_hosts(hosts);
    const char *far = check_host_name(hosts - 1);
    check_spawn("sleeper", argv[2], far, 1, &tids[0]);
    check_spawn("sender", argv[2], ".", 1, &tids[1]);
    check_spawn("echo", NULL, far, 1, &echoes[0]);
    check_spawn("echo", NULL, ".", 1, &echoes[1]);
    pid_t daemons[2] = {check_daemon_of(tids[1]), check_daemon_of(tids[0])};
    check_others_served(echoes);
    long before[2] = {check_rss_kib(daemons[0]), check_rss_kib(daemons[1])};

    check_send_int(tids[0], TAG_START, tids[1]);
    while (strcmp(argv[2], "linked") && access(asleep, F_OK)) /* awake, it would join a link, on which nobody is held */
        check_sleep_ms(10);
    check_send_int(tids[1], TAG_START, tids[0]);
    check_receive(tids[1], TAG_READY);
    check_sleep_ms(1500 * check_slowness());
    CHECK_EQ(pvm_nrecv(tids[1], TAG_DONE), 0); /* the sender is held */
    check_daemons_small(daemons, before, "while 200 MB wait");
    check_others_served(echoes);
    CHECK_EQ(remove(asleep), 0);
    CHECK_EQ(remove(gate), 0);
    struct timeval limit = {60 * check_slowness(), 0};
    for (int i = 0; i < 2; i++)
        CHECK(pvm_trecv(tids[i], TAG_DONE, &limit) > 0);
    check_daemons_small(daemons, before, "afterwards");
    CHECK(!check_log_lines("ignores the hold")); /* a sender that obeys is always read */
    for (int i = 0; i < 2; i++)
        check_send_int(echoes[i], TAG_PING, -1);
    check_wait_exit(2, tids);
}

static const struct check_role roles[] = {{"sleeper", sleeper}, {"sender", sender}, {"echo", echo}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
