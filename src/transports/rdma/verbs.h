/*
 * verbs.h - the functions of libibverbs that the transport calls: a table in the module libdpvm_rdma.so, so that
 * libpvm3 does not depend on libibverbs. The module is module/module.c; tests supply a table of their own.
 *
 * Each entry has the contract of the ibv_ function of that name (ibv_open_device(3) and so on).
 */
#ifndef PVMT_RDMA_VERBS_H
#define PVMT_RDMA_VERBS_H

#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define PVMT_VERBS_VERSION 1
#define PVMT_VERBS_FILE    "libdpvm_rdma.so"
#define PVMT_VERBS_SYMBOL  "dpvm_rdma_module"

struct pvmt_verbs {
    unsigned version;
    int (*fork_init)(void);

    struct ibv_device **(*get_device_list)(int *count);
    void (*free_device_list)(struct ibv_device **list);
    const char *(*get_device_name)(struct ibv_device *d);
    struct ibv_context *(*open_device)(struct ibv_device *d);
    int (*close_device)(struct ibv_context *c);
    int (*query_device)(struct ibv_context *c, struct ibv_device_attr *attr);
    int (*query_port)(struct ibv_context *c, uint8_t port, struct ibv_port_attr *attr);
    ssize_t (*query_gid_table)(struct ibv_context *c, struct ibv_gid_entry *entries, size_t most);

    struct ibv_pd *(*alloc_pd)(struct ibv_context *c);
    int (*dealloc_pd)(struct ibv_pd *pd);
    struct ibv_mr *(*reg_mr)(struct ibv_pd *pd, void *data, size_t bytes, int access);
    int (*dereg_mr)(struct ibv_mr *mr);

    struct ibv_comp_channel *(*create_comp_channel)(struct ibv_context *c);
    int (*destroy_comp_channel)(struct ibv_comp_channel *channel);
    struct ibv_cq *(*create_cq)(struct ibv_context *c, int entries, struct ibv_comp_channel *channel);
    int (*destroy_cq)(struct ibv_cq *cq);
    int (*poll_cq)(struct ibv_cq *cq, int most, struct ibv_wc *wc);
    int (*req_notify_cq)(struct ibv_cq *cq);
    int (*get_cq_event)(struct ibv_comp_channel *channel, struct ibv_cq **cq);
    void (*ack_cq_events)(struct ibv_cq *cq, unsigned count);

    struct ibv_srq *(*create_srq)(struct ibv_pd *pd, struct ibv_srq_init_attr *attr);
    int (*destroy_srq)(struct ibv_srq *srq);
    int (*post_srq_recv)(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);

    struct ibv_qp *(*create_qp)(struct ibv_pd *pd, struct ibv_qp_init_attr *attr);
    int (*destroy_qp)(struct ibv_qp *qp);
    int (*modify_qp)(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask);
    int (*post_recv)(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
    int (*post_send)(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);

    int (*get_async_event)(struct ibv_context *c, struct ibv_async_event *event);
    void (*ack_async_event)(struct ibv_async_event *event);
};

/* The table, loaded once per process; NULL when it cannot be loaded, with the reason in why[size]. */
const struct pvmt_verbs *pvmt_verbs_load(char *why, size_t size);

/* For tests: the table that pvmt_verbs_load() returns from now on; NULL: the module's. */
void pvmt_verbs_replace(const struct pvmt_verbs *table);

/* Whether there may be devices: the kernel lists some, or a test replaced the table. */
bool pvmt_verbs_wanted(void);

#endif
