/*
 * chaos - kill -9 a random task while the others exchange: chaos [-n RUNS] [-w WORKERS] [-s SEED] [-a]
 *
 *   -n  tasks to kill (default 100)
 *   -w  tasks that exchange (default 8)
 *   -s  seed of who is killed when
 *   -a  links must not be used: all goes by the daemon (what PVM_TRANSPORT=daemon is for); without it they must be
 *
 * Each run kills one worker at a random moment, waits until all others have been told by a notify, and starts another
 * in its place. Every few runs all are asked whether they have heard from all others since they were asked last: so a
 * pair that hangs is found. All messages are numbered and checked (history.h): what is missing at the end must be
 * missing from the dead. Worker 0 is never killed; its descriptors, mappings and memory must not grow, nor the
 * daemon's.
 */
#include <dirent.h>
#include <signal.h>
#include <time.h>
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/history.h"
#include "worker.h"

enum { WORKERS_MAX = 32, CHECK_EVERY = 4, AT_ONCE = 3 };

static struct {
    int runs, workers;
    unsigned seed;
    int daemon_only;
} options = {.runs = 100, .workers = 8, .seed = 1};

/* State of a worker. */
struct usage {
    int descriptors, mappings, rss_kib;
};

struct slot {
    int tid, pid; /* pid 0: no hello received yet */
    int checked;  /* the number of the last check it answered */
    int dying;    /* it is being killed: its messages no longer count */
    int reports;  /* of its death, by the surviving workers */
    int exited;   /* our own notify has come */
};

static struct {
    struct slot slots[WORKERS_MAX];
    int killed;               /* the tid to be killed now, 0: none */
    int checks;               /* requested so far */
    struct usage most;        /* of any worker */
    struct usage first, last; /* of worker 0: after settling, and at the end */
    long long messages, kib, late;
    int routes, finished;
} all;

static struct slot *slot_of(int tid)
{
    for (int i = 0; i < options.workers; i++)
        if (all.slots[i].tid == tid)
            return &all.slots[i];
    return NULL;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* ---- messages from workers ---- */

static void take_hello(struct slot *s)
{
    int pid;
    CHECK_EQ(pvm_upkint(&pid, 1, 1), 0);
    if (s)
        s->pid = pid;
}

static void take_death(struct slot *from)
{
    int tid;
    CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
    struct slot *dead = slot_of(tid);
    if (from && !from->dying && dead)
        dead->reports++;
}

static void take_status(struct slot *s)
{
    int status[4];
    CHECK_EQ(pvm_upkint(status, 4, 1), 0);
    if (!s)
        return;
    struct usage u = {status[1], status[2], status[3]};
    s->checked = status[0];
    all.most = (struct usage){larger(all.most.descriptors, u.descriptors), larger(all.most.mappings, u.mappings),
                              larger(all.most.rss_kib, u.rss_kib)};
    if (s == &all.slots[0])
        all.last = u;
}

static void take_totals(struct slot *s)
{
    int totals[4];
    CHECK(s != NULL);
    CHECK_EQ(pvm_upkint(totals, 4, 1), 0);
    all.messages += totals[0];
    all.kib += totals[1];
    all.late += totals[2];
    all.routes += totals[3];
    all.finished++;
}

/* Only killed workers may die. */
static void take_exit(void)
{
    int tid;
    CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
    struct slot *s = slot_of(tid);
    if (!s || !s->dying)
        check_failed(__FILE__, __LINE__, "worker t%x died, which nobody killed", tid);
    s->exited = 1;
}

/* Waits for one message; detects a stuck worker. */
static void take_one(const char *waiting_for)
{
    struct timeval limit = {.tv_sec = check_limit_s()};
    int tag, from, mid = pvm_trecv(-1, -1, &limit);
    if (mid <= 0)
        check_failed(__FILE__, __LINE__, "nothing came for %d s, waiting for %s", check_limit_s(), waiting_for);
    CHECK_EQ(pvm_bufinfo(mid, NULL, &tag, &from), 0);
    if (tag == TAG_HELLO)
        take_hello(slot_of(from));
    else if (tag == TAG_DEATH)
        take_death(slot_of(from));
    else if (tag == TAG_STATUS)
        take_status(slot_of(from));
    else if (tag == TAG_TOTALS)
        take_totals(slot_of(from));
    else if (tag == TAG_EXIT)
        take_exit();
    else
        check_failed(__FILE__, __LINE__, "unexpected tag %d from t%x", tag, from);
}

static int count_staying(void)
{
    int n = 0;
    for (int i = 0; i < options.workers; i++)
        n += !all.slots[i].dying;
    return n;
}

/* ---- messages to workers ---- */

static void start_worker(int i)
{
    int tid, others[WORKERS_MAX + 1], count = 0;
    check_spawn("worker", NULL, ".", 1, &tid);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
    for (int k = 0; k < options.workers; k++)
        if (k != i && all.slots[k].tid && !all.slots[k].dying)
            others[count++] = all.slots[k].tid;
    all.slots[i] = (struct slot){.tid = tid, .checked = all.checks};
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&count, 1, 1), 0);
    CHECK_EQ(pvm_pkint(others, count, 1), 0);
    CHECK_EQ(pvm_send(tid, TAG_PEERS), 0);
    int one = 1;
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&one, 1, 1), 0);
    CHECK_EQ(pvm_pkint(&tid, 1, 1), 0);
    if (count)
        CHECK_EQ(pvm_mcast(others, count, TAG_PEERS), 0);
}

