/*
 * handover - reduce, gather and scatter of members of one host, which hand over small parts in shared memory: handover
 * CASE HOSTS.
 *
 * mixed: operations, roots and sizes that vary, with members that are ahead of others, or asleep. Nobody may miss a
 * part, which it would hear of a second later.
 * order: what was sent before a call is there after it, although it went by the daemon. A call that fails leaves the
 * result alone.
 * rubbish: a member writes anything into that memory. The calls may fail, but must end.
 */
#include <stdbool.h>
#include <sys/random.h>
#include "team.h"

enum {
    MEMBERS = 6,
    WARM_UP = 4,
    CALLS = 3000,
    RUBBISH_CALLS = 40,
    FAILURES = 20,
    LARGE = 700,
    LATE_MAX = 2,
    TAG_ROUND = 1000
};

static int instance;
static long all[MEMBERS * LARGE], mine[LARGE], result[MEMBERS * LARGE];

/* A sum that the library does not know. */
static void add(int *type, void *x, void *y, int *n, int *info)
{
    (void)type;
    *info = 0;
    for (int i = 0; i < *n; i++)
        ((long *)x)[i] += ((long *)y)[i];
    CHECK_EQ(pvm_barrier("g", MEMBERS), PvmAlready);
}

static long value(unsigned call, int member, int i)
{
    return (long)call * 100000 + member * 1000 + i;
}

static void check_reduce(unsigned call, int root, int n, int own)
{
    for (int i = 0; i < n; i++)
        mine[i] = value(call, instance, i);
    CHECK_EQ(pvm_reduce(own ? add : PvmSum, mine, n, PVM_LONG, 7, "g", root), 0);
    for (int i = 0; i < n; i++) {
        long sum = 0;
        for (int m = 0; m < MEMBERS; m++)
            sum += value(call, m, i);
        CHECK_EQ(mine[i], instance == root ? sum : value(call, instance, i));
    }
}

static void check_gather(unsigned call, int root, int n)
{
    for (int i = 0; i < n; i++)
        mine[i] = value(call, instance, i);
    CHECK_EQ(pvm_gather(result, mine, n, PVM_LONG, 8, "g", root), 0);
    for (int i = 0; i < n * MEMBERS && instance == root; i++)
        CHECK_EQ(result[i], value(call, i / n, i % n));
}

static void check_scatter(unsigned call, int root, int n)
{
    for (int i = 0; i < n * MEMBERS; i++)
        all[i] = value(call, i / n, i % n);
    CHECK_EQ(pvm_scatter(result, instance == root ? all : NULL, n, PVM_LONG, 9, "g", root), 0);
    for (int i = 0; i < n; i++)
        CHECK_EQ(result[i], value(call, instance, i));
}

static void member(int argc, char **argv)
{
    static const int sizes[] = {1, 2, 25, 26, 27, 100, 512, 513, LARGE};
    unsigned common = 1;
    int late = 0;

    instance = team_join_kind("g", MEMBERS, team_argument(argc, argv));
    for (int i = 0; i < WARM_UP; i++)
        CHECK_EQ(pvm_barrier("g", MEMBERS), 0);
    unsigned own = (unsigned)instance + 2;
    for (unsigned call = 0; call < CALLS; call++) {
        int what = (int)(check_random(&common) % 8), n = sizes[check_random(&common) % 9];
        int root = call / 200 % 2 ? (int)(check_random(&common) % MEMBERS) : (int)(call / 400 % MEMBERS);
        if (check_random(&own) % 500 == 0)
            check_sleep_ms(20);
        double before = check_now();
        if (what < 3)
            check_reduce(call, root, n, what == 0);
        else if (what < 5)
            check_gather(call, root, n);
        else if (what < 7)
            check_scatter(call, root, n);
        else
            CHECK_EQ(pvm_barrier("g", MEMBERS), 0);
        late += check_now() - before > 0.9;
    }
    CHECK(late <= LATE_MAX * check_slowness());
    CHECK_EQ(pvm_barrier("g", MEMBERS), 0);
    pvm_lvgroup("g");
    team_done();
}

/* ---- order ---- */

/* Messages of this round that have come, without waiting. Others may be ahead. */
static int count_sent(unsigned call)
{
    int n = 0;
    while (pvm_nrecv(-1, TAG_ROUND + (int)call) > 0)
        n++;
    return n;
}

