/*
 * soak - what a task keeps for messages does not grow with time: soak [-t SECONDS] [-w WORKERS] [-b BYTES] [-s SEED]
 * [-g KIB]
 *
 *   -t  how long the load runs (default 20)
 *   -w  tasks that stay and exchange with each other (default 4)
 *   -b  the longest message (default 4 MiB): with short ones there are many more
 *   -s  seed of sizes, routes, encodings and of who leaves how
 *   -g  fails if the memory of the staying tasks grows by more than that per minute in the second half; 0: only prints
 *
 * The load: messages of all sizes up to 4 MiB to all others, Raw, Default, InPlace, pvm_psend and pvm_mcast, while each
 * task changes its PvmRoute; and visitors, which exchange with all, and leave or are killed. All messages are numbered
 * and checked (history.h). When it is over, the tasks wait, and must give back what they have kept for reuse.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/history.h"

enum { TAG_PEERS = 1, TAG_END, TAG_BYE, TAG_TOTALS, TAG_DATA, TAG_ACK, TAG_CAST, TAG_LAST, TAG_EXIT };
enum {
    WORKERS_MAX = 16,
    PEERS_MAX = 64,
    WINDOW = 24,
    ACK_EVERY = 8,
    BYTES_MAX = 4 << 20,
    CASTS_MAX = 8,
    SAMPLES_MAX = 4096,
    SAMPLE_S = 2,
    VISIT_MESSAGES = 200,
    IDLE_KIB = 1024,
};

/* ---- what a process keeps ---- */

/* Bytes of message memory that has pages: the files of its arenas, in use or kept for reuse. */
static long arena_kib(pid_t pid)
{
    char folder[64], path[512], name[64];
    long kib = 0;
    snprintf(folder, sizeof folder, "/proc/%d/fd", (int)pid);
    DIR *d = opendir(folder);
    CHECK(d != NULL);
    for (struct dirent *e; (e = readdir(d));) {
        struct stat st;
        snprintf(path, sizeof path, "%s/%.200s", folder, e->d_name);
        ssize_t n = readlink(path, name, sizeof name - 1);
        name[n > 0 ? n : 0] = '\0';
        if (strncmp(name, "/memfd:pvm-messages", 19) == 0 && stat(path, &st) == 0)
            kib += (long)st.st_blocks / 2;
    }
    closedir(d);
    return kib;
}

/* Its resident memory, where a shared page counts in part. */
static long pss_kib(pid_t pid)
{
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *f = fopen(path, "r");
    while (f && kib < 0 && fgets(line, sizeof line, f))
        sscanf(line, "Pss: %ld kB", &kib);
    if (f)
        fclose(f);
    return kib;
}

/* ---- a task of the load ---- */

struct peer {
    int tid; /* 0: unused */
    int dead, last;
    unsigned sent, acked, told;
};

static struct {
    struct peer peers[PEERS_MAX];
    struct history history, casts; /* of messages to me alone, and to all who stay */
    int staying[WORKERS_MAX], staying_count, bytes_max;
    int cast_sent, cast_acks;
    int ending;
    unsigned state;
} me;

static struct peer *find(int tid)
{
    for (int i = 0; i < PEERS_MAX; i++)
        if (me.peers[i].tid == tid)
            return &me.peers[i];
    return NULL;
}

/* A free slot, or that of the visitor which ended longest ago. */
static struct peer *take_slot(void)
{
    static int last;
    struct peer *p = find(0);
    for (int i = 0; i < PEERS_MAX && !p; i++) {
        last = (last + 1) % PEERS_MAX;
        if (me.peers[last].dead)
            p = &me.peers[last];
    }
    CHECK(p != NULL);
    history_forget(&me.history, p->tid);
    return p;
}

static struct peer *find_or_add(int tid)
{
    struct peer *p = find(tid);
    if (p)
        return p;
    p = take_slot();
    *p = (struct peer){.tid = tid};
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
    return p;
}

static int is_live(const struct peer *p)
{
    return p->tid && !p->dead;
}

static int is_visitor(void)
{
    return !me.staying_count;
}

static unsigned below(unsigned limit)
{
    return check_random(&me.state) % limit;
}

static int random_size(void)
{
    static const int most[] = {100, 100, 100, 100, 500, 500, 2000, 5000};
    unsigned dice = below(4000), limit = dice < 3900   ? (unsigned)most[dice % 8]
                                         : dice < 3985 ? 70000
                                         : dice < 3998 ? 1 << 20
                                                       : BYTES_MAX;
    limit = limit > (unsigned)me.bytes_max ? (unsigned)me.bytes_max : limit;
    return HISTORY_BYTES_MIN + (int)below(limit - HISTORY_BYTES_MIN);
}