static void tell_all(int tag)
{
    int tids[WORKERS_MAX];
    for (int i = 0; i < options.workers; i++)
        tids[i] = all.slots[i].tid;
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&all.checks, 1, 1), 0);
    CHECK_EQ(pvm_mcast(tids, options.workers, tag), 0);
}

/* ---- runs ---- */

static void check_all(void)
{
    all.checks++;
    tell_all(TAG_CHECK);
    double end = check_now() + check_limit_s();
    for (int i = 0; i < options.workers; i++)
        while (all.slots[i].checked < all.checks) {
            if (check_now() > end)
                check_failed(__FILE__, __LINE__, "worker %d (t%x) has not heard from all its peers", i,
                             all.slots[i].tid);
            take_one("a word from all workers");
        }
}

static void nap(unsigned us)
{
    struct timespec t = {.tv_nsec = (long)us * 1000};
    nanosleep(&t, NULL);
}

/* Chooses the worker to kill in this round; from now on its messages do not count. */
static int choose_victims(unsigned *state, int most, struct slot *victims[AT_ONCE])
{
    int count = 1 + (int)(check_random(state) % AT_ONCE), chosen = 0;
    if (count > most)
        count = most;
    if (count > options.workers - 1)
        count = options.workers - 1;
    while (chosen < count) {
        struct slot *s = &all.slots[1 + check_random(state) % (unsigned)(options.workers - 1)];
        if (s->dying)
            continue;
        s->dying = 1;
        s->reports = s->exited = 0;
        victims[chosen++] = s;
    }
    return count;
}

/* Kills at any moment: during the exchange, or while the newest worker is still starting. */
static void kill_at_random(struct slot *s, unsigned *state)
{
    nap(check_random(state) % 4000);
    if (s->pid)
        CHECK_EQ(kill(s->pid, SIGKILL), 0);
    else
        CHECK_EQ(pvm_sendsig(s->tid, SIGKILL), 0);
}

static void wait_for_notifies(const struct slot *s, int staying)
{
    double end = check_now() + check_limit_s();
    while (s->reports < staying || !s->exited) {
        if (check_now() > end)
            check_failed(__FILE__, __LINE__, "t%x was killed; %d of %d others had a notify of it, and %d of 1 masters",
                         s->tid, s->reports, staying, s->exited);
        take_one("notifies of those that were killed");
    }
    CHECK_EQ(s->reports, staying);
}

/* Returns the number of workers killed: up to `most`. */
static int kill_some(unsigned *state, int most)
{
    struct slot *victims[AT_ONCE];
    int count = choose_victims(state, most, victims), staying = count_staying();
    for (int i = 0; i < count; i++)
        kill_at_random(victims[i], state);
    for (int i = 0; i < count; i++)
        wait_for_notifies(victims[i], staying);
    for (int i = 0; i < count; i++)
        start_worker((int)(victims[i] - all.slots));
    return count;
}

