/*
 * checks.c - the checks of each task of a mixed machine, apart from messages: hosts, spawning, ends of tasks, groups.
 */
#include <stdarg.h>
#include <stdio.h>
#include "tests/machine/runner/check.h"
#include "peer.h"

static const char *wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

static const char *wrong(const char *format, ...)
{
    static char text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return text;
}

/* ---- pvm_config, pvm_archcode ---- */

/* Data signatures as the layout in core/dsig.h gives them. */
static int dsig_of(int long_bytes, int big_endian)
{
    return (big_endian ? 0x06186318 : 0) + (long_bytes == 8 ? 0x00408c41 : 0x00408841);
}

static int formats(const struct machine *m)
{
    int n = 0;
    for (int i = 0; i < m->count; i++) {
        int j = 0;
        while (m->arch[j].long_bytes != m->arch[i].long_bytes || m->arch[j].big_endian != m->arch[i].big_endian)
            j++;
        n += j == i;
    }
    return n;
}

const char *check_config(const struct machine *m)
{
    struct pvmhostinfo *hosts;
    int n, arches;
    if (pvm_config(&n, &arches, &hosts) < 0)
        return "pvm_config failed";
    if (n != m->count || arches != formats(m))
        return wrong("%d hosts of %d formats, not %d of %d", n, arches, m->count, formats(m));
    for (int i = 0; i < n; i++) {
        int dsig = dsig_of(m->arch[i].long_bytes, m->arch[i].big_endian);
        if (strcmp(hosts[i].hi_arch, m->arch[i].name) != 0 || hosts[i].hi_dsig != dsig)
            return wrong("host %d is %s with 0x%08x", i, hosts[i].hi_arch, (unsigned)hosts[i].hi_dsig);
        if (pvm_archcode((char *)m->arch[i].name) != dsig)
            return wrong("pvm_archcode(\"%s\") differs", m->arch[i].name);
    }
    return NULL;
}

/* ---- pvm_spawn, pvm_notify ---- */

/* Reports its properties to its parent, and ends on request. */
void child(int argc, char **argv)
{
    int about[] = {(int)sizeof(long), is_big_endian(), argc > 1 ? atoi(argv[1]) : -1};
    CHECK(pvm_initsend(PvmDataRaw) > 0);
    CHECK_EQ(pvm_pkint(about, 3, 1), 0);
    CHECK_EQ(pvm_send(pvm_parent(), TAG_CHILD), 0);
    check_receive(pvm_parent(), TAG_GO);
}

static const char *check_child(const struct machine *m, int i, int tid)
{
    int about[3];
    check_receive(tid, TAG_CHILD);
    if (pvm_upkint(about, 3, 1) < 0)
        return "a child's message is too short";
    if (about[0] != m->arch[i].long_bytes || about[1] != m->arch[i].big_endian || about[2] != i)
        return wrong("the child on %s has longs of %d bytes, byte order %d, argument %d", m->arch[i].name, about[0],
                     about[1], about[2]);
    return NULL;
}

static const char *await_ends(const int *tids, int n)
{
    int ended = 0;
    for (int k = 0; k < n; k++) {
        int tid = check_receive_int(-1, TAG_EXIT);
        for (int i = 0; i < n; i++)
            if (tids[i] == tid)
                ended |= 1 << i;
    }
    return ended == (1 << n) - 1 ? NULL : wrong("ends of other tasks, or twice: 0x%x", ended);
}

static int spawn_on(const struct machine *m, int i, int *tid)
{
    char number[16], *argv[] = {"child", number, NULL};
    snprintf(number, sizeof number, "%d", i);
    return pvm_spawn((char *)m->arch[i].program, argv, m->one_host ? PvmTaskHost : PvmTaskArch,
                     m->one_host ? "." : (char *)m->arch[i].name, 1, tid);
}

