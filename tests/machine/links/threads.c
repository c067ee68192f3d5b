/*
 * threads - several threads of one task call PVM at the same time: threads CASE [THREADS PEERS ROUNDS].
 *
 * All cases but `shared` are for PVM_THREADS=1, where each thread has its own active buffers and its own context.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include "tests/machine/runner/check.h"

enum { TAG_STOP = 1, TAG_MANY, TAG_GO, TAG_DONE, TAG_CALL, TAG_ANSWER, TAG_OWN = 1000 };
enum { THREADS_MAX = 128, PEERS_MAX = 16, LARGE = 3 << 19 };

static int thread_count = 8, peer_count = 3, rounds = 40;
static int peers[PEERS_MAX];

/* ---- threads ---- */

struct worker {
    pthread_t id;
    int number;
    void (*run)(struct worker *w);
    int mids[4]; /* for the case's use */
};

static void *run_worker(void *arg)
{
    struct worker *w = arg;
    w->run(w);
    return NULL;
}

static void start(struct worker *w, int number, void (*run)(struct worker *w))
{
    w->number = number;
    w->run = run;
    CHECK_EQ(pthread_create(&w->id, NULL, run_worker, w), 0);
}

static void join(struct worker *w)
{
    CHECK_EQ(pthread_join(w->id, NULL), 0);
}

static void run_threads(int n, void (*run)(struct worker *w))
{
    static struct worker all[THREADS_MAX];
    for (int i = 0; i < n; i++)
        start(&all[i], i, run);
    for (int i = 0; i < n; i++)
        join(&all[i]);
}

/* ---- peers ---- */

/* Echoes messages with their tag until told to stop. */
static void echo(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (;;) {
        int mid = pvm_recv(-1, -1), bytes, tag, from;
        CHECK(mid > 0);
        CHECK_EQ(pvm_bufinfo(mid, &bytes, &tag, &from), 0);
        if (tag == TAG_STOP)
            return;
        CHECK_EQ(pvm_setsbuf(mid), 0);
        CHECK_EQ(pvm_send(from, tag), 0);
        CHECK_EQ(pvm_setsbuf(0), mid);
    }
}

static void start_peers(void)
{
    check_spawn("echo", NULL, NULL, peer_count, peers);
}

static void stop_peers(void)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_mcast(peers, peer_count, TAG_STOP), 0);
    check_wait_exit(peer_count, peers);
}

/* ---- traffic: threads exchange with all peers, small and large messages, each with tags of its own ---- */

static void check_echo(int peer, int tag, const char *data, int bytes, unsigned seed)
{
    static _Thread_local char back[LARGE];
    int n, from;
    check_receive(peer, tag);
    CHECK_EQ(pvm_bufinfo(pvm_getrbuf(), &n, NULL, &from), 0);
    CHECK_EQ(n, bytes);
    if (peer >= 0)
        CHECK_EQ(from, peer);
    CHECK_EQ(pvm_upkbyte(back, bytes, 1), 0);
    CHECK(!memcmp(back, data, bytes));
    CHECK(check_same(back, bytes, seed));
}

static void exchange_all(struct worker *w)
{
    char *data = malloc(LARGE);
    unsigned random = w->number + 1;
    int tag = TAG_OWN + w->number;
    CHECK(data != NULL);
    for (int r = 0; r < rounds; r++) {
        int bytes = r % 20 == 19 ? LARGE : 1 + check_random(&random) % (r % 5 ? 100 : 100000);
        unsigned seed = check_random(&random);
        int peer = peers[check_random(&random) % peer_count];
        check_fill(data, bytes, seed);
        if (r % 4 == 3) {
            CHECK_EQ(pvm_psend(peer, tag, data, bytes, PVM_BYTE), 0);
        } else {
            CHECK(pvm_initsend(r % 4 == 2 ? PvmDataInPlace : PvmDataRaw) > 0);
            CHECK_EQ(pvm_pkbyte(data, bytes / 2, 1), 0);
            sched_yield(); /* let others pack now */
            CHECK_EQ(pvm_pkbyte(data + bytes / 2, bytes - bytes / 2, 1), 0);
            CHECK_EQ(r % 8 ? pvm_send(peer, tag) : pvm_mcast(peers, peer_count, tag), 0);
        }
        bool to_all = r % 8 == 0;
        for (int p = 0; p < (to_all ? peer_count : 1); p++)
            check_echo(to_all ? peers[p] : r % 2 ? -1 : peer, tag, data, bytes, seed);
    }
    free(data);
}