static void pack(const char *data, int size, unsigned how)
{
    static const int encodings[] = {PvmDataDefault, PvmDataRaw, PvmDataInPlace};
    CHECK(pvm_initsend(encodings[how % 3]) > 0);
    CHECK_EQ(pvm_pkbyte((char *)data, size, 1), 0);
}

static void send_data(struct peer *p)
{
    static char data[BYTES_MAX];
    int size = random_size();
    unsigned how = below(4);
    history_write(data, (size_t)size, pvm_mytid(), p->tid, p->sent++);
    if (how == 3) {
        CHECK_EQ(pvm_psend(p->tid, TAG_DATA, data, size, PVM_BYTE), 0);
        return;
    }
    pack(data, size, how);
    CHECK_EQ(pvm_send(p->tid, TAG_DATA), 0);
}

/* To all who stay at once. The next one is sent when all have acknowledged this one. */
static void send_cast(void)
{
    static char data[BYTES_MAX];
    int size = random_size();
    history_write(data, (size_t)size, pvm_mytid(), 1, (unsigned)me.cast_sent++);
    pack(data, size, below(3));
    CHECK_EQ(pvm_mcast(me.staying, me.staying_count, TAG_CAST), 0);
    me.cast_acks = me.staying_count - 1;
}

static void send_ints(int tid, int tag, int *values, int n)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(values, n, 1), 0);
    CHECK_EQ(pvm_send(tid, tag), 0);
}

static char *body_of(int bytes)
{
    static char data[BYTES_MAX];
    CHECK(bytes <= BYTES_MAX);
    CHECK_EQ(pvm_upkbyte(data, bytes, 1), 0);
    return data;
}

static void check_history(const char *wrong)
{
    if (wrong)
        check_failed(__FILE__, __LINE__, "%s", wrong);
}

static void take_data(int from, int bytes)
{
    struct peer *p = find_or_add(from);
    check_history(history_read(&me.history, from, body_of(bytes), (size_t)bytes));
    int count = (int)history_count(&me.history, from);
    if ((unsigned)count - p->told < ACK_EVERY)
        return;
    p->told = (unsigned)count;
    send_ints(from, TAG_ACK, &count, 1);
}

static void take_cast(int from, int bytes)
{
    int of_cast = 0;
    check_history(history_read(&me.casts, from, body_of(bytes), (size_t)bytes));
    send_ints(from, TAG_ACK, &of_cast, 1);
}

static void take_ack(int from)
{
    int count;
    CHECK_EQ(pvm_upkint(&count, 1, 1), 0);
    if (!count)
        me.cast_acks--;
    else
        find_or_add(from)->acked = (unsigned)count;
}

static void take_peers(void)
{
    int n, tids[WORKERS_MAX];
    CHECK_EQ(pvm_upkint((int *)&me.state, 1, 1), 0);
    me.state += (unsigned)pvm_mytid() * 2654435761u;
    CHECK_EQ(pvm_upkint(&me.bytes_max, 1, 1), 0);
    CHECK_EQ(pvm_upkint(&me.staying_count, 1, 1), 0);
    CHECK_EQ(pvm_upkint(&n, 1, 1), 0);
    CHECK_EQ(pvm_upkint(tids, n, 1), 0);
    memcpy(me.staying, tids, sizeof tids);
    for (int i = 0; i < n; i++)
        if (tids[i] != pvm_mytid())
            find_or_add(tids[i]);
}

static void take_exit(void)
{
    int tid;
    CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
    struct peer *p = find(tid);
    if (p)
        p->dead = 1;
}

static void take(int mid)
{
    int bytes, tag, from;
    CHECK_EQ(pvm_bufinfo(mid, &bytes, &tag, &from), 0);
    if (tag == TAG_DATA)
        take_data(from, bytes);
    else if (tag == TAG_CAST)
        take_cast(from, bytes);
    else if (tag == TAG_ACK)
        take_ack(from);
    else if (tag == TAG_PEERS)
        take_peers();
    else if (tag == TAG_EXIT)
        take_exit();
    else if (tag == TAG_LAST)
        find_or_add(from)->last = 1;
    else if (tag == TAG_END)
        me.ending = 1;
    else
        check_failed(__FILE__, __LINE__, "unexpected tag %d from t%x", tag, from);
}

