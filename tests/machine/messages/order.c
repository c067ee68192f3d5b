/*
 * order - messages from one task to another arrive in the order sent, complete and once: order [HOSTS [FILE]]. Several
 * tasks send numbered messages of random sizes to each other, all at once: a fixed number, or as long as FILE exists;
 * then the first task keeps writing its number of sent messages to the file.
 */
#include "tests/machine/runner/check.h"

enum { TASKS = 4, MESSAGES = 400, BYTES_MAX = 200000, TAG_TIDS = 1, TAG_NUMBERED, TAG_TOTAL, TAG_DONE };

static unsigned seed_of(int from, int to, int number)
{
    return (unsigned)(from * 1000003 + to * 10007 + number);
}

/* Mostly small, some of several frames. */
static int size_of(unsigned seed)
{
    unsigned state = seed, kind = check_random(&state) % 10;
    return (int)(check_random(&state) % (kind == 0 ? BYTES_MAX : kind < 4 ? 5000 : 100));
}

static void send_numbered(int me, int to, int to_tid, int number)
{
    static char data[BYTES_MAX];
    unsigned seed = seed_of(me, to, number);
    int head[2] = {me, number}, size = size_of(seed);
    check_fill(data, (size_t)size, seed);
    CHECK(pvm_initsend(number % 2 ? PvmDataRaw : PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(head, 2, 1), 0);
    CHECK_EQ(pvm_pkbyte(data, size, 1), 0);
    CHECK_EQ(pvm_send(to_tid, TAG_NUMBERED), 0);
}

/* Receives one message from any task and checks that it is that sender's next. */
static void take_numbered(int me, const int *tids, int *next)
{
    static char data[BYTES_MAX];
    int head[2], from_tid, mid = check_receive(-1, TAG_NUMBERED);
    CHECK_EQ(pvm_bufinfo(mid, NULL, NULL, &from_tid), 0);
    CHECK_EQ(pvm_upkint(head, 2, 1), 0);
    int from = head[0];
    CHECK(from >= 0 && from < TASKS);
    CHECK_EQ(from_tid, tids[from]);
    CHECK_EQ(head[1], next[from]);
    unsigned seed = seed_of(from, me, next[from]++);
    int size = size_of(seed);
    CHECK_EQ(pvm_upkbyte(data, size, 1), 0);
    CHECK(check_same(data, (size_t)size, seed));
}

/* Whether to send message `number`. */
static int goes_on(const char *path, int me, int number)
{
    FILE *file = path ? fopen(path, "r+") : NULL;
    if (file && !me)
        fprintf(file, "%d\n", number);
    if (file)
        fclose(file);
    return path ? file != NULL : number < MESSAGES;
}

/* After the last message, a sender announces their number. */
static void take_rest(int me, const int *tids, int *next)
{
    for (int from = 0; from < TASKS; from++) {
        int total = check_receive_int(tids[from], TAG_TOTAL);
        while (next[from] < total)
            take_numbered(me, tids, next);
    }
}

static void worker(int argc, char **argv)
{
    int tids[TASKS], next[TASKS] = {0}, me = 0;
    check_receive(pvm_parent(), TAG_TIDS);
    CHECK_EQ(pvm_upkint(tids, TASKS, 1), 0);
    while (tids[me] != pvm_mytid())
        me++;
    int number = 0;
    for (; goes_on(argc > 1 ? argv[1] : NULL, me, number); number++) {
        for (int to = 0; to < TASKS; to++)
            send_numbered(me, to, tids[to], number);
        while (pvm_probe(-1, TAG_NUMBERED) > 0) /* everything received meanwhile */
            take_numbered(me, tids, next);
    }
    for (int to = 0; to < TASKS; to++)
        check_send_int(tids[to], TAG_TOTAL, number);
    take_rest(me, tids, next);
    CHECK_EQ(pvm_probe(-1, TAG_NUMBERED), 0);
    check_send_int(pvm_parent(), TAG_DONE, me);
}

static void master(int argc, char **argv)
{
    int hosts = argc > 1 ? atoi(argv[1]) : 1, tids[TASKS];
    check_hosts(hosts);
    for (int i = 0; i < TASKS; i++)
        check_spawn("worker", argc > 2 ? argv[2] : NULL, check_host_name(i % hosts), 1, &tids[i]);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(tids, TASKS, 1), 0);
    CHECK_EQ(pvm_mcast(tids, TASKS, TAG_TIDS), 0);
    while (argc > 2 && access(argv[2], F_OK) == 0)
        check_sleep_ms(50);
    for (int i = 0; i < TASKS; i++)
        check_receive_int(-1, TAG_DONE);
    check_wait_exit(TASKS, tids);
}

static const struct check_role roles[] = {{"worker", worker}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
