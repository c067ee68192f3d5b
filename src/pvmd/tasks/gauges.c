/* gauges.c - see gauges.h. */
#include "gauges.h"
#include <stdlib.h>
#include <sys/mman.h>
#include <utlist.h>
#include "core/memory/memfd.h"

struct pvmd_gauges {
    const struct pvmc_gauges *page;
    struct pvmd_gauges *prev, *next;
};

static struct pvmd_gauges *all;
static struct pvmc_gauges_route gone[PVMC_GAUGES_ROUTE_COUNT]; /* sums of the tasks that have left */

static void unmap(const struct pvmc_gauges *page)
{
    munmap((void *)page, PVMC_GAUGES_BYTES);
}

static const struct pvmc_gauges *map(int fd)
{
    if (fd < 0 || !pvmc_memfd_is_sound(fd, PVMC_GAUGES_BYTES))
        return NULL;
    const struct pvmc_gauges *page = mmap(NULL, PVMC_GAUGES_BYTES, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED)
        return NULL;
    if (page->version == PVMC_GAUGES_VERSION)
        return page;
    unmap(page);
    return NULL;
}

struct pvmd_gauges *pvmd_gauges_open(int fd)
{
    const struct pvmc_gauges *page = map(fd);
    struct pvmd_gauges *g = page ? malloc(sizeof *g) : NULL;
    if (g) {
        g->page = page;
        DL_APPEND(all, g);
    } else if (page) {
        unmap(page);
    }
    return g;
}

static void add(struct pvmc_gauges_route *sum, const struct pvmc_gauges_route *r)
{
    sum->tx_messages += r->tx_messages;
    sum->tx_bytes += r->tx_bytes;
    sum->rx_messages += r->rx_messages;
    sum->rx_bytes += r->rx_bytes;
}

void pvmd_gauges_close(struct pvmd_gauges *g)
{
    if (!g)
        return;
    for (unsigned i = 0; i < PVMC_GAUGES_ROUTE_COUNT; i++)
        add(&gone[i], &g->page->routes[i]);
    DL_DELETE(all, g);
    unmap(g->page);
    free(g);
}

bool pvmd_gauges_read(const struct pvmd_gauges *g, struct pvmc_gauges *out)
{
    *out = g ? *g->page : (struct pvmc_gauges){0};
    return g;
}

struct pvmc_gauges_route pvmd_gauges_sum(enum pvmc_gauges_route_index route)
{
    struct pvmc_gauges_route sum = gone[route];
    const struct pvmd_gauges *g;
    DL_FOREACH (all, g)
        add(&sum, &g->page->routes[route]);
    return sum;
}
