/*
 * pvmbench - takes one measurement on a running PVM machine and prints "name value unit" lines. It uses only pvm3.h, so
 * that the same source is built with dpvm and with the reference PVM.
 *
 *   pvmbench pingpong HOW BYTES[,BYTES]... [HOST]  half the round-trip time to a task on HOST, in us
 *   pvmbench early HOW BYTES [HOST]                the same of exchanges 501 to 1000 of a new pair
 *   pvmbench typical HOW BYTES COUNT [HOST]        the same, median of COUNT single round trips, as in perftest
 *   pvmbench rate HOW BYTES COUNT [HOST]           a stream of COUNT messages, in messages per second
 *   pvmbench mcast TASKS BYTES                     a multicast until all receivers have answered, in us
 *   pvmbench ring TASKS BYTES                      a message through a ring of TASKS tasks, in us
 *   pvmbench barrier TASKS                         one barrier of a group, in us
 *   pvmbench peers TASKS                           memory (KiB) and CPU time (ms) of a task with TASKS idle peers
 *   pvmbench spawn TASKS                           until all tasks have reported, in ms
 *   pvmbench match WAITING                         one receive while WAITING other messages wait, in us
 *   pvmbench relay COUNT                           growth of the daemon over COUNT messages, in KiB
 *   pvmbench idle SECONDS                          CPU time of the daemon and of waiting tasks, in ms
 *   pvmbench addhosts HOST...                      until all have joined, in ms; the daemons' resident memory, in KiB
 *   pvmbench halt                                  halts the machine
 *
 * HOW is default, doubles (default encoding of doubles), raw, inplace or psend. Routes: PvmDontRoute, or direct with
 * PVMBENCH_ROUTE=direct. PVM_EXPORT must name PVMBENCH_ROUTE, so that spawned copies see it.
 */
#include <string.h>
#include <unistd.h>
#include "measure.h"
#include "pvm3.h"

enum {
    TAG_SETUP = 1,
    TAG_DATA,
    TAG_END,
    TAG_READY,
    TASKS_MAX = 4096,
    SIZES_MAX = 64,
    LINK_UP_US = 20000,
    COUNT_MAX = 100000000,
    SETTLE_S = 3, /* until daemons have released the memory of starting and joining */
};

enum how { HOW_DEFAULT, HOW_DOUBLES, HOW_RAW, HOW_INPLACE, HOW_PSEND };

static const char *const how_names[] = {"default", "doubles", "raw", "inplace", "psend"};

static char *data;
static char own_path[4096];

/* ---- helpers ---- */

/* Returns the result of a PVM call; ends the program if it is an error. */
static int must(int code, const char *what)
{
    if (code < 0)
        errx(1, "%s: %d (%s)", what, code, pvm_strerror());
    return code;
}

static enum how how_of(const char *name)
{
    for (int i = 0; i < 5; i++)
        if (strcmp(how_names[i], name) == 0)
            return (enum how)i;
    errx(2, "HOW is default, doubles, raw, inplace or psend, not \"%s\"", name);
}

static void spawn(const char *role, int n, const char *host, int *tids)
{
    char *argv[] = {(char *)role, NULL};
    int flags = host ? PvmTaskHost : PvmTaskDefault;
    if (must(pvm_spawn(own_path, argv, flags, (char *)host, n, tids), "pvm_spawn") < n)
        errx(1, "pvm_spawn: only some of %d tasks started", n);
}

static void send_ints(int tid, int tag, int a, int b, int c)
{
    int values[3] = {a, b, c};
    pvm_initsend(PvmDataRaw);
    pvm_pkint(values, 3, 1);
    must(pvm_send(tid, tag), "pvm_send");
}

static void receive_ints(int tid, int tag, int *values)
{
    must(pvm_recv(tid, tag), "pvm_recv");
    must(pvm_upkint(values, 3, 1), "pvm_upkint");
}

/* ---- round trips ---- */

static void send_data(int tid, enum how how, int bytes)
{
    static const int encodings[] = {PvmDataDefault, PvmDataDefault, PvmDataRaw, PvmDataInPlace};
    if (how == HOW_PSEND) {
        must(pvm_psend(tid, TAG_DATA, data, bytes, PVM_BYTE), "pvm_psend");
        return;
    }
    pvm_initsend(encodings[how]);
    if (how == HOW_DOUBLES)
        pvm_pkdouble((double *)data, bytes / 8, 1);
    else
        pvm_pkbyte(data, bytes, 1);
    must(pvm_send(tid, TAG_DATA), "pvm_send");
}