static void check_traffic(void)
{
    start_peers();
    run_threads(thread_count, exchange_all);
    stop_peers();
    CHECK_EQ(pvm_nrecv(-1, -1), 0);
}

/* ---- everything: each kind of call in a thread of its own ---- */

static atomic_bool stop;

static void spawn_and_notify(struct worker *w)
{
    for (int i = 0; i < 5; i++) {
        int tids[2], tag = TAG_OWN + w->number;
        check_spawn("echo", NULL, NULL, 2, tids);
        CHECK_EQ(pvm_notify(PvmTaskExit, tag, 2, tids), 0);
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        CHECK_EQ(pvm_mcast(tids, 2, TAG_STOP), 0);
        for (int n = 0; n < 2; n++) {
            int gone = check_receive_int(-1, tag);
            CHECK(gone == tids[0] || gone == tids[1]);
        }
        CHECK_EQ(pvm_pstat(tids[0]), PvmNoTask);
    }
}

static void wait_in_vain(struct worker *w)
{
    for (int i = 1; i <= 20; i++) {
        struct timeval limit = {0, i * 3000};
        double began = check_now();
        CHECK_EQ(pvm_trecv(-1, TAG_OWN + w->number, &limit), 0);
        double took = check_now() - began;
        CHECK(took >= i * 0.003);
        CHECK(took < i * 0.003 + 2 * check_slowness());
    }
}

static void poll_for_messages(struct worker *w)
{
    int me = pvm_mytid(), tag = TAG_OWN + w->number;
    for (int i = 0; i < 300; i++) {
        CHECK_EQ(pvm_probe(-1, tag), 0);
        CHECK_EQ(pvm_nrecv(-1, tag), 0);
        check_send_int(me, tag, i);
        int mid = pvm_probe(-1, tag);
        CHECK(mid > 0);
        CHECK_EQ(pvm_nrecv(me, tag), mid);
        int value;
        CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
        CHECK_EQ(value, i);
    }
}

static void use_mailbox(struct worker *w)
{
    char name[32];
    snprintf(name, sizeof name, "threads-%d", w->number);
    for (int i = 0; i < 50; i++) {
        int value;
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        CHECK_EQ(pvm_pkint(&i, 1, 1), 0);
        CHECK_EQ(pvm_putinfo(name, pvm_getsbuf(), PvmMboxDefault), 0);
        CHECK(pvm_recvinfo(name, 0, PvmMboxReadAndDelete) > 0);
        CHECK_EQ(pvm_upkint(&value, 1, 1), 0);
        CHECK_EQ(value, i);
    }
}

static void ask_about_machine(struct worker *w)
{
    (void)w;
    for (int i = 0; i < 50; i++) {
        int hosts, archs, tasks;
        struct pvmhostinfo *host;
        struct pvmtaskinfo *task;
        CHECK_EQ(pvm_config(&hosts, &archs, &host), 0);
        CHECK(hosts >= 1 && host[0].hi_tid == pvm_tidtohost(pvm_mytid()));
        CHECK_EQ(pvm_tasks(0, &tasks, &task), 0);
        CHECK(tasks >= 1);
        CHECK_EQ(pvm_pstat(pvm_mytid()), 0);
        CHECK_EQ(pvm_mstat(host[0].hi_name), 0);
    }
}