static void wait_for_one(void)
{
    struct timeval limit = {.tv_sec = check_limit_s()};
    int mid = pvm_trecv(-1, -1, &limit);
    if (mid <= 0)
        check_failed(__FILE__, __LINE__, "nothing came for %d s", check_limit_s());
    take(mid);
}

static struct peer *choose(void)
{
    unsigned start = below(PEERS_MAX);
    for (unsigned i = 0; i < PEERS_MAX; i++) {
        struct peer *p = &me.peers[(start + i) % PEERS_MAX];
        if (is_live(p) && !p->last && p->sent - p->acked < WINDOW)
            return p;
    }
    return NULL;
}

static void change_route(void)
{
    static const int routes[] = {PvmRouteDirect, PvmAllowDirect, PvmRouteDirect, PvmDontRoute};
    pvm_setopt(PvmRoute, routes[below(4)]);
}

static void exchange(void)
{
    int mid;
    while ((mid = pvm_nrecv(-1, -1)) > 0)
        take(mid);
    struct peer *p = me.ending ? NULL : choose();
    if (p)
        send_data(p);
    else if (!me.ending)
        wait_for_one();
    if (!is_visitor() && !me.ending && !me.cast_acks && !below(64))
        send_cast();
    if (!below(2000))
        change_route();
}

static void begin(void)
{
    history_init(&me.history, pvm_mytid());
    history_init(&me.casts, 1);
    pvm_setopt(PvmRoute, PvmRouteDirect);
    check_receive(pvm_parent(), TAG_PEERS);
    take_peers();
}

static void say_last(void)
{
    int nothing = 0;
    for (int i = 0; i < PEERS_MAX; i++)
        if (is_live(&me.peers[i]))
            send_ints(me.peers[i].tid, TAG_LAST, &nothing, 1);
}

static int all_last(void)
{
    for (int i = 0; i < PEERS_MAX; i++)
        if (is_live(&me.peers[i]) && !me.peers[i].last)
            return 0;
    return 1;
}

static void worker(int argc, char **argv)
{
    (void)argc, (void)argv;
    begin();
    while (!me.ending)
        exchange();
    say_last();
    while (!all_last())
        wait_for_one();
    long totals[] = {(long)(me.history.messages + me.casts.messages), (long)(me.history.bytes + me.casts.bytes)};
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pklong(totals, 2, 1), 0);
    CHECK_EQ(pvm_send(pvm_parent(), TAG_TOTALS), 0);
    check_receive(pvm_parent(), TAG_BYE);
    history_free(&me.history);
    history_free(&me.casts);
}

/* Ends in the middle of everything. */
static void visitor(int argc, char **argv)
{
    (void)argc, (void)argv;
    begin();
    while (!me.ending && me.history.messages < VISIT_MESSAGES)
        exchange();
    history_free(&me.history);
    if (below(2))
        kill(getpid(), SIGKILL);
}

/* ---- the master ---- */

static struct {
    int seconds, workers, bytes_max;
    unsigned seed;
    long growth_kib;
} options = {.seconds = 20, .workers = 4, .bytes_max = BYTES_MAX, .seed = 1};

static int tids[WORKERS_MAX];
static pid_t pids[WORKERS_MAX];
static int visits;

struct sample {
    double at_s;
    long rss_kib, pss_kib, arena_kib; /* mean of the staying tasks */
};

static struct sample samples[SAMPLES_MAX];
static int sample_count;

static void introduce(int tid, int stays)
{
    int n = stays ? options.workers : 0;
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint((int *)&options.seed, 1, 1), 0);
    CHECK_EQ(pvm_pkint(&options.bytes_max, 1, 1), 0);
    CHECK_EQ(pvm_pkint(&n, 1, 1), 0);
    CHECK_EQ(pvm_pkint(&options.workers, 1, 1), 0);
    CHECK_EQ(pvm_pkint(tids, options.workers, 1), 0);
    CHECK_EQ(pvm_send(tid, TAG_PEERS), 0);
}

static void tell_all(int tag, int value)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&value, 1, 1), 0);
    CHECK_EQ(pvm_mcast(tids, options.workers, tag), 0);
}

static int start_visitor(void)
{
    int tid;
    check_spawn("visitor", NULL, ".", 1, &tid);
    introduce(tid, 0);
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
    visits++;
    return tid;
}

static struct sample *take_sample(double at_s)
{
    struct sample *s = &samples[sample_count < SAMPLES_MAX ? sample_count++ : SAMPLES_MAX - 1];
    *s = (struct sample){.at_s = at_s};
    for (int i = 0; i < options.workers; i++) {
        s->rss_kib += check_rss_kib(pids[i]) / options.workers;
        s->pss_kib += pss_kib(pids[i]) / options.workers;
        s->arena_kib += arena_kib(pids[i]) / options.workers;
    }
    printf("%5.0f s: resident %ld KiB, its share %ld, message memory %ld; %d visits\n", at_s, s->rss_kib, s->pss_kib,
           s->arena_kib, visits);
    return s;
}

