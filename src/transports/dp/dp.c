/* dp.c - frames between tasks in raw Ethernet frames. See dp_transport.h for the parts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "dp_transport.h"

#define RING_BYTES      (4u << 20) /* receive ring of each interface */
#define RING_FRAMES_MIN 32

/* ---- availability ---- */

static void read_settings(struct dp_settings *s)
{
    snprintf(s->interfaces, sizeof s->interfaces, "%s", pvmc_config_text(PVMC_SETTING_DP_LINK_IF));
    s->ethertype = (uint16_t)pvmc_config_integer(PVMC_SETTING_DP_LINK_ETHERTYPE);
}

/* Lists the usable interfaces, including the loopback. Returns their number. */
static int interfaces(const char *names, struct dpi_interface list[PVMT_DP_PLACES_MAX])
{
    return dpi_interfaces(names, list, PVMT_DP_PLACES_MAX);
}

static int no_interface(const char *names, char *why, size_t size)
{
    struct dpi_interface list[PVMT_DP_PLACES_MAX];
    int count = *names ? interfaces("", list) : 0;
    size_t at = (size_t)snprintf(
        why, size, *names ? "PVM_DP_IF=%s names no Ethernet interface that is up" : "no Ethernet interface is up%s",
        names);
    for (int i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(why + at, size - at, "%s%s", i ? ", " : ": there are ", list[i].name);
    return PVMC_ENOTFOUND;
}

static int dp_available(char *why, size_t size)
{
    struct dpi_interface list[PVMT_DP_PLACES_MAX];
    const char *helper, *names = pvmc_config_text(PVMC_SETTING_DP_LINK_IF);
    int count = interfaces(names, list), rc = dpi_helper_may_open(&helper, why, size);
    if (rc)
        return rc;
    return count ? 0 : no_interface(names, why, size);
}

/* A dp frame is limited to one packet, so dp is slower than tcp except for short messages, and auto leaves it out. */
static void dp_query(const struct pvmt_transport *t, struct pvmt_attributes *out)
{
    (void)t;
    *out = (struct pvmt_attributes){.frame_max = PVMC_FRAME_PAYLOAD_MAX,
                                    .copy_max = PVMC_FRAME_PAYLOAD_MAX,
                                    .latency_ns = 5000,
                                    .bandwidth_mbs = 800,
                                    .by_name_only = true,
                                    .secrecy = "in the clear",
                                    .end_unseen = true};
}

/* ---- opening and closing ---- */

static int open_port(struct dp_transport *t, const struct dpi_interface *interface, struct dp_port *p)
{
    struct dpi_interface used = *interface;
    struct dpi_point point = {.node = t->node};
    if (used.mtu > DP_MTU_MAX)
        used.mtu = DP_MTU_MAX;
    int fd = dpi_helper_open(&used, t->settings.ethertype, &point);
    if (fd < 0)
        return fd;
    unsigned frames = RING_BYTES / (unsigned)(used.mtu + 128);
    *p = (struct dp_port){.down_until_us = 0};
    int rc = dpi_port_open(&p->port, fd, &used, t->settings.ethertype, point,
                           frames > RING_FRAMES_MIN ? frames : RING_FRAMES_MIN);
    if (rc)
        return rc;
    rc = pvmt_datagram_watch(&t->base, fd, (epoll_data_t){.fd = fd});
    if (rc)
        dpi_port_close(&p->port);
    return rc;
}

/* Opens all ports it can. Fails only if none can be opened. */
static int open_ports(struct dp_transport *t)
{
    struct dpi_interface list[PVMT_DP_PLACES_MAX];
    int count = interfaces(t->settings.interfaces, list), rc = PVMC_ENOTFOUND;
    for (int i = 0; i < count; i++) {
        int one = open_port(t, &list[i], &t->ports[t->port_count]);
        t->port_count += !one;
        if (one)
            pvmc_log(PVMC_LOG_WARNING, "no dp links over %s: %s", list[i].name, pvmc_error_text(one));
        if (one || rc)
            rc = one;
    }
    return t->port_count ? 0 : rc;
}

/* Reopens a port whose interface was replaced by one of the same name. Links over the old one will end. */
static void reopen_port(struct dp_transport *t, struct dp_port *p)
{
    struct dpi_interface interface;
    struct dp_port fresh;
    if (dpi_interface_find(p->port.interface.name, &interface) || open_port(t, &interface, &fresh))
        return;
    dpi_port_close(&p->port);
    *p = fresh;
}

int pvmt_dp_ports_renew(struct dp_transport *t)
{
    bool usable = pvmt_dp_ports_look_again(t);
    for (unsigned i = 0; i < t->port_count; i++) {
        struct dp_port *p = &t->ports[i];
        if (p->down_until_us)
            reopen_port(t, p);
        usable = usable || !p->down_until_us;
    }
    return usable ? 0 : PVMC_EDOWN;
}

static int open_carrier(struct pvmt_datagram *base)
{
    struct dp_transport *t = (struct dp_transport *)base;
    const struct pvmt_transport *transport = &base->transport;
    read_settings(&t->settings);
    pvmw_host_identity(t->host);
    t->node = transport->callbacks->node ? transport->callbacks->node(transport->arg) : 1;
    int rc = open_ports(t);
    if (!rc)
        pvmt_dp_links_share(t);
    return rc;
}

static void close_carrier(struct pvmt_datagram *base)
{
    struct dp_transport *t = (struct dp_transport *)base;
    for (unsigned i = 0; i < t->port_count; i++)
        dpi_port_close(&t->ports[i].port);
}

/* ---- the tables ---- */

static const struct pvmt_datagram_carrier carrier = {
    .ops = &pvmt_dp_ops,
    .transport_bytes = sizeof(struct dp_transport),
    .link_bytes = sizeof(struct dp_link),
    .open = open_carrier,
    .close = close_carrier,
    .offer = pvmt_dp_link_offer,
    .join = pvmt_dp_link_join,
    .joined = pvmt_dp_link_joined,
    .leave = pvmt_dp_link_leave,
    .emit = pvmt_dp_link_emit,
    .flush = pvmt_dp_flush,
    .hear = pvmt_dp_hear,
    .has_packets = pvmt_dp_has_packets,
    .sleep_until = pvmt_dp_sleep_until,
};

static int dp_open(const char *address, const struct pvmt_callbacks *callbacks, void *arg, struct pvmt_transport **out)
{
    return pvmt_datagram_open(&carrier, address, callbacks, arg, out);
}

const struct pvmt_transport_ops pvmt_dp_ops = {
    .name = "dp",
    .summary = "raw Ethernet frames between tasks (Directed Point)",
    .available = dp_available,
    .describe = pvmt_dp_describe,
    .open = dp_open,
    .close = pvmt_datagram_close,
    .query = dp_query,
    .offer = pvmt_datagram_offer,
    .join = pvmt_datagram_join,
    .joined = pvmt_datagram_joined,
    .disconnect = pvmt_datagram_disconnect,
    .send = pvmt_datagram_send,
    .pending = pvmt_datagram_pending,
    .unsent = pvmt_datagram_unsent,
    .progress = pvmt_dp_progress,
    .fd = pvmt_datagram_fd,
    .arm = pvmt_datagram_arm,
};