static void receive_data(int tid, enum how how, int bytes)
{
    if (how == HOW_PSEND) {
        must(pvm_precv(tid, TAG_DATA, data, bytes, PVM_BYTE, NULL, NULL, NULL), "pvm_precv");
        return;
    }
    must(pvm_recv(tid, TAG_DATA), "pvm_recv");
    if (how == HOW_DOUBLES)
        pvm_upkdouble((double *)data, bytes / 8, 1);
    else
        pvm_upkbyte(data, bytes, 1);
}

/* Echoes as many messages as each setup message says, until one says 0. */
static void role_echo(void)
{
    for (int setup[3];;) {
        receive_ints(pvm_parent(), TAG_SETUP, setup);
        if (setup[2] == 0)
            return;
        for (int i = 0; i < setup[2]; i++) {
            receive_data(pvm_parent(), (enum how)setup[0], setup[1]);
            send_data(pvm_parent(), (enum how)setup[0], setup[1]);
        }
    }
}

/* Half the round-trip time in us, over `count` round trips. */
static double round_trips(int tid, enum how how, int bytes, int count)
{
    send_ints(tid, TAG_SETUP, (int)how, bytes, count);
    double start = now_us();
    for (int i = 0; i < count; i++) {
        send_data(tid, how, bytes);
        receive_data(tid, how, bytes);
    }
    return (now_us() - start) / count / 2;
}

static void measure_pingpong(int tid, enum how how, int bytes)
{
    double blocks[BLOCKS];
    int slow = round_trips(tid, how, bytes, 1) > SLOW_US, n = slow ? BLOCKS_SLOW : BLOCKS, count = 1;
    if (!slow)
        for (int next = 5; next > 2 * count;)
            next = next_count(count = next, 2 * round_trips(tid, how, bytes, next));
    for (int i = 0; i < n; i++)
        blocks[i] = round_trips(tid, how, bytes, count);
    char name[64];
    snprintf(name, sizeof name, "pingpong.%s.%d", how_names[how], bytes);
    print(name, median(blocks, n), "us");
}

static void run_pingpong(int argc, char **argv)
{
    if (argc < 3)
        errx(2, "usage: pvmbench pingpong HOW BYTES[,BYTES]... [HOST]");
    enum how how = how_of(argv[1]);
    int tid, sizes[SIZES_MAX], n = 0;
    for (char *rest = NULL, *word = strtok_r(argv[2], ",", &rest); word && n < SIZES_MAX;
         word = strtok_r(NULL, ",", &rest))
        sizes[n++] = number_of(word, BYTES_MAX);
    spawn("echo", 1, argc > 3 ? argv[3] : ".", &tid);
    round_trips(tid, how, 8, 3);
    usleep(LINK_UP_US); /* a direct link opens in the background */
    for (int i = 0; i < n; i++)
        measure_pingpong(tid, how, sizes[i]);
    send_ints(tid, TAG_SETUP, 0, 0, 0);
}

static void run_early(int argc, char **argv)
{
    if (argc < 3)
        errx(2, "usage: pvmbench early HOW BYTES [HOST]");
    enum how how = how_of(argv[1]);
    int tid, bytes = number_of(argv[2], BYTES_MAX);
    spawn("echo", 1, argc > 3 ? argv[3] : ".", &tid);
    round_trips(tid, how, bytes, EARLY);
    char name[64];
    snprintf(name, sizeof name, "early.%s.%d", how_names[how], bytes);
    print(name, round_trips(tid, how, bytes, EARLY), "us");
    send_ints(tid, TAG_SETUP, 0, 0, 0);
}

static void run_typical(int argc, char **argv)
{
    if (argc < 4)
        errx(2, "usage: pvmbench typical HOW BYTES COUNT [HOST]");
    enum how how = how_of(argv[1]);
    int tid, bytes = number_of(argv[2], BYTES_MAX), count = number_of(argv[3], COUNT_MAX);
    double *took = calloc((size_t)count + 1, sizeof *took);
    if (!took || !count)
        errx(2, "COUNT is from 1 to %d, not \"%s\"", COUNT_MAX, argv[3]);
    spawn("echo", 1, argc > 4 ? argv[4] : ".", &tid);
    round_trips(tid, how, bytes, 3);
    usleep(LINK_UP_US);
    round_trips(tid, how, bytes, 10);
    send_ints(tid, TAG_SETUP, (int)how, bytes, count);
    double start = now_us();
    for (int i = 0; i < count; i++) {
        send_data(tid, how, bytes);
        receive_data(tid, how, bytes);
        double end = now_us();
        took[i] = (end - start) / 2;
        start = end;
    }
    send_ints(tid, TAG_SETUP, 0, 0, 0);
    char name[64];
    snprintf(name, sizeof name, "pingpong.%s.%d", how_names[how], bytes);
    print(name, median(took, count), "us");
    free(took);
}

