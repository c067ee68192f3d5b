#include "legacy.h"
#include <stdio.h>
#include <string.h>
#include "core/visible.h"
#include "groups/proto.h"
#include "pvm3.h"
#include "roster.h"

/* The count in the form of PVM's tools: -1 when no member waits. */
static int barrier_count(const struct group *g)
{
    return g->barrier.reached == 0 ? -1 : g->barrier.whole ? g->size : g->barrier.count;
}

/* ---- PVMG_GROUP_LEGACY_PRINT ---- */

static void print_group(const struct group *g)
{
    printf("group: %s, size: %d,  barrier_count %d, barrier_reached %d\ntids:\n", PVMC_VISIBLE(g->name), g->size,
           barrier_count(g), g->barrier.reached);
    for (unsigned i = 0; i < g->span; i++)
        if (g->slots[i])
            printf("%u 0x%x\t", i, (unsigned)g->slots[i]->tid);
    printf("\n%s", g->barrier.reached ? "tids waiting on barrier:\n" : "");
    for (int i = 0; i < g->barrier.reached; i++)
        printf("0x%x\t%s", (unsigned)g->barrier.tids[i], i + 1 < g->barrier.reached ? "" : "\n");
}

static void print_groups(void)
{
    printf("%d groups\n", pvmg_roster_count());
    for (const struct group *g = pvmg_roster_first(); g; g = g->hh.next)
        print_group(g);
    fflush(stdout);
}

/* ---- PVMG_GROUP_LEGACY_LIST ---- */

static void pack(int value)
{
    pvm_pkint(&value, 1, 1);
}

static void pack_group(const struct group *g)
{
    pack((int)strlen(g->name));
    pvm_pkstr(g->name);
    pack(g->size);
    pack((int)g->span);
    pack(barrier_count(g));
    pack(g->barrier.reached);
    for (unsigned i = 0; i < g->span; i++)
        pack(g->slots[i] ? g->slots[i]->tid : -1);
    pvm_pkint(g->barrier.tids, g->barrier.reached, 1);
}

static void send_groups(int to)
{
    pvm_initsend(PvmDataDefault);
    pack(pvmg_roster_count());
    for (const struct group *g = pvmg_roster_first(); g; g = g->hh.next)
        pack_group(g);
    pvm_send(to, PVMG_GROUP_LEGACY_LIST);
}

bool pvmg_legacy_request(int from, int operation)
{
    if (operation == PVMG_GROUP_LEGACY_PRINT)
        print_groups();
    else if (operation == PVMG_GROUP_LEGACY_LIST)
        send_groups(from);
    else
        return false;
    return true;
}
