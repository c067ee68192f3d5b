/* dp.c - frames between tasks in raw Ethernet frames, on the reliability layer. See dp_transport.h for the parts. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utlist.h>
#include "../../core/clock.h"
#include "../../core/config.h"
#include "../../core/error.h"
#include "../../core/log.h"
#include "dp_transport.h"
#include "helper.h"

#define RING_FRAMES_MIN 32

/* ---- what is usable ---- */

static void read_settings(struct dp_settings *s)
{
    snprintf(s->interfaces, sizeof s->interfaces, "%s", pvmi_config_text(PVMI_SETTING_DP_LINK_IF));
    s->ethertype = (uint16_t)pvmi_config_integer(PVMI_SETTING_DP_LINK_ETHERTYPE);
    s->mtu = (uint32_t)pvmi_config_integer(PVMI_SETTING_DP_LINK_MTU);
    s->ring_bytes = (uint32_t)pvmi_config_integer(PVMI_SETTING_DP_LINK_RING);
    s->dead_after_us = pvmi_config_us(PVMI_SETTING_HOST_TIMEOUT);
    uint32_t window = (uint32_t)pvmi_config_integer(PVMI_SETTING_DP_LINK_WINDOW);
    for (s->window = 1; 2 * s->window <= window;)
        s->window *= 2;
}

/* The interfaces that are to be used: their number. The loopback is of use beside others, or if it is all there is. */
static int interfaces(const char *names, struct pvmi_dp_interface list[PVMI_DP_PLACES_MAX])
{
    return pvmi_dp_interfaces(names, list, PVMI_DP_PLACES_MAX);
}

static int no_interface(const char *names, char *why, size_t size)
{
    struct pvmi_dp_interface list[PVMI_DP_PLACES_MAX];
    int count = *names ? interfaces("", list) : 0;
    size_t at = (size_t)snprintf(
        why, size, *names ? "PVM_DP_IF=%s names no Ethernet interface that is up" : "no Ethernet interface is up%s",
        names);
    for (int i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(why + at, size - at, "%s%s", i ? ", " : ": there are ", list[i].name);
    return PVMI_ENOTFOUND;
}

static int dp_available(char *why, size_t size)
{
    struct pvmi_dp_interface list[PVMI_DP_PLACES_MAX];
    const char *helper, *names = pvmi_config_text(PVMI_SETTING_DP_LINK_IF);
    int count = interfaces(names, list), rc = pvmi_dp_helper_may_open(&helper, why, size);
    if (rc)
        return rc;
    return count ? 0 : no_interface(names, why, size);
}

/* Slower than tcp for all but short messages (a frame is a packet): so auto leaves it out, see choice.c. */
static void dp_query(const struct pvmi_transport *t, struct pvmi_attributes *out)
{
    (void)t;
    *out = (struct pvmi_attributes){.frame_max = PVMI_FRAME_PAYLOAD_MAX,
                                    .copy_max = PVMI_FRAME_PAYLOAD_MAX,
                                    .latency_ns = 5000,
                                    .bandwidth_mbs = 800,
                                    .by_name_only = true,
                                    .secrecy = "in the clear",
                                    .end_unseen = true};
}

/* ---- opening and closing ---- */

static int watch(const struct dp_transport *t, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    return epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, fd, &event) ? PVMI_ESYSTEM : 0;
}

static int open_port(struct dp_transport *t, const struct pvmi_dp_interface *interface, struct dp_port *p)
{
    struct pvmi_dp_interface used = *interface;
    struct pvmi_dp_point point = {.node = t->node};
    if (used.mtu > (int)t->settings.mtu)
        used.mtu = (int)t->settings.mtu;
    int fd = pvmi_dp_helper_open(&used, t->settings.ethertype, &point);
    if (fd < 0)
        return fd;
    unsigned frames = t->settings.ring_bytes / (unsigned)(used.mtu + 128);
    *p = (struct dp_port){.down_until_us = 0};
    int rc = pvmi_dp_port_open(&p->port, fd, &used, t->settings.ethertype, point,
                               frames > RING_FRAMES_MIN ? frames : RING_FRAMES_MIN);
    if (rc)
        return rc;
    rc = watch(t, fd);
    if (rc)
        pvmi_dp_port_close(&p->port);
    return rc;
}

/* One that cannot be opened does not keep us from the others. */
static int open_ports(struct dp_transport *t)
{
    struct pvmi_dp_interface list[PVMI_DP_PLACES_MAX];
    int count = interfaces(t->settings.interfaces, list), rc = PVMI_ENOTFOUND;
    for (int i = 0; i < count; i++) {
        int one = open_port(t, &list[i], &t->ports[t->port_count]);
        t->port_count += !one;
        if (one)
            pvmi_log(PVMI_LOG_WARNING, "no dp links by %s: %s", list[i].name, pvmi_error_text(one));
        if (one || rc)
            rc = one;
    }
    return t->port_count ? 0 : rc;
}

