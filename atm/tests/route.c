/*
 * route.c - a PVM program whose messages go by the daemons, in virtual time: route [few | gather]. Two tasks exchange
 * messages; then one sends a stream by changing routes, whose order the other checks; then the other sends a flood and
 * leaves at once, and its notice comes after its messages. At last one message goes to many. Each line shows how long a
 * step took by the program's own clock. With `few` the messages are fewer and shorter. `route gather` is another
 * program: a task on each other host sends one message to the first host, all at once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "pvm3.h"

enum {
    PING = 1,
    STREAM,
    FLOOD,
    END,
    ASK,
    GATHERED = 40000,
    ROUNDS = 3,
    CHANGES = 40,
    OTHERS = 5,
    OTHERS_MAX = 16,
    LARGE = 1 << 20
};

static char data[LARGE];

static long long now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void need(int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "route: %s failed\n", what);
    fflush(stdout);
    pvm_exit();
    exit(1);
}

static void send_bytes(int to, int tag, int bytes)
{
    pvm_initsend(PvmDataRaw);
    pvm_pkbyte(data, bytes, 1);
    need(!pvm_send(to, tag), "pvm_send");
}

static int receive(int from, int tag)
{
    int bytes = 0, id = pvm_recv(from, tag);
    need(id > 0 && !pvm_bufinfo(id, &bytes, NULL, NULL), "pvm_recv");
    return bytes;
}

static int length_of(int i)
{
    static const int lengths[] = {1, 20000, 300, 9000, 4};
    return lengths[i % 5];
}

/* Half of a round trip, the last of a few. */
static void exchange(int other, int bytes)
{
    long long took = 0;
    for (int i = 0; i < ROUNDS; i++) {
        memset(data, i + 1, (size_t)bytes);
        long long start = now_ns();
        send_bytes(other, PING, bytes);
        need(receive(other, PING) == bytes, "the length");
        took = now_ns() - start;
        pvm_upkbyte(data, bytes, 1);
        need(data[0] == i + 1 && data[bytes - 1] == i + 1, "the contents");
    }
    printf("%7d bytes one way: %lld ns\n", bytes, took / 2);
}

static void stream(int other)
{
    long long start = now_ns();
    for (int i = 0; i < CHANGES; i++) {
        pvm_setopt(PvmRoute, i % 3 ? PvmRouteDirect : PvmDontRoute);
        pvm_initsend(PvmDataRaw);
        pvm_pkint(&i, 1, 1);
        pvm_pkbyte(data, length_of(i), 1);
        need(!pvm_send(other, STREAM), "pvm_send");
    }
    pvm_setopt(PvmRoute, PvmDontRoute);
    need(receive(other, PING) == 0, "the end of the stream");
    printf("a stream by two routes: %lld ns\n", now_ns() - start);
}

static void check_stream(int other)
{
    for (int i = 0, k; i < CHANGES; i++) {
        need(receive(other, STREAM) == length_of(i) + (int)sizeof k, "the stream's length");
        pvm_upkint(&k, 1, 1);
        need(k == i, "the order");
    }
    send_bytes(other, PING, 0);
}

/* The other one has left before its last messages arrive, and its notice comes after them. */
static void take_flood(int other, int many)
{
    int tag, count = 0;
    pvm_notify(PvmTaskExit, END, 1, &other);
    pvm_initsend(PvmDataRaw);
    pvm_pkint(&many, 1, 1);
    long long start = now_ns(), first = 0;
    need(!pvm_send(other, FLOOD), "pvm_send");
    for (;;) {
        need(pvm_bufinfo(pvm_recv(-1, -1), NULL, &tag, NULL) == 0, "pvm_recv");
        first = first ? first : now_ns();
        if (tag == END)
            break;
        count++;
    }
    need(count == many, "the flood");
    printf("a flood: %lld ns, then %lld ns\n", first - start, now_ns() - first);
}

/* The other one dies before the message has come, which then comes to nobody. */
static void send_to_the_dead(const char *program)
{
    int tid;
    need(pvm_spawn((char *)program, NULL, PvmTaskDefault, NULL, 1, &tid) == 1, "pvm_spawn");
    pvm_notify(PvmTaskExit, END, 1, &tid);
    send_bytes(tid, FLOOD, 0);
    send_bytes(tid, PING, 30000);
    need(receive(-1, END) == sizeof tid, "the notice");
    send_bytes(tid, PING, 30000);
    printf("one has died\n");
}

static void multicast(const char *program, int bytes)
{
    int tids[OTHERS];
    need(pvm_spawn((char *)program, NULL, PvmTaskDefault, NULL, OTHERS, tids) == OTHERS, "pvm_spawn");
    long long start = now_ns();
    pvm_initsend(PvmDataRaw);
    pvm_pkbyte(data, bytes, 1);
    need(!pvm_mcast(tids, OTHERS, PING), "pvm_mcast");
    long long sent = now_ns();
    for (int i = 0; i < OTHERS; i++)
        need(receive(-1, PING) == bytes, "the length");
    printf("%7d bytes to %d: sent in %lld ns, answered in %lld ns\n", bytes, OTHERS, sent - start, now_ns() - start);
    need(!pvm_mcast(tids, OTHERS, END), "pvm_mcast");
}

static void gather(const char *program)
{
    int tids[OTHERS_MAX], count = pvm_spawn((char *)program, NULL, PvmTaskHost | PvmHostCompl, ".", OTHERS_MAX, tids);
    need(count == OTHERS_MAX, "pvm_spawn");
    long long start = now_ns();
    pvm_initsend(PvmDataRaw);
    need(!pvm_mcast(tids, count, ASK), "pvm_mcast");
    for (int i = 0; i < count; i++)
        need(receive(-1, PING) == GATHERED, "the length");
    printf("gathered: %lld ns\n", now_ns() - start);
    need(!pvm_mcast(tids, count, END), "pvm_mcast");
}

static int partner(int parent)
{
    int bytes, tag, id, many = 0;
    while ((id = pvm_recv(parent, -1)) > 0 && !pvm_bufinfo(id, &bytes, &tag, NULL) && tag != END && tag != FLOOD) {
        pvm_upkbyte(data, bytes, 1);
        if (tag == PING || tag == ASK)
            send_bytes(parent, PING, tag == ASK ? GATHERED : bytes);
        else
            check_stream(parent);
    }
    if (tag == FLOOD && !bytes)
        abort();
    if (tag == FLOOD)
        pvm_upkint(&many, 1, 1);
    for (int i = 0; i < many; i++)
        send_bytes(parent, FLOOD, 100);
    pvm_exit();
    return 0;
}

int main(int argc, char **argv)
{
    int tid, few = argc > 1;
    need(pvm_mytid() > 0, "pvm_mytid");
    pvm_setopt(PvmRoute, PvmDontRoute);
    if (pvm_parent() > 0)
        return partner(pvm_parent());
    if (few && !strcmp(argv[1], "gather")) {
        gather(argv[0]);
        pvm_exit();
        return 0;
    }
    need(pvm_spawn(argv[0], NULL, PvmTaskDefault, NULL, 1, &tid) == 1, "pvm_spawn");
    exchange(tid, 1);
    exchange(tid, few ? 9000 : 128 << 10);
    if (!few)
        exchange(tid, LARGE);
    send_bytes(tid, STREAM, 0);
    stream(tid);
    take_flood(tid, few ? 20 : 300);
    send_to_the_dead(argv[0]);
    multicast(argv[0], few ? 5000 : 50000);
    pvm_exit();
    return 0;
}
