/*
 * region.c - memory registered with the device. Registering pages costs tens of microseconds, so regions of message
 * memory, which are reused, stay registered: up to PVM_RDMA_CACHE bytes of the most recently used. Other memory could
 * be unmapped and remapped unnoticed, so it is registered for one use only.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utlist.h>
#include "core/error.h"
#include "core/log.h"
#include "rdma.h"

#define REGIONS_MAX   512
#define REGION_ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ)

static struct rdma_transport *transports; /* all open transports */

/* ---- the device ---- */

static void complain(struct rdma_transport *t, size_t bytes, int failed)
{
    struct rlimit limit = {0};
    getrlimit(RLIMIT_MEMLOCK, &limit);
    bool locked = (failed == ENOMEM || failed == EPERM || failed == EAGAIN) && limit.rlim_cur != RLIM_INFINITY;
    pvmc_log(t->complained ? PVMC_LOG_INFO : PVMC_LOG_WARNING,
             locked ? "rdma: cannot register %zu bytes with %s: %s; this process may lock %llu KiB: raise ulimit -l"
                    : "rdma: cannot register %zu bytes with %s: %s",
             bytes, t->port.device, strerror(failed), (unsigned long long)limit.rlim_cur >> 10);
    t->complained = true;
}

static void region_free(struct rdma_transport *t, struct rdma_region *r)
{
    t->verbs->dereg_mr(r->mr);
    t->registered_bytes -= r->bytes;
    free(r);
}

static void cache_remove(struct rdma_transport *t, struct rdma_region *r)
{
    DL_DELETE(t->cache, r);
    t->cached_bytes -= r->bytes;
    t->region_count--;
    r->kept = false;
    if (!r->uses)
        region_free(t, r);
}

/* Deregisters unused regions, oldest first, until at most so many bytes are kept. */
static void cache_shrink(struct rdma_transport *t, size_t bytes, unsigned count)
{
    struct rdma_region *r = t->cache ? t->cache->prev : NULL;
    while (r && (t->cached_bytes > bytes || t->region_count > count)) {
        struct rdma_region *before = r == t->cache ? NULL : r->prev;
        if (!r->uses)
            cache_remove(t, r);
        r = before;
    }
}

struct ibv_mr *pvmt_rdma_register(struct rdma_transport *t, void *data, size_t bytes, int access)
{
    struct ibv_mr *mr = t->verbs->reg_mr(t->pd, data, bytes, access);
    if (mr || !t->cache) {
        if (!mr)
            complain(t, bytes, errno);
        return mr;
    }
    cache_shrink(t, 0, 0);
    mr = t->verbs->reg_mr(t->pd, data, bytes, access);
    if (!mr)
        complain(t, bytes, errno);
    return mr;
}

/* ---- the cache ---- */

static bool covers(const struct rdma_region *r, const uint8_t *at, size_t bytes)
{
    return at >= r->data && at < r->data + r->bytes && bytes <= r->bytes - (size_t)(at - r->data);
}

static struct rdma_region *cache_find(struct rdma_transport *t, const uint8_t *at, size_t bytes)
{
    struct rdma_region *r;
    DL_FOREACH (t->cache, r)
        if (covers(r, at, bytes))
            break;
    if (r && r != t->cache) {
        DL_DELETE(t->cache, r);
        DL_PREPEND(t->cache, r);
    }
    return r;
}

static struct rdma_region *region_new(struct rdma_transport *t, const uint8_t *at, size_t bytes, int access)
{
    struct rdma_region *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    *r = (struct rdma_region){.data = at, .bytes = bytes};
    r->mr = pvmt_rdma_register(t, (void *)at, bytes, access);
    if (!r->mr) {
        free(r);
        return NULL;
    }
    t->registered_bytes += bytes;
    return r;
}

static struct rdma_region *cache_add(struct rdma_transport *t, const struct pvmc_mem *m)
{
    cache_shrink(t, t->cache_bytes - m->capacity, REGIONS_MAX - 1);
    struct rdma_region *r = region_new(t, m->data, m->capacity, REGION_ACCESS);
    if (!r)
        return NULL;
    r->kept = true;
    DL_PREPEND(t->cache, r);
    t->cached_bytes += r->bytes;
    t->region_count++;
    return r;
}

struct rdma_region *pvmt_rdma_region_get(struct rdma_transport *t, const void *at, size_t bytes, int access)
{
    struct rdma_region *r = cache_find(t, at, bytes);
    const struct pvmc_mem *m = r ? NULL : pvmc_mem_at(at, bytes);
    if (!r && m && m->capacity <= t->cache_bytes / 2)
        r = cache_add(t, m);
    if (!r)
        r = region_new(t, at, bytes, access);
    if (r)
        r->uses++;
    return r;
}

void pvmt_rdma_region_put(struct rdma_transport *t, struct rdma_region *r)
{
    if (!--r->uses && !r->kept)
        region_free(t, r);
}

/* ---- memory being freed ---- */

static void forget(const uint8_t *data, size_t bytes)
{
    struct rdma_transport *t;
    LL_FOREACH2(transports, t, next_open)
    {
        struct rdma_region *r, *next;
        if (t->pid != getpid())
            continue;
        DL_FOREACH_SAFE (t->cache, r, next)
            if (r->data < data + bytes && data < r->data + r->bytes)
                cache_remove(t, r);
    }
}

void pvmt_rdma_regions_open(struct rdma_transport *t)
{
    LL_PREPEND2(transports, t, next_open);
    pvmc_mem_on_unmap(forget);
}

void pvmt_rdma_regions_close(struct rdma_transport *t, bool foreign)
{
    LL_DELETE2(transports, t, next_open);
    struct rdma_region *r, *next;
    DL_FOREACH_SAFE (t->cache, r, next)
        if (foreign)
            free(r);
        else
            cache_remove(t, r);
    t->cache = NULL;
}