/* The interface of a port has gone, and one of the same name come. Links by the old one will end. */
static void reopen_port(struct dp_transport *t, struct dp_port *p)
{
    struct pvmi_dp_interface interface;
    struct dp_port fresh;
    if (pvmi_dp_interface_find(p->port.interface.name, &interface) || open_port(t, &interface, &fresh))
        return;
    pvmi_dp_port_close(&p->port);
    *p = fresh;
}

int pvmi_dp_ports_renew(struct dp_transport *t)
{
    bool usable = pvmi_dp_ports_look_again(t);
    for (unsigned i = 0; i < t->port_count; i++) {
        struct dp_port *p = &t->ports[i];
        if (p->down_until_us)
            reopen_port(t, p);
        usable = usable || !p->down_until_us;
    }
    return usable ? 0 : PVMI_EDOWN;
}

static int set_up(struct dp_transport *t)
{
    read_settings(&t->settings);
    pvmi_host_identity(t->host);
    t->node = t->base.callbacks->node ? t->base.callbacks->node(t->base.arg) : 1;
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    t->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    if (t->epoll_fd < 0 || t->timer_fd < 0)
        return PVMI_ELIMIT;
    int rc = watch(t, t->timer_fd);
    return rc ? rc : open_ports(t);
}

static void close_descriptors(struct dp_transport *t)
{
    for (unsigned i = 0; i < t->port_count; i++)
        pvmi_dp_port_close(&t->ports[i].port);
    if (t->timer_fd >= 0)
        close(t->timer_fd);
    if (t->epoll_fd >= 0)
        close(t->epoll_fd);
}

/* A forked child drops its copies in silence: the peers are its parent's. */
static void dp_close(struct pvmi_transport *base)
{
    struct dp_transport *t = (struct dp_transport *)base;
    struct dp_link *l, *next;
    bool ours = t->pid == getpid();
    t->now_us = pvmi_clock_us();
    HASH_ITER (hh, t->links, l, next) {
        if (ours && l->frames.reliable) {
            l->frames.silent = true;
            pvmi_reliable_end(l->frames.reliable, t->now_us);
            pvmi_dp_flush(t);
        }
        HASH_DELETE(hh, t->links, l);
        pvmi_dp_link_free(l);
    }
    DL_FOREACH_SAFE (t->graveyard, l, next)
        pvmi_dp_link_free(l);
    pvmi_agenda_clear(&t->agenda);
    close_descriptors(t);
    free(t);
}

static int dp_open(const char *address, const struct pvmi_callbacks *callbacks, void *arg, struct pvmi_transport **out)
{
    extern const struct pvmi_transport_ops pvmi_dp_ops;
    struct dp_transport *t = address ? NULL : calloc(1, sizeof *t);
    if (!t)
        return address ? PVMI_EUNSUPPORTED : PVMI_ENOMEM; /* it connects by offer */
    t->base = (struct pvmi_transport){.ops = &pvmi_dp_ops, .callbacks = callbacks, .arg = arg};
    t->pid = getpid();
    t->epoll_fd = t->timer_fd = -1;
    int rc = set_up(t);
    if (rc) {
        dp_close(&t->base);
        return rc;
    }
    pvmi_dp_links_share(t);
    *out = &t->base;
    return 0;
}

/* ---- the table ---- */

static size_t dp_pending(const struct pvmi_endpoint *base)
{
    return pvmi_frames_pending(&((const struct dp_link *)base)->frames);
}

static size_t dp_unsent(const struct pvmi_endpoint *base)
{
    return pvmi_frames_unsent(&((const struct dp_link *)base)->frames);
}

static int dp_fd(struct pvmi_transport *base)
{
    return ((struct dp_transport *)base)->epoll_fd;
}

const struct pvmi_transport_ops pvmi_dp_ops = {
    .name = "dp",
    .summary = "raw Ethernet frames between tasks (Directed Point)",
    .available = dp_available,
    .describe = pvmi_dp_describe,
    .open = dp_open,
    .close = dp_close,
    .query = dp_query,
    .offer = pvmi_dp_link_offer,
    .join = pvmi_dp_link_join,
    .joined = pvmi_dp_link_joined,
    .disconnect = pvmi_dp_link_disconnect,
    .send = pvmi_dp_link_send,
    .pending = dp_pending,
    .unsent = dp_unsent,
    .progress = pvmi_dp_progress,
    .fd = dp_fd,
    .arm = pvmi_dp_arm,
};
