/*
 * test_verbs.c - assumptions of the transport rdma about libibverbs and a device: checked with the fake of
 * fake_verbs.h, and with DPVM_VERBS=real on the first real device, which shows that the fake behaves like it.
 */
#include <poll.h>
#include "tests/unit/unit.h"
#include "core/clock.h"
#include "transports/rdma/device.h"
#include "fake_verbs.h"

enum { BYTES = 8192, LIMIT_US = 20000000, FIRST = 1000 };

struct end {
    struct ibv_cq *cq;
    struct ibv_comp_channel *channel;
    struct ibv_srq *srq;
    struct ibv_qp *qp;
    struct ibv_mr *mr;
    uint8_t *data;
};

static const struct pvmt_verbs *verbs;
static struct pvmt_rdma_port port;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct end a, b;

/* ---- setup ---- */

static void end_open(struct end *e)
{
    struct ibv_srq_init_attr queue = {.attr = {.max_wr = 16, .max_sge = 1}};
    ck_assert_ptr_nonnull(e->channel = verbs->create_comp_channel(context));
    ck_assert_ptr_nonnull(e->cq = verbs->create_cq(context, 64, e->channel));
    ck_assert_ptr_nonnull(e->srq = verbs->create_srq(pd, &queue));
    struct ibv_qp_init_attr init = {.send_cq = e->cq,
                                    .recv_cq = e->cq,
                                    .srq = e->srq,
                                    .qp_type = IBV_QPT_RC,
                                    .cap = {.max_send_wr = 16, .max_send_sge = 1, .max_inline_data = 64}};
    ck_assert_ptr_nonnull(e->qp = verbs->create_qp(pd, &init));
    ck_assert_ptr_nonnull(e->data = aligned_alloc(4096, BYTES));
    memset(e->data, 0, BYTES);
    e->mr = verbs->reg_mr(pd, e->data, BYTES, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
    ck_assert_ptr_nonnull(e->mr);
}

static void connect_to(struct end *e, const struct end *peer)
{
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT,
                               .port_num = port.number,
                               .qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE};
    struct ibv_qp_attr rtr = {.qp_state = IBV_QPS_RTR,
                              .path_mtu = IBV_MTU_1024,
                              .dest_qp_num = peer->qp->qp_num,
                              .rq_psn = FIRST,
                              .max_dest_rd_atomic = 1,
                              .min_rnr_timer = 12,
                              .ah_attr = {.is_global = 1, .dlid = port.lid, .port_num = port.number}};
    struct ibv_qp_attr rts = {
        .qp_state = IBV_QPS_RTS, .timeout = 14, .retry_cnt = 3, .rnr_retry = 7, .sq_psn = FIRST, .max_rd_atomic = 1};
    rtr.ah_attr.grh.dgid = port.gid;
    rtr.ah_attr.grh.sgid_index = port.gid_index;
    rtr.ah_attr.grh.hop_limit = 64;
    ck_assert_int_eq(
        verbs->modify_qp(e->qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
    ck_assert_int_eq(verbs->modify_qp(e->qp, &rtr,
                                      IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
                     0);
    ck_assert_int_eq(verbs->modify_qp(e->qp, &rts,
                                      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                          IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC),
                     0);
}

static void set_up(void)
{
    char why[512];
    fake_verbs_reset();
    if (!getenv("DPVM_VERBS"))
        pvmt_verbs_replace(&fake_verbs);
    ck_assert_msg(!pvmt_rdma_port_choose(&port, why, sizeof why), "%s", why);
    verbs = pvmt_verbs_load(why, sizeof why);
    ck_assert_ptr_nonnull(context = pvmt_rdma_device_open(verbs, port.device));
    ck_assert_ptr_nonnull(pd = verbs->alloc_pd(context));
    end_open(&a);
    end_open(&b);
    connect_to(&a, &b);
    connect_to(&b, &a);
}

static void end_close(struct end *e)
{
    if (e->qp)
        ck_assert_int_eq(verbs->destroy_qp(e->qp), 0);
    ck_assert_int_eq(verbs->destroy_srq(e->srq), 0);
    ck_assert_int_eq(verbs->destroy_cq(e->cq), 0);
    ck_assert_int_eq(verbs->destroy_comp_channel(e->channel), 0);
    ck_assert_int_eq(verbs->dereg_mr(e->mr), 0);
    free(e->data);
}

static void take_down(void)
{
    end_close(&a);
    end_close(&b);
    ck_assert_int_eq(verbs->dealloc_pd(pd), 0);
    ck_assert_int_eq(verbs->close_device(context), 0);
    ck_assert_uint_eq(fake_verbs_objects(), 0);
}

/* ---- work ---- */

static void receive(struct end *e, uint64_t id, uint32_t at, uint32_t bytes)
{
    struct ibv_sge sge = {(uintptr_t)e->data + at, bytes, e->mr->lkey};
    struct ibv_recv_wr wr = {.wr_id = id, .sg_list = &sge, .num_sge = 1}, *bad;
    ck_assert_int_eq(verbs->post_srq_recv(e->srq, &wr, &bad), 0);
}

static void post(struct end *e, struct ibv_send_wr wr, uint32_t at, uint32_t bytes, uint64_t id, unsigned flags)
{
    struct ibv_sge sge = {(uintptr_t)e->data + at, bytes, e->mr->lkey};
    struct ibv_send_wr *bad;
    wr.wr_id = id;
    wr.send_flags = flags;
    wr.sg_list = &sge;
    wr.num_sge = bytes ? 1 : 0;
    ck_assert_int_eq(verbs->post_send(e->qp, &wr, &bad), 0);
}

static void send_bytes(struct end *e, uint32_t at, uint32_t bytes, uint64_t id, unsigned flags)
{
    post(e, (struct ibv_send_wr){.opcode = IBV_WR_SEND}, at, bytes, id, flags);
}

static void read_bytes(struct end *e, const struct end *from, uint32_t key, uint32_t at, uint32_t bytes, uint64_t id)
{
    struct ibv_send_wr wr = {.opcode = IBV_WR_RDMA_READ};
    wr.wr.rdma.remote_addr = (uintptr_t)from->data;
    wr.wr.rdma.rkey = key;
    post(e, wr, at, bytes, id, IBV_SEND_SIGNALED);
}

/* The next completion. */
static struct ibv_wc next(struct end *e)
{
    struct ibv_wc wc;
    int n = 0;
    for (int64_t end_us = pvmc_clock_us() + LIMIT_US; !n && pvmc_clock_us() < end_us;)
        n = verbs->poll_cq(e->cq, 1, &wc);
    ck_assert_int_eq(n, 1);
    return wc;
}

#define NEXT_IS(end, id, wanted)                                                                                       \
    do {                                                                                                               \
        struct ibv_wc wc_ = next(end);                                                                                 \
        ck_assert_uint_eq(wc_.wr_id, id);                                                                              \
        ck_assert_int_eq(wc_.status, wanted);                                                                          \
    } while (0)

/* ---- tests ---- */

START_TEST(messages_come_in_order_with_their_lengths)
{
    for (uint64_t i = 0; i < 4; i++)
        receive(&b, i, (uint32_t)i * 1024, 1024);
    for (uint32_t i = 0; i < 4; i++) {
        memset(a.data, (int)i + 1, 64);
        send_bytes(&a, 0, 10 * i + 8, 100 + i, IBV_SEND_INLINE | (i == 3 ? IBV_SEND_SIGNALED : 0));
    }
    for (uint32_t i = 0; i < 4; i++) {
        struct ibv_wc wc = next(&b);
        ck_assert_int_eq(wc.status, IBV_WC_SUCCESS);
        ck_assert_uint_eq(wc.wr_id, i);
        ck_assert_uint_eq(wc.byte_len, 10 * i + 8);
        ck_assert_uint_eq(wc.qp_num, b.qp->qp_num);
        ck_assert_uint_eq(b.data[i * 1024], i + 1);
    }
    NEXT_IS(&a, 103, IBV_WC_SUCCESS); /* the others are not reported */
}
END_TEST

START_TEST(reads_bring_what_is_there)
{
    for (unsigned i = 0; i < BYTES / 2; i++)
        b.data[i] = (uint8_t)(i * 7);
    read_bytes(&a, &b, b.mr->rkey, 4096, 4096, 1);
    read_bytes(&a, &b, b.mr->rkey, 0, 8, 2);
    NEXT_IS(&a, 1, IBV_WC_SUCCESS);
    NEXT_IS(&a, 2, IBV_WC_SUCCESS);
    ck_assert_int_eq(memcmp(a.data + 4096, b.data, 4096), 0);
}
END_TEST

START_TEST(writes_of_nothing_are_answered)
{
    post(&a, (struct ibv_send_wr){.opcode = IBV_WR_RDMA_WRITE}, 0, 0, 9, IBV_SEND_SIGNALED);
    NEXT_IS(&a, 9, IBV_WC_SUCCESS);
}
END_TEST

/* The queue pair can no longer be used: later work is flushed. */
START_TEST(reads_with_a_wrong_key_fail)
{
    read_bytes(&a, &b, b.mr->rkey ^ 0x5500, 4096, 100, 1);
    NEXT_IS(&a, 1, IBV_WC_REM_ACCESS_ERR);
    send_bytes(&a, 0, 8, 2, IBV_SEND_INLINE);
    NEXT_IS(&a, 2, IBV_WC_WR_FLUSH_ERR); /* although it is not signalled */
}
END_TEST

START_TEST(nobody_answers_for_a_queue_pair_that_is_gone)
{
    ck_assert_int_eq(verbs->destroy_qp(b.qp), 0);
    b.qp = NULL;
    send_bytes(&a, 0, 8, 1, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
    NEXT_IS(&a, 1, IBV_WC_RETRY_EXC_ERR);
}
END_TEST

START_TEST(messages_wait_for_a_buffer)
{
    struct ibv_wc wc;
    send_bytes(&a, 0, 8, 1, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
    for (int64_t end_us = pvmc_clock_us() + 20000; pvmc_clock_us() < end_us;)
        ck_assert_int_eq(verbs->poll_cq(a.cq, 1, &wc), 0);
    receive(&b, 7, 0, 1024);
    NEXT_IS(&b, 7, IBV_WC_SUCCESS);
    NEXT_IS(&a, 1, IBV_WC_SUCCESS);
}
END_TEST

START_TEST(channels_tell_of_completions)
{
    struct pollfd p = {.fd = b.channel->fd, .events = POLLIN};
    struct ibv_cq *cq;
    receive(&b, 1, 0, 1024);
    ck_assert_int_eq(verbs->req_notify_cq(b.cq), 0);
    ck_assert_int_eq(poll(&p, 1, 20), 0);
    send_bytes(&a, 0, 8, 1, IBV_SEND_INLINE | IBV_SEND_SIGNALED);
    ck_assert_int_eq(poll(&p, 1, LIMIT_US / 1000), 1);
    ck_assert_int_eq(verbs->get_cq_event(b.channel, &cq), 0);
    ck_assert_ptr_eq(cq, b.cq);
    verbs->ack_cq_events(cq, 1);
    ck_assert_int_eq(poll(&p, 1, 0), 0);
}
END_TEST

int main(void)
{
    if (getenv("DPVM_VERBS") && !pvmt_verbs_wanted()) {
        puts("there is no RDMA device");
        return 77;
    }
    Suite *suite = suite_create("verbs");
    TCase *all = tcase_create("verbs");
    tcase_set_timeout(all, 60);
    tcase_add_checked_fixture(all, set_up, take_down);
    tcase_add_test(all, messages_come_in_order_with_their_lengths);
    tcase_add_test(all, reads_bring_what_is_there);
    tcase_add_test(all, writes_of_nothing_are_answered);
    tcase_add_test(all, reads_with_a_wrong_key_fail);
    tcase_add_test(all, nobody_answers_for_a_queue_pair_that_is_gone);
    tcase_add_test(all, messages_wait_for_a_buffer);
    tcase_add_test(all, channels_tell_of_completions);
    suite_add_tcase(suite, all);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