/* Its messages are in a context that the others do not see. */
static void use_context(struct worker *w)
{
    (void)w;
    int me = pvm_mytid();
    for (int i = 0; i < 50; i++) {
        int context = pvm_newcontext();
        CHECK(context > 0);
        CHECK_EQ(pvm_setcontext(context), 0);
        check_send_int(me, TAG_OWN, i);
        CHECK_EQ(check_receive_int(-1, -1), i);
        CHECK_EQ(pvm_getcontext(), context);
        CHECK_EQ(pvm_setcontext(0), context);
        CHECK_EQ(pvm_freecontext(context), 0);
    }
}

static void wait_for_echo(struct worker *w)
{
    while (!stop)
        exchange_all(w);
}

static void check_everything(void)
{
    static void (*const kinds[])(struct worker * w) = {spawn_and_notify, wait_in_vain,      poll_for_messages,
                                                       use_mailbox,      ask_about_machine, use_context};
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    static struct worker w[2 * KINDS], background[2];
    rounds = 5;
    start_peers();
    for (int i = 0; i < 2; i++)
        start(&background[i], 50 + i, wait_for_echo);
    for (int i = 0; i < 2 * KINDS; i++)
        start(&w[i], i, kinds[i % KINDS]);
    for (int i = 0; i < 2 * KINDS; i++)
        join(&w[i]);
    stop = true;
    for (int i = 0; i < 2; i++)
        join(&background[i]);
    stop_peers();
}

/* ---- own: the private state of each thread ---- */

static pthread_barrier_t meeting;

static int largest_first(int mid, int tid, int tag)
{
    int of, bytes;
    CHECK_EQ(pvm_bufinfo(mid, &bytes, &of, NULL), 0);
    (void)tid;
    return of / TAG_OWN == tag ? of : 0;
}

static void meet(void)
{
    pthread_barrier_wait(&meeting);
}

static void use_own_things(struct worker *w)
{
    int me = pvm_mytid(), tag = TAG_OWN + w->number;
    CHECK_EQ(pvm_getsbuf(), 0);
    CHECK_EQ(pvm_getrbuf(), 0);
    CHECK_EQ(pvm_getcontext(), 0);
    int mid = pvm_initsend(PvmDataDefault);
    CHECK_EQ(pvm_pkint(&w->number, 1, 1), 0);
    meet();
    CHECK_EQ(pvm_getsbuf(), mid);
    CHECK_EQ(pvm_pkint(&tag, 1, 1), 0);
    CHECK_EQ(pvm_setcontext(100 + w->number), 0);
    meet();
    CHECK_EQ(pvm_getcontext(), 100 + w->number);
    CHECK_EQ(pvm_send(me, TAG_OWN), 0);
    meet(); /* as many messages as threads, with the same tag: contexts keep them apart */
    int read[2], received = check_receive(me, TAG_OWN);
    meet();
    CHECK_EQ(pvm_getrbuf(), received);
    CHECK_EQ(pvm_upkint(&read[0], 1, 1), 0);
    meet();
    CHECK_EQ(pvm_upkint(&read[1], 1, 1), 0);
    CHECK_EQ(read[0], w->number);
    CHECK_EQ(read[1], tag);
    meet();
    CHECK(pvm_recvf(w->number % 2 ? largest_first : NULL) != NULL);
    for (int i = 1; i <= 3; i++)
        check_send_int(me, TAG_OWN * (w->number + 1) + i, i);
    meet();
    if (w->number % 2) {
        CHECK_EQ(check_receive_int(me, w->number + 1), 3);
        CHECK_EQ(check_receive_int(me, w->number + 1), 2);
        CHECK_EQ(check_receive_int(me, w->number + 1), 1);
    } else {
        CHECK_EQ(check_receive_int(me, -1), 1);
        CHECK_EQ(check_receive_int(me, -1), 2);
        CHECK_EQ(check_receive_int(me, -1), 3);
    }
}

/* Its active buffers end with it, others are the task's. */
static void leave_buffers(struct worker *w)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_send(pvm_mytid(), TAG_OWN), 0);
    check_receive(-1, TAG_OWN);
    w->mids[0] = pvm_mkbuf(PvmDataDefault);
}

