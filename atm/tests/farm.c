/*
 * farm.c - a master and workers, to see in virtual time what takes time and what overlaps.
 *
 *   farm overlap MS    each of 2 to 16 workers gets a task, computes for MS and answers. All computing must overlap:
 *                      a round may take 5 % longer than the longest, for tasks of more than one byte 5 % longer than
 *                      that and the messages alone, which an equal round without computing shows. Exit code 1 if it
 *                      does not.
 *   farm idle          programs that compute nothing. Prints the nanoseconds that each takes: the least of some runs,
 *                      because interrupts and page faults in the program itself can only add to it.
 *   farm deadlock      waits for a message that nobody sends.
 *   farm leave         one worker leaves PVM and lives on; the others go on with the master.
 *
 * Computing is counted PVM_ATM_CPU times. There is one worker on each host but the first.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "pvm3.h"

enum { TAG_TASK = 1, TAG_ANSWER, TAG_RING, TAG_PING };
enum { WORKERS_MAX = 16, BYTES_MAX = 1 << 20, ROUNDS = 10, RUNS = 10, ELEMENTS = 1000, LOOKS = 90, LEAVE = -2 };

static int tids[WORKERS_MAX], workers;
static char data[BYTES_MAX];

static long long now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static double now_s(void)
{
    return (double)now_ns(CLOCK_MONOTONIC) / 1e9;
}

static void must(int rc, const char *what)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "farm: %s: %s\n", what, pvm_errlist[-rc]);
    pvm_exit();
    exit(1);
}

/* ---- a worker ---- */

/* How often processor time counts. With 0 tasks compute by sleeping, which takes exactly as long. */
static double factor(void)
{
    return atof(getenv("PVM_ATM_CPU"));
}

static void rest(double seconds)
{
    struct timespec t = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&t, NULL);
}

/* Returns the microseconds that it took. */
static int compute(int us)
{
    long long start_ns, now;
    if (!us || factor() == 0) {
        rest(us * 1e-6);
        return us;
    }
    start_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    do
        now = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    while (now < start_ns + us * 1000LL);
    return (int)((now - start_ns) / 1000);
}

static void send_bytes(int to, int tag, int bytes)
{
    must(pvm_initsend(PvmDataRaw), "pvm_initsend");
    must(pvm_pkbyte(data, bytes, 1), "pvm_pkbyte");
    must(pvm_send(to, tag), "pvm_send");
}

static void leave(void)
{
    pvm_exit();
    for (;;)
        pause();
}

/* A task says how long to compute. A ring's message goes on to the worker that it names. */
static int work(int master)
{
    for (;;) {
        int id = pvm_recv(-1, -1), bytes, tag, us, next;
        must(id, "pvm_recv");
        pvm_bufinfo(id, &bytes, &tag, NULL);
        if (tag == TAG_TASK) {
            must(pvm_upkint(&us, 1, 1), "pvm_upkint");
            must(pvm_upkbyte(data, bytes - (int)sizeof us, 1), "pvm_upkbyte");
            if (us == LEAVE)
                leave();
            if (us < 0)
                break;
            us = compute(us);
            must(pvm_initsend(PvmDataRaw), "pvm_initsend");
            pvm_pkint(&us, 1, 1);
            must(pvm_send(master, TAG_ANSWER), "pvm_send");
        } else if (tag == TAG_PING) {
            must(pvm_upkbyte(data, bytes, 1), "pvm_upkbyte");
            send_bytes(master, TAG_PING, bytes);
        } else {
            must(pvm_upkint(tids, workers = bytes / (int)sizeof *tids, 1), "pvm_upkint");
            next = tids[0];
            must(pvm_initsend(PvmDataRaw), "pvm_initsend");
            pvm_pkint(tids + 1, workers - 1, 1);
            must(pvm_send(workers > 1 ? next : master, TAG_RING), "pvm_send");
        }
    }
    pvm_exit();
    return 0;
}

/* ---- the master ---- */

static void give(int worker, int us, int bytes)
{
    must(pvm_initsend(PvmDataRaw), "pvm_initsend");
    pvm_pkint(&us, 1, 1);
    must(pvm_pkbyte(data, bytes, 1), "pvm_pkbyte");
    must(pvm_send(worker, TAG_TASK), "pvm_send");
}

struct result {
    double total_s, sent_s; /* until all have answered; until all was sent */
    int longest_us;         /* processor time of a worker */
};

static struct result play_round(int n, int us, int bytes)
{
    struct result r = {0};
    double start_s = now_s();
    for (int i = 0; i < n; i++)
        give(tids[i], us, bytes);
    r.sent_s = now_s() - start_s;
    for (int i = 0; i < n; i++) {
        int took_us;
        must(pvm_recv(-1, TAG_ANSWER), "pvm_recv");
        pvm_upkint(&took_us, 1, 1);
        r.longest_us = took_us > r.longest_us ? took_us : r.longest_us;
    }
    r.total_s = now_s() - start_s;
    return r;
}