/* ---- a stream of messages ---- */

static void role_sink(void)
{
    for (int setup[3];;) {
        receive_ints(pvm_parent(), TAG_SETUP, setup);
        if (setup[2] == 0)
            return;
        for (int i = 0; i < setup[2]; i++)
            receive_data(pvm_parent(), (enum how)setup[0], setup[1]);
        send_ints(pvm_parent(), TAG_READY, (int)getppid(), 0, 0);
    }
}

/* Seconds for `count` messages; *daemon is the process id of the sink's daemon, which started it. */
static double stream(int tid, enum how how, int bytes, int count, int *daemon)
{
    int answer[3];
    double start = now_us();
    send_ints(tid, TAG_SETUP, (int)how, bytes, count);
    for (int i = 0; i < count; i++)
        send_data(tid, how, bytes);
    receive_ints(tid, TAG_READY, answer);
    *daemon = answer[0];
    return (now_us() - start) / 1e6;
}

static void run_rate(int argc, char **argv)
{
    enum { STREAMS = 5 };
    if (argc < 4)
        errx(2, "usage: pvmbench rate HOW BYTES COUNT [HOST]");
    enum how how = how_of(argv[1]);
    int tid, daemon, bytes = number_of(argv[2], BYTES_MAX), count = number_of(argv[3], COUNT_MAX);
    double seconds[STREAMS];
    spawn("sink", 1, argc > 4 ? argv[4] : ".", &tid);
    stream(tid, how, bytes, count / 10 + 1, &daemon);
    for (int i = 0; i < STREAMS; i++)
        seconds[i] = stream(tid, how, bytes, count, &daemon);
    send_ints(tid, TAG_SETUP, 0, 0, 0);
    char name[64];
    snprintf(name, sizeof name, "rate.%s.%d", argv[1], bytes);
    print(name, count / median(seconds, STREAMS), "messages/s");
}

/* Reads the number after `key` in /proc/PID/FILE. */
static long proc_number(int pid, const char *file, const char *key)
{
    char path[64], line[256];
    long value = -1;
    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, key, strlen(key)) == 0)
            value = atol(line + strlen(key));
    if (f)
        fclose(f);
    return value;
}

static void run_relay(int argc, char **argv)
{
    if (argc < 2)
        errx(2, "usage: pvmbench relay COUNT");
    int tid, daemon, count = number_of(argv[1], COUNT_MAX);
    spawn("sink", 1, ".", &tid);
    stream(tid, HOW_RAW, 100, count / 10 + 1, &daemon);
    long before = proc_number(daemon, "status", "VmRSS:");
    stream(tid, HOW_RAW, 100, count, &daemon);
    print("relay.growth", (double)(proc_number(daemon, "status", "VmRSS:") - before), "KiB");
    send_ints(tid, TAG_SETUP, 0, 0, 0);
}

/* ---- many tasks ---- */

static void role_answer(void)
{
    int setup[3];
    receive_ints(pvm_parent(), TAG_SETUP, setup);
    for (int i = 0; i < setup[2]; i++) {
        receive_data(pvm_parent(), (enum how)setup[0], setup[1]);
        send_ints(pvm_parent(), TAG_READY, 0, 0, 0);
    }
}

static void run_mcast(int argc, char **argv)
{
    enum { ROUNDS = 50 };
    if (argc < 3)
        errx(2, "usage: pvmbench mcast TASKS BYTES");
    int tids[TASKS_MAX], tasks = number_of(argv[1], TASKS_MAX), bytes = number_of(argv[2], BYTES_MAX), ready[3];
    double rounds[ROUNDS];
    spawn("answer", tasks, NULL, tids);
    for (int i = 0; i < tasks; i++)
        send_ints(tids[i], TAG_SETUP, HOW_RAW, bytes, ROUNDS);
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_us();
        pvm_initsend(PvmDataRaw);
        pvm_pkbyte(data, bytes, 1);
        must(pvm_mcast(tids, tasks, TAG_DATA), "pvm_mcast");
        for (int i = 0; i < tasks; i++)
            receive_ints(-1, TAG_READY, ready);
        rounds[round] = now_us() - start;
    }
    char name[64];
    snprintf(name, sizeof name, "mcast.%d.%d", tasks, bytes);
    print(name, median(rounds, ROUNDS), "us");
}