static void look_at_errors(struct worker *w)
{
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(w->number % 2 ? pvm_send(0, 1) : pvm_freebuf(123456), w->number % 2 ? PvmNoBuf : PvmNoSuchBuf);
        sched_yield();
        CHECK_TEXT(pvm_strerror(), w->number % 2 ? "No current buffer" : "No such buffer");
    }
}

static void check_own_things(void)
{
    static struct worker w[8];
    CHECK_EQ(pthread_barrier_init(&meeting, NULL, 8), 0);
    int mine = pvm_initsend(PvmDataDefault);
    pvm_mytid();
    for (int i = 0; i < 8; i++)
        start(&w[i], i, use_own_things);
    for (int i = 0; i < 8; i++)
        join(&w[i]);
    CHECK_EQ(pvm_getsbuf(), mine);
    for (int i = 0; i < 200; i++) {
        start(&w[0], 0, leave_buffers);
        join(&w[0]);
        CHECK(w[0].mids[0] > 0 && w[0].mids[0] <= 64); /* numbers are reused */
        CHECK_EQ(pvm_freebuf(w[0].mids[0]), 0);
    }
    pvm_setopt(PvmAutoErr, 0);
    run_threads(8, look_at_errors);
}

/* ---- blocked: a waiting thread keeps no other from working, and uses no CPU time ---- */

static atomic_int received;

static void wait_for_go(struct worker *w)
{
    received = check_receive_int(-1, TAG_GO);
    (void)w;
}

