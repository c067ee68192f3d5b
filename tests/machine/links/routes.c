/*
 * routes - a task tells another how much it has sent by which route (TC_ROUTES), as doc/protocol.md says; sums are
 * exact whatever the route: routes [HOSTS]
 */
#include "tests/machine/runner/check.h"

enum {
    CONTEXT_CONTROL = 0x7ffff,
    TAG_ROUTES = (int)0x80030040,
    TAG_DATA = 1,
    TAG_GO,
    TAG_BACK,
    TAG_ANSWER = 77,
    MESSAGES = 40,
    BYTES = 100,
};

/* Echoes messages, and computes for a while when told to. */
static void worker(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (;;) {
        int n = check_receive_int(pvm_parent(), TAG_GO);
        if (!n)
            return;
        if (n < 0) {
            check_sleep_ms(-n);
            continue;
        }
        char data[BYTES] = {0};
        for (int i = 0; i < n; i++)
            check_receive(pvm_parent(), TAG_DATA);
        for (int i = 0; i < n; i++)
            CHECK_EQ(pvm_psend(pvm_parent(), TAG_BACK, data, BYTES, PVM_BYTE), 0);
    }
}

/* A request that does not have exactly two integers is malformed. */
static void ask(int tid, int context, int integers)
{
    int words[2] = {context, TAG_ANSWER};
    int old = pvm_setcontext(CONTEXT_CONTROL), reserved = pvm_setopt(PvmResvTids, 1);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(words, integers, 1), 0);
    CHECK_EQ(pvm_send(tid, TAG_ROUTES), 0);
    pvm_setopt(PvmResvTids, reserved);
    pvm_setcontext(old);
}

struct sums {
    char route[32];
    long sent, sent_bytes, received, received_bytes;
    int opened, lost;
};

static void read_text(char *text, int size)
{
    CHECK_EQ(pvm_upkstr(text), 0);
    CHECK((int)strlen(text) < size);
}

/* The answer's part about one peer; false when it names none of that tid. */
static int read_answer(int peer, struct sums *sums)
{
    char choice[256];
    int option, n, found = 0;
    read_text(choice, sizeof choice);
    CHECK_TEXT(choice, getenv("PVM_TRANSPORT") ? getenv("PVM_TRANSPORT") : "auto");
    CHECK_EQ(pvm_upkint(&option, 1, 1), 0);
    CHECK_EQ(option, PvmAllowDirect);
    CHECK_EQ(pvm_upkint(&n, 1, 1), 0);
    for (int i = 0; i < n; i++) {
        int tid, counts[3];
        long direct[4], daemon[4];
        char route[32];
        CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
        read_text(route, sizeof route);
        CHECK_EQ(pvm_upklong(direct, 4, 1), 0);
        CHECK_EQ(pvm_upklong(daemon, 4, 1), 0);
        CHECK_EQ(pvm_upkint(counts, 3, 1), 0);
        if (tid != peer)
            continue;
        found++;
        *sums = (struct sums){.sent = direct[0] + daemon[0],
                              .sent_bytes = direct[1] + daemon[1],
                              .received = direct[2] + daemon[2],
                              .received_bytes = direct[3] + daemon[3],
                              .opened = counts[1],
                              .lost = counts[2]};
        strcpy(sums->route, route);
        CHECK(strcmp(route, "daemon") == 0 || counts[1] > counts[2]);
    }
    CHECK_EQ(pvm_upkint(&n, 1, 1), PvmNoData);
    CHECK(found <= 1);
    return found;
}

static void exchange(int tid, int n)
{
    char data[BYTES] = {0};
    check_send_int(tid, TAG_GO, n);
    for (int i = 0; i < n; i++)
        CHECK_EQ(pvm_psend(tid, TAG_DATA, data, BYTES, PVM_BYTE), 0);
    for (int i = 0; i < n; i++)
        check_receive(tid, TAG_BACK);
}

static struct sums routes_of(int tid, int peer, int context)
{
    struct sums sums;
    ask(tid, context, 2);
    int old = pvm_setcontext(context);
    check_receive(tid, TAG_ANSWER);
    CHECK_EQ(read_answer(peer, &sums), 1);
    pvm_setcontext(old);
    return sums;
}

static void check_counts(int tid, int context)
{
    struct sums before = routes_of(tid, pvm_mytid(), context), ours = routes_of(pvm_mytid(), tid, context);
    exchange(tid, MESSAGES);
    struct sums after = routes_of(tid, pvm_mytid(), context), ours_after = routes_of(pvm_mytid(), tid, context);
    CHECK_EQ(after.received - before.received, MESSAGES + 1);
    CHECK_EQ(after.received_bytes - before.received_bytes, MESSAGES * BYTES + (int)sizeof(int));
    CHECK_EQ(after.sent - before.sent, MESSAGES + 1); /* the answer before */
    CHECK_EQ(ours_after.sent - ours.sent, MESSAGES + 1);
    CHECK_EQ(ours_after.sent_bytes - ours.sent_bytes, MESSAGES * BYTES + (int)sizeof(int));
    CHECK_EQ(ours_after.received - ours.received, MESSAGES + 1);
    printf("route %s, %ld frames sent, %ld received, %d links opened\n", after.route, after.sent, after.received,
           after.opened);
}

/* A computing task answers afterwards, and ignores malformed questions. */
static void check_odd_cases(int tid, int context)
{
    struct timeval soon = {0, 100000};
    check_send_int(tid, TAG_GO, -1000 * check_slowness());
    check_sleep_ms(100);
    ask(tid, context, 0);
    ask(tid, context, 1);
    ask(tid, -5, 2);
    ask(tid, context, 2);
    int old = pvm_setcontext(context);
    CHECK_EQ(pvm_trecv(tid, TAG_ANSWER, &soon), 0);
    check_receive(tid, TAG_ANSWER);
    pvm_setcontext(old);
    exchange(tid, 1);
    pvm_setcontext(context);
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
    pvm_setcontext(old);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1, tid, context = pvm_newcontext();
    check_hosts(hosts);
    pvm_setopt(PvmAutoErr, 0);
    check_spawn("worker", NULL, check_host_name(hosts - 1), 1, &tid);
    exchange(tid, 1);
    for (int i = 0; i < 3; i++)
        check_counts(tid, context);
    check_odd_cases(tid, context);
    check_send_int(tid, TAG_GO, 0);
    check_wait_exit(1, &tid);
}

static const struct check_role roles[] = {{"worker", worker}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
