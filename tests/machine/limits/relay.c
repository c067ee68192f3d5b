/*
 * relay - the daemons' memory does not grow with the number of messages they have forwarded, and shrinks after a burst:
 * relay [HOSTS [MESSAGES]].
 */
#include "tests/machine/runner/check.h"

enum {
    TAG_START = 1,
    TAG_DATA,
    TAG_DONE,
    BURST_MESSAGES = 300,
    BURST_BYTES = 300000,
    SETTLE_MS = 2000,
    GROWTH_KIB = 1024
};

/* Of each round: number of messages, bytes of each; a negative number ends it. */
static void sink(int argc, char **argv)
{
    (void)argc, (void)argv;
    static char data[BURST_BYTES];
    for (;;) {
        int round[2];
        struct timeval limit = {240 * check_slowness(), 0}; /* the rounds of another host come first */
        CHECK(pvm_trecv(pvm_parent(), TAG_START, &limit) > 0);
        CHECK_EQ(pvm_upkint(round, 2, 1), 0);
        if (round[0] < 0)
            return;
        for (int i = 0; i < round[0]; i++) {
            check_receive(pvm_parent(), TAG_DATA);
            CHECK_EQ(pvm_upkbyte(data, round[1], 1), 0);
        }
        check_send_int(pvm_parent(), TAG_DONE, round[0]);
    }
}

static void send_round(int tid, int messages, int bytes)
{
    static char data[BURST_BYTES];
    int round[2] = {messages, bytes};
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(round, 2, 1), 0);
    CHECK_EQ(pvm_send(tid, TAG_START), 0);
    for (int i = 0; i < messages; i++) {
        CHECK(pvm_initsend(PvmDataRaw) > 0);
        CHECK_EQ(pvm_pkbyte(data, bytes, 1), 0);
        CHECK_EQ(pvm_send(tid, TAG_DATA), 0);
    }
    if (messages < 0)
        return;
    struct timeval limit = {120 * check_slowness(), 0};
    CHECK(pvm_trecv(tid, TAG_DONE, &limit) > 0);
}

/* Daemons return memory shortly after a burst. */
static void take_sizes(const char *when, const pid_t *daemons, int hosts, long *kib)
{
    check_sleep_ms(SETTLE_MS);
    for (int i = 0; i < hosts; i++) {
        kib[i] = check_rss_kib(daemons[i]);
        CHECK(kib[i] > 0);
        printf("%s: daemon %d has %ld KiB\n", when, i, kib[i]);
    }
}

static void master(int argc, char **argv)
{
    enum { HOSTS_MAX = 4 };
    int hosts = argc > 1 ? atoi(argv[1]) : 1, messages = argc > 2 ? atoi(argv[2]) : 1000000, tids[HOSTS_MAX];
    pid_t daemons[HOSTS_MAX];
    long first[HOSTS_MAX], last[HOSTS_MAX];
    CHECK(hosts >= 1 && hosts <= HOSTS_MAX && messages > 0);
    check_hosts(hosts);
    for (int i = 0; i < hosts; i++) {
        check_spawn("sink", NULL, check_host_name(i), 1, &tids[i]);
        daemons[i] = check_daemon_of(tids[i]);
    }
    pvm_setopt(PvmRoute, PvmDontRoute); /* the daemons must carry the messages */
    int far = tids[hosts - 1];
    send_round(far, messages / 10 + 1000, 100); /* caches fill */
    take_sizes("at first", daemons, hosts, first);
    double start = check_now();
    send_round(far, messages, 100);
    printf("%d messages in %.2f s\n", messages, check_now() - start);
    send_round(far, BURST_MESSAGES, BURST_BYTES);
    take_sizes("at last", daemons, hosts, last);
    for (int i = 0; i < hosts; i++) {
        if (check_slowness() == 1) /* Valgrind and sanitizers keep freed memory */
            CHECK(last[i] - first[i] < GROWTH_KIB);
        send_round(tids[i], -1, 0);
    }
    check_wait_exit(hosts, tids);
}

static const struct check_role roles[] = {{"sink", sink}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
