/*
 * device.h - which device, port and GID links go out by: chosen by what they can do, and by PVM_RDMA_DEVICE, _PORT and
 * _GID_INDEX.
 */
#ifndef PVMI_RDMA_DEVICE_H
#define PVMI_RDMA_DEVICE_H

#include "verbs.h"

#define PVMI_RDMA_NAME_BYTES 64

struct pvmi_rdma_port {
    char device[PVMI_RDMA_NAME_BYTES];
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
 * The best port of those that the settings leave. 0, or PVMI_ENOTFOUND, PVMI_EUNSUPPORTED, PVMI_EDENIED with the reason
 * and the cure in why[size]. What was found is remembered until the settings change, or pvmi_rdma_port_forget().
 */
int pvmi_rdma_port_choose(struct pvmi_rdma_port *out, char *why, size_t size);

/* A device came or went. */
void pvmi_rdma_port_forget(void);

/* Opens a device by name; NULL when it is not there or may not be opened (errno). */
struct ibv_context *pvmi_rdma_device_open(const struct pvmi_verbs *verbs, const char *name);

/* One line for each port that there is, as transport.h has it: its state and GID, or why it cannot be used. */
void pvmi_rdma_ports_describe(void (*line)(void *arg, const char *text), void *arg);

#endif
