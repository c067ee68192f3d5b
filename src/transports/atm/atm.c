/* atm.c - frames between tasks over a simulated ATM network. See atm_transport.h for the parts. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "core/config.h"
#include "core/error.h"
#include "core/log.h"
#include "atm_transport.h"

/*
 * PC-AAL's cells can be read one by one, but each frame has one for its header, and wakes the receiver. So a frame has
 * some forty, of whole items of 8 and 16 bytes.
 */
#define CELLS_FRAME_BYTES 1056

/* ---- availability ---- */

static bool is_virtual; /* of the network that atm_available() saw last */

static int atm_available(char *why, size_t size)
{
    const struct pvmt_atm_library *library = pvmt_atm_library(why, size);
    Atm_protocol protocol;
    if (!library)
        return PVMC_ENOTFOUND;
    if (pvmt_atm_protocol(&protocol, why, size))
        return PVMC_EPARAM;
    int clock = library->sim_look();
    is_virtual = clock == ATM_CLOCK_VIRTUAL;
    if (clock == ATM_CLOCK_REAL)
        clock = library->sim_clock(); /* joins the network; in virtual time the task joins only when it enrols */
    if (clock >= 0)
        return 0;
    if (errno == ENOENT) {
        snprintf(why, size, "the network has no host with the name in PVM_ATM_HOST");
        return PVMC_ENOTFOUND;
    }
    snprintf(why, size, "no simulated ATM network: %s; start one with atm-sim serve", strerror(errno));
    return PVMC_EUNREACHABLE;
}

/* A simulated network is used only if PVM_TRANSPORT names it. */
static void atm_query(const struct pvmt_transport *t, struct pvmt_attributes *out)
{
    const struct atm_transport *open = (const struct atm_transport *)t;
    bool has_clock = t ? open->is_virtual : is_virtual, by_cells = t && open->protocol > atm_sscop;
    *out = (struct pvmt_attributes){.frame_max = by_cells ? CELLS_FRAME_BYTES : PVMC_FRAME_PAYLOAD_MAX,
                                    .copy_max = PVMC_FRAME_PAYLOAD_MAX,
                                    .latency_ns = 1000000,
                                    .bandwidth_mbs = 10,
                                    .by_name_only = true,
                                    .early = by_cells,
                                    .stream_bytes = by_cells ? CELLS_FRAME_BYTES : 0,
                                    .secrecy = "in the clear",
                                    .has_clock = has_clock};
}

/* ---- opening and closing ---- */

/* The adapter's largest packet, which a descriptor reports. */
static int read_mtu(struct atm_transport *t)
{
    Atm_info info;
    int fd = t->library->open(t->host, 0, &info);
    if (fd < 0)
        return PVMC_ESYSTEM;
    t->library->close(fd);
    uint32_t wanted = (uint32_t)pvmc_config_integer(PVMC_SETTING_ATM_MTU);
    t->mtu = (uint32_t)info.mtu < UINT16_MAX ? (uint32_t)info.mtu : UINT16_MAX;
    if (wanted && wanted < t->mtu)
        t->mtu = wanted;
    if (t->mtu >= PVMT_ATM_MTU_MIN)
        return 0;
    pvmc_log_once(PVMC_LOG_ERROR, "packets of %u bytes are too small for atm links: %u are needed; see PVM_ATM_MTU",
                  t->mtu, PVMT_ATM_MTU_MIN);
    return PVMC_EPARAM;
}

static int open_carrier(struct pvmt_datagram *base)
{
    struct atm_transport *t = (struct atm_transport *)base;
    char why[256];
    t->door.fd = -1;
    t->library = pvmt_atm_library(why, sizeof why);
    if (pvmt_atm_protocol(&t->protocol, why, sizeof why)) {
        pvmc_log_once(PVMC_LOG_ERROR, "%s", why);
        return PVMC_EPARAM;
    }
    int clock = t->library ? t->library->sim_clock() : -1;
    if (clock < 0)
        return PVMC_EUNREACHABLE;
    t->is_virtual = base->keeps_debts = clock == ATM_CLOCK_VIRTUAL;
    t->aal = (Aal_type)pvmc_config_integer(PVMC_SETTING_ATM_AAL);
    if (t->is_virtual)
        pvmt_atm_clock_enter(t);
    snprintf(t->host, sizeof t->host, "%s", pvmc_config_text(PVMC_SETTING_ATM_HOST));
    return read_mtu(t);
}

/* A forked child closes its copies and sends nothing: the peers belong to its parent. */
static void close_carrier(struct pvmt_datagram *base)
{
    struct atm_transport *t = (struct atm_transport *)base;
    pvmt_atm_leaves_close(t);
    pvmt_atm_clock_leave(t);
    if (t->library && base->pid == getpid())
        t->library->sim_leave();
}

/* ---- the tables ---- */

static const struct pvmt_datagram_carrier carrier = {
    .ops = &pvmt_atm_ops,
    .transport_bytes = sizeof(struct atm_transport),
    .link_bytes = sizeof(struct atm_link),
    .open = open_carrier,
    .close = close_carrier,
    .offer = pvmt_atm_link_offer,
    .join = pvmt_atm_link_join,
    .joined = pvmt_atm_link_joined,
    .leave = pvmt_atm_link_leave,
    .emit = pvmt_atm_link_emit,
    .hear = pvmt_atm_hear,
    .sleep_until = pvmt_atm_sleep_until,
};

static int atm_open_transport(const char *address, const struct pvmt_callbacks *callbacks, void *arg,
                              struct pvmt_transport **out)
{
    return pvmt_datagram_open(&carrier, address, callbacks, arg, out);
}

const struct pvmt_transport_ops pvmt_atm_ops = {
    .name = "atm",
    .summary = "simulated ATM network (Fore API)",
    .available = atm_available,
    .clock_watch = pvmt_atm_clock_watch,
    .open = atm_open_transport,
    .close = pvmt_datagram_close,
    .query = atm_query,
    .offer = pvmt_datagram_offer,
    .join = pvmt_datagram_join,
    .joined = pvmt_datagram_joined,
    .disconnect = pvmt_datagram_disconnect,
    .send = pvmt_datagram_send,
    .send_to_many = pvmt_atm_multicast,
    .pending = pvmt_datagram_pending,
    .unsent = pvmt_datagram_unsent,
    .progress = pvmt_atm_progress,
    .fd = pvmt_datagram_fd,
    .arm = pvmt_datagram_arm,
};
