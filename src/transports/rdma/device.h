/*
 * device.h - the device, port and GID that links use, chosen by their abilities and by PVM_RDMA_DEVICE, _PORT and
 * _GID_INDEX.
 */
#ifndef PVMT_RDMA_DEVICE_H
#define PVMT_RDMA_DEVICE_H

#include "verbs.h"

#define PVMT_RDMA_NAME_BYTES 64

struct pvmt_rdma_port {
    char device[PVMT_RDMA_NAME_BYTES];
    uint8_t number;
    uint8_t gid_index;
    union ibv_gid gid;
    uint16_t lid;        /* 0 on Ethernet */
    bool ethernet;       /* RoCE, else InfiniBand */
    bool soft;           /* soft-RoCE: see read.c for what that means */
    enum ibv_mtu mtu;    /* of the port, bounded by PVM_RDMA_MTU */
    unsigned speed_mbs;  /* 10^6 bytes per second; 0: unknown */
    unsigned preference; /* more is better */
};

/*
 * The best port that the settings allow. 0, or PVMC_ENOTFOUND, PVMC_EUNSUPPORTED, PVMC_EDENIED with the reason and the
 * remedy in why[size]. The result is cached until the settings change or pvmt_rdma_port_forget() is called.
 */
int pvmt_rdma_port_choose(struct pvmt_rdma_port *out, char *why, size_t size);

/* Drops the cached result: a device was added or removed. */
void pvmt_rdma_port_forget(void);

/* Opens a device by name; NULL when it does not exist or must not be opened (errno). */
struct ibv_context *pvmt_rdma_device_open(const struct pvmt_verbs *verbs, const char *name);

/* describe() of transport.h: for each port its state and GID, or why it cannot be used. */
void pvmt_rdma_ports_describe(void (*line)(void *arg, const char *text), void *arg);

#endif
