/* device.c - see device.h. */
#include "device.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include "core/clock.h"
#include "core/config.h"
#include "core/error.h"

#define GIDS_MAX   256
#define RXE_VENDOR 0xffffff /* soft-RoCE has no vendor id */
#define WHY_BYTES  512
#define AGAIN_US   1000000 /* interval of searches for ports */

/* What the settings ask for. */
struct wish {
    const char *device; /* "": any */
    int64_t port;       /* 0: any */
    int64_t gid_index;  /* -1: any */
    bool has_address;
    struct in_addr address; /* PVM_IP */
};

/* Called for each port; why is "" if the port can be used. */
typedef void port_visitor(void *arg, const struct pvmt_rdma_port *p, const char *why);

static void read_wish(struct wish *w)
{
    w->device = pvmc_config_text(PVMC_SETTING_RDMA_DEVICE);
    w->port = pvmc_config_integer(PVMC_SETTING_RDMA_PORT);
    w->gid_index = pvmc_config_integer(PVMC_SETTING_RDMA_GID_INDEX);
    w->has_address = inet_pton(AF_INET, pvmc_config_text(PVMC_SETTING_IP), &w->address) == 1;
}

/* ---- GIDs ---- */

static bool gid_is_v4(const union ibv_gid *gid)
{
    static const uint8_t prefix[12] = {[10] = 0xff, [11] = 0xff};
    return !memcmp(gid->raw, prefix, sizeof prefix);
}

static bool gid_is_local(const union ibv_gid *gid)
{
    return gid->raw[0] == 0xfe && (gid->raw[1] & 0xc0) == 0x80;
}

static const char *gid_text(const union ibv_gid *gid, char text[INET6_ADDRSTRLEN])
{
    bool v4 = gid_is_v4(gid);
    return inet_ntop(v4 ? AF_INET : AF_INET6, gid->raw + (v4 ? 12 : 0), text, INET6_ADDRSTRLEN);
}

/* Rank of a GID; 0: unusable. RoCE v2 crosses routers, and users know IPv4 addresses. */
static unsigned gid_preference(const struct wish *w, const struct pvmt_rdma_port *p, const struct ibv_gid_entry *g)
{
    if (w->gid_index >= 0)
        return g->gid_index == w->gid_index ? 1 : 0;
    if (!p->ethernet)
        return g->gid_index == 0 ? 8 : 1;
    if (gid_is_v4(&g->gid) && g->gid.raw[12] == 127)
        return 0;
    unsigned preference = g->gid_type == IBV_GID_TYPE_ROCE_V2 ? 4 : 1;
    if (gid_is_v4(&g->gid))
        preference += w->has_address && !memcmp(g->gid.raw + 12, &w->address, 4) ? 8 : 3;
    else if (!gid_is_local(&g->gid))
        preference += 1;
    return preference;
}

/* Fills in the best GID; false when there is none. */
static bool choose_gid(const struct wish *w, const struct ibv_gid_entry *gids, ssize_t count, struct pvmt_rdma_port *p)
{
    p->preference = 0;
    for (ssize_t i = 0; i < count; i++) {
        unsigned preference = gids[i].port_num == p->number ? gid_preference(w, p, &gids[i]) : 0;
        if (preference <= p->preference)
            continue;
        p->preference = preference;
        p->gid = gids[i].gid;
        p->gid_index = (uint8_t)gids[i].gid_index;
    }
    return p->preference;
}

/* ---- ports ---- */

static enum ibv_mtu mtu_for(enum ibv_mtu active)
{
    int64_t wanted = pvmc_config_integer(PVMC_SETTING_RDMA_MTU);
    enum ibv_mtu mtu = IBV_MTU_256;
    while (wanted && mtu < active && 256 << mtu <= wanted)
        mtu++;
    return wanted ? mtu : active;
}

static unsigned speed_of(const struct ibv_port_attr *a)
{
    unsigned lanes = a->active_width == 8 ? 12 : a->active_width == 4 ? 8 : a->active_width == 2 ? 4 : 1;
    static const struct {
        unsigned bit, lane_mbs;
    } speeds[] = {{1, 250}, {2, 500}, {4, 1000}, {8, 1000}, {16, 1700}, {32, 3100}, {64, 6200}, {128, 12500}};
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        if (a->active_speed == speeds[i].bit)
            return lanes * speeds[i].lane_mbs;
    return 0;
}