const char *check_children(const struct machine *m)
{
    int tids[ARCHES_MAX];
    for (int i = 0; i < m->count; i++)
        if (spawn_on(m, i, &tids[i]) != 1)
            return wrong("spawning on %s says %d", m->arch[i].name, tids[i]);
    for (int i = 0; i < m->count; i++) {
        const char *fault = check_child(m, i, tids[i]);
        if (fault)
            return fault;
    }
    if (pvm_notify(PvmTaskExit, TAG_EXIT, m->count, tids) < 0)
        return "pvm_notify failed";
    for (int i = 0; i < m->count; i++)
        check_send_int(tids[i], TAG_GO, 0);
    return await_ends(tids, m->count);
}

/* ---- groups ---- */

enum { PARTS = 3 }; /* of each member's data */

/* Sums of the members' numbers 1, 2, ... in several types. */
#define CHECK_REDUCE(ctype, number, root)                                                                              \
    do {                                                                                                               \
        ctype data[PARTS] = {(ctype)(inst + 1), (ctype)(-inst), (ctype)100};                                           \
        if (pvm_reduce(PvmSum, data, PARTS, number, TAG_GROUP, "mixed", root) < 0)                                     \
            return "pvm_reduce failed";                                                                                \
        if (inst == root && (data[0] != (ctype)(n * (n + 1) / 2) || data[1] != (ctype)(-n * (n - 1) / 2) ||            \
                             data[2] != (ctype)(100 * n)))                                                             \
            return wrong("the sum of type %d is wrong at member %d", number, inst);                                    \
    } while (0)

static const char *reduce_at(int root, int inst, int n)
{
    CHECK_REDUCE(short, PVM_SHORT, root);
    CHECK_REDUCE(int, PVM_INT, root);
    CHECK_REDUCE(long, PVM_LONG, root);
    CHECK_REDUCE(unsigned, PVM_UINT, root);
    CHECK_REDUCE(float, PVM_FLOAT, root);
    CHECK_REDUCE(double, PVM_DOUBLE, root);
    int least = inst;
    if (pvm_reduce(PvmMin, &least, 1, PVM_INT, TAG_GROUP, "mixed", root) < 0 || (inst == root && least != 0))
        return "PvmMin is wrong";
    return NULL;
}

static const char *gather_and_scatter(int root, int inst, int n)
{
    long mine[PARTS] = {inst, -inst, 1000 + inst}, all[2 * ARCHES_MAX * PARTS];
    if (pvm_gather(all, mine, PARTS, PVM_LONG, TAG_GROUP, "mixed", root) < 0)
        return "pvm_gather failed";
    for (int i = 0; inst == root && i < n; i++)
        if (all[i * PARTS] != i || all[i * PARTS + 1] != -i || all[i * PARTS + 2] != 1000 + i)
            return wrong("pvm_gather: member %d's part is wrong", i);
    memset(mine, 0, sizeof mine);
    if (pvm_scatter(mine, all, PARTS, PVM_LONG, TAG_GROUP, "mixed", root) < 0)
        return "pvm_scatter failed";
    if (mine[0] != inst || mine[1] != -inst || mine[2] != 1000 + inst)
        return wrong("pvm_scatter: the part of member %d is wrong", inst);
    return NULL;
}

static const char *broadcast(int root, int inst)
{
    if (inst != root)
        return check_receive_int(pvm_gettid("mixed", root), TAG_GROUP + 1) == root ? NULL : "pvm_bcast: wrong number";
    if (pvm_initsend(PvmDataDefault) < 0 || pvm_pkint(&root, 1, 1) < 0 || pvm_bcast("mixed", TAG_GROUP + 1) < 0)
        return "pvm_bcast failed";
    return NULL;
}

const char *check_group(const struct machine *m)
{
    int n = 2 * m->count, inst = pvm_joingroup("mixed");
    const char *fault = NULL;
    if (inst < 0 || pvm_barrier("mixed", n) < 0)
        return wrong("joining or the barrier failed, instance %d", inst);
    for (int root = 0; root < n && !fault; root++) {
        fault = reduce_at(root, inst, n);
        if (!fault)
            fault = gather_and_scatter(root, inst, n);
        if (!fault)
            fault = broadcast(root, inst);
    }
    if (!fault && (pvm_barrier("mixed", n) < 0 || pvm_lvgroup("mixed") < 0))
        fault = "the last barrier or leaving failed";
    return fault;
}
