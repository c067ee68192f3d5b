#include "old.h"
#include <stdio.h>
#include <string.h>
#include "../../core/visible.h"
#include "../proto.h"
#include "pvm3.h"
#include "roster.h"

/* As the tools print it: -1 when nobody waits. */
static int barrier_count(const struct group *g)
{
    return g->barrier.reached == 0 ? -1 : g->barrier.whole ? g->size : g->barrier.count;
}

/* ---- PVMI_GROUP_OLD_PRINT ---- */

static void print_group(const struct group *g)
{
    printf("group: %s, size: %d,  barrier_count %d, barrier_reached %d\ntids:\n", PVMI_VISIBLE(g->name), g->size,
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
    printf("%d groups\n", roster_count());
    for (const struct group *g = roster_first(); g; g = g->hh.next)
        print_group(g);
    fflush(stdout);
}

/* ---- PVMI_GROUP_OLD_LIST ---- */

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
    pack(roster_count());
    for (const struct group *g = roster_first(); g; g = g->hh.next)
        pack_group(g);
    pvm_send(to, PVMI_GROUP_OLD_LIST);
}

bool old_request(int from, int operation)
{
    if (operation == PVMI_GROUP_OLD_PRINT)
        print_groups();
    else if (operation == PVMI_GROUP_OLD_LIST)
        send_groups(from);
    else
        return false;
    return true;
}