/* Forwards the given number of messages from one neighbour to the other. */
static void role_ring(void)
{
    int setup[3], neighbours[3];
    receive_ints(pvm_parent(), TAG_READY, neighbours);
    for (;;) {
        receive_ints(pvm_parent(), TAG_SETUP, setup);
        if (setup[2] == 0)
            return;
        for (int i = 0; i < setup[2]; i++) {
            receive_data(neighbours[0], HOW_RAW, setup[1]);
            send_data(neighbours[1], HOW_RAW, setup[1]);
        }
    }
}

/* us for one pass through all tasks, over `count` passes. */
static double rings(const int *tids, int others, int bytes, int count)
{
    for (int i = 0; i < others; i++)
        send_ints(tids[i], TAG_SETUP, 0, bytes, count);
    double start = now_us();
    for (int i = 0; i < count; i++) {
        send_data(tids[0], HOW_RAW, bytes);
        receive_data(tids[others - 1], HOW_RAW, bytes);
    }
    return (now_us() - start) / count;
}

static void run_ring(int argc, char **argv)
{
    if (argc < 3)
        errx(2, "usage: pvmbench ring TASKS BYTES");
    int tids[TASKS_MAX], others = number_of(argv[1], TASKS_MAX) - 1, bytes = number_of(argv[2], BYTES_MAX);
    double blocks[BLOCKS];
    if (others < 1)
        errx(2, "a ring has 2 tasks at least");
    spawn("ring", others, NULL, tids);
    for (int i = 0; i < others; i++)
        send_ints(tids[i], TAG_READY, i > 0 ? tids[i - 1] : pvm_mytid(), i < others - 1 ? tids[i + 1] : pvm_mytid(), 0);
    rings(tids, others, bytes, 3);
    usleep(LINK_UP_US);
    int count = block_count(rings(tids, others, bytes, 10));
    for (int i = 0; i < BLOCKS; i++)
        blocks[i] = rings(tids, others, bytes, count);
    for (int i = 0; i < others; i++)
        send_ints(tids[i], TAG_SETUP, 0, 0, 0);
    char name[64];
    snprintf(name, sizeof name, "ring.%d.%d", others + 1, bytes);
    print(name, median(blocks, BLOCKS), "us");
}

static void role_barrier(void)
{
    int setup[3];
    receive_ints(pvm_parent(), TAG_SETUP, setup);
    must(pvm_joingroup("pvmbench"), "pvm_joingroup");
    for (int i = 0; i < setup[1]; i++)
        must(pvm_barrier("pvmbench", setup[0]), "pvm_barrier");
    pvm_lvgroup("pvmbench");
}

static void run_barrier(int argc, char **argv)
{
    enum { ROUNDS = 500, ROUNDS_MANY = 100, MANY = 32 };
    if (argc < 2)
        errx(2, "usage: pvmbench barrier TASKS");
    int tids[TASKS_MAX], tasks = number_of(argv[1], TASKS_MAX), count = tasks > MANY ? ROUNDS_MANY : ROUNDS;
    double rounds[ROUNDS];
    must(pvm_joingroup("pvmbench"), "pvm_joingroup");
    spawn("barrier", tasks - 1, NULL, tids);
    for (int i = 0; i < tasks - 1; i++)
        send_ints(tids[i], TAG_SETUP, tasks, count + 1, 0);
    must(pvm_barrier("pvmbench", tasks), "pvm_barrier"); /* wait until all have joined */
    for (int i = 0; i < count; i++) {
        double start = now_us();
        must(pvm_barrier("pvmbench", tasks), "pvm_barrier");
        rounds[i] = now_us() - start;
    }
    pvm_lvgroup("pvmbench");
    char name[64];
    snprintf(name, sizeof name, "barrier.%d", tasks);
    print(name, median(rounds, count), "us");
}

