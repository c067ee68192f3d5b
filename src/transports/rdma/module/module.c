/* module.c - libdpvm_rdma.so: libibverbs as a table of functions. Some of them are macros or inline in its header. */
#include "transports/rdma/verbs.h"

static int query_port(struct ibv_context *c, uint8_t port, struct ibv_port_attr *attr)
{
    return ibv_query_port(c, port, attr);
}

static ssize_t query_gid_table(struct ibv_context *c, struct ibv_gid_entry *entries, size_t most)
{
    return ibv_query_gid_table(c, entries, most, 0);
}

static struct ibv_mr *reg_mr(struct ibv_pd *pd, void *data, size_t bytes, int access)
{
    return ibv_reg_mr(pd, data, bytes, access);
}

static struct ibv_cq *create_cq(struct ibv_context *c, int entries, struct ibv_comp_channel *channel)
{
    return ibv_create_cq(c, entries, NULL, channel, 0);
}

static int poll_cq(struct ibv_cq *cq, int most, struct ibv_wc *wc)
{
    return ibv_poll_cq(cq, most, wc);
}

static int req_notify_cq(struct ibv_cq *cq)
{
    return ibv_req_notify_cq(cq, 0);
}

static int get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **cq)
{
    void *context;
    return ibv_get_cq_event(channel, cq, &context);
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return ibv_post_srq_recv(srq, wr, bad);
}

static int post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
    return ibv_post_recv(qp, wr, bad);
}

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
    return ibv_post_send(qp, wr, bad);
}

__attribute__((visibility("default"))) const struct pvmt_verbs dpvm_rdma_module = {
    .version = PVMT_VERBS_VERSION,
    .fork_init = ibv_fork_init,
    .get_device_list = ibv_get_device_list,
    .free_device_list = ibv_free_device_list,
    .get_device_name = ibv_get_device_name,
    .open_device = ibv_open_device,
    .close_device = ibv_close_device,
    .query_device = ibv_query_device,
    .query_port = query_port,
    .query_gid_table = query_gid_table,
    .alloc_pd = ibv_alloc_pd,
    .dealloc_pd = ibv_dealloc_pd,
    .reg_mr = reg_mr,
    .dereg_mr = ibv_dereg_mr,
    .create_comp_channel = ibv_create_comp_channel,
    .destroy_comp_channel = ibv_destroy_comp_channel,
    .create_cq = create_cq,
    .destroy_cq = ibv_destroy_cq,
    .poll_cq = poll_cq,
    .req_notify_cq = req_notify_cq,
    .get_cq_event = get_cq_event,
    .ack_cq_events = ibv_ack_cq_events,
    .create_srq = ibv_create_srq,
    .destroy_srq = ibv_destroy_srq,
    .post_srq_recv = post_srq_recv,
    .create_qp = ibv_create_qp,
    .destroy_qp = ibv_destroy_qp,
    .modify_qp = ibv_modify_qp,
    .post_recv = post_recv,
    .post_send = post_send,
    .get_async_event = ibv_get_async_event,
    .ack_async_event = ibv_ack_async_event,
};
