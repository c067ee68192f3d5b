/* worker.c - see worker.h. */
#include "worker.h"
#include <dirent.h>
#include "tests/machine/runner/check.h"
#include "tests/machine/runner/history.h"

enum { PEERS_MAX = 64, WINDOW = 8, ACK_EVERY = 4, BYTES_MAX = 400000 };

struct peer {
    int tid;              /* 0: unused */
    int dead, last;       /* dead: reported by a notify; last: it will send no more */
    int heard;            /* a message has arrived since the last check */
    unsigned sent, acked; /* sent: by us; acked: by the peer */
    unsigned told;        /* number of its messages that we acknowledged */
    unsigned promised;    /* total number that it has sent: valid with last */
};

static struct {
    struct peer peers[PEERS_MAX];
    struct history history;
    int check; /* number of the check to answer, 0: none */
    int ending, lasts_sent;
    int late, routes;
    unsigned state;
} me;

static struct peer *find(int tid)
{
    for (int i = 0; i < PEERS_MAX; i++)
        if (me.peers[i].tid == tid)
            return &me.peers[i];
    return NULL;
}

/* Also for peers that wrote before we were told of them. Dead ones make room when there is none left. */
static struct peer *find_or_add(int tid)
{
    struct peer *p = find(tid);
    if (!p)
        p = find(0);
    for (int i = 0; i < PEERS_MAX && !p; i++)
        if (me.peers[i].dead)
            p = &me.peers[i];
    CHECK(p != NULL);
    if (p->tid != tid)
        *p = (struct peer){.tid = tid};
    return p;
}

static int is_live(const struct peer *p)
{
    return p->tid && !p->dead;
}

/* ---- sending ---- */

static void send_ints(int tid, int tag, int *values, int n)
{
    CHECK(pvm_initsend(PvmDataDefault) > 0);
    CHECK_EQ(pvm_pkint(values, n, 1), 0);
    CHECK_EQ(pvm_send(tid, tag), 0);
}

/* Mostly small; some are sent by reference, some in several frames. */
static int random_size(void)
{
    static const int ranges[] = {200, 200, 200,  200,  200,  200,   200,   200,
                                 200, 200, 5000, 5000, 5000, 20000, 80000, BYTES_MAX};
    unsigned range = (unsigned)ranges[check_random(&me.state) % 16];
    return HISTORY_BYTES_MIN + (int)(check_random(&me.state) % (range - HISTORY_BYTES_MIN));
}

static void send_data(struct peer *p)
{
    static char data[BYTES_MAX];
    static const int encodings[] = {PvmDataDefault, PvmDataRaw, PvmDataInPlace};
    int size = random_size(), how = (int)(check_random(&me.state) % 4);
    history_write(data, (size_t)size, pvm_mytid(), p->tid, p->sent++);
    if (how == 3) {
        CHECK_EQ(pvm_psend(p->tid, TAG_DATA, data, size, PVM_BYTE), 0);
        return;
    }
    CHECK(pvm_initsend(encodings[how]) > 0);
    CHECK_EQ(pvm_pkbyte(data, size, 1), 0);
    CHECK_EQ(pvm_send(p->tid, TAG_DATA), 0);
}

/* The next peer with room, starting anywhere; NULL when all have enough in flight. */
static struct peer *choose(void)
{
    unsigned start = check_random(&me.state);
    for (unsigned i = 0; i < PEERS_MAX; i++) {
        struct peer *p = &me.peers[(start + i) % PEERS_MAX];
        if (is_live(p) && p->sent - p->acked < WINDOW)
            return p;
    }
    return NULL;
}

static void acknowledge(struct peer *p)
{
    int count = (int)history_count(&me.history, p->tid);
    if (p->dead || (unsigned)count - p->told < ACK_EVERY)
        return;
    p->told = (unsigned)count;
    send_ints(p->tid, TAG_ACK, &count, 1);
}

/* ---- resources of a worker ---- */

static int count_descriptors(void)
{
    int n = 0;
    DIR *d = opendir("/proc/self/fd");
    CHECK(d != NULL);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

static int count_mappings(void)
{
    char line[512];
    int n = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps != NULL);
    while (fgets(line, sizeof line, maps))
        n += strstr(line, "/memfd:") != NULL;
    fclose(maps);
    return n;
}

static void answer_check(void)
{
    for (int i = 0; me.check && i < PEERS_MAX; i++)
        if (is_live(&me.peers[i]) && !me.peers[i].heard)
            return;
    if (!me.check)
        return;
    int status[] = {me.check, count_descriptors(), count_mappings(), (int)check_rss_kib(getpid())};
    send_ints(pvm_parent(), TAG_STATUS, status, 4);
    me.check = 0;
    for (int i = 0; i < PEERS_MAX; i++)
        me.peers[i].heard = 0;
}

/* ---- receiving ---- */