/* KiB per minute of the second half of the samples, by least squares. */
static double slope(void)
{
    double n = 0, t = 0, v = 0, tt = 0, tv = 0;
    for (int i = sample_count / 2; i < sample_count; i++) {
        double x = samples[i].at_s / 60, y = (double)samples[i].pss_kib;
        n++, t += x, v += y, tt += x * x, tv += x * y;
    }
    double spread = n * tt - t * t;
    return spread > 0 ? (n * tv - t * v) / spread : 0;
}

static void run_load(double seconds)
{
    double start = check_now(), next = start + SAMPLE_S;
    int guest = start_visitor();
    for (double now; (now = check_now()) < start + seconds;) {
        struct timeval limit = {.tv_usec = 100000};
        int tid, mid = pvm_trecv(-1, TAG_EXIT, &limit);
        if (mid > 0) {
            CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
            if (tid != guest)
                check_failed(__FILE__, __LINE__, "t%x ended, which should stay", tid);
            guest = start_visitor();
        }
        if (now >= next) {
            take_sample(now - start);
            next += SAMPLE_S;
        }
    }
    CHECK_EQ(pvm_kill(guest), 0);
    check_receive(-1, TAG_EXIT);
}

/* The tasks sleep in pvm_trecv(). */
static void wait_until_small(void)
{
    double end = check_now() + check_limit_s() / 2;
    for (int i = 0; i < options.workers; i++) {
        while (arena_kib(pids[i]) > IDLE_KIB && check_now() < end)
            check_sleep_ms(50);
        printf("worker %d keeps %ld KiB for messages\n", i, arena_kib(pids[i]));
        CHECK(arena_kib(pids[i]) <= IDLE_KIB);
    }
}

static void end_workers(void)
{
    long messages = 0, bytes = 0;
    CHECK_EQ(pvm_notify(PvmTaskExit | PvmNotifyCancel, TAG_EXIT, options.workers, tids), 0);
    tell_all(TAG_END, 0);
    for (int i = 0; i < options.workers; i++) {
        long totals[2];
        check_receive(tids[i], TAG_TOTALS);
        CHECK_EQ(pvm_upklong(totals, 2, 1), 0);
        messages += totals[0];
        bytes += totals[1];
    }
    printf("%ld messages, %ld MiB, checked\n", messages, bytes >> 20);
    wait_until_small();
    tell_all(TAG_BYE, 0);
    check_wait_exit(options.workers, tids);
}

static void parse(int argc, char **argv)
{
    for (int c; (c = getopt(argc, argv, "t:w:b:s:g:")) != -1;) {
        if (c == 't')
            options.seconds = atoi(optarg);
        else if (c == 'w')
            options.workers = atoi(optarg);
        else if (c == 'b')
            options.bytes_max = atoi(optarg);
        else if (c == 's')
            options.seed = (unsigned)atoi(optarg);
        else if (c == 'g')
            options.growth_kib = atol(optarg);
        else
            exit(2);
    }
    int is_size = options.bytes_max > HISTORY_BYTES_MIN && options.bytes_max <= BYTES_MAX;
    if (options.workers < 2 || options.workers > WORKERS_MAX || options.seconds < 1 || !is_size) {
        fprintf(stderr, "usage: soak [-t SECONDS] [-w WORKERS (2 to %d)] [-b BYTES (%d to %d)] [-s SEED] [-g KIB]\n",
                WORKERS_MAX, HISTORY_BYTES_MIN + 1, BYTES_MAX);
        exit(2);
    }
}

static void master(int argc, char **argv)
{
    parse(argc, argv);
    check_spawn("worker", NULL, ".", options.workers, tids);
    for (int i = 0; i < options.workers; i++) {
        pids[i] = check_pid_of(tids[i]);
        introduce(tids[i], 1);
    }
    CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, options.workers, tids), 0);
    run_load(options.seconds);
    double growth = slope();
    printf("the second half: %.0f KiB more per minute\n", growth);
    if (options.growth_kib && growth > (double)options.growth_kib)
        check_failed(__FILE__, __LINE__, "the memory of the tasks grows by %.0f KiB per minute", growth);
    end_workers();
}

static const struct check_role roles[] = {{"worker", worker}, {"visitor", visitor}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