static double cpu_time(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1e-6 * (used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void check_blocked(void)
{
    static struct worker waiting[3];
    peer_count = 1;
    start_peers();
    start(&waiting[0], 0, wait_for_go);
    check_sleep_ms(50);
    for (int i = 0; i < 200; i++) {
        check_send_int(peers[0], TAG_CALL, i);
        CHECK_EQ(check_receive_int(peers[0], TAG_CALL), i);
    }
    CHECK_EQ(received, 0);
    double before = cpu_time();
    check_sleep_ms(500);
    CHECK(cpu_time() - before < 0.1);
    check_send_int(peers[0], TAG_GO, 5); /* wakes the one that waits, not us */
    join(&waiting[0]);
    CHECK_EQ(received, 5);
    for (int i = 0; i < 3; i++)
        start(&waiting[i], i, wait_for_go);
    check_sleep_ms(50);
    for (int i = 0; i < 3; i++)
        check_send_int(pvm_mytid(), TAG_GO, 7); /* to ourselves: no link reports it */
    for (int i = 0; i < 3; i++)
        join(&waiting[i]);
    stop_peers();
}

/* ---- leave: pvm_exit while others wait ---- */

static void wait_for_nothing(struct worker *w)
{
    switch (w->number % 3) {
    case 0:
        w->mids[0] = pvm_recv(-1, TAG_OWN);
        break;
    case 1:
        w->mids[0] = pvm_recvinfo("never", 0, PvmMboxWaitForInfo);
        break;
    default:
        w->mids[0] = pvm_precv(-1, TAG_OWN, w->mids + 1, 1, PVM_INT, NULL, NULL, NULL);
    }
}

static void check_leave(void)
{
    static struct worker w[9];
    pvm_setopt(PvmAutoErr, 0);
    for (int again = 0; again < 3; again++) {
        int before = pvm_mytid();
        for (int i = 0; i < 9; i++)
            start(&w[i], i, wait_for_nothing);
        check_sleep_ms(50);
        CHECK_EQ(pvm_exit(), 0);
        for (int i = 0; i < 9; i++) {
            join(&w[i]);
            CHECK_EQ(w[i].mids[0], PvmSysErr);
        }
        CHECK(pvm_mytid() > 0 && pvm_mytid() != before);
    }
    for (int i = 0; i < 3; i++) { /* and the process may end while they wait */
        start(&w[i], i, wait_for_nothing);
        CHECK_EQ(pthread_detach(w[i].id), 0);
    }
    check_sleep_ms(50);
    exit(0);
}

static void enrol(struct worker *w)
{
    w->mids[0] = pvm_mytid();
    int code = pvm_exit();
    CHECK(code == 0 || code == PvmSysErr);
}

/* All at once: some enrol just after another thread has left. */
static void check_enrol(void)
{
    static struct worker w[8];
    pvm_setopt(PvmAutoErr, 0);
    for (int again = 0; again < 5; again++) {
        for (int i = 0; i < 8; i++)
            start(&w[i], i, enrol);
        for (int i = 0; i < 8; i++) {
            join(&w[i]);
            CHECK(w[i].mids[0] > 0 || w[i].mids[0] == PvmSysErr);
        }
    }
    CHECK(pvm_mytid() > 0);
}

/* ---- handlers ---- */

static atomic_int in_handler, calls;

static int answer_slowly(int mid)
{
    int value, from;
    CHECK_EQ(in_handler++, 0); /* one at a time */
    CHECK_EQ(pvm_getrbuf(), mid);
    CHECK_EQ(pvm_bufinfo(mid, NULL, NULL, &from), 0);
    check_sleep_ms(20);
    CHECK_EQ(pvm_upkint(&value, 1, 1), 0); /* still the active one, whatever others did */
    check_send_int(from, TAG_ANSWER, value);
    check_send_int(peers[0], TAG_DONE, value); /* and it may receive */
    CHECK_EQ(check_receive_int(peers[0], TAG_DONE), value);
    calls++;
    in_handler--;
    return 0;
}

static void call_and_work(struct worker *w)
{
    int me = pvm_mytid(), tag = TAG_OWN + w->number;
    for (int i = 0; i < 10; i++) {
        if (w->number < 2)
            check_send_int(me, TAG_CALL, i);
        for (int n = 0; n < 5; n++) {
            check_send_int(peers[0], tag, n);
            CHECK_EQ(check_receive_int(peers[0], tag), n);
        }
        if (w->number < 2)
            check_receive_int(me, TAG_ANSWER);
    }
}

static void check_handlers(void)
{
    peer_count = 1;
    start_peers();
    CHECK(pvm_addmhf(-1, TAG_CALL, 0, answer_slowly) >= 0);
    run_threads(6, call_and_work);
    CHECK_EQ(calls, 20);
    stop_peers();
}

/* ---- groups: one thread meets others; the rest query, join and leave groups ---- */

static atomic_bool met;

/* Joins, and enters the barrier as often as the others. */
static void member(int argc, char **argv)
{
    int count = atoi(argv[1]);
    (void)argc;
    CHECK(pvm_joingroup("crowd") >= 0);
    CHECK_EQ(pvm_barrier("crowd", count), 0);
    for (int times = check_receive_int(pvm_parent(), TAG_GO); times; times--)
        CHECK_EQ(pvm_barrier("crowd", count), 0);
    pvm_lvgroup("crowd");
}

static void meet_members(struct worker *w)
{
    (void)w;
    for (int i = 0; i < rounds; i++)
        CHECK_EQ(pvm_barrier("crowd", peer_count + 1), 0);
    met = true;
}

static void look_at_group(struct worker *w)
{
    int me = pvm_mytid(), tag = TAG_OWN + w->number;
    do {
        int mine = pvm_getinst("crowd", me);
        CHECK_EQ(pvm_gettid("crowd", mine), me);
        CHECK(pvm_gsize("crowd") >= 1);
        CHECK(pvm_gsize("nobody's") < 0);
        CHECK_EQ(pvm_send(me, tag), PvmNoBuf); /* our own state, although group calls use buffers */
        check_send_int(me, tag, 3);
        CHECK_EQ(check_receive_int(-1, tag), 3);
        pvm_freebuf(pvm_getsbuf());
    } while (!met);
}

static void join_and_leave(struct worker *w)
{
    char name[16];
    snprintf(name, sizeof name, "own-%d", w->number);
    do {
        CHECK_EQ(pvm_joingroup(name), 0);
        CHECK_EQ(pvm_barrier(name, 1), 0);
        CHECK_EQ(pvm_lvgroup(name), 0);
    } while (!met);
}

static void check_groups(void)
{
    enum { THREADS = 20 };
    static struct worker w[THREADS];
    static void (*const kinds[])(struct worker * w) = {look_at_group, join_and_leave};
    char members[16];
    snprintf(members, sizeof members, "%d", peer_count + 1);
    pvm_setopt(PvmAutoErr, 0);
    CHECK_EQ(pvm_joingroup("crowd"), 0);
    check_spawn("member", members, NULL, peer_count, peers);
    CHECK_EQ(pvm_barrier("crowd", peer_count + 1), 0);
    for (int i = 0; i < peer_count; i++)
        check_send_int(peers[i], TAG_GO, rounds);
    for (int i = 0; i < THREADS; i++)
        start(&w[i], i, i ? kinds[i % 4 / 3] : meet_members);
    for (int i = 0; i < THREADS; i++)
        join(&w[i]);
    CHECK_EQ(pvm_setopt(PvmAutoErr, 1), 0); /* as it was */
    CHECK_EQ(pvm_setopt(PvmResvTids, 0), 0);
    check_wait_exit(peer_count, peers);
}

/* ---- same: several threads send large messages to one task, which gets each complete and in order ---- */

static void collect(int argc, char **argv)
{
    int count[THREADS_MAX] = {0};
    char *data = malloc(LARGE);
    (void)argc;
    for (int left = atoi(argv[1]); left; left--) {
        int mid = check_receive(-1, -1), bytes, tag, head[2];
        CHECK_EQ(pvm_bufinfo(mid, &bytes, &tag, NULL), 0);
        CHECK_EQ(pvm_upkint(head, 2, 1), 0);
        CHECK_EQ(head[0], tag - TAG_OWN);
        CHECK_EQ(head[1], count[head[0]]++);
        CHECK_EQ(pvm_upkbyte(data, bytes - 8, 1), 0);
        CHECK(check_same(data, bytes - 8, tag + head[1]));
    }
    free(data);
    check_send_int(pvm_parent(), TAG_DONE, 1);
}

static void send_many(struct worker *w)
{
    char *data = malloc(LARGE);
    int tag = TAG_OWN + w->number;
    for (int r = 0; r < rounds; r++) {
        int head[2] = {w->number, r}, bytes = r % 3 ? 100 * r : LARGE;
        check_fill(data, bytes, tag + r);
        CHECK(pvm_initsend(PvmDataDefault) > 0);
        CHECK_EQ(pvm_pkint(head, 2, 1), 0);
        CHECK_EQ(pvm_pkbyte(data, bytes, 1), 0);
        CHECK_EQ(r % 2 ? pvm_send(peers[0], tag) : pvm_mcast(peers, 2, tag), 0);
        if (r % 2)
            CHECK_EQ(pvm_send(peers[1], tag), 0);
    }
    free(data);
}

static void check_same_receiver(void)
{
    char messages[16];
    snprintf(messages, sizeof messages, "%d", thread_count * rounds);
    check_spawn("collect", messages, NULL, 2, peers);
    run_threads(thread_count, send_many);
    for (int i = 0; i < 2; i++)
        check_receive_int(peers[i], TAG_DONE);
}

/* ---- shared: without PVM_THREADS all threads share the buffers, and the program serializes their use */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void use_shared_buffers(struct worker *w)
{
    int me = pvm_mytid(), tag = TAG_OWN + w->number;
    for (int i = 0; i < 100; i++) {
        int value = -1;
        pthread_mutex_lock(&turn);
        check_send_int(me, tag, i);
        pthread_mutex_unlock(&turn);
        CHECK_EQ(pvm_precv(-1, tag, &value, 1, PVM_INT, NULL, NULL, NULL), 0); /* these need no buffer */
        CHECK_EQ(value, i);
        CHECK_EQ(pvm_psend(peers[0], tag, &value, 1, PVM_INT), 0);
        CHECK_EQ(pvm_precv(peers[0], tag, &value, 1, PVM_INT, NULL, NULL, NULL), 0);
        CHECK_EQ(value, i);
    }
}

static void pack_half(struct worker *w)
{
    CHECK(pvm_getsbuf() > 0); /* the main thread's */
    CHECK_EQ(pvm_pkint(&w->number, 1, 1), 0);
}

static void check_shared(void)
{
    static struct worker w;
    int first = 4, read[2];
    CHECK(!getenv("PVM_THREADS"));
    peer_count = 1;
    start_peers();
    run_threads(thread_count, use_shared_buffers);
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(&first, 1, 1), 0);
    start(&w, 5, pack_half);
    join(&w);
    CHECK_EQ(pvm_send(pvm_mytid(), TAG_OWN), 0);
    check_receive(-1, TAG_OWN);
    CHECK_EQ(pvm_upkint(read, 2, 1), 0);
    CHECK_EQ(read[0], 4);
    CHECK_EQ(read[1], 5);
    stop_peers();
}

/* ---- fork, cancel, signals ---- */

static void check_fork(void)
{
    static struct worker w;
    int parent = pvm_mytid();
    start(&w, 0, wait_for_go);
    check_sleep_ms(50);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (!child) {
            int me = pvm_mytid();
            CHECK(me > 0 && me != parent);
            check_send_int(parent, TAG_CALL, i);
            CHECK_EQ(check_receive_int(parent, TAG_ANSWER), i);
            pvm_exit();
            _exit(0);
        }
        int from, status;
        CHECK_EQ(check_receive_int(-1, TAG_CALL), i);
        pvm_bufinfo(pvm_getrbuf(), NULL, NULL, &from);
        check_send_int(from, TAG_ANSWER, i);
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK_EQ(status, 0);
    }
    check_send_int(parent, TAG_GO, 1);
    join(&w);
}