static struct usage usage_of_daemon(pid_t daemon)
{
    char path[64];
    int n = 0;
    snprintf(path, sizeof path, "/proc/%d/fd", (int)daemon);
    DIR *d = opendir(path);
    CHECK(d != NULL);
    while (readdir(d))
        n++;
    closedir(d);
    return (struct usage){.descriptors = n, .rss_kib = (int)check_rss_kib(daemon)};
}

/* Allowed growth: links that were just being made, and the C library's free memory. */
static void check_growth(const char *who, struct usage before, struct usage after)
{
    printf("%s: descriptors %d then %d, mappings %d then %d, resident %d then %d KiB\n", who, before.descriptors,
           after.descriptors, before.mappings, after.mappings, before.rss_kib, after.rss_kib);
    if (after.descriptors > before.descriptors + 3 * options.workers)
        check_failed(__FILE__, __LINE__, "%s leaks descriptors", who);
    if (after.mappings > before.mappings + 12 * options.workers)
        check_failed(__FILE__, __LINE__, "%s leaks mappings of memfds", who);
    if (after.rss_kib > before.rss_kib + 32 * 1024)
        check_failed(__FILE__, __LINE__, "%s leaks memory", who);
}

static void finish(void)
{
    int tids[WORKERS_MAX];
    for (int i = 0; i < options.workers; i++)
        tids[i] = all.slots[i].tid;
    CHECK_EQ(pvm_notify(PvmTaskExit | PvmNotifyCancel, TAG_EXIT, options.workers, tids), 0);
    tell_all(TAG_END);
    double end = check_now() + check_limit_s();
    while (all.finished < options.workers) {
        struct timeval limit = {.tv_sec = 1};
        if (check_now() > end)
            check_failed(__FILE__, __LINE__, "%d of %d workers finished", all.finished, options.workers);
        int tag, from, mid = pvm_trecv(-1, -1, &limit);
        if (mid <= 0)
            continue;
        CHECK_EQ(pvm_bufinfo(mid, NULL, &tag, &from), 0);
        if (tag == TAG_TOTALS)
            take_totals(slot_of(from));
    }
    check_wait_exit(options.workers, tids);
}

static void parse(int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "n:w:s:a")) != -1;) {
        if (c == 'n')
            options.runs = atoi(optarg);
        else if (c == 'w')
            options.workers = atoi(optarg);
        else if (c == 's')
            options.seed = (unsigned)atoi(optarg);
        else if (c == 'a')
            options.daemon_only = 1;
        else
            exit(2);
    }
    if (options.workers < 2 || options.workers > WORKERS_MAX || options.runs < 0) {
        fprintf(stderr, "usage: chaos [-n RUNS] [-w WORKERS (2 to %d)] [-s SEED] [-a]\n", WORKERS_MAX);
        exit(2);
    }
}

static void master(int argc, char **argv)
{
    parse(argc, argv);
    unsigned state = options.seed;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < options.workers; i++)
        start_worker(i);
    pid_t daemon = check_daemon_of(all.slots[0].tid);
    check_all();
    struct usage daemon_first = usage_of_daemon(daemon);
    double began = check_now(), said = began;
    int killed = 0;
    for (int round = 0; killed < options.runs; round++) {
        killed += kill_some(&state, options.runs - killed);
        if (round % CHECK_EVERY == CHECK_EVERY - 1)
            check_all();
        if (!all.first.descriptors && killed >= options.runs / 10)
            all.first = all.last;
        if (check_now() > said + 10) {
            said = check_now();
            printf("%d of %d killed, %.0f s\n", killed, options.runs, said - began);
        }
    }
    double seconds = check_now() - began;
    check_all();
    check_growth("worker 0", all.first.descriptors ? all.first : all.last, all.last);
    check_growth("the daemon", daemon_first, usage_of_daemon(daemon));
    finish();
    printf("%d kills in %.1f s; %lld messages of survivors to survivors, %lld MiB, all in order; %lld after the "
           "sender's notify; %d links; at most %d descriptors, %d mappings, %d KiB resident\n",
           options.runs, seconds, all.messages, all.kib / 1024, all.late, all.routes, all.most.descriptors,
           all.most.mappings, all.most.rss_kib);
    if (options.daemon_only ? all.routes : !all.routes)
        check_failed(__FILE__, __LINE__, "%d direct links were made", all.routes);
}

static const struct check_role roles[] = {{"worker", worker}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