static void role_hello(void)
{
    int unused[3];
    send_ints(pvm_parent(), TAG_READY, (int)getppid(), (int)getpid(), 0);
    receive_ints(pvm_parent(), TAG_END, unused);
}

static void say_end(const int *tids, int n)
{
    for (int i = 0; i < n; i++)
        send_ints(tids[i], TAG_END, 0, 0, 0);
}

static void run_spawn(int argc, char **argv)
{
    if (argc < 2)
        errx(2, "usage: pvmbench spawn TASKS");
    int tids[TASKS_MAX], tasks = number_of(argv[1], TASKS_MAX), ready[3];
    pvm_mytid();
    double start = now_us();
    spawn("hello", tasks, NULL, tids);
    for (int i = 0; i < tasks; i++)
        receive_ints(-1, TAG_READY, ready);
    double took = now_us() - start;
    say_end(tids, tasks);
    char name[64];
    snprintf(name, sizeof name, "spawn.%d", tasks);
    print(name, took / 1e3, "ms");
}

/* ---- matching ---- */

/* us for one message to this task and its receive by tag; the route does not depend on the waiting messages. */
static double match_us(int count)
{
    double blocks[BLOCKS];
    for (int block = 0; block < BLOCKS; block++) {
        int unused[3];
        for (int i = 0; i < count; i++)
            send_ints(pvm_mytid(), TAG_DATA, 0, 0, 0);
        send_ints(pvm_mytid(), TAG_READY, 0, 0, 0);
        receive_ints(-1, TAG_READY, unused); /* all have arrived */
        double start = now_us();
        for (int i = 0; i < count; i++)
            receive_ints(-1, TAG_DATA, unused);
        blocks[block] = (now_us() - start) / count;
    }
    return median(blocks, BLOCKS);
}

static void run_match(int argc, char **argv)
{
    enum { COUNT = 100, TAG_WAITING = 1000, TAGS = 100 };
    if (argc < 2)
        errx(2, "usage: pvmbench match WAITING");
    int waiting = number_of(argv[1], 10000000);
    print("match.0", match_us(COUNT), "us");
    for (int i = 0; i < waiting; i++)
        send_ints(pvm_mytid(), TAG_WAITING + i % TAGS, 0, 0, 0);
    char name[64];
    snprintf(name, sizeof name, "match.%d", waiting);
    print(name, match_us(COUNT), "us");
}

/* ---- daemons ---- */

/* User and system time of a process in ms. */
static double cpu_ms(int pid)
{
    char path[64], line[1024];
    unsigned long user = 0, kernel = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *f = fopen(path, "r");
    char *at = f && fgets(line, sizeof line, f) ? strrchr(line, ')') : NULL;
    if (f)
        fclose(f);
    if (!at || sscanf(at + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel) != 2)
        errx(1, "%s cannot be read", path);
    return (user + kernel) * 1e3 / sysconf(_SC_CLK_TCK);
}

static void run_idle(int argc, char **argv)
{
    enum { TASKS = 8 };
    if (argc < 2)
        errx(2, "usage: pvmbench idle SECONDS");
    int tids[TASKS], ready[3], pids[TASKS + 1];
    double before = 0, after = 0;
    spawn("hello", TASKS, NULL, tids);
    for (int i = 0; i < TASKS; i++) {
        receive_ints(-1, TAG_READY, ready);
        pids[i] = ready[1];
        pids[TASKS] = ready[0];
    }
    sleep(1);
    for (int i = 0; i <= TASKS; i++)
        before += cpu_ms(pids[i]);
    sleep((unsigned)number_of(argv[1], 3600));
    for (int i = 0; i <= TASKS; i++)
        after += cpu_ms(pids[i]);
    say_end(tids, TASKS);
    print("idle.cpu", after - before, "ms");
}

/* Tasks that have a link to this one and are idle. */
static void run_peers(int argc, char **argv)
{
    enum { WATCH_S = 2, EXCHANGES = 10 };
    if (argc < 2)
        errx(2, "usage: pvmbench peers TASKS");
    int tids[TASKS_MAX], tasks = number_of(argv[1], TASKS_MAX);
    spawn("echo", tasks, NULL, tids);
    for (int i = 0; i < tasks; i++)
        round_trips(tids[i], HOW_RAW, 8, EXCHANGES);
    sleep(1);
    double before = cpu_ms((int)getpid());
    sleep(WATCH_S);
    char name[64];
    snprintf(name, sizeof name, "peers.%d.cpu", tasks);
    print(name, cpu_ms((int)getpid()) - before, "ms");
    snprintf(name, sizeof name, "peers.%d.rss", tasks);
    print(name, (double)proc_number((int)getpid(), "status", "VmRSS:"), "KiB");
    for (int i = 0; i < tasks; i++)
        send_ints(tids[i], TAG_SETUP, 0, 0, 0);
}