/* Before each round all rest, so that acknowledgements and what is known of the links are as old. */
static int check_round(int n, int us, int bytes)
{
    double unit_s = factor() == 0 ? 1e-6 : 1e-6 * factor();
    rest(us * unit_s);
    struct result own = play_round(n, 0, bytes);
    rest(us * unit_s);
    struct result r = play_round(n, us, bytes);
    double longest_s = r.longest_us * unit_s;
    int late = r.total_s > 1.05 * (longest_s + (bytes > 1 ? own.total_s : 0)), early = r.total_s < longest_s;
    printf("%2d workers, %6d bytes, %.4f s: %.4f s, sent after %.4f s; without computing %.4f s%s\n", n, bytes,
           longest_s, r.total_s, r.sent_s, own.total_s, late || early ? ": WRONG" : "");
    return late || early;
}

static int check_overlap(int us)
{
    static const struct {
        int workers, bytes;
    } rounds[] = {{2, 1},    {16, 1},    {2, 4096},  {3, 4096},   {4, 4096},
                  {8, 4096}, {16, 4096}, {4, 30000}, {3, 250000}, {16, 250000}};
    int bad = 0;
    for (unsigned i = 0; i < sizeof rounds / sizeof *rounds; i++)
        bad |= check_round(rounds[i].workers < workers ? rounds[i].workers : workers, us, rounds[i].bytes);
    return bad;
}

/* ---- programs that compute nothing ---- */

static void ping_pong(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        send_bytes(tids[0], TAG_PING, 1000);
        must(pvm_recv(tids[0], TAG_PING), "pvm_recv");
        pvm_upkbyte(data, 1000, 1);
    }
}

static void ring(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        must(pvm_initsend(PvmDataRaw), "pvm_initsend");
        pvm_pkint(tids + 1, workers - 1, 1);
        must(pvm_send(tids[0], TAG_RING), "pvm_send");
        must(pvm_recv(-1, TAG_RING), "pvm_recv");
    }
}

static void farm(void)
{
    for (int i = 0; i < ROUNDS; i++)
        play_round(workers, 0, 1000);
}

static void pack(void)
{
    must(pvm_initsend(PvmDataDefault), "pvm_initsend");
    for (int i = 0; i < ELEMENTS; i++)
        pvm_pkbyte(data, 1, 1);
    must(pvm_send(tids[0], TAG_PING), "pvm_send");
    must(pvm_recv(tids[0], TAG_PING), "pvm_recv");
    for (int i = 0; i < ELEMENTS; i++)
        pvm_upkbyte(data, 1, 1);
}

static void look(void)
{
    send_bytes(tids[0], TAG_PING, 1000);
    for (int i = 0; i < LOOKS; i++)
        now_s();
    must(pvm_recv(tids[0], TAG_PING), "pvm_recv");
}

static int run_idle(void)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } programs[] = {{"ping-pong", ping_pong}, {"ring", ring}, {"farm", farm}, {"pack", pack}, {"look", look}};
    enum { COUNT = sizeof programs / sizeof *programs };
    long long least_ns[COUNT];
    for (int i = 0; i < COUNT; i++) {
        programs[i].run(); /* once before, for the links */
        least_ns[i] = -1;
        for (int k = 0; k < RUNS; k++) {
            long long start_ns = now_ns(CLOCK_MONOTONIC);
            programs[i].run();
            long long took_ns = now_ns(CLOCK_MONOTONIC) - start_ns;
            least_ns[i] = least_ns[i] < 0 || took_ns < least_ns[i] ? took_ns : least_ns[i];
        }
    }
    for (int i = 0; i < COUNT; i++)
        printf("%-9s %lld\n", programs[i].name, least_ns[i]);
    return 0;
}

static int run_on(void)
{
    give(tids[--workers], LEAVE, 0);
    for (int i = 0; i < ROUNDS; i++)
        play_round(workers, 1000, 1000);
    return 0;
}

/* Places one worker on each further host, and sets up the links. */
static void start(const char *program)
{
    struct pvmhostinfo *hosts;
    int count;
    must(pvm_config(&count, NULL, &hosts), "pvm_config");
    for (workers = 0; workers < count - 1 && workers < WORKERS_MAX; workers++)
        if (pvm_spawn((char *)program, NULL, PvmTaskHost, hosts[workers + 1].hi_name, 1, &tids[workers]) != 1)
            must(tids[workers], "pvm_spawn");
    play_round(workers, 0, 1);
    play_round(workers, 0, 1);
}

int main(int argc, char **argv)
{
    must(pvm_mytid(), "pvm_mytid");
    pvm_setopt(PvmRoute, PvmRouteDirect);
    if (pvm_parent() > 0)
        return work(pvm_parent());
    if (argc > 1 && !strcmp(argv[1], "deadlock"))
        must(pvm_recv(-1, TAG_ANSWER), "pvm_recv");
    start(argv[0]);
    int bad = argc > 1 && !strcmp(argv[1], "leave")     ? run_on()
              : argc > 2 && !strcmp(argv[1], "overlap") ? check_overlap(atoi(argv[2]) * 1000)
                                                        : run_idle();
    for (int i = 0; i < workers; i++)
        give(tids[i], -1, 0);
    pvm_exit();
    return bad;
}
