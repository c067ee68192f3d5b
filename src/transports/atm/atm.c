/* atm.c - frames between tasks over a simulated ATM network, on the reliability layer. Parts: see atm_transport.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <utlist.h>
#include "../../core/clock.h"
#include "../../core/config.h"
#include "../../core/error.h"
#include "../../core/log.h"
#include "atm_transport.h"

/* ---- what is usable ---- */

static bool is_virtual; /* the network that was looked at last */

static int atm_available(char *why, size_t size)
{
    const struct pvmi_atm_library *library = pvmi_atm_library(why, size);
    if (!library)
        return PVMI_ENOTFOUND;
    int clock = library->sim_look();
    is_virtual = clock == ATM_CLOCK_VIRTUAL;
    if (clock == ATM_CLOCK_REAL)
        clock = library->sim_clock(); /* joins; in virtual time there is a turn for that, on enrolment */
    if (clock >= 0)
        return 0;
    if (errno == ENOENT) {
        snprintf(why, size, "the network has no host of the name that PVM_ATM_HOST gives");
        return PVMI_ENOTFOUND;
    }
    snprintf(why, size, "no simulated ATM network: %s; start one with atm-sim serve", strerror(errno));
    return PVMI_EUNREACHABLE;
}

/* For those who name it: auto has no use for it. */
static void atm_query(const struct pvmi_transport *t, struct pvmi_attributes *out)
{
    bool has_clock = t ? ((const struct atm_transport *)t)->is_virtual : is_virtual;
    *out = (struct pvmi_attributes){.frame_max = PVMI_FRAME_PAYLOAD_MAX,
                                    .copy_max = PVMI_FRAME_PAYLOAD_MAX,
                                    .latency_ns = 1000000,
                                    .bandwidth_mbs = 10,
                                    .by_name_only = true,
                                    .secrecy = "in the clear",
                                    .has_clock = has_clock};
}

/* ---- opening and closing ---- */

/* The adapter's largest packet, as a descriptor tells. */
static int read_mtu(struct atm_transport *t)
{
    Atm_info info;
    int fd = t->library->open(t->host, 0, &info);
    if (fd < 0)
        return PVMI_ESYSTEM;
    t->library->close(fd);
    uint32_t wanted = (uint32_t)pvmi_config_integer(PVMI_SETTING_ATM_MTU);
    t->mtu = (uint32_t)info.mtu < UINT16_MAX ? (uint32_t)info.mtu : UINT16_MAX;
    if (wanted && wanted < t->mtu)
        t->mtu = wanted;
    if (t->mtu >= PVMI_ATM_MTU_MIN)
        return 0;
    pvmi_log_once(PVMI_LOG_ERROR, "packets of %u bytes are too small for atm links: %u are needed; see PVM_ATM_MTU",
                  t->mtu, PVMI_ATM_MTU_MIN);
    return PVMI_EPARAM;
}

static int set_up(struct atm_transport *t)
{
    char why[256];
    t->library = pvmi_atm_library(why, sizeof why);
    int clock = t->library ? t->library->sim_clock() : -1;
    if (clock < 0)
        return PVMI_EUNREACHABLE;
    t->is_virtual = clock == ATM_CLOCK_VIRTUAL;
    t->aal = (Aal_type)pvmi_config_integer(PVMI_SETTING_ATM_AAL);
    t->dead_after_us = pvmi_config_us(PVMI_SETTING_HOST_TIMEOUT);
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    t->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN};
    if (t->epoll_fd < 0 || t->timer_fd < 0 || epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, t->timer_fd, &event))
        return PVMI_ELIMIT;
    if (t->is_virtual)
        pvmi_atm_world_enter(t);
    snprintf(t->host, sizeof t->host, "%s", pvmi_config_text(PVMI_SETTING_ATM_HOST));
    return read_mtu(t);
}

static void close_links(struct atm_transport *t)
{
    struct atm_link *l, *next;
    DL_FOREACH_SAFE (t->links, l, next) {
        DL_DELETE(t->links, l);
        pvmi_atm_link_free(l);
    }
    DL_FOREACH_SAFE (t->graveyard, l, next) {
        DL_DELETE(t->graveyard, l);
        pvmi_atm_link_free(l);
    }
    pvmi_atm_leaves_close(t);
}

/* A forked child drops its copies in silence: the peers are its parent's. */
static void atm_close_transport(struct pvmi_transport *base)
{
    struct atm_transport *t = (struct atm_transport *)base;
    t->now_us = pvmi_clock_us();
    pvmi_atm_trees_fell(t);
    close_links(t);
    pvmi_atm_world_leave(t);
    pvmi_agenda_clear(&t->agenda);
    if (t->timer_fd >= 0)
        close(t->timer_fd);
    if (t->epoll_fd >= 0)
        close(t->epoll_fd);
    if (t->library && t->pid == getpid())
        t->library->sim_leave();
    free(t);
}

static int atm_open_transport(const char *address, const struct pvmi_callbacks *callbacks, void *arg,
                              struct pvmi_transport **out)
{
    extern const struct pvmi_transport_ops pvmi_atm_ops;
    struct atm_transport *t = address ? NULL : calloc(1, sizeof *t);
    if (!t)
        return address ? PVMI_EUNSUPPORTED : PVMI_ENOMEM; /* it connects by offer */
    t->base = (struct pvmi_transport){.ops = &pvmi_atm_ops, .callbacks = callbacks, .arg = arg};
    t->pid = getpid();
    t->epoll_fd = t->timer_fd = t->door.fd = -1;
    int rc = set_up(t);
    if (rc)
        atm_close_transport(&t->base);
    else
        *out = &t->base;
    return rc;
}

/* ---- the table ---- */

static size_t atm_pending(const struct pvmi_endpoint *base)
{
    return pvmi_frames_pending(&((const struct atm_link *)base)->frames);
}

static int atm_fd(struct pvmi_transport *base)
{
    return ((struct atm_transport *)base)->epoll_fd;
}

const struct pvmi_transport_ops pvmi_atm_ops = {
    .name = "atm",
    .summary = "simulated ATM network (Fore API)",
    .available = atm_available,
    .open = atm_open_transport,
    .close = atm_close_transport,
    .query = atm_query,
    .offer = pvmi_atm_link_offer,
    .join = pvmi_atm_link_join,
    .joined = pvmi_atm_link_joined,
    .disconnect = pvmi_atm_link_disconnect,
    .send = pvmi_atm_link_send,
    .send_to_many = pvmi_atm_multicast,
    .pending = atm_pending,
    .progress = pvmi_atm_progress,
    .fd = atm_fd,
    .arm = pvmi_atm_arm,
};