static void wait_a_second(struct worker *w)
{
    struct timeval limit = {1, 0};
    pvm_trecv(-1, TAG_OWN + w->number, &limit);
    for (;;)
        pthread_testcancel(); /* the earlier cancellation takes effect here */
}

static void ignore(int signum)
{
    (void)signum;
}

static void check_interrupted(void)
{
    static struct worker w[4], waiting;
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = ignore}, NULL);
    start(&waiting, 0, wait_for_go);
    for (int i = 0; i < 4; i++)
        start(&w[i], i, wait_a_second);
    check_sleep_ms(50);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_cancel(w[i].id), 0);
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(pthread_kill(waiting.id, SIGUSR1), 0);
        check_send_int(pvm_mytid(), TAG_CALL, i); /* no thread has kept the lock */
        CHECK_EQ(check_receive_int(-1, TAG_CALL), i);
    }
    for (int i = 0; i < 4; i++)
        join(&w[i]);
    CHECK_EQ(received, 0);
    check_send_int(pvm_mytid(), TAG_GO, 3);
    join(&waiting);
    CHECK_EQ(received, 3);
}

static void master(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"traffic", check_traffic},   {"everything", check_everything}, {"own", check_own_things},
               {"blocked", check_blocked},   {"leave", check_leave},           {"enrol", check_enrol},
               {"handlers", check_handlers}, {"same", check_same_receiver},    {"shared", check_shared},
               {"fork", check_fork},         {"groups", check_groups},         {"interrupted", check_interrupted}};
    if (argc > 4) {
        thread_count = atoi(argv[2]);
        peer_count = atoi(argv[3]);
        rounds = atoi(argv[4]);
    }
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (argc > 1 && !strcmp(argv[1], all[i].name)) {
            all[i].run();
            return;
        }
    check_failed(__FILE__, __LINE__, "no such case");
}

static const struct check_role roles[] = {{"echo", echo}, {"collect", collect}, {"member", member}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