static void send_one(int to, unsigned call)
{
    CHECK(pvm_initsend(PvmDataRaw) >= 0);
    CHECK_EQ(pvm_send(pvm_gettid("g", to), TAG_ROUND + (int)call), 0);
}

/* Each round is of one kind: nobody sends, all send to the root, or the root sends to all. */
static void keep_order(unsigned call)
{
    int kind = (int)(call / 3 % 3), root = (int)(call / 100 % MEMBERS);
    bool at_root = instance == root;
    if (kind == 1 && !at_root)
        send_one(root, call);
    check_gather(call, root, 1);
    if (at_root)
        CHECK_EQ(count_sent(call), kind == 1 ? MEMBERS - 1 : 0);
    for (int i = 0; i < MEMBERS && kind == 2 && at_root; i++)
        if (i != root)
            send_one(i, call);
    check_scatter(call, root, 1);
    CHECK_EQ(count_sent(call), kind == 2 && !at_root);
}

/* Another tag than the others' at one member; the root's own part is in the result. Parts are in slots before that. */
static void fail_in_place(unsigned call)
{
    long before[MEMBERS];
    for (int i = 0; i < MEMBERS; i++)
        before[i] = all[i] = value(call, instance, i);
    check_gather(call, 1, 1);
    int code = pvm_gather(all, all, 1, PVM_LONG, instance == 3 ? 19 : 20, "g", 1);
    if (instance == 1)
        CHECK_EQ(code, PvmMismatch);
    CHECK(!memcmp(all, before, sizeof before));
    CHECK_EQ(pvm_barrier("g", MEMBERS), 0); /* nobody leaves before, which would close the board */
}

static void sender(int argc, char **argv)
{
    pvm_setopt(PvmRoute, PvmDontRoute);
    pvm_setopt(PvmAutoErr, 0);
    instance = team_join_kind("g", MEMBERS, team_argument(argc, argv));
    for (int i = 0; i < WARM_UP; i++)
        CHECK_EQ(pvm_barrier("g", MEMBERS), 0);
    for (unsigned call = 0; call < CALLS; call++)
        keep_order(call);
    for (unsigned call = 0; call < FAILURES; call++)
        fail_in_place(call);
    pvm_lvgroup("g");
    team_done();
}

/* ---- rubbish ---- */

/* Fills all but the first page of the board; false: there is none. */
static bool scribble(void)
{
    unsigned long begin = 0, end = 0;
    bool found = false;
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    CHECK(maps);
    while (!found && fgets(line, sizeof line, maps))
        found = strstr(line, "pvm-board");
    fclose(maps);
    if (!found)
        return false;
    CHECK(sscanf(line, "%lx-%lx", &begin, &end) == 2 && end - begin > 4096);
    for (unsigned long at = begin + 4096; at < end; at += 256)
        CHECK(getrandom((void *)at, end - at < 256 ? end - at : 256, 0) > 0);
    return true;
}

static void victim(int argc, char **argv)
{
    (void)argc, (void)argv;
    pvm_setopt(PvmAutoErr, 0);
    instance = team_join_kind("g", MEMBERS, 1);
    for (int i = 0; i < WARM_UP; i++)
        CHECK_EQ(pvm_barrier("g", MEMBERS), 0);
    for (int i = 0; i < RUBBISH_CALLS; i++) {
        if (instance == 1 && i % 10 == 0)
            CHECK(scribble() || i); /* there is a board at first; members give up one in which they find rubbish */
        pvm_scatter(result, all, i % 30 + 1, PVM_LONG, 9, "g", 0);
        pvm_gather(result, mine, i % 30 + 1, PVM_LONG, 8, "g", 0);
        pvm_reduce(PvmSum, mine, i % 30 + 1, PVM_LONG, 7, "g", 0);
    }
    CHECK_EQ(pvm_barrier("g", MEMBERS), 0);
    pvm_lvgroup("g");
    team_done();
}

static void run(const char *role, int argument)
{
    struct team t;
    team_start(&t, role, argument, MEMBERS, 1);
    team_finish(&t);
}

static void master(int argc, char **argv)
{
    CHECK(argc > 1);
    if (!strcmp(argv[1], "mixed")) {
        run("member", 0);
        run("member", 1);
    } else if (!strcmp(argv[1], "order")) {
        run("sender", 0);
        run("sender", 1);
    } else {
        run("victim", 0);
    }
}

static const struct check_role roles[] = {{"member", member}, {"sender", sender}, {"victim", victim}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return check_main(argc, argv, master, roles);
}