static void visit_port(const struct pvmt_verbs *verbs, struct ibv_context *context, const struct wish *w,
                       struct pvmt_rdma_port *p, port_visitor *visit, void *arg)
{
    char why[WHY_BYTES] = "";
    struct ibv_port_attr attr;
    struct ibv_gid_entry gids[GIDS_MAX];
    memset(&attr, 0, sizeof attr);
    int failed = verbs->query_port(context, p->number, &attr);
    ssize_t count = failed ? 0 : verbs->query_gid_table(context, gids, GIDS_MAX);
    p->ethernet = attr.link_layer == IBV_LINK_LAYER_ETHERNET;
    p->lid = attr.lid;
    p->mtu = mtu_for(attr.active_mtu);
    p->speed_mbs = speed_of(&attr);
    if (failed)
        snprintf(why, sizeof why, "cannot be asked: %s", strerror(failed));
    else if (attr.state != IBV_PORT_ACTIVE)
        snprintf(why, sizeof why, "is not active: see that its cable or interface is up (ip link)");
    else if (!choose_gid(w, gids, count, p) && w->gid_index >= 0)
        snprintf(why, sizeof why, "has no GID %lld (PVM_RDMA_GID_INDEX): see show_gids or rdma(8)",
                 (long long)w->gid_index);
    else if (!p->preference)
        snprintf(why, sizeof why, "has no GID: give its interface an address (ip addr)");
    else if (w->device[0] && strcmp(w->device, p->device))
        snprintf(why, sizeof why, "is not the one that PVM_RDMA_DEVICE=%s names", w->device);
    else if (w->port && w->port != p->number)
        snprintf(why, sizeof why, "is not the one that PVM_RDMA_PORT=%lld names", (long long)w->port);
    visit(arg, p, why);
}

static void visit_device(const struct pvmt_verbs *verbs, struct ibv_device *d, const struct wish *w,
                         port_visitor *visit, void *arg)
{
    struct pvmt_rdma_port p = {.number = 1};
    struct ibv_device_attr attr;
    char why[WHY_BYTES];
    snprintf(p.device, sizeof p.device, "%s", verbs->get_device_name(d));
    struct ibv_context *context = verbs->open_device(d);
    int failed = context ? verbs->query_device(context, &attr) : errno;
    if (!failed) {
        p.soft = attr.vendor_id == RXE_VENDOR;
        for (unsigned i = 1; i <= attr.phys_port_cnt; i++) {
            p.number = (uint8_t)i;
            visit_port(verbs, context, w, &p, visit, arg);
        }
    } else {
        snprintf(why, sizeof why, "cannot be opened: %s%s", strerror(failed),
                 failed == EACCES || failed == EPERM ? " (may you read and write /dev/infiniband?)" : "");
        visit(arg, &p, why);
    }
    if (context)
        verbs->close_device(context);
}

/* Visits all ports of all devices. 0, or why there are none. */
static int visit_all(const struct wish *w, port_visitor *visit, void *arg, char *why, size_t size)
{
    int count = 0;
    if (!pvmt_verbs_wanted()) {
        snprintf(why, size,
                 "no RDMA device: /sys/class/infiniband is empty (soft-RoCE: rdma link add rxe0 type rxe "
                 "netdev eth0)");
        return PVMC_ENOTFOUND;
    }
    const struct pvmt_verbs *verbs = pvmt_verbs_load(why, size);
    struct ibv_device **list = verbs ? verbs->get_device_list(&count) : NULL;
    if (!verbs)
        return PVMC_EUNSUPPORTED;
    for (int i = 0; list && i < count; i++)
        visit_device(verbs, list[i], w, visit, arg);
    if (list)
        verbs->free_device_list(list);
    if (list && count)
        return 0;
    snprintf(why, size,
             list ? "libibverbs finds no device: is the package ibverbs-providers installed?"
                  : "libibverbs cannot list devices: is the kernel module ib_uverbs loaded?");
    return PVMC_ENOTFOUND;
}

