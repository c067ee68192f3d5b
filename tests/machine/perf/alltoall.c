/*
 * alltoall - direct links are made when they pay, and not in the first rounds of a program in which each task sends a
 * word to each other: alltoall [-n TASKS] [-r ROUNDS] [-b BYTES] [-c]
 *
 *   -n  tasks (default 64)
 *   -r  rounds (default 40)
 *   -b  bytes of a message (default 100)
 *   -c  measures nothing, but counts links among few and among many tasks
 *
 * The same rounds with PvmDontRoute, PvmAllowDirect and PvmRouteDirect, each with new tasks. Of each round: its time
 * and the processor time of tasks and daemon as well. At the end: direct links.
 */
#include "tests/machine/runner/check.h"

enum { TASKS_MAX = 256, ROUNDS_MAX = 1000, BYTES_MAX = 1 << 20, TAG_TEAM = 1, TAG_GO, TAG_DONE, TAG_ROUND };

static struct {
    int tasks, rounds, bytes, counts;
} options = {.tasks = 64, .rounds = 40, .bytes = 100};

/* ---- a member ---- */

static void play(const int *tids, int n, int me, int round, int bytes)
{
    static char data[BYTES_MAX];
    for (int i = 1; i < n; i++) {
        CHECK(pvm_initsend(PvmDataRaw) > 0);
        CHECK_EQ(pvm_pkint(&round, 1, 1), 0);
        CHECK_EQ(pvm_pkbyte(data, bytes, 1), 0);
        CHECK_EQ(pvm_send(tids[(me + i) % n], TAG_ROUND), 0);
    }
    for (int i = 1; i < n; i++)
        CHECK_EQ(check_receive_int(tids[(me + n - i) % n], TAG_ROUND), round);
}

static void member(int argc, char **argv)
{
    int head[3], tids[TASKS_MAX], me = 0, round;
    CHECK(argc > 1);
    pvm_setopt(PvmRoute, atoi(argv[1]));
    check_receive(pvm_parent(), TAG_TEAM);
    CHECK_EQ(pvm_upkint(head, 2, 1), 0);
    CHECK_EQ(pvm_upkint(tids, head[0], 1), 0);
    while (tids[me] != pvm_mytid())
        me++;
    check_send_int(pvm_parent(), TAG_DONE, -1);
    while ((round = check_receive_int(pvm_parent(), TAG_GO)) >= 0) {
        play(tids, head[0], me, round, head[1]);
        check_send_int(pvm_parent(), TAG_DONE, round);
    }
}

/* ---- the master ---- */

struct result {
    double round_ms[ROUNDS_MAX];
    double cpu_ms[ROUNDS_MAX]; /* processor time of tasks and daemon */
    int links[ROUNDS_MAX];     /* ends of links, offered ones as well; only with -c and at the end */
};

/* A link of shared memory is one mapping. */
static int count_links(pid_t pid)
{
    char path[64], line[512];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps))
        n += strstr(line, "/memfd:pvm-link") != NULL;
    fclose(maps);
    return n;
}

/* Processor time in ms. */
static double cpu_of(pid_t pid)
{
    char path[64];
    unsigned long long ns = 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    CHECK_EQ(fscanf(f, "%llu", &ns), 1);
    fclose(f);
    return (double)ns / 1e6;
}

static double cpu_of_all(const pid_t *pids, pid_t daemon)
{
    double ms = cpu_of(daemon);
    for (int i = 0; i < options.tasks; i++)
        ms += cpu_of(pids[i]);
    return ms;
}

static int links_of_all(const pid_t *pids)
{
    int n = 0;
    for (int i = 0; i < options.tasks; i++)
        n += count_links(pids[i]);
    return n;
}

static void all_done(int round)
{
    for (int i = 0; i < options.tasks; i++)
        CHECK_EQ(check_receive_int(-1, TAG_DONE), round);
}

static void tell_all(int *tids, int round)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&round, 1, 1), 0);
    CHECK_EQ(pvm_mcast(tids, options.tasks, TAG_GO), 0);
}

static void introduce(int *tids)
{
    int head[] = {options.tasks, options.bytes};
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(head, 2, 1), 0);
    CHECK_EQ(pvm_pkint(tids, options.tasks, 1), 0);
    CHECK_EQ(pvm_mcast(tids, options.tasks, TAG_TEAM), 0);
    all_done(-1);
}