/* One task on each host reports the process id of its daemon; sizes are those of an idle machine. */
static void print_daemon_sizes(void)
{
    struct pvmhostinfo *hosts;
    static int tids[TASKS_MAX];
    static double sizes[TASKS_MAX];
    int n, known = 0, ready[3];
    must(pvm_config(&n, NULL, &hosts), "pvm_config");
    for (int i = 0; i < n; i++)
        spawn("hello", 1, hosts[i].hi_name, &tids[i]);
    sleep(SETTLE_S);
    for (int i = 0; i < n; i++) {
        receive_ints(tids[i], TAG_READY, ready);
        long kib = proc_number(ready[0], "status", "VmRSS:");
        if (kib > 0) /* otherwise its /proc is not accessible here */
            sizes[known++] = (double)kib;
    }
    say_end(tids, n);
    if (known < n)
        return;
    char name[64];
    snprintf(name, sizeof name, "hosts.%d.rss", n);
    print(name, median(sizes, n), "KiB");
    snprintf(name, sizeof name, "hosts.%d.rss_max", n);
    print(name, sizes[n - 1], "KiB");
}

static void run_addhosts(int argc, char **argv)
{
    static int status[TASKS_MAX];
    int count = argc - 1;
    if (count < 1 || count > TASKS_MAX)
        errx(2, "usage: pvmbench addhosts HOST...");
    pvm_mytid();
    double start = now_us();
    int added = must(pvm_addhosts(argv + 1, count, status), "pvm_addhosts");
    double took = now_us() - start;
    for (int i = 0; i < count; i++)
        if (status[i] < 0)
            warnx("%s: %d", argv[1 + i], status[i]);
    if (added < count)
        errx(1, "only %d of %d hosts joined", added, count);
    char name[64];
    snprintf(name, sizeof name, "hosts.%d.form", count + 1);
    print(name, took / 1e3, "ms");
    print_daemon_sizes();
}

static void run_halt(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_halt();
}

/* ---- main ---- */

static const struct {
    const char *name;
    void (*run)(int argc, char **argv);
} commands[] = {
    {"pingpong", run_pingpong}, {"early", run_early},     {"typical", run_typical}, {"rate", run_rate},
    {"mcast", run_mcast},       {"barrier", run_barrier}, {"spawn", run_spawn},     {"match", run_match},
    {"relay", run_relay},       {"idle", run_idle},       {"ring", run_ring},       {"peers", run_peers},
    {"addhosts", run_addhosts}, {"halt", run_halt},
};

static const struct {
    const char *name;
    void (*run)(void);
} roles[] = {
    {"echo", role_echo},       {"sink", role_sink},   {"answer", role_answer},
    {"barrier", role_barrier}, {"hello", role_hello}, {"ring", role_ring},
};

static void run_role(const char *name)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (strcmp(roles[i].name, name) == 0)
            roles[i].run();
}

static void run_command(int argc, char **argv)
{
    const char *name = argc > 0 ? argv[0] : "";
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(commands[i].name, name) == 0) {
            commands[i].run(argc, argv);
            return;
        }
    errx(2, "usage: pvmbench pingpong|early|typical|rate|mcast|ring|barrier|spawn|match|relay|idle|peers|addhosts|halt "
            "[argument]...");
}

int main(int argc, char **argv)
{
    const char *route = getenv("PVMBENCH_ROUTE");
    if (readlink("/proc/self/exe", own_path, sizeof own_path - 1) < 0)
        err(1, "/proc/self/exe");
    data = calloc(1, BYTES_MAX);
    if (!data)
        err(1, "memory");
    must(pvm_mytid(), "no PVM daemon answers");
    pvm_setopt(PvmRoute, route && strcmp(route, "direct") == 0 ? PvmRouteDirect : PvmDontRoute);
    if (pvm_parent() > 0)
        run_role(argc > 1 ? argv[1] : "");
    else
        run_command(argc - 1, argv + 1);
    pvm_exit();
    free(data);
    return 0;
}