static void take_data(int from, int bytes)
{
    static char data[BYTES_MAX];
    struct peer *p = find_or_add(from);
    CHECK(bytes <= BYTES_MAX);
    CHECK_EQ(pvm_upkbyte(data, bytes, 1), 0);
    const char *wrong = history_read(&me.history, from, data, (size_t)bytes);
    if (wrong)
        check_failed(__FILE__, __LINE__, "%s", wrong);
    me.late += p->dead;
    p->heard = 1;
    acknowledge(p);
}

static void take_ack(int from)
{
    struct peer *p = find_or_add(from);
    int count;
    CHECK_EQ(pvm_upkint(&count, 1, 1), 0);
    CHECK((unsigned)count > p->acked && (unsigned)count <= p->sent);
    p->acked = (unsigned)count;
}

static void take_peers(void)
{
    int n, tid;
    CHECK_EQ(pvm_upkint(&n, 1, 1), 0);
    while (n-- > 0) {
        CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
        find_or_add(tid);
        CHECK_EQ(pvm_notify(PvmTaskExit, TAG_EXIT, 1, &tid), 0);
    }
}

static void take_exit(void)
{
    int tid;
    CHECK_EQ(pvm_upkint(&tid, 1, 1), 0);
    if (me.ending && find(tid) && find(tid)->last)
        return; /* it ended after its last message */
    find_or_add(tid)->dead = 1;
    history_death(&me.history, tid);
    send_ints(pvm_parent(), TAG_DEATH, &tid, 1);
}

static void take_last(int from)
{
    struct peer *p = find_or_add(from);
    int count;
    CHECK_EQ(pvm_upkint(&count, 1, 1), 0);
    p->last = 1;
    p->promised = (unsigned)count;
    const char *wrong = history_end(&me.history, from, p->promised);
    if (wrong)
        check_failed(__FILE__, __LINE__, "%s", wrong);
}

static void take(int mid)
{
    int bytes, tag, from;
    CHECK_EQ(pvm_bufinfo(mid, &bytes, &tag, &from), 0);
    if (tag == TAG_DATA)
        take_data(from, bytes);
    else if (tag == TAG_ACK)
        take_ack(from);
    else if (tag == TAG_PEERS)
        take_peers();
    else if (tag == TAG_EXIT)
        take_exit();
    else if (tag == TAG_CHECK)
        CHECK_EQ(pvm_upkint(&me.check, 1, 1), 0);
    else if (tag == TAG_END)
        me.ending = 1;
    else if (tag == TAG_LAST)
        take_last(from);
    else if (tag == TAG_ROUTE)
        me.routes++;
    else
        check_failed(__FILE__, __LINE__, "unexpected tag %d from t%x", tag, from);
}

static void wait_for_one(void)
{
    struct timeval limit = {.tv_sec = check_limit_s()};
    int mid = pvm_trecv(-1, -1, &limit);
    if (mid <= 0) {
        for (int i = 0; i < PEERS_MAX; i++)
            if (is_live(&me.peers[i]))
                fprintf(stderr, "t%x: to t%x %u sent, %u acknowledged; from it %u\n", pvm_mytid(), me.peers[i].tid,
                        me.peers[i].sent, me.peers[i].acked, history_count(&me.history, me.peers[i].tid));
        check_failed(__FILE__, __LINE__, "nothing came for %d s", check_limit_s());
    }
    take(mid);
}

/* ---- start and end ---- */

static void say_last(void)
{
    me.lasts_sent = 1;
    for (int i = 0; i < PEERS_MAX; i++) {
        int count = (int)me.peers[i].sent;
        if (is_live(&me.peers[i]))
            send_ints(me.peers[i].tid, TAG_LAST, &count, 1);
    }
}

static int all_last(void)
{
    for (int i = 0; i < PEERS_MAX; i++)
        if (is_live(&me.peers[i]) && !me.peers[i].last)
            return 0;
    return 1;
}

void worker(int argc, char **argv)
{
    (void)argc, (void)argv;
    int pid = (int)getpid();
    me.state = (unsigned)pid;
    history_init(&me.history, pvm_mytid());
    pvm_setopt(PvmRoute, PvmRouteDirect);
    CHECK_EQ(pvm_notify(PvmRouteAdd, TAG_ROUTE, -1, NULL), 0);
    send_ints(pvm_parent(), TAG_HELLO, &pid, 1);
    while (!me.ending) {
        int mid;
        while ((mid = pvm_nrecv(-1, -1)) > 0)
            take(mid);
        struct peer *p = me.ending ? NULL : choose();
        if (p)
            send_data(p);
        else if (!me.ending)
            wait_for_one();
        answer_check();
    }
    say_last();
    while (!all_last())
        wait_for_one();
    int totals[] = {(int)me.history.messages, (int)(me.history.bytes >> 10), me.late, me.routes};
    send_ints(pvm_parent(), TAG_TOTALS, totals, 4);
    history_free(&me.history);
}