static void measure(int route, struct result *r)
{
    static int tids[TASKS_MAX];
    static pid_t pids[TASKS_MAX];
    char argument[8];
    snprintf(argument, sizeof argument, "%d", route);
    check_spawn("member", argument, NULL, options.tasks, tids);
    for (int i = 0; i < options.tasks; i++)
        pids[i] = check_pid_of(tids[i]);
    pid_t daemon = check_daemon_of(tids[0]);
    introduce(tids);
    for (int round = 0; round < options.rounds; round++) {
        double start = check_now(), cpu_ms = cpu_of_all(pids, daemon);
        tell_all(tids, round);
        all_done(round);
        r->round_ms[round] = (check_now() - start) * 1e3;
        r->cpu_ms[round] = cpu_of_all(pids, daemon) - cpu_ms;
        if (options.counts || round == options.rounds - 1)
            r->links[round] = links_of_all(pids);
    }
    tell_all(tids, -1);
    check_wait_exit(options.tasks, tids);
}

static double sum(const double *values, int from, int to)
{
    double total = 0;
    for (int i = from; i < to && i < options.rounds; i++)
        total += values[i];
    return total;
}

static void print(const char *name, const double *ms, const double *reference)
{
    printf("  %-14s", name);
    for (int i = 0; i < 10; i++)
        printf(" %5.1f", ms[i]);
    int n = options.rounds;
    printf(" ms; ratio to the daemons: rounds 1 to 5 %.2f, 6 to 20 %.2f, last 10 %.2f\n",
           sum(ms, 0, 5) / sum(reference, 0, 5), sum(ms, 5, 20) / sum(reference, 5, 20),
           sum(ms, n - 10, n) / sum(reference, n - 10, n));
}

static void parse(int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "n:r:b:c")) != -1;) {
        if (c == 'n')
            options.tasks = atoi(optarg);
        else if (c == 'r')
            options.rounds = atoi(optarg);
        else if (c == 'b')
            options.bytes = atoi(optarg);
        else if (c == 'c')
            options.counts = 1;
        else
            exit(2);
    }
    if (options.tasks < 2 || options.tasks > TASKS_MAX || options.rounds < 10 || options.rounds > ROUNDS_MAX ||
        options.bytes < 0 || options.bytes > BYTES_MAX) {
        fprintf(stderr, "usage: alltoall [-n TASKS] [-r ROUNDS] [-b BYTES] [-c]\n");
        exit(2);
    }
}

static void compare(void)
{
    static const int routes[] = {PvmDontRoute, PvmAllowDirect, PvmRouteDirect, PvmDontRoute};
    static const char *const names[] = {"PvmDontRoute", "PvmAllowDirect", "PvmRouteDirect", "PvmDontRoute"};
    static struct result results[4];
    static double daemons_ms[ROUNDS_MAX], daemons_cpu_ms[ROUNDS_MAX];
    for (int i = 0; i < 4; i++)
        measure(routes[i], &results[i]);
    for (int i = 0; i < options.rounds; i++) {
        daemons_ms[i] = (results[0].round_ms[i] + results[3].round_ms[i]) / 2;
        daemons_cpu_ms[i] = (results[0].cpu_ms[i] + results[3].cpu_ms[i]) / 2;
    }
    printf("time of rounds:\n");
    for (int i = 0; i < 4; i++)
        print(names[i], results[i].round_ms, daemons_ms);
    printf("processor time of rounds:\n");
    for (int i = 0; i < 4; i++)
        print(names[i], results[i].cpu_ms, daemons_cpu_ms);
    for (int i = 0; i < 4; i++)
        printf("%s: %d ends of links\n", names[i], results[i].links[options.rounds - 1]);
}

/* Ends of links after some rounds of that many tasks. */
static const int *links_of(int route, int tasks)
{
    static struct result r;
    options.tasks = tasks;
    measure(route, &r);
    printf("%d tasks, PvmRoute %d: ends of links after rounds 1 to 10:", tasks, route);
    for (int i = 0; i < 10; i++)
        printf(" %d", r.links[i]);
    printf(", at the end: %d\n", r.links[options.rounds - 1]);
    return r.links;
}

/* PVM_LINK_FRAMES is 4. Each of few gets its links with its second message, or its fifth; of many, later. An offer to
 * us counts until we refuse. */
static void check_counts(void)
{
    enum { FEW = 6, MANY = 24, OF_FEW = FEW * (FEW - 1) };
    CHECK_EQ(links_of(PvmDontRoute, FEW)[options.rounds - 1], 0);
    CHECK(links_of(PvmRouteDirect, FEW)[3] >= OF_FEW);
    CHECK(links_of(PvmAllowDirect, FEW)[6] >= OF_FEW);
    for (int i = 0; i < 2; i++) {
        const int *links = links_of(i ? PvmRouteDirect : PvmAllowDirect, MANY);
        CHECK_EQ(links[5], 0);
        CHECK(links[options.rounds - 1] > 2 * MANY);
        CHECK(links[13] > 0); /* by shared memory; by others after 16 rounds */
    }
}

static void master(int argc, char **argv)
{
    parse(argc, argv);
    pvm_setopt(PvmRoute, PvmDontRoute); /* members get no links to us, which would count */
    if (options.counts)
        check_counts();
    else
        compare();
}

static const struct check_role roles[] = {{"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