/* ---- choosing ---- */

struct search {
    struct pvmt_rdma_port *best;
    bool found;
    char *why;
    size_t size;
};

static void consider(void *arg, const struct pvmt_rdma_port *p, const char *why)
{
    struct search *s = arg;
    size_t length = strlen(s->why);
    if (!why[0] && (!s->found || p->preference > s->best->preference)) {
        *s->best = *p;
        s->found = true;
    } else if (why[0] && length < s->size) {
        snprintf(s->why + length, s->size - length, "%s%s port %u %s", length ? "; " : "", p->device, p->number, why);
    }
}

static int search(struct pvmt_rdma_port *out, char *why, size_t size)
{
    struct wish w;
    struct search s = {.best = out, .why = why, .size = size};
    why[0] = '\0';
    read_wish(&w);
    int rc = visit_all(&w, consider, &s, why, size);
    if (rc)
        return rc;
    if (s.found)
        why[0] = '\0';
    return s.found ? 0 : PVMC_ENOTFOUND;
}

/*
 * The result of the last search, because opening devices takes milliseconds and transports are listed often. A search
 * that found no port is repeated, because one may have appeared.
 */
static struct {
    bool valid;
    int rc;
    int64_t again_us; /* after a search without success */
    char settings[512];
    char why[WHY_BYTES];
    struct pvmt_rdma_port port;
} last;

int pvmt_rdma_port_choose(struct pvmt_rdma_port *out, char *why, size_t size)
{
    char settings[sizeof last.settings];
    snprintf(settings, sizeof settings, "%s %lld %lld %lld %s", pvmc_config_text(PVMC_SETTING_RDMA_DEVICE),
             (long long)pvmc_config_integer(PVMC_SETTING_RDMA_PORT),
             (long long)pvmc_config_integer(PVMC_SETTING_RDMA_GID_INDEX),
             (long long)pvmc_config_integer(PVMC_SETTING_RDMA_MTU), pvmc_config_text(PVMC_SETTING_IP));
    bool old = last.rc && pvmc_clock_us() >= last.again_us;
    if (!last.valid || old || strcmp(settings, last.settings)) {
        last.rc = search(&last.port, last.why, sizeof last.why);
        last.again_us = pvmc_clock_us() + AGAIN_US;
        memcpy(last.settings, settings, sizeof settings);
        last.valid = true;
    }
    *out = last.port;
    if (size)
        snprintf(why, size, "%s", last.why);
    return last.rc;
}

void pvmt_rdma_port_forget(void)
{
    last.valid = false;
}

struct ibv_context *pvmt_rdma_device_open(const struct pvmt_verbs *verbs, const char *name)
{
    int count = 0;
    struct ibv_context *context = NULL;
    struct ibv_device **list = verbs->get_device_list(&count);
    errno = ENODEV;
    for (int i = 0; list && i < count && !context; i++)
        if (!strcmp(verbs->get_device_name(list[i]), name))
            context = verbs->open_device(list[i]);
    int kept = errno;
    if (list)
        verbs->free_device_list(list);
    errno = kept;
    return context;
}

/* ---- describing ---- */

struct listing {
    void (*line)(void *arg, const char *text);
    void *arg;
};

static void describe(void *arg, const struct pvmt_rdma_port *p, const char *why)
{
    const struct listing *l = arg;
    char text[WHY_BYTES + 160], gid[INET6_ADDRSTRLEN];
    if (why[0])
        snprintf(text, sizeof text, "%s port %u %s", p->device, p->number, why);
    else
        snprintf(text, sizeof text, "%s port %u: %s, MTU %d, GID %u = %s%s", p->device, p->number,
                 p->ethernet ? "RoCE" : "InfiniBand", 128 << p->mtu, p->gid_index, gid_text(&p->gid, gid),
                 p->soft ? ", soft-RoCE" : "");
    l->line(l->arg, text);
}

void pvmt_rdma_ports_describe(void (*line)(void *arg, const char *text), void *arg)
{
    struct wish w;
    struct listing l = {line, arg};
    char why[WHY_BYTES];
    read_wish(&w);
    visit_all(&w, describe, &l, why, sizeof why);
}
